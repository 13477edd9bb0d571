//! CAST and CONVERT, and conversions that the binder puts in. Main type: [`Cast`].

use super::arithmetic::out_of_range;
use super::json_cast;
use super::listed_constant::wrong_text;
use crate::context::EvaluationContext;
use crate::convert::{self, MomentKind, ZeroDates};
use crate::operand::Operand;
use crate::tree::Expression;
use charset::CollationId;
use errors::{Diagnostics, SqlResult, sql_error};
use functions::text;
use std::borrow::Cow;
use std::sync::Arc;
use values::temporal::{DateTime, parse_date_time};
use values::{ColumnType, Decimal, RowRef, TypeKind, Value, ValueRef};

/// What happens to a character that the target character set lacks, and to values that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastFailure {
    /// Best value, with a warning for what is cut: CAST.
    Warn,
    /// As [`CastFailure::Warn`], and short bytes get zeros behind: CAST AS BINARY(n).
    WarnAndPad,
    /// Best value, silently: CONVERT(.. USING ..) and BINARY.
    Replace,
    /// Error 3854: conversions that nobody wrote, between the character sets of an operation's operands.
    Refuse,
    /// Error 1525, which names this kind: text beside a date of that kind, which must be a date.
    RefuseMoment(TypeKind),
    /// Best value, with the warnings of a value that does not fit the type of its parameter.
    Parameter,
    /// The moment of text that was given for a parameter that is a date, with the warnings of a date.
    DateParameter,
    /// The zero moment, with a warning that text was cut: constant text that is compared with a written moment.
    ComparedMoment,
    /// What a list of constants beside a date or time is looked up by, silently: what is wrong with a text is reported once,
    /// before ([`ListedConstant`](super::ListedConstant)).
    Listed,
}

/// Bytes of malformed text that warning 1300 shows.
const SHOWN_BYTES_MAX: usize = 3;

/// A conversion to the type of the expression that it is.
#[derive(Clone, Debug)]
pub struct Cast {
    /// What is converted.
    pub operand: Expression,
    /// What failure means.
    pub failure: CastFailure,
    /// The name of the column that it is in a result, or beside which text must be a moment; None within other expressions.
    pub column: Option<Arc<str>>,
}

impl Cast {
    /// The value for one row. `whole` carries the target type.
    pub fn evaluate(
        &self,
        whole: &Expression,
        row: RowRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let target = &whole.result.column_type;
        if self.is_too_long(target, context) {
            return Ok(Value::Null);
        }
        let is_number = matches!(target.kind, TypeKind::Decimal | TypeKind::Double | TypeKind::Float);
        let operand = match is_number && self.failure == CastFailure::Warn {
            true => self.operand.chosen(row, context)?,
            false => Some(&self.operand),
        };
        let Some(operand) = operand else { return Ok(Value::Null) };
        let value = operand.operand(row, context)?;
        let from = &operand.result.column_type;
        if value.is_null() {
            return Ok(Value::Null);
        }
        if target.kind == TypeKind::Json {
            return json_cast::document_of_value(value.as_ref(), operand, self.failure, context);
        }
        if from.kind == TypeKind::Json && !target.kind.is_string() {
            return self.cast_document(whole, operand, value.as_ref(), context);
        }
        if let CastFailure::RefuseMoment(kind) = self.failure {
            return written_moment(value.as_ref(), from, (kind, self.column.as_deref()), context);
        }
        if self.failure == CastFailure::ComparedMoment {
            return Ok(Value::DateTime(compared_moment(value.as_ref(), from, context)));
        }
        if self.failure == CastFailure::Listed {
            return super::listed_constant::listed_value(value.as_ref(), from, target, context);
        }
        if self.failure == CastFailure::DateParameter {
            let found = convert::to_moment(value.as_ref(), from, MomentKind::Date, ZeroDates::All, context)?;
            return Ok(found.map_or(Value::Null, Value::DateTime));
        }
        if self.failure == CastFailure::Parameter {
            return crate::parameter::convert_read(value.into_value(), from, target, context);
        }
        match target.kind {
            TypeKind::BigInt => cast_integer(value.as_ref(), &self.operand, target.unsigned, context),
            TypeKind::Char | TypeKind::VarChar | TypeKind::Binary | TypeKind::VarBinary => {
                self.cast_text(whole, value, context)
            }
            kind if kind.is_large_object() => self.cast_text(whole, value, context),
            kind if kind.has_date() && self.failure == CastFailure::Warn => {
                cast_moment(value.as_ref(), from, target, context)
            }
            TypeKind::Year => {
                let is_column = matches!(operand.kind, crate::tree::ExpressionKind::Column(_));
                if let (true, ValueRef::Double(_)) = (is_column, value.as_ref()) {
                    // What lies beyond the range of integers is reported.
                    convert::to_integer(value.as_ref(), from, context)?;
                }
                Ok(cast_year(value.as_ref(), from, context))
            }
            TypeKind::Decimal if self.failure == CastFailure::Warn => {
                self.cast_decimal(operand, value.as_ref(), target, context)
            }
            TypeKind::Float => match convert::to_type(value, from, target, context)? {
                Value::Float(number) if number.is_infinite() => Err(out_of_range("DOUBLE", whole)),
                number => Ok(number),
            },
            _ => convert::to_type(value, from, target, context),
        }
    }

