//! Storing to DATE, TIME, DATETIME and TIMESTAMP.

use super::StoreContext;
use crate::column_type::{ColumnType, TypeKind};
use crate::convert::{self, TemporalContext, quoted_text, readable_text};
use crate::temporal::{Date, DateRules, DateTime, Time, parse_time};
use crate::value::Value;
use errors::{SqlError, SqlResult, sql_error};

/// What went wrong with a temporal value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// It is no temporal value, or characters follow it.
    Truncated,
    /// It is one, but outside what the type or sql_mode accepts.
    OutOfRange,
}

/// Error 1292 in strict mode; otherwise warning 1264 or 1265.
fn report(
    trouble: Trouble,
    kind: &str,
    value: &Value,
    from: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<()> {
    if context.mode.strict {
        return Err(incorrect_value(kind, value, from, context));
    }
    match trouble {
        Trouble::Truncated => context.data_truncated(),
        Trouble::OutOfRange => context.out_of_range(),
    }
}

fn incorrect_value(kind: &str, value: &Value, from: &ColumnType, context: &StoreContext<'_>) -> SqlError {
    let text = quoted_text(value, from);
    errors::code::ER_TRUNCATED_WRONG_VALUE.message(format!(
        "Incorrect {kind} value: '{text:.128}' for column '{}' at row {}",
        context.column, context.row
    ))
}

fn temporal_context(context: &StoreContext<'_>) -> TemporalContext {
    TemporalContext {
        rules: context.mode.dates,
        today: context.mode.today,
        offset_seconds: context.mode.time_zone.offset_seconds(),
    }
}

/// The moment that a value names, with the trouble that it had; None when there is no moment in it.
fn moment_of(
    value: &Value,
    from: &ColumnType,
    context: TemporalContext,
) -> Result<(DateTime, Option<Trouble>), Trouble> {
    let allowed = |moment: DateTime| match moment.date.is_allowed(context.rules) {
        true => Ok((moment, None)),
        false => Err(Trouble::OutOfRange),
    };
    let anything = DateRules { allow_invalid_dates: true, ..DateRules::default() };
    match value {
        Value::DateTime(moment) => allowed(*moment),
        Value::Date(date) => allowed(date.midnight()),
        Value::Time(time) => convert::time_on_date(*time, context.today)
            .map(|moment| (moment, None))
            .ok_or(Trouble::OutOfRange),
        Value::Bytes(bytes) => {
            let text = readable_text(bytes, from.collation);
            match convert::date_time_of_text(&text, context) {
                Some((moment, truncated)) => Ok((moment, truncated.then_some(Trouble::Truncated))),
                None => {
                    let permissive = TemporalContext { rules: anything, ..context };
                    let is_date = convert::date_time_of_text(&text, permissive).is_some();
                    Err(if is_date { Trouble::OutOfRange } else { Trouble::Truncated })
                }
            }
        }
        _ => match convert::date_time_of_number(value, from, context.rules) {
            Some(moment) => Ok((moment, None)),
            None if date_part(value, from, context).is_some() => {
                Ok((date_part(value, from, context).unwrap_or(DateTime::ZERO), Some(Trouble::Truncated)))
            }
            None => {
                let is_date = convert::is_negative(value)
                    || convert::temporal_number(value, from)
                        .is_none_or(|(whole, _)| DateTime::from_number(whole, anything).is_some());
                Err(if is_date { Trouble::OutOfRange } else { Trouble::Truncated })
            }
        },
    }
}

/// The date of a number that has a fraction but no time of day.
fn date_part(value: &Value, from: &ColumnType, context: TemporalContext) -> Option<DateTime> {
    if convert::is_negative(value) {
        return None;
    }
    let (whole, _) = convert::temporal_number(value, from)?;
    DateTime::from_number(whole, context.rules)
}

/// Error 1441, or the warning with 1264 after it: rounding left the calendar.
fn overflow(context: &mut StoreContext<'_>) -> SqlResult<()> {
    context.reject(sql_error!(ER_DATETIME_FUNCTION_OVERFLOW, "datetime"))?;
    context.out_of_range()
}

/// A note that part of a value was lost: 1292 in strict mode, otherwise 1265.
fn note_loss(kind: &str, value: &Value, from: &ColumnType, context: &mut StoreContext<'_>) {
    let note = match context.mode.strict {
        true => incorrect_value(kind, value, from, context),
        false => sql_error!(WARN_DATA_TRUNCATED, context.column, context.row),
    };
    context.diagnostics.note(note);
}

pub(super) fn date(value: &Value, from: &ColumnType, context: &mut StoreContext<'_>) -> SqlResult<Value> {
    let (moment, trouble) = match moment_of(value, from, temporal_context(context)) {
        Ok(found) => found,
        Err(trouble) => {
            report(trouble, "date", value, from, context)?;
            return Ok(Value::Date(Date::ZERO));
        }
    };
    if let Some(trouble) = trouble {
        report(trouble, "date", value, from, context)?;
        return Ok(Value::Date(moment.date));
    }
    let rounded = match (value, context.mode.truncate_fraction) {
        (Value::Time(_), _) | (_, true) => Some(moment.truncated(0)),
        _ => moment.rounded(0),
    };
    let Some(rounded) = rounded else {
        overflow(context)?;
        return Ok(Value::Date(Date::ZERO));
    };
    if rounded != rounded.date.midnight() {
        match value {
            Value::DateTime(_) => note_loss("date", &Value::DateTime(rounded), &whole_seconds(from), context),
            _ => note_loss("date", value, &whole_seconds(from), context),
        }
    }
    Ok(Value::Date(rounded.date))
}

/// The type without fractional seconds, for messages.
fn whole_seconds(column_type: &ColumnType) -> ColumnType {
    match column_type.kind.is_temporal() {
        true => ColumnType { decimals: Some(0), ..column_type.clone() },
        false => column_type.clone(),
    }
}

pub(super) fn date_time(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let (moment, trouble) = match moment_of(value, from, temporal_context(context)) {
        Ok(found) => found,
        Err(trouble) => {
            report(trouble, "datetime", value, from, context)?;
            return Ok(Value::DateTime(DateTime::ZERO));
        }
    };
    if let Some(trouble) = trouble {
        report(trouble, "datetime", value, from, context)?;
    }
    let digits = to.fractional_digits();
    let rounded = match context.mode.truncate_fraction {
        true => Some(moment.truncated(digits)),
        false => moment.rounded(digits),
    };
    let Some(rounded) = rounded else {
        overflow(context)?;
        return Ok(Value::DateTime(DateTime::ZERO));
    };
    let stored = match to.kind {
        TypeKind::Timestamp => timestamp_in_utc(rounded, context),
        _ => Some(rounded),
    };
    match stored {
        Some(moment) => Ok(Value::DateTime(moment)),
        None => {
            report(Trouble::OutOfRange, "datetime", value, from, context)?;
            Ok(Value::DateTime(DateTime::ZERO))
        }
    }
}

/// Last second of TIMESTAMP, 2038-01-19 03:14:07 UTC.
const TIMESTAMP_SECONDS_MAX: i64 = i32::MAX as i64;

/// The moment in UTC; None outside the range of TIMESTAMP.
fn timestamp_in_utc(moment: DateTime, context: &StoreContext<'_>) -> Option<DateTime> {
    if moment == DateTime::ZERO {
        return Some(moment);
    }
    let utc = moment.date.is_real().then(|| context.mode.time_zone.to_utc(moment)).flatten()?;
    (1..=TIMESTAMP_SECONDS_MAX).contains(&utc.epoch_seconds()).then_some(utc)
}

pub(super) fn time(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let digits = to.fractional_digits();
    let truncate = context.mode.truncate_fraction;
    let fit = |time: Time| if truncate { time.truncated(digits) } else { time.rounded(digits) };
    let (time, trouble) = match value {
        Value::Time(time) => (fit(*time), None),
        Value::DateTime(moment) => (fit(moment.time()), None),
        Value::Date(_) => (Time::default(), None),
        Value::Bytes(bytes) => {
            let text = readable_text(bytes, from.collation);
            if text.trim_ascii().is_empty() {
                return Ok(Value::Time(Time::default()));
            }
            match parse_time(&text) {
                Some(parsed) => {
                    let trouble = match (parsed.notes.out_of_range, parsed.notes.truncated) {
                        (true, _) => Some(Trouble::OutOfRange),
                        (_, true) => Some(Trouble::Truncated),
                        _ => None,
                    };
                    if parsed.has_date && trouble.is_none() {
                        note_loss("time", value, from, context);
                    }
                    let time = if truncate { parsed.value.truncated(digits) } else { parsed.rounded(digits) };
                    (on_session_clock(time, parsed.offset_seconds, context), trouble)
                }
                None if looks_like_time(&text) => (Time::default(), Some(Trouble::OutOfRange)),
                None => (Time::default(), Some(Trouble::Truncated)),
            }
        }
        _ => match convert::time_of_number(value, from) {
            Some((time, cut)) => {
                if !cut
                    && convert::temporal_number(value, from).is_some_and(|(whole, _)| whole > HOUR_NUMBER_MAX)
                {
                    note_loss("time", value, from, context);
                }
                (fit(time), cut.then_some(Trouble::OutOfRange))
            }
            None => (Time::default(), Some(Trouble::OutOfRange)),
        },
    };
    if let Some(trouble) = trouble {
        report(trouble, "time", value, from, context)?;
    }
    Ok(Value::Time(time))
}

/// Largest number that is a time without a date, 838:59:59.
const HOUR_NUMBER_MAX: i64 = 8_385_959;

/// A time of day on the clock of an offset, on the session's clock.
fn on_session_clock(time: Time, offset_seconds: Option<i32>, context: &StoreContext<'_>) -> Time {
    const DAY_MICROSECONDS: i64 = 86_400_000_000;
    let Some(offset) = offset_seconds else { return time };
    let shift = i64::from(context.mode.time_zone.offset_seconds() - offset) * 1_000_000;
    Time::from_microseconds((time.to_microseconds() + shift).rem_euclid(DAY_MICROSECONDS)).0
}

/// Whether a text that is no time span fails by its numbers, not by its form.
fn looks_like_time(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    length > 0 && crate::number::parse_integer(&digits[..length]).magnitude <= u64::from(u32::MAX)
}
