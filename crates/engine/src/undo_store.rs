//! Undo records of transactions that outlive a piece of log: a tree in the system tablespace. Main type: [`UndoStore`].
//! Key: transaction id and first position, 8 bytes each, big-endian. Value: records, each with its length before it.
//! A chunk is replaced as a whole, so that the tree and the log together hold every record at any moment (rule U3).

use crate::engine::EngineInner;
use crate::error::{EngineError, EngineResult};
use crate::records::Losers;
use crate::writer::{Undo, Writer};
use btree::{Cursor, CursorRange, Direction, Placed, Taken, Tree};
use buffer::CheckpointParticipant;
use std::collections::BTreeSet;
use std::ops::{Bound, ControlFlow};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use stdx::ids::{Lsn, TransactionId};
use txn::undo::{put_varint, take_bytes};

/// Bytes of records in a chunk, about.
const CHUNK_BYTES: usize = 4000;
/// Most bytes of records that are copied at once when they are saved, about. With a small log it is less.
const SLICE_BYTES_MAX: u64 = 4 << 20;
/// Keys that are read at once when chunks are removed, about.
const KEYS_AT_ONCE: usize = 1000;

/// The undo tree and the writers whose chunks are still to be removed from it.
#[derive(Debug)]
pub(crate) struct UndoStore {
    tree: Tree,
    leftovers: Mutex<Vec<Leftover>>,
    /// Log before this LSN is in the way of new log; 0 if none is.
    wanted: AtomicU64,
}

/// A finished writer that the undo tree still holds something of.
#[derive(Debug)]
struct Leftover {
    /// Its end record lies behind its `needed_lsn`: recovery must see it as long as the chunks may be there.
    writer: Arc<Writer>,
    /// The end of the removal, once it is made.
    removed: Option<Lsn>,
}

impl Undo {
    /// Removes the newest record. A chunk that is cut must be saved again from its start.
    pub(crate) fn pop(&mut self) {
        self.list.pop();
        self.pops += 1;
        while self.saved > self.list.len() {
            self.saved = self.chunks.pop().unwrap_or(0);
        }
    }
}

impl UndoStore {
    pub(crate) fn new(tree: Tree) -> UndoStore {
        UndoStore { tree, leftovers: Mutex::default(), wanted: AtomicU64::new(0) }
    }

    /// The tree, for checks.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Asks for the undo that keeps log before an LSN to be saved.
    pub(crate) fn want_saved_before(&self, lsn: Lsn) {
        self.wanted.fetch_max(lsn.0, Ordering::AcqRel);
    }

