//! The memory that a filter of thousands of terms takes. This test runs in its own process, because it
//! measures the memory of the whole process.

use crate::common::memory_kib;
use crate::own_process::in_own_process;
use crate::store_common::{add_person, search, store};
use directory::limits::FILTER_TERMS;
use directory::store::Store;

const PEOPLE: usize = 5_000;

/// The peak memory of a search: its filter, half a mebibyte of candidates, and its matches. The list of one
/// term alone would take 20 KiB.
const KIB: usize = 16 << 10;

/// Terms that each match almost all people.
fn terms(count: usize) -> String {
    (0..count).map(|n| if n % 2 == 0 { "(cn=p*)" } else { "(cn=person*)" }).collect()
}

#[test]
fn thousands_of_prefixes_that_match_everybody_take_no_more_memory_than_a_few() {
    if in_own_process(thousands_of_prefixes_that_match_everybody_take_no_more_memory_than_a_few) {
        return;
    }
    let mut store = store();
    for n in 0..PEOPLE {
        add_person(&mut store, &format!("cn=Person {n},o=Intranet"));
    }
    let either = format!("(|(cn=nobody)(cn=person 7*){})", terms(FILTER_TERMS - 3));
    // An And filter evaluates every term on all people.
    let all = format!("(&(cn=person 77*){})", terms(100));
    let few = format!("(|(cn=person 77*){})", "(cn=person 78*)".repeat(100));
    let ask = |store: &Store| [&either, &all, &few].map(|filter| search(store, filter));
    // Without an index the search scans all people.
    let by_scan = ask(&store);
    assert_eq!(by_scan.each_ref().map(Vec::len), [PEOPLE, 11, 22]);
    while store.wants_maintenance() {
        store.maintain(1_000);
    }
    let before = memory_kib("VmHWM");
    let by_plan = ask(&store);
    let grown = memory_kib("VmHWM") - before;
    println!("{grown} KiB for a filter of {FILTER_TERMS} terms");
    assert!(grown < KIB, "{grown} KiB");
    assert!(by_plan == by_scan, "the plan finds others than the scan");
}
