//! What steps of plans cost, in nanoseconds of a processor's time. The constants are measured (`cost/constants.rs`,
//! `benches/calibrate.py`); what they are multiplied with is here. Main type: [`Work`].

mod constants;

pub(crate) use constants::{JOINED_ROW_NS, KEPT_ROW_NS, SKIP_NS};

use constants::{
    BUILD_NS, COLUMN_NS, FETCH_NS, LOCK_ROW_NS, LOOK_UP_IN_ORDER_NS, LOOK_UP_NS, MISS_NS, PAIR_NS, PROBE_NS,
    RANGE_NS, SCAN_ENTRY_NS, SCAN_KIBIBYTE_NS, SCAN_ROW_NS, SORT_ROW_NS, SORT_STEP_NS, TEXT_BUILD_NS,
    TEXT_COLUMN_NS, TEXT_MISS_NS, TEXT_PROBE_NS,
};

/// Bytes of pages that a look-up elsewhere brings into the processor's caches: keys that it is compared with, and the row. So
/// few look-ups in a large table are as those in a small one.
const TOUCHED_BYTES: f64 = 1024.0;
const PAGE_BYTES: f64 = 16384.0;
/// Bytes of an entry of a secondary index beside its columns, and of a column. Only the order of magnitude counts.
const ENTRY_BYTES: f64 = 16.0;
const ENTRY_COLUMN_BYTES: f64 = 8.0;

/// What a run of a subquery takes besides its rows: the values of the row around are looked up among those that were seen, its
/// nodes are opened, and what it finds is remembered. Set by hand.
const SUBQUERY_RUN_NS: f64 = 3000.0;

/// Opening a join anew for a row before it. Set by hand.
pub(crate) const FIRST_MATCH_NS: f64 = 1500.0;

/// Making a row of a table without storage. A guess: each such table has its own way.
const MADE_ROW_NS: f64 = 1000.0;

/// The sizes of a table that costs depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableSize {
    pub rows: f64,
    /// Of the clustered index.
    pub bytes: f64,
}

/// What is read of each entry that a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Rows of the clustered index.
    Rows,
    /// Entries of a secondary index of so many columns.
    Entries(usize),
    /// Such entries, and the row of each.
    RowsOfEntries(usize),
}

impl Reading {
    fn tree_bytes(self, size: TableSize) -> f64 {
        match self {
            Reading::Rows => size.bytes,
            Reading::Entries(columns) | Reading::RowsOfEntries(columns) => {
                size.rows * (ENTRY_BYTES + columns as f64 * ENTRY_COLUMN_BYTES)
            }
        }
    }
}

/// What reading a table once takes, before anything is done with its rows. How long that is depends on how often it is done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// What takes the same time whatever the processor's caches hold.
    steady_ns: f64,
    /// Keys that are looked for in a tree of so many bytes.
    look_ups: f64,
    tree_bytes: f64,
    /// Rows that entries lead to, in a tree of so many bytes.
    fetches: f64,
    row_tree_bytes: f64,
}

impl Work {
    /// Looking one row up by a whole key.
    pub fn look_up(reading: Reading, size: TableSize) -> Work {
        let work = Work::ranges(reading, size, 1.0, 1.0);
        let of_entry = if matches!(reading, Reading::RowsOfEntries(_)) { 1.0 } else { 0.0 };
        Work { steady_ns: of_entry * SCAN_ENTRY_NS, ..work }
    }

    /// Reading so many ranges, which have that many rows together.
    pub fn ranges(reading: Reading, size: TableSize, ranges: f64, rows: f64) -> Work {
        let row_bytes = size.bytes / size.rows.max(1.0);
        let (row_ns, fetches) = match reading {
            Reading::Rows => (SCAN_ROW_NS + row_bytes / 1024.0 * SCAN_KIBIBYTE_NS, 0.0),
            Reading::Entries(_) => (SCAN_ENTRY_NS, 0.0),
            Reading::RowsOfEntries(_) => (SCAN_ENTRY_NS, rows),
        };
        Work {
            steady_ns: ranges * RANGE_NS + rows * row_ns,
            look_ups: ranges,
            tree_bytes: reading.tree_bytes(size),
            fetches,
            row_tree_bytes: size.bytes,
        }
    }

    /// Making so many rows of a table without storage.
    pub fn of_made_rows(rows: f64) -> Work {
        Work { steady_ns: RANGE_NS + rows * MADE_ROW_NS, ..Work::default() }
    }

    /// Gathering the keys of so many rows from ranges of indexes, and looking the rows up.
    pub fn union(size: TableSize, ranges: f64, rows: f64) -> Work {
        Work::ranges(Reading::RowsOfEntries(1), size, ranges, rows)
    }

    /// The same with a lock on each of so many rows.
    pub fn with_locks(self, rows: f64) -> Work {
        Work { steady_ns: self.steady_ns + rows * LOCK_ROW_NS, ..self }
    }

