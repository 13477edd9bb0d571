//! Locking scans by a secondary index. A read of a covering index locks its entries and nothing else; other scans lock the rows and then
//! their entries: in the order of who writes them, so that the two do not wait for each other. At READ COMMITTED these lock only rows. See rules L8, L10 and L11 in txn's README.

use super::leaf_locks::{LeafAsk, Taker};
use super::{Conflict, Transaction};
use crate::lob::{Wanted, bytes_to_fetch};
use crate::read::{Candidate, Gap, RowBatch, Scan, SeenEntries, WaitPolicy, entry_key_matches, push_row};
use btree::{LeafView, Taken};
use engine_error::{EngineError, EngineResult};
use entry::EntryKind;
use stdx::ids::IndexId;
use txn::locks::{Hold, LockMode, Strength};

/// A locking scan by a secondary index.
pub(super) struct EntryLocks<'t> {
    pub(super) transaction: &'t Transaction,
    pub(super) mode: LockMode,
    pub(super) policy: WaitPolicy,
}

/// What became of an entry's row.
enum Lockable {
    /// It is locked; with the entry's key.
    Row(Vec<u8>),
    /// There is none, or it is left out.
    NoRow,
    /// It would have to be waited for, and is asked for once more.
    Later,
}

impl EntryLocks<'_> {
    /// Locks what the next entries of a secondary index lead to. A row whose newest state has another key is left out.
    pub(super) fn lock_leaf(
        &self,
        scan: &mut Scan,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        let reads_entries = scan.options.covering && self.mode.strength == Strength::Shared;
        if scan.pending.as_slice().is_empty() {
            let candidates = match reads_entries {
                true => self.lock_entries(scan, rows_max)?,
                false => self.next_candidates(scan, rows_max)?,
            };
            let Some(candidates) = candidates else { return Ok(false) };
            scan.pending = candidates.into_iter();
        }
        let table = scan.table.clone();
        let index = table.index(scan.options.index)?;
        let notes_entries = reads_entries && !self.transaction.repeats_reads();
        let mut rows = Vec::new();
        while batch.has_room(rows_max, 0)
            && let Some(candidate) = scan.pending.next()
        {
            if let Some(stored) = candidate.row.as_ref().filter(|row| !row.is_empty()) {
                batch.push(index.clustered_key(&candidate.key)?, stored)?;
                if notes_entries {
                    batch.note_entry(candidate.key);
                }
                continue;
            }
            match self.take_candidate(scan, candidate, batch)? {
                Lockable::Row(key) => {
                    if notes_entries {
                        batch.note_entry(Vec::new());
                    }
                    rows.push(key);
                }
                Lockable::NoRow => {}
                Lockable::Later => break,
            }
        }
        if self.transaction.repeats_reads() && !rows.is_empty() {
            self.hold_entries(scan, index.id(), &rows)?;
        }
        Ok(true)
    }

    /// Locks the row of an entry and adds it to the batch.
    fn take_candidate(
        &self,
        scan: &mut Scan,
        candidate: Candidate,
        batch: &mut RowBatch,
    ) -> EngineResult<Lockable> {
        let (owner, repeats) = (self.transaction.owner(), self.transaction.repeats_reads());
        let waits = owner.wait_count();
        // Rows that may be given back go out before another is waited for.
        let policy = match self.policy {
            WaitPolicy::Wait if !batch.is_empty() && !repeats => WaitPolicy::NoWait,
            policy => policy,
        };
        let is_row = match self.lock_row_of(scan, &candidate.key, policy, batch) {
            Err(EngineError::LockNotAvailable) if self.policy == WaitPolicy::Wait => {
                let rest = std::mem::replace(&mut scan.pending, Vec::new().into_iter());
                scan.pending = std::iter::once(candidate).chain(rest).collect::<Vec<_>>().into_iter();
                return Ok(Lockable::Later);
            }
            locked => locked?,
        };
        if !is_row {
            scan.seen.has_others = true;
            self.look_again(scan, batch)?;
        }
        // Where gaps are open, others may have put entries in before those that were read.
        if !repeats && owner.wait_count() != waits {
            scan.go_on_behind(&candidate.key);
        }
        Ok(if is_row { Lockable::Row(candidate.key) } else { Lockable::NoRow })
    }

    /// Locks the row of an entry and adds it to the batch; false if there is none, or it is left out.
    fn lock_row_of(
        &self,
        scan: &Scan,
        entry_key: &[u8],
        policy: WaitPolicy,
        batch: &mut RowBatch,
    ) -> EngineResult<bool> {
        let table = &scan.table;
        let index = table.index(scan.options.index)?;
        let locks = &self.transaction.engine.system.locks;
        let skips = self.policy == WaitPolicy::SkipLocked && self.transaction.repeats_reads();
        if skips && locks.others_lock(self.transaction.owner(), index.id(), entry_key) {
            return Ok(false);
        }
        let clustered_key = index.clustered_key(entry_key)?;
        let mut row = None;
        let owned = self.transaction.owner().lock_mark();
        self.transaction
            .get_locked(table, clustered_key, self.mode, policy, &mut |found| row = Some(found.to_owned()))?;
        let Some(row) = row else { return Ok(false) };
        let source = self.transaction.engine.values.key_source(table, row.as_stored(), &index.columns)?;
        if !entry_key_matches(table, index, &source, entry_key, clustered_key)? {
            // A row that moved away in this index: locked for nothing.
            locks.unlock(self.transaction.owner(), table.clustered().id(), clustered_key, owned);
            return Ok(false);
        }
        let columns = if scan.options.covering { &index.columns } else { &scan.options.columns };
        let mut whole = Vec::new();
        let row = match bytes_to_fetch(&row.as_stored(), table, columns)? {
            None => &row.bytes,
            Some(_) => {
                let wanted = Wanted::whole(columns);
                self.transaction.engine.values.fetch(table, row.as_stored(), wanted, &mut whole)??;
                &whole
            }
        };
        push_row(batch, table, index, scan.options.covering, clustered_key, row)?;
        Ok(true)
    }

    /// Locks the entries of rows that are locked, so that nobody writes them meanwhile: by the range that was seen, if each entry there
    /// is one of them.
    fn hold_entries(&self, scan: &Scan, index: IndexId, keys: &[Vec<u8>]) -> EngineResult<()> {
        let (owner, locks) = (self.transaction.owner(), &self.transaction.engine.system.locks);
        let hold = Hold::from(self.mode.strength);
        let is_whole = scan.pending.as_slice().is_empty() && !scan.seen.has_others;
        let range = scan.seen.gap.as_ref().filter(|_| is_whole);
        let by_range =
            range.is_some_and(|gap| locks.lock_range(owner, index, (&gap.from, gap.to.as_deref()), hold, 0));
        let is_held = |key: &Vec<u8>| {
            (by_range || self.transaction.lock_key_by_range(index, key, hold, 0))
                && locks.confirm_row(owner, index, key, self.mode)
        };
        // All are confirmed before one is waited for: a wait may fail, and what is not confirmed must not stay in the range.
        let late: Vec<&Vec<u8>> = keys.iter().filter(|key| !is_held(key)).collect();
        for key in late {
            if self.transaction.request_lock(index, key, self.mode, None, self.policy)?
                == Some(Conflict::Wait)
            {
                self.transaction.wait_for_lock()?;
            }
        }
        Ok(())
    }

    /// Locks the next entries of a secondary index, with what they have of their rows.
    pub(super) fn lock_entries(
        &self,
        scan: &mut Scan,
        rows_max: usize,
    ) -> EngineResult<Option<Vec<Candidate>>> {
        let table = scan.table.clone();
        let index = table.index(scan.options.index)?;
        let ask = LeafAsk {
            transaction: self.transaction,
            index,
            kind: EntryKind::Secondary,
            range: &scan.options.range,
            is_single: index.has_one_row(&scan.options.range),
            direction: scan.options.direction,
            mode: self.mode,
            policy: self.policy,
            rows_max,
        };
        let (mut entries, mut awaited) = (Vec::new(), scan.awaited.take());
        let result = scan.cursor.next_leaf(&index.tree, &self.transaction.engine.pool, |leaf| {
            match ask.lock(leaf, &mut Taker::Entries(&mut entries), &mut awaited) {
                Ok(found) => (found.taken, found.awaits),
                Err(error) => (Taken::First(0), Err(error)),
            }
        })?;
        let Some(awaits) = result else { return Ok(None) };
        scan.awaited = awaited;
        match awaits? {
            Some(key) if entries.is_empty() => {
                let begins_again = index.has_one_row(&scan.options.range);
                scan.awaited = Some(key);
                self.transaction.wait_for_lock()?;
                // The gap beside an awaited row was left open, and the row may be gone.
                if begins_again {
                    scan.awaited = None;
                    scan.restart();
                }
            }
            // What is locked goes out first, and what it takes may wait too: asked again by the next call.
            Some(_) => self.transaction.engine.system.locks.abandon(self.transaction.owner()),
            None => {}
        }
        Ok(Some(entries))
    }

    /// An entry that was found, so that the gap beside it was left open, has no row: it is looked for once more.
    fn look_again(&self, scan: &mut Scan, batch: &RowBatch) -> EngineResult<()> {
        let index = scan.table.index(scan.options.index)?;
        let is_open = batch.is_empty() && !scan.was_mistaken;
        if is_open && self.transaction.repeats_reads() && index.has_one_row(&scan.options.range) {
            scan.was_mistaken = true;
            scan.restart();
        }
        Ok(())
    }

    /// Copies keys out of the next secondary leaf, and keeps the gaps before them closed.
    pub(super) fn next_candidates(
        &self,
        scan: &mut Scan,
        rows_max: usize,
    ) -> EngineResult<Option<Vec<Candidate>>> {
        let table = scan.table.clone();
        let index = table.index(scan.options.index)?;
        let (range, direction) = (scan.options.range.clone(), scan.options.direction);
        let has_one_row = index.has_one_row(&range) && !scan.was_mistaken;
        let mut seen = SeenEntries::default();
        let check = &|writer| self.transaction.check_seen_by_strict_snapshot(writer);
        let close = &mut |leaf: &LeafView<'_>, taken: Taken, found: usize| {
            if !(has_one_row && found > 0) {
                let gap = || Gap::seen(&range, direction, leaf, taken);
                seen.gap = self.transaction.close_gap(index, gap)?;
            }
            Ok(())
        };
        let candidates =
            self.transaction.engine.reads.newest_candidates(scan, index, rows_max, check, close)?;
        scan.seen = seen;
        Ok(candidates)
    }
}
