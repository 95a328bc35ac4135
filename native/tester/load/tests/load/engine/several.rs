//! Users with several connections: the connection of each request, and lost connections.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use people::Profile;
use proptest::prelude::*;
use serde_json::json;
use wire::ldap::filter::Kind;
use wire::ldap::{Operation, ResultCode, op};

use super::harness::{eventually, people, row};
use super::responder::{Do, MOST_MESSAGES, Responder};

/// The lifetime of a connection, as the file sets it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Per {
    User,
    Operations(u32),
    Iteration,
    Step,
}

#[derive(Debug, Clone, PartialEq)]
enum Asked {
    /// A search over a connection.
    Search(usize),
    Unbind(usize),
    /// Steps that are performed twice.
    Repeat(Vec<Asked>),
}

/// The scenario of a user.
#[derive(Debug, Clone)]
struct User {
    connections: Vec<(Per, bool)>,
    steps: Vec<Asked>,
}

impl User {
    fn text(&self) -> String {
        let mut text = String::new();
        for (number, (per, binds)) in self.connections.iter().enumerate() {
            // A connection that no step uses is refused.
            if !uses(&self.steps, number) {
                continue;
            }
            let per = match per {
                Per::User => "'user'".to_owned(),
                Per::Operations(times) => times.to_string(),
                Per::Iteration => "'iteration'".to_owned(),
                Per::Step => "'step'".to_owned(),
            };
            text += &format!("[connection.c{number}]\nper = {per}\n");
            if *binds {
                text += &format!("bind = 'cn=c{number}'\n");
            }
        }
        let mut names = 0;
        text + "[[operation]]\nname = 'o'\nstep = [" + &written(&self.steps, &mut names) + "]"
    }
}

fn written(steps: &[Asked], names: &mut usize) -> String {
    let step = |step: &Asked| {
        *names += 1;
        match step {
            Asked::Search(on) => format!("{{ name = 's{names}', search = '(uid=c{on})', on = 'c{on}' }}"),
            Asked::Unbind(on) => format!("{{ name = 'u{names}', unbind = 'c{on}' }}"),
            Asked::Repeat(steps) => format!("{{ repeat = 2, step = [{}] }}", written(steps, names)),
        }
    };
    steps.iter().map(step).collect::<Vec<_>>().join(", ")
}

/// Whether steps contain this step, also in a repeat.
fn contain(steps: &[Asked], wanted: &Asked) -> bool {
    steps.iter().any(|step| match step {
        Asked::Repeat(steps) => contain(steps, wanted),
        step => step == wanted,
    })
}

fn uses(steps: &[Asked], connection: usize) -> bool {
    contain(steps, &Asked::Search(connection))
}

fn unbinds(steps: &[Asked], connection: usize) -> bool {
    contain(steps, &Asked::Unbind(connection))
}

/// A user's expected requests, computed without lanes: each with the number of its connection, counted in the
/// order of opening.
#[derive(Default)]
struct Model {
    /// By connection of the file: the number of the currently open connection, and how many operations used
    /// it.
    open: BTreeMap<usize, (u64, u32)>,
    opened: u64,
    said: Vec<(u64, String)>,
}

impl Model {
    fn open(&mut self, user: &User, number: usize) {
        self.open.insert(number, (self.opened, 0));
        if user.connections[number].1 {
            self.said.push((self.opened, format!("bind cn=c{number}")));
        }
        self.opened += 1;
    }

    fn close(&mut self, number: usize) {
        self.open.remove(&number);
    }

    fn iteration(&mut self, user: &User) {
        let all = || 0..user.connections.len();
        let per = |number: usize| user.connections[number].0;
        let is_used = |number: &usize| uses(&user.steps, *number);
        for number in all().filter(is_used) {
            let kept = matches!(per(number), Per::User | Per::Operations(_));
            if kept && !self.open.contains_key(&number) {
                self.open(user, number);
            }
        }
        let mut fresh: Vec<_> = all().filter(|number| per(*number) == Per::Iteration).collect();
        for step in &user.steps {
            let (now, later) =
                fresh.into_iter().partition(|number| uses(std::slice::from_ref(step), *number));
            fresh = later;
            let now: Vec<usize> = now;
            now.into_iter().for_each(|number| self.open(user, number));
            self.step(user, step);
        }
        all().filter(|number| per(*number) == Per::Iteration).for_each(|number| self.close(number));
        for number in all().filter(is_used) {
            let Per::Operations(times) = per(number) else { continue };
            let Some((_, used)) = self.open.get_mut(&number) else { continue };
            *used += 1;
            if *used >= times {
                self.close(number);
            }
        }
    }

