//! An open table: its definition with what reading and writing its rows needs. Main type: [`Table`].
//! Immutable but for counters; shared as `Arc<Table>` by all sessions. A DDL statement publishes a new one.

use crate::auto_increment::AutoIncrement;
use crate::state::{DAMAGED, FILE_MISSING, GONE, USABLE};
use crate::{Element, Index, KeptStatistics, OpenIndex, TableState, Tables};
use btree::{Tree, TreeId};
use dictionary::TableDefinition;
use dictionary_store::{TableRecord, layout_of};
use engine_error::{EngineError, EngineResult};
use engine_types::ReadMode;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use stdx::ids::{IndexId, Lsn, PageNumber, SpaceId, TableId};
use stdx::sync::lock;
use txn::TableStamp;
use undo::Writer;
use values::row::{ColumnSet, RowLayout, RowView};

/// An open table.
#[derive(Debug)]
pub struct Table {
    /// As created.
    pub definition: TableDefinition,
    /// Where its trees are.
    pub space: SpaceId,
    /// As the header of its file must have it.
    pub store_id: u64,
    /// Of its rows: all columns in the order of the definition.
    pub layout: RowLayout,
    /// The clustered one first.
    pub indexes: Vec<Index>,
    /// Values that stand outside their rows (the engine's `lob`); None for a table whose rows have a fixed length.
    pub lobs: Option<Arc<Tree>>,
    /// Columns that secondary indexes hold.
    pub indexed: ColumnSet,
    /// Those of them that hold arrays whose elements have an entry each.
    pub arrays: ColumnSet,
    /// Idle if there is no such column.
    pub auto_increment: AutoIncrement,
    /// Next hidden row id of a table without primary key; 0 until it is first needed.
    pub(crate) next_row_id: AtomicU64,
    /// [`USABLE`], or why not.
    state: AtomicU8,
    /// Held while somebody looks at the file for the first time.
    look: Mutex<()>,
    /// Not in lists yet: it is being filled.
    hidden: AtomicBool,
    /// What is known of its rows.
    pub statistics: Mutex<KeptStatistics>,
    /// When its rows changed last.
    pub stamp: Arc<TableStamp>,
    /// The writer of the session's temporary tables, if it is one of these.
    pub temporary: Option<Arc<Writer>>,
    /// Who looks at the file.
    pub(crate) tables: OnceLock<Weak<Tables>>,
}

impl Table {
    /// Opens a table over its trees.
    pub fn open(record: TableRecord) -> Table {
        let TableRecord { definition, space, store_id, roots } = record;
        let layout = layout_of(&definition);
        let hidden = definition.primary_key().is_none();
        let (index_roots, lob_root) = roots.split_at(definition.indexes.len() + usize::from(hidden));
        let tree_id = |(index, root): &(IndexId, PageNumber)| TreeId { space, root: *root, index: *index };
        let indexes: Vec<Index> = index_roots
            .iter()
            .enumerate()
            .map(|(number, root)| {
                let position = if hidden { number.checked_sub(1) } else { Some(number) };
                let tree = Tree::open(tree_id(root), entry::is_live);
                Index::open(&definition, &layout, position, number == 0, Arc::new(tree))
            })
            .collect();
        let secondary = indexes.iter().skip(1);
        let held = |index: &'_ Index| [&index.key_columns[..], &index.row_columns].concat();
        let indexed = ColumnSet::of(secondary.flat_map(held));
        let arrays = ColumnSet::of(indexes.iter().filter_map(Index::array_column));
        // Each transaction writes its values one after the other.
        let lobs = lob_root.first().map(|root| Tree::open(tree_id(root), |_| true).filled_in_runs());
        Table {
            auto_increment: AutoIncrement::starting_at(definition.options.auto_increment.unwrap_or(1)),
            definition,
            space,
            store_id,
            layout,
            indexes,
            lobs: lobs.map(Arc::new),
            indexed,
            arrays,
            next_row_id: AtomicU64::new(0),
            state: AtomicU8::new(USABLE),
            look: Mutex::default(),
            hidden: AtomicBool::new(false),
            statistics: Mutex::default(),
            stamp: Arc::default(),
            temporary: None,
            tables: OnceLock::new(),
        }
    }

    /// The definition (columns, indexes, options) as created.
    #[inline]
    pub fn definition(&self) -> &TableDefinition {
        &self.definition
    }

