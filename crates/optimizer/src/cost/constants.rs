//! What steps of plans take in nanoseconds of a processor's time. Written by `benches/calibrate.py --write`. Pairs are a size and the
//! time there: bytes of the tree that is looked up in, or rows that are kept to be hashed.
//!
//! Of today's, from runs on a busy machine, four were set by hand near what was measured: SCAN_ENTRY_NS (33), MISS_NS (19.5),
//! TEXT_MISS_NS (70), and the first point of PROBE_NS. LOCK_ROW_NS was measured by itself (420). On an idle machine all are about
//! half (five runs agree), so that most plans are the same: on the 40 queries none costs more than 1.3 of the best forced one with
//! either set. The idle set is not taken yet because it needs two costs that nobody measures: what finding a row's group takes
//! (PROBE_NS is then nearly nothing below 10,000 rows, and groups by an index in order lose), and bytes of an entry (a covering
//! scan loses to the scan of a narrow table).

/// Passing a row of a clustered index.
pub(crate) const SCAN_ROW_NS: f64 = 30.6;
/// And for each KiB of it.
pub(crate) const SCAN_KIBIBYTE_NS: f64 = 142.0;
/// Passing an entry of a secondary index.
pub(crate) const SCAN_ENTRY_NS: f64 = 36.0;
/// Locking a row that is read.
pub(crate) const LOCK_ROW_NS: f64 = 400.0;
/// Making values of a row.
pub(crate) const KEPT_ROW_NS: f64 = 13.6;
/// And for each column of fixed width.
pub(crate) const COLUMN_NS: f64 = 24.7;
/// And for each text.
pub(crate) const TEXT_COLUMN_NS: f64 = 52.9;
/// Finding a row by a whole key, at random.
pub(crate) const LOOK_UP_NS: [(f64, f64); 4] =
    [(1.475e+05, 310.0), (1.622e+06, 527.0), (1.670e+07, 885.0), (1.687e+08, 1670.0)];
/// The same by keys that ascend, page by page.
pub(crate) const LOOK_UP_IN_ORDER_NS: f64 = 357.0;
/// What a range costs more than a whole key.
pub(crate) const RANGE_NS: f64 = 225.0;
/// Finding the row of an entry, at random.
pub(crate) const FETCH_NS: [(f64, f64); 4] =
    [(1.475e+05, 305.0), (1.622e+06, 505.0), (1.670e+07, 1110.0), (1.687e+08, 1650.0)];
/// Keeping a row to be hashed.
pub(crate) const BUILD_NS: [(f64, f64); 3] = [(1.000e+04, 53.8), (1.000e+05, 94.4), (1.000e+06, 236.0)];
/// Looking a row up among the kept ones, and finding one.
pub(crate) const PROBE_NS: [(f64, f64); 4] =
    [(1e3, 10.0), (1.000e+04, 71.7), (1.000e+05, 373.0), (1.000e+06, 547.0)];
/// The same of a row that finds none.
pub(crate) const MISS_NS: f64 = 20.0;
/// The same with a text in the key.
pub(crate) const TEXT_MISS_NS: f64 = 80.0;
/// What keeping costs more with a text in the key.
pub(crate) const TEXT_BUILD_NS: f64 = 142.0;
/// What looking up costs more with a text in the key.
pub(crate) const TEXT_PROBE_NS: f64 = 187.0;
/// A row that comes out of a join.
pub(crate) const JOINED_ROW_NS: f64 = 88.5;
/// A pair that no key decides about.
pub(crate) const PAIR_NS: f64 = 60.7;
/// Sorting a row.
pub(crate) const SORT_ROW_NS: f64 = 1.0;
/// And for each doubling of the number of rows.
pub(crate) const SORT_STEP_NS: f64 = 14.0;
/// Going from a value of an index to the next.
pub(crate) const SKIP_NS: f64 = 1150.0;
