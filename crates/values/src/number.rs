//! Numbers as text: reading with MySQL's prefix rule, and writing integers and floats as MySQL prints them.
//! Free functions over byte slices; writers append to an output buffer.

use std::io::Write;

const TWO_DIGITS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Appends a number below 100 with two digits.
#[inline]
pub fn append_two_digits(number: u8, out: &mut Vec<u8>) {
    let at = usize::from(number % 100) * 2;
    out.extend_from_slice(&TWO_DIGITS[at..at + 2]);
}

/// Appends an unsigned integer.
#[inline]
pub fn append_u64(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = 20;
    let mut rest = number;
    while rest >= 100 {
        let pair = (rest % 100) as usize * 2;
        rest /= 100;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&TWO_DIGITS[pair..pair + 2]);
    }
    if rest >= 10 {
        let pair = rest as usize * 2;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&TWO_DIGITS[pair..pair + 2]);
    } else {
        at -= 1;
        digits[at] = b'0' + rest as u8;
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a signed integer.
#[inline]
pub fn append_i64(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    append_u64(number.unsigned_abs(), out);
}

/// Characters that a DOUBLE turned to text may take before it changes to exponent form.
pub const DOUBLE_TEXT_WIDTH: usize = 23;
/// Characters that a FLOAT turned to text may take before it changes to exponent form.
pub const FLOAT_TEXT_WIDTH: usize = 12;

/// Appends a double as a result set shows it: the shortest digits that name it, in plain form for
/// magnitudes from 1e-15 to below 1e15 and wherever digits remain after the point.
pub fn append_f64(number: f64, out: &mut Vec<u8>) {
    Digits::shortest(number).append(usize::MAX, out);
}

/// Appends a double as a string function sees it: exponent form also when the plain form is too wide.
pub fn append_f64_narrow(number: f64, out: &mut Vec<u8>) {
    Digits::shortest(number).append(DOUBLE_TEXT_WIDTH + usize::from(number < 0.0), out);
}

/// Appends a FLOAT as a result set shows it: six significant digits.
pub fn append_f32(number: f32, out: &mut Vec<u8>) {
    let mut digits = Digits::default();
    let _ = write!(digits.text(), "{number:.5e}");
    digits.append(usize::MAX, out);
}

/// Appends a FLOAT as a string function sees it.
pub fn append_f32_narrow(number: f32, out: &mut Vec<u8>) {
    let mut digits = Digits::default();
    let _ = write!(digits.text(), "{number:.5e}");
    digits.append(FLOAT_TEXT_WIDTH, out);
}

/// Appends a float with exactly that many digits after the point, as FLOAT(M,D) and DOUBLE(M,D) show it: zeros follow
/// the digits that tell it from all others.
pub fn append_fixed(number: f64, decimals: u8, out: &mut Vec<u8>) {
    let (start, decimals) = (out.len(), usize::from(decimals));
    let _ = write!(out, "{number}");
    let known = out[start..].iter().rev().position(|&byte| byte == b'.');
    if known.is_some_and(|known| known > decimals) {
        out.truncate(start);
        let _ = write!(out, "{number:.decimals$}");
        return;
    }
    if known.is_none() && decimals > 0 {
        out.push(b'.');
    }
    out.resize(out.len() + decimals - known.unwrap_or_default(), b'0');
}

/// Scientific text of a number on the stack, re-arranged by [`Digits::append`].
#[derive(Default)]
struct Digits {
    bytes: [u8; 32],
    length: usize,
}

struct DigitWriter<'a>(&'a mut Digits);

impl Write for DigitWriter<'_> {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        let start = self.0.length;
        let count = text.len().min(32 - start);
        self.0.bytes[start..start + count].copy_from_slice(&text[..count]);
        self.0.length += count;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Largest decimal exponent (position of the point) that is shown in plain form.
const POINT_MAX: i32 = 15;

/// How many digits after the first one name the number, if it lies in the middle between two texts of so many: MySQL shows the even
/// one. Only numbers that end in an eighth, a quarter or a half are long enough for that.
pub(crate) fn decimals_if_between(number: f64) -> Option<usize> {
    let may_be = number.abs() >= 1e14 && (number * 8.0).fract() == 0.0 && number.fract() != 0.0;
    let digits =
        || format!("{number:e}").bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    may_be.then(|| digits() - 1)
}

impl Digits {
    /// The shortest digits that name a number.
    fn shortest(number: f64) -> Digits {
        let mut digits = Digits::default();
        let _ = match decimals_if_between(number) {
            None => write!(digits.text(), "{number:e}"),
            Some(decimals) => write!(digits.text(), "{number:.decimals$e}"),
        };
        digits
    }

