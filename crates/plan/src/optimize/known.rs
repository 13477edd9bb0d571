//! What of a query's rows is known before it runs: MySQL reads the tables that a unique key leaves one row of while it
//! optimises, and finds out which conditions on an index no key meets. What is computed of such rows alone needs no
//! temporary table, which clients see in the types of columns. Main function: [`Binder::known_rows`].

use crate::bind::{Binder, Block, JoinTree, Source, is_never};
use crate::optimize::access::Candidate;
use crate::physical::KeyCondition;
use crate::range::key_ranges;
use engine::Table;
use expression::operators::ComparisonOperator;
use expression::{Expression, ExpressionKind, SubqueryUse, TypeClass};
use std::sync::Arc;

/// The protocol's flag of a column of the primary key.
const PRI_KEY: u16 = 2;

/// What is known before the query runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownRows {
    /// No row comes out of the joins.
    pub none: bool,
    /// Tables that give one row, or in an outer join none, as bits.
    pub fixed: u64,
    /// Slots of columns that WHERE sets equal to constants.
    pub equal: Vec<usize>,
    /// Conditions that ask for a row of a subquery: MySQL joins with the subquery's tables.
    pub semijoins: usize,
    /// Conditions that a subquery has no such row, or one that is looked up by a primary key.
    pub lookups: usize,
}

/// How many rows of a table conditions leave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// None, whatever rows there are: no key of an index meets the conditions.
    Impossible,
    /// The one that a unique key could have is not there.
    Missing,
    One,
    Unknown,
}

/// A table with the conditions that its rows must meet to be joined.
struct Joined<'t> {
    table: usize,
    conditions: Vec<&'t Expression>,
    /// Whether rows without one of this table's come out nevertheless.
    optional: bool,
}

