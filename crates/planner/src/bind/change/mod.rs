//! Statements that change rows: INSERT and REPLACE, UPDATE, DELETE, LOAD DATA. What they have in common is here.

mod delete;
mod insert;
mod insert_target;
mod load;
mod references;
mod rows;
mod target;
mod update;
mod view;
mod view_columns;
mod view_join;
mod view_rights;

pub(crate) use delete::delete;
pub(crate) use insert::insert;
pub(crate) use load::load;
pub(crate) use references::row_parents;
pub(crate) use update::update;

use super::column::table_columns;
use super::stored_text::{NAMELESS, bind_stored, own_expressions, parse_stored, show_names_of};
use super::{Binder, ChangedTable, Wanted, block_hints, from, function};
use ::expression::Expression;
use dictionary::{ColumnDefault, ColumnDefinition, TableDefinition};
use errors::{SqlError, SqlResult, sql_error};
use optimizer::{Block, IndexLimits, Source};
use parser::ast;
use plan::{Assignment, DefaultValue, RowExpression};
use std::sync::Arc;

/// Binds a statement that finds the rows which it changes, in a block of its own.
fn changing<T>(
    binder: &mut Binder<'_>,
    with: Option<&ast::With>,
    hints: &[ast::Hint],
    parts: impl FnOnce(&mut Binder<'_>) -> SqlResult<T>,
) -> SqlResult<T> {
    let before = binder.common_tables.enter(with, binder.blocks.len())?;
    binder.enter()?;
    binder.block_number += 1;
    binder.blocks.push(Block { number: binder.block_number, ..Block::default() });
    let plan = block_hints::enter(binder, hints).and_then(|()| parts(binder));
    binder.blocks.pop();
    binder.leave();
    binder.common_tables.leave(before);
    plan
}

/// From here on no subquery may read that table of the block.
fn change(binder: &mut Binder<'_>, number: usize) {
    if let Source::Base(table) = &binder.block().tables[number].source {
        let id = table.id();
        let bound = &binder.block().tables[number];
        let (name, view) = (bound.alias.clone(), bound.view.as_ref().map(|view| view.name.clone()));
        binder.changes.add(ChangedTable { id, name, only_as: None, view });
    }
}

/// Error 3105.
fn given_to_generated(table: &TableDefinition, column: &ColumnDefinition) -> SqlError {
    sql_error!(ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, column.name, table.name.table)
}

/// The value of an assignment to a column; None for DEFAULT. Error 3105 for another of a generated one.
fn assigned(
    binder: &mut Binder<'_>,
    value: &ast::Expression,
    table: &TableDefinition,
    column: &ColumnDefinition,
) -> SqlResult<Option<Expression>> {
    match value {
        ast::Expression::Default(None) => Ok(None),
        other => {
            let bound = binder.scalar_as(other, Wanted::any_for(&column.column_type))?;
            match column.generated {
                Some(_) => Err(given_to_generated(table, column)),
                None => Ok(Some(bound)),
            }
        }
    }
}

/// What each column gets when a row gives it no value. Expressions are over the row.
pub(super) fn defaults(
    binder: &mut Binder<'_>,
    definition: &TableDefinition,
) -> SqlResult<Vec<DefaultValue>> {
    let mut defaults = Vec::with_capacity(definition.columns.len());
    for column in &definition.columns {
        defaults.push(match &column.default {
            // What it is given does not count.
            _ if column.generated.is_some() => DefaultValue::Stored(values::Value::Null),
            ColumnDefault::Literal(value) => DefaultValue::Stored(value.clone()),
            ColumnDefault::None if column.nullable => DefaultValue::Stored(values::Value::Null),
            ColumnDefault::None | ColumnDefault::Dropped => DefaultValue::Missing,
            ColumnDefault::CurrentTimestamp(digits) => {
                let now = function::current_timestamp(binder, *digits)?;
                DefaultValue::Expression(RowExpression::new(now, definition.columns.len()))
            }
            ColumnDefault::Expression(text) => {
                push_target(binder, definition, NAMELESS);
                show_names_of(binder, NAMELESS);
                let bound = parse_stored(text).and_then(|parsed| bind_stored(binder, &parsed));
                binder.blocks.pop();
                DefaultValue::Expression(RowExpression::new(bound?, definition.columns.len()))
            }
        });
    }
    Ok(defaults)
}

/// Columns with ON UPDATE CURRENT_TIMESTAMP that are not assigned.
fn on_update(
    binder: &mut Binder<'_>,
    definition: &TableDefinition,
    assigned: &[Assignment],
) -> SqlResult<Vec<Assignment>> {
    let mut more = Vec::new();
    for (position, column) in definition.columns.iter().enumerate() {
        if let Some(digits) = column.on_update_now
            && assigned.iter().all(|assignment| assignment.column != position)
        {
            more.push(Assignment {
                column: position,
                value: Some(function::current_timestamp(binder, digits)?),
                is_own: false,
            });
        }
    }
    Ok(more)
}

/// A block with one table whose slots are its columns.
pub(super) fn push_target(binder: &mut Binder<'_>, definition: &TableDefinition, alias: &str) {
    binder.blocks.push(Block::default());
    let columns = table_columns(definition);
    let count = columns.len();
    let schema = Some(definition.name.schema.clone());
    let added = from::add_table(
        binder.rules(),
        binder.block(),
        alias.to_owned(),
        schema,
        Source::Virtual(Arc::new(definition.clone())),
        columns,
        IndexLimits::default(),
    );
    if let Ok((_, visible)) = added {
        binder.block().visible = visible;
    }
    for column in 0..count {
        binder.block().slot(0, column);
    }
}
