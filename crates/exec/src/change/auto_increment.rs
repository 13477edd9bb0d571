//! AUTO_INCREMENT values of one INSERT: which row gets which, and what the client hears. Main type: [`GeneratedIds`].
//! A value whose row did not go in (IGNORE, ON DUPLICATE KEY UPDATE) goes to the next row of the statement, and an
//! explicit value moves the counter only with its row. The counter itself is the engine's.

use crate::run::{Run, engine_error};
use crate::storing::{Given, Storing};
use dictionary::counted;
use engine::{
    AutoIncrementLockMode, AutoIncrementRange, AutoIncrementRequest, EngineError, InsertKind, Table,
    TableCounter,
};
use errors::{SqlResult, sql_error};
use expression::SqlMode;
use plan::{InsertPlan, InsertRows, Target};
use std::collections::VecDeque;
use std::sync::Arc;
use values::store::Source;
use values::{ColumnType, TypeKind, Value};

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
    /// How many rows the statement has, if it tells.
    rows: Option<u64>,
    /// The next row's value, if one was asked for yet: taken while it is below the end of what was reserved last.
    next: Option<u64>,
    start: u64,
    end: u64,
    /// What `next` was before the current row.
    before: Option<u64>,
    /// How often values were reserved, and for how many more rows the last time.
    reservations: u32,
    pub expected: u64,
    /// What SET INSERT_ID said, once a row of the statement has asked for it.
    insert_id: Option<Option<u64>>,
    /// The next value of the series that begins with it.
    forced: Option<u64>,
    origin: Origin,
    /// The column's last value of the series stands for one beyond its range, and nobody was told yet.
    is_cut: bool,
    /// Ranges reserved since the last `mark`, with the rows they were for, and those that a `rewind` brought back, to be used
    /// again.
    granted: Vec<(AutoIncrementRange, u64)>,
    again: VecDeque<(AutoIncrementRange, u64)>,
    /// The current row's value; after ON DUPLICATE KEY UPDATE that of the row it changed.
    current: u64,
    first: Option<u64>,
}

impl GeneratedIds {
    /// For a statement, which knows how many rows it has unless a query or a file gives them.
    pub fn of(plan: &InsertPlan) -> GeneratedIds {
        let rows = match &plan.rows {
            InsertRows::Values(rows) => Some(rows.len() as u64).filter(|rows| *rows > 0),
            InsertRows::Query(_) => None,
        };
        GeneratedIds { rows, ..GeneratedIds::default() }
    }

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

    /// Gives the row's AUTO_INCREMENT column its value. Error: 1264, where no value of the series is left.
    pub fn fill(
        &mut self,
        target: &Target,
        row: &mut [Value],
        (storing, row_number): (Storing, u64),
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let Some(column) = target.auto_increment else { return Ok(()) };
        self.before = self.next;
        self.origin = Origin::None;
        if GeneratedIds::wants(target, row, run) {
            let value = self.next_value(&target.table, run)?;
            self.current = value;
            let definition = &target.table.definition().columns[column];
            let column_type = &definition.column_type;
            if std::mem::take(&mut self.is_cut) {
                let (value, column_type) = (Value::UInt(u64::MAX), &ColumnType::big_int_unsigned());
                let given = Given { value: &value, column_type, source: Source::Expression };
                storing.store(given, definition, row_number, run)?;
            }
            row[column] = match column_type.kind {
                TypeKind::Float => Value::Float(value as f32),
                TypeKind::Double => Value::Double(value as f64),
                _ if column_type.unsigned => Value::UInt(value),
                _ => Value::Int(i64::try_from(value).unwrap_or(i64::MAX)),
            };
        } else {
            match (counted(&row[column]), &row[column]) {
                (Some(value), _) => (self.origin, self.current) = (Origin::Explicit, value),
                // The client hears of it as MySQL tells it.
                (None, Value::Int(value)) => self.current = *value as u64,
                _ => {}
            }
        }
        self.expected = self.expected.saturating_sub(1);
        Ok(())
    }

    /// The row went in.
    pub fn stored(&mut self, table: &Arc<Table>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        match self.origin {
            Origin::None => {}
            Origin::Explicit => self.pass(table, self.current, run)?,
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
            Origin::Reserved => self.next = self.before,
            Origin::Session => self.forced = Some(self.current),
            Origin::None | Origin::Explicit => {}
        }
    }

    /// A row that was given this value met another. That of a query moves the counter even so, as in InnoDB.
    pub fn met_duplicate(&self, table: &Arc<Table>, value: u64, run: &Run<'_, '_>) -> SqlResult<()> {
        match self.kind() {
            InsertKind::Bulk => self.raise(table, value, run),
            InsertKind::Simple => Ok(()),
        }
    }

    /// The row met another, which ON DUPLICATE KEY UPDATE leaves with this value; `assigned` if it was given it. Error 1869 if
    /// that is reserved for other rows.
    pub fn met_update(&mut self, value: &Value, assigned: bool) -> SqlResult<()> {
        let generated = self.current;
        match (counted(value), value) {
            (Some(value), _) => self.current = value,
            (None, Value::Int(value)) => self.current = *value as u64,
            _ => {}
        }
        let is_reserved = |value: u64| (self.start..self.end).contains(&value);
        match counted(value).filter(|_| assigned && self.origin == Origin::Reserved) {
            Some(value) if value == generated => {}
            Some(value) if is_reserved(value) => return Err(sql_error!(ER_AUTO_INCREMENT_CONFLICT)),
            _ if self.origin == Origin::Session => self.forced = Some(generated),
            _ => self.unused(),
        }
        Ok(())
    }

