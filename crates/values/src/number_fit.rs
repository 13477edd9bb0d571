//! A floating point number as text within a number of characters: as many significant digits as fit, in plain or in
//! exponent form, whichever keeps more of them. Main function: [`append_f64_within`], which columns of text store by.
//! The rules are those of MySQL's `my_gcvt`.

use crate::number::decimals_if_between;

/// Largest position of the point that is shown in plain form when digits do not reach it.
const POINT_MAX: i64 = 15;

/// Significant digits and where the point stands: 0.digits * 10^point.
struct Digits {
    text: Vec<u8>,
    point: i64,
}

impl Digits {
    fn of_scientific(text: &str) -> Digits {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        while digits.len() > 1 && digits.last() == Some(&b'0') {
            digits.pop();
        }
        Digits { text: digits, point: exponent.parse::<i64>().unwrap_or(0) + 1 }
    }

    /// The shortest digits that name the number, if they are no more than `digits_max`; else that many.
    fn shortest(number: f64, digits_max: usize) -> Digits {
        let shortest = match decimals_if_between(number) {
            None => Digits::of_scientific(&format!("{number:e}")),
            Some(decimals) => Digits::of_scientific(&format!("{number:.decimals$e}")),
        };
        if shortest.text.len() <= digits_max { shortest } else { Digits::significant(number, digits_max) }
    }

    fn significant(number: f64, digits: usize) -> Digits {
        let decimals = digits.max(1) - 1;
        Digits::of_scientific(&format!("{number:.decimals$e}"))
    }

    /// The digits of the number rounded to so many decimals; none if it rounds to zero.
    fn fixed(number: f64, decimals: usize) -> Digits {
        let text = format!("{number:.decimals$}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let zeros = all.iter().take_while(|digit| **digit == b'0').count();
        let mut digits = all[zeros..].to_vec();
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        Digits { text: digits, point: whole.len() as i64 - zeros as i64 }
    }

    fn count(&self) -> i64 {
        self.text.len() as i64
    }
}

/// Appends the number in at most `width` characters. False if even its leading digits need more; then what was
/// appended is longer or not the number.
pub fn append_f64_within(number: f64, width: usize, out: &mut Vec<u8>) -> bool {
    if !number.is_finite() {
        out.push(b'0');
        return false;
    }
    let start = out.len();
    let is_negative = number.is_sign_negative();
    let magnitude = number.abs();
    let room = width as i64 - i64::from(number < 0.0);
    if is_negative {
        out.push(b'-');
    }
    let digits = Digits::shortest(magnitude, usize::try_from(room.max(1)).unwrap_or(1));
    let fits = if prefers_plain(&digits, room) {
        append_plain(magnitude, digits, room, out)
    } else {
        append_exponent(magnitude, digits, room, out)
    };
    if out.len() == start + usize::from(is_negative) {
        // It rounds to zero.
        out.truncate(start);
        out.push(b'0');
    }
    out.truncate(start + width);
    fits
}

fn prefers_plain(digits: &Digits, room: i64) -> bool {
    let (count, point) = (digits.count(), digits.point);
    let exponent_digits = 1 + i64::from(!(-98..101).contains(&point)) + i64::from(!(-8..11).contains(&point));
    let plain_length = match point {
        ..=0 => count - point + 2,
        _ if point < count => count + 1,
        _ => point,
    };
    let has_room = plain_length <= room;
    let only_exponent = point < 0 && room <= 2 - point && room >= 3 + exponent_digits;
    let keeps_more = (-2..=room).contains(&point) && !only_exponent;
    let in_range = point > -POINT_MAX && (point <= POINT_MAX || count > point);
    (has_room || keeps_more) && (!has_room || in_range)
}

fn append_plain(magnitude: f64, mut digits: Digits, room: i64, out: &mut Vec<u8>) -> bool {
    let point = digits.point;
    let mut room = room - i64::from(point < digits.count()) - if point <= 0 { 1 - point } else { 0 };
    let mut fits = true;
    if room < digits.count() {
        if room < point {
            fits = false;
            room = point;
        }
        digits = Digits::fixed(magnitude, usize::try_from(room - point).unwrap_or(0));
    }
    if digits.text.is_empty() {
        return fits;
    }
    let point = digits.point;
    if point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', usize::try_from(-point).unwrap_or(0)));
    }
    for (at, digit) in (1..).zip(&digits.text) {
        out.push(*digit);
        if at == point && at < digits.count() {
            out.push(b'.');
        }
    }
    out.extend(std::iter::repeat_n(b'0', usize::try_from(point - digits.count()).unwrap_or(0)));
    fits
}

fn append_exponent(magnitude: f64, mut digits: Digits, room: i64, out: &mut Vec<u8>) -> bool {
    let exponent = digits.point - 1;
    let exponent_digits = exponent.unsigned_abs().to_string().len() as i64;
    let room = room - 1 - exponent_digits - i64::from(exponent < 0) - i64::from(digits.count() > 1);
    let fits = room > 0;
    let room = room.max(0);
    if room < digits.count() {
        digits = Digits::significant(magnitude, usize::try_from(room).unwrap_or(0));
    }
    out.push(digits.text[0]);
    if digits.count() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits.text[1..]);
    }
    out.push(b'e');
    out.extend_from_slice((digits.point - 1).to_string().as_bytes());
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_digits_as_fit() {
        let cases: [(f64, usize, &str, bool); 16] = [
            (12345.0, 4, "1e4", true),
            (65535.0, 4, "7e4", true),
            (16777215.0, 5, "1.7e7", true),
            (-2147483648.0, 10, "-2.14748e9", true),
            (18446744073709551615.0, 20, "1.844674407370955e19", true),
            (9223372036854775807.0, 10, "9.22337e18", true),
            (1e10, 5, "1e10", true),
            (3.4e38, 5, "3e38", true),
            (f64::from(0.1f32), 30, "0.10000000149011612", true),
            (f64::from(0.1f32), 5, "0.1", true),
            (1.5, 3, "1.5", true),
            (1.55, 3, "1.6", true),
            (0.0, 1, "0", true),
            (-0.0, 2, "-0", true),
            (123.0, 2, "1", false),
            (1e-9, 30, "0.000000001", true),
        ];
        for (number, width, expected, expected_fit) in cases {
            let mut out = Vec::new();
            let fits = append_f64_within(number, width, &mut out);
            let shown = String::from_utf8(out).unwrap();
            if expected_fit {
                assert_eq!((shown.as_str(), fits), (expected, true), "{number} in {width}");
            } else {
                assert!(!fits, "{number} in {width}: {shown}");
            }
        }
    }
}
