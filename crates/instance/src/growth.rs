//! Looks how many rows the tables of kept plans have, so that a plan that was made for an empty table does not serve a large one.
//! Main type: [`GrowthWatch`], one a plan. Once a second an execution looks before it goes on; what it finds it leaves in the
//! tables' cells (`catalog`), where executions look anyway.

use crate::instance::Instance;
use crate::planned::Planned;
use catalog::{LockKey, RowClass};
use std::sync::atomic::{AtomicI64, Ordering};

/// Time between two looks.
const PAUSE_MICROSECONDS: i64 = 1_000_000;

/// When the tables of a plan were looked at.
#[derive(Debug, Default)]
pub struct GrowthWatch(AtomicI64);

impl GrowthWatch {
    /// Whether it is time.
    /// Whether the last look is a while ago.
    #[inline]
    pub fn is_due(&self, now_microseconds: i64) -> bool {
        // The clock may have been set back.
        let ago = now_microseconds - self.0.load(Ordering::Relaxed);
        !(0..PAUSE_MICROSECONDS).contains(&ago)
    }
}

impl Instance {
    /// How many rows a table has, roughly. None if there is no such table.
    pub fn row_class(&self, key: &LockKey) -> Option<RowClass> {
        let table = self.engine().dictionary().table(key.schema_name(), key.object_name())?;
        Some(RowClass::of(self.engine().estimated_rows(&table)))
    }

    /// Looks now.
    #[cold]
    pub fn look_at_growth(&self, planned: &Planned, now_microseconds: i64) {
        planned.growth.0.store(now_microseconds, Ordering::Relaxed);
        for lock in &planned.locks.locks {
            if let (Some(seen), Some(class)) = (&lock.seen, self.row_class(&lock.key)) {
                seen.set_class(class);
            }
        }
    }
}
