//! [`BulkAppend`]: builds a tree from sorted entries, or adds sorted entries to one: each leaf is latched once and
//! gets its entries as one redo record; leaves at the end of the tree are filled to 15/16.

use buffer::{BufferPool, StorageError};
use stdx::ids::Lsn;

use super::leaf_edit::{RunEntry, RunStop};
use crate::tree::Tree;

/// Bytes collected before a run is inserted: a few leaves' worth.
const PENDING_BYTES_MAX: usize = 64 << 10;

/// Adds entries in ascending key order. What is pushed is in the tree after `finish`; mini-transactions are
/// committed on the way.
pub struct BulkAppend<'t> {
    tree: &'t Tree,
    pool: &'t BufferPool,
    writer: u64,
    bytes: Vec<u8>,
    /// Ends of key and value of each entry in `bytes`.
    ends: Vec<(usize, usize)>,
    end: Lsn,
}

impl<'t> BulkAppend<'t> {
    /// Starts; `writer` is the writer id that the entries carry.
    pub fn new(tree: &'t Tree, pool: &'t BufferPool, writer: u64) -> Self {
        Self { tree, pool, writer, bytes: Vec::new(), ends: Vec::new(), end: Lsn(0) }
    }

    /// Adds an entry whose key is above all pushed before and not in the tree.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StorageError> {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((key_end, self.bytes.len()));
        if self.bytes.len() >= PENDING_BYTES_MAX { self.flush() } else { Ok(()) }
    }

    /// Inserts what is pending. Returns the end of the last redo group.
    ///
    /// # Panics
    /// If a key was in the tree already.
    pub fn finish(mut self) -> Result<Lsn, StorageError> {
        self.flush()?;
        Ok(self.end)
    }

    fn flush(&mut self) -> Result<(), StorageError> {
        let mut start = 0;
        let entries: Vec<RunEntry<'_>> = self
            .ends
            .iter()
            .map(|(key_end, end)| {
                let (key, value) = (&self.bytes[start..*key_end], &self.bytes[*key_end..*end]);
                start = *end;
                RunEntry { key, value, unique_bytes: 0 }
            })
            .collect();
        let mut rest = &entries[..];
        while let Some(RunEntry { key, value, .. }) = rest.first().copied() {
            let mut mini = self.pool.mini_transaction();
            let mut edit = self.tree.edit(&mut mini, key)?;
            let (inserted, stop) = edit.insert_run(rest, self.writer, &mut |_| true)?;
            let needs_room = inserted == 0 && stop == RunStop::NeedsRoom;
            assert!(inserted > 0 || needs_room, "entry of a bulk load is too long or in the tree already");
            if inserted > 0 {
                self.end = mini.commit();
                rest = &rest[inserted..];
                continue;
            }
            drop(mini);
            self.tree.make_room(self.pool, key, value.len())?;
        }
        self.bytes.clear();
        self.ends.clear();
        Ok(())
    }
}
