//! Names of tables' files under DDL: what cannot be one is refused before anything is done, and files get their new names before
//! the dictionary says so (rule D6 in README.md). Main type: [`FileMoves`].

use crate::engine::{Engine, lock};
use crate::error::{EngineError, EngineResult, FailedRename};
use crate::file_names::{is_too_long, table_path, temporary_path};
use crate::table::Table;
use buffer::StorageError;
use dictionary::{TableDefinition, TableName};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stdx::ids::SpaceId;

/// Renames that were made, for the case that they must be taken back.
#[derive(Debug, Default)]
pub(crate) struct FileMoves {
    /// Each space with the name that its file had before.
    made: Vec<(SpaceId, PathBuf)>,
}

impl Engine {
    /// Gives the files of tables their new names: all of them or none. Error: RenameFailed.
    pub(crate) fn move_files<'a>(
        &self,
        tables: impl Iterator<Item = (&'a Arc<Table>, &'a TableDefinition)>,
    ) -> EngineResult<FileMoves> {
        let mut wanted = Vec::new();
        for (old, new) in tables.filter(|(old, new)| old.definition.name != new.name) {
            let path = table_path(&new.name);
            if is_too_long(&path) {
                return Err(rename_refused(&old.definition.name, &new.name));
            }
            if self.inner.pool.has_file(old.space) {
                wanted.push((old, &new.name, path));
            }
        }
        let mut moves = FileMoves::default();
        let moved = self.move_all(&wanted, &mut moves);
        if let Err(error) = moved {
            self.take_back(moves);
            return Err(error);
        }
        Ok(moves)
    }

    fn move_all(
        &self,
        wanted: &[(&Arc<Table>, &TableName, PathBuf)],
        moves: &mut FileMoves,
    ) -> EngineResult<()> {
        // A name may still be another's: with more than one table, all leave their names first.
        if wanted.len() > 1 {
            for (table, new, path) in wanted {
                self.move_file(table, new, &temporary_path(path, table.space), moves)?;
            }
        }
        wanted.iter().try_for_each(|(table, new, path)| self.move_file(table, new, path, moves))
    }

    fn move_file(
        &self,
        table: &Table,
        new: &TableName,
        path: &Path,
        moves: &mut FileMoves,
    ) -> EngineResult<()> {
        let pool = &self.inner.pool;
        let before = pool.spaces().into_iter().find(|(space, _)| *space == table.space);
        match pool.rename_space(table.space, path) {
            Err(StorageError::SpaceExists(_)) => Err(rename_refused(&table.definition.name, new)),
            Err(error) => Err(error.into()),
            Ok(()) => {
                moves.made.extend(before);
                Ok(())
            }
        }
    }

    /// Gives files the names back that they had. One that does not get it keeps the new one: the next start sees to it. So it does
    /// after a failed log: the commit may still turn out to be in it.
    pub(crate) fn take_back(&self, moves: FileMoves) {
        if self.inner.pool.is_stopped() {
            return;
        }
        for (space, path) in moves.made.into_iter().rev() {
            let _ = self.inner.pool.rename_space(space, &path);
        }
    }

    /// Checks that a file for a new table can be made. Errors: NameTooLong, FileExists.
    pub(crate) fn need_free_file(&self, name: &TableName) -> EngineResult<()> {
        let path = table_path(name);
        if is_too_long(&path) {
            return Err(EngineError::NameTooLong);
        }
        match self.inner.pool.has_file_named(&path)? {
            true => Err(EngineError::FileExists(Box::new(name.clone()))),
            false => Ok(()),
        }
    }

    /// As [`Engine::need_free_file`], for a table that is to take the place of one with another name. Error: RenameFailed.
    pub(crate) fn need_free_file_for(&self, old: &TableName, new: &TableName) -> EngineResult<()> {
        if old == new {
            return Ok(());
        }
        self.need_free_file(new).map_err(|error| match error {
            EngineError::NameTooLong | EngineError::FileExists(_) => rename_refused(old, new),
            error => error,
        })
    }

    /// What goes wrong behind a commit is for the error log: the statement has done what it says. But for an engine that has
    /// stopped, of which nothing more can be said.
    pub(crate) fn note_leftover(&self, result: EngineResult<()>, what: &str) -> EngineResult<()> {
        match result {
            Ok(()) => Ok(()),
            Err(EngineError::Stopped) => Err(EngineError::Stopped),
            Err(error) => {
                lock(&self.inner.messages).push(format!("{what}: {error}. The next start tries it again."));
                Ok(())
            }
        }
    }
}

fn rename_refused(old: &TableName, new: &TableName) -> EngineError {
    let [from, to] = [old, new].map(|name| format!("./{}", table_path(name).with_extension("").display()));
    EngineError::RenameFailed(Box::new(FailedRename { from, to }))
}
