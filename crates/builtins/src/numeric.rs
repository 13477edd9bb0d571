//! Numeric functions: rounding, powers, logarithms, trigonometry, RAND and their kin.
//! Results outside a function's domain are NULL; results beyond DOUBLE are error 1690.

use super::string::constant_integer;
use super::{Call, Derivation, FunctionDefinition, acting, of_numbers};
use errors::SqlResult;
use errors::sql_error;
use expression::operators::out_of_range;
use expression::result_type::{ResultType, TypeClass};
use functions::numeric;
use values::decimal::Rounding;
use values::{ColumnType, Decimal, TypeKind, Value};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    of_numbers("abs", 1, 1, derive_abs, absolute),
    of_numbers("sign", 1, 1, derive_sign, sign),
    of_numbers("ceil", 1, 1, derive_whole, |call| whole(call, Rounding::Ceiling, f64::ceil)),
    of_numbers("ceiling", 1, 1, derive_whole, |call| whole(call, Rounding::Ceiling, f64::ceil)),
    of_numbers("floor", 1, 1, derive_whole, |call| whole(call, Rounding::Floor, f64::floor)),
    of_numbers("round", 1, 2, derive_round, |call| round(call, false)),
    of_numbers("truncate", 2, 2, derive_round, |call| round(call, true)),
    of_numbers("pow", 2, 2, derive_double, power),
    of_numbers("power", 2, 2, derive_double, power),
    of_numbers("sqrt", 1, 1, derive_double, |call| real(call, |x| (x >= 0.0).then(|| x.sqrt()))),
    of_numbers("exp", 1, 1, derive_double, |call| real(call, |x| Some(x.exp()))),
    of_numbers("ln", 1, 1, derive_double, |call| logarithm(call, f64::ln)),
    of_numbers("log", 1, 2, derive_double, log),
    of_numbers("log2", 1, 1, derive_double, |call| logarithm(call, f64::log2)),
    of_numbers("log10", 1, 1, derive_double, |call| logarithm(call, f64::log10)),
    of_numbers("sin", 1, 1, derive_double, |call| real(call, |x| Some(x.sin()))),
    of_numbers("cos", 1, 1, derive_double, |call| real(call, |x| Some(x.cos()))),
    of_numbers("tan", 1, 1, derive_double, |call| real(call, |x| Some(x.tan()))),
    of_numbers("cot", 1, 1, derive_double, cotangent),
    of_numbers("asin", 1, 1, derive_double, |call| {
        real(call, |x| (-1.0..=1.0).contains(&x).then(|| x.asin()))
    }),
    of_numbers("acos", 1, 1, derive_double, |call| {
        real(call, |x| (-1.0..=1.0).contains(&x).then(|| x.acos()))
    }),
    of_numbers("atan", 1, 2, derive_double, arc_tangent),
    of_numbers("atan2", 1, 2, derive_double, arc_tangent),
    of_numbers("degrees", 1, 1, derive_total, |call| {
        real(call, |x| Some(x * (180.0 / std::f64::consts::PI) + 0.0))
    }),
    of_numbers("radians", 1, 1, derive_total, |call| {
        real(call, |x| Some(x * (std::f64::consts::PI / 180.0) + 0.0))
    }),
    of_numbers("pi", 0, 0, derive_pi, |_| Ok(Value::Double(std::f64::consts::PI))),
    acting("rand", 0, 1, derive_total, random),
];

fn derive_double(_: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::double().nullable())
}

/// DOUBLE that is NULL only for NULL.
fn derive_total(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::double().nullable_if(derivation.any_nullable()))
}

/// 3.141593: shown with six decimals.
fn derive_pi(_: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let column_type = ColumnType { length: Some(8), decimals: Some(6), ..ColumnType::new(TypeKind::Double) };
    Ok(ResultType { column_type, ..ResultType::double() })
}

fn derive_sign(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::integer(21).nullable_if(derivation.any_nullable()))
}

fn derive_abs(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let argument = derivation.argument(0);
    let result = match argument.class() {
        TypeClass::Integer if argument.column_type.is_unsigned_integer() => {
            ResultType::unsigned(argument.text_length())
        }
        TypeClass::Integer => ResultType::integer(argument.text_length()),
        TypeClass::Decimal => argument.clone(),
        _ => {
            let mut result = ResultType::scaled_double(argument.scale());
            // The literal `x'41'` is an unsigned number, and stays so in name.
            result.column_type.unsigned = argument.is_number_bytes() && argument.column_type.unsigned;
            result
        }
    };
    Ok(result.nullable_if(derivation.any_nullable()))
}

