//! Counting rows that a view sees, without decoding them: whole leaves that everyone sees are counted by their header.

use super::{ConsistentReads, KeyRange, Scan, View};
use btree::{Cursor, LeafSums, LeafView, Taken};
use engine_error::EngineResult;
use entry::parse_head;
use tables::Index;
use values::row::ColumnSet;

/// What was counted of a leaf.
struct LeafCount {
    taken: Taken,
    /// Entries that are seen.
    rows: u64,
    /// Keys of secondary entries that only the clustered row can decide.
    undecided: Vec<Vec<u8>>,
}

impl ConsistentReads {
    /// Counts what a view sees of a scan that has not begun.
    pub(super) fn count_visible(
        &self,
        view: View,
        scan: &mut Scan,
        check: &dyn Fn() -> EngineResult<()>,
    ) -> EngineResult<u64> {
        if scan.options.range != KeyRange::all() || self.shared.is_forced() {
            return self.count_entries(view, scan, check);
        }
        let tree = scan.table.index(scan.options.index)?.tree.clone();
        let watermark = self.system.commits.watermark().0;
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
