//! Scenario files: requests are sent as written, and every kind of wrong answer has its own name.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use load::{Counter, Snapshot, now_ns};
use people::Profile;
use serde_json::json;
use wire::dn::Dn;
use wire::ldap::control::PagedResults;
use wire::ldap::filter::{Filter, Kind};
use wire::ldap::{Operation, Request, ResultCode, Scope, op};

use super::harness::{Totals, eventually, examples, people, row, written};
use super::responder::{Do, Responder, tags};

/// Cells with special characters of DNs, filters, templates and BER.
const HOSTILE: [&str; 14] = [
    "jsmith",
    "*",
    ")(uid=*",
    "a,b+c=d",
    " leading and trailing ",
    "#04",
    "\\2a",
    "\\",
    "\"quoted\"",
    "{person.uid}",
    "{base}",
    "Ωμέγα ✓",
    "\u{1}\u{7f}\u{80}",
    "0\u{4}0\u{2}\u{1}\u{1}",
];

/// Runs a scenario with the people of [`HOSTILE`], and a person whose name has 3,000 characters.
fn run_hostile(responder: &Responder, text: &str, (tag, count): (u8, usize)) {
    let long = "x".repeat(3_000);
    let cells: Vec<_> = HOSTILE.iter().copied().chain([&*long]).map(|cell| [cell]).collect();
    let job = responder.job(text).table("person", ["uid"], &cells);
    job.run_until(1, responder.has_answered(tag, count as u64));
}

/// The value of the first component of a DN.
fn first_value(dn: &[u8]) -> Vec<u8> {
    let parsed = Dn::parse(dn).unwrap_or_else(|_| panic!("{:?}", String::from_utf8_lossy(dn)));
    let pair = parsed.rdns().next().unwrap().pairs().next().unwrap();
    assert_eq!(parsed.rdns().count(), 3, "{:?}", String::from_utf8_lossy(dn));
    let mut scratch = Vec::new();
    pair.value.decode(&mut scratch).to_vec()
}

fn compared_value(operation: &Operation<'_>) -> Option<Vec<u8>> {
    let Operation::Compare(compare) = operation else { return None };
    Some(compare.value.to_vec())
}

const BASE: &str = "base = 'ou=people,o=x'\n[data.person]\nfile = 'a.csv'\ndeal = 'in-order'\n";

#[test]
fn a_cell_arrives_unchanged_in_every_place_of_an_ldap_request() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = format!(
        "{BASE}[[operation]]
name = 'all'
step = [
  {{ bind = 'uid={{person.uid}},{{base}}', password = '{{person.uid}}' }},
  {{ search = '(&(objectClass=person)(|(uid={{person.uid}})(cn=*{{person.uid}}*)))' }},
  {{ add = 'uid={{person.uid}},{{base}}', entry = {{ objectClass = 'person', sn = '{{person.uid}}' }} }},
  {{ modify = 'uid={{person.uid}},{{base}}', change.replace.sn = ['{{person.uid}}', 'x{{person.uid}}y'] }},
  {{ compare = 'uid={{person.uid}},{{base}}', entry = {{ sn = '{{person.uid}}' }} }},
  {{ delete = 'uid={{person.uid}},{{base}}' }},
]"
    );
    let cells: Vec<_> = HOSTILE.iter().map(|cell| cell.as_bytes().to_vec()).collect();
    run_hostile(&responder, &text, (op::DELETE_REQUEST, cells.len() + 1));
    let searched = responder.requests(|operation| {
        let Operation::Search(search) = operation else { return None };
        assert_eq!(search.base, b"ou=people,o=x");
        let Kind::And(all) = search.filter.kind() else { panic!("{:?}", search.filter) };
        let Kind::Or(any) = all.iter().nth(1).unwrap().kind() else { panic!("{:?}", search.filter) };
        let any: Vec<_> = any.iter().map(Filter::kind).collect();
        let [Kind::Equality(equality), Kind::Substrings(..)] = &any[..] else { panic!("{any:?}") };
        Some(equality.value.to_vec())
    });
    let compared = responder.requests(compared_value);
    let tags =
        [op::BIND_REQUEST, op::ADD_REQUEST, op::MODIFY_REQUEST, op::COMPARE_REQUEST, op::DELETE_REQUEST];
    let named = tags.map(|tag| responder.names(tag).iter().map(|dn| first_value(dn.as_bytes())).collect());
    for values in named.into_iter().chain([searched, compared]) {
        assert_eq!(values[..cells.len()], cells[..], "{:?}", String::from_utf8_lossy(&values[0]));
        assert_eq!(values[cells.len()].len(), 3_000);
    }
}

#[test]
fn operations_have_their_own_rows_and_weights() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = "[[operation]]\nname = 'much'\nweight = 90\nsearch = '(uid=a)'\nexpect.entries = 1\n\
                [[operation]]\nname = 'little'\nweight = 10\n\
                step = [{ compare = 'uid=a,o=x', entry = { sn = 'a' } }, { search = '(uid=b)' }]";
    let found = responder.run(text, (op::COMPARE_REQUEST, 20));
    let (much, little) = (row(&found, "much", "sequence"), row(&found, "little", "sequence"));
    // A round of the deck has nine cards of `much` and one of `little`. The last round may be incomplete.
    assert!((9 * little.0).abs_diff(much.0) <= 9, "{much:?} {little:?}");
    assert_eq!(row(&found, "little", "compare").0, row(&found, "little", "search").0);
    assert_eq!((much.1, little.1), (vec![], vec![]));
    assert_eq!(row(&found, "mix", "sequence").0, 0);
    // There is one connection, which stays open and has no bind.
    assert_eq!(row(&found, "mix", "main: connect").0, 1);
    assert_eq!(responder.seen.answered(op::BIND_REQUEST), 0);
}

