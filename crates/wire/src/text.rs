//! Values as the text protocol sends them. Digits are written straight into the output buffer.

use charset::CollationId;
use std::io::Write;
use values::temporal::{Date, DateTime, Time};
use values::{Decimal, Value};

/// Powers of ten that a value may have before and after the point and still be written without exponent.
const PLAIN_NOTATION_DIGITS: i32 = 15;
/// Significant digits of FLOAT.
const FLOAT_DIGITS: usize = 6;

/// Most bytes of a character of that collation's character set.
pub(crate) fn character_bytes_max(collation: CollationId) -> u32 {
    collation.charset().max_bytes as u32
}

/// DECIMAL from a client's text. What is no number is zero.
pub(crate) fn parse_decimal(text: &[u8]) -> Value {
    Value::Decimal(Decimal::parse(text).number)
}

/// Two digits a step from this table.
const DIGIT_PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
                                  2021222324252627282930313233343536373839\
                                  4041424344454647484950515253545556575859\
                                  6061626364656667686970717273747576777879\
                                  8081828384858687888990919293949596979899";

/// Appends an unsigned integer.
pub fn push_unsigned(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut start = digits.len();
    while number >= 100 {
        let pair = (number % 100) as usize * 2;
        number /= 100;
        start -= 2;
        digits[start..start + 2].copy_from_slice(&DIGIT_PAIRS[pair..pair + 2]);
    }
    if number >= 10 {
        let pair = number as usize * 2;
        start -= 2;
        digits[start..start + 2].copy_from_slice(&DIGIT_PAIRS[pair..pair + 2]);
    } else {
        start -= 1;
        digits[start] = b'0' + number as u8;
    }
    out.extend_from_slice(&digits[start..]);
}

/// Appends a signed integer.
pub fn push_signed(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    push_unsigned(out, number.unsigned_abs());
}

fn push_two(out: &mut Vec<u8>, number: u8) {
    let pair = usize::from(number % 100) * 2;
    out.extend_from_slice(&DIGIT_PAIRS[pair..pair + 2]);
}

/// Appends `2026-11-21`.
pub fn push_date(out: &mut Vec<u8>, date: Date) {
    push_two(out, (date.year / 100) as u8);
    push_two(out, (date.year % 100) as u8);
    out.push(b'-');
    push_two(out, date.month);
    out.push(b'-');
    push_two(out, date.day);
}

/// Appends `12:34:56` and as many fractional digits as asked for.
pub fn push_time(out: &mut Vec<u8>, time: Time, fractional_digits: u8) {
    if time.negative {
        out.push(b'-');
    }
    if time.hours < 100 {
        push_two(out, time.hours as u8);
    } else {
        push_unsigned(out, u64::from(time.hours));
    }
    push_minutes_and_seconds(out, time.minutes, time.seconds);
    push_fraction(out, time.microseconds, fractional_digits);
}

/// Appends `2026-11-21 12:34:56` and as many fractional digits as asked for.
pub fn push_date_time(out: &mut Vec<u8>, value: DateTime, fractional_digits: u8) {
    push_date(out, value.date);
    out.push(b' ');
    push_two(out, value.hour);
    push_minutes_and_seconds(out, value.minute, value.second);
    push_fraction(out, value.microsecond, fractional_digits);
}

fn push_minutes_and_seconds(out: &mut Vec<u8>, minutes: u8, seconds: u8) {
    out.push(b':');
    push_two(out, minutes);
    out.push(b':');
    push_two(out, seconds);
}

fn push_fraction(out: &mut Vec<u8>, microseconds: u32, fractional_digits: u8) {
    if fractional_digits == 0 {
        return;
    }
    out.push(b'.');
    let start = out.len();
    for group in [microseconds / 10_000, microseconds / 100, microseconds] {
        push_two(out, (group % 100) as u8);
    }
    out.truncate(start + usize::from(fractional_digits.min(6)));
}

/// Appends a DOUBLE: the shortest digits that read back as the same number, or a fixed number of decimals.
pub fn push_double(out: &mut Vec<u8>, number: f64, decimals: Option<u8>) {
    match decimals {
        Some(decimals) => push_fixed(out, number, decimals),
        None => {
            let mut scientific = Scientific::default();
            // Writing to memory of sufficient size cannot fail.
            let _ = write!(scientific, "{number:e}");
            scientific.push_to(out);
        }
    }
}

