//! INSERT and REPLACE. Main function: [`insert`].

use super::insert_target::{InsertTarget, insert_target};
use super::references::{RowEvents, references};
use super::target::may_stay_unread;
use super::view::named_view_of;
use super::view_columns::HIDDEN;
use super::view_join::filled_view;
use super::{assigned, defaults, given_to_generated, on_update, own_expressions, push_target};
use crate::bind::column::table_columns;
use crate::bind::privilege::{Privileges, as_written};
use crate::bind::{Binder, from};
use ::expression::Expression;
use dictionary::TableDefinition;
use errors::{SqlResult, sql_error};
use optimizer::{IndexLimits, Source};
use parser::ast;
use plan::physical::ExplainRow;
use plan::{
    Assignment, DefaultValue, InsertPlan, InsertRows, OwnExpressions, References, RowVariables, TableAccess,
    Target,
};
use std::sync::Arc;
use values::row::ColumnSet;

/// INSERT and REPLACE.
pub(crate) fn insert(binder: &mut Binder<'_>, insert: &ast::Insert) -> SqlResult<InsertPlan> {
    binder.enter()?;
    let view = named_view_of(binder, &insert.table)?;
    let view = view.map(|view| filled_view(binder, insert, view)).transpose()?;
    let target = insert_target(binder, &insert.table, "INSERT", view)?;
    let (table, definition) = (target.table.clone(), &target.names);
    binder.privileges.require_insert(insert, definition);
    let whole = |privileges: &mut Privileges<'_>, below: &TableDefinition| {
        privileges.require_insert(insert, below);
    };
    target.require_whole_below(binder, whole);
    let columns = target_columns(binder, &target, &insert.columns, &insert.table.name)?;
    target.require_given_below(binder, &columns, &insert.on_duplicate);
    binder.privileges.require_assigned(definition, &insert.on_duplicate, TableAccess::Update);
    let before = (binder.explain.len(), binder.block_number, binder.temporary.len());
    let mut rows = match &insert.source {
        ast::InsertSource::Query(query) => {
            let stored = table.definition();
            let mut given = columns.iter().map(|column| &stored.columns[*column]);
            if let Some(column) = given.find(|column| column.generated.is_some()) {
                return Err(given_to_generated(stored, column));
            }
            inserted_query(binder, insert, query, columns.len())?
        }
        ast::InsertSource::Values(rows) => {
            push_target(binder, definition, &insert.table.name);
            binder.changes.tables.push(target.as_changed(&insert.table.name));
            let rows = value_rows(binder, rows, table.definition(), &columns);
            binder.changes.tables.clear();
            binder.blocks.pop();
            InsertRows::Values(rows?)
        }
    };
    push_target(binder, definition, &insert.table.name);
    binder.changes.tables.push(target.as_changed(&insert.table.name));
    let bound = insert_parts(binder, insert, &target, &columns);
    binder.changes.tables.clear();
    binder.blocks.pop();
    let own = own_expressions(binder, table.definition(), |_| true);
    binder.leave();
    let ((defaults, on_duplicate, on_update), mut own) = (bound?, own?);
    target.require_read_below(binder);
    target.check_defaults(binder, insert, &columns)?;
    if let ast::InsertSource::Query(query) = &insert.source
        && !binder.changes.source.handed_on.is_empty()
    {
        // Bound anew, with the columns that the updates read.
        let (explained, block_number, own_tables) = before;
        binder.explain.truncate(explained);
        binder.block_number = block_number;
        binder.temporary.truncate(own_tables);
        binder.enter()?;
        rows = InsertRows::Query(binder.query(query, "SIMPLE")?);
        binder.leave();
    }
    if binder.input.explains {
        binder.explain.insert(0, line_of_insert(insert));
    }
    let (replace, ignore) = (insert.replace, insert.ignore);
    let is_assigned = |column: usize| on_duplicate.iter().chain(&on_update).any(|one| one.column == column);
    let updates = |column: usize| !on_duplicate.is_empty() && (is_assigned(column) || own.compute(column));
    let references =
        references(binder, &table, RowEvents { inserts: true, deletes: replace, updates: &updates })?;
    let hides_id = target.hides_id();
    own.view = target.check;
    let deletable = if replace { target.conditions } else { Vec::new() };
    let kept = kept_of_existing(table.definition(), &on_duplicate, &on_update, (&own, &references));
    let target = Target::new(table, defaults, on_update, kept, own, &[]).with_references(references);
    Ok(InsertPlan { target, replace, ignore, columns, rows, on_duplicate, deletable, hides_id })
}

