//! Conversion of a value to another class of value, as expressions do it: text to numbers by the longest
//! prefix with warning 1292, temporal values to numbers, numbers to temporal values.
//! Columns are stored to by `store`, which has stricter rules.

use crate::column_type::{ColumnType, TypeKind};
use crate::decimal::{Decimal, Rounding};
use crate::json;
use crate::number;
use crate::temporal::{Date, DateRules, DateTime, Time, parse_date_time, parse_time};
use crate::text;
use crate::value::Value;
use crate::value_ref::ValueRef;
use charset::CollationId;
use errors::{Diagnostics, SqlError, sql_error};
use std::borrow::Cow;

/// The value's text, in its own character set for text types and ENUM and SET, ASCII for all others.
/// None for NULL.
pub fn to_text<'a>(value: ValueRef<'a>, column_type: &ColumnType) -> Option<Cow<'a, [u8]>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Bytes(bytes) if column_type.kind != TypeKind::Json => Some(Cow::Borrowed(bytes)),
        _ => {
            let mut out = Vec::with_capacity(24);
            text::append_narrow_text(value, column_type, &mut out);
            Some(Cow::Owned(out))
        }
    }
}

/// The value's text in ASCII-compatible form, for reading numbers and dates from it.
pub(crate) fn readable_text<'a>(bytes: &'a [u8], collation: CollationId) -> Cow<'a, [u8]> {
    let charset = collation.charset();
    if charset.is_ascii_based() || !charset.is_supported() {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(charset.to_string_lossy(bytes).into_bytes())
}

/// The text of a value as messages quote it.
pub fn quoted_text(value: ValueRef<'_>, column_type: &ColumnType) -> String {
    let text = to_text(value, column_type).unwrap_or(Cow::Borrowed(b"NULL"));
    match column_type.kind.is_binary() {
        true => text.iter().map(|&byte| printable_byte(byte)).collect(),
        false if column_type.kind == TypeKind::Json => String::from_utf8_lossy(&text).into_owned(),
        false => column_type.collation.charset().to_string_lossy(&text),
    }
}

