//! Undo records of transactions that outlive a piece of log: a tree in the system tablespace. Main type: [`UndoStore`].
//! Key: transaction id and first position, 8 bytes each, and the number of a part, 2, big-endian. Value: records, each with its
//! length before it. A record that is too long for an entry is a chunk of several parts; the first of them is written last.
//! Under the greatest position stands the state of the transaction (`touched.rs`). Who saves what is in `saving.rs`.

use super::touched::ENDED;
use super::writer::Writer;
use crate::error::{UndoError, UndoResult};
use btree::{Cursor, CursorRange, Direction, Taken, Tree};
use buffer::BufferPool;
use std::ops::Bound;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use stdx::ids::{Lsn, TransactionId};
use txn::undo::{put_varint, take_bytes};

/// Bytes of a part.
pub(crate) const PART_BYTES: usize = 5000;
/// The position of a transaction's state.
const STATE: u64 = u64::MAX;

/// The undo tree and the writers whose chunks are still to be removed from it.
#[derive(Debug)]
pub struct UndoStore {
    pub(super) tree: Tree,
    leftovers: Mutex<Vec<Leftover>>,
    /// Log before this LSN is in the way of new log; 0 if none is.
    pub(crate) wanted: AtomicU64,
    /// Rounds of saving that are under way.
    rounds: AtomicU32,
}

/// A round of saving; it ends when this is dropped.
pub(crate) struct Round<'a>(&'a AtomicU32);

impl Drop for Round<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A finished writer that the undo tree still holds something of.
#[derive(Debug)]
pub(crate) struct Leftover {
    /// Its end record lies behind its `needed_lsn`: recovery must see it as long as the chunks may be there.
    pub(crate) writer: Arc<Writer>,
    /// The end of the removal, once it is made.
    pub(crate) removed: Option<Lsn>,
}

/// Some records of a transaction as they stand in the tree.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// Position of the first record.
    pub(crate) first: u64,
    bytes: Vec<u8>,
}

impl Chunk {
    /// The records, oldest first. Ends early where the bytes make no sense.
    pub(crate) fn records(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.bytes[..];
        std::iter::from_fn(move || if rest.is_empty() { None } else { take_bytes(&mut rest) })
    }

    /// The position behind the last record.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.records().count() as u64
    }

    /// The record at a position.
    pub(crate) fn record(&self, position: u64) -> Option<&[u8]> {
        self.records().nth(usize::try_from(position.checked_sub(self.first)?).ok()?)
    }
}

impl UndoStore {
    /// Over a tree of the system tablespace.
    pub fn new(tree: Tree) -> UndoStore {
        UndoStore { tree, leftovers: Mutex::default(), wanted: AtomicU64::new(0), rounds: AtomicU32::new(0) }
    }

    /// The tree, for checks.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Asks for the undo that keeps log before an LSN to be saved.
    pub fn want_saved_before(&self, lsn: Lsn) {
        self.wanted.fetch_max(lsn.0, Ordering::AcqRel);
    }

