//! The reported failure of an answer with several errors, and the search for values in answers.

use serde_json::{Value, json};

use super::scenarios::Server;
use crate::job::Job;

const NAME: &str = "Ann & \"Bo\" <b>'s";

/// The failure of each answer to an operation; the data `who` has one person, with this name.
fn failures_of(text: &str, name: &str, answers: &[(u16, &str)]) -> Vec<String> {
    let replies: Vec<_> = answers
        .iter()
        .map(|(status, body)| format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
        .collect();
    let server = Server::new(move |_, number| replies[number % replies.len()].clone().into_bytes());
    let job = server.job(text).with(json!({"log": {"most": answers.len(), "all": true}}));
    let job = job.table("who", ["name"], &[[name]]);
    let [snapshot] = job.run_until(1, || server.requests().len() > answers.len());
    let lines = snapshot.log.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| line["kind"].as_str().unwrap_or("none").to_owned()).collect()
}

fn failures(text: &str, answers: &[(u16, &str)]) -> Vec<String> {
    failures_of(text, "ann", answers)
}

#[test]
fn the_worst_of_several_failures_is_reported() {
    let text = "data.who = { file = 'w.csv', per = 'user' }\n[[operation]]\nname = 'all'\nstep = [{ post = '/' }, { get = '/', \
        expect = { length = 20, contains = 'right', fresh = 'new', \
        identity = { before = '<', value = '{who.name}', until = '>' } } }]";
    for (status, body, expected) in [
        (500, "<bo>", "leak"),
        (500, "<ann>", "status:500"),
        (500, "", "status:500"),
        (200, "<ann>", "wrong-length"),
        (200, "<ann> wrong and old .", "wrong-length"),
        (200, "<ann> wrong and old ", "wrong-answer"),
        (200, "[ann] right and new ", "wrong-answer"),
        (200, "<ann> right and old ", "stale"),
        (200, "<ann> right and new ", "none"),
    ] {
        assert_eq!(failures(text, &[(200, ""), (status, body)]), ["none", expected], "{body}");
    }
}

#[test]
fn a_page_need_not_show_a_change_before_the_change_is_made() {
    let page = "{ get = '/', expect.fresh = 'new' }";
    let text = format!("[[operation]]\nname = 'all'\nstep = [{page}, {{ post = '/' }}, {page}, {page}]");
    for (status, expected) in
        [(200, ["none", "none", "stale", "none"]), (503, ["none", "status:503", "none", "none"])]
    {
        let answers = [(200, "old"), (status, ""), (200, "old"), (200, "new")];
        assert_eq!(failures(&text, &answers), expected);
    }
    // The next visit need not show the change of an earlier visit.
    let answers = [(200, "old"), (200, ""), (200, "new"), (200, "new"), (200, "old")];
    assert_eq!(failures(&text, &answers), ["none"; 5]);
}

#[test]
fn a_row_used_in_a_value_of_a_request_counts_as_updated() {
    let text = "data.owner = { people = 'seeded', deal = 'exclusive' }\nvalues.who = 'u{owner.id}'\n\
        values.path = '{who}/x'\n[[operation]]\nname = 'all'\n\
        step = [{ post = '/{path}' }, { get = '/{path}', expect.fresh = 'new' }]";
    assert_eq!(failures(text, &[(200, ""), (200, "old")]), ["none", "stale"]);
}

#[test]
fn a_page_is_judged_as_stale_only_if_login_and_change_were_accepted() {
    let text = "[[operation]]\nname = 'all'\nstep = [{ name = 'login', post = '/login' }, \
        { post = '/u' }, { get = '/', expect.fresh = 'new' }]";
    for (login, update, expected) in [
        (200, 503, ["none", "status:503", "none"]),
        (503, 200, ["status:503", "none", "none"]),
        (200, 200, ["none", "none", "stale"]),
    ] {
        let answers = [(login, ""), (update, ""), (200, "old")];
        // A refusal in one visit does not affect the next visit.
        for visit in failures(text, &[answers, answers].concat()).chunks(3) {
            assert_eq!(visit, expected);
        }
    }
}

