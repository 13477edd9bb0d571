//! AUTO_INCREMENT values of one INSERT: which row gets which, and what the client hears. Main type: [`GeneratedIds`].
//! A value whose row did not go in (IGNORE, ON DUPLICATE KEY UPDATE) goes to the next row of the statement, and an
//! explicit value moves the counter only with its row. The counter itself is the engine's.

use crate::run::{Run, engine_error};
use dictionary::{TableDefinition, counted};
use engine::{
    AutoIncrementLockMode, AutoIncrementRange, AutoIncrementRequest, EngineError, InsertKind, Table,
    TableCounter,
};
use errors::{SqlResult, sql_error};
use expression::SqlMode;
use plan::Target;
use std::collections::VecDeque;
use std::sync::Arc;
use values::{TypeKind, Value};

/// Values that a statement of unknown length reserves at once, at most: as many as in MySQL, so that gaps are the same.
const RESERVED_MAX: u64 = 65_535;

/// Where the value of the current row came from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Origin {
    /// The table has no such column, or the value is negative.
    #[default]
    None,
    /// The statement gave it.
    Explicit,
    /// SET INSERT_ID gave it.
    Session,
    /// The statement's reserved range.
    Reserved,
}

/// The values of one statement.
#[derive(Clone, Debug, Default)]
pub struct GeneratedIds {
    reserved: Option<AutoIncrementRange>,
    taken: u64,
    /// What SET INSERT_ID said, once a row of the statement has asked for it.
    insert_id: Option<Option<u64>>,
    /// The next value of the series that begins with it.
    forced: Option<u64>,
    origin: Origin,
    /// Whether the statement knows how many rows it has.
    kind: InsertKind,
    /// Ranges reserved since the last `mark`, and those that a `rewind` brought back, to be used again.
    granted: Vec<AutoIncrementRange>,
    again: VecDeque<AutoIncrementRange>,
    /// The current row's value; after ON DUPLICATE KEY UPDATE that of the row it changed.
    current: u64,
    first: Option<u64>,
}

impl GeneratedIds {
    /// A state to go back to, if it turns out that rows from here on do not all go in.
    pub fn mark(&mut self) -> GeneratedIds {
        self.granted.clear();
        self.clone()
    }

    /// Goes back to a mark; the ranges that were reserved since are used again, so that no values are skipped.
    pub fn rewind(&mut self, mark: GeneratedIds) {
        let granted = std::mem::take(&mut self.granted);
        let again = std::mem::take(&mut self.again);
        let insert_id = self.insert_id;
        *self = mark;
        // It is given out once.
        if self.insert_id.is_none() {
            (self.insert_id, self.forced) = (insert_id, insert_id.flatten());
        }
        self.again = granted.into_iter().chain(again).collect();
    }

    /// The first generated value whose row went in.
    pub fn first(&self) -> Option<u64> {
        self.first
    }

    /// The value of the last row that was looked at.
    pub fn last(&self) -> u64 {
        self.current
    }

    /// Whether the row asks for a generated value.
    pub fn wants(target: &Target, row: &[Value], run: &Run<'_, '_>) -> bool {
        let Some(column) = target.auto_increment else { return false };
        let keeps_zero = run.statement.facts.sql_mode.contains(SqlMode::NO_AUTO_VALUE_ON_ZERO);
        match &row[column] {
            Value::Null => true,
            other => counted(other) == Some(0) && !keeps_zero,
        }
    }

    /// Whether the current row's value was generated.
    pub fn is_generated(&self) -> bool {
        matches!(self.origin, Origin::Session | Origin::Reserved)
    }

    /// The current row's value, if the statement gave it.
    pub fn explicit(&self) -> Option<u64> {
        (self.origin == Origin::Explicit).then_some(self.current)
    }

