//! Filter, projection and DISTINCT.

use super::{Operator, all_hold, append_key};
use crate::batch::RowBatch;
use crate::run::Run;
use errors::SqlResult;
use expression::operators::ComparisonMode;
use expression::{Expression, ResultType};
use std::collections::HashSet;
use values::Value;

/// Rows for which all conditions hold.
pub struct Filter<'p> {
    input: Box<dyn Operator + 'p>,
    conditions: &'p [Expression],
    rows: RowBatch,
}

impl<'p> Filter<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, conditions: &'p [Expression]) -> Filter<'p> {
        Filter { input, conditions, rows: RowBatch::new() }
    }
}

impl Operator for Filter<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(0);
        while batch.is_empty() {
            if !self.input.next(run, &mut self.rows)? {
                return Ok(false);
            }
            batch.reset(self.rows.row(0).len());
            for row in self.rows.iter() {
                if all_hold(self.conditions, row, run)? {
                    batch.push(row);
                }
            }
        }
        Ok(true)
    }
}

/// Rows of expressions.
pub struct Project<'p> {
    input: Box<dyn Operator + 'p>,
    expressions: &'p [Expression],
    rows: RowBatch,
}

impl<'p> Project<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, expressions: &'p [Expression]) -> Project<'p> {
        Project { input, expressions, rows: RowBatch::new() }
    }
}

impl Operator for Project<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.expressions.len());
        if !self.input.next(run, &mut self.rows)? {
            return Ok(false);
        }
        for row in self.rows.iter() {
            let target = batch.push_empty();
            for (slot, expression) in target.iter_mut().zip(self.expressions) {
                *slot = expression.evaluate(row, run)?;
            }
        }
        Ok(true)
    }
}

/// Types of columns with the way their values are told apart.
pub fn distinct_modes(columns: &[ResultType]) -> Vec<(ComparisonMode, values::ColumnType)> {
    columns.iter().map(|result| (ComparisonMode::for_ordering(result), result.column_type.clone())).collect()
}

/// The bytes that tell a row from others.
pub fn distinct_key(
    modes: &[(ComparisonMode, values::ColumnType)],
    row: &[Value],
    run: &mut Run<'_, '_>,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    out.clear();
    for ((mode, column_type), value) in modes.iter().zip(row) {
        append_key(*mode, value, column_type, run, out)?;
    }
    Ok(())
}

/// Rows that differ from all before in their first columns.
pub struct Distinct<'p> {
    input: Box<dyn Operator + 'p>,
    modes: Vec<(ComparisonMode, values::ColumnType)>,
    seen: HashSet<Box<[u8]>>,
    rows: RowBatch,
    key: Vec<u8>,
}

impl<'p> Distinct<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, columns: &'p [ResultType]) -> Distinct<'p> {
        Distinct {
            input,
            modes: distinct_modes(columns),
            seen: HashSet::new(),
            rows: RowBatch::new(),
            key: Vec::new(),
        }
    }
}

impl Operator for Distinct<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(0);
        while batch.is_empty() {
            if !self.input.next(run, &mut self.rows)? {
                return Ok(false);
            }
            batch.reset(self.rows.row(0).len());
            for row in self.rows.iter() {
                distinct_key(&self.modes, row, run, &mut self.key)?;
                if !self.seen.contains(self.key.as_slice()) {
                    run.charge(self.key.len() + 32)?;
                    self.seen.insert(self.key.clone().into_boxed_slice());
                    batch.push(row);
                }
            }
        }
        Ok(true)
    }
}
