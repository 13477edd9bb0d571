//! Functions over dates, times and date-times, one file a family. Values without a place in the calendar (zero month or
//! day) are taken where MySQL takes them and give NULL elsewhere.

pub mod arithmetic;
pub mod clock;
pub mod construct;
pub mod format;
pub mod parse;
pub mod parts;
pub mod zones;

use super::{Call, Derivation};
use errors::{SqlResult, sql_error};
use expression::convert::{self, MomentKind, ZeroDates};
use expression::result_type::TypeClass;
use values::Value;
use values::temporal::{Date, DateRules, DateTime, Time, parse_date_time, parse_time};

/// The argument as a moment that has a place in the calendar; NULL with a warning otherwise.
fn calendar_moment(call: &mut Call<'_>, index: usize, kind: MomentKind) -> SqlResult<Option<DateTime>> {
    placed_moment(call, index, kind, ZeroDates::Calendar)
}

/// The same with the days that a month lacks where sql_mode has them: they count from the first of the month.
fn counted_moment(call: &mut Call<'_>, index: usize) -> SqlResult<Option<DateTime>> {
    placed_moment(call, index, MomentKind::Date, ZeroDates::Parts)
}

fn placed_moment(
    call: &mut Call<'_>,
    index: usize,
    kind: MomentKind,
    zero_dates: ZeroDates,
) -> SqlResult<Option<DateTime>> {
    let Some(chosen) = call.chosen(index)? else { return Ok(None) };
    let (argument, value) = (&chosen.result, chosen.operand(call.row, call.context)?);
    let found = convert::to_moment(value.as_ref(), &argument.column_type, kind, zero_dates, call.context())?;
    let Some(moment) = found else { return Ok(None) };
    if moment.date.month == 0 || moment.date.day == 0 {
        // What a column holds is wrong without a word.
        if argument.class() == TypeClass::DateTime && chosen.column_slot().is_some() {
            return Ok(None);
        }
        match argument.class() {
            TypeClass::Integer | TypeClass::Decimal | TypeClass::Double => {
                convert::warn_no_place(kind, value.as_ref(), &argument.column_type, call.context());
            }
            _ => convert::warn_no_moment(kind, value.as_ref(), &argument.column_type, call.context()),
        }
        return Ok(None);
    }
    Ok(Some(moment))
}

/// Fractional digits of an argument as a temporal value; those that are written, where it is a literal.
fn digits(derivation: &Derivation<'_>, index: usize) -> u8 {
    let argument = derivation.argument(index);
    match (argument.class(), derivation.constant(index)) {
        (TypeClass::Text, _) if argument.is_number_bytes() => 0,
        (TypeClass::Text, Some(Value::Bytes(text))) => text_digits(text),
        _ => expression::derive::temporal_digits(argument),
    }
}

/// The same of an argument that is a moment: a written text that is none may have any.
fn moment_digits(derivation: &Derivation<'_>, index: usize) -> u8 {
    let any_day = DateRules { allow_invalid_dates: true, ..DateRules::default() };
    match derivation.constant(index) {
        Some(Value::Bytes(text))
            if !derivation.argument(index).is_number_bytes() && parse_date_time(text, any_day).is_none() =>
        {
            6
        }
        _ => digits(derivation, index),
    }
}

/// Fractional digits of a literal, at most 6; 6 for what is neither date nor time.
fn text_digits(text: &[u8]) -> u8 {
    let any_day = DateRules { allow_invalid_dates: true, ..DateRules::default() };
    if parse_date_time(text, any_day).is_none() && parse_time(text).is_none() {
        return 6;
    }
    let Some(point) = text.iter().position(|byte| *byte == b'.') else { return 0 };
    let fraction = text[point + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    fraction.min(6) as u8
}

/// The number of digits that a call like NOW(3) asks for; error 1426 above 6.
fn asked_digits(derivation: &Derivation<'_>) -> SqlResult<u8> {
    let asked = match derivation.constant(0) {
        None => return Ok(0),
        Some(Value::Int(asked)) => i128::from(*asked),
        Some(Value::UInt(asked)) => i128::from(*asked),
        Some(_) => 7,
    };
    let name = match derivation.name {
        "current_time" => "curtime",
        "current_timestamp" | "localtime" | "localtimestamp" => "now",
        name => name,
    };
    u8::try_from(asked)
        .ok()
        .filter(|asked| *asked <= 6)
        .ok_or_else(|| sql_error!(ER_TOO_BIG_PRECISION, asked, name, 6))
}

fn unsigned_value(number: u64) -> Value {
    Value::Int(number as i64)
}

/// NULL for None.
fn optional(value: Option<Value>) -> SqlResult<Value> {
    Ok(value.unwrap_or(Value::Null))
}

/// A count of microseconds as a time span, cut to the range of TIME with a warning.
fn time_value(call: &mut Call<'_>, microseconds: i64) -> Value {
    let digits = call.result().column_type.decimals.unwrap_or(0);
    cut_time(call, microseconds, || {
        let sign = if microseconds < 0 { "-" } else { "" };
        let (seconds, rest) =
            (microseconds.unsigned_abs() / 1_000_000, microseconds.unsigned_abs() % 1_000_000);
        let whole = format!("{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        match usize::from(digits) {
            0 => whole,
            digits => format!("{whole}.{}", &format!("{rest:06}")[..digits.min(6)]),
        }
    })
}

/// The same with a warning that shows what was asked for.
fn cut_time(call: &mut Call<'_>, microseconds: i64, shown: impl FnOnce() -> String) -> Value {
    let (time, cut) = Time::from_microseconds(microseconds);
    if cut {
        call.warn(sql_error!(ER_TRUNCATED_WRONG_VALUE, "time", shown()));
    }
    Value::Time(time)
}

fn is_zero(date: Date) -> bool {
    date.is_zero()
}
