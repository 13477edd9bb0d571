//! LOAD DATA. Main function: [`load`].

use super::references::{RowEvents, references};
use super::{assigned, defaults, own_expressions, push_target};
use crate::bind::{Binder, literal};
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
    let table = binder.base_table(&load.table)?;
    let definition = table.definition().clone();
    let replaces = load.duplicates == ast::LoadDuplicates::Replace;
    let access = if replaces { TableAccess::Replace } else { TableAccess::Insert };
    binder.privileges.require_table(&definition.name, access);
    let mut fields = Vec::with_capacity(load.columns.len());
    for field in &load.columns {
        fields.push(match field {
            ast::LoadColumn::Column(reference) => LoadTarget::Column(
                definition
                    .column_position(&reference.column)
                    .ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, reference, "field list"))?,
            ),
            ast::LoadColumn::UserVariable(name) => LoadTarget::Variable(name.to_lowercase()),
        });
    }
    let has_variable = fields.iter().any(|field| matches!(field, LoadTarget::Variable(_)));
    if has_variable && load.format.has_fixed_rows() {
        return Err(sql_error!(ER_LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR));
    }
    if load.columns.is_empty() {
        let shown = (0..definition.columns.len()).filter(|column| !definition.columns[*column].invisible);
        fields = shown.map(LoadTarget::Column).collect();
    }
    for field in &fields {
        if let LoadTarget::Column(column) = field {
            binder.privileges.require_column(
                &definition.name,
                &definition.columns[*column].name,
                TableAccess::Insert,
            );
        }
    }
    binder.privileges.require_assigned(&definition, &load.assignments, TableAccess::Insert);
    push_target(binder, &definition, &load.table.name);
    let bound = load_parts(binder, load, &definition);
    binder.blocks.pop();
    let own = own_expressions(binder, &definition, |_| true);
    binder.leave();
    let ((defaults, assignments), own) = (bound?, own?);
    let collation = match &load.charset {
        Some(name) => literal::character_set(name)?,
        None => charset::CollationId::UTF8MB4_0900_AI_CI,
    };
    let ignore = load.duplicates == ast::LoadDuplicates::Ignore
        || load.local && load.duplicates == ast::LoadDuplicates::Error;
    let events = RowEvents { inserts: true, deletes: replaces, updates: &|_| false };
    let references = references(binder, &table, events)?;
    let insert = InsertPlan {
        target: Target::new(table, defaults, Vec::new(), ColumnSet::none(), own, &[])
            .with_references(references),
        replace: replaces,
        ignore,
        columns: (0..definition.columns.len()).collect(),
        rows: InsertRows::Values(Vec::new()),
        on_duplicate: Vec::new(),
    };
    Ok(LoadPlan { insert, fields, assignments, load: load.clone(), collation })
}

fn load_parts(
    binder: &mut Binder<'_>,
    load: &ast::Load,
    definition: &TableDefinition,
) -> SqlResult<(Vec<DefaultValue>, Vec<Assignment>)> {
    let defaults = defaults(binder, definition)?;
    let mut assignments = Vec::with_capacity(load.assignments.len());
    for assignment in &load.assignments {
        let column = definition
            .column_position(&assignment.column.column)
            .ok_or_else(|| sql_error!(ER_BAD_FIELD_ERROR, assignment.column, "field list"))?;
        let value = assigned(binder, &assignment.value, definition, &definition.columns[column])?;
        assignments.push(Assignment { column, value, is_own: false });
    }
    Ok((defaults, assignments))
}