#[test]
fn an_operation_continues_after_a_wrong_answer_and_fails_once() {
    let responder = Responder::start(&people(Profile::Paper, 1), |tag, _| match tag {
        op::COMPARE_REQUEST => Do::Code(ResultCode::NO_SUCH_OBJECT),
        op::BIND_REQUEST => Do::Code(ResultCode::INVALID_CREDENTIALS),
        _ => Do::Right,
    });
    let text = "[data.x]\nvalues = ['49', 'noSuchObject', '0']\ndeal = 'in-order'\n[[operation]]\nname = 'o'\nstep = [\
                { bind = 'uid=a,o=x', password = '{x}' }, { compare = 'uid=a,o=x', entry = { sn = 'a' } },\
                { compare = 'uid=a,o=x', entry = { sn = 'a' }, expect.result = '{x}' }, { search = '(uid=a)' }]";
    let found = responder.run(text, (op::SEARCH_REQUEST, 3));
    let passes = row(&found, "o", "sequence").0;
    assert_eq!(row(&found, "o", "sequence").1, [("result:invalidCredentials".to_owned(), passes)]);
    assert_eq!(row(&found, "o", "search"), (passes, vec![]));
    // Steps of the same name share a row of results. The data row names the expected code.
    let (compares, failures) = row(&found, "o", "compare");
    assert_eq!(compares, passes, "{failures:?}");
    let (named, failures) = row(&found, "o", "compare 2");
    let wrong = failures.iter().map(|(_, n)| n).sum::<u64>();
    assert_eq!(named - wrong, named / 3 + u64::from(named % 3 > 1), "{failures:?}");
    // A wrong password does not make the lane open its connection again.
    assert_eq!(row(&found, "mix", "main: connect").0, 1);
}

#[test]
fn a_captured_value_is_sent_and_a_step_without_its_captured_value_is_skipped() {
    let people = people(Profile::Paper, 1);
    let text = "[[operation]]\nname = 'o'\nstep = [\
                { search = '(uid=a)', capture.dn = 'dn' }, { delete = '{dn}' }]";
    let responder = Responder::right(&people);
    responder.run(text, (op::SEARCH_REQUEST, 3));
    assert_eq!(responder.names(op::DELETE_REQUEST)[0], "UID=a,ou=people,dc=example");
    let responder = Responder::lookups(&people, Do::Code(ResultCode::SUCCESS));
    let found = responder.run(text, (op::SEARCH_REQUEST, 3));
    assert_eq!(row(&found, "o", "search").1[0].0, "nothing-captured");
    assert_eq!(responder.seen.answered(op::DELETE_REQUEST), 0);
}

#[test]
fn the_scenario_file_sets_the_lifetime_of_a_connection() {
    for (per, expected) in [
        ("'user'", "b".to_owned() + &"ss".repeat(9)),
        ("3", ("b".to_owned() + &"ss".repeat(3)).repeat(2)),
        ("'iteration'", "bss".repeat(4)),
        ("'step'", "bs".repeat(4)),
    ] {
        let responder = Responder::right(&people(Profile::Paper, 1));
        let text = format!(
            "[connection.main]\nper = {per}\nbind = 'cn=a'\npassword = '{{env.P}}'\n[[operation]]\nname = 'o'\n\
             step = [{{ search = '(uid=a)' }}, {{ search = '(uid=b)' }}]"
        );
        responder
            .job(&text)
            .scenario(json!({"env": {"P": "secret"}}))
            .run_until(1, responder.has_answered(op::SEARCH_REQUEST, 31));
        // The end of a connection is read by the connection's own thread.
        let answered = |tag| responder.seen.answered(tag);
        let is_ended = || answered(op::BIND_REQUEST).abs_diff(answered(op::UNBIND_REQUEST)) <= 1;
        assert!(eventually(is_ended), "per = {per}");
        let kinds: Vec<_> = responder.requests(|operation| match operation {
            Operation::Bind(bind) => {
                assert_eq!(bind.name, b"cn=a");
                Some('b')
            }
            Operation::Search(_) => Some('s'),
            Operation::Unbind => None,
            _ => Some('?'),
        });
        let kinds = String::from_iter(kinds);
        assert!(kinds.starts_with(&expected), "per = {per}: {kinds}");
    }
}

#[test]
fn on_an_open_schedule_one_arrival_is_one_operation() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = "[[operation]]\nname = 'a'\nstep = [{ name = 'first', search = '(uid=a)' }, { search = '(uid=b)' }]\n\
                [[operation]]\nname = 'mix'\nweight = 3\nstep = [{ name = 'only', search = '(uid=c)' }]";
    let mut engine = responder.job(text).even_rate(400.0).start(4);
    assert!(eventually(responder.has_answered(op::SEARCH_REQUEST, 40)));
    let snapshot = engine.drain().unwrap();
    let open = snapshot.steps.iter().filter(|row| row.open);
    let open: Vec<_> = open.map(|row| (&*row.program, &*row.step)).collect();
    // The arrivals of an operation with one request are in the row of that request.
    assert_eq!(open, [("a", "sequence"), ("mix", "only")]);
    let (window, due) = Totals::of_window(&mut engine, 500, |_| true);
    let (first, only) = (window.count("first"), window.count("only"));
    assert_eq!(first + only, due, "{window:?}");
    assert!((3 * first).abs_diff(only) <= 4, "{window:?}");
}

