//! Storing JSON: a document as it is, a text read as one; and a document as a number, date or time.

use super::{Documents, StoreContext};
use crate::column_type::{ColumnType, TypeKind};
use crate::json::{self, Fit, Node};
use crate::temporal::{Date, DateTime, Time};
use crate::value::Value;
use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};

/// The document of a value. Error 3140 for what is no JSON text, 3144 for bytes, 1301 for what is too long; none is ever a warning.
pub(super) fn document(value: &Value, from: &ColumnType, context: &mut StoreContext<'_>) -> SqlResult<Value> {
    let Value::Bytes(bytes) = value else {
        // Nobody asked for a conversion.
        let message = "not a JSON text, may need CAST";
        return Err(sql_error!(ER_INVALID_JSON_TEXT, message, 0, column_name(context)));
    };
    match from.kind {
        TypeKind::Json => return Ok(value.clone()),
        _ if from.collation == CollationId::BINARY => {
            return Err(sql_error!(ER_INVALID_JSON_CHARSET, "binary"));
        }
        _ => {}
    }
    let Documents { bytes_max, watch } = context.documents;
    let text = json::in_utf8mb4(bytes, from.collation, watch)?;
    let document = json::read(&text, watch).map_err(|error| error.in_column(&column_name(context)))?;
    match document.len() as u64 > bytes_max {
        true => Err(sql_error!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, json::SERIALIZER, bytes_max)),
        false => Ok(Value::Bytes(document)),
    }
}

fn column_name(context: &StoreContext<'_>) -> String {
    format!("{}.{}", context.table, context.column)
}

/// A document as the number, date or time that a column of another type stores, with that value's type; None where its text is
/// stored. Errors 3155 and 3156 in strict mode.
pub(super) fn carried(
    value: &Value,
    to: &ColumnType,
    context: &mut StoreContext<'_>,
) -> SqlResult<Option<(Value, ColumnType)>> {
    let Value::Bytes(document) = value else { return Ok(None) };
    let node = Node::of(document);
    Ok(Some(match to.kind {
        kind if kind.is_integer() || kind == TypeKind::Year => {
            let (number, fit) = json::to_integer(node);
            judge(fit, "INTEGER", context)?;
            match i64::try_from(number) {
                Ok(number) => (Value::Int(number), ColumnType::big_int()),
                Err(_) => (Value::UInt(number as u64), ColumnType::big_int_unsigned()),
            }
        }
        TypeKind::Decimal => {
            let (exact, fit) = json::to_decimal(node);
            judge(fit, "DECIMAL", context)?;
            (Value::Decimal(exact), ColumnType::decimal(exact.precision(), exact.scale()))
        }
        TypeKind::Float | TypeKind::Double => {
            let (number, fit) = json::to_f64(node);
            judge(fit, "DOUBLE", context)?;
            (Value::Double(number), ColumnType::double())
        }
        TypeKind::Date => match json::to_date_time(node, context.mode.dates) {
            Some((moment, _)) => (Value::Date(moment.date), ColumnType::new(TypeKind::Date)),
            None => blank(Value::Date(Date::ZERO), "DATE", context)?,
        },
        TypeKind::DateTime | TypeKind::Timestamp => match json::to_date_time(node, context.mode.dates) {
            Some((moment, _)) => (Value::DateTime(moment), ColumnType::temporal(TypeKind::DateTime, 6)),
            None => blank(Value::DateTime(DateTime::ZERO), "DATETIME/TIMESTAMP", context)?,
        },
        TypeKind::Time => match json::to_time(node) {
            Some(time) => (Value::Time(time), ColumnType::temporal(TypeKind::Time, 6)),
            None => blank(Value::Time(Time::default()), "TIME", context)?,
        },
        _ => return Ok(None),
    }))
}

fn judge(fit: Fit, kind: &str, context: &mut StoreContext<'_>) -> SqlResult<()> {
    match fit {
        Fit::Whole => Ok(()),
        Fit::Invalid => context.reject(misfit(kind, context)),
        Fit::OutOfRange => {
            let error = sql_error!(ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE, kind, "", context.column, context.row);
            context.reject(error)
        }
    }
}

fn misfit(kind: &str, context: &StoreContext<'_>) -> SqlError {
    sql_error!(ER_INVALID_JSON_VALUE_FOR_CAST, kind, "", context.column, context.row)
}

/// What is stored for a document that is no date or time.
fn blank(zero: Value, kind: &str, context: &mut StoreContext<'_>) -> SqlResult<(Value, ColumnType)> {
    context.reject(misfit(kind, context))?;
    let of_zero = match zero {
        Value::Date(_) => TypeKind::Date,
        Value::Time(_) => TypeKind::Time,
        _ => TypeKind::DateTime,
    };
    Ok((zero, ColumnType::new(of_zero)))
}
