//! In which form a value travels to the column that stores it. MySQL has three ways: it stores what an expression yields,
//! it copies a column in a statement (INSERT .. SELECT a, SET a = b), and it copies a column while it rewrites a table.
//! A BIT column becomes text as its number, but as its bytes where the target is a BLOB; ALTER TABLE reads a DATE from a
//! number's text, INSERT from the number. Main type: [`Source`], main function: [`carried`].

use super::StoreContext;
use crate::column_type::{ColumnType, TypeKind};
use crate::convert;
use crate::decimal::Decimal;
use crate::json::{self, Watch};
use crate::value::Value;
use charset::CollationId;
use errors::{Diagnostics, SqlResult, sql_error};

/// Where a stored value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// What an expression yields.
    #[default]
    Expression,
    /// A column of a stored or of a temporary table.
    Column,
    /// The same column of the old table, while ALTER TABLE copies the rows.
    Rebuild,
}

/// What a value is turned into before it is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    AsIs,
    Text,
    Whole,
    Double,
    Exact,
}

/// The value in the form in which it travels, with that form's type; None for a value that goes as it is.
pub(super) fn carried(
    value: &Value,
    from: &ColumnType,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Option<(Value, ColumnType)>> {
    // ALTER TABLE copies the text.
    if from.kind == TypeKind::Json
        && context.source != Source::Rebuild
        && let Some(carried) = super::json::carried(value, to, context)?
    {
        return Ok(Some(carried));
    }
    let form = match context.source {
        _ if to.kind == TypeKind::Json => Form::AsIs,
        _ if from.kind == TypeKind::Json => Form::Text,
        Source::Expression => expression_form(value, from, to),
        Source::Column => column_form(from.kind, to.kind),
        Source::Rebuild => rebuild_form(from, to),
    };
    Ok(Some(match form {
        Form::AsIs => return Ok(None),
        Form::Text => text(value, from, context.documents.watch)?,
        Form::Whole => {
            let number = whole(value, from, context)?;
            (within_signed(number, value, to, context)?, ColumnType::big_int())
        }
        Form::Double => {
            let number = convert::to_f64(value.as_ref(), from, &mut Diagnostics::new(0)).unwrap_or(0.0);
            (Value::Double(number), ColumnType::double())
        }
        Form::Exact => exact(value, from, context)?,
    }))
}

/// Types that MySQL handles as text: strings, ENUM, SET and the temporal types.
fn is_textual(kind: TypeKind) -> bool {
    kind.is_string() || kind.has_members() || kind.is_temporal()
}

fn is_whole(kind: TypeKind) -> bool {
    kind.is_integer() || matches!(kind, TypeKind::Bit | TypeKind::Year)
}

fn expression_form(value: &Value, from: &ColumnType, to: &ColumnType) -> Form {
    let (kind, to_kind) = (from.kind, to.kind);
    if kind.has_members() && !to_kind.is_number() && !(kind == to_kind && from.members == to.members) {
        return Form::Text;
    }
    match value {
        // Hexadecimal and bit literals are numbers for number columns; BIT takes their bytes, which is the same.
        Value::Bytes(_) if to_kind.is_number() && to_kind != TypeKind::Bit && from.is_number_bytes() => {
            Form::Whole
        }
        Value::UInt(_) if kind == TypeKind::Bit && (to_kind.is_string() || to_kind.has_members()) => {
            Form::Text
        }
        Value::Float(_) if !to_kind.is_large_object() => Form::Double,
        _ => Form::AsIs,
    }
}

fn column_form(from: TypeKind, to: TypeKind) -> Form {
    if to.is_large_object() {
        return Form::Text;
    }
    match from {
        TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp if is_whole(to) => Form::Whole,
        TypeKind::Date if is_whole(to) => Form::AsIs,
        _ if from.is_temporal() && to.is_number() => Form::Exact,
        _ if from.is_temporal() && to.is_temporal() => Form::AsIs,
        _ if is_textual(from) && (is_textual(to) || !from.has_members()) => Form::Text,
        TypeKind::Float => Form::Double,
        TypeKind::Double | TypeKind::Decimal | TypeKind::Null => Form::AsIs,
        _ => Form::Whole,
    }
}

fn rebuild_form(from: &ColumnType, to: &ColumnType) -> Form {
    let (kind, to_kind) = (from.kind, to.kind);
    if to_kind.is_large_object() {
        return Form::Text;
    }
    if kind == TypeKind::Bit || to_kind == TypeKind::Bit {
        return Form::Whole;
    }
    if to_kind == TypeKind::Decimal {
        return Form::Exact;
    }
    match kind {
        _ if kind.is_temporal() && to_kind.is_temporal() => Form::AsIs,
        _ if kind.is_string() || is_textual(to_kind) => Form::Text,
        _ if is_whole(to_kind) => Form::Whole,
        _ if kind.has_members() => Form::Whole,
        _ => Form::Double,
    }
}

/// The value's text, in its own character set.
fn text(value: &Value, from: &ColumnType, watch: &dyn Watch) -> SqlResult<(Value, ColumnType)> {
    let made = match value {
        Value::Bytes(document) if from.kind == TypeKind::Json => {
            let mut printed = Vec::new();
            json::print_watched(json::Node::of(document), &mut printed, watch)?;
            Value::Bytes(printed)
        }
        Value::Bytes(bytes) => Value::Bytes(bytes.clone()),
        _ if from.kind.has_members() => convert::member_text(value.clone(), from),
        _ => Value::Bytes(convert::to_text(value.as_ref(), from).unwrap_or_default().into_owned()),
    };
    let collation = match from.kind {
        kind if kind.is_string() || kind.has_members() => from.collation,
        TypeKind::Bit => CollationId::BINARY,
        TypeKind::Json => CollationId::UTF8MB4_BIN,
        _ => CollationId::UTF8MB4_0900_AI_CI,
    };
    let made_type = match from.kind {
        kind if kind.is_string() => from.clone(),
        TypeKind::Bit => ColumnType::varbinary(8),
        _ => ColumnType::varchar(u32::MAX, collation),
    };
    Ok((made, made_type))
}

/// The value as an integer. ALTER TABLE reads columns as expressions do: within BIGINT, and telling of what was lost,
/// but of FLOAT and the TEXT and BLOB families.
fn whole(value: &Value, from: &ColumnType, context: &mut StoreContext<'_>) -> SqlResult<Value> {
    let truncates = context.mode.truncate_fraction;
    let mut lost = Diagnostics::new(1);
    let number = match value {
        Value::UInt(number) => return Ok(Value::UInt(*number)),
        Value::Time(time) if truncates => i128::from(time.truncated(0).to_number()),
        Value::DateTime(moment) if truncates => i128::from(moment.to_number()),
        _ => convert::to_integer(value.as_ref(), from, &mut lost).unwrap_or(0),
    };
    let is_unsigned = match value {
        Value::Decimal(_) => from.unsigned,
        Value::Bytes(_) => from.is_number_bytes(),
        _ => false,
    };
    if is_unsigned {
        return Ok(Value::UInt(u64::try_from(number.max(0)).unwrap_or(u64::MAX)));
    }
    let bounded = i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX });
    // A double cannot tell the least BIGINT from what lies below it.
    let is_least = bounded == i64::MIN && matches!(value, Value::Double(_));
    let is_cut = i128::from(bounded) != number || lost.count() > 0 || is_least;
    if !is_cut || context.source != Source::Rebuild || from.kind.is_large_object() {
        return Ok(Value::Int(bounded));
    }
    match value {
        Value::Float(_) => return Ok(Value::Int(i64::MIN)),
        Value::Decimal(_) | Value::Double(_) | Value::Bytes(_) => {
            let kind = if matches!(value, Value::Decimal(_)) { "DECIMAL" } else { "INTEGER" };
            let shown = convert::quoted_text(value.as_ref(), from);
            context.reject(sql_error!(ER_TRUNCATED_WRONG_VALUE, kind, shown))?;
        }
        _ => {}
    }
    Ok(Value::Int(bounded))
}

