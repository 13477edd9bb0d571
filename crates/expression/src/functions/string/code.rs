//! Codes and number bases: HEX, UNHEX, CONV, BIN, OCT, ASCII, ORD, CHAR, TO_BASE64, FROM_BASE64, SOUNDEX.

use super::{KILL_LOOK_CHARACTERS, constant_integer, length, too_long};
use crate::functions::{Call, Derivation, FunctionDefinition, pure};
use crate::pieces;
use crate::result_type::{Coercibility, ResultType, TypeClass};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use values::decimal::Rounding;
use values::{TypeKind, Value};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("hex", 1, 1, derive_hex, hex),
    pure("unhex", 1, 1, derive_unhex, unhex),
    pure("conv", 3, 3, derive_base_text, |call| {
        let (Some(from), Some(to)) = (call.integer(1)?, call.integer(2)?) else { return Ok(Value::Null) };
        convert_base(call, from, to)
    }),
    pure("bin", 1, 1, derive_base_text, |call| convert_base(call, 10, 2)),
    pure("oct", 1, 1, derive_base_text, |call| convert_base(call, 10, 8)),
    pure("ascii", 1, 1, derive_ascii, |call| {
        Ok(call
            .text(0)?
            .map_or(Value::Null, |text| Value::Int(text.first().map_or(0, |byte| i64::from(*byte)))))
    }),
    pure("ord", 1, 1, derive_ord, ord),
    pure("char", 2, usize::MAX, derive_char, char),
    pure("to_base64", 1, 1, derive_to_base64, to_base64),
    pure("from_base64", 1, 1, derive_from_base64, from_base64),
    pure("soundex", 1, 1, derive_soundex, soundex),
];

/// Characters of a line of TO_BASE64.
const BASE64_LINE: usize = 76;

fn connection_text(derivation: &Derivation<'_>, characters: u64) -> ResultType {
    let characters = u32::try_from(characters).unwrap_or(u32::MAX);
    derivation.connection_text(characters).nullable_if(derivation.any_nullable())
}

fn byte_length(derivation: &Derivation<'_>, index: usize) -> u64 {
    let argument = derivation.argument(index);
    let per_character = match argument.class() {
        TypeClass::Text => u64::from(argument.collation().charset().max_bytes),
        _ => 1,
    };
    length(derivation, index) * per_character
}

fn derive_hex(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let characters = match derivation.argument(0).class() {
        TypeClass::Text | TypeClass::DateTime | TypeClass::Time => byte_length(derivation, 0) * 2,
        _ => 16,
    };
    Ok(connection_text(derivation, characters))
}

fn hex(call: &mut Call<'_>) -> SqlResult<Value> {
    let number = match call.argument(0).class() {
        TypeClass::Integer | TypeClass::Decimal | TypeClass::Double => {
            let number = match call.argument(0).class() {
                TypeClass::Integer => call.unsigned(0)?,
                TypeClass::Decimal => exact_bits(call)?,
                _ if call.argument(0).kind() == TypeKind::Float => call.double(0)?.map(float_bits),
                _ => call.integer(0)?.map(i64::cast_unsigned),
            };
            number.map(|number| format!("{number:X}"))
        }
        _ => return text_in_hex(call),
    };
    Ok(number.map_or(Value::Null, |number| call.text_result(&number)))
}

fn text_in_hex(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(bytes) = call.text(0)? else { return Ok(Value::Null) };
    call.wait_for(bytes.len() * 2)?;
    let mut out = Vec::with_capacity(bytes.len() * 2);
    pieces::for_each(&bytes, call.context(), |piece| append_upper_hex(piece, &mut out))?;
    Ok(call.ascii_result(out))
}