    /// The time, if it is done so often, each time elsewhere; `in_order`: by keys that ascend.
    pub fn ns(&self, times: f64, in_order: bool) -> f64 {
        let bytes = |per_time: f64, tree: f64| f64::min(per_time * times * TOUCHED_BYTES, tree);
        // The pages that such keys lead to are at hand if each has some of them.
        let is_dense = times * PAGE_BYTES >= self.tree_bytes;
        let look_up = match in_order && is_dense {
            true => LOOK_UP_IN_ORDER_NS,
            false => between(&LOOK_UP_NS, bytes(self.look_ups, self.tree_bytes)),
        };
        let fetches = match self.fetches {
            0.0 => 0.0,
            fetches => fetches * between(&FETCH_NS, bytes(fetches, self.row_tree_bytes)),
        };
        times * (self.steady_ns + self.look_ups * look_up + fetches)
    }
}

/// Reading columns of a row that is wanted.
pub(crate) fn kept_row_ns(columns: usize, texts: usize) -> f64 {
    KEPT_ROW_NS + columns as f64 * COLUMN_NS + texts as f64 * TEXT_COLUMN_NS
}

/// The two sides of a hash join.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HashSides {
    /// Rows that are kept, rows that are looked up among them, and how many of these find one.
    pub build: f64,
    pub probe: f64,
    pub matched: f64,
    /// Whether there is a key, and one with a text in it.
    pub has_key: bool,
    pub has_text: bool,
}

impl HashSides {
    /// Keeping the rows of one side.
    pub fn build_ns(&self) -> f64 {
        let text = if self.has_text { TEXT_BUILD_NS } else { 0.0 };
        self.build * (between(&BUILD_NS, self.build) + text)
    }

    /// Looking the rows of the other side up among them.
    pub fn probe_ns(&self) -> f64 {
        if !self.has_key {
            return self.build * self.probe * PAIR_NS;
        }
        let (matched_ns, missed_ns) = match self.has_text {
            true => (between(&PROBE_NS, self.build) + TEXT_PROBE_NS, TEXT_MISS_NS),
            false => (between(&PROBE_NS, self.build), MISS_NS),
        };
        let matched = self.matched.min(self.probe);
        matched * matched_ns + (self.probe - matched) * missed_ns
    }
}

/// What a row that comes out of a join will cost in the joins that follow, as far as that is known before they are chosen.
pub(crate) const NEXT_JOIN_NS: f64 = LOOK_UP_IN_ORDER_NS;

/// Sorting rows of which so many are wanted.
pub(crate) fn sort_ns(rows: f64, wanted: Option<f64>) -> f64 {
    let compared = wanted.map_or(rows, |wanted| wanted.min(rows)).max(2.0);
    rows * (SORT_ROW_NS + SORT_STEP_NS * compared.log2())
}

/// Finding the groups of rows that come in no order: each is looked up among those before.
pub(crate) fn group_ns(rows: f64) -> f64 {
    rows * between(&PROBE_NS, rows)
}

/// Going to so many places of an index, one value after the other.
pub fn skipped_ns(values: f64) -> f64 {
    values * SKIP_NS
}

/// After how many runs of a subquery its groups for all outer values would have cost no more. `run_ns`: of the joins of one run;
/// `groups`: nanoseconds and rows of those for all.
pub fn runs_worth_groups(run_ns: f64, groups: (f64, f64)) -> u64 {
    let (ns, rows) = groups;
    let kept = HashSides { build: rows, probe: 0.0, matched: 0.0, has_key: true, has_text: false };
    ((ns + kept.build_ns()) / (SUBQUERY_RUN_NS + run_ns)).ceil().max(1.0) as u64
}

/// A cost between measured ones: in equal steps from each doubling of the size to the next.
fn between(points: &[(f64, f64)], size: f64) -> f64 {
    let at = points.partition_point(|(of, _)| *of < size);
    let (Some(below), Some(above)) = (at.checked_sub(1).and_then(|at| points.get(at)), points.get(at)) else {
        let nearest = if at == 0 { points.first() } else { points.last() };
        return nearest.map_or(0.0, |(_, ns)| *ns);
    };
    let way = (size / below.0).log2() / (above.0 / below.0).log2();
    below.1 + way * (above.1 - below.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_lie_between_measured_ones() {
        let points = [(4.0, 10.0), (16.0, 30.0)];
        assert_eq!(
            [1.0, 4.0, 8.0, 16.0, 99.0].map(|size| between(&points, size)),
            [10.0, 10.0, 20.0, 30.0, 30.0]
        );
    }

    #[test]
    fn many_look_ups_in_a_large_table_cost_more_each_than_few() {
        let size = TableSize { rows: 1e6, bytes: 1e8 };
        let work = Work::look_up(Reading::Rows, size);
        assert!(work.ns(1e5, false) > 1.5 * 1e5 * work.ns(1.0, false));
        let small = Work::look_up(Reading::Rows, TableSize { rows: 1e3, bytes: 1e5 });
        assert!(work.ns(1e5, false) > small.ns(1e5, false));
    }
}
