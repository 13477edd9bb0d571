//! The keys of the rows in any of several ranges of indexes: each once, in the order of the clustered index. Main type:
//! [`UnionKeys`]. A locking read locks the rows as their entries are found, so that all of them are locked before the first is
//! handed out.

use crate::batch::BATCH_ROWS_MAX;
use crate::run::{Run, engine_error};
use crate::spill::{Sorted, Sorter};
use engine::{Direction, RowBatch, ScanOptions};
use errors::SqlResult;
use expression::EvaluationContext;
use plan::physical::{RowLock, TableAccess};
use plan::range::key_ranges;
use values::RowRef;
use values::row::ColumnSet;

/// Keys that are still to be looked up.
pub struct UnionKeys {
    keys: Sorted,
}

impl UnionKeys {
    /// The keys for an outer row.
    pub fn read(access: &TableAccess, row: RowRef<'_>, run: &mut Run<'_, '_>) -> SqlResult<UnionKeys> {
        let (table, transaction) = (&access.table, run.statement.transaction);
        let mut sorter = Sorter::new(run.workspace().clone(), run.statement.settings.kept_bytes_max, None);
        let mut batch = RowBatch::new();
        for path in &access.path.union {
            for range in key_ranges(table, path, row, run)? {
                let options = ScanOptions {
                    index: path.index,
                    range,
                    direction: Direction::Forward,
                    mode: run.read_mode(access.lock),
                    covering: path.covering,
                    locks_row_beyond: matches!(access.lock, RowLock::Change(_)),
                    columns: ColumnSet::none(),
                };
                let failed = |error| engine_error(error, table);
                let mut scan = transaction.scan(table, options).map_err(failed)?;
                run.check_killed()?;
                while scan.next_batch(transaction, &mut batch, BATCH_ROWS_MAX).map_err(failed)? {
                    run.check_killed()?;
                    for at in 0..batch.len() {
                        sorter.push(batch.key(at), RowRef::EMPTY)?;
                    }
                }
            }
        }
        Ok(UnionKeys { keys: sorter.finish()? })
    }

    /// Puts the next key into `key`; false at the end.
    pub fn next(&mut self, key: &mut Vec<u8>) -> SqlResult<bool> {
        let Some(next) = self.keys.key() else { return Ok(false) };
        key.clear();
        key.extend_from_slice(next);
        while self.keys.key() == Some(key.as_slice()) {
            self.keys.skip()?;
        }
        Ok(true)
    }
}