/// The bits of an exact number as BIGINT, with a warning beyond its range.
fn exact_bits(call: &mut Call<'_>) -> SqlResult<Option<u64>> {
    let Some(number) = call.decimal(0)? else { return Ok(None) };
    let bounded = number.to_i64(Rounding::HalfUp);
    if bounded.is_err() {
        call.warn(sql_error!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", number));
    }
    let bounded = bounded.unwrap_or_else(|bound| bound);
    Ok(Some(bounded.cast_unsigned()))
}

/// The bits of a FLOAT as BIGINT: beyond its range it is the least one, as the processor converts it.
fn float_bits(number: f64) -> u64 {
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

fn derive_unhex(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let bytes = byte_length(derivation, 0).div_ceil(2);
    let bytes = match derivation.argument(0).class() {
        TypeClass::Text => {
            length(derivation, 0).div_ceil(2)
                * u64::from(derivation.argument(0).collation().charset().max_bytes)
        }
        _ => bytes,
    };
    Ok(ResultType::binary(u32::try_from(bytes).unwrap_or(u32::MAX)).nullable())
}

fn unhex(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.utf8(0)? else { return Ok(Value::Null) };
    // An odd number of digits begins with a lone one.
    let (lone, pairs) = text.as_bytes().split_at(text.len() % 2);
    let mut out = Vec::with_capacity(text.len().div_ceil(2));
    let mut are_digits = append_unhexed(lone, &mut out);
    pieces::for_each(pairs, call.context(), |piece| {
        are_digits = are_digits && append_unhexed(piece, &mut out)
    })?;
    if !are_digits {
        let shown = call.expression(0).to_string();
        call.warn(sql_error!(ER_WRONG_VALUE_FOR_TYPE, "string", shown, "unhex"));
        return Ok(Value::Null);
    }
    Ok(Value::Bytes(out))
}

/// Appends the bytes that pairs of digits stand for, or one lone digit; false at what is no digit.
fn append_unhexed(text: &[u8], out: &mut Vec<u8>) -> bool {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    text.chunks(2).all(|pair| {
        let byte = pair.iter().try_fold(0, |byte, next| Some(byte << 4 | digit(*next)?));
        byte.inspect(|byte| out.push(*byte as u8)).is_some()
    })
}

fn derive_base_text(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(derivation.connection_text(65).nullable())
}

/// The number at the start of a text in one base, in another. A negative target base gives a sign. Bits are a number
/// already.
fn convert_base(call: &mut Call<'_>, from: i64, to: i64) -> SqlResult<Value> {
    let bases = 2..=36;
    if !bases.contains(&from.unsigned_abs()) || !bases.contains(&to.unsigned_abs()) {
        return Ok(Value::Null);
    }
    let bits = if call.argument(0).kind() == TypeKind::Bit || call.argument(0).is_number_bytes() {
        call.unsigned(0)?
    } else {
        number_in_base(call, from)?
    };
    let Some(bits) = bits else { return Ok(Value::Null) };
    let (sign, magnitude) =
        if to < 0 && (bits as i64) < 0 { ("-", (bits as i64).unsigned_abs()) } else { ("", bits) };
    let shown = format!("{sign}{}", in_base(magnitude, to.unsigned_abs()));
    Ok(call.text_result(&shown))
}

/// The number at the start of the first argument; None for empty text.
fn number_in_base(call: &mut Call<'_>, from: i64) -> SqlResult<Option<u64>> {
    let Some(whole) = call.utf8(0)? else { return Ok(None) };
    if whole.is_empty() {
        return Ok(None);
    }
    let text = whole.as_str();
    let text = text.trim_start();
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let base = from.unsigned_abs();
    let mut number = Some(0u64);
    let mut count = 0;
    for digit in digits.chars().map_while(|c| c.to_digit(base as u32)) {
        number = number.and_then(|n| n.checked_mul(base)?.checked_add(u64::from(digit)));
        count += 1;
    }
    if count == 0 || number.is_none() {
        call.warn(sql_error!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", whole));
    }
    let number = number.unwrap_or(u64::MAX);
    Ok(Some(if negative { number.wrapping_neg() } else { number }))
}

fn in_base(mut number: u64, base: u64) -> String {
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

fn derive_ascii(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::integer(4).nullable_if(derivation.any_nullable()))
}

fn derive_ord(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::integer(21).nullable_if(derivation.any_nullable()))
}

/// The bytes of the first character as a number.
fn ord(call: &mut Call<'_>) -> SqlResult<Value> {
    let charset = call.text_collation(0).charset();
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let first = charset.prefix(&text, 1);
    Ok(Value::Int(first.iter().fold(0, |number, byte| number << 8 | i64::from(*byte))))
}

/// The first argument is the collation's number.
fn derive_char(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let collation = constant_integer(derivation, 0)
        .and_then(|id| u16::try_from(id).ok())
        .map_or(CollationId::BINARY, CollationId);
    let characters = (derivation.count() as u32 - 1).saturating_mul(4);
    Ok(ResultType::text(characters, collation, Coercibility::Coercible))
}

fn char(call: &mut Call<'_>) -> SqlResult<Value> {
    let mut out = Vec::new();
    for index in 1..call.count() {
        let Some(number) = call.unsigned(index)? else { continue };
        let bytes = (number as u32).to_be_bytes();
        let skipped = bytes.iter().take_while(|byte| **byte == 0).count().min(3);
        out.extend_from_slice(&bytes[skipped..]);
    }
    let collation = call.result().collation();
    if collation != CollationId::BINARY && !collation.charset().is_valid(&out) {
        let mut shown = Vec::new();
        append_upper_hex(&out, &mut shown);
        let shown = String::from_utf8_lossy(&shown);
        call.warn(sql_error!(ER_INVALID_CHARACTER_STRING, collation.charset().name, shown));
        return Ok(Value::Null);
    }
    Ok(Value::Bytes(out))
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn derive_to_base64(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let encoded = byte_length(derivation, 0).div_ceil(3) * 4;
    Ok(connection_text(derivation, encoded + encoded.saturating_sub(1) / BASE64_LINE as u64))
}

fn to_base64(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    if too_long(call, text.len() as u64 * 4 / 3 + 4) {
        return Ok(Value::Null);
    }
    let mut out = Vec::with_capacity(text.len() * 4 / 3 + 4);
    pieces::for_each(&text, call.context(), |piece| append_base64(piece, &mut out))?;
    Ok(call.ascii_result(out))
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

fn derive_from_base64(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let bytes = byte_length(derivation, 0) * 3 / 4;
    Ok(ResultType::binary(u32::try_from(bytes).unwrap_or(u32::MAX)).nullable())
}

fn from_base64(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let mut digits = Vec::with_capacity(text.len());
    pieces::for_each(&text, call.context(), |piece| {
        digits.extend(piece.iter().copied().filter(|byte| !byte.is_ascii_whitespace()));
    })?;
    let padding = digits.iter().rev().take_while(|byte| **byte == b'=').count();
    if !digits.len().is_multiple_of(4) || padding > 2 {
        return Ok(Value::Null);
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    let mut are_digits = true;
    pieces::for_each(&digits[..digits.len() - padding], call.context(), |piece| {
        are_digits = are_digits && piece.chunks(4).all(|group| append_from_base64(group, &mut out));
    })?;
    Ok(if are_digits { Value::Bytes(out) } else { Value::Null })
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

fn derive_soundex(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(0..1)?;
    Ok(super::text_of(derivation, common, length(derivation, 0).max(4)))
}

/// The code of a letter A to Z; '0' for vowels and their kin.
const SOUNDEX_CODES: &[u8; 26] = b"01230120022455012623010202";

fn soundex(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.utf8(0)? else { return Ok(Value::Null) };
    let code = |letter: char| match letter.to_ascii_uppercase() {
        upper @ 'A'..='Z' => SOUNDEX_CODES[upper as usize - 'A' as usize],
        _ => b'0',
    };
    // All from U+00C0 on counts as a letter, without a code and without an upper case.
    let is_text = call.text_collation(0) != charset::CollationId::BINARY;
    let mut letters = text.chars().filter(|c| c.is_ascii_alphabetic() || is_text && *c >= '\u{c0}');
    let Some(first) = letters.next() else { return Ok(call.text_result("")) };
    let mut out = String::from(first.to_ascii_uppercase());
    let mut last = code(first);
    for (index, letter) in letters.enumerate() {
        if (index as u64 + 1).is_multiple_of(KILL_LOOK_CHARACTERS) {
            call.context().check_killed()?;
        }
        // Vowels do not part letters of one code.
        let next = code(letter);
        if next != b'0' && next != last {
            out.push(next as char);
            last = next;
        }
    }
    out.extend(std::iter::repeat_n('0', 4_usize.saturating_sub(out.chars().take(4).count())));
    Ok(call.text_result(&out))
}