/// A hexadecimal literal is stored as a BIGINT, also where DECIMAL or DOUBLE could hold more.
fn within_signed(
    number: Value,
    given: &Value,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Value> {
    let holds_more = matches!(to.kind, TypeKind::Decimal | TypeKind::Float | TypeKind::Double);
    match (&number, given) {
        (Value::UInt(number), Value::Bytes(_))
            if holds_more && !to.unsigned && i64::try_from(*number).is_err() =>
        {
            context.out_of_range()?;
            Ok(Value::Int(i64::MAX))
        }
        _ => Ok(number),
    }
}

/// The value as an exact number. MySQL names neither the column nor the row of a text without a number in ALTER TABLE.
fn exact(value: &Value, from: &ColumnType, context: &mut StoreContext<'_>) -> SqlResult<(Value, ColumnType)> {
    let mut lost = Diagnostics::new(1);
    let number = convert::to_decimal(value.as_ref(), from, &mut lost).unwrap_or(Decimal::ZERO);
    if let Value::Bytes(bytes) = value {
        if Decimal::parse(&convert::readable_text(bytes, from.collation)).length == 0 {
            context.reject(sql_error!(ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, "DECIMAL", "0", "", -1))?;
        }
        if lost.count() > 0 && !from.kind.is_large_object() {
            let shown = convert::quoted_text(value.as_ref(), from);
            context.reject(sql_error!(ER_TRUNCATED_WRONG_VALUE, "DECIMAL", shown))?;
        }
    }
    Ok((Value::Decimal(number), ColumnType::decimal(number.precision(), number.scale())))
}
