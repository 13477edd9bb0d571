//! Subqueries that MySQL runs while it optimises: what reads nothing of the rows around it is a constant to it, so it looks
//! for the keys that a column beside it may have, and finds conditions that cannot hold. It optimises when all is bound, from
//! the outside, and leaves queries alone that nobody asks for. A statement that has such subqueries is therefore bound twice:
//! they run in the second binding, where the first found no mistake. Main type: [`EarlyRuns`]; main function:
//! [`run_early`].

use super::join_buffer::asks_index;
use super::known_values::KnownValues;
use crate::{Survey, fails, is_known, is_never, tables_of};
use errors::SqlResult;
use expression::{Expression, ExpressionKind, SubqueryUse};
use plan::{Plan, PlanKind, PlanningSurroundings, PrivilegesNeeded};

/// Which subqueries run while the statement is planned. Queries go by the numbers of their blocks, which both bindings give alike.
#[derive(Debug, Default)]
pub struct EarlyRuns {
    /// Whether this is the second binding.
    runs: bool,
    /// Whether the first binding met a subquery that is to run.
    wanted: bool,
    /// First and last of blocks that are not optimised.
    idle: Vec<(u32, u32)>,
    /// Queries in FROM: the block that reads it, with the first and the last of its own.
    derived: Vec<(u32, u32, u32)>,
}

impl EarlyRuns {
    /// What the second binding goes by; None if one is enough.
    pub fn for_second_binding(&self) -> Option<EarlyRuns> {
        let idle = || self.idle.clone();
        self.wanted.then(|| EarlyRuns { runs: true, wanted: false, idle: idle(), derived: Vec::new() })
    }

    /// Whether the first binding has met a subquery that is to run.
    pub fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// A query in FROM of the block `reader`: MySQL optimises it before it asks whether rows are wanted.
    pub fn add_derived(&mut self, reader: u32, (first, last): (u32, u32)) {
        self.derived.push((reader, first, last));
    }

    /// No subquery of these blocks runs.
    pub fn leave_out(&mut self, first: u32, last: u32) {
        self.idle.push((first, last));
    }

    fn is_idle(&self, block: u32) -> bool {
        self.idle.iter().any(|(first, last)| (*first..=*last).contains(&block))
    }

    /// Leaves out the blocks below `outer`, the last of which is `last`, but for its queries in FROM and those with a number in
    /// `kept`.
    fn leave_out_below(&mut self, outer: u32, last: u32, kept: &[u32]) {
        let derived = |block: u32| {
            let mut of_outer = self.derived.iter().filter(|(reader, ..)| *reader == outer);
            of_outer.any(|(_, first, last)| (*first..=*last).contains(&block))
        };
        let left: Vec<u32> =
            (outer + 1..=last).filter(|block| !derived(*block) && !kept.contains(block)).collect();
        left.into_iter().for_each(|block| self.leave_out(block, block));
    }
}

/// What a block that gives no row, whatever rows there are (`always`) or because of those that there are, means for the
/// subqueries of the statement: its own do not run, and those in it are not asked for.
pub fn leave_out_unasked(survey: &mut Survey<'_>, last: u32, always: bool, conditions: &[Expression]) {
    let block = survey.optimizer.block.number;
    if always {
        survey.early.leave_out(block, block);
    }
    // Conditions that read no row are looked at before rows are, and tables of what is IN or EXISTS are joined.
    let mut asked = Vec::new();
    for condition in conditions.iter().filter(|_| !always) {
        let is_joined = matches!(condition.kind, ExpressionKind::Subquery(_));
        if is_joined || tables_of(survey.optimizer.block, condition) == 0 {
            add_subqueries(condition, &mut asked);
        }
    }
    let kept: Vec<u32> = asked.iter().filter_map(|id| survey.subqueries[*id].query.block).collect();
    survey.early.leave_out_below(block, last, &kept);
}

