//! CREATE, ALTER and DROP DATABASE.

use super::limits;
use crate::accounts::Privileges;
use crate::metadata_lock::{LockKey, LockMode};
use crate::session::Session;
use crate::system_tables;
use crate::variables::id;
use charset::CollationId;
use dictionary::SchemaDefinition;
use engine::EngineError;
use errors::{SqlResult, sql_error};
use parser::ast::{AlterDatabase, CreateDatabase, DatabaseOption};
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
        self.commit_open()?;
        self.lock_metadata(&LockKey::schema(&create.name), LockMode::Exclusive)?;
        let collation = match collation {
            Some(collation) => collation,
            None => self.server_collation(),
        };
        let definition = SchemaDefinition { name: create.name.clone(), collation };
        let exists = system_tables::is_system_schema(&create.name);
        let made = match exists {
            true => Err(EngineError::SchemaExists(create.name.clone())),
            false => self.state.instance.engine().create_schema(definition),
        };
        self.release_transaction_locks();
        match made {
            Err(EngineError::SchemaExists(name)) if create.if_not_exists => {
                self.diagnostics.note(sql_error!(ER_DB_CREATE_EXISTS, name));
            }
            other => other.map_err(|error| error.into_sql(""))?,
        }
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
        self.commit_open()?;
        let engine = self.state.instance.engine().clone();
        let old = engine.dictionary().schema(&name).ok_or_else(|| sql_error!(ER_BAD_DB_ERROR, name))?;
        let definition = SchemaDefinition { collation: collation.unwrap_or(old.collation), ..(*old).clone() };
        engine.alter_schema(definition).map_err(|error| error.into_sql(""))?;
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
        self.commit_open()?;
        let engine = self.state.instance.engine().clone();
        self.lock_metadata(&LockKey::schema(name), LockMode::Exclusive)?;
        for table in engine.dictionary().tables(name) {
            let key = LockKey::table(name, &table.definition().name.table);
            if let Err(error) = self.lock_metadata(&key, LockMode::Exclusive) {
                self.release_transaction_locks();
                return Err(error);
            }
        }
        let dropped = engine.drop_schema(name);
        self.release_transaction_locks();
        let tables = match dropped {
            Ok(tables) => tables,
            Err(EngineError::NoSuchSchema(_)) if if_exists => {
                self.diagnostics.note(sql_error!(ER_DB_DROP_EXISTS, name));
                0
            }
            Err(EngineError::NoSuchSchema(_)) => return Err(sql_error!(ER_DB_DROP_EXISTS, name)),
            Err(other) => return Err(other.into_sql("")),
        };
        if self.schema.as_deref() == Some(name) {
            self.schema = None;
            self.forget_settings();
            self.state.shared.describe().schema = None;
            self.follow_schema_collation();
        }
        self.send_affected(tables as u64, sink)
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
