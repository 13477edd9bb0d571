//! The rows of JSON_TABLE. Main function: [`rows_of_document`].

use crate::run::Run;
use crate::spill::{DocumentWatch, RowStore};
use errors::{Diagnostics, SqlError, SqlResult, sql_error};
use expression::EvaluationContext;
use json::table::{Nest, RowMaker, for_each_row};
use json::{Path, find, first};
use plan::json_table::{JsonColumnValue, JsonReaction, JsonTable, JsonTableColumn, store_mode};
use values::json::Node;
use values::store::StoreMode;
use values::{RowRef, TypeKind, Value};

/// All rows of a document; none of NULL.
pub fn rows_of_document(table: &JsonTable, document: &Value, run: &mut Run<'_, '_>) -> SqlResult<RowStore> {
    let Value::Bytes(document) = document else { return Ok(run.row_store()) };
    let facts = run.facts();
    let (strict, lenient) = (store_mode(facts, true), store_mode(facts, false));
    let (rows, row) = (run.row_store(), vec![Value::Null; table.columns.len()]);
    let mut maker = Maker { table, strict, lenient, row, rows, run };
    for_each_row(Node::of(document), &table.nest, &mut maker)?;
    Ok(maker.rows)
}

struct Maker<'a, 'r, 's> {
    table: &'a JsonTable,
    strict: StoreMode,
    lenient: StoreMode,
    row: Vec<Value>,
    rows: RowStore,
    run: &'a mut Run<'r, 's>,
}

impl<'s> RowMaker for Maker<'_, '_, 's> {
    type Watch = DocumentWatch<'s>;

    fn watch(&self) -> DocumentWatch<'s> {
        self.run.document_watch()
    }

    fn enter(&mut self, nest: &Nest, value: Node<'_>, ordinal: u64) -> SqlResult<()> {
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
                let found = first(value, path, &self.watch())?.is_some();
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
        let watch = self.watch();
        let found = find(value, path, &watch)?;
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
