//! JSON among values of other types: what operators and functions that know nothing of it see. The binder's conversions make text
//! or a number of it, so that no operation meets the bytes of a document. Main functions: [`as_text`], [`as_number`], [`as_document`].

use crate::builtin::{Call, FunctionDefinition, inner};
use crate::context::EvaluationContext;
use crate::document_watch::DocumentWatch;
use crate::operators::json_cast;
use crate::operators::{Cast, CastFailure};
use crate::result_type::{Coercibility, ResultType, TypeClass};
use crate::tree::{Expression, ExpressionKind};
use errors::SqlResult;
use values::json::Node;
use values::{Value, ValueRef};

/// JSON as its text, in utf8mb4_bin; other values as they are.
pub fn as_text(operand: Expression) -> Expression {
    convert(operand, ResultType::json_text())
}

/// The text of a document; nothing for other values.
pub(crate) fn printed(document: ValueRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Vec<u8>> {
    let mut text = Vec::new();
    if let ValueRef::Bytes(document) = document {
        values::json::print_watched(Node::of(document), &mut text, &DocumentWatch::new(context))?;
    }
    Ok(text)
}

/// JSON as a floating point number; other values as they are.
pub fn as_number(operand: Expression) -> Expression {
    convert(operand, ResultType::double())
}

fn convert(operand: Expression, target: ResultType) -> Expression {
    if operand.result.class() != TypeClass::Json {
        return operand;
    }
    cast(operand, target.nullable())
}

/// A value as the document that it stands for beside JSON: its text is a JSON string.
pub fn as_document(operand: Expression) -> Expression {
    if matches!(operand.result.class(), TypeClass::Json | TypeClass::Null) {
        return operand;
    }
    let result = ResultType { coercibility: Coercibility::Implicit, ..ResultType::json() };
    let result = result.nullable_if(operand.result.nullable);
    cast(operand, result)
}

fn cast(operand: Expression, result: ResultType) -> Expression {
    let cast = Cast { operand, failure: CastFailure::Refuse, column: None };
    Expression { kind: ExpressionKind::Cast(Box::new(cast)), result }
}

/// Replaces an operand by what [`as_text`] makes of it.
pub fn make_text(operand: &mut Expression) {
    replace(operand, as_text);
}

/// The same of [`as_number`].
pub fn make_number(operand: &mut Expression) {
    replace(operand, as_number);
}

/// The same of [`as_document`].
pub fn make_document(operand: &mut Expression) {
    replace(operand, as_document);
}

/// Makes of JSON the text that a date or time in it is read from: without quotes.
pub fn make_bare(operand: &mut Expression) {
    if operand.result.class() == TypeClass::Json {
        let inner = std::mem::replace(operand, Expression::null());
        let result = ResultType::json_text().nullable();
        *operand = Expression::inner_call(&BARE, vec![inner], 0, result);
    }
}

static BARE: FunctionDefinition =
    inner("json_unquote", 1, |call| Ok(bare(call)?.map_or(Value::Null, Value::Bytes)));

/// The text of a JSON argument, that of a string without its quotes; None for NULL.
pub fn bare(call: &mut Call<'_>) -> SqlResult<Option<Vec<u8>>> {
    let operand = call.operand(0)?;
    let ValueRef::Bytes(document) = operand.as_ref() else { return Ok(None) };
    Ok(Some(match Node::of(document) {
        Node::String(text) => text.to_vec(),
        node => json_cast::bare_text(node),
    }))
}

fn replace(operand: &mut Expression, make: fn(Expression) -> Expression) {
    let inner = std::mem::replace(operand, Expression::null());
    *operand = make(inner);
}
