//! Dates as pages show them.

use wire::calendar::date_of;
use wire::http::date::MONTHS;

const SECONDS_OF_DAY: i64 = 86_400;

/// Appends a date such as `7 Jan 2026`. A year with more than four digits, which only a corrupt row has, is
/// omitted.
pub(super) fn push_day(out: &mut Vec<u8>, unix_s: i64) {
    let (year, month, day) = date_of(unix_s.div_euclid(SECONDS_OF_DAY));
    if !(0..=9_999).contains(&year) {
        out.extend_from_slice(b"long ago");
        return;
    }
    let month = MONTHS.get(usize::from(month) - 1).copied().unwrap_or_default();
    out.extend_from_slice(format!("{day} {month} {year}").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_outside_the_calendar_is_shown_as_long_ago() {
        for unix_s in [i64::MIN, i64::MAX] {
            let mut out = Vec::new();
            push_day(&mut out, unix_s);
            assert_eq!(out, b"long ago");
        }
        let mut out = Vec::new();
        push_day(&mut out, 1_767_225_599);
        assert_eq!(out, b"31 Dec 2025");
    }
}
