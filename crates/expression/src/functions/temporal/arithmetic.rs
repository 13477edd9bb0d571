//! Differences and sums: DATEDIFF, TIMEDIFF, TIMESTAMPDIFF, TIMESTAMPADD, ADDTIME, SUBTIME.

use super::{calendar_moment, digits, is_time, optional, time_value};
use crate::convert;
use crate::convert::MomentKind;
use crate::functions::{Call, Derivation, FunctionDefinition, pure};
use crate::operators::{Interval, IntervalUnit, add_interval, time_out_of_range};
use crate::result_type::{ResultType, TypeClass};
use errors::{SqlResult, sql_error};
use values::temporal::{DateTime, Time};
use values::{TypeKind, Value};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("datediff", 2, 2, |_| Ok(ResultType::integer(9).nullable()), date_difference),
    pure("timediff", 2, 2, derive_time_difference, time_difference),
    pure("timestampdiff", 3, 3, |_| Ok(ResultType::integer(21).nullable()), timestamp_difference),
    pure("addtime", 2, 2, derive_add_time, |call| add_time(call, 1)),
    pure("subtime", 2, 2, derive_add_time, |call| add_time(call, -1)),
];

fn date_difference(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(left), Some(right)) =
        (calendar_moment(call, 0, MomentKind::Date)?, calendar_moment(call, 1, MomentKind::Date)?)
    else {
        return Ok(Value::Null);
    };
    Ok(Value::Int(i64::from(left.date.day_number()) - i64::from(right.date.day_number())))
}

fn derive_time_difference(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let shown = digits(derivation, 0).max(digits(derivation, 1));
    Ok(ResultType::time(shown).nullable())
}

/// An argument as microseconds on a line, and whether it has a date.
fn on_line(call: &mut Call<'_>, index: usize) -> SqlResult<Option<(i64, bool)>> {
    let has_date = match call.argument(index).class() {
        TypeClass::DateTime => true,
        TypeClass::Text => call.text(index)?.is_some_and(|text| looks_like_date(&text)),
        _ => false,
    };
    if has_date {
        return Ok(call.datetime(index)?.map(|moment| (moment.epoch_microseconds(), true)));
    }
    Ok(call.time(index)?.map(|time| (time.to_microseconds(), false)))
}

/// Whether a text holds a date (and maybe a time) rather than a time only.
fn looks_like_date(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match text.get(digits) {
        Some(b'-' | b'/') => digits > 0,
        None => digits >= 12,
        _ => false,
    }
}

fn time_difference(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(left), Some(right)) = (on_line(call, 0)?, on_line(call, 1)?) else { return Ok(Value::Null) };
    if left.1 != right.1 {
        return Ok(Value::Null);
    }
    Ok(time_value(call, left.0 - right.0))
}

fn timestamp_difference(call: &mut Call<'_>) -> SqlResult<Value> {
    let unit = match call.expression(0).literal() {
        Some(Value::Bytes(name)) => std::str::from_utf8(name).ok().and_then(IntervalUnit::from_name),
        _ => None,
    };
    let (Some(from), Some(to)) =
        (calendar_moment(call, 1, MomentKind::DateTime)?, calendar_moment(call, 2, MomentKind::DateTime)?)
    else {
        return Ok(Value::Null);
    };
    let microseconds = to.microseconds_since(&from);
    let seconds = microseconds / 1_000_000;
    let months = whole_months(&from, &to);
    optional(match unit {
        Some(IntervalUnit::Microsecond) => Some(Value::Int(microseconds)),
        Some(IntervalUnit::Second) => Some(Value::Int(seconds)),
        Some(IntervalUnit::Minute) => Some(Value::Int(seconds / 60)),
        Some(IntervalUnit::Hour) => Some(Value::Int(seconds / 3600)),
        Some(IntervalUnit::Day) => Some(Value::Int(seconds / 86_400)),
        Some(IntervalUnit::Week) => Some(Value::Int(seconds / 604_800)),
        Some(IntervalUnit::Month) => Some(Value::Int(months)),
        Some(IntervalUnit::Quarter) => Some(Value::Int(months / 3)),
        Some(IntervalUnit::Year) => Some(Value::Int(months / 12)),
        _ => None,
    })
}

/// Full months from one moment to another.
fn whole_months(from: &DateTime, to: &DateTime) -> i64 {
    if to < from {
        return -whole_months(to, from);
    }
    let month = |moment: &DateTime| i64::from(moment.date.year) * 12 + i64::from(moment.date.month);
    let in_month =
        |moment: &DateTime| (moment.date.day, moment.hour, moment.minute, moment.second, moment.microsecond);
    month(to) - month(from) - i64::from(in_month(to) < in_month(from))
}

fn derive_add_time(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let shown = digits(derivation, 0).max(digits(derivation, 1));
    let result = match derivation.argument(0).kind() {
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => ResultType::datetime(shown),
        TypeKind::Time => ResultType::time(shown),
        _ => ResultType::moment_text(derivation.connection),
    };
    Ok(result.nullable())
}

fn add_time(call: &mut Call<'_>, sign: i64) -> SqlResult<Value> {
    let Some((start, has_date)) = on_line(call, 0)? else { return Ok(Value::Null) };
    let second_has_date = call.argument(1).class() == TypeClass::DateTime
        || !is_time(call.argument(1)) && call.text(1)?.is_some_and(|text| looks_like_date(&text));
    if second_has_date {
        return Ok(Value::Null);
    }
    let Some(time) = call.time(1)? else { return Ok(Value::Null) };
    let microseconds = sign * time.to_microseconds();
    let as_text = call.result().class() == TypeClass::Text;
    if has_date {
        let Some(moment) = call.datetime(0)? else { return Ok(Value::Null) };
        if moment.date.month == 0 || moment.date.day == 0 {
            if call.argument(0).class() == TypeClass::Text {
                let shown = call.utf8(0)?.unwrap_or_default();
                call.warn(sql_error!(ER_TRUNCATED_WRONG_VALUE, "datetime", shown));
            }
            return Ok(Value::Null);
        }
        let Some(end) = add_interval(moment, Interval { months: 0, microseconds: i128::from(microseconds) })
        else {
            call.warn(sql_error!(ER_DATETIME_FUNCTION_OVERFLOW, "datetime"));
            return Ok(Value::Null);
        };
        let shown = if end.microsecond == 0 { 0 } else { 6 };
        return Ok(if as_text {
            call.text_result(&convert::datetime_text(end, shown))
        } else {
            Value::DateTime(end)
        });
    }
    let (end, cut) = Time::from_microseconds(start + microseconds);
    if cut {
        call.warn(time_out_of_range(call.whole));
        if !as_text {
            return Ok(Value::Null);
        }
    }
    Ok(if as_text { call.text_result(&shown_time(end)) } else { Value::Time(end) })
}

fn shown_time(time: Time) -> String {
    convert::time_text(time, if time.microseconds == 0 { 0 } else { 6 })
}
