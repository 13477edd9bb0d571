//! The order of joins where ORDER BY is wanted: the one that costs least, or one whose first table comes in that order, so
//! that no sort is needed and LIMIT ends the reading. Main function: [`choose_steps`].

use super::access::{Candidate, plain_index};
use super::equal_columns::Condition;
use super::index_order::order_of_path;
use super::join::{Content, Group, Member, Step};
use super::join_order::{NestEstimate, Search, Steps, UNMATCHED_SHARE_MIN, Wanted};
use crate::cost::{group_ns, sort_ns};
use crate::{JoinGoal, Optimizer, Source, needs_row};
use errors::SqlResult;
use plan::Rule;
use std::rc::Rc;

/// So many times the rows are read that conditions are guessed to want before enough of them pass: which rows pass may go
/// with the order.
const GUESS_MARGIN: f64 = 2.0;

/// A chosen order of joins.
pub(super) struct ChosenSteps {
    pub steps: Vec<Step>,
    pub order: StepOrder,
    /// What the rows that are wanted cost.
    pub ns: f64,
}

/// Whether rows come in the wanted order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepOrder {
    /// Any order will do.
    Any,
    /// No: they are sorted.
    None,
    /// The first table's do: where a join costs less if it loses the order, it may.
    OfFirst,
    /// They do, and joins have to keep it.
    Kept,
}

/// The steps that cost least until as many rows are there, in order, as are wanted.
pub(super) fn choose_steps(
    optimizer: &mut Optimizer<'_>,
    group: &Group,
    conditions: &[Condition],
    nests: &[Option<NestEstimate>],
    goal: &JoinGoal,
) -> SqlResult<ChosenSteps> {
    let mut search = optimizer.search_of(group, conditions, nests);
    let Steps { list, rows } = optimizer.choose_order(&mut search, Steps::default())?;
    let margin = if conditions.is_empty() { 1.0 } else { GUESS_MARGIN };
    let share_of = |wanted: f64| (wanted.max(1.0) * margin / rows.count.max(1.0)).min(1.0);
    let mut share = goal.rows_wanted.map_or(1.0, share_of);
    if group.around != 0 {
        // A search for what is not there goes to the end.
        share += UNMATCHED_SHARE_MIN * (1.0 - share);
    }
    if goal.order.is_empty() {
        let is_all = share >= 1.0 || list.len() < 2;
        search.wanted.share = share;
        let Steps { list: steps, rows } = match is_all {
            true => Steps { list, rows },
            false => optimizer.choose_order(&mut search, Steps::default())?,
        };
        return Ok(ChosenSteps { steps, order: StepOrder::Any, ns: rows.ns(share) });
    }
    let mut chosen = with_order(optimizer, group, list, goal, conditions);
    chosen.ns = rows.ns(share);
    let is_ordered = chosen.order != StepOrder::None;
    let is_row = leading_step(&chosen.steps).is_none();
    let rules = optimizer.context.rules();
    if !(rules.has(Rule::IndexOrder) && rules.has(Rule::PreferOrderingIndex)) {
        return Ok(chosen);
    }
    if is_row || goal.rows_wanted.is_none() && (is_ordered || group.members.len() > 1) {
        return Ok(chosen);
    }
    let mut least_ns = match is_ordered && !chosen.steps.iter().any(|step| step.swap) {
        true => rows.ns(share),
        false if goal.for_groups => rows.ns(1.0) + group_ns(rows.count),
        false => rows.ns(1.0) + sort_ns(rows.count, goal.rows_wanted),
    };
    search.wanted = Wanted { share, in_order: true, ..search.wanted };
    for start in ordered_starts(optimizer, &mut search, goal, conditions) {
        let Steps { mut list, rows } = optimizer.choose_order(&mut search, start)?;
        if rows.ns(share) <= least_ns {
            least_ns = rows.ns(share);
            list.iter_mut().for_each(|step| step.rows_after = (step.rows_after * share).max(0.01));
            chosen = ChosenSteps { steps: list, order: StepOrder::Kept, ns: least_ns };
        }
    }
    Ok(chosen)
}

/// Steps that were chosen for their cost: whether they give the order by the way.
fn with_order(
    optimizer: &mut Optimizer<'_>,
    group: &Group,
    mut steps: Vec<Step>,
    goal: &JoinGoal,
    conditions: &[Condition],
) -> ChosenSteps {
    let Some(leading) = leading_step(&steps) else {
        return ChosenSteps { steps, order: StepOrder::OfFirst, ns: 0.0 };
    };
    let constant = steps[..leading].iter().fold(0, |bits, step| bits | group.members[step.member].tables);
    let step = &mut steps[leading];
    let mut ordered = false;
    if let (Content::Table(table), Some(candidate)) =
        (&group.members[step.member].content, &mut step.candidate)
        && (leading == 0 || !step.hash)
        && group.members[step.member].joined_by.is_none()
    {
        ordered = put_in_order(optimizer, *table, Rc::make_mut(candidate), goal, conditions, constant);
    }
    ChosenSteps { steps, order: if ordered { StepOrder::OfFirst } else { StepOrder::None }, ns: 0.0 }
}

