//! Formats times for pages. The server's local time is UTC.

use wire::calendar::date_of;
use wire::http::date::{MONTHS, WEEKDAYS};

/// The default format of Apache's mod_include.
pub(super) const DEFAULT_FORMAT: &[u8] = b"%A, %d-%b-%Y %H:%M:%S %Z";

const FULL_MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const FULL_WEEKDAYS: [&str; 7] =
    ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// Appends the time as `strftime` does. Unknown conversions are copied.
pub(super) fn push_time(out: &mut Vec<u8>, format: &[u8], unix_s: u64) {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let (year, month, day) = date_of(i64::try_from(days).unwrap_or(0));
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let month_of =
        |names: &[&'static str; 12]| names.get(usize::from(month) - 1).copied().unwrap_or_default();
    let weekday_of = |names: &[&'static str; 7]| names.get((days % 7) as usize).copied().unwrap_or_default();
    let mut bytes = format.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let Some(conversion) = bytes.next() else { return out.push(b'%') };
        let text = match conversion {
            b'Y' => format!("{year}"),
            b'y' => format!("{:02}", year % 100),
            b'm' => format!("{month:02}"),
            b'd' => format!("{day:02}"),
            b'e' => format!("{day:2}"),
            b'H' => format!("{hour:02}"),
            b'I' => format!("{:02}", (hour + 11) % 12 + 1),
            b'p' => if hour < 12 { "AM" } else { "PM" }.to_owned(),
            b'M' => format!("{minute:02}"),
            b'S' => format!("{second:02}"),
            b's' => format!("{unix_s}"),
            b'T' | b'X' => format!("{hour:02}:{minute:02}:{second:02}"),
            b'F' => format!("{year}-{month:02}-{day:02}"),
            b'D' | b'x' => format!("{month:02}/{day:02}/{:02}", year % 100),
            b'a' => weekday_of(&WEEKDAYS).to_owned(),
            b'A' => weekday_of(&FULL_WEEKDAYS).to_owned(),
            b'b' | b'h' => month_of(&MONTHS).to_owned(),
            b'B' => month_of(&FULL_MONTHS).to_owned(),
            b'Z' => "UTC".to_owned(),
            b'z' => "+0000".to_owned(),
            b'%' => "%".to_owned(),
            other => {
                out.extend_from_slice(&[b'%', *other]);
                continue;
            }
        };
        out.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_formatted_as_by_strftime() {
        for (format, shown) in [
            ("%A, %d-%b-%Y %H:%M:%S %Z", "Sunday, 06-Nov-1994 08:49:37 UTC"),
            (
                "%F %T%z|%D|%B %e, %y|%I %p|%a|%s",
                "1994-11-06 08:49:37+0000|11/06/94|November  6, 94|08 AM|Sun|784111777",
            ),
            ("100%% %Q %", "100% %Q %"),
        ] {
            let mut out = Vec::new();
            push_time(&mut out, format.as_bytes(), 784_111_777);
            assert_eq!(String::from_utf8_lossy(&out), shown);
        }
    }
}
