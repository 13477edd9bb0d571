//! Comparisons of rows `(a, b) = (c, d)`, as comparisons of their members. Main function: [`compare_rows`].

use crate::operators::ComparisonOperator;
use crate::result_type::ResultType;
use crate::tree::{Expression, ExpressionKind, RowPart, SubqueryCall};
use errors::{SqlResult, sql_error};

/// `left operator right`. `compare` compares two members.
pub fn compare_rows(
    operator: ComparisonOperator,
    left: Vec<Expression>,
    right: Vec<Expression>,
    mut compare: impl FnMut(ComparisonOperator, Expression, Expression) -> SqlResult<Expression>,
) -> SqlResult<Expression> {
    if left.len() != right.len() {
        return Err(sql_error!(ER_OPERAND_COLUMNS, left.len()));
    }
    let presences = match operator {
        ComparisonOperator::NullSafeEqual => presences(&left, &right),
        _ => None,
    };
    let pairs = left.into_iter().zip(right);
    match operator {
        ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual => {
            let terms = presences.into_iter().chain(pairs);
            let terms: SqlResult<Vec<Expression>> =
                terms.map(|(left, right)| compare(operator, left, right)).collect();
            Ok(Expression::and(terms?))
        }
        ComparisonOperator::NotEqual => {
            let terms: SqlResult<Vec<Expression>> =
                pairs.map(|(left, right)| compare(operator, left, right)).collect();
            Ok(Expression::or(terms?))
        }
        _ => compare_order(operator, pairs.collect(), &mut compare),
    }
}

/// How many members are compared by conditions within each other.
const NESTED_MAX: usize = 32;
/// More members than this are refused: what is made of them grows faster than they do.
const MEMBERS_MAX: usize = 4096;

/// Rows are in the order of their first members that differ. Long rows are compared by halves, so that conditions do not
/// lie in each other as deep as rows are long.
fn compare_order(
    operator: ComparisonOperator,
    mut pairs: Vec<(Expression, Expression)>,
    compare: &mut dyn FnMut(ComparisonOperator, Expression, Expression) -> SqlResult<Expression>,
) -> SqlResult<Expression> {
    let strict = match operator {
        ComparisonOperator::LessOrEqual => ComparisonOperator::Less,
        ComparisonOperator::GreaterOrEqual => ComparisonOperator::Greater,
        other => other,
    };
    if pairs.len() > MEMBERS_MAX {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "order of rows with more than 4096 members"));
    }
    if pairs.len() > NESTED_MAX {
        let later = pairs.split_off(pairs.len() / 2);
        let equal = pairs.iter().cloned();
        let equal = equal.map(|(left, right)| compare(ComparisonOperator::Equal, left, right));
        let mut terms = equal.collect::<SqlResult<Vec<Expression>>>()?;
        let decided = compare_order(strict, pairs, compare)?;
        terms.push(compare_order(operator, later, compare)?);
        return Ok(Expression::or(vec![decided, Expression::and(terms)]));
    }
    let Some((last_left, last_right)) = pairs.pop() else { return Ok(Expression::boolean(true)) };
    let mut result = compare(operator, last_left, last_right)?;
    for (left, right) in pairs.into_iter().rev() {
        let equal = compare(ComparisonOperator::Equal, left.clone(), right.clone())?;
        let decided = compare(strict, left, right)?;
        result = Expression::or(vec![decided, Expression::and(vec![equal, result])]);
    }
    Ok(result)
}

/// Whether each side has a row, if one of them is a subquery: `<=>` tells no row from a row of NULLs.
fn presences(left: &[Expression], right: &[Expression]) -> Option<(Expression, Expression)> {
    let (left, right) = (presence(left), presence(right));
    if left.is_none() && right.is_none() {
        return None;
    }
    let or_always = |part: Option<Expression>| part.unwrap_or_else(|| Expression::boolean(true));
    Some((or_always(left), or_always(right)))
}

/// Whether the subquery that these are the columns of has a row.
fn presence(members: &[Expression]) -> Option<Expression> {
    let ExpressionKind::Subquery(call) = &members.first()?.kind else { return None };
    let asks = call.part.is_some();
    let call = SubqueryCall { part: Some(RowPart::Presence), ..(**call).clone() };
    let kind = ExpressionKind::Subquery(Box::new(call));
    asks.then(|| Expression { kind, result: ResultType::boolean() })
}
