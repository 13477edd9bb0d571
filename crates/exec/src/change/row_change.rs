//! Writing rows: duplicates, REPLACE and ON DUPLICATE KEY UPDATE. Main type: [`Writer`].
//! Every inserted or updated row passes [`encoded`]; generated columns, CHECK and foreign keys belong there.

use super::auto_increment::GeneratedIds;
use super::storing::{Storing, as_seen, key_text};
use crate::run::{Run, engine_error};
use engine::{DuplicateKey, EngineError, ReadMode, Table, UpdateOutcome, WaitPolicy};
use errors::{SqlError, SqlResult, sql_error};
use expression::EvaluationContext;
use plan::{Assignment, InsertPlan};
use std::sync::Arc;
use values::Value;
use values::row::RowView;

/// Rows that are handed to the engine at once where nothing but an error can come of a duplicate.
const BULK_ROWS: usize = 512;

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
    ids: GeneratedIds,
    /// Rows waiting for the engine, as values (for messages) and encoded.
    waiting: Vec<(Vec<Value>, Vec<u8>)>,
    bulk: bool,
}

/// A row in the table's layout.
pub fn encoded(table: &Table, row: &[Value], out: &mut Vec<u8>) -> SqlResult<()> {
    out.clear();
    table.layout().encode_into(row, out).map_err(|error| match error {
        values::row::RowError::Null(column) => {
            sql_error!(ER_BAD_NULL_ERROR, table.definition().columns[column].name)
        }
        other => errors::code::ER_UNKNOWN_ERROR.message(format!("a row cannot be stored: {other}")),
    })
}

/// Error 1062 for a row.
pub fn duplicate_error(
    table: &Table,
    duplicate: &DuplicateKey,
    row: &[Value],
    run: &Run<'_, '_>,
) -> SqlError {
    let definition = table.definition();
    let position = definition.indexes.iter().enumerate().find_map(|(position, _)| {
        (table.index_of_definition(position) == duplicate.index).then_some(position)
    });
    let position = position.unwrap_or(0);
    let name = definition.indexes.get(position).map_or("PRIMARY", |index| index.name.as_str());
    let key = format!("{}.{name}", definition.name.table);
    // MySQL sends the number of the plain message with the text that names the key.
    let named = sql_error!(ER_DUP_ENTRY_WITH_KEY_NAME, key_text(definition, position, row, run), key);
    errors::code::ER_DUP_ENTRY.message(named.message())
}

