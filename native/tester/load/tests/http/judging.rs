//! What is told of an answer that is wrong in several ways, and how values are looked for in answers.

use load::Tables;

use crate::portable::{Site, users};
use crate::scenarios::{config, one};

const NAME: &str = "Ann & \"Bo\" <b>'s";

fn who(name: &str) -> Tables {
    one("who", &["name"], &[&[name]])
}

/// What is wrong with each of the answers to an operation.
fn failures(text: &str, tables: &Tables, answers: &[(u16, &str)]) -> Vec<String> {
    let mut users = users(&config(1, text), tables);
    let mut user = Site::new(&mut users);
    let mut judge = |(status, body): &(u16, &str)| {
        user.ask();
        let judged = user.user.answered_http(user.users, *status, &[], body.as_bytes()).unwrap();
        judged.failure.unwrap_or_else(|| "none".to_owned())
    };
    answers.iter().map(&mut judge).collect()
}

#[test]
fn the_worst_is_told() {
    let text = "data.who.file = 'w.csv'\n[[operation]]\nname = 'all'\nstep = [{ post = '/' }, { get = '/', \
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
        assert_eq!(failures(text, &who("ann"), &[(200, ""), (status, body)]), ["none", expected], "{body}");
    }
}

#[test]
fn a_page_shows_a_change_only_after_it_was_made() {
    let page = "{ get = '/', expect.fresh = 'new' }";
    let text = format!("[[operation]]\nname = 'all'\nstep = [{page}, {{ post = '/' }}, {page}, {page}]");
    for (status, expected) in
        [(200, ["none", "none", "stale", "none"]), (503, ["none", "status:503", "none", "none"])]
    {
        let answers = [(200, "old"), (status, ""), (200, "old"), (200, "new")];
        assert_eq!(failures(&text, &Tables::new(), &answers), expected);
    }
    // What one visit changed, the next need not show.
    let answers = [(200, "old"), (200, ""), (200, "new"), (200, "new"), (200, "old")];
    assert_eq!(failures(&text, &Tables::new(), &answers), ["none"; 5]);
}

#[test]
fn a_change_that_was_refused_is_shown_by_no_page_whatever_else_was_right() {
    let text = "[[operation]]\nname = 'all'\nstep = [{ name = 'login', post = '/login' }, \
        { post = '/u' }, { get = '/', expect.fresh = 'new' }]";
    for (login, update, expected) in [
        (200, 503, ["none", "status:503", "none"]),
        (503, 200, ["status:503", "none", "none"]),
        (200, 200, ["none", "none", "stale"]),
    ] {
        let answers = [(login, ""), (update, ""), (200, "old")];
        // What one visit was refused is nothing to the next.
        for visit in failures(text, &Tables::new(), &[answers, answers].concat()).chunks(3) {
            assert_eq!(visit, expected);
        }
    }
}

#[test]
fn values_are_looked_for_as_they_are_written() {
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
            failures(&text, &who(NAME), &[(200, &format!("Hello, {greeted}! [{named}]"))]).remove(0)
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
