//! Scenario files of strangers: they are refused or checked within moments.

use std::time::{Duration, Instant};

use load::{ScenarioSpec, Tables, check_scenario};
use serde_json::{Value, json};

/// Checks a file as a command does, with a time limit for a busy machine.
fn checked(text: &str, more: &Value) -> Result<(), String> {
    let mut spec = json!({"name": "mix", "text": text});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let spec: ScenarioSpec = serde_json::from_value(spec).unwrap();
    let begun = Instant::now();
    let result = check_scenario(&spec, &Tables::new()).map(drop);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    result.map_err(|problems| problems.to_string())
}

/// `a1` contains `a0` ten times, and so on: `a12` contains `a0` 10^12 times.
fn laughs(first: &str, levels: usize) -> String {
    let mut text = format!("base = \"o=x\"\n[values]\na0 = \"{first}\"\n");
    for level in 1..=levels {
        let inner = format!("{{a{}}}", level - 1).repeat(10);
        text += &format!("a{level} = \"{inner}\"\n");
    }
    text + &format!("[[operation]]\nname = \"a\"\nsearch = \"(cn={{a{levels}}})\"\n")
}

#[test]
fn nested_values_are_limited_before_their_expansion() {
    for first in ["x", "", "{uuid}"] {
        let problem = checked(&laughs(first, 12), &json!({})).unwrap_err();
        assert!(problem.contains("is longer than 1048576 bytes with the values in it"), "{problem}");
        assert!(problem.starts_with("9:1: "), "{problem}");
    }
    checked(&laughs("x", 5), &json!({})).unwrap();
}

#[test]
fn a_value_used_in_many_values_is_checked_once() {
    let mut text = laughs("{env.SECRET}", 5);
    for step in 0..2_000 {
        text += &format!("[[operation]]\nname = \"b{step}\"\nsearch = \"(cn={{a5}})\"\n");
    }
    checked(&text, &json!({"env": {"SECRET": "x"}})).unwrap();
}

/// The rows of a range are not checked one by one, because all of them are numbers.
#[test]
fn a_range_of_any_length_in_a_header_line_is_checked_instantly() {
    for last in ["1000000000000", "9223372036854775807"] {
        let text = format!(
            "data.id.range = [1, {last}]\n[[operation]]\nname = \"a\"\nget = \"/\"\n\
             headers = {{ X-Request-Id = \"{{id}}\" }}\n"
        );
        checked(&text, &json!({})).unwrap();
    }
}

const NESTED: &str = "load.session = \"10m\"\n[[operation]]\nname = \"a\"\n[[operation.step]]\n\
    repeat = 2147483648\nstep = [ { repeat = 2147483648, step = [ { think = \"1m\" }, { ASKS } ] } ]\n\
    [[operation.step]]\nASKS\n";

#[test]
fn sums_of_long_pauses_do_not_overflow() {
    for asks in ["search = \"(a=b)\"", "get = \"/\""] {
        checked(&NESTED.replace("ASKS", asks), &json!({})).unwrap();
    }
    let list = "load.session = \"8000h\"\n[[operation]]\nname = \"a\"\n[[operation.step]]\n\
        search = \"(uid=x)\"\ncapture.l = { attribute = \"mail\", take = \"all\" }\n[[operation.step]]\n\
        think = \"0.000001ms\"\n[[operation.step]]\nrepeat = \"l\"\n\
        step = [ { think = \"8000h\" }, { search = \"(mail={l})\" } ]\n";
    checked(list, &json!({})).unwrap();
    let pause = "[[operation.step]]\nthink = \"8000h\"\ndistribution = \"constant\"\n";
    let search = "[[operation.step]]\nsearch = \"(a=b)\"\n";
    let many = "[[operation]]\nname = \"a\"\n".to_owned() + &pause.repeat(1_000) + search;
    checked(&many, &json!({})).unwrap();
    let one = "[[operation]]\nname = \"a\"\n[[operation.step]]\nthink = \"1s\"\n[[operation.step]]\n\
        search = \"(a=b)\"\n";
    for more in
        [json!({"session_ms": -1.0}), json!({"session_ms": 3.6e26}), json!({"think_ms": 1e25}), json!({})]
    {
        checked(one, &more).unwrap();
    }
}

#[test]
fn ten_thousand_steps_are_accepted_and_more_steps_are_refused() {
    for asks in ["search = \"(a=b)\"", "get = \"/\""] {
        let steps = |count: usize| {
            "[[operation]]\nname = \"a\"\n".to_owned()
                + &format!("[[operation.step]]\n{asks}\n").repeat(count)
        };
        checked(&steps(10_000), &json!({})).unwrap();
        let problem = checked(&steps(20_000), &json!({})).unwrap_err();
        assert!(problem.contains("is one of more than 10000 steps"), "{problem}");
    }
}
