//! What one session holds without anybody's mutex: locks of tables in slots (rules in `cell.rs`), and intentions (`intention.rs`).
//! Main types: [`SessionLocks`], which its session writes; [`Sessions`], where strong requests find them all.

use super::cell::{CellId, SeenCell};
use super::mistakes::{Mistake, planted};
use super::{Intent, LockKey, LockMode, Namespace};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU8, AtomicU64, Ordering};
#[cfg(loom)]
use loom::sync::{Mutex, MutexGuard};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard};

/// Sessions are registered in so many parts.
const SHARDS: usize = 64;
/// Locks of further tables of a transaction go through the queues.
pub const SLOTS: usize = if cfg!(loom) { 1 } else { 16 };

const EMPTY: u64 = 0;
/// A slot holds mode + 1 in its lowest bits, this bit, and the number of the cell.
const MOVED: u64 = 8;
const CELL_SHIFT: u32 = 4;

fn content(cell: CellId, mode: LockMode) -> u64 {
    cell.0 << CELL_SHIFT | (mode as u64 + 1)
}

fn cell_of(content: u64) -> CellId {
    CellId(content >> CELL_SHIFT)
}

fn mode_of(content: u64) -> LockMode {
    match content & (MOVED - 1) {
        content if content == LockMode::Shared as u64 + 1 => LockMode::Shared,
        content if content == LockMode::Read as u64 + 1 => LockMode::Read,
        _ => LockMode::Write,
    }
}

/// What became of a lock that was put into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotTaken {
    /// It is held, in the slot.
    Held,
    /// It is held to the end of the transaction, in the queue; the slot is free.
    InQueue,
    /// It is not held.
    Refused,
}

/// What one session holds. The session alone takes and gives back; others only move.
#[derive(Debug)]
#[repr(align(64))]
pub struct SessionLocks {
    slots: [AtomicU64; SLOTS],
    intents: AtomicU8,
    session: u32,
    /// Keys of locks that were moved out of slots.
    moved: Mutex<Vec<(CellId, LockKey)>>,
}

impl SessionLocks {
    fn new(session: u32) -> SessionLocks {
        let slots = std::array::from_fn(|_| AtomicU64::new(EMPTY));
        SessionLocks { slots, intents: AtomicU8::new(0), session, moved: Mutex::new(Vec::new()) }
    }

    pub(super) fn session(&self) -> u32 {
        self.session
    }

    /// Whether that intention is held.
    pub fn has(&self, intent: Intent) -> bool {
        self.intents.load(Ordering::Relaxed) & intent as u8 != 0
    }

    pub(super) fn has_any(&self, namespace: Namespace) -> bool {
        self.intents.load(Ordering::SeqCst) & Intent::mask(namespace) != 0
    }

    pub(super) fn set(&self, intent: Intent) {
        self.intents.store(self.intents.load(Ordering::Relaxed) | intent as u8, Ordering::SeqCst);
    }

    pub(super) fn clear(&self, intent: Intent) {
        self.intents.store(self.intents.load(Ordering::Relaxed) & !(intent as u8), Ordering::SeqCst);
    }

    /// Takes a reader's or writer's lock to the end of the transaction in a slot that is free, if nobody asks for a strong
    /// one and the cell is as it was seen.
    #[inline]
    pub fn take(&self, slot: usize, seen: &SeenCell, mode: LockMode) -> SlotTaken {
        debug_assert!(!mode.is_strong());
        self.slots[slot].store(content(seen.id(), mode), Ordering::SeqCst);
        one_order();
        if seen.is_free() || planted(Mistake::OverlooksMarks) { SlotTaken::Held } else { self.retract(slot) }
    }

    #[cold]
    fn retract(&self, slot: usize) -> SlotTaken {
        match self.give_back(slot) {
            Some(_) => SlotTaken::InQueue,
            None => SlotTaken::Refused,
        }
    }

    /// Makes a reader's lock in a slot a writer's. False if it is in the queue by now, where the stronger one must be asked for.
    pub fn strengthen(&self, slot: usize, mode: LockMode) -> bool {
        let held = self.slots[slot].load(Ordering::Relaxed);
        held & MOVED == 0
            && self.slots[slot]
                .compare_exchange(held, content(cell_of(held), mode), Ordering::SeqCst, Ordering::Relaxed)
                .is_ok()
    }

    /// Empties a slot. The key of its lock if that was moved to a queue, where it is still.
    #[inline]
    pub(crate) fn give_back(&self, slot: usize) -> Option<LockKey> {
        let content = self.slots[slot].swap(EMPTY, Ordering::SeqCst);
        if content & MOVED == 0 || planted(Mistake::ForgetsMoves) {
            None
        } else {
            self.take_moved(cell_of(content))
        }
    }

    #[cold]
    fn take_moved(&self, cell: CellId) -> Option<LockKey> {
        let mut moved = self.moved();
        let at = moved.iter().position(|(known, _)| *known == cell)?;
        Some(moved.swap_remove(at).1)
    }

    fn moved(&self) -> MutexGuard<'_, Vec<(CellId, LockKey)>> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the slot that holds a lock of that cell as moved, if there is one. Whoever calls has the queue's mutex, and
    /// puts the lock there before it lets go.
    fn move_out(&self, cell: CellId, key: &LockKey) -> Option<LockMode> {
        self.slots.iter().find_map(|slot| {
            let mut content = slot.load(Ordering::SeqCst);
            while cell_of(content) == cell && content & MOVED == 0 {
                let mut moved = self.moved();
                match slot.compare_exchange(content, content | MOVED, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(_) => {
                        moved.push((cell, key.clone()));
                        return Some(mode_of(content));
                    }
                    Err(now) => content = now,
                }
            }
            None
        })
    }

