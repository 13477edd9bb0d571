//! What can go wrong with undo. Main type: [`UndoError`].

use buffer::{RedoError, StorageError};
use entry::EntryError;
use txn::SpillError;

/// The result of a call.
pub type UndoResult<T> = Result<T, UndoError>;

/// A failed call.
#[derive(Clone, Debug)]
pub enum UndoError {
    /// Pages, the log or the disk.
    Storage(StorageError),
    /// The file of undo lists that outgrew memory.
    Spill(SpillError),
    /// An entry.
    Entry(EntryError),
    /// What is stored makes no sense; says what.
    Corrupt(String),
    /// A record is too long to be saved.
    TooLong,
}

impl From<StorageError> for UndoError {
    fn from(error: StorageError) -> UndoError {
        UndoError::Storage(error)
    }
}

impl From<RedoError> for UndoError {
    fn from(error: RedoError) -> UndoError {
        UndoError::Storage(StorageError::from(error))
    }
}

impl From<EntryError> for UndoError {
    fn from(error: EntryError) -> UndoError {
        UndoError::Entry(error)
    }
}

impl From<SpillError> for UndoError {
    fn from(error: SpillError) -> UndoError {
        UndoError::Spill(error)
    }
}
