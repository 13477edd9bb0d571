//! The values of literals and names, made from the text of their tokens.

use crate::options::{ParseOptions, character_length};
use memchr::memchr2;

/// The bytes of `'..'` or `".."` with its escapes resolved.
pub fn string_value(text: &[u8], options: ParseOptions) -> Vec<u8> {
    let mut value = Vec::with_capacity(text.len());
    append_string(&mut value, text, options);
    value
}

/// Appends the bytes of a quoted string, as adjacent literals are joined.
pub fn append_string(value: &mut Vec<u8>, text: &[u8], options: ParseOptions) {
    let (Some(&quote), true) = (text.first(), text.len() >= 2) else { return };
    let body = &text[1..text.len() - 1];
    let masking = options.masking_charset();
    let mut at = 0;
    while at < body.len() {
        if masking.is_none() {
            let end = memchr2(quote, b'\\', &body[at..]).unwrap_or(body.len() - at) + at;
            value.extend_from_slice(&body[at..end]);
            at = end;
        }
        let Some(&byte) = body.get(at) else { return };
        if byte >= 0x80
            && let Some(charset) = masking
        {
            let length = character_length(charset, &body[at..]);
            value.extend_from_slice(&body[at..at + length]);
            at += length;
            continue;
        }
        at += 1;
        if byte == quote {
            at += 1;
        } else if byte == b'\\' && !options.no_backslash_escapes && at < body.len() {
            append_escape(value, body[at]);
            at += 1;
            continue;
        }
        value.push(byte);
    }
}

/// `\%` and `\_` keep their backslash: they matter to LIKE only.
fn append_escape(value: &mut Vec<u8>, byte: u8) {
    if matches!(byte, b'%' | b'_') {
        value.push(b'\\');
    }
    value.push(match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'0' => 0,
        b'Z' => 26,
        other => other,
    });
}

/// The bytes of a name, quoted or not.
pub fn name_bytes(text: &[u8], options: ParseOptions) -> Vec<u8> {
    match text.first() {
        Some(&quote @ (b'`' | b'"')) if text.len() >= 2 => {
            let mut value = Vec::with_capacity(text.len());
            let body = &text[1..text.len() - 1];
            let masking = options.masking_charset();
            let mut at = 0;
            while at < body.len() {
                let length = match masking {
                    Some(charset) if body[at] >= 0x80 => character_length(charset, &body[at..]),
                    _ => 1,
                };
                value.extend_from_slice(&body[at..at + length]);
                at += length + usize::from(body[at] == quote);
            }
            value
        }
        _ => text.to_vec(),
    }
}

/// The bytes of `x'..'` or `0x..`; an odd number of digits has a leading zero.
pub fn hex_value(text: &[u8]) -> Vec<u8> {
    let digits = digits(text);
    let mut value = Vec::with_capacity(digits.len().div_ceil(2));
    let (odd, pairs) = digits.split_at(digits.len() % 2);
    value.extend(odd.iter().map(|&digit| hex_digit(digit)));
    value.extend(pairs.chunks_exact(2).map(|pair| hex_digit(pair[0]) << 4 | hex_digit(pair[1])));
    value
}

/// The bytes of `b'..'` or `0b..`, padded on the left with zero bits.
pub fn bits_value(text: &[u8]) -> Vec<u8> {
    let digits = digits(text);
    let byte = |bits: &[u8]| bits.iter().fold(0u8, |byte, &bit| byte << 1 | u8::from(bit == b'1'));
    let (first, whole) = digits.split_at(digits.len() % 8);
    let mut value = Vec::with_capacity(digits.len().div_ceil(8));
    if !first.is_empty() {
        value.push(byte(first));
    }
    value.extend(whole.chunks_exact(8).map(byte));
    value
}

fn digits(text: &[u8]) -> &[u8] {
    let body = text.get(2..).unwrap_or_default();
    body.strip_suffix(b"'").unwrap_or(body)
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings() {
        let options = ParseOptions::default();
        assert_eq!(string_value(br"'a''b\n\%\x'", options), b"a'b\n\\%x");
        let raw = ParseOptions { no_backslash_escapes: true, ..options };
        assert_eq!(string_value(br"'a\n'", raw), br"a\n");
        assert_eq!(string_value(b"''", options), b"");
    }

    #[test]
    fn names() {
        assert_eq!(name_bytes(b"`a``b`", ParseOptions::default()), b"a`b");
        assert_eq!(name_bytes(b"plain", ParseOptions::default()), b"plain");
    }

    #[test]
    fn hex_and_bits() {
        assert_eq!(hex_value(b"0xabc"), [0x0a, 0xbc]);
        assert_eq!(hex_value(b"X'4D'"), b"M");
        assert_eq!(bits_value(b"b'100000001'"), [1, 1]);
        assert_eq!(bits_value(b"b''"), b"");
    }
}
