//! Locking what a scan takes from a leaf: rows of a clustered one, entries of a secondary one. Main type: [`LeafAsk`].
//! Above READ COMMITTED the rows are locked by one range, however many they are, where nobody else has to do with them; otherwise and
//! at READ COMMITTED, which gives rows back, row by row. See rules L8 and L10 in txn's README.

use super::{Conflict, Transaction};
use crate::read::{Candidate, Direction, Filling, Gap, KeyRange, RowBatch, Scan, WaitPolicy};
use btree::{LeafView, Taken};
use engine_error::{EngineError, EngineResult};
use entry::{Entry, EntryKind, parse_entry};
use tables::Index;
use txn::locks::{Hold, LockMode};

/// What a scan wants of the leaves of an index.
pub(super) struct LeafAsk<'a> {
    pub(super) transaction: &'a Transaction,
    pub(super) index: &'a Index,
    pub(super) kind: EntryKind,
    pub(super) range: &'a KeyRange,
    /// The range has one row at most: where it is found no gap is closed.
    pub(super) is_single: bool,
    pub(super) direction: Direction,
    pub(super) mode: LockMode,
    pub(super) policy: WaitPolicy,
    pub(super) rows_max: usize,
}

/// Where what is taken of a leaf goes.
pub(super) enum Taker<'a, 'f> {
    /// Rows of a clustered leaf.
    Rows(&'a mut Filling<'f>, &'a mut RowBatch),
    /// Entries of a secondary leaf, with their rows.
    Entries(&'a mut Vec<Candidate>),
}

impl Taker<'_, '_> {
    fn has_room(&self, rows_max: usize) -> bool {
        match self {
            Taker::Rows(filling, batch) => filling.has_room(batch, rows_max),
            Taker::Entries(entries) => entries.len() < rows_max,
        }
    }

    fn len(&self) -> usize {
        match self {
            Taker::Rows(_, batch) => batch.len(),
            Taker::Entries(entries) => entries.len(),
        }
    }

    fn take(&mut self, key: &[u8], entry: Entry<'_>) -> EngineResult<()> {
        match self {
            Taker::Rows(filling, batch) => filling.push(batch, entry.stored_row(), |out| {
                out.extend_from_slice(key);
                Ok(())
            }),
            Taker::Entries(entries) => {
                entries.push(Candidate { key: key.to_vec(), row: Some(entry.row.to_vec()) });
                Ok(())
            }
        }
    }

    fn truncate(&mut self, rows: usize) {
        match self {
            Taker::Rows(filling, batch) => filling.truncate(batch, rows),
            Taker::Entries(entries) => entries.truncate(rows),
        }
    }
}

/// What was taken of a leaf.
pub(super) struct LeafTaken {
    /// Entries that are done with.
    pub(super) taken: Taken,
    /// The key of the next row, if another transaction has locked it; the request is queued. Errors: lock errors, at the next row.
    pub(super) awaits: EngineResult<Option<Vec<u8>>>,
    /// The key of the last row, if another transaction has locked it and it is to be shown as it was last committed.
    pub(super) passed_over: Option<Vec<u8>>,
}

/// Entries of a leaf one after the other, as far as they went.
#[derive(Default)]
struct Walk {
    taken: usize,
    awaits: Option<Vec<u8>>,
    passed_over: Option<Vec<u8>>,
    /// Rows that nobody else has to do with and that no lock was asked for, each with the length of the batch before it.
    unasked: Vec<(usize, usize)>,
    /// A row was found, locked by another or not.
    has_found: bool,
    /// A row was left out because it is locked, or somebody asks for the key of a delete mark: no range may have that.
    is_pierced: bool,
    /// What ended it.
    failed: Option<EngineError>,
}

/// How a walk locks rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// By one range, afterwards, but for those that others have to do with.
    ByRange,
    RowByRow,
}

impl LeafAsk<'_> {
    /// Locks the next rows of a leaf, and adds them to a batch as far as it has room.
    pub(super) fn lock(
        &self,
        leaf: &LeafView<'_>,
        taker: &mut Taker<'_, '_>,
        awaited: &mut Option<Vec<u8>>,
    ) -> EngineResult<LeafTaken> {
        if self.transaction.repeats_reads() {
            let (rows, reached) = (taker.len(), awaited.clone());
            let mut walk = self.walk(leaf, Manner::ByRange, taker, awaited);
            let has_room = taker.has_room(self.rows_max);
            if !walk.is_pierced && self.lock_range(leaf, &mut walk, has_room)? {
                self.confirm(leaf, &mut walk, taker)?;
                return Ok(walk.end(leaf, taker.has_room(self.rows_max)));
            }
            taker.truncate(rows);
            *awaited = reached;
        }
        let walk = self.walk(leaf, Manner::RowByRow, taker, awaited);
        let has_room = taker.has_room(self.rows_max);
        if !(self.is_single && walk.has_found) {
            self.transaction.close_gap(self.index, || self.passed_gap(leaf, &walk, has_room))?;
        }
        Ok(walk.end(leaf, has_room))
    }

