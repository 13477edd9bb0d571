//! ROUND and TRUNCATE to decimal places; negative places are before the point.

/// Rounds to even at exact halves, as the processor does.
pub fn round_double(number: f64, digits: i64, truncates: bool) -> f64 {
    let unit = 10f64.powi(digits.unsigned_abs() as i32);
    let to_whole = |x: f64| if truncates { x.trunc() } else { x.round_ties_even() };
    if digits < 0 {
        if unit.is_infinite() { 0.0 } else { to_whole(number / unit) * unit }
    } else {
        let scaled = number * unit;
        if scaled.is_finite() && unit.is_finite() { to_whole(scaled) / unit } else { number }
    }
}

/// An integer rounded half away from zero, or cut, to a number of places.
pub fn round_integer(number: i128, digits: i64, truncates: bool) -> i128 {
    if digits >= 0 {
        return number;
    }
    if digits < -20 {
        return 0;
    }
    let unit = 10i128.pow(digits.unsigned_abs() as u32);
    let half = if truncates { 0 } else { unit / 2 * number.signum() };
    (number + half) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_doubles_go_to_even() {
        assert_eq!((round_double(2.5, 0, false), round_double(3.5, 0, false)), (2.0, 4.0));
        assert_eq!((round_double(-1.25, 1, false), round_double(-1.29, 1, true)), (-1.2, -1.2));
        assert_eq!((round_double(1e300, 300, false), round_double(1e300, -400, false)), (1e300, 0.0));
    }

    #[test]
    fn halves_of_integers_go_up() {
        assert_eq!((round_integer(25, -1, false), round_integer(-25, -1, false)), (30, -30));
        assert_eq!((round_integer(29, -1, true), round_integer(29, 1, false)), (20, 29));
        assert_eq!(round_integer(i64::MAX.into(), -21, false), 0);
    }
}
