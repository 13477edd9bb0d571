//! Casts of JSON to other types, and the other way round. A value that nobody cast is made a document as it is: its text is a
//! JSON string; CAST(.. AS JSON) reads text. Main functions: [`value_of_document`], [`document_of_value`].

use super::cast::CastFailure;
use super::listed_constant::unqualified;
use crate::context::EvaluationContext;
use crate::convert::{ZeroDates, moment_of_digits};
use crate::document_watch::DocumentWatch;
use crate::json::{parsed, scalar};
use crate::result_type::{TypeClass, class_of};
use crate::tree::{Expression, ExpressionKind};
use errors::{SqlError, SqlResult, sql_error};
use values::json::{self, Fit, Node};
use values::{ColumnType, TypeKind, Value, ValueRef};

/// A document as a value of a type that is no text, with warnings 3155 and 3156; NULL for what is no date or time.
pub(super) fn value_of_document(
    document: &[u8],
    operand: &Expression,
    target: &ColumnType,
    context: &mut dyn EvaluationContext,
) -> Value {
    let node = Node::of(document);
    let mut judged = |fit: Fit, kind: &str| {
        if let Some(warning) = misfit(fit, kind, operand) {
            context.diagnostics().warning(warning);
        }
    };
    match class_of(target.kind) {
        TypeClass::Integer => {
            let (number, fit) = json::to_integer(node);
            judged(fit, "INTEGER");
            match target.unsigned {
                true => Value::UInt(number as u64),
                false => Value::Int(number as i64),
            }
        }
        TypeClass::Decimal => {
            let (exact, fit) = json::to_decimal(node);
            judged(fit, "DECIMAL");
            Value::Decimal(exact)
        }
        TypeClass::Double => {
            let (number, fit) = json::to_f64(node);
            judged(fit, "DOUBLE");
            if target.kind == TypeKind::Float { Value::Float(number as f32) } else { Value::Double(number) }
        }
        TypeClass::DateTime => {
            let is_date = target.kind == TypeKind::Date;
            let rules = ZeroDates::Stored.rules(true, context.facts());
            let moment = json::to_date_time(node, rules);
            let Some((moment, _)) = moment else {
                let kind = if is_date { "DATE" } else { "DATETIME/TIMESTAMP" };
                context.diagnostics().warning(invalid(kind, operand));
                return Value::Null;
            };
            match is_date {
                true => Value::Date(moment.date),
                false => moment_of_digits(moment, target, context).map_or(Value::Null, Value::DateTime),
            }
        }
        TypeClass::Time => match json::to_time(node) {
            Some(time) => Value::Time(time.rounded(target.fractional_digits())),
            None => {
                context.diagnostics().warning(invalid("TIME", operand));
                Value::Null
            }
        },
        TypeClass::Null | TypeClass::Text | TypeClass::Json => Value::Null,
    }
}

fn misfit(fit: Fit, kind: &str, operand: &Expression) -> Option<SqlError> {
    match fit {
        Fit::Whole => None,
        Fit::Invalid => Some(invalid(kind, operand)),
        Fit::OutOfRange => {
            Some(sql_error!(ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE, kind, "", name_of(operand), 1))
        }
    }
}

fn invalid(kind: &str, operand: &Expression) -> SqlError {
    sql_error!(ER_INVALID_JSON_VALUE_FOR_CAST, kind, "", name_of(operand), 1)
}

/// What warnings call the document: a column, or the function that made it.
fn name_of(operand: &Expression) -> &str {
    match &operand.kind {
        ExpressionKind::Column(column) => unqualified(&column.name),
        ExpressionKind::Function(call) => call.definition.name,
        ExpressionKind::Cast(_) | ExpressionKind::Literal(_) => CAST_NAME,
        _ => "",
    }
}

/// What CAST(.. AS JSON) is called in messages.
const CAST_NAME: &str = "cast_as_json";

/// A value as a document. Of a written cast text is JSON text: error 3141 for what is none.
pub(super) fn document_of_value(
    value: ValueRef<'_>,
    operand: &Expression,
    failure: CastFailure,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    let from = &operand.result.column_type;
    match value {
        ValueRef::Bytes(document) if from.kind == TypeKind::Json => Ok(Value::Bytes(document.to_vec())),
        ValueRef::Bytes(text) if failure == CastFailure::Warn && from.kind.is_text() => {
            parsed(text, from.collation, 1, CAST_NAME, &DocumentWatch::new(context)).map(Value::Bytes)
        }
        _ => {
            let connection = context.facts().connection_collation;
            scalar(value, operand, connection)?.encode().map(Value::Bytes)
        }
    }
}
