//! The ways to read one table, with estimates, and the choice among them. Main type: [`Candidate`].

use super::terms::{Term, TermReader, Terms, index_conditions};
use super::union::union_candidates;
use super::virtual_keys::virtual_candidates;
use crate::{Optimizer, Source, needs_row};
use dictionary::IndexDefinition;
use engine::{Distribution, Table};
use expression::{Expression, ExpressionKind};
use plan::Rule;
use plan::physical::{AccessPath, KeyCondition, KeyConditions};
use plan::range::key_ranges;
use std::sync::Arc;
use values::RowRef;

/// One way to read a table once, for one row of the tables before it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What is read.
    pub path: AccessPath,
    /// Rows read.
    pub rows: f64,
    /// Cost of one read, in rows of a sequential scan.
    pub cost: f64,
    /// Whether the ranges depend on tables before.
    pub dependent: bool,
}

/// Cost of finding the start of a range.
pub(super) const DESCENT_COST: f64 = 4.0;
/// Cost of fetching the clustered row of a secondary entry.
pub(super) const FETCH_COST: f64 = 2.5;
/// Cost of an entry of a covering index, against a row.
pub(super) const COVERING_COST: f64 = 0.5;
/// Guess for a range whose values are not known yet.
const UNKNOWN_RANGE_FRACTION: f64 = 0.2;
/// Ranges that are estimated one by one; the rest is scaled.
const ESTIMATED_RANGES_MAX: usize = 16;

/// Rows of a table, at least 1.
pub(crate) fn table_rows(statistics: &Distribution) -> f64 {
    (statistics.rows as f64).max(1.0)
}

impl Optimizer<'_> {
    /// All ways to read a base table, or to look another one up, given the conditions that may be used and the tables that are placed.
    pub fn candidates(&mut self, number: usize, conditions: &[&Expression], placed: u64) -> Vec<Candidate> {
        self.candidates_among(number, conditions, placed, false)
    }

    /// Those of them that depend on rows of the tables that are placed, or all.
    pub(super) fn candidates_among(
        &mut self,
        number: usize,
        conditions: &[&Expression],
        placed: u64,
        only_dependent: bool,
    ) -> Vec<Candidate> {
        let bound = &self.block.tables[number];
        let Source::Base(table) = &bound.source else {
            return virtual_candidates(self.block, number, conditions, placed);
        };
        let table = table.clone();
        let limits = bound.limits.clone();
        let statistics = self.statistics(&table);
        let rows = table_rows(&statistics);
        let needs_row = needs_row(self.block, number);
        let rules = self.context.rules();
        let mut found = Vec::new();
        if !only_dependent {
            let path = AccessPath::whole(0);
            found.push(Candidate { path, rows, cost: rows + DESCENT_COST, dependent: false });
        }
        let terms: Vec<Terms> = {
            let reader = TermReader { block: self.block, table: number, placed };
            debug_assert!(reader.has_indexes());
            conditions.iter().filter_map(|condition| reader.read(condition)).collect()
        };
        let all: Vec<&Term> = terms
            .iter()
            .filter_map(|terms| match terms {
                Terms::All(terms) => Some(terms),
                Terms::Any(_) => None,
            })
            .flatten()
            .collect();
        for index in 0..table.indexes().len() {
            let Some(definition) = table.indexes()[index].definition(&table) else { continue };
            if definition.invisible || !limits.allows_for_join(&definition.name) {
                continue;
            }
            let covering = index != 0 && !needs_row && self.is_covered(number, &table, index);
            if covering && !only_dependent {
                found.push(Candidate {
                    path: path(index, None, true, false),
                    rows,
                    cost: rows * COVERING_COST + DESCENT_COST,
                    dependent: false,
                });
            }
            let alternatives = match rules.has(Rule::IndexRanges) {
                true => range_alternatives(definition, &terms, &all),
                false => Vec::new(),
            };
            for ranges in alternatives {
                // An estimate of the others would cost a look into the index.
                if !only_dependent || depends_on_rows(&ranges) {
                    found.push(self.range_candidate(&table, &statistics, index, ranges, covering));
                }
            }
        }
        if rules.has(Rule::IndexMerge) && rules.has(Rule::IndexRanges) {
            let unions = union_candidates(self, number, &terms, &all).into_iter();
            found.extend(unions.filter(|union| !only_dependent || union.dependent));
        }
        if limits.forces && found.len() > 1 && !only_dependent {
            found.remove(0);
        }
        found
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
        let mut path = path(index, Some(ranges), covering, single_row);
        let rows = if single_row {
            1.0
        } else if dependent {
            self.guessed_rows(statistics, &path)
        } else {
            self.estimated_rows(table, statistics, &mut path)
        };
        let total = table_rows(statistics);
        let rows = rows.clamp(0.1, total);
        let per_row = match (index, covering) {
            (0, _) => 1.0,
            (_, true) => COVERING_COST,
            (_, false) => FETCH_COST,
        };
        // A whole unique key is right for a table of any size: it wins over the scan of a small one.
        let cost = if single_row { DESCENT_COST } else { DESCENT_COST + rows * per_row };
        Candidate { path, rows, cost, dependent }
    }

    /// Rows of ranges whose values are known: asks the index.
    fn estimated_rows(
        &mut self,
        table: &Arc<Table>,
        statistics: &Distribution,
        path: &mut AccessPath,
    ) -> f64 {
        let warnings = self.context.diagnostics().clone();
        let ranges = key_ranges(table, path, RowRef::EMPTY, self.context);
        *self.context.diagnostics() = warnings;
        let Ok(ranges) = ranges else { return self.guessed_rows(statistics, path) };
        let asked = ranges.len().min(ESTIMATED_RANGES_MAX);
        let mut total = 0.0;
        for range in &ranges[..asked] {
            match self.engine.estimate_range(table, path.index, range) {
                Ok(rows) => total += rows as f64,
                Err(_) => return self.guessed_rows(statistics, path),
            }
        }
        if asked == 0 { 0.1 } else { total * ranges.len() as f64 / asked as f64 }
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

    /// Whether the index holds all columns that are read.
    pub fn is_covered(&mut self, number: usize, table: &Table, index: usize) -> bool {
        let held = table.indexes()[index].row_columns();
        let slots = &self.block.tables[number].slots;
        slots.iter().enumerate().all(|(column, slot)| slot.is_none() || held.contains(&column))
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

/// Guess of how many rows pass a condition that no index answered.
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
fn range_alternatives(
    definition: &IndexDefinition,
    terms: &[Terms],
    all: &[&Term],
) -> Vec<Vec<KeyConditions>> {
    let all = all.iter().copied();
    let mut alternatives: Vec<Vec<KeyConditions>> =
        index_conditions(definition, all.clone()).map(|conditions| vec![conditions]).into_iter().collect();
    for terms in terms {
        if let Terms::Any(branches) = terms {
            let ranges: Option<Vec<KeyConditions>> = branches
                .iter()
                .map(|branch| index_conditions(definition, branch.iter().chain(all.clone())))
                .collect();
            alternatives.extend(ranges);
        }
    }
    alternatives
}