/// The line of EXPLAIN of the table that rows are inserted into.
fn line_of_insert(insert: &ast::Insert) -> ExplainRow {
    ExplainRow {
        id: Some(1),
        select_type: if insert.replace { "REPLACE" } else { "INSERT" },
        table: Some(insert.table.name.clone()),
        access: Some("ALL"),
        ..ExplainRow::default()
    }
}

/// The query whose rows are inserted.
fn inserted_query(
    binder: &mut Binder<'_>,
    insert: &ast::Insert,
    query: &ast::Query,
    count: usize,
) -> SqlResult<InsertRows> {
    let is_select = matches!(query.body, ast::QueryBody::Select(_) | ast::QueryBody::Table(_));
    binder.changes.source.wanted = is_select && !insert.on_duplicate.is_empty();
    let plan = binder.query(query, "SIMPLE")?;
    binder.changes.source.wanted = false;
    if plan.columns.len() != count {
        return Err(sql_error!(ER_WRONG_VALUE_COUNT_ON_ROW, 1));
    }
    Ok(InsertRows::Query(plan))
}

fn insert_parts(
    binder: &mut Binder<'_>,
    insert: &ast::Insert,
    target: &InsertTarget,
    columns: &[usize],
) -> SqlResult<(Vec<DefaultValue>, Vec<Assignment>, Vec<Assignment>)> {
    let definition = &target.names;
    let defaults = defaults(binder, target.table.definition())?;
    let count = definition.columns.len();
    if let Some(alias) = &insert.row_alias {
        row_alias(binder, alias, target, columns)?;
    } else {
        binder.block().inserted_slots = RowVariables::of(count).inserted().collect();
        show_source(binder, count);
    }
    let mut on_duplicate = Vec::with_capacity(insert.on_duplicate.len());
    for assignment in &insert.on_duplicate {
        let column = definition
            .column_position(&assignment.column.column)
            .ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, assignment.column, "field list"))?;
        let stored = target.table.definition();
        let value = assigned(binder, &assignment.value, stored, &stored.columns[column])?;
        let is_own = value.as_ref().and_then(Expression::column_slot) == Some(column)
            || stored.columns[column].generated.is_some();
        on_duplicate.push(Assignment { column, value, is_own });
    }
    let on_update = on_update(binder, definition, &on_duplicate)?;
    if insert.row_alias.is_none() {
        let read = binder.block().slots.iter().skip(RowVariables::of(count).source());
        let handed_on = read.map(|(table, column)| (table - 1, *column)).collect();
        binder.changes.source.handed_on = handed_on;
    }
    Ok((defaults, on_duplicate, on_update))
}

/// Brings the tables of the inserted SELECT into sight of ON DUPLICATE KEY UPDATE. Their slots follow those of the
/// row that is there and of the row to be inserted, `count` each.
fn show_source(binder: &mut Binder<'_>, count: usize) {
    let source = std::mem::take(&mut binder.changes.source);
    let block = binder.block();
    block.slots.extend((0..count).map(|column| (0, column)));
    for mut table in source.tables {
        table.slots.fill(None);
        block.tables.push(table);
    }
    block.visible.extend(source.visible.iter().map(|(table, column)| (table + 1, *column)));
}