/// Whether a condition on groups, which is not settled, holds for none.
pub fn holds_for_no_group(condition: &Expression, context: &mut dyn PlanningSurroundings) -> bool {
    let is_plain = || !condition.any(&|part| matches!(part.kind, ExpressionKind::Function(_)));
    is_never(condition) || is_known(condition) && is_plain() && fails(condition, context)
}

/// Runs the subqueries of a condition on a table whose values matter before rows are read: where the condition reads no row,
/// and where it asks an index for keys. The plan is one for this execution then, which finds their values in it. What they
/// report is reported.
pub(super) fn run_early(
    survey: &mut Survey<'_>,
    table: usize,
    condition: &Expression,
    known: &mut KnownValues,
) -> SqlResult<()> {
    let has_subquery = || condition.any(&|part| matches!(part.kind, ExpressionKind::Subquery(_)));
    if !has_subquery() || !survey.may_run {
        return Ok(());
    }
    let whole = tables_of(survey.optimizer.block, condition) == 0;
    if !whole && !asks_index(survey.optimizer.block, table, condition) {
        return Ok(());
    }
    let block = survey.optimizer.block.number;
    if survey.early.is_idle(block) {
        return Ok(());
    }
    if !survey.early.runs {
        survey.early.wanted = true;
        return Ok(());
    }
    let mut calls = Vec::new();
    gather(condition, whole, &mut calls);
    for (id, shown) in calls {
        if known.has_subquery(id) {
            continue;
        }
        let plan = plan_of_subqueries(survey);
        let value = survey.optimizer.context.run_subquery(&plan, id);
        *survey.subqueries = plan.subqueries;
        let value = value?;
        *survey.volatile = true;
        survey.subqueries[id].known = Some(value.clone());
        known.keep_subquery(id, Expression::constant(value, shown.result));
    }
    Ok(())
}

/// A plan that holds nothing but the subqueries that are bound so far. They are to be put back.
fn plan_of_subqueries(survey: &mut Survey<'_>) -> Plan {
    Plan {
        kind: PlanKind::Do(Vec::new()),
        subqueries: std::mem::take(survey.subqueries),
        asked_first: Vec::new(),
        privileges: PrivilegesNeeded::new(Vec::new()),
        tables: Vec::new(),
        cascades: Vec::new(),
        volatile: true,
        clock_calls: 0,
        reads_elsewhere: true,
        row_by_row: survey.optimizer.assigns || survey.calls_routines,
        calls_routines: survey.calls_routines,
        repeatable: false,
        sites: survey.sites,
        recursions: 0,
        common_tables: Vec::new(),
        parameters: Vec::new(),
        checked_parameters: Vec::new(),
        listed: Vec::new(),
        explain: Vec::new(),
    }
}

/// The subqueries of a condition that give one value for all rows. EXISTS is one where it is only negated; `whole`: the condition
/// reads no row.
fn gather(part: &Expression, whole: bool, found: &mut Vec<(usize, Expression)>) {
    match &part.kind {
        ExpressionKind::Subquery(call) => {
            let is_value = call.wanted == SubqueryUse::Scalar && call.part.is_none();
            if is_value && call.outer.is_empty() && !call.repeats {
                found.push((call.id, part.clone()));
            }
        }
        ExpressionKind::Not(inner) if whole && is_lone_exists(inner) => {
            if let ExpressionKind::Subquery(call) = &inner.kind {
                found.push((call.id, (**inner).clone()));
            }
        }
        _ => part.for_each_child(&mut |child| gather(child, whole, found)),
    }
}

fn add_subqueries(part: &Expression, found: &mut Vec<usize>) {
    if let ExpressionKind::Subquery(call) = &part.kind {
        found.push(call.id);
    }
    part.for_each_child(&mut |child| add_subqueries(child, found));
}

fn is_lone_exists(part: &Expression) -> bool {
    matches!(&part.kind, ExpressionKind::Subquery(call)
        if call.wanted == SubqueryUse::Exists && call.outer.is_empty() && !call.repeats)
}
