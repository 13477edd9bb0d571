//! DECIMAL(M,D): exact numbers of up to 65 digits. Main type: [`Decimal`].
//! The magnitude is binary, so that integers convert for free and most arithmetic is on one or two limbs.
//! Arithmetic is in `arithmetic`, text in `text`, other conversions in `convert`, limb helpers in `limbs`.

mod arithmetic;
mod convert;
mod limbs;
#[cfg(test)]
mod tests;
mod text;

pub use text::ParsedDecimal;

use arithmetic::small_power;
use std::cmp::Ordering;

/// Most digits of a number.
pub const DIGITS_MAX: u32 = 65;
/// Most digits after the point.
pub const SCALE_MAX: u8 = 30;

/// An exact decimal number: `(-1)^negative * magnitude / 10^scale`. Zero is never negative.
/// Equality, order and hash are by numeric value; the scale only decides how the number is shown.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    negative: bool,
    /// Digits after the point, at most [`SCALE_MAX`].
    scale: u8,
    /// The unscaled magnitude, least significant limb first; below 10^[`DIGITS_MAX`].
    limbs: [u64; 4],
}

/// Why an operation has no decimal result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecimalError {
    /// More than 65 digits, or more than the target type holds.
    Overflow,
    /// Division or remainder by zero (NULL in SQL, with warning 1365).
    DivisionByZero,
}

/// What happens to digits that do not fit the scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Half away from zero, as SQL rounds exact numbers.
    HalfUp,
    /// Cut (TRUNCATE).
    TowardZero,
    /// Towards minus infinity (FLOOR).
    Floor,
    /// Towards plus infinity (CEILING).
    Ceiling,
}

impl Decimal {
    /// Zero without fractional digits.
    pub const ZERO: Decimal = Decimal { negative: false, scale: 0, limbs: [0; 4] };

    /// The number from its parts; None when it has more than 65 digits.
    fn from_parts(negative: bool, limbs: [u64; 4], scale: u8) -> Option<Decimal> {
        debug_assert!(scale <= SCALE_MAX);
        if limbs::compare(&limbs, &limbs::TEN_TO_65) != Ordering::Less {
            return None;
        }
        Some(Decimal { negative: negative && limbs != [0; 4], scale, limbs })
    }

    /// The largest number of DECIMAL(precision, scale).
    pub fn largest(precision: u32, scale: u8, negative: bool) -> Decimal {
        let mut limbs = limbs::power_of_ten(precision.min(DIGITS_MAX));
        limbs::subtract_small(&mut limbs, 1);
        Decimal { negative: negative && limbs != [0; 4], scale: scale.min(SCALE_MAX), limbs }
    }

