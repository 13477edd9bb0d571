//! The rows that UPDATE and DELETE find: a [`LogicalSelect`] over the statement's tables. Main functions: [`conditions_of`], [`found_rows`].

use crate::bind::Binder;
use crate::bind::joined_dates::compare_joined_dates;
use crate::changed_rows::{ChangedRows, plan_changed_rows};
use ::expression::Expression;
use errors::SqlResult;
use optimizer::{Clause, JoinTree, LogicalSelect, conjuncts};
use parser::ast;
use plan::physical::{RowLimit, SortKey};

/// What limits the rows of a statement that changes them.
pub(super) struct Wishes<'a> {
    /// WHERE, taken apart at its ANDs.
    pub conditions: Vec<Expression>,
    /// The order of a view, where the statement has none.
    pub view_order: Vec<SortKey>,
    pub order_by: &'a [ast::OrderItem],
    pub limit: Option<Expression>,
}

/// The conditions of WHERE.
pub(super) fn conditions_of(
    binder: &mut Binder<'_>,
    filter: Option<&ast::Expression>,
) -> SqlResult<Vec<Expression>> {
    let Some(filter) = filter else { return Ok(Vec::new()) };
    let clause = std::mem::replace(&mut binder.block().clause, Clause::Where);
    let bound = binder.truth_of(filter);
    binder.block().clause = clause;
    let conditions = conjuncts(bound?);
    compare_joined_dates(&mut binder.subqueries.plans, &conditions);
    Ok(conditions)
}

/// Chooses how the rows of UPDATE and DELETE are found.
pub(super) fn found_rows(
    binder: &mut Binder<'_>,
    tree: Option<JoinTree>,
    wishes: Wishes<'_>,
    select_type: &'static str,
) -> SqlResult<ChangedRows> {
    let Wishes { conditions, view_order, order_by, limit } = wishes;
    binder.block().clause = Clause::OrderBy;
    let mut order = view_order;
    order.reserve(order_by.len());
    for item in order_by {
        order.push(SortKey { expression: binder.scalar(&item.expression)?, descending: item.descending });
    }
    let limit = limit.map(|count| RowLimit { count: Some(count), offset: None });
    let select = LogicalSelect { tree, conditions, order, limit, select_type, ..LogicalSelect::default() };
    plan_changed_rows(binder, select)
}