#[test]
fn arrivals_that_no_lane_took_are_reported_in_a_separate_row() {
    let responder = Responder::lookups(&people(Profile::Paper, 1), Do::Never);
    let text = "[[operation]]\nname = 'mix'\nsearch = '(uid=a)'";
    let mut engine = responder.job(text).even_rate(100.0).start(1);
    std::thread::sleep(Duration::from_millis(300));
    // Arrivals of an ended window that never began belong to that window.
    let found = [engine.cut().unwrap(), engine.stop(Duration::ZERO).unwrap()];
    let (count, failures) = row(&found, "mix", "not begun");
    assert!(count > 10, "{count}");
    assert_eq!(failures, [("timeout".to_owned(), count)]);
    assert_eq!(row(&found, "mix", "search").0, 1);
}

#[test]
fn a_begun_operation_is_finished_when_its_lane_is_stopped() {
    let responder = Responder::only(&people(Profile::Paper, 1), op::ADD_REQUEST, Do::Slowly(20));
    let text = "[[operation]]\nname = 'o'\nstep = [\
                { add = 'cn={user}-{iteration},o=x', entry = { sn = 'a' } }, { think = '1h' },\
                { delete = 'cn={user}-{iteration},o=x' }]";
    let found = responder.job(text).run_until(4, responder.has_answered(op::ADD_REQUEST, 2));
    let (adds, deletes) = (row(&found, "o", "add"), row(&found, "o", "delete"));
    assert_eq!((adds.0, deletes.0), (4, 4));
    assert!(responder.seen.added.lock().unwrap().is_empty());
    // Operations in a think time are left out, because they were finished without the pause.
    let wholes = found[0].steps.iter().filter(|row| &*row.step == "sequence");
    let thinking: u64 = wholes.map(|row| row.counter(Counter::Thinking)).sum();
    assert_eq!(row(&found, "o", "sequence"), (4 - thinking, vec![]));
}

#[test]
fn each_user_keeps_the_row_of_its_number() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = "[data.n]\nvalues = ['1', '2', '3', '4', '5']\nper = 'user'\n\
                [[operation]]\nsearch = '(uid={user}-{n})'";
    responder
        .job(text)
        .with(json!({"threads": 2}))
        .run_until(5, responder.has_answered(op::SEARCH_REQUEST, 201));
    let mut asked = responder.requests(|operation| match operation {
        Operation::Search(search) => match search.filter.kind() {
            Kind::Equality(equality) => Some(String::from_utf8(equality.value.to_vec()).unwrap()),
            other => panic!("{other:?}"),
        },
        _ => None,
    });
    asked.sort();
    asked.dedup();
    assert_eq!(asked, ["1-1", "2-2", "3-3", "4-4", "5-5"]);
}

#[test]
fn a_request_of_16_mib_is_refused_before_any_request_is_sent() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text =
        |bytes: usize| format!("[[operation]]\ncompare = 'cn=a'\nentry = {{ sn = '{}' }}", "x".repeat(bytes));
    assert!(responder.job(&text(15 << 20)).try_engine().is_ok());
    let problem = responder.job(&text(16 << 20)).refusal();
    assert!(problem.contains("the request has 16 MiB or more"), "{}", problem.len());
}

#[test]
fn a_failed_start_is_repeated_after_a_pause_that_no_answer_shortens() {
    let responder = Responder::lookups(&people(Profile::Paper, 1), Do::Code(ResultCode::SUCCESS));
    let text = "[start]\nstep = [{ compare = 'cn=a', entry = { sn = 'a' } }, { search = '(uid=a)', capture.dn = 'dn' }]\n\
                [[operation]]\ndelete = '{dn}'";
    let mut engine = responder.job(text).start(1);
    assert!(eventually(|| responder.seen.answered(op::SEARCH_REQUEST) >= 1));
    let began = Instant::now();
    assert!(eventually(|| responder.seen.answered(op::SEARCH_REQUEST) >= 2));
    assert!(began.elapsed() > Duration::from_millis(900), "{:?}", began.elapsed());
    let found = [engine.stop(Duration::from_secs(5)).unwrap()];
    assert_eq!(row(&found, "start", "search").1, [("nothing-captured".to_owned(), 2)]);
    assert_eq!(row(&found, "delete", "delete").0, 0);
}

#[test]
fn cells_used_as_filters_names_or_codes_are_checked_before_the_first_request() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    for (cell, step, expected) in [
        ("(uid=a", "search = '{x.c}'", "mix:4:10: operation[1].search: row 2 of x, c: \"(uid=a\""),
        (
            "no name",
            "delete = '{x.c}'",
            "mix:4:10: operation[1].delete: row 2 of x, c: \"no name\": is no name",
        ),
        (
            "noSuchCode",
            "compare = 'o=x'\nentry = { sn = 'a' }\nexpect.result = '{x.c}'",
            "mix:6:17: operation[1].expect.result: row 2 of x, c: \"noSuchCode\": is no result code",
        ),
        (
            "no name",
            // The same text is valid as a value.
            "name = 'o'\n[[operation.step]]\ncompare = 'o=x'\nentry.sn = '{x.c}'\n[[operation.step]]\ndelete = '{x.c}'",
            "mix:9:10: operation[1].step[2].delete: row 2 of x",
        ),
    ] {
        let good = match cell {
            "(uid=a" => "(uid=a)",
            "no name" => "cn=a",
            _ => "noSuchObject",
        };
        let text = format!("[data.x]\nfile = 'a.csv'\n[[operation]]\n{step}");
        let problem = responder.job(&text).table("x", ["c"], &[[good], [cell]]).refusal();
        assert!(problem.contains(expected), "{problem}");
    }
    assert_eq!(responder.connections(), 0);
}

