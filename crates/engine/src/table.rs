//! An open table: its definition with what reading and writing its rows needs. Main types: [`Table`], [`Index`].
//! Immutable but for counters; shared as `Arc<Table>` by all sessions. A DDL statement publishes a new one.

use crate::auto_increment::AutoIncrement;
use crate::cut_keys::KeyRoom;
use crate::dictionary_store::TableRecord;
use crate::engine::{EngineInner, lock};
use crate::entry::SECONDARY_HEADER_BYTES;
use crate::error::{EngineError, EngineResult};
use btree::{Tree, TreeId};
use dictionary::{IndexDefinition, IndexKind, TableDefinition};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use stdx::ids::{CommitTimestamp, IndexId, Lsn, PageNumber, SpaceId, TableId};
use values::key::{ENCODED_BYTES_MAX, KeyLayout, KeyPart};
use values::row::{ColumnSet, RowLayout, RowView};

use crate::statistics::StoredStatistics;
use crate::write::EntryChange;

/// States of a table.
const USABLE: u8 = 0;
/// Dropped or replaced: further use fails with `TableDefinitionChanged`.
const GONE: u8 = 1;
/// Further use but dropping and replacing it fails with `FileMissing`.
const FILE_MISSING: u8 = 2;
/// The same with `TableDamaged`.
const DAMAGED: u8 = 3;
/// Nobody has looked at the file since the start: whoever uses the table does.
const UNCHECKED: u8 = 4;

/// Whether a table can be used, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableState(u8);

impl TableState {
    pub(crate) const USABLE: TableState = TableState(USABLE);
    pub(crate) const FILE_MISSING: TableState = TableState(FILE_MISSING);
    pub(crate) const DAMAGED: TableState = TableState(DAMAGED);
    pub(crate) const UNCHECKED: TableState = TableState(UNCHECKED);

    /// Whether the start found no file for the table: its rows cannot be read, and it can only be dropped or replaced.
    pub(crate) fn is_file_missing(self) -> bool {
        self.0 == FILE_MISSING
    }

    /// Whether nothing is known to be wrong.
    pub(crate) fn may_be_used(self) -> bool {
        [USABLE, UNCHECKED].contains(&self.0)
    }

    /// Whether rows must not be used, because the file is not there or lacks changes.
    pub(crate) fn is_closed(self) -> bool {
        [FILE_MISSING, DAMAGED].contains(&self.0)
    }
}

/// An open table.
#[derive(Debug)]
pub struct Table {
    pub(crate) definition: TableDefinition,
    pub(crate) space: SpaceId,
    /// As the header of its file must have it.
    pub(crate) store_id: u64,
    pub(crate) layout: RowLayout,
    pub(crate) indexes: Vec<Index>,
    /// Values that stand outside their rows (`lob`); None for a table whose rows have a fixed length.
    pub(crate) lobs: Option<Arc<Tree>>,
    /// Columns that secondary indexes hold.
    pub(crate) indexed: ColumnSet,
    pub(crate) auto_increment: AutoIncrement,
    /// Next hidden row id of a table without primary key; 0 until it is first needed.
    pub(crate) next_row_id: AtomicU64,
    /// [`USABLE`], or why not.
    state: AtomicU8,
    /// Held while somebody looks at the file for the first time.
    look: Mutex<()>,
    /// Not in lists yet: it is being filled.
    hidden: AtomicBool,
    pub(crate) statistics: Mutex<Option<StoredStatistics>>,
    /// Who looks at the file.
    pub(crate) engine: OnceLock<Weak<EngineInner>>,
}

/// An index of an open table.
#[derive(Debug)]
pub struct Index {
    pub(crate) tree: Arc<Tree>,
    /// Position in `TableDefinition::indexes`; None for the hidden clustered index.
    pub(crate) definition_position: Option<usize>,
    pub(crate) unique: bool,
    /// The index's own parts (without the clustered key that follows them in secondary indexes).
    pub(crate) key_layout: KeyLayout,
    /// How much of their key entries hold.
    pub(crate) room: KeyRoom,
    /// Table column of each own part.
    pub(crate) key_columns: Vec<usize>,
    /// Rows as this index stores them.
    pub(crate) row_layout: RowLayout,
    /// Table column of each column of `row_layout`.
    pub(crate) row_columns: Vec<usize>,
    /// All of these columns.
    pub(crate) columns: ColumnSet,
    /// The commit that put the tree in place. Older snapshots cannot read it: its entries show what was true then. 0 for
    /// trees from before the start.
    readable_from: AtomicU64,
}