/// A byte as messages show it: printable ASCII as it is, others as \xHH.
pub(crate) fn printable_byte(byte: u8) -> String {
    match byte {
        0x20..0x7f => char::from(byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    }
}

/// Bytes that messages show of text that cannot be converted.
const SHORTENED_BYTES: usize = 6;

/// The first bytes of a text as messages show them, with dots for the rest.
pub fn shortened_bytes(bytes: &[u8]) -> String {
    let shown: String = bytes.iter().take(SHORTENED_BYTES).map(|&byte| printable_byte(byte)).collect();
    if bytes.len() > SHORTENED_BYTES { format!("{shown}...") } else { shown }
}

fn truncated(kind: &str, value: ValueRef<'_>, column_type: &ColumnType) -> SqlError {
    sql_error!(ER_TRUNCATED_WRONG_VALUE, kind, shown_text(value, column_type))
}

/// Bytes that messages show of the text of an operand.
const SHOWN_BYTES_MAX: usize = 128;

/// The text of an operand as messages show it: so many bytes, and characters beyond Unicode's first plane as '?', which
/// messages cannot hold.
pub fn shown_text(value: ValueRef<'_>, column_type: &ColumnType) -> String {
    let mut shown = match value {
        ValueRef::Bytes(bytes) if bytes.len() > 4 * SHOWN_BYTES_MAX && column_type.kind != TypeKind::Json => {
            // A character that is shown by a byte takes four at most.
            quoted_text(ValueRef::Bytes(&bytes[..4 * SHOWN_BYTES_MAX]), column_type)
        }
        _ => quoted_text(value, column_type),
    };
    shown.truncate(shown.floor_char_boundary(SHOWN_BYTES_MAX));
    if shown.chars().any(|character| character.len_utf8() > 3) {
        shown =
            shown.chars().map(|character| if character.len_utf8() > 3 { '?' } else { character }).collect();
    }
    shown
}

/// The last eight bytes as a big-endian number.
pub(crate) fn big_endian(bytes: &[u8]) -> u64 {
    bytes[bytes.len().saturating_sub(8)..].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// What MySQL reports of text without a number where an exact one is wanted. It names neither column nor row.
fn no_decimal() -> SqlError {
    sql_error!(ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, "DECIMAL", "0", "", -1)
}

/// As [`to_decimal`] for what a column or a function yields, not a literal: MySQL reports text without a number in
/// another way, and of what a function made nothing else.
pub fn to_decimal_of(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    is_column: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Decimal> {
    let ValueRef::Bytes(bytes) = value else { return to_decimal(value, column_type, diagnostics) };
    if column_type.is_number_bytes() || column_type.is_large_column() {
        return to_decimal(value, column_type, diagnostics);
    }
    if Decimal::parse(&readable_text(bytes, column_type.collation)).length == 0 {
        diagnostics.warning(no_decimal());
    }
    match is_column {
        true => to_decimal(value, column_type, diagnostics),
        false => to_decimal(value, column_type, &mut Diagnostics::new(0)),
    }
}

/// The value as a double; None for NULL. Warns about text that is not wholly a number, but not of that in a
/// column of type TEXT or BLOB, as MySQL.
pub fn to_f64(value: ValueRef<'_>, column_type: &ColumnType, diagnostics: &mut Diagnostics) -> Option<f64> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Int(number) => number as f64,
        ValueRef::UInt(number) => number as f64,
        ValueRef::Decimal(number) => number.to_f64(),
        ValueRef::Float(number) => f64::from(number),
        ValueRef::Double(number) => number,
        ValueRef::Date(date) => date.to_number() as f64,
        ValueRef::Time(time) => {
            let fraction = f64::from(time.microseconds) / 1e6;
            time.to_number() as f64 + if time.negative { -fraction } else { fraction }
        }
        ValueRef::DateTime(moment) => moment.to_number() as f64 + f64::from(moment.microsecond) / 1e6,
        ValueRef::Bytes(document) if column_type.kind == TypeKind::Json => {
            json::to_f64(json::Node::of(document)).0
        }
        ValueRef::Bytes(bytes) if column_type.is_number_bytes() => big_endian(bytes) as f64,
        ValueRef::Bytes(bytes) => {
            let text = readable_text(bytes, column_type.collation);
            let parsed = number::parse_f64(&text);
            // Blanks alone are zero.
            let rest = text[parsed.length..].iter().any(|byte| !number::is_blank(*byte));
            if (rest || parsed.overflow) && !column_type.is_large_column() {
                diagnostics.warning(truncated("DOUBLE", value, column_type));
            }
            parsed.number
        }
    })
}

/// The value as an exact number; None for NULL. Warns about text that is not wholly a number and about
/// doubles beyond 65 digits.
pub fn to_decimal(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    diagnostics: &mut Diagnostics,
) -> Option<Decimal> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Int(number) => Decimal::from(number),
        ValueRef::UInt(number) => Decimal::from(number),
        ValueRef::Decimal(number) => *number,
        ValueRef::Float(number) => decimal_of_f64(f64::from(number), value, column_type, diagnostics),
        ValueRef::Double(number) => decimal_of_f64(number, value, column_type, diagnostics),
        ValueRef::Date(date) => Decimal::from(date.to_number()),
        ValueRef::Time(time) => {
            let whole = i128::from(time.to_number().unsigned_abs());
            temporal_decimal(whole, time.microseconds, time.negative, column_type)
        }
        ValueRef::DateTime(moment) => {
            temporal_decimal(i128::from(moment.to_number()), moment.microsecond, false, column_type)
        }
        ValueRef::Bytes(document) if column_type.kind == TypeKind::Json => {
            json::to_decimal(json::Node::of(document)).0
        }
        ValueRef::Bytes(bytes) if column_type.is_number_bytes() => Decimal::from(big_endian(bytes)),
        ValueRef::Bytes(bytes) => {
            let text = readable_text(bytes, column_type.collation);
            let parsed = Decimal::parse(&text);
            let rest = text[parsed.length..].iter().any(|byte| !number::is_blank(*byte));
            match column_type.is_large_column() {
                true if parsed.length == 0 => diagnostics.warning(no_decimal()),
                false if parsed.length == 0 || rest || parsed.overflow => {
                    diagnostics.warning(truncated("DECIMAL", value, column_type));
                }
                _ => {}
            }
            parsed.number
        }
    })
}

