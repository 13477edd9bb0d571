//! The chunks of long values in their tree: writing, reading, removing. A chunk's key is the value's writer (6 bytes), its number
//! (4), the chunk's number (4) and a version (4), big-endian; its value is the bytes.

use super::{LobReference, LongValues};
use btree::{BulkAppend, Cursor, CursorRange, Direction, Taken, Tree};
use buffer::{BufferPool, StorageError};
use engine_error::{EngineError, EngineResult};
use std::ops::{Bound, Range};
use stdx::ids::TransactionId;

/// Bytes of a chunk. Three of them fill a leaf.
pub(super) const CHUNK_BYTES: usize = 5000;
const KEY_BYTES: usize = 18;
/// The longest value: LONGBLOB's.
const VALUE_BYTES_MAX: u64 = u32::MAX as u64;
/// Chunks that are written between two looks at the kill flag and at the log.
const CHUNKS_AT_ONCE: usize = 256;
/// Memory that is reserved for a value on the word of a reference alone.
const TRUSTED_BYTES: u64 = 1 << 20;

/// A row that refers to a value whose chunks are gone: the row was replaced, or its writer rolled back, since it was read. Only a read
/// without a snapshot can meet it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// A value that is being written, piece by piece. What was pushed is in the tree after [`ChunkWriter::finish`].
pub(crate) struct ChunkWriter<'t> {
    load: BulkAppend<'t>,
    writer: TransactionId,
    sequence: u32,
    /// Number of the next chunk.
    number: u32,
    /// Bytes of chunks that were pushed.
    length: u64,
    /// The start of the next chunk, until it is whole.
    begun: Vec<u8>,
}

impl<'t> ChunkWriter<'t> {
    /// Begins a value under that number of a writer.
    pub(crate) fn new(pool: &'t BufferPool, tree: &'t Tree, writer: TransactionId, sequence: u32) -> Self {
        let load = BulkAppend::new(tree, pool, writer.0);
        ChunkWriter { load, writer, sequence, number: 0, length: 0, begun: Vec::new() }
    }

    /// Adds bytes. `pause` is called now and then, between mini-transactions. Error: OutOfResources beyond the longest value.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        pause: &mut dyn FnMut() -> EngineResult<()>,
    ) -> EngineResult<()> {
        if self.length + (self.begun.len() + bytes.len()) as u64 > VALUE_BYTES_MAX {
            return Err(EngineError::OutOfResources("a value of more than 4 GiB - 1"));
        }
        if !self.begun.is_empty() {
            let (head, rest) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.begun.len()));
            self.begun.extend_from_slice(head);
            bytes = rest;
            if self.begun.len() < CHUNK_BYTES {
                return Ok(());
            }
            let whole = std::mem::take(&mut self.begun);
            self.push_chunk(&whole, pause)?;
        }
        let (whole, rest) = bytes.as_chunks::<CHUNK_BYTES>();
        for chunk in whole {
            self.push_chunk(chunk, pause)?;
        }
        self.begun.extend_from_slice(rest);
        Ok(())
    }

    fn push_chunk(&mut self, chunk: &[u8], pause: &mut dyn FnMut() -> EngineResult<()>) -> EngineResult<()> {
        self.load.push(&chunk_key(self.writer, self.sequence, self.number), chunk)?;
        self.number += 1;
        self.length += chunk.len() as u64;
        if (self.number as usize).is_multiple_of(CHUNKS_AT_ONCE) { pause() } else { Ok(()) }
    }

    /// Ends the value. Returns what leads to it.
    pub(crate) fn finish(mut self) -> EngineResult<LobReference> {
        if !self.begun.is_empty() {
            let last = std::mem::take(&mut self.begun);
            self.push_chunk(&last, &mut || Ok(()))?;
        }
        self.load.finish()?;
        Ok(LobReference { writer: self.writer, sequence: self.sequence, length: self.length })
    }
}

impl LongValues {
    /// Appends those bytes of a value, as far as it has them.
    pub(super) fn read_chunks(
        &self,
        tree: &Tree,
        reference: &LobReference,
        range: Range<u64>,
        out: &mut Vec<u8>,
    ) -> EngineResult<Result<(), Gone>> {
        let start = out.len();
        out.reserve(range.end.min(reference.length).saturating_sub(range.start).min(TRUSTED_BYTES) as usize);
        let read = self.visit_chunks(tree, reference, range, &mut |bytes| {
            out.extend_from_slice(bytes);
            true
        })?;
        if read.is_err() {
            out.truncate(start);
        }
        Ok(read)
    }

    /// Shows those bytes of a value, as far as it has them, in pieces, as long as `visit` wants more. It runs under a leaf's latch: it
    /// must neither block nor call the engine.
    pub(super) fn visit_chunks(
        &self,
        tree: &Tree,
        reference: &LobReference,
        range: Range<u64>,
        visit: &mut dyn FnMut(&[u8]) -> bool,
    ) -> EngineResult<Result<(), Gone>> {
        let mut left = range.end.min(reference.length).saturating_sub(range.start);
        let mut number = (range.start / CHUNK_BYTES as u64) as u32;
        let mut skipped = (range.start % CHUNK_BYTES as u64) as usize;
        let mut cursor = Cursor::new(chunks_from(reference, number), Direction::Forward);
        while left > 0 {
            // Values may be long: KILL ends the reading of one.
            if env::blocking::is_interrupted() {
                return Err(EngineError::Killed);
            }
            let next = cursor.next_leaf(tree, &self.pool, |leaf| {
                let mut read = || {
                    for at in 0..leaf.len() {
                        let (mut key, value) = (Vec::with_capacity(KEY_BYTES), leaf.entry(at)?.1);
                        leaf.key_into(at, &mut key)?;
                        if key != chunk_key(reference.writer, reference.sequence, number) {
                            return Ok(false);
                        }
                        let value = value.get(std::mem::take(&mut skipped)..).unwrap_or_default();
                        let shown = left.min(value.len() as u64);
                        left = if visit(&value[..shown as usize]) { left - shown } else { 0 };
                        number = number.wrapping_add(1);
                    }
                    Ok::<bool, StorageError>(true)
                };
                (Taken::All, read())
            });
            let read = match next {
                // Rows are left out as those in pages that cannot be read are (rule R8).
                Err(error) if self.shared.is_forced() && error.damage().is_some() => return Ok(Err(Gone)),
                next => next?,
            };
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
        self.remove_range(tree, chunks_from(reference, 0))
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

/// The chunks of a value from that number on.
fn chunks_from(reference: &LobReference, number: u32) -> CursorRange {
    let (writer, sequence) = (reference.writer, reference.sequence);
    CursorRange {
        lower: Bound::Included(chunk_key(writer, sequence, number)),
        upper: Bound::Included([&chunk_key(writer, sequence, u32::MAX)[..14], &[0xFF; 4]].concat()),
    }
}

/// Writer and number of the value that a chunk is of.
pub(crate) fn parse_key(key: &[u8]) -> Option<(TransactionId, u32)> {
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