impl Table {
    /// Opens a table over its trees.
    pub(crate) fn open(record: TableRecord) -> Table {
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
                let tree = Tree::open(tree_id(root), crate::entry::is_live);
                Index::open(&definition, &layout, position, number == 0, Arc::new(tree))
            })
            .collect();
        let secondary = indexes.iter().skip(1);
        let held = |index: &'_ Index| [&index.key_columns[..], &index.row_columns].concat();
        let indexed = ColumnSet::of(secondary.flat_map(held));
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
            next_row_id: AtomicU64::new(0),
            state: AtomicU8::new(USABLE),
            look: Mutex::default(),
            hidden: AtomicBool::new(false),
            statistics: Mutex::new(None),
            engine: OnceLock::new(),
        }
    }

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

    /// The layout of the table's rows: all columns in definition order.
    pub fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// All indexes. Position 0 is always the clustered index: the primary key, or the hidden one of a table without
    /// primary key. The others follow in the order of the definition. Index numbers of this API are positions here.
    pub fn indexes(&self) -> &[Index] {
        &self.indexes
    }

    /// The index number (position in [`Table::indexes`]) of the index at that position of the definition.
    pub fn index_of_definition(&self, position: usize) -> usize {
        if self.has_hidden_key() { position + 1 } else { position }
    }

    /// Whether the table has no PRIMARY KEY and so is clustered by a hidden row id.
    pub fn has_hidden_key(&self) -> bool {
        self.definition.primary_key().is_none()
    }

    /// The AUTO_INCREMENT counter (idle if the table has no such column).
    pub fn auto_increment(&self) -> &AutoIncrement {
        &self.auto_increment
    }

    /// Whether the table was dropped, or replaced by DDL, after the caller looked it up.
    pub fn is_gone(&self) -> bool {
        self.state.load(Ordering::Acquire) == GONE
    }

    /// The table was dropped, or another one is in its place.
    pub(crate) fn set_gone(&self) {
        self.state.store(GONE, Ordering::Release);
    }

    /// Whether the table is being filled by the statement that makes it.
    pub fn is_hidden(&self) -> bool {
        self.hidden.load(Ordering::Acquire)
    }

    pub(crate) fn set_hidden(&self, hidden: bool) {
        self.hidden.store(hidden, Ordering::Release);
    }

    /// As [`TableState::is_closed`].
    pub(crate) fn is_closed(&self) -> bool {
        self.state().is_closed()
    }

    pub(crate) fn state(&self) -> TableState {
        TableState(self.state.load(Ordering::Acquire))
    }

    /// Of a table that was just opened.
    pub(crate) fn set_state(&self, state: TableState) {
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
    pub(crate) fn look_at_file(&self) -> EngineResult<()> {
        if self.state() != TableState::UNCHECKED {
            return Ok(());
        }
        let engine = self.checked_by()?;
        // Who comes second takes over what the first one has seen: half way through, the file seems to be missing.
        let _look = lock(&self.look);
        if self.state() == TableState::UNCHECKED { engine.check_file(self) } else { Ok(()) }
    }

    fn checked_by(&self) -> EngineResult<Arc<EngineInner>> {
        self.engine.get().and_then(Weak::upgrade).ok_or(EngineError::Stopped)
    }

    /// Keys of the table's indexes may have been cut.
    pub(crate) fn set_cut_noted(&self) {
        self.indexes.iter().for_each(Index::set_cut_noted);
    }

    pub(crate) fn clustered(&self) -> &Index {
        &self.indexes[0]
    }

    /// The tree of long values. Error: Corrupt, for a table that has none but rows that refer to some.
    pub(crate) fn lob_tree(&self) -> EngineResult<&Tree> {
        self.lobs
            .as_deref()
            .ok_or_else(|| self.corrupt("a row refers to long values, and the table has none"))
    }

    /// The change of a row's clustered entry.
    pub(crate) fn clustered_entry<'a>(&'a self, key: &'a [u8]) -> EntryChange<'a> {
        EntryChange { tree: &self.clustered().tree, clustered: true, key, dead: &[] }
    }

    pub(crate) fn index(&self, number: usize) -> EngineResult<&Index> {
        self.indexes.get(number).ok_or_else(|| EngineError::NoSuchIndex(number.to_string()))
    }

    /// Errors: TableDefinitionChanged, FileMissing, TableDamaged; what keeps the file from being opened.
    pub(crate) fn check_usable(&self) -> EngineResult<()> {
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

    /// Notes the commit that published the table, for the indexes that it did not take over from an older one.
    pub(crate) fn note_commit(&self, commit: Lsn, old: Option<&Table>) {
        for index in &self.indexes {
            let taken_over = old.and_then(|old| old.indexes.iter().find(|other| other.id() == index.id()));
            index.set_readable_from(taken_over.map_or(commit.0, Index::readable_from));
        }
    }

    pub(crate) fn view<'a>(&'a self, row: &'a [u8]) -> EngineResult<RowView<'a>> {
        RowView::new(&self.layout, row).map_err(|error| self.corrupt(error))
    }

    /// Ids and roots of all trees, in the order of the dictionary.
    pub(crate) fn roots(&self) -> Vec<(IndexId, PageNumber)> {
        self.trees().map(|tree| (tree.id().index, tree.id().root)).collect()
    }

    /// All trees: the indexes' and that of long values.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &Arc<Tree>> {
        self.indexes.iter().map(|index| &index.tree).chain(&self.lobs)
    }

    /// Whether two rows (in the table's layout) have the same key in an index.
    pub fn has_same_key(&self, index: usize, one: &[u8], other: &[u8]) -> EngineResult<bool> {
        let index = self.index(index)?;
        let (mut key, mut other_key) = (Vec::new(), Vec::new());
        index.own_key(&self.view(one)?, &mut key)?;
        index.own_key(&self.view(other)?, &mut other_key)?;
        Ok(key == other_key)
    }

    /// The columns that secondary indexes are made of.
    pub fn indexed_columns(&self) -> &ColumnSet {
        &self.indexed
    }

    pub(crate) fn corrupt(&self, error: impl std::fmt::Display) -> EngineError {
        let name = &self.definition.name;
        EngineError::Corrupt(format!("table {}.{}: {error}", name.schema, name.table))
    }

    /// The clustered key of a row of a table with primary key.
    pub(crate) fn primary_key_of(&self, row: &RowView<'_>, out: &mut Vec<u8>) -> EngineResult<()> {
        self.clustered().own_key(row, out)
    }
}

