//! Filter, projection and DISTINCT.

use super::row_order::RowOrder;
use super::{Operator, all_hold, append_key};
use crate::batch::{RowBatch, long_bytes};
use crate::run::Run;
use crate::spill::ExactSlots;
use crate::spill::key_counts::KeyCounts;
use crate::spill::{KeySet, LongHeld};
use errors::SqlResult;
use expression::operators::ComparisonMode;
use expression::{Expression, Operand, ResultType};
use std::collections::HashMap;
use std::rc::Rc;
use values::{RowRef, ValueRef};

/// Rows for which all conditions hold.
pub struct Filter<'p> {
    input: Box<dyn Operator + 'p>,
    conditions: &'p [Expression],
    /// Rows of the input, and how many of them were looked at.
    rows: RowBatch,
    at: usize,
    order: RowOrder,
}

impl<'p> Filter<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, conditions: &'p [Expression]) -> Filter<'p> {
        Filter { input, conditions, rows: RowBatch::new(), at: 0, order: RowOrder::default() }
    }
}

impl Operator for Filter<'_> {
    fn narrow(&mut self, slot: usize, keys: &Rc<KeyCounts>) {
        self.input.narrow(slot, keys);
    }

    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(0);
        self.rows.want_for(batch, batch.wanted());
        self.order.release(run, batch)?;
        let (rows, at) = (&mut self.rows, &mut self.at);
        while batch.is_empty() {
            if *at >= rows.len() {
                *at = 0;
                if !self.input.next(run, rows)? {
                    return Ok(false);
                }
            }
            batch.reset(rows.width());
            let mut goes_on = true;
            while goes_on && *at < rows.len() {
                goes_on = self.order.step(run, batch, |run, batch| {
                    *at += 1;
                    if all_hold(self.conditions, rows.row(*at - 1), run)? {
                        batch.push_taken(rows, *at - 1);
                    }
                    Ok(true)
                })?;
            }
        }
        Ok(true)
    }
}

/// Rows of expressions.
pub struct Project<'p> {
    input: Box<dyn Operator + 'p>,
    expressions: &'p [Expression],
    /// For each expression the slot that it may take instead of copying: nothing else reads it.
    taken: Vec<Option<usize>>,
    /// Rows of the input, and how many of them were handed on.
    rows: RowBatch,
    at: usize,
    order: RowOrder,
    /// What the longest batch took.
    held: LongHeld,
}

/// The slot of each expression that is a plain column and the only reader of its slot.
fn taken_slots(expressions: &[Expression]) -> Vec<Option<usize>> {
    let mut readers: HashMap<usize, u32> = HashMap::new();
    for slot in expressions.iter().flat_map(Expression::slots) {
        *readers.entry(slot).or_default() += 1;
    }
    let only_reader = |slot: &usize| readers.get(slot) == Some(&1);
    expressions.iter().map(|expression| expression.column_slot().filter(only_reader)).collect()
}

impl<'p> Project<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, expressions: &'p [Expression]) -> Project<'p> {
        Project {
            input,
            expressions,
            taken: taken_slots(expressions),
            rows: RowBatch::new(),
            at: 0,
            order: RowOrder::default(),
            held: LongHeld::default(),
        }
    }
}

impl Project<'_> {
    /// Computes the next row of the input.
    #[inline]
    fn compute(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<()> {
        let bytes_before = batch.bytes();
        let mut made_bytes = 0;
        batch.push_empty();
        for ((slot, expression), taken) in self.expressions.iter().enumerate().zip(&self.taken) {
            // What is taken is counted already, by who made it.
            if let Some(taken) = taken {
                batch.set_taken(slot, &mut self.rows, self.at, *taken);
                continue;
            }
            match expression.operand(self.rows.row(self.at), run)? {
                Operand::Owned(value) => {
                    made_bytes += long_bytes(std::slice::from_ref(&value));
                    batch.rows_mut().set_value(slot, value);
                }
                operand => {
                    made_bytes += operand.as_ref().long_bytes();
                    batch.set(slot, operand.as_ref());
                }
            }
            self.held.reach(bytes_before + made_bytes, || run.workspace().clone())?;
        }
        batch.count_bytes(made_bytes);
        self.at += 1;
        Ok(())
    }
}

impl Operator for Project<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.expressions.len());
        if self.at >= self.rows.len() && !self.order.holds_back() {
            self.rows.want_for(batch, batch.wanted());
            self.at = 0;
            if !self.input.next(run, &mut self.rows)? {
                return Ok(false);
            }
        }
        let mut order = std::mem::take(&mut self.order);
        let outcome = order.release(run, batch).and_then(|()| {
            while self.at < self.rows.len() && !batch.is_long() {
                if !order.step(run, batch, |run, batch| self.compute(run, batch).map(|()| true))? {
                    break;
                }
            }
            Ok(true)
        });
        self.order = order;
        outcome
    }
}

/// Types of columns with the way their values are told apart.
pub fn distinct_modes(columns: &[ResultType]) -> Vec<(ComparisonMode, values::ColumnType)> {
    columns.iter().map(|result| (ComparisonMode::for_ordering(result), result.column_type.clone())).collect()
}

/// The bytes that tell a row from others.
pub fn distinct_key(
    modes: &[(ComparisonMode, values::ColumnType)],
    row: RowRef<'_>,
    run: &mut Run<'_, '_>,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    out.clear();
    for ((mode, column_type), value) in modes.iter().zip(row.iter()) {
        match value {
            // A temporary table keeps no more decimals than its column has.
            ValueRef::Decimal(number) if number.scale() > column_type.scale() => {
                let kept = number.shown_with(column_type.scale());
                append_key(*mode, ValueRef::Decimal(&kept), column_type, run, out)?
            }
            _ => append_key(*mode, value, column_type, run, out)?,
        };
    }
    Ok(())
}

/// Rows that differ from all before in their first columns.
pub struct Distinct<'p> {
    input: Box<dyn Operator + 'p>,
    modes: Vec<(ComparisonMode, values::ColumnType)>,
    exact: ExactSlots,
    seen: Option<KeySet>,
    rows: RowBatch,
    key: Vec<u8>,
}

impl<'p> Distinct<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, columns: &'p [ResultType]) -> Distinct<'p> {
        let modes = distinct_modes(columns);
        let exact = ExactSlots::of(columns.iter().enumerate());
        Distinct { input, modes, exact, seen: None, rows: RowBatch::new(), key: Vec::new() }
    }
}

impl Operator for Distinct<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        let seen = self.seen.get_or_insert_with(|| run.key_set());
        batch.reset(0);
        self.rows.want_for(batch, batch.wanted());
        while batch.is_empty() {
            if !self.input.next(run, &mut self.rows)? {
                return Ok(false);
            }
            batch.reset(self.rows.width());
            for at in 0..self.rows.len() {
                distinct_key(&self.modes, self.rows.row(at), run, &mut self.key)?;
                if seen.insert(&self.key)? {
                    batch.push_taken(&mut self.rows, at);
                    self.exact.keep_decimals(batch.rows_mut());
                }
            }
        }
        Ok(true)
    }
}
