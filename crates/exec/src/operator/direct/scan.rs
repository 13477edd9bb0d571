//! Reading an access row by row where the rows lie. Main type: [`DirectScan`].

use super::column::layout;
use super::filter::DirectFilter;
use crate::actuals::{Loop, StepId};
use crate::run::{Run, engine_error};
use engine::{Direction, ReadMode, ScanOptions};
use errors::{SqlResult, sql_error};
use expression::EvaluationContext;
use plan::physical::{RowLock, TableAccess};
use plan::range::{conditions_are_implied, key_ranges};
use std::cell::Cell;
use values::row::RowView;
use values::{RowRef, Value};

/// A scan whose conditions are all decided on stored bytes.
pub struct DirectScan<'p> {
    /// What is read.
    pub access: &'p TableAccess,
    filters: Vec<DirectFilter>,
}

/// Whether an access can be read directly, as far as the plan tells.
pub fn is_direct(access: &TableAccess, run: &Run<'_, '_>) -> bool {
    access.lock == RowLock::None
        && run.read_mode(access.lock) == ReadMode::Consistent
        && access.key_slot.is_none()
        && !access.path.single_row
        && access.path.union.is_empty()
        && access.path.skip_parts == 0
        && (access.path.index == 0 || access.path.covering)
}

impl<'p> DirectScan<'p> {
    /// The scan of an access; None if one of its conditions is not simple.
    pub fn new(access: &'p TableAccess, run: &mut Run<'_, '_>) -> SqlResult<Option<DirectScan<'p>>> {
        if !is_direct(access, run) {
            return Ok(None);
        }
        let mut filters = Vec::new();
        // Every row of some ranges meets the conditions that made them.
        let conditions = if conditions_are_implied(access) { &[][..] } else { &access.conditions[..] };
        for condition in conditions {
            let Some(more) = DirectFilter::of(access, condition, run)? else { return Ok(None) };
            filters.extend(more);
        }
        Ok(Some(DirectScan { access, filters }))
    }

    /// Shows all rows that meet the conditions, until `visit` says false. It runs under a page latch: it may only compute.
    pub fn for_each(
        &self,
        run: &mut Run<'_, '_>,
        visit: &mut dyn FnMut(&[u8], &RowView<'_>) -> bool,
    ) -> SqlResult<()> {
        let began = run.began();
        let (access, table) = (self.access, &self.access.table);
        let layout = layout(access);
        let blank = vec![Value::Null; access.width];
        let (mut damaged, mut rows, mut kept) = (None, 0u64, 0u64);
        let going = Cell::new(true);
        let mut visit_row = |row: &[u8]| {
            rows += 1;
            match RowView::new(layout, row) {
                Ok(view) if self.filters.iter().all(|filter| filter.holds(row, &view)) => {
                    kept += 1;
                    going.set(going.get() && visit(row, &view));
                }
                Ok(_) => {}
                Err(error) => damaged = Some(error),
            }
        };
        for range in key_ranges(table, &access.path, RowRef::Values(&blank), run)? {
            let transaction = run.statement.transaction;
            let options = ScanOptions {
                index: access.path.index,
                range,
                direction: Direction::Forward,
                mode: ReadMode::Consistent,
                covering: access.path.covering,
                columns: access.wanted.clone(),
            };
            let mut scan = transaction.scan(table, options).map_err(|error| engine_error(error, table))?;
            let leaf = |error| engine_error(error, table);
            while going.get() && scan.visit_leaf(transaction, &mut visit_row).map_err(leaf)? {
                run.check_killed()?;
            }
        }
        run.rows_examined += rows;
        run.gave(StepId::input(access), rows, began, &mut Loop::default());
        run.gave(StepId::output(access), kept, began, &mut Loop::default());
        match damaged {
            Some(error) => Err(sql_error!(ER_GET_ERRNO, 126, error)),
            None => Ok(()),
        }
    }
}