    /// Gives the row's AUTO_INCREMENT column its value. `rows_left` counts the statement's rows from this one on, as
    /// far as known.
    pub fn fill(
        &mut self,
        target: &Target,
        row: &mut [Value],
        rows_left: Option<u64>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let Some(column) = target.auto_increment else { return Ok(()) };
        self.kind = if rows_left.is_some() { InsertKind::Simple } else { InsertKind::Bulk };
        if GeneratedIds::wants(target, row, run) {
            let (table, definition) = (&target.table, target.table.definition());
            let value = self.next_value(table, definition, column, rows_left, run)?;
            self.current = value;
            row[column] = match definition.columns[column].column_type.kind {
                TypeKind::Float => Value::Float(value as f32),
                TypeKind::Double => Value::Double(value as f64),
                _ if definition.columns[column].column_type.unsigned => Value::UInt(value),
                _ => Value::Int(i64::try_from(value).unwrap_or(i64::MAX)),
            };
            return Ok(());
        }
        self.origin = Origin::None;
        match (counted(&row[column]), &row[column]) {
            (Some(value), _) => (self.origin, self.current) = (Origin::Explicit, value),
            // The client hears of it as MySQL tells it.
            (None, Value::Int(value)) => self.current = *value as u64,
            _ => {}
        }
        Ok(())
    }

    /// The row went in.
    pub fn stored(&mut self, table: &Arc<Table>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        match self.origin {
            Origin::None => {}
            Origin::Explicit => self.raise(table, self.current, run)?,
            Origin::Session | Origin::Reserved => {
                self.first.get_or_insert(self.current);
                if self.uses_up_row_by_row(table, run) {
                    self.raise(table, self.current, run)?;
                }
            }
        }
        Ok(())
    }

    /// The row did not go in: its value serves the next one.
    pub fn unused(&mut self) {
        match self.origin {
            Origin::Reserved => self.taken -= 1,
            Origin::Session => self.forced = Some(self.current),
            Origin::None | Origin::Explicit => {}
        }
    }

    /// ON DUPLICATE KEY UPDATE left a row with this value.
    pub fn updated(
        &mut self,
        table: &Arc<Table>,
        value: &Value,
        changed: bool,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        self.unused();
        if let Some(value) = counted(value) {
            self.current = value;
            if changed {
                self.raise(table, value, run)?;
            }
        }
        Ok(())
    }

    /// Tells the counter of a value that it did not give out; what is reserved below that is given up.
    pub fn raise(&mut self, table: &Arc<Table>, value: u64, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let raised = TableCounter::new(run.statement.transaction, table, self.kind).raise(value);
        raised.map_err(|error| engine_error(error, table))?;
        let next = |range: AutoIncrementRange| range.first + self.taken * range.increment;
        if self.reserved.is_some_and(|range| self.taken < range.count && value >= next(range)) {
            self.reserved = None;
        }
        Ok(())
    }

