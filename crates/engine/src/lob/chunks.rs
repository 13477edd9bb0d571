//! The chunks of long values in their tree: writing, reading, removing. A chunk's key is the value's writer (6 bytes), its number
//! (4), the chunk's number (4) and a version (4), big-endian; its value is the bytes.

use super::LobReference;
use crate::engine::EngineInner;
use crate::error::EngineResult;
use btree::{BulkAppend, Cursor, CursorRange, Direction, Taken, Tree};
use buffer::StorageError;
use std::ops::Bound;
use stdx::ids::TransactionId;

/// Bytes of a chunk. Three of them fill a leaf.
pub(super) const CHUNK_BYTES: usize = 5000;
const KEY_BYTES: usize = 18;
/// Chunks that are written between two looks at the kill flag and at the log.
const CHUNKS_AT_ONCE: usize = 256;
/// Memory that is reserved for a value on the word of a reference alone.
const TRUSTED_BYTES: u64 = 1 << 20;

/// A row that refers to a value whose chunks are gone: the row was replaced, or its writer rolled back, since it was read. Only a read
/// without a snapshot can meet it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gone;

impl EngineInner {
    /// Writes the chunks of a value. `pause` is called now and then, between mini-transactions.
    pub(super) fn put_chunks(
        &self,
        tree: &Tree,
        reference: &LobReference,
        value: &[u8],
        pause: &mut dyn FnMut() -> EngineResult<()>,
    ) -> EngineResult<()> {
        let mut load = BulkAppend::new(tree, &self.pool, reference.writer.0);
        for (number, bytes) in (0u32..).zip(value.chunks(CHUNK_BYTES)) {
            load.push(&chunk_key(reference.writer, reference.sequence, number), bytes)?;
            if (number as usize + 1).is_multiple_of(CHUNKS_AT_ONCE) {
                pause()?;
            }
        }
        load.finish()?;
        Ok(())
    }

    /// Appends the first `bytes_max` bytes of a value, or all if it has fewer.
    pub(super) fn read_chunks(
        &self,
        tree: &Tree,
        reference: &LobReference,
        bytes_max: u64,
        out: &mut Vec<u8>,
    ) -> EngineResult<Result<(), Gone>> {
        let start = out.len();
        out.reserve(reference.length.min(bytes_max).min(TRUSTED_BYTES) as usize);
        let read = self.visit_chunks(tree, reference, bytes_max, &mut |bytes| {
            out.extend_from_slice(bytes);
            true
        })?;
        if read.is_err() {
            out.truncate(start);
        }
        Ok(read)
    }

    /// Shows the first `bytes_max` bytes of a value, or all if it has fewer, in pieces, as long as `visit` wants more. It runs under a
    /// leaf's latch: it must neither block nor call the engine.
    pub(super) fn visit_chunks(
        &self,
        tree: &Tree,
        reference: &LobReference,
        bytes_max: u64,
        visit: &mut dyn FnMut(&[u8]) -> bool,
    ) -> EngineResult<Result<(), Gone>> {
        let mut left = reference.length.min(bytes_max);
        let mut cursor = Cursor::new(chunks_of(reference), Direction::Forward);
        let mut number = 0u32;
        while left > 0 {
            let read = cursor.next_leaf(tree, &self.pool, |leaf| {
                let mut read = || {
                    for at in 0..leaf.len() {
                        let (mut key, value) = (Vec::with_capacity(KEY_BYTES), leaf.entry(at)?.1);
                        leaf.key_into(at, &mut key)?;
                        if key != chunk_key(reference.writer, reference.sequence, number) {
                            return Ok(false);
                        }
                        let shown = left.min(value.len() as u64);
                        left = if visit(&value[..shown as usize]) { left - shown } else { 0 };
                        number += 1;
                    }
                    Ok::<bool, StorageError>(true)
                };
                (Taken::All, read())
            })?;
            match read.transpose()? {
                Some(true) => {}
                // None at all: they were removed. Some, but not all: so they are just now, or they are damaged.
                Some(false) | None => return Ok(Err(Gone)),
            }
        }
        Ok(Ok(()))
    }

    /// Removes the values of a writer from that number on: its rollback.
    pub(crate) fn remove_values_from(
        &self,
        tree: &Tree,
        writer: TransactionId,
        from: u32,
    ) -> EngineResult<()> {
        let lower = Bound::Included(chunk_key(writer, from, 0));
        let upper = Bound::Excluded(chunk_key(TransactionId(writer.0 + 1), 0, 0));
        self.remove_range(tree, CursorRange { lower, upper })
    }

    /// Removes a value that no row refers to any more.
    pub(super) fn remove_value(&self, tree: &Tree, reference: &LobReference) -> EngineResult<()> {
        self.remove_range(tree, chunks_of(reference))
    }

    /// Where the log has no room it is asked to make some; a rollback, or a purge that has begun, goes on in any case.
    fn remove_range(&self, tree: &Tree, range: CursorRange) -> EngineResult<()> {
        let pause = &mut || {
            let _ = self.pool.check_writable();
            Ok(())
        };
        Ok(tree.remove_range(&self.pool, range, pause)?)
    }
}

fn chunks_of(reference: &LobReference) -> CursorRange {
    let (writer, sequence) = (reference.writer, reference.sequence);
    CursorRange {
        lower: Bound::Included(chunk_key(writer, sequence, 0)),
        upper: Bound::Included([&chunk_key(writer, sequence, u32::MAX)[..14], &[0xFF; 4]].concat()),
    }
}

/// Writer and number of the value that a chunk is of.
pub(super) fn parse_key(key: &[u8]) -> Option<(TransactionId, u32)> {
    let (writer, rest) = key.split_first_chunk::<6>()?;
    let sequence = rest.first_chunk::<4>()?;
    let writer = writer.iter().fold(0u64, |id, byte| id << 8 | u64::from(*byte));
    Some((TransactionId(writer), u32::from_be_bytes(*sequence)))
}

fn chunk_key(writer: TransactionId, sequence: u32, chunk: u32) -> Vec<u8> {
    let mut key = Vec::with_capacity(KEY_BYTES);
    key.extend_from_slice(&writer.0.to_be_bytes()[2..]);
    key.extend_from_slice(&sequence.to_be_bytes());
    key.extend_from_slice(&chunk.to_be_bytes());
    key.extend_from_slice(&0u32.to_be_bytes());
    key
}
