//! Running a scan: leaf by leaf, with visibility or locks applied. See [`crate::scan`] for the interface.
//! Clustered scans read rows in the leaf. Secondary scans decide locally where the entry's writer is visible and ask the clustered
//! index about the others, after the leaf's latch is given back.

use crate::engine::EngineInner;
use crate::entry::EntryKind;
use crate::error::{EngineError, EngineResult};
use crate::filling::Filling;
use crate::lob::Wanted;
use crate::locking::Conflict;
use crate::read::{parse_entry, parse_head};
use crate::scan::{Candidate, Direction, KeyRange, ReadMode, RowBatch, Scan, ScanOptions, WaitPolicy};
use crate::table::{Index, Table};
use crate::transaction::{Reader, Transaction, View};
use btree::{Cursor, CursorRange, LeafSums, LeafView, Taken};
use metrics::Counter;
use std::sync::Arc;
use txn::locks::LockMode;
use values::row::ColumnSet;

/// Bytes of entries that are copied out of a secondary leaf at once.
const CANDIDATE_BYTES_MAX: usize = 256 << 10;

/// What was counted of a leaf.
struct LeafCount {
    taken: Taken,
    /// Entries that are seen.
    rows: u64,
    /// Keys of secondary entries that only the clustered row can decide.
    undecided: Vec<Vec<u8>>,
}

/// Why a locking scan stopped in a leaf.
enum Stop {
    /// The leaf is taken as far as the batch has room.
    No,
    /// The next row is locked by another transaction; the request is queued.
    Wait,
}

impl Transaction {
    /// Starts a scan.
    pub fn scan(&self, table: &Arc<Table>, options: ScanOptions) -> EngineResult<Scan> {
        table.check_usable()?;
        self.check_may_lock(options.mode)?;
        self.check_snapshot_reads(table.index(options.index)?)?;
        let range = CursorRange { lower: options.range.lower.clone(), upper: options.range.upper.clone() };
        let cursor = Cursor::new(range, tree_direction(options.direction));
        Ok(Scan { table: table.clone(), options, cursor, pending: Vec::new().into_iter(), awaited: None })
    }

    pub(crate) fn scan_next(
        &self,
        scan: &mut Scan,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        batch.clear();
        scan.table.check_usable()?;
        let more = match lock_of(scan.options.mode) {
            None => {
                let view = self.view()?;
                let kill = || self.check_kill();
                self.engine.scan_visible(view, scan, batch, rows_max.max(1), &kill)?
            }
            Some((mode, policy)) => {
                self.check_alive()?;
                self.scan_locked(scan, mode, policy, batch, rows_max.max(1))?
            }
        };
        Counter::RowsRead.add(batch.len() as u64);
        Ok(more)
    }

    fn scan_locked(
        &self,
        scan: &mut Scan,
        mode: LockMode,
        policy: WaitPolicy,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        while batch.is_empty() {
            self.check_kill()?;
            let going = if scan.options.index == 0 {
                self.lock_clustered_leaf(scan, mode, policy, batch, rows_max)?
            } else {
                self.lock_secondary_leaf(scan, mode, policy, batch, rows_max)?
            };
            if !going {
                break;
            }
        }
        Ok(!batch.is_empty())
    }

