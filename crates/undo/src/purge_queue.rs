//! What purge has still to do: committed writers in commit order, and delete marks outside their undo lists. Main type:
//! [`PurgeQueue`].

use super::leavings::{Finished, Leavings};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use stdx::ids::{CommitTimestamp, IndexId, TransactionId};
use stdx::sync::lock;

/// Most delete marks that are remembered outside the undo lists; those from before the start that are forgotten are found again
/// by the next scan.
const STRAYS_MAX: usize = 10_000;
/// Bytes of their keys.
const STRAY_BYTES_MAX: usize = 1 << 20;

/// A delete mark without an undo list: left from before a restart, or brought back by a rollback.
#[derive(Debug)]
pub struct Stray {
    /// Of the entry.
    pub index: IndexId,
    /// Of the entry.
    pub key: Box<[u8]>,
    /// Who has marked it.
    pub writer: TransactionId,
}

/// Strays in the order in which they came.
#[derive(Debug, Default)]
struct Strays {
    marks: VecDeque<Stray>,
    key_bytes: usize,
}

/// What purge has still to do.
#[derive(Debug, Default)]
pub struct PurgeQueue {
    finished: Mutex<Leavings>,
    strays: Mutex<Strays>,
    /// Undo records in `finished` that purge has work with (the history list).
    backlog: AtomicU64,
}

impl PurgeQueue {
    /// Queues a committed writer. Called in commit order.
    pub fn add(&self, finished: Finished) {
        self.backlog.fetch_add(finished.left.count(), Ordering::Relaxed);
        lock(&self.finished).add(finished);
    }

    /// Notes a delete mark that a reader or a rollback came across.
    pub fn add_stray(&self, index: IndexId, key: &[u8], writer: TransactionId) {
        lock(&self.strays).add(Stray { index, key: key.into(), writer });
    }

    /// Takes the oldest commit out, if every snapshot sees it.
    pub fn next_finished(&self, horizon: CommitTimestamp) -> Option<Finished> {
        lock(&self.finished).next(horizon)
    }

    /// Puts back what was taken out and not done: it stays the next in line.
    pub fn put_back(&self, finished: Finished) {
        lock(&self.finished).put_back(finished);
    }

    /// Counts what was taken out as done.
    pub fn end(&self, finished: &Finished) {
        self.backlog.fetch_sub(finished.left.count(), Ordering::Relaxed);
    }

    /// Takes the oldest delete mark out.
    pub fn take_stray(&self) -> Option<Stray> {
        lock(&self.strays).take()
    }

    /// Puts back a delete mark that was taken out: it goes to the end.
    pub fn put_back_stray(&self, stray: Stray) {
        lock(&self.strays).add(stray);
    }

    /// How many delete marks are noted.
    pub fn stray_count(&self) -> usize {
        lock(&self.strays).marks.len()
    }

    /// Records waiting for purge: history list length.
    pub fn backlog(&self) -> u64 {
        self.backlog.load(Ordering::Relaxed)
    }
}

impl Strays {
    fn add(&mut self, stray: Stray) {
        if self.marks.len() < STRAYS_MAX && self.key_bytes < STRAY_BYTES_MAX {
            self.key_bytes += stray.key.len();
            self.marks.push_back(stray);
        }
    }

    fn take(&mut self) -> Option<Stray> {
        let stray = self.marks.pop_front()?;
        self.key_bytes -= stray.key.len();
        Some(stray)
    }
}
