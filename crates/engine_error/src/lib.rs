//! What can go wrong below the SQL layer. Main type: [`EngineError`].
//! Client mistakes (duplicate key, missing table), conflicts (deadlock, time-out) and environment faults
//! (I/O, full disk, corruption) are variants; [`EngineError::into_sql`] gives the error a client sees.

#![forbid(unsafe_code)]

use buffer::StorageError;
use dictionary::TableName;
use env::DiskErrorKind;
use errors::handler::{
    EMFILE, ENAMETOOLONG, HA_ERR_GENERIC, HA_ERR_TABLE_READONLY, HA_ERR_TABLESPACE_EXISTS,
};
use errors::{SqlError, sql_error};

/// The result of an engine call.
pub type EngineResult<T> = Result<T, EngineError>;

/// A failed engine call. Small, so that results stay in registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// A unique index has the key already. The SQL layer formats 1062, because it knows the values.
    DuplicateKey(Box<DuplicateKey>),
    /// A row lock was not granted within lock_wait_timeout. The statement must be rolled back by the caller.
    LockWaitTimeout,
    /// The transaction was chosen as the victim of a deadlock and HAS BEEN rolled back wholly when this returns.
    Deadlock,
    /// The row was changed behind the transaction's snapshot, which is strict. The whole transaction must be rolled back by the caller.
    RecordChanged,
    /// NOWAIT was asked for and the row is locked by another transaction.
    LockNotAvailable,
    /// The kill flag of the transaction was raised.
    Killed,
    /// The file system has no room left. Nothing of the failed call is left behind but earlier calls of the
    /// statement are: roll back to the statement mark.
    NoSpace,
    /// The row that the caller wants to change is not there (it never locked it, or deleted it itself).
    RowNotFound,
    /// A row or key is longer than the engine can hold.
    TooBig {
        /// Size in bytes.
        bytes: usize,
        /// What the engine can hold, in bytes.
        bytes_max: usize,
    },
    /// The AUTO_INCREMENT counter has reached the end of its range.
    AutoIncrementExhausted,
    /// A write was tried in a READ ONLY transaction.
    ReadOnlyTransaction,
    /// Rows cannot be written in an engine that was opened by force.
    ForcedRecovery,
    /// Nothing can be changed: the engine does not touch its data directory.
    ReadOnlyEngine,
    /// Rows cannot be written: the engine was opened for reading only.
    ReadOnlyTables,
    /// Definitions cannot be changed: the engine was opened for reading only.
    ReadOnlyMode,
    /// A table of that name exists.
    TableExists(String),
    /// A CHECK constraint of that name is there already.
    CheckExists(String),
    /// A foreign key of that name is there already.
    ForeignKeyExists(String),
    /// No such table; schema and table name.
    NoSuchTable(String, String),
    /// A schema of that name exists.
    SchemaExists(String),
    /// No such schema.
    NoSuchSchema(String),
    /// No such index in the table.
    NoSuchIndex(String),
    /// A table cannot have that name: no file can.
    NameTooLong,
    /// A schema cannot have that name: no directory can. The text is the directory.
    SchemaNameTooLong(String),
    /// A file that is not the server's has the name that the file of a new table needs.
    FileExists(Box<TableName>),
    /// The file of a table cannot get its new name: that is too long, or another file has it.
    RenameFailed(Box<FailedRename>),
    /// The table was dropped or rebuilt after the caller looked it up.
    TableDefinitionChanged,
    /// The file of that table was not there when the engine was opened.
    FileMissing(String),
    /// The file of that table lacks changes that recovery could not bring into it.
    TableDamaged(Box<TableName>),
    /// Bytes on disk do not make sense. The text names the object.
    Corrupt(String),
    /// The operating system refused an operation. The text names file and operation.
    Io(String),
    /// The process has no file descriptor left. As `NoSpace`: the call may work later.
    TooManyFiles,
    /// A bound that protects memory was reached (commit table, lock table).
    OutOfResources(&'static str),
    /// The engine stopped after a failed flush (invariant I2) or is shut down; no write is possible.
    Stopped,
    /// Not built yet or not offered.
    Unsupported(&'static str),
}

/// Which unique index has the key already, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateKey {
    /// Position in [`crate::Table::indexes`] (0 is the clustered index).
    pub index: usize,
    /// Clustered key of the row that has it: what ON DUPLICATE KEY UPDATE and REPLACE lock and change.
    pub existing_key: Vec<u8>,
    /// For bulk inserts: the ordinal (from 0) of the failing row within the statement; 0 for single inserts.
    pub row_ordinal: u64,
    /// For copies into a table that goes when they fail: that row, in the table's layout, if it can be read.
    pub copied_row: Option<Vec<u8>>,
}

