//! Subqueries of WHERE joined with the tables of the query that asks for their rows: what the rewrite needs of the binder. Main
//! function: [`join_subqueries`].

use crate::bind::{Binder, add_table, column_of, derived_columns};
use crate::planning::plan_select;
use errors::SqlResult;
use expression::{Expression, ExpressionKind, SubqueryCall, SubqueryUse};
use optimizer::{Block, Derived, IndexLimits, JoinTree, LogicalSelect, OpenSelect, Source, asked_subquery};
use plan::physical::QueryPlan;
use plan::{OuterKey, Rule, Rules, SubqueryPlan};
use rewrite::{Membership, SubqueryJoins, membership};
use std::sync::Arc;

/// Joins subqueries of the block on top of the stack.
pub(crate) fn join_subqueries(binder: &mut Binder<'_>, select: &mut LogicalSelect) -> SqlResult<()> {
    let rules = binder.rules();
    if rules.has(Rule::Semijoin) && rules.has(Rule::Materialization) && !select.is_straight {
        for condition in &mut select.conditions {
            ask_for_values(binder, condition)?;
        }
    }
    let (survey, open, explain) = binder.survey_with_open();
    SubqueryJoins { survey, open, explain, add_derived }.join_subqueries(select)
}

/// Makes IN of EXISTS whose rows equalities tie to columns that begin an index: then its values may be found first and looked up there.
/// It is joined in either form.
fn ask_for_values(binder: &mut Binder<'_>, condition: &mut Expression) -> SqlResult<()> {
    let Some((call, false)) = asked_subquery(condition) else { return Ok(()) };
    let is_exists = call.wanted == SubqueryUse::Exists && !call.outer.is_empty() && !call.repeats;
    let Some(open) = binder.subqueries.open.get(&call.id).filter(|_| is_exists) else { return Ok(()) };
    if open.block.hints.keeps_subquery() || !binder.subqueries.plans[call.id].common_tables.is_empty() {
        return Ok(());
    }
    let Some(Membership { open, keys }) = membership(open) else { return Ok(()) };
    let operands: Vec<Expression> = keys.iter().map(|key| call.outer[key.outer].clone()).collect();
    if operands.first().is_some_and(|operand| binder.block().begins_index(operand)) {
        let id = add_values(binder, open, &keys)?;
        let (wanted, outer) = (SubqueryUse::In, Vec::new());
        let call = SubqueryCall { id, wanted, part: None, operands, outer, repeats: false };
        condition.kind = ExpressionKind::Subquery(Box::new(call));
    }
    Ok(())
}

/// Adds a subquery for values that are compared with the keys, and gives its number. EXPLAIN shows it in the place of the one that it was
/// made of.
fn add_values(binder: &mut Binder<'_>, open: OpenSelect, keys: &[OuterKey]) -> SqlResult<usize> {
    let number = open.block.number;
    binder.explain.retain(|row| row.id != Some(number));
    let query = plan_select(binder, open.clone())?;
    // Subqueries within it may have got numbers meanwhile.
    let id = binder.subqueries.plans.len();
    binder.subqueries.open.insert(id, Arc::new(open));
    binder.subqueries.plans.push(SubqueryPlan {
        query,
        wanted: SubqueryUse::In,
        comparisons: keys.iter().map(|key| (key.mode, key.outer_type.clone())).collect(),
        repeats: false,
        known: None,
        groups: None,
        common_tables: Vec::new(),
    });
    Ok(id)
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
