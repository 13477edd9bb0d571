//! Sorting. With a LIMIT only the wanted rows are kept. Main type: [`Sort`].

use super::limit::limit_value;
use super::{Operator, append_sort_key, compare_rows, sorts_by_bytes};
use crate::batch::RowBatch;
use crate::run::{Run, row_bytes};
use errors::SqlResult;
use expression::operators::ComparisonMode;
use plan::physical::{RowLimit, SortKey};
use std::cmp::Ordering;
use values::{ColumnType, Value};

/// Rows that are gathered beyond the wanted ones before the surplus is dropped.
const SURPLUS_ROWS_MIN: usize = 1024;
/// Up to so many wanted rows the surplus is dropped while reading.
const TOP_ROWS_MAX: u64 = 100_000;

/// Rows in order.
pub struct Sort<'p> {
    input: Box<dyn Operator + 'p>,
    keys: &'p [SortKey],
    limit: Option<&'p RowLimit>,
    /// All keys have an ordered form in bytes.
    by_bytes: bool,
    sorted: Option<std::vec::IntoIter<Entry>>,
}

struct Entry {
    key: SortedKey,
    row: Vec<Value>,
}

/// A row's sort key.
#[derive(Clone)]
struct SortedKey {
    /// Empty if `bytes` says it all.
    values: Vec<Value>,
    /// The values as bytes in the same order; empty if the type of one has no such form.
    bytes: Box<[u8]>,
}

/// How keys compare: mode, type and DESC of each.
type Modes = [(ComparisonMode, ColumnType, bool)];

fn compare(left: &SortedKey, right: &SortedKey, modes: &Modes, run: &mut Run<'_, '_>) -> Ordering {
    if left.bytes.is_empty() {
        return compare_rows(&left.values, &right.values, modes, run);
    }
    left.bytes.cmp(&right.bytes)
}

impl<'p> Sort<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, keys: &'p [SortKey], limit: Option<&'p RowLimit>) -> Sort<'p> {
        let by_bytes =
            keys.iter().all(|key| sorts_by_bytes(ComparisonMode::for_ordering(&key.expression.result)));
        Sort { input, keys, limit, by_bytes, sorted: None }
    }

    fn wanted(&self, run: &mut Run<'_, '_>) -> SqlResult<Option<usize>> {
        let Some(limit) = self.limit else { return Ok(None) };
        let Some(count) = limit_value(limit.count.as_ref(), run)? else { return Ok(None) };
        let offset = limit_value(limit.offset.as_ref(), run)?.unwrap_or(0);
        let wanted = count.saturating_add(offset);
        Ok((wanted <= TOP_ROWS_MAX).then_some(wanted as usize))
    }

    /// The key of a row. `bytes` is room for it.
    fn key(
        &self,
        row: &[Value],
        modes: &Modes,
        bytes: &mut Vec<u8>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<SortedKey> {
        let mut values = Vec::with_capacity(self.keys.len());
        for key in self.keys {
            values.push(key.expression.evaluate(row, run)?);
        }
        bytes.clear();
        if !self.by_bytes {
            return Ok(SortedKey { values, bytes: Box::default() });
        }
        for (value, (mode, column_type, descending)) in values.iter().zip(modes) {
            append_sort_key(*mode, value, column_type, *descending, run, bytes)?;
        }
        Ok(SortedKey { values: Vec::new(), bytes: bytes.as_slice().into() })
    }

    fn sort(&mut self, run: &mut Run<'_, '_>) -> SqlResult<Vec<Entry>> {
        let modes: Vec<(ComparisonMode, ColumnType, bool)> = self
            .keys
            .iter()
            .map(|key| {
                let result = &key.expression.result;
                (ComparisonMode::for_ordering(result), result.column_type.clone(), key.descending)
            })
            .collect();
        let wanted = self.wanted(run)?;
        let mut entries: Vec<Entry> = Vec::new();
        // The last of the wanted rows so far: what does not come before it is surplus.
        let mut last_wanted: Option<SortedKey> = None;
        let mut batch = RowBatch::new();
        let mut bytes = Vec::new();
        while self.input.next(run, &mut batch)? {
            for at in 0..batch.len() {
                let key = self.key(batch.row(at), &modes, &mut bytes, run)?;
                if let Some(last) = &last_wanted
                    && compare(&key, last, &modes, run) != Ordering::Less
                {
                    continue;
                }
                if wanted.is_none() {
                    run.charge(row_bytes(batch.row(at)) + row_bytes(&key.values) + key.bytes.len() + 72)?;
                }
                entries.push(Entry { key, row: batch.take(at).collect() });
            }
            if let Some(wanted) = wanted
                && entries.len() >= wanted * 2 + SURPLUS_ROWS_MIN
            {
                entries.sort_by(|left, right| compare(&left.key, &right.key, &modes, run));
                entries.truncate(wanted);
                last_wanted = entries.last().map(|entry| entry.key.clone());
            }
        }
        entries.sort_by(|left, right| compare(&left.key, &right.key, &modes, run));
        Ok(entries)
    }
}

impl Operator for Sort<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        if self.sorted.is_none() {
            self.sorted = Some(self.sort(run)?.into_iter());
        }
        let Some(sorted) = &mut self.sorted else { return Ok(false) };
        batch.reset(sorted.as_slice().first().map_or(0, |entry| entry.row.len()));
        while !batch.is_full() {
            let Some(entry) = sorted.next() else { break };
            batch.push_values(entry.row);
        }
        Ok(!batch.is_empty())
    }
}
