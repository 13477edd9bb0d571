//! How many rows come out of joins: rows of a table after its own conditions, and the share of pairs that a condition between
//! tables leaves, by the numbers of different values that the indexes have. The same tables give the same number in any order.

use super::access::{Candidate, selectivity, table_rows};
use super::join::{Content, Member};
use crate::{Derived, Optimizer, Source, tables_of};
use engine::Distribution;
use expression::operators::ComparisonOperator;
use expression::{Expression, ExpressionKind};
use plan::physical::ROWS_UNKNOWN;
use std::sync::Arc;
use stdx::ids::TableId;

/// Rows for each different value of a column that no index begins with.
const ROWS_PER_VALUE: f64 = 10.0;

/// Rows of a member of a group of joins.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberRows {
    /// All of them.
    pub total: f64,
    /// Those that meet the conditions on the member alone.
    pub own: f64,
}

impl Optimizer<'_> {
    /// Statistics of a base table of the block, asked for once a statement.
    pub(super) fn statistics(&mut self, table: &Arc<engine::Table>) -> Arc<Distribution> {
        let id: TableId = table.id();
        if let Some((_, known)) = self.statistics.iter().find(|(known, _)| *known == id) {
            return known.clone();
        }
        let found = self.engine.distribution(table);
        self.statistics.push((id, found.clone()));
        found
    }

    /// The rows of a member with these conditions of its own; `scans`: the ways to read it that depend on no other table.
    pub(super) fn rows_of_member(
        &mut self,
        member: &Member,
        nest_rows: Option<f64>,
        own: &[&Expression],
        scans: &[Candidate],
    ) -> MemberRows {
        let total = match (&member.content, nest_rows) {
            // The rows of a nest have met its conditions.
            (_, Some(rows)) => return MemberRows { total: rows, own: rows },
            (Content::Nest(_), None) => ROWS_UNKNOWN,
            (Content::Table(table), None) => match &self.block.tables[*table].source {
                Source::Base(base) => {
                    let base = base.clone();
                    table_rows(&self.statistics(&base))
                }
                Source::Derived(Derived::Planned(plan), _) => plan.rows,
                Source::JsonTable(_) => plan::json_table::ROWS_GUESSED,
                _ => ROWS_UNKNOWN,
            },
        };
        let share: f64 = own.iter().map(|condition| self.share_of_rows(condition)).product();
        let counted = match &member.content {
            Content::Table(table) => self.rows_by_index(*table, scans, own),
            Content::Nest(_) => None,
        };
        // Ranges of values of an enclosing query: so many for one of them.
        let asked = scans.iter().filter(|scan| scan.dependent).map(|scan| scan.rows);
        let own = counted.unwrap_or_else(|| asked.fold(total * share, f64::min));
        MemberRows { total, own: own.clamp(0.1, total.max(0.1)) }
    }

    /// Rows that meet the conditions on one table, if an index has counted some of them: the range with the most key parts
    /// is taken at its word, and only conditions on other columns are guessed.
    fn rows_by_index(
        &mut self,
        table: usize,
        candidates: &[Candidate],
        conditions: &[&Expression],
    ) -> Option<f64> {
        let parts = |candidate: &&Candidate| candidate.path.ranges.as_ref()?.iter().map(Vec::len).min();
        let known = candidates.iter().filter(|candidate| !candidate.dependent && parts(candidate).is_some());
        let best = known.max_by_key(parts)?;
        let block = &*self.block;
        let Source::Base(base) = &block.tables[table].source else { return None };
        let counted = &base.indexes()[best.path.index].key_columns()[..parts(&best)?];
        let slots = &block.tables[table].slots;
        let is_counted = |part: &Expression| {
            part.column_slot().is_some_and(|slot| counted.iter().any(|column| slots[*column] == Some(slot)))
        };
        let own = conditions.iter().filter(|condition| tables_of(block, condition) & !(1 << table) == 0);
        let rest: Vec<&&Expression> = own.filter(|condition| !condition.any(&is_counted)).collect();
        Some(best.rows * rest.iter().map(|condition| self.share_of_rows(condition)).product::<f64>())
    }

    /// The share of all pairs that a condition between tables leaves.
    pub(super) fn share_of_pairs(&mut self, condition: &Expression) -> f64 {
        let ExpressionKind::Compare(comparison) = &condition.kind else { return selectivity(condition) };
        if !is_equality(condition) {
            return selectivity(condition);
        }
        let left = self.distinct_values(&comparison.left);
        let right = self.distinct_values(&comparison.right);
        match (left, right) {
            (Some((left, true)), Some((right, true))) => 1.0 / left.max(right).max(1.0),
            (Some((known, true)), _) | (_, Some((known, true))) => 1.0 / known.max(1.0),
            (Some((left, _)), Some((right, _))) => 1.0 / left.max(right).max(1.0),
            (Some((guess, _)), None) | (None, Some((guess, _))) => 1.0 / guess.max(1.0),
            (None, None) => selectivity(condition),
        }
    }

    /// The share of rows that a condition on one table leaves: by the number of different values where it asks for one, or for some.
    fn share_of_rows(&mut self, condition: &Expression) -> f64 {
        match &condition.kind {
            ExpressionKind::Compare(comparison) => {
                let (left, right) = (comparison.left.column_slot(), comparison.right.column_slot());
                let column = match (left, right) {
                    (Some(_), None) => &comparison.left,
                    (None, Some(_)) => &comparison.right,
                    _ => return selectivity(condition),
                };
                let Some((values, true)) = self.distinct_values(column) else {
                    return selectivity(condition);
                };
                match comparison.operator {
                    ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual => 1.0 / values.max(1.0),
                    ComparisonOperator::NotEqual => 1.0 - 1.0 / values.max(2.0),
                    _ => selectivity(condition),
                }
            }
            ExpressionKind::In(list) if !list.negated && list.operand.column_slot().is_some() => {
                match self.distinct_values(&list.operand) {
                    Some((values, true)) => (list.list.len() as f64 / values.max(1.0)).min(1.0),
                    _ => selectivity(condition),
                }
            }
            ExpressionKind::And(terms) => terms.iter().map(|term| self.share_of_rows(term)).product(),
            ExpressionKind::Or(terms) => {
                terms.iter().map(|term| self.share_of_rows(term)).sum::<f64>().min(1.0)
            }
            _ => selectivity(condition),
        }
    }

    /// How many different values a column has, and whether that was counted.
    fn distinct_values(&mut self, column: &Expression) -> Option<(f64, bool)> {
        let block = &*self.block;
        let (table, position) = block.place(column)?;
        match &block.tables[table].source {
            Source::Base(base) => {
                let base = base.clone();
                let statistics = self.statistics(&base);
                let begins = |index: &usize| {
                    let counts_rows = !base.indexes()[*index].is_multi_valued();
                    base.indexes()[*index].definition(&base).filter(|_| counts_rows).is_some_and(
                        |definition| {
                            let first = definition.parts.first();
                            first.is_some_and(|part| part.column == position && part.prefix_length.is_none())
                        },
                    )
                };
                let index = (0..base.indexes().len()).find(begins);
                let by_index = index.and_then(|index| statistics.distinct.get(index)?.first().copied());
                let found = by_index.or_else(|| statistics.column_values.get(position).copied());
                Some(match found {
                    Some(values) => (values as f64, true),
                    None => ((table_rows(&statistics) / ROWS_PER_VALUE).max(ROWS_PER_VALUE), false),
                })
            }
            Source::Derived(Derived::Planned(plan), _) => Some((plan.rows.max(1.0), false)),
            _ => None,
        }
    }
}

pub(super) fn is_equality(condition: &Expression) -> bool {
    matches!(&condition.kind, ExpressionKind::Compare(comparison)
        if matches!(comparison.operator, ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual))
}
