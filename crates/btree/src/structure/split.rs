//! Making room: splits of leaves and inner nodes, growth of the root. Each split is a mini-transaction of its own
//! and leaves a whole tree behind, so that a crash between two of them harms nothing.

use buffer::{BufferPool, MiniTransaction, PageSlot, StorageError};
use page::{
    CELL_OVERHEAD_BYTES, CellRun, CellRunBuilder, CorruptPage, Fence, NodeRef, PageOperation, Stamp,
    common_prefix,
};
use stdx::ids::PageNumber;

use super::node_copy::NodeCopy;
use super::split_plan::{Cut, cell_bytes, cut_in_run, cut_inner, cut_leaf, has_room, is_append};
use crate::tree::{CORRUPT_EMPTY, Toward, Tree};

/// Splits that one call may need: a few per level, and levels are few. More means damage.
const SPLITS_MAX: usize = 64;

const CHILD_BYTES: usize = 4;
const CORRUPT_KEY: CorruptPage = CorruptPage { reason: "key is shorter than its node's prefix" };

/// What one attempt to split did.
enum Attempt {
    /// The leaf has room now.
    Enough,
    /// A node was split; the leaf may still lack room.
    Split,
    /// The parent of the leaf lacks room as well: the whole path is needed.
    ParentFull,
}

/// Cells on their way to another node.
struct Half {
    cells: CellRunBuilder,
    stamp: Stamp,
}

/// Room that is made in the leaf that covers `key`, for the key with a value of `value_bytes`.
pub(super) struct Room<'a> {
    pub(super) tree: &'a Tree,
    pub(super) pool: &'a BufferPool,
    pub(super) key: &'a [u8],
    pub(super) value_bytes: usize,
}

impl Room<'_> {
    /// Splits until there is room.
    pub(super) fn make(&self) -> Result<(), StorageError> {
        for _ in 0..SPLITS_MAX {
            let attempt = match self.split_below_parent()? {
                Attempt::ParentFull => self.split_on_path()?,
                attempt => attempt,
            };
            if matches!(attempt, Attempt::Enough) {
                return Ok(());
            }
        }
        Err(StorageError::Corrupt { page: self.tree.root_id(), reason: "splits make no room" })
    }

    /// The common case: latches the leaf's parent and the leaf.
    fn split_below_parent(&self) -> Result<Attempt, StorageError> {
        let mut mini = self.pool.mini_transaction();
        let Some(parent) = self.tree.latch_at_level(&mut mini, Toward::Key(self.key), 1)? else {
            return Ok(Attempt::ParentFull);
        };
        let (child, at) = self.tree.child_at(&mini, parent, Toward::Key(self.key))?;
        let leaf = mini.latch(self.tree.page_id(child))?;
        let Some(cut) = self.cut_if_full(&mini, leaf)? else { return Ok(Attempt::Enough) };
        if !self.takes_separator(&mini, parent, &cut)? {
            return Ok(Attempt::ParentFull);
        }
        self.split(&mut mini, parent, at, leaf, &cut)?;
        mini.commit();
        Ok(Attempt::Split)
    }

    /// Latches the whole path and splits the lowest node whose parent can take the separator, or the root.
    fn split_on_path(&self) -> Result<Attempt, StorageError> {
        let mut mini = self.pool.mini_transaction();
        let mut path = vec![(mini.latch(self.tree.root_id())?, 0)];
        loop {
            let (slot, _) = path[path.len() - 1];
            if self.tree.node_at(&mini, slot)?.is_leaf() {
                break;
            }
            let (child, at) = self.tree.child_at(&mini, slot, Toward::Key(self.key))?;
            path.push((self.tree.latch_child(&mut mini, slot, child)?, at));
        }
        let (leaf, _) = path[path.len() - 1];
        let Some(mut cut) = self.cut_if_full(&mini, leaf)? else {
            return Ok(Attempt::Enough);
        };
        while let Some((node, at)) = path.pop() {
            let Some((parent, _)) = path.last().copied() else {
                self.grow(&mut mini, node, &cut)?;
                break;
            };
            if self.takes_separator(&mini, parent, &cut)? {
                self.split(&mut mini, parent, at, node, &cut)?;
                break;
            }
            cut = self.tree.on_node(&mini, parent, |node| cut_inner(node, at))?;
        }
        mini.commit();
        Ok(Attempt::Split)
    }

    fn cut_if_full(&self, mini: &MiniTransaction<'_>, leaf: PageSlot) -> Result<Option<Cut>, StorageError> {
        let key = self.key;
        self.tree.on_node(mini, leaf, |node| {
            let position = node.search(key)?;
            let bytes = cell_bytes(key.len(), self.value_bytes) - node.prefix()?.len();
            if has_room(node, position, bytes)? {
                return Ok(None);
            }
            if is_append(node, position) && node.count() == 0 {
                return Err(CORRUPT_EMPTY);
            }
            let cut = if self.tree.in_runs { cut_in_run(node, key, position)? } else { None };
            cut.map_or_else(|| cut_leaf(node, key, position, bytes), Ok).map(Some)
        })
    }

    fn takes_separator(
        &self,
        mini: &MiniTransaction<'_>,
        parent: PageSlot,
        cut: &Cut,
    ) -> Result<bool, StorageError> {
        self.tree.on_node(mini, parent, |node| {
            let bytes = CELL_OVERHEAD_BYTES + CHILD_BYTES + cut.separator.len();
            Ok(bytes.saturating_sub(node.prefix()?.len()) <= node.free_bytes())
        })
    }

    /// Moves the cells from the cut on to a new right neighbour and tells the parent.
    fn split(
        &self,
        mini: &mut MiniTransaction<'_>,
        parent: PageSlot,
        at: usize,
        node: PageSlot,
        cut: &Cut,
    ) -> Result<PageSlot, StorageError> {
        let old = NodeCopy::read(self.tree, mini, node)?;
        let moved = self.tree.on_node(mini, node, |node| right_half(self.tree, node, cut))?;
        let right = mini.allocate(self.tree.id.space)?;
        let right_number = mini.page_id(right).number;
        mini.apply(right, &old.init(moved.stamp, &cut.separator, old.upper(), moved.cells.run(), old.right));
        let stamp = Stamp { writer: 0, live_delta: -moved.stamp.live_delta };
        mini.apply(
            node,
            &PageOperation::Reshape {
                keep_from: 0,
                keep_to: cut.slot as u16,
                right: right_number,
                stamp,
                lower: &old.lower,
                upper: Fence::Key(&cut.separator),
                cells: CellRun::EMPTY,
            },
        );
        add_child(mini, parent, at + 1, &cut.separator, right_number);
        if old.level == 0 && old.upper.is_none() {
            self.tree.note_rightmost(right_number, &cut.separator);
        }
        Ok(right)
    }

    /// Moves both halves of the root to new nodes; the root becomes their parent.
    fn grow(&self, mini: &mut MiniTransaction<'_>, root: PageSlot, cut: &Cut) -> Result<(), StorageError> {
        let old = NodeCopy::read(self.tree, mini, root)?;
        let left_half = self.tree.on_node(mini, root, |node| left_half(self.tree, node, cut))?;
        let right_half = self.tree.on_node(mini, root, |node| right_half(self.tree, node, cut))?;
        let left = mini.allocate(self.tree.id.space)?;
        let right = mini.allocate(self.tree.id.space)?;
        let (left_number, right_number) = (mini.page_id(left).number, mini.page_id(right).number);
        let separator = Fence::Key(&cut.separator);
        mini.apply(left, &old.init(left_half.stamp, b"", separator, left_half.cells.run(), right_number));
        mini.apply(
            right,
            &old.init(
                right_half.stamp,
                &cut.separator,
                Fence::Infinite,
                right_half.cells.run(),
                PageNumber(0),
            ),
        );
        let (left_bytes, right_bytes) = (left_number.0.to_le_bytes(), right_number.0.to_le_bytes());
        let mut children = CellRunBuilder::new();
        children.push(b"", b"", &left_bytes);
        children.push(&cut.separator, b"", &right_bytes);
        mini.apply(
            root,
            &PageOperation::InitNode {
                level: old.level + 1,
                index: self.tree.id.index,
                right: PageNumber(0),
                stamp: Stamp::default(),
                lower: b"",
                upper: Fence::Infinite,
                cells: children.run(),
            },
        );
        if old.level == 0 {
            self.tree.note_rightmost(right_number, &cut.separator);
        }
        Ok(())
    }
}

