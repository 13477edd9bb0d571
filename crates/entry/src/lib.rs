//! The value of an index entry: writer id, flags, undo address (clustered entries only), row. Main types: [`Entry`], [`StoredRow`].
//! The byte table is in README.md. Knows neither tables nor who sees what.
#![forbid(unsafe_code)]

mod row;

pub use row::{FittingRow, OwnedRow, RowForm, StoredRow};

use btree::LeafEdit;
use buffer::StorageError;
use stdx::ids::TransactionId;

/// Bytes before the row of a secondary entry, and what every header begins with: writer and flags.
pub const SECONDARY_HEADER_BYTES: usize = 7;
/// Bytes before the row of a clustered entry, but for the layout version.
pub const CLUSTERED_HEADER_BYTES: usize = SECONDARY_HEADER_BYTES + UNDO_ADDRESS_BYTES;
const UNDO_ADDRESS_BYTES: usize = 5;
const FLAGS_AT: usize = 6;
/// Most undo records that one transaction may have: the header has no room for a higher address.
const UNDO_RECORDS_MAX: u64 = (1 << (8 * UNDO_ADDRESS_BYTES)) - 1;

/// The row is deleted.
pub const DELETED: u8 = 1;
/// The row has references to long values.
const VALUES_OUTSIDE: u8 = 2;
/// A byte with the version of the row's layout follows the header. Nothing writes it yet.
const LAYOUT_VERSION: u8 = 4;
/// The record at the undo address holds the head only: the row is that of the entry.
const HEAD_ONLY: u8 = 8;
/// In place of the row stands a reference to it.
const ROW_OUTSIDE: u8 = 16;
/// What tells how the row is to be read.
const ROW_FLAGS: u8 = VALUES_OUTSIDE | LAYOUT_VERSION | ROW_OUTSIDE;
const CLUSTERED_FLAGS: u8 = DELETED | HEAD_ONLY | ROW_FLAGS;

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryError {
    /// It is too short, or has flags that nobody sets.
    BadHeader,
    /// The header has no room for the address of one more undo record.
    TooManyChanges,
    /// A key is longer than an entry has room for.
    TooBig {
        /// Its size in bytes.
        bytes: usize,
        /// What an entry can hold, in bytes.
        bytes_max: usize,
    },
}

/// Which header an entry has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Of a clustered index.
    Clustered,
    /// Of a secondary index or of the dictionary.
    Secondary,
}

/// An entry's value, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Who wrote it.
    pub writer: TransactionId,
    /// It is a delete mark.
    pub deleted: bool,
    /// As they stand in the header.
    pub flags: u8,
    /// All bytes.
    value: &'a [u8],
    /// What stands behind the header.
    pub row: &'a [u8],
}

/// What all headers begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Who wrote the entry.
    pub writer: TransactionId,
    /// It is a delete mark.
    pub deleted: bool,
}

/// Where a clustered entry leads: to a record of its writer's undo list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UndoAddress {
    /// Position of the record that holds the newest state by another writer, plus 1; 0 if there was none.
    pub after_position: u64,
    /// The record holds that state's head; its row is that of the entry.
    pub head_only: bool,
}

impl EntryKind {
    /// Bytes of the header, but for the layout version.
    #[inline]
    pub const fn header_bytes(self) -> usize {
        match self {
            EntryKind::Clustered => CLUSTERED_HEADER_BYTES,
            EntryKind::Secondary => SECONDARY_HEADER_BYTES,
        }
    }
}

impl Head {
    /// None if the bytes are too short.
    #[inline]
    pub fn parse(value: &[u8]) -> Option<Head> {
        let [w0, w1, w2, w3, w4, w5, flags] = *value.first_chunk::<SECONDARY_HEADER_BYTES>()?;
        let writer = TransactionId(u64::from_le_bytes([w0, w1, w2, w3, w4, w5, 0, 0]));
        Some(Head { writer, deleted: flags & DELETED != 0 })
    }
}

