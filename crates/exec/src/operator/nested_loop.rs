//! Nested loop join: the inner table is read by key or range for each outer row. Main types: [`NestedLoopJoin`], and [`ReaderScan`]
//! for a reader that stands first.

use super::row_order::RowOrder;
use super::{Operator, all_hold, open};
use crate::batch::{BATCH_ROWS_MAX, RowBatch};
use crate::run::Run;
use crate::spill::key_counts::KeyCounts;
use errors::SqlResult;
use plan::physical::{JoinKind, NestedLoop};
use std::rc::Rc;
use values::{RowRef, Rows};

/// Rows made at first; doubled with each batch, so that a small LIMIT makes few.
const FIRST_ROWS: usize = 16;

/// Reads the inner table for one outer row after the other.
pub trait InnerReader {
    /// Starts reading for an outer row.
    fn start(&mut self, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<()>;

    /// Says how many rows are read ahead at most.
    fn want(&mut self, _rows_max: usize) {}

    /// Fills slots of the last of those rows with the next row that meets the table's conditions; false at the end.
    fn next_row(&mut self, rows: &mut Rows, run: &mut Run<'_, '_>) -> SqlResult<bool>;

    /// Leaves out the rows without one of these integers in a slot, if it can.
    fn narrow(&mut self, _slot: usize, _keys: &Rc<KeyCounts>) {}

    /// Adds what was read for a batch, whose last row is new if one was found, to what the batch takes in memory.
    #[inline]
    fn charge(&mut self, batch: &mut RowBatch, found: bool) {
        if found {
            batch.count_last();
        }
    }

    /// Slots of all rows.
    fn width(&self) -> usize;

    /// Makes an outer row one without a match: the slots that this table fills are NULL.
    fn clear(&self, batch: &mut RowBatch);
}

/// A nested loop join.
pub struct NestedLoopJoin<'p, A, R> {
    join: &'p NestedLoop<A>,
    outer: Box<dyn Operator + 'p>,
    inner: R,
    rows: RowBatch,
    at: usize,
    reading: bool,
    matched: bool,
    order: RowOrder,
}

impl<'p, A, R: InnerReader> NestedLoopJoin<'p, A, R> {
    pub fn new(join: &'p NestedLoop<A>, inner: R, run: &Run<'_, '_>) -> NestedLoopJoin<'p, A, R> {
        NestedLoopJoin {
            join,
            outer: open(&join.outer, run),
            inner,
            rows: RowBatch::new(),
            at: 0,
            reading: false,
            matched: false,
            order: RowOrder::default(),
        }
    }

    /// Moves on to the next outer row; false at the end.
    fn advance(&mut self, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        if self.at >= self.rows.len() {
            self.at = 0;
            if !self.outer.next(run, &mut self.rows)? {
                return Ok(false);
            }
        }
        self.at += 1;
        self.inner.start(self.rows.row(self.at - 1), run)?;
        self.reading = true;
        self.matched = false;
        Ok(true)
    }

    /// Appends the outer row with NULLs in the inner slots.
    fn push_unmatched(&self, batch: &mut RowBatch) {
        batch.push(self.rows.row(self.at - 1));
        self.inner.clear(batch);
    }

    /// Reads one inner row for the outer one. False at the end.
    fn join_one(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        if !self.reading && !self.advance(run)? {
            return Ok(false);
        }
        self.inner.want(batch.readable());
        batch.rows_mut().push(self.rows.row(self.at - 1));
        let found = self.inner.next_row(batch.rows_mut(), run);
        let holds = match found {
            Ok(true) => all_hold(&self.join.conditions, batch.last(), run).map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        if !matches!(holds, Ok(Some(true))) || self.join.kind == JoinKind::Anti {
            batch.pop();
        }
        match holds? {
            Some(true) => {
                self.matched = true;
                self.reading = matches!(self.join.kind, JoinKind::Inner | JoinKind::Left);
                if self.join.kind != JoinKind::Anti {
                    batch.count_last();
                }
            }
            Some(false) => {}
            None => {
                self.reading = false;
                if !self.matched && matches!(self.join.kind, JoinKind::Left | JoinKind::Anti) {
                    self.push_unmatched(batch);
                }
            }
        }
        Ok(true)
    }
}

impl<A, R: InnerReader> Operator for NestedLoopJoin<'_, A, R> {
    fn narrow(&mut self, slot: usize, keys: &Rc<KeyCounts>) {
        self.outer.narrow(slot, keys);
    }

    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.inner.width());
        // One outer row may give all that is wanted.
        self.rows.want_for(batch, if batch.is_limited() { 1 } else { BATCH_ROWS_MAX });
        let mut order = std::mem::take(&mut self.order);
        let outcome = order.fill(run, batch, BATCH_ROWS_MAX, |run, batch| self.join_one(run, batch));
        self.order = order;
        outcome
    }
}

/// The rows of a reader for the one row that stands before the first table.
pub struct ReaderScan<R> {
    reader: R,
    started: bool,
    order: RowOrder,
    rows_wanted: usize,
}

impl<R: InnerReader> ReaderScan<R> {
    pub fn new(reader: R) -> ReaderScan<R> {
        ReaderScan { reader, started: false, order: RowOrder::default(), rows_wanted: FIRST_ROWS }
    }
}

impl<R: InnerReader> Operator for ReaderScan<R> {
    fn narrow(&mut self, slot: usize, keys: &Rc<KeyCounts>) {
        self.reader.narrow(slot, keys);
    }

    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.reader.width());
        if !std::mem::replace(&mut self.started, true) {
            batch.push_empty();
            self.reader.start(batch.last(), run)?;
            batch.pop();
        }
        let (reader, rows_max) = (&mut self.reader, self.rows_wanted);
        self.rows_wanted = (rows_max * 2).min(BATCH_ROWS_MAX);
        self.order.fill(run, batch, rows_max, |run, batch| {
            reader.want(batch.readable());
            batch.push_empty();
            let found = reader.next_row(batch.rows_mut(), run);
            let is_row = matches!(found, Ok(true));
            if !is_row {
                batch.pop();
            }
            reader.charge(batch, is_row);
            found
        })
    }
}
