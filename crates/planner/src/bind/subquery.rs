//! Subqueries in expressions: bound as blocks of their own, run by the executor per set of outer values.

use super::query::convert_columns;
use super::select::Surroundings;
use super::{Binder, Wanted, expression::comparison};
use crate::planning::{plan_asked, plan_scalar, plan_select};
use ::expression::operators::{ComparisonMode, ComparisonOperator, prepare_equal_values};
use ::expression::{BuildFacts, Expression, ExpressionKind, ResultType, RowPart, SubqueryCall, SubqueryUse};
use errors::{SqlResult, sql_error};
use optimizer::{OpenSelect, compute_year};
use parser::ast;
use plan::physical::{Node, QueryPlan};
use plan::{SubqueryGroups, SubqueryPlan};
use std::sync::Arc;
use values::ColumnType;

/// IN, ANY, ALL, EXISTS and scalar subqueries.
pub(super) fn subquery_expression(
    binder: &mut Binder<'_>,
    syntax: &ast::Expression,
) -> SqlResult<Expression> {
    match syntax {
        ast::Expression::InSubquery { operand, query, negated } => {
            let wanted = if *negated { SubqueryUse::NotIn } else { SubqueryUse::In };
            compared_subquery(binder, query, wanted, operand)
        }
        ast::Expression::Quantified { operator, quantifier, operand, query } => {
            let operator = comparison(*operator)
                .ok_or_else(|| sql_error!(ER_NOT_SUPPORTED_YET, "this quantified comparison"))?;
            let wanted = match (quantifier, operator) {
                (ast::Quantifier::Any, ComparisonOperator::Equal) => SubqueryUse::In,
                (ast::Quantifier::All, ComparisonOperator::NotEqual) => SubqueryUse::NotIn,
                (ast::Quantifier::Any, operator) => SubqueryUse::Any(operator),
                (ast::Quantifier::All, operator) => SubqueryUse::All(operator),
            };
            compared_subquery(binder, query, wanted, operand)
        }
        ast::Expression::Exists(query) => subquery(binder, query, SubqueryUse::Exists, None),
        ast::Expression::Subquery(query) => subquery(binder, query, SubqueryUse::Scalar, None),
        _ => Err(sql_error!(ER_NOT_SUPPORTED_YET, "this expression")),
    }
}

/// IN, ANY and ALL look at all rows: error 1235 for a part of them.
fn compared_subquery(
    binder: &mut Binder<'_>,
    query: &ast::Query,
    wanted: SubqueryUse,
    operand: &ast::Expression,
) -> SqlResult<Expression> {
    if query.limit.is_some() {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "LIMIT & IN/ALL/ANY/SOME subquery"));
    }
    subquery(binder, query, wanted, Some(operand))
}

fn subquery(
    binder: &mut Binder<'_>,
    query: &ast::Query,
    wanted: SubqueryUse,
    operand: Option<&ast::Expression>,
) -> SqlResult<Expression> {
    // A parameter is like the column that it is looked up in.
    let open = operand.filter(|syntax| binder.is_open(syntax));
    let mut operands = match operand.filter(|_| open.is_none()) {
        None => Vec::new(),
        Some(syntax) => {
            let bound = binder.expression(syntax)?;
            match bound.kind {
                ExpressionKind::Row(members) => members,
                kind => vec![Expression { kind, result: bound.result }],
            }
        }
    };
    // The subquery's aggregates are its own, whatever stands around it.
    let explained = binder.explain.len();
    let around = std::mem::take(&mut binder.nature.repeats);
    let correlated = binder.common_tables.correlated.len();
    let Asked { mut plan, unplanned, groups } = asked_query(binder, query, wanted)?;
    let common_tables = binder.common_tables.correlated_since(correlated, binder.blocks.len());
    let repeats = binder.nature.repeats;
    binder.nature.repeats |= around;
    if let (Some(syntax), Some(column)) = (open, plan.columns.first()) {
        operands.push(binder.operand_as(syntax, Wanted::like(&column.result.column_type))?);
    }
    let width = plan.columns.len();
    let wanted = match wanted {
        SubqueryUse::Scalar if width > 1 => SubqueryUse::Row,
        other => other,
    };
    check_width(wanted, width, operands.len().max(1))?;
    if let Some(shown) = as_expression(&plan)
        && let Some(expression) = without_table(binder.facts, wanted, &mut operands, shown)?
    {
        binder.explain.truncate(explained);
        return Ok(expression);
    }
    let comparisons = compared_columns(binder.facts, wanted, &mut operands, &mut plan)?;
    if matches!(wanted, SubqueryUse::Scalar | SubqueryUse::Row) {
        members_as_text(&mut plan);
    }
    let results = plan.columns.iter().map(|column| column.result.clone().nullable());
    let call = SubqueryCall {
        id: binder.subqueries.plans.len(),
        wanted,
        part: None,
        operands,
        outer: plan.outer.clone(),
        // The parts of a row are computed together.
        repeats: repeats && wanted != SubqueryUse::Row,
    };
    let (repeats, expression) = (call.repeats, call_as_expression(call, results));
    if let Some(unplanned) = unplanned {
        binder.subqueries.open.insert(binder.subqueries.plans.len(), unplanned);
    }
    binder.subqueries.plans.push(SubqueryPlan {
        query: plan,
        wanted,
        comparisons,
        repeats,
        known: None,
        groups,
        common_tables,
    });
    Ok(expression)
}