fn decimal_of_f64(
    number: f64,
    value: ValueRef<'_>,
    column_type: &ColumnType,
    diagnostics: &mut Diagnostics,
) -> Decimal {
    Decimal::from_f64(number).unwrap_or_else(|_| {
        // MySQL shows what is before the exponent.
        let shown = shown_text(value, column_type);
        let digits = shown.split('e').next().unwrap_or_default();
        diagnostics.warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", digits));
        Decimal::largest(crate::decimal::DIGITS_MAX, 0, number < 0.0)
    })
}

/// A temporal number with its fractional digits as decimals.
fn temporal_decimal(whole: i128, microseconds: u32, negative: bool, column_type: &ColumnType) -> Decimal {
    let digits = column_type.fractional_digits();
    let scaled = whole * 1_000_000 + i128::from(microseconds);
    let number = Decimal::from_i128(if negative { -scaled } else { scaled }, 6).unwrap_or(Decimal::ZERO);
    number.with_scale(digits, Rounding::HalfUp).unwrap_or(number)
}

/// The value as an integer within the range of BIGINT and BIGINT UNSIGNED together; None for NULL.
/// Numbers are rounded, text is read up to its first character that is no digit, with warning 1292.
pub fn to_integer(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    diagnostics: &mut Diagnostics,
) -> Option<i128> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Int(number) => i128::from(number),
        ValueRef::UInt(number) => i128::from(number),
        ValueRef::Decimal(number) => integer_of_decimal(number, value, column_type, diagnostics),
        ValueRef::Float(number) => integer_of_f64(f64::from(number), value, column_type, diagnostics),
        ValueRef::Double(number) => integer_of_f64(number, value, column_type, diagnostics),
        ValueRef::Date(date) => i128::from(date.to_number()),
        ValueRef::Time(time) => i128::from(time.rounded(0).to_number()),
        ValueRef::DateTime(moment) => i128::from(moment.rounded(0).unwrap_or(moment).to_number()),
        ValueRef::Bytes(document) if column_type.kind == TypeKind::Json => {
            json::to_integer(json::Node::of(document)).0
        }
        ValueRef::Bytes(bytes) if column_type.is_number_bytes() => i128::from(big_endian(bytes)),
        ValueRef::Bytes(bytes) => {
            let text = readable_text(bytes, column_type.collation);
            let parsed = number::parse_integer(&text);
            let rest = text[parsed.length..].iter().any(|byte| !number::is_blank(*byte));
            let too_low = parsed.negative && parsed.magnitude > 1 << 63;
            let cut = parsed.length == 0 || rest || parsed.overflow || too_low;
            if cut && !column_type.is_large_column() {
                diagnostics.warning(truncated("INTEGER", value, column_type));
            }
            match parsed.negative {
                true => -i128::from(parsed.magnitude.min(1 << 63)),
                false => i128::from(parsed.magnitude),
            }
        }
    })
}

/// The whole number at or below the value, and whether the value lies above it; None for NULL. Loses nothing of
/// what is wholly a number, be it written as text; what is beyond the range of i128 becomes its end.
pub fn to_floor(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    diagnostics: &mut Diagnostics,
) -> Option<(i128, bool)> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Int(number) => (i128::from(number), false),
        ValueRef::UInt(number) => (i128::from(number), false),
        ValueRef::Bytes(bytes) if column_type.is_number_bytes() => (i128::from(big_endian(bytes)), false),
        ValueRef::Bytes(bytes) => {
            let text = readable_text(bytes, column_type.collation);
            let parsed = Decimal::parse(&text);
            let rest = text[parsed.length..].iter().any(|byte| !number::is_blank(*byte));
            if parsed.length == 0 || rest || parsed.overflow {
                return to_f64(value, column_type, diagnostics).map(floor_of_f64);
            }
            floor_of_decimal(&parsed.number)
        }
        ValueRef::Float(_) | ValueRef::Double(_) => floor_of_f64(to_f64(value, column_type, diagnostics)?),
        _ => floor_of_decimal(&to_decimal(value, column_type, diagnostics)?),
    })
}

