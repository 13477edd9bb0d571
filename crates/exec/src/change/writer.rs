//! Putting rows into a table, many at a time where nothing in the statement can notice. Main type: [`Writer`].
//! What a row does that meets one with the same key is in `conflict`.

mod conflict;

use super::auto_increment::{GeneratedIds, moves_row_by_row};
use super::checks::meets_checks;
use super::generated::generate;
use super::long_columns::LongColumns;
use super::parents::has_parents;
use super::row::{complete, duplicate_error, encoded, stopped_by};
use super::row_buffer::{RowBuffer, stored_values};
use crate::run::{Run, engine_error};
use crate::spill::Held;
use crate::storing::Storing;
use engine::EngineError;
use errors::{DiagnosticsMark, SqlError, SqlResult, code};
use expression::EvaluationContext;
use plan::{InsertPlan, InsertRows, Steps};
use values::Value;
use values::row::ColumnSet;

/// Rows that are handed to the engine at once.
const BULK_ROWS_MAX: usize = 1 << 18;
/// Bytes of rows that are handed to the engine at once.
const BULK_BYTES_MAX: usize = 48 << 20;
/// Rows that wait are charged to the statement in such steps.
const HELD_STEP_BYTES: u64 = 1 << 20;
/// Where a duplicate is no error and one was found among some rows, they are tried again in groups of these sizes, and
/// then one by one.
const GROUP_ROWS: [usize; 2] = [4096, 64];
/// Groups that fail one after another before the rest is tried in smaller ones.
const FAILURES_MAX: usize = 3;

/// Counts of a statement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Rows given.
    pub records: u64,
    /// Rows that were in the way and were replaced, updated or left.
    pub duplicates: u64,
    /// Affected rows.
    pub affected: u64,
    /// First generated AUTO_INCREMENT value whose row went in.
    pub generated: Option<u64>,
    /// AUTO_INCREMENT value of the last row that was given.
    pub last_id: u64,
}

/// Puts rows into a table.
pub struct Writer<'p> {
    plan: &'p InsertPlan,
    storing: Storing,
    counts: Counts,
    /// Rows that were left out before they could meet others: the client is not told of them.
    left_out: u64,
    ids: GeneratedIds,
    /// Rows waiting for the engine.
    waiting: RowBuffer,
    /// Their memory.
    held: Option<Held>,
    /// The ids before the first waiting row.
    ids_before: GeneratedIds,
    /// Whether the waiting rows have generated ids; else each one's explicit value is in `explicit` (0 for none).
    generated: bool,
    explicit: Vec<u64>,
    /// What was reported when the first row came to wait.
    reported: DiagnosticsMark,
    /// Waiting rows that brought conditions themselves, with what was reported then.
    reports: Vec<(usize, DiagnosticsMark)>,
    /// Where the warning of a duplicate belongs among the conditions, if rows behind it were converted before.
    duplicates_reported_at: Option<usize>,
    /// Whether rows wait for others.
    bulk: bool,
    /// Whether parents are asked for behind generated ids, which are keys themselves. Such rows do not wait.
    refers_by_id: bool,
    /// Columns of a row that is there already that ON DUPLICATE KEY UPDATE needs.
    read_of_existing: ColumnSet,
    /// Columns of the query's tables that ON DUPLICATE KEY UPDATE reads, for the row that is being put in.
    pub source: Vec<Value>,
}

/// Whether rows of the statement may wait for others: nothing in it looks at the table meanwhile, and a duplicate
/// does not have an expression evaluated.
fn may_wait(plan: &InsertPlan, run: &Run<'_, '_>) -> bool {
    let reads_target =
        run.plan.tables.iter().filter(|table| table.id() == plan.target.table.id()).count() > 1;
    plan.on_duplicate.is_empty()
        && !plan.target.references.refer_to_themselves()
        && !plan.target.refers_by_id()
        && !run.plan.calls_routines
        && !run.plan.row_by_row
        && !moves_row_by_row(&plan.target, run)
        && (!reads_target || matches!(plan.rows, plan::InsertRows::Query(_)))
}

/// All columns but those that are kept.
fn read_of_existing(plan: &InsertPlan) -> ColumnSet {
    if plan.target.kept.is_none() {
        return ColumnSet::All;
    }
    let indexed = plan.target.table.indexed_columns();
    let is_read = |column: &usize| !plan.target.kept.contains(*column) || indexed.contains(*column);
    ColumnSet::of((0..plan.target.table.definition().columns.len()).filter(is_read))
}

