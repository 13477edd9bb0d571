//! Functions that put texts together: CONCAT, CONCAT_WS, REPEAT, SPACE, LPAD, RPAD, INSERT, REPLACE, ELT, MAKE_SET,
//! EXPORT_SET, REVERSE, UPPER, LOWER, QUOTE, FORMAT.

use super::{
    ANY_LENGTH_CHARACTERS, constant_integer, length, length_in, null_for_too_long, part_of, result_charset,
    text_of, text_of_any_length, too_long,
};
use crate::{Call, Derivation, FunctionDefinition, of_documents, pure};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use expression::derive::DerivedCollation;
use expression::json;
use expression::result_type::{ResultType, TypeClass};
use expression::tree::Expression;
use functions::locale::{self, Locale};
use functions::numeric::round_double;
use functions::pieces;
use functions::string::build;
use values::{TypeKind, Value, number};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("concat", 1, usize::MAX, derive_concat, concat),
    pure("concat_ws", 2, usize::MAX, derive_concat_ws, concat_ws),
    pure("repeat", 2, 2, derive_repeat, repeat),
    pure("space", 1, 1, derive_space, space),
    pure("lpad", 3, 3, derive_pad, |call| pad(call, true)),
    pure("rpad", 3, 3, derive_pad, |call| pad(call, false)),
    pure("insert", 4, 4, derive_insert, insert),
    pure("replace", 3, 3, derive_replace, replace),
    of_documents("elt", 2, usize::MAX, derive_elt, elt),
    pure("make_set", 2, usize::MAX, derive_make_set, make_set),
    pure("export_set", 3, 5, derive_export_set, export_set),
    pure("reverse", 1, 1, derive_same, reverse),
    pure("upper", 1, 1, derive_case, |call| change_case(call, true)),
    pure("ucase", 1, 1, derive_case, |call| change_case(call, true)),
    pure("lower", 1, 1, derive_case, |call| change_case(call, false)),
    pure("lcase", 1, 1, derive_case, |call| change_case(call, false)),
    pure("quote", 1, 1, derive_quote, quote),
    pure("format", 2, 3, derive_format, format),
];

fn total_length(derivation: &Derivation<'_>, common: DerivedCollation, from: usize) -> u64 {
    (from..derivation.count()).map(|index| length_in(derivation, common, index)).sum()
}

fn derive_concat(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(0..derivation.count())?;
    Ok(text_of(derivation, common, total_length(derivation, common, 0)))
}

fn concat(call: &mut Call<'_>) -> SqlResult<Value> {
    let mut out = Vec::new();
    for index in 0..call.count() {
        let Some(text) = call.text(index)? else { return Ok(Value::Null) };
        out.extend_from_slice(&text);
        if too_long(call, out.len() as u64) {
            return Ok(Value::Null);
        }
        call.hold_only(out.len())?;
    }
    Ok(Value::Bytes(out))
}

fn derive_concat_ws(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(0..derivation.count())?;
    let separators = length_in(derivation, common, 0) * (derivation.count() as u64 - 2);
    Ok(text_of(derivation, common, total_length(derivation, common, 1) + separators))
}

fn concat_ws(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(separator) = call.text(0)? else { return Ok(Value::Null) };
    let mut out = Vec::new();
    let mut first = true;
    for index in 1..call.count() {
        let Some(text) = call.text(index)? else { continue };
        if !first {
            out.extend_from_slice(&separator);
        }
        first = false;
        out.extend_from_slice(&text);
        if too_long(call, out.len() as u64) {
            return Ok(Value::Null);
        }
        call.hold_only(out.len() + separator.len())?;
    }
    Ok(Value::Bytes(out))
}

fn derive_repeat(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(0..1)?;
    Ok(match constant_integer(derivation, 1) {
        Some(count) => repeated(derivation, common, length(derivation, 0), count),
        None => text_of_any_length(derivation, common),
    })
}

/// Text of `count` times so many characters. MySQL takes a negative count for a great one here.
fn repeated(derivation: &Derivation<'_>, common: DerivedCollation, each: u64, count: i64) -> ResultType {
    let characters = if count < 0 { u64::MAX } else { each.saturating_mul(count.unsigned_abs()) };
    text_of(derivation, common, characters).nullable_if(count < 0)
}

fn repeat(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(text), Some(count)) = (call.text(0)?, call.integer(1)?) else { return Ok(Value::Null) };
    let count = count.max(0).unsigned_abs();
    if too_long(call, count.saturating_mul(text.len() as u64)) {
        return Ok(Value::Null);
    }
    Ok(Value::Bytes(pieces::repeat(
        &text,
        if text.is_empty() { 0 } else { count as usize },
        call.interrupt(),
    )?))
}

fn derive_space(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let most = i64::from(ANY_LENGTH_CHARACTERS);
    let count = match derivation.constant(0) {
        Some(Value::Null) => Some(0),
        _ => constant_integer(derivation, 0),
    };
    let characters = count.map_or(most, |count| count.clamp(0, most));
    Ok(derivation.connection_text(characters as u32).nullable_if(derivation.any_nullable()))
}

