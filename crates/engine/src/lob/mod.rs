//! Long values (LOBs): they stand outside their rows, cut into chunks, in a tree of the table's own. Main types:
//! [`LobReference`], [`LongValues`]. Rules L1 to L6 in README.md.
//!
//! Chunks are never changed: a row that gets another value gets another reference, and purge removes the chunks of the old one when
//! no snapshot needs it. So a reader copies the row under its leaf's latch and reads the chunks without it.

mod chunks;
mod garbage;
mod rows;
#[cfg(test)]
mod tests;

pub(crate) use chunks::{ChunkWriter, parse_key};
pub(crate) use garbage::GarbageNotes;
pub(crate) use rows::{Wanted, bytes_to_fetch, references_of};

use buffer::BufferPool;
use std::sync::Arc;
use stdx::ids::TransactionId;
use tables::{Shared, Tables};
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

/// The long values of all tables.
pub(crate) struct LongValues {
    shared: Arc<Shared>,
    pool: Arc<BufferPool>,
    tables: Arc<Tables>,
    pub(crate) garbage: GarbageNotes,
}

impl LongValues {
    pub(crate) fn new(shared: Arc<Shared>, tables: Arc<Tables>, garbage: GarbageNotes) -> LongValues {
        LongValues { pool: shared.pool.clone(), shared, tables, garbage }
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
