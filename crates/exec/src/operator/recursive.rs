//! WITH RECURSIVE: the steps run over the rows of the last round until there are none.

use super::project::{distinct_key, distinct_modes};
use super::{Operator, collect};
use crate::batch::RowBatch;
use crate::run::Run;
use errors::{SqlResult, sql_error};
use plan::physical::Recursive;
use std::collections::HashSet;
use values::Value;

/// A recursive query.
pub struct RecursiveRun<'p> {
    recursive: &'p Recursive,
    rows: Option<std::vec::IntoIter<Vec<Value>>>,
}

impl<'p> RecursiveRun<'p> {
    pub fn new(recursive: &'p Recursive) -> RecursiveRun<'p> {
        RecursiveRun { recursive, rows: None }
    }

    fn compute(&self, run: &mut Run<'_, '_>) -> SqlResult<Vec<Vec<Value>>> {
        let recursive = self.recursive;
        let modes = distinct_modes(&recursive.columns);
        let depth_max = run.statement.settings.recursion_depth_max;
        let mut seen = HashSet::new();
        let mut key = Vec::new();
        let mut all = Vec::new();
        let mut round = collect(&recursive.seed, run)?;
        let mut depth = 0;
        loop {
            let mut fresh = Vec::with_capacity(round.len());
            for mut row in round {
                row.truncate(recursive.columns.len());
                if !recursive.all {
                    distinct_key(&modes, &row, run, &mut key)?;
                    if !seen.insert(key.clone()) {
                        continue;
                    }
                }
                fresh.push(row);
            }
            if fresh.is_empty() {
                return Ok(all);
            }
            if depth > depth_max {
                return Err(sql_error!(ER_CTE_MAX_RECURSION_DEPTH, depth));
            }
            depth += 1;
            all.extend(fresh.iter().cloned());
            run.recursions[recursive.id] = fresh;
            round = Vec::new();
            for step in &recursive.steps {
                round.extend(collect(step, run)?);
            }
        }
    }
}

impl Operator for RecursiveRun<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        if self.rows.is_none() {
            self.rows = Some(self.compute(run)?.into_iter());
        }
        batch.reset(self.recursive.columns.len());
        let Some(rows) = &mut self.rows else { return Ok(false) };
        while !batch.is_full() {
            let Some(row) = rows.next() else { break };
            batch.push_values(row);
        }
        Ok(!batch.is_empty())
    }
}

/// The rows of the last round.
pub struct RecursiveInput<'p> {
    id: usize,
    columns: &'p [(usize, usize)],
    width: usize,
    at: usize,
}

impl<'p> RecursiveInput<'p> {
    pub fn new(id: usize, columns: &'p [(usize, usize)], width: usize) -> RecursiveInput<'p> {
        RecursiveInput { id, columns, width, at: 0 }
    }
}

impl Operator for RecursiveInput<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.width);
        let Some(rows) = run.recursions.get(self.id) else { return Ok(false) };
        while !batch.is_full() {
            let Some(row) = rows.get(self.at) else { break };
            self.at += 1;
            let slots = batch.push_empty();
            for (column, slot) in self.columns {
                slots[*slot] = row[*column].clone();
            }
        }
        Ok(!batch.is_empty())
    }
}
