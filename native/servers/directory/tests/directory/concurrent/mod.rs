//! Many concurrent clients, each with own entries and all with shared entries: no client sees half of another
//! client's change, and the final directory agrees with the answers.
//!
//! Each client follows a script from a seed; the machine decides how the clients interleave. The own entries
//! of a client must always agree with that client's model. For shared entries the answers are counted, and
//! the final state must agree with these counts.

mod view;
mod writer;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::{Attributes, Client, Entry, eventually, person as dn, serve};
use directory::Running;
use view::{FAMILIES, family, find, names, of};
use wire::ldap::ResultCode;
use writer::{Account, Dice, SHARED, Writer};

const WRITERS: usize = 4;

fn counter(client: &mut Client) -> u64 {
    find(client, "(cn=counter)")[0].values("uidNumber")[0].parse().unwrap()
}

/// Reads until the writers have ended.
fn read(mut client: Client, has_ended: &AtomicBool) {
    let mut counted = 0;
    for number in (0..FAMILIES).cycle() {
        assert_eq!(
            find(&mut client, "(|(cn=here)(cn=there))").len(),
            1,
            "one wanders, and is always somewhere"
        );
        let now = counter(&mut client);
        assert!(now >= counted, "{now} after {counted}");
        counted = now;
        for entry in find(&mut client, &format!("(sn=family{number})")) {
            assert_eq!(family(&entry), number);
        }
        assert!(find(&mut client, "(sn=fam*)").iter().all(|entry| family(entry) < FAMILIES));
        if has_ended.load(Ordering::Relaxed) {
            return;
        }
    }
}

fn lay_ground(client: &mut Client) {
    let person: Attributes<'_> = &[("objectClass", &["person"]), ("sn", &["x"])];
    let counter = [person, &[("uidNumber", &["0"])]].concat();
    for (name, attributes) in [("counter", counter.as_slice()), ("here", person)] {
        assert_eq!(client.add(&dn(name), attributes).code, ResultCode::SUCCESS);
    }
}

/// Starts all clients; returns the answers that each writer received.
fn meet(directory: &Running, seed: u64) -> Vec<Account> {
    let connect = || Client::connect(directory.addr());
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2).map(|_| scope.spawn(|| read(connect(), &has_ended))).collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|number| {
                let dice = Dice(seed * WRITERS as u64 + number as u64);
                let writer = Writer { client: connect(), dice, number, account: Account::default() };
                scope.spawn(|| writer.run())
            })
            .collect();
        let ended: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        has_ended.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        ended.into_iter().map(Result::unwrap).collect()
    })
}

/// The names of the entries that exist according to the answers.
fn left_by(accounts: &[Account]) -> BTreeSet<String> {
    let mut left: BTreeSet<String> = accounts.iter().flat_map(|one| one.own.keys().cloned()).collect();
    for number in 0..SHARED {
        let name = format!("shared-{number}");
        match accounts.iter().map(|one| one.shared[number]).sum::<i64>() {
            0 => {}
            1 => assert!(left.insert(name)),
            more => panic!("{name} was added {more} times more than deleted"),
        }
    }
    let wanderings: u64 = accounts.iter().map(|one| one.wanderings).sum();
    let wanderer = if wanderings.is_multiple_of(2) { "here" } else { "there" };
    left.extend(["counter", wanderer].map(String::from));
    left
}

/// Asserts that every index finds the same entries as a scan of all entries.
fn assert_found_by_every_index(client: &mut Client, all: &[Entry], accounts: &[Account]) {
    for number in 0..FAMILIES {
        let entries = find(client, &format!("(sn=family{number})"));
        assert_eq!(names(&entries), of(all, number));
        entries.iter().for_each(|entry| assert_eq!(family(entry), number));
    }
    for prefix in ["w", "w0-", "shared-", "h", "there"] {
        let mut with = names(all);
        with.retain(|name| name.starts_with(prefix));
        assert_eq!(names(&find(client, &format!("(cn={prefix}*)"))), with, "{prefix}");
    }
    for (name, family_number) in accounts.iter().flat_map(|one| &one.own) {
        let entries = find(client, &format!("(&(objectClass=person)(cn={name}))"));
        assert_eq!(entries.iter().map(family).collect::<Vec<_>>(), [*family_number], "{name}");
    }
}

/// Asserts that the server counted all requests; the set-up adds three entries.
fn assert_counted(directory: &Running, accounts: &[Account], present: usize) {
    let mut requests = [3, 0, 0, 0];
    for account in accounts {
        requests.iter_mut().zip(account.requests).for_each(|(sum, one)| *sum += one);
    }
    let counted = || {
        let stats = directory.stats();
        (
            [stats.served.adds, stats.served.deletes, stats.served.modifies, stats.served.modify_dns],
            stats.entries,
        )
    };
    // The directory also contains the suffix and the entry below it.
    let expected = (requests, 2 + present as u64);
    assert!(eventually(|| counted() == expected), "{:?}, not {expected:?}", counted());
}

fn all_at_once(seed: u64) {
    let (directory, mut client) = serve(r#"{"threads": 3}"#);
    lay_ground(&mut client);
    let accounts = meet(&directory, seed);
    let all = find(&mut client, "(objectClass=person)");
    let present: BTreeSet<String> = names(&all).into_iter().map(String::from).collect();
    assert_eq!(present.len(), all.len(), "an entry was found twice");
    assert_eq!(present, left_by(&accounts));
    assert_eq!(counter(&mut client), accounts.iter().map(|one| one.increments).sum::<u64>());
    assert_found_by_every_index(&mut client, &all, &accounts);
    assert_counted(&directory, &accounts, present.len());
}

#[test]
fn the_directory_counts_every_request_of_concurrent_clients() {
    (1..=3).for_each(all_at_once);
}
