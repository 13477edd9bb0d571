//! Writing rows: AUTO_INCREMENT, duplicates, REPLACE and ON DUPLICATE KEY UPDATE. Main type: [`Writer`].
//! Every inserted or updated row passes [`encoded`]; generated columns, CHECK and foreign keys belong there.

use super::storing::{Storing, as_seen, key_text};
use crate::run::{Run, engine_error};
use dictionary::TableDefinition;
use engine::{
    AutoIncrementRange, AutoIncrementRequest, DuplicateKey, EngineError, ReadMode, Table, UpdateOutcome,
    WaitPolicy,
};
use errors::{SqlError, SqlResult, sql_error};
use expression::{EvaluationContext, SqlMode};
use plan::{Assignment, InsertPlan};
use std::sync::Arc;
use values::row::RowView;
use values::{TypeKind, Value};

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
    /// First generated AUTO_INCREMENT value.
    pub generated: Option<u64>,
    /// Last explicit AUTO_INCREMENT value.
    pub explicit: u64,
}

/// Puts rows into a table.
pub struct Writer<'p> {
    plan: &'p InsertPlan,
    storing: Storing,
    counts: Counts,
    reserved: Option<AutoIncrementRange>,
    taken: u64,
    /// Rows waiting for the engine, as values (for messages) and encoded.
    waiting: Vec<(Vec<Value>, Vec<u8>)>,
    bulk: bool,
    insert_id: Option<u64>,
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

/// The largest value that an AUTO_INCREMENT column holds.
fn column_max(definition: &TableDefinition, column: usize) -> u64 {
    let column_type = &definition.columns[column].column_type;
    let bits = match column_type.kind {
        TypeKind::TinyInt => 8,
        TypeKind::SmallInt => 16,
        TypeKind::MediumInt => 24,
        TypeKind::Int => 32,
        _ => 64,
    };
    let bits = if column_type.unsigned { bits } else { bits - 1 };
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl<'p> Writer<'p> {
    /// A writer for one statement.
    pub fn new(plan: &'p InsertPlan, storing: Storing, run: &Run<'_, '_>) -> Writer<'p> {
        Writer {
            plan,
            storing,
            counts: Counts::default(),
            reserved: None,
            taken: 0,
            waiting: Vec::new(),
            bulk: !plan.replace && !plan.ignore && plan.on_duplicate.is_empty(),
            insert_id: run.statement.settings.insert_id,
        }
    }

    /// Rows given so far.
    pub fn row_number(&self) -> u64 {
        self.counts.records + 1
    }

    /// Puts in a row of stored values. `rows_left` is how many rows of the statement are known to follow, this one
    /// included.
    pub fn write(&mut self, mut row: Vec<Value>, rows_left: u64, run: &mut Run<'_, '_>) -> SqlResult<()> {
        self.counts.records += 1;
        self.fill_auto_increment(&mut row, rows_left, run)?;
        let mut bytes = Vec::new();
        encoded(&self.plan.table, &row, &mut bytes)?;
        if self.bulk && (rows_left > 1 || !self.waiting.is_empty()) {
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
                    return Ok(());
                }
                Err(EngineError::DuplicateKey(duplicate)) => {
                    if self.plan.replace {
                        self.remove_existing(&duplicate, run)?;
                        replaced += 1;
                        continue;
                    }
                    if !self.plan.on_duplicate.is_empty() {
                        self.counts.duplicates += 1;
                        return self.update_existing(&duplicate, row, run);
                    }
                    let error = duplicate_error(table, &duplicate, row, run);
                    if !self.plan.ignore {
                        return Err(error);
                    }
                    self.counts.duplicates += 1;
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
        if let Some(column) = definition.auto_increment_column()
            && let Some(value) = auto_increment_value(&changed[column])
        {
            self.counts.explicit = value;
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
            Ok(_) => self.counts.affected += 2,
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

    /// Gives the AUTO_INCREMENT column its value, or tells the counter of an explicit one.
    fn fill_auto_increment(
        &mut self,
        row: &mut [Value],
        rows_left: u64,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let table = &self.plan.table;
        let definition = table.definition();
        let Some(column) = definition.auto_increment_column() else { return Ok(()) };
        let keeps_zero = run.statement.facts.sql_mode.contains(SqlMode::NO_AUTO_VALUE_ON_ZERO);
        let wants = match &row[column] {
            Value::Null => true,
            other => auto_increment_value(other) == Some(0) && !is_negative(other) && !keeps_zero,
        };
        if !wants {
            if let Some(value) = auto_increment_value(&row[column]) {
                self.counts.explicit = value;
                run.statement
                    .transaction
                    .raise_auto_increment(table, value)
                    .map_err(|error| engine_error(error, table))?;
            }
            return Ok(());
        }
        let value = self.next_value(table, definition, column, rows_left, run)?;
        self.counts.generated.get_or_insert(value);
        row[column] = match definition.columns[column].column_type.kind {
            TypeKind::Float => Value::Float(value as f32),
            TypeKind::Double => Value::Double(value as f64),
            _ if definition.columns[column].column_type.unsigned => Value::UInt(value),
            _ => Value::Int(i64::try_from(value).unwrap_or(i64::MAX)),
        };
        Ok(())
    }

    fn next_value(
        &mut self,
        table: &Arc<Table>,
        definition: &TableDefinition,
        column: usize,
        rows_left: u64,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<u64> {
        if let Some(value) = self.insert_id.take() {
            run.statement
                .transaction
                .raise_auto_increment(table, value)
                .map_err(|error| engine_error(error, table))?;
            return Ok(value);
        }
        let settings = &run.statement.settings;
        let spent = self.reserved.is_none_or(|range| self.taken >= range.count);
        if spent {
            // A statement of unknown length doubles what it asks for each time.
            let doubled = self.reserved.map_or(1, |range| range.count.saturating_mul(2)).min(65_536);
            let request = AutoIncrementRequest {
                count: rows_left.max(doubled),
                increment: settings.auto_increment_increment,
                offset: settings.auto_increment_offset,
                column_max: column_max(definition, column),
            };
            let range = run
                .statement
                .transaction
                .reserve_auto_increment(table, request)
                .map_err(|error| engine_error(error, table))?;
            self.reserved = Some(range);
            self.taken = 0;
        }
        let Some(range) = self.reserved else { return Err(sql_error!(ER_AUTOINC_READ_FAILED)) };
        let value = range.first + self.taken * range.increment;
        self.taken += 1;
        Ok(value)
    }
}

fn is_negative(value: &Value) -> bool {
    matches!(value, Value::Int(number) if *number < 0)
}

/// The counter's view of a value; None for negative ones.
fn auto_increment_value(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::UInt(number) => Some(*number),
        Value::Double(number) if *number >= 0.0 => Some(*number as u64),
        Value::Float(number) if *number >= 0.0 => Some(*number as u64),
        _ => None,
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