    /// The table's id.
    #[inline]
    pub fn id(&self) -> TableId {
        self.definition.id
    }

    /// The tablespace that holds the table's indexes.
    #[inline]
    pub fn space(&self) -> SpaceId {
        self.space
    }

    /// The layout of the table's rows: all columns in definition order.
    #[inline]
    pub fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// All indexes. Position 0 is always the clustered index: the primary key, or the hidden one of a table without
    /// primary key. The others follow in the order of the definition. Index numbers of this API are positions here.
    #[inline]
    pub fn indexes(&self) -> &[Index] {
        &self.indexes
    }

    /// The index number (position in [`Table::indexes`]) of the index at that position of the definition.
    #[inline]
    pub fn index_of_definition(&self, position: usize) -> usize {
        if self.has_hidden_key() { position + 1 } else { position }
    }

    /// Whether it is a temporary table: of one session, without locks, versions and log.
    #[inline]
    pub fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// How rows are read where `mode` was asked for: in a temporary table nobody else is in the way.
    #[inline]
    pub fn read_mode(&self, mode: ReadMode) -> ReadMode {
        if self.is_temporary() { ReadMode::Consistent } else { mode }
    }

    /// Whether the table has no PRIMARY KEY and so is clustered by a hidden row id.
    #[inline]
    pub fn has_hidden_key(&self) -> bool {
        self.definition.primary_key().is_none()
    }

    /// The AUTO_INCREMENT counter (idle if the table has no such column).
    #[inline]
    pub fn auto_increment(&self) -> &AutoIncrement {
        &self.auto_increment
    }

    /// Whether the table was dropped, or replaced by DDL, after the caller looked it up.
    #[inline]
    pub fn is_gone(&self) -> bool {
        self.state.load(Ordering::Acquire) == GONE
    }

    /// The table was dropped, or another one is in its place.
    pub fn set_gone(&self) {
        self.state.store(GONE, Ordering::Release);
    }

    /// Whether the table is being filled by the statement that makes it.
    pub fn is_hidden(&self) -> bool {
        self.hidden.load(Ordering::Acquire)
    }

    /// Says whether the table is being filled.
    pub fn set_hidden(&self, hidden: bool) {
        self.hidden.store(hidden, Ordering::Release);
    }

