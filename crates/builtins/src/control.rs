//! Flow control functions: IF, IFNULL, NULLIF, COALESCE, and INTERVAL, ISNULL.

use super::{Call, Derivation, FunctionDefinition, of_documents, of_numbers};
use charset::CollationId;
use errors::SqlResult;
use expression::DocumentWatch;
use expression::convert;
use expression::json;
use expression::operators::{
    ComparisonMode, adapt_constant, check_moment, compare_values, prepare_equal_values,
};
use expression::result_type::{Coercibility, ResultType, TypeClass};
use std::cmp::Ordering;
use values::json::{Node, Steps, compare_watched};
use values::{Value, ValueRef};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    of_documents(
        "if",
        3,
        3,
        |derivation| {
            // A document is true as a number.
            derivation.arguments.iter_mut().take(1).for_each(json::make_number);
            derivation.common_type(1..3)
        },
        |call| {
            let chosen = if call.truth(0)? == Some(true) { 1 } else { 2 };
            let value = call.operand(chosen)?;
            let (from, target) = (&call.argument(chosen).column_type, &call.result().column_type);
            convert::chosen(value, from, target, call.context)
        },
    ),
    of_documents("ifnull", 2, 2, derive_coalesce, coalesce),
    of_documents("coalesce", 1, usize::MAX, derive_coalesce, coalesce),
    of_documents("nullif", 2, 2, derive_nullif, nullif),
    of_documents(
        "isnull",
        1,
        1,
        |_| Ok(ResultType::boolean()),
        |call| Ok(Value::Int(i64::from(call.operand(0)?.is_null()))),
    ),
    of_numbers("interval", 2, usize::MAX, |_| Ok(ResultType::integer(2)), interval),
];

fn derive_coalesce(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let mut result = derivation.common_type(0..derivation.count())?;
    result.nullable = derivation.arguments.iter().all(|argument| argument.result.nullable);
    Ok(result)
}

fn coalesce(call: &mut Call<'_>) -> SqlResult<Value> {
    for index in 0..call.count() {
        let value = call.as_result(index)?;
        if value != Value::Null {
            return Ok(value);
        }
    }
    Ok(Value::Null)
}

/// The first argument's type; the second is brought to where it can be compared with it.
fn derive_nullif(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let facts = derivation.facts;
    if let [first, second] = &mut *derivation.arguments {
        if second.result.class() == TypeClass::Json {
            // The result is the first argument as it is, but that the collation of JSON's text is stronger than a literal's.
            let mut result = first.result.clone();
            let is_weak = result.class() == TypeClass::Text && result.coercibility == Coercibility::Coercible;
            if is_weak && result.collation().charset().name == "utf8mb4" {
                result.column_type.collation = CollationId::UTF8MB4_BIN;
            }
            return Ok(ResultType { is_truth: false, ..result.nullable() });
        }
        adapt_constant(first, second, facts)?;
        check_moment(second, first, facts)?;
        let mut compared = first.clone();
        prepare_equal_values("nullif", &mut compared, second, facts)?;
        // The result is the first argument as it is, but for the character set that both are compared in.
        if compared.result.class() == first.result.class() {
            *first = compared;
        }
    }
    let first = derivation.argument(0);
    if first.kind().has_members() {
        return Ok(ResultType { is_truth: false, ..first.members_as_text().nullable() });
    }
    Ok(ResultType { is_truth: false, ..first.clone().nullable() })
}

fn nullif(call: &mut Call<'_>) -> SqlResult<Value> {
    if call.argument(1).class() == TypeClass::Json && call.argument(0).class() != TypeClass::Json {
        return nullif_document(call);
    }
    let mode = ComparisonMode::choose(call.expression(0), call.expression(1));
    let chosen = match mode {
        ComparisonMode::Double => call.chosen(0)?,
        _ => Some(call.expression(0)),
    };
    let Some(chosen) = chosen else { return Ok(Value::Null) };
    let (left, right) = (call.operand_of(chosen)?, call.operand(1)?);
    let (left_type, right_type) = (&chosen.result.column_type, &call.argument(1).column_type);
    match compare_values(mode, left.as_ref(), left_type, right.as_ref(), right_type, call.context)? {
        Some(Ordering::Equal) => Ok(Value::Null),
        // MySQL computes the operand anew for the result.
        _ if call.argument(0).kind().has_members() => call.as_result(0),
        _ => call.value(0),
    }
}

/// Beside JSON the first argument is compared as the document that it stands for.
fn nullif_document(call: &mut Call<'_>) -> SqlResult<Value> {
    let (value, other) = (call.operand(0)?, call.operand(1)?);
    let (false, ValueRef::Bytes(other)) = (value.is_null(), other.as_ref()) else { return call.value(0) };
    let connection = call.context().facts().connection_collation;
    let document = expression::json::scalar(value.as_ref(), call.expression(0), connection)?.encode()?;
    let watch = DocumentWatch::new(call.context());
    let order = compare_watched(Node::of(&document), Node::of(other), &mut Steps::new(&watch))?;
    drop(watch);
    if order.is_eq() { Ok(Value::Null) } else { call.value(0) }
}

fn interval(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(wanted) = call.double(0)? else { return Ok(Value::Int(-1)) };
    for index in 1..call.count() {
        if call.double(index)?.is_some_and(|bound| bound > wanted) {
            return Ok(Value::Int(index as i64 - 1));
        }
    }
    Ok(Value::Int(call.count() as i64 - 1))
}