fn floor_of_f64(number: f64) -> (i128, bool) {
    let floor = number.floor();
    (floor as i128, floor != number)
}

fn floor_of_decimal(number: &Decimal) -> (i128, bool) {
    let floor = number.with_scale(0, Rounding::Floor).unwrap_or(*number);
    let bound = if number.is_negative() { i128::MIN } else { i128::MAX };
    (floor.unscaled_i128().unwrap_or(bound), floor != *number)
}

const INTEGER_MIN: i128 = i64::MIN as i128;
const INTEGER_MAX: i128 = u64::MAX as i128;

fn integer_of_decimal(
    number: &Decimal,
    value: ValueRef<'_>,
    from: &ColumnType,
    diagnostics: &mut Diagnostics,
) -> i128 {
    let whole = number.with_scale(0, Rounding::HalfUp).ok().and_then(|whole| whole.unscaled_i128());
    let bound = if number.is_negative() { INTEGER_MIN } else { INTEGER_MAX };
    let whole = whole.unwrap_or(bound);
    let most = if from.unsigned { INTEGER_MAX } else { i128::from(i64::MAX) };
    let cut = whole.clamp(INTEGER_MIN, most);
    if cut != whole || number.integer_digits() > 38 {
        diagnostics.warning(truncated("DECIMAL", value, from));
    }
    cut
}

fn integer_of_f64(
    number: f64,
    value: ValueRef<'_>,
    from: &ColumnType,
    diagnostics: &mut Diagnostics,
) -> i128 {
    // The cast cuts to the range of i128; NaN gives 0. Floating point numbers give signed integers only.
    let whole = number.round_ties_even() as i128;
    let cut = whole.clamp(INTEGER_MIN, i128::from(i64::MAX));
    if cut != whole {
        diagnostics.warning(truncated("INTEGER", value, from));
    }
    cut
}

/// Whether the value counts as true; None for NULL.
pub fn to_bool(value: ValueRef<'_>, column_type: &ColumnType, diagnostics: &mut Diagnostics) -> Option<bool> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Int(number) => number != 0,
        ValueRef::UInt(number) => number != 0,
        ValueRef::Decimal(number) => !number.is_zero(),
        ValueRef::Bytes(document) if column_type.kind == TypeKind::Json => {
            json::is_true(json::Node::of(document))
        }
        _ => to_f64(value, column_type, diagnostics)? != 0.0,
    })
}

/// What conversions to temporal values take from the session.
#[derive(Clone, Copy, Debug, Default)]
pub struct TemporalContext {
    /// Which dates are accepted.
    pub rules: DateRules,
    /// The statement's date: a TIME turned to DATETIME falls on it.
    pub today: Date,
    /// Seconds east of UTC of the session's time zone.
    pub offset_seconds: i32,
}

/// The value as a date with time; None for NULL and, with warning 1292, for what is none.
pub fn to_date_time(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    context: TemporalContext,
    diagnostics: &mut Diagnostics,
) -> Option<DateTime> {
    let found = match value {
        ValueRef::Null => return None,
        ValueRef::DateTime(moment) => moment.date.is_allowed(context.rules).then_some((moment, false)),
        ValueRef::Date(date) => date.is_allowed(context.rules).then_some((date.midnight(), false)),
        ValueRef::Time(time) => time_on_date(time, context.today).map(|moment| (moment, false)),
        ValueRef::Bytes(bytes) => date_time_of_text(&readable_text(bytes, column_type.collation), context),
        _ => date_time_of_number(value, column_type, context.rules).map(|moment| (moment, false)),
    };
    let warning = || sql_error!(ER_TRUNCATED_WRONG_VALUE, "datetime", quoted_text(value, column_type));
    match found {
        Some((moment, truncated)) => {
            if truncated {
                diagnostics.warning(warning());
            }
            Some(moment)
        }
        None => {
            let error = errors::code::ER_TRUNCATED_WRONG_VALUE
                .message(format!("Incorrect datetime value: '{}'", quoted_text(value, column_type)));
            diagnostics.warning(error);
            None
        }
    }
}

