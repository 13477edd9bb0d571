//! Parts of dates and times: EXTRACT, WEEK, YEARWEEK, TO_SECONDS.

use values::temporal::{Date, DateTime, IntervalUnit, Time, WeekMode};

/// Seconds since the year 0.
pub fn to_seconds(moment: &DateTime) -> u64 {
    u64::from(moment.date.day_number()) * 86_400 + moment.day_seconds().unsigned_abs()
}

/// The part of a date that a unit without a time of day names; the day for units that name none.
pub fn date_number(unit: IntervalUnit, date: Date, week_mode: u64) -> i64 {
    match unit {
        IntervalUnit::Year => i64::from(date.year),
        IntervalUnit::YearMonth => i64::from(date.year) * 100 + i64::from(date.month),
        IntervalUnit::Quarter => i64::from(date.month.div_ceil(3)),
        IntervalUnit::Month => i64::from(date.month),
        IntervalUnit::Week => i64::from(date.week(WeekMode::new(week_mode & 7)).0),
        _ => i64::from(date.day),
    }
}

/// The fields of a unit as one number, two digits a field (six for microseconds).
pub fn clock_number(unit: IntervalUnit, day: i64, time: Time) -> i64 {
    use IntervalUnit::*;
    let (hour, minute) = (i64::from(time.hours), i64::from(time.minutes));
    let (second, microsecond) = (i64::from(time.seconds), i64::from(time.microseconds));
    let clock = (day * 100 + hour) * 10_000 + minute * 100 + second;
    match unit {
        Microsecond => microsecond,
        Second => second,
        Minute => minute,
        Hour => hour,
        SecondMicrosecond => second * 1_000_000 + microsecond,
        MinuteMicrosecond => (minute * 100 + second) * 1_000_000 + microsecond,
        MinuteSecond => minute * 100 + second,
        HourMicrosecond => (hour * 10_000 + minute * 100 + second) * 1_000_000 + microsecond,
        HourSecond => hour * 10_000 + minute * 100 + second,
        HourMinute => hour * 100 + minute,
        DayMicrosecond => clock * 1_000_000 + microsecond,
        DaySecond => clock,
        DayMinute => clock / 100,
        _ => clock / 10_000,
    }
}

/// The mode in the low 32 bits of a number; None for what is negative there, which means mode 0 without whole years.
pub fn written_week_mode(number: u64) -> Option<u64> {
    u64::try_from(number as i32).ok()
}

/// Year and week of a date as YYYYWW, in the mode of a number. As MySQL counts, in 32 bits: days before the year 0 give a
/// negative number.
pub fn year_week(date: Date, number: u64) -> i64 {
    let mode = written_week_mode(number).map_or(0, |mode| mode & 7 | 2);
    let (week, year) = date.week(WeekMode::new(mode));
    i64::from(year.wrapping_mul(100).wrapping_add(week) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_side_by_side() {
        let time = Time { hours: 1, minutes: 2, seconds: 3, microseconds: 4, negative: false };
        let number = |unit| clock_number(unit, 5, time);
        assert_eq!(number(IntervalUnit::DayMicrosecond), 5_010_203_000_004);
        assert_eq!((number(IntervalUnit::DayHour), number(IntervalUnit::MinuteSecond)), (501, 203));
    }

    #[test]
    fn weeks_of_dates() {
        let date = Date::new(2024, 12, 31);
        assert_eq!(
            (year_week(date, 0), year_week(date, 3), year_week(date, u64::MAX)),
            (202_452, 202_501, 202_452)
        );
        assert_eq!(date_number(IntervalUnit::Week, date, 3), 1);
        assert_eq!(date_number(IntervalUnit::Quarter, date, 0), 4);
    }
}
