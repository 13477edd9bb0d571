//! LIMIT and OFFSET, and the count of SQL_CALC_FOUND_ROWS. Main type: [`Limit`].

use super::Operator;
use crate::batch::{BATCH_ROWS_MAX, RowBatch};
use crate::run::Run;
use errors::{SqlResult, sql_error};
use expression::{EvaluationContext, Expression};
use plan::physical::RowLimit;
use values::{RowRef, Value};

/// A part of the rows.
pub struct Limit<'p> {
    input: Box<dyn Operator + 'p>,
    limit: &'p RowLimit,
    count_all: bool,
    /// Rows still to be left out, and still wanted; known after the first call.
    remaining: Option<(u64, u64)>,
    seen: u64,
    rows: RowBatch,
}

/// The value of a LIMIT expression.
pub fn limit_value(expression: Option<&Expression>, run: &mut Run<'_, '_>) -> SqlResult<Option<u64>> {
    let Some(expression) = expression else { return Ok(None) };
    match expression.evaluate(RowRef::EMPTY, run)? {
        Value::Int(count) if count >= 0 => Ok(Some(count as u64)),
        Value::UInt(count) => Ok(Some(count)),
        Value::Null => Ok(Some(0)),
        _ => Err(sql_error!(ER_WRONG_ARGUMENTS, "LIMIT")),
    }
}

impl<'p> Limit<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, limit: &'p RowLimit, count_all: bool) -> Limit<'p> {
        Limit { input, limit, count_all, remaining: None, seen: 0, rows: RowBatch::new() }
    }

    /// Reads on to count, once the wanted rows are out.
    fn drain(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        if self.count_all {
            self.rows.want(BATCH_ROWS_MAX);
            while self.input.next(run, &mut self.rows)? {
                run.check_killed()?;
                self.seen += self.rows.len() as u64;
            }
            // Of LIMIT around LIMIT the inner one counts.
            run.found_rows.get_or_insert(self.seen);
        }
        Ok(())
    }
}

impl Operator for Limit<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(0);
        let (mut skip, mut wanted) = match self.remaining {
            Some(known) => known,
            None => {
                let skip = limit_value(self.limit.offset.as_ref(), run)?.unwrap_or(0);
                let wanted = limit_value(self.limit.count.as_ref(), run)?.unwrap_or(u64::MAX);
                (skip, wanted)
            }
        };
        let wanted_now = wanted.min(batch.wanted() as u64);
        while wanted > 0 && batch.is_empty() {
            let rows_max = |wanted| usize::try_from(skip.saturating_add(wanted)).unwrap_or(BATCH_ROWS_MAX);
            let rows_now = if run.plan.row_by_row { 1 } else { rows_max(wanted_now) };
            self.rows.want_for(batch, rows_now);
            self.rows.read_no_more(rows_max(wanted));
            if !self.input.next(run, &mut self.rows)? {
                wanted = 0;
                break;
            }
            self.seen += self.rows.len() as u64;
            let from = skip.min(self.rows.len() as u64);
            skip -= from;
            let taken = (self.rows.len() as u64 - from).min(wanted);
            wanted -= taken;
            batch.reset(self.rows.width());
            for at in from..from + taken {
                batch.push_taken(&mut self.rows, at as usize);
            }
        }
        self.remaining = Some((skip, wanted));
        if batch.is_empty() {
            self.drain(run)?;
            return Ok(false);
        }
        Ok(true)
    }
}