    /// Whether that was asked for and is still to be begun.
    #[cfg(test)]
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire) != 0
    }

    /// Notes a finished writer whose chunks are to be removed.
    pub(crate) fn discard_later(&self, writer: Arc<Writer>) {
        self.leftovers().push(Leftover { writer, removed: None });
    }

    fn leftovers(&self) -> std::sync::MutexGuard<'_, Vec<Leftover>> {
        self.leftovers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the chunks of finished writers. Who returns finds the tree at rest, but for writers that go on.
    pub(crate) fn discard_finished(&self, engine: &EngineInner) -> EngineResult<()> {
        let open: Vec<TransactionId> = self
            .leftovers()
            .iter()
            .filter(|left| left.removed.is_none())
            .map(|left| left.writer.id)
            .collect();
        // A save that began before its writer ended may still be adding chunks; one that begins now finds that it has ended.
        // Others may save meanwhile: there may be many chunks.
        drop(engine.undo_saver.lock().unwrap_or_else(PoisonError::into_inner));
        for id in open {
            let end = self.remove_chunks(engine, id, 0, &[])?;
            for left in self.leftovers().iter_mut().filter(|left| left.writer.id == id) {
                left.removed = Some(end);
            }
            engine.writers.remove(id);
        }
        Ok(())
    }

    /// Removes the chunks of a transaction from that position on, but those to keep. Returns the end of the log then.
    fn remove_chunks(
        &self,
        engine: &EngineInner,
        id: TransactionId,
        from: u64,
        keep: &[u64],
    ) -> EngineResult<Lsn> {
        let mut range = chunks_from(id, from);
        loop {
            // Few at a time: a transaction may have more chunks than memory.
            let keys = self.keys(engine, range.clone(), KEYS_AT_ONCE)?;
            let Some(last) = keys.last() else { return Ok(engine.pool.redo().end_lsn()) };
            range.lower = Bound::Excluded(last.clone());
            for key in keys {
                if parse_chunk_key(&key).is_none_or(|(_, first)| !keep.contains(&first)) {
                    self.remove_chunk(engine, &key)?;
                }
            }
        }
    }

    fn remove_chunk(&self, engine: &EngineInner, key: &[u8]) -> EngineResult<()> {
        let mut mini = engine.pool.mini_transaction();
        let mut edit = self.tree.edit(&mut mini, key)?;
        let underfull = edit.found() && edit.remove(0)?;
        mini.commit();
        if underfull {
            self.tree.merge_at(&engine.pool, key)?;
        }
        Ok(())
    }

    /// The first keys of a range: about `count`, or all if there are fewer.
    fn keys(&self, engine: &EngineInner, range: CursorRange, count: usize) -> EngineResult<Vec<Vec<u8>>> {
        let mut cursor = Cursor::new(range, Direction::Forward);
        let mut keys = Vec::new();
        while keys.len() < count {
            let Some(result) = cursor.next_leaf(&self.tree, &engine.pool, |leaf| {
                let mut read = || {
                    for at in 0..leaf.len() {
                        let mut key = Vec::new();
                        leaf.key_into(at, &mut key)?;
                        keys.push(key);
                    }
                    Ok::<(), buffer::StorageError>(())
                };
                (Taken::All, read())
            })?
            else {
                break;
            };
            result?;
        }
        Ok(keys)
    }

    /// All chunks of a range.
    fn read(&self, engine: &EngineInner, range: CursorRange) -> EngineResult<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut cursor = Cursor::new(range, Direction::Forward);
        let mut all = Vec::new();
        while let Some(result) = cursor.next_leaf(&self.tree, &engine.pool, |leaf| {
            let mut read = || {
                for at in 0..leaf.len() {
                    let (mut key, mut value) = (Vec::new(), Vec::new());
                    leaf.key_into(at, &mut key)?;
                    leaf.entry(at)?.1.load_into(&mut value)?;
                    all.push((key, value));
                }
                Ok::<(), buffer::StorageError>(())
            };
            (Taken::All, read())
        })? {
            result?;
        }
        Ok(all)
    }

    /// Adds the records of unfinished transactions that the log does not show, and removes what ended ones left.
    pub(crate) fn complete_losers(&self, engine: &EngineInner, losers: &mut Losers) -> EngineResult<()> {
        for (key, value) in self.read(engine, CursorRange::all())? {
            let (id, first) = parse_chunk_key(&key).ok_or_else(corrupt)?;
            losers.greatest = losers.greatest.max(id);
            if losers.ended.contains(&id) {
                self.remove_chunks(engine, id, 0, &[])?;
                continue;
            }
            let valid_below = losers.popped.get(&id).copied().unwrap_or(u64::MAX);
            let records = losers.by_id.entry(id).or_default();
            let mut rest = &value[..];
            let mut position = first;
            while !rest.is_empty() {
                let record = take_bytes(&mut rest).ok_or_else(corrupt)?;
                if position < valid_below {
                    records.entry(position).or_insert_with(|| record.to_vec());
                }
                position += 1;
            }
        }
        Ok(())
    }

    /// Whether the tree holds chunks of a transaction.
    pub(crate) fn holds(&self, engine: &EngineInner, id: TransactionId) -> EngineResult<bool> {
        Ok(!self.keys(engine, chunks_from(id, 0), 1)?.is_empty())
    }

    /// Transactions that the tree holds chunks of though they have ended: a start without their end record in the log
    /// would undo them. For checks.
    pub(crate) fn orphans(&self, engine: &EngineInner) -> EngineResult<BTreeSet<TransactionId>> {
        let keys = self.keys(engine, CursorRange::all(), usize::MAX)?;
        let ids = keys.iter().filter_map(|key| parse_chunk_key(key)).map(|(id, _)| id);
        Ok(ids.filter(|id| engine.writers.get(*id).is_none()).collect())
    }

    fn put(&self, engine: &EngineInner, key: &[u8], value: &[u8]) -> EngineResult<Lsn> {
        loop {
            let mut mini = engine.pool.mini_transaction();
            let mut edit = self.tree.edit(&mut mini, key)?;
            let placed = if edit.found() { edit.replace(value, 0)? } else { edit.insert(value, 0)? };
            if placed == Placed::Done {
                return Ok(mini.commit());
            }
            drop(mini);
            self.tree.make_room(&engine.pool, key, value.len())?;
        }
    }
}

impl EngineInner {
    /// Saves the undo of a transaction whose records begin too far back in the log. Called between its writes.
    pub(crate) fn save_long_undo(&self, writer: &Writer) -> EngineResult<()> {
        let distance = self.pool.redo().end_lsn().0.saturating_sub(writer.needed_lsn().0);
        if distance > self.settings.undo_log_bytes_max { self.save_undo(writer) } else { Ok(()) }
    }

