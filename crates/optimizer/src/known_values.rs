//! Values that are known before a query runs, and what the keys of an index say of conditions. Main type: [`KnownValues`].

use super::access::{is_known_now, plain_index};
use super::terms::{Term, TermReader, Terms, index_conditions};
use crate::{Optimizer, Survey};
use engine::{KeyRange, ReadMode, Table};
use expression::{Expression, ExpressionKind};
use plan::physical::{AccessPath, KeyConditions, RowLock};
use plan::range::{key_ranges, point_key};
use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;
use values::row::{ColumnSet, RowView};
use values::{RowRef, Value};

/// Values of columns of the block, by slot.
pub(super) struct KnownValues {
    values: Vec<(usize, Expression)>,
    /// Values of subqueries, by their numbers.
    subqueries: Vec<(usize, Expression)>,
    /// Whether rows may be read.
    reads: bool,
}

impl KnownValues {
    pub fn new(reads: bool) -> KnownValues {
        KnownValues { values: Vec::new(), subqueries: Vec::new(), reads }
    }

    pub fn has_subquery(&self, id: usize) -> bool {
        self.subqueries.iter().any(|(known, _)| *known == id)
    }

    pub fn subquery_count(&self) -> usize {
        self.subqueries.len()
    }

    pub fn keep_subquery(&mut self, id: usize, value: Expression) {
        self.subqueries.push((id, value));
    }

    /// A condition with the known values in the place of columns and subqueries.
    pub fn put_into<'e>(&self, condition: &'e Expression) -> Cow<'e, Expression> {
        let value_of = |part: &Expression| {
            let (known, number) = match &part.kind {
                ExpressionKind::Subquery(call) => (&self.subqueries, call.id),
                _ => (&self.values, part.column_slot()?),
            };
            known.iter().find(|(known, _)| *known == number).map(|(_, value)| value.clone())
        };
        if self.values.is_empty() && self.subqueries.is_empty()
            || !condition.any(&|part| value_of(part).is_some())
        {
            return Cow::Borrowed(condition);
        }
        let mut condition = condition.clone();
        condition.replace(&mut |part| value_of(part));
        Cow::Owned(condition)
    }
}

/// Adds the values of a table's row that a path finds; without one, the NULLs of an outer join. The plan is one for this
/// execution then.
pub(super) fn keep_row(
    survey: &mut Survey<'_>,
    number: usize,
    path: Option<&AccessPath>,
    known: &mut KnownValues,
) {
    let tables = &survey.optimizer.block.tables;
    if !known.reads || tables.len() == 1 || tables[number].lock != RowLock::None {
        return;
    }
    *survey.volatile = true;
    let bound = &survey.optimizer.block.tables[number];
    let wanted: Vec<(usize, usize, Expression)> = bound
        .slots
        .iter()
        .enumerate()
        .filter_map(|(column, slot)| {
            let result = bound.columns[column].result.clone();
            slot.map(|slot| (column, slot, Expression::constant(Value::Null, result)))
        })
        .collect();
    let found = match path {
        None => Some(vec![Value::Null; wanted.len()]),
        Some(path) => read_row(survey, number, path, &wanted),
    };
    for ((_, slot, null), value) in wanted.into_iter().zip(found.into_iter().flatten()) {
        known.values.push((slot, Expression::constant(value, null.result)));
    }
}

/// The values of the wanted columns of the row that a path finds.
fn read_row(
    survey: &mut Survey<'_>,
    number: usize,
    path: &AccessPath,
    wanted: &[(usize, usize, Expression)],
) -> Option<Vec<Value>> {
    let transaction = survey.transaction?;
    let crate::Source::Base(table) = &survey.optimizer.block.tables[number].source else { return None };
    let table = table.clone();
    let warnings = survey.optimizer.context.diagnostics().reported();
    let key = point_key(&table, path, RowRef::EMPTY, survey.optimizer.context);
    survey.optimizer.context.diagnostics().go_back(warnings);
    let key = key.ok()??;
    let mut values = None;
    let mut take = |bytes: &[u8]| {
        if let Ok(row) = RowView::new(table.layout(), bytes) {
            values = Some(wanted.iter().map(|(column, ..)| row.value(*column)).collect());
        }
    };
    let columns = ColumnSet::of(wanted.iter().map(|(column, ..)| *column));
    let mode = ReadMode::Consistent;
    transaction.get_columns(&table, path.index, &key, mode, &columns, &mut take).ok()?;
    values
}

