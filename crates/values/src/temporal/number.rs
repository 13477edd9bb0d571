//! Temporal values as numbers: 20240229, 20240229123000, 123000.

use super::{Date, DateRules, DateTime, Notes, Time};

impl Date {
    /// `YYYYMMDD`.
    pub fn to_number(&self) -> u64 {
        u64::from(self.year) * 10_000 + u64::from(self.month) * 100 + u64::from(self.day)
    }
}

impl DateTime {
    /// `YYYYMMDDhhmmss`.
    pub fn to_number(&self) -> u64 {
        self.date.to_number() * 1_000_000
            + u64::from(self.hour) * 10_000
            + u64::from(self.minute) * 100
            + u64::from(self.second)
    }

    /// Reads `[YY]YYMMDD[hhmmss]`. None when the number is no date that the rules accept.
    pub fn from_number(number: i64, rules: DateRules) -> Option<DateTime> {
        let full = match number {
            0 => return Date::ZERO.is_allowed(rules).then_some(DateTime::ZERO),
            ..0 | 1..101 => return None,
            101..=691_231 => (number + 20_000_000) * 1_000_000,
            691_232..700_101 => return None,
            700_101..=991_231 => (number + 19_000_000) * 1_000_000,
            991_232..1_000_000 => return None,
            1_000_000..=99_991_231 => number * 1_000_000,
            99_991_232..101_000_000 => return None,
            101_000_000..=691_231_235_959 => number + 20_000_000_000_000,
            691_231_235_960..700_101_000_000 => return None,
            700_101_000_000..=991_231_235_959 => number + 19_000_000_000_000,
            _ => number,
        };
        let (date, clock) = (full / 1_000_000, full % 1_000_000);
        let year = u16::try_from(date / 10_000).ok().filter(|&year| year <= 9999)?;
        let date = Date { year, month: (date / 100 % 100) as u8, day: (date % 100) as u8 };
        let moment = DateTime {
            date,
            hour: (clock / 10_000) as u8,
            minute: (clock / 100 % 100) as u8,
            second: (clock % 100) as u8,
            microsecond: 0,
        };
        let valid = moment.hour < 24 && moment.minute < 60 && moment.second < 60 && date.is_allowed(rules);
        valid.then_some(moment)
    }
}

impl Time {
    /// Signed `hhmmss`.
    pub fn to_number(&self) -> i64 {
        let magnitude =
            i64::from(self.hours) * 10_000 + i64::from(self.minutes) * 100 + i64::from(self.seconds);
        if self.negative { -magnitude } else { magnitude }
    }

    /// Reads signed `hhmmss`, or the time of day of `YYYYMMDDhhmmss`. None when minutes or seconds exceed 59.
    pub fn from_number(number: i64) -> Option<(Time, Notes)> {
        let negative = number < 0;
        let magnitude = number.unsigned_abs();
        if magnitude > 8_385_959 {
            if magnitude >= 10_000_000_000
                && let Some(moment) = DateTime::from_number(number, DateRules::default())
            {
                return Some((moment.time(), Notes::default()));
            }
            return Some((Time { negative, ..Time::MAX }, Notes { out_of_range: true, ..Notes::default() }));
        }
        let (minutes, seconds) = ((magnitude / 100 % 100) as u8, (magnitude % 100) as u8);
        if minutes > 59 || seconds > 59 {
            return None;
        }
        let time = Time { negative, hours: (magnitude / 10_000) as u16, minutes, seconds, microseconds: 0 };
        Some((time, Notes::default()))
    }
}
