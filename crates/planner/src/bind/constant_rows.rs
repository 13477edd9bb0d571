//! Dates beside texts of rows that MySQL reads before all others: the row that a unique key leaves of a table. What such a row
//! holds is a constant to it, and of a constant the time counts, which is left out where both sides are read row by row.
//! Main function: [`Binder::keep_times`].

use super::Binder;
use ::expression::operators::ComparisonMode;
use ::expression::{Expression, ExpressionKind};
use optimizer::{JoinTree, constant_tables, is_known_now, tables_of};
use plan::physical::{Node, TableAccess};

impl Binder<'_> {
    /// Compares dates with texts by their time where one of them is of a row that is read before all others. `others`:
    /// expressions over the rows beside the conditions.
    pub(crate) fn keep_times(
        &mut self,
        tree: Option<&mut JoinTree>,
        conditions: &mut [Expression],
        others: &mut [&mut Expression],
    ) {
        let Some(tree) = tree else { return };
        let compares = |expression: &Expression| expression.any(&|part| self.is_date_comparison(part));
        let may = conditions.iter().any(compares)
            || others.iter().any(|other| compares(other))
            || tree.has_condition(&compares);
        if !may {
            return;
        }
        let constant = constant_tables(&mut self.optimizer(), tree, conditions);
        if constant == 0 {
            return;
        }
        conditions.iter_mut().for_each(|condition| self.keep_times_in(condition, constant));
        others.iter_mut().for_each(|other| self.keep_times_in(other, constant));
        tree.for_each_condition(&mut |condition| self.keep_times_in(condition, constant));
    }

    fn is_date_comparison(&self, part: &Expression) -> bool {
        match &part.kind {
            ExpressionKind::Compare(comparison) => comparison.mode == ComparisonMode::Date,
            ExpressionKind::Subquery(call) => {
                self.subqueries[call.id].comparisons.iter().any(|(mode, _)| *mode == ComparisonMode::Date)
            }
            _ => false,
        }
    }

    fn keep_times_in(&mut self, expression: &mut Expression, constant: u64) {
        expression.for_each_child_mut(&mut |child| self.keep_times_in(child, constant));
        let block = self.blocks.last();
        let is_constant = |side: &Expression| {
            let tables = block.map_or(0, |block| tables_of(block, side));
            tables != 0 && tables & !constant == 0
        };
        match &mut expression.kind {
            ExpressionKind::Compare(comparison)
                if comparison.mode == ComparisonMode::Date
                    && (is_constant(&comparison.left) || is_constant(&comparison.right)) =>
            {
                comparison.mode = ComparisonMode::DateTime;
            }
            ExpressionKind::Subquery(call) => {
                let operands = call.operands.iter().map(is_constant).collect::<Vec<bool>>();
                let comparisons = &mut self.subqueries[call.id].comparisons;
                for ((mode, _), _) in comparisons.iter_mut().zip(operands).filter(|(_, constant)| *constant) {
                    if *mode == ComparisonMode::Date {
                        *mode = ComparisonMode::DateTime;
                    }
                }
            }
            _ => {}
        }
    }
}

/// The columns of a subquery that show only what is read before all other rows.
pub(super) fn constant_columns(root: &Node) -> Vec<bool> {
    match root {
        Node::Project { input, expressions } => {
            let mut slots = Vec::new();
            constant_slots(input, &mut slots);
            let is_constant = |shown: &Expression| {
                let read = shown.slots();
                !read.is_empty() && read.iter().all(|slot| slots.contains(slot))
            };
            expressions.iter().map(is_constant).collect()
        }
        Node::Filter { input, .. } | Node::Distinct { input, .. } | Node::Sort { input, .. } => {
            constant_columns(input)
        }
        _ => Vec::new(),
    }
}

fn constant_slots(node: &Node, found: &mut Vec<usize>) {
    let mut of_table = |access: &TableAccess| {
        let ranges = access.path.ranges.iter().flatten().flatten();
        if access.path.single_row && ranges.into_iter().all(is_known_now) {
            found.extend(access.columns.iter().map(|(_, slot)| *slot));
        }
    };
    match node {
        Node::Table(access) => of_table(access),
        Node::NestedLoop(join) => {
            of_table(&join.inner);
            constant_slots(&join.outer, found);
        }
        Node::VirtualLoop(join) => constant_slots(&join.outer, found),
        Node::HashJoin(join) => {
            constant_slots(&join.probe, found);
            constant_slots(&join.build, found);
        }
        Node::Filter { input, .. } => constant_slots(input, found),
        _ => {}
    }
}
