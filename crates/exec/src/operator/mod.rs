//! Physical operators, one a file. Main trait: [`Operator`]; [`open`] makes the operators of a plan's tree. An
//! execution is single-threaded; operators borrow the plan and get the [`Run`] with each call.

mod aggregate;
mod aggregate_state;
mod direct;
mod group;
mod group_order;
mod hash_join;
mod json_rows;
pub(crate) mod lateral;
pub(crate) mod limit;
mod merge_join;
mod narrowing;
mod nested_loop;
mod project;
pub(crate) mod recursive;
mod row_order;
mod set_operation;
mod sort;
mod source;
pub(crate) mod subquery;
mod subquery_groups;
mod subquery_set;
pub(crate) mod table;
mod union_keys;
pub(crate) mod virtual_table;
mod window;

pub(crate) use spill::keys::{append_key, append_place, append_sort_key, compare_rows};

use crate::actuals::Measured;
use crate::batch::RowBatch;
use crate::run::Run;
use crate::spill::RowStore;
pub(crate) use crate::spill::key_counts::KeyCounts;
use errors::SqlResult;
use expression::EvaluationContext;
use plan::physical::{JoinKind, Node};
use std::rc::Rc;
use values::RowRef;

/// A source of rows.
pub trait Operator {
    /// Replaces the contents of the batch by the next rows. False at the end: the batch is then empty. An operator that makes its
    /// rows one by one makes no more than the batch wants ([`RowBatch::want`]), and wants no more of its input than that takes.
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool>;

    /// Says before the first row that only rows are wanted whose integer in a slot is among others. Others may still come. Asked where
    /// [`narrowing::may_narrow`] says that nobody can tell.
    fn narrow(&mut self, _slot: usize, _keys: &Rc<KeyCounts>) {}
}

/// The operators of a tree. Each is measured if the statement is.
pub fn open<'p>(node: &'p Node, run: &Run<'_, '_>) -> Box<dyn Operator + 'p> {
    let operator = open_unmeasured(node, run);
    // What reads a table counts by itself: its conditions are checked where it reads.
    if run.actuals.is_none() || matches!(node, Node::Table(_) | Node::Virtual(_) | Node::Lateral(_)) {
        return operator;
    }
    Box::new(Measured::new(node, operator))
}

fn open_unmeasured<'p>(node: &'p Node, run: &Run<'_, '_>) -> Box<dyn Operator + 'p> {
    match node {
        Node::Nothing => Box::new(source::Nothing),
        Node::OneRow { width } => Box::new(source::OneRow::new(*width, false)),
        Node::OuterRow { width } => Box::new(source::OneRow::new(*width, true)),
        Node::Values { rows } => Box::new(source::ValuesRows::new(rows)),
        Node::Table(access) => Box::new(nested_loop::ReaderScan::new(table::TableReader::new(access))),
        Node::Virtual(access) => {
            Box::new(nested_loop::ReaderScan::new(virtual_table::VirtualReader::new(access)))
        }
        Node::Derived(access) => Box::new(source::Derived::new(access)),
        Node::NestedLoop(join) => {
            Box::new(nested_loop::NestedLoopJoin::new(join, table::TableReader::new(&join.inner), run))
        }
        Node::VirtualLoop(join) => {
            let inner = virtual_table::VirtualReader::new(&join.inner);
            Box::new(nested_loop::NestedLoopJoin::new(join, inner, run))
        }
        Node::Lateral(access) => Box::new(nested_loop::ReaderScan::new(lateral::LateralReader::new(access))),
        Node::LateralLoop(join) => {
            Box::new(nested_loop::NestedLoopJoin::new(join, lateral::LateralReader::new(&join.inner), run))
        }
        Node::TreeLoop(join) => {
            let is_enough = matches!(join.kind, JoinKind::Semi | JoinKind::Anti);
            let inner = lateral::TreeReader::new(&join.inner, is_enough);
            Box::new(nested_loop::NestedLoopJoin::new(join, inner, run))
        }
        Node::HashJoin(join) => Box::new(hash_join::HashJoinRun::new(join, run)),
        Node::Filter { input, conditions } => Box::new(project::Filter::new(open(input, run), conditions)),
        Node::Aggregate(step) if step.in_order && run.statement.settings.fast_plans => {
            Box::new(group_order::GroupsInOrder::new(step))
        }
        Node::Aggregate(step) => Box::new(aggregate::Aggregation::new(step)),
        Node::Window(step) => Box::new(window::Window::new(step, run)),
        Node::Count(access) => Box::new(source::Count::new(access)),
        Node::Project { input, expressions } => {
            Box::new(project::Project::new(open(input, run), expressions))
        }
        Node::Distinct { input, columns } => Box::new(project::Distinct::new(open(input, run), columns)),
        Node::Sort { input, keys, limit } => {
            Box::new(sort::Sort::new(open(input, run), keys, limit.as_ref()))
        }
        Node::Limit { input, limit, count_all } => {
            Box::new(limit::Limit::new(open(input, run), limit, *count_all))
        }
        Node::SetOperation(operation) => Box::new(set_operation::SetOperationRun::new(operation)),
        Node::Append(inputs) => Box::new(set_operation::Append::new(inputs)),
        Node::Recursive(recursive) => Box::new(recursive::RecursiveRun::new(recursive)),
        Node::RecursiveInput { id, columns, width } => {
            Box::new(recursive::RecursiveInput::new(*id, columns, *width))
        }
    }
}

/// Rows of expressions over those of a tree.
pub fn open_projection<'p>(
    input: &'p Node,
    expressions: &'p [expression::Expression],
    run: &Run<'_, '_>,
) -> Box<dyn Operator + 'p> {
    Box::new(project::Project::new(open(input, run), expressions))
}

/// All rows of a tree, for statements that must have them all before they go on.
pub fn collect(node: &Node, run: &mut Run<'_, '_>) -> SqlResult<RowStore> {
    let mut operator = open(node, run);
    let mut batch = run.batch();
    let mut rows = run.row_store();
    while operator.next(run, &mut batch)? {
        run.check_killed()?;
        for row in batch.iter() {
            rows.push(row)?;
        }
    }
    Ok(rows)
}

/// Whether all conditions hold for a row.
pub(crate) fn all_hold(
    conditions: &[expression::Expression],
    row: RowRef<'_>,
    run: &mut Run<'_, '_>,
) -> SqlResult<bool> {
    for condition in conditions {
        if !condition.holds(row, run)? {
            return Ok(false);
        }
    }
    Ok(true)
}