    /// Whether the number is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.limbs == [0; 4]
    }

    /// Digits after the point, trailing zeros included.
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// Digits before the point without leading zeros; 0 for numbers below one.
    pub fn integer_digits(&self) -> u32 {
        limbs::digits(&self.limbs).saturating_sub(u32::from(self.scale))
    }

    /// Digits in all, at least one and at least the scale.
    pub fn precision(&self) -> u32 {
        limbs::digits(&self.limbs).max(u32::from(self.scale)).max(1)
    }

    /// The number with its sign turned.
    pub fn negated(self) -> Decimal {
        Decimal { negative: !self.negative && !self.is_zero(), ..self }
    }

    /// The number without its sign.
    pub fn absolute(self) -> Decimal {
        Decimal { negative: false, ..self }
    }

    /// The number with exactly that many fractional digits (at most 30): zeros are added, digits rounded off.
    /// Fails only when the result has more than 65 digits.
    pub fn with_scale(self, scale: u8, rounding: Rounding) -> Result<Decimal, DecimalError> {
        let scale = scale.min(SCALE_MAX);
        let mut limbs = self.limbs;
        if scale >= self.scale {
            if !limbs::scale_up(&mut limbs, u32::from(scale - self.scale)) {
                return Err(DecimalError::Overflow);
            }
        } else {
            let dropped = limbs::scale_down(&mut limbs, u32::from(self.scale - scale));
            let away = match rounding {
                Rounding::HalfUp => dropped.half_or_more,
                Rounding::TowardZero => false,
                Rounding::Floor => dropped.not_zero && self.negative,
                Rounding::Ceiling => dropped.not_zero && !self.negative,
            };
            limbs::add_small(&mut limbs, u64::from(away));
        }
        Decimal::from_parts(self.negative, limbs, scale).ok_or(DecimalError::Overflow)
    }

    /// The number with as many fractional digits as the type says that it is of; as it is where it has too many digits for that.
    #[inline]
    pub fn shown_with(self, scale: u8) -> Decimal {
        if self.scale == scale {
            return self;
        }
        self.with_scale(scale, Rounding::HalfUp).unwrap_or(self)
    }

    /// The number with so many fractional digits at least.
    pub fn padded(self, scale: u8) -> Decimal {
        if self.scale < scale { self.shown_with(scale) } else { self }
    }

    /// ROUND or TRUNCATE to `digits` places, which may be negative (left of the point).
    pub fn rounded(self, digits: i64, rounding: Rounding) -> Result<Decimal, DecimalError> {
        if digits >= 0 {
            let scale = digits.min(i64::from(SCALE_MAX)) as u8;
            return if scale >= self.scale { Ok(self) } else { self.with_scale(scale, rounding) };
        }
        let places = digits.unsigned_abs().min(u64::from(DIGITS_MAX) + 1) as u32;
        let mut limbs = self.limbs;
        let dropped = limbs::scale_down(&mut limbs, u32::from(self.scale) + places);
        let away = match rounding {
            Rounding::HalfUp => dropped.half_or_more,
            Rounding::TowardZero => false,
            Rounding::Floor => dropped.not_zero && self.negative,
            Rounding::Ceiling => dropped.not_zero && !self.negative,
        };
        limbs::add_small(&mut limbs, u64::from(away));
        if !limbs::scale_up(&mut limbs, places) {
            return Err(DecimalError::Overflow);
        }
        Decimal::from_parts(self.negative, limbs, 0).ok_or(DecimalError::Overflow)
    }

    /// The number as DECIMAL(precision, scale), rounded half up; the largest number of that type and an
    /// error when it does not fit. The flag tells whether digits other than zero were dropped.
    pub fn fit(self, precision: u32, scale: u8) -> Result<(Decimal, bool), Decimal> {
        let too_large = Decimal::largest(precision, scale, self.negative);
        let rounded = self.with_scale(scale, Rounding::HalfUp).map_err(|_| too_large)?;
        if limbs::digits(&rounded.limbs) > precision {
            Err(too_large)
        } else {
            Ok((rounded, rounded != self))
        }
    }

    /// The shortest form of the same number: no trailing zeros after the point.
    pub fn normalized(self) -> Decimal {
        let mut number = self;
        while number.scale > 0 {
            let mut limbs = number.limbs;
            if limbs::divide_small(&mut limbs, 10) != 0 {
                break;
            }
            number = Decimal { limbs, scale: number.scale - 1, ..number };
        }
        number
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => compare_magnitudes(self, other),
            (true, true) => compare_magnitudes(other, self),
        }
    }
}

fn compare_magnitudes(a: &Decimal, b: &Decimal) -> Ordering {
    if a.scale == b.scale {
        return limbs::compare(&a.limbs, &b.limbs);
    }
    compare_small(a, b).unwrap_or_else(|| compare_wide(a, b))
}

fn compare_wide(a: &Decimal, b: &Decimal) -> Ordering {
    // 65 digits scaled by 10^30 take up to 316 bits.
    let widen = |number: &Decimal, digits: u8| {
        let mut wide = [0; 8];
        wide[..4].copy_from_slice(&number.limbs);
        limbs::scale_up(&mut wide, u32::from(digits));
        wide
    };
    let scale = a.scale.max(b.scale);
    limbs::compare(&widen(a, scale - a.scale), &widen(b, scale - b.scale))
}

/// The common case: magnitudes of one limb each.
#[inline]
fn compare_small(a: &Decimal, b: &Decimal) -> Option<Ordering> {
    let scale = a.scale.max(b.scale);
    let scaled = |number: &Decimal| Some(i128::from(number.one_limb()?) * small_power(scale - number.scale)?);
    Some(scaled(a)?.cmp(&scaled(b)?))
}

impl std::hash::Hash for Decimal {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let shortest = self.normalized();
        (shortest.negative, shortest.scale, shortest.limbs).hash(state);
    }
}
