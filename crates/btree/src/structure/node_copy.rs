//! A node without its cells. Main type: [`NodeCopy`].

use crate::tree::Tree;
use buffer::{MiniTransaction, PageSlot, StorageError};
use page::{CellRun, Fence, PageOperation, Stamp};
use stdx::ids::PageNumber;

/// What a node has beside its cells, copied so that the page may change.
pub(super) struct NodeCopy {
    pub(super) level: u8,
    pub(super) index: stdx::ids::IndexId,
    pub(super) right: PageNumber,
    pub(super) lower: Vec<u8>,
    pub(super) upper: Option<Vec<u8>>,
}

impl NodeCopy {
    pub(super) fn read(
        tree: &Tree,
        mini: &MiniTransaction<'_>,
        slot: PageSlot,
    ) -> Result<Self, StorageError> {
        tree.on_node(mini, slot, |node| {
            Ok(Self {
                level: node.level(),
                index: node.index(),
                right: node.right().unwrap_or_default(),
                lower: node.lower_fence()?.to_vec(),
                upper: match node.upper_fence()? {
                    Fence::Key(key) => Some(key.to_vec()),
                    Fence::Infinite => None,
                },
            })
        })
    }

    pub(super) fn upper(&self) -> Fence<'_> {
        self.upper.as_deref().map_or(Fence::Infinite, Fence::Key)
    }

    /// The operation that makes a node of the same level and index.
    pub(super) fn init<'a>(
        &self,
        stamp: Stamp,
        lower: &'a [u8],
        upper: Fence<'a>,
        cells: CellRun<'a>,
        right: PageNumber,
    ) -> PageOperation<'a> {
        PageOperation::InitNode { level: self.level, index: self.index, right, stamp, lower, upper, cells }
    }
}
