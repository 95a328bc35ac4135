//! The entries of the shared directory as a client sees them.

use wire::ldap::{ResultCode, filter_text};

use crate::common::{Client, Entry, Search, filter};

/// The number of families. Every entry belongs to one family; clients search for families while indexes are
/// built.
pub const FAMILIES: usize = 4;

/// The value of a family that is searched for, and a second value that changes together with it.
pub fn values(family: usize) -> [String; 2] {
    [format!("family{family}"), format!("of family{family}")]
}

pub fn find(client: &mut Client, text: &str) -> Vec<Entry> {
    let filter = filter(|out| filter_text::parse(text, out).unwrap());
    let (entries, end) = client.search(&Search { filter, ..Search::default() });
    assert_eq!(end.code, ResultCode::SUCCESS, "{text}");
    entries
}

pub fn names(entries: &[Entry]) -> Vec<&str> {
    sorted(entries.iter())
}

fn sorted<'f>(entries: impl Iterator<Item = &'f Entry>) -> Vec<&'f str> {
    let mut names: Vec<&str> = entries.map(|entry| entry.values("cn")[0]).collect();
    names.sort_unstable();
    names
}

/// The names of the members of a family among all entries.
pub fn of(all: &[Entry], number: usize) -> Vec<&str> {
    let family = values(number);
    sorted(all.iter().filter(|entry| entry.values("sn") == [family[0].as_str()]))
}

/// Asserts that both values of an entry name the same family; returns its number.
pub fn family(entry: &Entry) -> usize {
    let number =
        (0..FAMILIES).find(|number| values(*number) == [entry.values("sn")[0], entry.values("title")[0]]);
    number.unwrap_or_else(|| panic!("half of a change: {entry:?}"))
}
