//! DATE_ADD, DATE_SUB, TIMESTAMPADD and `+ INTERVAL`: amounts of time, and moments with an amount added. Main type:
//! [`Interval`].

use crate::temporal::zone::{date_of_day, days_since_1970};
use values::temporal::{Date, DateTime, IntervalUnit, days_in_month};

/// An amount of time in the two measures that do not convert into each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Months.
    pub months: i128,
    /// Microseconds.
    pub microseconds: i128,
}

const SECOND: i128 = 1_000_000;
const DAY: i128 = 86_400 * SECOND;

/// The fields of a compound unit from the left, as factors in microseconds (months for YEAR_MONTH); None for
/// simple units. The last field of the `_MICROSECOND` units is a fraction.
fn unit_fields(unit: IntervalUnit) -> Option<&'static [i128]> {
    use IntervalUnit::*;
    const M: i128 = 60 * SECOND;
    const H: i128 = 3600 * SECOND;
    Some(match unit {
        SecondMicrosecond => &[SECOND, 1],
        MinuteMicrosecond => &[M, SECOND, 1],
        MinuteSecond => &[M, SECOND],
        HourMicrosecond => &[H, M, SECOND, 1],
        HourSecond => &[H, M, SECOND],
        HourMinute => &[H, M],
        DayMicrosecond => &[DAY, H, M, SECOND, 1],
        DaySecond => &[DAY, H, M, SECOND],
        DayMinute => &[DAY, H, M],
        DayHour => &[DAY, H],
        YearMonth => &[12, 1],
        _ => return None,
    })
}

impl Interval {
    /// The same amount back in time.
    pub fn negated(self) -> Interval {
        Interval { months: -self.months, microseconds: -self.microseconds }
    }
}

/// Whether a unit has several fields, so that its amount is a text.
pub fn is_compound(unit: IntervalUnit) -> bool {
    unit_fields(unit).is_some()
}

/// So many microseconds that were written as seconds; unsigned seconds are taken for signed ones of the same bits. None for
/// what no interval has.
pub fn of_seconds(microseconds: i128) -> Option<Interval> {
    let seconds = microseconds / SECOND;
    let bits = i64::try_from(seconds).ok().or(u64::try_from(seconds).ok().map(|bits| bits as i64));
    let bits = bits.filter(|bits| *bits != i64::MIN)?;
    let microseconds = microseconds - seconds * SECOND + i128::from(bits) * SECOND;
    Some(Interval { months: 0, microseconds })
}

/// So many of a simple unit; None for what no interval has.
pub fn of_count(count: i64, unit: IntervalUnit) -> Option<Interval> {
    let times = match unit {
        IntervalUnit::Week => 7,
        IntervalUnit::Quarter => 3,
        _ => 1,
    };
    if count == i64::MIN || count.checked_mul(times).is_none() {
        return None;
    }
    Some(simple(i128::from(count), unit))
}

/// As [`of_count`], whatever the count.
fn simple(count: i128, unit: IntervalUnit) -> Interval {
    let (months, microseconds) = match unit {
        IntervalUnit::Year => (12, 0),
        IntervalUnit::Quarter => (3, 0),
        IntervalUnit::Month => (1, 0),
        IntervalUnit::Week => (0, 7 * DAY),
        IntervalUnit::Day => (0, DAY),
        IntervalUnit::Hour => (0, 3600 * SECOND),
        IntervalUnit::Minute => (0, 60 * SECOND),
        _ => (0, 1),
    };
    Interval { months: count * months, microseconds: count * microseconds }
}

