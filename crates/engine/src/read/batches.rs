//! Running a consistent scan: leaf by leaf, with visibility applied. See [`crate::read::Scan`] for the interface.
//! Clustered scans read rows in the leaf. Secondary scans decide locally where the entry's writer is visible and ask the clustered
//! index about the others, after the leaf's latch is given back.

use super::filling::Filling;
use super::{Candidate, ConsistentReads, RowBatch, Scan, View};
use crate::lob::Wanted;
use btree::{LeafView, Taken};
use engine_error::{EngineError, EngineResult};
use entry::{EntryKind, parse_entry, parse_head};
use stdx::ids::TransactionId;
use tables::{Index, Table};
use values::row::ColumnSet;

/// Bytes of entries that are copied out of a secondary leaf at once.
const CANDIDATE_BYTES_MAX: usize = 256 << 10;

impl ConsistentReads {
    /// Fills a batch with what a view sees. False at the end of the range.
    pub(crate) fn scan_visible(
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

    /// Copies the keys of entries of the next secondary leaf that may be rows now: not those with a committed delete mark. `close` is told,
    /// under the leaf's latch, which entries were looked at, and how many of them are such; `check`, who has taken away what is left out.
    pub(crate) fn newest_candidates(
        &self,
        scan: &mut Scan,
        index: &Index,
        rows_max: usize,
        check: &dyn Fn(TransactionId) -> EngineResult<()>,
        close: &mut dyn FnMut(&LeafView<'_>, Taken, usize) -> EngineResult<()>,
    ) -> EngineResult<Option<Vec<Candidate>>> {
        let result = scan.cursor.next_leaf(&index.tree, &self.pool, |leaf| {
            let mut candidates = Vec::new();
            let mut taken = 0;
            let mut run = || {
                while taken < leaf.len() && candidates.len() < rows_max {
                    let (_, value) = leaf.entry(taken)?;
                    let entry = parse_head(value)?;
                    let active = self.system.commits.state(entry.writer) == txn::TransactionState::Active;
                    if active || !entry.deleted {
                        let mut key = Vec::new();
                        leaf.key_into(taken, &mut key)?;
                        candidates.push(Candidate { key, row: None });
                    } else {
                        check(entry.writer)?;
                    }
                    taken += 1;
                }
                Ok(())
            };
            let done = run();
            let is_all = taken == leaf.len() && candidates.len() < rows_max;
            let taken = if is_all { Taken::All } else { Taken::First(taken) };
            let closed = close(leaf, taken, candidates.len());
            (taken, done.and(closed).map(|()| candidates))
        })?;
        result.transpose()
    }
}

/// Adds a row of the table in the layout that the scan returns.
pub(crate) fn push_row(
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
    let Some(own_bytes) = entry_key.len().checked_sub(clustered_key.len()) else { return Ok(false) };
    index.yields(&table.view(row)?, &entry_key[..own_bytes])
}
