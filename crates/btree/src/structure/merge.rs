//! Giving room back: merges of underfull nodes with a neighbour under the same parent, and shrinking of the root.
//! The left node stays, the right one is freed. Each merge is a mini-transaction of its own.

use buffer::{BufferPool, MiniTransaction, PageSlot, StorageError};
use page::{
    CellRunBuilder, CorruptPage, Fence, NODE_CAPACITY_BYTES, NodeRef, PageOperation, Stamp, common_prefix,
};
use stdx::ids::PageNumber;

use super::node_copy::NodeCopy;
use crate::tree::{Toward, Tree};

/// A node with less than this in use looks for a neighbour to merge with.
const UNDERFULL_BYTES: usize = NODE_CAPACITY_BYTES / 3;
/// Two nodes merge only if together they stay below this, so that the next insert does not split them again.
const MERGED_BYTES_MAX: usize = NODE_CAPACITY_BYTES * 3 / 4;
/// Levels that one call works on: more than any tree has.
const LEVELS_MAX: u8 = 32;

/// Whether a node should be merged with a neighbour.
pub(crate) fn is_underfull(node: &NodeRef<'_>) -> bool {
    NODE_CAPACITY_BYTES - node.free_bytes() < UNDERFULL_BYTES
}

/// Merges what lies above and below the leaf that covers `key`, as far as nodes are empty enough.
pub(super) fn merge_at(tree: &Tree, pool: &BufferPool, key: &[u8]) -> Result<(), StorageError> {
    for level in 0..LEVELS_MAX {
        if !merge_level(tree, pool, key, level)? {
            break;
        }
    }
    while shrink_root(tree, pool)? {}
    Ok(())
}

/// Merges at one level; true if the parent may have become underfull by that.
fn merge_level(tree: &Tree, pool: &BufferPool, key: &[u8], level: u8) -> Result<bool, StorageError> {
    let mut mini = pool.mini_transaction();
    let Some(parent) = tree.latch_at_level(&mut mini, Toward::Key(key), level + 1)? else {
        return Ok(false);
    };
    let (_, at) = tree.child_at(&mini, parent, Toward::Key(key))?;
    let children = tree.node_at(&mini, parent)?.count();
    // Neighbours are latched from left to right.
    for left_at in [at, at.wrapping_sub(1)] {
        if left_at < children && left_at + 1 < children && merge_pair(tree, &mut mini, parent, left_at, at)? {
            let underfull = is_underfull(&tree.node_at(&mini, parent)?);
            mini.commit();
            return Ok(underfull);
        }
    }
    Ok(false)
}

/// Merges the children of cells `left_at` and `left_at + 1` if the one at `at` is underfull and they fit.
fn merge_pair(
    tree: &Tree,
    mini: &mut MiniTransaction<'_>,
    parent: PageSlot,
    left_at: usize,
    at: usize,
) -> Result<bool, StorageError> {
    let pair = tree.on_node(mini, parent, |node| Ok((node.child(left_at)?, node.child(left_at + 1)?)))?;
    let left = tree.latch_child(mini, parent, pair.0)?;
    let right = tree.latch_child(mini, parent, pair.1)?;
    let target = if at == left_at { left } else { right };
    let wanted = is_underfull(&tree.node_at(mini, target)?);
    let union = if wanted { union(tree, mini, left, right)? } else { None };
    let Some(union) = union else {
        mini.release(right);
        mini.release(left);
        return Ok(false);
    };
    let lower = NodeCopy::read(tree, mini, left)?.lower;
    let outer = NodeCopy::read(tree, mini, right)?;
    mini.free(right)?;
    mini.apply(
        left,
        &PageOperation::Reshape {
            keep_from: 0,
            keep_to: union.left_count as u16,
            right: outer.right,
            stamp: union.stamp,
            lower: &lower,
            upper: outer.upper(),
            cells: union.cells.run(),
        },
    );
    let stamp = Stamp::default();
    mini.apply(parent, &PageOperation::RemoveCell { slot: left_at as u16 + 1, stamp });
    Ok(true)
}

/// The right node's cells as they would stand in the left one; `None` if both do not fit one node.
fn union(
    tree: &Tree,
    mini: &MiniTransaction<'_>,
    left: PageSlot,
    right: PageSlot,
) -> Result<Option<Union>, StorageError> {
    let (left, right_id) = (tree.node_at(mini, left)?, mini.page_id(right));
    let right = tree.node_at(mini, right)?;
    union_of(&left, &right).map_err(|error| StorageError::corrupt(right_id, error))
}

/// Puts the only child of the root into the root. True if it did, and might again.
fn shrink_root(tree: &Tree, pool: &BufferPool) -> Result<bool, StorageError> {
    let has_one_child =
        |page: &[u8]| NodeRef::new(page).is_ok_and(|node| !node.is_leaf() && node.count() == 1);
    if !has_one_child(&pool.shared(tree.root_id())?) {
        return Ok(false);
    }
    let mut mini = pool.mini_transaction();
    let root = mini.latch(tree.root_id())?;
    if !has_one_child(mini.bytes(root)) {
        return Ok(false);
    }
    let (number, _) = tree.child_at(&mini, root, Toward::End)?;
    let child = tree.latch_child(&mut mini, root, number)?;
    let copy = NodeCopy::read(tree, &mini, child)?;
    let (cells, stamp) = tree.on_node(&mini, child, |node| Ok((all_cells(node)?, Stamp::from(node))))?;
    mini.free(child)?;
    mini.apply(
        root,
        &PageOperation::InitNode {
            level: copy.level,
            index: copy.index,
            right: PageNumber(0),
            stamp,
            lower: &copy.lower,
            upper: copy.upper(),
            cells: cells.run(),
        },
    );
    mini.commit();
    Ok(true)
}

fn all_cells(node: &NodeRef<'_>) -> Result<CellRunBuilder, CorruptPage> {
    let mut cells = CellRunBuilder::new();
    for slot in 0..node.count() {
        let (suffix, value) = node.cell(slot)?;
        cells.push(suffix, b"", value);
    }
    Ok(cells)
}

struct Union {
    left_count: usize,
    cells: CellRunBuilder,
    stamp: Stamp,
}

fn union_of(left: &NodeRef<'_>, right: &NodeRef<'_>) -> Result<Option<Union>, CorruptPage> {
    let (lower, upper) = (left.lower_fence()?, right.upper_fence()?);
    let prefix = common_prefix(lower, upper);
    let (left_prefix, right_prefix) = (left.prefix()?, right.prefix()?);
    let fence_bytes = lower.len() + if let Fence::Key(key) = upper { key.len() } else { 0 };
    // Suffixes grow by what the shorter prefix gives back to them.
    let mut bytes = fence_bytes + left.count() * left_prefix.len().saturating_sub(prefix);
    for slot in 0..left.count() {
        bytes += left.footprint_bytes(slot)?;
    }
    let given_back = right_prefix.get(prefix..).unwrap_or_default();
    let cut_off = prefix.saturating_sub(right_prefix.len());
    let mut cells = CellRunBuilder::new();
    for slot in 0..right.count() {
        let (suffix, value) = right.cell(slot)?;
        bytes += right.footprint_bytes(slot)? + given_back.len();
        let suffix =
            suffix.get(cut_off..).ok_or(CorruptPage { reason: "key is shorter than its node's prefix" })?;
        cells.push(given_back, suffix, value);
    }
    let stamp = Stamp::from(right);
    Ok((bytes <= MERGED_BYTES_MAX).then_some(Union { left_count: left.count(), cells, stamp }))
}
