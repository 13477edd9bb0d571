//! DATE_FORMAT, TIME_FORMAT and GET_FORMAT.

use super::optional;
use crate::convert::{self, MomentKind};
use crate::functions::{Call, Derivation, FunctionDefinition, acting, pure};
use crate::locale::{self, Locale};
use crate::result_type::{Coercibility, ResultType};
use errors::SqlResult;
use std::fmt::Write as _;
use values::Value;
use values::temporal::{DateTime, WeekMode, parse_time};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    acting("date_format", 2, 2, |derivation| derive_formatted(derivation, 1), date_format),
    acting("time_format", 2, 2, |derivation| derive_formatted(derivation, 1), time_format),
    pure("get_format", 2, 2, |derivation| Ok(derivation.connection_text(17).nullable()), get_format),
];

/// Text whose length is guessed from the format when that is a constant.
pub fn derive_formatted(derivation: &mut Derivation<'_>, format: usize) -> SqlResult<ResultType> {
    let length = match derivation.constant(format) {
        Some(Value::Bytes(format)) => formatted_length(format),
        _ => derivation.argument(format).text_length().saturating_mul(10).min(255),
    };
    let collation = derivation.connection;
    Ok(ResultType::text(length, collation, Coercibility::Coercible).nullable())
}

/// The longest text that a format can give.
fn formatted_length(format: &[u8]) -> u32 {
    let mut length = 0;
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        length += match byte {
            b'%' => match bytes.next() {
                Some(b'M' | b'W') => 64,
                Some(b'D' | b'Y' | b'x' | b'X') => 4,
                Some(b'a' | b'b') => 32,
                Some(b'j') => 3,
                Some(
                    b'u' | b'U' | b'v' | b'V' | b'y' | b'm' | b'd' | b'h' | b'i' | b'I' | b'l' | b'p' | b'S'
                    | b's' | b'c' | b'e',
                ) => 2,
                Some(b'k' | b'H') => 7,
                Some(b'r') => 11,
                Some(b'T') => 8,
                Some(b'f') => 6,
                _ => 1,
            },
            _ => 1,
        };
    }
    length
}

fn date_format(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(moment) = call.datetime(0)? else { return Ok(Value::Null) };
    formatted(call, moment, 1)
}

/// A moment in the format that an argument gives.
pub fn formatted(call: &mut Call<'_>, moment: DateTime, index: usize) -> SqlResult<Value> {
    let Some(format) = call.utf8(index)? else { return Ok(Value::Null) };
    if format.is_empty() {
        return Ok(Value::Null);
    }
    let locale = call.context().facts().time_names;
    let clock = Clock { hours: u32::from(moment.hour), negative: false, moment };
    optional(write_format(&format, Some(&moment), &clock, locale).map(|text| call.text_result(&text)))
}

fn time_format(call: &mut Call<'_>) -> SqlResult<Value> {
    let column_type = &call.argument(0).column_type;
    let value = call.look_for_date(0)?;
    if let Value::Bytes(bytes) = &*value
        && parse_time(crate::text::to_utf8(bytes, column_type.collation).as_bytes()).is_none()
    {
        convert::warn_no_moment(MomentKind::DateTime, &value, column_type, call.context());
        return Ok(Value::Null);
    }
    let Some(time) = convert::to_time(&value, column_type, call.context())? else { return Ok(Value::Null) };
    let Some(format) = call.utf8(1)? else { return Ok(Value::Null) };
    if format.is_empty() {
        return Ok(Value::Null);
    }
    let moment = DateTime {
        minute: time.minutes,
        second: time.seconds,
        microsecond: time.microseconds,
        hour: (time.hours % 24) as u8,
        ..DateTime::ZERO
    };
    let clock = Clock { hours: u32::from(time.hours), negative: time.negative, moment };
    optional(write_format(&format, None, &clock, locale::english()).map(|text| call.text_result(&text)))
}

struct Clock {
    /// Hours of a span: above 23 possible.
    hours: u32,
    negative: bool,
    moment: DateTime,
}

/// The text of a format; None where a conversion has no meaning (a name of month 0, a date part of a time).
fn write_format(format: &str, date: Option<&DateTime>, clock: &Clock, locale: &Locale) -> Option<String> {
    let mut out = String::with_capacity(format.len() * 2);
    if clock.negative {
        out.push('-');
    }
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        let Some(conversion) = characters.next() else {
            out.push('%');
            break;
        };
        if !write_clock(&mut out, conversion, clock) {
            write_date(&mut out, conversion, date, locale)?;
        }
    }
    Some(out)
}

