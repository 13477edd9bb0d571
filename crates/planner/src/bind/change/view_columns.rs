//! Columns of a view whose rows are changed: those of its table under other names, and behind them what is computed, and columns that are shown
//! once more. Main functions: [`shown_items`], [`rename`].

use crate::bind::Binder;
use crate::bind::column::{column_at, find_column, move_slots};
use ::expression::{Expression, ValueSource};
use dictionary::TableDefinition;
use errors::{SqlResult, sql_error};
use optimizer::{Block, BoundColumn, Source};
use parser::ast::{self, Child};
use std::sync::Arc;

/// The name of a column that a view does not show: no statement can write it.
pub(super) const HIDDEN: &str = "\0";

/// A column of a view.
pub(super) struct Shown {
    /// What it stands for. A slot is the position of a column of the table.
    expression: Expression,
    /// The columns that it names of what is under the view.
    reads: Vec<usize>,
}

/// What the columns of a view stand for, whose table is all that the block has. Nobody is asked whether they may be read: that
/// depends on which of them the statement reads.
pub(super) fn shown_items(binder: &mut Binder<'_>, items: &[&ast::Expression]) -> SqlResult<Vec<Shown>> {
    let mut shown = Vec::with_capacity(items.len());
    for item in items {
        let reads = named_columns(binder.block(), item);
        let expression = match item {
            ast::Expression::Column(reference) => {
                let found = find_column(binder.block(), reference)?;
                let (table, column) =
                    found.ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, reference, "field list"))?;
                column_at(&binder.block().tables[table], column)
            }
            computed => computed_column(binder, computed)?,
        };
        shown.push(Shown { expression, reads });
    }
    Ok(shown)
}

/// A computed column, over the positions of the table's columns. What it reads is not read by the statement yet.
fn computed_column(binder: &mut Binder<'_>, item: &ast::Expression) -> SqlResult<Expression> {
    let block = binder.block();
    let (known, slots) = (block.slots.len(), block.tables[0].slots.clone());
    let trusted = std::mem::replace(&mut binder.privileges.trusted, true);
    let bound = binder.scalar(item);
    binder.privileges.trusted = trusted;
    let block = binder.block();
    let mut bound = bound?;
    move_slots(&mut bound, &mut |slot| block.slots[slot].1);
    block.slots.truncate(known);
    block.tables[0].slots = slots;
    Ok(bound)
}

/// The columns of the one table of a block that an expression names.
pub(super) fn named_columns(block: &Block, expression: &ast::Expression) -> Vec<usize> {
    let mut found = Vec::new();
    add_named(block, expression, &mut found);
    found
}

fn add_named(block: &Block, expression: &ast::Expression, found: &mut Vec<usize>) {
    if let ast::Expression::Column(reference) | ast::Expression::Default(Some(reference)) = expression
        && let Ok(Some((_, column))) = find_column(block, reference)
        && !found.contains(&column)
    {
        found.push(column);
    }
    expression.each_child(&mut |child| {
        if let Child::Expression(child) = child {
            add_named(block, child, found);
        }
    });
}

/// Gives the one table of the block the view's columns. Returns what it was before, and the columns of that which each column of the view
/// reads; None where it is no stored table.
pub(super) fn rename(
    block: &mut Block,
    alias: &str,
    shape: &TableDefinition,
    shown: Vec<Shown>,
) -> Option<(TableDefinition, Vec<Vec<usize>>)> {
    let table = block.tables.last_mut()?;
    let Source::Base(base) = &table.source else { return None };
    let stored = base.definition().columns.len();
    let below = table.view.as_deref().unwrap_or_else(|| base.definition()).clone();
    let mut seen = below.clone();
    seen.name = shape.name.clone();
    seen.columns.truncate(stored);
    for column in &mut seen.columns {
        // What the view does not show cannot be named.
        column.name = HIDDEN.to_owned();
        column.invisible = true;
    }
    table.columns.truncate(stored);
    table.slots.truncate(stored);
    table.computed.clear();
    let mut reads = vec![Vec::new(); stored];
    let mut visible = Vec::with_capacity(shown.len());
    for (one, named) in shown.into_iter().zip(&shape.columns) {
        let own = one.expression.column_slot().filter(|column| seen.columns[*column].invisible);
        if let Some(column) = own {
            seen.columns[column].name.clone_from(&named.name);
            seen.columns[column].invisible = false;
            reads[column] = one.reads;
            visible.push((0, column));
            continue;
        }
        visible.push((0, seen.columns.len()));
        seen.columns.push(named.clone());
        reads.push(one.reads);
        table.slots.push(None);
        table.columns.push(BoundColumn {
            name: named.name.clone(),
            result: one.expression.result.clone(),
            invisible: false,
            hidden: false,
            origin: None,
            source: ValueSource::Column,
            computed: true,
            shown_width: None,
        });
        table.computed.push(one.expression);
    }
    for (bound, shown) in table.columns.iter_mut().zip(&seen.columns) {
        bound.name.clone_from(&shown.name);
        bound.invisible = shown.invisible;
    }
    table.alias = alias.to_owned();
    table.schema = Some(shape.name.schema.clone());
    table.view = Some(Arc::new(seen));
    block.visible = visible;
    Some((below, reads))
}
