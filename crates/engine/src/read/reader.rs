//! Consistent reads from any thread. Main type: [`Reader`].

use super::{ConsistentReads, KeyRange, RowBatch, Scan, ScanOptions, View};
use crate::lob::Wanted;
use engine_error::EngineResult;
use metrics::Counter;
use std::sync::Arc;
use tables::Table;
use txn::Snapshot;
use values::row::ColumnSet;

/// A snapshot for consistent reads from any thread. Clone it for each worker.
#[derive(Clone, Debug)]
pub struct Reader {
    reads: Arc<ConsistentReads>,
    view: View,
    /// Keeps the versions alive.
    _snapshot: Option<Arc<Snapshot>>,
}

impl Reader {
    /// Reads what `view` sees, whose snapshot that is.
    pub(crate) fn new(reads: Arc<ConsistentReads>, view: View, snapshot: Option<Arc<Snapshot>>) -> Reader {
        Reader { reads, view, _snapshot: snapshot }
    }

    /// As [`Transaction::scan`], for consistent reads from any thread: the mode of the options is ignored.
    pub fn scan(&self, table: &Arc<Table>, options: ScanOptions) -> EngineResult<Scan> {
        table.check_usable()?;
        self.view.check_readable(table.index(options.index)?)?;
        Ok(Scan::new(table, options))
    }

    /// As [`Scan::next_batch`]. `check` is asked between leaves and may end the scan (kill).
    pub fn next_batch(
        &self,
        scan: &mut Scan,
        batch: &mut RowBatch,
        rows_max: usize,
        check: &dyn Fn() -> EngineResult<()>,
    ) -> EngineResult<bool> {
        batch.clear();
        let more = self.reads.scan_visible(self.view, scan, batch, rows_max.max(1), check)?;
        Counter::RowsRead.add(batch.len() as u64);
        Ok(more)
    }

    /// As [`Transaction::get`] by clustered key.
    pub fn get(&self, table: &Arc<Table>, key: &[u8], found: &mut dyn FnMut(&[u8])) -> EngineResult<bool> {
        table.check_usable()?;
        self.view.check_readable(table.clustered())?;
        let wanted = Wanted::whole(&ColumnSet::All);
        Ok(self.reads.get_visible(self.view, table, key, wanted, found)?.is_some())
    }

    /// As [`Transaction::count`].
    pub fn count(
        &self,
        table: &Arc<Table>,
        index: usize,
        range: &KeyRange,
        check: &dyn Fn() -> EngineResult<()>,
    ) -> EngineResult<u64> {
        let options = ScanOptions { index, range: range.clone(), covering: true, ..ScanOptions::default() };
        let mut scan = self.scan(table, options)?;
        let rows = self.reads.count_visible(self.view, &mut scan, check)?;
        Counter::RowsRead.add(rows);
        Ok(rows)
    }
}