    fn lock_clustered_leaf(
        &self,
        scan: &mut Scan,
        mode: LockMode,
        policy: WaitPolicy,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        let table = scan.table.clone();
        let clustered = table.clustered();
        let mut key = Vec::new();
        let direction = scan.options.direction;
        let mut awaited = scan.awaited.take();
        let mut filling = Filling::new(&table, &scan.options.columns);
        let result = scan.cursor.next_leaf(&clustered.tree, &self.engine.pool, |leaf| {
            let mut taken = 0;
            let mut run = || {
                // A lock takes longer than a look: a writer that waits for the leaf comes before the next.
                while taken < leaf.len()
                    && filling.has_room(batch, rows_max)
                    && (taken == 0 || !leaf.is_wanted())
                {
                    key.clear();
                    leaf.key_into(taken, &mut key)?;
                    if Scan::is_before_awaited(&mut awaited, direction, &key) {
                        taken += 1;
                        continue;
                    }
                    let (_, value) = leaf.entry(taken)?;
                    let entry = parse_entry(EntryKind::Clustered, value)?;
                    match self.lock_for_read(clustered, &key, entry, mode, policy)? {
                        Conflict::Wait => return Ok(Stop::Wait),
                        Conflict::None if !entry.deleted => {
                            filling.push(batch, entry.stored_row(), |out| {
                                out.extend_from_slice(&key);
                                Ok(())
                            })?;
                        }
                        Conflict::None | Conflict::Skip => {}
                    }
                    taken += 1;
                }
                Ok::<Stop, EngineError>(Stop::No)
            };
            let stop = run();
            (Taken::First(taken), stop)
        })?;
        match result {
            None => Ok(false),
            Some(stop) => {
                filling.complete(&self.engine, None, batch)?;
                // Rows that are locked already go out first; the wait is met again by the next call.
                scan.awaited = awaited;
                if matches!(stop?, Stop::Wait) {
                    scan.awaited = self.goes_on_at_awaited().then_some(key);
                    self.wait_for_lock()?;
                }
                Ok(true)
            }
        }
    }

    /// Locks the rows behind the entries of a secondary leaf. A row whose newest state has another key is left out.
    fn lock_secondary_leaf(
        &self,
        scan: &mut Scan,
        mode: LockMode,
        policy: WaitPolicy,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        let table = scan.table.clone();
        let index = table.index(scan.options.index)?;
        if scan.pending.as_slice().is_empty() {
            let candidates = self.engine.newest_candidates(scan, index, rows_max)?;
            let Some(candidates) = candidates else { return Ok(false) };
            scan.pending = candidates.into_iter();
        }
        while batch.has_room(rows_max, 0)
            && let Some(candidate) = scan.pending.next()
        {
            let clustered_key = index.clustered_key(&candidate.key)?;
            let mut row = None;
            let owned = self.owner().lock_mark();
            self.get_locked(&table, clustered_key, mode, policy, &mut |found| row = Some(found.to_owned()))?;
            let Some(row) = row else { continue };
            let source = self.engine.key_source(&table, row.as_stored(), &index.columns)?;
            if entry_key_matches(&table, index, &source, &candidate.key, clustered_key)? {
                let columns = if scan.options.covering { &index.columns } else { &scan.options.columns };
                let mut whole = Vec::new();
                let row = match row.as_stored().bytes_to_fetch(&table, columns)? {
                    None => &row.bytes,
                    Some(_) => {
                        self.engine.fetch(&table, row.as_stored(), Wanted::whole(columns), &mut whole)??;
                        &whole
                    }
                };
                push_row(batch, &table, index, scan.options.covering, clustered_key, row)?;
            } else {
                // A row that moved away in this index: locked for nothing.
                self.engine.locks.unlock(&self.owner(), table.clustered().id(), clustered_key, owned);
            }
        }
        Ok(true)
    }

    /// Reads one row through a unique secondary key.
    pub(crate) fn get_by_secondary(
        &self,
        table: &Arc<Table>,
        index: usize,
        key: &[u8],
        mode: ReadMode,
        wanted: &ColumnSet,
        found: &mut dyn FnMut(&[u8]),
    ) -> EngineResult<bool> {
        let (range, columns) = (KeyRange::prefix(key), wanted.clone());
        let options = ScanOptions { index, range, mode, columns, ..ScanOptions::default() };
        let mut scan = self.scan(table, options)?;
        let mut batch = RowBatch::new();
        if !self.scan_next(&mut scan, &mut batch, 1)? {
            return Ok(false);
        }
        found(batch.row(0));
        Ok(true)
    }

    /// Counts the rows of a range that the transaction's snapshot sees, without decoding them: whole leaves that everyone
    /// sees are counted by their header.
    pub fn count(&self, table: &Arc<Table>, index: usize, range: &KeyRange) -> EngineResult<u64> {
        self.reader()?.count(table, index, range, &|| self.check_kill())
    }
}

