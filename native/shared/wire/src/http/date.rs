//! HTTP's dates.

use std::ops::RangeInclusive;

use crate::calendar::{date_of, days_until};

/// Month names in HTTP's dates.
pub const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// Names of weekdays in HTTP's dates, beginning with the weekday of 1970-01-01.
pub const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const SECONDS_OF_DAY: i64 = 86_400;

/// The value of a Date header, IMF-fixdate (RFC 9110 section 5.6.7).
pub fn http_date(unix_s: u64) -> String {
    let unix_s = i64::try_from(unix_s).unwrap_or(0);
    let (days, second) = (unix_s / SECONDS_OF_DAY, unix_s % SECONDS_OF_DAY);
    let (year, month, day) = date_of(days);
    let month = MONTHS.get(usize::from(month) - 1).copied().unwrap_or_default();
    let weekday = WEEKDAYS.get((days % 7) as usize).copied().unwrap_or_default();
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

/// A time in the format of access logs, in UTC.
pub fn log_date(unix_s: u64) -> String {
    let date = http_date(unix_s);
    let mut words = date.split(' ').skip(1);
    let [day, month, year, time] = std::array::from_fn(|_| words.next().unwrap_or_default());
    format!("{day}/{month}/{year}:{time} +0000")
}

/// The time of a date in any of the three forms of RFC 9110 section 5.6.7. Its weekday is not checked.
pub fn parse_http_date(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let mut words = text.split([' ', '-']).filter(|word| !word.is_empty());
    let weekday = words.next()?;
    let (day, month, year, time) = if weekday.ends_with(',') {
        // Sun, 06 Nov 1994 08:49:37 GMT, or Sunday, 06-Nov-94 08:49:37 GMT
        let date = (words.next()?, words.next()?, words.next()?, words.next()?);
        (words.next()? == "GMT").then_some(date)?
    } else {
        // Sun Nov  6 08:49:37 1994
        let (month, day, time) = (words.next()?, words.next()?, words.next()?);
        (day, month, words.next()?, time)
    };
    if words.next().is_some() {
        return None;
    }
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let (day, mut year) = (number(day, 1..=31)?, number(year, 0..=9_999)?);
    if year < 100 {
        // A year of two digits is one of the years from 1970 to 2069.
        year += if year < 70 { 2_000 } else { 1_900 };
    }
    let mut time = time.split(':');
    let (hour, minute) = (number(time.next()?, 0..=23)?, number(time.next()?, 0..=59)?);
    // A leap second counts as the first second of the next minute.
    let second = number(time.next()?, 0..=60)?;
    if time.next().is_some() || year < 1_970 {
        return None;
    }
    let days = days_until(year as i64, month as i64, day as i64);
    Some(u64::try_from(days).ok()? * 86_400 + hour * 3_600 + minute * 60 + second)
}

fn number(text: &str, range: RangeInclusive<u64>) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && range.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_dates_agree_with_the_calendar() {
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT", "RFC 9110 section 5.6.7");
        assert_eq!(http_date(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    }

    #[test]
    fn an_http_date_is_read_in_each_of_its_three_forms() {
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(parse_http_date(text.as_bytes()), Some(784_111_777), "{text}");
        }
        for text in [
            "",
            "0",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 08:49:37 GMT GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Now 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1960 08:49:37 GMT",
        ] {
            assert_eq!(parse_http_date(text.as_bytes()), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_written_http_date_reads_back(unix_s in 0u64..253_402_300_800) {
            proptest::prop_assert_eq!(parse_http_date(http_date(unix_s).as_bytes()), Some(unix_s));
        }

        #[test]
        fn no_text_makes_the_date_reader_panic(text: Vec<u8>) {
            let _ = parse_http_date(&text);
        }
    }
}
