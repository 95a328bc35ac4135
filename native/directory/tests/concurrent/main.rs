//! Many clients at once, each with entries of its own and all with some in common: what one does, nobody
//! else sees by halves, and in the end the directory is what the answers said.
//!
//! Each client follows a script made from a seed; how they meet is up to the machine. What a client alone
//! touches must always be as that client's model has it. Of what they share, the answers are counted: the
//! end must be one of those that fit them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is a test")]

#[path = "../common/mod.rs"]
mod common;
mod view;
mod writer;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::{Client, eventually, serve};
use view::{FAMILIES, dn, family, find, names, of};
use wire::ldap::ResultCode;
use writer::{Account, Dice, SHARED, Writer};

const WRITERS: usize = 4;

fn counter(client: &mut Client) -> u64 {
    find(client, "(cn=counter)")[0].values("uidNumber")[0].parse().unwrap()
}

/// Looks on until the writers have ended.
fn read(mut client: Client, has_ended: &AtomicBool) {
    let mut counted = 0;
    for asked in (0..FAMILIES).cycle() {
        assert_eq!(
            find(&mut client, "(|(cn=here)(cn=there))").len(),
            1,
            "one wanders, and is always somewhere"
        );
        let now = counter(&mut client);
        assert!(now >= counted, "{now} after {counted}");
        counted = now;
        for entry in find(&mut client, &format!("(sn=family{asked})")) {
            assert_eq!(family(&entry), asked);
        }
        assert!(find(&mut client, "(sn=fam*)").iter().all(|entry| family(entry) < FAMILIES));
        if has_ended.load(Ordering::Relaxed) {
            return;
        }
    }
}

fn all_at_once(seed: u64) {
    let directory = serve(r#"{"threads": 3}"#);
    let connect = || Client::connect(directory.addr());
    let mut client = connect();
    let counter_at_0: &[(&str, &[&str])] =
        &[("objectClass", &["person"]), ("sn", &["x"]), ("uidNumber", &["0"])];
    assert_eq!(client.add(&dn("counter"), counter_at_0).code, ResultCode::SUCCESS);
    let wanderer: &[(&str, &[&str])] = &[("objectClass", &["person"]), ("sn", &["x"])];
    assert_eq!(client.add(&dn("here"), wanderer).code, ResultCode::SUCCESS);

    let has_ended = AtomicBool::new(false);
    let accounts: Vec<Account> = thread::scope(|scope| {
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
    });

    // The entries are those that the answers left.
    let everybody = find(&mut client, "(objectClass=person)");
    let present: BTreeSet<&str> = names(&everybody).into_iter().collect();
    assert_eq!(present.len(), everybody.len(), "nobody is there twice");
    let mut expected: BTreeSet<&str> =
        accounts.iter().flat_map(|one| one.own.keys().map(String::as_str)).collect();
    let shared: Vec<String> = (0..SHARED).map(|number| format!("shared-{number}")).collect();
    for (number, name) in shared.iter().enumerate() {
        match accounts.iter().map(|one| one.shared[number]).sum::<i64>() {
            0 => {}
            1 => assert!(expected.insert(name)),
            more => panic!("{name} was added {more} times more than deleted"),
        }
    }
    let wanderings: u64 = accounts.iter().map(|one| one.wanderings).sum();
    expected.extend(["counter", if wanderings % 2 == 0 { "here" } else { "there" }]);
    assert_eq!(present, expected);
    assert_eq!(counter(&mut client), accounts.iter().map(|one| one.increments).sum::<u64>());

    // Every index finds whom going through all of them finds.
    for number in 0..FAMILIES {
        let found = find(&mut client, &format!("(sn=family{number})"));
        assert_eq!(names(&found), of(&everybody, number));
        found.iter().for_each(|entry| assert_eq!(family(entry), number));
    }
    let with =
        |prefix: &str| present.iter().copied().filter(|name| name.starts_with(prefix)).collect::<Vec<_>>();
    for prefix in ["w", "w0-", "shared-", "h", "there"] {
        assert_eq!(names(&find(&mut client, &format!("(cn={prefix}*)"))), with(prefix), "{prefix}");
    }
    for (name, known) in accounts.iter().flat_map(|one| &one.own) {
        let found = find(&mut client, &format!("(&(objectClass=person)(cn={name}))"));
        assert_eq!(found.iter().map(family).collect::<Vec<_>>(), [*known], "{name}");
    }

    // The server has counted what was asked, this test's own additions among it.
    let mut asked = [3, 0, 0, 0];
    for account in &accounts {
        asked.iter_mut().zip(account.asked).for_each(|(sum, one)| *sum += one);
    }
    let counted = || {
        let stats = directory.stats();
        ([stats.adds, stats.deletes, stats.modifies, stats.modify_dns], stats.entries)
    };
    // Besides these people there are the suffix and what is right below it.
    let expected = (asked, 2 + present.len() as u64);
    assert!(eventually(|| counted() == expected), "{:?}, not {expected:?}", counted());
}

#[test]
fn what_many_clients_do_at_once_adds_up() {
    (1..=3).for_each(all_at_once);
}
