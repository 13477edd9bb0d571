//! Differences and sums: DATEDIFF, TIMEDIFF, TIMESTAMPDIFF, TIMESTAMPADD, ADDTIME, SUBTIME.

use super::parts::{MOMENT_NUMBER_MIN, has_date};
use super::{calendar_moment, counted_moment, digits, optional, time_value};
use crate::{Call, Derivation, FunctionDefinition, of_moments};
use errors::{Diagnostics, SqlResult, sql_error};
use expression::convert::{self, MomentKind, ZeroDates};
use expression::operators::moment_out_of_range;
use expression::result_type::{ResultType, TypeClass};
use functions::temporal::difference::{looks_like_date, units_between};
use functions::temporal::interval::{Interval, add_interval};
use functions::text::to_utf8;
use values::temporal::{DateRules, DateTime, IntervalUnit, Time, parse_date_time, parse_time};
use values::{TypeKind, Value, ValueRef};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    of_moments("datediff", 2, 2, |_| Ok(ResultType::integer(9).nullable()), date_difference),
    of_moments("timediff", 2, 2, derive_time_difference, time_difference),
    of_moments("timestampdiff", 3, 3, |_| Ok(ResultType::integer(21).nullable()), timestamp_difference),
    of_moments("addtime", 2, 2, derive_add_time, |call| add_time(call, 1)),
    of_moments("subtime", 2, 2, derive_add_time, |call| add_time(call, -1)),
];

fn date_difference(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(left), Some(right)) = (counted_moment(call, 0)?, counted_moment(call, 1)?) else {
        return Ok(Value::Null);
    };
    Ok(Value::Int(i64::from(left.date.day_number()) - i64::from(right.date.day_number())))
}

fn derive_time_difference(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let shown = digits(derivation, 0).max(digits(derivation, 1));
    Ok(ResultType::time(shown).nullable())
}

/// An argument as a moment or as a span.
pub(super) enum Place {
    Moment(DateTime),
    Span(Time),
}

/// From here on a number has the digits of a date.
const DATE_NUMBER_MIN: f64 = 1e7;

/// Whether a number with a fraction is as far below zero as dates are above it.
fn is_far_back(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Decimal(number) => number.to_f64() <= -DATE_NUMBER_MIN,
        ValueRef::Double(number) => number <= -DATE_NUMBER_MIN,
        _ => false,
    }
}

/// Reads an argument once. None for NULL and, with a warning, for what is neither.
pub(super) fn place(call: &mut Call<'_>, index: usize) -> SqlResult<Option<Place>> {
    let (class, column_type) = (call.argument(index).class(), &call.argument(index).column_type);
    call.look_before(index)?;
    let value = call.operand(index)?;
    let text = match (value.as_ref(), class) {
        (ValueRef::Null, _) => return Ok(None),
        (value, TypeClass::Text) => values::convert::to_text(value, column_type),
        _ => None,
    };
    let text = text.map(|text| to_utf8(&text, column_type.collation));
    let is_moment = match &text {
        Some(text) => looks_like_date(text.as_bytes()),
        None => has_date(value.as_ref(), column_type, class) || is_far_back(value.as_ref()),
    };
    if let (ValueRef::Double(number), TypeClass::Double) = (value.as_ref(), class)
        && number.abs() >= MOMENT_NUMBER_MIN
    {
        // It is read as an exact number, which reports what is none.
        convert::to_decimal(value.as_ref(), column_type, call.context())?;
    }
    let rules = DateRules {
        allow_invalid_dates: true,
        ..ZeroDates::Parts.rules(text.is_some(), call.context().facts())
    };
    let parsed = text.as_ref().filter(|_| is_moment).and_then(|text| parse_date_time(text.as_bytes(), rules));
    if let Some(parsed) = parsed.filter(|parsed| parsed.offset_seconds.is_none()) {
        return Ok(parsed.rounded(6).map(Place::Moment));
    }
    let is_span = text.as_ref().is_none_or(|text| parse_time(text.as_bytes()).is_some());
    if is_moment || !is_span {
        let (kind, zero_dates) = (MomentKind::DateTime, ZeroDates::Parts);
        let found = convert::to_moment(value.as_ref(), column_type, kind, zero_dates, call.context())?;
        return Ok(found.map(Place::Moment));
    }
    let is_short = match value.as_ref() {
        ValueRef::Int(number) => number < DATE_NUMBER_MIN as i64,
        ValueRef::UInt(number) => column_type.kind != TypeKind::Year && number < DATE_NUMBER_MIN as u64,
        ValueRef::Decimal(number) => number.to_f64().abs() < DATE_NUMBER_MIN,
        ValueRef::Double(number) => number.abs() < DATE_NUMBER_MIN,
        _ => false,
    };
    if text.is_some() || is_short || matches!(class, TypeClass::Time | TypeClass::DateTime) {
        return Ok(convert::to_span(value.as_ref(), column_type, call.context())?.map(Place::Span));
    }
    // A number that is neither is no moment, unless it is too short for a date.
    let span = values::convert::to_time(value.as_ref(), column_type, &mut Diagnostics::new(0));
    if span.is_none() {
        convert::warn_no_moment(MomentKind::DateTime, value.as_ref(), column_type, call.context());
    }
    Ok(span.map(Place::Span))
}

