//! The civil calendar (proleptic Gregorian): dates from counts of days since 1970-01-01, and back.
//!
//! Years are counted from March in eras of 400, so that the leap day comes last.

const DAYS_OF_ERA: i64 = 146_097;

/// Days from 1 March of the year 0 to 1970-01-01.
const DAYS_BEFORE_1970: i64 = 719_468;

/// The year, month (1 to 12) and day (1 to 31) of a day since 1970-01-01.
pub const fn date_of(days: i64) -> (i64, u8, u8) {
    let days = days + DAYS_BEFORE_1970;
    let (era, day_of_era) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + (month <= 2) as i64, month as u8, day as u8)
}

/// The number of days from 1970-01-01 to a date: the inverse of [`date_of`].
pub const fn days_until(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * DAYS_OF_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year
        - DAYS_BEFORE_1970
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_days_are_consecutive_and_convert_back() {
        let mut before = date_of(-200_001);
        for day in -200_000..200_000 {
            let date @ (year, month, day_of_month) = date_of(day);
            let is_next_day = day_of_month == before.2 + 1 && (year, month) == (before.0, before.1);
            let months = |(year, month, _): (i64, u8, u8)| year * 12 + i64::from(month);
            let is_next_month = day_of_month == 1 && months(date) == months(before) + 1;
            assert!(is_next_day || is_next_month, "{before:?} then {date:?}");
            assert!(before.2 >= 28 || is_next_day);
            assert_eq!(days_until(year, month.into(), day_of_month.into()), day);
            before = date;
        }
        assert_eq!(date_of(0), (1970, 1, 1));
        assert_eq!(date_of(11_016), (2000, 2, 29));
    }
}
