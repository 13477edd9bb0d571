//! Whether an index gives the rows of the first table in the order that ORDER BY wants.

use super::JoinGoal;
use super::access::{Candidate, table_rows};
use crate::bind::{Binder, Source};
use crate::physical::{AccessPath, KeyCondition, SortKey};
use dictionary::IndexDefinition;
use expression::{Expression, ExpressionKind};

impl Binder<'_> {
    /// Makes the access of the first table ordered where that costs nothing, or less than a sort for a few rows.
    pub(super) fn order_by_index(
        &mut self,
        number: usize,
        candidate: &mut Option<Candidate>,
        goal: &JoinGoal,
        single: bool,
        conditions: &[Expression],
    ) -> bool {
        let Some(chosen) = candidate.as_mut() else { return false };
        let Source::Base(table) = &self.block().tables[number].source else { return false };
        let table = table.clone();
        if chosen.path.single_row && !chosen.dependent {
            return true;
        }
        let index = &table.indexes()[chosen.path.index];
        if index.orders_rows()
            && let Some(definition) = index.definition(&table).cloned()
        {
            let fixed = chosen.path.ranges.as_ref().map_or(Some(0), |ranges| fixed_parts(ranges));
            if let Some(fixed) = fixed
                && let Some(backward) = self.index_order(number, &definition, fixed, &goal.order)
            {
                chosen.path.backward = backward;
                chosen.path.ordered = true;
                return true;
            }
        }
        let Some(wanted) = goal.rows_wanted.filter(|_| single) else { return false };
        let total = table_rows(&self.statistics(&table));
        let passing = if conditions.is_empty() { total } else { chosen.rows * 0.5 }.max(1.0);
        let read = (wanted * total / passing).min(total);
        for index in 0..table.indexes().len() {
            let Some(definition) = table.indexes()[index].definition(&table).cloned() else { continue };
            if definition.invisible || !table.indexes()[index].orders_rows() {
                continue;
            }
            let Some(backward) = self.index_order(number, &definition, 0, &goal.order) else { continue };
            let covering = index != 0 && !self.needs_row(number) && self.is_covered(number, &table, index);
            let per_row = if index == 0 || covering { 1.0 } else { 2.5 };
            if read * per_row > chosen.cost + chosen.rows {
                continue;
            }
            chosen.path =
                AccessPath { index, ranges: None, backward, covering, single_row: false, ordered: true };
            chosen.rows = read;
            return true;
        }
        false
    }

    /// Whether an index yields that order when its first `fixed` parts are constant: Some(backward).
    fn index_order(
        &mut self,
        number: usize,
        index: &IndexDefinition,
        fixed: usize,
        order: &[SortKey],
    ) -> Option<bool> {
        let block = self.block();
        let mut part = 0;
        let mut backward = None;
        for key in order {
            let ExpressionKind::Column(column) = &key.expression.kind else { return None };
            let (table, position) = *block.slots.get(column.slot)?;
            if table != number {
                return None;
            }
            // A key that is constant orders nothing.
            if index.parts[..fixed].iter().any(|part| part.column == position) {
                continue;
            }
            part = part.max(fixed);
            let index_part = index.parts.get(part)?;
            if index_part.column != position || index_part.prefix_length.is_some() {
                return None;
            }
            let reverse = key.descending != index_part.descending;
            if *backward.get_or_insert(reverse) != reverse {
                return None;
            }
            part += 1;
        }
        Some(backward.unwrap_or(false))
    }
}

/// How many first parts are one constant each; None when several ranges would interleave.
fn fixed_parts(ranges: &[Vec<KeyCondition>]) -> Option<usize> {
    let [conditions] = ranges else { return None };
    let single =
        |condition: &&KeyCondition| matches!(condition, KeyCondition::Points(points) if points.len() == 1);
    let fixed = conditions.iter().take_while(single).count();
    // IN lists behind the constants still come in key order, because ranges are read sorted.
    Some(fixed)
}
