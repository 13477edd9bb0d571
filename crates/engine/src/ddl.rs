//! DDL: every change is one dictionary transaction, atomic over a crash. When a call returns, the change is durable.
//! The caller holds metadata locks: no other session uses the tables meanwhile.

use crate::engine::Engine;
use crate::error::{EngineError, EngineResult};
use crate::table::Table;
use dictionary::{IndexDefinition, SchemaDefinition, TableDefinition, TableName};
use std::sync::Arc;

impl Engine {
    /// CREATE DATABASE. Errors: SchemaExists.
    pub fn create_schema(&self, _definition: SchemaDefinition) -> EngineResult<()> {
        Err(EngineError::Unsupported("create_schema"))
    }

    /// ALTER DATABASE. Errors: NoSuchSchema.
    pub fn alter_schema(&self, _definition: SchemaDefinition) -> EngineResult<()> {
        Err(EngineError::Unsupported("alter_schema"))
    }

    /// DROP DATABASE with all its tables, in one step. Returns the number of tables. Errors: NoSuchSchema.
    pub fn drop_schema(&self, _name: &str) -> EngineResult<usize> {
        Err(EngineError::Unsupported("drop_schema"))
    }

    /// CREATE TABLE. Ids in the definition are given by the engine; `options.auto_increment` starts the counter.
    /// Errors: TableExists, NoSuchSchema, NoSpace.
    pub fn create_table(&self, _definition: TableDefinition) -> EngineResult<Arc<Table>> {
        Err(EngineError::Unsupported("create_table"))
    }

    /// DROP TABLE of all those tables, in one step. Errors: NoSuchTable (then none is dropped).
    pub fn drop_tables(&self, _names: &[TableName]) -> EngineResult<()> {
        Err(EngineError::Unsupported("drop_tables"))
    }

    /// RENAME TABLE of (old, new) pairs from left to right, in one step. Errors: NoSuchTable, TableExists, NoSuchSchema.
    pub fn rename_tables(&self, _renames: &[(TableName, TableName)]) -> EngineResult<()> {
        Err(EngineError::Unsupported("rename_tables"))
    }

    /// TRUNCATE TABLE: the table gets new, empty storage; its counter starts again. Returns the new table.
    pub fn truncate_table(&self, _name: &TableName) -> EngineResult<Arc<Table>> {
        Err(EngineError::Unsupported("truncate_table"))
    }

    /// ALTER that only changes what the dictionary says (comments, defaults, names of columns and indexes, index visibility,
    /// table options): columns keep number, order and storage; indexes keep number, order and parts.
    /// The definition's name may differ (RENAME TO). Returns the new table. Errors: NoSuchTable, TableExists.
    pub fn alter_metadata(
        &self,
        _name: &TableName,
        _definition: TableDefinition,
    ) -> EngineResult<Arc<Table>> {
        Err(EngineError::Unsupported("alter_metadata"))
    }

    /// ADD INDEX by scan, sort and bulk load. Returns the new table.
    /// Errors: DuplicateKey (its `existing_key` is the clustered key of a row whose key another row has too), TooBig, NoSpace.
    pub fn add_indexes(&self, _name: &TableName, _indexes: Vec<IndexDefinition>) -> EngineResult<Arc<Table>> {
        Err(EngineError::Unsupported("add_indexes"))
    }

    /// DROP INDEX of secondary indexes by name. Returns the new table. Errors: NoSuchIndex.
    pub fn drop_indexes(&self, _name: &TableName, _indexes: &[String]) -> EngineResult<Arc<Table>> {
        Err(EngineError::Unsupported("drop_indexes"))
    }

    /// ALTER by copy: builds a table of the new definition from the rows of the old one and puts it in its place. `convert` gets each row in the
    /// old layout and appends the row in the new layout to the buffer. Returns the new table and the number of rows.
    /// Errors: what `convert` returns; DuplicateKey; NoSpace. On error the old table is untouched.
    pub fn rebuild_table<E: From<EngineError>>(
        &self,
        _name: &TableName,
        _definition: TableDefinition,
        _convert: &mut dyn FnMut(&[u8], &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(Arc<Table>, u64), E> {
        Err(EngineError::Unsupported("rebuild_table").into())
    }
}