    /// JSON as a number or moment.
    fn cast_document(
        &self,
        whole: &Expression,
        operand: &Expression,
        value: ValueRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let target = &whole.result.column_type;
        let ValueRef::Bytes(document) = value else { return Ok(Value::Null) };
        let wanted = if target.kind == TypeKind::Year { &ColumnType::big_int() } else { target };
        match json_cast::value_of_document(document, operand, wanted, context) {
            Value::Decimal(exact) => self.fitted_decimal(&exact, target, context),
            Value::Float(number) if number.is_infinite() => Err(out_of_range("DOUBLE", whole)),
            number if target.kind == TypeKind::Year => Ok(cast_year(number.as_ref(), wanted, context)),
            number => Ok(number),
        }
    }

    fn warns(&self) -> bool {
        matches!(self.failure, CastFailure::Warn | CastFailure::WarnAndPad)
    }

    /// Whether it is a cast to a text longer than a packet may be: NULL with a warning, whatever is cast.
    fn is_too_long(&self, target: &ColumnType, context: &mut dyn EvaluationContext) -> bool {
        // A cast of JSON without a length is as long as its text.
        let is_whole = self.operand.result.kind() == TypeKind::Json
            && target.length == Some(self.operand.result.text_length());
        if !self.warns() || !target.kind.is_string() || is_whole {
            return false;
        }
        let limit = context.facts().max_allowed_packet;
        let is_too_long = target.length.is_some_and(|length| u64::from(length) > limit);
        if is_too_long {
            let name =
                if target.collation == CollationId::BINARY { "cast_as_binary" } else { "cast_as_char" };
            context.diagnostics().warning(sql_error!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, name, limit));
        }
        is_too_long
    }

    /// CAST(.. AS DECIMAL): the nearest number of the type, with warning 1264.
    fn cast_decimal(
        &self,
        operand: &Expression,
        value: ValueRef<'_>,
        target: &ColumnType,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let Some(exact) = convert::operand_to_decimal(operand, value, context)? else {
            return Ok(Value::Null);
        };
        self.fitted_decimal(&exact, target, context)
    }

    fn fitted_decimal(
        &self,
        exact: &Decimal,
        target: &ColumnType,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let fitted = exact.fit(target.precision(), target.decimals.unwrap_or(0));
        Ok(Value::Decimal(match fitted {
            Ok((fitted, _)) => fitted,
            Err(bound) => {
                let column = self.column.as_deref().unwrap_or("(null)");
                context.diagnostics().warning(sql_error!(ER_WARN_DATA_OUT_OF_RANGE, column, 1));
                bound
            }
        }))
    }

    fn cast_text(
        &self,
        whole: &Expression,
        value: Operand<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let from = &self.operand.result.column_type;
        let target = &whole.result.column_type;
        let warns = self.warns();
        let source = match self.operand.result.class() {
            crate::result_type::TypeClass::Text => from.collation,
            crate::result_type::TypeClass::Json => CollationId::UTF8MB4_BIN,
            _ if from.kind == TypeKind::Bit => CollationId::BINARY,
            _ => context.facts().connection_collation,
        };
        let bytes = match from.kind {
            TypeKind::Json => Some(Cow::Owned(crate::json::printed(value.as_ref(), context)?)),
            _ => convert::to_text(value.as_ref(), from, context),
        };
        let Some(bytes) = bytes else { return Ok(Value::Null) };
        let mut bytes = match self.failure {
            CastFailure::Refuse => convert::text_of_set(bytes.into_owned(), source, target.collation)?,
            _ if source == CollationId::BINARY && target.collation != CollationId::BINARY => {
                match well_formed(bytes.into_owned(), target.collation, context) {
                    Some(bytes) => bytes,
                    None => return Ok(Value::Null),
                }
            }
            _ => text::convert_long(bytes.into_owned(), source, target.collation, &context)?,
        };
        // A cast without a length is as long as a function's text may be, and cuts nothing.
        let has_length =
            self.failure == CastFailure::WarnAndPad || !crate::result_type::ResultType::is_longest(target);
        let cuts = warns && has_length || !target.kind.is_large_object();
        if let Some(length) = target.length.filter(|_| cuts) {
            let kept = text::prefix_bytes(&bytes, length as usize, target.collation);
            if kept < bytes.len() {
                if warns {
                    let (name, shown) = match target.collation == CollationId::BINARY {
                        true => ("BINARY", values::convert::shown_text(ValueRef::Bytes(&bytes), target)),
                        false => ("CHAR", text::to_utf8(&bytes, target.collation)),
                    };
                    let kind = format!("{name}({length})");
                    context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, kind, shown));
                }
                bytes.truncate(kept);
            } else if self.failure == CastFailure::WarnAndPad {
                bytes.resize(length as usize, 0);
            }
        }
        Ok(Value::Bytes(bytes))
    }
}

