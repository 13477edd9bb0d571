//! CREATE, DROP, TRUNCATE and ALTER of temporary tables: they are one session's, so no name is locked, and nothing that others have is
//! looked at.

use super::table::{Creation, check_table_name};
use super::table_error;
use crate::definer::Definer;
use accounts::Privileges;
use dictionary::{TableDefinition, TableName};
use errors::{SqlResult, sql_error};
use parser::ast::{CreateTable, Statement};
use sysviews::schema_exists;

/// The name under which CREATE TEMPORARY TABLE .. SELECT fills a table: the query means the one that has the name until then.
pub const TABLE_BEING_FILLED: &str = "#being filled";

/// What is asked of a CREATE TEMPORARY TABLE before it is run: the table's full name. Nobody is asked for more than the right to make
/// temporary tables in the schema.
pub(crate) fn check_create_temporary(
    definer: &mut Definer<'_>,
    create: &CreateTable,
) -> SqlResult<TableName> {
    if create.partitioning.is_some() {
        return Err(sql_error!(ER_PARTITION_NO_TEMPORARY));
    }
    let name = definer.table_name(&create.name)?;
    check_table_name(&name.table)?;
    definer.user.require_schema(definer.instance, Privileges::CREATE_TEMPORARY_TABLES, &name.schema)?;
    if let Some(like) = &create.like {
        let like = definer.table_name(like)?;
        if !definer.is_temporary(&like) {
            definer.user.require_table_or_columns(definer.instance, Privileges::SELECT, &like)?;
        }
    }
    if let Some(query) = &create.query {
        let own = (definer.schema, definer.temporary);
        definer.user.require_statement(definer.instance, &Statement::Query(query.clone()), own)?;
    }
    Ok(name)
}

/// What a CREATE TEMPORARY TABLE makes. A base table of the name is hidden by it. Errors: 1049, 1050, 1066, 1146, 1347 and those
/// of definitions.
pub fn create_temporary(
    definer: &mut Definer<'_>,
    name: &TableName,
    create: &CreateTable,
) -> SqlResult<Creation> {
    if !schema_exists(definer.instance, &name.schema) {
        return Err(sql_error!(ER_BAD_DB_ERROR, name.schema));
    }
    definer.need_sources(name, create)?;
    if definer.is_temporary(name) {
        let error = sql_error!(ER_TABLE_EXISTS_ERROR, name.table);
        if !create.if_not_exists {
            return Err(error);
        }
        definer.diagnostics.note(error);
        return Ok(Creation::Done);
    }
    match &create.like {
        None => definer.declared(name, create),
        Some(like) => {
            let definition = definer.definition_like(name.clone(), like)?;
            for column in &definition.columns {
                definer.types().warn_copied_type(&column.column_type);
            }
            Ok(Creation::ToMake(Box::new(definition)))
        }
    }
}

/// Makes a temporary table.
pub fn make_temporary(definer: &Definer<'_>, definition: TableDefinition) -> SqlResult<()> {
    let name = definition.name.clone();
    let made = definer.temporary.create(definition);
    made.map(|_| ()).map_err(|error| table_error(error, &name))
}

/// Makes one that its name does not mean yet.
pub fn make_temporary_to_fill(definer: &Definer<'_>, definition: TableDefinition) -> SqlResult<()> {
    let name = definition.name.clone();
    // A statement that ended in a defect of the server may have left it.
    definer.temporary.drop_table(&TableName { table: TABLE_BEING_FILLED.to_owned(), ..name.clone() });
    let made = definer.temporary.create_as(TABLE_BEING_FILLED, definition);
    made.map(|_| ()).map_err(|error| table_error(error, &name))
}

/// Empties a temporary table.
pub fn truncate_temporary(definer: &Definer<'_>, name: &TableName) -> SqlResult<()> {
    definer.temporary.truncate(name).map_err(|error| table_error(error, name))
}