/// Asserts which texts the examples of failures contain.
fn assert_shown(snapshots: &[Snapshot], shown: &[&str], hidden: &[&str]) {
    let examples = examples(snapshots).join("; ");
    assert!(shown.iter().all(|text| examples.contains(text)), "{examples}");
    assert!(!hidden.iter().any(|text| examples.contains(text)), "{examples}");
}

#[test]
fn failures_are_described_without_secrets() {
    let responder =
        Responder::start(&people(Profile::Paper, 1), |_, _| Do::Code(ResultCode::INVALID_CREDENTIALS));
    let text = "[data.account]\nfile = 'a.csv'\n[[operation]]\n\
                bind = 'uid={account.uid},o=x'\npassword = '{account.password}'\n\
                [[operation]]\nsearch = '(userPassword={account.password})'";
    let job = responder.job(text).table("account", ["uid", "password"], &[["jsmith", "hunter2"]]);
    let found = job.run_until(1, responder.has_answered(op::SEARCH_REQUEST, 3));
    assert_shown(&found, &["uid=jsmith,o=x", "{account.password}"], &["hunter2"]);
}

#[test]
fn a_scenario_of_another_protocol_is_refused() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let problem = responder.job("[[operation]]\nget = '/'").refusal();
    assert!(problem.contains("speaks HTTP"), "{problem}");
}

#[test]
fn an_entry_that_the_operation_did_not_add_is_not_deleted() {
    let people = people(Profile::Paper, 1);
    let responder = Responder::only(&people, op::ADD_REQUEST, Do::Code(ResultCode::ENTRY_ALREADY_EXISTS));
    let text = "[[operation]]\nname = 'o'\nstep = [\
                { add = 'cn=x,o=x', entry = { sn = 'a' } }, { modify = 'cn=x,o=x', change.replace.sn = 'b' },\
                { modify_dn = 'cn=x,o=x', new_rdn = 'cn=y' }, { delete = 'cn=y,o=x' }]";
    let found = responder.run(text, (op::ADD_REQUEST, 3));
    let written = [op::MODIFY_REQUEST, op::MODIFY_DN_REQUEST, op::DELETE_REQUEST];
    assert_eq!(written.map(|tag| responder.seen.answered(tag)), [0; 3]);
    let (count, failures) = row(&found, "o", "sequence");
    assert_eq!(failures, [("result:entryAlreadyExists".to_owned(), count)]);
    // A file may expect this result; the entry still does not belong to the operation.
    let expecting = text.replace("entry = {", "expect.result = 'entryAlreadyExists', entry = {");
    let before = responder.seen.answered(op::ADD_REQUEST);
    responder.run(&expecting, (op::ADD_REQUEST, before + 3));
    assert_eq!(written.map(|tag| responder.seen.answered(tag)), [0; 3]);
    let responder = Responder::right(&people);
    responder.run(text, (op::DELETE_REQUEST, 1));
    // In a second round the entry is checked again.
    let text = "[[operation]]\nname = 'o'\nstep = [{ repeat = 2, step = [\
                { add = 'cn={iteration},o=x', entry = { sn = 'a' } }, { refresh = 'cn={iteration},o=x', ttl = '1m' }] },\
                { delete = 'cn={iteration},o=x' }]";
    let responder = Responder::right(&people);
    responder.run(text, (op::ADD_REQUEST, 4));
    let answered = |tag| responder.seen.answered(tag);
    // The second add of each operation is refused, because the first entry exists.
    assert!(answered(op::EXTENDED_REQUEST).abs_diff(answered(op::ADD_REQUEST) / 2) <= 1);
    assert_eq!(answered(op::DELETE_REQUEST), 0);
}

#[test]
fn an_arrival_whose_counted_step_cannot_be_sent_is_recorded() {
    let responder = Responder::lookups(&people(Profile::Paper, 1), Do::Code(ResultCode::SUCCESS));
    let text = "[[operation]]\nname = 'o'\ncounts = 'use'\nstep = [\
                { search = '(uid=a)', capture.dn = 'dn' }, { name = 'use', delete = '{dn}' }]";
    let mut engine = responder.job(text).even_rate(200.0).start(2);
    let (window, due) = Totals::of_window(&mut engine, 300, |totals| totals.count("use") > 3);
    assert_eq!(window.of("use").failures, BTreeMap::from([("nothing-captured".to_owned(), due)]));
    assert_eq!(window.count("use"), due);
}

#[test]
fn a_connection_closed_by_the_target_is_reopened_before_the_next_arrival() {
    let is_opened = |_| {
        let responder = Responder::start(&people(Profile::Paper, 1), |_, _| Do::RightThenCloseAfter(10));
        let job = responder.job("[[operation]]\nsearch = '(uid=a)'").even_rate(10.0);
        let found = job.run_until(1, responder.has_answered(op::SEARCH_REQUEST, 6));
        let (passes, failures) = row(&found, "search", "search");
        failures.iter().map(|(_, count)| count).sum::<u64>() <= passes / 3
    };
    // On a busy machine the next arrival may be due before the target closes, so one good try suffices. If a
    // connection were not reopened before the arrival, every second operation would fail.
    assert!((0..5).any(is_opened));
}

#[test]
fn a_capture_is_forgotten_in_each_round() {
    let responder = Responder::start(&people(Profile::Paper, 1), |tag, n| {
        // Only the first search finds an entry.
        if tag == op::SEARCH_REQUEST && n > 0 { Do::Code(ResultCode::SUCCESS) } else { Do::Right }
    });
    let text = "[[operation]]\nname = 'o'\nstep = [{ repeat = 3, step = [\
                { search = '(uid=a)', capture.dn = 'dn' }, { delete = '{dn}' }] }]";
    let found = responder.run(text, (op::SEARCH_REQUEST, 6));
    assert_eq!(row(&found, "o", "delete").0, 1);
}

