//! Columns of the tables of a query block: what they are, and which one a name means. Main functions: [`find_column`],
//! [`table_columns`], [`Binder::column_at`].

use super::Binder;
use ::expression::{Expression, ExpressionKind, ResultType, ValueSource};
use dictionary::{ColumnDefinition, TableDefinition};
use errors::{SqlResult, sql_error};
use optimizer::{Block, BoundColumn, BoundTable};
use parser::ast;
use plan::physical::{ColumnOrigin, OriginPath, OutputColumn};
use std::sync::Arc;
use values::ColumnType;

pub(super) fn table_matches(table: &BoundTable, reference: &ast::ColumnReference) -> bool {
    let Some(wanted) = &reference.table else { return true };
    if table.alias != *wanted {
        return false;
    }
    match (&reference.schema, &table.schema) {
        (Some(wanted), Some(schema)) => wanted == schema,
        (Some(_), None) => false,
        (None, _) => true,
    }
}

/// The column of that name in the first table.
pub(super) fn find_in_first(block: &Block, reference: &ast::ColumnReference) -> Option<(usize, usize)> {
    let table = block.tables.first().filter(|table| table_matches(table, reference))?;
    let is_it = |column: &BoundColumn| column.is_called(&reference.column);
    table.columns.iter().position(is_it).map(|column| (0, column))
}

/// The column of that name; None if there is none, error 1052 if there are several.
pub(super) fn find_column(
    block: &Block,
    reference: &ast::ColumnReference,
) -> SqlResult<Option<(usize, usize)>> {
    let is_called_so = |column: &BoundColumn| column.is_called(&reference.column);
    let mut found = None;
    // Whether the name may mean that column as well.
    let mut may_mean = |place: (usize, usize)| found.replace(place).is_none_or(|known| known == place);
    let is_seen = |(number, _): &(usize, &BoundTable)| block.unseen >> number & 1 == 0;
    let mut seen = block.tables.iter().enumerate().filter(is_seen);
    let is_clear = if reference.table.is_some() {
        let mut tables = seen.filter(|(_, table)| table_matches(table, reference));
        tables.all(|(number, table)| {
            let mut columns = table.columns.iter().enumerate().filter(|(_, column)| is_called_so(column));
            columns.all(|(column, _)| may_mean((number, column)))
        })
    } else {
        // INVISIBLE columns are found by name though `*` leaves them out.
        let mut visible = block
            .visible
            .iter()
            .filter(|(table, column)| is_called_so(&block.tables[*table].columns[*column]));
        visible.all(|place| may_mean(*place))
            && seen.all(|(number, table)| {
                let columns = table.columns.iter().enumerate().filter(|(_, column)| column.invisible);
                columns
                    .filter(|(_, column)| is_called_so(column))
                    .all(|(column, _)| may_mean((number, column)))
            })
    };
    if is_clear { Ok(found) } else { Err(sql_error!(ER_NON_UNIQ_ERROR, reference, block.clause.name())) }
}

/// The columns of a stored or virtual table.
pub(crate) fn table_columns(definition: &TableDefinition) -> Vec<BoundColumn> {
    let bound = |column: &ColumnDefinition| BoundColumn {
        name: column.name.clone(),
        result: ResultType::column(column.column_type.clone(), column.nullable),
        invisible: column.invisible,
        hidden: column.is_hidden(),
        origin: None,
        source: ValueSource::Column,
        computed: false,
        shown_width: None,
    };
    definition.columns.iter().map(bound).collect()
}

/// Leaves an integer the width of its type; the width that it had, if that was smaller.
fn take_width(column_type: &mut ColumnType) -> Option<u32> {
    if !column_type.kind.is_integer() {
        return None;
    }
    let widest = ColumnType::integer(column_type.kind, column_type.unsigned).display_characters();
    column_type.length.take_if(|width| *width < widest)
}

