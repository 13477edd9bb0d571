//! What of a query's rows is known before it runs: MySQL reads the tables that a unique key leaves one row of while it
//! optimises, and finds out which conditions on an index no key meets. What is computed of such rows alone needs no
//! temporary table, which clients see in the types of columns. Main function: [`Binder::known_rows`].

use crate::bind::{Binder, Block, JoinTree, Source, is_known, is_never};
use crate::optimize::access::{Candidate, selectivity};
use crate::optimize::known_values::KnownValues;
use crate::optimize::tables_of;
use crate::physical::{AccessPath, KeyCondition, Node};
use engine::Table;
use expression::operators::ComparisonOperator;
use expression::{Expression, ExpressionKind, SubqueryUse, TypeClass};
use std::borrow::Cow;
use std::sync::Arc;

/// The protocol's flag of a column of the primary key.
const PRI_KEY: u16 = 2;

/// Rows of a subquery from which on its primary key is looked up, and from which on its rows are put into a table to be looked
/// up, by as many rows as that.
const KEYS_LOOKED_UP_MIN: f64 = 4.5;
const ROWS_LOOKED_UP_MIN: f64 = 6.3;
const OUTER_ROWS_MIN: u64 = 5;

/// What is known before the query runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownRows {
    /// No row comes out of the joins.
    pub none: bool,
    /// Tables that give one row, or in an outer join none, as bits.
    pub fixed: u64,
    /// Those of them that an outer join never finds a row of: a temporary table keeps their columns nevertheless.
    pub missing: u64,
    /// Tables that are looked up by an index for each row of those before, with these as bits.
    pub by_index: Vec<(usize, u64)>,
    /// Slots of columns that WHERE sets equal to constants.
    pub equal: Vec<usize>,
    /// Conditions that ask for a row of a subquery: MySQL joins with the subquery's tables.
    pub semijoins: usize,
    /// Conditions that a subquery has no such row, or one that is looked up by a primary key.
    pub lookups: usize,
    /// Tables whose rows may be missing, as bits.
    pub optional: u64,
    /// Whether a condition is that a subquery has no row, which MySQL makes an outer join.
    pub has_antijoin: bool,
}

/// How many rows of a table conditions leave.
enum Left {
    /// None, whatever rows there are: no key of an index meets the conditions.
    Impossible,
    /// The one that a unique key could have is not there.
    Missing,
    /// One at most, found by that path of a base table.
    One(Option<AccessPath>),
    Unknown,
}

/// A table with the conditions that its rows must meet to be joined.
struct Joined<'t> {
    table: usize,
    conditions: Vec<&'t Expression>,
    /// Whether rows without one of this table's come out nevertheless.
    optional: bool,
    /// Behind an outer join: the tables of its outer side that its condition reads, or all of them.
    needs: u64,
}

impl KnownRows {
    /// Whether all other open tables are looked up by an index, one after the other, once the first is read.
    pub fn looks_up_all(&self, open: u64, first: u64) -> bool {
        let mut placed = first | !open;
        loop {
            let free = self.by_index.iter().filter(|(table, _)| placed >> table & 1 == 0);
            let next = free.into_iter().find(|(_, before)| before & !placed == 0);
            match next {
                Some((table, _)) => placed |= 1 << table,
                None => return placed == u64::MAX,
            }
        }
    }
}