impl Reader {
    /// As [`Transaction::scan`], for consistent reads from any thread: the mode of the options is ignored.
    pub fn scan(&self, table: &Arc<Table>, options: ScanOptions) -> EngineResult<Scan> {
        table.check_usable()?;
        self.view.check_readable(table.index(options.index)?)?;
        let range = CursorRange { lower: options.range.lower.clone(), upper: options.range.upper.clone() };
        let cursor = Cursor::new(range, tree_direction(options.direction));
        Ok(Scan { table: table.clone(), options, cursor, pending: Vec::new().into_iter(), awaited: None })
    }

    /// As [`Scan::next_batch`]. `check` is asked between leaves and may end the scan (kill).
    pub fn next_batch(
        &self,
        scan: &mut Scan,
        batch: &mut RowBatch,
        rows_max: usize,
        check: &dyn Fn() -> EngineResult<()>,
    ) -> EngineResult<bool> {
        batch.clear();
        let more = self.engine.scan_visible(self.view, scan, batch, rows_max.max(1), check)?;
        Counter::RowsRead.add(batch.len() as u64);
        Ok(more)
    }

    /// As [`Transaction::get`] by clustered key.
    pub fn get(&self, table: &Arc<Table>, key: &[u8], found: &mut dyn FnMut(&[u8])) -> EngineResult<bool> {
        table.check_usable()?;
        self.view.check_readable(table.clustered())?;
        let wanted = Wanted::whole(&ColumnSet::All);
        Ok(self.engine.get_visible(self.view, table, key, wanted, found)?.is_some())
    }

    /// As [`Transaction::count`].
    pub fn count(
        &self,
        table: &Arc<Table>,
        index: usize,
        range: &KeyRange,
        check: &dyn Fn() -> EngineResult<()>,
    ) -> EngineResult<u64> {
        let options = ScanOptions { index, range: range.clone(), covering: true, ..ScanOptions::default() };
        let mut scan = self.scan(table, options)?;
        let rows = self.engine.count_visible(self.view, &mut scan, check)?;
        Counter::RowsRead.add(rows);
        Ok(rows)
    }
}

impl EngineInner {
    /// Fills a batch with what a view sees. False at the end of the range.
    fn scan_visible(
        &self,
        view: View,
        scan: &mut Scan,
        batch: &mut RowBatch,
        rows_max: usize,
        check: &dyn Fn() -> EngineResult<()>,
    ) -> EngineResult<bool> {
        while batch.is_empty() {
            check()?;
            let going = if scan.options.index == 0 {
                self.clustered_leaf(view, scan, batch, rows_max)?
            } else {
                self.secondary_leaf(view, scan, batch, rows_max)?
            };
            if !going {
                break;
            }
        }
        Ok(!batch.is_empty())
    }

    fn clustered_leaf(
        &self,
        view: View,
        scan: &mut Scan,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        let table = scan.table.clone();
        let clustered = table.clustered();
        let mut filling = Filling::new(&table, &scan.options.columns);
        let result = scan.cursor.next_leaf(&clustered.tree, &self.pool, |leaf| {
            let mut taken = 0;
            let mut run = || {
                let all_visible = self.leaf_is_visible(leaf);
                while taken < leaf.len() && filling.has_room(batch, rows_max) {
                    let (_, value) = leaf.entry(taken)?;
                    if all_visible {
                        let entry = parse_entry(EntryKind::Clustered, value)?;
                        if entry.deleted {
                            self.note_tombstone(leaf, taken, clustered, entry.writer)?;
                        } else {
                            filling.push(batch, entry.stored_row(), |key| leaf.key_into(taken, key))?;
                        }
                    } else {
                        let key = || {
                            let mut key = Vec::new();
                            leaf.key_into(taken, &mut key)?;
                            Ok(key)
                        };
                        if let Some(row) = self.visible_row(view, clustered.id(), key, value)?.row() {
                            filling.push(batch, row, |key| leaf.key_into(taken, key))?;
                        }
                        // Old rows take long, so a writer that waits for the leaf comes before the next.
                        if leaf.is_wanted() {
                            taken += 1;
                            break;
                        }
                    }
                    taken += 1;
                }
                Ok::<(), EngineError>(())
            };
            let done = run();
            (Taken::First(taken), done)
        })?;
        let found = result.transpose()?.is_some();
        filling.complete(self, Some(view), batch)?;
        Ok(found)
    }

