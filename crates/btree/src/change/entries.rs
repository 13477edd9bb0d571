//! Changes of entries outside of any transaction: each is a mini-transaction of its own, and the tree is split and merged on the way.

use buffer::{BufferPool, StorageError};
use stdx::ids::Lsn;

use super::leaf_edit::Placed;
use crate::read::{Cursor, CursorRange, Direction, Taken};
use crate::tree::Tree;
use std::ops::Bound;

/// Writer of changes that belong to no transaction.
const NO_WRITER: u64 = 0;
/// Entries of a range that are removed between two pauses.
const REMOVED_AT_ONCE: usize = 256;

impl Tree {
    /// Puts an entry, in the place of the one with that key if there is one. Returns the end of its redo group.
    pub fn put(&self, pool: &BufferPool, key: &[u8], value: &[u8]) -> Result<Lsn, StorageError> {
        loop {
            let mut mini = pool.mini_transaction();
            let mut edit = self.edit(&mut mini, key)?;
            let placed =
                if edit.found() { edit.replace(value, NO_WRITER)? } else { edit.insert(value, NO_WRITER)? };
            if placed == Placed::Done {
                return Ok(mini.commit());
            }
            drop(mini);
            self.make_room(pool, key, value.len())?;
        }
    }

    /// Removes an entry. False if there is none.
    pub fn remove(&self, pool: &BufferPool, key: &[u8]) -> Result<bool, StorageError> {
        let mut mini = pool.mini_transaction();
        let mut edit = self.edit(&mut mini, key)?;
        if !edit.found() {
            return Ok(false);
        }
        let underfull = edit.remove(NO_WRITER)?;
        mini.commit();
        if underfull {
            self.merge_at(pool, key)?;
        }
        Ok(true)
    }

    /// Removes all entries of a range. `pause` is called every few hundred entries and may end it.
    pub fn remove_range(
        &self,
        pool: &BufferPool,
        mut range: CursorRange,
        pause: &mut dyn FnMut() -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        loop {
            pause()?;
            // From the end: a merge moves the right leaf's entries into the left one, and here the right one has none left.
            let keys = self.keys(pool, range.clone(), Direction::Backward, REMOVED_AT_ONCE)?;
            let Some(last) = keys.last() else { return Ok(()) };
            range.upper = Bound::Excluded(last.clone());
            for key in &keys {
                self.remove(pool, key)?;
            }
        }
    }

    /// The first keys of a range in that direction: about `count`, or all if there are fewer.
    pub fn keys(
        &self,
        pool: &BufferPool,
        range: CursorRange,
        direction: Direction,
        count: usize,
    ) -> Result<Vec<Vec<u8>>, StorageError> {
        let mut cursor = Cursor::new(range, direction);
        let mut keys = Vec::new();
        while keys.len() < count {
            let read = cursor.next_leaf(self, pool, |leaf| {
                let mut read = || {
                    for at in 0..leaf.len() {
                        let mut key = Vec::new();
                        leaf.key_into(at, &mut key)?;
                        keys.push(key);
                    }
                    Ok::<(), StorageError>(())
                };
                (Taken::All, read())
            })?;
            match read {
                Some(result) => result?,
                None => break,
            }
        }
        Ok(keys)
    }
}
