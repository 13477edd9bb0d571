//! Functions that take a piece of a text: SUBSTRING, LEFT, RIGHT, TRIM and its kin, SUBSTRING_INDEX.

use super::{constant_integer, length, part_of, result_charset, text_of};
use crate::{Call, Derivation, FunctionDefinition, pure};
use errors::SqlResult;
use expression::result_type::ResultType;
use functions::string::cut;
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("substring", 2, 3, derive_substring, substring),
    pure("substr", 2, 3, derive_substring, substring),
    pure("mid", 2, 3, derive_substring, substring),
    pure("left", 2, 2, derive_side, left),
    pure("right", 2, 2, derive_side, right),
    pure("ltrim", 1, 1, derive_first, |call| trim(call, (true, false))),
    pure("rtrim", 1, 1, derive_first, |call| trim(call, (false, true))),
    pure("trim", 1, 1, derive_first, |call| trim(call, (true, true))),
    pure("trim_both", 1, 2, derive_first, |call| trim(call, (true, true))),
    pure("trim_leading", 1, 2, derive_first, |call| trim(call, (true, false))),
    pure("trim_trailing", 1, 2, derive_first, |call| trim(call, (false, true))),
    pure("substring_index", 3, 3, derive_substring_index, substring_index),
];

fn derive_substring(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(0..1)?;
    let mut characters = length(derivation, 0);
    if let Some(position) = constant_integer(derivation, 1) {
        // MySQL looks at positions of 32 bits only.
        let (before, behind) = (i64::from(i32::MIN), i64::from(i32::MAX));
        characters = match position {
            0 => 0,
            1.. if position <= behind => characters.saturating_sub(position.unsigned_abs() - 1),
            ..0 if position > before && position.unsigned_abs() > characters => 0,
            ..0 if position > before => position.unsigned_abs(),
            _ => characters,
        };
    }
    if let Some(count) = constant_integer(derivation, 2) {
        characters = characters.min(count.max(0).unsigned_abs());
    }
    Ok(part_of(derivation, common, characters))
}

fn substring(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let Some(position) = call.integer(1)? else { return Ok(Value::Null) };
    let count = match call.count() {
        2 => i64::MAX,
        _ => match call.integer(2)? {
            Some(count) => count,
            None => return Ok(Value::Null),
        },
    };
    Ok(Value::Bytes(cut::substring(&text, position, count, result_charset(call)).to_vec()))
}

fn derive_side(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(0..1)?;
    let mut characters = length(derivation, 0);
    if let Some(count) = constant_integer(derivation, 1) {
        characters = characters.min(count.max(0).unsigned_abs());
    }
    Ok(part_of(derivation, common, characters))
}

fn left(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(text), Some(count)) = (call.text(0)?, call.integer(1)?) else { return Ok(Value::Null) };
    let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    Ok(Value::Bytes(result_charset(call).prefix(&text, count).to_vec()))
}

fn right(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(text), Some(count)) = (call.text(0)?, call.integer(1)?) else { return Ok(Value::Null) };
    let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    Ok(Value::Bytes(cut::right(&text, count, result_charset(call)).to_vec()))
}

fn derive_first(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.first_collation(&[1])?;
    Ok(part_of(derivation, common, length(derivation, 0)))
}

fn derive_substring_index(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.first_collation(&[1])?;
    Ok(text_of(derivation, common, length(derivation, 0)))
}

fn trim(call: &mut Call<'_>, sides: (bool, bool)) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let charset = result_charset(call);
    let mut removed = Vec::new();
    if call.count() > 1 {
        let Some(given) = call.text(1)? else { return Ok(Value::Null) };
        removed.extend_from_slice(&given);
    } else {
        charset.push(u32::from(b' '), &mut removed);
    }
    Ok(Value::Bytes(cut::trim(&text, &removed, sides, charset, call.interrupt())?.to_vec()))
}

fn substring_index(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(text), Some(delimiter), Some(count)) = (call.text(0)?, call.text(1)?, call.integer(2)?) else {
        return Ok(Value::Null);
    };
    let charset = result_charset(call);
    let piece = cut::substring_index(&text, &delimiter, count, charset, call.interrupt())?;
    Ok(Value::Bytes(piece.to_vec()))
}