/// A file that did not get another name. Paths without suffix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRename {
    /// The file.
    pub from: String,
    /// The name that it should have got.
    pub to: String,
}

impl EngineError {
    /// Whether the whole transaction is gone (the session must forget it).
    pub fn rolled_back_transaction(&self) -> bool {
        matches!(self, EngineError::Deadlock)
    }

    /// The error as a client sees it. `table` is what messages about a table name.
    /// DuplicateKey should be formatted by the caller, who knows the values; this gives 1022.
    pub fn into_sql(self, table: &str) -> SqlError {
        match self {
            EngineError::DuplicateKey(_) => sql_error!(ER_DUP_KEY, table),
            EngineError::LockWaitTimeout => sql_error!(ER_LOCK_WAIT_TIMEOUT),
            EngineError::Deadlock => sql_error!(ER_LOCK_DEADLOCK),
            EngineError::RecordChanged => sql_error!(ER_CHECKREAD, table),
            EngineError::LockNotAvailable => sql_error!(ER_LOCK_NOWAIT),
            EngineError::Killed => sql_error!(ER_QUERY_INTERRUPTED),
            EngineError::NoSpace => sql_error!(ER_RECORD_FILE_FULL, table),
            EngineError::RowNotFound => sql_error!(ER_KEY_NOT_FOUND, table),
            EngineError::TooBig { bytes_max, .. } => sql_error!(ER_TOO_BIG_ROWSIZE, bytes_max),
            EngineError::AutoIncrementExhausted => sql_error!(ER_AUTOINC_READ_FAILED),
            EngineError::ReadOnlyTransaction => sql_error!(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION),
            EngineError::ForcedRecovery => sql_error!(ER_INNODB_FORCED_RECOVERY),
            EngineError::ReadOnlyEngine => sql_error!(ER_INNODB_READ_ONLY),
            EngineError::ReadOnlyTables => {
                sql_error!(ER_CANT_LOCK, HA_ERR_TABLE_READONLY, "Table is read only")
            }
            EngineError::ReadOnlyMode => sql_error!(ER_READ_ONLY_MODE),
            EngineError::TableExists(name) => sql_error!(ER_TABLE_EXISTS_ERROR, name),
            EngineError::CheckExists(name) => sql_error!(ER_CHECK_CONSTRAINT_DUP_NAME, name),
            EngineError::ForeignKeyExists(name) => sql_error!(ER_FK_DUP_NAME, name),
            EngineError::NoSuchTable(schema, table) => sql_error!(ER_NO_SUCH_TABLE, schema, table),
            EngineError::SchemaExists(name) => sql_error!(ER_DB_CREATE_EXISTS, name),
            EngineError::NoSuchSchema(name) => sql_error!(ER_BAD_DB_ERROR, name),
            EngineError::NoSuchIndex(name) => sql_error!(ER_CANT_DROP_FIELD_OR_KEY, name),
            EngineError::NameTooLong => {
                sql_error!(ER_GET_ERRNO, HA_ERR_GENERIC, "Unknown (generic) error from engine")
            }
            EngineError::SchemaNameTooLong(directory) => {
                sql_error!(EE_STAT, directory, ENAMETOOLONG, "File name too long")
            }
            EngineError::FileExists(name) => {
                sql_error!(ER_TABLESPACE_EXISTS, format!("`{}`.`{}`", name.schema, name.table))
            }
            EngineError::RenameFailed(rename) => {
                let FailedRename { from, to } = *rename;
                let reason = "Tablespace already exists";
                sql_error!(ER_ERROR_ON_RENAME, from, to, HA_ERR_TABLESPACE_EXISTS, reason)
            }
            EngineError::TableDefinitionChanged => sql_error!(ER_TABLE_DEF_CHANGED),
            EngineError::FileMissing(table) => sql_error!(ER_TABLESPACE_MISSING, table),
            EngineError::TableDamaged(name) => sql_error!(ER_TABLE_CORRUPT, name.schema, name.table),
            EngineError::Corrupt(text) => sql_error!(ER_GET_ERRNO, 126, text),
            EngineError::Io(text) => sql_error!(ER_GET_ERRNO, 5, text),
            EngineError::TooManyFiles => sql_error!(ER_GET_ERRNO, EMFILE, "Too many open files"),
            EngineError::OutOfResources(text) => sql_error!(ER_GET_ERRNO, 12, text),
            EngineError::Stopped => sql_error!(ER_SERVER_SHUTDOWN),
            EngineError::Unsupported(what) => sql_error!(ER_NOT_SUPPORTED_YET, what),
        }
    }
}

