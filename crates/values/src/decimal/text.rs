//! Decimal text: parsing with MySQL's prefix rule, and printing.

use super::{DIGITS_MAX, Decimal, SCALE_MAX, limbs};

/// What [`Decimal::parse`] found.
#[derive(Clone, Copy, Debug)]
pub struct ParsedDecimal {
    /// The number; the largest one after an overflow; zero when there is none.
    pub number: Decimal,
    /// Bytes read, leading blanks included. 0 when no number starts the text.
    pub length: usize,
    /// The number has more than 65 digits.
    pub overflow: bool,
    /// Digits other than zero were dropped, because they are beyond 30 places after the point.
    pub truncated: bool,
}

impl Decimal {
    /// Reads the longest number at the start of a text: `[blanks][+-]digits[.digits][e[+-]digits]`.
    pub fn parse(text: &[u8]) -> ParsedDecimal {
        let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let mut at = blanks;
        let negative = text.get(at) == Some(&b'-');
        at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
        let digit_run = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let whole = &text[at..at + digit_run(at)];
        at += whole.len();
        let mut fraction: &[u8] = &[];
        if text.get(at) == Some(&b'.') {
            fraction = &text[at + 1..at + 1 + digit_run(at + 1)];
            if !whole.is_empty() || !fraction.is_empty() {
                at += 1 + fraction.len();
            }
        }
        if whole.is_empty() && fraction.is_empty() {
            return ParsedDecimal { number: Decimal::ZERO, length: 0, overflow: false, truncated: false };
        }
        let (exponent, exponent_length) = read_exponent(&text[at..]);
        let (number, overflow, truncated) = assemble(negative, whole, fraction, exponent);
        ParsedDecimal { number, length: at + exponent_length, overflow, truncated }
    }

    /// Appends the digits with all fractional digits of the scale.
    pub fn append_text(&self, out: &mut Vec<u8>) {
        let mut reversed = [b'0'; 80];
        let mut length = 0;
        let mut rest = self.limbs;
        while rest[1] | rest[2] | rest[3] != 0 {
            let mut chunk = limbs::divide_small(&mut rest, 10_000_000_000_000_000_000);
            for digit in &mut reversed[length..length + 19] {
                *digit = b'0' + (chunk % 10) as u8;
                chunk /= 10;
            }
            length += 19;
        }
        let mut chunk = rest[0];
        while chunk != 0 {
            reversed[length] = b'0' + (chunk % 10) as u8;
            chunk /= 10;
            length += 1;
        }
        let scale = usize::from(self.scale);
        length = length.max(scale + 1);
        if self.negative {
            out.push(b'-');
        }
        out.extend(reversed[scale..length].iter().rev());
        if scale > 0 {
            out.push(b'.');
            out.extend(reversed[..scale].iter().rev());
        }
    }
}

/// The exponent at the start of the text and its length; (0, 0) when there is none.
fn read_exponent(text: &[u8]) -> (i64, usize) {
    if !matches!(text.first(), Some(b'e' | b'E')) {
        return (0, 0);
    }
    let sign_length = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    let digits = text[1 + sign_length..].iter().take_while(|byte| byte.is_ascii_digit());
    let mut exponent = 0i64;
    let mut length = 0;
    for digit in digits {
        exponent = (exponent * 10 + i64::from(digit - b'0')).min(1_000_000);
        length += 1;
    }
    match length {
        0 => (0, 0),
        _ => (if text[1] == b'-' { -exponent } else { exponent }, 1 + sign_length + length),
    }
}

/// Digits that are put together without an allocation: all of most numbers.
const SHORT_DIGITS_MAX: usize = 80;

fn assemble(negative: bool, whole: &[u8], fraction: &[u8], exponent: i64) -> (Decimal, bool, bool) {
    let skip = |digits: &[u8]| digits.iter().take_while(|&&digit| digit == b'0').count();
    let significant = &whole[skip(whole)..];
    let mut short = [0; SHORT_DIGITS_MAX];
    let long;
    let count = significant.len() + fraction.len();
    let digits = match short.get_mut(..count) {
        Some(digits) => {
            digits[..significant.len()].copy_from_slice(significant);
            digits[significant.len()..].copy_from_slice(fraction);
            &*digits
        }
        None => {
            long = [significant, fraction].concat();
            &long
        }
    };
    let leading = skip(digits);
    let digits = &digits[leading..];
    // The number is 0.DIGITS * 10^point.
    let point = (whole.len() - skip(whole)) as i64 - leading as i64 + exponent;
    if digits.is_empty() {
        let scale = (fraction.len() as i64 - exponent).clamp(0, i64::from(SCALE_MAX)) as u8;
        return (Decimal { scale, ..Decimal::ZERO }, false, false);
    }
    if point > i64::from(DIGITS_MAX) {
        return (Decimal::largest(DIGITS_MAX, 0, negative), true, false);
    }
    let wanted_scale = (digits.len() as i64 - point).max(0);
    let whole_digits = point.max(0);
    let scale = wanted_scale.min(i64::from(SCALE_MAX)).min(i64::from(DIGITS_MAX) - whole_digits);
    let kept = (point + scale).clamp(0, digits.len() as i64) as usize;
    let mut limbs = [0; 4];
    for digit in &digits[..kept] {
        limbs::multiply_small(&mut limbs, 10);
        limbs::add_small(&mut limbs, u64::from(digit - b'0'));
    }
    let padding = (point + scale - kept as i64).max(0);
    limbs::scale_up(&mut limbs, padding.min(77) as u32);
    let dropped = &digits[kept..];
    let first_dropped_counts = point + scale >= 0;
    if first_dropped_counts && dropped.first().is_some_and(|&digit| digit >= b'5') {
        limbs::add_small(&mut limbs, 1);
    }
    let truncated = dropped.iter().any(|&digit| digit != b'0');
    match Decimal::from_parts(negative, limbs, scale as u8) {
        Some(number) => (number, false, truncated),
        None => (Decimal::largest(DIGITS_MAX, 0, negative), true, truncated),
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = Vec::with_capacity(24);
        self.append_text(&mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}
