//! Subqueries of WHERE joined with the tables of the query that asks for their rows: what the rewrite needs of the binder. Main
//! function: [`join_subqueries`].

use crate::bind::{Binder, add_table, column_of, derived_columns};
use errors::SqlResult;
use expression::Expression;
use optimizer::{Block, Derived, IndexLimits, JoinTree, LogicalSelect, Source};
use plan::Rules;
use plan::physical::QueryPlan;
use rewrite::SubqueryJoins;
use std::sync::Arc;

/// Joins subqueries of the block on top of the stack.
pub(crate) fn join_subqueries(binder: &mut Binder<'_>, select: &mut LogicalSelect) -> SqlResult<()> {
    let (survey, open, explain) = binder.survey_with_open();
    SubqueryJoins { survey, open, explain, add_derived }.join_subqueries(select)
}

/// As [`rewrite::AddDerived`] says.
fn add_derived(
    rules: Rules,
    block: &mut Block,
    alias: String,
    plan: QueryPlan,
    count: usize,
) -> SqlResult<(JoinTree, Vec<Expression>)> {
    let columns = derived_columns(&plan.columns[..count], &alias, &[], false);
    let number = block.tables.len();
    let source = Source::Derived(Derived::Planned(Arc::new(plan)), None);
    let (tree, _) = add_table(rules, block, alias, None, source, columns, IndexLimits::default())?;
    let values = (0..count).map(|column| column_of(block, number, column)).collect();
    Ok((tree, values))
}