    /// Begins to do what was asked for.
    pub(crate) fn begin_round(&self) -> Round<'_> {
        self.rounds.fetch_add(1, Ordering::AcqRel);
        Round(&self.rounds)
    }

    /// Whether a round is under way, or will be because somebody has asked for it and there is a thread for it.
    pub fn is_saving(&self, has_thread: bool) -> bool {
        (has_thread && self.wanted.load(Ordering::Acquire) != 0) || self.rounds.load(Ordering::Acquire) > 0
    }

    /// Notes a finished writer whose chunks are to be removed.
    pub fn discard_later(&self, writer: Arc<Writer>) {
        self.leftovers().push(Leftover { writer, removed: None });
    }

    pub(crate) fn leftovers(&self) -> std::sync::MutexGuard<'_, Vec<Leftover>> {
        self.leftovers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts off what the tree holds of a transaction from that position on; its state stays.
    pub(crate) fn truncate(&self, pool: &BufferPool, id: TransactionId, length: u64) -> UndoResult<()> {
        self.tree.remove_range(pool, positions(id, length), &mut || Ok(()))?;
        let Some(last) = length.checked_sub(1) else { return Ok(()) };
        let chunk =
            self.chunk_at(pool, id, last)?.filter(|chunk| chunk.end() >= length).ok_or_else(corrupt)?;
        if chunk.end() > length {
            let mut kept = Vec::new();
            for record in chunk.records().take((length - chunk.first) as usize) {
                put_varint(&mut kept, record.len() as u64);
                kept.extend_from_slice(record);
            }
            self.put_chunk(pool, id, chunk.first, &kept)?;
        }
        Ok(())
    }

    /// The chunk that holds a position, if any does.
    pub(crate) fn chunk_at(
        &self,
        pool: &BufferPool,
        id: TransactionId,
        position: u64,
    ) -> UndoResult<Option<Chunk>> {
        let mut upper = Bound::Included(chunk_key(id, position.min(STATE - 1), u16::MAX));
        loop {
            let range = CursorRange { lower: Bound::Included(chunk_key(id, 0, 0)), upper };
            let Some((_, first, _)) = self.first_key(pool, range, Direction::Backward)? else {
                return Ok(None);
            };
            if let Some(bytes) = self.read(pool, id, first)? {
                return Ok(Some(Chunk { first, bytes }));
            }
            // A crash came before the first part.
            upper = Bound::Excluded(chunk_key(id, first, 0));
        }
    }

    /// The last chunk of a transaction.
    pub(crate) fn last_chunk(&self, pool: &BufferPool, id: TransactionId) -> UndoResult<Option<Chunk>> {
        self.chunk_at(pool, id, STATE - 1)
    }

    /// The state of a transaction.
    pub(crate) fn state(&self, pool: &BufferPool, id: TransactionId) -> UndoResult<Option<Vec<u8>>> {
        self.read(pool, id, STATE)
    }

    /// Whether the tree tells of a transaction that it has ended.
    pub(crate) fn has_ended(&self, pool: &BufferPool, id: TransactionId) -> bool {
        self.state(pool, id).is_ok_and(|state| state.is_some_and(|state| state == [ENDED]))
    }

    /// The least transaction id, from that one on, that the tree holds something of.
    pub(crate) fn next_id(
        &self,
        pool: &BufferPool,
        from: TransactionId,
    ) -> UndoResult<Option<TransactionId>> {
        let range = CursorRange { lower: Bound::Included(chunk_key(from, 0, 0)), upper: Bound::Unbounded };
        Ok(self.first_key(pool, range, Direction::Forward)?.map(|(id, ..)| id))
    }

    /// All transactions that the tree holds something of.
    pub(crate) fn ids(&self, pool: &BufferPool) -> UndoResult<Vec<TransactionId>> {
        let (mut ids, mut from) = (Vec::new(), TransactionId(0));
        while let Some(id) = self.next_id(pool, from)? {
            ids.push(id);
            from = TransactionId(id.0 + 1);
        }
        Ok(ids)
    }

    /// The first key of a range in that direction.
    fn first_key(
        &self,
        pool: &BufferPool,
        range: CursorRange,
        direction: Direction,
    ) -> UndoResult<Option<(TransactionId, u64, u16)>> {
        let mut cursor = Cursor::new(range, direction);
        let found = cursor.next_leaf(&self.tree, pool, |leaf| {
            let mut key = Vec::new();
            (Taken::First(1), leaf.key_into(0, &mut key).map(|()| key))
        })?;
        found.transpose()?.map(|key| parse_chunk_key(&key).ok_or_else(corrupt)).transpose()
    }

    /// What stands under a position, put together from its parts. None if there is nothing, or not all of it.
    fn read(&self, pool: &BufferPool, id: TransactionId, first: u64) -> UndoResult<Option<Vec<u8>>> {
        let (lower, upper) = (chunk_key(id, first, 0), chunk_key(id, first, u16::MAX));
        let range = CursorRange { lower: Bound::Included(lower), upper: Bound::Included(upper) };
        let mut cursor = Cursor::new(range, Direction::Forward);
        let (mut bytes, mut count, mut next) = (Vec::new(), 1, 0);
        while next < count {
            let read = cursor.next_leaf(&self.tree, pool, |leaf| {
                let mut read = || {
                    for at in 0..leaf.len() {
                        // What is behind the last part is of an earlier chunk whose record was undone.
                        if next > 0 && next >= count {
                            break;
                        }
                        let (mut key, mut part) = (Vec::new(), leaf.entry(at)?.1);
                        leaf.key_into(at, &mut key)?;
                        if parse_chunk_key(&key) != Some((id, first, next)) {
                            return Ok(false);
                        }
                        if next == 0 {
                            let Some((parts, rest)) = part.split_first_chunk() else { return Ok(false) };
                            (count, part) = (u16::from_le_bytes(*parts), rest);
                        }
                        next += 1;
                        bytes.extend_from_slice(part);
                    }
                    Ok::<_, buffer::StorageError>(true)
                };
                (Taken::All, read())
            })?;
            if !read.transpose()?.unwrap_or(false) {
                return Ok(None);
            }
        }
        Ok(Some(bytes))
    }

    pub(crate) fn put_chunk(
        &self,
        pool: &BufferPool,
        id: TransactionId,
        first: u64,
        records: &[u8],
    ) -> UndoResult<Lsn> {
        self.put(pool, id, first, records)
    }

    pub(crate) fn put_state(&self, pool: &BufferPool, id: TransactionId, state: &[u8]) -> UndoResult<Lsn> {
        self.put(pool, id, STATE, state)
    }

    /// Writes what stands under a position: parts from the last to the first, which says how many there are.
    fn put(&self, pool: &BufferPool, id: TransactionId, first: u64, bytes: &[u8]) -> UndoResult<Lsn> {
        let too_long = || UndoError::TooLong;
        let count = u16::try_from(bytes.len().div_ceil(PART_BYTES).max(1)).map_err(|_| too_long())?;
        for part in (1..count).rev() {
            let piece = &bytes[usize::from(part) * PART_BYTES..];
            let piece = &piece[..piece.len().min(PART_BYTES)];
            self.tree.put(pool, &chunk_key(id, first, part), piece)?;
        }
        let first_part = [&count.to_le_bytes(), &bytes[..bytes.len().min(PART_BYTES)]].concat();
        Ok(self.tree.put(pool, &chunk_key(id, first, 0), &first_part)?)
    }
}

