//! Days, without a library: the civil calendar from a count of days (proleptic Gregorian).

/// Year, month (1 to 12), day (1 to 31) of a day counted from 1970-01-01.
///
/// Counts in eras of 400 years that begin on 1 March, so that the leap day comes last.
pub(crate) fn civil(days: i64) -> (i64, u8, u8) {
    const DAYS_OF_ERA: i64 = 146_097;
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as u8, day as u8)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const SECONDS_OF_DAY: i64 = 86_400;

/// `7 Jan 2026`; years beyond four digits, which only a broken row has, are left out.
pub(super) fn push_day(out: &mut Vec<u8>, unix_s: i64) {
    let (year, month, day) = civil(unix_s.div_euclid(SECONDS_OF_DAY));
    if !(0..=9_999).contains(&year) {
        out.extend_from_slice(b"long ago");
        return;
    }
    let month = MONTHS.get(usize::from(month) - 1).copied().unwrap_or_default();
    out.extend_from_slice(format!("{day} {month} {year}").as_bytes());
}

/// The value of a Date header, IMF-fixdate (RFC 9110 section 5.6.7).
pub(crate) fn http_date(unix_s: u64) -> String {
    let unix_s = i64::try_from(unix_s).unwrap_or(0);
    let (days, second) = (unix_s / SECONDS_OF_DAY, unix_s % SECONDS_OF_DAY);
    let (year, month, day) = civil(days);
    let month = MONTHS.get(usize::from(month) - 1).copied().unwrap_or_default();
    let weekday = WEEKDAYS.get((days % 7) as usize).copied().unwrap_or_default();
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT", "RFC 9110 section 5.6.7");
        assert_eq!(http_date(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    }

    #[test]
    fn days_follow_each_other() {
        let mut before = civil(-200_000);
        for day in -199_999..200_000 {
            let now = civil(day);
            let next_day = now.2 == before.2 + 1 && (now.0, now.1) == (before.0, before.1);
            let next_month =
                now.2 == 1 && now.0 * 12 + i64::from(now.1) == before.0 * 12 + i64::from(before.1) + 1;
            assert!(next_day || next_month, "{before:?} then {now:?}");
            assert!(before.2 >= 28 || next_day);
            before = now;
        }
    }

    #[test]
    fn impossible_visits_are_long_ago() {
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