/// `VALUES (...) AS new(a, b)`: the row to be inserted under a name of its own.
fn row_alias(
    binder: &mut Binder<'_>,
    alias: &ast::RowAlias,
    target: &InsertTarget,
    columns: &[usize],
) -> SqlResult<()> {
    if !alias.columns.is_empty() && alias.columns.len() != columns.len() {
        return Err(sql_error!(ER_VIEW_WRONG_LIST));
    }
    let definition = &target.names;
    let mut bound = table_columns(definition);
    // Whatever a view calls its columns.
    for (column, stored) in bound.iter_mut().zip(&target.table.definition().columns) {
        column.name.clone_from(&stored.name);
    }
    for (position, column) in bound.iter_mut().enumerate() {
        column.result.nullable = true;
        // What the row is not given has no name in it.
        if !columns.contains(&position) {
            column.name = HIDDEN.to_owned();
        }
    }
    for (name, column) in alias.columns.iter().zip(columns) {
        bound[*column].name.clone_from(name);
    }
    let count = bound.len();
    let source = Source::Virtual(Arc::new(definition.clone()));
    from::add_table(
        binder.rules(),
        binder.block(),
        alias.name.clone(),
        None,
        source,
        bound,
        IndexLimits::default(),
    )?;
    for column in 0..count {
        binder.block().slot(1, column);
    }
    binder.block().visible.extend(columns.iter().map(|column| (1, *column)));
    binder.block().inserted_slots = RowVariables::of(count).inserted().collect();
    Ok(())
}

fn target_columns(
    binder: &mut Binder<'_>,
    target: &InsertTarget,
    named: &[ast::ColumnReference],
    name: &str,
) -> SqlResult<Vec<usize>> {
    let definition = &target.names;
    if named.is_empty() {
        binder.privileges.require_every_column(definition, TableAccess::Insert);
        target.check_insertable(&target.order, name)?;
        return Ok(target.order.clone());
    }
    let mut columns = Vec::with_capacity(named.len());
    for reference in named {
        let column = definition
            .column_position(&reference.column)
            .ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, reference, "field list"))?;
        let name = as_written(&definition.columns[column].name, &reference.column);
        binder.privileges.require_column(definition, name, TableAccess::Insert);
        if columns.contains(&column) && !target.has_computed() {
            // As it is written first.
            let first = columns.iter().position(|known| *known == column).map_or(reference, |at| &named[at]);
            return Err(sql_error!(ER_FIELD_SPECIFIED_TWICE, first.column));
        }
        columns.push(column);
    }
    target.check_insertable(&columns, name)?;
    Ok(columns)
}

fn value_rows(
    binder: &mut Binder<'_>,
    rows: &[Vec<ast::Expression>],
    definition: &TableDefinition,
    columns: &[usize],
) -> SqlResult<Vec<Vec<Option<Expression>>>> {
    let mut bound = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        // `VALUES ()` is a row of defaults.
        if row.len() != columns.len() && !row.is_empty() {
            return Err(sql_error!(ER_WRONG_VALUE_COUNT_ON_ROW, number + 1));
        }
        let values = row.iter().zip(columns);
        let row: SqlResult<Vec<Option<Expression>>> = values
            .map(|(value, column)| assigned(binder, value, definition, &definition.columns[*column]))
            .collect();
        bound.push(row?);
    }
    Ok(bound)
}

/// Columns of the row that is there that ON DUPLICATE KEY UPDATE neither changes nor reads, that no expression of the table reads or computes, and that may be long.
fn kept_of_existing(
    definition: &TableDefinition,
    on_duplicate: &[Assignment],
    on_update: &[Assignment],
    (own, references): (&OwnExpressions, &References),
) -> ColumnSet {
    let assigned = || on_duplicate.iter().chain(on_update);
    let reads =
        |expression: &Expression, column: usize| expression.any(&|part| part.column_slot() == Some(column));
    // DEFAULT may be an expression over other columns.
    let touches = |one: &Assignment, column: usize| {
        one.column == column || one.value.as_ref().is_none_or(|value| reads(value, column))
    };
    let is_kept = |column: &usize| {
        may_stay_unread(definition, *column)
            && !assigned().any(|one| touches(one, *column))
            && !own.read(*column)
            && !own.compute(*column)
            && !references.columns.contains(*column)
    };
    ColumnSet::of((0..definition.columns.len()).filter(is_kept))
}
