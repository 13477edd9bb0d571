//! Nested loop join: the inner table is read by key or range for each outer row.

use super::direct::key_set::KeyCounts;
use super::row_order::RowOrder;
use super::table::TableReader;
use super::{Operator, all_hold, open};
use crate::batch::{BATCH_ROWS_MAX, RowBatch};
use crate::run::Run;
use errors::SqlResult;
use plan::physical::{JoinKind, NestedLoop};
use std::rc::Rc;
use values::ValueRef;

/// A nested loop join.
pub struct NestedLoopJoin<'p> {
    join: &'p NestedLoop,
    outer: Box<dyn Operator + 'p>,
    inner: TableReader<'p>,
    rows: RowBatch,
    at: usize,
    reading: bool,
    matched: bool,
    order: RowOrder,
}

impl<'p> NestedLoopJoin<'p> {
    pub fn new(join: &'p NestedLoop, run: &Run<'_, '_>) -> NestedLoopJoin<'p> {
        NestedLoopJoin {
            join,
            outer: open(&join.outer, run),
            inner: TableReader::new(&join.inner),
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
        let columns = self.join.inner.columns.iter().map(|(_, slot)| *slot);
        for slot in columns.chain(self.join.inner.key_slot) {
            batch.set(slot, ValueRef::Null);
        }
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

impl Operator for NestedLoopJoin<'_> {
    fn narrow(&mut self, slot: usize, keys: &Rc<KeyCounts>) {
        self.outer.narrow(slot, keys);
    }

    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.join.inner.width);
        // One outer row may give all that is wanted.
        self.rows.want_for(batch, if batch.is_limited() { 1 } else { BATCH_ROWS_MAX });
        let mut order = std::mem::take(&mut self.order);
        let outcome = order.fill(run, batch, BATCH_ROWS_MAX, |run, batch| self.join_one(run, batch));
        self.order = order;
        outcome
    }
}
