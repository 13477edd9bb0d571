//! Consistent scans that show rows where they lie: [`Scan::visit_leaf`]. For aggregates and filters over many rows, which keep
//! little of each. Nothing is copied but rows that only an older version or the clustered index can tell.

use super::filling::Filling;
use super::{ConsistentReads, RowBatch, Scan, View};
use crate::lob::bytes_to_fetch;
use btree::{LeafView, Taken};
use engine_error::EngineResult;
use entry::{EntryKind, StoredRow, parse_entry};
use tables::Index;

/// Rows of a leaf that are shown when its latch is given back: they have long values that are wanted, or stand behind such a row.
#[derive(Default)]
struct Waiting<'a> {
    filling: Option<Filling<'a>>,
    batch: RowBatch,
}

impl Waiting<'_> {
    /// Whether what waits is enough for now.
    fn is_full(&self) -> bool {
        self.filling.as_ref().is_some_and(|filling| !filling.has_room(&self.batch, usize::MAX))
    }
}

/// Gets one row after another, in the layout that the scan returns.
pub type VisitRow<'v> = dyn FnMut(&[u8]) + 'v;

impl ConsistentReads {
    /// Shows the visible rows of the next clustered leaf. False at the end of the range.
    pub(crate) fn visit_clustered_leaf(
        &self,
        view: View,
        scan: &mut Scan,
        visit: &mut VisitRow<'_>,
    ) -> EngineResult<bool> {
        let table = scan.table.clone();
        let clustered = table.clustered();
        let columns = scan.options.columns.clone();
        let mut waiting = Waiting::default();
        let result = scan.cursor.next_leaf(&clustered.tree, &self.pool, |leaf| {
            let mut show = |at: usize, row: StoredRow<'_>| {
                if waiting.is_full() {
                    return Ok(false);
                }
                // Rows come in order: behind one that has to wait for its long values all wait.
                if !waiting.batch.is_empty() || bytes_to_fetch(&row, &table, &columns)?.is_some() {
                    let filling = waiting.filling.get_or_insert_with(|| Filling::new(&table, &columns));
                    filling.push(&mut waiting.batch, row, |key| leaf.key_into(at, key))?;
                } else {
                    visit(row.bytes);
                }
                Ok(true)
            };
            let mut taken = 0;
            let shown = self.visit_clustered(view, clustered, leaf, &mut taken, &mut show);
            (Taken::First(taken), shown)
        })?;
        let found = result.transpose()?.is_some();
        if let Some(filling) = waiting.filling {
            filling.complete(self, Some(view), &mut waiting.batch)?;
            (0..waiting.batch.len()).for_each(|at| visit(waiting.batch.row(at)));
        }
        Ok(found)
    }

    /// Shows rows until `show` takes no more; `taken` counts the entries that are done with.
    fn visit_clustered(
        &self,
        view: View,
        clustered: &Index,
        leaf: &LeafView<'_>,
        taken: &mut usize,
        show: &mut dyn FnMut(usize, StoredRow<'_>) -> EngineResult<bool>,
    ) -> EngineResult<()> {
        let all_visible = self.leaf_is_visible(leaf);
        for at in 0..leaf.len() {
            let (_, value) = leaf.entry(at)?;
            if all_visible {
                let entry = parse_entry(EntryKind::Clustered, value)?;
                if entry.deleted {
                    self.note_tombstone(leaf, at, clustered, entry.writer)?;
                } else if !show(at, entry.stored_row())? {
                    break;
                }
                *taken = at + 1;
                continue;
            }
            let key = || {
                let mut key = Vec::new();
                leaf.key_into(at, &mut key)?;
                Ok(key)
            };
            if let Some(row) = self.visible_row(view, clustered.id(), key, value)?.row()
                && !show(at, row)?
            {
                break;
            }
            *taken = at + 1;
        }
        Ok(())
    }

    /// Shows the visible rows of the next secondary leaf. False at the end of the range.
    pub(crate) fn visit_secondary_leaf(
        &self,
        view: View,
        scan: &mut Scan,
        visit: &mut VisitRow<'_>,
    ) -> EngineResult<bool> {
        let table = scan.table.clone();
        let index = table.index(scan.options.index)?;
        let result = scan.cursor.next_leaf(&index.tree, &self.pool, |leaf| {
            let mut taken = 0;
            let undecided = self.visit_secondary(view, index, leaf, &mut taken, visit);
            (Taken::First(taken), undecided)
        })?;
        let Some(undecided) = result.transpose()? else { return Ok(false) };
        for key in &undecided {
            let (mut row, mut stored) = (Vec::new(), Vec::new());
            if self.row_of_entry(view, &table, index, key, false, &index.columns, &mut row)? {
                index.stored_row(&table.view(&row)?, &mut stored)?;
                visit(&stored);
            }
        }
        Ok(true)
    }

    /// Shows the rows whose entries alone say that they are visible, up to such a row behind one that only the clustered row can
    /// decide. Returns the keys of those; `taken` counts the entries that were looked at.
    fn visit_secondary(
        &self,
        view: View,
        index: &Index,
        leaf: &LeafView<'_>,
        taken: &mut usize,
        visit: &mut VisitRow<'_>,
    ) -> EngineResult<Vec<Vec<u8>>> {
        let all_visible = self.leaf_is_visible(leaf);
        let mut undecided = Vec::new();
        for at in 0..leaf.len() {
            let (_, value) = leaf.entry(at)?;
            let entry = parse_entry(EntryKind::Secondary, value)?;
            match (all_visible || self.sees(view, entry.writer), entry.deleted) {
                (true, true) => self.note_tombstone(leaf, at, index, entry.writer)?,
                (true, false) if !entry.row.is_empty() => {
                    if !undecided.is_empty() {
                        break;
                    }
                    visit(entry.row);
                }
                _ => {
                    let mut key = Vec::new();
                    leaf.key_into(at, &mut key)?;
                    undecided.push(key);
                }
            }
            *taken = at + 1;
        }
        Ok(undecided)
    }
}
