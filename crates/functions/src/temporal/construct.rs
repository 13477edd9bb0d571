//! Dates and times made of numbers: MAKEDATE, MAKETIME, FROM_DAYS, PERIOD_ADD and PERIOD_DIFF.

use values::temporal::{DAY_NUMBER_MAX, Date};

/// Days of the year 0, for FROM_DAYS.
const YEAR_ZERO_DAYS: u32 = 365;

/// A year of two digits as one of 1970 to 2069.
fn full_year(year: i64) -> i64 {
    match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    }
}

/// The date of a day of a year, counted from 1.
pub fn make_date(year: i64, day: i64) -> Option<Date> {
    if !(0..=9999).contains(&year) || day <= 0 {
        return None;
    }
    let first = i64::from(Date::new(full_year(year) as u16, 1, 1).day_number());
    let number = first.checked_add(day - 1).and_then(|number| u32::try_from(number).ok());
    number.filter(|number| *number <= DAY_NUMBER_MAX).map(Date::from_day_number)
}

/// A span in microseconds; None for minutes and seconds (in microseconds) that a clock does not show.
pub fn make_time(hour: i128, minute: i64, second_microseconds: i128) -> Option<i64> {
    if !(0..=59).contains(&minute) || !(0..60_000_000).contains(&second_microseconds) {
        return None;
    }
    let hours = hour.unsigned_abs().min(1 << 30) as i64;
    let magnitude = (hours * 3600 + minute * 60) * 1_000_000 + second_microseconds as i64;
    Some(if hour < 0 { -magnitude } else { magnitude })
}

/// The date of a number of days; None outside the calendar.
pub fn from_days(number: i64) -> Option<Date> {
    let day = u32::try_from(number).ok().filter(|number| (1..=DAY_NUMBER_MAX).contains(number))?;
    if day <= YEAR_ZERO_DAYS {
        // The year 0 has the months of the year after it.
        let next_year = Date::from_day_number(day + YEAR_ZERO_DAYS);
        return Some(Date { year: 0, ..next_year });
    }
    Some(Date::from_day_number(day))
}

/// Months since year 0 of a period YYMM or YYYYMM; None for what is none.
pub fn period_months(period: i64) -> Option<u64> {
    let (year, month) = (period / 100, period % 100);
    if period <= 0 || !(1..=12).contains(&month) {
        return None;
    }
    Some(full_year(year).unsigned_abs().wrapping_mul(12).wrapping_add(month.unsigned_abs() - 1))
}

/// The period YYYYMM of so many months since year 0, which count without a sign.
pub fn period_of(months: u64) -> i64 {
    if months == 0 {
        return 0;
    }
    let year = match months / 12 {
        year @ 0..=69 => year + 2000,
        year @ 70..=99 => year + 1900,
        year => year,
    };
    year.wrapping_mul(100).wrapping_add(months % 12 + 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_times() {
        assert_eq!((make_date(24, 60), make_date(2024, 0)), (Some(Date::new(2024, 2, 29)), None));
        assert_eq!((make_date(9999, 366), make_date(10_000, 1)), (None, None));
        assert_eq!((make_time(-1, 1, 0), make_time(0, 60, 0)), (Some(-3_660_000_000), None));
        assert_eq!((from_days(739_310), from_days(0)), (Some(Date::new(2024, 2, 29)), None));
        assert_eq!(from_days(1).map(|date| (date.year, date.month, date.day)), Some((0, 1, 1)));
    }

    #[test]
    fn periods_go_both_ways() {
        assert_eq!(period_months(2401).map(period_of), Some(202_401));
        assert_eq!((period_months(202_413), period_months(0), period_of(0)), (None, None, 0));
    }
}
