//! What ANALYZE found, as the dictionary keeps it. Main type: [`StoredStatistics`].

use stdx::ids::IndexId;
use txn::undo::{put_varint, take_varint};

/// Columns that a table may have, and some more.
const COLUMNS_MAX: u64 = 1 << 13;

/// What ANALYZE found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredStatistics {
    /// Rows then.
    pub rows: u64,
    /// Per index and number of parts: distinct values then.
    pub distinct: Vec<(IndexId, Vec<u64>)>,
    /// Distinct values of each column then; empty if the columns are others now.
    pub column_values: Vec<u64>,
}

impl StoredStatistics {
    /// The bytes of their entry.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, self.rows);
        put_varint(&mut out, self.distinct.len() as u64);
        for (index, counts) in &self.distinct {
            put_varint(&mut out, index.0);
            put_varint(&mut out, counts.len() as u64);
            counts.iter().for_each(|count| put_varint(&mut out, *count));
        }
        put_varint(&mut out, self.column_values.len() as u64);
        self.column_values.iter().for_each(|count| put_varint(&mut out, *count));
        out
    }

    /// None if they make no sense.
    pub fn decode(mut bytes: &[u8]) -> Option<StoredStatistics> {
        let rows = take_varint(&mut bytes)?;
        let mut distinct = Vec::new();
        for _ in 0..take_varint(&mut bytes)?.min(1000) {
            let index = IndexId(take_varint(&mut bytes)?);
            let mut counts = Vec::new();
            for _ in 0..take_varint(&mut bytes)?.min(1000) {
                counts.push(take_varint(&mut bytes)?);
            }
            distinct.push((index, counts));
        }
        let mut column_values = Vec::new();
        // What was stored before columns were counted ends here.
        if !bytes.is_empty() {
            for _ in 0..take_varint(&mut bytes)?.min(COLUMNS_MAX) {
                column_values.push(take_varint(&mut bytes)?);
            }
        }
        bytes.is_empty().then_some(StoredStatistics { rows, distinct, column_values })
    }
}
