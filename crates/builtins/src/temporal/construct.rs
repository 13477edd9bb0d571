//! Values made from parts or from another type: DATE, TIME, TIMESTAMP, MAKEDATE, MAKETIME, FROM_DAYS, SEC_TO_TIME and
//! the PERIOD functions.

use super::{cut_time, digits, moment_digits, optional};
use crate::{Call, Derivation, FunctionDefinition, of_moments};
use errors::{SqlResult, sql_error};
use expression::convert::{self, MomentKind, ZeroDates};
use expression::operators::moment_out_of_range;
use expression::result_type::{ResultType, TypeClass};
use functions::temporal::construct;
use functions::temporal::interval::{Interval, add_interval};
use values::Value;
use values::decimal::Rounding;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    of_moments(
        "date",
        1,
        1,
        |_| Ok(ResultType::date().nullable()),
        |call| {
            let moment = call.moment(0, MomentKind::Date, ZeroDates::Stored)?;
            optional(moment.map(|moment| Value::Date(moment.date)))
        },
    ),
    of_moments(
        "time",
        1,
        1,
        |derivation| Ok(ResultType::time(digits(derivation, 0)).nullable()),
        |call| optional(call.time(0)?.map(Value::Time)),
    ),
    of_moments("timestamp", 1, 2, derive_timestamp, timestamp),
    of_moments("makedate", 2, 2, |_| Ok(ResultType::date().nullable()), make_date),
    of_moments(
        "maketime",
        3,
        3,
        |derivation| Ok(ResultType::time(second_digits(derivation, 2)).nullable()),
        make_time,
    ),
    of_moments("from_days", 1, 1, |_| Ok(ResultType::date().nullable()), from_days),
    of_moments(
        "sec_to_time",
        1,
        1,
        |derivation| Ok(ResultType::time(second_digits(derivation, 0)).nullable()),
        seconds_to_time,
    ),
    of_moments("period_add", 2, 2, derive_period, period_add),
    of_moments("period_diff", 2, 2, derive_period, period_difference),
];

/// Fractional digits of a number of seconds: its scale, 6 where it has none.
fn second_digits(derivation: &Derivation<'_>, index: usize) -> u8 {
    let argument = derivation.argument(index);
    match argument.class() {
        TypeClass::Integer => 0,
        _ => argument.scale().min(6),
    }
}

fn derive_timestamp(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let time = if derivation.count() > 1 { digits(derivation, 1) } else { 0 };
    let shown = moment_digits(derivation, 0).max(time);
    Ok(ResultType::datetime(shown).nullable())
}

fn timestamp(call: &mut Call<'_>) -> SqlResult<Value> {
    let zero_dates = if call.count() == 1 { ZeroDates::Stored } else { ZeroDates::None };
    let Some(moment) = call.moment(0, MomentKind::DateTime, zero_dates)? else { return Ok(Value::Null) };
    if call.count() == 1 {
        return Ok(Value::DateTime(moment));
    }
    let Some(time) = call.time(1)? else { return Ok(Value::Null) };
    let interval = Interval { months: 0, microseconds: i128::from(time.to_microseconds()) };
    let sum = add_interval(moment, interval).map(Value::DateTime);
    if sum.is_none() {
        let error = moment_out_of_range("DATETIME", call.whole);
        call.context().diagnostics().warning(error);
    }
    optional(sum)
}

fn make_date(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(year), Some(day)) = (call.integer(0)?, call.integer(1)?) else { return Ok(Value::Null) };
    optional(construct::make_date(year, day).map(Value::Date))
}

/// Digits that seconds have before their point, at most.
const SECOND_DIGITS_MAX: u32 = 18;

fn make_time(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(hour), Some(minute), Some(second)) =
        (call.wide_integer(0)?, call.integer(1)?, call.decimal(2)?)
    else {
        return Ok(Value::Null);
    };
    if second.integer_digits() > SECOND_DIGITS_MAX {
        call.warn(sql_error!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", second));
    }
    let second = convert::decimal_micros(&second);
    let Some(microseconds) = construct::make_time(hour, minute, second) else { return Ok(Value::Null) };
    // MySQL shows the digits of a time of day without their sign.
    let is_number =
        matches!(call.argument(0).class(), TypeClass::Integer | TypeClass::Decimal | TypeClass::Double);
    let hour = if is_number { hour } else { hour.abs() };
    Ok(cut_time(call, microseconds, || format!("{hour:02}:{minute:02}:{:02}", second / 1_000_000)))
}

fn from_days(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(number) = call.integer(0)? else { return Ok(Value::Null) };
    let date = construct::from_days(number);
    if date.is_none() {
        let shown = format!("from_days({})", call.expression(0));
        call.warn(sql_error!(ER_TEMPORAL_FUNCTION_OVERFLOW, "DATE", shown));
    }
    optional(date.map(Value::Date))
}

fn seconds_to_time(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(seconds) = call.decimal(0)? else { return Ok(Value::Null) };
    let bound = i128::from(i64::MAX / 4);
    let microseconds = convert::decimal_micros(&seconds).clamp(-bound, bound) as i64;
    let is_moment = matches!(call.argument(0).class(), TypeClass::DateTime | TypeClass::Time);
    let whole = seconds.with_scale(0, Rounding::Floor).unwrap_or(seconds);
    // Of a moment without a fraction none is shown, of another all of its digits.
    let shown = match is_moment {
        true if whole == seconds => whole,
        true => seconds.padded(6),
        false => seconds,
    };
    Ok(cut_time(call, microseconds, || shown.to_string()))
}

fn derive_period(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let nullable = derivation.any_nullable();
    Ok(ResultType::integer(21).nullable_if(nullable))
}

/// Months since year 0 of a period; error 1210 for what is none.
fn months(call: &Call<'_>, period: i64) -> SqlResult<u64> {
    construct::period_months(period).ok_or_else(|| sql_error!(ER_WRONG_ARGUMENTS, call.name()))
}

/// Both arguments as BIGINT: of greater numbers the bits.
fn two_numbers(call: &mut Call<'_>) -> SqlResult<Option<(i64, i64)>> {
    let (left, right) = (call.unsigned(0)?, call.unsigned(1)?);
    Ok(left.zip(right).map(|(left, right)| (left as i64, right as i64)))
}

/// Months count without a sign: below zero they wrap.
fn period_add(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some((period, count)) = two_numbers(call)? else { return Ok(Value::Null) };
    let months = months(call, period)?.wrapping_add_signed(count);
    Ok(Value::Int(construct::period_of(months)))
}

fn period_difference(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some((left, right)) = two_numbers(call)? else { return Ok(Value::Null) };
    Ok(Value::Int(months(call, left)?.wrapping_sub(months(call, right)?) as i64))
}