/// Text that stands for a date; error 1525 for what is none or may not be written.
fn written_moment(
    value: ValueRef<'_>,
    from: &ColumnType,
    (kind, column): (TypeKind, Option<&str>),
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    let rules = convert::written_date_rules(context.facts().sql_mode);
    let utf8 = match value {
        ValueRef::Bytes(bytes) => text::to_utf8(bytes, from.collation),
        _ => {
            return convert::to_type(
                Operand::Borrowed(value),
                from,
                &ColumnType::temporal(TypeKind::DateTime, 6),
                context,
            );
        }
    };
    let found = match parse_date_time(utf8.as_bytes(), rules) {
        Some(_) => convert::to_datetime(value, from, context)?,
        None => None,
    };
    if found.is_none() {
        context.diagnostics().warning(wrong_text(kind, column, &utf8));
    }
    found.map(Value::DateTime).ok_or_else(|| sql_error!(ER_WRONG_VALUE, kind.name().to_uppercase(), utf8))
}

fn compared_moment(value: ValueRef<'_>, from: &ColumnType, context: &mut dyn EvaluationContext) -> DateTime {
    let shown = values::convert::shown_text(value, from);
    let ValueRef::Bytes(bytes) = value else { return DateTime::ZERO };
    let rules = ZeroDates::Parts.rules(true, context.facts());
    let parsed = parse_date_time(text::to_utf8(bytes, from.collation).as_bytes(), rules);
    if parsed.as_ref().is_none_or(|parsed| parsed.notes.truncated) {
        let name = "datetime";
        context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, name, shown));
    }
    parsed.and_then(|parsed| parsed.rounded(6)).unwrap_or(DateTime::ZERO)
}

/// How warning 1300 shows bytes from the first on that are no character of the set.
pub fn invalid_bytes(bytes: &[u8], collation: CollationId) -> String {
    let invalid = &bytes[collation.charset().valid_length(bytes)..];
    invalid.iter().take(SHOWN_BYTES_MAX).map(|byte| format!("{byte:02X}")).collect()
}

/// Bytes taken as text, with zeros in front up to whole characters. What is no text of the set gives warning 1300 and
/// is NULL in strict mode, otherwise what comes before it; ASCII keeps all bytes.
fn well_formed(
    mut bytes: Vec<u8>,
    collation: CollationId,
    context: &mut dyn EvaluationContext,
) -> Option<Vec<u8>> {
    let charset = collation.charset();
    text::pad_to_characters(&mut bytes, collation);
    let valid = charset.valid_length(&bytes);
    if valid == bytes.len() {
        return Some(bytes);
    }
    let shown = invalid_bytes(&bytes, collation);
    context.diagnostics().warning(sql_error!(ER_INVALID_CHARACTER_STRING, charset.name, shown));
    if text::is_ascii(collation) {
        return Some(bytes);
    }
    if context.facts().sql_mode.is_strict() {
        return None;
    }
    bytes.truncate(valid);
    Some(bytes)
}

/// CAST(.. AS DATE) and DATETIME: the dates that sql_mode lets a column have.
fn cast_moment(
    value: ValueRef<'_>,
    from: &ColumnType,
    target: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    let is_date = target.kind == TypeKind::Date;
    let kind = if is_date { MomentKind::Date } else { MomentKind::DateTime };
    let Some(moment) = convert::to_moment(value, from, kind, ZeroDates::Stored, context)? else {
        return Ok(Value::Null);
    };
    if is_date {
        return Ok(Value::Date(moment.date));
    }
    Ok(convert::moment_of_digits(moment, target, context).map_or(Value::Null, Value::DateTime))
}

