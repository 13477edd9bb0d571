//! What one session holds by name: locks to the end of its transaction and of its statement, those of LOCK TABLES, intentions.
//! Main types: [`HeldLocks`], [`LockOwner`] (in whose name locks are taken).
//! All that is taken for one statement is given back in one place, however the statement ends. Thread rules: the session's.

use crate::explicit_locks::{ExplicitLocks, LockedTable};
use crate::table_locks::TableLocks;
use crate::{
    CellId, Intent, LockDuration, LockKey, LockMode, LockRequest, MetadataLocks, SLOTS, SessionLocks,
    SlotTaken, TableLock, WaitEnd, WaitLimit,
};
use errors::{SqlResult, sql_error};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A session keeps room for so many locks between transactions.
const KEPT_LOCKS_MAX: usize = 16;

/// In whose name locks are taken and given back.
#[derive(Clone, Copy)]
pub struct LockOwner<'a> {
    /// The locks of the server.
    pub locks: &'a MetadataLocks,
    /// The session's id.
    pub session: u32,
}

impl LockOwner<'_> {
    /// Waits within the limit. Errors: 1205, 1213, 1317.
    pub fn acquire(
        &self,
        key: &LockKey,
        mode: LockMode,
        duration: LockDuration,
        limit: WaitLimit<'_>,
    ) -> SqlResult<()> {
        let request = LockRequest { session: self.session, key, mode, duration };
        self.locks.acquire(&request, limit).into_sql()
    }

    fn release(&self, key: &LockKey, duration: LockDuration) {
        self.locks.release(self.session, key, duration);
    }
}

/// Metadata locks that a session holds.
#[derive(Default)]
pub struct HeldLocks {
    /// Those of LOCK TABLES, and the global read lock.
    pub explicit: ExplicitLocks,
    /// To the end of the transaction, in queues, in the order in which they were taken: a name may stand there again, with a stronger
    /// mode.
    transaction: Vec<(LockKey, LockMode)>,
    /// To the end of the transaction, each in the slot of its place.
    slots: Vec<(CellId, LockMode)>,
    /// To the end of the statement.
    statement: Vec<LockKey>,
    /// Tables that HANDLER has open: a name stands there once for each time.
    kept_open: Vec<LockKey>,
    /// Slots and intentions; made when the session first needs intentions, or slots for the second time: many sessions run one
    /// statement only, and a queue costs less than a place for slots.
    own: Option<Arc<SessionLocks>>,
    wanted_slot: bool,
    /// The locks of this transaction may go to another owner: they stay out of slots.
    is_movable: bool,
}

/// How much a session held to the end of its transaction at some time.
#[derive(Clone, Copy, Debug)]
pub struct HeldMark {
    queued: usize,
    slots: usize,
}

/// Metadata locks of a transaction that has left its session: they are given back by whoever ends it.
#[derive(Debug)]
pub struct LeftLocks {
    owner: u32,
    keys: Vec<LockKey>,
}

impl LeftLocks {
    /// A writer's locks of tables, taken for a transaction that belongs to no session; nobody else has any lock yet. The owner is an id of a
    /// session that is none.
    pub fn taken(locks: &MetadataLocks, owner: u32, keys: Vec<LockKey>) -> LeftLocks {
        let kill = engine::KillFlag::default();
        let at_once = WaitLimit { timeout: Duration::ZERO, kill: &kill };
        for key in &keys {
            let (mode, duration) = (LockMode::Write, LockDuration::Transaction);
            let end = locks.acquire(&LockRequest { session: owner, key, mode, duration }, at_once);
            assert_eq!(end, WaitEnd::Granted, "there are no sessions yet");
        }
        LeftLocks { owner, keys }
    }

    /// Gives them back.
    pub fn release(self, locks: &MetadataLocks) {
        self.keys.iter().for_each(|key| locks.release(self.owner, key, LockDuration::Transaction));
    }
}

