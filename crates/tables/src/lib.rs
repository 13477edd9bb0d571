//! The tables that there are: by name and by index, open or packed, with their counters, files and storage; and what all parts of
//! an engine share. Main types: [`Tables`], [`Table`], [`Index`], [`Dictionary`], [`Shared`]. What a start does about their files is
//! in the engine's `start`, the rules (D1, K1, O1, R7 ...) are in the engine's README.
#![forbid(unsafe_code)]

mod auto_increment;
mod counters;
mod cut_keys;
mod damage;
mod dictionary;
mod element;
mod file_checks;
mod index;
mod kept_statistics;
mod shared;
mod state;
mod storage;
mod table;
mod table_entry;
mod temporary;

pub use self::dictionary::Dictionary;
pub use auto_increment::AutoIncrement;
pub use damage::ClosedSpaces;
pub use element::{Element, Elements};
pub use file_checks::{missing_text, strange_text};
pub use index::Index;
pub use kept_statistics::KeptStatistics;
pub use shared::{Settings, Shared};
pub use state::TableState;
pub use table::Table;
pub use table_entry::TableEntry;
pub use temporary::TemporaryIndexes;

use ::dictionary::{SchemaDefinition, TableDefinition, TableName, TakenName, first_taken_name};
use btree::Tree;
use buffer::BufferPool;
use dictionary_store::{DICTIONARY_INDEX, DictionaryStore};
use engine_error::{EngineError, EngineResult};
use std::sync::Arc;
use stdx::ids::{IndexId, TableId};

/// All tables.
pub struct Tables {
    shared: Arc<Shared>,
    pool: Arc<BufferPool>,
    /// By name and by index.
    pub dictionary: Dictionary,
    /// As they stand on disk.
    pub store: DictionaryStore,
    /// Whose files lack changes.
    pub closed: ClosedSpaces,
    /// Those of single sessions, which the dictionary does not know.
    pub temporary: TemporaryIndexes,
}

/// A tree that undo and purge can find by its index id.
#[derive(Clone, Debug)]
pub struct OpenIndex {
    /// The tree.
    pub tree: Arc<Tree>,
    /// For a clustered index: its table.
    pub table: Option<Arc<Table>>,
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").finish_non_exhaustive()
    }
}

impl Tables {
    /// None is known yet. So many stay open though nobody uses them.
    pub fn new(shared: Arc<Shared>, store: DictionaryStore, open_max: usize) -> Arc<Tables> {
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
    pub fn open_index(&self, index: IndexId) -> EngineResult<Option<OpenIndex>> {
        match index {
            DICTIONARY_INDEX => Ok(Some(OpenIndex { tree: self.store.tree.clone(), table: None })),
            index if index.is_temporary() => Ok(self.temporary.open_index(index)),
            index => self.dictionary.open_index(index),
        }
    }

    /// Whether an index is there. Opens nothing.
    pub fn has_index(&self, index: IndexId) -> bool {
        index == DICTIONARY_INDEX || self.dictionary.has_index(index)
    }

    /// The schema of that name. Error: NoSuchSchema.
    pub fn need_schema(&self, name: &str) -> EngineResult<Arc<SchemaDefinition>> {
        self.dictionary.schema(name).ok_or_else(|| EngineError::NoSuchSchema(name.to_owned()))
    }

    /// The table of that name. Error: NoSuchTable.
    pub fn need_table(&self, name: &TableName) -> EngineResult<Arc<Table>> {
        self.dictionary.table(&name.schema, &name.table).ok_or_else(|| no_such_table(name))
    }

    /// Checks that no table or view has that name. Error: TableExists.
    pub fn need_free_name(&self, name: &TableName) -> EngineResult<()> {
        match self.dictionary.views.has(name) || self.dictionary.has_table(&name.schema, &name.table) {
            true => Err(EngineError::TableExists(name.table.clone())),
            false => Ok(()),
        }
    }

    /// Checks that the constraints of definitions have names of their own once these are in the place of the tables `replaced`.
    /// Errors: CheckExists, ForeignKeyExists.
    pub fn need_free_constraints(
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

/// The error of a name that no table has.
pub fn no_such_table(name: &TableName) -> EngineError {
    EngineError::NoSuchTable(name.schema.clone(), name.table.clone())
}
