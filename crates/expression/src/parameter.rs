//! What a prepared statement's parameter is: the type that follows from the types around it, and how the value of an
//! execution takes that type. Main functions: [`derived_type`], [`retyped_for`],
//! [`fit`]. The rules are MySQL's since 8.0.22: the type
//! is settled when the statement is prepared; a value of another kind of type has the statement prepared anew with
//! the types of the values. Which type a place gives is the binder's business (`plan`, `bind/parameter.rs`).

use crate::context::{EvaluationContext, TypedValue};
use crate::convert;
use crate::operand::Operand;
use crate::result_type::{Coercibility, ResultType, TypeClass, class_of};
use charset::CollationId;
use errors::{Diagnostics, SqlResult, sql_error};
use values::convert as exact;
use values::decimal::{DIGITS_MAX, Rounding, SCALE_MAX};
use values::temporal::{DateRules, DateTime, parse_date_time};
use values::{ColumnType, Decimal, TypeKind, Value, number};

/// Most bytes of a text parameter.
const TEXT_BYTES_MAX: u32 = 65_535;
/// Display length of an integer parameter.
const INTEGER_LENGTH: u32 = 21;
/// Bits of a BIT parameter.
const BITS: u32 = 64;
/// The first number that is a date with a time of day.
const FIRST_MOMENT_NUMBER: i64 = 10_000_101_000_000;
/// Numbers below are no dates as DATETIME; as DATE they are days of the year 2000.
const FIRST_DATE_NUMBER: i64 = 101;
/// Dates that a parameter may be: what is no day of the calendar is compared all the same.
const ANY_DATE: DateRules =
    DateRules { no_zero_date: false, no_zero_in_date: false, allow_invalid_dates: true };

/// The type of a parameter that stands beside a value of this type: the widest one of its class.
pub fn derived_type(beside: &ColumnType) -> ColumnType {
    match beside.kind {
        TypeKind::Bit => ColumnType::bit(BITS),
        TypeKind::Year => ColumnType::new(TypeKind::Year),
        TypeKind::Date => ColumnType::new(TypeKind::Date),
        TypeKind::Null => text(CollationId::BINARY),
        kind if kind.is_large_object() => {
            let characters = u32::MAX / u32::from(beside.collation.charset().max_bytes);
            ResultType::text(characters, beside.collation, Coercibility::Coercible).column_type
        }
        kind => match class_of(kind) {
            TypeClass::Integer => integer(beside.is_unsigned_integer()),
            TypeClass::Decimal => decimal(),
            TypeClass::Double => ResultType::double().column_type,
            TypeClass::DateTime => ResultType::datetime(6).column_type,
            TypeClass::Time => ResultType::time(6).column_type,
            TypeClass::Text | TypeClass::Null => text(beside.collation),
            TypeClass::Json => text(CollationId::UTF8MB4_0900_AI_CI),
        },
    }
}

/// BIGINT.
pub fn integer(unsigned: bool) -> ColumnType {
    ColumnType { length: Some(INTEGER_LENGTH), unsigned, ..ColumnType::new(TypeKind::BigInt) }
}

/// The widest DECIMAL.
pub fn decimal() -> ColumnType {
    ResultType::decimal(65, 30).column_type
}

/// The longest VARCHAR or VARBINARY.
pub fn text(collation: CollationId) -> ColumnType {
    let characters = TEXT_BYTES_MAX / u32::from(collation.charset().max_bytes);
    ResultType::text(characters, collation, Coercibility::Coercible).column_type
}

