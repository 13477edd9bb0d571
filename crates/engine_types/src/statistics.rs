//! What the optimizer and the user are told of a table's rows. Main types: [`TableStatistics`], [`Distribution`].

/// What is known of a table. Estimates.
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
    /// For each index of the table, the number of distinct values of its first 1, 2, ... parts. For an index that was never
    /// analysed, or in a table that has far more rows since, the numbers are guesses.
    pub distinct: Vec<Vec<u64>>,
}

/// What a planner asks for of a table's statistics: no sizes of secondary indexes, for which each would be looked at.
#[derive(Debug, Default, PartialEq)]
pub struct Distribution {
    /// Estimated number of rows.
    pub rows: u64,
    /// Bytes of the clustered index.
    pub data_bytes: u64,
    /// As in [`TableStatistics`].
    pub distinct: Vec<Vec<u64>>,
    /// Distinct values of each column, as a sample of rows has them; empty where nothing is known of them: before the first ANALYZE,
    /// or with far more rows since.
    pub column_values: Vec<u64>,
}
