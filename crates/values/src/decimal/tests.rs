//! Arithmetic against a plain big-integer model, parsing, printing, and cases recorded from MySQL 9.7.4.

use super::*;
use proptest::prelude::*;

fn decimal(text: &str) -> Decimal {
    let parsed = Decimal::parse(text.as_bytes());
    assert_eq!((parsed.length, parsed.overflow), (text.len(), false), "{text}");
    parsed.number
}

/// A number of up to 38 digits as an i128 and a scale: small enough that the model never overflows.
fn small() -> impl Strategy<Value = (i128, u8)> {
    (prop_oneof![any::<i64>().prop_map(i128::from), -1000i128..1000], 0u8..12)
}

/// A number of one or two limbs, also at their borders, of any scale.
fn few_limbs() -> impl Strategy<Value = Decimal> {
    let limb = || prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(1 << 63), any::<u64>()];
    let high = prop_oneof![4 => Just(0), 1 => limb()];
    (any::<bool>(), limb(), high, 0..=SCALE_MAX).prop_map(|(negative, low, high, scale)| {
        Decimal::from_parts(negative, [low, high, 0, 0], scale).unwrap()
    })
}

fn scaled((unscaled, scale): (i128, u8), to: u8) -> i128 {
    unscaled * 10i128.pow(u32::from(to - scale))
}

fn rounded_quotient(dividend: i128, divisor: i128) -> i128 {
    let doubled = dividend.unsigned_abs() * 2 / divisor.unsigned_abs();
    let magnitude = (doubled as i128 + 1) / 2;
    if (dividend < 0) != (divisor < 0) { -magnitude } else { magnitude }
}

proptest! {
    #[test]
    fn small_arithmetic_is_integer_arithmetic(x in small(), y in small()) {
        let (a, b) = (Decimal::from_i128(x.0, x.1).unwrap(), Decimal::from_i128(y.0, y.1).unwrap());
        let scale = x.1.max(y.1);
        let (p, q) = (scaled(x, scale), scaled(y, scale));
        let expect = |number: i128, scale: u8| Decimal::from_i128(number, scale).unwrap();
        let same = |left: Decimal, right: Decimal| left == right && left.scale() == right.scale();
        prop_assert!(same(a.add(&b).unwrap(), expect(p + q, scale)));
        prop_assert!(same(a.subtract(&b).unwrap(), expect(p - q, scale)));
        prop_assert!(same(a.multiply(&b).unwrap(), expect(x.0 * y.0, x.1 + y.1)));
        prop_assert_eq!(a.cmp(&b), p.cmp(&q));
        if y.0 != 0 {
            prop_assert!(same(a.remainder(&b).unwrap(), expect(p % q, scale)));
            prop_assert_eq!(a.divide_to_integer(&b).unwrap(), expect(p / q, 0));
        }
    }

    #[test]
    fn the_ways_of_few_limbs_are_the_general_one(a in few_limbs(), b in few_limbs()) {
        let same = |small: Decimal, wide: Decimal| {
            (small.negative, small.scale, small.limbs) == (wide.negative, wide.scale, wide.limbs)
        };
        prop_assert!(a.add_small(&b).is_none_or(|sum| same(sum, a.add_wide(&b).unwrap())));
        prop_assert!(a.multiply_small(&b).is_none_or(|product| same(product, a.multiply_wide(&b).unwrap())));
        prop_assert!(compare_small(&a, &b).is_none_or(|order| order == compare_wide(&a, &b)));
    }

    #[test]
    fn quotients_are_rounded(x in -1_000_000_000i128..1_000_000_000, y in 1i128..1_000_000, scale in 0u8..8) {
        let quotient = Decimal::from_i128(x, 0).unwrap().divide_to_scale(&Decimal::from_i128(y, 0).unwrap(), scale).unwrap();
        let expected = rounded_quotient(x * 10i128.pow(u32::from(scale)), y);
        prop_assert_eq!(quotient, Decimal::from_i128(expected, scale).unwrap());
    }

    /// a = q * b + r with |r| < |b|, for operands of up to 65 digits.
    #[test]
    fn long_division_reverses(a in "[1-9][0-9]{0,64}", b in "[1-9][0-9]{0,40}") {
        let (a, b) = (decimal(&a), decimal(&b));
        let (quotient, remainder) = (a.divide_to_integer(&b).unwrap(), a.remainder(&b).unwrap());
        prop_assert!(remainder < b);
        prop_assert_eq!(quotient.multiply(&b).unwrap().add(&remainder).unwrap(), a);
    }

    #[test]
    fn text_and_stored_form_round_trip(sign in "-?", whole in "[1-9][0-9]{0,34}", fraction in "[0-9]{0,30}") {
        let text = if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") };
        let number = decimal(&text);
        prop_assert_eq!(number.to_string(), text);
        let mut raw = [0; 32];
        number.write_le_bytes(number.scale(), &mut raw).unwrap();
        let back = Decimal::from_le_bytes(&raw, number.scale());
        prop_assert_eq!(back, number);
    }

    #[test]
    fn any_text_is_taken(text in prop::collection::vec(any::<u8>(), 0..30), number in "[-+]?[0-9]{0,70}\\.?[0-9]{0,70}(e[-+]?[0-9]{1,3})?") {
        Decimal::parse(&text);
        let parsed = Decimal::parse(number.as_bytes());
        let _ = parsed.number.to_string();
        let _ = parsed.number.rounded(-70, Rounding::HalfUp);
    }
}

