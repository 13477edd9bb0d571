//! Time zones and the Unix clock: UNIX_TIMESTAMP, FROM_UNIXTIME, CONVERT_TZ.

use super::{digits, format, moment_digits, optional};
use crate::{Call, Derivation, FunctionDefinition, acting, of_moments};
use errors::{SqlResult, sql_error};
use expression::convert::{self as conversion, MomentKind, ZeroDates};
use expression::result_type::{ResultType, TypeClass};
use functions::temporal::zone::{INSTANT_MAX_MICROSECONDS, TimeZone, convert};
use values::temporal::{DateRules, parse_date_time};
use values::{Decimal, Value};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    acting("unix_timestamp", 0, 1, derive_unix_timestamp, unix_timestamp),
    acting("from_unixtime", 1, 2, derive_from_unixtime, from_unixtime),
    acting(
        "convert_tz",
        3,
        3,
        |derivation| Ok(ResultType::datetime(moment_digits(derivation, 0)).nullable()),
        convert_zone,
    ),
];

/// `CAST(.. AT TIME ZONE '+00:00' AS DATETIME)` of a TIMESTAMP, and the digits of the result, which the caller gives its type. No name
/// leads to it from SQL.
pub static AT_TIME_ZONE: FunctionDefinition = of_moments(
    "at time zone",
    2,
    2,
    |derivation| Ok(ResultType::datetime(0).nullable_if(derivation.argument(0).nullable)),
    at_utc,
);

/// Beyond this a number is none of 64 bits.
const INTEGER_MAX: f64 = u64::MAX as f64;
/// Fractional digits where a text does not tell.
const DIGITS_MAX: u8 = 6;
/// Digits of the whole seconds of such an instant.
const SECOND_DIGITS: u32 = 11;

fn derive_unix_timestamp(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let nullable = derivation.any_nullable();
    if derivation.count() == 0 {
        return Ok(ResultType::integer(21));
    }
    let any_day = DateRules { allow_invalid_dates: true, ..DateRules::default() };
    let shown = match derivation.constant(0) {
        // Days that a month lacks are days here.
        Some(Value::Bytes(text)) if !derivation.argument(0).is_number_bytes() => {
            match parse_date_time(text, any_day) {
                None => DIGITS_MAX,
                Some(_) => digits(derivation, 0),
            }
        }
        _ => digits(derivation, 0),
    };
    let result = match shown {
        0 => ResultType::integer(21),
        shown => ResultType::decimal(SECOND_DIGITS + u32::from(shown), shown),
    };
    Ok(result.nullable_if(nullable))
}

fn unix_timestamp(call: &mut Call<'_>) -> SqlResult<Value> {
    if call.count() == 0 {
        return Ok(Value::Int(call.context().facts().started.microseconds().div_euclid(1_000_000)));
    }
    let moment = call.datetime(0)?;
    if moment.is_none() && call.operand(0)?.is_null() {
        return Ok(Value::Null);
    }
    // What is no date counts as the start of time.
    let instant = match moment.filter(|moment| moment.date.month > 0 && moment.date.day > 0) {
        Some(moment) => i128::from(call.context().facts().time_zone.instant(moment)),
        None => 0,
    };
    // The first second has no fraction: it is what anything else before it is.
    let instant = if (1_000_000..=INSTANT_MAX_MICROSECONDS).contains(&instant) { instant } else { 0 };
    let scale = call.result().column_type.decimals.unwrap_or(0);
    if call.result().class() == TypeClass::Integer {
        return Ok(Value::Int((instant / 1_000_000) as i64));
    }
    let unscaled = instant / 10i128.pow(6 - u32::from(scale.min(6)));
    optional(Decimal::from_i128(unscaled, scale.min(6)).map(Value::Decimal))
}

fn derive_from_unixtime(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    if derivation.count() == 2 {
        return format::derive_formatted(derivation, 1);
    }
    let argument = derivation.argument(0);
    let shown = if argument.class() == TypeClass::Integer { 0 } else { argument.scale().min(6) };
    Ok(ResultType::datetime(shown).nullable())
}

fn from_unixtime(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(seconds) = call.decimal(0)? else { return Ok(Value::Null) };
    if seconds.to_f64().abs() > INTEGER_MAX {
        call.warn(sql_error!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", seconds));
    }
    let microseconds = conversion::decimal_micros(&seconds);
    if !(0..=INSTANT_MAX_MICROSECONDS).contains(&microseconds) {
        return Ok(Value::Null);
    }
    let moment = call.context().facts().time_zone.local(microseconds as i64);
    if call.count() == 1 {
        let shown = call.result().column_type.decimals.unwrap_or(6);
        return optional(moment.rounded(shown).map(Value::DateTime));
    }
    format::formatted(call, moment, 1)
}

/// The moment in UTC, without a fraction as in MySQL; NULL for what is no TIMESTAMP can be.
fn at_utc(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(moment) = call.datetime(0)? else { return Ok(Value::Null) };
    let seconds = call.context().facts().time_zone.instant(moment).div_euclid(1_000_000);
    let is_within = seconds > 0 && i128::from(seconds) * 1_000_000 <= INSTANT_MAX_MICROSECONDS;
    Ok(if is_within { Value::DateTime(TimeZone::UTC.local(seconds * 1_000_000)) } else { Value::Null })
}

fn convert_zone(call: &mut Call<'_>) -> SqlResult<Value> {
    let moment = call.moment(0, MomentKind::DateTime, ZeroDates::None)?;
    let Some(moment) = moment else { return Ok(Value::Null) };
    let (Some(from), Some(to)) = (zone(call, 1)?, zone(call, 2)?) else { return Ok(Value::Null) };
    Ok(Value::DateTime(convert(moment, &from, &to)))
}

fn zone(call: &mut Call<'_>, index: usize) -> SqlResult<Option<TimeZone>> {
    let Some(name) = call.utf8(index)? else { return Ok(None) };
    if name.eq_ignore_ascii_case("SYSTEM") {
        return Ok(Some(TimeZone::UTC));
    }
    let fixed = values::temporal::TimeZone::parse(&name).map(|zone| TimeZone::Fixed(zone.offset_seconds()));
    Ok(fixed.or_else(|| call.context().session().time_zone(&name)))
}