/// The moment of a time span counted from midnight of a date.
pub fn time_on_date(time: Time, date: Date) -> Option<DateTime> {
    time_after(time, date.midnight())
}

/// The moment of a time span counted from a moment.
pub fn time_after(time: Time, start: DateTime) -> Option<DateTime> {
    let microseconds = start.epoch_microseconds() + time.to_microseconds();
    DateTime::from_epoch(microseconds.div_euclid(1_000_000), microseconds.rem_euclid(1_000_000) as u32)
}

/// The moment in a text, on the session's clock, rounded to microseconds; and whether text was ignored.
pub(crate) fn date_time_of_text(text: &[u8], context: TemporalContext) -> Option<(DateTime, bool)> {
    let parsed = parse_date_time(text, context.rules)?;
    let moment = parsed.rounded(6)?;
    let moment = match parsed.offset_seconds {
        Some(offset) => moment.add_seconds(i64::from(context.offset_seconds) - i64::from(offset))?,
        None => moment,
    };
    Some((moment, parsed.notes.truncated))
}

/// The moment that a number names (20240229, 20240229123000.5).
pub fn date_time_of_number(
    value: ValueRef<'_>,
    column_type: &ColumnType,
    rules: DateRules,
) -> Option<DateTime> {
    let (whole, microsecond) = temporal_number(value, column_type)?;
    if is_negative(value) {
        return None;
    }
    let moment = DateTime::from_number(whole, rules)?;
    // A fraction needs a time of day.
    let date_only = (1..=99_991_231).contains(&whole);
    if microsecond > 0 && date_only {
        return None;
    }
    Some(DateTime { microsecond, ..moment })
}

/// The date that a number names to functions over dates alone: as [`date_time_of_number`], but numbers below 101 have the
/// year 2000 and month zero, and fractions do not count.
pub fn date_of_number(value: ValueRef<'_>, column_type: &ColumnType, rules: DateRules) -> Option<DateTime> {
    let (whole, _) = temporal_number(value, column_type)?;
    if is_negative(value) && whole != 0 {
        return None;
    }
    match u8::try_from(whole) {
        Ok(day @ 0..=31) => {
            let date = Date { year: 2000, month: 0, day };
            date.is_allowed(rules).then(|| date.midnight())
        }
        Ok(100) => {
            let date = Date { year: 2000, month: 1, day: 0 };
            date.is_allowed(rules).then(|| date.midnight())
        }
        // The time of day is not looked at where only the date counts.
        _ => DateTime::from_number(whole, rules).or_else(|| {
            let date = whole / 1_000_000;
            (101..=99_991_231).contains(&date).then(|| DateTime::from_number(date, rules)).flatten()
        }),
    }
}

/// Whether a number is below zero, where its integer part may not show it.
pub(crate) fn is_negative(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Int(number) => number < 0,
        ValueRef::Decimal(number) => number.is_negative(),
        ValueRef::Double(number) => number < 0.0,
        ValueRef::Float(number) => number < 0.0,
        _ => false,
    }
}

/// A number's integer part and its microseconds, rounded.
pub fn temporal_number(value: ValueRef<'_>, column_type: &ColumnType) -> Option<(i64, u32)> {
    let number = match value {
        ValueRef::Int(number) => return Some((number, 0)),
        ValueRef::UInt(number) => return i64::try_from(number).ok().map(|number| (number, 0)),
        _ => to_decimal(value, column_type, &mut Diagnostics::new(0))?,
    };
    let micro = number.with_scale(6, Rounding::HalfUp).ok()?.unscaled_i128()?;
    Some((i64::try_from(micro / 1_000_000).ok()?, (micro % 1_000_000).unsigned_abs() as u32))
}

