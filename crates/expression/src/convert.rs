//! Conversion of values between types while expressions run, with MySQL's warnings (1292) for what does not fit.
//! None stands for NULL. Storing into columns is `values::store`'s business; here only operands are converted.

use crate::context::EvaluationContext;
use crate::facts::{SqlMode, StatementFacts};
use crate::result_type::{TypeClass, class_of};
use crate::text;
use charset::CollationId;
use errors::{SqlResult, sql_error};
use values::decimal::Rounding;
use values::temporal::{Date, DateRules, DateTime, Time, parse_date_time, parse_time};
use values::{ColumnType, Decimal, TypeKind, Value};

fn warn_truncated(kind: &str, bytes: &[u8], context: &mut dyn EvaluationContext) {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(128)]).into_owned();
    context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, kind, shown));
}

/// The dates that sql_mode lets an expression see. Zero dates are always readable.
pub fn date_rules(facts: &StatementFacts) -> DateRules {
    DateRules {
        no_zero_date: false,
        no_zero_in_date: false,
        allow_invalid_dates: facts.sql_mode.contains(SqlMode::ALLOW_INVALID_DATES),
    }
}

/// The bits of a number of BIGINT or BIGINT UNSIGNED.
pub fn integer_bits(value: i128) -> u64 {
    if value < 0 {
        value.max(i128::from(i64::MIN)) as i64 as u64
    } else {
        u64::try_from(value).unwrap_or(u64::MAX)
    }
}

/// An exact number without fraction.
pub fn decimal_of_integer(value: i128) -> Decimal {
    Decimal::from_i128(value, 0).unwrap_or(Decimal::ZERO)
}

/// Microseconds in a number of seconds.
pub fn decimal_micros(seconds: &Decimal) -> i128 {
    seconds
        .with_scale(6, Rounding::HalfUp)
        .ok()
        .and_then(|exact| exact.unscaled_i128())
        .unwrap_or(if seconds.is_negative() { i128::from(i64::MIN) } else { i128::from(i64::MAX) })
}

/// A binary string as a number: hexadecimal and bit literals in numeric context.
fn is_number_literal(column_type: &ColumnType) -> bool {
    // Marked by the binder: a VARBINARY literal that is UNSIGNED is X'..' or b'..'.
    column_type.unsigned && column_type.kind == TypeKind::VarBinary
}

fn big_endian(bytes: &[u8]) -> u64 {
    let start = bytes.len().saturating_sub(8);
    bytes[start..].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A value as an integer within the range of BIGINT or BIGINT UNSIGNED, rounded half away from zero.
pub fn to_integer(
    value: &Value,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<i128>> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Int(value) => i128::from(*value),
        Value::UInt(value) => i128::from(*value),
        Value::Decimal(value) => decimal_to_integer(value),
        Value::Float(value) => double_to_integer(f64::from(*value)),
        Value::Double(value) => double_to_integer(*value),
        Value::Bytes(bytes) if is_number_literal(column_type) => i128::from(big_endian(bytes)),
        Value::Bytes(bytes) => text_to_integer(bytes, column_type, context),
        Value::Date(date) => i128::from(date.to_number()),
        Value::Time(time) => i128::from(time.rounded(0).to_number()),
        Value::DateTime(value) => i128::from(value.rounded(0).unwrap_or(*value).to_number()),
    }))
}

fn decimal_to_integer(value: &Decimal) -> i128 {
    let (low, high) = (i128::from(i64::MIN), i128::from(u64::MAX));
    match value.with_scale(0, Rounding::HalfUp).ok().and_then(|whole| whole.unscaled_i128()) {
        Some(whole) => whole.clamp(low, high),
        None if value.is_negative() => low,
        None => high,
    }
}

fn double_to_integer(value: f64) -> i128 {
    if value.is_nan() {
        return 0;
    }
    // A cast of a float saturates; rounding is half to even as MySQL's rint.
    (value.round_ties_even() as i128).clamp(i128::from(i64::MIN), i128::from(u64::MAX))
}