    fn text(&mut self) -> DigitWriter<'_> {
        DigitWriter(self)
    }

    fn append(&self, width_max: usize, out: &mut Vec<u8>) {
        let text = &self.bytes[..self.length];
        let (negative, text) = match text.split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, text),
        };
        let Some(exponent_at) = text.iter().position(|&byte| byte == b'e') else {
            // inf and NaN; SQL has neither, but no value may reach a panic.
            out.push(b'0');
            return;
        };
        let exponent = std::str::from_utf8(&text[exponent_at + 1..]).ok().and_then(|text| text.parse().ok());
        let point = exponent.unwrap_or(0) + 1;
        let mut digits = [0u8; 20];
        let mut count = 0;
        for &digit in text[..exponent_at].iter().filter(|byte| byte.is_ascii_digit()).take(20) {
            digits[count] = digit;
            count += 1;
        }
        while count > 1 && digits[count - 1] == b'0' {
            count -= 1;
        }
        if negative {
            out.push(b'-');
        }
        let digits = &digits[..count];
        let in_range = (1 - POINT_MAX..=POINT_MAX).contains(&point) || (point > 0 && point < count as i32);
        if in_range && plain_width(count, point) + usize::from(negative) <= width_max {
            append_plain(digits, point, out);
        } else {
            append_exponent(digits, point - 1, out);
        }
    }
}

fn plain_width(count: usize, point: i32) -> usize {
    match point {
        ..=0 => 2 + point.unsigned_abs() as usize + count,
        _ => (point as usize).max(count + usize::from(count > point as usize)),
    }
}

fn append_plain(digits: &[u8], point: i32, out: &mut Vec<u8>) {
    if point <= 0 {
        if digits == b"0" {
            out.push(b'0');
            return;
        }
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', point.unsigned_abs() as usize));
        out.extend_from_slice(digits);
        return;
    }
    let point = point as usize;
    out.extend_from_slice(&digits[..point.min(digits.len())]);
    out.extend(std::iter::repeat_n(b'0', point.saturating_sub(digits.len())));
    if digits.len() > point {
        out.push(b'.');
        out.extend_from_slice(&digits[point..]);
    }
}

fn append_exponent(digits: &[u8], exponent: i32, out: &mut Vec<u8>) {
    out.push(digits[0]);
    if digits.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits[1..]);
    }
    out.push(b'e');
    append_i64(i64::from(exponent), out);
}

/// A number read from the start of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parsed<T> {
    /// The number; cut to the type's range; zero when there is none.
    pub number: T,
    /// Bytes read, leading blanks included; 0 when no number starts the text.
    pub length: usize,
    /// The number was cut to the type's range.
    pub overflow: bool,
}

impl<T> Parsed<T> {
    /// Whether something other than blanks follows the number, or there is none: MySQL then warns
    /// (1292 "Truncated incorrect DOUBLE value").
    pub fn is_truncated(&self, text: &[u8]) -> bool {
        self.length == 0 || text[self.length..].iter().any(|byte| !is_blank(*byte))
    }
}

/// What MySQL skips round numbers.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// Reads the longest floating point number at the start of a text.
pub fn parse_f64(text: &[u8]) -> Parsed<f64> {
    let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    let length = blanks + float_length(&text[blanks..]);
    if length == blanks {
        return Parsed { number: 0.0, length: 0, overflow: false };
    }
    let number: f64 =
        std::str::from_utf8(&text[blanks..length]).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    match number.is_finite() {
        true => Parsed { number, length, overflow: false },
        false => Parsed { number: f64::MAX.copysign(number), length, overflow: true },
    }
}

/// Length of `[+-]digits[.digits][e[+-]digits]` at the start of a text; 0 without a digit.
fn float_length(text: &[u8]) -> usize {
    let run = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let whole = run(at);
    at += whole;
    let mut fraction = 0;
    if text.get(at) == Some(&b'.') {
        fraction = run(at + 1);
        if whole + fraction > 0 {
            at += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return 0;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let digits = if at + 1 + sign <= text.len() { run(at + 1 + sign) } else { 0 };
        if digits > 0 {
            at += 1 + sign + digits;
        }
    }
    at
}

/// An integer read from the start of a text: sign and magnitude, so that both signed and unsigned targets
/// can decide about their range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedInteger {
    /// Whether a minus sign led.
    pub negative: bool,
    /// The digits' value; `u64::MAX` after an overflow.
    pub magnitude: u64,
    /// Bytes read, leading blanks included; 0 when no digit starts the text.
    pub length: usize,
    /// The magnitude exceeds 64 bits.
    pub overflow: bool,
}

