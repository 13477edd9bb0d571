//! Values of SQL types that JSON does not have: [`Opaque`], and the bytes that stand for them in documents.
//! DECIMAL is its precision, its scale and MySQL's binary form. Temporal values are packed into 64 bits: a date is 13 times
//! the year plus the month, then the day in 5 bits, the hour in 5 (all above for TIME), minute and second in 6 each, and the
//! microseconds in 24; a span below zero is negated.

use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};
use crate::value::Value;

/// MySQL's numbers of the types that are opaque.
pub(super) mod code {
    pub(in crate::json) const TIMESTAMP: u8 = 7;
    pub(in crate::json) const DATE: u8 = 10;
    pub(in crate::json) const TIME: u8 = 11;
    pub(in crate::json) const DATETIME: u8 = 12;
    pub(in crate::json) const VARBINARY: u8 = 15;
    pub(in crate::json) const BIT: u8 = 16;
    pub(in crate::json) const DECIMAL: u8 = 246;
    pub(in crate::json) const TINY_BLOB: u8 = 249;
    pub(in crate::json) const MEDIUM_BLOB: u8 = 250;
    pub(in crate::json) const LONG_BLOB: u8 = 251;
    pub(in crate::json) const BLOB: u8 = 252;
    pub(in crate::json) const BINARY: u8 = 254;
}

/// A value of an SQL type in a document: DECIMAL, DATE, TIME, DATETIME, TIMESTAMP, BIT and binary strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opaque<'d> {
    /// MySQL's number of the type.
    pub type_code: u8,
    /// The value as MySQL holds it in documents.
    pub bytes: &'d [u8],
}

impl Opaque<'_> {
    /// The value of DECIMAL, DATE, TIME, DATETIME and TIMESTAMP (both [`Value::DateTime`]); None for other types and
    /// damaged bytes.
    pub fn value(self) -> Option<Value> {
        Some(match self.type_code {
            code::DECIMAL => Value::Decimal(decimal_from(self.bytes)?),
            code::DATE => Value::Date(moment_from(self.packed()?)?.date),
            code::TIME => Value::Time(time_from(self.packed()?)?),
            code::DATETIME | code::TIMESTAMP => Value::DateTime(moment_from(self.packed()?)?),
            _ => return None,
        })
    }

    /// The packed form of a temporal value.
    pub(super) fn packed(self) -> Option<i64> {
        self.bytes.try_into().ok().map(i64::from_le_bytes)
    }

    /// What JSON_TYPE says.
    pub fn type_name(self) -> &'static str {
        match self.type_code {
            code::DECIMAL => "DECIMAL",
            code::DATE => "DATE",
            code::TIME => "TIME",
            code::DATETIME => "DATETIME",
            code::TIMESTAMP => "TIMESTAMP",
            code::BIT => "BIT",
            code::VARBINARY | code::TINY_BLOB..=code::BLOB | code::BINARY => "BLOB",
            _ => "OPAQUE",
        }
    }
}

const MICROSECOND_BITS: u32 = 24;
const CLOCK_BITS: u32 = 17;

fn clock(hour: u16, minute: u8, second: u8) -> i64 {
    i64::from(hour) << 12 | i64::from(minute) << 6 | i64::from(second)
}

/// A date with a time of day in 64 bits.
pub(super) fn packed_moment(moment: DateTime) -> i64 {
    let date = moment.date;
    let day = (i64::from(date.year) * 13 + i64::from(date.month)) << 5 | i64::from(date.day);
    let clock = clock(u16::from(moment.hour), moment.minute, moment.second);
    (day << CLOCK_BITS | clock) << MICROSECOND_BITS | i64::from(moment.microsecond)
}

/// A span in 64 bits.
pub(super) fn packed_time(time: Time) -> i64 {
    let clock = clock(time.hours, time.minutes, time.seconds);
    let magnitude = clock << MICROSECOND_BITS | i64::from(time.microseconds);
    if time.negative { -magnitude } else { magnitude }
}

/// Hours, minutes, seconds and microseconds, the hours with all bits above.
fn clock_from(packed: u64) -> Option<(u64, u8, u8, u32)> {
    let microseconds = (packed & 0xff_ffff) as u32;
    let clock = packed >> MICROSECOND_BITS;
    let (minutes, seconds) = ((clock >> 6 & 63) as u8, (clock & 63) as u8);
    (minutes < 60 && seconds < 60 && microseconds < 1_000_000).then_some((
        clock >> 12,
        minutes,
        seconds,
        microseconds,
    ))
}

