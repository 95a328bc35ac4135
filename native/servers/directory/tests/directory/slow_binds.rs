//! Binds with slow hashes: separate threads check them in order, without delaying other clients.

use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{
    Client, Message, Search, crowd, eventually, lookup, password_change, search_for_all, serve_ann, trusting,
};
use directory::Running;
use hashes::Hash;
use rustix::process::setpriority_process;
use wire::ldap::{ResultCode, oid, request};

const ANN: &str = "cn=Ann,ou=Dynamic,o=Intranet";
const PASSWORD: &str = "Pw1-secret";
/// A hash that takes some 50 ms in a test build, much longer than a lookup.
const LONG: &str = "argon2:8m:3";

fn stored(hash: &str) -> String {
    let value = hash.parse::<Hash>().unwrap().value(PASSWORD.as_bytes(), [7; 16]).unwrap();
    String::from_utf8(value).unwrap()
}

/// The number of threads that hash passwords.
fn hashing_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get).saturating_sub(1).max(1)
}

fn write_bind(out: &mut Vec<u8>, id: i32, password: &str) {
    request::write_bind(out, id, 3, ANN.as_bytes(), password.as_bytes());
}

fn bind_then_who_am_i() -> Vec<u8> {
    let mut out = Vec::new();
    write_bind(&mut out, 1, PASSWORD);
    request::write_extended(&mut out, 2, oid::WHO_AM_I, None);
    out
}

/// Reads the answers to [`bind_then_who_am_i`].
fn is_ann<S: Read + Write>(client: &mut Client<S>) {
    let bound = client.done();
    assert_eq!((bound.id, bound.code), (1, ResultCode::SUCCESS));
    let who = client.done();
    assert_eq!((who.id, who.value.unwrap()), (2, format!("dn:{ANN}").into_bytes()));
}

#[test]
fn each_kind_of_hash_accepts_its_password() {
    for hash in ["crypt:1000", "pbkdf2-sha256:1000", "pbkdf2-sha512:1000", "argon2:64k"] {
        let value = stored(hash);
        let (_directory, mut client) = serve_ann("{}", &[&value]);
        for (password, code) in [
            (PASSWORD, ResultCode::SUCCESS),
            ("Pw1-secreT", ResultCode::INVALID_CREDENTIALS),
            (&value, ResultCode::INVALID_CREDENTIALS),
            ("", ResultCode::UNWILLING_TO_PERFORM),
            (&"x".repeat(1025), ResultCode::INVALID_CREDENTIALS),
        ] {
            assert_eq!(client.bind(ANN, password).code, code, "{hash} {password}");
        }
    }
}

#[test]
fn one_matching_password_of_several_suffices() {
    let (quick, slow) = ("other", stored("pbkdf2-sha256:1000"));
    let (_directory, mut client) = serve_ann("{}", &[quick, &stored("argon2:64k"), &slow]);
    for (password, code) in [
        (quick, ResultCode::SUCCESS),
        (PASSWORD, ResultCode::SUCCESS),
        ("wrong", ResultCode::INVALID_CREDENTIALS),
    ] {
        assert_eq!(client.bind(ANN, password).code, code, "{password}");
    }
}

#[test]
fn a_slow_bind_delays_only_later_requests_of_its_client() {
    let (directory, mut other) = serve_ann("{}", &[&stored(LONG)]);
    let mut client = Client::connect(directory.addr());
    client.send(&bind_then_who_am_i());
    // Alone on its processor, a lookup takes a thousandth of the time of the hash.
    let search = Search { filter: lookup("Ann"), ..Search::default() };
    assert_eq!(other.search(&search).0.len(), 1);
    assert!(!client.has_answer(), "the hash was over before a lookup");
    is_ann(&mut client);
}

