//! An index of an open table: its tree, what its keys and entries are made of. Main type: [`Index`].

use crate::Table;
use crate::cut_keys::KeyRoom;
use crate::element::ElementPart;
use btree::Tree;
use dictionary::{IndexDefinition, IndexKind, TableDefinition};
use engine_error::{EngineError, EngineResult};
use engine_types::KeyRange;
use entry::SECONDARY_HEADER_BYTES;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stdx::ids::{CommitTimestamp, IndexId};
use values::key::{KeyLayout, KeyPart};
use values::row::{ColumnSet, RowLayout, RowView};

/// An index of an open table.
#[derive(Debug)]
pub struct Index {
    /// Its entries.
    pub tree: Arc<Tree>,
    /// Position in `TableDefinition::indexes`; None for the hidden clustered index.
    pub(crate) definition_position: Option<usize>,
    /// No two rows have the same key.
    pub unique: bool,
    /// The index's own parts (without the clustered key that follows them in secondary indexes).
    pub(crate) key_layout: KeyLayout,
    /// How much of their key entries hold.
    pub(crate) room: KeyRoom,
    /// Table column of each own part.
    pub key_columns: Vec<usize>,
    /// The part that has a value for each element of an array.
    pub(crate) element_part: Option<ElementPart>,
    /// Rows as this index stores them.
    pub(crate) row_layout: RowLayout,
    /// Table column of each column of `row_layout`.
    pub row_columns: Vec<usize>,
    /// All of these columns.
    pub columns: ColumnSet,
    /// The commit that put the tree in place. Older snapshots cannot read it: its entries show what was true then. 0 for
    /// trees from before the start.
    readable_from: AtomicU64,
}

impl Index {
    /// Opens an index over its tree.
    pub(crate) fn open(
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
        let element_part = ElementPart::of(definition, &key_columns);
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
            element_part,
            row_layout,
            row_columns,
            columns,
            readable_from: AtomicU64::new(0),
        }
    }

    /// The commit that put the tree in place; 0 for trees from before the start.
    #[inline]
    pub fn readable_from(&self) -> u64 {
        self.readable_from.load(Ordering::Acquire)
    }

    pub(crate) fn set_readable_from(&self, commit: u64) {
        self.readable_from.store(commit, Ordering::Release);
    }

    /// Whether a snapshot of that time can read the index. Error: TableDefinitionChanged.
    #[inline]
    pub fn check_readable(&self, snapshot: CommitTimestamp) -> EngineResult<()> {
        let is_older = snapshot.0 < self.readable_from();
        if is_older { Err(EngineError::TableDefinitionChanged) } else { Ok(()) }
    }

    /// The index's id.
    #[inline]
    pub fn id(&self) -> IndexId {
        self.tree.id().index
    }

    /// Whether no two rows have the same key (NULLs apart). True for the clustered index.
    #[inline]
    pub fn is_unique(&self) -> bool {
        self.unique
    }

    /// The definition; None for the hidden clustered index.
    pub fn definition<'table>(&self, table: &'table Table) -> Option<&'table IndexDefinition> {
        table.definition.indexes.get(self.definition_position?)
    }

    /// The layout of the index's own key parts, for encoding keys and range bounds. No parts for the hidden index.
    /// Entries of a secondary index go on with the clustered key behind these parts.
    #[inline]
    pub fn key_layout(&self) -> &KeyLayout {
        &self.key_layout
    }

    /// Table column of each key part.
    #[inline]
    pub fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    /// Layout of the rows that a covering scan returns.
    #[inline]
    pub fn row_layout(&self) -> &RowLayout {
        &self.row_layout
    }

    /// Table column of each column of [`Index::row_layout`]: the whole (not prefix) key columns, then the missing columns of the
    /// primary key. A query that needs no other columns can be answered by a covering scan.
    #[inline]
    pub fn row_columns(&self) -> &[usize] {
        &self.row_columns
    }

    /// The columns of the own parts.
    pub fn key_set(&self) -> ColumnSet {
        ColumnSet::of(self.key_columns.iter().copied())
    }

    /// Whether a row has NULL in one of the own parts: then a unique index takes it any number of times.
    #[inline]
    pub fn has_null(&self, row: &RowView<'_>) -> bool {
        self.key_columns.iter().any(|column| row.is_null(*column))
    }

    /// Appends the row that an entry of this (secondary) index holds; nothing if it does not fit the entry: then who reads the
    /// entry has to ask the clustered index.
    pub fn entry_row(&self, row: &RowView<'_>, key_bytes: usize, out: &mut Vec<u8>) -> EngineResult<()> {
        let start = out.len();
        self.stored_row(row, out)?;
        let bytes = page::CELL_OVERHEAD_BYTES + key_bytes + SECONDARY_HEADER_BYTES + out.len() - start;
        if bytes > page::CELL_BYTES_MAX {
            out.truncate(start);
        }
        Ok(())
    }

    /// Appends a row in the layout of this (secondary) index.
    #[inline]
    pub fn stored_row(&self, row: &RowView<'_>, out: &mut Vec<u8>) -> EngineResult<()> {
        self.row_layout
            .encode_from(row, &self.row_columns, out)
            .map_err(|error| EngineError::Corrupt(error.to_string()))
    }

    /// The clustered key at the end of an entry's key.
    #[inline]
    pub fn clustered_key<'a>(&self, entry_key: &'a [u8]) -> EngineResult<&'a [u8]> {
        let own = self
            .own_prefix_bytes(entry_key, self.key_columns.len())
            .map_err(|error| EngineError::Corrupt(format!("index {}: {error}", self.id())))?;
        Ok(&entry_key[own..])
    }

    /// Whether at most one row can be in a range: one whole key of a unique index, without NULL.
    pub fn has_one_row(&self, range: &KeyRange) -> bool {
        let Bound::Included(key) = &range.lower else { return false };
        let part_end = |count| self.own_prefix_bytes(key, count).ok();
        let is_value = |part| part_end(part).is_some_and(|at| !self.key_layout.is_null_at(part, key, at));
        let parts = self.key_columns.len();
        self.unique
            && range.upper == KeyRange::after_prefix(key)
            && part_end(parts) == Some(key.len())
            && (0..parts).all(is_value)
    }
}

fn key_parts(definition: &TableDefinition, index: Option<&IndexDefinition>) -> Vec<KeyPart> {
    let part = |part: &dictionary::IndexPart| {
        let column = &definition.columns[part.column];
        KeyPart {
            column_type: column.key_type().clone(),
            prefix_length: part.prefix_length,
            descending: part.descending,
            // Of an array that is not there an entry has NULL.
            nullable: column.nullable || column.element_type().is_some(),
        }
    };
    index.map(|index| index.parts.iter().map(part).collect()).unwrap_or_default()
}

/// Columns that entries of a secondary index hold whole: own parts first, then parts of the primary key. Of an array they have an element.
fn stored_columns(definition: &TableDefinition, index: Option<&IndexDefinition>) -> Vec<usize> {
    let mut columns = Vec::new();
    let parts = index.into_iter().chain(definition.primary_key()).flat_map(|index| &index.parts);
    for part in parts {
        let is_whole =
            part.prefix_length.is_none() && definition.columns[part.column].element_type().is_none();
        if is_whole && !columns.contains(&part.column) {
            columns.push(part.column);
        }
    }
    columns
}
