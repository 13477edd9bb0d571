//! Durable limits of AUTO_INCREMENT counters, and hidden row ids. See rule A1 in the engine's README.

use crate::{Table, TableEntry, Tables};
use btree::{Cursor, CursorRange, Direction, Taken};
use engine_error::{EngineError, EngineResult};
use std::sync::atomic::Ordering;
use stdx::ids::Lsn;

/// Values that one write of the limit covers: after a crash at most so many are skipped.
const LIMIT_STEP: u64 = 256;
/// Not more than one in so many that the column has left: a small column that crashes do not use up.
const LEFT_PER_SKIPPED: u64 = 1024;

impl Tables {
    /// Sees to it that the dictionary's limit is above all values handed out. Returns what the reply must wait for.
    pub fn cover(&self, table: &Table) -> EngineResult<Lsn> {
        let counter = &table.auto_increment;
        if counter.peek() <= counter.limit.load(Ordering::Acquire) {
            return Ok(Lsn(counter.limit_lsn.load(Ordering::Acquire)));
        }
        let _one_writer = counter.limit_writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let next = counter.peek();
        if next > counter.limit.load(Ordering::Acquire) {
            let left = table.definition.auto_increment_max().saturating_sub(next);
            let limit = next.saturating_add(LIMIT_STEP.min(left / LEFT_PER_SKIPPED));
            let lsn = self.store.put_auto_increment(&self.pool, table.id(), limit)?;
            counter.limit_lsn.store(lsn.0, Ordering::Release);
            counter.limit.store(limit, Ordering::Release);
        }
        Ok(Lsn(counter.limit_lsn.load(Ordering::Acquire)))
    }

    /// Stores the counter exactly: at a clean end, so that no value is skipped.
    pub fn store_exact_counter(&self, table: &TableEntry) -> EngineResult<()> {
        let (next, limit) = table.counter();
        if limit > next {
            self.store.put_auto_increment(&self.pool, table.id(), next)?;
        }
        Ok(())
    }

    /// The next hidden row id.
    pub fn next_row_id(&self, table: &Table) -> EngineResult<u64> {
        if table.next_row_id.load(Ordering::Acquire) == 0 {
            let last = self.last_row_id(table)?;
            // Another thread may have found the same number first.
            let _ = table.next_row_id.compare_exchange(0, last + 1, Ordering::AcqRel, Ordering::Acquire);
        }
        Ok(table.next_row_id.fetch_add(1, Ordering::AcqRel))
    }

    fn last_row_id(&self, table: &Table) -> EngineResult<u64> {
        let mut cursor = Cursor::new(CursorRange::all(), Direction::Backward);
        let last = cursor.next_leaf(&table.clustered().tree, &self.pool, |leaf| {
            let mut key = Vec::new();
            (Taken::First(1), leaf.key_into(0, &mut key).map(|()| key))
        })?;
        let Some(key) = last.transpose()? else { return Ok(0) };
        let key: [u8; 8] = key.try_into().map_err(|_| EngineError::Corrupt("hidden row id".to_owned()))?;
        Ok(u64::from_be_bytes(key))
    }
}
