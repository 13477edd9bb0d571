//! Long values (LOBs): they stand outside their rows, cut into chunks, in a tree of the table's own. Main types:
//! [`LobReference`], [`RowForm`]. Rules L1 to L6 in README.md.
//!
//! Chunks are never changed: a row that gets another value gets another reference, and purge removes the chunks of the old one when
//! no snapshot needs it. So a reader copies the row under its leaf's latch and reads the chunks without it.

mod check;
mod chunks;
mod garbage;
mod rows;
#[cfg(test)]
mod tests;

pub(crate) use chunks::ChunkWriter;
pub(crate) use garbage::GarbageNotes;
pub(crate) use rows::{FittingRow, OwnedRow, StoredRow, Wanted, references_of};

use crate::entry;
use stdx::ids::TransactionId;
use values::row::REFERENCE_BYTES;

/// What a row holds in place of a long value.
///
/// | offset | bytes | content |
/// |---|---|---|
/// | 0 | 6 | id of the transaction that wrote the value, little-endian |
/// | 6 | 4 | number of the value among those of that transaction |
/// | 10 | 4 | version (0: replaced chunks come with partial updates) |
/// | 14 | 8 | length of the value in bytes |
/// | 22 | 2 | 0 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LobReference {
    pub(crate) writer: TransactionId,
    pub(crate) sequence: u32,
    pub(crate) length: u64,
}

/// How an entry keeps its row: bits of the entry's flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowForm(u8);

impl RowForm {
    /// The row as it is.
    pub(crate) const WHOLE: RowForm = RowForm(0);
    /// Some of the row's values stand outside.
    pub(crate) const VALUES_OUTSIDE: RowForm = RowForm(entry::VALUES_OUTSIDE);
    /// A reference to the row, some of whose values may stand outside as well.
    pub(crate) const ROW_OUTSIDE: RowForm = RowForm(entry::ROW_OUTSIDE);

    /// The form that the flags of an entry tell.
    pub(crate) const fn of_flags(flags: u8) -> RowForm {
        RowForm(flags & (Self::VALUES_OUTSIDE.0 | Self::ROW_OUTSIDE.0))
    }

    /// The form of a row that itself stands in its entry and refers to these values.
    pub(crate) const fn of_references(references: &[u8]) -> RowForm {
        if references.is_empty() { Self::WHOLE } else { Self::VALUES_OUTSIDE }
    }

    /// The form that the start of an entry tells.
    pub(crate) fn of_head(head: &[u8; txn::HEAD_BYTES]) -> RowForm {
        RowForm::of_flags(head[txn::HEAD_BYTES - 1])
    }

    /// Its bits among the flags of an entry.
    pub(crate) const fn flags(self) -> u8 {
        self.0
    }

    /// Whether the row is whole.
    pub(crate) const fn is_whole(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn is_row_outside(self) -> bool {
        self.0 & Self::ROW_OUTSIDE.0 != 0
    }
}

impl LobReference {
    /// What stands in the row.
    pub fn encode(&self) -> [u8; REFERENCE_BYTES] {
        let mut bytes = [0; REFERENCE_BYTES];
        bytes[..6].copy_from_slice(&self.writer.0.to_le_bytes()[..6]);
        bytes[6..10].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[14..22].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    /// Bytes of the value.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// None if the bytes are no reference.
    pub fn decode(bytes: &[u8; REFERENCE_BYTES]) -> Option<LobReference> {
        let number = |range: std::ops::Range<usize>| {
            bytes[range].iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
        };
        (number(10..14) == 0 && number(22..24) == 0).then(|| LobReference {
            writer: TransactionId(number(0..6)),
            sequence: number(6..10) as u32,
            length: number(14..22),
        })
    }
}