    fn step(&mut self, user: &User, step: &Asked) {
        match step {
            Asked::Search(on) => {
                let for_step = user.connections[*on].0 == Per::Step;
                if for_step || (unbinds(&user.steps, *on) && !self.open.contains_key(on)) {
                    self.open(user, *on);
                }
                self.said.push((self.open[on].0, format!("search c{on}")));
                if for_step {
                    self.close(*on);
                }
            }
            Asked::Unbind(on) => self.close(*on),
            Asked::Repeat(steps) => (0..2).for_each(|_| steps.iter().for_each(|step| self.step(user, step))),
        }
    }
}

fn users() -> impl Strategy<Value = User> {
    let per = prop_oneof![
        Just(Per::User),
        (1..4u32).prop_map(Per::Operations),
        Just(Per::Iteration),
        Just(Per::Step)
    ];
    proptest::collection::vec((per, any::<bool>()), 2..5).prop_flat_map(|connections| {
        let all = connections.len();
        let step = prop_oneof![4 => (0..all).prop_map(Asked::Search), 1 => (0..all).prop_map(Asked::Unbind)];
        let inner = proptest::collection::vec(step.clone(), 1..4);
        let step = prop_oneof![4 => step, 1 => inner.prop_map(Asked::Repeat)];
        let steps = proptest::collection::vec(step, 1..7);
        (Just(connections), steps).prop_filter_map(
            "a connection is used before it is closed",
            |(connections, steps)| {
                let all = || 0..connections.len();
                let is_used = all().any(|number| uses(&steps, number));
                let fine = is_used && all().all(|number| uses(&steps, number) || !unbinds(&steps, number));
                fine.then_some(User { connections, steps })
            },
        )
    })
}