/// The type that a parameter must have for such a value, where the one that it has does not do: the statement is to be
/// prepared anew. Text does for every type, and numbers do for wider ones.
pub fn retyped_for(given: &TypedValue, wanted: &ColumnType) -> Option<ColumnType> {
    let TypedValue { value, column_type } = given;
    if is_of_type(value, column_type, wanted) {
        return None;
    }
    let is_number = matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_));
    let is_text = matches!(value, Value::Bytes(_));
    let fits = match class_of(wanted.kind) {
        TypeClass::Text => is_text,
        TypeClass::Null | TypeClass::Json => false,
        // A text may be an exact number that is no integer.
        TypeClass::Integer if is_text && wanted.kind == TypeKind::BigInt => {
            let is_other = integer_of_text(value, column_type, wanted).is_none() && is_exact_number(value);
            return is_other.then(decimal);
        }
        TypeClass::Integer => {
            is_text || wanted.kind == TypeKind::Year && matches!(value, Value::Int(_) | Value::UInt(_))
        }
        TypeClass::Decimal => is_text || is_number,
        TypeClass::Double => is_text || !column_type.kind.is_temporal(),
        TypeClass::DateTime if wanted.kind == TypeKind::Date => {
            let kind = date_kind(value, column_type);
            return (kind != TypeKind::Date).then(|| derived_type(&ColumnType::new(kind)));
        }
        TypeClass::DateTime => true,
        TypeClass::Time => !matches!(value, Value::Date(_)),
    };
    (!fits).then(|| derived_type(column_type))
}

/// Brings a value to the type of its parameter. One that only a conversion with warnings would bring there keeps its own
/// type: it is converted where it is read, with a warning each time ([`convert_read`]). But a number that is no moment is
/// NULL with one warning in `diagnostics`, if there are any. `keeps_digits`: an exact number has the digits that it was given, not those
/// of its type, so that a function that reads text sees no others. Error 3988 for text that the parameter's character set
/// lacks.
pub fn fit(
    given: TypedValue,
    wanted: &ColumnType,
    keeps_digits: bool,
    diagnostics: Option<&mut Diagnostics>,
) -> SqlResult<TypedValue> {
    let TypedValue { value, column_type } = given;
    let as_wide = |number: Decimal| Value::Decimal(if keeps_digits { number } else { filled(number) });
    if let Value::Decimal(number) = value
        && wanted.kind == TypeKind::Decimal
    {
        return Ok(TypedValue { value: as_wide(number), column_type: wanted.clone() });
    }
    if is_of_type(&value, &column_type, wanted) {
        return Ok(TypedValue { value, column_type: wanted.clone() });
    }
    let converted = match (class_of(wanted.kind), &value) {
        (TypeClass::Text, Value::Bytes(bytes)) => Some(text_in_set(bytes, &column_type, wanted)?),
        (TypeClass::Integer, Value::Bytes(_)) => integer_of_text(&value, &column_type, wanted),
        (TypeClass::Integer, Value::Int(_) | Value::UInt(_)) if wanted.kind == TypeKind::Year => {
            Some(signed(&value))
        }
        (TypeClass::Decimal, _) => {
            quiet(|diagnostics| exact::to_decimal(value.as_ref(), &column_type, diagnostics)).map(as_wide)
        }
        (TypeClass::Double, _) => {
            quiet(|diagnostics| exact::to_f64(value.as_ref(), &column_type, diagnostics)).map(Value::Double)
        }
        (TypeClass::DateTime, _) if wanted.kind == TypeKind::Date => {
            date(&value, &column_type).map(|moment| Value::Date(moment.date))
        }
        (TypeClass::DateTime, Value::Bytes(_)) | (TypeClass::DateTime, Value::Time(_)) => {
            moment(&value, &column_type).map(Value::DateTime)
        }
        (TypeClass::DateTime, _) => {
            let found = moment(&value, &column_type).map(Value::DateTime);
            match diagnostics {
                Some(diagnostics) if found.is_none() => {
                    diagnostics.warning(convert::no_moment(signed(&value).as_ref(), &column_type));
                    // It is NULL, but not one that was given.
                    return Ok(TypedValue { value: Value::Null, column_type });
                }
                _ => found,
            }
        }
        (TypeClass::Time, _) => {
            quiet(|diagnostics| exact::to_time(value.as_ref(), &column_type, diagnostics)).map(Value::Time)
        }
        _ => None,
    };
    Ok(match converted {
        Some(value) => TypedValue { value, column_type: wanted.clone() },
        None => TypedValue { value, column_type },
    })
}

