//! Reading dates with times from text, in every form that MySQL takes. Main function: [`parse_date_time`].
//! Delimited: any punctuation between numbers, a blank or `T` before the time. Undelimited: `[YY]YYMMDD[hhmmss]`.

use super::{Date, DateRules, DateTime, Notes};
use crate::number::is_blank;

/// What [`parse_date_time`] read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTimeText {
    /// The value, on the clock that `offset_seconds` names or on the session's.
    pub value: DateTime,
    /// Whether the text gave a time of day.
    pub has_time: bool,
    /// Whether numbers are parted by punctuation without a blank between date and time: such a text is no
    /// date where a time span is wanted.
    pub is_compact: bool,
    /// Seconds east of UTC, when the text ends with `+hh:mm` or `-hh:mm`.
    pub offset_seconds: Option<i32>,
    /// The seventh fractional digit: 5 or more rounds the value up.
    pub seventh_digit: u8,
    /// What was ignored.
    pub notes: Notes,
}

impl DateTimeText {
    /// The value rounded to that many fractional digits; None beyond the calendar.
    pub fn rounded(&self, digits: u8) -> Option<DateTime> {
        match (digits, self.seventh_digit) {
            (6.., 5..) if self.value.microsecond < 999_999 => {
                Some(DateTime { microsecond: self.value.microsecond + 1, ..self.value })
            }
            (6.., 5..) => DateTime { microsecond: 0, ..self.value }.add_seconds(1),
            _ => self.value.rounded(digits),
        }
    }
}

/// The numbers of a date with time in the order they are written.
const YEAR: usize = 0;
const DAY: usize = 2;
const SECOND: usize = 5;
const FRACTION: usize = 6;

struct Fields {
    values: [u32; 7],
    count: usize,
    /// The year was written with two digits, or belongs to an undelimited text with a two-digit year.
    has_short_year: bool,
    any_delimiter: bool,
    any_blank: bool,
    seventh_digit: u8,
    any_not_zero: bool,
}

/// Reads a date, with or without a time. None when the text is none or the rules refuse the date.
pub fn parse_date_time(text: &[u8], rules: DateRules) -> Option<DateTimeText> {
    let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    let text = &text[blanks..];
    if !text.first()?.is_ascii_digit() {
        return None;
    }
    let (mut fields, mut at) = read_fields(text)?;
    let offset_seconds = match looks_like_offset(&text[at..]) && fields.count > 3 {
        true => Some(read_offset(&text[at..])?),
        false => None,
    };
    if offset_seconds.is_some() {
        at = text.len();
    }
    let truncated = text[at..].iter().any(|byte| !is_blank(*byte));
    if fields.has_short_year && fields.any_not_zero {
        fields.values[YEAR] += if fields.values[YEAR] < 70 { 2000 } else { 1900 };
    }
    let value = assemble(&fields)?;
    if !value.date.is_allowed(rules) || (offset_seconds.is_some() && !value.date.is_real()) {
        return None;
    }
    Some(DateTimeText {
        value,
        has_time: fields.count > 3,
        is_compact: fields.any_delimiter && !fields.any_blank,
        offset_seconds,
        seventh_digit: fields.seventh_digit,
        notes: Notes { truncated, out_of_range: false },
    })
}

fn assemble(fields: &Fields) -> Option<DateTime> {
    let [year, month, day, hour, minute, second, microsecond] = fields.values;
    if fields.count < 3 || year > 9999 || month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(DateTime {
        date: Date { year: year as u16, month: month as u8, day: day as u8 },
        hour: hour as u8,
        minute: minute as u8,
        second: second as u8,
        microsecond,
    })
}