/// Locks of the transaction.
impl HeldLocks {
    /// For [`HeldLocks::release_since`].
    #[inline]
    pub fn mark(&self) -> HeldMark {
        HeldMark { queued: self.transaction.len(), slots: self.slots.len() }
    }

    /// Takes metadata locks to the end of the transaction, after LOCK TABLES had its say.
    #[inline]
    pub fn take_tables(
        &mut self,
        owner: LockOwner<'_>,
        limit: WaitLimit<'_>,
        needed: &TableLocks,
    ) -> SqlResult<()> {
        self.explicit.check_uses(needed)?;
        needed.locks.iter().try_for_each(|lock| {
            if self.take_in_slot(owner, lock) {
                Ok(())
            } else {
                self.take(owner, limit, &lock.key, lock.mode)
            }
        })
    }

    /// Takes the lock of a kept plan to the end of the transaction, if that can be done without its queue.
    #[inline]
    fn take_in_slot(&mut self, owner: LockOwner<'_>, lock: &TableLock) -> bool {
        let may_use_slots = !self.explicit.in_force() && !self.is_movable;
        let Some(seen) = lock.seen.as_ref().filter(|_| may_use_slots) else { return false };
        if !std::mem::replace(&mut self.wanted_slot, true) {
            return false;
        }
        self.enrol(owner);
        let Some(own) = &self.own else { return false };
        if let Some((slot, (_, mode))) =
            self.slots.iter_mut().enumerate().find(|(_, (id, _))| *id == seen.id())
        {
            let is_enough = mode.covers(lock.mode) || own.strengthen(slot, lock.mode);
            if is_enough && !mode.covers(lock.mode) {
                *mode = lock.mode;
            }
            return is_enough;
        }
        let slot = self.slots.len();
        if slot == SLOTS {
            return false;
        }
        match own.take(slot, seen, lock.mode) {
            SlotTaken::Held => self.slots.push((seen.id(), lock.mode)),
            SlotTaken::InQueue => self.transaction.push((lock.key.clone(), lock.mode)),
            SlotTaken::Refused => return false,
        }
        true
    }

    /// Takes a metadata lock to the end of the transaction.
    pub fn take(
        &mut self,
        owner: LockOwner<'_>,
        limit: WaitLimit<'_>,
        key: &LockKey,
        mode: LockMode,
    ) -> SqlResult<()> {
        if self.explicit.covers(key, mode) {
            return Ok(());
        }
        if self.transaction.iter().any(|(held, held_mode)| held == key && held_mode.covers(mode)) {
            return Ok(());
        }
        owner.acquire(key, mode, LockDuration::Transaction, limit)?;
        self.transaction.push((key.clone(), mode));
        Ok(())
    }

    /// Gives back the metadata locks of the transaction; those of LOCK TABLES and of the running statement stay.
    #[inline]
    pub fn release_transaction(&mut self, owner: LockOwner<'_>) {
        if let Some(own) = &self.own {
            (0..self.slots.len()).for_each(|slot| owner.locks.release_slot(own, slot));
            self.slots.clear();
        }
        while let Some((key, _)) = self.transaction.pop() {
            owner.release(&key, LockDuration::Transaction);
        }
        self.is_movable = false;
        // The memory is for the next transaction, unless this one was of an uncommon size.
        self.transaction.shrink_to(KEPT_LOCKS_MAX);
    }

    /// A transaction begins that may leave its session ([`HeldLocks::leave_with_transaction`]).
    pub fn begin_movable(&mut self) {
        assert!(self.slots.is_empty(), "no transaction was open before");
        self.is_movable = true;
    }

    /// The transaction leaves its session, with its locks, which get an owner of their own.
    pub fn leave_with_transaction(&mut self, owner: LockOwner<'_>, heir: u32) -> LeftLocks {
        assert!(self.slots.is_empty(), "what may leave is in queues");
        let keys: Vec<LockKey> = self.transaction.drain(..).map(|(key, _)| key).collect();
        keys.iter().for_each(|key| owner.locks.hand_over(owner.session, key, heir));
        self.is_movable = false;
        LeftLocks { owner: heir, keys }
    }