    /// Whether every snapshot sees all that was ever written to a leaf.
    pub(crate) fn leaf_is_visible(&self, leaf: &LeafView<'_>) -> bool {
        leaf.newest_writer() < self.commits.watermark().0
    }

    /// A delete mark that everyone sees and that purge does not know of (it is older than this run): noted for purge.
    pub(crate) fn note_tombstone(
        &self,
        leaf: &LeafView<'_>,
        at: usize,
        index: &Index,
        writer: stdx::ids::TransactionId,
    ) -> EngineResult<()> {
        if writer < self.first_id {
            let mut key = Vec::new();
            leaf.key_into(at, &mut key)?;
            self.purge.add_stray(index.id(), &key, writer);
        }
        Ok(())
    }

    fn secondary_leaf(
        &self,
        view: View,
        scan: &mut Scan,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<bool> {
        let table = scan.table.clone();
        let index = table.index(scan.options.index)?;
        let covering = scan.options.covering;
        if scan.pending.as_slice().is_empty() {
            if covering && let Some(going) = self.copy_visible_leaf(scan, index, batch, rows_max)? {
                return Ok(going);
            }
            let Some(candidates) = self.visible_candidates(view, scan, index, rows_max, covering)? else {
                return Ok(false);
            };
            scan.pending = candidates.into_iter();
        }
        let mut row = Vec::new();
        while batch.has_room(rows_max, 0)
            && let Some(candidate) = scan.pending.next()
        {
            let clustered_key = index.clustered_key(&candidate.key)?;
            // Without a row in the entry the clustered index is asked.
            if let (true, Some(stored)) = (covering, candidate.row.as_ref().filter(|row| !row.is_empty())) {
                batch.push(clustered_key, stored)?;
                continue;
            }
            let columns = if covering { &index.columns } else { &scan.options.columns };
            let decided = candidate.row.is_some();
            if self.row_of_entry(view, &table, index, &candidate.key, decided, columns, &mut row)? {
                push_row(batch, &table, index, covering, clustered_key, &row)?;
            }
        }
        Ok(true)
    }

    /// Reads the row of a secondary entry into `row`. False if the view does not see one, or, where the entry has not decided it, if
    /// the row has another key in the index.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn row_of_entry(
        &self,
        view: View,
        table: &Table,
        index: &Index,
        entry_key: &[u8],
        decided: bool,
        columns: &ColumnSet,
        row: &mut Vec<u8>,
    ) -> EngineResult<bool> {
        let clustered_key = index.clustered_key(entry_key)?;
        if !decided {
            row.clear();
            let wanted = Wanted::for_keys(&index.columns);
            let form = self
                .get_visible(view, table, clustered_key, wanted, &mut |bytes| row.extend_from_slice(bytes))?;
            match form {
                Some(_) if !entry_key_matches(table, index, row, entry_key, clustered_key)? => {
                    return Ok(false);
                }
                Some(form) if form.is_whole() => return Ok(true),
                Some(_) => {}
                None => return Ok(false),
            }
        }
        row.clear();
        let wanted = Wanted::whole(columns);
        let form =
            self.get_visible(view, table, clustered_key, wanted, &mut |bytes| row.extend_from_slice(bytes))?;
        Ok(form.is_some())
    }

