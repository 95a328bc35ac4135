//! generalizedTimeMatch (RFC 4517 sections 3.3.13 and 4.2.16).

use std::ops::RangeInclusive;

use wire::calendar::{date_of, days_until};

/// The seconds since 1970 whose year in UTC has four digits. Other times cannot be written in UTC, but a
/// value with a time zone can mean such a time.
const WRITABLE: RangeInclusive<i64> = days_until(0, 1, 1) * 86_400..=days_until(10_000, 1, 1) * 86_400 - 1;

/// Appends `YYYYMMDDHHMMSS` in UTC and the fraction, if there is one, without its trailing zeros. Times of
/// equal length compare as bytes, and a longer time is later than its prefix.
pub(super) fn normalise(value: &[u8], out: &mut Vec<u8>) -> bool {
    let Some((seconds, fraction)) = parse(value).filter(|(seconds, _)| WRITABLE.contains(seconds)) else {
        return false;
    };
    write_timestamp(seconds, out);
    if !fraction.is_empty() {
        out.push(b'.');
        out.extend_from_slice(fraction);
    }
    true
}

/// Appends these seconds since 1970 as `YYYYMMDDHHMMSS`.
pub(crate) fn write_timestamp(seconds: i64, out: &mut Vec<u8>) {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date_of(days);
    write_digits(year, 4, out);
    for number in [month.into(), day.into(), second / 3600, second / 60 % 60, second % 60] {
        write_digits(number, 2, out);
    }
}

fn write_digits(number: i64, width: u32, out: &mut Vec<u8>) {
    out.extend((0..width).rev().map(|place| b'0' + (number / 10i64.pow(place) % 10) as u8));
}

/// Seconds since 1970 and the digits of the fraction of a second.
fn parse(value: &[u8]) -> Option<(i64, &[u8])> {
    let mut rest = value;
    let year = digits(&mut rest, 4)?;
    let month = digits(&mut rest, 2).filter(|month| (1..=12).contains(month))?;
    let day = digits(&mut rest, 2).filter(|&day| (1..=days_in(year, month)).contains(&day))?;
    let hour = digits(&mut rest, 2).filter(|hour| *hour < 24)?;
    let minute = optional_digits(&mut rest).map_or(Some(0), |minute| (minute < 60).then_some(minute))?;
    // RFC 4517 allows a leap second.
    let second = optional_digits(&mut rest).map_or(Some(0), |second| (second <= 60).then_some(second))?;
    let unit = match value.len() - rest.len() {
        10 => 3600,
        12 => 60,
        _ => 1,
    };
    let fraction = fraction(&mut rest)?;
    let offset = zone(rest)?;
    let seconds = days_until(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    match unit {
        1 => Some((seconds, fraction)),
        // A fraction of an hour or a minute is rounded down to seconds.
        _ => Some((seconds + fraction_of(fraction, unit), &[])),
    }
}

fn digits(rest: &mut &[u8], count: usize) -> Option<i64> {
    let (taken, after) = rest.split_at_checked(count)?;
    if !taken.iter().all(u8::is_ascii_digit) {
        return None;
    }
    *rest = after;
    Some(taken.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

fn optional_digits(rest: &mut &[u8]) -> Option<i64> {
    rest.first().filter(|byte| byte.is_ascii_digit())?;
    digits(rest, 2)
}

fn fraction<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let [b'.' | b',', after @ ..] = *rest else {
        return Some(&[]);
    };
    let length = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    *rest = &after[length..];
    let digits = &after[..length];
    let zeros = digits.iter().rev().take_while(|&&digit| digit == b'0').count();
    (length > 0).then_some(&digits[..length - zeros])
}

fn fraction_of(fraction: &[u8], unit: i64) -> i64 {
    let first = &fraction[..fraction.len().min(9)];
    let number = first.iter().fold(0i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    number * unit / 10i64.pow(first.len() as u32)
}

/// Seconds east of Greenwich. The zone is required (RFC 4517 section 3.3.13).
fn zone(rest: &[u8]) -> Option<i64> {
    let (sign, mut rest) = match rest {
        [b'Z'] => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let hours = digits(&mut rest, 2)?;
    let minutes = if rest.is_empty() { 0 } else { digits(&mut rest, 2)? };
    (rest.is_empty() && hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_form_of_a_time_is_in_utc_and_an_invalid_time_has_none() {
        for (value, normal) in [
            ("19971205103000Z", Some("19971205103000")),
            ("199712051030Z", Some("19971205103000")),
            ("19971205113000+0100", Some("19971205103000")),
            ("1997120510.5Z", Some("19971205103000")),
            ("19971205103000.250Z", Some("19971205103000.25")),
            ("19971205103000.0Z", Some("19971205103000")),
            ("", None),
            ("1997", None),
            ("19971305103000Z", None),
            ("19970229000000Z", None),
            ("19971205103000", None),
            ("19971205103000.Z", None),
            ("19971205103061Z", None),
            // In UTC the year has to have four digits.
            ("99991231235959Z", Some("99991231235959")),
            ("00000101000000Z", Some("00000101000000")),
            ("99991231235959-0100", None),
            ("99991231235960Z", None),
            ("00000101000000+0001", None),
        ] {
            let mut out = Vec::new();
            let form = normalise(value.as_bytes(), &mut out).then_some(out);
            assert_eq!(form.as_deref(), normal.map(str::as_bytes), "{value}");
        }
    }
}
