//! AUTO_INCREMENT values of rows that ALTER TABLE copies. Main type: [`Renumbering`]. A column that is new, or that had no such
//! values before, gets them where it has none; where it had, rows stay as they are, zeros included.

use dictionary::{ColumnDefinition, TableDefinition};
use engine::{AutoIncrement, AutoIncrementRequest, EngineError, Table};
use expression::SqlMode;
use values::{ColumnType, Value};

/// The counter of the table that is made, raised by every row.
pub(super) struct Renumbering {
    counter: AutoIncrement,
    increment: u64,
    offset: u64,
    /// Whether NULL and zero are the rows' own.
    keeps_none: bool,
    keeps_zero: bool,
}

impl Renumbering {
    /// `sources` gives for each new column its place in the old table; `series`: auto_increment_increment and
    /// auto_increment_offset.
    pub fn new(
        table: &Table,
        new: &TableDefinition,
        sources: &[Option<usize>],
        sql_mode: SqlMode,
        series: (u64, u64),
    ) -> Renumbering {
        let old = table.definition().auto_increment_column();
        let source = new.auto_increment_column().and_then(|column| sources[column]);
        let goes_on = source.is_some() && source == old;
        // The counter outlives its column's attribute, not the column.
        let is_kept = old.is_some() && sources.contains(&old);
        let next = if is_kept { table.auto_increment().peek() } else { 1 };
        Renumbering {
            counter: AutoIncrement::starting_at(new.options.auto_increment.unwrap_or(next)),
            increment: series.0,
            offset: series.1,
            keeps_none: goes_on,
            keeps_zero: goes_on || sql_mode.contains(SqlMode::NO_AUTO_VALUE_ON_ZERO),
        }
    }

    /// Where the copy leaves the counter.
    pub fn counter(&self) -> &AutoIncrement {
        &self.counter
    }

    /// Whether rows may get other values than they have.
    pub fn renumbers(&self) -> bool {
        !self.keeps_none
    }

    /// A value for a column that the old table has not got. Error: AutoIncrementExhausted.
    pub fn fresh(&self, column: &ColumnDefinition) -> Result<Value, EngineError> {
        let request = AutoIncrementRequest {
            count: 1,
            increment: self.increment,
            offset: self.offset,
            column_max: column_max(column),
        };
        let id = self.counter.take(request)?.first;
        Ok(typed(id, &column.column_type))
    }

    /// The value of a row that the new column stores, or the one that it gets instead.
    pub fn settled(&self, value: Value, column: &ColumnDefinition) -> Result<Value, EngineError> {
        if value == Value::Null && self.renumbers() {
            return self.fresh(column);
        }
        match dictionary::counted(&value) {
            Some(0) if !self.keeps_zero => return self.fresh(column),
            Some(0) | None => {}
            Some(number) => self.counter.raise_above(number, column_max(column)),
        }
        Ok(value)
    }
}

fn column_max(column: &ColumnDefinition) -> u64 {
    column.column_type.integer_range().map_or(u64::MAX, |(_, greatest)| greatest)
}

fn typed(id: u64, column_type: &ColumnType) -> Value {
    match column_type.kind {
        values::TypeKind::Double => Value::Double(id as f64),
        values::TypeKind::Float => Value::Float(id as f32),
        _ if column_type.unsigned => Value::UInt(id),
        _ => Value::Int(id as i64),
    }
}