#[test]
fn requests_behind_a_bind_in_the_same_tls_record_are_answered() {
    let (directory, mut plain) = serve_ann(r#"{"tls": {"start": true}}"#, &[&stored("argon2:1m:1")]);
    let mut client = Client::connect(directory.addr()).secured(&trusting(&directory));
    client.send(&bind_then_who_am_i());
    is_ann(&mut client);
    // A StartTLS that follows a bind in the same write is answered after the bind, and the TLS session begins
    // anonymous.
    let mut out = Vec::new();
    write_bind(&mut out, 1, PASSWORD);
    request::write_extended(&mut out, 2, oid::START_TLS, None);
    plain.send(&out);
    assert_eq!((plain.done().code, plain.done().code), (ResultCode::SUCCESS, ResultCode::SUCCESS));
    let mut client = plain.over_tls(&trusting(&directory));
    assert_eq!(client.extended(oid::WHO_AM_I, None).value.as_deref(), Some(&b""[..]));
}

#[test]
fn an_old_password_with_a_slow_hash_is_checked_before_the_password_changes() {
    let (_directory, mut client) = serve_ann("{}", &[&stored("argon2:1m:1")]);
    client.bind(ANN, PASSWORD);
    assert_eq!(
        client.change_password(None, Some("wrong"), Some("new")).code,
        ResultCode::UNWILLING_TO_PERFORM
    );
    assert_eq!(
        client.change_password(None, Some(PASSWORD), Some(&"x".repeat(1025))).code,
        ResultCode::ADMIN_LIMIT_EXCEEDED
    );
    assert_eq!(client.change_password(None, Some(PASSWORD), Some("new")).code, ResultCode::SUCCESS);
    assert_eq!(client.bind(ANN, PASSWORD).code, ResultCode::INVALID_CREDENTIALS);
    assert_eq!(client.bind(ANN, "new").code, ResultCode::SUCCESS);
    // The server generates the new password.
    client.modify(ANN, &[(2, "userPassword", &[&stored("argon2:1m:1")])]);
    assert!(client.change_password(None, Some(PASSWORD), Some("")).value.is_some());
}

/// Otherwise an attacker with the old password could undo the change that is meant to exclude the attacker.
#[test]
fn a_password_that_changes_while_it_is_checked_is_refused() {
    // The hash takes longer than the change does, even on a busy machine.
    let value = stored("argon2:32m:3");
    let (directory, mut other) = serve_ann("{}", &[&value]);
    let mut client = Client::connect(directory.addr());
    assert_eq!(client.bind(ANN, PASSWORD).code, ResultCode::SUCCESS);
    let change = password_change(None, Some(PASSWORD), Some("stolen"));
    let (mut modify, mut bind) = (Vec::new(), Vec::new());
    request::write_extended(&mut modify, 7, oid::PASSWORD_MODIFY, Some(&change));
    write_bind(&mut bind, 8, PASSWORD);
    let mut beside = |request: &[u8], act: &mut dyn FnMut(&mut Client)| {
        client.send(request);
        thread::sleep(Duration::from_millis(5));
        act(&mut other);
        client.done().code
    };
    let refused = beside(&modify, &mut |other| {
        assert_eq!(other.modify(ANN, &[(2, "userPassword", &["new"])]).code, ResultCode::SUCCESS);
    });
    assert_eq!(refused, ResultCode::UNWILLING_TO_PERFORM);
    // If another value is added, the checked password stays valid.
    let one_more = |other: &mut Client, values: &[&str]| {
        assert_eq!(other.modify(ANN, &[(2, "userPassword", values)]).code, ResultCode::SUCCESS);
    };
    one_more(&mut Client::connect(directory.addr()), &[&value]);
    assert_eq!(beside(&bind, &mut |other| one_more(other, &["new", &value])), ResultCode::SUCCESS);
    assert_eq!(beside(&bind, &mut |other| one_more(other, &["new"])), ResultCode::INVALID_CREDENTIALS);
    one_more(&mut Client::connect(directory.addr()), &[&value]);
    let gone = beside(&bind, &mut |other| assert_eq!(other.delete(ANN).code, ResultCode::SUCCESS));
    assert_eq!(gone, ResultCode::INVALID_CREDENTIALS);
}

/// A running search continues while its connection waits for a bind, and the connection does not begin the
/// next message.
#[test]
fn a_search_continues_while_its_connection_waits_for_a_bind() {
    let directory = crowd("{}");
    let mut client = Client::connect(directory.addr());
    client.add_person_with("Ann", &[("userPassword", &[&stored(LONG)])]);
    assert_eq!(client.bind(ANN, PASSWORD).code, ResultCode::SUCCESS);
    let mut out = search_for_all(5);
    let value = password_change(None, Some(PASSWORD), Some("new"));
    request::write_extended(&mut out, 6, oid::PASSWORD_MODIFY, Some(&value));
    request::write_extended(&mut out, 7, oid::WHO_AM_I, None);
    client.send(&out);
    let mut answered = Vec::new();
    while answered.len() < 3 {
        if let Message::Done(answer) = client.receive() {
            assert_eq!(answer.code, ResultCode::SUCCESS);
            answered.push(answer.id);
        }
    }
    let place = |id| answered.iter().position(|answered| *answered == id).unwrap();
    assert!(place(6) < place(7), "{answered:?}");
}

/// Sends a bind on each of many connections.
fn send_many_binds(directory: &Running) -> Vec<Client> {
    let mut out = Vec::new();
    write_bind(&mut out, 1, PASSWORD);
    let many = 30 * thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut clients: Vec<_> = (0..many).map(|_| Client::connect(directory.addr())).collect();
    clients.iter_mut().for_each(|client| client.send(&out));
    clients
}

/// If the slot were not freed, the last client would wait for the hashes of all disconnected clients.
#[test]
fn a_client_that_disconnects_frees_its_hashing_slot() {
    let (directory, mut last) = serve_ann("{}", &[&stored(LONG)]);
    let begun = Instant::now();
    assert_eq!(last.bind(ANN, PASSWORD).code, ResultCode::SUCCESS);
    let one = begun.elapsed();
    let (before, gone) = (directory.stats().served.binds, directory.stats().traffic.disconnections);
    let many = send_many_binds(&directory).len();
    assert!(eventually(|| directory.stats().traffic.disconnections >= gone + many as u64));
    assert_eq!(directory.stats().served.binds - before, many as u64);
    let begun = Instant::now();
    assert_eq!(last.bind(ANN, PASSWORD).code, ResultCode::SUCCESS);
    let waited = begun.elapsed();
    assert!(waited < 10 * one, "{waited:?} after {many} have gone, and {one:?} alone");
}

/// Sends binds as `name` on six connections for each hashing thread; returns, per thread, how many binds are
/// answered before a later login.
fn answered_first(directory: &Running, name: &str, address: u8, other: &mut Client) -> usize {
    let mut out = Vec::new();
    request::write_bind(&mut out, 1, 3, name.as_bytes(), PASSWORD.as_bytes());
    let threads = hashing_threads();
    let before = directory.stats().served.binds;
    let mut clients: Vec<_> = (0..6 * threads).map(|_| Client::connect_from(address, directory)).collect();
    clients.iter_mut().for_each(|client| client.send(&out));
    assert!(eventually(|| directory.stats().served.binds >= before + clients.len() as u64));
    assert_eq!(other.bind(ANN, PASSWORD).code, ResultCode::SUCCESS);
    let answered = clients.iter().filter(|client| client.has_answer()).count();
    assert!(clients.iter_mut().all(|client| client.done().code == ResultCode::SUCCESS));
    answered / threads
}

#[test]
fn client_addresses_take_turns_at_hashing() {
    let (directory, mut other) = serve_ann("{}", &[&stored(LONG)]);
    let answered = answered_first(&directory, ANN, 2, &mut other);
    assert!(answered < 4, "{answered} of 6");
}

#[test]
fn a_short_login_overtakes_the_longest_logins_of_its_address() {
    let (directory, mut other) = serve_ann("{}", &[&stored("argon2:2m:1")]);
    let bob = "cn=Bob,ou=Dynamic,o=Intranet";
    let added = other.add_person_with("Bob", &[("userPassword", &[&stored("argon2:8m:6")])]);
    assert_eq!(added.code, ResultCode::SUCCESS);
    let answered = answered_first(&directory, bob, 1, &mut other);
    assert!(answered < 4, "{answered} of 6");
}

/// Values that a client could store to exhaust the server: much memory, much time, or many hashes.
#[test]
fn a_hash_beyond_the_limits_accepts_no_password() {
    let good = stored("argon2:64k:1");
    let salted = good.splitn(6, '$').last().unwrap().to_owned();
    let salted = format!("{}${}", good.split('$').nth(4).unwrap(), salted.split('$').next_back().unwrap());
    let crypt = stored("crypt:1000").replace("rounds=1000", "rounds=999999999");
    let argon2 = |numbers: &str| format!("{{ARGON2}}$argon2id$v=19${numbers}${salted}");
    for hostile in [
        argon2("m=4294967295,t=1,p=1"),
        argon2("m=64,t=4294967295,p=1"),
        argon2("m=1048577,t=1,p=1"),
        argon2("m=1048576,t=100,p=1"),
        stored("pbkdf2-sha256:1").replace("}1$", "}4294967295$"),
        stored("pbkdf2-sha512:1").replace("}1$", "}4294967295$"),
        crypt,
    ] {
        let (_directory, mut client) = serve_ann("{}", &[&hostile]);
        let begun = Instant::now();
        assert_eq!(client.bind(ANN, PASSWORD).code, ResultCode::INVALID_CREDENTIALS, "{hostile}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{hostile} was begun");
        // A hash beyond the limits does not affect a valid hash beside it.
        client.modify(ANN, &[(0, "userPassword", &[&good])]);
        assert_eq!(client.bind(ANN, PASSWORD).code, ResultCode::SUCCESS, "{hostile}");
    }
    let several: Vec<_> = (1..=5)
        .map(|rounds| stored("pbkdf2-sha256:1").replace("}1$", &format!("}}{}$", rounds + 1)))
        .collect();
    let mut values: Vec<_> = several.iter().map(String::as_str).collect();
    values.push(&good);
    let (_directory, mut client) = serve_ann("{}", &values);
    assert_eq!(client.bind(ANN, PASSWORD).code, ResultCode::INVALID_CREDENTIALS, "the sixth was tried");
}

#[test]
fn a_server_that_stops_does_not_wait_for_queued_hashes() {
    let (directory, mut first) = serve_ann("{}", &[&stored(LONG)]);
    let begun = Instant::now();
    first.bind(ANN, PASSWORD);
    let one = begun.elapsed();
    let mut clients = send_many_binds(&directory);
    assert!(eventually(|| directory.stats().served.binds > clients.len() as u64));
    let begun = Instant::now();
    drop(directory);
    assert!(begun.elapsed() < 10 * one, "{:?} to stop, {one:?} for a hash", begun.elapsed());
    assert!(clients.iter_mut().all(|client| matches!(client.stream.read(&mut [0; 100]), Ok(0) | Err(_))));
}

/// Hashing threads of the directory have the lowest priority: they delay lookups no more than the same hashes
/// in the test's own threads of that priority do. In threads that serve clients, a hash would delay every
/// lookup by its whole duration.
#[test]
fn slow_binds_delay_lookups_no_more_than_threads_that_only_hash() {
    let (directory, mut client) = serve_ann("{}", &[&stored(LONG)]);
    let threads = hashing_threads();
    let stop = AtomicBool::new(false);
    let (reference, beside) = thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                setpriority_process(None, 19).unwrap();
                while !stop.load(Relaxed) {
                    stored(LONG);
                }
            });
        }
        let reference = thread::scope(|inner| {
            let looking = inner.spawn(|| slow_lookup(&mut client)).join();
            stop.store(true, Relaxed);
            looking.unwrap()
        });
        let addr = directory.addr();
        let storm: Vec<_> = (0..4 * threads)
            .map(|_| {
                let storming = move || {
                    let mut client = Client::connect(addr);
                    let begun = Instant::now();
                    let binds = (0..).take_while(|_| {
                        assert_eq!(client.bind(ANN, PASSWORD).code, ResultCode::SUCCESS);
                        begun.elapsed() < Duration::from_secs(2)
                    });
                    binds.count()
                };
                scope.spawn(storming)
            })
            .collect();
        let beside = slow_lookup(&mut client);
        // A thread that has just started has possibly not lowered its priority yet.
        assert!(eventually(|| priorities().iter().all(|nice| *nice == 19)), "{:?}", priorities());
        assert!(storm.into_iter().map(|client| client.join().unwrap()).sum::<usize>() > 0);
        (reference, beside)
    });
    let most = 4 * reference + Duration::from_millis(5);
    assert!(beside < most, "{beside:?} beside a storm, {reference:?} beside the same work");
}

/// The duration of the slowest of twenty lookups, measured over a second.
fn slow_lookup(client: &mut Client) -> Duration {
    let begun = Instant::now();
    let mut took = Vec::new();
    while begun.elapsed() < Duration::from_secs(1) {
        let one = Instant::now();
        let search = Search { filter: lookup("Ann"), ..Search::default() };
        assert_eq!(client.search(&search).0.len(), 1);
        took.push(one.elapsed());
    }
    took.sort_unstable();
    took[took.len() * 19 / 20]
}

/// The nice values of the hashing threads of all directories in this process.
fn priorities() -> Vec<i32> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let hashing = tasks.filter(|task| {
        std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "slow-binds")
    });
    // The nice value is field 19 (proc(5)). The line is split behind field 2, the name, which may contain
    // spaces.
    let nice = |stat: String| stat.rsplit_once(')')?.1.split_whitespace().nth(16)?.parse().ok();
    let priorities: Vec<_> =
        hashing.filter_map(|task| nice(std::fs::read_to_string(task.join("stat")).ok()?)).collect();
    assert!(!priorities.is_empty());
    priorities
}