impl<'p> Writer<'p> {
    /// A writer for one statement.
    pub fn new(plan: &'p InsertPlan, storing: Storing, run: &Run<'_, '_>) -> Writer<'p> {
        Writer {
            plan,
            storing,
            counts: Counts::default(),
            ids: GeneratedIds::new(run.statement.settings.insert_id),
            waiting: Vec::new(),
            bulk: !plan.replace && !plan.ignore && plan.on_duplicate.is_empty(),
        }
    }

    /// Rows given so far.
    pub fn row_number(&self) -> u64 {
        self.counts.records + 1
    }

    /// Puts in a row of stored values. `rows_left` is how many rows of the statement follow, this one included, if that
    /// is known.
    pub fn write(
        &mut self,
        mut row: Vec<Value>,
        rows_left: Option<u64>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        self.counts.records += 1;
        let waits = self.bulk && (rows_left != Some(1) || !self.waiting.is_empty());
        self.ids.fill(&self.plan.table, &mut row, rows_left, waits, run)?;
        let mut bytes = Vec::new();
        encoded(&self.plan.table, &row, &mut bytes)?;
        if waits {
            // A duplicate ends the statement, so the row counts as stored.
            self.ids.stored(&self.plan.table, run)?;
            self.waiting.push((row, bytes));
            if self.waiting.len() >= BULK_ROWS {
                self.flush(run)?;
            }
            return Ok(());
        }
        self.insert_one(&row, &bytes, run)
    }

    fn flush(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        run.check_killed()?;
        let table = &self.plan.table;
        let rows: Vec<&[u8]> = self.waiting.iter().map(|(_, bytes)| bytes.as_slice()).collect();
        match run.statement.transaction.insert_many(table, &rows) {
            Ok(()) => self.counts.affected += self.waiting.len() as u64,
            Err(EngineError::DuplicateKey(duplicate)) => {
                let at = usize::try_from(duplicate.row_ordinal).unwrap_or(0).min(self.waiting.len() - 1);
                return Err(duplicate_error(table, &duplicate, &self.waiting[at].0, run));
            }
            Err(error) => return Err(engine_error(error, table)),
        }
        self.waiting.clear();
        Ok(())
    }

    /// Ends the statement.
    pub fn finish(mut self, run: &mut Run<'_, '_>) -> SqlResult<Counts> {
        self.flush(run)?;
        self.counts.generated = self.ids.first();
        self.counts.last_id = self.ids.last();
        Ok(self.counts)
    }

    fn insert_one(&mut self, row: &[Value], bytes: &[u8], run: &mut Run<'_, '_>) -> SqlResult<()> {
        let table = &self.plan.table;
        let mut replaced = 0;
        loop {
            match run.statement.transaction.insert(table, bytes) {
                Ok(_) => {
                    self.counts.affected += 1 + replaced;
                    self.counts.duplicates += u64::from(replaced > 0);
                    return self.ids.stored(table, run);
                }
                Err(EngineError::DuplicateKey(duplicate)) => {
                    if self.plan.replace {
                        self.remove_existing(&duplicate, run)?;
                        replaced += 1;
                        continue;
                    }
                    if !self.plan.on_duplicate.is_empty() {
                        return self.update_existing(&duplicate, row, run);
                    }
                    let error = duplicate_error(table, &duplicate, row, run);
                    if !self.plan.ignore {
                        return Err(error);
                    }
                    self.counts.duplicates += 1;
                    self.ids.unused();
                    run.diagnostics().warning(error);
                    return Ok(());
                }
                Err(error) => return Err(engine_error(error, table)),
            }
        }
    }

    fn remove_existing(&mut self, duplicate: &DuplicateKey, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let table = &self.plan.table;
        match run.statement.transaction.delete(table, &duplicate.existing_key) {
            // Someone else removed it meanwhile: the insert is tried again.
            Ok(()) | Err(EngineError::RowNotFound) => Ok(()),
            Err(error) => Err(engine_error(error, table)),
        }
    }

    /// ON DUPLICATE KEY UPDATE: 2 affected rows for a changed row, 0 (or 1 for CLIENT_FOUND_ROWS) for the same.
    fn update_existing(
        &mut self,
        duplicate: &DuplicateKey,
        row: &[Value],
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let table = &self.plan.table;
        let mode = ReadMode::Exclusive(WaitPolicy::Wait);
        let Some(existing) = read_row(table, &duplicate.existing_key, mode, run)? else { return Ok(()) };
        let definition = table.definition();
        let count = definition.columns.len();
        let mut seen: Vec<Value> = Vec::with_capacity(2 * count);
        for values in [&existing[..], row] {
            for (value, column) in values.iter().zip(&definition.columns) {
                seen.push(as_seen(value, column, run));
            }
        }
        let mut changed = existing.clone();
        let number = self.counts.records;
        assign(
            &self.plan.on_duplicate,
            table,
            &self.plan.defaults,
            &mut seen,
            None,
            &mut changed,
            self.storing,
            number,
            run,
        )?;
        if let Some(column) = definition.auto_increment_column() {
            self.ids.updated(table, &changed[column], changed != existing, run)?;
        }
        if changed == existing {
            self.counts.affected += u64::from(run.statement.settings.found_rows_as_affected);
            return Ok(());
        }
        assign(
            &self.plan.on_update,
            table,
            &self.plan.defaults,
            &mut seen,
            None,
            &mut changed,
            self.storing,
            number,
            run,
        )?;
        let mut bytes = Vec::new();
        encoded(table, &changed, &mut bytes)?;
        match run.statement.transaction.update(table, &duplicate.existing_key, &bytes) {
            Ok(_) => {
                self.counts.affected += 2;
                self.counts.duplicates += 1;
            }
            Err(EngineError::DuplicateKey(other)) => {
                let error = duplicate_error(table, &other, &changed, run);
                if !self.plan.ignore {
                    return Err(error);
                }
                run.diagnostics().warning(error);
            }
            Err(error) => return Err(engine_error(error, table)),
        }
        Ok(())
    }
}

/// A row by its clustered key, as stored values.
pub fn read_row(
    table: &Arc<Table>,
    key: &[u8],
    mode: ReadMode,
    run: &mut Run<'_, '_>,
) -> SqlResult<Option<Vec<Value>>> {
    let mut found = None;
    run.statement
        .transaction
        .get(table, 0, key, mode, &mut |bytes| {
            found = RowView::new(table.layout(), bytes).ok().map(|view| view.values());
        })
        .map_err(|error| engine_error(error, table))?;
    Ok(found)
}

/// Carries out assignments from left to right: each sees the values of those before. `seen` is the row that the
/// expressions read; `slots` says where a column of the table is in it (None: at its position).
pub fn assign(
    assignments: &[Assignment],
    table: &Arc<Table>,
    defaults: &[plan::DefaultValue],
    seen: &mut [Value],
    slots: Option<&[Option<usize>]>,
    changed: &mut [Value],
    storing: Storing,
    row_number: u64,
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    for assignment in assignments {
        let column = &table.definition().columns[assignment.column];
        let stored = match &assignment.value {
            Some(expression) => {
                let value = expression.evaluate(seen, run)?;
                storing.store(&value, &expression.result.column_type, column, row_number, run)?
            }
            None => storing.default(&defaults[assignment.column], column, seen, row_number, run)?,
        };
        let slot = match slots {
            Some(slots) => slots[assignment.column],
            None => Some(assignment.column),
        };
        if let Some(slot) = slot {
            seen[slot] = as_seen(&stored, column, run);
        }
        changed[assignment.column] = stored;
    }
    Ok(())
}

/// Replaces a row; Ok(false) when the row is gone or a duplicate was ignored.
pub fn update_row(
    table: &Arc<Table>,
    key: &[u8],
    row: &[Value],
    ignore: bool,
    run: &mut Run<'_, '_>,
) -> SqlResult<bool> {
    let mut bytes = Vec::new();
    encoded(table, row, &mut bytes)?;
    match run.statement.transaction.update(table, key, &bytes) {
        Ok(UpdateOutcome::Unchanged) => Ok(false),
        Ok(_) => Ok(true),
        Err(EngineError::RowNotFound) => Ok(false),
        Err(EngineError::DuplicateKey(duplicate)) => {
            let error = duplicate_error(table, &duplicate, row, run);
            if !ignore {
                return Err(error);
            }
            run.diagnostics().warning(error);
            Ok(false)
        }
        Err(error) => Err(engine_error(error, table)),
    }
}
