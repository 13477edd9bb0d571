//! Conversions between [`Decimal`], integers, floats and the stored form.

use super::{Decimal, DecimalError, Rounding, SCALE_MAX, limbs};
use crate::number::decimals_if_between;

impl From<i64> for Decimal {
    fn from(number: i64) -> Decimal {
        Decimal { negative: number < 0, scale: 0, limbs: [number.unsigned_abs(), 0, 0, 0] }
    }
}

impl From<u64> for Decimal {
    fn from(number: u64) -> Decimal {
        Decimal { negative: false, scale: 0, limbs: [number, 0, 0, 0] }
    }
}

impl Decimal {
    /// `unscaled / 10^scale`; None only for a scale above 30.
    pub fn from_i128(unscaled: i128, scale: u8) -> Option<Decimal> {
        if scale > SCALE_MAX {
            return None;
        }
        let magnitude = unscaled.unsigned_abs();
        Some(Decimal {
            negative: unscaled < 0,
            scale,
            limbs: [magnitude as u64, (magnitude >> 64) as u64, 0, 0],
        })
    }

    /// The unscaled number, if it fits.
    pub fn unscaled_i128(&self) -> Option<i128> {
        if self.limbs[2] | self.limbs[3] != 0 || self.limbs[1] >> 63 != 0 {
            return None;
        }
        let magnitude = (u128::from(self.limbs[1]) << 64 | u128::from(self.limbs[0])) as i128;
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// The nearest integer (half away from zero); the nearest bound in the error when out of range.
    pub fn to_i64(&self, rounding: Rounding) -> Result<i64, i64> {
        let bound = if self.negative { i64::MIN } else { i64::MAX };
        let whole = self.with_scale(0, rounding).map_err(|_| bound)?;
        whole.unscaled_i128().and_then(|number| i64::try_from(number).ok()).ok_or(bound)
    }

    /// The nearest unsigned integer (half away from zero); the nearest bound in the error when out of range.
    pub fn to_u64(&self, rounding: Rounding) -> Result<u64, u64> {
        let bound = if self.negative { 0 } else { u64::MAX };
        let whole = self.with_scale(0, rounding).map_err(|_| bound)?;
        whole.unscaled_i128().and_then(|number| u64::try_from(number).ok()).ok_or(bound)
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        const EXACT_MAX: u64 = 1 << 53;
        if self.limbs[0] <= EXACT_MAX
            && self.limbs[1] | self.limbs[2] | self.limbs[3] == 0
            && self.scale <= 22
        {
            // Both operands are exact, so the one division rounds correctly.
            let magnitude = self.limbs[0] as f64 / 10f64.powi(i32::from(self.scale));
            return if self.negative { -magnitude } else { magnitude };
        }
        self.to_string().parse().unwrap_or(0.0)
    }

    /// The decimal that the double's shortest text names, as MySQL converts; an error beyond 65 digits and
    /// for infinities.
    pub fn from_f64(number: f64) -> Result<Decimal, DecimalError> {
        if !number.is_finite() {
            return Err(DecimalError::Overflow);
        }
        let text = match decimals_if_between(number) {
            None => format!("{number:e}"),
            Some(decimals) => format!("{number:.decimals$e}"),
        };
        let parsed = Decimal::parse(text.as_bytes());
        if parsed.overflow { Err(DecimalError::Overflow) } else { Ok(parsed.number) }
    }

    /// Writes the number with `scale` fractional digits as a two's complement little-endian integer of
    /// `out.len()` bytes (at most 32). None when digits other than zero would be lost or it does not fit.
    pub(crate) fn write_le_bytes(&self, scale: u8, out: &mut [u8]) -> Option<()> {
        let exact =
            if self.scale == scale { *self } else { self.with_scale(scale, Rounding::TowardZero).ok()? };
        if exact.scale != scale || (self.scale > scale && exact != *self) {
            return None;
        }
        let mut limbs = exact.limbs;
        if exact.negative {
            limbs.iter_mut().for_each(|limb| *limb = !*limb);
            limbs::add_small(&mut limbs, 1);
        }
        let mut bytes = [0; 32];
        for (chunk, limb) in bytes.chunks_exact_mut(8).zip(limbs) {
            chunk.copy_from_slice(&limb.to_le_bytes());
        }
        let (kept, dropped) = bytes.split_at(out.len().min(32));
        let extension = if exact.negative { 0xff } else { 0 };
        let sign_agrees = kept.last().is_none_or(|&byte| (byte & 0x80 != 0) == exact.negative);
        if !sign_agrees || dropped.iter().any(|&byte| byte != extension) {
            return None;
        }
        out.copy_from_slice(kept);
        Some(())
    }

    /// The number in a two's complement little-endian integer of up to 32 bytes. A damaged number beyond 65
    /// digits reads as the largest one.
    pub(crate) fn from_le_bytes(raw: &[u8], scale: u8) -> Decimal {
        let scale = scale.min(SCALE_MAX);
        if raw.len() <= 8 {
            let number = crate::packed::signed(raw);
            return Decimal { negative: number < 0, scale, limbs: [number.unsigned_abs(), 0, 0, 0] };
        }
        let raw = &raw[..raw.len().min(32)];
        let negative = raw.last().is_some_and(|&byte| byte & 0x80 != 0);
        let mut bytes = [if negative { 0xff } else { 0 }; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        let mut limbs = [0; 4];
        for (limb, chunk) in limbs.iter_mut().zip(bytes.chunks_exact(8)) {
            *limb = crate::packed::unsigned(chunk);
        }
        if negative {
            limbs.iter_mut().for_each(|limb| *limb = !*limb);
            limbs::add_small(&mut limbs, 1);
        }
        Decimal::from_parts(negative, limbs, scale)
            .unwrap_or_else(|| Decimal::largest(super::DIGITS_MAX, scale, negative))
    }
}
