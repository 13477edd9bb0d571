//! The ways to read one table, with estimates, and the choice among them. Main type: [`Candidate`].

use super::terms::{Said, Term, TermReader, Terms, index_conditions};
use super::union::{element_candidates, union_candidates};
use super::virtual_keys::virtual_candidates;
use crate::cost::{Reading, TableSize, Work};
use crate::{Optimizer, Source, needs_row};
use dictionary::IndexDefinition;
use engine::{Distribution, Table};
use expression::{Expression, ExpressionKind};
use plan::Rule;
use plan::physical::{AccessPath, KeyCondition, KeyConditions, RowLock};
use plan::range::estimated_rows;
use std::sync::Arc;

/// One way to read a table once, for one row of the tables before it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What is read.
    pub path: AccessPath,
    /// Rows read.
    pub rows: f64,
    /// What reading takes.
    pub(crate) work: Work,
    /// Whether the ranges depend on tables before.
    pub dependent: bool,
}

/// Guess for a range whose values are not known yet.
const UNKNOWN_RANGE_FRACTION: f64 = 0.2;

/// Rows of a table, at least 1.
pub(crate) fn table_rows(statistics: &Distribution) -> f64 {
    (statistics.rows as f64).max(1.0)
}

/// The sizes of a table.
pub(super) fn table_size(statistics: &Distribution) -> TableSize {
    TableSize { rows: table_rows(statistics), bytes: statistics.data_bytes as f64 }
}

/// What is read of the entries of an index.
pub(super) fn reading(table: &Table, index: usize, covering: bool) -> Reading {
    match (index, covering, table.indexes()[index].row_columns().len()) {
        (0, ..) => Reading::Rows,
        (_, true, columns) => Reading::Entries(columns),
        (_, false, columns) => Reading::RowsOfEntries(columns),
    }
}

/// An index that may be read by itself: no invisible one, and none that has several entries for a row, or no entry.
pub(super) fn plain_index(table: &Table, index: usize) -> Option<&IndexDefinition> {
    let index = &table.indexes()[index];
    index.definition(table).filter(|definition| !definition.invisible && !index.is_multi_valued())
}

/// How many ranges the values of a path make.
fn range_count(path: &AccessPath) -> f64 {
    let points = |condition: &KeyCondition| match condition {
        KeyCondition::Points(points) => points.len() as f64,
        _ => 1.0,
    };
    path.ranges.iter().flatten().map(|conditions| conditions.iter().map(points).product::<f64>()).sum()
}

impl Candidate {
    /// All of an index.
    pub fn whole(table: &Table, statistics: &Distribution, index: usize, covering: bool) -> Candidate {
        let (path, rows) = (AccessPath { covering, ..AccessPath::whole(index) }, table_rows(statistics));
        let work = Work::ranges(reading(table, index, covering), table_size(statistics), 1.0, rows);
        Candidate { path, rows, work, dependent: false }
    }

    /// Nanoseconds of reading once.
    pub fn cost_ns(&self) -> f64 {
        self.work.ns(1.0, false)
    }
}