    /// As [`TableState::is_closed`].
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.state().is_closed()
    }

    /// Whether the table can be used, or why not.
    #[inline]
    pub fn state(&self) -> TableState {
        TableState(self.state.load(Ordering::Acquire))
    }

    /// Of a table that was just opened.
    pub fn set_state(&self, state: TableState) {
        self.state.store(state.0, Ordering::Release);
    }

    /// Closes a table that can be used, whose file is missing or lacks changes: it can only be dropped or replaced.
    pub(crate) fn close(&self, state: TableState) {
        let _ = self.state.compare_exchange(USABLE, state.0, Ordering::AcqRel, Ordering::Acquire);
        self.end_check(state);
    }

    /// Says what a look at the file has shown. False if another thread has said so before.
    pub(crate) fn end_check(&self, state: TableState) -> bool {
        let from = TableState::UNCHECKED.0;
        self.state.compare_exchange(from, state.0, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Looks at the table's file, if nobody has since the start: what is wrong with it closes the table. Errors: those that may be
    /// gone the next time.
    pub fn look_at_file(&self) -> EngineResult<()> {
        if self.state() != TableState::UNCHECKED {
            return Ok(());
        }
        let tables = self.checked_by()?;
        // Who comes second takes over what the first one has seen: half way through, the file seems to be missing.
        let _look = lock(&self.look);
        if self.state() == TableState::UNCHECKED { tables.check_file(self) } else { Ok(()) }
    }

    fn checked_by(&self) -> EngineResult<Arc<Tables>> {
        self.tables.get().and_then(Weak::upgrade).ok_or(EngineError::Stopped)
    }

    /// Keys of the table's indexes may have been cut.
    pub(crate) fn set_cut_noted(&self) {
        self.indexes.iter().for_each(Index::set_cut_noted);
    }

    /// The clustered index.
    #[inline]
    pub fn clustered(&self) -> &Index {
        &self.indexes[0]
    }

    /// The tree of long values. Error: Corrupt, for a table that has none but rows that refer to some.
    #[inline]
    pub fn lob_tree(&self) -> EngineResult<&Tree> {
        self.lobs
            .as_deref()
            .ok_or_else(|| self.corrupt("a row refers to long values, and the table has none"))
    }

    /// The index of that number. Error: NoSuchIndex.
    #[inline]
    pub fn index(&self, number: usize) -> EngineResult<&Index> {
        self.indexes.get(number).ok_or_else(|| EngineError::NoSuchIndex(number.to_string()))
    }

    /// Errors: TableDefinitionChanged, FileMissing, TableDamaged; what keeps the file from being opened.
    #[inline]
    pub fn check_usable(&self) -> EngineResult<()> {
        if self.state.load(Ordering::Acquire) == USABLE { Ok(()) } else { self.check_state() }
    }

    #[cold]
    fn check_state(&self) -> EngineResult<()> {
        self.look_at_file()?;
        if self.state() == TableState::USABLE { Ok(()) } else { Err(self.unusable()) }
    }

    fn unusable(&self) -> EngineError {
        let name = &self.definition.name;
        match self.state.load(Ordering::Acquire) {
            FILE_MISSING => EngineError::FileMissing(format!("`{}`.`{}`", name.schema, name.table)),
            DAMAGED => EngineError::TableDamaged(Box::new(name.clone())),
            _ => EngineError::TableDefinitionChanged,
        }
    }

    /// Takes over the live counters of the table in whose place it is put; AUTO_INCREMENT goes on at `next`.
    pub fn take_over_counters(&self, old: &Table, next: u64) {
        self.auto_increment.take_over(&old.auto_increment, next);
        self.next_row_id.store(old.next_row_id.load(Ordering::Acquire), Ordering::Release);
    }

    /// Notes the commit that published the table, for the indexes that it did not take over from an older one.
    pub fn note_commit(&self, commit: Lsn, old: Option<&Table>) {
        for index in &self.indexes {
            let taken_over = old.and_then(|old| old.indexes.iter().find(|other| other.id() == index.id()));
            index.set_readable_from(taken_over.map_or(commit.0, Index::readable_from));
        }
    }

    /// A row in the table's layout. Error: Corrupt.
    #[inline]
    pub fn view<'a>(&'a self, row: &'a [u8]) -> EngineResult<RowView<'a>> {
        RowView::new(&self.layout, row).map_err(|error| self.corrupt(error))
    }

    /// As it stands in the dictionary.
    pub fn record(&self) -> TableRecord {
        TableRecord {
            definition: self.definition.clone(),
            space: self.space,
            store_id: self.store_id,
            roots: self.roots(),
        }
    }

    /// Ids and roots of all trees, in the order of the dictionary.
    pub fn roots(&self) -> Vec<(IndexId, PageNumber)> {
        self.trees().map(|tree| (tree.id().index, tree.id().root)).collect()
    }

    /// All trees: the indexes' and that of long values.
    #[inline]
    pub fn trees(&self) -> impl Iterator<Item = &Arc<Tree>> {
        self.indexes.iter().map(|index| &index.tree).chain(&self.lobs)
    }

    /// The tree of an index of the table; with the table, if it is the clustered one.
    pub(crate) fn open_index(self: Arc<Self>, index: IndexId) -> Option<OpenIndex> {
        let tree = self.trees().find(|tree| tree.id().index == index).cloned()?;
        let is_clustered = self.clustered().id() == index;
        Some(OpenIndex { tree, table: is_clustered.then_some(self) })
    }

    /// Whether two rows (in the table's layout) have an entry of the same key in an index.
    pub fn has_same_key(&self, index: usize, one: &[u8], other: &[u8]) -> EngineResult<bool> {
        self.index(index)?.yields_same(&self.view(one)?, &self.view(other)?)
    }

    /// The columns that secondary indexes are made of.
    #[inline]
    pub fn indexed_columns(&self) -> &ColumnSet {
        &self.indexed
    }

    /// The error of an entry or a row of the table that cannot be read.
    pub fn corrupt(&self, error: impl std::fmt::Display) -> EngineError {
        let name = &self.definition.name;
        EngineError::Corrupt(format!("table {}.{}: {error}", name.schema, name.table))
    }

    /// The clustered key of a row of a table with primary key.
    #[inline]
    pub fn primary_key_of(&self, row: &RowView<'_>, out: &mut Vec<u8>) -> EngineResult<()> {
        self.clustered().own_key(row, Element::Only, out)
    }
}