    /// Gives back the metadata locks that were taken for the transaction since the mark was made, and makes those weaker that have become
    /// stronger in their queues. Two stay, which is safe: a stronger mode in an older slot, and what was taken in the queue of a name
    /// that is in an older slot too, since that lock may be in the queue by now.
    pub fn release_since(&mut self, owner: LockOwner<'_>, mark: HeldMark) {
        let own = self.own.clone();
        while self.slots.len() > mark.slots
            && let (Some(own), Some(_)) = (&own, self.slots.pop())
        {
            // A lock that was moved to its queue made one stronger that was there.
            if let Some(key) = own.give_back(self.slots.len()) {
                let older = &self.transaction[..mark.queued.min(self.transaction.len())];
                owner.locks.release_to(owner.session, &key, &modes_of(older, &key));
            }
        }
        let mut kept = Vec::new();
        while self.transaction.len() > mark.queued
            && let Some((key, mode)) = self.transaction.pop()
        {
            if self.has_in_slot(owner, &key) {
                kept.push((key, mode));
                continue;
            }
            owner.locks.release_to(owner.session, &key, &modes_of(&self.transaction, &key));
        }
        self.transaction.extend(kept.into_iter().rev());
    }

    fn has_in_slot(&self, owner: LockOwner<'_>, key: &LockKey) -> bool {
        !self.slots.is_empty()
            && owner.locks.cell_of(key).is_some_and(|cell| self.slots.iter().any(|(id, _)| *id == cell))
    }
}

/// Locks of the statement, and intentions.
impl HeldLocks {
    /// More locks for the running change of definitions, taken in the order of their keys.
    pub fn take_for_statement(
        &mut self,
        owner: LockOwner<'_>,
        limit: WaitLimit<'_>,
        wanted: Vec<(LockKey, LockMode)>,
    ) -> SqlResult<()> {
        let mut wanted = wanted;
        wanted.sort_by(|(left, _), (right, _)| left.cmp(right));
        for (key, mode) in wanted {
            // A statement may name as many as its text has room for, and wait for none of them.
            if limit.kill.is_raised() {
                return Err(sql_error!(ER_QUERY_INTERRUPTED));
            }
            owner.acquire(&key, mode, LockDuration::Statement, limit)?;
            self.statement.push(key);
        }
        Ok(())
    }

    /// Whether the running statement has locked a name.
    pub fn has_for_statement(&self, key: &LockKey) -> bool {
        self.statement.contains(key)
    }

    /// Gives one name back before the statement ends.
    pub fn release_of_statement(&mut self, owner: LockOwner<'_>, key: &LockKey) {
        self.statement.retain(|held| held != key);
        owner.release(key, LockDuration::Statement);
    }

    /// Gives back the locks of the running statement.
    #[inline]
    pub fn release_statement(&mut self, owner: LockOwner<'_>) {
        for key in std::mem::take(&mut self.statement) {
            owner.release(&key, LockDuration::Statement);
        }
    }

    /// Whether that is intended already.
    #[inline]
    pub fn intends(&mut self, owner: LockOwner<'_>, intent: Intent) -> bool {
        self.enrol(owner).has(intent)
    }

    /// Says that something is about to change, once nobody holds the global read lock.
    /// Errors: 1205, 1213, 1317; 1223 if this session holds it.
    #[inline]
    pub fn intend(&mut self, owner: LockOwner<'_>, limit: WaitLimit<'_>, intent: Intent) -> SqlResult<()> {
        if self.explicit.global && intent != Intent::Commit {
            return Err(sql_error!(ER_CANT_UPDATE_WITH_READLOCK));
        }
        self.enrol(owner);
        let Some(own) = &self.own else { return Ok(()) };
        owner.locks.intend(own, intent, limit).into_sql()
    }