impl Index {
    fn open(
        definition: &TableDefinition,
        layout: &RowLayout,
        position: Option<usize>,
        clustered: bool,
        tree: Arc<Tree>,
    ) -> Index {
        let index = position.map(|position| &definition.indexes[position]);
        let parts = key_parts(definition, index);
        let clustered_parts = key_parts(definition, definition.primary_key());
        let room = match clustered {
            true => KeyRoom::of_clustered(&clustered_parts),
            false => KeyRoom::of_secondary(&clustered_parts),
        };
        let key_columns: Vec<usize> =
            index.map(|index| index.parts.iter().map(|part| part.column).collect()).unwrap_or_default();
        let row_columns = if clustered {
            (0..definition.columns.len()).collect()
        } else {
            stored_columns(definition, index)
        };
        let row_layout = if clustered {
            layout.clone()
        } else {
            RowLayout::new(row_columns.iter().map(|column| {
                let column = &definition.columns[*column];
                (&column.column_type, column.nullable)
            }))
        };
        let columns = ColumnSet::of(key_columns.iter().chain(&row_columns).copied());
        Index {
            tree,
            definition_position: position,
            unique: index.is_none_or(|index| index.kind != IndexKind::Plain),
            key_layout: KeyLayout::new(&parts),
            room,
            key_columns,
            row_layout,
            row_columns,
            columns,
            readable_from: AtomicU64::new(0),
        }
    }

    /// See the field.
    pub(crate) fn readable_from(&self) -> u64 {
        self.readable_from.load(Ordering::Acquire)
    }

    pub(crate) fn set_readable_from(&self, commit: u64) {
        self.readable_from.store(commit, Ordering::Release);
    }

    /// Whether a snapshot of that time can read the index. Error: TableDefinitionChanged.
    pub(crate) fn check_readable(&self, snapshot: CommitTimestamp) -> EngineResult<()> {
        let is_older = snapshot.0 < self.readable_from();
        if is_older { Err(EngineError::TableDefinitionChanged) } else { Ok(()) }
    }

    /// The change of an entry of this (secondary) index.
    pub(crate) fn entry<'a>(&'a self, key: &'a [u8]) -> EntryChange<'a> {
        EntryChange { tree: &self.tree, clustered: false, key, dead: &[] }
    }

    /// The index's id.
    pub fn id(&self) -> IndexId {
        self.tree.id().index
    }

    /// Whether no two rows have the same key (NULLs apart). True for the clustered index.
    pub fn is_unique(&self) -> bool {
        self.unique
    }