impl Binder<'_> {
    /// What is known of the rows of FROM and WHERE, whose conditions are settled. `reads`: rows of unique keys are read, and the
    /// plan is one for this execution then.
    pub fn known_rows(
        &mut self,
        tree: Option<&JoinTree>,
        conditions: &[Expression],
        reads: bool,
    ) -> KnownRows {
        let mut known = KnownRows::default();
        let Some(tree) = tree else { return known };
        for found in conditions.iter().filter_map(|condition| self.is_semijoin(condition)) {
            *if found { &mut known.semijoins } else { &mut known.lookups } += 1;
        }
        let mut tables = Vec::new();
        let filters: Vec<&Expression> = conditions.iter().collect();
        collect(self.block(), tree, &filters, (false, 0), &mut tables);
        known.has_antijoin = conditions.iter().any(is_antijoin);
        let optional = tables.iter().filter(|joined| joined.optional);
        known.optional = optional.fold(0, |bits, joined| bits | 1 << joined.table);
        for joined in tables.iter().filter(|joined| !joined.optional) {
            known.equal.extend(joined.conditions.iter().filter_map(|condition| slot_of_equality(condition)));
        }
        let mut rows = KnownValues::new(reads);
        loop {
            let before = known.fixed;
            for joined in &tables {
                if known.fixed & 1 << joined.table == 0 {
                    self.look_at(joined, &mut known, &mut rows);
                }
            }
            if known.none || known.fixed == before || tables.len() == 1 {
                break;
            }
        }
        for joined in tables.iter().filter(|_| tables.len() > 1) {
            let ways = self.ways_by_index(joined.table, &joined.conditions, known.fixed, joined.optional);
            known.by_index.extend(ways.into_iter().map(|before| (joined.table, before)));
        }
        known
    }

    /// Tables of which a unique key leaves one row at most, by constants or by rows of such tables, as bits.
    pub fn constant_tables(&mut self, tree: &JoinTree, conditions: &[Expression]) -> u64 {
        let mut tables = Vec::new();
        let filters: Vec<&Expression> = conditions.iter().collect();
        collect(self.block(), tree, &filters, (false, 0), &mut tables);
        let mut found = 0;
        loop {
            let before = found;
            for joined in tables.iter().filter(|joined| joined.needs & !before == 0) {
                let candidates = self.candidates(joined.table, &joined.conditions, found);
                if candidates.iter().any(|candidate| candidate.path.single_row) {
                    found |= 1 << joined.table;
                }
            }
            if found == before {
                return found;
            }
        }
    }

    /// Finds out what of a table's rows is known, with the values of those that are.
    fn look_at(&mut self, joined: &Joined<'_>, known: &mut KnownRows, rows: &mut KnownValues) {
        let mut conditions = Vec::new();
        for condition in &joined.conditions {
            let condition = rows.put_into(condition);
            let is_changed = matches!(condition, Cow::Owned(_)) && !joined.optional;
            let fails =
                is_never(condition.as_ref()) || is_changed && is_known(&condition) && self.fails(&condition);
            if fails {
                match joined.optional {
                    true => {
                        known.fixed |= 1 << joined.table;
                        known.missing |= 1 << joined.table;
                    }
                    false => known.none = true,
                }
                return;
            }
            conditions.push(condition);
        }
        let conditions: Vec<&Expression> = conditions.iter().map(Cow::as_ref).collect();
        let left = self.rows_left(joined.table, &conditions);
        match (&left, joined.optional) {
            (Left::Unknown, _) => return,
            (Left::Impossible | Left::Missing, false) => {
                known.none = true;
                return;
            }
            // MySQL reads a row of the inner side beforehand only where those of the outer side are known.
            (Left::Missing | Left::One(_), true) if joined.needs & !known.fixed != 0 => {
                known.by_index.push((joined.table, 0));
                return;
            }
            (Left::Impossible, true) => return,
            _ => {}
        }
        known.fixed |= 1 << joined.table;
        match left {
            Left::One(None) => {}
            Left::One(path) => self.keep_row(joined.table, path.as_ref(), rows),
            _ => self.keep_row(joined.table, None, rows),
        }
    }

    /// Whether a condition is a join with the tables of a subquery that sends rows through a temporary table; Some(false) if it
    /// is one without: its rows are looked up, or must not be there.
    fn is_semijoin(&mut self, condition: &Expression) -> Option<bool> {
        match &condition.kind {
            ExpressionKind::Subquery(call) => match call.wanted {
                SubqueryUse::In | SubqueryUse::Exists => Some(self.is_read_first(call.id)),
                SubqueryUse::NotIn => Some(false),
                _ => None,
            },
            _ => is_antijoin(condition).then_some(false),
        }
    }

    /// Whether MySQL reads the rows of a subquery before those of the query, or in its join buffer: where they are few. Others it
    /// looks up, by their primary key or in a table of them. The numbers are where its costs meet for small tables.
    fn is_read_first(&mut self, subquery: usize) -> bool {
        let is_key = self.shows_primary_key(subquery);
        let Some(found) = self.subqueries.get(subquery) else { return true };
        let Some((table, share)) = only_table(&found.query.root) else { return !is_key };
        let table = table.clone();
        let inner = self.input.engine.statistics(&table).rows as f64 * share;
        if is_key {
            return share < 1.0 && inner < KEYS_LOOKED_UP_MIN;
        }
        let outer = match &self.block().tables[..] {
            [only] => match &only.source {
                Source::Base(table) => table.clone(),
                _ => return true,
            },
            _ => return true,
        };
        let outer = self.input.engine.statistics(&outer).rows;
        outer < OUTER_ROWS_MIN || inner < ROWS_LOOKED_UP_MIN
    }

    fn shows_primary_key(&self, subquery: usize) -> bool {
        let column = self.subqueries.get(subquery).and_then(|subquery| subquery.query.columns.first());
        column.and_then(|column| column.origin.as_ref()).is_some_and(|origin| origin.flags & PRI_KEY != 0)
    }

    fn rows_left(&mut self, number: usize, conditions: &[&Expression]) -> Left {
        let table = match &self.block().tables[number].source {
            Source::Base(table) => table.clone(),
            Source::Derived(query, _) if query.root.is_one_row() => return Left::One(None),
            _ => return Left::Unknown,
        };
        if self.contradict_in_index(number, &table, conditions) {
            return Left::Impossible;
        }
        let mut candidates = self.candidates(number, conditions, 0);
        if conditions.len() > 1 {
            for condition in conditions {
                candidates.extend(self.candidates(number, &[condition], 0));
            }
        }
        let mut left = Left::Unknown;
        for candidate in candidates {
            match self.rows_of_path(&table, &candidate) {
                Left::Unknown => {}
                Left::One(path) => left = Left::One(path),
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
        let Some(ranges) = self.ranges_of(table, path) else { return Left::Unknown };
        let is_point = path.single_row || table.indexes()[path.index].is_unique() && is_one_value(candidate);
        match ranges.as_slice() {
            [] => Left::Impossible,
            [range] if is_point => match self.input.engine.estimate_range(table, path.index, range) {
                Ok(0) => Left::Missing,
                Ok(_) => Left::One(Some(path.clone())),
                Err(_) => Left::Unknown,
            },
            _ => Left::Unknown,
        }
    }
}

/// The table whose rows alone a node shows, and the share of them that conditions are guessed to choose.
fn only_table(node: &Node) -> Option<(&Arc<Table>, f64)> {
    // What compares with the rows of the query chooses when these are looked up.
    let is_own =
        |condition: &&Expression| !condition.any(&|part| matches!(part.kind, ExpressionKind::Outer(_)));
    let share =
        |conditions: &[Expression]| conditions.iter().filter(is_own).map(selectivity).product::<f64>();
    match node {
        Node::Project { input, .. } => only_table(input),
        Node::Filter { input, conditions } => {
            only_table(input).map(|(table, of_input)| (table, of_input * share(conditions)))
        }
        Node::Table(access) => Some((&access.table, share(&access.conditions))),
        _ => None,
    }
}

/// Whether a condition is that a subquery has no row.
fn is_antijoin(condition: &Expression) -> bool {
    let ExpressionKind::Not(inner) = &condition.kind else { return false };
    matches!(&inner.kind, ExpressionKind::Subquery(call) if call.wanted == SubqueryUse::Exists)
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

/// Gathers the tables below a node. `filters` hold for all rows that come out of the node; `needs`: see [`Joined::needs`].
fn collect<'t>(
    block: &Block,
    tree: &'t JoinTree,
    filters: &[&'t Expression],
    (optional, needs): (bool, u64),
    found: &mut Vec<Joined<'t>>,
) {
    match tree {
        JoinTree::Table(table) => {
            found.push(Joined { table: *table, conditions: filters.to_vec(), optional, needs });
        }
        JoinTree::Join { left, right, outer: true, conditions, .. } => {
            collect(block, left, filters, (optional, needs), found);
            let read = conditions.iter().fold(0, |bits, condition| bits | tables_of(block, condition));
            let outer_side = left.tables();
            let needs = needs | if read & outer_side == 0 { outer_side } else { read & outer_side };
            collect(block, right, &conditions.iter().collect::<Vec<_>>(), (true, needs), found);
        }
        JoinTree::Join { left, right, conditions, .. } => {
            let both: Vec<&Expression> = filters.iter().copied().chain(conditions).collect();
            collect(block, left, &both, (optional, needs), found);
            collect(block, right, &both, (optional, needs), found);
        }
    }
}
