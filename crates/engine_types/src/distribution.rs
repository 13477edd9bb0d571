//! What the optimizer is told of a table's rows. Main type: [`Distribution`].

/// What a planner asks for of a table's statistics: no sizes of secondary indexes, for which each would be looked at.
#[derive(Debug, Default, PartialEq)]
pub struct Distribution {
    /// Estimated number of rows.
    pub rows: u64,
    /// Bytes of the clustered index.
    pub data_bytes: u64,
    /// Distinct values of each index's first parts, as ANALYZE estimates them.
    pub distinct: Vec<Vec<u64>>,
    /// Distinct values of each column, as a sample of rows has them; empty where nothing is known of them: before the first ANALYZE,
    /// or with far more rows since.
    pub column_values: Vec<u64>,
}
