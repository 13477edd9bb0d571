//! Codes and number bases: HEX, UNHEX, CONV, BIN, OCT, ASCII, ORD, CHAR, TO_BASE64, FROM_BASE64, SOUNDEX.

use super::{constant_integer, length, too_long};
use crate::{Call, Derivation, FunctionDefinition, pure};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use expression::operators::invalid_bytes;
use expression::result_type::{Coercibility, ResultType, TypeClass};
use functions::string::code;
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
        TypeClass::Null => 0,
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
                _ if call.argument(0).kind() == TypeKind::Float => call.double(0)?.map(code::float_bits),
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
    let digits = code::hex(&bytes, call.interrupt())?;
    Ok(call.ascii_result(digits))
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

fn derive_unhex(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let bytes = derivation.argument(0).written_byte_length().div_ceil(2);
    Ok(ResultType::binary(bytes).nullable())
}

fn unhex(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.utf8(0)? else { return Ok(Value::Null) };
    let bytes = code::unhex(text.as_bytes(), call.interrupt())?;
    if bytes.is_none() {
        let shown = call.expression(0).to_string();
        call.warn(sql_error!(ER_WRONG_VALUE_FOR_TYPE, "string", shown, "unhex"));
    }
    Ok(bytes.map_or(Value::Null, Value::Bytes))
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
    Ok(call.text_result(&code::in_base(bits, to)))
}

/// The number at the start of the first argument; None for empty text.
fn number_in_base(call: &mut Call<'_>, from: i64) -> SqlResult<Option<u64>> {
    let Some(whole) = call.utf8(0)? else { return Ok(None) };
    if whole.is_empty() {
        return Ok(None);
    }
    let (number, is_whole) = code::number_in_base(&whole, from.unsigned_abs() as u32);
    if !is_whole {
        call.warn(sql_error!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", whole));
    }
    Ok(Some(number))
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

/// Each number gives whole units of the character set: zero bytes stand before what is shorter.
fn char(call: &mut Call<'_>) -> SqlResult<Value> {
    let collation = call.result().collation();
    let unit_bytes = collation.charset().min_bytes();
    let (mut out, mut bytes) = (Vec::new(), Vec::new());
    for index in 1..call.count() {
        let Some(number) = call.unsigned(index)? else { continue };
        bytes.clear();
        code::append_character(number as u32, &mut bytes);
        let missing = bytes.len().next_multiple_of(unit_bytes) - bytes.len();
        out.extend(std::iter::repeat_n(0, missing));
        out.append(&mut bytes);
    }
    if collation != CollationId::BINARY && !collation.charset().is_valid(&out) {
        let shown = invalid_bytes(&out, collation);
        call.warn(sql_error!(ER_INVALID_CHARACTER_STRING, collation.charset().name, shown));
        return Ok(Value::Null);
    }
    Ok(Value::Bytes(out))
}

fn derive_to_base64(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let encoded = u64::from(derivation.argument(0).written_byte_length()).div_ceil(3) * 4;
    Ok(connection_text(derivation, encoded + encoded.saturating_sub(1) / code::BASE64_LINE as u64))
}

fn to_base64(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    if too_long(call, text.len() as u64 * 4 / 3 + 4) {
        return Ok(Value::Null);
    }
    let digits = code::to_base64(&text, call.interrupt())?;
    Ok(call.ascii_result(digits))
}

fn derive_from_base64(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let bytes = u64::from(derivation.argument(0).written_byte_length()) * 3 / 4;
    Ok(ResultType::binary(u32::try_from(bytes).unwrap_or(u32::MAX)).nullable())
}

fn from_base64(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    Ok(code::from_base64(&text, call.interrupt())?.map_or(Value::Null, Value::Bytes))
}

fn derive_soundex(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(0..1)?;
    Ok(super::text_of(derivation, common, length(derivation, 0).max(4)))
}

fn soundex(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.utf8(0)? else { return Ok(Value::Null) };
    let is_text = call.text_collation(0) != charset::CollationId::BINARY;
    let sounds = code::soundex(&text, is_text, call.interrupt())?;
    Ok(call.text_result(&sounds))
}