impl<'a> Entry<'a> {
    /// None if the bytes are too short or have flags that nobody sets.
    #[inline]
    pub fn parse(kind: EntryKind, value: &'a [u8]) -> Option<Entry<'a>> {
        let Head { writer, deleted } = Head::parse(value)?;
        let flags = value[FLAGS_AT];
        let row_at = match kind {
            EntryKind::Clustered if flags & !(DELETED | HEAD_ONLY) == 0 => CLUSTERED_HEADER_BYTES,
            EntryKind::Clustered if flags & !CLUSTERED_FLAGS == 0 => {
                CLUSTERED_HEADER_BYTES + usize::from(flags & LAYOUT_VERSION != 0)
            }
            EntryKind::Secondary if flags & !DELETED == 0 => SECONDARY_HEADER_BYTES,
            _ => return None,
        };
        Some(Entry { writer, deleted, flags, value, row: value.get(row_at..)? })
    }

    /// Where a clustered entry leads.
    #[inline]
    pub fn undo_address(&self) -> UndoAddress {
        let bytes = &self.value[SECONDARY_HEADER_BYTES..CLUSTERED_HEADER_BYTES];
        let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        UndoAddress { after_position: number, head_only: self.flags & HEAD_ONLY != 0 }
    }

    /// The flags that a delete mark leaves as they are: they tell how the row is to be read.
    #[inline]
    pub fn row_flags(&self) -> u8 {
        self.flags & ROW_FLAGS
    }

    /// The row as it stands here.
    #[inline]
    pub fn stored_row(&self) -> StoredRow<'a> {
        StoredRow { bytes: self.row, form: self.form() }
    }

    /// How the entry keeps its row.
    #[inline]
    pub fn form(&self) -> RowForm {
        RowForm::of_flags(self.flags)
    }
}

impl UndoAddress {
    /// The address of the record that will stand at that position. Error: TooManyChanges.
    #[inline]
    pub fn of_position(position: u64, head_only: bool) -> Result<UndoAddress, EntryError> {
        if position >= UNDO_RECORDS_MAX {
            return Err(EntryError::TooManyChanges);
        }
        Ok(UndoAddress { after_position: position + 1, head_only })
    }
}

/// The header of an entry in words, for whoever looks at a page, and the bytes behind it.
pub fn entry_text(clustered: bool, value: &[u8]) -> Option<(String, &[u8])> {
    let kind = if clustered { EntryKind::Clustered } else { EntryKind::Secondary };
    let entry = Entry::parse(kind, value)?;
    let mut text = format!("writer {}{} ", entry.writer, if entry.deleted { ", deleted" } else { "" });
    if clustered {
        let UndoAddress { after_position, head_only } = entry.undo_address();
        if let Some(position) = after_position.checked_sub(1) {
            text += &format!("undo {position}{} ", if head_only { " (head)" } else { "" });
        }
    }
    Some((text, entry.row))
}

/// The header and, for a whole value, the row.
#[inline]
pub fn parse_entry(kind: EntryKind, value: &[u8]) -> Result<Entry<'_>, EntryError> {
    Entry::parse(kind, value).ok_or_else(bad_header)
}

/// Writer and delete mark of an entry of any kind.
#[inline]
pub fn parse_head(value: &[u8]) -> Result<Head, EntryError> {
    Head::parse(value).ok_or_else(bad_header)
}

/// The error of an entry that is too short, or has flags that nobody sets.
#[cold]
pub fn bad_header() -> EntryError {
    EntryError::BadHeader
}

/// Copies the present value of an entry of any kind out of the leaf. Returns its writer and delete mark.
#[inline]
pub fn load_head(
    edit: &LeafEdit<'_, '_>,
    old: &mut Vec<u8>,
) -> Result<Option<Result<Head, EntryError>>, StorageError> {
    old.clear();
    let Some(value) = edit.value()? else { return Ok(None) };
    old.extend_from_slice(value);
    Ok(Some(parse_head(old)))
}

/// Completes the key of a secondary entry, which begins at `start`.
#[inline]
pub fn append_clustered_key(key: &mut Vec<u8>, start: usize, clustered_key: &[u8]) -> Result<(), EntryError> {
    key.extend_from_slice(clustered_key);
    let bytes = key.len() - start;
    if bytes > page::KEY_BYTES_MAX {
        return Err(EntryError::TooBig { bytes, bytes_max: page::KEY_BYTES_MAX });
    }
    Ok(())
}

