//! The four operations and the remainder, with MySQL's scales.

use super::{Decimal, DecimalError, SCALE_MAX, limbs};
use std::cmp::Ordering;

/// Digits of a word of MySQL's exact numbers.
const WORD_DIGITS: u8 = 9;

/// 10^digits, if a limb times it is within i128 with a bit to spare.
#[inline]
pub(super) fn small_power(digits: u8) -> Option<i128> {
    (digits <= 18).then(|| i128::from(limbs::SMALL_POWERS[usize::from(digits)]))
}

/// A signed number of up to eight limbs between operation and rounding.
struct Wide {
    negative: bool,
    scale: u32,
    limbs: [u64; 8],
}

impl Wide {
    /// Rounds half up to at most 30 fractional digits.
    fn narrow(mut self) -> Result<Decimal, DecimalError> {
        if self.scale > u32::from(SCALE_MAX) {
            let dropped = limbs::scale_down(&mut self.limbs, self.scale - u32::from(SCALE_MAX));
            limbs::add_small(&mut self.limbs, u64::from(dropped.half_or_more));
            self.scale = u32::from(SCALE_MAX);
        }
        let (low, high) = self.limbs.split_at(4);
        if high.iter().any(|&limb| limb != 0) {
            return Err(DecimalError::Overflow);
        }
        let low = [low[0], low[1], low[2], low[3]];
        Decimal::from_parts(self.negative, low, self.scale as u8).ok_or(DecimalError::Overflow)
    }
}

fn widen(number: &Decimal, scale: u8) -> [u64; 8] {
    let mut wide = [0; 8];
    wide[..4].copy_from_slice(&number.limbs);
    limbs::scale_up(&mut wide, u32::from(scale - number.scale));
    wide
}

impl Decimal {
    /// The sum; its scale is the larger of the two.
    pub fn add(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        self.add_small(other).map_or_else(|| self.add_wide(other), Ok)
    }

    pub(super) fn add_wide(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        let scale = self.scale.max(other.scale);
        let (mut a, mut b) = (widen(self, scale), widen(other, scale));
        let mut negative = self.negative;
        if self.negative == other.negative {
            limbs::add(&mut a, &b);
        } else if limbs::compare(&a, &b) != Ordering::Less {
            limbs::subtract(&mut a, &b);
        } else {
            limbs::subtract(&mut b, &a);
            a = b;
            negative = other.negative;
        }
        Wide { negative, scale: u32::from(scale), limbs: a }.narrow()
    }

    /// The common case of a sum: two limbs each of one scale, or one limb each.
    #[inline]
    pub(super) fn add_small(&self, other: &Decimal) -> Option<Decimal> {
        if self.scale == other.scale {
            let sum = self.unscaled_i128()?.checked_add(other.unscaled_i128()?)?;
            return Decimal::from_i128(sum, self.scale);
        }
        let scale = self.scale.max(other.scale);
        let signed = |number: &Decimal| {
            let magnitude = i128::from(number.one_limb()?) * small_power(scale - number.scale)?;
            Some(if number.negative { -magnitude } else { magnitude })
        };
        Decimal::from_i128(signed(self)? + signed(other)?, scale)
    }

    /// The difference; its scale is the larger of the two.
    pub fn subtract(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        self.add(&other.negated())
    }

    /// The product; its scale is the sum of the two, at most 30.
    pub fn multiply(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        self.multiply_small(other).map_or_else(|| self.multiply_wide(other), Ok)
    }

    pub(super) fn multiply_wide(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        Wide {
            negative: self.negative != other.negative,
            scale: u32::from(self.scale) + u32::from(other.scale),
            limbs: limbs::multiply(&self.limbs, &other.limbs),
        }
        .narrow()
    }

    /// The common case of a product: one limb each, and no digits to round.
    #[inline]
    pub(super) fn multiply_small(&self, other: &Decimal) -> Option<Decimal> {
        let scale = self.scale + other.scale;
        let product = u128::from(self.one_limb()?) * u128::from(other.one_limb()?);
        (scale <= SCALE_MAX).then_some(Decimal {
            negative: self.negative != other.negative && product != 0,
            scale,
            limbs: [product as u64, (product >> 64) as u64, 0, 0],
        })
    }

    /// The unscaled magnitude, if it takes one limb.
    #[inline]
    pub(super) fn one_limb(&self) -> Option<u64> {
        let [low, high @ ..] = self.limbs;
        (high == [0; 3]).then_some(low)
    }