/// All keys of a transaction.
pub(super) fn keys_of(id: TransactionId) -> CursorRange {
    from_position(id, 0)
}

/// The keys of a transaction from that position on, its state among them.
fn from_position(id: TransactionId, first: u64) -> CursorRange {
    CursorRange {
        lower: Bound::Included(chunk_key(id, first, 0)),
        upper: Bound::Excluded(chunk_key(TransactionId(id.0 + 1), 0, 0)),
    }
}

/// The chunks of a transaction from that position on.
fn positions(id: TransactionId, first: u64) -> CursorRange {
    let (lower, upper) = (chunk_key(id, first, 0), chunk_key(id, STATE, 0));
    CursorRange { lower: Bound::Included(lower), upper: Bound::Excluded(upper) }
}

fn chunk_key(id: TransactionId, first: u64, part: u16) -> Vec<u8> {
    [&id.0.to_be_bytes()[..], &first.to_be_bytes(), &part.to_be_bytes()].concat()
}

/// Transaction, position and part of a key.
fn parse_chunk_key(key: &[u8]) -> Option<(TransactionId, u64, u16)> {
    let (id, rest) = key.split_first_chunk::<8>()?;
    let (first, part) = rest.split_first_chunk::<8>()?;
    let part = u16::from_be_bytes(part.try_into().ok()?);
    Some((TransactionId(u64::from_be_bytes(*id)), u64::from_be_bytes(*first), part))
}

pub(crate) fn corrupt() -> UndoError {
    UndoError::Corrupt("undo tree does not make sense".to_owned())
}
