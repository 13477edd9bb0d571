//! From a bound SELECT to its plan: first the rewrites, then `lower.rs`. Binding plans queries within a statement by it, because
//! what stands around a subquery depends on how its rows are found. Main functions: [`plan_select`], [`plan_derived`].

use crate::bind::{Binder, convert_columns, indexed_values, read_indexed_elements};
use crate::lower::{Lowered, lower};
use errors::SqlResult;
use expression::{Expression, SubqueryUse};
use optimizer::{
    Block, BoundTable, Derived, JoinTree, LogicalSelect, OpenSelect, Settler, Settling, Source,
    factor_alternatives, factor_joins, runs_worth_groups,
};
use plan::physical::{ExplainRow, QueryPlan};
use plan::{Rule, SubqueryGroups};
use rewrite::{
    GroupedByOuter, Pushdown, computes_sides, grouped_by_outer, groups_silently, is_joinable, keep_times,
    read_indexed_values, take_in_derived, takes_conditions, takes_groups, without_select_list,
};
use std::sync::Arc;

/// Chooses how a bound SELECT is done.
pub(crate) fn plan_select(binder: &mut Binder<'_>, open: OpenSelect) -> SqlResult<QueryPlan> {
    plan_select_and(binder, open, &|_, _| ()).map(|(plan, ())| plan)
}

/// The same for the query that an expression asks, and what it asks for before it is chosen how it is found, if its tables or its
/// rows may be joined.
pub(crate) fn plan_asked(
    binder: &mut Binder<'_>,
    mut open: OpenSelect,
    wanted: SubqueryUse,
) -> SqlResult<(QueryPlan, Option<Arc<OpenSelect>>)> {
    let last_block = open.last_block;
    open.select.is_asked_for_row = wanted == SubqueryUse::Exists;
    plan_select_and(binder, open, &|block, select| {
        let copy = || OpenSelect { block: block.clone(), select: select.clone(), last_block };
        let is_taken = is_joinable(select) || wanted == SubqueryUse::In && groups_silently(select, block);
        let is_taken = is_taken && !block.tables.iter().any(BoundTable::reads_outer_values);
        is_taken.then(|| Arc::new(copy()))
    })
}

/// The same for a scalar subquery, with its groups for all rows around where it takes them.
pub(crate) fn plan_scalar(
    binder: &mut Binder<'_>,
    open: OpenSelect,
) -> SqlResult<(QueryPlan, Option<SubqueryGroups>)> {
    let may = binder.rules().has(Rule::GroupedSubqueries) && !binder.nature.repeats;
    let last_block = open.last_block;
    let (plan, grouped) = plan_select_and(binder, open, &|block, select| {
        if may { grouped_by_outer(block, select, last_block) } else { None }
    })?;
    let Some(GroupedByOuter { open, keys }) = grouped.filter(|_| takes_groups(&plan.root)) else {
        return Ok((plan, None));
    };
    let explained = binder.explain.len();
    let Some(query) = without_select_list(plan_select(binder, open)?) else {
        binder.explain.truncate(explained);
        return Ok((plan, None));
    };
    let runs_first = binder.rules().has(Rule::SubqueryRunsFirst);
    let after_runs =
        if runs_first { runs_worth_groups(plan.joins_ns, (query.joins_ns, query.joined_rows)) } else { 0 };
    let rows = &mut binder.explain[explained..];
    rows.iter_mut().for_each(|row| row.select_type = "MATERIALIZED");
    if let Some(first) = rows.first_mut() {
        first.extra.push(match after_runs {
            0 => "Groups of all outer values".to_owned(),
            runs => format!("Groups of all outer values after {runs} runs"),
        });
    }
    Ok((plan, Some(SubqueryGroups { query, keys, after_runs })))
}

