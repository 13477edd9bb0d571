//! Codes and number bases: HEX, UNHEX, CONV, CHAR, TO_BASE64, FROM_BASE64, SOUNDEX.

use crate::pieces::{self, Interrupt, KILL_LOOK_CHARACTERS};
use errors::SqlResult;

/// Characters of a line of TO_BASE64.
pub const BASE64_LINE: usize = 76;

/// Two digits for each byte.
pub fn hex(bytes: &[u8], interrupt: &dyn Interrupt) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    pieces::for_each(bytes, interrupt, |piece| append_upper_hex(piece, &mut out))?;
    Ok(out)
}

/// The bits of a FLOAT as BIGINT: beyond its range it is the least one, as the processor converts it.
pub fn float_bits(number: f64) -> u64 {
    let rounded = number.round_ties_even();
    let is_within = rounded >= i64::MIN as f64 && rounded < i64::MAX as f64;
    let number = if is_within { rounded as i64 } else { i64::MIN };
    number.cast_unsigned()
}

fn append_upper_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// The bytes that pairs of digits stand for; None where one is no digit. An odd number of digits begins with a lone one.
pub fn unhex(text: &[u8], interrupt: &dyn Interrupt) -> SqlResult<Option<Vec<u8>>> {
    let (lone, pairs) = text.split_at(text.len() % 2);
    let mut out = Vec::with_capacity(text.len().div_ceil(2));
    let mut are_digits = append_unhexed(lone, &mut out);
    pieces::for_each(pairs, interrupt, |piece| are_digits = are_digits && append_unhexed(piece, &mut out))?;
    Ok(are_digits.then_some(out))
}

/// Appends the bytes that pairs of digits stand for, or one lone digit; false at what is no digit.
fn append_unhexed(text: &[u8], out: &mut Vec<u8>) -> bool {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    text.chunks(2).all(|pair| {
        let byte = pair.iter().try_fold(0, |byte, next| Some(byte << 4 | digit(*next)?));
        byte.inspect(|byte| out.push(*byte as u8)).is_some()
    })
}

/// The number at the start of a text in a base of 2 to 36, as bits of 64, and whether it is there and fits them.
pub fn number_in_base(text: &str, base: u32) -> (u64, bool) {
    let text = text.trim_start();
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let mut number = Some(0u64);
    let mut count = 0;
    for digit in digits.chars().map_while(|c| c.to_digit(base)) {
        number = number.and_then(|n| n.checked_mul(u64::from(base))?.checked_add(u64::from(digit)));
        count += 1;
    }
    let is_whole = count > 0 && number.is_some();
    let number = number.unwrap_or(u64::MAX);
    (if negative { number.wrapping_neg() } else { number }, is_whole)
}

/// A number in a base of 2 to 36. A negative base takes it for a signed one.
pub fn in_base(bits: u64, base: i64) -> String {
    let signed = bits as i64;
    match base < 0 && signed < 0 {
        true => format!("-{}", digits_in_base(signed.unsigned_abs(), base.unsigned_abs())),
        false => digits_in_base(bits, base.unsigned_abs()),
    }
}

fn digits_in_base(mut number: u64, base: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits
            .push(char::from_digit((number % base) as u32, base as u32).unwrap_or('0').to_ascii_uppercase());
        number /= base;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// The bytes of a number without the zeros before them, at least one: what CHAR makes of it.
pub fn append_character(number: u32, out: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    let skipped = bytes.iter().take_while(|byte| **byte == 0).count().min(3);
    out.extend_from_slice(&bytes[skipped..]);
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 in lines.
pub fn to_base64(bytes: &[u8], interrupt: &dyn Interrupt) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() * 4 / 3 + 4);
    pieces::for_each(bytes, interrupt, |piece| append_base64(piece, &mut out))?;
    Ok(out)
}

/// Appends the digits of whole lines, or of the rest of a text. `out` is empty or ends with a whole line.
fn append_base64(bytes: &[u8], out: &mut Vec<u8>) {
    for line in bytes.chunks(BASE64_LINE / 4 * 3) {
        if !out.is_empty() {
            out.push(b'\n');
        }
        for group in line.chunks(3) {
            let bits =
                group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
            for place in 0..4 {
                let digit = (bits >> (18 - 6 * place)) as usize & 63;
                out.push(if place <= group.len() { BASE64[digit] } else { b'=' });
            }
        }
    }
}