    fn enrol(&mut self, owner: LockOwner<'_>) -> &Arc<SessionLocks> {
        self.own.get_or_insert_with(|| owner.locks.enrol(owner.session))
    }

    /// Gives an intention back if it is held: the end of LOCK TABLES, and of a statement that panicked.
    #[inline]
    pub fn relent(&mut self, owner: LockOwner<'_>, intent: Intent) {
        if let Some(intents) = self.own.as_ref().filter(|intents| intents.has(intent)) {
            owner.locks.relent(intents, intent);
        }
    }

    /// The end of a session or of a statement that panicked: nothing that belongs to a statement stays.
    #[inline]
    pub fn abandon_statement(&mut self, owner: LockOwner<'_>) {
        self.release_statement(owner);
        self.relent(owner, Intent::Statement);
        self.relent(owner, Intent::Commit);
    }

    /// The session ends.
    #[inline]
    pub fn leave(&mut self, owner: LockOwner<'_>) {
        if self.own.take().is_some() {
            owner.locks.leave(owner.session);
        }
    }
}

/// HANDLER.
impl HeldLocks {
    /// The table stays what it is until [`HeldLocks::let_go`]. Errors: 1205, 1213, 1317.
    pub fn keep_open(&mut self, owner: LockOwner<'_>, limit: WaitLimit<'_>, key: &LockKey) -> SqlResult<()> {
        owner.acquire(key, LockMode::Shared, LockDuration::Explicit, limit)?;
        self.kept_open.push(key.clone());
        Ok(())
    }

    /// Whether the name is locked to the end of the transaction.
    pub fn has_for_transaction(&self, key: &LockKey, locks: &MetadataLocks) -> bool {
        let cell = locks.cell_of(key);
        self.transaction.iter().any(|(held, _)| held == key)
            || self.slots.iter().any(|(held, _)| Some(*held) == cell)
    }

    /// Takes one [`HeldLocks::keep_open`] back.
    pub fn let_go(&mut self, owner: LockOwner<'_>, key: &LockKey) {
        if let Some(at) = self.kept_open.iter().position(|kept| kept == key) {
            self.kept_open.swap_remove(at);
            self.release_explicit(owner, key);
        }
    }

    /// Gives back what is held of a name until it is said, but for what is to stay: LOCK TABLES and HANDLER may hold the same one.
    fn release_explicit(&self, owner: LockOwner<'_>, key: &LockKey) {
        let open = self.kept_open.iter().filter(|kept| *kept == key).map(|_| LockMode::Shared);
        let kept: Vec<LockMode> = open.chain(self.explicit.modes_of(key)).collect();
        owner.locks.release_explicit_to(owner.session, key, &kept);
    }
}

/// LOCK TABLES and FLUSH TABLES WITH READ LOCK.
impl HeldLocks {
    /// LOCK TABLES comes into force with these; `check` is asked for each of them once it is locked. On an error some are held.
    pub fn take_explicitly(
        &mut self,
        owner: LockOwner<'_>,
        limit: WaitLimit<'_>,
        wanted: Vec<LockedTable>,
        check: impl Fn(&LockKey) -> SqlResult<()>,
    ) -> SqlResult<()> {
        self.explicit.tables = Some(Vec::new());
        let is_written = |locked: &&LockedTable| locked.mode == LockMode::NoReadWrite;
        if wanted.iter().any(|locked| is_written(&locked)) {
            // It changes the server for as long as it is in force.
            self.intend(owner, limit, Intent::LockedTables)?;
        }
        let schemas: BTreeSet<LockKey> = wanted
            .iter()
            .filter(is_written)
            .map(|locked| LockKey::schema(locked.key.schema_name()))
            .collect();
        for key in schemas {
            owner.acquire(&key, LockMode::Intention, LockDuration::Explicit, limit)?;
            self.explicit.schemas.push(key);
        }
        for locked in wanted {
            owner.acquire(&locked.key, locked.mode, LockDuration::Explicit, limit)?;
            let checked = check(&locked.key);
            self.explicit.tables.get_or_insert_default().push(locked);
            checked?;
        }
        Ok(())
    }