#[test]
fn the_password_of_the_command_line_is_shown_nowhere() {
    let responder =
        Responder::start(&people(Profile::Paper, 1), |_, _| Do::Code(ResultCode::INVALID_CREDENTIALS));
    let text = "base = 'ou={env.TENANT},o=x'\n[[operation]]\nbind = ''\n[[operation]]\nsearch = '(uid=a)'";
    let bind = json!({"dn": "cn=admin", "password": "hunter2"});
    let job = responder.job(text).scenario(json!({"env": {"TENANT": "tenant-7"}, "bind": bind}));
    let found = job.run_until(1, responder.has_answered(op::BIND_REQUEST, 2));
    assert_shown(&found, &["cn=admin"], &["hunter2", "tenant-7"]);
}

#[test]
fn a_search_has_the_scope_and_alias_dereferencing_of_the_file() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let scopes =
        [("sub", Scope::Subtree), ("base", Scope::Base), ("one", Scope::One), ("children", Scope::Children)];
    let aliases = ["never", "searching", "finding", "always"];
    let steps = scopes.iter().zip(aliases);
    let steps = steps
        .map(|((scope, _), deref)| format!("{{ search = '(uid=a)', scope = '{scope}', deref = '{deref}' }}"));
    let text = format!("[[operation]]\nname = 'o'\nstep = [{}]", steps.collect::<Vec<_>>().join(", "));
    responder.run(&text, (op::SEARCH_REQUEST, 4));
    let asked = responder.requests(|operation| match operation {
        Operation::Search(search) => Some((search.scope, search.dereference)),
        _ => None,
    });
    let expected = scopes.iter().zip(0u8..).map(|((_, scope), deref)| (*scope, deref));
    assert_eq!(asked[..4], expected.collect::<Vec<_>>());
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_value_has_the_bytes_of_its_file_or_column() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let rows = HOSTILE.map(|cell| [STANDARD.encode(cell), hex(cell)]);
    let text = "[data.x]\nfile = 'a.csv'\ndeal = 'in-order'\n[[operation]]\nmodify = 'cn=a,o=x'\n\
                change.replace = { b = { base64 = '{x.b}' }, h = { hex = '{x.h}' }, f = { file = 'photo.jpg' } }";
    let photo: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let job = responder.job(text).scenario(json!({"files": {"photo.jpg": STANDARD.encode(&photo)}}));
    let is_done = responder.has_answered(op::MODIFY_REQUEST, HOSTILE.len() as u64);
    job.table("x", ["b", "h"], &rows).run_until(1, is_done);
    let sent = responder.requests(|operation| match operation {
        Operation::Modify(modify) => {
            let values = modify
                .changes()
                .map(|change| change.attribute.values.iter().next().unwrap().unwrap().to_vec());
            Some(values.collect::<Vec<_>>())
        }
        _ => None,
    });
    for (cell, values) in HOSTILE.iter().zip(sent) {
        assert_eq!(values, [cell.as_bytes(), cell.as_bytes(), &photo]);
    }
    let text = text.replace(", f = { file = 'photo.jpg' }", "");
    let problem = responder.job(&text).table("x", ["b", "h"], &[["AAE=", "00"], ["AAE=", "0"]]).refusal();
    assert!(problem.contains("row 2 of x, h: \"0\": is not in hexadecimal digits"), "{problem}");
}

#[test]
fn an_expected_value_may_be_bytes() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let name = written(|out| responder.people.write_name(0, out));
    let operation = |called: &str, value: &str| {
        let value = hex(value);
        format!(
            "[[operation]]\nname = '{called}'\nsearch = '(cn={name})'\nexpect.entry = {{ cn = {{ hex = '{value}' }} }}\n"
        )
    };
    let text = operation("right", &name) + &operation("wrong", &name.to_uppercase());
    let found = responder.run(&text, (op::SEARCH_REQUEST, 6));
    assert_eq!(row(&found, "right", "search").1, []);
    // A comparison as text would ignore the case of letters.
    let (count, failures) = row(&found, "wrong", "search");
    assert_eq!(failures, [("wrong-answer".to_owned(), count)]);
}

#[test]
fn a_secret_is_hidden_in_any_spelling_of_a_server() {
    let text = "[data.x]\nfile = 'a.csv'\n[[operation]]\nname = 'o'\nstep = [\
                { search = '(&(cn={x.pin})(sn={x.token}))' },\
                { modify = 'cn=a,o=x', change.replace.userPassword = { base64 = '{x.password}' } },\
                { modify = 'cn=b,o=x', change.replace.userPassword = { file = 'key' } }]";
    let responder = Responder::start(&people(Profile::Paper, 1), |_, _| Do::Echo);
    let job = responder.job(text).scenario(json!({"files": {"key": STANDARD.encode("in-a-file\n")}}));
    let row = ["a\"b\\c é", &STANDARD.encode("hunter2"), "a\"b"];
    let job = job.table("x", ["pin", "password", "token"], &[row]);
    let found = job.run_until(1, responder.has_answered(op::MODIFY_REQUEST, 4));
    let names = ["{x.pin}", "{x.token}", "{x.password}", "{file key}"];
    assert_shown(&found, &names, &["a\\\"b", "hunter2", "in-a-file"]);
}