/// The columns of a subquery in FROM. They hold their collation as strongly as what they show. Those of a subquery
/// whose rows MySQL keeps in a temporary table have the types of that table.
pub(crate) fn derived_columns(
    columns: &[OutputColumn],
    alias: &str,
    names: &[String],
    kept: bool,
) -> Vec<BoundColumn> {
    let mut bound = Vec::with_capacity(columns.len());
    for (position, column) in columns.iter().enumerate() {
        let column = if kept { column.clone().into_temporary() } else { column.clone() };
        let name = names.get(position).unwrap_or(&column.name).clone();
        let is_of_temporary = |origin: &ColumnOrigin| origin.original_table.is_empty();
        let was_kept = kept || column.origin.as_ref().is_some_and(is_of_temporary);
        let origin = match column.origin {
            Some(origin) => {
                let column = if names.is_empty() { origin.column } else { name.clone() };
                let path = match (kept, origin.path) {
                    (false, _) | (true, OriginPath::Merged) => OriginPath::Merged,
                    (true, OriginPath::Table | OriginPath::Kept) => OriginPath::Kept,
                };
                ColumnOrigin { table: alias.to_owned(), column, path, ..origin }
            }
            None => ColumnOrigin::temporary(alias, &name),
        };
        let mut column_type = column.result.column_type;
        let shown_width = if was_kept { take_width(&mut column_type) } else { None };
        bound.push(BoundColumn {
            name,
            result: ResultType { column_type, ..column.result },
            invisible: false,
            hidden: false,
            origin: Some(origin),
            source: column.source,
            computed: column.computed,
            shown_width,
        });
    }
    bound
}

/// Most full names have no more.
const USUAL_NAME_BYTES: usize = 64;

/// A column's name in backquotes, behind its table's and the schema's. Every column that a statement names is given one: to join the parts
/// as a list of texts was 2% of planning a join. `room` serves for all of them.
fn full_name(schema: Option<&str>, table: &str, column: &str, room: &mut String) -> Arc<str> {
    room.clear();
    room.reserve(USUAL_NAME_BYTES);
    room.push('`');
    if let Some(schema) = schema {
        room.push_str(schema);
        room.push_str("`.`");
    }
    if !table.is_empty() {
        room.push_str(table);
        room.push_str("`.`");
    }
    room.push_str(column);
    room.push('`');
    Arc::from(room.as_str())
}

/// Gives what an expression reads other slots.
pub(crate) fn move_slots(expression: &mut Expression, to: &mut dyn FnMut(usize) -> usize) {
    expression.replace(&mut |part| match &part.kind {
        ExpressionKind::Column(column) => {
            Some(Expression::slot(to(column.slot), column.name.clone(), part.result.clone()))
        }
        _ => None,
    });
}

/// A column of a table, as an expression whose slot is its position.
pub(crate) fn column_at(table: &BoundTable, column: usize) -> Expression {
    if let Some(computed) = table.computed(column) {
        return computed.clone();
    }
    named_slot(table, column, column, &mut String::new())
}

fn named_slot(table: &BoundTable, column: usize, slot: usize, room: &mut String) -> Expression {
    let bound = &table.columns[column];
    let name = full_name(table.schema.as_deref(), &table.alias, &bound.name, room);
    Expression::slot(slot, name, bound.result.clone())
}

/// A column of a table of a block, as an expression within that block.
pub(crate) fn column_of(block: &mut Block, table: usize, column: usize) -> Expression {
    let Some(computed) = block.tables[table].computed(column) else {
        let slot = block.slot(table, column);
        return named_slot(&block.tables[table], column, slot, &mut block.name_room);
    };
    let mut expression = computed.clone();
    move_slots(&mut expression, &mut |column| block.slot(table, column));
    expression
}

impl Binder<'_> {
    /// A column of a table of the block at that level, as an expression within that block. The user must be allowed to
    /// read it; `written`: as the statement names it.
    pub fn column_at(&mut self, level: usize, table: usize, column: usize, written: &str) -> Expression {
        let block = &mut self.blocks[level];
        self.privileges.require_column_read(&block.tables[table], column, written);
        column_of(block, table, column)
    }

    /// Brings an expression over the block at `level` into the innermost block, as an outer reference.
    pub fn lift(&mut self, level: usize, expression: Expression) -> Expression {
        let mut lifted = expression;
        for block in &mut self.blocks[level + 1..] {
            let result = lifted.result.clone();
            let number = block.add_outer(lifted);
            lifted = Expression { kind: ExpressionKind::Outer(number), result };
        }
        lifted
    }
}
