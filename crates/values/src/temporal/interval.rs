//! INTERVAL arithmetic. Main type: [`Interval`], the amounts that a unit's expression stands for.

use super::{Date, DateTime, Time, days_in_month};

/// A signed amount of time in calendar months, days and microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Calendar months (a year is 12, a quarter 3).
    pub months: i64,
    /// Days (a week is 7).
    pub days: i64,
    /// Everything smaller, in microseconds.
    pub microseconds: i128,
}

const DAY_MICROSECONDS: i128 = 86_400_000_000;

impl Interval {
    /// The same amount the other way.
    pub fn negated(self) -> Interval {
        Interval { months: -self.months, days: -self.days, microseconds: -self.microseconds }
    }
}

impl DateTime {
    /// The moment an interval later. A month too short for the day takes its last day. None outside years 0
    /// to 9999 and for dates without a place in the calendar when days or less are added.
    pub fn add_interval(&self, interval: Interval) -> Option<DateTime> {
        let mut date = self.date;
        if interval.months != 0 {
            date = add_months(date, interval.months)?;
        }
        if interval.days == 0 && interval.microseconds == 0 {
            return Some(DateTime { date, ..*self });
        }
        let clock =
            i128::from(self.day_seconds()) * 1_000_000 + i128::from(self.microsecond) + interval.microseconds;
        let days =
            i128::from(date.day_number()) + i128::from(interval.days) + clock.div_euclid(DAY_MICROSECONDS);
        let number =
            u32::try_from(days).ok().filter(|number| (1..=super::DAY_NUMBER_MAX).contains(number))?;
        let clock = clock.rem_euclid(DAY_MICROSECONDS);
        let seconds = (clock / 1_000_000) as u32;
        let date = Date::from_day_number(number);
        Some(DateTime {
            date,
            hour: (seconds / 3600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
            microsecond: (clock % 1_000_000) as u32,
        })
    }

    /// Microseconds from `other` to this moment.
    pub fn microseconds_since(&self, other: &DateTime) -> i64 {
        self.epoch_microseconds() - other.epoch_microseconds()
    }
}

impl Time {
    /// The sum, cut to 838:59:59; the flag tells whether it was cut.
    pub fn add(&self, other: &Time) -> (Time, bool) {
        Time::from_microseconds(self.to_microseconds() + other.to_microseconds())
    }
}

fn add_months(date: Date, months: i64) -> Option<Date> {
    let total = (i64::from(date.year) * 12 + i64::from(date.month) - 1).checked_add(months)?;
    let year = u16::try_from(total.div_euclid(12)).ok().filter(|&year| year <= 9999)?;
    let month = (total.rem_euclid(12) + 1) as u8;
    Some(Date { year, month, day: date.day.min(days_in_month(year, month)) })
}