/// Rows of up to so many bytes stand in their entries whole, whatever their key.
pub fn row_bytes_min() -> usize {
    page::CELL_BYTES_MAX - page::CELL_OVERHEAD_BYTES - CLUSTERED_HEADER_BYTES - page::KEY_BYTES_MAX
}

/// Bytes that a row may have to stand in its entry whole.
pub fn row_bytes_max(key: &[u8]) -> usize {
    page::CELL_BYTES_MAX - page::CELL_OVERHEAD_BYTES - CLUSTERED_HEADER_BYTES - key.len()
}

/// Tells the tree from the first bytes of a value whether the entry is live.
#[inline]
pub fn is_live(value: &[u8]) -> bool {
    value.get(FLAGS_AT).is_some_and(|flags| flags & DELETED == 0)
}

/// The header of a secondary entry.
#[inline]
pub fn secondary_header(writer: TransactionId, deleted: bool) -> [u8; SECONDARY_HEADER_BYTES] {
    let [w0, w1, w2, w3, w4, w5, ..] = writer.0.to_le_bytes();
    [w0, w1, w2, w3, w4, w5, if deleted { DELETED } else { 0 }]
}

/// The header of a clustered entry. `flags` are those for which the address does not speak.
#[inline]
pub fn clustered_header(
    writer: TransactionId,
    flags: u8,
    address: UndoAddress,
) -> [u8; CLUSTERED_HEADER_BYTES] {
    let [w0, w1, w2, w3, w4, w5, ..] = writer.0.to_le_bytes();
    let flags = flags | if address.head_only { HEAD_ONLY } else { 0 };
    let [a0, a1, a2, a3, a4, ..] = address.after_position.to_le_bytes();
    [w0, w1, w2, w3, w4, w5, flags, a0, a1, a2, a3, a4]
}

#[cfg(test)]
mod tests {
    use super::*;
    use EntryKind::{Clustered, Secondary};

    const ID: TransactionId = TransactionId(0x0102_0304_0506);

    #[test]
    fn header_round_trip() {
        let mut value = secondary_header(ID, true).to_vec();
        value.extend_from_slice(b"row");
        let entry = Entry::parse(Secondary, &value).unwrap();
        assert_eq!((entry.writer, entry.deleted, entry.row), (ID, true, &b"row"[..]));
        assert!(Entry::parse(Secondary, &value[..6]).is_none());

        let address = UndoAddress::of_position(0xFF_FFFF_FFFE, true).unwrap();
        assert!(UndoAddress::of_position(0xFF_FFFF_FFFF, true).is_err());
        let mut value = clustered_header(ID, DELETED, address).to_vec();
        assert!(Entry::parse(Clustered, &value[..11]).is_none());
        value.extend_from_slice(b"row");
        let entry = Entry::parse(Clustered, &value).unwrap();
        assert_eq!((entry.writer, entry.deleted, entry.row), (ID, true, &b"row"[..]));
        assert_eq!((entry.undo_address(), entry.row_flags()), (address, 0));
        assert_eq!(Head::parse(&value), Some(Head { writer: ID, deleted: true }));
    }

    #[test]
    fn the_row_begins_behind_its_layout_version() {
        let mut value = clustered_header(ID, LAYOUT_VERSION, UndoAddress::default()).to_vec();
        assert!(Entry::parse(Clustered, &value).is_none());
        value.extend_from_slice(b"\x07row");
        let entry = Entry::parse(Clustered, &value).unwrap();
        assert_eq!((entry.deleted, entry.row, entry.row_flags()), (false, &b"row"[..], LAYOUT_VERSION));
    }

    #[test]
    fn flags_that_nobody_sets_are_damage() {
        for flag in (0..8).map(|bit| 1u8 << bit) {
            let mut value = vec![0; 20];
            value[FLAGS_AT] = flag;
            assert_eq!(Entry::parse(Clustered, &value).is_some(), flag & CLUSTERED_FLAGS != 0);
            assert_eq!(Entry::parse(Secondary, &value).is_some(), flag == DELETED);
        }
    }
}
