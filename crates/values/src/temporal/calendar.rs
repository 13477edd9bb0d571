//! The proleptic Gregorian calendar as MySQL counts it: day numbers, weekdays, weeks.
//! Day number 1 is 0000-01-01; 719528 is 1970-01-01.

use super::{Date, DateTime};

/// Day number of 9999-12-31.
pub const DAY_NUMBER_MAX: u32 = 3_652_424;
/// Day number of 1970-01-01.
const EPOCH_DAY_NUMBER: i64 = 719_528;
const DAY_SECONDS: i64 = 86_400;

/// Whether the year has a 29 February. Year 0 has none, as MySQL counts.
pub fn is_leap_year(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || (year.is_multiple_of(400) && year != 0))
}

/// Days of a month; 0 for month 0 and beyond 12.
pub fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        2 => 28 + u8::from(is_leap_year(year)),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

/// Which days count to which week, as the mode argument of WEEK() says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekMode {
    /// Weeks start on Monday (otherwise Sunday).
    pub monday_first: bool,
    /// Weeks run from 1 to 53 and days before week 1 belong to the last year's last week (otherwise week 0).
    pub week_year: bool,
    /// Week 1 is the first that starts in the year (otherwise the first with four days or more in it).
    pub first_weekday: bool,
}

impl WeekMode {
    /// The meaning of a mode number, of which three bits count. Bit 2 means the opposite for weeks that
    /// start on Sunday.
    pub fn new(mode: u64) -> WeekMode {
        let monday_first = mode & 1 != 0;
        WeekMode { monday_first, week_year: mode & 2 != 0, first_weekday: (mode & 4 != 0) == monday_first }
    }
}

impl Date {
    /// Days since the start of the calendar; 0 for 0000-00-00. Dates with a zero part count as far as
    /// MySQL's formula takes them.
    pub fn day_number(&self) -> u32 {
        let (year, month, day) = (i64::from(self.year), i64::from(self.month), i64::from(self.day));
        if year == 0 && month == 0 {
            return 0;
        }
        let mut number = 365 * year + 31 * (month - 1) + day;
        let full_year = if month <= 2 {
            year - 1
        } else {
            number -= (month * 4 + 23) / 10;
            year
        };
        number += full_year / 4 - ((full_year / 100 + 1) * 3) / 4;
        number.max(0) as u32
    }

    /// The date of a day number; 0000-00-00 for numbers outside 366 to [`DAY_NUMBER_MAX`].
    pub fn from_day_number(number: u32) -> Date {
        if !(366..=DAY_NUMBER_MAX).contains(&number) {
            return Date::ZERO;
        }
        let mut year = number * 100 / 36525;
        let leap_days = (((year - 1) / 100 + 1) * 3) / 4;
        let mut day_of_year = number - year * 365 - (year - 1) / 4 + leap_days;
        loop {
            let year_days = 365 + u32::from(is_leap_year(year as u16));
            if day_of_year <= year_days {
                break;
            }
            day_of_year -= year_days;
            year += 1;
        }
        let mut month = 1;
        loop {
            let month_days = u32::from(days_in_month(year as u16, month));
            if day_of_year <= month_days {
                return Date { year: year as u16, month, day: day_of_year as u8 };
            }
            day_of_year -= month_days;
            month += 1;
        }
    }

    /// 0 for Monday to 6 for Sunday.
    pub fn weekday(&self) -> u8 {
        ((self.day_number() + 5) % 7) as u8
    }

    /// 1 to 366; of a date with zero parts what the formula gives, from -31 on.
    pub fn day_of_year(&self) -> i64 {
        i64::from(self.day_number()) - i64::from(Date::new(self.year, 1, 1).day_number()) + 1
    }

    /// The last day of this date's month; None for month 0.
    pub fn last_day(&self) -> Option<Date> {
        let day = days_in_month(self.year, self.month);
        (day > 0).then_some(Date { day, ..*self })
    }

    /// Week and the year that it belongs to. Of a date with zero parts it is what the formula alone gives: below the first day
    /// of the year it wraps.
    pub fn week(&self, mode: WeekMode) -> (u32, u32) {
        let day_number = self.day_number();
        let mut first_day = Date::new(self.year, 1, 1).day_number();
        let weekday_of = |number: u32| (number + if mode.monday_first { 5 } else { 6 }) % 7;
        let mut weekday = weekday_of(first_day);
        let mut year = u32::from(self.year);
        let mut week_year = mode.week_year;
        let starts_late = |weekday: u32| if mode.first_weekday { weekday != 0 } else { weekday >= 4 };
        if self.month == 1 && u32::from(self.day) <= 7 - weekday {
            if !week_year && starts_late(weekday) {
                return (0, year);
            }
            week_year = true;
            // Count from the year before; that of the year 0 wraps, as MySQL's does.
            year = year.wrapping_sub(1);
            let year_days = 365 + u32::from(is_leap_year(year as u16));
            first_day = first_day.wrapping_sub(year_days);
            weekday = (weekday + 53 * 7 - year_days) % 7;
        }
        let days = match starts_late(weekday) {
            true => day_number.wrapping_sub(first_day.wrapping_add(7 - weekday)),
            false => day_number.wrapping_sub(first_day.wrapping_sub(weekday)),
        };
        if week_year && days >= 52 * 7 {
            let next = (weekday + 365 + u32::from(is_leap_year(year as u16))) % 7;
            if !starts_late(next) {
                return (1, year.wrapping_add(1));
            }
        }
        (days / 7 + 1, year)
    }
}

impl DateTime {
    /// Seconds since 1970-01-01 00:00:00 on this clock; the value's time zone is the caller's business.
    pub fn epoch_seconds(&self) -> i64 {
        (i64::from(self.date.day_number()) - EPOCH_DAY_NUMBER) * DAY_SECONDS + self.day_seconds()
    }

    /// Microseconds since 1970-01-01 00:00:00 on this clock.
    pub fn epoch_microseconds(&self) -> i64 {
        self.epoch_seconds() * 1_000_000 + i64::from(self.microsecond)
    }

    /// The moment that many seconds and microseconds after 1970-01-01; None outside years 1 to 9999.
    pub fn from_epoch(seconds: i64, microsecond: u32) -> Option<DateTime> {
        let number = u32::try_from(seconds.div_euclid(DAY_SECONDS).checked_add(EPOCH_DAY_NUMBER)?).ok()?;
        if !(366..=DAY_NUMBER_MAX).contains(&number) {
            return None;
        }
        let clock = seconds.rem_euclid(DAY_SECONDS) as u32;
        Some(DateTime {
            date: Date::from_day_number(number),
            hour: (clock / 3600) as u8,
            minute: (clock / 60 % 60) as u8,
            second: (clock % 60) as u8,
            microsecond: microsecond.min(999_999),
        })
    }

    /// Seconds since midnight.
    pub fn day_seconds(&self) -> i64 {
        i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second)
    }

    /// The moment that many seconds later; None outside the calendar.
    pub fn add_seconds(&self, seconds: i64) -> Option<DateTime> {
        DateTime::from_epoch(self.epoch_seconds().checked_add(seconds)?, self.microsecond)
    }
}