/// Plans a SELECT; `take` is given it once it is settled, before it is chosen how it is done.
fn plan_select_and<T>(
    binder: &mut Binder<'_>,
    open: OpenSelect,
    take: &dyn Fn(&Block, &LogicalSelect) -> T,
) -> SqlResult<(QueryPlan, T)> {
    let OpenSelect { block, mut select, last_block } = open;
    let select_type = select.select_type;
    binder.blocks.push(block);
    // Other blocks may have been bound since.
    let bound = std::mem::replace(&mut binder.block_number, last_block);
    let lowered = settle_select(binder, &mut select).and_then(|()| {
        let taken = take(binder.block(), &select);
        Ok((lower(binder, select)?, taken))
    });
    binder.block_number = bound;
    let block = binder.blocks.pop().unwrap_or_default();
    let (lowered, taken) = lowered?;
    let Lowered { node: root, columns, explain, rows, joined: (joined_rows, joins_ns) } = lowered;
    if binder.input.explains {
        let select_type = match (select_type, block.outer.is_empty()) {
            ("SUBQUERY", false) => "DEPENDENT SUBQUERY",
            ("DERIVED", false) => "DEPENDENT DERIVED",
            (other, _) => other,
        };
        let lines = explain.into_iter();
        binder.explain.extend(lines.map(|row| ExplainRow { id: Some(block.number), select_type, ..row }));
    }
    let Block { number, outer, dependence, known, .. } = block;
    let (block, is_empty) = (Some(number), known.has_no_keys);
    let plan = QueryPlan { root, columns, outer, block, rows, joins_ns, joined_rows, dependence, is_empty };
    Ok((plan, taken))
}

/// The plan of a query in FROM whose tables are not read in its place. `common`: the number of the common table that it is,
/// all uses of which share it.
pub(crate) fn plan_derived(
    binder: &mut Binder<'_>,
    query: Derived,
    common: Option<usize>,
) -> SqlResult<Arc<QueryPlan>> {
    let open = match query {
        Derived::Planned(plan) => return Ok(plan),
        Derived::Open(open) => open,
    };
    if let Some(plan) = common.and_then(|number| binder.common_tables.planned.get(&number)) {
        return Ok(plan.clone());
    }
    let around = std::mem::take(&mut binder.blocks);
    let plan = plan_select(binder, Arc::unwrap_or_clone(open));
    binder.blocks = around;
    let mut plan = plan?;
    if common.is_some() && !plan.outer.is_empty() {
        plan::keep_repeated(&mut plan.root);
    }
    let plan = Arc::new(plan);
    if let Some(number) = common {
        binder.common_tables.planned.insert(number, plan.clone());
    }
    Ok(plan)
}

/// Keeps the SELECTs of a query in FROM, if conditions may go into them.
pub(crate) fn keep_pushable(
    binder: &mut Binder<'_>,
    plan: Arc<QueryPlan>,
    selects: Option<Vec<OpenSelect>>,
) -> Arc<QueryPlan> {
    if let Some(selects) = selects.filter(|selects| takes_conditions(selects)) {
        binder.derived.pushable.push((plan.clone(), Arc::new(selects)));
    }
    plan
}

/// Brings FROM and the conditions of WHERE and of joins to the form in which they are planned.
fn settle_select(binder: &mut Binder<'_>, select: &mut LogicalSelect) -> SqlResult<()> {
    let rules = binder.rules();
    binder.block();
    if let Some(block) = binder.blocks.last_mut() {
        take_in_derived(rules, block, &mut binder.common_tables.uses, select);
    }
    use_indexed_values(binder, select);
    settle_from(binder, select)?;
    keep_times_of_rows(binder, select);
    push_into_derived(binder, select)
}

/// The same for the rows of a statement that changes them: its queries in FROM are not read in place, because which tables it
/// changes is settled.
pub(crate) fn settle_change(binder: &mut Binder<'_>, select: &mut LogicalSelect) -> SqlResult<()> {
    use_indexed_values(binder, select);
    settle_from(binder, select)?;
    keep_times(&mut binder.survey(), select.tree.as_mut(), &mut select.conditions, &mut []);
    push_into_derived(binder, select)
}

/// Reads from generated columns what indexes have of them.
fn use_indexed_values(binder: &mut Binder<'_>, select: &mut LogicalSelect) {
    if !binder.rules().has(Rule::IndexedValues) {
        return;
    }
    // Rows that an outer join makes up have no values of theirs, whatever the expression would yield.
    let made_up = select.tree.as_ref().map_or(0, JoinTree::optional_tables);
    read_indexed_elements(binder, select, made_up);
    if !computes_sides(select) {
        return;
    }
    let values = indexed_values(binder, made_up);
    if let (false, Some(block)) = (values.is_empty(), binder.blocks.last_mut()) {
        read_indexed_values(block, select, values);
    }
}