/// The controls of each request with a tag: OID, criticality, value.
fn controls(responder: &Responder, tag: u8) -> Vec<Vec<(String, bool, Vec<u8>)>> {
    let messages = responder.seen.messages.lock().unwrap();
    let requests = messages.iter().map(|message| Request::decode(message).unwrap());
    let of = |request: Request<'_>| {
        let controls = request.controls.iter().map(|control| {
            let oid = String::from_utf8(control.oid.to_vec()).unwrap();
            (oid, control.critical, control.value.unwrap_or_default().to_vec())
        });
        controls.collect()
    };
    requests.filter(|request| tags(&request.operation).0 == tag).map(of).collect()
}

#[test]
fn controls_are_encoded_as_their_rfcs_specify() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = "[[operation]]\nname = 'o'\nstep = [\
        { bind = '', control.password_policy = true },\
        { search = '(uid=a)', control = { sort = 'sn -cn', subentries = true } },\
        { modify = 'cn=a,o=x', change.replace.sn = 'b', control = { pre_read = ['sn', 'cn'], post_read = ['*'], \
          permissive_modify = true, assertion = '(sn=x)', manage_dsa_it = true } },\
        { delete = 'cn=a,o=x', control = { subtree_delete = true, '1.2.3' = {}, \
          '1.2.4' = { critical = false, value = { hex = '0001' } } } },\
        { compare = 'cn=a,o=x', entry = { sn = 'b' }, control = { manage_dsa_it = false } }]";
    responder.run(text, (op::COMPARE_REQUEST, 1));
    let tags =
        [op::BIND_REQUEST, op::SEARCH_REQUEST, op::MODIFY_REQUEST, op::DELETE_REQUEST, op::COMPARE_REQUEST];
    let sent = tags.map(|tag| controls(&responder, tag).swap_remove(0));
    let control = |oid: &str, critical, value: &[u8]| (oid.to_owned(), critical, value.to_vec());
    assert_eq!(sent[0], [control("1.3.6.1.4.1.42.2.27.8.5.1", false, b"")]);
    // SEQUENCE { SEQUENCE { "sn" }, SEQUENCE { "cn", [1] TRUE } }; BOOLEAN TRUE.
    let sort = b"\x30\x0f\x30\x04\x04\x02sn\x30\x07\x04\x02cn\x81\x01\xff";
    assert_eq!(
        sent[1],
        [
            control("1.2.840.113556.1.4.473", true, sort),
            control("1.3.6.1.4.1.4203.1.10.1", true, b"\x01\x01\xff")
        ]
    );
    assert_eq!(
        sent[2],
        [
            control("1.3.6.1.1.13.1", true, b"\x30\x08\x04\x02sn\x04\x02cn"),
            control("1.3.6.1.1.13.2", true, b"\x30\x03\x04\x01*"),
            control("1.2.840.113556.1.4.1413", true, b""),
            control("1.3.6.1.1.12", true, b"\xa3\x07\x04\x02sn\x04\x01x"),
            control("2.16.840.1.113730.3.4.2", true, b""),
        ]
    );
    assert_eq!(
        sent[3],
        [
            control("1.2.840.113556.1.4.805", true, b""),
            control("1.2.3", true, b""),
            control("1.2.4", false, b"\0\x01"),
        ]
    );
    assert_eq!(sent[4], []);
}

#[test]
fn a_cell_in_a_control_arrives_unchanged_and_is_checked_before_the_load() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = format!(
        "{BASE}[[operation]]\ncompare = 'cn=a,o=x'\nentry = {{ sn = 'b' }}\ncontrol = {{ \
         proxied_authorization = 'dn:uid={{person.uid}},{{base}}', assertion = '(|(uid={{person.uid}})(a=b))', \
         '1.2.3' = {{ value = 'x{{person.uid}}' }} }}\n\
         [[operation]]\nbind = ''\n[[operation]]\nsearch = '(uid=a)'\ncontrol.proxied_authorization = 'u:{{person.uid}}'"
    );
    run_hostile(&responder, &text, (op::SEARCH_REQUEST, 2 * HOSTILE.len()));
    let sent = controls(&responder, op::COMPARE_REQUEST);
    let mut seen: Vec<_> = sent
        .iter()
        .map(|controls| {
            let [(_, true, who), (_, true, filter), (_, true, value)] = &controls[..] else {
                panic!("{controls:?}")
            };
            let filter = Filter::decode(&mut wire::ber::Reader::new(filter)).unwrap();
            let Kind::Or(any) = filter.kind() else { panic!("{filter:?}") };
            assert_eq!(any.iter().count(), 2);
            let Some(Kind::Equality(equality)) = any.iter().next().map(|first| first.kind()) else {
                panic!()
            };
            assert_eq!(value.strip_prefix(b"x").unwrap(), equality.value);
            assert_eq!(first_value(who.strip_prefix(b"dn:").unwrap()), equality.value);
            equality.value.to_vec()
        })
        .collect();
    let sent = controls(&responder, op::SEARCH_REQUEST);
    seen.extend(sent.iter().map(|controls| controls[0].2.strip_prefix(b"u:").unwrap().to_vec()));
    for cell in HOSTILE {
        assert!(seen.iter().any(|value| value == cell.as_bytes()), "{cell:?}");
    }
    let text = "[data.x]\nfile = 'a.csv'\n[[operation]]\nsearch = '(uid=a)'\ncontrol.proxied_authorization = '{x.who}'";
    let problem = responder.job(text).table("x", ["who"], &[["u:ann"], ["ann"]]).refusal();
    assert!(problem.contains("row 2 of x, who: \"ann\": is no identity"), "{problem}");
}