/// CAST(.. AS YEAR): of dates their year, of times that of the day they reach from today on; numbers below 100 are of 1970 to 2069, but the number 0
/// is the year 0 and the text '0' is 2000. NULL with a warning for what is no year.
fn cast_year(value: ValueRef<'_>, from: &ColumnType, context: &mut dyn EvaluationContext) -> Value {
    let (number, is_text) = match value {
        ValueRef::Date(date) => return checked_year(date.year, context),
        ValueRef::DateTime(moment) => return checked_year(moment.date.year, context),
        ValueRef::Time(time) => {
            let midnight = context.facts().statement_time().date.midnight();
            return match values::convert::time_after(time, midnight) {
                Some(moment) => checked_year(moment.date.year, context),
                None => Value::Null,
            };
        }
        ValueRef::Bytes(bytes) if !from.is_number_bytes() => match year_text(bytes, from, context) {
            Some(number) => (number, true),
            None => return Value::Null,
        },
        _ => (values::convert::to_integer(value, from, &mut Diagnostics::new(0)).unwrap_or(0), false),
    };
    let year = match number {
        0 => Some(if is_text { 2000 } else { 0 }),
        1..=69 => Some(number + 2000),
        70..=99 => Some(number + 1900),
        1901..=2155 => Some(number),
        _ => None,
    };
    if year.is_none() {
        // MySQL shows the bits of an unsigned number.
        let number = if matches!(value, ValueRef::UInt(_)) { i128::from(number as i64) } else { number };
        context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, "YEAR", number));
    }
    // Not a column's value, whose text has four digits: the year 0 is '0'.
    year.map_or(Value::Null, |year| Value::Int(year as i64))
}

/// The year of a date; NULL with a warning for one that no YEAR can hold.
fn checked_year(year: u16, context: &mut dyn EvaluationContext) -> Value {
    if year == 0 || (1901..=2155).contains(&year) {
        return Value::Int(i64::from(year));
    }
    context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, "YEAR", year));
    Value::Null
}

/// The number that a text begins with; None, with warning 1525, if there is none or it is negative.
fn year_text(bytes: &[u8], from: &ColumnType, context: &mut dyn EvaluationContext) -> Option<i128> {
    let shown = text::to_utf8(bytes, from.collation);
    let parsed = values::number::parse_integer(shown.as_bytes());
    if parsed.length == 0 || parsed.negative || parsed.overflow {
        context.diagnostics().warning(sql_error!(ER_WRONG_VALUE, "YEAR", shown));
        return None;
    }
    if parsed.length < shown.len() {
        context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, "YEAR", shown));
    }
    Some(i128::from(parsed.magnitude))
}

/// CAST(.. AS SIGNED) and UNSIGNED: out of range wraps as MySQL does, with a warning for text.
fn cast_integer(
    value: ValueRef<'_>,
    operand: &Expression,
    unsigned: bool,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    let found = match value {
        ValueRef::Decimal(_) if unsigned => {
            let from = ColumnType { unsigned, ..operand.result.column_type.clone() };
            convert::to_integer(value, &from, context)?
        }
        // Here what is cut off counts for any text.
        ValueRef::Bytes(_) if operand.result.column_type.is_large_column() => {
            let from = ColumnType { kind: TypeKind::VarChar, ..operand.result.column_type.clone() };
            convert::to_integer(value, &from, context)?
        }
        // A cast reads the digits that a text begins with, also of one that shows a date.
        ValueRef::Bytes(_) => convert::to_integer(value, &operand.result.column_type, context)?,
        _ => convert::operand_integer(value, operand, context)?,
    };
    let Some(exact) = found else { return Ok(Value::Null) };
    if unsigned {
        let value = if exact < 0 {
            if matches!(value, ValueRef::Bytes(_)) {
                let wraps = "Cast to unsigned converted negative integer to its positive complement";
                context.diagnostics().warning(errors::code::ER_UNKNOWN_ERROR.message(wraps));
            }
            exact.max(i128::from(i64::MIN)) as i64 as u64
        } else {
            u64::try_from(exact).unwrap_or(u64::MAX)
        };
        return Ok(Value::UInt(value));
    }
    let wraps = matches!(value, ValueRef::UInt(_) | ValueRef::Bytes(_)) && exact > 0;
    let value = if wraps && exact <= i128::from(u64::MAX) {
        exact as u64 as i64
    } else {
        exact.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    };
    Ok(Value::Int(value))
}
