//! Statistics for the optimizer: row counts, distinct prefixes, range estimates, table status. Main type: [`TableStatistics`].

use crate::engine::Engine;
use crate::error::{EngineError, EngineResult};
use crate::scan::KeyRange;
use crate::table::Table;
use std::sync::Arc;

/// What is known of a table. Estimates; never block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableStatistics {
    /// Estimated number of rows.
    pub rows: u64,
    /// Bytes of the clustered index (DATA_LENGTH).
    pub data_bytes: u64,
    /// Bytes of the secondary indexes (INDEX_LENGTH).
    pub index_bytes: u64,
    /// Bytes free within the file (DATA_FREE).
    pub free_bytes: u64,
    /// For each index of [`Table::indexes`], the number of distinct values of its first 1, 2, ... parts.
    pub distinct: Vec<Vec<u64>>,
}

impl Engine {
    /// The table's statistics: what the last ANALYZE (or automatic sampling) found, with rows kept up to date.
    pub fn statistics(&self, _table: &Arc<Table>) -> TableStatistics {
        TableStatistics::default()
    }

    /// ANALYZE TABLE: samples every index and stores the result.
    pub fn analyze(&self, _table: &Arc<Table>) -> EngineResult<TableStatistics> {
        Err(EngineError::Unsupported("analyze"))
    }

    /// Estimated number of entries in a range: two descents, no scan.
    pub fn estimate_range(&self, _table: &Arc<Table>, _index: usize, _range: &KeyRange) -> EngineResult<u64> {
        Err(EngineError::Unsupported("estimate_range"))
    }
}
