//! What the lock views show beside the lock objects: locked ranges, and what locks are on. Main type: [`LockViews`].

use crate::inner::EngineInner;
use crate::read::KeyRange;
use btree::Taken;
use engine_error::{EngineError, EngineResult};
use entry::parse_head;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use tables::{Index, Table};
use txn::locks::{LockKey, Owner, RangeInfo};

/// Locks as they are at the moment.
#[derive(Clone, Copy, Debug)]
pub struct LockViews<'a> {
    pub(super) inner: &'a EngineInner,
}

/// Bytes that a lock object takes, with its queue (measured with 10 million of them).
const OBJECT_BYTES: u64 = 390;

/// Who has locked something or waits for it.
#[derive(Clone, Copy, Debug)]
pub struct LockHolder {
    /// The owner's number.
    pub owner: u64,
    /// Its connection.
    pub session_id: u64,
    /// Lock objects and locked ranges.
    pub lock_objects: u64,
    /// What they take in memory, about.
    pub lock_bytes: u64,
    /// Rows locked by them.
    pub rows: u64,
    /// Tables of which something is locked.
    pub tables: u64,
    /// When the wait began that it is in: monotonic time, microseconds.
    pub waits_since_us: Option<u64>,
}

impl LockViews<'_> {
    /// All who have locked something, or wait for it.
    pub fn holders(&self) -> Vec<LockHolder> {
        let dictionary = &self.inner.tables.dictionary;
        let holder = |owner: &Arc<Owner>| {
            let indexes = owner.locked_indexes();
            let tables: BTreeSet<_> = indexes
                .into_iter()
                .filter_map(|index| Some(dictionary.table_of_index(index)?.id()))
                .collect();
            let lock_objects = owner.lock_count() as u64;
            LockHolder {
                owner: owner.number,
                session_id: owner.session_id(),
                lock_objects,
                lock_bytes: lock_objects * OBJECT_BYTES,
                rows: owner.locked_rows(),
                tables: tables.len() as u64,
                waits_since_us: owner.waits_since_us(),
            }
        };
        self.inner.system.locks.owners().values().map(holder).collect()
    }

    /// Ranges of keys that transactions have locked, with their rows or only their gaps.
    pub fn ranges(&self) -> Vec<RangeInfo> {
        self.inner.system.locks.locked_ranges()
    }

    /// The keys of the rows that stand in a locked range, in order, at most `keys_max`. Errors: Corrupt, Io.
    pub fn row_keys(&self, index: &Index, range: &RangeInfo, keys_max: usize) -> EngineResult<Vec<Vec<u8>>> {
        let lower = Bound::Included(range.from.key.to_vec());
        let upper = range.to.as_ref().map_or(Bound::Unbounded, |to| Bound::Excluded(to.to_vec()));
        let mut cursor = KeyRange { lower, upper }.cursor();
        let mut keys = Vec::new();
        while keys.len() < keys_max
            && let Some(read) = cursor.next_leaf(&index.tree, &self.inner.pool, |leaf| {
                let mut read = || {
                    for at in 0..leaf.len().min(keys_max - keys.len()) {
                        if !parse_head(leaf.entry(at)?.1)?.deleted {
                            let mut key = Vec::new();
                            leaf.key_into(at, &mut key)?;
                            keys.push(key);
                        }
                    }
                    Ok::<(), EngineError>(())
                };
                (Taken::All, read())
            })?
        {
            read?;
        }
        Ok(keys)
    }

    /// The table and the number of the index that a lock is on; None for AUTO-INC locks, and if it has gone since.
    pub fn index_of(&self, key: &LockKey) -> Option<(Arc<Table>, usize)> {
        let table = self.inner.tables.dictionary.table_of_index(key.index)?;
        let index = table.indexes().iter().position(|index| index.id() == key.index)?;
        Some((table, index))
    }
}
