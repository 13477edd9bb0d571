//! What fits nowhere else: ANY_VALUE, NAME_CONST, SLEEP, BENCHMARK, BIT_COUNT, FORMAT_BYTES, FORMAT_PICO_TIME,
//! LOAD_FILE, WEIGHT_STRING, PS_CURRENT_THREAD_ID.

use super::string::{ANY_LENGTH_CHARACTERS as ANY_LENGTH_BYTES, too_long};
use super::{Call, Derivation, FunctionDefinition, acting, of_documents, pure};
use charset::{Collation, CollationId};
use errors::{SqlResult, sql_error};
use expression::json;
use expression::result_type::{ResultType, TypeClass};
use functions::numeric::{self, Scale};
use functions::pieces;
use functions::string::{integer_weight, moment_weight};
use values::{TypeKind, Value};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    of_documents("any_value", 1, 1, derive_any_value, any_value),
    of_documents("name_const", 2, 2, derive_name_const, |call| call.value(1)),
    acting(
        "sleep",
        1,
        1,
        |derivation| Ok(ResultType::integer(21).nullable_if(derivation.any_nullable())),
        sleep,
    ),
    acting("benchmark", 2, 2, |_| Ok(ResultType::integer(1).nullable()), benchmark),
    of_documents(
        "bit_count",
        1,
        1,
        |derivation| {
            derivation.arguments.iter_mut().for_each(json::make_integer);
            Ok(ResultType::integer(21).nullable_if(derivation.any_nullable()))
        },
        bit_count,
    ),
    pure("format_bytes", 1, 1, derive_formatted, |call| format_scaled(call, &numeric::BYTES)),
    pure("format_pico_time", 1, 1, derive_formatted, |call| format_scaled(call, &numeric::PICOSECONDS)),
    acting("load_file", 1, 1, |_| Ok(ResultType::binary(ANY_LENGTH_BYTES).nullable()), load_file),
    pure("weight_string", 1, 3, derive_weight_string, weight_string),
    acting(
        "ps_current_thread_id",
        0,
        0,
        |_| Ok(ResultType::unsigned(21).nullable()),
        |call| Ok(Value::UInt(call.context().facts().connection_id)),
    ),
];

/// The argument's type; what was the literal `x'41'` is mere bytes.
fn derive_any_value(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let mut result = derivation.argument(0).clone();
    result.column_type.unsigned &= !result.is_number_bytes();
    if result.kind() == TypeKind::Double && result.column_type.decimals.is_none() {
        result = ResultType { nullable: result.nullable, ..ResultType::double() };
    }
    Ok(result)
}

fn any_value(call: &mut Call<'_>) -> SqlResult<Value> {
    Ok(match call.value(0)? {
        Value::Decimal(exact) => Value::Decimal(exact.padded(call.result().scale())),
        value => call.computed(0, value),
    })
}

fn derive_name_const(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let is_plain = |index| {
        let value = derivation.constant(index);
        value.is_some_and(|value| !matches!(value, Value::Date(_) | Value::Time(_) | Value::DateTime(_)))
    };
    if !is_plain(0) || !is_plain(1) {
        return Err(sql_error!(ER_WRONG_ARGUMENTS, "NAME_CONST"));
    }
    Ok(derivation.argument(1).clone().nullable())
}

/// 0 when the time is over, 1 when the statement was killed.
fn sleep(call: &mut Call<'_>) -> SqlResult<Value> {
    let seconds = call.double(0)?.filter(|seconds| *seconds >= 0.0);
    let Some(seconds) = seconds else {
        let error = sql_error!(ER_WRONG_ARGUMENTS, "sleep.");
        if call.context().facts().sql_mode.is_strict() {
            return Err(error);
        }
        call.warn(error);
        return Ok(Value::Int(0));
    };
    let interrupted = call.context().session().sleep(seconds);
    Ok(Value::Int(i64::from(interrupted)))
}

/// Evaluations of BENCHMARK between two looks at whether the statement was killed.
const BENCHMARK_CHECK_INTERVAL: i64 = 256;

fn benchmark(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(count) = call.integer(0)? else { return Ok(Value::Null) };
    if count < 0 {
        call.warn(sql_error!(ER_WRONG_VALUE_FOR_TYPE, "count", count, "benchmark"));
        return Ok(Value::Null);
    }
    for round in 0..count {
        call.value(1)?;
        call.hold_only(0)?;
        if round % BENCHMARK_CHECK_INTERVAL == 0 {
            call.context().check_killed()?;
        }
    }
    Ok(Value::Int(0))
}

fn bit_count(call: &mut Call<'_>) -> SqlResult<Value> {
    let argument = call.argument(0);
    if argument.class() == TypeClass::Text && argument.collation() == CollationId::BINARY {
        let Some(bytes) = call.text(0)? else { return Ok(Value::Null) };
        let mut count = 0;
        pieces::for_each(&bytes, call.interrupt(), |piece| {
            count += piece.iter().map(|byte| i64::from(byte.count_ones())).sum::<i64>();
        })?;
        return Ok(Value::Int(count));
    }
    Ok(call.unsigned(0)?.map_or(Value::Null, |bits| Value::Int(i64::from(bits.count_ones()))))
}

fn derive_formatted(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(derivation.connection_text(11).nullable_if(derivation.any_nullable()))
}