#[test]
fn expect_fresh_is_refused_for_rows_that_other_users_may_change() {
    let shared = "data.v.people = 'seeded'\n";
    let owned = "data.v = { people = 'seeded', deal = 'exclusive' }\n";
    let file = "data.v.file = 'v.csv'\n";
    let held_file = "data.v = { file = 'v.csv', deal = 'exclusive' }\n";
    let own_file = "data.v = { file = 'v.csv', per = 'user' }\n";
    let named = "data.v.people = 'seeded'\nvalues.who = 'u{v.id}'\n";
    let by_path = ("/{v.id}", "");
    for (data, (path, more), page, remedy) in [
        (shared, by_path, "get = '/{v.id}'", "deal = \"exclusive\""),
        // The cookie and the page name the same user.
        (shared, ("/", ", headers.Cookie = 'user={v.id}'"), "get = '/'", "deal = \"exclusive\""),
        (shared, ("/", ", form.user = '{v.id}'"), "get = '/'", "deal = \"exclusive\""),
        (
            shared,
            ("/", ""),
            "get = '/', expect.identity = { before = '<', value = '{v.id}' }",
            "deal = \"exclusive\"",
        ),
        (named, ("/{who}", ""), "get = '/'", "deal = \"exclusive\""),
        (file, by_path, "get = '/{v.id}'", "deal = \"exclusive\""),
        (held_file, by_path, "get = '/{v.id}'", ""),
        (owned, by_path, "get = '/{v.id}'", ""),
        (own_file, by_path, "get = '/{v.id}'", ""),
        // A request may write a row's value.
        (file, ("/", ", form.city = '{v.id}'"), "get = '/'", ""),
    ] {
        let looked = match page.contains("expect") {
            true => "expect.fresh = 'new'",
            false => "expect = { fresh = 'new' }",
        };
        let text = format!(
            "{data}[[operation]]\nname = 'change'\nstep = [{{ post = '{path}'{more} }}, \
             {{ repeat = 2, step = [{{ name = 'seen', {page}, {looked} }}] }}]"
        );
        let job = Job::site(1, &text).table("v", ["id"], &[["1"]]);
        let problem = job.try_engine().err().unwrap_or_default();
        if remedy.is_empty() {
            assert_eq!(problem, "", "{text}");
        } else {
            let parts = ["mix:", ": operation[1].step[2].step[1].expect.fresh: ", "\"v\"", remedy];
            assert!(parts.iter().all(|part| problem.contains(part)), "{text}: {problem}");
        }
    }
}

#[test]
fn example_scenarios_with_expect_fresh_are_accepted() {
    for text in [
        include_str!("../../../../../../ps_bench/scenarios/scenario.toml"),
        include_str!("../../../../../../examples/flask_site/site.toml"),
    ] {
        assert!(text.contains("expect.fresh"));
        assert_eq!(Job::site(1, text).try_engine().err(), None);
    }
}

#[test]
fn expected_values_are_searched_in_their_escaped_form() {
    let html = "Ann &amp; &quot;Bo&quot; &lt;b&gt;&#39;s";
    let numeric = "Ann &amp; &#34;Bo&#34; &lt;b&gt;&#39;s";
    let json = "Ann & \\\"Bo\\\" <b>'s";
    for (how, right, wrong) in [
        ("html", &[html, numeric][..], &[NAME, json][..]),
        ("json", &[json], &[NAME, html]),
        ("plain", &[NAME], &[html, numeric, json]),
    ] {
        let text = format!(
            "data.who.file = 'w.csv'\n[[operation]]\nget = '/'\nmatch = '{how}'\n\
             expect = {{ contains = 'Hello, {{who.name}}!', identity = {{ before = '[', value = '{{who.name}}', until = ']' }} }}"
        );
        let judge = |greeted: &str, named: &str| {
            failures_of(&text, NAME, &[(200, &format!("Hello, {greeted}! [{named}]"))]).remove(0)
        };
        for right in right {
            assert_eq!(judge(right, right), "none", "{how}: {right}");
            wrong.iter().for_each(|wrong| {
                assert_eq!(judge(wrong, right), "wrong-answer", "{how}: {wrong}");
                assert_eq!(judge(right, wrong), "leak", "{how}: {wrong}");
            });
        }
    }
}
