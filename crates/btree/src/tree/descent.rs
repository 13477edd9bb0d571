//! Ways down the tree. Readers hold at most two latches: a node's is released once its child's is held.
//! This is the one place that knows how inner nodes are latched on the way.

use buffer::{BufferPool, MiniTransaction, PageSlot, SharedPage, StorageError};
use page::{CorruptPage, NodeRef};
use stdx::ids::{PageId, PageNumber};

use super::Tree;

/// The error of a node that must have cells.
pub(crate) const CORRUPT_EMPTY: CorruptPage =
    CorruptPage { reason: "node without cells where there must be some" };

/// Which child of an inner node a descent takes.
#[derive(Clone, Copy)]
pub(crate) enum Toward<'a> {
    /// The child that covers the key.
    Key(&'a [u8]),
    /// The child that covers the keys just below the key.
    Before(&'a [u8]),
    /// The last child.
    End,
}

impl Toward<'_> {
    /// The cell to follow; `None` if nothing of the tree lies that way.
    pub(crate) fn slot(self, node: &NodeRef<'_>) -> Result<Option<usize>, CorruptPage> {
        match self {
            Toward::Key(key) => node.child_slot(key).map(Some),
            Toward::Before(key) => node.child_slot_before(key),
            Toward::End => Ok(node.count().checked_sub(1)),
        }
    }
}

/// A step down: the node's level, and the child taken.
struct Step {
    level: u8,
    child: Option<PageNumber>,
}

impl Tree {
    /// The leaf that covers `key`, latched shared.
    pub(crate) fn find_leaf<'p>(
        &self,
        pool: &'p BufferPool,
        key: &[u8],
    ) -> Result<(PageId, SharedPage<'p>), StorageError> {
        let found = self.find_leaf_toward(pool, Toward::Key(key))?;
        found.ok_or(StorageError::Corrupt { page: self.root_id(), reason: "no leaf covers a key" })
    }

    /// The leaf that lies that way, latched shared; `None` if the tree ends before.
    pub(crate) fn find_leaf_toward<'p>(
        &self,
        pool: &'p BufferPool,
        toward: Toward<'_>,
    ) -> Result<Option<(PageId, SharedPage<'p>)>, StorageError> {
        self.find_toward(pool, toward, 0)
    }

    /// The node of `level` that covers `key`, latched shared; `None` if the tree is lower.
    pub(crate) fn find_node<'p>(
        &self,
        pool: &'p BufferPool,
        key: &[u8],
        level: u8,
    ) -> Result<Option<(PageId, SharedPage<'p>)>, StorageError> {
        self.find_toward(pool, Toward::Key(key), level)
    }

    fn find_toward<'p>(
        &self,
        pool: &'p BufferPool,
        toward: Toward<'_>,
        level: u8,
    ) -> Result<Option<(PageId, SharedPage<'p>)>, StorageError> {
        let mut id = self.root_id();
        let mut page = pool.shared(id)?;
        loop {
            let step = self.step(id, &page, toward)?;
            if step.level <= level {
                return Ok((step.level == level).then_some((id, page)));
            }
            let Some(child) = step.child else { return Ok(None) };
            id = self.page_id(child);
            let next = pool.shared(id)?;
            self.check_child_level(id, &next, step.level)?;
            page = next;
        }
    }

    /// Latches the node of `level` that lies that way exclusively. Inner nodes above are only read.
    /// `None` if the tree is lower than that, or ends before.
    pub(crate) fn latch_at_level(
        &self,
        mini: &mut MiniTransaction<'_>,
        toward: Toward<'_>,
        level: u8,
    ) -> Result<Option<PageSlot>, StorageError> {
        let pool = mini.pool();
        loop {
            let mut id = self.root_id();
            let mut page = pool.shared(id)?;
            let mut step = self.step(id, &page, toward)?;
            if step.level < level {
                return Ok(None);
            }
            if step.level == level {
                drop(page);
                let slot = mini.latch(id)?;
                if self.node_at(mini, slot)?.level() == level {
                    return Ok(Some(slot));
                }
                // The root grew or shrank between the two latches.
                mini.release(slot);
                continue;
            }
            loop {
                let Some(child) = step.child else { return Ok(None) };
                id = self.page_id(child);
                if step.level == level + 1 {
                    let slot = mini.latch(id)?;
                    self.check_child_level(id, mini.bytes(slot), step.level)?;
                    return Ok(Some(slot));
                }
                let next = pool.shared(id)?;
                self.check_child_level(id, &next, step.level)?;
                page = next;
                step = self.step(id, &page, toward)?;
            }
        }
    }

    /// The node that a slot of a mini-transaction holds.
    pub(crate) fn node_at<'a>(
        &self,
        mini: &'a MiniTransaction<'_>,
        slot: PageSlot,
    ) -> Result<NodeRef<'a>, StorageError> {
        NodeRef::new(mini.bytes(slot)).map_err(|error| StorageError::corrupt(mini.page_id(slot), error))
    }

    /// Latches the child of a latched node.
    pub(crate) fn latch_child(
        &self,
        mini: &mut MiniTransaction<'_>,
        parent: PageSlot,
        child: PageNumber,
    ) -> Result<PageSlot, StorageError> {
        let level = self.node_at(mini, parent)?.level();
        let id = self.page_id(child);
        let slot = mini.latch(id)?;
        self.check_child_level(id, mini.bytes(slot), level)?;
        Ok(slot)
    }

    /// Reads the node that a slot of a mini-transaction holds.
    pub(crate) fn on_node<R>(
        &self,
        mini: &MiniTransaction<'_>,
        slot: PageSlot,
        read: impl FnOnce(&NodeRef<'_>) -> Result<R, CorruptPage>,
    ) -> Result<R, StorageError> {
        let node = self.node_at(mini, slot)?;
        read(&node).map_err(|error| StorageError::corrupt(mini.page_id(slot), error))
    }

    /// The child of an inner node that lies that way, and its cell.
    pub(crate) fn child_at(
        &self,
        mini: &MiniTransaction<'_>,
        slot: PageSlot,
        toward: Toward<'_>,
    ) -> Result<(PageNumber, usize), StorageError> {
        self.on_node(mini, slot, |node| {
            let at = toward.slot(node)?.ok_or(CORRUPT_EMPTY)?;
            Ok((node.child(at)?, at))
        })
    }

    fn step(&self, id: PageId, page: &[u8], toward: Toward<'_>) -> Result<Step, StorageError> {
        let step = || {
            let node = NodeRef::new(page)?;
            let level = node.level();
            let slot = if level == 0 { None } else { toward.slot(&node)? };
            let child = slot.map(|slot| node.child(slot)).transpose()?;
            Ok(Step { level, child })
        };
        step().map_err(|error| StorageError::corrupt(id, error))
    }

    /// A child lies exactly one level below its parent: a damaged link can not lead a descent in circles.
    pub(crate) fn check_child_level(
        &self,
        id: PageId,
        page: &[u8],
        parent_level: u8,
    ) -> Result<(), StorageError> {
        let node = NodeRef::new(page).map_err(|error| StorageError::corrupt(id, error))?;
        if node.level() + 1 != parent_level || node.index() != self.id.index {
            return Err(StorageError::Corrupt { page: id, reason: "child does not belong below its parent" });
        }
        Ok(())
    }
}
