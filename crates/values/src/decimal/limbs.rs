//! Unsigned integers of a few 64-bit limbs, least significant first, as plain slices.
//! Only what [`super::Decimal`] needs; every function is total.

use std::cmp::Ordering;

/// 10^65: the first magnitude that is too large.
pub(super) const TEN_TO_65: [u64; 4] = const_power_of_ten(65);

/// Powers of ten that fit one limb.
pub(super) const SMALL_POWERS: [u64; 20] = {
    let mut powers = [1u64; 20];
    let mut at = 1;
    while at < 20 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

const fn const_power_of_ten(exponent: u32) -> [u64; 4] {
    let mut limbs = [1, 0, 0, 0];
    let mut done = 0;
    while done < exponent {
        let mut carry = 0u128;
        let mut at = 0;
        while at < 4 {
            let product = limbs[at] as u128 * 10 + carry;
            limbs[at] = product as u64;
            carry = product >> 64;
            at += 1;
        }
        done += 1;
    }
    limbs
}

/// What a division by a power of ten dropped.
#[derive(Clone, Copy, Default)]
pub(super) struct Dropped {
    pub not_zero: bool,
    pub half_or_more: bool,
}

pub(super) fn compare(a: &[u64], b: &[u64]) -> Ordering {
    debug_assert_eq!(a.len(), b.len());
    a.iter().rev().cmp(b.iter().rev())
}

/// Adds; returns whether it overflowed.
pub(super) fn add(a: &mut [u64], b: &[u64]) -> bool {
    let mut carry = false;
    for (limb, &other) in a.iter_mut().zip(b) {
        let (sum, first) = limb.overflowing_add(other);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        *limb = sum;
        carry = first || second;
    }
    carry
}

/// Subtracts a number that is not greater.
pub(super) fn subtract(a: &mut [u64], b: &[u64]) {
    let mut borrow = false;
    for (limb, &other) in a.iter_mut().zip(b) {
        let (difference, first) = limb.overflowing_sub(other);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        *limb = difference;
        borrow = first || second;
    }
    debug_assert!(!borrow);
}

pub(super) fn add_small(a: &mut [u64], number: u64) {
    let mut carry = number;
    for limb in a {
        let (sum, overflow) = limb.overflowing_add(carry);
        *limb = sum;
        carry = u64::from(overflow);
        if carry == 0 {
            return;
        }
    }
}

pub(super) fn subtract_small(a: &mut [u64], number: u64) {
    let mut borrow = number;
    for limb in a {
        let (difference, underflow) = limb.overflowing_sub(borrow);
        *limb = difference;
        borrow = u64::from(underflow);
    }
}

/// Multiplies; returns the carry out of the highest limb.
pub(super) fn multiply_small(a: &mut [u64], factor: u64) -> u64 {
    let mut carry = 0u64;
    for limb in a {
        let product = u128::from(*limb) * u128::from(factor) + u128::from(carry);
        *limb = product as u64;
        carry = (product >> 64) as u64;
    }
    carry
}

/// Divides by a number that is not zero; returns the remainder.
pub(super) fn divide_small(a: &mut [u64], divisor: u64) -> u64 {
    let mut remainder = 0u64;
    for limb in a.iter_mut().rev() {
        if remainder == 0 && *limb < divisor {
            remainder = *limb;
            *limb = 0;
            continue;
        }
        let dividend = u128::from(remainder) << 64 | u128::from(*limb);
        *limb = (dividend / u128::from(divisor)) as u64;
        remainder = (dividend % u128::from(divisor)) as u64;
    }
    remainder
}

/// Multiplies by a power of ten; false when the limbs overflow (the content is then meaningless).
pub(super) fn scale_up(a: &mut [u64], mut digits: u32) -> bool {
    while digits > 0 {
        let step = digits.min(19);
        if multiply_small(a, SMALL_POWERS[step as usize]) != 0 {
            return false;
        }
        digits -= step;
    }
    true
}

/// Divides by a power of ten and tells what was dropped.
pub(super) fn scale_down(a: &mut [u64], mut digits: u32) -> Dropped {
    let mut dropped = Dropped::default();
    while digits > 0 {
        let step = digits.min(19);
        let power = SMALL_POWERS[step as usize];
        let remainder = divide_small(a, power);
        // Only the step with the highest dropped digits decides about the half.
        dropped.half_or_more = remainder >= power / 2;
        dropped.not_zero |= remainder != 0;
        digits -= step;
    }
    dropped
}

/// 10^exponent; the exponent is at most 76.
pub(super) fn power_of_ten(exponent: u32) -> [u64; 4] {
    let mut limbs = [1, 0, 0, 0];
    scale_up(&mut limbs, exponent.min(76));
    limbs
}

/// Decimal digits without leading zeros; 0 for zero.
pub(super) fn digits(a: &[u64]) -> u32 {
    let mut rest = [0; 8];
    rest[..a.len()].copy_from_slice(a);
    let mut digits = 0;
    while rest[1..].iter().any(|&limb| limb != 0) {
        divide_small(&mut rest, SMALL_POWERS[19]);
        digits += 19;
    }
    if rest[0] == 0 && digits == 0 { 0 } else { digits + rest[0].checked_ilog10().map_or(0, |log| log + 1) }
}

/// The full product.
pub(super) fn multiply(a: &[u64; 4], b: &[u64; 4]) -> [u64; 8] {
    let mut product = [0u64; 8];
    for (shift, &factor) in b.iter().enumerate().filter(|(_, factor)| **factor != 0) {
        let mut carry = 0u128;
        for (at, &limb) in a.iter().enumerate() {
            let sum = u128::from(limb) * u128::from(factor) + u128::from(product[shift + at]) + carry;
            product[shift + at] = sum as u64;
            carry = sum >> 64;
        }
        product[shift + 4] = carry as u64;
    }
    product
}

/// Divides in place by a number that is not zero; returns the remainder.
pub(super) fn divide(dividend: &mut [u64; 8], divisor: &[u64; 4]) -> [u64; 4] {
    let divisor_limbs = 4 - divisor.iter().rev().take_while(|&&limb| limb == 0).count();
    if divisor_limbs <= 1 {
        return [divide_small(dividend, divisor[0].max(1)), 0, 0, 0];
    }
    divide_long(dividend, &divisor[..divisor_limbs])
}

/// Schoolbook division in base 2^64 (Knuth, volume 2, algorithm D) by a divisor of two limbs or more.
fn divide_long(dividend: &mut [u64; 8], divisor: &[u64]) -> [u64; 4] {
    let limbs = divisor.len();
    let shift = divisor[limbs - 1].leading_zeros();
    let mut v = [0u64; 4];
    v[..limbs].copy_from_slice(divisor);
    shift_left(&mut v[..limbs], shift);
    let mut u = [0u64; 9];
    u[..8].copy_from_slice(dividend);
    shift_left(&mut u, shift);
    for at in (0..=8 - limbs).rev() {
        let digit = quotient_digit(&mut u[at..=at + limbs], &v[..limbs]);
        dividend[at.min(7)] = digit;
    }
    dividend[9 - limbs..].fill(0);
    let mut remainder = [0u64; 4];
    remainder[..limbs].copy_from_slice(&u[..limbs]);
    shift_right(&mut remainder, shift);
    remainder
}

/// One quotient digit; `u` (one limb longer than `v`) becomes the remainder.
fn quotient_digit(u: &mut [u64], v: &[u64]) -> u64 {
    let n = v.len();
    let high = u128::from(u[n]) << 64 | u128::from(u[n - 1]);
    let mut estimate = high / u128::from(v[n - 1]);
    let mut rest = high % u128::from(v[n - 1]);
    while estimate >> 64 != 0 || estimate * u128::from(v[n - 2]) > (rest << 64 | u128::from(u[n - 2])) {
        estimate -= 1;
        rest += u128::from(v[n - 1]);
        if rest >> 64 != 0 {
            break;
        }
    }
    let mut digit = estimate as u64;
    if subtract_multiple(u, v, digit) {
        digit -= 1;
        let carry = add(&mut u[..n], v);
        u[n] = u[n].wrapping_add(u64::from(carry));
    }
    digit
}

/// `u -= v * digit`; returns whether it went below zero.
fn subtract_multiple(u: &mut [u64], v: &[u64], digit: u64) -> bool {
    let mut carry = 0u64;
    let mut borrow = false;
    for (at, limb) in u.iter_mut().enumerate() {
        let factor = v.get(at).copied().unwrap_or(0);
        let product = u128::from(factor) * u128::from(digit) + u128::from(carry);
        carry = (product >> 64) as u64;
        let (difference, first) = limb.overflowing_sub(product as u64);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        *limb = difference;
        borrow = first || second;
    }
    borrow
}

fn shift_left(a: &mut [u64], bits: u32) {
    if bits == 0 {
        return;
    }
    for at in (0..a.len()).rev() {
        let lower = if at == 0 { 0 } else { a[at - 1] >> (64 - bits) };
        a[at] = a[at] << bits | lower;
    }
}

fn shift_right(a: &mut [u64], bits: u32) {
    if bits == 0 {
        return;
    }
    for at in 0..a.len() {
        let higher = a.get(at + 1).map_or(0, |limb| limb << (64 - bits));
        a[at] = a[at] >> bits | higher;
    }
}