impl<'p> Writer<'p> {
    /// A writer for one statement.
    pub fn new(plan: &'p InsertPlan, storing: Storing, run: &Run<'_, '_>) -> Writer<'p> {
        Writer {
            plan,
            storing,
            counts: Counts::default(),
            left_out: 0,
            ids: GeneratedIds::of(plan),
            waiting: RowBuffer::default(),
            held: None,
            ids_before: GeneratedIds::default(),
            generated: false,
            explicit: Vec::new(),
            reported: run.statement.diagnostics.mark(),
            reports: Vec::new(),
            duplicates_reported_at: None,
            bulk: run.statement.settings.fast_plans && may_wait(plan, run),
            refers_by_id: plan.target.refers_by_id(),
            read_of_existing: read_of_existing(plan),
            source: Vec::new(),
        }
    }

    /// Rows given so far.
    pub fn row_number(&self) -> u64 {
        self.counts.records + 1
    }

    /// Puts in a row of stored values. `rows_left` is how many rows of the statement follow, this one included, if that
    /// is known: the last one need not wait.
    pub fn write(
        &mut self,
        row: &mut [Value],
        rows_left: Option<u64>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        self.counts.records += 1;
        if !self.may_go_in(row, run)? {
            return Ok(());
        }
        let generates = GeneratedIds::wants(&self.plan.target, row, run);
        if generates != self.generated {
            self.flush(run)?;
        }
        let alone = rows_left == Some(1) && self.waiting.is_empty();
        if !self.bulk || alone || (generates && self.skips_ids()) {
            return self.put_alone(row, &LongColumns::default(), run);
        }
        match self.fill_waiting(row, generates, run) {
            // A row that waits may turn out not to need its id.
            Err(error) if error.is(&code::ER_AUTOINC_READ_FAILED) && !self.waiting.is_empty() => {
                self.flush(run)?;
                return self.put_alone(row, &LongColumns::default(), run);
            }
            filled => filled?,
        }
        self.waiting.push(&self.plan.target.table, row)?;
        self.note_reports(run);
        let is_full = self.waiting.len() >= BULK_ROWS_MAX || self.waiting.bytes() >= BULK_BYTES_MAX;
        if is_full || !self.holds_waiting(run) {
            self.flush(run)?;
        }
        Ok(())
    }

    /// Computes the generated columns of a row. Whether it may go into the table: rows before it fail first.
    fn may_go_in(&mut self, row: &mut [Value], run: &mut Run<'_, '_>) -> SqlResult<bool> {
        let (target, at) = (&self.plan.target, (self.storing, self.counts.records));
        let meets = match target.steps.has(Steps::GENERATED) {
            true => generate(&target.own.generated, &target.table.definition().columns, row, at, run),
            false => Ok(()),
        };
        let ignore = self.plan.ignore;
        let meets = meets.and_then(|()| meets_checks(target, row, ignore, run));
        let late = self.refers_by_id;
        let meets =
            meets.and_then(|meets| Ok(meets && (late || has_parents(target, row, None, ignore, run)?)));
        let meets = meets.map_err(|error| self.first_error(error, run))?;
        self.left_out += u64::from(!meets);
        Ok(meets)
    }

    /// Whether the statement may hold the rows that wait. Few are not counted.
    fn holds_waiting(&mut self, run: &Run<'_, '_>) -> bool {
        let bytes = self.waiting.bytes() as u64;
        if bytes < HELD_STEP_BYTES {
            return true;
        }
        let held = self.held.get_or_insert_with(|| run.hold());
        bytes <= held.bytes() || held.try_grow(HELD_STEP_BYTES)
    }

    /// Puts a row in that no other waits with.
    fn put_alone(&mut self, row: &mut [Value], long: &LongColumns, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let storing = (self.storing, self.counts.records);
        let target = &self.plan.target;
        complete(target, row, &mut self.ids, storing, run)?;
        if self.refers_by_id && !has_parents(target, row, None, self.plan.ignore, run)? {
            self.left_out += 1;
            return Ok(());
        }
        let bytes = encoded(&self.plan.target.table, row, long, run)?;
        self.insert_one(row, &bytes, run)
    }

    /// As `write`, for a row that may have long values. It goes in alone.
    pub fn write_long(
        &mut self,
        row: &mut [Value],
        long: &LongColumns,
        rows_left: Option<u64>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        if long.is_empty() {
            return self.write(row, rows_left, run);
        }
        self.flush(run)?;
        self.counts.records += 1;
        if !self.may_go_in(row, run)? {
            return Ok(());
        }
        let (mark, affected) = (run.statement.transaction.mark(), self.counts.affected);
        self.put_alone(row, long, run)?;
        if self.counts.affected == affected {
            // It was left out: nothing refers to its values.
            let left = run.statement.transaction.rollback_to(mark);
            left.map_err(|error| engine_error(error, &self.plan.target.table))?;
        }
        Ok(())
    }

    /// INSERT IGNORE .. SELECT: ids for a batch would be reserved beyond those that its rows turn out to need, and MySQL
    /// leaves no such gap.
    fn skips_ids(&self) -> bool {
        self.plan.ignore
            && matches!(self.plan.rows, InsertRows::Query(_))
            && self.plan.target.auto_increment.is_some()
    }

    /// Whether rows that are there already are left or replaced.
    fn is_tolerant(&self) -> bool {
        self.plan.ignore || self.plan.replace
    }

    /// Gives the row its id, which it may have to give back when it turns out to be a duplicate. Rows with and without
    /// generated ids do not wait together.
    fn fill_waiting(&mut self, row: &mut [Value], generates: bool, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let target = &self.plan.target;
        if self.waiting.is_empty() {
            self.ids_before = self.ids.mark();
            self.generated = generates;
        }
        complete(target, row, &mut self.ids, (self.storing, self.counts.records), run)?;
        if generates {
            self.ids.stored(&target.table, run)?;
        } else if target.auto_increment.is_some() {
            self.explicit.push(self.ids.explicit().unwrap_or(0));
        }
        Ok(())
    }

    /// Moves the counter beyond the explicit ids of rows that went in.
    fn raise_explicit(&mut self, first: usize, count: usize, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let ids = self.explicit.get(first..first + count).unwrap_or_default();
        match ids.iter().max() {
            Some(greatest) => self.ids.pass(&self.plan.target.table, *greatest, run),
            None => Ok(()),
        }
    }

    /// Remembers what was reported before what the newest waiting row may still bring.
    fn note_reports(&mut self, run: &Run<'_, '_>) {
        let diagnostics = &run.statement.diagnostics;
        if diagnostics.has_reported_since(self.reports.last().map_or(self.reported, |(_, mark)| *mark)) {
            self.reports.push((self.waiting.len() - 1, diagnostics.mark()));
        }
    }

    /// What was reported up to a waiting row.
    fn reported_with(&self, row: usize) -> DiagnosticsMark {
        let later = self.reports.partition_point(|(at, _)| *at <= row);
        later.checked_sub(1).map_or(self.reported, |at| self.reports[at].1)
    }

    fn flush(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        run.check_killed()?;
        let waiting = std::mem::take(&mut self.waiting);
        let rows = waiting.rows();
        if self.is_tolerant() {
            let mut added = 0;
            if self.generated {
                self.put_generated(&rows, &mut added, run)?;
            } else {
                // They have all come, however often each is tried.
                let expected = self.ids.expected;
                self.put_tolerantly(&rows, 0, 0, &mut added, run)?;
                self.ids.expected = expected;
            }
        } else {
            self.put_strictly(&rows, run)?;
        }
        drop(rows);
        self.waiting = waiting;
        self.waiting.clear();
        self.reports.clear();
        self.explicit.clear();
        self.reported = run.statement.diagnostics.mark();
        Ok(())
    }

    /// Puts rows in where a duplicate is an error.
    fn put_strictly(&mut self, rows: &[&[u8]], run: &mut Run<'_, '_>) -> SqlResult<()> {
        let table = &self.plan.target.table;
        match run.statement.transaction.insert_many(table, rows) {
            Ok(()) => {
                self.counts.affected += rows.len() as u64;
                self.raise_explicit(0, rows.len(), run)
            }
            Err(EngineError::DuplicateKey(duplicate)) => {
                let at = usize::try_from(duplicate.row_ordinal).unwrap_or(0).min(rows.len() - 1);
                run.diagnostics().forget_since(self.reported_with(at));
                self.raise_explicit(0, at, run)?;
                if let Some(value) = self.explicit.get(at) {
                    self.ids.met_duplicate(table, *value, run)?;
                }
                if at == 0 && self.generated {
                    self.ids = std::mem::take(&mut self.ids_before);
                }
                let error = duplicate_error(table, &duplicate, &stored_values(table, rows[at]), run);
                Err(stopped_by(table, &duplicate, error, run))
            }
            Err(error) => Err(engine_error(error, table)),
        }
    }

    /// Puts all rows in, or none if one of them is there already.
    fn put_together(&mut self, rows: &[&[u8]], run: &Run<'_, '_>) -> SqlResult<bool> {
        let table = &self.plan.target.table;
        let transaction = run.statement.transaction;
        let put = transaction.try_insert_many(table, rows).map_err(|error| engine_error(error, table))?;
        self.counts.affected += if put { rows.len() as u64 } else { 0 };
        Ok(put)
    }

    /// Puts rows in where rows that are there already are left or replaced. `first` is the place of the first among the
    /// waiting ones, `added` counts warnings that were put before conditions of later rows.
    fn put_tolerantly(
        &mut self,
        rows: &[&[u8]],
        first: usize,
        depth: usize,
        added: &mut usize,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<bool> {
        if self.put_together(rows, run)? {
            self.raise_explicit(first, rows.len(), run)?;
            return Ok(true);
        }
        let smaller = (depth..GROUP_ROWS.len()).find(|depth| GROUP_ROWS[*depth] < rows.len());
        let Some(mut depth) = smaller else {
            self.put_singly(rows, first, added, run)?;
            return Ok(false);
        };
        let (mut done, mut failures) = (0, 0);
        while done < rows.len() {
            run.check_killed()?;
            let end = rows.len().min(done + GROUP_ROWS[depth]);
            if self.put_tolerantly(&rows[done..end], first + done, depth + 1, added, run)? {
                failures = 0;
            } else {
                failures += 1;
            }
            done = end;
            if failures >= FAILURES_MAX && depth + 1 < GROUP_ROWS.len() {
                (depth, failures) = (depth + 1, 0);
            } else if failures >= FAILURES_MAX {
                self.put_singly(&rows[done..], first + done, added, run)?;
                break;
            }
        }
        Ok(false)
    }

    /// As `put_tolerantly`, for rows with generated ids: the id of a row that is left serves the next one, so that after the
    /// first duplicate each row must know what became of those before it.
    fn put_generated(&mut self, rows: &[&[u8]], added: &mut usize, run: &mut Run<'_, '_>) -> SqlResult<()> {
        if self.put_together(rows, run)? {
            return Ok(());
        }
        self.ids.rewind(std::mem::take(&mut self.ids_before));
        self.bulk = false;
        self.put_singly(rows, 0, added, run)
    }

    /// Puts rows in one by one.
    fn put_singly(
        &mut self,
        rows: &[&[u8]],
        first: usize,
        added: &mut usize,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        for (at, row) in (first..).zip(rows) {
            let target = &self.plan.target;
            let mut values = stored_values(&target.table, row);
            if let (Some(column), true) = (target.auto_increment, self.generated) {
                values[column] = Value::Null;
            }
            self.duplicates_reported_at = Some(self.reported_with(at).place() + *added);
            let reported = run.statement.diagnostics.count();
            let outcome = self.put_alone(&mut values, &LongColumns::default(), run);
            self.duplicates_reported_at = None;
            outcome?;
            *added += (run.statement.diagnostics.count() - reported) as usize;
        }
        Ok(())
    }

    /// The error of the statement when a row could not be made: that of a row before it which waits, if that fails.
    pub fn first_error(&mut self, error: SqlError, run: &mut Run<'_, '_>) -> SqlError {
        // What was raised is this error, or came after it.
        run.diagnostics().take_raised();
        let Err(earlier) = self.flush(run) else { return error };
        run.diagnostics().forget_second();
        earlier
    }

    /// Ends the statement, whose rows were all given or which failed. LAST_INSERT_ID() keeps the id of a row that went in
    /// before the one that did not.
    pub fn finish(mut self, given: SqlResult<()>, run: &mut Run<'_, '_>) -> SqlResult<Counts> {
        let ended = given.and_then(|()| self.flush(run));
        if let (Err(_), Some(id)) = (&ended, self.ids.first()) {
            run.statement.session.set_last_insert_id(id);
        }
        ended?;
        self.counts.records -= self.left_out;
        self.counts.generated = self.ids.first();
        // A query's ON DUPLICATE KEY UPDATE tells of no row that was given its id.
        let tells = self.plan.on_duplicate.is_empty() || matches!(self.plan.rows, InsertRows::Values(_));
        self.counts.last_id = if tells { self.ids.last() } else { 0 };
        Ok(self.counts)
    }
}
