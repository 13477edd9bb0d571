//! UNION, INTERSECT and EXCEPT over whole operands. Main type: [`SetOperationRun`].

use super::project::{distinct_key, distinct_modes};
use super::{Operator, collect};
use crate::batch::RowBatch;
use crate::run::Run;
use errors::SqlResult;
use parser::ast::SetOperator;
use plan::physical::SetOperation;
use std::collections::{HashMap, HashSet};
use values::Value;

/// A set operation.
pub struct SetOperationRun<'p> {
    operation: &'p SetOperation,
    rows: Option<std::vec::IntoIter<Vec<Value>>>,
}

impl<'p> SetOperationRun<'p> {
    pub fn new(operation: &'p SetOperation) -> SetOperationRun<'p> {
        SetOperationRun { operation, rows: None }
    }

    fn compute(&self, run: &mut Run<'_, '_>) -> SqlResult<Vec<Vec<Value>>> {
        let width = self.operation.columns.len();
        let modes = distinct_modes(&self.operation.columns);
        let mut rows = collect(&self.operation.first, run)?;
        rows.iter_mut().for_each(|row| row.truncate(width));
        let mut key = Vec::new();
        for term in &self.operation.rest {
            let mut more = collect(&term.node, run)?;
            more.iter_mut().for_each(|row| row.truncate(width));
            if term.operator == SetOperator::Union {
                rows.append(&mut more);
                if !term.all {
                    rows = distinct(rows, &modes, run)?;
                }
                continue;
            }
            let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
            for row in &more {
                distinct_key(&modes, row, run, &mut key)?;
                *counts.entry(key.clone()).or_default() += 1;
            }
            let mut kept = Vec::new();
            for row in rows {
                distinct_key(&modes, &row, run, &mut key)?;
                let count = counts.get_mut(&key).filter(|count| **count > 0);
                let found = count.is_some();
                if term.all
                    && let Some(count) = count
                {
                    *count -= 1;
                }
                if found == (term.operator == SetOperator::Intersect) {
                    kept.push(row);
                }
            }
            rows = if term.all { kept } else { distinct(kept, &modes, run)? };
        }
        Ok(rows)
    }
}

fn distinct(
    rows: Vec<Vec<Value>>,
    modes: &[(expression::operators::ComparisonMode, values::ColumnType)],
    run: &mut Run<'_, '_>,
) -> SqlResult<Vec<Vec<Value>>> {
    let mut seen = HashSet::new();
    let mut kept = Vec::with_capacity(rows.len());
    let mut key = Vec::new();
    for row in rows {
        distinct_key(modes, &row, run, &mut key)?;
        if seen.insert(key.clone()) {
            kept.push(row);
        }
    }
    Ok(kept)
}

impl Operator for SetOperationRun<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        if self.rows.is_none() {
            self.rows = Some(self.compute(run)?.into_iter());
        }
        batch.reset(self.operation.columns.len());
        let Some(rows) = &mut self.rows else { return Ok(false) };
        while !batch.is_full() {
            let Some(row) = rows.next() else { break };
            batch.push_values(row);
        }
        Ok(!batch.is_empty())
    }
}
