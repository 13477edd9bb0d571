//! Text of temporal values. Digits are written straight into the output buffer.

use super::{Date, DateTime, Time};
use crate::number::{append_two_digits, append_u64};

impl Date {
    /// Appends `YYYY-MM-DD`.
    #[inline]
    pub fn append_text(&self, out: &mut Vec<u8>) {
        append_two_digits((self.year / 100) as u8, out);
        append_two_digits((self.year % 100) as u8, out);
        out.push(b'-');
        append_two_digits(self.month, out);
        out.push(b'-');
        append_two_digits(self.day, out);
    }
}

impl DateTime {
    /// Appends `YYYY-MM-DD hh:mm:ss` and `.ffffff` of that many digits.
    #[inline]
    pub fn append_text(&self, digits: u8, out: &mut Vec<u8>) {
        self.date.append_text(out);
        out.push(b' ');
        append_two_digits(self.hour, out);
        out.push(b':');
        append_two_digits(self.minute, out);
        out.push(b':');
        append_two_digits(self.second, out);
        append_fraction(self.microsecond, digits, out);
    }
}

impl Time {
    /// Appends `[-]hh:mm:ss`, hours with two digits or three, and `.ffffff` of that many digits.
    #[inline]
    pub fn append_text(&self, digits: u8, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        if self.hours < 100 {
            append_two_digits(self.hours as u8, out);
        } else {
            append_u64(u64::from(self.hours), out);
        }
        out.push(b':');
        append_two_digits(self.minutes, out);
        out.push(b':');
        append_two_digits(self.seconds, out);
        append_fraction(self.microseconds, digits, out);
    }
}

/// Appends `.` and that many of the six digits of the microseconds; nothing for no digits.
pub fn append_fraction(microsecond: u32, digits: u8, out: &mut Vec<u8>) {
    if digits == 0 {
        return;
    }
    out.push(b'.');
    let start = out.len();
    append_two_digits((microsecond / 10_000) as u8, out);
    append_two_digits((microsecond / 100 % 100) as u8, out);
    append_two_digits((microsecond % 100) as u8, out);
    out.truncate(start + usize::from(digits.min(6)));
}

macro_rules! display {
    ($type:ty, $value:ident, $text:ident => $append:expr) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $value = self;
                let mut $text = Vec::with_capacity(26);
                $append;
                f.write_str(&String::from_utf8_lossy(&$text))
            }
        }
    };
}

display!(Date, value, text => value.append_text(&mut text));
display!(DateTime, value, text => value.append_text(if value.microsecond == 0 { 0 } else { 6 }, &mut text));
display!(Time, value, text => value.append_text(if value.microseconds == 0 { 0 } else { 6 }, &mut text));
