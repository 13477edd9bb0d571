//! GROUP BY over rows that come group by group: each group is put out when the next one begins, so that only one is in memory and
//! LIMIT ends the reading. Main type: [`GroupsInOrder`].

use super::direct::{self, DirectOrder};
use super::group::Group;
use super::row_order::RowOrder;
use super::{Operator, append_key, open};
use crate::batch::{BATCH_ROWS_MAX, RowBatch};
use crate::run::Run;
use crate::spill::LongHeld;
use errors::SqlResult;
use expression::EvaluationContext;
use expression::operators::ComparisonMode;
use plan::physical::{Aggregate, Node};
use values::{Rows, Value};

/// Grouping of rows whose groups lie together.
pub struct GroupsInOrder<'p> {
    step: &'p Aggregate,
    modes: Vec<ComparisonMode>,
    input: Option<Box<dyn Operator + 'p>>,
    /// Groups are made where the rows lie, without the input.
    direct: Option<DirectOrder<'p>>,
    /// Groups of a join that are made so, all at once.
    joined: Option<std::vec::IntoIter<Vec<Value>>>,
    rows: RowBatch,
    at: usize,
    /// The group that rows are added to.
    group: Option<Group>,
    /// Its key, and that of the row that is looked at.
    key: Vec<u8>,
    row_key: Vec<u8>,
    /// The values of the latter.
    row_keys: Rows,
    /// Whether these are known already.
    has_key: bool,
    order: RowOrder,
    held: LongHeld,
}

impl<'p> GroupsInOrder<'p> {
    pub fn new(step: &'p Aggregate) -> GroupsInOrder<'p> {
        debug_assert!(!step.rollup && !step.sorts && !step.keys.is_empty());
        GroupsInOrder {
            step,
            modes: step.keys.iter().map(|key| ComparisonMode::for_ordering(&key.result)).collect(),
            input: None,
            direct: None,
            joined: None,
            rows: RowBatch::new(),
            at: 0,
            group: None,
            key: Vec::new(),
            row_key: Vec::new(),
            row_keys: Rows::default(),
            has_key: false,
            order: RowOrder::default(),
            held: LongHeld::default(),
        }
    }

    /// Under a LIMIT rows are looked at one by one: whole leaves would be read for nothing.
    fn open_input(&mut self, is_limited: bool, run: &mut Run<'_, '_>) -> SqlResult<()> {
        if !is_limited {
            self.direct = DirectOrder::of(self.step, run)?;
            if let Node::HashJoin(_) = &self.step.input {
                self.joined = direct::aggregate(self.step, run)?.map(Vec::into_iter);
            }
        }
        if self.direct.is_none() && self.joined.is_none() {
            self.input = Some(open(&self.step.input, run));
        }
        Ok(())
    }

    /// Reads rows until a group has ended, and puts that out. False at the end of the rows.
    fn next_group(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        loop {
            if self.at >= self.rows.len() && !self.read(run)? {
                self.put_out(run, batch)?;
                return Ok(false);
            }
            if !std::mem::take(&mut self.has_key) {
                self.find_key(run)?;
            }
            if self.group.is_some() && self.key != self.row_key {
                self.has_key = true;
                self.put_out(run, batch)?;
                return Ok(true);
            }
            if self.group.is_none() {
                std::mem::swap(&mut self.key, &mut self.row_key);
                let keys = self.row_keys.row(0).to_values();
                self.group = Some(Group::new(self.step, keys, self.step.keys.len(), 0));
            }
            if let Some(group) = &mut self.group {
                group.add(self.step, self.rows.row(self.at), run)?;
            }
            self.at += 1;
        }
    }

    /// Reads more rows; false at the end.
    fn read(&mut self, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        run.check_killed()?;
        self.at = 0;
        match &mut self.input {
            Some(input) => input.next(run, &mut self.rows),
            None => Ok(false),
        }
    }

    /// Computes the key of the row that is looked at.
    fn find_key(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let row = self.rows.row(self.at);
        self.row_key.clear();
        self.row_keys.reset(self.step.keys.len());
        self.row_keys.push_empty();
        for (at, (expression, mode)) in self.step.keys.iter().zip(&self.modes).enumerate() {
            let value = expression.operand(row, run)?;
            append_key(*mode, value.as_ref(), &expression.result.column_type, run, &mut self.row_key)?;
            self.row_keys.set(at, value.as_ref());
        }
        self.held.reach(self.row_key.len() + self.row_keys.bytes(), || run.workspace().clone())
    }

    fn put_out(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<()> {
        if let Some(mut group) = self.group.take() {
            batch.push_values(group.finish(self.step, run)?);
            batch.count_last();
        }
        Ok(())
    }
}

impl Operator for GroupsInOrder<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.step.keys.len() + self.step.aggregates.len());
        if self.input.is_none() && self.direct.is_none() && self.joined.is_none() {
            self.open_input(batch.is_limited(), run)?;
        }
        if let Some(direct) = &mut self.direct {
            return direct.next(run, batch);
        }
        if let Some(joined) = &mut self.joined {
            joined.take(BATCH_ROWS_MAX).for_each(|row| batch.push_values(row));
            return Ok(!batch.is_empty());
        }
        self.rows.want_for(batch, if batch.is_limited() { 1 } else { BATCH_ROWS_MAX });
        let mut order = std::mem::take(&mut self.order);
        let outcome = order.fill(run, batch, BATCH_ROWS_MAX, |run, batch| self.next_group(run, batch));
        self.order = order;
        outcome
    }
}