/// Reads the numbers; None when one of them is too long. Also returns where reading stopped.
fn read_fields(text: &[u8]) -> Option<(Fields, usize)> {
    let run = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'T').count();
    let digits_only = run == text.len() || text[run] == b'.';
    let year_digits = match run {
        4 | 8 | 14.. => 4,
        _ => 2,
    };
    let mut fields = Fields {
        values: [0; 7],
        count: 0,
        has_short_year: digits_only && year_digits == 2,
        any_delimiter: false,
        any_blank: false,
        seventh_digit: 0,
        any_not_zero: false,
    };
    let mut at = 0;
    while fields.count <= FRACTION && text.get(at).is_some_and(u8::is_ascii_digit) {
        let field = fields.count;
        let digits_max = match field {
            YEAR if digits_only => year_digits,
            FRACTION => 6,
            _ if digits_only => 2,
            _ => usize::MAX,
        };
        let length = text[at..].iter().take(digits_max).take_while(|byte| byte.is_ascii_digit()).count();
        let value = read_number(&text[at..at + length])?;
        at += length;
        fields.has_short_year |= field == YEAR && length == 2;
        fields.values[field] = if field == FRACTION { scaled_fraction(value, length) } else { value };
        fields.any_not_zero |= value != 0;
        fields.count += 1;
        if field == FRACTION {
            let rest = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            fields.seventh_digit = if rest > 0 { text[at] - b'0' } else { 0 };
            at += rest;
            break;
        }
        let next = after_delimiter(text, at, field);
        let is_fraction = field == SECOND && next == at;
        if is_fraction || !text.get(next).is_some_and(u8::is_ascii_digit) {
            // A delimiter that no number follows is not part of the value, but for a closing point.
            if field >= SECOND && text.get(at) == Some(&b'.') {
                at += 1;
            }
            break;
        }
        if field < SECOND {
            let delimiter = &text[at..next];
            fields.any_delimiter |= !matches!(delimiter, b"" | b"T");
            fields.any_blank |= delimiter.iter().any(|byte| is_blank(*byte));
        }
        at = next;
    }
    Some((fields, at))
}

fn read_number(digits: &[u8]) -> Option<u32> {
    let value = digits
        .iter()
        .try_fold(0u32, |value, digit| value.checked_mul(10)?.checked_add(u32::from(digit - b'0')));
    value.filter(|&value| value <= 999_999)
}

fn scaled_fraction(value: u32, digits: usize) -> u32 {
    value * 10u32.pow(6 - digits.min(6) as u32)
}

/// Where the number after this one starts.
fn after_delimiter(text: &[u8], mut at: usize, field: usize) -> usize {
    if field == DAY && text.get(at) == Some(&b'T') {
        return at + 1;
    }
    if field == SECOND {
        return at + usize::from(text.get(at) == Some(&b'.'));
    }
    while let Some(&byte) = text.get(at) {
        if byte.is_ascii_punctuation() || (field == DAY && is_blank(byte)) {
            at += 1;
        } else {
            break;
        }
    }
    at
}

/// Whether the text is a sign, digits, a colon and digits: a time zone, valid or not.
fn looks_like_offset(text: &[u8]) -> bool {
    let [b'+' | b'-', rest @ ..] = text else { return false };
    let Some(colon) = rest.iter().position(|&byte| byte == b':') else { return false };
    let is_number = |part: &[u8]| (1..=2).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    is_number(&rest[..colon]) && is_number(&rest[colon + 1..])
}

/// Reads `+hh:mm` or `-hh:mm`; None beyond -13:59 and +14:00, and for -00:00.
fn read_offset(text: &[u8]) -> Option<i32> {
    let [sign, h1, h2, b':', m1, m2] = text else { return None };
    let number = |tens: &u8, ones: &u8| i32::from(tens - b'0') * 10 + i32::from(ones - b'0');
    let (hours, minutes) = (number(h1, h2), number(m1, m2));
    let seconds = hours * 3600 + minutes * 60;
    let in_range = match sign {
        b'-' => seconds > 0 && seconds <= 13 * 3600 + 59 * 60,
        _ => seconds <= 14 * 3600,
    };
    (minutes < 60 && in_range).then_some(if *sign == b'-' { -seconds } else { seconds })
}
