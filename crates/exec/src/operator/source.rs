//! Sources without an engine table: nothing, one row, VALUES, derived tables, COUNT(*).

use super::row_order::RowOrder;
use super::{Operator, all_hold, collect, open};
use crate::actuals::{Loop, StepId};
use crate::batch::{BATCH_ROWS_MAX, RowBatch, long_bytes};
use crate::run::{Run, engine_error};
use crate::spill::ExactSlots;
use crate::spill::{LongHeld, RowCursor, RowStore};
use engine::{EngineResult, ReadMode, ScanOptions, Table};
use errors::SqlResult;
use expression::{EvaluationContext, Expression};
use plan::physical::{DerivedAccess, TableAccess};
use plan::silent::is_silent;
use std::rc::Rc;
use std::sync::Arc;
use values::{RowRef, Value};

/// No rows.
pub struct Nothing;

impl Operator for Nothing {
    fn next(&mut self, _run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(0);
        Ok(false)
    }
}

/// One row of NULLs, or of the seeds that the join around is opened with.
pub struct OneRow {
    width: usize,
    is_seeded: bool,
    done: bool,
}

impl OneRow {
    pub fn new(width: usize, is_seeded: bool) -> OneRow {
        OneRow { width, is_seeded, done: false }
    }
}

impl Operator for OneRow {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.width);
        if !std::mem::replace(&mut self.done, true) {
            batch.push_empty();
            let seeds = run.seeds.last().filter(|_| self.is_seeded);
            seeds.into_iter().flatten().for_each(|(slot, value)| batch.set(*slot, value.as_ref()));
        }
        Ok(!batch.is_empty())
    }
}

/// Rows of expressions.
pub struct ValuesRows<'p> {
    rows: std::slice::Iter<'p, Vec<Expression>>,
    held: LongHeld,
}

impl<'p> ValuesRows<'p> {
    pub fn new(rows: &'p [Vec<Expression>]) -> ValuesRows<'p> {
        ValuesRows { rows: rows.iter(), held: LongHeld::default() }
    }
}

impl Operator for ValuesRows<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.rows.as_slice().first().map_or(0, Vec::len));
        while !batch.is_full() {
            let Some(row) = self.rows.next() else { break };
            let mut bytes = batch.bytes();
            let mut values = Vec::with_capacity(row.len());
            for expression in row {
                values.push(expression.evaluate(RowRef::EMPTY, run)?);
                bytes += values.last().map_or(0, |value| long_bytes(std::slice::from_ref(value)));
                self.held.reach(bytes, || run.workspace().clone())?;
            }
            batch.count_bytes(bytes - batch.bytes());
            batch.push_values(values);
        }
        Ok(!batch.is_empty())
    }
}

/// Where the rows of a subquery in FROM come from.
enum DerivedRows<'p> {
    Computed(Box<dyn Operator + 'p>),
    Kept(Rc<RowStore>, RowCursor),
}

impl DerivedRows<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        match self {
            DerivedRows::Computed(operator) => operator.next(run, batch),
            DerivedRows::Kept(rows, cursor) => {
                run.check_killed()?;
                cursor.next(rows, rows.len(), batch)
            }
        }
    }
}

/// Rows of a subquery in FROM.
pub struct Derived<'p> {
    access: &'p DerivedAccess,
    exact: ExactSlots,
    /// Known from the first call.
    input: Option<DerivedRows<'p>>,
    /// Rows of the input, and how many of them were looked at.
    rows: RowBatch,
    at: usize,
    order: RowOrder,
    read: Loop,
}

