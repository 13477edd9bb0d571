//! Conditions in the order of rows: row n passes all operators of its pipeline before row n + 1 is looked at, as far as anybody can
//! tell. Main type: [`RowOrder`].
//!
//! Operators make rows in batches. That shows only where making a row reports a condition (a warning or an error) while rows before
//! it lie in the same batch, still to pass what comes after the operator. Then the batch ends before that row: the row and what it
//! reported are held back for the next call. Whether such a row is asked for at all decides who takes the rows: LIMIT does not.

use crate::batch::RowBatch;
use crate::run::Run;
use errors::{SqlResult, TakenConditions};
use values::Value;

/// What an operator holds back between two calls.
#[derive(Default)]
pub struct RowOrder {
    held: Option<Held>,
    /// There are no more rows.
    done: bool,
}

/// A step whose conditions stand behind those of the rows before it.
struct Held {
    /// The row that it made.
    row: Option<Vec<Value>>,
    conditions: TakenConditions,
    outcome: SqlResult<bool>,
}

impl RowOrder {
    /// Whether a row waits to be put out.
    pub fn holds_back(&self) -> bool {
        self.held.is_some()
    }

    /// Puts what was held back into the batch, which is empty.
    pub fn release(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<()> {
        batch.fit_in(run.statement.settings.memory_bytes_max);
        let Some(held) = self.held.take() else { return Ok(()) };
        run.statement.diagnostics.put_back(held.conditions);
        if let Some(row) = held.row {
            batch.reset(row.len());
            batch.push_values(row);
        }
        self.done |= !held.outcome?;
        Ok(())
    }

    /// Makes rows by steps, up to so many, into the batch, which is empty. False if there were none.
    #[inline]
    pub fn fill(
        &mut self,
        run: &mut Run<'_, '_>,
        batch: &mut RowBatch,
        rows_max: usize,
        mut step: impl FnMut(&mut Run<'_, '_>, &mut RowBatch) -> SqlResult<bool>,
    ) -> SqlResult<bool> {
        self.release(run, batch)?;
        while !self.done && batch.len() < rows_max && !batch.is_full() {
            if !self.step(run, batch, &mut step)? {
                break;
            }
        }
        Ok(!batch.is_empty())
    }

    /// Takes a step, which appends one row or none and says whether there are more. False: the batch is to be put out.
    #[inline]
    pub fn step(
        &mut self,
        run: &mut Run<'_, '_>,
        batch: &mut RowBatch,
        step: impl FnOnce(&mut Run<'_, '_>, &mut RowBatch) -> SqlResult<bool>,
    ) -> SqlResult<bool> {
        let rows = batch.len();
        let mark = run.statement.diagnostics.mark();
        let outcome = step(run, batch);
        if rows > 0 && (outcome.is_err() || run.statement.diagnostics.has_reported_since(mark)) {
            let row = (batch.len() > rows).then(|| batch.pop_values());
            let conditions = run.statement.diagnostics.take_since(mark);
            self.held = Some(Held { row, conditions, outcome });
            return Ok(false);
        }
        self.done |= !outcome?;
        Ok(!self.done)
    }
}