    fn walk(
        &self,
        leaf: &LeafView<'_>,
        manner: Manner,
        taker: &mut Taker<'_, '_>,
        awaited: &mut Option<Vec<u8>>,
    ) -> Walk {
        let mut walk = Walk::default();
        // Rows before one that cannot be had stay locked.
        walk.failed = self.go(&mut walk, leaf, manner, taker, awaited).err();
        walk
    }

    fn go(
        &self,
        walk: &mut Walk,
        leaf: &LeafView<'_>,
        manner: Manner,
        taker: &mut Taker<'_, '_>,
        awaited: &mut Option<Vec<u8>>,
    ) -> EngineResult<()> {
        let mut key = Vec::new();
        // A lock takes longer than a look: a writer that waits for the leaf comes before the next.
        while walk.taken < leaf.len()
            && taker.has_room(self.rows_max)
            && (walk.taken == 0 || !leaf.is_wanted())
        {
            key.clear();
            leaf.key_into(walk.taken, &mut key)?;
            if Scan::is_before_awaited(awaited, self.direction, &key) {
                walk.taken += 1;
                continue;
            }
            let entry = parse_entry(self.kind, leaf.entry(walk.taken)?.1)?;
            let is_free = manner == Manner::ByRange && self.is_free(&key, entry)?;
            let conflict = match is_free {
                // Who asks for a mark has the leaf for himself, so that none comes between.
                true if entry.deleted => Conflict::None,
                true => {
                    walk.unasked.push((walk.taken, taker.len()));
                    Conflict::None
                }
                false => self.transaction.lock_for_read(self.index, &key, entry, self.mode, self.policy)?,
            };
            walk.has_found |= !entry.deleted || conflict != Conflict::None;
            match conflict {
                Conflict::Wait => {
                    walk.awaits = Some(key);
                    break;
                }
                Conflict::None if !entry.deleted => taker.take(&key, entry)?,
                Conflict::None | Conflict::Skip if manner == Manner::ByRange && !is_free => {
                    walk.is_pierced = true;
                    break;
                }
                Conflict::Skip if self.policy == WaitPolicy::LastCommitted => {
                    walk.passed_over = Some(key);
                    walk.taken += 1;
                    break;
                }
                Conflict::None | Conflict::Skip => {}
            }
            walk.taken += 1;
        }
        Ok(())
    }

    /// Whether nobody else has written a row, and not ended, or asks for it.
    fn is_free(&self, key: &[u8], entry: Entry<'_>) -> EngineResult<bool> {
        let transaction = self.transaction;
        if Some(entry.writer) != transaction.id() {
            if transaction.engine.system.unfinished_writer(entry.writer)?.is_some() {
                return Ok(false);
            }
            transaction.note_seen(entry.writer);
            transaction.check_seen_by_strict_snapshot(entry.writer)?;
        }
        let index = self.index.id();
        Ok(!transaction.engine.system.locks.others_ask(transaction.owner(), index, key))
    }