/// `'1 10:30'` and the like: digits are taken as fields from the right when some are missing. None for more numbers than
/// the unit has fields, for those beyond 64 bits, and for simple units.
pub fn of_text(text: &[u8], unit: IntervalUnit) -> Option<Interval> {
    let factors = unit_fields(unit)?;
    let negative = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'-');
    let mut numbers: Vec<(i128, u32)> = Vec::new();
    let mut digits = text.iter().peekable();
    while let Some(byte) = digits.next() {
        if !byte.is_ascii_digit() {
            continue;
        }
        if numbers.len() == factors.len() {
            return None;
        }
        let (mut value, mut length) = (i64::from(byte - b'0'), 1);
        while let Some(next) = digits.next_if(|next| next.is_ascii_digit()) {
            if value > (i64::MAX - 10) / 10 {
                return None;
            }
            value = value * 10 + i64::from(next - b'0');
            length += 1;
        }
        numbers.push((i128::from(value), length));
    }
    let fraction_last = unit.has_microseconds();
    let missing = factors.len() - numbers.len();
    let mut total = 0;
    for (index, (value, length)) in numbers.iter().enumerate() {
        let field = missing + index;
        let scale = if fraction_last && field + 1 == factors.len() && *length < 6 {
            10i128.pow(6 - length)
        } else {
            1
        };
        total += value * scale * factors[field];
    }
    if negative {
        total = -total;
    }
    Some(match unit {
        IntervalUnit::YearMonth => Interval { months: total, microseconds: 0 },
        _ => Interval { months: 0, microseconds: total },
    })
}

/// A date and time plus an interval; None beyond the years 0 to 9999.
pub fn add_interval(start: DateTime, interval: Interval) -> Option<DateTime> {
    let mut date = start.date;
    if interval.months != 0 {
        let month = i128::from(date.year) * 12 + i128::from(date.month) - 1 + interval.months;
        if !(0..120_000).contains(&month) {
            return None;
        }
        date.year = (month / 12) as u16;
        date.month = (month % 12) as u8 + 1;
        date.day = date.day.min(days_in_month(date.year, date.month));
    }
    // A day that the month lacks becomes the one that so many days reach, even if nothing is added.
    if interval.microseconds == 0 && (interval.months != 0 || date.is_real()) {
        return Some(DateTime { date, ..start });
    }
    let clock = (i128::from(start.hour) * 3600 + i128::from(start.minute) * 60 + i128::from(start.second))
        * SECOND
        + i128::from(start.microsecond);
    let total = i128::from(days_since_1970(date)) * DAY + clock + interval.microseconds;
    let days = i64::try_from(total.div_euclid(DAY)).ok()?;
    let (first, last) = (
        days_since_1970(Date { year: 0, month: 1, day: 1 }),
        days_since_1970(Date { year: 9999, month: 12, day: 31 }),
    );
    if !(first..=last).contains(&days) {
        return None;
    }
    let clock = total.rem_euclid(DAY);
    let seconds = (clock / SECOND) as u32;
    Some(DateTime {
        date: date_of_day(days),
        hour: (seconds / 3600) as u8,
        minute: (seconds / 60 % 60) as u8,
        second: (seconds % 60) as u8,
        microsecond: (clock % SECOND) as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_keep_the_day_where_there_is_one() {
        let start = Date::new(2024, 1, 31).midnight();
        let add = |months| add_interval(start, Interval { months, microseconds: 0 }).map(|end| end.date);
        assert_eq!((add(1), add(-2)), (Some(Date::new(2024, 2, 29)), Some(Date::new(2023, 11, 30))));
        assert_eq!((add(12 * 8000), add(-12 * 2025)), (None, None));
    }

    #[test]
    fn microseconds_carry_over_days() {
        let start = DateTime { hour: 23, minute: 59, second: 59, ..Date::new(2024, 2, 29).midnight() };
        let end = add_interval(start, Interval { months: 0, microseconds: SECOND }).unwrap();
        assert_eq!((end.date, end.hour), (Date::new(2024, 3, 1), 0));
    }

    #[test]
    fn amounts_of_texts_fill_fields_from_the_right() {
        let microseconds =
            |text: &str, unit| of_text(text.as_bytes(), unit).map(|interval| interval.microseconds);
        assert_eq!(microseconds("1:30", IntervalUnit::HourMinute), Some(5400 * SECOND));
        assert_eq!(microseconds("-30", IntervalUnit::HourMinute), Some(-1800 * SECOND));
        assert_eq!(microseconds("1.5", IntervalUnit::SecondMicrosecond), Some(1_500_000));
        assert_eq!(microseconds("1:2:3", IntervalUnit::HourMinute), None);
        assert_eq!(of_text(b"2-3", IntervalUnit::YearMonth).map(|interval| interval.months), Some(27));
        assert_eq!((of_count(i64::MIN, IntervalUnit::Day), of_text(b"1", IntervalUnit::Day)), (None, None));
    }
}