    /// The quotient as MySQL's `/` and AVG compute it. Their numbers are words of nine digits: the quotient has as many behind the
    /// point as both operands have, or more for `increment` digits beyond their own, and is cut there.
    pub fn divide(&self, other: &Decimal, increment: u8) -> Result<Decimal, DecimalError> {
        let in_words = |digits: u8| digits.div_ceil(WORD_DIGITS) * WORD_DIGITS;
        let (left, right) = (in_words(self.scale), in_words(other.scale));
        let spare = left - self.scale + (right - other.scale);
        let scale = in_words(left + right + increment.saturating_sub(spare));
        if scale > SCALE_MAX {
            return self.divide_to_scale(other, SCALE_MAX);
        }
        self.quotient(other, scale)?.narrow()
    }

    /// The quotient with `scale` fractional digits (at most 30), rounded half up.
    pub fn divide_to_scale(&self, other: &Decimal, scale: u8) -> Result<Decimal, DecimalError> {
        // One more digit decides the rounding.
        let mut wide = self.quotient(other, scale.min(SCALE_MAX) + 1)?;
        let dropped = limbs::scale_down(&mut wide.limbs, 1);
        limbs::add_small(&mut wide.limbs, u64::from(dropped.half_or_more));
        wide.scale -= 1;
        wide.narrow()
    }

    /// The quotient, cut behind so many fractional digits.
    fn quotient(&self, other: &Decimal, scale: u8) -> Result<Wide, DecimalError> {
        if other.is_zero() {
            return Err(DecimalError::DivisionByZero);
        }
        let mut dividend = [0; 8];
        dividend[..4].copy_from_slice(&self.limbs);
        // quotient = a / 10^sa / (b / 10^sb) * 10^scale
        let shift = i32::from(scale) + i32::from(other.scale) - i32::from(self.scale);
        if shift >= 0 {
            limbs::scale_up(&mut dividend, shift as u32);
        } else {
            limbs::scale_down(&mut dividend, shift.unsigned_abs());
        }
        limbs::divide(&mut dividend, &other.limbs);
        Ok(Wide { negative: self.negative != other.negative, scale: u32::from(scale), limbs: dividend })
    }

    /// The integer part of the quotient (DIV).
    pub fn divide_to_integer(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        if other.is_zero() {
            return Err(DecimalError::DivisionByZero);
        }
        let scale = self.scale.max(other.scale);
        let (mut dividend, divisor) = (widen(self, scale), widen(other, scale));
        limbs_divide_wide(&mut dividend, &divisor);
        Wide { negative: self.negative != other.negative, scale: 0, limbs: dividend }.narrow()
    }

    /// The remainder, with the sign of the dividend and the larger of the two scales.
    pub fn remainder(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        if other.is_zero() {
            return Err(DecimalError::DivisionByZero);
        }
        let scale = self.scale.max(other.scale);
        let (mut dividend, divisor) = (widen(self, scale), widen(other, scale));
        let remainder = limbs_divide_wide(&mut dividend, &divisor);
        Wide { negative: self.negative, scale: u32::from(scale), limbs: remainder }.narrow()
    }
}

/// Divides in place; returns the remainder. A divisor beyond four limbs exceeds what is worth a long
/// division: the quotient is then found by repeated halving steps of a shift-and-subtract loop.
fn limbs_divide_wide(dividend: &mut [u64; 8], divisor: &[u64; 8]) -> [u64; 8] {
    let mut remainder = [0; 8];
    if divisor[4..].iter().all(|&limb| limb == 0) {
        let low = [divisor[0], divisor[1], divisor[2], divisor[3]];
        remainder[..4].copy_from_slice(&limbs::divide(dividend, &low));
        return remainder;
    }
    let mut quotient = [0u64; 8];
    for bit in (0..512).rev() {
        let carry_in = dividend[bit / 64] >> (bit % 64) & 1;
        let doubled = remainder;
        limbs::add(&mut remainder, &doubled);
        remainder[0] |= carry_in;
        if limbs::compare(&remainder, divisor) != Ordering::Less {
            limbs::subtract(&mut remainder, divisor);
            quotient[bit / 64] |= 1 << (bit % 64);
        }
    }
    *dividend = quotient;
    remainder
}