/// A number with all the decimals that a DECIMAL parameter has, as far as there is room behind its digits.
fn filled(number: Decimal) -> Decimal {
    let room = DIGITS_MAX.saturating_sub(number.integer_digits()).min(u32::from(SCALE_MAX)) as u8;
    number.with_scale(room.max(number.scale()), Rounding::HalfUp).unwrap_or(number)
}

/// Whether a value is a text that is a number of its parameter's type as a whole.
pub fn is_number_text(given: &TypedValue, wanted: &ColumnType) -> bool {
    let TypedValue { value, column_type } = given;
    let Value::Bytes(_) = value else { return false };
    match class_of(wanted.kind) {
        TypeClass::Integer => integer_of_text(value, column_type, wanted).is_some(),
        TypeClass::Decimal => {
            quiet(|diagnostics| exact::to_decimal(value.as_ref(), column_type, diagnostics)).is_some()
        }
        TypeClass::Double => {
            quiet(|diagnostics| exact::to_f64(value.as_ref(), column_type, diagnostics)).is_some()
        }
        _ => false,
    }
}

/// Whether a value needs no conversion to be of its parameter's type.
pub fn is_as_it_stands(typed: &TypedValue, wanted: &ColumnType) -> bool {
    is_of_type(&typed.value, &typed.column_type, wanted)
}

/// Whether a value is of the type as it stands. Bytes without a character set are taken for text of any.
fn is_of_type(value: &Value, column_type: &ColumnType, wanted: &ColumnType) -> bool {
    match value {
        Value::Null => true,
        Value::Int(_) => wanted.kind == TypeKind::BigInt && !wanted.unsigned,
        Value::UInt(_) => wanted.kind == TypeKind::Bit || wanted.kind == TypeKind::BigInt && wanted.unsigned,
        Value::Double(_) => wanted.kind == TypeKind::Double,
        Value::Decimal(_) => wanted.kind == TypeKind::Decimal,
        Value::Date(_) => wanted.kind == TypeKind::Date,
        Value::DateTime(_) => wanted.kind == TypeKind::DateTime,
        Value::Time(_) => wanted.kind == TypeKind::Time,
        Value::Bytes(_) => {
            let (from, to) = (column_type.collation, wanted.collation);
            class_of(wanted.kind) == TypeClass::Text
                && (from == CollationId::BINARY
                    || to == CollationId::BINARY
                    || functions::text::same_character_set(from, to))
        }
        Value::Float(_) => false,
    }
}

/// What a conversion gives; None if it warns.
fn quiet<T>(convert: impl FnOnce(&mut Diagnostics) -> Option<T>) -> Option<T> {
    let mut diagnostics = Diagnostics::new(1);
    convert(&mut diagnostics).filter(|_| diagnostics.count() == 0)
}

fn text_in_set(bytes: &[u8], from: &ColumnType, wanted: &ColumnType) -> SqlResult<Value> {
    let converted = from.collation.charset().convert(bytes, wanted.collation.charset());
    match converted.first_error {
        None => Ok(Value::Bytes(converted.text)),
        Some(_) => {
            let names = [from.collation, wanted.collation].map(functions::text::collation_name);
            Err(sql_error!(ER_IMPOSSIBLE_STRING_CONVERSION, names[0], names[1], "parameter"))
        }
    }
}

/// A text that is an integer as a whole.
fn integer_of_text(value: &Value, from: &ColumnType, wanted: &ColumnType) -> Option<Value> {
    let number = quiet(|diagnostics| exact::to_integer(value.as_ref(), from, diagnostics))?;
    match wanted.unsigned {
        true => u64::try_from(number).map(Value::UInt).ok(),
        false => i64::try_from(number).map(Value::Int).ok(),
    }
}