fn absolute(call: &mut Call<'_>) -> SqlResult<Value> {
    Ok(match call.result().class() {
        TypeClass::Integer => match call.wide_integer(0)? {
            None => Value::Null,
            Some(number) if call.result().column_type.unsigned => Value::UInt(number.unsigned_abs() as u64),
            Some(number) => match i64::try_from(number.abs()) {
                Ok(number) => Value::Int(number),
                Err(_) => return Err(out_of_range_call("BIGINT", call)),
            },
        },
        TypeClass::Decimal => match call.decimal(0)? {
            Some(number) => exact_result(call, number.absolute())?,
            None => Value::Null,
        },
        _ => call.double(0)?.map_or(Value::Null, |number| Value::Double(number.abs())),
    })
}

fn out_of_range_call(kind: &str, call: &Call<'_>) -> errors::SqlError {
    out_of_range(kind, call.whole)
}

fn sign(call: &mut Call<'_>) -> SqlResult<Value> {
    let sign = match call.argument(0).class() {
        TypeClass::Integer => call.wide_integer(0)?.map(|number| number.signum() as i64),
        TypeClass::Decimal => call.decimal(0)?.map(|number| match (number.is_zero(), number.is_negative()) {
            (true, _) => 0,
            (_, true) => -1,
            _ => 1,
        }),
        _ => call.double(0)?.map(|number| if number > 0.0 { 1 } else { -i64::from(number < 0.0) }),
    };
    Ok(sign.map_or(Value::Null, Value::Int))
}

/// CEIL and FLOOR: an integer for exact numbers as long as it fits, otherwise what comes in.
fn derive_whole(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let argument = derivation.argument(0);
    let result = match argument.class() {
        TypeClass::Integer if argument.column_type.is_unsigned_integer() => ResultType::unsigned(21),
        TypeClass::Integer => ResultType::integer(21),
        TypeClass::Decimal if argument.integer_digits() < 18 => ResultType::integer(21),
        TypeClass::Decimal => ResultType::decimal(argument.integer_digits() + 1, 0),
        _ => ResultType::double(),
    };
    Ok(result.nullable_if(derivation.any_nullable()))
}

fn whole(call: &mut Call<'_>, rounding: Rounding, of_double: fn(f64) -> f64) -> SqlResult<Value> {
    if call.argument(0).class() == TypeClass::Integer {
        return call.value(0);
    }
    if call.result().class() == TypeClass::Double {
        return Ok(call.double(0)?.map_or(Value::Null, |number| Value::Double(of_double(number))));
    }
    let Some(number) = call.decimal(0)? else { return Ok(Value::Null) };
    let rounded = number.rounded(0, rounding).unwrap_or(number);
    exact_result(call, rounded)
}

/// An exact number in the result's type.
fn exact_result(call: &Call<'_>, number: Decimal) -> SqlResult<Value> {
    if call.result().class() == TypeClass::Integer {
        return number
            .to_i64(Rounding::HalfUp)
            .map(Value::Int)
            .map_err(|_| out_of_range_call("BIGINT", call));
    }
    Ok(Value::Decimal(number.shown_with(call.result().scale())))
}

/// The constant number of digits to round to; None if it varies.
fn constant_digits(derivation: &Derivation<'_>) -> Option<i64> {
    if derivation.count() == 1 {
        return Some(0);
    }
    match derivation.constant(1)? {
        Value::Null => Some(0),
        Value::UInt(digits) => Some(i64::try_from(*digits).unwrap_or(i64::MAX)),
        _ => constant_integer(derivation, 1),
    }
}

fn derive_round(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let digits = constant_digits(derivation);
    let truncates = derivation.name == "truncate";
    let argument = derivation.argument(0);
    let result = match argument.class() {
        TypeClass::Integer if argument.column_type.unsigned || argument.kind() == TypeKind::Year => {
            ResultType::unsigned(21)
        }
        TypeClass::Integer => ResultType::integer(21),
        TypeClass::Decimal => {
            let (whole, scale) = (argument.integer_digits(), argument.scale());
            let kept = digits.map_or(scale, |digits| digits.clamp(0, i64::from(scale)) as u8);
            let carries = kept < scale && !truncates;
            ResultType::decimal((whole + u32::from(carries) + u32::from(kept)).max(1), kept)
        }
        _ => ResultType::double(),
    };
    Ok(result.nullable_if(derivation.any_nullable() || digits.is_none()))
}

