//! JSON numbers of all types in one exact order: [`Number`], and its bytes, [`NumberKey`].

use crate::decimal::Decimal;
use crate::number;
use std::cmp::Ordering;

/// A number of any JSON type.
#[derive(Clone, Copy)]
pub(super) enum Number {
    /// Of 64 bits with or without a sign.
    Int(i128),
    Double(f64),
    Decimal(Decimal),
}

/// Integers below that are shown with all their digits as doubles too.
const DOUBLE_EXACT_MAX: u128 = 1 << 53;

/// The order of two numbers. A double is the decimal number that it is shown as: MySQL holds 4611686018427387904 to be less
/// than itself as a double, which is 4.611686018427388e18.
pub(super) fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    let by_keys = || NumberKey::of(a).bytes().cmp(NumberKey::of(b).bytes());
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(b),
        (Number::Double(a), Number::Double(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Number::Decimal(a), Number::Decimal(b)) => a.cmp(b),
        (Number::Int(integer), Number::Double(double)) => {
            by_double(*integer, *double).unwrap_or_else(by_keys)
        }
        (Number::Double(double), Number::Int(integer)) => {
            by_double(*integer, *double).map_or_else(by_keys, Ordering::reverse)
        }
        _ => by_keys(),
    }
}

/// The order of an integer and a double as doubles; None if that does not tell.
fn by_double(integer: i128, double: f64) -> Option<Ordering> {
    let order = (integer as f64).partial_cmp(&double)?;
    (order.is_ne() || integer.unsigned_abs() <= DOUBLE_EXACT_MAX).then_some(order)
}

/// A sign, two exponents, 33 pairs of digits and an end.
const KEY_BYTES_MAX: usize = 40;

/// A number as bytes that order and are equal as the numbers: the sign (0, 1 for zero, 2), then for 0.DIGITS * 10^POINT the
/// point with 0x4000 added, the digits as bytes of 1 to 100 for two digits each, and 0. All behind the sign is inverted for
/// numbers below zero. No key is the beginning of another.
pub(super) struct NumberKey {
    bytes: [u8; KEY_BYTES_MAX],
    length: usize,
}

const BELOW_ZERO: u8 = 0;
const ZERO: u8 = 1;
const ABOVE_ZERO: u8 = 2;

impl NumberKey {
    pub(super) fn of(value: &Number) -> NumberKey {
        let mut text = Vec::with_capacity(80);
        match value {
            Number::Int(integer) => {
                if *integer < 0 {
                    text.push(b'-');
                }
                number::append_u64(integer.unsigned_abs() as u64, &mut text);
            }
            Number::Double(double) => number::append_f64(*double, &mut text),
            Number::Decimal(decimal) => decimal.append_text(&mut text),
        }
        NumberKey::of_text(&text)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(&[])
    }

    /// The key of a number's text: `[-]digits[.digits][e[-]digits]`.
    fn of_text(text: &[u8]) -> NumberKey {
        let (negative, text) = match text.split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, text),
        };
        let exponent_at = text.iter().position(|&byte| byte == b'e').unwrap_or(text.len());
        let (digits, exponent) = text.split_at(exponent_at);
        let exponent = number::parse_integer(exponent.get(1..).unwrap_or(&[])).to_i64().unwrap_or(0);
        let point = digits.iter().position(|&byte| byte == b'.').unwrap_or(digits.len());
        let is_zero = |byte: &u8| matches!(byte, b'0' | b'.');
        let leading = digits.iter().take_while(|byte| is_zero(byte)).count();
        let trailing = digits.iter().rev().take_while(|byte| is_zero(byte)).count();
        let mut key = NumberKey { bytes: [0; KEY_BYTES_MAX], length: 0 };
        let Some(significant) = digits.get(leading..digits.len().saturating_sub(trailing)) else {
            key.push(ZERO);
            return key;
        };
        // Zeros behind the point move it to the left; the point itself, if it is skipped, is none of them.
        let skipped = leading as i64 - i64::from(leading > point);
        let position = point as i64 - skipped + exponent;
        key.push(if negative { BELOW_ZERO } else { ABOVE_ZERO });
        let biased = (position + 0x4000).clamp(0, 0x7fff) as u16;
        biased.to_be_bytes().into_iter().for_each(|byte| key.push(byte));
        let mut digits = significant.iter().filter(|byte| **byte != b'.').map(|byte| byte.wrapping_sub(b'0'));
        while let Some(high) = digits.next() {
            key.push(high * 10 + digits.next().unwrap_or(0) + 1);
        }
        key.push(0);
        if negative {
            key.bytes.iter_mut().take(key.length).skip(1).for_each(|byte| *byte = !*byte);
        }
        key
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }
}
