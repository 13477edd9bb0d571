//! The undo of committed writers, which is where snapshots that do not see them find what rows were before, and where purge finds
//! what it has to remove. Main type: [`History`]. It lies in blocks in commit order (`block.rs`): many short lists or one long
//! one. Rules V5 and V8 to V11 in txn's README.

mod block;
mod list;
#[cfg(test)]
mod tests;

pub use block::Finished;
pub use list::Committed;

use block::{Block, Figures};
use list::Form;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use stdx::ids::{CommitTimestamp, TransactionId};
use stdx::sync::lock;
use txn::{HistoryPlace, RecordCounts, SpillError, SpillFile, UndoRecord};

/// Largest size of a block of short lists. Longer lists have a block of their own.
const BLOCK_BYTES_MAX: u64 = 64 << 10;
/// Bits of a place that tell where in its block a list begins; the others tell the block.
const OFFSET_BITS: u32 = 24;
/// The open block, which is not spilled, is at most this part of the limit.
const OPEN_SHARE: u64 = 16;

/// Undo of committed writers.
#[derive(Debug)]
pub struct History {
    blocks: RwLock<Blocks>,
    figures: Arc<Figures>,
    /// Records that snapshots or purge may need (the history list).
    length: AtomicU64,
    /// Those of them that hold old rows.
    versions: AtomicU64,
    file: Arc<SpillFile>,
    memory_bytes_max: u64,
    /// After a failed write: no other is tried before memory has grown to this.
    retry_above: AtomicU64,
    /// One at a time spills.
    spilling: Mutex<()>,
}

/// All blocks, oldest first.
#[derive(Debug)]
struct Blocks {
    queue: VecDeque<Slot>,
    /// Number of the first one.
    first: u64,
    /// Blocks before that number are spilled.
    spilled: u64,
}

/// A block and what purge has not worked off of it.
#[derive(Debug)]
struct Slot {
    block: Arc<Block>,
    /// Lists before that offset are worked off.
    at: usize,
    left: RecordCounts,
    /// Commits of the first list behind `at` and of the last one.
    oldest: CommitTimestamp,
    newest: CommitTimestamp,
    /// Whether lists may be added.
    is_open: bool,
}

/// What the history holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryFigures {
    /// Records that snapshots or purge may need: history list length.
    pub length: u64,
    /// Old rows among them.
    pub versions: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// Old rows in the file.
    pub spilled_versions: u64,
    /// Bytes in the file.
    pub spilled_bytes: u64,
    /// Writes to the file that failed; what they were to write stayed in memory.
    pub spill_failures: u64,
}

/// What a writer leaves, on its way into the history.
#[derive(Debug)]
pub struct Adding<'a> {
    history: &'a History,
    blocks: RwLockWriteGuard<'a, Blocks>,
    writer: TransactionId,
    counts: RecordCounts,
    /// A list that joins the last block; a long one is the last block.
    short: Option<Vec<u8>>,
}

impl History {
    /// Nothing yet. What takes more memory than that goes to `file`.
    pub fn new(memory_bytes_max: u64, file: Arc<SpillFile>) -> History {
        History {
            blocks: RwLock::new(Blocks { queue: VecDeque::new(), first: 1, spilled: 1 }),
            figures: Arc::default(),
            length: AtomicU64::new(0),
            versions: AtomicU64::new(0),
            file,
            memory_bytes_max,
            retry_above: AtomicU64::new(0),
            spilling: Mutex::default(),
        }
    }

    /// Bytes of a block of short lists.
    pub fn block_bytes(&self) -> usize {
        (self.memory_bytes_max / OPEN_SHARE).clamp(512, BLOCK_BYTES_MAX) as usize
    }