fn format_scaled(call: &mut Call<'_>, scale: &Scale) -> SqlResult<Value> {
    let Some(amount) = call.double(0)? else { return Ok(Value::Null) };
    Ok(call.text_result(&numeric::in_units(amount, scale)))
}

fn load_file(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(path) = call.utf8(0)? else { return Ok(Value::Null) };
    Ok(call.context().session().load_file(&path).map_or(Value::Null, Value::Bytes))
}

/// Bytes of the weight of an integer.
const INTEGER_WEIGHT_BYTES: u32 = 8;

fn derive_weight_string(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    // What MySQL declares for the weights of a character's bytes.
    let argument = derivation.argument(0);
    let collation = argument.collation().get();
    let factor = match collation.name {
        _ if argument.class() != TypeClass::Text => 1,
        name if name.contains("_0900_") && !name.ends_with("_bin") => 16,
        // Collations of older versions of Unicode.
        _ if collation.sort_length == 8 => 8 * u32::from(collation.charset().max_bytes),
        _ => 1,
    };
    let bytes = match argument.class() {
        TypeClass::Text => {
            argument.text_length().saturating_mul(u32::from(argument.collation().charset().max_bytes))
        }
        TypeClass::DateTime | TypeClass::Time if derivation.constant(0).is_none() => INTEGER_WEIGHT_BYTES,
        _ => argument.text_length(),
    };
    Ok(ResultType::binary(bytes.saturating_mul(factor).max(INTEGER_WEIGHT_BYTES)).nullable())
}

/// The weights of a text, or of so many of its characters; integers and moments weigh as index keys do, NULL for other types.
fn weight_string(call: &mut Call<'_>) -> SqlResult<Value> {
    let argument = call.argument(0);
    match argument.class() {
        // A member weighs as its place, which is no negative number.
        TypeClass::Text if argument.kind() == TypeKind::Enum => {
            return Ok(call
                .wide_integer(0)?
                .map_or(Value::Null, |number| Value::Bytes(integer_weight(number))));
        }
        TypeClass::Text => {}
        TypeClass::Integer if argument.column_type.unsigned || argument.kind() == TypeKind::Year => {
            let bits = call.unsigned(0)?;
            return Ok(bits.map_or(Value::Null, |bits| Value::Bytes(bits.to_be_bytes().to_vec())));
        }
        TypeClass::Integer => {
            return Ok(call
                .wide_integer(0)?
                .map_or(Value::Null, |number| Value::Bytes(integer_weight(number))));
        }
        TypeClass::DateTime | TypeClass::Time => {
            return Ok(moment_weight(call.operand(0)?.as_ref()).map_or(Value::Null, Value::Bytes));
        }
        _ => return Ok(Value::Null),
    }
    let collation = call.text_collation(0).get();
    let Some(text) = call.text(0)? else { return Ok(Value::Null) };
    let bytes = if call.count() == 3 { call.integer(2)?.filter(|bytes| *bytes > 0) } else { None };
    let wanted = if call.count() >= 2 { call.integer(1)? } else { None };
    let Some(wanted) = wanted.filter(|wanted| bytes.is_none() || *wanted > 0) else {
        let whole = weights(call, collation, &text)?;
        return fitted(call, collation, whole, bytes);
    };
    let charset = collation.charset();
    let wanted = usize::try_from(wanted).unwrap_or(0);
    let mut shown = charset.prefix(&text, wanted).to_vec();
    if collation.pad_space {
        let missing = wanted.saturating_sub(charset.character_count(&shown));
        let longest = call.context().facts().max_allowed_packet as usize;
        for _ in 0..missing.min(longest) {
            charset.push(u32::from(b' '), &mut shown);
        }
    }
    let shown = weights(call, collation, &shown)?;
    fitted(call, collation, shown, bytes)
}

/// Weights cut to so many bytes, or padded: with the weight of a blank where trailing blanks do not count, else with zeros.
fn fitted(
    call: &mut Call<'_>,
    collation: &Collation,
    weights: Value,
    bytes: Option<i64>,
) -> SqlResult<Value> {
    let Some(bytes) = bytes else { return Ok(weights) };
    let mut fitted = match weights {
        Value::Bytes(fitted) => fitted,
        null => return Ok(null),
    };
    let wanted = usize::try_from(bytes).unwrap_or(0).min(call.context().facts().max_allowed_packet as usize);
    let blank = match collation.pad_space {
        true => {
            let mut blank = Vec::new();
            collation.charset().push(u32::from(b' '), &mut blank);
            match self::weights(call, collation, &blank)? {
                Value::Bytes(blank) => blank,
                _ => Vec::new(),
            }
        }
        false => vec![0],
    };
    while fitted.len() < wanted && !blank.is_empty() {
        fitted.extend_from_slice(&blank);
    }
    fitted.truncate(wanted);
    Ok(Value::Bytes(fitted))
}

/// NULL with warning 1301 for what is longer than max_allowed_packet. MySQL looks at the most that so many characters could weigh.
fn weights(call: &mut Call<'_>, collation: &Collation, text: &[u8]) -> SqlResult<Value> {
    let mut keep_on = || call.context().check_killed().is_ok();
    let Ok(weights) = collation.weight_string(text, &mut keep_on) else {
        call.context().check_killed()?;
        return Ok(Value::Null);
    };
    Ok(if too_long(call, weights.len() as u64) { Value::Null } else { Value::Bytes(weights) })
}