    /// The definition; None for the hidden clustered index.
    pub fn definition<'table>(&self, table: &'table Table) -> Option<&'table IndexDefinition> {
        table.definition.indexes.get(self.definition_position?)
    }

    /// The layout of the index's own key parts, for encoding keys and range bounds. No parts for the hidden index.
    /// Entries of a secondary index go on with the clustered key behind these parts.
    pub fn key_layout(&self) -> &KeyLayout {
        &self.key_layout
    }

    /// Table column of each key part.
    pub fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    /// Layout of the rows that a covering scan returns.
    pub fn row_layout(&self) -> &RowLayout {
        &self.row_layout
    }

    /// Table column of each column of [`Index::row_layout`]: the whole (not prefix) key columns, then the missing columns of the
    /// primary key. A query that needs no other columns can be answered by a covering scan.
    pub fn row_columns(&self) -> &[usize] {
        &self.row_columns
    }

    /// Appends the own key of a row in the table's layout, as far as entries hold it.
    pub(crate) fn own_key(&self, row: &RowView<'_>, out: &mut Vec<u8>) -> EngineResult<()> {
        let start = out.len();
        self.key_layout.encode_row(row, &self.key_columns, out).map_err(|error| match error {
            values::key::KeyError::TooLong => {
                EngineError::TooBig { bytes: ENCODED_BYTES_MAX + 1, bytes_max: ENCODED_BYTES_MAX }
            }
            other => EngineError::Corrupt(other.to_string()),
        })?;
        self.fit_own_key(out, start);
        Ok(())
    }

    /// The columns of the own parts.
    pub(crate) fn key_set(&self) -> ColumnSet {
        ColumnSet::of(self.key_columns.iter().copied())
    }

    /// Whether a row has NULL in one of the own parts: then a unique index takes it any number of times.
    pub(crate) fn has_null(&self, row: &RowView<'_>) -> bool {
        self.key_columns.iter().any(|column| row.is_null(*column))
    }

    /// Appends the row that an entry of this (secondary) index holds; nothing if it does not fit the entry: then who reads the
    /// entry has to ask the clustered index.
    pub(crate) fn entry_row(
        &self,
        row: &RowView<'_>,
        key_bytes: usize,
        out: &mut Vec<u8>,
    ) -> EngineResult<()> {
        let start = out.len();
        self.stored_row(row, out)?;
        let bytes = page::CELL_OVERHEAD_BYTES + key_bytes + SECONDARY_HEADER_BYTES + out.len() - start;
        if bytes > page::CELL_BYTES_MAX {
            out.truncate(start);
        }
        Ok(())
    }

    /// Appends a row in the layout of this (secondary) index.
    pub(crate) fn stored_row(&self, row: &RowView<'_>, out: &mut Vec<u8>) -> EngineResult<()> {
        self.row_layout
            .encode_from(row, &self.row_columns, out)
            .map_err(|error| EngineError::Corrupt(error.to_string()))
    }

    /// The clustered key at the end of an entry's key.
    pub(crate) fn clustered_key<'a>(&self, entry_key: &'a [u8]) -> EngineResult<&'a [u8]> {
        let own = self
            .own_prefix_bytes(entry_key, self.key_columns.len())
            .map_err(|error| EngineError::Corrupt(format!("index {}: {error}", self.id())))?;
        Ok(&entry_key[own..])
    }
}

/// The layout of a table's rows.
fn layout_of(definition: &TableDefinition) -> RowLayout {
    RowLayout::new(definition.columns.iter().map(|column| (&column.column_type, column.nullable)))
}

/// How many trees a table has: its indexes, the hidden clustered one, and one for long values if rows may have any.
pub(crate) fn tree_count(definition: &TableDefinition) -> usize {
    let hidden = usize::from(definition.primary_key().is_none());
    let layout = layout_of(definition);
    // A row whose fixed part does not fit its entry stands outside itself.
    let has_long_rows = layout.fixed_bytes() > crate::long_rows::row_bytes_min();
    definition.indexes.len() + hidden + usize::from(layout.has_variable_columns() || has_long_rows)
}

fn key_parts(definition: &TableDefinition, index: Option<&IndexDefinition>) -> Vec<KeyPart> {
    let part = |part: &dictionary::IndexPart| {
        let column = &definition.columns[part.column];
        KeyPart {
            column_type: column.column_type.clone(),
            prefix_length: part.prefix_length,
            descending: part.descending,
            nullable: column.nullable,
        }
    };
    index.map(|index| index.parts.iter().map(part).collect()).unwrap_or_default()
}

/// Columns that entries of a secondary index hold whole: own parts first, then parts of the primary key.
fn stored_columns(definition: &TableDefinition, index: Option<&IndexDefinition>) -> Vec<usize> {
    let mut columns = Vec::new();
    let parts = index.into_iter().chain(definition.primary_key()).flat_map(|index| &index.parts);
    for part in parts {
        if part.prefix_length.is_none() && !columns.contains(&part.column) {
            columns.push(part.column);
        }
    }
    columns
}
