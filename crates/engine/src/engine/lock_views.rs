//! What the lock views show beside the lock objects: locked ranges, and what locks are on. Main type: [`LockViews`].

use crate::inner::EngineInner;
use crate::read::KeyRange;
use crate::tables::{Index, Table};
use btree::Taken;
use engine_error::{EngineError, EngineResult};
use entry::parse_head;
use std::ops::Bound;
use std::sync::Arc;
use txn::locks::{LockKey, RangeInfo};

/// Locks as they are at the moment.
#[derive(Clone, Copy, Debug)]
pub struct LockViews<'a> {
    pub(super) inner: &'a EngineInner,
}

impl LockViews<'_> {
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
