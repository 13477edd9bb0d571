//! Values of a row on its way into a table that are too long for memory. Main type: [`LongColumns`]. They go from where they are kept
//! into the table's tree of long values, and the row gets references to them.

use super::row::row_error;
use crate::run::{Run, engine_error, long_parameter};
use crate::spill::Spool;
use charset::CollationId;
use dictionary::{ColumnDefinition, IndexKind, TableDefinition};
use engine::Table;
use errors::SqlResult;
use expression::{Expression, ExpressionKind};
use std::sync::Arc;
use values::row::{Piece, REFERENCE_BYTES, RowView};
use values::store::UnchangedText;
use values::{ColumnType, Value};

/// Bytes of a value that stand in its row meanwhile: enough for every key.
const START_BYTES: usize = 4096;

/// The long values of a row, by column. The row itself has the start of each in its place.
#[derive(Debug, Default)]
pub struct LongColumns(Vec<(usize, Arc<Spool>)>);

impl LongColumns {
    /// Whether the row has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets those of the row before.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets the value of a column, which gets another one.
    pub fn forget(&mut self, column: usize) {
        self.0.retain(|(other, _)| *other != column);
    }

    /// Stores a value in a column as it is. Returns what stands in the row; None if the column would change or refuse it, or needs it
    /// in memory: then the value must be loaded and stored like others.
    pub fn store(
        &mut self,
        spool: &Arc<Spool>,
        from: &ColumnType,
        column: usize,
        table: &Table,
    ) -> SqlResult<Option<Value>> {
        if !takes(table.definition(), column) || !is_kept(spool, from, &table.definition().columns[column])? {
            return Ok(None);
        }
        self.forget(column);
        self.0.push((column, Arc::clone(spool)));
        Ok(Some(Value::Bytes(spool.start(START_BYTES)?)))
    }

    /// Stores a statement's parameter, if the expression is one that is too long for memory. Else as [`LongColumns::store`].
    pub fn store_parameter(
        &mut self,
        expression: &Expression,
        column: usize,
        table: &Table,
        run: &Run<'_, '_>,
    ) -> SqlResult<Option<Value>> {
        let ExpressionKind::Parameter(index) = expression.kind else { return Ok(None) };
        let Some(spool) = long_parameter(run.statement, index) else { return Ok(None) };
        match run.statement.parameters.get(index) {
            Some(typed) => self.store(spool, &typed.column_type, column, table),
            None => Ok(None),
        }
    }

    /// The row in the table's layout, with references to its long values, which are written now. A row that does not go in after all
    /// needs a rollback to a mark from before.
    pub fn encoded(&self, table: &Table, row: &[Value], run: &Run<'_, '_>) -> SqlResult<Vec<u8>> {
        let mut references: Vec<(usize, [u8; REFERENCE_BYTES])> = Vec::with_capacity(self.0.len());
        for (column, spool) in &self.0 {
            references.push((*column, put(table, spool, run)?));
        }
        let layout = table.layout();
        let short = layout.encode(row).map_err(|error| row_error(table, error))?;
        let view = RowView::new(layout, &short).map_err(|error| row_error(table, error))?;
        let piece = |column| match references.iter().find(|(long, _)| *long == column) {
            Some((_, reference)) => Piece::Outside(reference),
            None => view.piece(column),
        };
        let pieces: Vec<Piece<'_>> = layout.variable_columns().map(piece).collect();
        let mut bytes = Vec::new();
        layout.rewrite(&view, &pieces, &mut bytes).map_err(|error| row_error(table, error))?;
        Ok(bytes)
    }
}

/// Writes a value into the table's tree.
fn put(table: &Table, spool: &Spool, run: &Run<'_, '_>) -> SqlResult<[u8; REFERENCE_BYTES]> {
    let failed = |error| engine_error(error, table);
    let mut value = run.statement.transaction.begin_value(table).map_err(failed)?;
    spool.visit(&mut |piece| value.push(piece).map_err(failed))?;
    Ok(value.finish().map_err(failed)?.encode())
}

/// Whether values of a column may stand outside when its row is made: the clustered key is made of the row.
pub fn takes(definition: &TableDefinition, column: usize) -> bool {
    let is_in = |parts: &[dictionary::IndexPart]| parts.iter().any(|part| part.column == column);
    let in_unique =
        |index: &dictionary::IndexDefinition| index.kind != IndexKind::Plain && is_in(&index.parts);
    definition.columns[column].column_type.kind.is_large_object() && !definition.indexes.iter().any(in_unique)
}

/// Whether a column holds the value as it stands.
fn is_kept(spool: &Spool, from: &ColumnType, column: &ColumnDefinition) -> SqlResult<bool> {
    let to = &column.column_type;
    let bytes_max = to.kind.large_object_bytes_max().unwrap_or(0);
    if !from.kind.is_string() || spool.len() > u64::from(bytes_max) {
        return Ok(false);
    }
    if to.kind.is_binary() {
        return Ok(true);
    }
    is_unchanged(spool, from.collation, to.collation)
}

/// Whether text is the same, and valid, in another character set.
pub fn is_unchanged(spool: &Spool, from: CollationId, to: CollationId) -> SqlResult<bool> {
    let mut text = UnchangedText::new(from, to);
    spool.visit(&mut |piece| {
        text.push(piece);
        Ok(())
    })?;
    Ok(text.is_unchanged())
}