/// Makes a candidate give the order, if it can.
fn put_in_order(
    optimizer: &mut Optimizer<'_>,
    table: usize,
    candidate: &mut Candidate,
    goal: &JoinGoal,
    conditions: &[Condition],
    constant: u64,
) -> bool {
    if !optimizer.context.rules().has(Rule::IndexOrder) {
        return false;
    }
    let backward = order_of_path(optimizer.block, table, &candidate.path, &goal.order, conditions, constant);
    let is_allowed = !goal.for_groups || may_group(optimizer, table, candidate.path.index);
    let backward = backward.filter(|_| is_allowed);
    if let Some(backward) = backward {
        candidate.path.backward = backward && !goal.either_way;
        candidate.path.ordered = true;
    }
    backward.is_some()
}

/// Whether hints let an index give the order of groups.
fn may_group(optimizer: &Optimizer<'_>, number: usize, index: usize) -> bool {
    let bound = &optimizer.block.tables[number];
    let Source::Base(table) = &bound.source else { return false };
    let definition = table.indexes()[index].definition(table);
    definition.is_none_or(|definition| bound.limits.allows_for_order(&definition.name, true))
}

/// The first steps that give the order: rows of which there is one, and a table in order.
fn ordered_starts(
    optimizer: &mut Optimizer<'_>,
    search: &mut Search<'_>,
    goal: &JoinGoal,
    conditions: &[Condition],
) -> Vec<Steps> {
    let before = constant_steps(optimizer, search);
    let (constant, constant_rows) = search.after(&before);
    let share = search.wanted.share;
    let mut starts = Vec::new();
    for (number, member) in search.members().enumerate().collect::<Vec<_>>() {
        let Content::Table(table) = member.content else { continue };
        let is_free = constant & member.tables == 0 && member.needs & !constant == 0;
        if !is_free || member.joined_by.is_some() || search.is_straight() && number > 0 {
            continue;
        }
        let (rows, known) = optimizer.step(search, number, constant, constant_rows);
        let usable = search.conditions_of(number, constant);
        let mut candidates = optimizer.candidates(table, &usable, constant);
        candidates.retain(|candidate| candidate.path.ranges.is_some() || !candidate.path.union.is_empty());
        let mut whole = whole_indexes(optimizer, table, goal.for_groups);
        // Rows of a whole table in another order than that of its keys come from everywhere.
        whole.retain(|one| goal.rows_wanted.is_some() || one.path.index == 0 || one.path.covering);
        candidates.extend(whole);
        let mut by_range = Vec::new();
        for mut candidate in candidates {
            // A range of an index has no more to read than the whole of it, nor more to lock.
            let is_whole = candidate.path.ranges.is_none() && candidate.path.union.is_empty();
            if is_whole && by_range.contains(&candidate.path.index)
                || !put_in_order(optimizer, table, &mut candidate, goal, conditions, constant)
            {
                continue;
            }
            if candidate.path.union.is_empty() {
                by_range.push(candidate.path.index);
            }
            let mut steps = before.clone();
            steps.rows = search.first_rows(number, &candidate, constant_rows, rows.count);
            steps.rows.order = optimizer.order_of(member, &candidate);
            if candidate.path.ranges.is_none() && candidate.path.union.is_empty() {
                candidate.rows = (candidate.rows * share).max(1.0);
            }
            let candidate = Some(Rc::new(candidate));
            steps.list.push(Step { candidate, hash: false, swap: false, ..known.clone() });
            starts.push(steps);
        }
    }
    starts
}

/// The tables of which one row at most is read, by a key that is known or in another such row.
fn constant_steps(optimizer: &mut Optimizer<'_>, search: &mut Search<'_>) -> Steps {
    let mut steps = Steps::default();
    let members: Vec<&Member> = search.members().collect();
    let mut number = 0;
    while number < members.len() && !search.is_straight() {
        let member = members[number];
        number += 1;
        let (placed, rows) = search.after(&steps);
        let is_free = placed & member.tables == 0 && member.needs & !placed == 0;
        if !is_free || member.joined_by.is_some() {
            continue;
        }
        let (rows, step) = optimizer.step(search, number - 1, placed, rows);
        if reads_one_row(&step) {
            steps.list.push(step);
            steps.rows = rows;
            number = 0;
        }
    }
    steps
}

/// Reading all of a table by an index that may be used for ORDER BY, or for groups.
pub(super) fn whole_indexes(
    optimizer: &mut Optimizer<'_>,
    number: usize,
    for_groups: bool,
) -> Vec<Candidate> {
    let bound = &optimizer.block.tables[number];
    let Source::Base(table) = &bound.source else { return Vec::new() };
    let (table, limits) = (table.clone(), bound.limits.clone());
    let statistics = optimizer.statistics(&table);
    let needs_row = needs_row(optimizer.block, number);
    let mut found = Vec::new();
    for index in 0..table.indexes().len() {
        let Some(definition) = plain_index(&table, index) else { continue };
        if !limits.allows_for_order(&definition.name, for_groups) {
            continue;
        }
        let covering = index != 0 && !needs_row && optimizer.is_covered(number, &table, index);
        found.push(Candidate::whole(&table, &statistics, index, covering));
    }
    found
}

fn reads_one_row(step: &Step) -> bool {
    step.candidate.as_ref().is_some_and(|candidate| candidate.path.single_row)
}

/// The first step that may read several rows.
fn leading_step(steps: &[Step]) -> Option<usize> {
    steps.iter().position(|step| !reads_one_row(step))
}
