//! Ordered index of byte keys over pages: [`Tree`]. Keys compare as bytes; a value fits a cell with its key ([`fits`]).
//! Writers work on one leaf under its exclusive latch inside a mini-transaction ([`LeafEdit`]); readers see
//! entries under a shared latch ([`Tree::get`], [`Cursor`]). Splits and merges are mini-transactions of their own.
//! The latch order and the rules are in this crate's README. Nothing here knows rows, transactions or tables.
#![forbid(unsafe_code)]

mod change;
mod check;
mod read;
mod structure;
mod tree;

#[cfg(test)]
mod tests;

pub use change::{BulkAppend, LeafEdit, Placed, RunEntry, RunStop, SortedEntries};
pub use check::{TreeFault, TreeReport, check_space, free_unreachable};
pub use page::KEY_BYTES_MAX;
pub use read::{Cursor, CursorRange, Direction, LeafSums, LeafView, RangeEstimate, Taken};
pub use structure::fits;
pub use tree::{LIVENESS_BYTES, Liveness, Tree, TreeId};
