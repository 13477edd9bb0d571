//! The first look at the file of a table since the start, by whoever uses the table first: session, undo, purge or DDL (rules R7, R11
//! and O5 in the engine's README). What is wrong with a file closes its table and no other, and is told in the error log once.

use crate::{Table, TableState, Tables};
use buffer::{FileFault, StorageError, space_path};
use dictionary::TableName;
use engine_error::EngineResult;
use std::path::Path;
use stdx::sync::lock;

/// What is wrong with a file.
enum Fault {
    /// There is none that could be used.
    Missing(String),
    /// It must not be used, but goes with the table.
    Damaged(String),
}

impl Tables {
    /// Looks at the file of a table, and closes the table if something is wrong with it. Errors: those that may be gone the next time;
    /// then nothing is decided.
    pub(crate) fn check_file(&self, table: &Table) -> EngineResult<()> {
        let name = &table.definition.name;
        let (state, text) = match self.fault_of_file(table)? {
            None => (TableState::USABLE, None),
            Some(Fault::Missing(text)) => {
                if self.shared.is_forced() {
                    self.closed.add(table.space);
                }
                (TableState::FILE_MISSING, Some(text))
            }
            Some(Fault::Damaged(text)) => {
                let state = if self.shared.is_forced() { TableState::USABLE } else { TableState::DAMAGED };
                (state, Some(format!("{text} {}", self.closed_text(name))))
            }
        };
        if table.end_check(state) {
            lock(&self.shared.messages).extend(text);
        }
        Ok(())
    }

    fn fault_of_file(&self, table: &Table) -> EngineResult<Option<Fault>> {
        let (name, space, path) = (&table.definition.name, table.space, space_path(table.space));
        let missing = |unreadable| Some(Fault::Missing(missing_text(name, &path, unreadable)));
        match self.pool.open_found_space(space) {
            Ok(None) => {}
            Ok(Some(FileFault::Unreadable(reason))) => return Ok(missing(Some(reason))),
            Err(StorageError::SpaceMissing(_)) => return Ok(missing(None)),
            Ok(Some(FileFault::Foreign)) => {
                return Ok(missing(Some("it is of another server or version".to_owned())));
            }
            Ok(Some(FileFault::Damaged)) => match self.pool.open_damaged_space(space, &path) {
                // Another thread was quicker.
                Ok(()) | Err(StorageError::SpaceExists(_)) => {}
                Err(error) => return Err(error.into()),
            },
            Err(error) => return Err(error.into()),
        }
        let found = self.pool.store_id(space);
        Ok(match found {
            Some(found) if found == table.store_id => None,
            Some(_) => {
                self.closed.add(space);
                Some(Fault::Damaged(strange_text(name, &path, found, table.store_id)))
            }
            None => Some(Fault::Damaged(format!("The header of the file '{}' is damaged.", path.display()))),
        })
    }

    /// What becomes of a damaged table.
    pub fn closed_text(&self, name: &TableName) -> String {
        let what = match self.shared.is_forced() {
            true => "is read as far as it can be, as innodb_force_recovery says",
            false => "is closed until it is dropped or its file is whole again",
        };
        format!("Table `{}`.`{}` {what}.", name.schema, name.table)
    }
}

/// Says that a file is of another history than its table.
pub fn strange_text(name: &TableName, path: &Path, found: Option<u64>, own: u64) -> String {
    format!(
        "The file '{}' is not the one of table `{}`.`{}`, but has its number: its store id is {:016x}, the table's {own:016x}.",
        path.display(),
        name.schema,
        name.table,
        found.unwrap_or_default(),
    )
}

/// Says that a table has no file that could be used.
pub fn missing_text(name: &TableName, path: &Path, unreadable: Option<String>) -> String {
    let what = unreadable.map_or("is missing".to_owned(), |reason| format!("cannot be used: {reason}"));
    format!("The file '{}' of table `{}`.`{}` {what}.", path.display(), name.schema, name.table)
}