    /// Closes the gaps that a walk has passed, and locks its rows. False if they are to be locked row by row.
    fn lock_range(&self, leaf: &LeafView<'_>, walk: &mut Walk, has_room: bool) -> EngineResult<bool> {
        let (index, owner) = (self.index.id(), self.transaction.owner());
        let locks = &self.transaction.engine.system.locks;
        if self.is_single && walk.has_found {
            return self.lock_single(leaf, walk);
        }
        let gap = self.passed_gap(leaf, walk, has_room)?;
        let (mut from, mut to) = (gap.from.clone(), gap.to.clone());
        if let Some(awaited) = &walk.awaits {
            match self.direction {
                Direction::Forward => to = Some(awaited.clone()),
                Direction::Backward => from = [awaited, &[0][..]].concat(),
            }
        }
        let rows = walk.unasked.len();
        let hold = if rows == 0 { Hold::Gap } else { Hold::from(self.mode.strength) };
        if walk.awaits.is_some() {
            locks.lock_range(owner, index, (&gap.from, gap.to.as_deref()), Hold::Gap, 0);
        }
        Ok(locks.lock_range(owner, index, (&from, to.as_deref()), hold, rows as u64))
    }

    /// Locks the only row of a range, and no gap.
    fn lock_single(&self, leaf: &LeafView<'_>, walk: &Walk) -> EngineResult<bool> {
        let mut key = Vec::new();
        let Some((at, _)) = walk.unasked.first() else { return Ok(true) };
        leaf.key_into(*at, &mut key)?;
        Ok(self.transaction.lock_key_by_range(self.index.id(), &key, Hold::from(self.mode.strength), 1))
    }

    /// The range that a walk has seen; the gap behind the last row is passed by who asks for another.
    fn passed_gap(&self, leaf: &LeafView<'_>, walk: &Walk, has_room: bool) -> EngineResult<Gap> {
        let passed = match walk.awaits {
            Some(_) => Taken::First(walk.taken + 1),
            None => walk.taken(leaf, has_room),
        };
        Gap::seen(self.range, self.direction, leaf, passed)
    }

    /// Looks whether another came before the range; there the walk ends, and goes on row by row.
    fn confirm(&self, leaf: &LeafView<'_>, walk: &mut Walk, taker: &mut Taker<'_, '_>) -> EngineResult<()> {
        let (index, owner) = (self.index.id(), self.transaction.owner());
        let locks = &self.transaction.engine.system.locks;
        let (mut key, mut first) = (Vec::new(), None);
        // To the last: a row that another came to before must not stay in the range, or it would be taken for locked when the walk goes on.
        for (at, rows) in &walk.unasked {
            key.clear();
            leaf.key_into(*at, &mut key)?;
            if !locks.confirm_row(owner, index, &key, self.mode) {
                first = first.or(Some((*at, *rows)));
            }
        }
        if let Some((at, rows)) = first {
            // What it may have queued for lies behind.
            locks.abandon(owner);
            taker.truncate(rows);
            (walk.taken, walk.awaits, walk.failed) = (at, None, None);
        }
        Ok(())
    }
}

impl Walk {
    fn taken(&self, leaf: &LeafView<'_>, has_room: bool) -> Taken {
        let is_all = self.taken == leaf.len() && has_room;
        if is_all { Taken::All } else { Taken::First(self.taken) }
    }

    fn end(self, leaf: &LeafView<'_>, has_room: bool) -> LeafTaken {
        let taken = self.taken(leaf, has_room);
        LeafTaken { taken, awaits: self.failed.map_or(Ok(self.awaits), Err), passed_over: self.passed_over }
    }
}