    /// Locks in slots.
    fn held(&self) -> impl Iterator<Item = (CellId, LockMode)> {
        let contents = self.slots.iter().map(|slot| slot.load(Ordering::SeqCst));
        contents
            .filter(|content| *content != EMPTY && content & MOVED == 0)
            .map(|content| (cell_of(content), mode_of(content)))
    }
}

/// The sequentially consistent accesses before and after stand in one order. loom knows that of fences only.
#[inline]
pub(super) fn one_order() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// All sessions that ever locked anything.
#[derive(Debug)]
pub(super) struct Sessions(Vec<Mutex<HashMap<u32, Arc<SessionLocks>>>>);

impl Sessions {
    pub fn new() -> Sessions {
        Sessions((0..SHARDS).map(|_| Mutex::new(HashMap::new())).collect())
    }

    fn shard(&self, session: u32) -> MutexGuard<'_, HashMap<u32, Arc<SessionLocks>>> {
        self.0[session as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a session's locks.
    pub fn enrol(&self, session: u32) -> Arc<SessionLocks> {
        let locks = Arc::new(SessionLocks::new(session));
        self.shard(session).insert(session, Arc::clone(&locks));
        locks
    }

    /// The session ends; it holds nothing any more.
    pub fn leave(&self, session: u32) {
        self.shard(session).remove(&session);
    }

    fn visit(&self, mut visit: impl FnMut(&SessionLocks)) {
        for shard in 0..SHARDS as u32 {
            self.shard(shard).values().for_each(|locks| visit(locks));
        }
    }

    /// Other sessions that intend to change something there.
    pub fn intending(&self, namespace: Namespace, except: u32) -> Vec<u32> {
        let mut found = Vec::new();
        self.visit(|locks| {
            if locks.session != except && locks.has_any(namespace) {
                found.push(locks.session);
            }
        });
        found
    }

    /// Takes the locks of a cell out of slots, and calls `grant` for each with its session.
    pub fn move_out(&self, cell: CellId, key: &LockKey, mut grant: impl FnMut(u32, LockMode)) {
        one_order();
        self.visit(|locks| {
            if let Some(mode) = locks.move_out(cell, key) {
                grant(locks.session, mode);
            }
        });
    }

    /// Calls `visit` for each lock in a slot, with its session.
    pub fn visit_slots(&self, mut visit: impl FnMut(u32, CellId, LockMode)) {
        self.visit(|locks| locks.held().for_each(|(cell, mode)| visit(locks.session, cell, mode)));
    }
}

/// All interleavings of a session that reads by a kept plan and one that changes the table. Run:
/// RUSTFLAGS="--cfg loom" cargo test -p catalog --lib interleavings
#[cfg(all(test, loom))]
mod interleavings {
    use super::super::cell::{ObjectCell, RowClass};
    use super::*;
    use loom::thread;

    /// What the lock is for.
    #[derive(Default)]
    struct Definition {
        version: u32,
        readers: u32,
    }

    struct Model {
        cell: Arc<ObjectCell>,
        reader: SessionLocks,
        /// Locks of the reader in the queue.
        granted: Mutex<u32>,
        definition: Mutex<Definition>,
    }

    impl Model {
        /// One statement with the plan; afterwards it holds nothing.
        fn read(&self, seen: &SeenCell) {
            let mut in_queue = match self.reader.take(0, seen, LockMode::Read) {
                SlotTaken::Held => false,
                SlotTaken::InQueue => true,
                SlotTaken::Refused => return,
            };
            if seen.is_current() {
                self.definition.lock().unwrap().readers += 1;
                let mut definition = self.definition.lock().unwrap();
                assert_eq!(definition.version, 0, "the plan was made for another definition");
                definition.readers -= 1;
            }
            in_queue |= self.reader.give_back(0).is_some();
            if in_queue {
                let mut granted = self.granted.lock().unwrap();
                *granted = granted.checked_sub(1).expect("what is given back is held");
            }
        }

        /// Changes the definition if nobody holds the table.
        fn change(&self) {
            let mut granted = self.granted.lock().unwrap();
            self.cell.mark();
            one_order();
            if self.reader.move_out(self.cell.id(), &LockKey::table("s", "t")).is_some() {
                *granted += 1;
            }
            if *granted == 0 {
                let mut definition = self.definition.lock().unwrap();
                assert_eq!(definition.readers, 0, "somebody reads it");
                definition.version += 1;
                self.cell.end();
            }
        }
    }

    #[test]
    fn nobody_reads_what_is_changed() {
        loom::model(|| {
            let cell = Arc::new(ObjectCell::new(CellId(7), RowClass::default(), false));
            let seen = SeenCell::new(&cell);
            let (reader, granted) = (SessionLocks::new(1), Mutex::new(0));
            let model = Arc::new(Model { cell, reader, granted, definition: Mutex::default() });
            let other = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.change())
            };
            model.read(&seen);
            model.read(&seen);
            other.join().unwrap();
            assert_eq!(*model.granted.lock().unwrap(), 0, "nothing is left in the queue");
        });
    }
}