/// The value as a time span; None for NULL and, with warning 1292, for what is none.
pub fn to_time(value: ValueRef<'_>, column_type: &ColumnType, diagnostics: &mut Diagnostics) -> Option<Time> {
    let found = match value {
        ValueRef::Null => return None,
        ValueRef::Time(time) => Some((time, false)),
        ValueRef::DateTime(moment) => Some((moment.time(), false)),
        ValueRef::Date(_) => Some((Time::default(), false)),
        ValueRef::UInt(bits) if column_type.kind == TypeKind::Bit => {
            let bytes = text::bit_bytes(bits, column_type);
            return to_time(ValueRef::Bytes(&bytes), &bit_text_type(), diagnostics);
        }
        // Beyond the range of signed integers the bits are taken for a signed one.
        ValueRef::UInt(number) if number > i64::MAX as u64 && !column_type.kind.has_members() => {
            return to_time(ValueRef::Int(number as i64), column_type, diagnostics);
        }
        ValueRef::UInt(_) if column_type.kind.has_members() => {
            return to_time(member_text(value.to_value(), column_type).as_ref(), column_type, diagnostics);
        }
        ValueRef::Bytes(bytes) => parse_time(&readable_text(bytes, column_type.collation))
            .map(|parsed| (parsed.rounded(6), parsed.notes.truncated || parsed.notes.out_of_range)),
        // Out of range is NULL here, while columns take the nearest span.
        _ => time_of_number(value, column_type).filter(|&(_, cut)| !cut),
    };
    let error = || sql_error!(ER_TRUNCATED_WRONG_VALUE, "time", shown_text(value, column_type));
    if found.is_none_or(|(_, noted)| noted) {
        diagnostics.warning(error());
    }
    found.map(|(time, _)| time)
}

/// Warns of a blank before a text that was read as a time.
pub fn warn_of_blank(value: ValueRef<'_>, column_type: &ColumnType, diagnostics: &mut Diagnostics) {
    if let ValueRef::Bytes([first, ..]) = value
        && number::is_blank(*first)
    {
        let (blank, shown) = (char::from(*first), shown_text(value, column_type));
        diagnostics.warning(sql_error!(ER_WARN_DEPRECATED_SUPERFLUOUS_DELIMITER, blank, 0, shown, 1));
    }
}

/// The type of the text that the bytes of BIT are where a moment or a time is read.
pub fn bit_text_type() -> ColumnType {
    ColumnType::varbinary(8)
}

/// The span that a number names (123000.5), and whether it was cut.
pub(crate) fn time_of_number(value: ValueRef<'_>, column_type: &ColumnType) -> Option<(Time, bool)> {
    let Some((whole, microseconds)) = temporal_number(value, column_type) else {
        // Beyond 64 bits.
        return Some((Time { negative: is_negative(value), ..Time::MAX }, true));
    };
    let (time, notes) = Time::from_number(whole)?;
    let negative = time.negative || is_negative(value);
    let time = Time { microseconds: if notes.out_of_range { 0 } else { microseconds }, negative, ..time };
    let (time, cut) = Time::from_microseconds(time.to_microseconds());
    Some((time, cut || notes.out_of_range))
}

/// The number or text that an ENUM or SET value stands for in an expression: text, as [`ValueRef::Bytes`].
/// Other values stay as they are.
pub fn member_text(value: Value, column_type: &ColumnType) -> Value {
    match (&value, column_type.kind) {
        (Value::UInt(number), TypeKind::Enum) => {
            Value::Bytes(text::enum_member(*number, column_type).to_vec())
        }
        (Value::UInt(number), TypeKind::Set) => {
            let mut out = Vec::new();
            text::append_set_members(*number, column_type, &mut out);
            Value::Bytes(out)
        }
        _ => value,
    }
}