    /// Copies the undo records that are only in the log to the undo tree, durably; then the log need not keep them.
    pub(crate) fn save_undo(&self, writer: &Writer) -> EngineResult<()> {
        let _one_saver = self.undo_saver.lock().unwrap_or_else(PoisonError::into_inner);
        let (length, needed) = (writer.undo().list.len(), self.pool.redo().end_lsn());
        while let Some((slice, end)) = self.save_slice(writer, length)? {
            if slice.is_last {
                self.pool.redo().flush_to(end)?;
            }
            let mut undo = writer.undo();
            // If records were undone meanwhile, what was saved is out of date; the next save replaces it.
            if undo.pops != slice.pops {
                return Ok(());
            }
            undo.saved = slice.end;
            undo.chunks.extend(slice.firsts());
            if slice.is_last {
                writer.set_needed_lsn(needed);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Puts the next records below that position into the undo tree, in place of what it holds of them and later ones.
    /// Returns what they were and the end of the log. None if the writer has ended.
    fn save_slice(&self, writer: &Writer, length: u64) -> EngineResult<Option<(Slice, Lsn)>> {
        let slice_bytes_max = SLICE_BYTES_MAX.min(self.settings.undo_log_bytes_max / 4);
        let (slice, from) = {
            let mut undo = writer.undo();
            if undo.ended {
                return Ok(None);
            }
            undo.in_tree = true;
            (Slice::cut(&undo, length, slice_bytes_max as usize)?, undo.saved)
        };
        let mut end = Lsn(0);
        for (first, bytes) in &slice.chunks {
            end = self.undo_store.put(self, &chunk_key(writer.id, *first), bytes)?;
        }
        let firsts: Vec<u64> = slice.firsts().collect();
        end = end.max(self.undo_store.remove_chunks(self, writer.id, from, &firsts)?);
        Ok(Some((slice, end)))
    }

    /// Saves the undo of all writers that keep log before the wanted LSN. Run by a thread of its own.
    pub(crate) fn save_undo_in_the_way(&self) -> EngineResult<()> {
        let wanted = Lsn(self.undo_store.wanted.swap(0, Ordering::AcqRel));
        for writer in self.writers.all().iter().filter(|writer| writer.needed_lsn() < wanted) {
            self.save_undo(writer)?;
        }
        self.undo_store.discard_finished(self)
    }
}

/// Some records that are not saved, in chunks: first position and bytes of each.
struct Slice {
    chunks: Vec<(u64, Vec<u8>)>,
    /// The position behind the last record.
    end: u64,
    /// No record remains below the position up to which the list is saved.
    is_last: bool,
    /// How many records the writer had undone.
    pops: u64,
}

impl Slice {
    /// The first unsaved records below that position: about so many bytes of them, but one at least.
    fn cut(undo: &Undo, length: u64, bytes_max: usize) -> EngineResult<Slice> {
        let end = undo.list.len().min(length);
        let mut slice = Slice { chunks: Vec::new(), end, is_last: true, pops: undo.pops };
        let mut slice_bytes = 0;
        undo.list.encoded_from(undo.saved, |position, record| {
            if position >= end {
                return ControlFlow::Break(());
            }
            if slice_bytes > bytes_max {
                (slice.end, slice.is_last) = (position, false);
                return ControlFlow::Break(());
            }
            if slice.chunks.last().is_none_or(|(_, bytes)| bytes.len() >= CHUNK_BYTES) {
                slice.chunks.push((position, Vec::new()));
            }
            if let Some((_, bytes)) = slice.chunks.last_mut() {
                put_varint(bytes, record.len() as u64);
                bytes.extend_from_slice(record);
            }
            slice_bytes += record.len();
            ControlFlow::Continue(())
        })?;
        Ok(slice)
    }

    fn firsts(&self) -> impl Iterator<Item = u64> + '_ {
        self.chunks.iter().map(|(first, _)| *first)
    }
}

/// Says what of the log the transactions need. Holds the engine weakly: the pool outlives nothing through it.
pub(crate) struct LogNeeds(pub(crate) Weak<EngineInner>);

impl CheckpointParticipant for LogNeeds {
    fn oldest_needed_lsn(&self, log_end: Lsn) -> Lsn {
        let Some(engine) = self.0.upgrade() else { return Lsn(0) };
        let mut oldest = log_end;
        for writer in engine.writers.all() {
            oldest = oldest.min(writer.needed_lsn());
        }
        let durable = engine.pool.redo().durable_lsn();
        let mut leftovers = engine.undo_store.leftovers();
        leftovers.retain(|left| left.removed.is_none_or(|removed| removed > durable));
        leftovers.iter().fold(oldest, |oldest, left| oldest.min(left.writer.needed_lsn()))
    }

    fn release_before(&self, target: Lsn) {
        if let Some(engine) = self.0.upgrade() {
            engine.undo_store.want_saved_before(target);
            engine.background.undo.wake();
        }
    }
}

/// The chunks of a transaction from that position on.
fn chunks_from(id: TransactionId, first: u64) -> CursorRange {
    CursorRange {
        lower: Bound::Included(chunk_key(id, first)),
        upper: Bound::Excluded(chunk_key(TransactionId(id.0 + 1), 0)),
    }
}

fn chunk_key(id: TransactionId, first: u64) -> Vec<u8> {
    [id.0.to_be_bytes(), first.to_be_bytes()].concat()
}

fn parse_chunk_key(key: &[u8]) -> Option<(TransactionId, u64)> {
    let (id, first) = key.split_first_chunk::<8>()?;
    let first: [u8; 8] = first.try_into().ok()?;
    Some((TransactionId(u64::from_be_bytes(*id)), u64::from_be_bytes(first)))
}

fn corrupt() -> EngineError {
    EngineError::Corrupt("undo tree does not make sense".to_owned())
}