/// The ranges of a path whose bounds are known.
pub(super) fn ranges_of(
    optimizer: &mut Optimizer<'_>,
    table: &Table,
    path: &AccessPath,
) -> Option<Vec<KeyRange>> {
    let warnings = optimizer.context.diagnostics().reported();
    let ranges = key_ranges(table, path, RowRef::EMPTY, optimizer.context);
    optimizer.context.diagnostics().go_back(warnings);
    ranges.ok()
}

/// Whether no key of an index meets all conditions on its first column.
pub(super) fn contradict_in_index(
    optimizer: &mut Optimizer<'_>,
    number: usize,
    table: &Arc<Table>,
    conditions: &[&Expression],
) -> bool {
    for index in 0..table.indexes().len() {
        let mut common: Option<Vec<KeyRange>> = None;
        for ranges in first_part_ranges(optimizer, number, table, index, conditions) {
            let path = AccessPath { ranges: Some(ranges), ..AccessPath::whole(index) };
            let Some(ranges) = ranges_of(optimizer, table, &path) else { continue };
            common = Some(match common {
                None => ranges,
                Some(common) => intersection(&common, &ranges),
            });
        }
        if common.is_some_and(|common| common.is_empty()) {
            return true;
        }
    }
    false
}

/// What each of the conditions asks of the first column of an index.
fn first_part_ranges(
    optimizer: &mut Optimizer<'_>,
    number: usize,
    table: &Table,
    index: usize,
    conditions: &[&Expression],
) -> Vec<Vec<KeyConditions>> {
    // A row may have several of the values that are asked of a multi-valued index.
    let Some(definition) = plain_index(table, index) else { return Vec::new() };
    let mut definition = definition.clone();
    definition.parts.truncate(1);
    let block = &*optimizer.block;
    let reader = TermReader { block, table: number, placed: 0 };
    let of_term = |term: &Term<'_>| index_conditions(&definition, std::iter::once(term));
    let of_condition = |condition: &Expression| match reader.read(condition) {
        Some(Terms::One(term)) => of_term(&term).map(|found| vec![found]).into_iter().collect(),
        Some(Terms::Any(branches)) => {
            let ranges: Option<Vec<_>> =
                branches.iter().map(|branch| index_conditions(&definition, branch.iter())).collect();
            ranges.into_iter().collect::<Vec<Vec<KeyConditions>>>()
        }
        None => {
            let around = reader.read_around(condition);
            around.iter().filter_map(|terms| terms.iter().map(of_term).collect()).collect()
        }
    };
    let known = |ranges: &Vec<KeyConditions>| ranges.iter().flatten().all(is_known_now);
    conditions.iter().flat_map(|condition| of_condition(condition)).filter(known).collect()
}

/// The keys that are in both lists of ranges.
fn intersection(left: &[KeyRange], right: &[KeyRange]) -> Vec<KeyRange> {
    let both = left.iter().flat_map(|one| right.iter().map(move |other| (one, other)));
    both.filter_map(|(one, other)| common_range(one, other)).collect()
}

fn common_range(one: &KeyRange, other: &KeyRange) -> Option<KeyRange> {
    let start = |range: &KeyRange| match &range.lower {
        Bound::Included(key) | Bound::Excluded(key) => key.clone(),
        Bound::Unbounded => Vec::new(),
    };
    let end = |range: &KeyRange| match &range.upper {
        Bound::Included(key) | Bound::Excluded(key) => Some(key.clone()),
        Bound::Unbounded => None,
    };
    let lower = start(one).max(start(other));
    let upper = match (end(one), end(other)) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    let is_empty = upper.as_ref().is_some_and(|upper| *upper <= lower);
    (!is_empty).then(|| KeyRange {
        lower: Bound::Included(lower),
        upper: upper.map_or(Bound::Unbounded, Bound::Excluded),
    })
}
