//! Sorting by byte keys, on disk beyond a share of memory. With a LIMIT only the wanted rows are kept. Main type:
//! [`Sort`].

use super::limit::limit_value;
use super::{Operator, append_sort_key};
use crate::batch::RowBatch;
use crate::run::Run;
use crate::spill::{LongHeld, Sorted, Sorter};
use errors::{SqlResult, sql_error};
use expression::EvaluationContext;
use expression::operators::ComparisonMode;
use plan::physical::{RowLimit, SortKey};
use values::ValueRef;
use values::json::Node;

/// Up to so many wanted rows the surplus is dropped while reading.
const TOP_ROWS_MAX: u64 = 100_000;

/// Rows in order.
pub struct Sort<'p> {
    input: Box<dyn Operator + 'p>,
    keys: &'p [SortKey],
    limit: Option<&'p RowLimit>,
    /// Values in a row; known from the first one.
    width: usize,
    sorted: Option<Sorted>,
}

impl<'p> Sort<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, keys: &'p [SortKey], limit: Option<&'p RowLimit>) -> Sort<'p> {
        Sort { input, keys, limit, width: 0, sorted: None }
    }

    fn wanted(&self, run: &mut Run<'_, '_>) -> SqlResult<Option<usize>> {
        let Some(limit) = self.limit else { return Ok(None) };
        let Some(count) = limit_value(limit.count.as_ref(), run)? else { return Ok(None) };
        let offset = limit_value(limit.offset.as_ref(), run)?.unwrap_or(0);
        let wanted = count.saturating_add(offset);
        Ok((wanted <= TOP_ROWS_MAX).then_some(wanted as usize))
    }

    fn sort(&mut self, run: &mut Run<'_, '_>) -> SqlResult<Sorted> {
        let modes: Vec<ComparisonMode> =
            self.keys.iter().map(|key| ComparisonMode::for_ordering(&key.expression.result)).collect();
        let wanted = self.wanted(run)?;
        let share_bytes = run.statement.settings.sort_bytes_max;
        let mut sorter = Sorter::new(run.workspace().clone(), share_bytes, wanted);
        let mut batch = run.batch();
        let mut bytes = Vec::new();
        let mut held = LongHeld::default();
        let mut warns = false;
        while self.input.next(run, &mut batch)? {
            run.check_killed()?;
            for row in batch.iter() {
                bytes.clear();
                for (key, mode) in self.keys.iter().zip(&modes) {
                    let value = key.expression.operand(row, run)?;
                    let column_type = &key.expression.result.column_type;
                    warns |= is_sorted_by_size(*mode, value.as_ref());
                    append_sort_key(*mode, value.as_ref(), column_type, key.descending, run, &mut bytes)?;
                    held.reach(bytes.len(), || run.workspace().clone())?;
                }
                if sorter.wants(&bytes) {
                    sorter.push(&bytes, row)?;
                }
            }
            self.width = batch.width();
        }
        if warns {
            run.diagnostics().warning(sql_error!(ER_NOT_SUPPORTED_YET, "sorting of non-scalar JSON values"));
        }
        sorter.finish()
    }
}

impl Operator for Sort<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        let sorted = match &mut self.sorted {
            Some(sorted) => sorted,
            None => {
                let sorted = self.sort(run)?;
                self.sorted.insert(sorted)
            }
        };
        sorted.next(self.width, batch)
    }
}

/// JSON arrays and objects are put in order by their sizes alone: warning 1235.
fn is_sorted_by_size(mode: ComparisonMode, value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Bytes(document) if mode == ComparisonMode::Json => !Node::of(document).is_scalar(),
        _ => false,
    }
}
