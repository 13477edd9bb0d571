//! Consistent reads: what a snapshot sees, without locks. Main types: [`ConsistentReads`]; [`Scan`], [`ScanOptions`] and [`RowBatch`]
//! are those of locking reads as well (`transaction`); [`Reader`] is for other threads.

mod batches;
mod count;
mod filling;
mod reader;
mod row;
mod scan;
mod visit;

pub(crate) use batches::{entry_key_matches, push_row};
pub(crate) use engine_types::Gap;
pub use engine_types::{Direction, KeyRange, ReadMode, RowBatch, ScanOptions, WaitPolicy};
pub(crate) use filling::Filling;
pub use page::KEY_BYTES_MAX;
pub use reader::Reader;
pub(crate) use row::View;
pub use scan::Scan;
pub(crate) use scan::{Candidate, SeenEntries};
pub(crate) use visit::VisitRow;

use crate::lob::LongValues;
use crate::transaction_system::TransactionSystem;
use buffer::BufferPool;
use std::sync::Arc;
use tables::Shared;

/// Reads what snapshots see.
pub(crate) struct ConsistentReads {
    shared: Arc<Shared>,
    pool: Arc<BufferPool>,
    system: Arc<TransactionSystem>,
    values: Arc<LongValues>,
}

impl std::fmt::Debug for ConsistentReads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConsistentReads").finish_non_exhaustive()
    }
}

impl ConsistentReads {
    /// Reads rows of tables whose long values are `values`.
    pub(crate) fn new(
        shared: Arc<Shared>,
        values: Arc<LongValues>,
        system: Arc<TransactionSystem>,
    ) -> ConsistentReads {
        ConsistentReads { pool: shared.pool.clone(), shared, system, values }
    }
}
