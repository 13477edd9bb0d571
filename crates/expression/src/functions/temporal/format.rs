//! DATE_FORMAT, TIME_FORMAT and GET_FORMAT.

use super::optional;
use crate::context::EvaluationContext;
use crate::convert::{self, MomentKind};
use crate::functions::{Call, Derivation, FunctionDefinition, acting, pure};
use crate::locale::{self, Locale};
use crate::result_type::{Coercibility, ResultType};
use errors::SqlResult;
use std::io::Write as _;
use values::temporal::{Date, DateTime, WeekMode, parse_time};
use values::{Value, ValueRef};

/// A format looks for a kill after so many conversions.
const KILL_LOOK_CONVERSIONS: u64 = 1 << 16;

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
    let Some(format) = format_bytes(call, index)? else { return Ok(Value::Null) };
    if format.is_empty() {
        return Ok(Value::Null);
    }
    let locale = call.context().facts().time_names;
    let clock = Clock { hours: u32::from(moment.hour), negative: false, moment };
    let written = write_format(&format, Some(&moment), &clock, locale, call.context())?;
    optional(written.map(|text| bytes_result(call, text)))
}

/// A format as its bytes: MySQL hands on those between the conversions as they are, whatever their character set. For
/// results in a set that is not made of ASCII they are UTF-8.
fn format_bytes(call: &mut Call<'_>, index: usize) -> SqlResult<Option<Vec<u8>>> {
    if crate::text::is_ascii_superset(call.result().collation()) {
        return Ok(call.text(index)?.map(std::borrow::Cow::into_owned));
    }
    Ok(call.utf8(index)?.map(String::into_bytes))
}

/// What a format gave, in the character set of the result.
fn bytes_result(call: &Call<'_>, bytes: Vec<u8>) -> Value {
    if crate::text::is_ascii_superset(call.result().collation()) {
        return Value::Bytes(bytes);
    }
    call.text_result(&String::from_utf8_lossy(&bytes))
}

fn time_format(call: &mut Call<'_>) -> SqlResult<Value> {
    let column_type = &call.argument(0).column_type;
    let value = call.look_for_date(0)?;
    if let ValueRef::Bytes(bytes) = value.as_ref()
        && parse_time(crate::text::to_utf8(bytes, column_type.collation).as_bytes()).is_none()
    {
        convert::warn_no_moment(MomentKind::DateTime, value.as_ref(), column_type, call.context());
        return Ok(Value::Null);
    }
    let Some(time) = convert::to_time(value.as_ref(), column_type, call.context())? else {
        return Ok(Value::Null);
    };
    // The date of a moment stays there for the conversions that ask for one.
    let date = match value.as_ref() {
        ValueRef::DateTime(moment) => Some(moment.date),
        ValueRef::Date(date) => Some(date),
        _ => None,
    };
    let Some(format) = format_bytes(call, 1)? else { return Ok(Value::Null) };
    if format.is_empty() {
        return Ok(Value::Null);
    }
    let moment = DateTime {
        date: date.unwrap_or(Date::ZERO),
        minute: time.minutes,
        second: time.seconds,
        microsecond: time.microseconds,
        hour: (time.hours % 24) as u8,
    };
    let clock = Clock { hours: u32::from(time.hours), negative: time.negative, moment };
    // Names of days and numbers of weeks it has for none.
    let names_days = format.windows(2).any(|pair| pair[0] == b'%' && b"WaDjUuVvXxw".contains(&pair[1]));
    let date = date.filter(|_| !names_days).map(|_| &clock.moment);
    let written = write_format(&format, date, &clock, locale::english(), call.context())?;
    optional(written.map(|text| bytes_result(call, text)))
}

struct Clock {
    /// Hours of a span: above 23 possible.
    hours: u32,
    negative: bool,
    moment: DateTime,
}

