//! Reading an access row by row where the rows lie. Main types: [`DirectScan`], [`Walk`].

use super::column::layout;
use super::filter::DirectFilter;
use crate::actuals::{Loop, StepId};
use crate::run::{Run, engine_error};
use engine::{Direction, KeyRange, ReadMode, Scan, ScanOptions};
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
        let mut walk = self.walk(run)?;
        let going = Cell::new(true);
        let mut show = |row: &[u8], view: &RowView<'_>| going.set(going.get() && visit(row, view));
        while going.get() && self.next_leaf(&mut walk, run, &mut show)? {
            run.check_killed()?;
        }
        Ok(())
    }

    /// Starts reading.
    pub fn walk(&self, run: &mut Run<'_, '_>) -> SqlResult<Walk> {
        let blank = vec![Value::Null; self.access.width];
        let ranges = key_ranges(&self.access.table, &self.access.path, RowRef::Values(&blank), run)?;
        Ok(Walk { ranges: ranges.into_iter(), scan: None, read: Loop::default(), kept: Loop::default() })
    }

    /// Shows the rows of the next leaf that meet the conditions; false behind the last. `visit` runs under a page latch: it may only
    /// compute.
    pub fn next_leaf(
        &self,
        walk: &mut Walk,
        run: &mut Run<'_, '_>,
        visit: &mut dyn FnMut(&[u8], &RowView<'_>),
    ) -> SqlResult<bool> {
        let began = run.began();
        let (access, table) = (self.access, &self.access.table);
        let layout = layout(access);
        let (mut damaged, mut rows, mut kept) = (None, 0u64, 0u64);
        let mut visit_row = |row: &[u8]| {
            rows += 1;
            match RowView::new(layout, row) {
                Ok(view) if self.filters.iter().all(|filter| filter.holds(row, &view)) => {
                    kept += 1;
                    visit(row, &view);
                }
                Ok(_) => {}
                Err(error) => damaged = Some(error),
            }
        };
        let transaction = run.statement.transaction;
        let failed = |error| engine_error(error, table);
        let found = loop {
            if let Some(scan) = &mut walk.scan {
                if scan.visit_leaf(transaction, &mut visit_row).map_err(failed)? {
                    break true;
                }
                walk.scan = None;
            }
            let Some(range) = walk.ranges.next() else { break false };
            walk.scan = Some(transaction.scan(table, self.options(range)).map_err(failed)?);
        };
        run.rows_examined += rows;
        run.gave(StepId::input(access), rows, began, &mut walk.read);
        run.gave(StepId::output(access), kept, began, &mut walk.kept);
        match damaged {
            Some(error) => Err(sql_error!(ER_GET_ERRNO, 126, error)),
            None => Ok(found),
        }
    }

    fn options(&self, range: KeyRange) -> ScanOptions {
        let path = &self.access.path;
        ScanOptions {
            index: path.index,
            range,
            direction: Direction::Forward,
            mode: ReadMode::Consistent,
            covering: path.covering,
            columns: self.access.wanted.clone(),
            ..ScanOptions::default()
        }
    }
}

/// How far a scan has come.
pub struct Walk {
    ranges: std::vec::IntoIter<KeyRange>,
    scan: Option<Scan>,
    /// What EXPLAIN ANALYZE is told: rows that were read, and those that met the conditions.
    read: Loop,
    kept: Loop,
}