/// Text in a numeric context reads its leading digits; the rest is a warning.
fn text_to_integer(bytes: &[u8], column_type: &ColumnType, context: &mut dyn EvaluationContext) -> i128 {
    let utf8;
    let bytes = if text::is_ascii_superset(column_type.collation) {
        bytes
    } else {
        utf8 = text::to_utf8(bytes, column_type.collation);
        utf8.as_bytes()
    };
    let (negative, digits_at) = sign_of(bytes);
    let mut number: i128 = 0;
    let mut at = digits_at;
    while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
        number = (number * 10 + i128::from(digit - b'0')).min(i128::from(u64::MAX) + 1);
        at += 1;
    }
    let clean = at > digits_at && bytes[at..].iter().all(|byte| byte.is_ascii_whitespace());
    if !clean {
        warn_truncated("INTEGER", bytes, context);
    }
    let value = if negative { -number } else { number };
    value.clamp(i128::from(i64::MIN), i128::from(u64::MAX))
}

fn sign_of(bytes: &[u8]) -> (bool, usize) {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    match bytes.get(start) {
        Some(b'-') => (true, start + 1),
        Some(b'+') => (false, start + 1),
        _ => (false, start),
    }
}

/// The longest number at the start of a text: its value and whether anything else follows.
pub fn leading_double(bytes: &[u8]) -> (f64, bool) {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    let rest = &bytes[start..];
    let mut end = 0;
    let digits = |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if matches!(rest.first(), Some(b'-' | b'+')) {
        end = 1;
    }
    let whole = digits(end);
    end += whole;
    let mut fraction = 0;
    if rest.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        if whole + fraction > 0 {
            end += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return (0.0, true);
    }
    if matches!(rest.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(end + 1), Some(b'-' | b'+')));
        let exponent = if end + 1 + sign <= rest.len() { digits(end + 1 + sign) } else { 0 };
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let number = std::str::from_utf8(&rest[..end]).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    let clean = rest[end..].iter().all(|byte| byte.is_ascii_whitespace());
    (number, !clean)
}

/// A value as a floating point number.
pub fn to_double(
    value: &Value,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<f64>> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Int(value) => *value as f64,
        Value::UInt(value) => *value as f64,
        Value::Decimal(value) => value.to_f64(),
        Value::Float(value) => f64::from(*value),
        Value::Double(value) => *value,
        Value::Bytes(bytes) if is_number_literal(column_type) => big_endian(bytes) as f64,
        Value::Bytes(bytes) => {
            let (number, rest) = if text::is_ascii_superset(column_type.collation) {
                leading_double(bytes)
            } else {
                leading_double(text::to_utf8(bytes, column_type.collation).as_bytes())
            };
            if rest {
                warn_truncated("DOUBLE", bytes, context);
            }
            if number.is_finite() { number } else { f64::MAX.copysign(number) }
        }
        Value::Date(date) => date.to_number() as f64,
        Value::Time(time) => {
            let fraction = f64::from(time.microseconds) / 1e6;
            let whole = time.to_number() as f64;
            if time.negative { whole - fraction } else { whole + fraction }
        }
        Value::DateTime(value) => value.to_number() as f64 + f64::from(value.microsecond) / 1e6,
    }))
}

/// A value as an exact number.
pub fn to_decimal(
    value: &Value,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Decimal>> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Int(value) => Decimal::from(*value),
        Value::UInt(value) => Decimal::from(*value),
        Value::Decimal(value) => *value,
        Value::Float(value) => decimal_of_double(f64::from(*value)),
        Value::Double(value) => decimal_of_double(*value),
        Value::Bytes(bytes) if is_number_literal(column_type) => Decimal::from(big_endian(bytes)),
        Value::Bytes(bytes) => {
            let parsed = Decimal::parse(bytes);
            let rest = bytes.get(parsed.length..).unwrap_or_default();
            if parsed.length == 0 || !rest.iter().all(|byte| byte.is_ascii_whitespace()) {
                warn_truncated("DECIMAL", bytes, context);
            }
            parsed.number
        }
        Value::Date(date) => Decimal::from(date.to_number()),
        Value::Time(time) => {
            let digits = column_type.decimals.unwrap_or(0);
            let whole = i128::from(time.to_number()) * 1_000_000;
            let micros = i128::from(time.microseconds);
            scaled(if time.negative { whole - micros } else { whole + micros }, digits)
        }
        Value::DateTime(value) => {
            let digits = column_type.decimals.unwrap_or(0);
            scaled(i128::from(value.to_number()) * 1_000_000 + i128::from(value.microsecond), digits)
        }
    }))
}

