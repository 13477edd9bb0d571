//! The rows of JSON_TABLE. Main function: [`rows_of_document`].

use crate::run::Run;
use crate::spill::RowStore;
use errors::{Diagnostics, SqlError, SqlResult, sql_error};
use expression::EvaluationContext;
use json::table::{Nest, RowMaker, for_each_row};
use json::{Path, Stopped, Watch, exists, find};
use plan::json_table::{JsonColumnValue, JsonReaction, JsonTable, JsonTableColumn, store_mode};
use std::cell::Cell;
use values::json::Node;
use values::store::StoreMode;
use values::{RowRef, TypeKind, Value};

/// So many times the longest packet may be held by one search.
const PACKETS: u64 = 4;

/// All rows of a document; none of NULL.
pub fn rows_of_document(table: &JsonTable, document: &Value, run: &mut Run<'_, '_>) -> SqlResult<RowStore> {
    let Value::Bytes(document) = document else { return Ok(run.row_store()) };
    let facts = run.facts();
    let (mut strict, lenient) = (store_mode(facts, true), store_mode(facts, false));
    // Whatever sql_mode says of dates without a day.
    strict.dates.no_zero_in_date = true;
    let bounds = Bounds {
        kill: run.statement.kill.clone(),
        bytes_max: facts.max_allowed_packet.saturating_mul(PACKETS),
        packet: facts.max_allowed_packet,
        taken: Cell::new(0),
    };
    let (rows, row) = (run.row_store(), vec![Value::Null; table.columns.len()]);
    let mut maker = Maker { table, bounds: &bounds, strict, lenient, row, rows, run };
    for_each_row(Node::of(document), &table.nest, &bounds, &mut maker)?;
    Ok(maker.rows)
}

/// What the searches of one document may take.
struct Bounds {
    kill: engine::KillFlag,
    bytes_max: u64,
    packet: u64,
    taken: Cell<u64>,
}

impl Watch for Bounds {
    fn goes_on(&self, bytes: usize) -> bool {
        self.taken.set(self.taken.get().saturating_add(bytes as u64));
        self.taken.get() <= self.bytes_max && crate::spill::check_flag(&self.kill).is_ok()
    }
}

struct Maker<'a, 'r, 's> {
    table: &'a JsonTable,
    bounds: &'a Bounds,
    strict: StoreMode,
    lenient: StoreMode,
    row: Vec<Value>,
    rows: RowStore,
    run: &'a mut Run<'r, 's>,
}

impl RowMaker for Maker<'_, '_, '_> {
    type Error = SqlError;

    fn stopped(&mut self) -> SqlError {
        let too_long =
            || sql_error!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, "json_binary::serialize", self.bounds.packet);
        self.run.check_killed().err().unwrap_or_else(too_long)
    }

    fn enter(&mut self, nest: &Nest, value: Node<'_>, ordinal: u64) -> SqlResult<()> {
        // What was found before is given back.
        self.bounds.taken.set(0);
        let table = self.table;
        for at in &table.columns_of[nest.id] {
            self.row[*at] = self.value(&table.columns[*at], value, ordinal)?;
        }
        Ok(())
    }

    fn leave(&mut self, nest: &Nest) {
        self.table.columns_of[nest.id].iter().for_each(|at| self.row[*at] = Value::Null);
    }

    fn row(&mut self) -> SqlResult<()> {
        self.run.check_killed()?;
        self.rows.push(RowRef::Values(&self.row))
    }
}

impl Maker<'_, '_, '_> {
    fn value(&mut self, column: &JsonTableColumn, value: Node<'_>, ordinal: u64) -> SqlResult<Value> {
        match &column.value {
            JsonColumnValue::Ordinality => Ok(Value::Int(i64::try_from(ordinal).unwrap_or(i64::MAX))),
            JsonColumnValue::Exists(path) => {
                let found = exists(value, path, self.bounds).map_err(|Stopped| self.stopped())?;
                let diagnostics = self.run.diagnostics();
                self.table.existence(column, found, self.lenient, diagnostics)
            }
            JsonColumnValue::Found { path, on_empty, on_error } => {
                self.found(column, value, path, (on_empty, on_error))
            }
        }
    }

    fn found(
        &mut self,
        column: &JsonTableColumn,
        value: Node<'_>,
        path: &Path,
        (on_empty, on_error): (&JsonReaction, &JsonReaction),
    ) -> SqlResult<Value> {
        let found = find(value, path, self.bounds).map_err(|Stopped| self.stopped())?;
        if found.is_empty() {
            return self.reacted(column, on_empty, || sql_error!(ER_MISSING_JSON_TABLE_VALUE, column.name));
        }
        let mut unheard = Diagnostics::new(0);
        // What is a moment but for its fraction is told of, as by MySQL.
        let tells = matches!(on_error, JsonReaction::Error)
            || matches!(column.result.kind(), TypeKind::Date | TypeKind::Time);
        let diagnostics = if tells { self.run.diagnostics() } else { &mut unheard };
        match self.table.converted(column, &found, self.strict, diagnostics) {
            Ok(value) => Ok(value),
            // A text that is none of its members is the empty one.
            Err(_) if column.result.kind() == TypeKind::Enum && is_lenient(on_error, &found) => {
                Ok(Value::UInt(0))
            }
            Err(error) => self.reacted(column, on_error, || error),
        }
    }

    fn reacted(
        &mut self,
        column: &JsonTableColumn,
        reaction: &JsonReaction,
        error: impl FnOnce() -> SqlError,
    ) -> SqlResult<Value> {
        match reaction {
            JsonReaction::Null => Ok(Value::Null),
            JsonReaction::Error => Err(error()),
            JsonReaction::Default(document) => {
                let diagnostics = self.run.diagnostics();
                self.table.converted(column, &[Node::of(document)], self.strict, diagnostics)
            }
        }
    }
}

fn is_lenient(on_error: &JsonReaction, found: &[Node<'_>]) -> bool {
    !matches!(on_error, JsonReaction::Error)
        && !matches!(found, [Node::Array(_) | Node::Object(_)] | [_, _, ..])
}
