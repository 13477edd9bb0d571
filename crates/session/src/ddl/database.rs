//! CREATE, ALTER and DROP DATABASE.

use super::limits;
use crate::session::Session;
use crate::system_tables;
use accounts::Privileges;
use catalog::{LockKey, LockMode};
use charset::CollationId;
use dictionary::SchemaDefinition;
use engine::EngineError;
use errors::{SqlResult, sql_error};
use parser::ast::{AlterDatabase, CreateDatabase, DatabaseOption};
use variables::id;
use wire::result::ResultSink;

/// Error 1102 for a name that no schema can have, 1059 for a long one.
pub(crate) fn check_name(name: &str) -> SqlResult<()> {
    if name.is_empty() || name.ends_with(' ') || system_tables::is_hidden(name) {
        return Err(sql_error!(ER_WRONG_DB_NAME, name));
    }
    if name.chars().count() > limits::NAME_CHARACTERS_MAX {
        return Err(sql_error!(ER_TOO_LONG_IDENT, name));
    }
    Ok(())
}

impl Session {
    /// Error 1007, or a note with IF NOT EXISTS.
    pub(crate) fn create_database(
        &mut self,
        create: &CreateDatabase,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        check_name(&create.name)?;
        self.require_schema(Privileges::CREATE, &create.name)?;
        let collation = self.database_collation(&create.options)?;
        self.commit_implicitly()?;
        self.explicit_locks.refuse()?;
        let collation = match collation {
            Some(collation) => collation,
            None => self.server_collation(),
        };
        let definition = SchemaDefinition { name: create.name.clone(), collation };
        let exists = system_tables::is_system_schema(&create.name);
        let wanted = vec![(LockKey::schema(&create.name), LockMode::Exclusive)];
        self.with_definition_locks(wanted, |session| {
            let made = match exists {
                true => Err(EngineError::SchemaExists(create.name.clone())),
                false => session.instance.engine().create_schema(definition, &session.shared.kill),
            };
            match made {
                Err(EngineError::SchemaExists(name)) if create.if_not_exists => {
                    session.diagnostics.note(sql_error!(ER_DB_CREATE_EXISTS, name));
                    Ok(())
                }
                other => other.map_err(|error| error.into_sql("")),
            }
        })?;
        self.send_affected(1, sink)
    }

    /// Error 1049 for a schema that does not exist, 1046 without name and default schema.
    pub(crate) fn alter_database(
        &mut self,
        alter: &AlterDatabase,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let name = match (&alter.name, &self.schema) {
            (Some(name), _) => name.clone(),
            (None, Some(schema)) => schema.to_string(),
            (None, None) => return Err(sql_error!(ER_NO_DB_ERROR)),
        };
        self.require_schema(Privileges::ALTER, &name)?;
        let collation = self.database_collation(&alter.options)?;
        self.commit_implicitly()?;
        self.explicit_locks.refuse()?;
        let wanted = vec![(LockKey::schema(&name), LockMode::Exclusive)];
        self.with_definition_locks(wanted, |session| {
            let engine = session.instance.engine();
            let old = engine.dictionary().schema(&name).ok_or_else(|| sql_error!(ER_NO_SUCH_DB, name))?;
            let collation = collation.unwrap_or(old.collation);
            let definition = SchemaDefinition { collation, ..(*old).clone() };
            engine.alter_schema(definition, &session.shared.kill).map_err(|error| error.into_sql(""))
        })?;
        if self.schema.as_deref() == Some(name.as_str()) {
            self.follow_schema_collation();
        }
        self.send_affected(1, sink)
    }

    /// Error 1008, or a note with IF EXISTS. Affected rows are the tables that went.
    pub(crate) fn drop_database(
        &mut self,
        name: &str,
        if_exists: bool,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        self.require_schema(Privileges::DROP, name)?;
        self.commit_implicitly()?;
        self.explicit_locks.refuse()?;
        let wanted = vec![(LockKey::schema(name), LockMode::Exclusive)];
        let tables =
            self.with_definition_locks(wanted, |session| session.drop_schema_locked(name, if_exists))?;
        if self.schema.as_deref() == Some(name) {
            self.schema = None;
            self.forget_settings();
            self.shared.describe().schema = None;
            self.follow_schema_collation();
        }
        self.send_affected(tables as u64, sink)
    }

    /// No table comes into a locked schema or leaves it; those that are in it may still be in use.
    fn drop_schema_locked(&mut self, name: &str, if_exists: bool) -> SqlResult<usize> {
        let engine = self.instance.engine().clone();
        let tables = engine.dictionary().table_names(name).into_iter();
        self.lock_for_statement(
            tables.map(|table| (LockKey::table(name, &table), LockMode::Exclusive)).collect(),
        )?;
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

    fn server_collation(&self) -> CollationId {
        let name = self.state.text(id::COLLATION_SERVER);
        charset::collation_by_name(&name).map_or(CollationId::UTF8MB4_0900_AI_CI, |collation| collation.id)
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
        crate::charsets::resolve(charset, collation, &mut self.diagnostics)
    }
}