impl Optimizer<'_> {
    /// All ways to read a base table, or to look another one up, given the conditions that may be used and the tables that are placed.
    pub fn candidates(&mut self, number: usize, conditions: &[&Expression], placed: u64) -> Vec<Candidate> {
        let bound = &self.block.tables[number];
        let Source::Base(table) = &bound.source else {
            return virtual_candidates(self.block, number, conditions, placed);
        };
        let (table, forces) = (table.clone(), bound.limits.forces);
        let is_locked = bound.key_slot.is_none() && matches!(bound.lock, RowLock::Exclusive(_));
        let statistics = self.statistics(&table);
        let needs_row = needs_row(self.block, number);
        let rules = self.context.rules();
        let mut found = Vec::with_capacity(table.indexes().len() + 1);
        found.push(Candidate::whole(&table, &statistics, 0, false));
        let said = self.said(number, conditions, placed);
        for index in 0..table.indexes().len() {
            let Some(definition) = plain_index(&table, index) else { continue };
            if !self.block.tables[number].limits.allows_for_join(&definition.name) {
                continue;
            }
            let covering = index != 0 && !needs_row && self.is_covered(number, &table, index);
            if covering {
                found.push(Candidate::whole(&table, &statistics, index, true));
            }
            if !rules.has(Rule::IndexRanges) {
                continue;
            }
            for ranges in range_alternatives(definition, &said) {
                let mut candidate = self.range_candidate(&table, &statistics, index, ranges, covering);
                // Rows are locked all the same, but what MySQL locks behind the range depends on it.
                candidate.path.covering |= is_locked && index != 0 && self.is_covered(number, &table, index);
                found.push(candidate);
            }
        }
        if rules.has(Rule::IndexRanges) {
            found.extend(element_candidates(self, number, &said));
            if rules.has(Rule::IndexMerge) {
                found.extend(union_candidates(self, number, &said));
            }
        }
        if forces && found.len() > 1 {
            found.remove(0);
        }
        self.with_locks(number, found)
    }

    /// The ways to look a table up by values of the tables that are placed: by ranges of one index, or by unions of several.
    pub(super) fn look_ups(
        &mut self,
        number: usize,
        index: Option<usize>,
        conditions: &[&Expression],
        placed: u64,
    ) -> Vec<Candidate> {
        let Source::Base(table) = &self.block.tables[number].source else {
            let mut found = virtual_candidates(self.block, number, conditions, placed);
            found.retain(|candidate| candidate.dependent);
            return found;
        };
        let table = table.clone();
        let said = self.said(number, conditions, placed);
        let rules = self.context.rules();
        if !rules.has(Rule::IndexRanges) {
            return Vec::new();
        }
        let mut found = match index {
            None if !rules.has(Rule::IndexMerge) => Vec::new(),
            None => union_candidates(self, number, &said),
            Some(index) => {
                let Some(definition) = table.indexes()[index].definition(&table) else { return Vec::new() };
                let statistics = self.statistics(&table);
                let covering =
                    index != 0 && !needs_row(self.block, number) && self.is_covered(number, &table, index);
                // An estimate of the others would cost a look into the index.
                let dependent =
                    range_alternatives(definition, &said).filter(|ranges| depends_on_rows(ranges));
                let candidate = |ranges| self.range_candidate(&table, &statistics, index, ranges, covering);
                dependent.map(candidate).collect()
            }
        };
        found.retain(|candidate| candidate.dependent);
        self.with_locks(number, found)
    }

    /// Ways to read a table, with the locks of its rows if it has such.
    fn with_locks(&self, number: usize, mut found: Vec<Candidate>) -> Vec<Candidate> {
        if self.block.tables[number].lock != RowLock::None {
            for candidate in &mut found {
                candidate.work = candidate.work.with_locks(candidate.rows);
            }
        }
        found
    }

    /// What conditions say of a table.
    fn said<'e>(&self, number: usize, conditions: &[&'e Expression], placed: u64) -> Said<'e> {
        let reader = TermReader { block: self.block, table: number, placed };
        debug_assert!(reader.has_indexes());
        let mut said = Said { all: Vec::with_capacity(conditions.len()), any: Vec::new() };
        for condition in conditions {
            match reader.read(condition) {
                Some(Terms::One(term)) => said.all.push(term),
                Some(Terms::Any(branches)) => said.any.push(branches),
                None => {}
            }
        }
        said
    }

    pub(super) fn range_candidate(
        &mut self,
        table: &Arc<Table>,
        statistics: &Distribution,
        index: usize,
        ranges: Vec<KeyConditions>,
        covering: bool,
    ) -> Candidate {
        let definition = table.indexes()[index].definition(table);
        let parts = definition.map_or(0, |definition| definition.parts.len());
        let points = |conditions: &KeyConditions| {
            conditions.len() == parts && conditions.iter().all(|condition| {
                // The primary key has no NULL.
                let is_one = |null_matches: bool| index == 0 || !null_matches;
                matches!(condition, KeyCondition::Points(points) if points.len() == 1 && is_one(points[0].1))
            })
        };
        let whole_key = definition
            .is_some_and(|definition| definition.parts.iter().all(|part| part.prefix_length.is_none()));
        let single_row =
            table.indexes()[index].is_unique() && ranges.len() == 1 && ranges.iter().all(points) && whole_key;
        let dependent = depends_on_rows(&ranges);
        let path = path(index, Some(ranges), covering, single_row);
        let rows = if single_row {
            1.0
        } else if dependent {
            self.guessed_rows(statistics, &path)
        } else {
            let known = estimated_rows(self.engine, table, &path, self.context);
            known.unwrap_or_else(|| self.guessed_rows(statistics, &path))
        };
        let total = table_rows(statistics);
        let rows = rows.clamp(0.1, total);
        let (reading, size) = (reading(table, index, covering), table_size(statistics));
        let work = match single_row {
            true => Work::look_up(reading, size),
            false => Work::ranges(reading, size, range_count(&path), rows),
        };
        Candidate { path, rows, work, dependent }
    }

    /// Rows of ranges whose values come from other tables or parameters: by distinct values.
    fn guessed_rows(&self, statistics: &Distribution, path: &AccessPath) -> f64 {
        let total = table_rows(statistics);
        let distinct = statistics.distinct.get(path.index);
        let mut rows = 0.0;
        for conditions in path.ranges.iter().flatten() {
            let mut lists = 1.0;
            let mut equal_parts = 0;
            let mut fraction = 1.0;
            for condition in conditions {
                match condition {
                    KeyCondition::Points(points) => {
                        lists *= points.len() as f64;
                        equal_parts += 1;
                    }
                    _ => fraction = UNKNOWN_RANGE_FRACTION,
                }
            }
            let values = match (equal_parts, distinct) {
                (0, _) => 1.0,
                (parts, Some(distinct)) if distinct.len() >= parts => (distinct[parts - 1] as f64).max(1.0),
                (_, _) => (total / 10.0).max(1.0),
            };
            rows += (total / values * lists * fraction).max(0.5);
        }
        rows.min(total)
    }

    /// Whether the index holds all rows, and all columns that are read.
    pub fn is_covered(&mut self, number: usize, table: &Table, index: usize) -> bool {
        let index = &table.indexes()[index];
        let (held, slots) = (index.row_columns(), &self.block.tables[number].slots);
        !index.is_multi_valued()
            && slots.iter().enumerate().all(|(column, slot)| slot.is_none() || held.contains(&column))
    }
}

