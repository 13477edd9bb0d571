//! Transactions that have written: their ids, undo lists and what of the log they still need. Main types: [`Writer`],
//! [`WriterRegistry`] (sharded; looked up by those who meet an id in a row).

use super::touched::Touched;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stdx::OwnLine;
use stdx::ids::{Lsn, TransactionId};
use txn::UndoList;
use txn::locks::Owner;

const SHARDS: usize = 64;

/// A transaction with an id.
#[derive(Debug)]
pub struct Writer {
    /// Of the transaction; 0 for the writer of a session's temporary tables.
    pub id: TransactionId,
    /// The transaction in the lock table.
    pub owner: Arc<Owner>,
    undo: Mutex<Undo>,
    /// The log from here on holds undo records that are nowhere else.
    needed_lsn: AtomicU64,
    /// Bytes of undo that were logged since it was last saved, and something for what was undone: what it takes to save it.
    unsaved_bytes: AtomicU64,
    /// Its rollback does not ask for room before the log is that long.
    asks_from: AtomicU64,
    /// Number of the next long value.
    next_value: AtomicU32,
    /// Its last change was a DELETE: its undo may take the room that is kept.
    frees_room: AtomicBool,
}

/// A writer's undo list and how much of it the undo tree holds.
#[derive(Debug, Default)]
pub struct Undo {
    /// The records.
    pub list: UndoList,
    /// Records before this position are in the undo tree.
    pub saved: u64,
    /// The undo tree holds nothing from this position on. What it holds between `saved` and this is out of date.
    pub(crate) tree_end: u64,
    /// Least length that the list has had since it was last looked at to be saved.
    pub(crate) least_length: u64,
    /// The undo tree may hold chunks of this writer, also such that rollback made worthless.
    pub(crate) in_tree: bool,
    /// What the writer has changed as far as the undo tree holds its records.
    pub(crate) saved_changes: Touched,
    /// The name under which it is prepared: a start leaves it as it is.
    pub(crate) prepared: Option<Box<[u8]>>,
    /// The end record is in the log or about to be: nothing may enter the undo tree any more.
    pub(crate) ended: bool,
}

impl Undo {
    /// Whether a start leaves the transaction as it is.
    pub fn is_prepared(&self) -> bool {
        self.prepared.is_some()
    }

    /// Removes the newest record.
    pub(crate) fn pop(&mut self) {
        self.list.pop();
        let length = self.list.len();
        self.least_length = self.least_length.min(length);
        self.saved = self.saved.min(length);
    }
}

impl Writer {
    /// A writer whose records enter the log behind `needed`.
    pub fn new(id: TransactionId, owner: Arc<Owner>, needed: Lsn) -> Writer {
        Writer {
            id,
            owner,
            undo: Mutex::default(),
            needed_lsn: AtomicU64::new(needed.0),
            unsaved_bytes: AtomicU64::new(0),
            asks_from: AtomicU64::new(0),
            next_value: AtomicU32::new(0),
            frees_room: AtomicBool::new(false),
        }
    }

    /// Whether its records go into the log as well: not those of the temporary tables of a session, which no start knows.
    #[inline]
    pub fn is_logged(&self) -> bool {
        self.id != TransactionId::default()
    }

    /// The undo list. Held while a change and its undo record enter the log, so that whoever saves the list elsewhere
    /// sees every record that is in the log before a given LSN.
    #[inline]
    pub fn undo(&self) -> MutexGuard<'_, Undo> {
        self.undo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes its undo list, which the caller has locked, to whoever saves it. Called before the end record enters the log, so that the log
    /// that the writer needs always reaches up to that record. Returns whether the undo tree may hold chunks of it.
    pub fn end(&self, undo: &mut Undo) -> bool {
        undo.ended = true;
        self.unsaved_bytes.store(0, Ordering::Relaxed);
        undo.in_tree
    }

    /// The name under which it is prepared.
    pub fn prepared_name(&self) -> Option<Box<[u8]>> {
        self.undo().prepared.clone()
    }

    /// Whether its last change was one that frees room.
    pub(crate) fn frees_room(&self) -> bool {
        self.frees_room.load(Ordering::Relaxed)
    }

    /// Notes of what kind its changes are from now on.
    #[inline]
    pub fn set_frees_room(&self, frees_room: bool) {
        if self.frees_room() != frees_room {
            self.frees_room.store(frees_room, Ordering::Relaxed);
        }
    }

    /// The number that the next long value will get.
    #[inline]
    pub fn next_value(&self) -> u32 {
        self.next_value.load(Ordering::Relaxed)
    }

    /// Takes the number of a long value. None if they are used up.
    pub fn take_value_number(&self) -> Option<u32> {
        let taken =
            self.next_value.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| next.checked_add(1));
        taken.ok()
    }

    /// How many bytes it takes to save its undo.
    pub(crate) fn unsaved_bytes(&self) -> u64 {
        self.unsaved_bytes.load(Ordering::Relaxed)
    }

    /// Notes that so much undo was logged. Called with the undo list locked.
    #[inline]
    pub(crate) fn add_unsaved(&self, bytes: u64) {
        self.unsaved_bytes.store(self.unsaved_bytes() + bytes, Ordering::Relaxed);
    }

    pub(crate) fn asks_from(&self) -> Lsn {
        Lsn(self.asks_from.load(Ordering::Relaxed))
    }

    pub(crate) fn set_asks_from(&self, lsn: Lsn) {
        self.asks_from.store(lsn.0, Ordering::Relaxed);
    }

    /// Notes that so much of it was saved. Called with the undo list locked.
    pub(crate) fn take_saved(&self, bytes: u64) {
        self.unsaved_bytes.store(self.unsaved_bytes().saturating_sub(bytes), Ordering::Relaxed);
    }

    pub(crate) fn needed_lsn(&self) -> Lsn {
        Lsn(self.needed_lsn.load(Ordering::Acquire))
    }

    pub(crate) fn set_needed_lsn(&self, lsn: Lsn) {
        self.needed_lsn.store(lsn.0, Ordering::Release);
    }
}

type WritersById = HashMap<u64, Arc<Writer>>;

/// All unfinished writers by id.
#[derive(Debug)]
pub struct WriterRegistry {
    /// Writers that begin at once have ids that follow each other.
    shards: Box<[OwnLine<Mutex<WritersById>>]>,
}

impl WriterRegistry {
    pub(crate) fn new() -> WriterRegistry {
        WriterRegistry { shards: (0..SHARDS).map(|_| OwnLine::default()).collect() }
    }

    /// Adds one.
    #[inline]
    pub fn insert(&self, writer: Arc<Writer>) {
        self.shard(writer.id).insert(writer.id.0, writer);
    }

    /// The one with that id.
    #[inline]
    pub fn get(&self, id: TransactionId) -> Option<Arc<Writer>> {
        self.shard(id).get(&id.0).cloned()
    }

    /// Takes one out.
    #[inline]
    pub fn remove(&self, id: TransactionId) {
        self.shard(id).remove(&id.0);
    }

    /// All of them, one shard after the other.
    pub fn all(&self) -> Vec<Arc<Writer>> {
        let mut all = Vec::new();
        for shard in &self.shards {
            all.extend(shard.lock().unwrap_or_else(PoisonError::into_inner).values().cloned());
        }
        all
    }

    fn shard(&self, id: TransactionId) -> MutexGuard<'_, WritersById> {
        self.shards[id.0 as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
