//! Flow control functions: IF, IFNULL, NULLIF, COALESCE, and comparisons over lists: GREATEST, LEAST, INTERVAL,
//! ISNULL.

use super::{Call, Derivation, FunctionDefinition};
use crate::operators::{ComparisonMode, compare_values};
use crate::result_type::ResultType;
use errors::SqlResult;
use std::cmp::Ordering;
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    FunctionDefinition {
        name: "if",
        arguments_min: 3,
        arguments_max: 3,
        pure: true,
        derive: |derivation| derivation.common_type(1..3),
        evaluate: |call| {
            let chosen = if call.truth(0)? == Some(true) { 1 } else { 2 };
            call.as_result(chosen)
        },
    },
    FunctionDefinition {
        name: "ifnull",
        arguments_min: 2,
        arguments_max: 2,
        pure: true,
        derive: derive_coalesce,
        evaluate: coalesce,
    },
    FunctionDefinition {
        name: "coalesce",
        arguments_min: 1,
        arguments_max: usize::MAX,
        pure: true,
        derive: derive_coalesce,
        evaluate: coalesce,
    },
    FunctionDefinition {
        name: "nullif",
        arguments_min: 2,
        arguments_max: 2,
        pure: true,
        derive: |derivation| Ok(derivation.argument(0).clone().nullable()),
        evaluate: nullif,
    },
    FunctionDefinition {
        name: "isnull",
        arguments_min: 1,
        arguments_max: 1,
        pure: true,
        derive: |_| Ok(ResultType::boolean()),
        evaluate: |call| Ok(Value::Int(i64::from(*call.operand(0)? == Value::Null))),
    },
    FunctionDefinition {
        name: "greatest",
        arguments_min: 2,
        arguments_max: usize::MAX,
        pure: true,
        derive: derive_extreme,
        evaluate: |call| extreme(call, Ordering::Greater),
    },
    FunctionDefinition {
        name: "least",
        arguments_min: 2,
        arguments_max: usize::MAX,
        pure: true,
        derive: derive_extreme,
        evaluate: |call| extreme(call, Ordering::Less),
    },
    FunctionDefinition {
        name: "interval",
        arguments_min: 2,
        arguments_max: usize::MAX,
        pure: true,
        derive: |_| Ok(ResultType::integer(2)),
        evaluate: interval,
    },
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

fn nullif(call: &mut Call<'_>) -> SqlResult<Value> {
    let (left, right) = (call.operand(0)?, call.operand(1)?);
    let mode = ComparisonMode::choose(call.expression(0), call.expression(1));
    let (left_type, right_type) = (&call.argument(0).column_type, &call.argument(1).column_type);
    match compare_values(mode, &left, left_type, &right, right_type, call.context)? {
        Some(Ordering::Equal) => Ok(Value::Null),
        _ => Ok(left.into_owned()),
    }
}

fn derive_extreme(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let nullable = derivation.any_nullable();
    Ok(derivation.common_type(0..derivation.count())?.nullable_if(nullable))
}

/// GREATEST and LEAST: the arguments are compared in the type of the result.
fn extreme(call: &mut Call<'_>, wanted: Ordering) -> SqlResult<Value> {
    let result = call.result();
    let mut best = call.as_result(0)?;
    for index in 1..call.count() {
        let next = call.as_result(index)?;
        let mode = ComparisonMode::of_one_type(result);
        let kind = &result.column_type;
        match compare_values(mode, &next, kind, &best, kind, call.context)? {
            None => return Ok(Value::Null),
            Some(order) if order == wanted => best = next,
            Some(_) => {}
        }
    }
    Ok(best)
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