fn space(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(count) = call.integer(0)? else { return Ok(Value::Null) };
    let count = count.max(0).unsigned_abs();
    if too_long(call, count) {
        return Ok(Value::Null);
    }
    let mut space = Vec::new();
    result_charset(call).push(u32::from(b' '), &mut space);
    Ok(Value::Bytes(pieces::repeat(&space, count as usize, call.interrupt())?))
}

fn derive_pad(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.first_collation(&[2])?;
    Ok(match constant_integer(derivation, 1) {
        Some(count) => repeated(derivation, common, 1, count),
        None => text_of_any_length(derivation, common),
    })
}

fn pad(call: &mut Call<'_>, left: bool) -> SqlResult<Value> {
    let charset = result_charset(call);
    let (Some(text), Some(wanted)) = (call.text(0)?, call.integer(1)?) else { return Ok(Value::Null) };
    let Some(filler) = call.text(2)? else { return Ok(Value::Null) };
    let Ok(wanted) = usize::try_from(wanted) else { return Ok(Value::Null) };
    let is_longer = wanted > charset.character_count(&text);
    if is_longer && too_long(call, (wanted as u64).saturating_mul(u64::from(charset.max_bytes))) {
        return Ok(Value::Null);
    }
    Ok(Value::Bytes(build::pad(&text, wanted, &filler, left, charset, call.interrupt())?))
}

fn derive_insert(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.first_collation(&[3])?;
    let characters = length_in(derivation, common, 0) + length_in(derivation, common, 3);
    Ok(text_of(derivation, common, characters))
}

fn insert(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(text), Some(position), Some(count), Some(inserted)) =
        (call.text(0)?, call.integer(1)?, call.integer(2)?, call.text(3)?)
    else {
        return Ok(Value::Null);
    };
    let Some((from, to)) = build::replaced_range(&text, position, count, result_charset(call)) else {
        return Ok(Value::Bytes(text.into_owned()));
    };
    if too_long(call, (text.len() - (to - from) + inserted.len()) as u64) {
        return Ok(Value::Null);
    }
    Ok(Value::Bytes([&text[..from], &inserted, &text[to..]].concat()))
}

fn derive_replace(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.first_collation(&[1, 2])?;
    // Among bytes what is put in counts all that its characters may take, what is taken out does not.
    let growth = length_in(derivation, common, 2).saturating_sub(length(derivation, 1));
    let places = length(derivation, 0).checked_div(length(derivation, 1)).unwrap_or(0);
    // MySQL forgets the text itself where it may grow.
    let grown = growth.saturating_mul(places);
    Ok(text_of(derivation, common, if grown > 0 { grown } else { length(derivation, 0) }))
}

/// REPLACE compares bytes, whatever the collation.
fn replace(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(text), Some(from), Some(to)) = (call.text(0)?, call.text(1)?, call.text(2)?) else {
        return Ok(Value::Null);
    };
    if from.is_empty() || from.len() > text.len() {
        return Ok(Value::Bytes(text.into_owned()));
    }
    let (charset, limit) = (result_charset(call), call.context().facts().max_allowed_packet);
    let replaced = build::replace(&text, &from, &to, charset, limit, call.interrupt())?;
    Ok(replaced.map_or_else(|| null_for_too_long(call), Value::Bytes))
}

fn derive_elt(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    if let [number, texts @ ..] = &mut *derivation.arguments {
        json::make_integer(number);
        texts.iter_mut().for_each(json::make_text);
    }
    let common = derivation.collation(1..derivation.count())?;
    let longest = (1..derivation.count()).map(|index| length(derivation, index)).max().unwrap_or(0);
    Ok(part_of(derivation, common, longest).nullable())
}

fn elt(call: &mut Call<'_>) -> SqlResult<Value> {
    let chosen = call.integer(0)?.and_then(|number| usize::try_from(number).ok()).unwrap_or(0);
    if chosen == 0 || chosen >= call.count() {
        return Ok(Value::Null);
    }
    Ok(call.text(chosen)?.map_or(Value::Null, |text| Value::Bytes(text.into_owned())))
}

fn derive_make_set(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(1..derivation.count())?;
    let characters = total_length(derivation, common, 1) + derivation.count() as u64 - 2;
    Ok(text_of(derivation, common, characters))
}

fn make_set(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(bits) = call.unsigned(0)? else { return Ok(Value::Null) };
    let charset = result_charset(call);
    let mut out = Vec::new();
    let mut first = true;
    for index in 1..call.count().min(65) {
        if bits >> (index - 1) & 1 == 0 {
            continue;
        }
        let Some(text) = call.text(index)? else { continue };
        if !first {
            charset.push(u32::from(b','), &mut out);
        }
        first = false;
        out.extend_from_slice(&text);
        call.hold_only(out.len())?;
    }
    Ok(Value::Bytes(out))
}

