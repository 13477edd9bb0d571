//! Values made from parts or from another type: DATE, TIME, TIMESTAMP, MAKEDATE, MAKETIME, FROM_DAYS, SEC_TO_TIME and
//! the PERIOD functions.

use super::{digits, optional, time_value};
use crate::convert::{self, MomentKind, ZeroDates};
use crate::functions::{Call, Derivation, FunctionDefinition, pure};
use crate::result_type::{ResultType, TypeClass};
use errors::{SqlResult, sql_error};
use values::Value;
use values::temporal::{DAY_NUMBER_MAX, Date};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure(
        "date",
        1,
        1,
        |_| Ok(ResultType::date().nullable()),
        |call| {
            let moment = call.moment(0, MomentKind::Date, ZeroDates::Stored)?;
            optional(moment.map(|moment| Value::Date(moment.date)))
        },
    ),
    pure(
        "time",
        1,
        1,
        |derivation| Ok(ResultType::time(digits(derivation, 0)).nullable()),
        |call| optional(call.time(0)?.map(Value::Time)),
    ),
    pure("timestamp", 1, 2, derive_timestamp, timestamp),
    pure("makedate", 2, 2, |_| Ok(ResultType::date().nullable()), make_date),
    pure(
        "maketime",
        3,
        3,
        |derivation| Ok(ResultType::time(second_digits(derivation, 2)).nullable()),
        make_time,
    ),
    pure("from_days", 1, 1, |_| Ok(ResultType::date().nullable()), from_days),
    pure(
        "sec_to_time",
        1,
        1,
        |derivation| Ok(ResultType::time(second_digits(derivation, 0)).nullable()),
        seconds_to_time,
    ),
    pure("period_add", 2, 2, derive_period, period_add),
    pure("period_diff", 2, 2, derive_period, period_difference),
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
    let shown = (0..derivation.count()).map(|index| digits(derivation, index)).max().unwrap_or(0);
    Ok(ResultType::datetime(shown).nullable())
}

fn timestamp(call: &mut Call<'_>) -> SqlResult<Value> {
    let zero_dates = if call.count() == 1 { ZeroDates::Stored } else { ZeroDates::None };
    let Some(moment) = call.moment(0, MomentKind::DateTime, zero_dates)? else { return Ok(Value::Null) };
    if call.count() == 1 {
        return Ok(Value::DateTime(moment));
    }
    let Some(time) = call.time(1)? else { return Ok(Value::Null) };
    let interval = crate::operators::Interval { months: 0, microseconds: i128::from(time.to_microseconds()) };
    let sum = crate::operators::add_interval(moment, interval).map(Value::DateTime);
    if sum.is_none() {
        let error = crate::operators::moment_out_of_range("DATETIME", call.whole);
        call.context().diagnostics().warning(error);
    }
    optional(sum)
}

fn make_date(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(year), Some(day)) = (call.integer(0)?, call.integer(1)?) else { return Ok(Value::Null) };
    if !(0..=9999).contains(&year) || day <= 0 {
        return Ok(Value::Null);
    }
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    };
    let first = i64::from(Date::new(year as u16, 1, 1).day_number());
    let number = first.checked_add(day - 1).and_then(|number| u32::try_from(number).ok());
    optional(
        number
            .filter(|number| *number <= DAY_NUMBER_MAX)
            .map(|number| Value::Date(Date::from_day_number(number))),
    )
}

fn make_time(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(hour), Some(minute), Some(second)) =
        (call.wide_integer(0)?, call.integer(1)?, call.decimal(2)?)
    else {
        return Ok(Value::Null);
    };
    let second = convert::decimal_micros(&second);
    if !(0..=59).contains(&minute) || !(0..60_000_000).contains(&second) {
        return Ok(Value::Null);
    }
    let hours = hour.unsigned_abs().min(1 << 30) as i64;
    let magnitude = (hours * 3600 + minute * 60) * 1_000_000 + second as i64;
    Ok(time_value(call, if hour < 0 { -magnitude } else { magnitude }))
}

/// Days of the year 0, for FROM_DAYS.
const YEAR_ZERO_DAYS: u32 = 365;

fn from_days(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(number) = call.integer(0)? else { return Ok(Value::Null) };
    let day = u32::try_from(number).ok().filter(|number| (1..=DAY_NUMBER_MAX).contains(number));
    let Some(day) = day else {
        let shown = format!("from_days({})", call.expression(0));
        call.warn(sql_error!(ER_TEMPORAL_FUNCTION_OVERFLOW, "DATE", shown));
        return Ok(Value::Null);
    };
    if day <= YEAR_ZERO_DAYS {
        // The year 0 has the months of the year after it.
        let next_year = Date::from_day_number(day + YEAR_ZERO_DAYS);
        return Ok(Value::Date(Date { year: 0, ..next_year }));
    }
    Ok(Value::Date(Date::from_day_number(day)))
}

fn seconds_to_time(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(seconds) = call.decimal(0)? else { return Ok(Value::Null) };
    let bound = i128::from(i64::MAX / 4);
    let microseconds = convert::decimal_micros(&seconds).clamp(-bound, bound) as i64;
    Ok(time_value(call, microseconds))
}

fn derive_period(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let nullable = derivation.any_nullable();
    Ok(ResultType::integer(21).nullable_if(nullable))
}

/// Months since year 0 of a period YYMM or YYYYMM; error 1210 for what is none.
fn months(call: &Call<'_>, period: i64) -> SqlResult<u64> {
    let (year, month) = (period / 100, period % 100);
    if period <= 0 || !(1..=12).contains(&month) {
        return Err(sql_error!(ER_WRONG_ARGUMENTS, call.name()));
    }
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    };
    Ok(year.unsigned_abs().wrapping_mul(12).wrapping_add(month.unsigned_abs() - 1))
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
    let year = match months / 12 {
        year @ 0..=69 => year + 2000,
        year @ 70..=99 => year + 1900,
        year => year,
    };
    let period = if months == 0 { 0 } else { year.wrapping_mul(100).wrapping_add(months % 12 + 1) };
    Ok(Value::Int(period as i64))
}

fn period_difference(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some((left, right)) = two_numbers(call)? else { return Ok(Value::Null) };
    Ok(Value::Int(months(call, left)?.wrapping_sub(months(call, right)?) as i64))
}
