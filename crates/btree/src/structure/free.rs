//! Giving all pages of a tree back to its space: DROP INDEX within a table's file. Works from the end of the tree,
//! a few pages a mini-transaction, and can be called again after a crash: what is left is found from the root.

use buffer::{BufferPool, MiniTransaction, PageSlot, StorageError};
use page::{CellRun, Fence, PageOperation, Stamp};
use stdx::ids::{Lsn, PageNumber};

use crate::tree::{Toward, Tree};

/// Frees every page but the root, which becomes an empty leaf. Nobody else may use the tree.
/// Returns the end of the last redo group.
pub(super) fn clear(tree: &Tree, pool: &BufferPool) -> Result<Lsn, StorageError> {
    loop {
        let mut mini = pool.mini_transaction();
        let root = mini.latch(tree.root_id())?;
        if tree.node_at(&mini, root)?.is_leaf() {
            init_empty(tree, &mut mini, root);
            return Ok(mini.commit());
        }
        if free_last_node(tree, &mut mini, root)? {
            init_empty(tree, &mut mini, root);
        }
        mini.commit();
    }
}

fn init_empty(tree: &Tree, mini: &mut MiniTransaction<'_>, root: PageSlot) {
    mini.apply(
        root,
        &PageOperation::InitNode {
            level: 0,
            index: tree.id.index,
            right: PageNumber(0),
            stamp: Stamp::default(),
            lower: b"",
            upper: Fence::Infinite,
            cells: CellRun::EMPTY,
        },
    );
}

/// Follows the last children down and takes one step: frees a leaf, or an inner node without children. True if the root has lost its last child.
fn free_last_node(tree: &Tree, mini: &mut MiniTransaction<'_>, root: PageSlot) -> Result<bool, StorageError> {
    let mut parent = root;
    loop {
        let (child, at) = tree.child_at(mini, parent, Toward::End)?;
        let slot = tree.latch_child(mini, parent, child)?;
        let node = tree.node_at(mini, slot)?;
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