/// Writes a conversion of the time of day; false if it is none. Writing to a string cannot fail.
fn write_clock(out: &mut String, conversion: char, clock: &Clock) -> bool {
    let (hours, moment) = (clock.hours, &clock.moment);
    let twelve = (hours % 24 + 11) % 12 + 1;
    let half = if hours % 24 < 12 { "AM" } else { "PM" };
    let written = match conversion {
        'f' => write!(out, "{:06}", moment.microsecond),
        'H' => write!(out, "{hours:02}"),
        'k' => write!(out, "{hours}"),
        'h' | 'I' => write!(out, "{twelve:02}"),
        'l' => write!(out, "{twelve}"),
        'i' => write!(out, "{:02}", moment.minute),
        'S' | 's' => write!(out, "{:02}", moment.second),
        'p' => write!(out, "{half}"),
        'r' => write!(out, "{twelve:02}:{:02}:{:02} {half}", moment.minute, moment.second),
        'T' => write!(out, "{hours:02}:{:02}:{:02}", moment.minute, moment.second),
        _ => return false,
    };
    debug_assert!(written.is_ok());
    true
}

/// Writes a conversion of the date; None where it has no meaning. A time has only zero dates.
fn write_date(out: &mut String, conversion: char, date: Option<&DateTime>, locale: &Locale) -> Option<()> {
    let names = "MbWaDjUuVvXxw";
    let zero = DateTime::ZERO;
    let moment = match date {
        Some(moment) => moment,
        None if names.contains(conversion) => return None,
        None => &zero,
    };
    let (year, month, day) = (moment.date.year, moment.date.month, moment.date.day);
    let week = |mode: u64| moment.date.week(WeekMode::new(mode));
    let weekday = usize::from(moment.date.weekday());
    let in_calendar = month > 0 && day > 0;
    if "WajUuVvXxw".contains(conversion) && !in_calendar {
        return None;
    }
    if "Mb".contains(conversion) && month == 0 {
        return None;
    }
    let written = match conversion {
        'Y' => write!(out, "{year:04}"),
        'y' => write!(out, "{:02}", year % 100),
        'm' => write!(out, "{month:02}"),
        'c' => write!(out, "{month}"),
        'd' => write!(out, "{day:02}"),
        'e' => write!(out, "{day}"),
        'D' => write!(out, "{day}{}", ordinal(day)),
        'M' => write!(out, "{}", locale.months[usize::from(month) - 1]),
        'b' => write!(out, "{}", locale.short_months[usize::from(month) - 1]),
        'W' => write!(out, "{}", locale.days[weekday]),
        'a' => write!(out, "{}", locale.short_days[weekday]),
        'w' => write!(out, "{}", (weekday + 1) % 7),
        'j' => write!(out, "{:03}", moment.date.day_of_year()),
        'U' => write!(out, "{:02}", week(0).0),
        'u' => write!(out, "{:02}", week(1).0),
        'V' => write!(out, "{:02}", week(2).0),
        'v' => write!(out, "{:02}", week(3).0),
        'X' => write!(out, "{:04}", week(2).1),
        'x' => write!(out, "{:04}", week(3).1),
        other => {
            out.push(other);
            Ok(())
        }
    };
    written.ok()
}

fn ordinal(day: u8) -> &'static str {
    match (day % 10, day) {
        (_, 10..=19) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

fn get_format(call: &mut Call<'_>) -> SqlResult<Value> {
    let (Some(kind), Some(region)) = (call.utf8(0)?, call.utf8(1)?) else { return Ok(Value::Null) };
    let format = match (kind.to_ascii_lowercase().as_str(), region.to_ascii_uppercase().as_str()) {
        ("date", "USA") => "%m.%d.%Y",
        ("date", "JIS" | "ISO") => "%Y-%m-%d",
        ("date", "EUR") => "%d.%m.%Y",
        ("date", "INTERNAL") => "%Y%m%d",
        ("datetime" | "timestamp", "USA" | "EUR") => "%Y-%m-%d %H.%i.%s",
        ("datetime" | "timestamp", "JIS" | "ISO") => "%Y-%m-%d %H:%i:%s",
        ("datetime" | "timestamp", "INTERNAL") => "%Y%m%d%H%i%s",
        ("time", "USA") => "%h:%i:%s %p",
        ("time", "JIS" | "ISO") => "%H:%i:%s",
        ("time", "EUR") => "%H.%i.%s",
        ("time", "INTERNAL") => "%H%i%s",
        _ => return Ok(Value::Null),
    };
    Ok(call.text_result(format))
}