impl ParsedInteger {
    /// The number as a signed integer, cut to its range.
    pub fn to_i64(&self) -> Result<i64, i64> {
        match (self.negative, self.magnitude) {
            _ if self.overflow => Err(if self.negative { i64::MIN } else { i64::MAX }),
            (true, magnitude) if magnitude <= 1 << 63 => Ok((magnitude as i64).wrapping_neg()),
            (true, _) => Err(i64::MIN),
            (false, magnitude) => i64::try_from(magnitude).map_err(|_| i64::MAX),
        }
    }
}

/// Reads the longest integer at the start of a text (CAST('12ab' AS SIGNED)).
pub fn parse_integer(text: &[u8]) -> ParsedInteger {
    let mut at = text.iter().take_while(|byte| is_blank(**byte)).count();
    let negative = text.get(at) == Some(&b'-');
    at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
    let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut magnitude = Some(0u64);
    for digit in &text[at..at + digits] {
        magnitude = magnitude.and_then(|m| m.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    }
    ParsedInteger {
        negative,
        magnitude: magnitude.unwrap_or(u64::MAX),
        length: if digits == 0 { 0 } else { at + digits },
        overflow: magnitude.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(append: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        append(&mut out);
        String::from_utf8(out).unwrap()
    }

    /// Recorded from MySQL 9.7.4.
    #[test]
    fn doubles_print_as_mysql_prints_them() {
        for (number, expected) in [
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (1e20, "1e20"),
            (-1e15, "-1e15"),
            (1234567890123456.0, "1.234567890123456e15"),
            (123456789012345678.0, "1.2345678901234568e17"),
            (1e16 / 3.0, "3333333333333333.5"),
            (1e17 / 3.0, "3.3333333333333332e16"),
            (1e-4, "0.0001"),
            (1.5e-7, "0.00000015"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (0.1 + 0.2, "0.30000000000000004"),
            (123456789012345.0 + 0.125, "123456789012345.12"),
            (123456789012345.0 + 0.375, "123456789012345.38"),
            (2222222221777778.0 + 0.25, "2222222221777778.2"),
            (-2222222221777778.0 - 0.75, "-2222222221777778.8"),
            (4503599627370495.0 + 0.5, "4503599627370495.5"),
            (-0.0, "-0"),
            (0.0, "0"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e308"),
            (1.2345678901234567e-14, "0.000000000000012345678901234567"),
        ] {
            assert_eq!(text(|out| append_f64(number, out)), expected);
        }
        assert_eq!(text(|out| append_f64_narrow(1.2345678901234567e-10, out)), "1.2345678901234568e-10");
        assert_eq!(text(|out| append_f64_narrow(-1.2345678901234567e-5, out)), "-0.000012345678901234568");
    }

    /// Recorded from MySQL 9.7.4: the result set's text and CONCAT's.
    #[test]
    fn floats_print_as_mysql_prints_them() {
        for (number, expected, narrow) in [
            (1234567f32, "1234570", "1234570"),
            (123456.0, "123456", "123456"),
            (999999.5, "1000000", "1000000"),
            (1e14, "100000000000000", "1e14"),
            (1e15, "1e15", "1e15"),
            (1.1e-10, "0.00000000011", "1.1e-10"),
            (1.2345678e-5, "0.0000123457", "0.0000123457"),
            (12345.678, "12345.7", "12345.7"),
            (-1234567.0, "-1234570", "-1234570"),
            (3.4e38, "3.4e38", "3.4e38"),
            (1e-45, "1.4013e-45", "1.4013e-45"),
        ] {
            assert_eq!(text(|out| append_f32(number, out)), expected);
            assert_eq!(text(|out| append_f32_narrow(number, out)), narrow);
        }
    }

    #[test]
    fn integers_print() {
        for number in [0, 1, 9, 10, 99, 100, 12345, i64::MIN, i64::MAX, -7] {
            assert_eq!(text(|out| append_i64(number, out)), number.to_string());
        }
        assert_eq!(text(|out| append_u64(u64::MAX, out)), u64::MAX.to_string());
    }

    #[test]
    fn numbers_are_read_by_their_longest_prefix() {
        let read = |text: &str| {
            let parsed = parse_f64(text.as_bytes());
            (parsed.number, parsed.length)
        };
        assert_eq!(read(" 12.5e1x"), (125.0, 7));
        assert_eq!(read("1e"), (1.0, 1));
        assert_eq!(read("1e+"), (1.0, 1));
        assert_eq!(read(".5"), (0.5, 2));
        assert_eq!(read("5."), (5.0, 2));
        assert_eq!(read("."), (0.0, 0));
        assert_eq!(read("-"), (0.0, 0));
        assert_eq!(read("inf"), (0.0, 0));
        assert!(parse_f64(b"1e999").overflow);
        assert_eq!(parse_integer(b"-9223372036854775808").to_i64(), Ok(i64::MIN));
        assert_eq!(parse_integer(b"9223372036854775808").to_i64(), Err(i64::MAX));
    }
}
