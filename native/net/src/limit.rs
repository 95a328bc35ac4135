//! Limits that somebody has set, and how far they can be set.

use std::ops::RangeInclusive;

/// A limit was set beyond what the server can keep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the limit {name} cannot be {value}; it takes {least} to {most}", least = range.start(), most = range.end())]
pub struct OutOfRange {
    /// Its name.
    pub name: &'static str,
    /// What it was set to.
    pub value: u64,
    /// What it takes.
    pub range: RangeInclusive<u64>,
}

/// Checks that a limit is within what it takes.
pub fn within(name: &'static str, value: usize, range: RangeInclusive<usize>) -> Result<(), OutOfRange> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = (*range.start() as u64, *range.end() as u64);
    Err(OutOfRange { name, value: value as u64, range: least..=most })
}