#[test]
fn all_pages_of_a_search_count_as_one_step() {
    let responder = Responder::lookups(&people(Profile::Paper, 25), Do::Pages);
    // All pages have the same drawn values, and the entries of all pages are counted.
    let text = "[data.x]\nvalues = ['a', 'b']\n[[operation]]\nsearch = '(|(cn=*)(cn={random:8}*)(cn={x}*))'\n\
                page_size = 10\ncontrol.sort = 'cn'\nexpect.entries = 25";
    let found = responder.run(text, (op::SEARCH_REQUEST, 31));
    let (count, failures) = row(&found, "search", "search");
    assert_eq!(failures, []);
    let asked = responder.requests(|operation| match operation {
        Operation::Search(search) => Some(search.filter.to_string()),
        _ => None,
    });
    assert!(asked.len().abs_diff(3 * count as usize) <= 2, "{} requests, {count} searches", asked.len());
    assert!(asked.chunks_exact(3).all(|pages| pages[0] == pages[1] && pages[1] == pages[2]), "{asked:?}");
    assert_ne!(asked[0], asked[3]);
    let sent = controls(&responder, op::SEARCH_REQUEST);
    let cookie = |controls: &Vec<(String, bool, Vec<u8>)>| {
        let paged = controls.iter().find(|control| control.0 == "1.2.840.113556.1.4.319").unwrap();
        let page = PagedResults::decode(&paged.2).unwrap();
        (controls.len(), page.size, String::from_utf8(page.cookie.to_vec()).unwrap())
    };
    let cookies: Vec<_> = sent[..4].iter().map(cookie).collect();
    let expected = ["", "10", "20", ""].map(|cookie| (2, 10, cookie.to_owned()));
    assert_eq!(cookies, expected);
}

#[test]
fn missing_or_endless_pages_are_a_wrong_answer() {
    let people = people(Profile::Paper, 25);
    let text = "[[operation]]\nsearch = '(cn=*)'\npage_size = 10";
    for (what, requests) in [(Do::WithoutPages, 1), (Do::CookieForEver, 100)] {
        let responder = Responder::lookups(&people, what);
        let found = responder.run(text, (op::SEARCH_REQUEST, 2 * requests));
        let (count, failures) = row(&found, "search", "search");
        assert_eq!(failures, [("wrong-answer".to_owned(), count)], "{what:?}");
        assert!(responder.seen.answered(op::SEARCH_REQUEST).abs_diff(requests * count) <= requests);
    }
    // One page with all entries needs no control.
    let responder = Responder::lookups(&people, Do::WithoutPages);
    let text = text.replace("10", "25");
    let found = responder.run(&text, (op::SEARCH_REQUEST, 2));
    assert_eq!(row(&found, "search", "search").1, []);
}

#[test]
fn an_expected_control_must_come_with_the_final_answer() {
    let people = people(Profile::Paper, 25);
    let text = "[[operation]]\nsearch = '(cn=*)'\npage_size = 25\nexpect.control = '1.2.840.113556.1.4.319'";
    let without = text.replace("expect.control", "#");
    let other = text.replace("4.319'", "4.31'");
    let refused = text.replace("expect.", "expect.result = 'noSuchObject'\nexpect.");
    let missing = "25 entries, success, but control 1.2.840.113556.1.4.319 is missing";
    for (what, text, wrong) in [
        (Do::Pages, text, None),
        (Do::WithoutPages, &without, None),
        (Do::WithoutPages, text, Some(missing)),
        (Do::Pages, &other, Some("25 entries, success, but control 1.2.840.113556.1.4.31 is missing")),
        // An answer must have the control, whatever its result is.
        (
            Do::Code(ResultCode::NO_SUCH_OBJECT),
            &refused,
            Some("noSuchObject, but control 1.2.840.113556.1.4.319 is missing"),
        ),
    ] {
        let responder = Responder::lookups(&people, what);
        let found = responder.run(text, (op::SEARCH_REQUEST, 3));
        let (count, failures) = row(&found, "search", "search");
        let expected = wrong.map(|_| ("wrong-answer".to_owned(), count));
        assert_eq!(failures, expected.into_iter().collect::<Vec<_>>(), "{what:?}: {text}");
        let examples = examples(&found);
        assert!(examples.len() == usize::from(wrong.is_some()), "{examples:?}");
        assert!(examples.iter().zip(wrong).all(|(text, wrong)| text.ends_with(wrong)), "{examples:?}");
    }
    // Only the last page must have the control.
    let pages = text.replace("= 25", "= 10");
    let responder = Responder::start(&people, |_, before| match before % 3 {
        0 | 1 => Do::Pages,
        _ => Do::Code(ResultCode::SUCCESS),
    });
    let found = responder.run(&pages, (op::SEARCH_REQUEST, 7));
    let (count, failures) = row(&found, "search", "search");
    assert_eq!(failures, [("wrong-answer".to_owned(), count)]);
}

#[test]
fn steps_are_repeated_for_each_value_of_a_list() {
    let responder = Responder::right(&people(Profile::Paper, 5));
    let text = "[[operation]]\nname = 'o'\nstep = [\
                { search = '(cn=*)', capture = { all = { attribute = 'dn', take = 'all' }, names = { attribute = 'cn', take = 'all' } } },\
                { repeat = 'all', step = [{ modify = '{all}', change.replace.sn = 'x{all}' }, \
                  { repeat = 'names', step = [{ compare = '{all}', entry = { sn = '{names}' } }] }] }]";
    let found = responder.run(text, (op::COMPARE_REQUEST, 80));
    let rounds = row(&found, "o", "sequence").0;
    assert_eq!(row(&found, "o", "sequence").1, []);
    let (modifies, compares) = (row(&found, "o", "modify").0, row(&found, "o", "compare").0);
    assert_eq!((modifies % 5, compares), (0, 5 * modifies));
    assert_eq!(modifies, 5 * rounds);
    let mut dns = vec![Vec::new(); 5];
    dns.iter_mut().zip(0..).for_each(|(dn, i)| responder.people.write_dn(i, dn));
    let asked = responder.requests(|operation| match operation {
        Operation::Modify(modify) => {
            let change = modify.changes().next().unwrap();
            let value = change.attribute.values.iter().next().unwrap().unwrap();
            assert_eq!(value, [b"x", modify.dn].concat());
            Some(modify.dn.to_vec())
        }
        _ => None,
    });
    assert_eq!(asked[..10], [dns.clone(), dns].concat());
    let compared = responder.requests(compared_value);
    let name = written(|out| responder.people.write_name(4, out)).into_bytes();
    assert_eq!((&compared[4], &compared[9]), (&name, &name));
}

