//! Literals: from text to typed constants; character sets, collations and escape characters by name.

use ::expression::convert::{to_datetime, written_date_rules};
use ::expression::{BuildFacts, Coercibility, Expression, ResultType, text};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use parser::ast;
use plan::PlanningSurroundings;
use values::temporal::{parse_date_time, parse_time};
use values::{ColumnType, Decimal, Value};

pub(super) fn literal(
    literal: &ast::Literal,
    facts: BuildFacts,
    context: &mut dyn PlanningSurroundings,
) -> SqlResult<Expression> {
    Ok(match literal {
        ast::Literal::Null => Expression::null(),
        ast::Literal::True => Expression::boolean(true),
        ast::Literal::False => Expression::boolean(false),
        ast::Literal::Integer(value) => Expression::integer(*value),
        ast::Literal::Decimal(digits) => decimal(digits)?,
        ast::Literal::Float(digits) => float(digits)?,
        ast::Literal::String { bytes, introducer } => string(bytes, introducer.as_deref(), facts.connection)?,
        ast::Literal::Hex { bytes, introducer } | ast::Literal::Bits { bytes, introducer } => {
            let hexadecimal = matches!(literal, ast::Literal::Hex { .. });
            match introducer {
                Some(name) => string(&padded(bytes, character_set(name)?), Some(name), facts.connection)?,
                None => number_bytes(bytes.clone(), hexadecimal),
            }
        }
        ast::Literal::Date(bytes) => {
            let parsed = parse_date_time(bytes, written_date_rules(facts.sql_mode))
                .filter(|parsed| !parsed.has_time && !parsed.notes.truncated)
                .ok_or_else(|| wrong_value("DATE", bytes))?;
            Expression::constant(Value::Date(parsed.value.date), ResultType::date())
        }
        ast::Literal::Time(bytes) => {
            let parsed = parse_time(bytes)
                .filter(|parsed| !parsed.notes.truncated)
                .ok_or_else(|| wrong_value("TIME", bytes))?;
            Expression::constant(Value::Time(parsed.value), ResultType::time(fraction_digits(bytes)))
        }
        ast::Literal::Timestamp(bytes) => {
            let parsed = parse_date_time(bytes, written_date_rules(facts.sql_mode))
                .filter(|parsed| parsed.has_time && !parsed.notes.truncated)
                .ok_or_else(|| wrong_value("DATETIME", bytes))?;
            let mut moment = parsed.value;
            if parsed.offset_seconds.is_some() {
                let written = (Value::Bytes(bytes.clone()), ColumnType::varchar(0, CollationId::UTF8MB4_BIN));
                moment = to_datetime(written.0.as_ref(), &written.1, context)?
                    .ok_or_else(|| wrong_value("DATETIME", bytes))?;
            }
            Expression::constant(Value::DateTime(moment), ResultType::datetime(fraction_digits(bytes)))
        }
    })
}

fn string(bytes: &[u8], introducer: Option<&str>, connection: CollationId) -> SqlResult<Expression> {
    let collation = match introducer {
        None => connection,
        Some(name) => character_set(name.trim_start_matches('_'))?,
    };
    if introducer.is_some() && !collation.charset().is_valid(bytes) {
        let shown: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        return Err(sql_error!(ER_INVALID_CHARACTER_STRING, collation.charset().name, shown));
    }
    Ok(Expression::text(bytes.to_vec(), collation))
}

fn wrong_value(kind: &str, bytes: &[u8]) -> errors::SqlError {
    sql_error!(ER_WRONG_VALUE, kind, String::from_utf8_lossy(bytes))
}

fn fraction_digits(bytes: &[u8]) -> u8 {
    let Some(point) = bytes.iter().position(|byte| *byte == b'.') else { return 0 };
    bytes[point + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count().min(6) as u8
}

fn decimal(digits: &str) -> SqlResult<Expression> {
    let parsed = Decimal::parse(digits.as_bytes());
    if parsed.overflow {
        return float(digits);
    }
    let mut result = ResultType::of_decimal(&parsed.number);
    if digits.starts_with('.') {
        // `.5` has no digit before the point.
        result.column_type.length = Some(u32::from(parsed.number.scale()).max(1));
    }
    Ok(Expression::constant(Value::Decimal(parsed.number), result))
}

fn float(digits: &str) -> SqlResult<Expression> {
    let value: f64 = digits.parse().unwrap_or(f64::INFINITY);
    if !value.is_finite() {
        return Err(sql_error!(ER_ILLEGAL_VALUE_FOR_TYPE, "double", digits));
    }
    // A literal shows as many characters as it was written with.
    let length = u32::try_from(digits.len()).ok();
    let column_type = ColumnType { length, ..ColumnType::double() };
    Ok(Expression::constant(Value::Double(value), ResultType { column_type, ..ResultType::double() }))
}

/// `X'..'` and `b'..'`: bytes as text, a number in numeric context. The scale 0 marks them; only hexadecimal ones
/// count as unsigned.
fn number_bytes(bytes: Vec<u8>, hexadecimal: bool) -> Expression {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let column_type =
        ColumnType { unsigned: hexadecimal, decimals: Some(0), ..ColumnType::varbinary(length) };
    let result =
        ResultType { column_type, nullable: false, coercibility: Coercibility::Coercible, is_truth: false };
    Expression::constant(Value::Bytes(bytes), result)
}

/// Bytes of a hexadecimal literal with leading zeros up to whole characters of the set.
fn padded(bytes: &[u8], collation: CollationId) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    text::pad_to_characters(&mut padded, collation);
    padded
}

/// A character set's default collation by name; error 1115.
pub(crate) fn character_set(name: &str) -> SqlResult<CollationId> {
    charset::charset_by_name(name)
        .map(|found| found.default_collation)
        .ok_or_else(|| sql_error!(ER_UNKNOWN_CHARACTER_SET, name))
}

/// A collation by name; error 1273, or 1235 for one whose order is not known here.
pub(crate) fn collation(name: &str) -> SqlResult<CollationId> {
    match charset::collation_by_name(name) {
        Some(found) if found.is_supported() => Ok(found.id),
        Some(found) => Err(sql_error!(ER_NOT_SUPPORTED_YET, format!("collation {}", found.name))),
        None => Err(sql_error!(ER_UNKNOWN_COLLATION, name)),
    }
}

/// The escape character of LIKE from its constant; error 1210 for more than one character.
pub(crate) fn escape_character(value: &Value, collation: CollationId) -> SqlResult<Option<char>> {
    let Value::Bytes(bytes) = value else { return Err(sql_error!(ER_WRONG_ARGUMENTS, "ESCAPE")) };
    let decoded = text::to_utf8(bytes, collation);
    let mut characters = decoded.chars();
    match (characters.next(), characters.next()) {
        (None, _) => Ok(None),
        (Some(only), None) => Ok(Some(only)),
        _ => Err(sql_error!(ER_WRONG_ARGUMENTS, "ESCAPE")),
    }
}