impl From<StorageError> for EngineError {
    fn from(error: StorageError) -> EngineError {
        match error {
            StorageError::NoSpace(_) | StorageError::LogFull => EngineError::NoSpace,
            StorageError::Disk(disk) if disk.kind == DiskErrorKind::NoSpace => EngineError::NoSpace,
            StorageError::Disk(disk) if disk.kind == DiskErrorKind::TooManyFiles => EngineError::TooManyFiles,
            StorageError::Stopped => EngineError::Stopped,
            StorageError::Interrupted => EngineError::Killed,
            StorageError::Corrupt { .. } | StorageError::PageOutOfRange(_) => {
                EngineError::Corrupt(error.to_string())
            }
            // Only a table that was dropped or replaced has no file.
            StorageError::SpaceMissing(_) => EngineError::TableDefinitionChanged,
            StorageError::PoolExhausted => EngineError::OutOfResources("no free page in the buffer pool"),
            other => EngineError::Io(other.to_string()),
        }
    }
}

impl From<buffer::RedoError> for EngineError {
    fn from(error: buffer::RedoError) -> EngineError {
        EngineError::from(StorageError::from(error))
    }
}

impl From<entry::EntryError> for EngineError {
    #[cold]
    fn from(error: entry::EntryError) -> EngineError {
        match error {
            entry::EntryError::BadHeader => EngineError::Corrupt("index entry with a bad header".to_owned()),
            entry::EntryError::TooManyChanges => {
                EngineError::OutOfResources("too many changes in one transaction")
            }
            entry::EntryError::TooBig { bytes, bytes_max } => EngineError::TooBig { bytes, bytes_max },
        }
    }
}

impl From<undo::UndoError> for EngineError {
    fn from(error: undo::UndoError) -> EngineError {
        match error {
            undo::UndoError::Storage(error) => EngineError::from(error),
            undo::UndoError::Spill(error) => EngineError::from(error),
            undo::UndoError::Entry(error) => EngineError::from(error),
            undo::UndoError::Corrupt(text) => EngineError::Corrupt(text),
            undo::UndoError::TooLong => EngineError::OutOfResources("an undo record is too long to be saved"),
        }
    }
}

impl From<txn::SpillError> for EngineError {
    fn from(error: txn::SpillError) -> EngineError {
        match error {
            txn::SpillError::Disk(error) => EngineError::from(StorageError::from(error)),
            txn::SpillError::Damaged => EngineError::Corrupt(error.to_string()),
        }
    }
}

impl std::fmt::Display for EngineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EngineError::Corrupt(text) | EngineError::Io(text) => f.write_str(text),
            other => f.write_str(other.clone().into_sql("").message()),
        }
    }
}

impl std::error::Error for EngineError {}