/// The text of a format; None where a conversion has no meaning (a name of month 0, a date part of a time).
fn write_format(
    format: &[u8],
    date: Option<&DateTime>,
    clock: &Clock,
    locale: &Locale,
    context: &dyn EvaluationContext,
) -> SqlResult<Option<Vec<u8>>> {
    let mut out = Vec::with_capacity(format.len() * 2);
    if clock.negative {
        out.push(b'-');
    }
    let (mut bytes, mut conversions) = (format.iter(), 0_u64);
    while let Some(&byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        conversions += 1;
        if conversions.is_multiple_of(KILL_LOOK_CONVERSIONS) {
            context.check_killed()?;
        }
        let Some(&conversion) = bytes.next() else {
            out.push(b'%');
            break;
        };
        if !write_clock(&mut out, conversion, clock) {
            let written = write_date(&mut out, conversion, date, locale);
            if written.is_none() {
                return Ok(None);
            }
        }
    }
    Ok(Some(out))
}

/// Writes a conversion of the time of day; false if it is none. Writing to memory cannot fail.
fn write_clock(out: &mut Vec<u8>, conversion: u8, clock: &Clock) -> bool {
    let (hours, moment) = (clock.hours, &clock.moment);
    let twelve = (hours % 24 + 11) % 12 + 1;
    let half = if hours % 24 < 12 { "AM" } else { "PM" };
    let written = match conversion {
        b'f' => write!(out, "{:06}", moment.microsecond),
        b'H' => write!(out, "{hours:02}"),
        b'k' => write!(out, "{hours}"),
        b'h' | b'I' => write!(out, "{twelve:02}"),
        b'l' => write!(out, "{twelve}"),
        b'i' => write!(out, "{:02}", moment.minute),
        b'S' | b's' => write!(out, "{:02}", moment.second),
        b'p' => write!(out, "{half}"),
        b'r' => write!(out, "{twelve:02}:{:02}:{:02} {half}", moment.minute, moment.second),
        b'T' => write!(out, "{hours:02}:{:02}:{:02}", moment.minute, moment.second),
        _ => return false,
    };
    debug_assert!(written.is_ok());
    true
}

/// Writes a conversion of the date; None where it has no meaning. A time has only zero dates.
fn write_date(out: &mut Vec<u8>, conversion: u8, date: Option<&DateTime>, locale: &Locale) -> Option<()> {
    let names = b"MbWaDjUuVvXxw";
    let zero = DateTime::ZERO;
    let moment = match date {
        Some(moment) => moment,
        None if names.contains(&conversion) => return None,
        None => &zero,
    };
    let (year, month, day) = (moment.date.year, moment.date.month, moment.date.day);
    let week = |mode: u64| moment.date.week(WeekMode::new(mode));
    let weekday = usize::from(moment.date.weekday());
    if b"Waw".contains(&conversion) && month == 0 && year == 0 {
        return None;
    }
    if b"Mb".contains(&conversion) && month == 0 {
        return None;
    }
    let written = match conversion {
        b'Y' => write!(out, "{year:04}"),
        b'y' => write!(out, "{:02}", year % 100),
        b'm' => write!(out, "{month:02}"),
        b'c' => write!(out, "{month}"),
        b'd' => write!(out, "{day:02}"),
        b'e' => write!(out, "{day}"),
        b'D' => write!(out, "{day}{}", ordinal(day)),
        b'M' => write!(out, "{}", locale.months[usize::from(month) - 1]),
        b'b' => write!(out, "{}", locale.short_months[usize::from(month) - 1]),
        b'W' => write!(out, "{}", locale.days[weekday]),
        b'a' => write!(out, "{}", locale.short_days[weekday]),
        b'w' => write!(out, "{}", (weekday + 1) % 7),
        // Zeros come before a sign too.
        b'j' => write!(out, "{:0>3}", moment.date.day_of_year()),
        b'U' => write!(out, "{:02}", week(0).0),
        b'u' => write!(out, "{:02}", week(1).0),
        b'V' => write!(out, "{:02}", week(2).0),
        b'v' => write!(out, "{:02}", week(3).0),
        b'X' => write!(out, "{:04}", week(2).1),
        b'x' => write!(out, "{:04}", week(3).1),
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