/// Plans queries in FROM, takes alternatives apart and finds what follows from the conditions.
fn settle_from(binder: &mut Binder<'_>, select: &mut LogicalSelect) -> SqlResult<()> {
    plan_open_tables(binder)?;
    let mut conditions = std::mem::take(&mut select.conditions);
    if binder.rules().has(Rule::OrFactoring) {
        conditions = factor_alternatives(binder.block(), conditions);
        if let Some(tree) = &mut select.tree {
            factor_joins(binder.block(), tree);
        }
    }
    select.conditions = settled_conditions(binder, select.tree.as_mut(), conditions)?;
    Ok(())
}

/// Plans what is left of open queries in FROM.
fn plan_open_tables(binder: &mut Binder<'_>) -> SqlResult<()> {
    for number in 0..binder.block().tables.len() {
        let Source::Derived(query, common) = &binder.block().tables[number].source else { continue };
        let (query, common) = (query.clone(), *common);
        let mut plan = plan_derived(binder, query, common)?;
        let table = &binder.block().tables[number];
        if !table.reads.is_empty() && !plan.outer.is_empty() {
            // What is lateral has outer references of its own.
            let lateral = Arc::make_mut(&mut plan);
            lateral.outer = Vec::new();
            plan::keep_repeated(&mut lateral.root);
        }
        binder.block().tables[number].source = Source::Derived(Derived::Planned(plan), common);
    }
    Ok(())
}

fn settled_conditions(
    binder: &mut Binder<'_>,
    tree: Option<&mut JoinTree>,
    conditions: Vec<Expression>,
) -> SqlResult<Vec<Expression>> {
    binder.block();
    let last = binder.blocks.len() - 1;
    let mut settler = Settler {
        block: &mut binder.blocks[last],
        context: &mut *binder.input.context,
        subqueries: &binder.subqueries.plans,
        facts: binder.facts,
        escalates: binder.changes.escalates,
        runs: binder.input.runs,
        volatile: &mut binder.nature.volatile,
        sites: &mut binder.sites,
        place: Settling::Where,
        nullable: 0,
    };
    settler.settled_from(tree, conditions)
}

/// [`keep_times`] in all that is over rows.
fn keep_times_of_rows(binder: &mut Binder<'_>, select: &mut LogicalSelect) {
    let mut keys = std::mem::take(&mut binder.block().group_keys);
    let mut aggregates = std::mem::take(&mut binder.block().aggregates);
    let arguments = aggregates.iter_mut().flat_map(|call| &mut call.arguments);
    let mut others: Vec<&mut Expression> = keys.iter_mut().chain(arguments).collect();
    let mut windows = std::mem::take(&mut binder.block().windows);
    if !select.groups {
        others.extend(windows.expressions_mut());
        others.extend(select.items.iter_mut().map(|item| &mut item.expression));
        others.extend(select.order.iter_mut().map(|key| &mut key.expression));
    }
    keep_times(&mut binder.survey(), select.tree.as_mut(), &mut select.conditions, &mut others);
    binder.block().group_keys = keys;
    binder.block().aggregates = aggregates;
    binder.block().windows = windows;
}

/// Puts conditions of the block on top of the stack into the queries in FROM that they are about, which are planned again.
fn push_into_derived(binder: &mut Binder<'_>, select: &mut LogicalSelect) -> SqlResult<()> {
    if binder.derived.pushable.is_empty() {
        return Ok(());
    }
    let Some(pushdown) = Pushdown::of(binder.rules(), select) else { return Ok(()) };
    let mut left: Vec<usize> = Vec::new();
    for number in 0..binder.block().tables.len() {
        let (uses, pushable) = (&binder.common_tables.uses, &binder.derived.pushable);
        let Some(block) = binder.blocks.last() else { continue };
        let Some(mut pushed) = pushdown.of_table(block, number, uses, pushable) else { continue };
        let around = std::mem::take(&mut binder.blocks);
        let plans = plan_again(binder, std::mem::take(&mut pushed.selects));
        binder.blocks = around;
        let plans = plans?;
        let uses = &mut binder.common_tables.uses;
        let Some(block) = binder.blocks.last_mut() else { continue };
        left.extend(pushed.take_in(block, uses, plans, convert_columns));
    }
    let mut at = 0..;
    select.conditions.retain(|_| at.next().is_none_or(|at| !left.contains(&at)));
    Ok(())
}

fn plan_again(binder: &mut Binder<'_>, selects: Vec<OpenSelect>) -> SqlResult<Vec<QueryPlan>> {
    let mut plans = Vec::with_capacity(selects.len());
    for open in selects {
        binder.explain.retain(|row| row.id != Some(open.block.number));
        plans.push(plan_select(binder, open)?);
    }
    Ok(plans)
}
