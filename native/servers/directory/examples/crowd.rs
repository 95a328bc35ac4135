//! Prints the rate of one well-behaved client while a crowd sends the requests that take longest.
//!
//! `crowd [KIND ...]`; build it with `--release`. Two hundred clients send a request, wait for the answer and
//! repeat; one more client looks up a person repeatedly. The output compares its rate alone with its rate
//! among the crowd, and shows the CPU time of each side, as clients and server share the processors.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "it measures; nothing depends on it"
)]

#[path = "../tests/directory/common/mod.rs"]
mod common;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use common::{Client, Search, filter, lookup};
use wire::ldap::filter::{Piece, write_equality, write_or, write_substrings};
use wire::ldap::request::{write_bind, write_change, write_modify};
use wire::ldap::{ResultCode, Scope};

const CROWD: usize = 200;
const ALONE: Duration = Duration::from_secs(2);
const AMONG: Duration = Duration::from_secs(8);
const GROUP: &str = "cn=Group,ou=Dynamic,o=Intranet";

const KINDS: [&str; 4] = ["modify", "search", "bind", "scan"];

fn main() {
    let kinds: Vec<String> = std::env::args().skip(1).collect();
    for kind in KINDS.iter().filter(|kind| kinds.is_empty() || kinds.iter().any(|one| one == *kind)) {
        measure(kind);
    }
}

/// Returns a directory, and the request that the crowd sends.
fn serve(kind: &str) -> (directory::Running, Vec<u8>) {
    let (directory, mut client) = common::serve(r#"{"threads": 2}"#);
    client.add_person("Ann 1");
    let mut request = Vec::new();
    let members = || (0..9_990).map(|i| format!("cn=Member {i},ou=Dynamic,o=Intranet")).collect::<Vec<_>>();
    match kind {
        "modify" => {
            grow(&mut client, "uniqueMember", &members());
            write_modify(&mut request, 1, GROUP.as_bytes(), |out| {
                write_change(out, 2, b"description", [b"x".as_slice()]);
            });
        }
        "search" => {
            grow(&mut client, "description", &members());
            let filter = filter(|out| {
                write_or(out, |out| {
                    (0..12).for_each(|_| write_substrings(out, b"description", [Piece::Any(b"nobody")]));
                });
            });
            request = Search { base: GROUP, scope: Scope::Base, filter, ..Search::default() }.message(1);
        }
        "bind" => {
            let hash = "A".repeat(84);
            grow(
                &mut client,
                "userPassword",
                &(0..9_990).map(|i| format!("{{SHA512}}{i:04}{hash}")).collect::<Vec<_>>(),
            );
            write_bind(&mut request, 1, 3, GROUP.as_bytes(), &[b'x'; 1_000]);
        }
        _ => {
            for i in 0..10_000 {
                client.add_person(&format!("Person {i}"));
            }
            let filter = filter(|out| write_or(out, |out| write_equality(out, b"name", b"nobody")));
            request = Search { filter, ..Search::default() }.message(1);
        }
    }
    (directory, request)
}

/// Adds an entry whose attribute has these values, in pieces that fit a message.
fn grow(client: &mut Client, attribute: &str, values: &[String]) {
    assert_eq!(client.add_person("Group").code, ResultCode::SUCCESS);
    for values in values.chunks(1_000) {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        assert_eq!(client.modify(GROUP, &[(0, attribute, &values)]).code, ResultCode::SUCCESS);
    }
}

fn measure(kind: &str) {
    let (directory, request) = serve(kind);
    let mut other = Client::connect(directory.addr());
    look_up(&mut other, Duration::from_millis(500));
    let alone = report(&format!("{kind}: alone"), ALONE, &look_up(&mut other, ALONE), None);
    let (ended, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let crowd: Vec<_> = (0..CROWD)
        .map(|_| {
            let mut client = Client::connect(directory.addr());
            client.stream.set_read_timeout(None).unwrap();
            let (ended, answered, request) = (Arc::clone(&ended), Arc::clone(&answered), request.clone());
            let ask = move || {
                while !ended.load(Relaxed) {
                    client.send(&request);
                    client.done();
                    answered.fetch_add(1, Relaxed);
                }
            };
            thread::Builder::new().name("asker".into()).spawn(ask).unwrap()
        })
        .collect();
    let before = used();
    let times = look_up(&mut other, AMONG);
    let after = used();
    let answers = answered.load(Relaxed);
    ended.store(true, Relaxed);
    report(&format!("{kind}: among {CROWD}"), AMONG, &times, Some(alone));
    let percent = |at: usize| 100.0 * (after[at] - before[at]) / AMONG.as_secs_f64();
    println!(
        "    {:.0} requests of the crowd/s; % of a processor: {:.0} and {:.0} threads of the server, {:.0} the crowd, {:.0} the client",
        answers as f64 / AMONG.as_secs_f64(),
        percent(0),
        percent(1),
        percent(2),
        percent(3),
    );
    crowd.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Looks up a person for this time. Returns the time of each lookup.
fn look_up(client: &mut Client, how_long: Duration) -> Vec<Duration> {
    let request = Search { filter: lookup("Ann 1"), ..Search::default() }.message(1);
    let (begun, mut times) = (Instant::now(), Vec::new());
    while begun.elapsed() < how_long {
        let sent = Instant::now();
        client.send(&request);
        assert_eq!(client.collect().0.len(), 1);
        times.push(sent.elapsed());
    }
    times
}

fn report(what: &str, took: Duration, times: &[Duration], alone: Option<f64>) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |part: f64| sorted[((sorted.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    let rate = times.len() as f64 / took.as_secs_f64();
    let long: Vec<f64> = times.iter().map(Duration::as_secs_f64).filter(|time| *time > 0.002).collect();
    let share = alone.map_or(String::new(), |alone| format!(" ({:.1} % of alone)", 100.0 * rate / alone));
    println!(
        "{what}: {rate:.0} lookups/s{share}, median {:.3} ms, p99 {:.3} ms, longest {:.1} ms; {:.0} % of the time in {} of more than 2 ms",
        at(0.5),
        at(0.99),
        at(1.0),
        100.0 * long.iter().sum::<f64>() / took.as_secs_f64(),
        long.len(),
    );
    rate
}

/// CPU seconds of the server's two threads, of the crowd, and of all other threads.
fn used() -> [f64; 4] {
    let mut seconds = [0.0; 4];
    for task in fs::read_dir("/proc/self/task").unwrap().flatten() {
        let Ok(stat) = fs::read_to_string(task.path().join("stat")) else { continue };
        let (head, tail) = stat.rsplit_once(')').unwrap();
        let fields: Vec<&str> = tail.split_whitespace().collect();
        let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
        let at = match head.split_once('(').unwrap().1 {
            "directory-0" => 0,
            "directory-1" => 1,
            "asker" => 2,
            _ => 3,
        };
        seconds[at] += ticks / 100.0;
    }
    seconds
}
