//! CREATE, ALTER and DROP DATABASE.

use super::limits;
use super::tables_that_refer::need_unreferenced;
use crate::definer::Definer;
use accounts::Privileges;
use catalog::{LockKey, LockMode};
use charset::CollationId;
use dictionary::{SchemaDefinition, TableName};
use engine::EngineError;
use errors::{SqlResult, sql_error};
use instance::collations;
use parser::ast::{AlterDatabase, CreateDatabase, DatabaseOption};
use variables::id;

/// Error 1102 for a name that no schema can have, 1059 for a long one.
fn check_name(name: &str) -> SqlResult<()> {
    if name.is_empty() || name.ends_with(' ') || instance::system_schemas::is_hidden(name) {
        return Err(sql_error!(ER_WRONG_DB_NAME, name));
    }
    if name.chars().count() > limits::NAME_CHARACTERS_MAX {
        return Err(sql_error!(ER_TOO_LONG_IDENT, name));
    }
    Ok(())
}

impl Definer<'_> {
    /// What is asked of a CREATE DATABASE before it is run: the schema's collation, if the statement says one.
    pub fn check_create_database(&mut self, create: &CreateDatabase) -> SqlResult<Option<CollationId>> {
        check_name(&create.name)?;
        self.user.require_schema(self.instance, Privileges::CREATE, &create.name)?;
        self.database_collation(&create.options)
    }

    /// Makes a schema whose name is locked. Error 1007, or a note with IF NOT EXISTS.
    pub fn create_schema_locked(
        &mut self,
        create: &CreateDatabase,
        collation: Option<CollationId>,
    ) -> SqlResult<()> {
        let collation = match collation {
            Some(collation) => collation,
            None => collations::of_variable(self.variables, id::COLLATION_SERVER),
        };
        let definition = SchemaDefinition { name: create.name.clone(), collation };
        let exists = instance::system_schemas::is_system_schema(&create.name);
        let made = match exists {
            true => Err(EngineError::SchemaExists(create.name.clone())),
            false => self.instance.engine().create_schema(definition, &self.shared.kill),
        };
        match made {
            Err(EngineError::SchemaExists(name)) if create.if_not_exists => {
                self.diagnostics.note(sql_error!(ER_DB_CREATE_EXISTS, name));
                Ok(())
            }
            other => other.map_err(|error| error.into_sql("")),
        }
    }

    /// The schema that an ALTER DATABASE is about, and its new collation. Error 1046 without name and default schema.
    pub fn check_alter_database(
        &mut self,
        alter: &AlterDatabase,
    ) -> SqlResult<(String, Option<CollationId>)> {
        let name = match (&alter.name, self.schema) {
            (Some(name), _) => name.clone(),
            (None, Some(schema)) => schema.to_string(),
            (None, None) => return Err(sql_error!(ER_NO_DB_ERROR)),
        };
        self.user.require_schema(self.instance, Privileges::ALTER, &name)?;
        let collation = self.database_collation(&alter.options)?;
        Ok((name, collation))
    }

    /// Error 1049 for a schema that does not exist.
    pub fn alter_schema_locked(&mut self, name: &str, collation: Option<CollationId>) -> SqlResult<()> {
        let engine = self.instance.engine();
        let old = engine.dictionary().schema(name).ok_or_else(|| sql_error!(ER_NO_SUCH_DB, name))?;
        let collation = collation.unwrap_or(old.collation);
        let definition = SchemaDefinition { collation, ..(*old).clone() };
        engine.alter_schema(definition, &self.shared.kill).map_err(|error| error.into_sql(""))
    }

    /// Error 1008, or a note with IF EXISTS. Returns how many tables went.
    /// No table comes into a locked schema or leaves it; those that are in it may still be in use.
    pub fn drop_schema_locked(&mut self, name: &str, if_exists: bool) -> SqlResult<usize> {
        let engine = self.instance.engine().clone();
        let named = |table: String| TableName { schema: name.to_owned(), table };
        let tables: Vec<TableName> = engine.dictionary().table_names(name).into_iter().map(named).collect();
        let locks =
            tables.iter().map(|table| (LockKey::table(name, &table.table), LockMode::Exclusive)).collect();
        self.lock_for_statement(locks)?;
        need_unreferenced(self, &tables)?;
        match engine.drop_schema(name, &self.shared.kill) {
            Ok(tables) => Ok(tables),
            Err(EngineError::NoSuchSchema(_)) if if_exists => {
                self.diagnostics.note(sql_error!(ER_DB_DROP_EXISTS, name));
                Ok(0)
            }
            Err(EngineError::NoSuchSchema(_)) => Err(sql_error!(ER_DB_DROP_EXISTS, name)),
            Err(other) => Err(other.into_sql("")),
        }
    }

    fn database_collation(&mut self, options: &[DatabaseOption]) -> SqlResult<Option<CollationId>> {
        let (mut charset, mut collation) = (None, None);
        for option in options {
            match option {
                DatabaseOption::Charset(name) => charset = Some(name.as_str()),
                DatabaseOption::Collate(name) => collation = Some(name.as_str()),
                DatabaseOption::Encryption(value) if !value.eq_ignore_ascii_case(b"N") => {
                    return Err(sql_error!(ER_NOT_SUPPORTED_YET, "ENCRYPTION"));
                }
                DatabaseOption::ReadOnly(Some(true)) => {
                    return Err(sql_error!(ER_NOT_SUPPORTED_YET, "READ ONLY databases"));
                }
                DatabaseOption::Encryption(_) | DatabaseOption::ReadOnly(_) => {}
            }
        }
        collations::resolve(charset, collation, self.diagnostics)
    }
}