fn derive_export_set(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(1..derivation.count().min(4))?;
    let separator = if derivation.count() > 3 { length_in(derivation, common, 3) } else { 1 };
    let longest = length_in(derivation, common, 1).max(length_in(derivation, common, 2));
    Ok(text_of(derivation, common, longest * 64 + separator * 63))
}

fn export_set(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(bits), Some(on), Some(off)) = (call.unsigned(0)?, call.text(1)?, call.text(2)?) else {
        return Ok(Value::Null);
    };
    let mut separator = Vec::new();
    if call.count() > 3 {
        let Some(given) = call.text(3)? else { return Ok(Value::Null) };
        separator.extend_from_slice(&given);
    } else {
        result_charset(call).push(u32::from(b','), &mut separator);
    }
    let mut places = 64;
    if call.count() > 4 {
        let Some(given) = call.integer(4)? else { return Ok(Value::Null) };
        places = usize::try_from(given).unwrap_or(64).min(64);
    }
    // As if all places took the longer text.
    let longest = (places * on.len().max(off.len()) + places.saturating_sub(1) * separator.len()) as u64;
    if too_long(call, longest) {
        return Ok(Value::Null);
    }
    Ok(Value::Bytes(build::export_set(bits, &on, &off, &separator, places)))
}

fn derive_same(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(0..1)?;
    Ok(part_of(derivation, common, length(derivation, 0)))
}

fn derive_case(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.collation(0..1)?;
    let growth = if common.collation.get().case_grows() { 2 } else { 1 };
    Ok(part_of(derivation, common, length(derivation, 0).saturating_mul(growth)))
}

fn reverse(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let charset = result_charset(call);
    Ok(Value::Bytes(build::reverse(&text, charset, call.interrupt())?))
}

fn change_case(call: &mut Call<'_>, to_upper: bool) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let collation = call.result().collation().get();
    Ok(Value::Bytes(build::change_case(text.into_owned(), collation, to_upper)))
}

/// Characters of `NULL`, which QUOTE makes of NULL.
const QUOTED_NULL_CHARACTERS: u64 = 4;

fn derive_quote(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    if derivation.argument(0).class() == TypeClass::Null {
        return Ok(derivation.connection_text(QUOTED_NULL_CHARACTERS as u32).nullable());
    }
    // Bytes must be text of the connection's character set.
    let argument = &mut derivation.arguments[0];
    let is_text = argument.result.class() == TypeClass::Text;
    if is_text && argument.result.collation() == CollationId::BINARY
        || argument.result.kind() == TypeKind::Bit
    {
        let result = &argument.result;
        let text = ResultType::text(result.text_length(), derivation.connection, result.coercibility);
        let text = text.nullable_if(result.nullable);
        let inner = std::mem::replace(argument, Expression::null());
        *argument = Expression::convert_character_set(inner, text);
    }
    let common = derivation.collation(0..1)?;
    Ok(text_of(derivation, common, (length(derivation, 0) * 2 + 2).max(QUOTED_NULL_CHARACTERS)))
}

fn quote(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.text(0)? else { return Ok(call.text_result("NULL")) };
    let charset = result_charset(call);
    call.wait_for(text.len())?;
    Ok(Value::Bytes(build::quote(&text, charset, call.interrupt())?))
}

/// FORMAT shows at most that many decimals.
const FORMAT_DECIMALS_MAX: i64 = 30;

fn derive_format(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let digits = length(derivation, 0);
    let characters = digits + digits / 3 + FORMAT_DECIMALS_MAX as u64 + 2;
    let nullable = derivation.any_nullable();
    Ok(derivation.connection_text(characters as u32).nullable_if(nullable))
}

fn format(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(decimals) = call.integer(1)? else { return Ok(Value::Null) };
    // MySQL takes the low 32 bits of the number of decimals.
    let decimals = i64::from(decimals as i32).clamp(0, FORMAT_DECIMALS_MAX);
    let mut text = Vec::new();
    match call.argument(0).class() {
        TypeClass::Integer | TypeClass::Decimal => {
            let Some(number) = call.decimal(0)? else { return Ok(Value::Null) };
            let rounding = values::decimal::Rounding::HalfUp;
            number.with_scale(decimals as u8, rounding).unwrap_or(number).append_text(&mut text);
        }
        _ => {
            let Some(number) = call.double(0)? else { return Ok(Value::Null) };
            number::append_fixed(round_double(number, decimals, false), decimals as u8, &mut text);
        }
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    let locale = if call.count() > 2 { chosen_locale(call)? } else { locale::english() };
    Ok(call.text_result(&locale.number(&text)))
}

/// The locale that FORMAT names; `en_US` with warning 1649 for one that is not known.
fn chosen_locale(call: &mut Call<'_>) -> SqlResult<&'static Locale> {
    let name = call.utf8(2)?.unwrap_or_else(|| "NULL".to_owned());
    if let Some(locale) = locale::find(&name) {
        return Ok(locale);
    }
    call.warn(sql_error!(ER_UNKNOWN_LOCALE, name));
    Ok(locale::english())
}
