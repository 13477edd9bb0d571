//! The defaults of JSON_VALUE: what is written becomes a value of the returned type when the statement is bound, and must be one exactly.
//! Main function: [`value_default`].

use super::value::is_year;
use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use expression::TypeClass;
use expression::result_type::class_of;
use values::json::{self, Unwatched};
use values::temporal::{DateRules, parse_date_time, parse_time};
use values::{ColumnType, Decimal, TypeKind, Value, number};

const NAME: &str = super::value::JSON_VALUE.name;

/// A literal's text, in that collation, as a value of the type. Errors: 1292 for a text of another form, 1690 for what the type cannot hold
/// as it is, 3141 for what is no JSON text.
pub fn value_default(text: &[u8], own: CollationId, target: &ColumnType) -> SqlResult<Value> {
    match class_of(target.kind) {
        TypeClass::Integer => integer(text, target),
        TypeClass::Decimal => {
            let parsed = Decimal::parse(text);
            whole(text, parsed.length, "DECIMAL")?;
            let fitted = parsed.number.fit(target.precision(), target.scale());
            fitted
                .ok()
                .filter(|(_, is_cut)| !is_cut)
                .map(|(exact, _)| Value::Decimal(exact))
                .ok_or_else(|| beyond("DECIMAL DEFAULT"))
        }
        TypeClass::Double => {
            let parsed = number::parse_f64(text);
            whole(text, parsed.length, "DOUBLE")?;
            match target.kind {
                TypeKind::Float if !(parsed.number as f32).is_finite() => Err(beyond("FLOAT DEFAULT")),
                TypeKind::Float => Ok(Value::Float(parsed.number as f32)),
                _ => Ok(Value::Double(parsed.number)),
            }
        }
        TypeClass::DateTime => moment(text, target),
        TypeClass::Time => {
            let parsed = parse_time(text).filter(|parsed| !parsed.notes.truncated);
            let time = parsed.ok_or_else(|| truncated("time", text))?.rounded(6);
            let kept = time.truncated(target.fractional_digits());
            if kept == time { Ok(Value::Time(time)) } else { Err(beyond("TIME DEFAULT")) }
        }
        TypeClass::Json => {
            let text = own.charset().converted(text, CollationId::UTF8MB4_BIN.charset());
            json::parse(&text, 1, NAME, &Unwatched).map(Value::Bytes)
        }
        TypeClass::Text | TypeClass::Null => {
            let bytes = match target.collation {
                CollationId::BINARY => Some(text.to_vec()),
                collation => expression::convert::text_of_set(text.to_vec(), own, collation).ok(),
            };
            let fits = |bytes: &Vec<u8>| {
                let characters = target.collation.charset().character_count(bytes);
                characters <= target.length.unwrap_or(u32::MAX) as usize
            };
            bytes.filter(fits).map(Value::Bytes).ok_or_else(|| beyond("CHAR DEFAULT"))
        }
    }
}

fn integer(text: &[u8], target: &ColumnType) -> SqlResult<Value> {
    let (kind, form) = match (target.kind, target.unsigned) {
        (TypeKind::Year, _) => ("YEAR", "YEAR"),
        (_, true) => ("UNSIGNED DEFAULT", "INTEGER UNSIGNED"),
        (_, false) => ("SIGNED DEFAULT", "INTEGER SIGNED"),
    };
    let parsed = number::parse_integer(text);
    if text.is_empty() {
        return Err(beyond(kind));
    }
    let is_padded = text.first().is_some_and(|byte| number::is_blank(*byte));
    whole(text, if is_padded { 0 } else { parsed.length }, form)?;
    let magnitude = i128::from(parsed.magnitude);
    let exact = if parsed.negative { -magnitude } else { magnitude };
    let value = match (target.kind, target.unsigned) {
        _ if parsed.overflow => None,
        (TypeKind::Year, _) => i64::try_from(exact).ok().filter(|year| is_year(*year)).map(Value::Int),
        (_, true) => u64::try_from(exact).ok().map(Value::UInt),
        (_, false) => i64::try_from(exact).ok().map(Value::Int),
    };
    value.ok_or_else(|| beyond(kind))
}

fn moment(text: &[u8], target: &ColumnType) -> SqlResult<Value> {
    let is_date = target.kind == TypeKind::Date;
    let wrong = || match is_date {
        true => truncated("date", text),
        false => {
            let message = format!("Incorrect datetime value: '{}'", String::from_utf8_lossy(text));
            errors::code::ER_TRUNCATED_WRONG_VALUE.message(message)
        }
    };
    let parsed = parse_date_time(text, DateRules::default());
    let parsed = parsed.filter(|parsed| !parsed.notes.truncated && (is_date || parsed.has_time));
    let moment = parsed.and_then(|parsed| parsed.rounded(6)).ok_or_else(wrong)?;
    match is_date {
        true => Ok(Value::Date(moment.date)),
        false if moment.truncated(target.fractional_digits()) == moment => Ok(Value::DateTime(moment)),
        false => Err(beyond("TIME DEFAULT")),
    }
}

/// Nothing but the number stands in the text.
fn whole(text: &[u8], length: usize, form: &str) -> SqlResult<()> {
    if length > 0 && length == text.len() { Ok(()) } else { Err(truncated(form, text)) }
}

fn truncated(form: &str, text: &[u8]) -> SqlError {
    sql_error!(ER_TRUNCATED_WRONG_VALUE, form, String::from_utf8_lossy(text))
}

fn beyond(what: &str) -> SqlError {
    sql_error!(ER_DATA_OUT_OF_RANGE, what, NAME)
}
