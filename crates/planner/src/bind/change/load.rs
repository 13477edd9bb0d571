//! LOAD DATA. Main function: [`load`].

use super::insert_target::{InsertTarget, insert_target};
use super::references::{RowEvents, references};
use super::view::named_view_of;
use super::{assigned, defaults, own_expressions, push_target};
use crate::bind::privilege::Privileges;
use crate::bind::{Binder, ChangedTable, literal};
use dictionary::TableDefinition;
use errors::{SqlResult, sql_error};
use parser::ast;
use plan::{Assignment, DefaultValue, InsertPlan, InsertRows, LoadPlan, LoadTarget, TableAccess, Target};
use values::row::ColumnSet;

/// LOAD DATA.
pub(crate) fn load(binder: &mut Binder<'_>, load: &ast::Load) -> SqlResult<LoadPlan> {
    if load.xml {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "LOAD XML"));
    }
    if !load.format.has_single_marks() {
        return Err(sql_error!(ER_WRONG_FIELD_TERMINATORS));
    }
    binder.enter()?;
    let view = named_view_of(binder, &load.table)?;
    let into = insert_target(binder, &load.table, "LOAD", view)?;
    let (table, definition) = (into.table.clone(), into.names.clone());
    let replaces = load.duplicates == ast::LoadDuplicates::Replace;
    let access = if replaces { TableAccess::Replace } else { TableAccess::Insert };
    binder.privileges.require_table(&definition, access);
    let (fields, columns) = fields(&into, load)?;
    require_fields(binder, &into, (columns, load), access);
    push_target(binder, &definition, &load.table.name);
    into.show_computed(binder.block());
    binder.changes.tables.push(ChangedTable {
        id: table.id(),
        name: load.table.name.clone(),
        only_as: None,
        view: None,
    });
    let bound = load_parts(binder, load, &into);
    binder.changes.tables.clear();
    if binder.changes.conflict.take().is_some() {
        // By a view, too.
        binder.changes.refuse(&load.table.name);
    }
    binder.blocks.pop();
    let own = own_expressions(binder, table.definition(), |_| true);
    binder.leave();
    let ((defaults, assignments), mut own) = (bound?, own?);
    into.require_read_below(binder);
    own.view = into.check;
    let deletable = if replaces { into.conditions } else { Vec::new() };
    let collation = match &load.charset {
        Some(name) => literal::character_set(name)?,
        None => charset::CollationId::UTF8MB4_0900_AI_CI,
    };
    let ignore = load.duplicates == ast::LoadDuplicates::Ignore
        || load.local && load.duplicates == ast::LoadDuplicates::Error;
    let events = RowEvents { inserts: true, deletes: replaces, updates: &|_| false };
    let references = references(binder, &table, events)?;
    let columns = (0..table.definition().columns.len()).collect();
    let insert = InsertPlan {
        target: Target::new(table, defaults, Vec::new(), ColumnSet::none(), own, &[])
            .with_references(references),
        replace: replaces,
        ignore,
        columns,
        rows: InsertRows::Values(Vec::new()),
        on_duplicate: Vec::new(),
        deletable,
        hides_id: false,
    };
    Ok(LoadPlan { insert, fields, assignments, load: load.clone(), collation })
}

/// Where the fields of a line go, and the columns of the target that they are for. Errors: 1054, 1348 for a column that a view computes.
fn fields(into: &InsertTarget, load: &ast::Load) -> SqlResult<(Vec<LoadTarget>, Vec<usize>)> {
    let (mut fields, mut columns) = (Vec::with_capacity(load.columns.len()), Vec::new());
    for field in &load.columns {
        fields.push(match field {
            ast::LoadColumn::Column(reference) => {
                let column = into.names.column_position(&reference.column);
                let column = column.ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, reference, "field list"))?;
                columns.push(column);
                LoadTarget::Column(into.stored_column(column)?)
            }
            ast::LoadColumn::UserVariable(name) => LoadTarget::Variable(name.to_lowercase()),
        });
    }
    let has_variable = fields.iter().any(|field| matches!(field, LoadTarget::Variable(_)));
    if has_variable && load.format.has_fixed_rows() {
        return Err(sql_error!(ER_LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR));
    }
    if load.columns.is_empty() {
        columns.clone_from(&into.order);
        for column in &into.order {
            fields.push(LoadTarget::Column(into.stored_column(*column)?));
        }
    }
    Ok((fields, columns))
}

/// Asks for the columns that are given values, and for what a view takes of what is under it.
fn require_fields(
    binder: &mut Binder<'_>,
    into: &InsertTarget,
    (mut columns, load): (Vec<usize>, &ast::Load),
    access: TableAccess,
) {
    for column in &columns {
        let name = &into.names.columns[*column].name;
        binder.privileges.require_column(&into.names, name, TableAccess::Insert);
    }
    binder.privileges.require_assigned(&into.names, &load.assignments, TableAccess::Insert);
    let assigned = load.assignments.iter();
    columns.extend(assigned.filter_map(|one| into.names.column_position(&one.column.column)));
    let whole = |privileges: &mut Privileges<'_>, below: &TableDefinition| {
        privileges.require_table(below, access);
    };
    into.require_whole_below(binder, whole);
    into.require_given_below(binder, &columns, &[]);
}

fn load_parts(
    binder: &mut Binder<'_>,
    load: &ast::Load,
    into: &InsertTarget,
) -> SqlResult<(Vec<DefaultValue>, Vec<Assignment>)> {
    let (definition, stored) = (&into.names, into.table.definition());
    let defaults = defaults(binder, stored)?;
    let mut assignments = Vec::with_capacity(load.assignments.len());
    for assignment in &load.assignments {
        let column = definition
            .column_position(&assignment.column.column)
            .ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, assignment.column, "field list"))?;
        let column = into.stored_column(column)?;
        let value = assigned(binder, &assignment.value, stored, &stored.columns[column])?;
        assignments.push(Assignment { column, value, is_own: false });
    }
    Ok((defaults, assignments))
}
