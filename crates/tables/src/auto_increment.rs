//! AUTO_INCREMENT counters. Main type: [`AutoIncrement`], one atomic a table.
//! A value handed out never comes back (I8), but for a column's largest, at which the counter stays as InnoDB's does: it never
//! goes down but by ALTER or TRUNCATE, and a limit above it is stored in the dictionary before values below are handed out.

use dictionary::{AutoIncrementRange, AutoIncrementRequest};
use engine_error::{EngineError, EngineResult};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use stdx::sync::lock;

/// The counter of a table: the next value that will be handed out.
#[derive(Debug)]
pub struct AutoIncrement {
    pub(crate) next: AtomicU64,
    /// The dictionary's limit: values below it may be handed out.
    pub(crate) limit: AtomicU64,
    /// The log record of the limit: replies with values wait for it.
    pub(crate) limit_lsn: AtomicU64,
    /// One raises the limit at a time.
    pub(crate) limit_writer: Mutex<()>,
    /// Held for a look at the AUTO-INC lock together with what follows from it.
    lock_step: Mutex<()>,
}

impl AutoIncrement {
    /// A counter of which nothing is handed out yet.
    pub fn starting_at(next: u64) -> AutoIncrement {
        AutoIncrement {
            next: AtomicU64::new(next.max(1)),
            limit: AtomicU64::new(0),
            limit_lsn: AtomicU64::new(0),
            limit_writer: Mutex::new(()),
            lock_step: Mutex::new(()),
        }
    }

    /// The next value that would be handed out with increment 1 (information_schema.TABLES.AUTO_INCREMENT).
    #[inline]
    pub fn peek(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// The dictionary's limit: values below it may be handed out.
    #[inline]
    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::Acquire)
    }

    /// Whoever looks at the AUTO-INC lock holds this until it has done what follows from that.
    #[inline]
    pub fn lock_step(&self) -> MutexGuard<'_, ()> {
        lock(&self.lock_step)
    }

    /// The counter of a table that takes another one's place goes on there. The dictionary has `next` where it is above the limit.
    pub(crate) fn take_over(&self, old: &AutoIncrement, next: u64) {
        self.next.store(next, Ordering::Release);
        self.limit.store(old.limit().max(next), Ordering::Release);
        self.limit_lsn.store(old.limit_lsn.load(Ordering::Acquire), Ordering::Release);
    }

    /// Raises the counter, if it is lower.
    pub fn raise_to(&self, next: u64) {
        self.next.fetch_max(next, Ordering::AcqRel);
    }

    /// Sets the counter to what the dictionary says.
    pub fn restore(&self, next: u64) {
        self.next.store(next, Ordering::Release);
        self.limit.store(next, Ordering::Release);
    }

    /// Takes values off the counter, before any limit is stored: see `Transaction::reserve_auto_increment` in the engine. Error:
    /// AutoIncrementExhausted.
    pub fn take(&self, request: AutoIncrementRequest) -> EngineResult<AutoIncrementRange> {
        let mut current = self.next.load(Ordering::Relaxed);
        loop {
            let range = request.from(current).ok_or(EngineError::AutoIncrementExhausted)?;
            let next = request.counter_behind(range);
            match self.next.compare_exchange_weak(current, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Ok(range),
                Err(seen) => current = seen,
            }
        }
    }

    /// The values that [`AutoIncrement::take`] would take. Error: AutoIncrementExhausted.
    pub fn next(&self, request: AutoIncrementRequest) -> EngineResult<AutoIncrementRange> {
        request.from(self.next.load(Ordering::Acquire)).ok_or(EngineError::AutoIncrementExhausted)
    }

    /// Raises the counter above an explicitly given value, but not beyond the column's largest. Never lowers it.
    pub fn raise_above(&self, value: u64, column_max: u64) {
        if value <= column_max {
            self.next.fetch_max(value.saturating_add(1).min(column_max), Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(count: u64, increment: u64, offset: u64, column_max: u64) -> AutoIncrementRequest {
        AutoIncrementRequest { count, increment, offset, column_max }
    }

    #[test]
    fn values_follow_offset_and_increment() {
        let counter = AutoIncrement::starting_at(1);
        let range = counter.take(request(3, 10, 5, 1000)).unwrap();
        assert_eq!((range.first, range.count, range.increment), (5, 3, 10));
        assert_eq!(counter.take(request(1, 10, 5, 1000)).unwrap().first, 35);
        counter.raise_above(100, 1000);
        assert_eq!(counter.take(request(1, 1, 1, 1000)).unwrap().first, 101);
        counter.raise_above(7, 1000);
        assert_eq!(counter.peek(), 102);
    }

    #[test]
    fn end_of_range_gives_the_last_value_again_and_does_not_wrap() {
        let counter = AutoIncrement::starting_at(126);
        assert_eq!(counter.take(request(5, 1, 1, 127)).unwrap().count, 2);
        assert_eq!(counter.take(request(5, 1, 1, 127)).unwrap().first, 127);
        assert_eq!(counter.take(request(1, 10, 1, 127)), Err(EngineError::AutoIncrementExhausted));
        counter.raise_above(127, 127);
        assert_eq!(counter.peek(), 127);
        let before_last = AutoIncrement::starting_at(125);
        assert_eq!(before_last.take(request(1, 1, 1, 127)).unwrap().first, 125);
        assert_eq!(before_last.peek(), 127);
        let last = AutoIncrement::starting_at(u64::MAX);
        assert_eq!(last.take(request(1, 1, 1, u64::MAX)), Err(EngineError::AutoIncrementExhausted));
        let near = AutoIncrement::starting_at(u64::MAX - 1);
        assert_eq!(near.take(request(1, 1, 1, u64::MAX)).unwrap().first, u64::MAX - 1);
        assert_eq!(near.take(request(1, 1, 1, u64::MAX)), Err(EngineError::AutoIncrementExhausted));
    }
}
