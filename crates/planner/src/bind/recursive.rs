//! WITH RECURSIVE: which operands are the seed and which the steps, and what a step may not do.
//! An operand is a step if binding it used the table that is being defined (see [`RecursionScope`]).

use super::common_tables::RecursionScope;
use super::query::{convert_columns, shift_outer};
use super::set_operation::{Chain, in_parentheses, merged_type, require_settled};
use super::{Binder, CommonTable};
use crate::planning::plan_derived;
use ::expression::{ResultType, ValueSource};
use errors::{SqlResult, sql_error};
use optimizer::{BoundTable, Source};
use parser::ast;
use plan::keep_repeated;
use plan::physical::{
    Node, OutputColumn, QueryPlan, ROWS_UNKNOWN, Recursive, RecursiveStep, SetOperation, SetTerm,
};
use std::sync::Arc;

/// What error 1235 says of a step whose rows of a round are put in order, or not all taken.
pub(super) const CUT_STEP: &str =
    "ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table Expression";

/// A recursive common table: operands that do not name it, then operands that do. It sees the blocks around its WITH clause.
pub(super) fn recursive_query(binder: &mut Binder<'_>, common: &CommonTable) -> SqlResult<QueryPlan> {
    let operation = match &common.query.body {
        ast::QueryBody::SetOperation(operation) => Some(operation),
        body => in_parentheses(body),
    };
    let Some(operation) = operation else {
        let id = binder.common_tables.open_recursion();
        let entry = CommonTable { recursion: Some((id, Vec::new())), ..common.clone() };
        binder.common_tables.in_scope.push(entry);
        let plan = binder.query_seeing(common.around, &common.query, "DERIVED");
        let plan = plan.and_then(|plan| plan_derived(binder, plan, None));
        binder.common_tables.in_scope.pop();
        if binder.common_tables.recursions[id].uses > 0 {
            return Err(sql_error!(ER_CTE_RECURSIVE_REQUIRES_UNION, common.name));
        }
        return plan.map(Arc::unwrap_or_clone);
    };
    let unseen = binder.blocks.split_off(common.around.min(binder.blocks.len()));
    let plan = recursive_parts(binder, common, operation);
    binder.see_again(common.around, unseen);
    plan.map(|plan| if plan.outer.is_empty() { plan } else { binder.handed_in(common.around, plan) })
}

/// The name of the recursive table, if the current block is a step that reads it, not a subquery of one.
pub(super) fn recursive_table_in_block(binder: &mut Binder<'_>) -> Option<String> {
    let recursion = |table: &BoundTable| match table.source {
        Source::Recursion(id) => Some(id),
        _ => None,
    };
    let id = binder.block().tables.iter().find_map(recursion)?;
    if binder.common_tables.recursions.get(id)?.depth + 1 != binder.depth {
        return None;
    }
    binder.common_tables.recursion_name(id).map(str::to_owned)
}

/// Binds an operand; says whether it names the table.
fn recursion_operand(
    binder: &mut Binder<'_>,
    common: &CommonTable,
    id: usize,
    columns: &[OutputColumn],
    body: &ast::QueryBody,
    select_type: &'static str,
) -> SqlResult<(QueryPlan, bool)> {
    binder.common_tables.recursions[id] = RecursionScope { depth: binder.depth, ..RecursionScope::default() };
    let entry = CommonTable { recursion: Some((id, columns.to_vec())), ..common.clone() };
    binder.common_tables.in_scope.push(entry);
    let plan = binder.operand(body, select_type);
    binder.common_tables.in_scope.pop();
    let scope = binder.common_tables.recursions[id].clone();
    if scope.uses > 0 {
        refuse_around_step(body)?;
    }
    if scope.uses > 0 && columns.is_empty() {
        return Err(sql_error!(ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST, common.name));
    }
    let plan = plan?;
    if scope.uses > 1 || scope.nested_uses > 0 {
        return Err(sql_error!(ER_CTE_RECURSIVE_REQUIRES_SINGLE_REFERENCE, common.name));
    }
    Ok((plan, scope.uses > 0))
}