#[test]
fn a_missing_list_fails_unless_it_has_a_default() {
    for (default, repeated, failed) in
        [("", 0, true), (", default = []", 0, false), (", default = ['cn=x,o=x', 'cn=y,o=x']", 2, false)]
    {
        let responder = Responder::lookups(&people(Profile::Paper, 1), Do::Code(ResultCode::SUCCESS));
        let text = format!(
            "[[operation]]\nname = 'o'\nstep = [\
            {{ search = '(cn=*)', capture.all = {{ attribute = 'dn', take = 'all'{default} }} }},\
            {{ repeat = 'all', step = [{{ delete = '{{all}}', expect.result = ['success', 'noSuchObject'] }}] }}, {{ compare = 'cn=a,o=x', entry = {{ sn = 'a' }} }}]"
        );
        let found = responder.run(&text, (op::COMPARE_REQUEST, 3));
        let (count, failures) = row(&found, "o", "sequence");
        assert_eq!(row(&found, "o", "delete").0, repeated * count, "{default}");
        assert_eq!(!failures.is_empty(), failed, "{default} {failures:?}");
    }
}

#[test]
fn a_random_capture_chooses_each_value_equally_often() {
    let responder = Responder::right(&people(Profile::Paper, 4));
    let text = "[[operation]]\nname = 'o'\nstep = [\
                { search = '(cn=*)', capture.one = { attribute = 'dn', take = 'random' } }, { delete = '{one}', expect.result = [0, 32] }]";
    responder.run(text, (op::DELETE_REQUEST, 400));
    let mut asked = responder.names(op::DELETE_REQUEST);
    asked.sort();
    let counts: Vec<_> = asked.chunk_by(|a, b| a == b).map(<[_]>::len).collect();
    // Each count is within five standard deviations of a quarter.
    let (quarter, square) = (asked.len() / 4, 25 * 3 * asked.len() / 16);
    assert!(
        counts.len() == 4 && counts.iter().all(|count| count.abs_diff(quarter).pow(2) < square),
        "{counts:?}"
    );
}

#[test]
fn a_server_generated_password_is_captured_and_hidden() {
    let responder = Responder::start(&people(Profile::Paper, 1), |tag, _| match tag {
        op::EXTENDED_REQUEST => Do::Generate("gen\"7"),
        op::MODIFY_REQUEST => Do::Echo,
        _ => Do::Right,
    });
    let text = "[[operation]]\nname = 'o'\nstep = [\
                { password_modify = 'uid=a,o=x', capture.new = 'genPasswd' },\
                { bind = 'uid=a,o=x', password = '{new}' }, { modify = 'cn=a,o=x', change.replace.sn = '{new}' }]";
    let found = responder.run(text, (op::MODIFY_REQUEST, 3));
    let bound = responder.requests(|operation| match operation {
        Operation::Bind(bind) => match bind.credentials {
            wire::ldap::Credentials::Simple(password) => Some(password.to_vec()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(bound[0], b"gen\"7");
    assert_shown(&found, &["{new}"], &["gen"]);
}

#[test]
fn entries_left_by_one_run_do_not_disturb_the_next_run() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = "[[operation]]\nadd = 'cn={uuid},o=x'\nentry = { sn = 'a' }\nkeep = true";
    for adds in [10, 20] {
        let found = responder.run(text, (op::ADD_REQUEST, adds));
        assert_eq!(row(&found, "add", "add").1, []);
    }
}

/// Steps that send nothing for hours: neither another lane nor the command to stop waits for them.
#[test]
fn a_repeat_that_sends_nothing_does_not_block_its_thread() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let asks = "[[operation]]\nname = \"asks\"\nsearch = \"(cn=x)\"\n";
    for think in ["0s", "0.000001ms"] {
        let pause = format!("{{ think = \"{think}\" }}");
        let mut steps = format!("{{ repeat = 1000000000, step = [ {pause} ] }}");
        for nested in [false, true] {
            if nested {
                steps = format!("{{ repeat = 1000000000, step = [ {steps}, {pause} ] }}");
            }
            let silent =
                format!("[[operation]]\nname = \"a\"\nstep = [ {steps}, {{ search = \"(cn=x)\" }} ]\n");
            let both = json!([{"name": "silent", "text": silent}, {"name": "mix", "text": asks}]);
            let mut engine = responder.job("").with(json!({"threads": 1, "scenarios": both})).engine();
            engine.start_lanes("silent", 2).unwrap();
            engine.start_lanes("mix", 1).unwrap();
            let before = responder.seen.answered(op::SEARCH_REQUEST);
            let others_go_on = eventually(|| responder.seen.answered(op::SEARCH_REQUEST) >= before + 20);
            assert!(others_go_on, "{think}");
            let begun_ns = now_ns();
            engine.stop(Duration::from_secs(20)).unwrap();
            assert!(now_ns() - begun_ns < 1_000_000_000, "{think}: {} ns", now_ns() - begun_ns);
        }
    }
}