/// Whether a text is a number as a whole.
fn is_exact_number(value: &Value) -> bool {
    let Value::Bytes(bytes) = value else { return false };
    let parsed = Decimal::parse(bytes);
    let ends = bytes[parsed.length..].iter().all(|byte| number::is_blank(*byte));
    parsed.length > 0 && ends && !parsed.overflow
}

fn signed(value: &Value) -> Value {
    match value {
        Value::UInt(number) => Value::Int(*number as i64),
        other => other.clone(),
    }
}

/// The kind of type that a parameter for a DATE must have for a value: DATETIME for what has a time of day and is a moment.
fn date_kind(value: &Value, column_type: &ColumnType) -> TypeKind {
    match value {
        Value::Time(_) | Value::DateTime(_) => column_type.kind,
        Value::Bytes(_) => TypeKind::Date,
        _ => match quiet(|diagnostics| exact::to_integer(value.as_ref(), column_type, diagnostics)) {
            Some(0) => TypeKind::DateTime,
            Some(number) if number >= i128::from(FIRST_MOMENT_NUMBER) => {
                let moment =
                    i64::try_from(number).ok().and_then(|number| DateTime::from_number(number, ANY_DATE));
                if moment.is_some() { TypeKind::DateTime } else { TypeKind::Date }
            }
            _ => TypeKind::Date,
        },
    }
}

/// A number or text as a date.
fn date(value: &Value, from: &ColumnType) -> Option<DateTime> {
    if matches!(value, Value::Bytes(_)) {
        return moment(value, from)
            .filter(|moment| *moment == DateTime { date: moment.date, ..DateTime::default() });
    }
    let (whole, _) = exact::temporal_number(value.as_ref(), from)?;
    match whole {
        1..FIRST_DATE_NUMBER => DateTime::from_number(whole + 20_000_000, ANY_DATE),
        0.. => DateTime::from_number(whole, ANY_DATE),
        _ => None,
    }
}

/// A number, date or text as a moment, if no time zone and no warning has a part in it.
fn moment(value: &Value, from: &ColumnType) -> Option<DateTime> {
    match value {
        Value::Date(date) => Some(DateTime { date: *date, ..DateTime::default() }),
        Value::Time(_) => None,
        Value::Bytes(bytes) => {
            let utf8 = functions::text::to_utf8(bytes, from.collation);
            let parsed = parse_date_time(utf8.as_bytes(), ANY_DATE)?;
            if parsed.notes.truncated || parsed.offset_seconds.is_some() {
                return None;
            }
            parsed.rounded(6)
        }
        _ => exact::date_time_of_number(value.as_ref(), from, ANY_DATE),
    }
}

/// A value that did not fit as it was given, in the type of its parameter, with the warnings that belong to it.
pub fn convert_read(
    value: Value,
    from: &ColumnType,
    wanted: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    // Numbers are read from bytes, whatever text they are.
    let bytes = ColumnType::varbinary(TEXT_BYTES_MAX);
    let is_ascii_text =
        matches!(value, Value::Bytes(_)) && functions::text::is_ascii_superset(from.collation);
    let from = if is_ascii_text && wanted.kind.is_number() { &bytes } else { from };
    match wanted.kind {
        // Bytes stay as they are: only a table looks at whether they are text.
        _ if class_of(wanted.kind) == TypeClass::Text && from.collation == CollationId::BINARY => Ok(value),
        TypeKind::Bit => {
            let number = convert::to_integer(value.as_ref(), from, context)?;
            Ok(number.map_or(Value::Null, |number| Value::UInt(convert::integer_bits(number))))
        }
        _ => convert::to_type(Operand::Owned(value), from, wanted, context),
    }
}

#[cfg(test)]
mod tests;