/// Puts a child into an inner node.
fn add_child(
    mini: &mut MiniTransaction<'_>,
    parent: PageSlot,
    at: usize,
    separator: &[u8],
    child: PageNumber,
) {
    let prefix = NodeRef::new(mini.bytes(parent)).and_then(|node| Ok(node.prefix()?.len())).unwrap_or(0);
    let bytes = child.0.to_le_bytes();
    mini.apply(
        parent,
        &PageOperation::InsertCell {
            slot: at as u16,
            stamp: Stamp::default(),
            suffix: &separator[prefix..],
            value: &bytes,
        },
    );
}

fn left_half(tree: &Tree, node: &NodeRef<'_>, cut: &Cut) -> Result<Half, CorruptPage> {
    let prefix = common_prefix(node.lower_fence()?, Fence::Key(&cut.separator));
    half(tree, node, 0..cut.slot, prefix)
}

fn right_half(tree: &Tree, node: &NodeRef<'_>, cut: &Cut) -> Result<Half, CorruptPage> {
    let prefix = common_prefix(&cut.separator, node.upper_fence()?);
    half(tree, node, cut.slot..node.count(), prefix)
}

/// Cells as they will stand in a node whose prefix has `prefix` bytes (not fewer than the node's).
fn half(
    tree: &Tree,
    node: &NodeRef<'_>,
    slots: std::ops::Range<usize>,
    prefix: usize,
) -> Result<Half, CorruptPage> {
    let cut_off = prefix - node.prefix()?.len().min(prefix);
    let mut cells = CellRunBuilder::new();
    let mut live_delta = 0;
    for slot in slots {
        let (suffix, value) = node.cell(slot)?;
        cells.push(suffix.get(cut_off..).ok_or(CORRUPT_KEY)?, b"", value);
        if node.is_leaf() {
            live_delta += tree.live(value);
        }
    }
    Ok(Half { cells, stamp: Stamp { writer: node.newest_writer(), live_delta } })
}
