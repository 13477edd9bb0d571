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
    let text = quoted_text(value.as_ref(), from);
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
                    let is_refused = is_date || is_zeros(&text);
                    Err(if is_refused { Trouble::OutOfRange } else { Trouble::Truncated })
                }
            }
        }
        _ => moment_of_number(value, from, context.rules),
    }
}

/// Whether the text is zeros between delimiters: too few of them for a date, but a zero date they would be.
fn is_zeros(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.first() == Some(&b'0') && text.iter().all(|byte| *byte == b'0' || byte.is_ascii_punctuation())
}

/// Numbers beyond 9999-99-99 99:99:99 are out of range, others that are no date are truncated.
const DATE_TIME_NUMBER_MAX: i64 = 99_999_999_999_999;

/// As `moment_of`, for numbers. A date with a fraction but no time of day loses the fraction.
fn moment_of_number(
    value: &Value,
    from: &ColumnType,
    rules: DateRules,
) -> Result<(DateTime, Option<Trouble>), Trouble> {
    if convert::is_negative(value.as_ref()) {
        return Err(Trouble::OutOfRange);
    }
    let (whole, microsecond) = convert::temporal_number(value.as_ref(), from)
        .filter(|(whole, _)| *whole <= DATE_TIME_NUMBER_MAX)
        .ok_or(Trouble::OutOfRange)?;
    let refused = if whole == 0 { Trouble::OutOfRange } else { Trouble::Truncated };
    let moment = DateTime::from_number(whole, rules).ok_or(refused)?;
    let is_date = (1..=99_991_231).contains(&whole);
    if is_date && microsecond > 0 {
        return Ok((moment, Some(Trouble::Truncated)));
    }
    Ok((DateTime { microsecond, ..moment }, None))
}

/// The moment with so many fractional digits, rounded or cut as sql_mode says.
fn fitted(
    moment: DateTime,
    digits: u8,
    context: &mut StoreContext<'_>,
) -> SqlResult<Result<DateTime, Trouble>> {
    let cut = moment.truncated(digits);
    if context.mode.truncate_fraction {
        return Ok(Ok(cut));
    }
    let step = 10u32.pow(6 - u32::from(digits.min(6)));
    let carries = u64::from(cut.microsecond) + u64::from(step) >= 1_000_000
        && moment.microsecond - cut.microsecond >= step / 2
        && step > 1;
    if carries && !moment.date.is_real() {
        // There is no second after it: such a date is in no calendar.
        return Ok(Err(Trouble::OutOfRange));
    }
    match moment.rounded(digits) {
        Some(rounded) => Ok(Ok(rounded)),
        None => {
            overflow(context)?;
            Ok(Ok(DateTime::ZERO))
        }
    }
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
    let rounded = match fitted(moment, 0, context)? {
        Ok(rounded) => rounded,
        Err(trouble) => {
            report(trouble, "date", value, from, context)?;
            return Ok(Value::Date(Date::ZERO));
        }
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
    let mut rules = temporal_context(context);
    // A moment in time has no zero parts, whatever sql_mode allows.
    rules.rules.no_zero_in_date |= to.kind == TypeKind::Timestamp;
    let shown_type = match value {
        Value::DateTime(_) => ColumnType { decimals: Some(to.fractional_digits()), ..from.clone() },
        _ => from.clone(),
    };
    let from = &shown_type;
    let (moment, trouble) = match moment_of(value, from, rules) {
        Ok(found) => found,
        Err(trouble) => {
            report(trouble, "datetime", value, from, context)?;
            return Ok(Value::DateTime(DateTime::ZERO));
        }
    };
    if let Some(trouble) = trouble {
        report(trouble, "datetime", value, from, context)?;
    }
    let stored = match fitted(moment, to.fractional_digits(), context)? {
        Ok(rounded) if to.kind == TypeKind::Timestamp => timestamp_in_utc(rounded, context),
        other => other,
    };
    match stored {
        Ok(moment) => Ok(Value::DateTime(moment)),
        Err(trouble) => {
            report(trouble, "datetime", value, from, context)?;
            Ok(Value::DateTime(DateTime::ZERO))
        }
    }
}

/// Last second of TIMESTAMP, 2038-01-19 03:14:07 UTC.
const TIMESTAMP_SECONDS_MAX: i64 = i32::MAX as i64;

/// The moment in UTC, within the range of TIMESTAMP.
fn timestamp_in_utc(moment: DateTime, context: &StoreContext<'_>) -> Result<DateTime, Trouble> {
    if moment == DateTime::ZERO {
        return Ok(moment);
    }
    if moment.date.is_zero() {
        return Err(Trouble::Truncated);
    }
    let utc = moment.date.is_real().then(|| context.mode.time_zone.to_utc(moment)).flatten();
    utc.filter(|utc| (1..=TIMESTAMP_SECONDS_MAX).contains(&utc.epoch_seconds())).ok_or(Trouble::OutOfRange)
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
            if text.trim_ascii().is_empty() || is_in_exponent_form(&text) {
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
        _ => match convert::time_of_number(value.as_ref(), from) {
            Some((time, cut)) => {
                if !cut
                    && convert::temporal_number(value.as_ref(), from)
                        .is_some_and(|(whole, _)| whole > HOUR_NUMBER_MAX)
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

/// A time that goes on with an exponent. MySQL stores no time for it and says nothing.
fn is_in_exponent_form(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let is_time = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'.' | b':' | b' ');
    let length = text.iter().take_while(is_time).count();
    match &text[length..] {
        [b'e' | b'E', b'+' | b'-', digit, ..] | [b'e' | b'E', digit, ..] => digit.is_ascii_digit(),
        _ => false,
    }
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