impl<'p> Derived<'p> {
    pub fn new(access: &'p DerivedAccess) -> Derived<'p> {
        let columns = access.columns.iter();
        let exact = ExactSlots::of(columns.map(|(at, slot)| (*slot, &access.query.columns[*at].result)));
        Derived {
            access,
            exact,
            input: None,
            rows: RowBatch::new(),
            at: 0,
            order: RowOrder::default(),
            read: Loop::default(),
        }
    }

    /// A common table that is used more than once is computed by who asks first, and what is kept for the first row around it.
    fn start(access: &'p DerivedAccess, singly: bool, run: &mut Run<'_, '_>) -> SqlResult<DerivedRows<'p>> {
        let root = &access.query.root;
        let common = access.common_table.map(|at| &run.plan.common_tables[at]).filter(|table| table.uses > 1);
        let step = common.map_or_else(|| StepId::input(access), StepId::input);
        if let Some(rows) = run.shared_rows.get(&step) {
            return Ok(DerivedRows::Kept(rows.clone(), RowCursor::new()));
        }
        // Who looks at each row before the next sees that MySQL makes a temporary table first.
        let is_seen = singly && root.is_kept_in_from() && !is_silent(root) && access.common_table.is_none();
        if common.is_none() && !access.kept && !is_seen {
            return Ok(DerivedRows::Computed(open(root, run)));
        }
        let rows = Rc::new(collect(root, run)?);
        if common.is_some() || access.kept && access.query.outer.is_empty() {
            run.shared_rows.insert(step, rows.clone());
        }
        Ok(DerivedRows::Kept(rows, RowCursor::new()))
    }

    /// The next rows of the input. Where MySQL keeps the subquery's rows in a temporary table, all of them are computed as soon as one
    /// reports a condition: what comes after them reports behind all of that.
    fn read(&mut self, run: &mut Run<'_, '_>, batch: &RowBatch) -> SqlResult<bool> {
        self.at = 0;
        self.rows.want_for(batch, batch.wanted());
        let input = match &mut self.input {
            Some(input) => input,
            None => self.input.insert(Derived::start(self.access, batch.is_single(), run)?),
        };
        let mark = run.statement.diagnostics.mark();
        if !input.next(run, &mut self.rows)? {
            return Ok(false);
        }
        if let DerivedRows::Computed(operator) = input
            && run.statement.diagnostics.has_reported_since(mark)
            && self.access.query.root.is_kept_in_from()
        {
            let mut kept = run.row_store();
            loop {
                run.check_killed()?;
                self.rows.iter().try_for_each(|row| kept.push(row))?;
                self.rows.want(BATCH_ROWS_MAX);
                if !operator.next(run, &mut self.rows)? {
                    break;
                }
            }
            *input = DerivedRows::Kept(Rc::new(kept), RowCursor::new());
            return input.next(run, &mut self.rows);
        }
        Ok(true)
    }
}

impl Operator for Derived<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(self.access.width);
        self.order.release(run, batch)?;
        while batch.is_empty() {
            if self.at >= self.rows.len() {
                let began = run.began();
                let more = self.read(run, batch)?;
                run.gave(StepId::input(self.access), self.rows.len() as u64, began, &mut self.read);
                if !more {
                    return Ok(false);
                }
            }
            let (access, exact, rows, at) = (self.access, &self.exact, &self.rows, &mut self.at);
            let mut goes_on = true;
            while goes_on && *at < rows.len() {
                goes_on = self.order.step(run, batch, |run, batch| {
                    let row = rows.row(*at);
                    batch.push_empty();
                    *at += 1;
                    for (position, slot) in &access.columns {
                        batch.set(*slot, row.get(*position));
                    }
                    exact.keep_decimals(batch.rows_mut());
                    if !all_hold(&access.conditions, batch.last(), run)? {
                        batch.pop();
                    }
                    Ok(true)
                })?;
            }
        }
        Ok(true)
    }
}

/// Locks the rows of a table, or their entries in its shortest index, and counts them.
fn locked_count(run: &Run<'_, '_>, table: &Arc<Table>, mode: ReadMode) -> EngineResult<u64> {
    let stored_bytes = |number: &usize| {
        let columns = table.indexes()[*number].key_columns().iter();
        columns
            .map(|column| u64::from(table.definition().columns[*column].column_type.row_bytes()))
            .sum::<u64>()
    };
    let has_all_rows = |number: &usize| !table.indexes()[*number].is_multi_valued();
    let index = (1..table.indexes().len()).filter(has_all_rows).min_by_key(stored_bytes).unwrap_or(0);
    let options = ScanOptions { index, mode, covering: true, ..ScanOptions::default() };
    let transaction = run.statement.transaction;
    let (mut scan, mut batch, mut count) = (transaction.scan(table, options)?, engine::RowBatch::new(), 0);
    while scan.next_batch(transaction, &mut batch, BATCH_ROWS_MAX)? {
        count += batch.len() as u64;
    }
    Ok(count)
}

/// The number of rows of a table.
pub struct Count<'p> {
    access: &'p TableAccess,
    done: bool,
}

impl<'p> Count<'p> {
    pub fn new(access: &'p TableAccess) -> Count<'p> {
        Count { access, done: false }
    }
}

impl Operator for Count<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        batch.reset(1);
        if std::mem::replace(&mut self.done, true) {
            return Ok(false);
        }
        run.check_killed()?;
        let table = &self.access.table;
        let count = match run.read_mode(self.access.lock) {
            ReadMode::Consistent => run.statement.transaction.count(table, 0, &engine::KeyRange::all()),
            mode => locked_count(run, table, mode),
        };
        let count = count.map_err(|error| engine_error(error, table))?;
        batch.push(RowRef::Values(&[Value::Int(i64::try_from(count).unwrap_or(i64::MAX))]));
        Ok(true)
    }
}
