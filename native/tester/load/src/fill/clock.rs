//! The current time in the formats of fields.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use scenario::Clock;
use wire::calendar::date_of;

/// Appends the current time.
pub(super) fn write_now(clock: Clock, out: &mut Vec<u8>) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    write_time(clock, since.as_secs(), out);
}

fn write_time(clock: Clock, unix_s: u64, out: &mut Vec<u8>) {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let (year, month, day) = date_of(days as i64);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    // Writing to a vector cannot fail.
    let _ = match clock {
        Clock::Unix => write!(out, "{unix_s}"),
        Clock::Rfc3339 => write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"),
        Clock::Ldap => write!(out, "{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}Z"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_formatted_for_ldap_and_for_http() {
        // `date -u -d @1709210096` prints this time.
        for (clock, expected) in [
            (Clock::Unix, "1709210096"),
            (Clock::Rfc3339, "2024-02-29T12:34:56Z"),
            (Clock::Ldap, "20240229123456Z"),
        ] {
            let mut out = Vec::new();
            write_time(clock, 1_709_210_096, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