/// Error 1241 unless the query has as many columns as are compared.
fn check_width(wanted: SubqueryUse, width: usize, expected: usize) -> SqlResult<()> {
    match wanted {
        SubqueryUse::Exists | SubqueryUse::Row => Ok(()),
        _ if width != expected => Err(sql_error!(ER_OPERAND_COLUMNS, expected)),
        // Rows are in order, but MySQL compares only the equality of rows with those of a subquery.
        SubqueryUse::Any(_) | SubqueryUse::All(_) if width > 1 => Err(sql_error!(ER_OPERAND_COLUMNS, 1)),
        _ => Ok(()),
    }
}

/// A query that an expression asks.
struct Asked {
    plan: QueryPlan,
    /// What it asks for before it is chosen how it is found, if its tables or its rows may be joined.
    unplanned: Option<Arc<OpenSelect>>,
    groups: Option<SubqueryGroups>,
}

fn asked_query(binder: &mut Binder<'_>, query: &ast::Query, wanted: SubqueryUse) -> SqlResult<Asked> {
    let asks = matches!(wanted, SubqueryUse::In | SubqueryUse::NotIn | SubqueryUse::Exists);
    let select = match &query.body {
        ast::QueryBody::Select(select) if query.into.is_none() => select,
        _ => {
            let plan = binder.nested_query(query, "SUBQUERY")?;
            return Ok(Asked { plan, unplanned: None, groups: None });
        }
    };
    let before = binder.common_tables.enter(query.with.as_ref(), binder.blocks.len())?;
    let around = Surroundings { only_asks: asks, ..Surroundings::of(query, "SUBQUERY") };
    let open = binder.open_select(select, &around);
    binder.common_tables.leave(before);
    let open = open?;
    if asks {
        let (plan, unplanned) = plan_asked(binder, open, wanted)?;
        return Ok(Asked { plan, unplanned, groups: None });
    }
    let (plan, groups) = match wanted {
        // Only rows that are asked for are locked.
        SubqueryUse::Scalar if query.locking.is_empty() => plan_scalar(binder, open)?,
        _ => (plan_select(binder, open)?, None),
    };
    Ok(Asked { plan, unplanned: None, groups })
}

/// A subquery that reads no table and shows one value is that value, or a comparison with it.
fn without_table(
    facts: BuildFacts,
    wanted: SubqueryUse,
    operands: &mut Vec<Expression>,
    shown: Expression,
) -> SqlResult<Option<Expression>> {
    let operator = match wanted {
        SubqueryUse::Scalar | SubqueryUse::Row => return Ok(Some(shown)),
        SubqueryUse::In => ComparisonOperator::Equal,
        SubqueryUse::NotIn => ComparisonOperator::NotEqual,
        SubqueryUse::Any(operator) | SubqueryUse::All(operator) => operator,
        SubqueryUse::Exists => return Ok(None),
    };
    if operands.len() > 1 {
        return Ok(None);
    }
    let Some(operand) = operands.pop() else { return Ok(None) };
    Expression::compare(operator, operand, shown, facts).map(Some)
}

