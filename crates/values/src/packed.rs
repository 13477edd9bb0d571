//! Packed integers for temporal values, and little-endian integers of odd widths.
//! Used by the row and key codecs. Unpacking accepts any number and yields fields within their ranges.

use crate::temporal::{Date, DateTime, Time};

/// The unsigned little-endian integer in up to 8 bytes.
#[inline]
pub fn unsigned(raw: &[u8]) -> u64 {
    match *raw {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => raw.iter().take(8).rev().fold(0, |number, &byte| number << 8 | u64::from(byte)),
    }
}

/// The two's complement little-endian integer in 1 to 8 bytes.
#[inline]
pub fn signed(raw: &[u8]) -> i64 {
    let spare_bits = 64 - 8 * raw.len().clamp(1, 8) as u32;
    ((unsigned(raw) << spare_bits) as i64) >> spare_bits
}

/// A date in 24 bits, ordered as dates are.
#[inline]
pub fn date(date: Date) -> u32 {
    u32::from(date.year) << 9 | u32::from(date.month & 15) << 5 | u32::from(date.day & 31)
}

/// The date in those bits.
#[inline]
pub fn date_from(packed: u32) -> Date {
    Date {
        year: ((packed >> 9) & 0x7fff).min(9999) as u16,
        month: ((packed >> 5) & 15).min(12) as u8,
        day: (packed & 31) as u8,
    }
}

const DAY_SECONDS_BITS: u32 = 17;
const MICROSECOND_BITS: u32 = 20;

/// Bytes of a packed DATETIME with that many fractional digits.
pub const fn date_time_width(digits: u8) -> u8 {
    if digits == 0 { 5 } else { 8 }
}

/// Bytes of a packed TIME with that many fractional digits.
pub const fn time_width(digits: u8) -> u8 {
    if digits == 0 { 3 } else { 6 }
}

/// A date with time in 40 bits: date 23, hour 5, minute 6, second 6; with fractional digits 20 bits of
/// microseconds follow below. Ordered as the values are.
#[inline]
pub fn date_time(value: DateTime, digits: u8) -> u64 {
    let clock =
        u64::from(value.hour & 31) << 12 | u64::from(value.minute & 63) << 6 | u64::from(value.second & 63);
    let whole = u64::from(date(value.date)) << DAY_SECONDS_BITS | clock;
    if digits == 0 { whole } else { whole << MICROSECOND_BITS | u64::from(value.microsecond & 0xf_ffff) }
}

/// The date with time in those bits.
#[inline]
pub fn date_time_from(packed: u64, digits: u8) -> DateTime {
    let (whole, microsecond) = match digits {
        0 => (packed, 0),
        _ => (packed >> MICROSECOND_BITS, (packed & 0xf_ffff).min(999_999) as u32),
    };
    DateTime {
        date: date_from((whole >> DAY_SECONDS_BITS) as u32),
        hour: ((whole >> 12) & 31).min(23) as u8,
        minute: ((whole >> 6) & 63).min(59) as u8,
        second: (whole & 63).min(59) as u8,
        microsecond,
    }
}

/// A time span as signed seconds, or microseconds when there are fractional digits.
#[inline]
pub fn time(value: Time, digits: u8) -> i64 {
    let seconds = i64::from(value.hours) * 3600 + i64::from(value.minutes) * 60 + i64::from(value.seconds);
    let magnitude = if digits == 0 { seconds } else { seconds * 1_000_000 + i64::from(value.microseconds) };
    if value.negative { -magnitude } else { magnitude }
}

/// The time span of that many seconds (or microseconds), cut to 838:59:59.
#[inline]
pub fn time_from(packed: i64, digits: u8) -> Time {
    const SECONDS_MAX: u64 = 838 * 3600 + 59 * 60 + 59;
    let magnitude = packed.unsigned_abs();
    let (seconds, microseconds) = match digits {
        0 => (magnitude, 0),
        _ => (magnitude / 1_000_000, (magnitude % 1_000_000) as u32),
    };
    let seconds = seconds.min(SECONDS_MAX) as u32;
    Time {
        negative: packed < 0,
        hours: (seconds / 3600) as u16,
        minutes: (seconds / 60 % 60) as u8,
        seconds: (seconds % 60) as u8,
        microseconds,
    }
}