    /// Gives back what LOCK TABLES took.
    #[inline]
    pub fn unlock_tables(&mut self, owner: LockOwner<'_>) {
        let tables = self.explicit.tables.take().into_iter().flatten().map(|locked| locked.key);
        for key in tables.chain(std::mem::take(&mut self.explicit.schemas)) {
            self.release_explicit(owner, &key);
        }
        self.relent(owner, Intent::LockedTables);
    }

    /// A table that LOCK TABLES holds is gone. With the last one LOCK TABLES ends.
    pub fn forget_locked_table(&mut self, owner: LockOwner<'_>, key: &LockKey) {
        if let Some(tables) = &mut self.explicit.tables {
            tables.retain(|locked| locked.key != *key);
            let ends = tables.is_empty();
            self.release_explicit(owner, key);
            if ends {
                self.unlock_tables(owner);
            }
        }
    }

    /// A table that LOCK TABLES holds has another name, which this session has locked exclusively for the statement.
    pub fn rename_locked_table(
        &mut self,
        owner: LockOwner<'_>,
        limit: WaitLimit<'_>,
        from: &LockKey,
        to: &LockKey,
    ) -> SqlResult<()> {
        let Some(tables) = &mut self.explicit.tables else { return Ok(()) };
        let mut outcome = Ok(());
        for locked in tables.iter_mut().filter(|locked| locked.key == *from) {
            outcome = outcome.and_then(|()| owner.acquire(to, locked.mode, LockDuration::Explicit, limit));
            locked.key = to.clone();
            locked.alias = to.object_name().to_owned();
        }
        owner.release(from, LockDuration::Explicit);
        outcome
    }

    /// The global read lock: waits for statements that change something and for commits.
    pub fn lock_global(&mut self, owner: LockOwner<'_>, limit: WaitLimit<'_>) -> SqlResult<()> {
        let end = owner.locks.lock_global(owner.session, limit);
        self.explicit.global = end == WaitEnd::Granted;
        end.into_sql()
    }

    /// LOCK INSTANCE FOR BACKUP: waits for statements that change definitions.
    pub fn lock_instance(&mut self, owner: LockOwner<'_>, limit: WaitLimit<'_>) -> SqlResult<()> {
        if !self.explicit.instance {
            owner.acquire(&LockKey::backup(), LockMode::Shared, LockDuration::Explicit, limit)?;
            self.explicit.instance = true;
        }
        Ok(())
    }

    /// Gives back the lock for backup.
    pub fn unlock_instance(&mut self, owner: LockOwner<'_>) {
        if std::mem::take(&mut self.explicit.instance) {
            owner.release(&LockKey::backup(), LockDuration::Explicit);
        }
    }

    /// Gives back the global read lock.
    #[inline]
    pub fn unlock_global(&mut self, owner: LockOwner<'_>) {
        if std::mem::take(&mut self.explicit.global) {
            owner.locks.unlock_global(owner.session);
        }
    }
}

