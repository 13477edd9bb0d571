//! How a scan reads rows, and which way it goes. Main types: [`ReadMode`], [`WaitPolicy`], [`Direction`].

/// How rows are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadMode {
    /// From the transaction's snapshot (the newest rows under READ UNCOMMITTED). Takes no locks.
    #[default]
    Consistent,
    /// The newest committed rows, locked for reading (FOR SHARE; plain reads of SERIALIZABLE).
    Shared(WaitPolicy),
    /// The newest committed rows, locked for writing (FOR UPDATE, UPDATE, DELETE).
    Exclusive(WaitPolicy),
}

/// What to do when a row is locked by another transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Wait up to the lock wait time-out.
    #[default]
    Wait,
    /// NOWAIT: fail with `LockNotAvailable`.
    NoWait,
    /// SKIP LOCKED: leave the row out.
    SkipLocked,
    /// Give the row as it was last committed, without a lock ([`crate::RowBatch::last_is_unlocked`]): whoever wants it asks for it then
    /// (semi-consistent reads). Only for scans of a clustered index that give rows back (READ COMMITTED and below); as `Wait` elsewhere.
    LastCommitted,
}

/// Direction of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// In key order.
    #[default]
    Forward,
    /// In reverse key order.
    Backward,
}
