//! What an open table keeps of its statistics. Main types: [`Distribution`], [`KeptStatistics`]. `statistics.rs` fills them.

use dictionary_store::StoredStatistics;
use std::sync::Arc;

/// What a planner asks for of a table's statistics: no sizes of secondary indexes, for which each would be looked at.
#[derive(Debug, Default, PartialEq)]
pub struct Distribution {
    /// Estimated number of rows.
    pub rows: u64,
    /// Bytes of the clustered index.
    pub data_bytes: u64,
    /// As in [`TableStatistics`](crate::TableStatistics).
    pub distinct: Vec<Vec<u64>>,
    /// Distinct values of each column, as a sample of rows has them; empty where nothing is known of them: before the first ANALYZE,
    /// or with far more rows since.
    pub column_values: Vec<u64>,
}

/// What a table keeps of its statistics.
#[derive(Debug, Default)]
pub(crate) struct KeptStatistics {
    /// What the last ANALYZE found.
    pub(crate) stored: Option<StoredStatistics>,
    /// What a planner was told last, and the changes of the clustered index by then: it is looked at again once it has others.
    pub(crate) distribution: Option<(u64, Arc<Distribution>)>,
}