/// The bytes of base64, whatever blanks are in it; None for what is none.
pub fn from_base64(text: &[u8], interrupt: &dyn Interrupt) -> SqlResult<Option<Vec<u8>>> {
    let mut digits = Vec::with_capacity(text.len());
    pieces::for_each(text, interrupt, |piece| {
        digits.extend(piece.iter().copied().filter(|byte| !byte.is_ascii_whitespace()));
    })?;
    let padding = digits.iter().rev().take_while(|byte| **byte == b'=').count();
    if !digits.len().is_multiple_of(4) || padding > 2 {
        return Ok(None);
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    let mut are_digits = true;
    pieces::for_each(&digits[..digits.len() - padding], interrupt, |piece| {
        are_digits = are_digits && piece.chunks(4).all(|group| append_from_base64(group, &mut out));
    })?;
    Ok(are_digits.then_some(out))
}

/// Appends the bytes of up to four digits; false at what is no digit.
fn append_from_base64(group: &[u8], out: &mut Vec<u8>) -> bool {
    let mut bits = 0u32;
    for byte in group {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(digit);
    }
    bits <<= 6 * (4 - group.len());
    out.extend_from_slice(&bits.to_be_bytes()[1..group.len().max(1)]);
    true
}

/// The code of a letter A to Z; '0' for vowels and their kin.
const SOUNDEX_CODES: &[u8; 26] = b"01230120022455012623010202";

/// How a text sounds: its first letter with three or more digits. From U+00C0 on all counts as a letter, if it is text.
pub fn soundex(text: &str, is_text: bool, interrupt: &dyn Interrupt) -> SqlResult<String> {
    let code = |letter: char| match letter.to_ascii_uppercase() {
        upper @ 'A'..='Z' => SOUNDEX_CODES[upper as usize - 'A' as usize],
        _ => b'0',
    };
    // All from U+00C0 on counts as a letter, without a code and without an upper case.
    let mut letters = text.chars().filter(|c| c.is_ascii_alphabetic() || is_text && *c >= '\u{c0}');
    let Some(first) = letters.next() else { return Ok(String::new()) };
    let mut out = String::from(first.to_ascii_uppercase());
    let mut last = code(first);
    for (index, letter) in letters.enumerate() {
        if (index as u64 + 1).is_multiple_of(KILL_LOOK_CHARACTERS) {
            interrupt.check_killed()?;
        }
        // Vowels do not part letters of one code.
        let next = code(letter);
        if next != b'0' && next != last {
            out.push(next as char);
            last = next;
        }
    }
    out.extend(std::iter::repeat_n('0', 4_usize.saturating_sub(out.chars().take(4).count())));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::tests::Never;

    #[test]
    fn bases_go_both_ways() {
        assert_eq!(
            (number_in_base("ff", 16), number_in_base(" -10x", 10)),
            ((255, true), (10_u64.wrapping_neg(), true))
        );
        assert_eq!(
            (number_in_base("x", 10), number_in_base("9".repeat(30).as_str(), 10)),
            ((0, false), (u64::MAX, false))
        );
        assert_eq!(
            (in_base(255, 16), in_base(u64::MAX, -10), in_base(0, 2)),
            ("FF".into(), "-1".into(), "0".into())
        );
    }

    #[test]
    fn codes_go_both_ways() {
        assert_eq!(
            (hex(b"\x0f\xa0", &Never).unwrap(), unhex(b"fA0", &Never).unwrap()),
            (b"0FA0".to_vec(), Some(vec![15, 160]))
        );
        assert_eq!(unhex(b"0g", &Never).unwrap(), None);
        for text in [&b""[..], b"a", b"ab", b"abc", &[0xff; 100]] {
            let digits = to_base64(text, &Never).unwrap();
            assert_eq!(from_base64(&digits, &Never).unwrap().as_deref(), Some(text));
        }
        assert_eq!(
            (from_base64(b"ab=", &Never).unwrap(), from_base64(b"a?==", &Never).unwrap()),
            (None, None)
        );
    }

    #[test]
    fn sounds() {
        let sound = |text| soundex(text, true, &Never).unwrap();
        assert_eq!(
            (sound("Hello"), sound("Quadratically"), sound("1")),
            ("H400".into(), "Q36324".into(), String::new())
        );
    }
}