    /// Makes room for what a writer leaves that is about to commit: its place is known before its commit is. None if it leaves nothing. Until
    /// it is [added](Adding::add) nobody else adds, takes out or looks up, so that all lie in commit order.
    pub fn begin(&self, writer: TransactionId, left: Committed) -> Option<Adding<'_>> {
        let counts = left.counts;
        if counts.outliving == 0 {
            return None;
        }
        let mut blocks = self.write();
        let short = match left.form {
            Form::Long(list) => {
                blocks.close_last();
                blocks.push(Block::of_list(&self.figures, writer, list, counts), false);
                None
            }
            Form::Short(bytes) => {
                let block_bytes = self.block_bytes();
                let has_room = |slot: &Slot| slot.is_open && slot.block.bytes() + bytes.len() <= block_bytes;
                if !blocks.queue.back().is_some_and(has_room) {
                    blocks.close_last();
                    blocks.push(Block::of_lists(&self.figures, block_bytes), true);
                }
                Some(bytes)
            }
        };
        Some(Adding { history: self, blocks, writer, counts, short })
    }

    /// The record at a position of the list of `writer` that lies at that place. None if there is none any more. Whoever
    /// has a snapshot that does not see the writer finds it.
    pub fn record(
        &self,
        place: HistoryPlace,
        writer: TransactionId,
        position: u64,
    ) -> Result<Option<Vec<u8>>, SpillError> {
        let (number, offset) = (place.0 >> OFFSET_BITS, place.0 & ((1 << OFFSET_BITS) - 1));
        let block = {
            let blocks = self.read();
            let Some(at) = number.checked_sub(blocks.first) else { return Ok(None) };
            let Some(slot) = blocks.queue.get(at as usize) else { return Ok(None) };
            slot.block.clone()
        };
        block.record(offset as usize, writer, position)
    }

    /// What purge can work off next: lists of writers that every snapshot sees, all of one block.
    pub fn next_finished(&self, horizon: CommitTimestamp) -> Result<Option<Finished>, SpillError> {
        let (block, number, at, is_whole, left) = {
            let blocks = self.read();
            let Some(slot) = blocks.queue.front().filter(|slot| slot.oldest <= horizon) else {
                return Ok(None);
            };
            (slot.block.clone(), blocks.first, slot.at, slot.newest <= horizon, slot.left)
        };
        block.finished(number, at, is_whole.then_some(left), horizon).map(Some)
    }

    /// Calls `visit` with each record that purge still has work with and its writer, oldest first, up to an error. Takes nothing out.
    pub fn visit_left<E: From<SpillError>>(
        &self,
        mut visit: impl FnMut(TransactionId, UndoRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let all: Vec<(Arc<Block>, usize, RecordCounts)> =
            self.read().queue.iter().map(|slot| (slot.block.clone(), slot.at, slot.left)).collect();
        for (block, at, left) in all {
            block.finished(0, at, Some(left), CommitTimestamp(u64::MAX))?.visit(&mut visit)?;
        }
        Ok(())
    }

    /// Takes out what purge has worked off, the last that it was given.
    pub fn end(&self, finished: &Finished) {
        let RecordCounts { outliving, versions, .. } = finished.counts;
        let gone = {
            let mut blocks = self.write();
            self.set_counts(|all_outliving, all_versions| {
                (all_outliving - outliving, all_versions - versions)
            });
            assert_eq!(blocks.first, finished.number, "purge goes in the order of commits");
            let Some(slot) = blocks.queue.front_mut() else { return };
            slot.left = slot.left.minus(finished.counts);
            slot.at = finished.end;
            // Of an open block lists may have come meanwhile.
            match finished.next_timestamp {
                None if slot.block.ends_at(finished.end) => {
                    blocks.first += 1;
                    blocks.queue.pop_front()
                }
                next => {
                    slot.oldest = next.unwrap_or(slot.oldest);
                    None
                }
            }
        };
        // Gives space in the file back, without the mutex.
        drop(gone);
    }

    /// Moves the oldest blocks to the file while memory is above its limit. Called before writes, without any latch, because
    /// it writes. Returns whether anything was to be moved: then it is time for purge too.
    #[inline]
    pub fn spill_excess(&self) -> bool {
        self.memory_bytes() > self.memory_bytes_max && self.spill()
    }

    #[cold]
    fn spill(&self) -> bool {
        if self.memory_bytes() < self.retry_above.load(Ordering::Relaxed) {
            return false;
        }
        let _one_at_a_time = lock(&self.spilling);
        let mut moved = false;
        while self.memory_bytes() > self.memory_bytes_max {
            let next = {
                let blocks = self.read();
                let number = blocks.spilled.max(blocks.first);
                let slot = blocks.queue.get((number - blocks.first) as usize);
                slot.filter(|slot| !slot.is_open).map(|slot| (number, slot.block.clone()))
            };
            let Some((number, block)) = next else { break };
            moved = true;
            if !block.spill(&self.file) {
                // It stays in memory; a full disk is not asked again at each write.
                let growth = (self.memory_bytes_max / 16).max(1);
                self.retry_above.store(self.memory_bytes() + growth, Ordering::Relaxed);
                break;
            }
            self.retry_above.store(0, Ordering::Relaxed);
            self.write().spilled = number + 1;
        }
        moved
    }

    /// Called with the blocks locked for writing: two that add do not meet.
    fn set_counts(&self, change: impl FnOnce(u64, u64) -> (u64, u64)) {
        let (length, versions) =
            change(self.length.load(Ordering::Relaxed), self.versions.load(Ordering::Relaxed));
        self.length.store(length, Ordering::Relaxed);
        self.versions.store(versions, Ordering::Relaxed);
    }

    fn memory_bytes(&self) -> u64 {
        self.figures.memory.load(Ordering::Relaxed)
    }

    /// All figures, read one by one.
    pub fn figures(&self) -> HistoryFigures {
        HistoryFigures {
            length: self.length.load(Ordering::Relaxed),
            versions: self.versions.load(Ordering::Relaxed),
            memory_bytes: self.memory_bytes(),
            spilled_versions: self.figures.spilled_versions.load(Ordering::Relaxed),
            spilled_bytes: self.figures.spilled_bytes.load(Ordering::Relaxed),
            spill_failures: self.file.failures(),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Blocks> {
        self.blocks.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Blocks> {
        self.blocks.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Adding<'_> {
    /// Where it will be.
    pub fn place(&self) -> HistoryPlace {
        let offset = match (&self.short, self.blocks.queue.back()) {
            (Some(_), Some(last)) => last.block.bytes(),
            _ => 0,
        };
        self.blocks.place_in_last(offset)
    }

    /// Adds it: the writer has committed.
    pub fn add(mut self, timestamp: CommitTimestamp) {
        let counts = self.counts;
        self.history.set_counts(|length, versions| (length + counts.outliving, versions + counts.versions));
        let Some(last) = self.blocks.queue.back_mut() else { return };
        last.join(timestamp, counts);
        if let Some(bytes) = &self.short {
            last.block.append(timestamp, self.writer, counts, bytes);
        }
    }
}

impl Blocks {
    /// Lets nothing be added to the last block any more.
    fn close_last(&mut self) {
        if let Some(last) = self.queue.back_mut().filter(|last| last.is_open) {
            last.is_open = false;
            last.block.close();
        }
    }

    /// A block of lists that join it before anybody looks.
    fn push(&mut self, block: Block, is_open: bool) {
        let (oldest, newest) = (CommitTimestamp(u64::MAX), CommitTimestamp(0));
        let left = RecordCounts::default();
        self.queue.push_back(Slot { block: Arc::new(block), at: 0, left, oldest, newest, is_open });
    }

    fn place_in_last(&self, offset: usize) -> HistoryPlace {
        let number = self.first + self.queue.len() as u64 - 1;
        HistoryPlace(number << OFFSET_BITS | offset as u64)
    }
}

impl Slot {
    /// Counts a list of the newest commit.
    fn join(&mut self, timestamp: CommitTimestamp, counts: RecordCounts) {
        if self.left == RecordCounts::default() {
            // All lists before it are worked off.
            self.oldest = timestamp;
        }
        self.newest = timestamp;
        self.left = self.left.plus(counts);
    }
}