impl Binder<'_> {
    /// What is known of the rows of FROM and WHERE, whose conditions are settled.
    pub fn known_rows(&mut self, tree: Option<&JoinTree>, conditions: &[Expression]) -> KnownRows {
        let mut known = KnownRows::default();
        let Some(tree) = tree else { return known };
        for found in conditions.iter().filter_map(|condition| self.is_semijoin(condition)) {
            *if found { &mut known.semijoins } else { &mut known.lookups } += 1;
        }
        let mut tables = Vec::new();
        collect(self.block(), tree, &conditions.iter().collect::<Vec<_>>(), false, &mut tables);
        known.none =
            tables.iter().any(|joined| !joined.optional && joined.conditions.iter().any(|c| is_never(c)));
        for joined in &tables {
            if !joined.optional {
                known
                    .equal
                    .extend(joined.conditions.iter().filter_map(|condition| slot_of_equality(condition)));
            }
            match (self.rows_left(joined), joined.optional) {
                (Left::Impossible | Left::Missing, false) => known.none = true,
                (Left::Missing | Left::One, _) => known.fixed |= 1 << joined.table,
                _ if joined.conditions.iter().any(|condition| is_never(condition)) => {
                    known.fixed |= 1 << joined.table;
                }
                (Left::Impossible | Left::Unknown, _) => {}
            }
        }
        known
    }

    /// Whether a condition is a join with the tables of a subquery that sends rows through a temporary table; Some(false) if it
    /// is one without: rows of a primary key are looked up, or must not be there.
    fn is_semijoin(&self, condition: &Expression) -> Option<bool> {
        match &condition.kind {
            ExpressionKind::Subquery(call) => match call.wanted {
                SubqueryUse::In => Some(!self.shows_primary_key(call.id)),
                SubqueryUse::Exists => Some(true),
                SubqueryUse::NotIn => Some(false),
                _ => None,
            },
            ExpressionKind::Not(inner) => match &inner.kind {
                ExpressionKind::Subquery(call) if call.wanted == SubqueryUse::Exists => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    fn shows_primary_key(&self, subquery: usize) -> bool {
        let column = self.subqueries.get(subquery).and_then(|subquery| subquery.query.columns.first());
        column.and_then(|column| column.origin.as_ref()).is_some_and(|origin| origin.flags & PRI_KEY != 0)
    }

    fn rows_left(&mut self, joined: &Joined<'_>) -> Left {
        let table = match &self.block().tables[joined.table].source {
            Source::Base(table) => table.clone(),
            Source::Derived(query, _) if query.root.is_one_row() => return Left::One,
            _ => return Left::Unknown,
        };
        let mut candidates = self.candidates(joined.table, &joined.conditions, 0);
        if joined.conditions.len() > 1 {
            for condition in &joined.conditions {
                candidates.extend(self.candidates(joined.table, &[condition], 0));
            }
        }
        let mut left = Left::Unknown;
        for candidate in candidates {
            match self.rows_of_path(&table, &candidate) {
                Left::Unknown => {}
                Left::One => left = Left::One,
                none => return none,
            }
        }
        left
    }

    fn rows_of_path(&mut self, table: &Arc<Table>, candidate: &Candidate) -> Left {
        let path = &candidate.path;
        if candidate.dependent || path.ranges.is_none() {
            return Left::Unknown;
        }
        let warnings = self.input.context.diagnostics().clone();
        let ranges = key_ranges(table, path, &[], self.input.context);
        *self.input.context.diagnostics() = warnings;
        let Ok(ranges) = ranges else { return Left::Unknown };
        let is_point = path.single_row || table.indexes()[path.index].is_unique() && is_one_value(candidate);
        match ranges.as_slice() {
            [] => Left::Impossible,
            [range] if is_point => match self.input.engine.estimate_range(table, path.index, range) {
                Ok(0) => Left::Missing,
                Ok(_) => Left::One,
                Err(_) => Left::Unknown,
            },
            _ => Left::Unknown,
        }
    }
}

/// The slot of the column that a condition sets equal to a constant.
fn slot_of_equality(condition: &Expression) -> Option<usize> {
    let constant = |column: &Expression, other: &Expression| {
        column.column_slot().filter(|_| other.is_constant() && column.result.class() != TypeClass::Text)
    };
    match &condition.kind {
        ExpressionKind::Compare(comparison) if comparison.operator == ComparisonOperator::Equal => {
            let (left, right) = (&comparison.left, &comparison.right);
            constant(left, right).or_else(|| constant(right, left))
        }
        ExpressionKind::Between(between) if !between.negated && between.low.1.same(&between.high.1) => {
            constant(&between.operand, &between.low.1)
        }
        _ => None,
    }
}

/// Whether the ranges are one whose bounds are the same value of the index's only part.
fn is_one_value(candidate: &Candidate) -> bool {
    let Some([conditions]) = candidate.path.ranges.as_deref() else { return false };
    match conditions.as_slice() {
        [KeyCondition::Range { low: Some((low, true)), high: Some((high, true)) }] => low.same(high),
        _ => false,
    }
}

/// Gathers the tables below a node. `filters` hold for all rows that come out of the node.
fn collect<'t>(
    block: &Block,
    tree: &'t JoinTree,
    filters: &[&'t Expression],
    optional: bool,
    found: &mut Vec<Joined<'t>>,
) {
    match tree {
        JoinTree::Table(table) => {
            found.push(Joined { table: *table, conditions: filters.to_vec(), optional });
        }
        JoinTree::Join { left, right, outer, conditions, .. } => {
            let right_tables = right.tables();
            let outer = *outer && !filters.iter().any(|filter| block.rejects_null(filter, right_tables));
            let both = || filters.iter().copied().chain(conditions).collect::<Vec<_>>();
            if outer {
                collect(block, left, filters, optional, found);
                collect(block, right, &conditions.iter().collect::<Vec<_>>(), true, found);
            } else {
                collect(block, left, &both(), optional, found);
                collect(block, right, &both(), optional, found);
            }
        }
    }
}