fn moment_from(packed: i64) -> Option<DateTime> {
    let (hours, minute, second, microsecond) = clock_from(u64::try_from(packed).ok()?)?;
    let (day, hour) = (hours >> 5, (hours & 31) as u8);
    let months = day >> 5;
    let date =
        Date { year: u16::try_from(months / 13).ok()?, month: (months % 13) as u8, day: (day & 31) as u8 };
    (hour < 24 && date.year <= 9999).then_some(DateTime { date, hour, minute, second, microsecond })
}

fn time_from(packed: i64) -> Option<Time> {
    let (hours, minutes, seconds, microseconds) = clock_from(packed.unsigned_abs())?;
    let hours = u16::try_from(hours).ok().filter(|&hours| hours <= Time::MAX.hours)?;
    Some(Time { negative: packed < 0, hours, minutes, seconds, microseconds })
}

/// Bytes of so many digits that are fewer than nine.
const REST_BYTES: [usize; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
/// Digits of a whole group, which takes four bytes.
const GROUP_DIGITS: usize = 9;

/// The digits of each group of a number with so many digits before and behind the point: whole groups lie at the point.
fn group_digits(whole: usize, fraction: usize) -> impl Iterator<Item = usize> {
    let groups = |digits: usize| std::iter::repeat_n(GROUP_DIGITS, digits / GROUP_DIGITS);
    let (first, last) = (whole % GROUP_DIGITS, fraction % GROUP_DIGITS);
    let all =
        std::iter::once(first).chain(groups(whole)).chain(groups(fraction)).chain(std::iter::once(last));
    all.filter(|&digits| digits > 0)
}

fn group_bytes(digits: usize) -> usize {
    REST_BYTES.get(digits).copied().unwrap_or(4)
}

/// A number in MySQL's binary form, after its precision and scale.
pub(super) fn decimal_bytes(number: &Decimal) -> Vec<u8> {
    let mut text = Vec::with_capacity(72);
    number.absolute().append_text(&mut text);
    text.retain(u8::is_ascii_digit);
    let scale = usize::from(number.scale());
    let mut out = vec![text.len() as u8, number.scale()];
    let mut digits = text.as_slice();
    for count in group_digits(text.len().saturating_sub(scale), scale) {
        let (group, rest) = digits.split_at(count.min(digits.len()));
        digits = rest;
        let group = group.iter().fold(0u32, |sum, digit| sum * 10 + u32::from(digit - b'0'));
        out.extend_from_slice(&group.to_be_bytes()[4 - group_bytes(count)..]);
    }
    // The first bit says that the number is not below zero, so that numbers order as their bytes do.
    if number.is_negative() {
        out.iter_mut().skip(2).for_each(|byte| *byte = !*byte);
    }
    if let Some(first) = out.get_mut(2) {
        *first ^= 0x80;
    }
    out
}

fn decimal_from(bytes: &[u8]) -> Option<Decimal> {
    let [precision, scale, first, ..] = *bytes else { return None };
    let (precision, scale) = (usize::from(precision), usize::from(scale));
    let sound = precision <= crate::decimal::DIGITS_MAX as usize
        && scale <= precision
        && scale <= usize::from(crate::decimal::SCALE_MAX);
    sound.then_some(())?;
    let negative = first & 0x80 == 0;
    let mut text = Vec::with_capacity(72);
    text.extend_from_slice(if negative { b"-0" } else { b"0" });
    let mut rest = bytes.get(2..)?;
    let mut flip = 0x80;
    let mut written = 0;
    for count in group_digits(precision - scale, scale) {
        let (group, behind) = rest.split_at_checked(group_bytes(count))?;
        rest = behind;
        let mut number = 0u32;
        for byte in group {
            number = number << 8 | u32::from(byte ^ flip ^ if negative { 0xff } else { 0 });
            flip = 0;
        }
        if number >= 10u32.pow(count as u32) {
            return None;
        }
        // Whole groups and fractions part between groups, so the point is between two of them.
        if written == precision - scale {
            text.push(b'.');
        }
        text.extend_from_slice(format!("{number:0count$}").as_bytes());
        written += count;
    }
    let parsed = Decimal::parse(&text);
    (rest.is_empty() && !parsed.overflow).then_some(parsed.number)
}