fn time_difference(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(left) = place(call, 0)? else { return Ok(Value::Null) };
    let Some(right) = place(call, 1)? else { return Ok(Value::Null) };
    let microseconds = match (left, right) {
        (Place::Moment(left), Place::Moment(right)) => left.epoch_microseconds() - right.epoch_microseconds(),
        (Place::Span(left), Place::Span(right)) => left.to_microseconds() - right.to_microseconds(),
        _ => return Ok(Value::Null),
    };
    Ok(time_value(call, microseconds))
}

fn timestamp_difference(call: &mut Call<'_>) -> SqlResult<Value> {
    let unit = match call.expression(0).literal() {
        Some(Value::Bytes(name)) => std::str::from_utf8(name).ok().and_then(IntervalUnit::from_name),
        _ => None,
    };
    let Some(from) = calendar_moment(call, 1, MomentKind::DateTime)? else { return Ok(Value::Null) };
    let Some(to) = calendar_moment(call, 2, MomentKind::DateTime)? else { return Ok(Value::Null) };
    optional(unit.and_then(|unit| units_between(unit, &from, &to)).map(Value::Int))
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
    let Some(start) = place(call, 0)? else { return Ok(Value::Null) };
    let Some(time) = call.time(1)? else { return Ok(Value::Null) };
    let microseconds = sign * time.to_microseconds();
    match start {
        Place::Moment(moment) => add_to_moment(call, moment, microseconds),
        Place::Span(span) => add_to_span(call, span, microseconds),
    }
}

fn add_to_moment(call: &mut Call<'_>, moment: DateTime, microseconds: i64) -> SqlResult<Value> {
    let is_text = call.argument(0).class() == TypeClass::Text;
    if moment.date.month == 0 || moment.date.day == 0 || is_text && !moment.date.is_real() {
        if is_text {
            let shown = call.utf8(0)?.unwrap_or_default();
            let kind = if shown.contains(':') { "datetime" } else { "date" };
            call.warn(sql_error!(ER_TRUNCATED_WRONG_VALUE, kind, shown));
        }
        return Ok(Value::Null);
    }
    let interval = Interval { months: 0, microseconds: i128::from(microseconds) };
    let Some(end) = add_interval(moment, interval) else {
        call.warn(moment_out_of_range("DATETIME", call.whole));
        return Ok(Value::Null);
    };
    let shown = if end.microsecond == 0 { 0 } else { 6 };
    Ok(match call.result().class() {
        TypeClass::Text => call.text_result(&convert::datetime_text(end, shown)),
        _ => Value::DateTime(end),
    })
}

fn add_to_span(call: &mut Call<'_>, span: Time, microseconds: i64) -> SqlResult<Value> {
    let as_text = call.result().class() == TypeClass::Text;
    let (end, cut) = Time::from_microseconds(span.to_microseconds() + microseconds);
    if cut {
        call.warn(moment_out_of_range("TIME", call.whole));
        if !as_text {
            return Ok(Value::Null);
        }
    }
    Ok(if as_text { call.text_result(&shown_time(end)) } else { Value::Time(end) })
}

fn shown_time(time: Time) -> String {
    convert::time_text(time, if time.microseconds == 0 { 0 } else { 6 })
}