fn scaled(micros: i128, digits: u8) -> Decimal {
    let exact = Decimal::from_i128(micros, 6).unwrap_or(Decimal::ZERO);
    exact.with_scale(digits.min(6), Rounding::HalfUp).unwrap_or(exact)
}

fn decimal_of_double(value: f64) -> Decimal {
    Decimal::from_f64(value).unwrap_or_else(|_| Decimal::largest(65, 0, value < 0.0))
}

/// A value as text in the character set of its collation (numbers and dates: the connection's).
pub fn to_text(
    value: &Value,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> Option<Vec<u8>> {
    let connection = context.facts().connection_collation;
    value_text(value, column_type, connection)
}

/// As [`to_text`], with the connection's collation given.
pub fn value_text(value: &Value, column_type: &ColumnType, connection: CollationId) -> Option<Vec<u8>> {
    if let Value::Bytes(bytes) = value {
        return Some(bytes.clone());
    }
    if *value == Value::Null {
        return None;
    }
    match (column_type.kind, value) {
        (TypeKind::Enum, Value::UInt(number)) => return Some(enum_text(*number, column_type)),
        (TypeKind::Set, Value::UInt(bits)) => return Some(set_text(*bits, column_type)),
        (TypeKind::Bit, Value::UInt(bits)) => {
            let bytes = column_type.length.unwrap_or(1).div_ceil(8).clamp(1, 8) as usize;
            return Some(bits.to_be_bytes()[8 - bytes..].to_vec());
        }
        _ => {}
    }
    let mut out = Vec::new();
    append_text(value, column_type, &mut out);
    if text::is_ascii_superset(connection) {
        return Some(out);
    }
    Some(text::from_utf8(&String::from_utf8_lossy(&out), connection))
}

/// Appends a number or temporal value as ASCII text, as its type shows it.
fn append_text(value: &Value, column_type: &ColumnType, out: &mut Vec<u8>) {
    use values::number;
    let start = out.len();
    let digits = column_type.decimals.unwrap_or(0).min(6);
    match value {
        Value::Null | Value::Bytes(_) => {}
        Value::Int(value) => number::append_i64(*value, out),
        Value::UInt(value) => number::append_u64(*value, out),
        Value::Decimal(value) => value.append_text(out),
        Value::Float(value) => match column_type.decimals {
            Some(decimals) if decimals < 31 => number::append_fixed(f64::from(*value), decimals, out),
            _ => number::append_f32(*value, out),
        },
        Value::Double(value) => match column_type.decimals {
            Some(decimals) if decimals < 31 => number::append_fixed(*value, decimals, out),
            _ => number::append_f64(*value, out),
        },
        Value::Date(date) => date.append_text(out),
        Value::Time(time) => time.append_text(digits, out),
        Value::DateTime(value) => value.append_text(digits, out),
    }
    let width = match (column_type.zerofill, column_type.kind) {
        (true, _) => column_type.length.unwrap_or(0) as usize,
        (false, TypeKind::Year) => 4,
        _ => 0,
    };
    let length = out.len() - start;
    if length < width {
        out.splice(start..start, std::iter::repeat_n(b'0', width - length));
    }
}

/// The member of an ENUM; '' for number 0.
pub fn enum_text(number: u64, column_type: &ColumnType) -> Vec<u8> {
    let index = usize::try_from(number).unwrap_or(0);
    index.checked_sub(1).and_then(|index| column_type.members.get(index)).cloned().unwrap_or_default()
}

/// The members of a SET, joined by commas.
pub fn set_text(bits: u64, column_type: &ColumnType) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, member) in column_type.members.iter().take(64).enumerate() {
        if bits >> index & 1 == 1 {
            if !out.is_empty() {
                out.push(b',');
            }
            out.extend_from_slice(member);
        }
    }
    out
}

