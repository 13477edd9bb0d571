//! [`Counter`]: what is counted, under MySQL's status variable names where MySQL has one.

use std::sync::atomic::{AtomicU64, Ordering};

use stdx::thread_number;

macro_rules! counters {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// Something that is counted since the start of the process.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Counter {
            $($(#[$doc])* $variant,)*
        }

        /// All counters, in the order of their declaration.
        const ALL: &[(Counter, &str)] = &[$((Counter::$variant, $name),)*];
    };
}

counters! {
    /// Pages asked for.
    PoolReadRequests => "Innodb_buffer_pool_read_requests",
    /// Pages asked for that had to be read from disk.
    PoolReads => "Innodb_buffer_pool_reads",
    /// Changes of pages.
    PoolWriteRequests => "Innodb_buffer_pool_write_requests",
    /// Pages written from the pool.
    PoolPagesFlushed => "Innodb_buffer_pool_pages_flushed",
    /// Times a thread found no clean frame and had to write pages itself.
    PoolWaitFree => "Innodb_buffer_pool_wait_free",
    /// Pages created.
    PagesCreated => "Innodb_pages_created",
    /// Pages read from disk.
    PagesRead => "Innodb_pages_read",
    /// Pages written to disk.
    PagesWritten => "Innodb_pages_written",
    /// Bytes read from tablespace files.
    DataRead => "Innodb_data_read",
    /// Bytes written to tablespace files.
    DataWritten => "Innodb_data_written",
    /// Reads of tablespace files.
    DataReads => "Innodb_data_reads",
    /// Writes of tablespace files.
    DataWrites => "Innodb_data_writes",
    /// Syncs of tablespace files.
    DataFsyncs => "Innodb_data_fsyncs",
    /// Batches written to the doublewrite file.
    DoublewriteWrites => "Innodb_dblwr_writes",
    /// Pages written to the doublewrite file.
    DoublewritePages => "Innodb_dblwr_pages_written",
    /// Redo groups appended.
    LogWriteRequests => "Innodb_log_write_requests",
    /// Writes of redo log files.
    LogWrites => "Innodb_log_writes",
    /// Times appending waited for room in the log buffer.
    LogWaits => "Innodb_log_waits",
    /// Bytes written to redo log files.
    LogBytesWritten => "Innodb_os_log_written",
    /// Syncs of redo log files.
    LogFsyncs => "Innodb_os_log_fsyncs",
    /// Rows read by the storage engine.
    RowsRead => "Innodb_rows_read",
    /// Rows inserted.
    RowsInserted => "Innodb_rows_inserted",
    /// Rows updated.
    RowsUpdated => "Innodb_rows_updated",
    /// Rows deleted.
    RowsDeleted => "Innodb_rows_deleted",
}

/// Threads with a number have a shard of their own. Others share the last one, with atomic additions.
const SHARDS: usize = thread_number::NUMBERS;
const COUNTERS_MAX: usize = 32;
const _: () = assert!(ALL.len() <= COUNTERS_MAX);

#[repr(align(128))]
struct Shard([AtomicU64; COUNTERS_MAX]);

static VALUES: [Shard; SHARDS + 1] =
    [const { Shard([const { AtomicU64::new(0) }; COUNTERS_MAX]) }; SHARDS + 1];

impl Counter {
    /// Counts one.
    #[inline]
    pub fn increment(self) {
        self.add(1);
    }

    /// Counts `amount`.
    #[inline]
    pub fn add(self, amount: u64) {
        let Some(shard) = thread_number::current() else {
            VALUES[SHARDS].0[self as usize].fetch_add(amount, Ordering::Relaxed);
            return;
        };
        let value = &VALUES[shard].0[self as usize];
        // Single writer: this thread, or, ordered by the number, the one that had it before.
        value.store(value.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// The sum over all threads.
    pub fn value(self) -> u64 {
        VALUES.iter().map(|shard| shard.0[self as usize].load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    }
}

/// All counters with their names and values.
pub fn counter_values() -> impl Iterator<Item = (&'static str, u64)> {
    ALL.iter().map(|(counter, name)| (*name, counter.value()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up_and_shards_are_used_again() {
        let before = Counter::RowsDeleted.value();
        for _ in 0..3 {
            std::thread::scope(|scope| {
                for _ in 0..SHARDS + 20 {
                    scope.spawn(|| (0..100).for_each(|_| Counter::RowsDeleted.increment()));
                }
            });
        }
        assert_eq!(Counter::RowsDeleted.value() - before, 3 * (SHARDS as u64 + 20) * 100);
    }

    #[test]
    fn names_are_unique_and_in_place() {
        let names: std::collections::BTreeSet<_> = counter_values().map(|(name, _)| name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().enumerate().all(|(index, (counter, _))| *counter as usize == index));
    }
}
