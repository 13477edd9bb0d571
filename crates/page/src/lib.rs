//! Page formats and page operations: pure functions over byte slices of [`PAGE_BYTES`] bytes.
//!
//! [`PageOperation`] is the only way in which a page changes, in normal running and in recovery;
//! [`NodeRef`] reads tree nodes, [`SpaceHeaderRef`] page 0 of a file.
//! Nothing here knows files, latches or transactions. Bytes from disk never lead to a panic: what does not
//! hold together is [`CorruptPage`]. The byte tables are in this crate's README.
#![forbid(unsafe_code)]

mod apply;
mod builder;
mod bytes;
mod cells;
mod codec;
mod header;
mod node;
mod node_edit;
mod operation;
mod space;
mod verify;

#[cfg(test)]
mod tests;

pub use cells::{CellRun, CellRunBuilder};
pub use header::{
    PageKind, is_plain, kind, lsn, number, page_id, set_checksum, set_lsn, space, stamp_identity,
    stored_checksum,
};
pub use node::{Fence, NodeRef, Position, common_prefix};
pub use operation::{PageOperation, Stamp};
pub use space::{SpaceHeaderRef, SpaceKind, SpaceOrigin};
pub use verify::verify;

/// Bytes of every page.
pub const PAGE_BYTES: usize = 16384;
/// Where the body of a page starts, after the header that all kinds share.
pub const BODY_OFFSET: usize = 24;
/// Longest key that a node takes, in bytes.
pub const KEY_BYTES_MAX: usize = 3500;
/// Largest cell (slot, length, key suffix and value together). Three such cells and two fences of
/// [`KEY_BYTES_MAX`] bound how unevenly a node can split, so that each half always fits its page.
pub const CELL_BYTES_MAX: usize = 5400;
/// Bytes that a cell takes beside its key suffix and its value: slot and length.
pub const CELL_OVERHEAD_BYTES: usize = node::SLOT_BYTES + node::LENGTH_BYTES;
/// Bytes of a node that slots, cells and fences share.
pub const NODE_CAPACITY_BYTES: usize = PAGE_BYTES - node::SLOTS_OFFSET;

const _: () = {
    assert!(2 * KEY_BYTES_MAX + CELL_BYTES_MAX <= NODE_CAPACITY_BYTES);
    // A split by bytes leaves each half at most half of the cells and half a cell more (see README, rule 4).
    assert!(KEY_BYTES_MAX / 2 + CELL_BYTES_MAX / 2 + KEY_BYTES_MAX <= NODE_CAPACITY_BYTES / 2);
};

/// A page, or an operation on one, that does not hold together: damaged bytes, never a client's mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorruptPage {
    /// What is wrong, in a few words.
    pub reason: &'static str,
}

impl CorruptPage {
    /// Names what is wrong.
    #[inline]
    pub const fn new(reason: &'static str) -> Self {
        Self { reason }
    }
}

impl std::fmt::Display for CorruptPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "corrupt page: {}", self.reason)
    }
}

impl std::error::Error for CorruptPage {}
