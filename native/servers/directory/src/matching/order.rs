//! The ordering rules (RFC 4517 section 4.2).

use std::cmp::Ordering;

use super::number;
use crate::schema::Matching;

/// The order of two normal forms. Strings are ordered by their bytes, which for UTF-8 is the order of code
/// points.
pub fn compare(matching: Matching, left: &[u8], right: &[u8]) -> Ordering {
    match matching {
        Matching::Integer => number::compare(left, right),
        _ => left.cmp(right),
    }
}
