//! An open table: its definition with what reading and writing its rows needs. Main types: [`Table`], [`Index`].
//! Immutable but for counters; shared as `Arc<Table>` by all sessions. A DDL statement publishes a new one.

use crate::auto_increment::AutoIncrement;
use dictionary::{IndexDefinition, TableDefinition};
use std::sync::atomic::{AtomicBool, AtomicU64};
use stdx::ids::{IndexId, SpaceId, TableId};

/// An open table.
#[derive(Debug)]
pub struct Table {
    pub(crate) definition: TableDefinition,
    pub(crate) space: SpaceId,
    pub(crate) indexes: Vec<Index>,
    pub(crate) auto_increment: AutoIncrement,
    /// Next hidden row id of a table without primary key.
    pub(crate) next_row_id: AtomicU64,
    /// Set when the table is dropped or replaced; further use fails with `TableDefinitionChanged`.
    pub(crate) gone: AtomicBool,
}

/// An index of an open table.
#[derive(Debug)]
pub struct Index {
    pub(crate) id: IndexId,
    /// Position in `TableDefinition::indexes`; None for the hidden clustered index.
    pub(crate) definition_position: Option<usize>,
    pub(crate) unique: bool,
}

impl Table {
    /// The definition (columns, indexes, options) as created.
    pub fn definition(&self) -> &TableDefinition {
        &self.definition
    }

    /// The table's id.
    pub fn id(&self) -> TableId {
        self.definition.id
    }

    /// The tablespace that holds the table's indexes.
    pub fn space(&self) -> SpaceId {
        self.space
    }

    /// All indexes. Position 0 is always the clustered index: the primary key, or the hidden one of a table without
    /// primary key. The others follow in the order of the definition. Index numbers of this API are positions here.
    pub fn indexes(&self) -> &[Index] {
        &self.indexes
    }

    /// The index number (position in [`Table::indexes`]) of the index at that position of the definition.
    pub fn index_of_definition(&self, position: usize) -> usize {
        if self.definition.primary_key().is_some() { position } else { position + 1 }
    }

    /// Whether the table has no PRIMARY KEY and so is clustered by a hidden row id.
    pub fn has_hidden_key(&self) -> bool {
        self.definition.primary_key().is_none()
    }

    /// The AUTO_INCREMENT counter (idle if the table has no such column).
    pub fn auto_increment(&self) -> &AutoIncrement {
        &self.auto_increment
    }
}

impl Index {
    /// The index's id.
    pub fn id(&self) -> IndexId {
        self.id
    }

    /// Whether no two rows have the same key (NULLs apart). True for the clustered index.
    pub fn is_unique(&self) -> bool {
        self.unique
    }

    /// The definition; None for the hidden clustered index.
    pub fn definition<'table>(&self, table: &'table Table) -> Option<&'table IndexDefinition> {
        table.definition.indexes.get(self.definition_position?)
    }
}