/// How the operands of IN, ANY and ALL are compared with a subquery's columns. Both are brought to common
/// collations.
fn compared_columns(
    facts: BuildFacts,
    wanted: SubqueryUse,
    operands: &mut [Expression],
    plan: &mut QueryPlan,
) -> SqlResult<Vec<(ComparisonMode, ColumnType)>> {
    // MySQL turns `op ALL` to NOT (.. negated op ANY ..), and names that operator.
    let sign = match wanted {
        SubqueryUse::Any(operator) => operator.sign(),
        SubqueryUse::All(operator) => operator.negated().unwrap_or(operator).sign(),
        _ => ComparisonOperator::Equal.sign(),
    };
    let mut comparisons = Vec::with_capacity(operands.len());
    let mut types: Vec<ResultType> = plan.columns.iter().map(|column| column.result.clone()).collect();
    for (operand, result) in operands.iter_mut().zip(&mut types) {
        let mut inner = Expression::slot(0, "column".into(), result.clone());
        let mode = prepare_equal_values(sign, operand, &mut inner, facts)?;
        *result = inner.result;
        comparisons.push((mode, operand.result.column_type.clone()));
    }
    retype_columns(plan, types);
    Ok(comparisons)
}

/// What a subquery whose columns have those types stands for.
fn call_as_expression(call: SubqueryCall, mut results: impl Iterator<Item = ResultType>) -> Expression {
    match call.wanted {
        SubqueryUse::Row => row_of(call, results),
        SubqueryUse::Scalar => {
            let mut shown = shown_by(call, results.next().unwrap_or_else(ResultType::null));
            compute_year(&mut shown);
            shown
        }
        SubqueryUse::Exists => shown_by(call, ResultType::boolean()),
        _ => shown_by(call, ResultType::boolean().nullable()),
    }
}

/// A subquery that stands for a value.
fn shown_by(call: SubqueryCall, result: ResultType) -> Expression {
    Expression { kind: ExpressionKind::Subquery(Box::new(call)), result }
}

/// A subquery that stands for a row: each member shows one column of the same subquery, which runs once for all.
fn row_of(call: SubqueryCall, results: impl Iterator<Item = ResultType>) -> Expression {
    let members = results.enumerate().map(|(column, result)| {
        shown_by(SubqueryCall { part: Some(RowPart::Column(column)), ..call.clone() }, result)
    });
    Expression { kind: ExpressionKind::Row(members.collect()), result: ResultType::boolean() }
}

/// The values of ENUM and SET columns as the text that they are to whoever reads the subquery's value.
fn members_as_text(plan: &mut QueryPlan) {
    let types = plan
        .columns
        .iter()
        .map(|column| match column.result.kind().has_members() {
            true => column.result.members_as_text(),
            false => column.result.clone(),
        })
        .collect();
    retype_columns(plan, types);
}

/// Converts a plan's columns to other types.
fn retype_columns(plan: &mut QueryPlan, types: Vec<ResultType>) {
    if plan.columns.iter().zip(&types).all(|(column, result)| column.result.column_type == result.column_type)
    {
        return;
    }
    let root = std::mem::replace(&mut plan.root, Node::Nothing);
    plan.root = convert_columns(root, &plan.columns, &types);
    for (column, result) in plan.columns.iter_mut().zip(types) {
        column.result = result;
    }
}

/// What a subquery that reads no table shows, over the enclosing row: `(SELECT a + 1)` is `a + 1`, `(SELECT a, b)` is
/// `(a, b)`.
fn as_expression(plan: &QueryPlan) -> Option<Expression> {
    let Node::Project { input, expressions } = &plan.root else { return None };
    let Node::OneRow { .. } = &**input else { return None };
    let mut shown = match expressions.as_slice() {
        [shown] => shown.clone(),
        members => Expression { kind: ExpressionKind::Row(members.to_vec()), result: ResultType::boolean() },
    };
    shown.replace(&mut |part| match part.kind {
        ExpressionKind::Outer(number) => plan.outer.get(number).cloned(),
        _ => None,
    });
    Some(shown)
}