    fn next_value(
        &mut self,
        table: &Arc<Table>,
        definition: &TableDefinition,
        column: usize,
        rows_left: Option<u64>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<u64> {
        if self.insert_id.is_none() {
            self.forced = run.statement.session.take_insert_id();
            self.insert_id = Some(self.forced);
        }
        if let Some(value) = self.forced {
            self.origin = Origin::Session;
            let settings = &run.statement.settings;
            let (increment, offset) = (settings.auto_increment_increment, settings.auto_increment_offset);
            self.forced = next_of_series(value, increment, offset);
            self.raise(table, value, run)?;
            return Ok(value);
        }
        self.origin = Origin::Reserved;
        if self.reserved.is_none_or(|range| self.taken >= range.count) {
            self.reserve(table, column_max(definition, column), rows_left, run)?;
        }
        let Some(range) = self.reserved else { return Err(sql_error!(ER_AUTOINC_READ_FAILED)) };
        let value = range.first + self.taken * range.increment;
        self.taken += 1;
        Ok(value)
    }

    /// With traditional locking a row of VALUES that does not go in uses up no value; a row of a query does.
    fn uses_up_row_by_row(&self, table: &Arc<Table>, run: &Run<'_, '_>) -> bool {
        self.kind == InsertKind::Simple && lock_mode(table, run) == AutoIncrementLockMode::Traditional
    }

    fn reserve(
        &mut self,
        table: &Arc<Table>,
        column_max: u64,
        rows_left: Option<u64>,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        if let Some(range) = self.again.pop_front() {
            self.granted.push(range);
            (self.reserved, self.taken) = (Some(range), 0);
            return Ok(());
        }
        let settings = &run.statement.settings;
        // A statement of unknown length doubles what it asks for each time.
        let doubled = self.reserved.map_or(1, |range| range.count.saturating_mul(2)).min(RESERVED_MAX);
        let request = AutoIncrementRequest {
            count: rows_left.unwrap_or(1).max(doubled),
            increment: settings.auto_increment_increment,
            offset: settings.auto_increment_offset,
            column_max,
        };
        let counter = TableCounter::new(run.statement.transaction, table, self.kind);
        let one = AutoIncrementRequest { count: 1, ..request };
        let reserved = match counter.lock_mode() {
            AutoIncrementLockMode::Traditional if self.uses_up_row_by_row(table, run) => counter.next(one),
            AutoIncrementLockMode::Traditional => counter.reserve(one),
            _ => counter.reserve(request),
        };
        let range = match reserved {
            // At the end of its range a column gets the last value again, which then is a duplicate; but not where the
            // statement's earlier rows used up the range.
            Err(EngineError::AutoIncrementExhausted) if column_max < u64::MAX && self.reserved.is_none() => {
                AutoIncrementRange { first: column_max, count: 1, increment: 1 }
            }
            reserved => reserved.map_err(|error| engine_error(error, table))?,
        };
        self.granted.push(range);
        self.reserved = Some(range);
        self.taken = 0;
        Ok(())
    }
}

/// The value after `value` among those of auto_increment_increment and auto_increment_offset; None beyond BIGINT UNSIGNED.
fn next_of_series(value: u64, increment: u64, offset: u64) -> Option<u64> {
    if increment <= 1 {
        return value.checked_add(1);
    }
    let steps = value.checked_add(increment)?.saturating_sub(offset) / increment;
    steps.checked_mul(increment)?.checked_add(offset)
}

/// The statement ends, or has failed: it has the AUTO-INC lock no longer.
pub fn give_back_lock(target: &Target, run: &Run<'_, '_>) {
    TableCounter::new(run.statement.transaction, &target.table, InsertKind::Simple).give_back();
}

fn lock_mode(table: &Arc<Table>, run: &Run<'_, '_>) -> AutoIncrementLockMode {
    TableCounter::new(run.statement.transaction, table, InsertKind::Simple).lock_mode()
}

/// Whether the statement may take the AUTO-INC lock.
pub fn takes_auto_increment_lock(target: &Target, run: &Run<'_, '_>) -> bool {
    target.auto_increment.is_some() && lock_mode(&target.table, run) != AutoIncrementLockMode::Interleaved
}

/// Whether the counter may move with each row that goes in, so that rows cannot be given values before they are put in.
pub fn moves_row_by_row(target: &Target, run: &Run<'_, '_>) -> bool {
    target.auto_increment.is_some() && lock_mode(&target.table, run) == AutoIncrementLockMode::Traditional
}

/// An UPDATE gave the column a value that the counter may not know of.
pub fn raise_counter(table: &Arc<Table>, value: &Value, run: &Run<'_, '_>) -> SqlResult<()> {
    let Some(value) = counted(value) else { return Ok(()) };
    let counter = TableCounter::new(run.statement.transaction, table, InsertKind::Simple);
    let raised = counter.raise_unlocked(value);
    raised.map_err(|error| engine_error(error, table))
}

/// The largest value that an AUTO_INCREMENT column holds.
fn column_max(definition: &TableDefinition, column: usize) -> u64 {
    let column_type = &definition.columns[column].column_type;
    match column_type.integer_range() {
        Some((_, greatest)) => greatest,
        None if column_type.unsigned => u64::MAX,
        None => i64::MAX as u64,
    }
}
