//! The time now: NOW, SYSDATE, CURDATE, CURTIME and their UTC forms. All but SYSDATE give the statement's time.

use super::asked_digits;
use crate::{Call, Derivation, FunctionDefinition, acting};
use errors::SqlResult;
use expression::result_type::ResultType;
use functions::temporal::zone::TimeZone;
use values::Value;
use values::temporal::DateTime;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    acting("now", 0, 1, derive_moment, now),
    acting("current_timestamp", 0, 1, derive_moment, now),
    acting("localtime", 0, 1, derive_moment, now),
    acting("localtimestamp", 0, 1, derive_moment, now),
    acting("sysdate", 0, 1, derive_moment, system_date),
    acting("utc_timestamp", 0, 1, derive_moment, |call| {
        let moment = utc(call);
        Ok(Value::DateTime(moment.truncated(result_digits(call))))
    }),
    acting("curdate", 0, 0, |_| Ok(ResultType::date()), current_date),
    acting("current_date", 0, 0, |_| Ok(ResultType::date()), current_date),
    acting("utc_date", 0, 0, |_| Ok(ResultType::date()), |call| Ok(Value::Date(utc(call).date))),
    acting("curtime", 0, 1, derive_time, current_time),
    acting("current_time", 0, 1, derive_time, current_time),
    acting("utc_time", 0, 1, derive_time, |call| {
        let moment = utc(call);
        Ok(Value::Time(moment.time().truncated(result_digits(call))))
    }),
];

fn derive_moment(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::datetime(asked_digits(derivation)?))
}

fn derive_time(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    // The time of day has two digits of hours.
    let mut result = ResultType::time(asked_digits(derivation)?);
    result.column_type.length = Some(8);
    Ok(result)
}

fn result_digits(call: &Call<'_>) -> u8 {
    call.result().column_type.decimals.unwrap_or(0)
}

fn now(call: &mut Call<'_>) -> SqlResult<Value> {
    let moment = call.context().facts().statement_time();
    Ok(Value::DateTime(moment.truncated(result_digits(call))))
}

fn system_date(call: &mut Call<'_>) -> SqlResult<Value> {
    let microseconds = call.context().session().now_microseconds();
    let moment = call.context().facts().time_zone.local(microseconds);
    Ok(Value::DateTime(moment.truncated(result_digits(call))))
}

fn utc(call: &mut Call<'_>) -> DateTime {
    TimeZone::UTC.local(call.context().facts().started.microseconds())
}

fn current_date(call: &mut Call<'_>) -> SqlResult<Value> {
    Ok(Value::Date(call.context().facts().statement_time().date))
}

fn current_time(call: &mut Call<'_>) -> SqlResult<Value> {
    let moment = call.context().facts().statement_time();
    Ok(Value::Time(moment.time().truncated(result_digits(call))))
}
