//! What a client sees of the people here.

use wire::ldap::{ResultCode, filter_text};

use crate::common::{Client, Found, Search, filter};

/// Each of the people is of one, and it is what indexes that come into being meanwhile are asked for.
pub const FAMILIES: usize = 4;

pub fn dn(name: &str) -> String {
    format!("cn={name},ou=Dynamic,o=Intranet")
}

/// An entry's family, which is searched for, and a second value that changes with it.
pub fn values(family: usize) -> [String; 2] {
    [format!("family{family}"), format!("of family{family}")]
}

pub fn find(client: &mut Client, text: &str) -> Vec<Found> {
    let filter = filter(|out| filter_text::parse(text, out).unwrap());
    let (found, end) = client.search(&Search { filter, ..Search::default() });
    assert_eq!(end.code, ResultCode::SUCCESS, "{text}");
    found
}

pub fn names(found: &[Found]) -> Vec<&str> {
    sorted(found.iter())
}

fn sorted<'f>(found: impl Iterator<Item = &'f Found>) -> Vec<&'f str> {
    let mut names: Vec<&str> = found.map(|entry| entry.values("cn")[0]).collect();
    names.sort_unstable();
    names
}

/// The names of those of a family, found among all entries.
pub fn of(all: &[Found], number: usize) -> Vec<&str> {
    let family = values(number);
    sorted(all.iter().filter(|entry| entry.values("sn") == [family[0].as_str()]))
}

/// Both values are there, of one family.
pub fn family(entry: &Found) -> usize {
    let known =
        (0..FAMILIES).find(|number| values(*number) == [entry.values("sn")[0], entry.values("title")[0]]);
    known.unwrap_or_else(|| panic!("half of a change: {entry:?}"))
}
