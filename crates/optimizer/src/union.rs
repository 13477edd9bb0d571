//! OR as a union of ranges of several indexes. Main function: [`union_candidates`].
//!
//! The keys of the rows are gathered from all ranges first, each once and in the order of the clustered index, then the rows are
//! looked up. The conditions are checked on each row as always.

use super::access::{Candidate, table_size};
use super::terms::{Said, Term, index_conditions};
use crate::cost::{TableSize, Work};
use crate::{Optimizer, Source};
use engine::{Distribution, Index, Table, WaitPolicy};
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
    let Some(table) = base_table(optimizer, number) else { return Vec::new() };
    let block = &*optimizer.block;
    if block.hints.refuses_union(&block.tables[number].alias) {
        return Vec::new();
    }
    let statistics = optimizer.statistics(&table);
    let mut found = Vec::new();
    for branches in &said.any {
        let chosen: Option<Vec<Branch>> = branches
            .iter()
            .map(|branch| {
                let with_all: Vec<Term<'_>> = branch.iter().chain(&said.all).copied().collect();
                best_branch(optimizer, number, &table, &statistics, &with_all, |_| true)
            })
            .collect();
        found.extend(chosen.and_then(|branches| union_of(&table, branches, table_size(&statistics))));
    }
    found
}

/// A base table, if it may be read by a union: what LIMIT leaves would be locked with the rest, and be missing where others skip it.
fn base_table(optimizer: &Optimizer<'_>, number: usize) -> Option<Arc<Table>> {
    let bound = &optimizer.block.tables[number];
    let Source::Base(table) = &bound.source else { return None };
    let skips = matches!(
        bound.lock,
        RowLock::Shared(WaitPolicy::SkipLocked) | RowLock::Exclusive(WaitPolicy::SkipLocked)
    );
    (!skips || !optimizer.block.has_limit).then(|| table.clone())
}

/// The range with the fewest rows.
fn best_branch(
    optimizer: &mut Optimizer<'_>,
    number: usize,
    table: &Arc<Table>,
    statistics: &Distribution,
    terms: &[Term<'_>],
    is_wanted: impl Fn(&Index) -> bool,
) -> Option<Branch> {
    let limits = optimizer.block.tables[number].limits.clone();
    let mut best: Option<Branch> = None;
    for index in 0..table.indexes().len() {
        let Some(definition) = table.indexes()[index].definition(table) else { continue };
        let is_usable = !definition.invisible && is_wanted(&table.indexes()[index]);
        if !is_usable || !limits.allows_for_join(&definition.name) {
            continue;
        }
        let open = &table.indexes()[index];
        let own = on_own_array(table, open, terms);
        let conditions = index_conditions(definition, own.iter());
        let Some(conditions) = conditions.filter(|conditions| finds_all_rows(open, conditions)) else {
            continue;
        };
        let ranges = vec![conditions.clone()];
        let Candidate { rows, dependent, .. } =
            optimizer.range_candidate(table, statistics, index, ranges, index != 0);
        if best.as_ref().is_none_or(|known| rows < known.rows) {
            best = Some(Branch { index, conditions, rows, dependent });
        }
    }
    best
}

/// Reading a multi-valued index by an element: as a union, because a row that has several entries in what is read is to come once.
pub(super) fn element_candidates(
    optimizer: &mut Optimizer<'_>,
    number: usize,
    said: &Said<'_>,
) -> Vec<Candidate> {
    let Some(table) = base_table(optimizer, number) else { return Vec::new() };
    let definition = table.definition();
    let asks_element = |term: &Term<'_>| definition.columns[term.column].element_type().is_some();
    if !said.all.iter().any(asks_element) {
        return Vec::new();
    }
    let statistics = optimizer.statistics(&table);
    let best = best_branch(optimizer, number, &table, &statistics, &said.all, Index::is_multi_valued);
    best.and_then(|branch| union_of(&table, vec![branch], table_size(&statistics))).into_iter().collect()
}

/// Whether an index has an entry in what is asked for each row that is wanted. A multi-valued one has none for rows without elements: it
/// must be asked for these too.
fn finds_all_rows(index: &Index, conditions: &KeyConditions) -> bool {
    index.array_column().is_none_or(|array| index.key_columns()[..conditions.len()].contains(&array))
}

/// The terms as an index sees them: those on arrays that are made as its own are on its own.
fn on_own_array<'e>(table: &Table, index: &Index, terms: &[Term<'e>]) -> Vec<Term<'e>> {
    let columns = &table.definition().columns;
    let column_of = |column: usize| {
        let own = index.array_column();
        own.filter(|array| columns[*array].generated == columns[column].generated).unwrap_or(column)
    };
    terms.iter().map(|term| Term { column: column_of(term.column), ..*term }).collect()
}

/// One path for each index; None if it is one index, whose ranges are read without a union but where a row has several entries.
fn union_of(table: &Table, branches: Vec<Branch>, size: TableSize) -> Option<Candidate> {
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
    let is_plain = |path: &AccessPath| !table.indexes()[path.index].is_multi_valued();
    if union.len() < 2 && union.iter().all(is_plain) {
        return None;
    }
    let work = Work::union(size, union.len() as f64, rows);
    let path = AccessPath { union, ..AccessPath::whole(0) };
    Some(Candidate { path, rows, work, dependent })
}