fn word(operation: &Operation<'_>) -> String {
    match operation {
        Operation::Bind(bind) => format!("bind {}", String::from_utf8_lossy(bind.name)),
        Operation::Search(search) => match search.filter.kind() {
            Kind::Equality(equality) => format!("search {}", String::from_utf8_lossy(equality.value)),
            other => panic!("{other:?}"),
        },
        Operation::Unbind => "unbind".to_owned(),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn each_request_uses_the_connection_that_the_file_names(user in users()) {
        let responder = Responder::right(&people(Profile::Paper, 1));
        let mut engine = responder.job(&user.text()).start(1);
        prop_assert!(eventually(|| responder.seen.answered(op::SEARCH_REQUEST) >= 40));
        let found = [engine.stop(Duration::from_secs(5)).unwrap()];
        prop_assert_eq!(row(&found, "o", "sequence").1, []);
        // Each connection's end is read by its own thread, some time later. A connection that was being
        // opened when the lane was stopped has sent nothing and has no end.
        let spoke = || responder.seen.over.lock().unwrap().iter().copied().collect::<BTreeSet<_>>().len() as u64;
        prop_assert!(eventually(|| responder.seen.answered(op::UNBIND_REQUEST) == spoke()), "{}", user.text());
        let (ends, heard): (Vec<_>, Vec<_>) = responder.requests_over(|operation| Some(word(operation))).into_iter().partition(|(_, word)| word == "unbind");
        prop_assert!(heard.len() + ends.len() < MOST_MESSAGES, "some are missing");
        let mut model = Model::default();
        while model.said.len() < heard.len() {
            model.iteration(&user);
        }
        prop_assert_eq!(&heard[..], &model.said[..heard.len()], "{}", user.text());
        let once: BTreeSet<u64> = ends.iter().map(|(over, _)| *over).collect();
        prop_assert_eq!(once.len(), ends.len());
    }
}

const TWO: &str = "[connection.a]\n[connection.b]\nbind = 'cn=b'\n[[operation]]\nname = 'o'\nstep = [\
                   { search = '(uid=a)', on = 'a' }, { search = '(uid=b)', on = 'b' }]";

#[test]
fn connections_closed_by_the_target_are_reopened_before_the_next_arrival() {
    let are_opened = |_| {
        let responder = Responder::lookups(&people(Profile::Paper, 1), Do::RightThenCloseAfter(10));
        let job = responder.job(TWO).even_rate(20.0);
        let found = job.run_until(1, responder.has_answered(op::SEARCH_REQUEST, 12));
        let (passes, failures) = row(&found, "o", "sequence");
        let lost: u64 = failures.iter().map(|(_, count)| count).sum();
        let (a, b) = (row(&found, "mix", "a: connect").0, row(&found, "mix", "b: connect").0);
        lost <= passes / 3 && a + lost >= 6 && b + lost >= 6 && a.abs_diff(b) <= 1 + lost
    };
    // On a busy machine the next arrival may be due before the target closes, so one good try suffices. If
    // connections were not reopened before the arrival, every second operation would fail.
    assert!((0..5).any(are_opened));
}

#[test]
fn a_failed_bind_closes_only_its_connection_and_is_retried_after_a_pause() {
    let responder = Responder::only(
        &people(Profile::Paper, 1),
        op::BIND_REQUEST,
        Do::Code(ResultCode::INVALID_CREDENTIALS),
    );
    let mut engine = responder.job(TWO).start(1);
    std::thread::sleep(Duration::from_millis(400));
    let found = [engine.stop(Duration::from_secs(5)).unwrap()];
    assert_eq!(row(&found, "mix", "a: connect"), (1, vec![]));
    let (binds, failures) = row(&found, "mix", "b: bind");
    assert_eq!(failures, [("result:invalidCredentials".to_owned(), binds)]);
    // The tries are separated by pauses of 10, 20, 40, 80, 160 ms.
    assert!((1..=8).contains(&binds), "{binds}");
    assert_eq!(row(&found, "o", "sequence").0, 0);
}

#[test]
fn an_operation_continues_after_a_refused_bind_step_and_closes_its_connection() {
    let responder = Responder::only(
        &people(Profile::Paper, 1),
        op::BIND_REQUEST,
        Do::Code(ResultCode::INVALID_CREDENTIALS),
    );
    let text = "[connection.user]\nper = 'step'\n[[operation]]\nname = 'o'\nstep = [\
                { search = '(uid=a)' }, { bind = 'cn=x', password = '{user}', on = 'user' },\
                { name = 'after', search = '(uid=b)' }]";
    let found = responder.run(text, (op::SEARCH_REQUEST, 9));
    let (passes, failures) = row(&found, "o", "sequence");
    assert_eq!(failures, [("result:invalidCredentials".to_owned(), passes)]);
    assert_eq!(row(&found, "o", "after"), (passes, vec![]));
    // A step binds on one connection. The other connection has no bind, because the command line names no
    // identity.
    assert_eq!(row(&found, "mix", "main: connect"), (1, vec![]));
    let (connects, closes) = (row(&found, "o", "user: connect"), row(&found, "o", "user: unbind"));
    assert_eq!(connects, closes);
    assert!(connects.0.abs_diff(passes) <= 1, "{connects:?} {passes}");
}

#[test]
fn a_lost_connection_ends_the_operation_and_the_other_connections_stay_open() {
    let responder = Responder::only(&people(Profile::Paper, 1), op::COMPARE_REQUEST, Do::Close);
    let text = "[connection.b]\nper = 'iteration'\n[connection.c]\n[[operation]]\nname = 'o'\nstep = [\
                { search = '(uid=a)' }, { name = 'on b', search = '(uid=b)', on = 'b' },\
                { compare = 'cn=a', entry = { sn = 'a' }, on = 'c' }, { delete = 'cn=a' }]";
    let found = responder.run(text, (op::SEARCH_REQUEST, 8));
    let (passes, failures) = row(&found, "o", "sequence");
    assert_eq!(failures, [("closed".to_owned(), passes)]);
    assert_eq!(row(&found, "o", "delete").0, 0);
    assert_eq!(row(&found, "mix", "main: connect"), (1, vec![]));
    let (b, c) = (row(&found, "o", "b: connect").0, row(&found, "mix", "c: connect").0);
    assert!(b.abs_diff(passes) <= 1 && c.abs_diff(passes) <= 1, "{b} {c} {passes}");
    // The connection of the iteration was closed.
    let opened = responder.connections();
    assert!(eventually(|| responder.seen.answered(op::UNBIND_REQUEST) >= opened - c));
}

#[test]
fn unsolicited_answers_on_an_idle_connection_are_ignored() {
    for more in [20, 100_000] {
        // The unsolicited bytes are sent over connection b, after its bind.
        let responder =
            Responder::only(&people(Profile::Paper, 1), op::BIND_REQUEST, Do::RightThenMore(more));
        let text = "[connection.a]\n[connection.b]\nbind = 'cn=b'\n[[operation]]\nname = 'on a'\nweight = 9\n\
                    on = 'a'\nsearch = '(uid=a)'\n[[operation]]\nname = 'on b'\non = 'b'\nsearch = '(uid=b)'";
        let found = responder.run(text, (op::SEARCH_REQUEST, 50));
        assert_eq!(row(&found, "on a", "search").1, []);
        let (count, failures) = row(&found, "on b", "search");
        assert_eq!(failures.iter().map(|(_, n)| n).sum::<u64>(), count, "{failures:?}");
    }
}

#[test]
fn a_single_operation_opens_only_the_connections_that_it_needs() {
    let responder = Responder::right(&people(Profile::Paper, 1));
    let text = "[connection.a]\n[connection.b]\n[[operation]]\nname = 'on a'\non = 'a'\nsearch = '(uid=a)'\n\
                [[operation]]\nname = 'on b'\non = 'b'\nsearch = '(uid=b)'";
    let job = responder.job(text).scenario(json!({"operation": "on b"}));
    job.run_until(3, responder.has_answered(op::SEARCH_REQUEST, 20));
    assert_eq!(responder.connections(), 3);
}