    /// Copies the rows out of the next secondary leaf if every snapshot sees all of it. None if it is another leaf: the scan
    /// has not moved then. Some(false) at the end of the range.
    fn copy_visible_leaf(
        &self,
        scan: &mut Scan,
        index: &Index,
        batch: &mut RowBatch,
        rows_max: usize,
    ) -> EngineResult<Option<bool>> {
        let mut key = Vec::new();
        let result = scan.cursor.next_leaf(&index.tree, &self.pool, |leaf| {
            if !self.leaf_is_visible(leaf) {
                return (Taken::First(0), Ok::<bool, EngineError>(false));
            }
            let mut taken = 0;
            let mut run = || {
                while taken < leaf.len() && batch.has_room(rows_max, 0) {
                    let (_, value) = leaf.entry(taken)?;
                    let entry = parse_entry(EntryKind::Secondary, value)?;
                    if entry.deleted {
                        self.note_tombstone(leaf, taken, index, entry.writer)?;
                    } else if entry.row.is_empty() {
                        return Ok(taken > 0);
                    } else {
                        key.clear();
                        leaf.key_into(taken, &mut key)?;
                        let clustered_key = index.clustered_key(&key)?;
                        batch.push(clustered_key, entry.row)?;
                    }
                    taken += 1;
                }
                Ok(true)
            };
            let done = run();
            (Taken::First(taken), done)
        })?;
        match result {
            None => Ok(Some(false)),
            Some(done) => Ok(done?.then_some(true)),
        }
    }

    /// Copies entries out of the next secondary leaf: those that the view sees, and those that only the clustered row can decide.
    fn visible_candidates(
        &self,
        view: View,
        scan: &mut Scan,
        index: &Index,
        rows_max: usize,
        with_rows: bool,
    ) -> EngineResult<Option<Vec<Candidate>>> {
        let result = scan.cursor.next_leaf(&index.tree, &self.pool, |leaf| {
            let mut candidates = Vec::with_capacity(leaf.len().min(rows_max));
            let (mut taken, mut row_bytes) = (0, 0);
            let mut run = || {
                let all_visible = self.leaf_is_visible(leaf);
                while taken < leaf.len() && candidates.len() < rows_max && row_bytes < CANDIDATE_BYTES_MAX {
                    let (_, value) = leaf.entry(taken)?;
                    let entry = parse_entry(EntryKind::Secondary, value)?;
                    let seen = all_visible || self.sees(view, entry.writer);
                    if seen && entry.deleted {
                        self.note_tombstone(leaf, taken, index, entry.writer)?;
                    } else {
                        let mut key = Vec::new();
                        leaf.key_into(taken, &mut key)?;
                        let row = match (seen, with_rows) {
                            (false, _) => None,
                            (true, false) => Some(Vec::new()),
                            (true, true) => Some(entry.row.to_vec()),
                        };
                        row_bytes += row.as_ref().map_or(0, Vec::len);
                        candidates.push(Candidate { key, row });
                    }
                    taken += 1;
                }
                Ok(())
            };
            let done = run();
            (Taken::First(taken), done.map(|()| candidates))
        })?;
        result.transpose()
    }

    /// Copies the keys of entries of the next secondary leaf that may be rows now: not those with a committed delete mark.
    fn newest_candidates(
        &self,
        scan: &mut Scan,
        index: &Index,
        rows_max: usize,
    ) -> EngineResult<Option<Vec<Candidate>>> {
        let result = scan.cursor.next_leaf(&index.tree, &self.pool, |leaf| {
            let mut candidates = Vec::new();
            let mut taken = 0;
            let mut run = || {
                while taken < leaf.len() && candidates.len() < rows_max {
                    let (_, value) = leaf.entry(taken)?;
                    let entry = parse_head(value)?;
                    let active = self.commits.state(entry.writer) == txn::TransactionState::Active;
                    if active || !entry.deleted {
                        let mut key = Vec::new();
                        leaf.key_into(taken, &mut key)?;
                        candidates.push(Candidate { key, row: None });
                    }
                    taken += 1;
                }
                Ok(())
            };
            let done = run();
            (Taken::First(taken), done.map(|()| candidates))
        })?;
        result.transpose()
    }

    fn count_visible(
        &self,
        view: View,
        scan: &mut Scan,
        check: &dyn Fn() -> EngineResult<()>,
    ) -> EngineResult<u64> {
        if scan.options.range != KeyRange::all() || self.is_forced() {
            return self.count_entries(view, scan, check);
        }
        let tree = scan.table.index(scan.options.index)?.tree.clone();
        let watermark = self.commits.watermark().0;
        let (mut sums, mut rest, mut count) = (LeafSums::new(), Vec::new(), 0u64);
        while let Some(sum) = sums.step(&tree, &self.pool, |writer| writer < watermark, &mut rest)? {
            count += sum;
            check()?;
        }
        for range in rest {
            scan.cursor = Cursor::new(range, btree::Direction::Forward);
            count += self.count_entries(view, scan, check)?;
        }
        Ok(count)
    }

