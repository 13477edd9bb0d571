//! Changes of a tree's structure: splits, merges, giving pages back. Each is a mini-transaction of its own that leaves a whole tree
//! (rule 5 in README.md).

mod free;
mod merge;
mod node_copy;
mod split;
mod split_plan;

pub(crate) use merge::is_underfull;
pub use split_plan::fits;
pub(crate) use split_plan::{APPEND_RESERVE_BYTES, cell_bytes, has_room, is_append};

use crate::tree::Tree;
use buffer::{BufferPool, MiniTransaction, StorageError};
use split::Room;
use stdx::ids::Lsn;

impl Tree {
    /// Splits until the leaf that covers `key` has room for the key with a value of `value_bytes`. Other threads may
    /// take the room again: callers try their change again in a loop. The caller holds no latch.
    pub fn make_room(&self, pool: &BufferPool, key: &[u8], value_bytes: usize) -> Result<(), StorageError> {
        let made = Room { tree: self, pool, key, value_bytes }.make();
        self.note_change();
        made
    }

    /// Merges the leaf that covers `key` with a neighbour if both are empty enough, then the nodes above it, then
    /// takes needless levels off the root. Worth calling when [`crate::LeafEdit::remove`] says so; the caller holds
    /// no latch.
    pub fn merge_at(&self, pool: &BufferPool, key: &[u8]) -> Result<(), StorageError> {
        let merged = merge::merge_at(self, pool, key);
        self.note_change();
        merged
    }

    /// Frees every page but the root, which becomes an empty leaf. Nobody else may use the tree.
    /// Returns the end of the last redo group.
    pub fn clear(&self, pool: &BufferPool) -> Result<Lsn, StorageError> {
        let cleared = free::clear(self, pool);
        self.note_change();
        cleared
    }

    /// Frees every page, root included. Nobody may use the tree any more. To be called in the mini-transaction that
    /// forgets the tree, after [`Tree::clear`].
    pub fn free_root(&self, mini: &mut MiniTransaction<'_>) -> Result<(), StorageError> {
        let root = mini.latch(self.root_id())?;
        mini.free(root)
    }
}
