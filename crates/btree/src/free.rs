//! Giving all pages of a tree back to its space: DROP INDEX within a table's file. Works from the end of the tree,
//! a few pages a mini-transaction, and can be called again after a crash: what is left is found from the root.

use buffer::{BufferPool, MiniTransaction, PageSlot, StorageError};
use page::{CellRun, Fence, PageOperation, Stamp};
use stdx::ids::{Lsn, PageNumber};

use crate::descent::Toward;
use crate::tree::Tree;

impl Tree {
    /// Frees every page but the root, which becomes an empty leaf. Nobody else may use the tree.
    /// Returns the end of the last redo group.
    pub fn clear(&self, pool: &BufferPool) -> Result<Lsn, StorageError> {
        loop {
            let mut mini = pool.mini_transaction();
            let root = mini.latch(self.root_id())?;
            if self.node_at(&mini, root)?.is_leaf() {
                self.init_empty(&mut mini, root);
                return Ok(mini.commit());
            }
            if self.free_last_node(&mut mini, root)? {
                self.init_empty(&mut mini, root);
            }
            mini.commit();
        }
    }

    /// Frees every page, root included. Nobody may use the tree any more. To be called in the mini-transaction that
    /// forgets the tree, after [`Tree::clear`].
    pub fn free_root(&self, mini: &mut MiniTransaction<'_>) -> Result<(), StorageError> {
        let root = mini.latch(self.root_id())?;
        mini.free(root)
    }

    fn init_empty(&self, mini: &mut MiniTransaction<'_>, root: PageSlot) {
        mini.apply(
            root,
            &PageOperation::InitNode {
                level: 0,
                index: self.id.index,
                right: PageNumber(0),
                stamp: Stamp::default(),
                lower: b"",
                upper: Fence::Infinite,
                cells: CellRun::EMPTY,
            },
        );
    }

    /// Follows the last children down and takes one step: frees a leaf, or an inner node without children. True if the root has lost its last child.
    fn free_last_node(&self, mini: &mut MiniTransaction<'_>, root: PageSlot) -> Result<bool, StorageError> {
        let mut parent = root;
        loop {
            let (child, at) = self.child_at(mini, parent, Toward::End)?;
            let slot = self.latch_child(mini, parent, child)?;
            let node = self.node_at(mini, slot)?;
            let (is_leaf, count) = (node.is_leaf(), node.count());
            if !is_leaf && count > 0 {
                parent = slot;
                continue;
            }
            let last_of_root = parent == root && at == 0;
            mini.free(slot)?;
            if !last_of_root {
                mini.apply(parent, &PageOperation::RemoveCell { slot: at as u16, stamp: Stamp::default() });
            }
            return Ok(last_of_root);
        }
    }
}