    /// ON DUPLICATE KEY UPDATE has changed a row to that value: it moves the counter, and nothing that is reserved.
    pub fn updated(&self, table: &Arc<Table>, value: &Value, run: &Run<'_, '_>) -> SqlResult<()> {
        counted(value).map_or(Ok(()), |value| self.raise(table, value, run))
    }

    /// A row with a value that the statement gave went in: the next generated one is beyond it.
    pub fn pass(&mut self, table: &Arc<Table>, value: u64, run: &mut Run<'_, '_>) -> SqlResult<()> {
        self.raise(table, value, run)?;
        let series = series(table, run);
        let beyond = |next: u64| if value >= next { series.next_after(value) } else { next };
        self.next = self.next.map(beyond);
        self.forced = self.forced.map(beyond);
        Ok(())
    }

    /// Tells the counter of a value that it did not give out.
    pub fn raise(&self, table: &Arc<Table>, value: u64, run: &Run<'_, '_>) -> SqlResult<()> {
        let counter = TableCounter::new(run.statement.transaction, table, self.kind());
        counter.raise(value).map_err(|error| engine_error(error, table))
    }

    /// Whether the statement knows how many rows it has.
    fn kind(&self) -> InsertKind {
        if self.rows.is_some() { InsertKind::Simple } else { InsertKind::Bulk }
    }

    fn next_value(&mut self, table: &Arc<Table>, run: &mut Run<'_, '_>) -> SqlResult<u64> {
        if self.insert_id.is_none() {
            self.forced = run.statement.session.take_insert_id();
            self.insert_id = Some(self.forced);
        }
        if let Some(value) = self.forced {
            self.origin = Origin::Session;
            self.forced = Some(series(table, run).next_after(value));
            self.raise(table, value, run)?;
            return Ok(value);
        }
        self.origin = Origin::Reserved;
        if self.next.is_none_or(|next| next >= self.end) {
            self.reserve(table, run)?;
            self.before = self.next;
        }
        let Some(value) = self.next else { return Err(sql_error!(ER_AUTOINC_READ_FAILED)) };
        self.next = Some(series(table, run).next_after(value));
        Ok(value)
    }

    /// With traditional locking a row of VALUES that does not go in uses up no value; a row of a query does.
    fn uses_up_row_by_row(&self, table: &Arc<Table>, run: &Run<'_, '_>) -> bool {
        self.kind() == InsertKind::Simple && lock_mode(table, run) == AutoIncrementLockMode::Traditional
    }

    fn reserve(&mut self, table: &Arc<Table>, run: &mut Run<'_, '_>) -> SqlResult<()> {
        if let Some((range, rows)) = self.again.pop_front() {
            self.expected = rows;
            self.hold(range);
            return Ok(());
        }
        if self.expected == 0 {
            // A statement of unknown length doubles what it asks for each time.
            let doubled = 1_u64.checked_shl(self.reservations).unwrap_or(u64::MAX).min(RESERVED_MAX);
            self.expected = self.rows.filter(|_| self.reservations == 0).unwrap_or(doubled);
        }
        let request = AutoIncrementRequest { count: self.expected, ..series(table, run) };
        // The statement's earlier rows have used up the range.
        if self.next.is_some_and(|next| next > request.column_max) {
            return Err(sql_error!(ER_AUTOINC_READ_FAILED));
        }
        let counter = TableCounter::new(run.statement.transaction, table, self.kind());
        let one = AutoIncrementRequest { count: 1, ..request };
        let reserved = match counter.lock_mode() {
            AutoIncrementLockMode::Traditional if self.uses_up_row_by_row(table, run) => counter.next(one),
            AutoIncrementLockMode::Traditional => counter.reserve(one),
            _ => counter.reserve(request),
        };
        let range = match reserved {
            // At the end of its range a column gets the last value again, which then is a duplicate; not where somebody has set the
            // counter behind it.
            Err(EngineError::AutoIncrementExhausted)
                if request.column_max < u64::MAX
                    && self.reservations == 0
                    && table.auto_increment().peek() <= request.column_max =>
            {
                self.is_cut = request.last() < request.column_max;
                AutoIncrementRange { first: request.last(), count: 1, increment: 1 }
            }
            reserved => reserved.map_err(|error| engine_error(error, table))?,
        };
        self.hold(range);
        Ok(())
    }

    fn hold(&mut self, range: AutoIncrementRange) {
        self.granted.push((range, self.expected));
        self.reservations += 1;
        (self.next, self.start, self.end) = (Some(range.first), range.first, range.end());
    }
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
    counter.raise_unlocked(value).map_err(|error| engine_error(error, table))
}

/// The session's series of values for the table's column.
fn series(table: &Table, run: &Run<'_, '_>) -> AutoIncrementRequest {
    let settings = &run.statement.settings;
    AutoIncrementRequest {
        count: 1,
        increment: settings.auto_increment_increment,
        offset: settings.auto_increment_offset,
        column_max: table.definition().auto_increment_max(),
    }
}
