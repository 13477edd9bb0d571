//! The first look at the file of a table since the start, by whoever uses the table first: session, undo, purge or DDL (rules R7, R11
//! and O5 in README.md). What is wrong with a file closes its table and no other, and is told in the error log once.

use crate::engine::{EngineInner, lock};
use crate::error::EngineResult;
use crate::table::{Table, TableState};
use crate::table_files::missing_text;
use buffer::{FileFault, StorageError, space_path};

/// What is wrong with a file.
enum Fault {
    /// There is none that could be used.
    Missing(String),
    /// It must not be used, but goes with the table.
    Damaged(String),
}

impl EngineInner {
    /// Looks at the file of a table, and closes the table if something is wrong with it. Errors: those that may be gone the next time;
    /// then nothing is decided.
    pub(crate) fn check_file(&self, table: &Table) -> EngineResult<()> {
        let name = &table.definition.name;
        let (state, text) = match self.fault_of_file(table)? {
            None => (TableState::USABLE, None),
            Some(Fault::Missing(text)) => {
                if self.is_forced() {
                    self.closed.add(table.space);
                }
                (TableState::FILE_MISSING, Some(text))
            }
            Some(Fault::Damaged(text)) => {
                let state = if self.is_forced() { TableState::USABLE } else { TableState::DAMAGED };
                (state, Some(format!("{text} {}", self.closed_text(name))))
            }
        };
        if table.end_check(state) {
            lock(&self.messages).extend(text);
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
                Some(Fault::Damaged(self.strange_text(name, &path, found, table.store_id)))
            }
            None => Some(Fault::Damaged(format!("The header of the file '{}' is damaged.", path.display()))),
        })
    }
}
