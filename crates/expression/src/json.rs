//! JSON among values of other types: what operators and functions that know nothing of it see. The binder's conversions make text
//! or a number of it, so that no operation meets the bytes of a document. Main functions: [`as_text`], [`as_number`], [`as_document`].

use crate::builtin::{Call, FunctionDefinition, inner};
use crate::context::EvaluationContext;
use crate::document_watch::DocumentWatch;
use crate::operators::{Cast, CastFailure};
use crate::print::is_condition;
use crate::result_type::{Coercibility, ResultType, TypeClass, class_of};
use crate::tree::{Expression, ExpressionKind};
use charset::CollationId;
use errors::SqlResult;
use values::json::{self, Built, Node, Watch};
use values::{ColumnType, TypeKind, Value, ValueRef};

/// JSON as its text, in utf8mb4_bin; other values as they are.
pub fn as_text(operand: Expression) -> Expression {
    convert(operand, ResultType::json_text())
}

/// The text of a document; nothing for other values.
pub(crate) fn printed(document: ValueRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Vec<u8>> {
    let mut text = Vec::new();
    if let ValueRef::Bytes(document) = document {
        json::print_watched(Node::of(document), &mut text, &DocumentWatch::new(context))?;
    }
    Ok(text)
}

/// JSON as a floating point number; other values as they are.
pub fn as_number(operand: Expression) -> Expression {
    convert(operand, ResultType::double())
}

/// JSON as an integer; other values as they are.
pub fn as_integer(operand: Expression) -> Expression {
    convert(operand, ResultType::integer(INTEGER_CHARACTERS))
}

/// JSON as an exact number; other values as they are.
pub fn as_decimal(operand: Expression) -> Expression {
    convert(operand, ResultType::longest_decimal())
}

/// Makes of JSON what is compared where MySQL knows no comparison of JSON (CASE, BETWEEN, FIELD): a number if one stands beside it,
/// else its text.
pub fn make_comparable(operands: &mut [&mut Expression]) {
    use TypeClass::{Decimal, Double, Integer};
    let is_number = |operand: &&mut Expression| matches!(operand.result.class(), Integer | Decimal | Double);
    let make = if operands.iter().any(is_number) { make_number } else { make_text };
    operands.iter_mut().for_each(|operand| make(operand));
}

/// Characters of the longest integer with its sign.
const INTEGER_CHARACTERS: u32 = 21;

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

/// The same of [`as_decimal`].
pub fn make_decimal(operand: &mut Expression) {
    replace(operand, as_decimal);
}

/// The same of [`as_integer`].
pub fn make_integer(operand: &mut Expression) {
    replace(operand, as_integer);
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
        Node::Array(_) | Node::Object(_) => printed(operand.as_ref(), call.context())?,
        node => bare_text(node),
    }))
}

fn replace(operand: &mut Expression, make: fn(Expression) -> Expression) {
    let inner = std::mem::replace(operand, Expression::null());
    *operand = make(inner);
}

/// A value as a scalar document: TRUE and FALSE are such only where they are literals or what a condition yields.
pub fn scalar(
    value: ValueRef<'_>,
    operand: &Expression,
    connection: CollationId,
) -> SqlResult<Built<'static>> {
    let column_type = &operand.result.column_type;
    // A text that was given for a parameter of another type stays text.
    let is_own = !matches!(value, ValueRef::Bytes(_))
        || class_of(column_type.kind) == TypeClass::Text
        || column_type.kind == TypeKind::Bit;
    // A year is a number without sign, also one that was computed.
    let value = match value {
        ValueRef::Int(year) if column_type.kind == TypeKind::Year => ValueRef::UInt(year.unsigned_abs()),
        value => value,
    };
    match is_own {
        true => json::scalar(value, column_type, is_condition(operand)),
        false => json::scalar(value, &ColumnType::varchar(u32::MAX, connection), false),
    }
}

/// The document that is written in a text. Errors 3141, 3144, 3157.
pub fn parsed(
    text: &[u8],
    collation: CollationId,
    argument: usize,
    function: &str,
    watch: &dyn Watch,
) -> SqlResult<Vec<u8>> {
    let text = json::in_utf8mb4(text, collation, watch)?;
    json::parse(&text, argument, function, watch)
}

/// The text of a document that is no string, without the quotes that a date, a time or bytes have.
pub fn bare_text(node: Node<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    json::print(node, &mut text);
    if matches!(node, Node::Opaque(_)) && text.len() >= 2 && text.starts_with(b"\"") {
        text.pop();
        text.remove(0);
        // Lines of base64 are the only escapes that such a value has.
        if text.contains(&b'\\') {
            text = text
                .split(|byte| *byte == b'\\')
                .map(|line| line.strip_prefix(b"n").unwrap_or(line))
                .collect::<Vec<_>>()
                .join(&b'\n');
        }
    }
    text
}
