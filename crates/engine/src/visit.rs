//! Consistent scans that show rows where they lie: [`Scan::visit_leaf`]. For aggregates and filters over many rows, which keep
//! little of each. Nothing is copied but rows that only an older version or the clustered index can tell.

use crate::engine::EngineInner;
use crate::entry::EntryKind;
use crate::error::EngineResult;
use crate::read::{Seen, load_row, parse_entry};
use crate::scan::{ReadMode, Scan};
use crate::scan_run::entry_key_matches;
use crate::table::{Index, Table};
use crate::transaction::{Transaction, View};
use btree::{LeafView, Taken, Value};
use metrics::Counter;

/// Gets one row after another, in the layout that the scan returns.
pub type VisitRow<'v> = dyn FnMut(&[u8]) + 'v;

impl Scan {
    /// Shows the visible rows of the next leaf to `visit`; false at the end of the range. Only for consistent reads, and of a
    /// secondary index only for covering ones. `visit` runs under the leaf's latch: it must neither block nor call
    /// the engine. Rows of one leaf of a secondary index may come out of order.
    /// Errors: as [`Scan::next_batch`].
    pub fn visit_leaf(&mut self, transaction: &Transaction, visit: &mut VisitRow<'_>) -> EngineResult<bool> {
        self.table.check_usable()?;
        transaction.check_kill()?;
        debug_assert!(self.options.mode == ReadMode::Consistent);
        debug_assert!(self.options.index == 0 || self.options.covering);
        let view = transaction.view()?;
        let engine = &transaction.engine;
        let mut rows = 0;
        let mut counted = |row: &[u8]| {
            rows += 1;
            visit(row);
        };
        let more = if self.options.index == 0 {
            engine.visit_clustered_leaf(view, self, &mut counted)?
        } else {
            engine.visit_secondary_leaf(view, self, &mut counted)?
        };
        Counter::RowsRead.add(rows);
        Ok(more)
    }
}

impl EngineInner {
    fn visit_clustered_leaf(
        &self,
        view: View,
        scan: &mut Scan,
        visit: &mut VisitRow<'_>,
    ) -> EngineResult<bool> {
        let table = scan.table.clone();
        let clustered = table.clustered();
        let result = scan.cursor.next_leaf(&clustered.tree, &self.pool, |leaf| {
            (Taken::All, self.visit_clustered(view, clustered, leaf, visit))
        })?;
        result.transpose().map(|found| found.is_some())
    }

    fn visit_clustered(
        &self,
        view: View,
        clustered: &Index,
        leaf: &LeafView<'_>,
        visit: &mut VisitRow<'_>,
    ) -> EngineResult<()> {
        let all_visible = self.leaf_is_visible(leaf);
        for at in 0..leaf.len() {
            let (_, value) = leaf.entry(at)?;
            if all_visible && let Value::Whole(_) = value {
                let entry = parse_entry(EntryKind::Clustered, value)?;
                if entry.deleted {
                    self.note_tombstone(leaf, at, clustered, entry.writer)?;
                } else {
                    visit(entry.row);
                }
                continue;
            }
            let key = || {
                let mut key = Vec::new();
                leaf.key_into(at, &mut key)?;
                Ok(key)
            };
            match self.visible_row(view, clustered.id(), key, value)? {
                Seen::Row(row) => visit(row),
                Seen::Copied(row) => visit(&row),
                Seen::Nothing => {}
            }
        }
        Ok(())
    }

    fn visit_secondary_leaf(
        &self,
        view: View,
        scan: &mut Scan,
        visit: &mut VisitRow<'_>,
    ) -> EngineResult<bool> {
        let table = scan.table.clone();
        let index = table.index(scan.options.index)?;
        let result = scan.cursor.next_leaf(&index.tree, &self.pool, |leaf| {
            (Taken::All, self.visit_secondary(view, index, leaf, visit))
        })?;
        let Some(undecided) = result.transpose()? else { return Ok(false) };
        for key in &undecided {
            self.visit_undecided(view, &table, index, key, visit)?;
        }
        Ok(true)
    }

    /// Shows the rows whose entries alone say that they are visible. Returns the keys of those that only the clustered row
    /// can decide.
    fn visit_secondary(
        &self,
        view: View,
        index: &Index,
        leaf: &LeafView<'_>,
        visit: &mut VisitRow<'_>,
    ) -> EngineResult<Vec<Vec<u8>>> {
        let all_visible = self.leaf_is_visible(leaf);
        let mut undecided = Vec::new();
        for at in 0..leaf.len() {
            let (_, value) = leaf.entry(at)?;
            let entry = parse_entry(EntryKind::Secondary, value)?;
            match (all_visible || self.sees(view, entry.writer), entry.deleted, value) {
                (true, true, _) => self.note_tombstone(leaf, at, index, entry.writer)?,
                (true, false, Value::Whole(_)) => visit(entry.row),
                (true, false, Value::Long(_)) => visit(&load_row(EntryKind::Secondary, value)?),
                (false, ..) => {
                    let mut key = Vec::new();
                    leaf.key_into(at, &mut key)?;
                    undecided.push(key);
                }
            }
        }
        Ok(undecided)
    }

    fn visit_undecided(
        &self,
        view: View,
        table: &Table,
        index: &Index,
        key: &[u8],
        visit: &mut VisitRow<'_>,
    ) -> EngineResult<()> {
        let clustered_key = index.clustered_key(key)?;
        let mut row = Vec::new();
        if self.get_visible(view, table, clustered_key, &mut |bytes| row.extend_from_slice(bytes))?
            && entry_key_matches(table, index, &row, key, clustered_key)?
        {
            let mut stored = Vec::new();
            index.stored_row(&table.view(&row)?, &mut stored)?;
            visit(&stored);
        }
        Ok(())
    }
}
