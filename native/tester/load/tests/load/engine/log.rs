//! The log of an engine: the first failure of each operation, with its row and without secrets.

use std::time::Duration;

use people::Profile;
use serde_json::{Value, json};
use wire::ldap::{ResultCode, op};

use super::harness::{eventually, people};
use super::responder::{Do, Responder};

const TEXT: &str =
    "[data.account]\nvalues = ['s3cret-one', 's3cret-two']\ndeal = 'in-order'\nsecret = ['account']
    [[operation]]\nname = 'own'\nstep = [
      { search = '(uid=a)', base = 'o=x', capture.found = 'dn' },
      { modify = 'cn=b{user},o=x', change.replace.userPassword = '{account}' },
      { delete = 'cn=c{iteration},o=x' },
    ]";

/// The log of a scenario, with these settings.
fn run(text: &str, settings: Value, rule: fn(u8, u64) -> Do) -> Vec<Value> {
    let responder = Responder::start(&people(Profile::Paper, 1), rule);
    let mut engine = responder.job(text).with(json!({"log": settings})).start(1);
    assert!(eventually(|| responder.seen.answered(op::DELETE_REQUEST) >= 4));
    let first = engine.drain().unwrap();
    assert!(eventually(|| responder.seen.answered(op::DELETE_REQUEST) >= 8));
    let lines = first.log.into_iter().chain(engine.stop(Duration::from_secs(5)).unwrap().log);
    lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
}

#[test]
fn the_first_failure_of_each_operation_is_logged_with_its_row_but_no_secret() {
    let lines = run(TEXT, json!({"most": 3}), |tag, _| match tag {
        op::MODIFY_REQUEST => Do::Echo,
        op::DELETE_REQUEST => Do::Code(ResultCode::NO_SUCH_OBJECT),
        _ => Do::Right,
    });
    let of = |name: &str| lines.iter().map(|line| line[name].clone()).collect::<Vec<_>>();
    // Deletes fail too, but their operations have failed before.
    assert_eq!(of("step"), ["modify"; 3]);
    assert_eq!((of("operation")[0].clone(), of("user")[0].clone()), (json!("own"), json!(1)));
    assert_eq!(of("iteration"), [1, 2, 3]);
    assert_eq!(of("rows"), [json!({"account": 1}), json!({"account": 2}), json!({"account": 1})]);
    assert_eq!(of("asked"), ["modify \"cn=b1,o=x\""; 3]);
    assert_eq!(of("rest"), ["replace.userPassword={account}"; 3]);
    let kind = of("kind")[0].as_str().unwrap().to_owned();
    assert_eq!(kind, format!("result:{}", of("code")[0].as_str().unwrap()));
    // The server repeats the request.
    assert!(of("diagnostic")[0].as_str().unwrap().contains("{account"), "{:?}", of("diagnostic")[0]);
    assert!(!format!("{lines:?}").contains("s3cret"), "{lines:?}");
}

#[test]
fn a_filter_is_logged_without_the_values_of_secret_attributes() {
    let filters = [
        ("(userPassword=lit5ecret)", "(userPassword={secret})"),
        (
            "(&(uid=a)(|(userPassword;x-y>=lit5ecret)(cn=b)))",
            "(&(uid=a)(|(userPassword;x-y>={secret})(cn=b)))",
        ),
        ("(userPassword:2.5.13.17:=lit5ecret)", "(userPassword:{secret})"),
        ("(!(userPassword=*))", "(!(userPassword=*))"),
        ("(userPassword={account})", "(userPassword={account})"),
        ("(userPassword=lit5ecret{account}lit5ecret)", "(userPassword={secret}{account}{secret})"),
        ("(&(uid=a=b)(secretToken=lit5ecret)(cn=lit))", "(&(uid=a=b)(secretToken={secret})(cn=lit))"),
    ];
    for (filter, shown) in filters {
        let text = TEXT.replace("(uid=a)", filter);
        let lines = run(&text, json!({"most": 1, "all": true}), |_, _| Do::Right);
        assert_eq!(lines[0]["asked"], format!("search {shown:?}"));
        let lines = run(&text, json!({"most": 1}), |tag, _| match tag {
            op::SEARCH_REQUEST => Do::Echo,
            _ => Do::Right,
        });
        assert!(
            !format!("{lines:?}").contains("s3cret") && !format!("{lines:?}").contains("lit5"),
            "{lines:?}"
        );
    }
}

#[test]
fn a_request_without_an_answer_is_logged() {
    let lines = run(TEXT, json!({"most": 1}), |tag, n| match (tag, n) {
        (op::SEARCH_REQUEST, 0) => Do::Close,
        _ => Do::Right,
    });
    let kinds: Vec<_> = lines.iter().map(|line| (line["step"].clone(), line["kind"].clone())).collect();
    assert_eq!(kinds, [(json!("search"), json!("closed"))]);
    assert_eq!((&lines[0]["code"], &lines[0]["diagnostic"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_log_of_all_operations_has_right_answers_and_captured_values() {
    let lines = run(TEXT, json!({"most": 4, "all": true}), |_, _| Do::Right);
    let steps: Vec<_> = lines.iter().map(|line| line["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["search", "modify", "delete", "search"]);
    assert_eq!((&lines[0]["kind"], &lines[0]["code"]), (&Value::Null, &json!("success")));
    assert_eq!(lines[0]["said"], "1 entries, success");
    assert_eq!(lines[0]["rest"], "base=\"o=x\" scope=sub");
    assert!(lines[0]["captured"]["found"].as_str().unwrap().contains('='), "{:?}", lines[0]);
    assert!(lines.iter().all(|line| line["ms"].as_f64().unwrap() > 0.0), "{lines:?}");
}

#[test]
fn without_the_log_setting_nothing_is_logged() {
    assert_eq!(run(TEXT, json!({"most": 0}), |_, _| Do::Code(ResultCode::BUSY)), Vec::<Value>::new());
}
