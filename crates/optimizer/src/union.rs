//! OR as a union of ranges of several indexes. Main function: [`union_candidates`].
//!
//! The keys of the rows are gathered from all ranges first, each once and in the order of the clustered index, then the rows are
//! looked up. The conditions are checked on each row as always.

use super::access::{Candidate, table_size};
use super::terms::{Said, Term, index_conditions};
use crate::cost::{TableSize, Work};
use crate::{Optimizer, Source};
use engine::{Distribution, Table, WaitPolicy};
use plan::physical::{AccessPath, KeyConditions, RowLock};
use std::sync::Arc;

/// The range that one branch of an OR leaves of an index.
struct Branch {
    index: usize,
    conditions: KeyConditions,
    rows: f64,
    dependent: bool,
}

/// A union for each OR whose branches all leave a range of some index.
pub(super) fn union_candidates(
    optimizer: &mut Optimizer<'_>,
    number: usize,
    said: &Said<'_>,
) -> Vec<Candidate> {
    let bound = &optimizer.block.tables[number];
    let Source::Base(table) = &bound.source else { return Vec::new() };
    let (table, lock) = (table.clone(), bound.lock);
    // What LIMIT leaves would be locked with the rest, and be missing where others skip it.
    let skips =
        matches!(lock, RowLock::Shared(WaitPolicy::SkipLocked) | RowLock::Exclusive(WaitPolicy::SkipLocked));
    if skips && optimizer.block.has_limit {
        return Vec::new();
    }
    let statistics = optimizer.statistics(&table);
    let mut found = Vec::new();
    for branches in &said.any {
        let chosen: Option<Vec<Branch>> = branches
            .iter()
            .map(|branch| {
                let with_all: Vec<Term<'_>> = branch.iter().chain(&said.all).copied().collect();
                best_branch(optimizer, number, &table, &statistics, &with_all)
            })
            .collect();
        found.extend(chosen.and_then(|branches| union_of(branches, table_size(&statistics))));
    }
    found
}

/// The range with the fewest rows.
fn best_branch(
    optimizer: &mut Optimizer<'_>,
    number: usize,
    table: &Arc<Table>,
    statistics: &Distribution,
    terms: &[Term<'_>],
) -> Option<Branch> {
    let block = &*optimizer.block;
    let bound = &block.tables[number];
    if block.hints.refuses_union(&bound.alias) {
        return None;
    }
    let limits = bound.limits.clone();
    let mut best: Option<Branch> = None;
    for index in 0..table.indexes().len() {
        let Some(definition) = table.indexes()[index].definition(table) else { continue };
        if definition.invisible || !limits.allows_for_join(&definition.name) {
            continue;
        }
        let Some(conditions) = index_conditions(definition, terms.iter()) else { continue };
        let ranges = vec![conditions.clone()];
        let Candidate { rows, dependent, .. } =
            optimizer.range_candidate(table, statistics, index, ranges, index != 0);
        if best.as_ref().is_none_or(|known| rows < known.rows) {
            best = Some(Branch { index, conditions, rows, dependent });
        }
    }
    best
}

/// One path for each index; None if it is one index, whose ranges are read without a union.
fn union_of(branches: Vec<Branch>, size: TableSize) -> Option<Candidate> {
    let dependent = branches.iter().any(|branch| branch.dependent);
    let rows = branches.iter().map(|branch| branch.rows).sum::<f64>().min(size.rows);
    let mut union: Vec<AccessPath> = Vec::new();
    for branch in branches {
        match union.iter_mut().find(|path| path.index == branch.index) {
            Some(path) => path.ranges.get_or_insert_default().push(branch.conditions),
            None => union.push(AccessPath {
                ranges: Some(vec![branch.conditions]),
                covering: branch.index != 0,
                ..AccessPath::whole(branch.index)
            }),
        }
    }
    if union.len() < 2 {
        return None;
    }
    let work = Work::union(size, union.len() as f64, rows);
    let path = AccessPath { union, ..AccessPath::whole(0) };
    Some(Candidate { path, rows, work, dependent })
}