/// What may not be around the name of the table in an operand: error 4114 for EXCEPT and INTERSECT, 1235 for a UNION in
/// parentheses that mean something, and for an order or a limit.
fn refuse_around_step(mut body: &ast::QueryBody) -> SqlResult<()> {
    let mut is_cut = false;
    while let ast::QueryBody::Nested(query) = body {
        is_cut |= query.limit.is_some() || !query.order_by.is_empty();
        body = &query.body;
    }
    match body {
        ast::QueryBody::SetOperation(inner)
            if inner.rest.iter().any(|term| term.operator != ast::SetOperator::Union) =>
        {
            Err(sql_error!(ER_CTE_RECURSIVE_NOT_UNION))
        }
        ast::QueryBody::SetOperation(_) => {
            let what = "right nested recursive query blocks, in Common Table Expression";
            Err(sql_error!(ER_NOT_SUPPORTED_YET, what))
        }
        _ if is_cut => Err(sql_error!(ER_NOT_SUPPORTED_YET, CUT_STEP)),
        _ => Ok(()),
    }
}

fn recursive_parts(
    binder: &mut Binder<'_>,
    common: &CommonTable,
    operation: &ast::SetOperation,
) -> SqlResult<QueryPlan> {
    let id = binder.common_tables.open_recursion();
    // Seeds and steps may stand in one pair of parentheses.
    let chain = Chain::of(operation);
    let (seed, _) = recursion_operand(binder, common, id, &[], chain.first, "DERIVED")?;
    let mut columns = named(&seed.columns, common);
    let mut seeds: Vec<(ast::SetOperator, bool, QueryPlan)> = Vec::new();
    let mut steps = Vec::new();
    let mut all = true;
    // All operands read one list of outer values.
    let mut outer = seed.outer.clone();
    for (operator, is_all, body) in chain.rest {
        let (plan, recursive) = recursion_operand(binder, common, id, &columns, body, "UNION")?;
        if plan.columns.len() != columns.len() {
            return Err(sql_error!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT));
        }
        if recursive {
            if operator != ast::SetOperator::Union {
                return Err(sql_error!(ER_CTE_RECURSIVE_NOT_UNION));
            }
            all &= is_all;
            let types = plan.columns.into_iter().map(|column| column.result).collect();
            let mut node = shift_outer(plan.root, plan.outer, &mut outer);
            keep_repeated(&mut node);
            steps.push(RecursiveStep { node, columns: types });
        } else if steps.is_empty() {
            for (column, other) in columns.iter_mut().zip(&plan.columns) {
                let types = [column.result.clone(), other.result.clone()];
                column.result = merged_type(binder, &types, "UNION")?.nullable();
            }
            let QueryPlan { root, outer: own, .. } = plan;
            let root = shift_outer(root, own, &mut outer);
            seeds.push((operator, is_all, QueryPlan { root, outer: Vec::new(), ..plan }));
        } else {
            return Err(sql_error!(ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST, common.name));
        }
    }
    if steps.is_empty() {
        return binder.query(&common.query, "DERIVED");
    }
    if !common.query.order_by.is_empty() {
        let what = "ORDER BY over UNION in recursive Common Table Expression";
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, what));
    }
    let types: Vec<ResultType> = columns.iter().map(|column| column.result.clone()).collect();
    require_settled(&types)?;
    let block = seed.block;
    let seed = joined_seeds(seed, seeds, &types);
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let recursive = Recursive { id, seed, steps, names, all, columns: types, limit: None };
    let root = Node::Recursive(Box::new(recursive));
    let plan = QueryPlan { columns, outer, block, ..QueryPlan::of(root, ROWS_UNKNOWN) };
    let mut plan = binder.ordered(plan, &common.query, false)?;
    if let Node::Limit { input, limit, .. } = &mut plan.root
        && let Node::Recursive(recursive) = &mut **input
    {
        recursive.limit = Some(limit.clone());
    }
    Ok(plan)
}

/// The columns of the table: the seed's, able to be NULL, under the table's names if they are as many.
fn named(columns: &[OutputColumn], common: &CommonTable) -> Vec<OutputColumn> {
    let is_named = columns.len() == common.columns.len();
    let mut columns = columns.to_vec();
    for (position, column) in columns.iter_mut().enumerate() {
        column.result.nullable = true;
        column.origin = None;
        column.source = ValueSource::SetOperation;
        column.computed = false;
        if is_named {
            column.name.clone_from(&common.columns[position]);
        }
    }
    columns
}

/// All operands of the seed as one.
fn joined_seeds(
    first: QueryPlan,
    rest: Vec<(ast::SetOperator, bool, QueryPlan)>,
    types: &[ResultType],
) -> Node {
    let first_node = convert_columns(first.root, &first.columns, types);
    if rest.is_empty() {
        return first_node;
    }
    let rest = rest
        .into_iter()
        .map(|(operator, all, plan)| SetTerm {
            operator,
            all,
            node: convert_columns(plan.root, &plan.columns, types),
        })
        .collect();
    Node::SetOperation(Box::new(SetOperation { first: first_node, rest, columns: types.to_vec() }))
}
