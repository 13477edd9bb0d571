//! The tables that there are: by name and by index, open or packed, with their counters, files and storage. Main types: [`Tables`],
//! [`Table`], [`Index`], [`Dictionary`]. What a start does about their files is in `start`.

mod auto_increment;
mod counters;
mod cut_keys;
mod damage;
mod dictionary;
mod file_checks;
mod index;
mod kept_statistics;
mod state;
mod storage;
mod table;
mod table_entry;
mod temporary;

pub use self::dictionary::Dictionary;
pub use auto_increment::AutoIncrement;
pub(crate) use file_checks::{missing_text, strange_text};
pub use index::Index;
pub(crate) use kept_statistics::KeptStatistics;
pub(crate) use state::TableState;
pub use table::Table;
pub(crate) use table_entry::TableEntry;
pub(crate) use temporary::TemporaryIndexes;

use crate::shared::Shared;
use ::dictionary::{SchemaDefinition, TableDefinition, TableName, TakenName, first_taken_name};
use btree::Tree;
use buffer::BufferPool;
use damage::ClosedSpaces;
use dictionary_store::{DICTIONARY_INDEX, DictionaryStore};
use engine_error::{EngineError, EngineResult};

use std::sync::Arc;
use stdx::ids::{IndexId, TableId};

/// All tables.
pub(crate) struct Tables {
    shared: Arc<Shared>,
    pool: Arc<BufferPool>,
    /// By name and by index.
    pub(crate) dictionary: Dictionary,
    /// As they stand on disk.
    pub(crate) store: DictionaryStore,
    pub(crate) closed: ClosedSpaces,
    /// Those of single sessions, which the dictionary does not know.
    pub(crate) temporary: TemporaryIndexes,
}

/// A tree that undo and purge can find by its index id.
#[derive(Clone, Debug)]
pub(crate) struct OpenIndex {
    pub(crate) tree: Arc<Tree>,
    /// For a clustered index: its table.
    pub(crate) table: Option<Arc<Table>>,
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").finish_non_exhaustive()
    }
}

impl Tables {
    /// None is known yet. So many stay open though nobody uses them.
    pub(crate) fn new(shared: Arc<Shared>, store: DictionaryStore, open_max: usize) -> Arc<Tables> {
        let dictionary = Dictionary::new(open_max, shared.is_forced());
        let pool = shared.pool.clone();
        let tables = Tables {
            shared,
            pool,
            dictionary,
            store,
            closed: ClosedSpaces::default(),
            temporary: TemporaryIndexes::default(),
        };
        let tables = Arc::new(tables);
        tables.dictionary.check_files_by(&tables);
        tables
    }

    /// The tree of an index, whose table is opened if it must be; None if it was dropped. Errors: what keeps its file from being opened.
    pub(crate) fn open_index(&self, index: IndexId) -> EngineResult<Option<OpenIndex>> {
        match index {
            DICTIONARY_INDEX => Ok(Some(OpenIndex { tree: self.store.tree.clone(), table: None })),
            index if index.is_temporary() => Ok(self.temporary.open_index(index)),
            index => self.dictionary.open_index(index),
        }
    }

    /// Whether an index is there. Opens nothing.
    pub(crate) fn has_index(&self, index: IndexId) -> bool {
        index == DICTIONARY_INDEX || self.dictionary.has_index(index)
    }

    /// The schema of that name. Error: NoSuchSchema.
    pub(crate) fn need_schema(&self, name: &str) -> EngineResult<Arc<SchemaDefinition>> {
        self.dictionary.schema(name).ok_or_else(|| EngineError::NoSuchSchema(name.to_owned()))
    }

    /// The table of that name. Error: NoSuchTable.
    pub(crate) fn need_table(&self, name: &TableName) -> EngineResult<Arc<Table>> {
        self.dictionary.table(&name.schema, &name.table).ok_or_else(|| no_such_table(name))
    }

    /// Checks that no table or view has that name. Error: TableExists.
    pub(crate) fn need_free_name(&self, name: &TableName) -> EngineResult<()> {
        match self.dictionary.views.has(name) || self.dictionary.has_table(&name.schema, &name.table) {
            true => Err(EngineError::TableExists(name.table.clone())),
            false => Ok(()),
        }
    }

    /// Checks that the constraints of definitions have names of their own once these are in the place of the tables `replaced`.
    /// Errors: CheckExists, ForeignKeyExists.
    pub(crate) fn need_free_constraints(
        &self,
        replaced: &[TableId],
        definitions: &[&TableDefinition],
    ) -> EngineResult<()> {
        match first_taken_name(definitions, |schema| self.dictionary.constraints(schema, replaced)) {
            None => Ok(()),
            Some(TakenName::Check(name)) => Err(EngineError::CheckExists(name)),
            Some(TakenName::ForeignKey(name)) => Err(EngineError::ForeignKeyExists(name)),
        }
    }
}

pub(crate) fn no_such_table(name: &TableName) -> EngineError {
    EngineError::NoSuchTable(name.schema.clone(), name.table.clone())
}
