//! Dates, times and spans. Main types: [`Date`], [`Time`], [`DateTime`]. Plain data, no clock.
//! Text forms are in `parse` and `format`, number forms in `number`, the calendar in `calendar`,
//! INTERVAL arithmetic in `interval`, time zones in `zone`.

mod calendar;
mod format;
mod interval;
mod number;
mod parse;
mod parse_time;
#[cfg(test)]
mod tests;
mod unit;
mod zone;

pub use calendar::{DAY_NUMBER_MAX, WeekMode, days_in_month, is_leap_year};
pub use interval::Interval;
pub use parse::{DateTimeText, parse_date_time};
pub use parse_time::{TimeText, parse_time};
pub use unit::IntervalUnit;
pub use zone::TimeZone;

/// A calendar date; month and day may be 0 where sql_mode allows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// 0 to 9999.
    pub year: u16,
    /// 0 to 12.
    pub month: u8,
    /// 0 to 31.
    pub day: u8,
}

/// A signed span of up to 838:59:59.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Time {
    /// Whether it is below zero. A zero span is not.
    pub negative: bool,
    /// 0 to 838.
    pub hours: u16,
    /// 0 to 59.
    pub minutes: u8,
    /// 0 to 59.
    pub seconds: u8,
    /// 0 to 999999.
    pub microseconds: u32,
}

/// A date and a time of day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    /// The date.
    pub date: Date,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// 0 to 999999.
    pub microsecond: u32,
}

/// Which dates are accepted; from sql_mode and the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DateRules {
    /// Refuse 0000-00-00 (NO_ZERO_DATE).
    pub no_zero_date: bool,
    /// Refuse dates with month or day 0 but for 0000-00-00 (NO_ZERO_IN_DATE).
    pub no_zero_in_date: bool,
    /// Accept days up to 31 in every month (ALLOW_INVALID_DATES).
    pub allow_invalid_dates: bool,
}

/// Something that was not quite right in a text or number that was read as a temporal value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Characters after the value were ignored.
    pub truncated: bool,
    /// The value was cut to the type's range.
    pub out_of_range: bool,
}

impl Date {
    /// 0000-00-00.
    pub const ZERO: Date = Date { year: 0, month: 0, day: 0 };

    /// A date from its parts, unchecked.
    pub const fn new(year: u16, month: u8, day: u8) -> Date {
        Date { year, month, day }
    }

    /// Whether this is 0000-00-00.
    pub fn is_zero(&self) -> bool {
        *self == Date::ZERO
    }

    /// Whether the rules accept this date.
    pub fn is_allowed(&self, rules: DateRules) -> bool {
        if self.is_zero() {
            return !rules.no_zero_date;
        }
        if self.year > 9999 || self.month > 12 || self.day > 31 {
            return false;
        }
        if self.month == 0 || self.day == 0 {
            return !rules.no_zero_in_date;
        }
        rules.allow_invalid_dates || self.day <= days_in_month(self.year, self.month)
    }

    /// Whether the date has a place in the calendar: no zero part, no 31 April.
    pub fn is_real(&self) -> bool {
        self.is_allowed(DateRules { no_zero_date: true, no_zero_in_date: true, allow_invalid_dates: false })
    }

    /// Midnight of this date.
    pub fn midnight(self) -> DateTime {
        DateTime { date: self, ..DateTime::default() }
    }
}

impl DateTime {
    /// 0000-00-00 00:00:00.
    pub const ZERO: DateTime = DateTime { date: Date::ZERO, hour: 0, minute: 0, second: 0, microsecond: 0 };

    /// The time of day.
    pub fn time(self) -> Time {
        Time {
            negative: false,
            hours: u16::from(self.hour),
            minutes: self.minute,
            seconds: self.second,
            microseconds: self.microsecond,
        }
    }

    /// The value with that many fractional second digits, rounded half up (a full second carries into the
    /// date). None when the year would exceed 9999.
    pub fn rounded(self, digits: u8) -> Option<DateTime> {
        let (microsecond, carry) = round_microseconds(self.microsecond, digits);
        let cut = DateTime { microsecond, ..self };
        if !carry {
            return Some(cut);
        }
        if self.second < 59 {
            return Some(DateTime { second: self.second + 1, ..cut });
        }
        if self.date.month == 0 || self.date.day == 0 {
            // No calendar for such dates: stay within the day.
            return carry_within_day(cut);
        }
        cut.add_seconds(1)
    }

    /// The value with that many fractional second digits, the rest cut off (TIME_TRUNCATE_FRACTIONAL).
    pub fn truncated(self, digits: u8) -> DateTime {
        DateTime { microsecond: truncate_microseconds(self.microsecond, digits), ..self }
    }
}

fn carry_within_day(moment: DateTime) -> Option<DateTime> {
    match (moment.hour, moment.minute) {
        (23, 59) => None,
        (hour, 59) => Some(DateTime { hour: hour + 1, minute: 0, second: 0, ..moment }),
        (_, minute) => Some(DateTime { minute: minute + 1, second: 0, ..moment }),
    }
}

impl Time {
    /// The largest span.
    pub const MAX: Time = Time { negative: false, hours: 838, minutes: 59, seconds: 59, microseconds: 0 };

    /// A span of that many microseconds, cut to 838:59:59; the flag tells whether it was cut.
    pub fn from_microseconds(microseconds: i64) -> (Time, bool) {
        let bound = Time::MAX.to_microseconds();
        let cut = microseconds.clamp(-bound, bound);
        (crate::packed::time_from(cut, 6), cut != microseconds)
    }

    /// Signed microseconds.
    pub fn to_microseconds(self) -> i64 {
        crate::packed::time(self, 6)
    }

    /// The span with that many fractional second digits, rounded half away from zero, cut to 838:59:59.
    pub fn rounded(self, digits: u8) -> Time {
        let step = 10i64.pow(6 - u32::from(digits.min(6)));
        let magnitude = self.to_microseconds().abs();
        let rounded = (magnitude + step / 2) / step * step;
        Time::from_microseconds(if self.negative { -rounded } else { rounded }).0
    }

    /// The span with that many fractional second digits, the rest cut off.
    pub fn truncated(self, digits: u8) -> Time {
        let cut = Time { microseconds: truncate_microseconds(self.microseconds, digits), ..self };
        Time { negative: cut.negative && cut.to_microseconds() != 0, ..cut }
    }
}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Time) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Time) -> std::cmp::Ordering {
        self.to_microseconds().cmp(&other.to_microseconds())
    }
}

fn truncate_microseconds(microsecond: u32, digits: u8) -> u32 {
    let step = 10u32.pow(6 - u32::from(digits.min(6)));
    microsecond / step * step
}

/// Rounds half up; the flag tells that a full second was reached.
fn round_microseconds(microsecond: u32, digits: u8) -> (u32, bool) {
    let step = 10u32.pow(6 - u32::from(digits.min(6)));
    let rounded = (microsecond + step / 2) / step * step;
    if rounded >= 1_000_000 { (0, true) } else { (rounded, false) }
}