fn path(index: usize, ranges: Option<Vec<KeyConditions>>, covering: bool, single_row: bool) -> AccessPath {
    AccessPath { ranges, covering, single_row, ..AccessPath::whole(index) }
}

/// Whether ranges depend on rows of tables before.
fn depends_on_rows(ranges: &[KeyConditions]) -> bool {
    ranges.iter().flatten().any(|condition| !is_known_now(condition))
}

/// Whether the values that a condition asks for do not depend on rows.
pub fn is_known_now(condition: &KeyCondition) -> bool {
    let known = |expression: &Expression| {
        !expression.any(&|part| {
            matches!(
                part.kind,
                ExpressionKind::Column(_) | ExpressionKind::Outer(_) | ExpressionKind::Subquery(_)
            )
        })
    };
    match condition {
        KeyCondition::Points(points) => points.iter().all(|(point, _)| known(point)),
        KeyCondition::Range { low, high } => low.iter().chain(high).all(|(bound, _)| known(bound)),
        KeyCondition::Prefix(pattern, _) => known(pattern),
    }
}

/// Guess of how many rows pass a condition of which nothing is known.
pub fn selectivity(condition: &Expression) -> f64 {
    use expression::operators::ComparisonOperator;
    match &condition.kind {
        ExpressionKind::Compare(comparison) => match comparison.operator {
            ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual => 0.1,
            ComparisonOperator::NotEqual => 0.9,
            _ => 0.3333,
        },
        ExpressionKind::Between(_) => 0.1111,
        ExpressionKind::In(list) => (0.1 * list.list.len() as f64).min(0.5),
        ExpressionKind::Like(_) => 0.1111,
        ExpressionKind::IsNull(_) => 0.1,
        ExpressionKind::And(terms) => terms.iter().map(selectivity).product(),
        ExpressionKind::Or(terms) => terms.iter().map(selectivity).sum::<f64>().min(1.0),
        ExpressionKind::Literal(_) => 1.0,
        _ => 0.5,
    }
}

/// The ways to read ranges of an index: by what all conditions say, and by each disjunction with it.
fn range_alternatives<'s>(
    definition: &'s IndexDefinition,
    said: &'s Said<'_>,
) -> impl Iterator<Item = Vec<KeyConditions>> + 's {
    let of_all = index_conditions(definition, said.all.iter()).map(|conditions| vec![conditions]);
    let of_branch = |branch: &'s Vec<Term<'_>>| index_conditions(definition, branch.iter().chain(&said.all));
    let of_any = said.any.iter().filter_map(move |branches| branches.iter().map(of_branch).collect());
    of_all.into_iter().chain(of_any)
}
