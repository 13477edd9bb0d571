//! Reading time spans from text: `[-][D ]hh:mm[:ss][.f]`, `[-]hhmmss[.f]`. Main function: [`parse_time`].

use super::{DateRules, Notes, Time, parse_date_time};
use crate::number::is_blank;

/// What [`parse_time`] read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeText {
    /// The span.
    pub value: Time,
    /// The digit that rounds the span, 5 or more up: MySQL takes the last of more than six.
    pub seventh_digit: u8,
    /// Whether the text was a date with a time.
    pub has_date: bool,
    /// Seconds east of UTC, where a date with a time ends with `+hh:mm` or `-hh:mm`.
    pub offset_seconds: Option<i32>,
    /// What was ignored or cut.
    pub notes: Notes,
}

impl TimeText {
    /// The span rounded to that many fractional digits.
    pub fn rounded(&self, digits: u8) -> Time {
        if digits >= 6 && self.seventh_digit >= 5 {
            let step = if self.value.negative { -1 } else { 1 };
            return Time::from_microseconds(self.value.to_microseconds() + step).0;
        }
        self.value.rounded(digits)
    }
}

/// Texts of at least this length may be dates with times.
const DATE_TIME_LENGTH_MIN: usize = 12;

/// Reads a time span. None when the text is none, or minutes or seconds exceed 59.
pub fn parse_time(text: &[u8]) -> Option<TimeText> {
    let mut at = text.iter().take_while(|byte| is_blank(**byte)).count();
    let negative = text.get(at) == Some(&b'-');
    at += usize::from(negative);
    let text = text.get(at..).filter(|text| !text.is_empty())?;
    // Of a moment the day does not matter.
    let any_day = DateRules { allow_invalid_dates: true, ..DateRules::default() };
    if text.len() >= DATE_TIME_LENGTH_MIN
        && let Some(parsed) =
            parse_date_time(text, any_day).filter(|parsed| parsed.has_time && !parsed.is_compact)
    {
        return Some(TimeText {
            value: parsed.value.time(),
            seventh_digit: parsed.seventh_digit,
            has_date: true,
            offset_seconds: parsed.offset_seconds,
            notes: parsed.notes,
        });
    }
    let (parts, mut at) = read_parts(text)?;
    let (microseconds, seventh_digit, fraction_length) = read_fraction(&text[at..]);
    at += fraction_length;
    if starts_exponent(&text[at..]) {
        return None;
    }
    if parts.minutes > 59 || parts.seconds > 59 {
        return None;
    }
    let truncated = text[at..].iter().any(|byte| !is_blank(*byte));
    let hours = parts.days.saturating_mul(24).saturating_add(parts.hours);
    if hours > u64::from(Time::MAX.hours) {
        let notes = Notes { truncated, out_of_range: true };
        let value = Time { negative, ..Time::MAX };
        return Some(TimeText { value, seventh_digit: 0, has_date: false, offset_seconds: None, notes });
    }
    let value = Time {
        negative,
        hours: hours as u16,
        minutes: parts.minutes as u8,
        seconds: parts.seconds as u8,
        microseconds,
    };
    let (value, out_of_range) = Time::from_microseconds(value.to_microseconds());
    let notes = Notes { truncated, out_of_range };
    Some(TimeText { value, seventh_digit, has_date: false, offset_seconds: None, notes })
}

#[derive(Default)]
struct Parts {
    days: u64,
    hours: u64,
    minutes: u64,
    seconds: u64,
}

/// Whether the text goes on as a floating point number would: such a text is no time.
fn starts_exponent(text: &[u8]) -> bool {
    match text {
        [b'e' | b'E', b'+' | b'-', digit, ..] | [b'e' | b'E', digit, ..] => digit.is_ascii_digit(),
        _ => false,
    }
}

/// Reads everything before the fraction; returns where it ends.
fn read_parts(text: &[u8]) -> Option<(Parts, usize)> {
    if text[0] == b'.' && text.get(1).is_some_and(u8::is_ascii_digit) {
        return Some((Parts::default(), 0));
    }
    let (first, mut at) = read_number(text, 0)?;
    let blanks = text[at..].iter().take_while(|byte| is_blank(**byte)).count();
    let digit_at = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let mut parts = Parts::default();
    let mut numbers = Vec::with_capacity(3);
    // One digit alone is no hour.
    let has_days = blanks > 0 && digit_at(at + blanks) && text.len() > at + blanks + 1;
    if has_days {
        parts.days = first;
        let (hours, end) = read_number(text, at + blanks)?;
        numbers.push(hours);
        at = end;
    } else if text.get(at) == Some(&b':') && digit_at(at + 1) {
        numbers.push(first);
    } else {
        // One number: hhmmss.
        parts.hours = first / 10_000;
        parts.minutes = first / 100 % 100;
        parts.seconds = first % 100;
        return Some((parts, at));
    }
    while numbers.len() < 3 && text.get(at) == Some(&b':') && digit_at(at + 1) {
        let (number, end) = read_number(text, at + 1)?;
        numbers.push(number);
        at = end;
    }
    parts.hours = numbers[0];
    parts.minutes = numbers.get(1).copied().unwrap_or(0);
    parts.seconds = numbers.get(2).copied().unwrap_or(0);
    Some((parts, at))
}

/// The number at an offset and its end; None without a digit or beyond 32 bits.
fn read_number(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let length = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 {
        return None;
    }
    let digits = &text[at..at + length];
    let number = digits
        .iter()
        .try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))?;
    (number <= u64::from(u32::MAX)).then_some((number, at + length))
}

/// Microseconds, the digit that rounds and the length of `.digits` at the start of the text.
fn read_fraction(text: &[u8]) -> (u32, u8, usize) {
    if text.first() != Some(&b'.') {
        return (0, 0, 0);
    }
    let digits = text[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut microseconds = 0;
    for position in 0..6 {
        let digit = if position < digits { text[1 + position] - b'0' } else { 0 };
        microseconds = microseconds * 10 + u32::from(digit);
    }
    let rounding_digit = if digits > 6 { text[digits] - b'0' } else { 0 };
    (microseconds, rounding_digit, 1 + digits)
}