fn modes_of(held: &[(LockKey, LockMode)], key: &LockKey) -> Vec<LockMode> {
    held.iter().filter(|(held, _)| held == key).map(|(_, mode)| *mode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RowClass;
    use engine::KillFlag;

    const AT_ONCE: Duration = Duration::ZERO;

    struct World {
        locks: MetadataLocks,
        kill: KillFlag,
    }

    impl World {
        fn new() -> World {
            let locks = MetadataLocks::new(Arc::new(env::RealClock), Arc::default());
            World { locks, kill: KillFlag::default() }
        }

        fn owner(&self) -> LockOwner<'_> {
            LockOwner { locks: &self.locks, session: 1 }
        }

        fn take(&self, held: &mut HeldLocks, table: &str, mode: LockMode) {
            let limit = WaitLimit { timeout: AT_ONCE, kill: &self.kill };
            held.take(self.owner(), limit, &LockKey::table("s", table), mode).unwrap();
        }

        /// As a kept plan does.
        fn take_kept(&self, held: &mut HeldLocks, table: &str, mode: LockMode) {
            let key = LockKey::table("s", table);
            let seen = Some(self.locks.see(&key, RowClass::default));
            let needed = TableLocks {
                locks: vec![TableLock { key, mode, seen }],
                uses: Vec::new(),
                uses_temporary: false,
            };
            let limit = WaitLimit { timeout: AT_ONCE, kill: &self.kill };
            held.wanted_slot = true;
            held.take_tables(self.owner(), limit, &needed).unwrap();
        }

        /// Whether another session gets the lock, which it gives back.
        fn is_free(&self, table: &str, mode: LockMode) -> bool {
            let key = LockKey::table("s", table);
            let request = LockRequest { session: 2, key: &key, mode, duration: LockDuration::Explicit };
            let limit = WaitLimit { timeout: AT_ONCE, kill: &self.kill };
            let is_free = self.locks.acquire(&request, limit) == WaitEnd::Granted;
            self.locks.release(2, &key, LockDuration::Explicit);
            is_free
        }
    }

    #[test]
    fn what_was_held_at_the_mark_is_held_as_before() {
        let (world, mut held) = (World::new(), HeldLocks::default());
        world.take(&mut held, "t", LockMode::Read);
        let mark = held.mark();
        world.take(&mut held, "t", LockMode::Write);
        world.take(&mut held, "u", LockMode::Read);
        assert!(!world.is_free("t", LockMode::ReadOnly));
        held.release_since(world.owner(), mark);
        assert!(world.is_free("u", LockMode::Exclusive));
        assert!(world.is_free("t", LockMode::ReadOnly));
        assert!(!world.is_free("t", LockMode::Exclusive));
        held.release_transaction(world.owner());
        assert!(world.is_free("t", LockMode::Exclusive));
    }

    #[test]
    fn slots_since_the_mark_are_emptied_and_older_ones_stay() {
        let (world, mut held) = (World::new(), HeldLocks::default());
        world.take_kept(&mut held, "t", LockMode::Read);
        let mark = held.mark();
        world.take_kept(&mut held, "u", LockMode::Read);
        // By its queue too: that lock stays, as it may be the slot's by now.
        world.take(&mut held, "t", LockMode::Read);
        world.take(&mut held, "v", LockMode::Write);
        held.release_since(world.owner(), mark);
        assert!(world.is_free("u", LockMode::Exclusive));
        assert!(world.is_free("v", LockMode::Exclusive));
        assert!(!world.is_free("t", LockMode::Exclusive));
        held.release_transaction(world.owner());
        assert!(world.is_free("t", LockMode::Exclusive));
    }

    #[test]
    fn a_lock_that_was_moved_out_of_its_slot_is_given_back() {
        let (world, mut held) = (World::new(), HeldLocks::default());
        let mark = held.mark();
        world.take_kept(&mut held, "t", LockMode::Read);
        // Moves it to the queue.
        assert!(!world.is_free("t", LockMode::Exclusive));
        held.release_since(world.owner(), mark);
        assert!(world.is_free("t", LockMode::Exclusive));
        // Not where the queue's lock is older than the slot.
        world.take(&mut held, "t", LockMode::Read);
        let mark = held.mark();
        world.take_kept(&mut held, "t", LockMode::Read);
        assert!(!world.is_free("t", LockMode::Exclusive));
        held.release_since(world.owner(), mark);
        assert!(!world.is_free("t", LockMode::Exclusive));
        // Which is as weak as it was.
        let mark = held.mark();
        world.take_kept(&mut held, "t", LockMode::Write);
        assert!(!world.is_free("t", LockMode::ReadOnly));
        held.release_since(world.owner(), mark);
        assert!(world.is_free("t", LockMode::ReadOnly));
        assert!(!world.is_free("t", LockMode::Exclusive));
    }
}