#[test]
fn rounding_by_mode() {
    for (text, digits, half_up, toward_zero, floor, ceiling) in [
        ("1.5", 0, "2", "1", "1", "2"),
        ("-1.5", 0, "-2", "-1", "-2", "-1"),
        ("1.45", 1, "1.5", "1.4", "1.4", "1.5"),
        ("-0.4", 0, "0", "0", "-1", "0"),
        ("155", -1, "160", "150", "150", "160"),
        ("-155", -3, "0", "0", "-1000", "0"),
        ("12.34", 5, "12.34", "12.34", "12.34", "12.34"),
    ] {
        let number = decimal(text);
        let shown = |rounding| number.rounded(digits, rounding).unwrap().to_string();
        assert_eq!(shown(Rounding::HalfUp), half_up);
        assert_eq!(shown(Rounding::TowardZero), toward_zero);
        assert_eq!(shown(Rounding::Floor), floor);
        assert_eq!(shown(Rounding::Ceiling), ceiling);
    }
}

#[test]
fn text_is_read_by_its_longest_prefix() {
    let read = |text: &str| {
        let parsed = Decimal::parse(text.as_bytes());
        (parsed.number.to_string(), parsed.length)
    };
    assert_eq!(read(" -12.50x"), ("-12.50".to_owned(), 7));
    assert_eq!(read("1e3"), ("1000".to_owned(), 3));
    assert_eq!(read("1.5e-3"), ("0.0015".to_owned(), 6));
    assert_eq!(read("1e"), ("1".to_owned(), 1));
    assert_eq!(read(".5"), ("0.5".to_owned(), 2));
    assert_eq!(read("abc"), ("0".to_owned(), 0));
    assert_eq!(read("-0"), ("0".to_owned(), 2));
    assert!(Decimal::parse(b"1e65").overflow);
    assert!(!Decimal::parse(b"1e64").overflow);
}

/// Recorded from MySQL 9.7.4: the numbers as they are multiplied on, and the last digit of 1.00000/7.
#[test]
fn quotients_are_cut_behind_whole_words() {
    for (a, b, quotient) in [
        ("2", "3", "0.666666666"),
        ("1.0", "7", "0.142857142"),
        ("1.00000", "7", "0.142857142"),
        ("2.000000", "3", "0.666666666666666666"),
        ("1.00000", "7.0", "0.142857142857142857"),
        ("-2", "3", "-0.666666666"),
    ] {
        assert_eq!(decimal(a).divide(&decimal(b), 4).unwrap().to_string(), quotient);
    }
    assert_eq!(decimal("2").divide_to_scale(&decimal("3"), 4).unwrap().to_string(), "0.6667");
    assert_eq!(decimal("1").divide(&Decimal::ZERO, 4), Err(DecimalError::DivisionByZero));
    assert_eq!(decimal("1").shown_with(2).to_string(), "1.00");
    assert_eq!(decimal("0.666666666").shown_with(4).to_string(), "0.6667");
    assert_eq!(Decimal::largest(65, 0, false).shown_with(2), Decimal::largest(65, 0, false));
}

#[test]
fn limits_and_conversions() {
    let largest = Decimal::largest(65, 0, false);
    assert_eq!(largest.add(&Decimal::from(1u64)), Err(DecimalError::Overflow));
    assert_eq!(largest.multiply(&Decimal::from(10u64)), Err(DecimalError::Overflow));
    assert_eq!(Decimal::largest(4, 2, true).to_string(), "-99.99");
    assert_eq!(decimal("12.345").fit(4, 2), Ok((decimal("12.35"), true)));
    assert_eq!(decimal("123.4").fit(4, 2), Err(decimal("99.99")));
    assert_eq!(decimal("2.5").to_i64(Rounding::HalfUp), Ok(3));
    assert_eq!(decimal("9223372036854775808").to_i64(Rounding::HalfUp), Err(i64::MAX));
    assert_eq!(decimal("-1").to_u64(Rounding::HalfUp), Err(0));
    assert_eq!(Decimal::from_f64(1.5e-7).unwrap().to_string(), "0.00000015");
    assert_eq!(Decimal::from_f64(1e20).unwrap().to_string(), "100000000000000000000");
    assert_eq!(decimal("123456789012345678901234567890.5").to_f64(), 1.2345678901234568e29);
    assert_eq!((decimal("0.05").integer_digits(), decimal("0.05").precision()), (0, 2));
    assert_eq!(decimal("1.500").normalized().to_string(), "1.5");
}