/// A value as a date with time.
pub fn to_datetime(
    value: &Value,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<DateTime>> {
    let rules = date_rules(context.facts());
    let found = match value {
        Value::Null => return Ok(None),
        Value::DateTime(value) => return Ok(Some(*value)),
        Value::Date(date) => return Ok(Some(date.midnight())),
        Value::Time(time) => return Ok(Some(time_on_day(*time, context.facts().statement_time.date))),
        Value::Bytes(bytes) => {
            let ascii;
            let bytes = if text::is_ascii_superset(column_type.collation) {
                bytes
            } else {
                ascii = text::to_utf8(bytes, column_type.collation).into_bytes();
                &ascii
            };
            let parsed = parse_date_time(bytes, rules);
            match parsed {
                Some(parsed) => {
                    if parsed.notes.truncated {
                        warn_truncated("datetime", bytes, context);
                    }
                    Some(with_offset(parsed.value, parsed.offset_seconds, context.facts()))
                }
                None => {
                    warn_truncated("datetime", bytes, context);
                    return Ok(None);
                }
            }
        }
        Value::Int(number) => DateTime::from_number(*number, rules),
        Value::UInt(number) => {
            i64::try_from(*number).ok().and_then(|number| DateTime::from_number(number, rules))
        }
        Value::Decimal(number) => {
            let micros = decimal_micros(number);
            let whole = i64::try_from(micros.div_euclid(1_000_000)).ok();
            whole.and_then(|whole| DateTime::from_number(whole, rules)).map(|mut found| {
                found.microsecond = micros.rem_euclid(1_000_000) as u32;
                found
            })
        }
        Value::Double(_) | Value::Float(_) => {
            let exact = to_decimal(value, column_type, context)?.unwrap_or(Decimal::ZERO);
            return to_datetime(&Value::Decimal(exact), column_type, context);
        }
    };
    if found.is_none() {
        let shown = to_text(value, column_type, context).unwrap_or_default();
        warn_truncated("datetime", &shown, context);
    }
    Ok(found)
}

/// A text with an offset ('2020-01-01 00:00:00+02:00') names an instant.
fn with_offset(value: DateTime, offset_seconds: Option<i32>, facts: &StatementFacts) -> DateTime {
    match offset_seconds {
        None => value,
        Some(offset) => {
            let instant = crate::time_zone::TimeZone::Fixed(offset).instant(value);
            facts.time_zone.local(instant)
        }
    }
}

fn time_on_day(time: Time, day: Date) -> DateTime {
    let start = day.midnight().epoch_microseconds();
    let micros = start + time.to_microseconds();
    let (seconds, rest) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    DateTime::from_epoch(seconds, rest as u32).unwrap_or_else(|| day.midnight())
}

/// A value as a time span.
pub fn to_time(
    value: &Value,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<Time>> {
    let found = match value {
        Value::Null => return Ok(None),
        Value::Time(time) => return Ok(Some(*time)),
        Value::DateTime(value) => return Ok(Some(value.time())),
        Value::Date(_) => return Ok(Some(Time::default())),
        Value::Bytes(bytes) => parse_time(bytes).map(|parsed| (parsed.value, parsed.notes)),
        Value::Int(number) => Time::from_number(*number),
        Value::UInt(number) => i64::try_from(*number).ok().and_then(Time::from_number),
        Value::Decimal(number) => {
            let micros = decimal_micros(number);
            let whole = i64::try_from(micros / 1_000_000).ok();
            whole.and_then(Time::from_number).map(|(mut time, notes)| {
                time.microseconds = (micros % 1_000_000).unsigned_abs() as u32;
                (time, notes)
            })
        }
        Value::Double(_) | Value::Float(_) => {
            let exact = to_decimal(value, column_type, context)?.unwrap_or(Decimal::ZERO);
            return to_time(&Value::Decimal(exact), column_type, context);
        }
    };
    match found {
        Some((time, notes)) => {
            if notes.truncated || notes.out_of_range {
                let shown = to_text(value, column_type, context).unwrap_or_default();
                warn_truncated("time", &shown, context);
            }
            Ok(Some(time))
        }
        None => {
            let shown = to_text(value, column_type, context).unwrap_or_default();
            warn_truncated("time", &shown, context);
            Ok(None)
        }
    }
}

/// A value as a truth value.
pub fn truth(
    value: &Value,
    column_type: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Option<bool>> {
    Ok(match value {
        Value::Null => None,
        Value::Int(value) => Some(*value != 0),
        Value::UInt(value) => Some(*value != 0),
        Value::Decimal(value) => Some(!value.is_zero()),
        _ => to_double(value, column_type, context)?.map(|value| value != 0.0),
    })
}

/// A value of one type as a value of another, for operators that bring operands to a common type.
pub fn to_type(
    value: Value,
    from: &ColumnType,
    target: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    if value == Value::Null {
        return Ok(value);
    }
    match class_of(target.kind) {
        TypeClass::Null => Ok(value),
        TypeClass::Integer => integer_of_type(value, from, target, context),
        TypeClass::Decimal => {
            let exact = to_decimal(&value, from, context)?.unwrap_or(Decimal::ZERO);
            let Some(scale) = target.decimals else { return Ok(Value::Decimal(exact)) };
            match exact.fit(target.precision(), scale) {
                Ok((fitted, _)) => Ok(Value::Decimal(fitted)),
                Err(bound) => {
                    let shown = exact.to_string();
                    context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", shown));
                    Ok(Value::Decimal(bound))
                }
            }
        }
        TypeClass::Double if target.kind == TypeKind::Float => match value {
            Value::Float(_) => Ok(value),
            _ => {
                Ok(to_double(&value, from, context)?.map_or(Value::Null, |value| Value::Float(value as f32)))
            }
        },
        TypeClass::Double => Ok(to_double(&value, from, context)?.map_or(Value::Null, Value::Double)),
        TypeClass::DateTime if target.kind == TypeKind::Date => match value {
            Value::Date(_) => Ok(value),
            _ => Ok(to_datetime(&value, from, context)?.map_or(Value::Null, |value| Value::Date(value.date))),
        },
        TypeClass::DateTime => {
            let Some(found) = to_datetime(&value, from, context)? else { return Ok(Value::Null) };
            let digits = target.decimals.unwrap_or(6);
            Ok(found.rounded(digits).map_or(Value::Null, Value::DateTime))
        }
        TypeClass::Time => {
            let digits = target.decimals.unwrap_or(6);
            Ok(to_time(&value, from, context)?.map_or(Value::Null, |time| Value::Time(time.rounded(digits))))
        }
        TypeClass::Text => text_of_type(value, from, target, context),
    }
}

fn integer_of_type(
    value: Value,
    from: &ColumnType,
    target: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    match (&value, target.unsigned) {
        (Value::Int(_), false) | (Value::UInt(_), true) => return Ok(value),
        (Value::Int(number), true) => {
            return Ok(u64::try_from(*number).map_or(Value::Int(*number), Value::UInt));
        }
        _ => {}
    }
    let number = to_integer(&value, from, context)?.unwrap_or(0);
    if target.unsigned {
        return Ok(Value::UInt(integer_bits(number)));
    }
    Ok(i64::try_from(number).map_or_else(|_| Value::UInt(integer_bits(number)), Value::Int))
}

fn text_of_type(
    value: Value,
    from: &ColumnType,
    target: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    if matches!(target.kind, TypeKind::Enum | TypeKind::Set) && target == from {
        return Ok(value);
    }
    let source = match class_of(from.kind) {
        TypeClass::Text => from.collation,
        _ => context.facts().connection_collation,
    };
    if let Value::Bytes(bytes) = value {
        return Ok(Value::Bytes(text::convert(bytes, source, target.collation)));
    }
    let bytes = to_text(&value, from, context).unwrap_or_default();
    Ok(Value::Bytes(text::convert(bytes, source, target.collation)))
}

fn as_string(append: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    append(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// `YYYY-MM-DD`.
pub fn date_text(date: Date) -> String {
    as_string(|out| date.append_text(out))
}

/// `YYYY-MM-DD hh:mm:ss` with so many fractional digits.
pub fn datetime_text(value: DateTime, digits: u8) -> String {
    as_string(|out| value.append_text(digits, out))
}

/// `hh:mm:ss` with so many fractional digits.
pub fn time_text(value: Time, digits: u8) -> String {
    as_string(|out| value.append_text(digits, out))
}