/// Appends a FLOAT: six significant digits, or a fixed number of decimals.
pub fn push_float(out: &mut Vec<u8>, number: f32, decimals: Option<u8>) {
    match decimals {
        Some(decimals) => push_fixed(out, f64::from(number), decimals),
        None => {
            let mut scientific = Scientific::default();
            let _ = write!(scientific, "{number:.precision$e}", precision = FLOAT_DIGITS - 1);
            scientific.push_to(out);
        }
    }
}

fn push_fixed(out: &mut Vec<u8>, number: f64, decimals: u8) {
    let _ = write!(out, "{number:.precision$}", precision = usize::from(decimals));
}

/// A number as Rust's `{:e}` writes it (`-1.25e-7`), in memory of its own.
#[derive(Default)]
struct Scientific {
    text: [u8; 32],
    length: usize,
}

impl Write for Scientific {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let taken = bytes.len().min(self.text.len() - self.length);
        self.text[self.length..self.length + taken].copy_from_slice(&bytes[..taken]);
        self.length += taken;
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Scientific {
    /// Writes the number in MySQL's notation: plain while the point is near the digits, otherwise `1.25e-7`.
    fn push_to(&self, out: &mut Vec<u8>) {
        let text = &self.text[..self.length];
        let (negative, text) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if negative {
            out.push(b'-');
        }
        let Some(at) = text.iter().position(|byte| *byte == b'e') else {
            return out.extend_from_slice(text);
        };
        let exponent = std::str::from_utf8(&text[at + 1..]).ok().and_then(|text| text.parse::<i32>().ok());
        let mut digits = [0u8; 24];
        let mut count = 0;
        for digit in text[..at].iter().filter(|byte| byte.is_ascii_digit()).take(digits.len()) {
            digits[count] = *digit;
            count += 1;
        }
        while count > 1 && digits[count - 1] == b'0' {
            count -= 1;
        }
        push_digits(out, &digits[..count], exponent.unwrap_or(0));
    }
}

/// Writes `digits`, the first of which stands for 10^`exponent`.
fn push_digits(out: &mut Vec<u8>, digits: &[u8], exponent: i32) {
    let point = exponent + 1;
    if !(1 - PLAIN_NOTATION_DIGITS..=PLAIN_NOTATION_DIGITS).contains(&point) {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.push(b'e');
        return push_signed(out, i64::from(exponent));
    }
    if point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', point.unsigned_abs() as usize));
        return out.extend_from_slice(digits);
    }
    let whole = digits.len().min(point as usize);
    out.extend_from_slice(&digits[..whole]);
    out.extend(std::iter::repeat_n(b'0', point as usize - whole));
    if digits.len() > whole {
        out.push(b'.');
        out.extend_from_slice(&digits[whole..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(push: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers() {
        for number in [0, 9, 10, 99, 100, 12345, u64::MAX] {
            assert_eq!(written(|out| push_unsigned(out, number)), number.to_string());
        }
        for number in [0, -1, i64::MIN, i64::MAX] {
            assert_eq!(written(|out| push_signed(out, number)), number.to_string());
        }
    }

    #[test]
    fn temporals() {
        let date = Date { year: 987, month: 1, day: 2 };
        let value = DateTime { date, hour: 3, minute: 4, second: 5, microsecond: 67_890 };
        assert_eq!(written(|out| push_date_time(out, value, 0)), "0987-01-02 03:04:05");
        assert_eq!(written(|out| push_date_time(out, value, 6)), "0987-01-02 03:04:05.067890");
        let time = Time { negative: true, hours: 838, minutes: 59, seconds: 9, microseconds: 500_000 };
        assert_eq!(written(|out| push_time(out, time, 1)), "-838:59:09.5");
    }

    /// The expectations are what MySQL 9.7.4 prints for DOUBLE and FLOAT columns.
    #[test]
    fn approximate_numbers() {
        let double = |number, text| assert_eq!(written(|out| push_double(out, number, None)), text);
        double(0.0, "0");
        double(1.0, "1");
        double(-1.5, "-1.5");
        double(0.1, "0.1");
        double(1e14, "100000000000000");
        double(123456789012345.0, "123456789012345");
        double(1e15, "1e15");
        double(1e-15, "0.000000000000001");
        double(1e-16, "1e-16");
        double(1.25e-7, "0.000000125");
        double(f64::MAX, "1.7976931348623157e308");
        let float = |number, text| assert_eq!(written(|out| push_float(out, number, None)), text);
        float(0.1, "0.1");
        float(16777216.0, "16777200");
        float(1e10, "10000000000");
        float(3.40282e38, "3.40282e38");
        assert_eq!(written(|out| push_double(out, 2.5, Some(3))), "2.500");
    }
}