    /// Counts what is left of a scan leaf by leaf.
    fn count_entries(
        &self,
        view: View,
        scan: &mut Scan,
        check: &dyn Fn() -> EngineResult<()>,
    ) -> EngineResult<u64> {
        let table = scan.table.clone();
        let index = table.index(scan.options.index)?;
        let clustered = scan.options.index == 0;
        let (mut count, mut row) = (0u64, Vec::new());
        loop {
            check()?;
            let result = scan.cursor.next_leaf(&index.tree, &self.pool, |leaf| {
                let counted = self.count_leaf(view, index, clustered, leaf);
                (counted.as_ref().map_or(Taken::All, |counted| counted.taken), counted)
            })?;
            let Some(result) = result else { return Ok(count) };
            let LeafCount { rows, undecided, .. } = result?;
            count += rows;
            for key in &undecided {
                let none = ColumnSet::none();
                let is_there = self.row_of_entry(view, &table, index, key, false, &none, &mut row)?;
                count += u64::from(is_there);
            }
        }
    }

    /// Counts what a view sees of a leaf, or of its first entries if a writer waits for it.
    fn count_leaf(
        &self,
        view: View,
        index: &Index,
        clustered: bool,
        leaf: &LeafView<'_>,
    ) -> EngineResult<LeafCount> {
        let mut counted = LeafCount { taken: Taken::All, rows: 0, undecided: Vec::new() };
        if leaf.is_whole() && self.leaf_is_visible(leaf) {
            counted.rows = u64::from(leaf.live_rows());
            return Ok(counted);
        }
        for at in 0..leaf.len() {
            let (_, value) = leaf.entry(at)?;
            let entry = parse_head(value)?;
            if self.sees(view, entry.writer) {
                counted.rows += u64::from(!entry.deleted);
                continue;
            }
            let mut key = Vec::new();
            leaf.key_into(at, &mut key)?;
            if clustered {
                let seen = self.visible_row(view, index.id(), || Ok(key), value)?;
                counted.rows += u64::from(seen.row().is_some());
                if leaf.is_wanted() {
                    counted.taken = Taken::First(at + 1);
                    break;
                }
            } else {
                counted.undecided.push(key);
            }
        }
        Ok(counted)
    }
}

fn lock_of(mode: ReadMode) -> Option<(LockMode, WaitPolicy)> {
    match mode {
        ReadMode::Consistent => None,
        ReadMode::Shared(policy) => Some((LockMode::SHARED_RECORD, policy)),
        ReadMode::Exclusive(policy) => Some((LockMode::EXCLUSIVE_RECORD, policy)),
    }
}

fn tree_direction(direction: Direction) -> btree::Direction {
    match direction {
        Direction::Forward => btree::Direction::Forward,
        Direction::Backward => btree::Direction::Backward,
    }
}

/// Adds a row of the table in the layout that the scan returns.
fn push_row(
    batch: &mut RowBatch,
    table: &Table,
    index: &Index,
    covering: bool,
    clustered_key: &[u8],
    row: &[u8],
) -> EngineResult<()> {
    if !covering {
        return batch.push(clustered_key, row);
    }
    let mut stored = Vec::new();
    index.stored_row(&table.view(row)?, &mut stored)?;
    batch.push(clustered_key, &stored)
}

/// Whether a row has that entry in that index.
pub(crate) fn entry_key_matches(
    table: &Table,
    index: &Index,
    row: &[u8],
    entry_key: &[u8],
    clustered_key: &[u8],
) -> EngineResult<bool> {
    let mut own = Vec::with_capacity(entry_key.len());
    index.own_key(&table.view(row)?, &mut own)?;
    Ok(entry_key.len() == own.len() + clustered_key.len() && entry_key.starts_with(&own))
}