fn round(call: &mut Call<'_>, truncates: bool) -> SqlResult<Value> {
    let digits = match call.count() {
        1 => 0,
        _ => match call.integer(1)? {
            None => return Ok(Value::Null),
            Some(digits) => digits,
        },
    };
    let digits = digits.clamp(-400, 400);
    match call.result().class() {
        TypeClass::Integer => round_integer(call, digits, truncates),
        TypeClass::Decimal => {
            let Some(number) = call.decimal(0)? else { return Ok(Value::Null) };
            let rounding = if truncates { Rounding::TowardZero } else { Rounding::HalfUp };
            let scale = call.result().column_type.decimals.unwrap_or(0);
            let rounded = number.rounded(digits.min(i64::from(scale)), rounding).unwrap_or(number);
            Ok(Value::Decimal(rounded.with_scale(scale, rounding).unwrap_or(rounded)))
        }
        _ => {
            let number = call.double(0)?;
            Ok(number.map_or(Value::Null, |number| {
                Value::Double(numeric::round_double(number, digits, truncates))
            }))
        }
    }
}

fn round_integer(call: &mut Call<'_>, digits: i64, truncates: bool) -> SqlResult<Value> {
    let Some(number) = call.wide_integer(0)? else { return Ok(Value::Null) };
    let unsigned = call.result().column_type.unsigned;
    let rounded = numeric::round_integer(number, digits, truncates);
    if unsigned {
        return u64::try_from(rounded)
            .map(Value::UInt)
            .map_err(|_| out_of_range_call("BIGINT UNSIGNED", call));
    }
    i64::try_from(rounded).map(Value::Int).map_err(|_| out_of_range_call("BIGINT", call))
}

fn real(call: &mut Call<'_>, function: fn(f64) -> Option<f64>) -> SqlResult<Value> {
    let Some(number) = call.double(0)? else { return Ok(Value::Null) };
    match function(number) {
        None => Ok(Value::Null),
        Some(result) => finite(call, result),
    }
}

fn finite(call: &Call<'_>, result: f64) -> SqlResult<Value> {
    if result.is_finite() { Ok(Value::Double(result)) } else { Err(out_of_range_call("DOUBLE", call)) }
}

fn power(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(base), Some(exponent)) = (call.double(0)?, call.double(1)?) else { return Ok(Value::Null) };
    finite(call, base.powf(exponent))
}

fn logarithm(call: &mut Call<'_>, function: fn(f64) -> f64) -> SqlResult<Value> {
    let Some(number) = call.double(0)? else { return Ok(Value::Null) };
    if number <= 0.0 { invalid_logarithm(call) } else { Ok(Value::Double(function(number))) }
}

fn invalid_logarithm(call: &mut Call<'_>) -> SqlResult<Value> {
    call.warn(sql_error!(ER_INVALID_ARGUMENT_FOR_LOGARITHM));
    Ok(Value::Null)
}

fn log(call: &mut Call<'_>) -> SqlResult<Value> {
    if call.count() == 1 {
        return logarithm(call, f64::ln);
    }
    let (Some(base), Some(number)) = (call.double(0)?, call.double(1)?) else { return Ok(Value::Null) };
    if base <= 0.0 || number <= 0.0 || base == 1.0 {
        return invalid_logarithm(call);
    }
    Ok(Value::Double(number.ln() / base.ln()))
}

fn cotangent(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(number) = call.double(0)? else { return Ok(Value::Null) };
    finite(call, 1.0 / number.tan())
}

fn arc_tangent(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(first) = call.double(0)? else { return Ok(Value::Null) };
    if call.count() == 1 {
        return Ok(Value::Double(first.atan()));
    }
    let Some(second) = call.double(1)? else { return Ok(Value::Null) };
    Ok(Value::Double(first.atan2(second)))
}

/// RAND(): from the session's state. RAND(n): from a state of its own; a constant n seeds it once a statement.
fn random(call: &mut Call<'_>) -> SqlResult<Value> {
    if call.count() == 0 {
        return Ok(Value::Double(numeric::next_random(call.context().session().random_state())));
    }
    let constant = call.expression(0).literal().is_some();
    if let Some(state) = call.state().as_mut().and_then(|state| state.downcast_mut::<[u32; 2]>())
        && constant
    {
        return Ok(Value::Double(numeric::next_random(state)));
    }
    let seed = call.integer(0)?.unwrap_or(0);
    let mut state = numeric::seeded(seed as u64);
    let number = numeric::next_random(&mut state);
    *call.state() = Some(Box::new(state));
    Ok(Value::Double(number))
}
