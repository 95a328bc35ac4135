//! integerMatch (RFC 4517 section 4.2.19) on numbers of any length.

use std::cmp::Ordering;

/// Appends the digits without leading zeros, after the minus sign of a negative number.
pub(super) fn normalise(value: &[u8], out: &mut Vec<u8>) -> bool {
    let value = value.trim_ascii();
    let (negative, digits) = match value {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let significant = &digits[zeros.min(digits.len() - 1)..];
    if negative && significant != b"0" {
        out.push(b'-');
    }
    out.extend_from_slice(significant);
    true
}

/// The number of a value whose bits are tested; `None` if the value is not a number.
pub(crate) fn number(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

pub(super) fn compare(left: &[u8], right: &[u8]) -> Ordering {
    let magnitude = |a: &[u8], b: &[u8]| a.len().cmp(&b.len()).then_with(|| a.cmp(b));
    match (left, right) {
        ([b'-', left @ ..], [b'-', right @ ..]) => magnitude(right, left),
        ([b'-', ..], _) => Ordering::Less,
        (_, [b'-', ..]) => Ordering::Greater,
        _ => magnitude(left, right),
    }
}
