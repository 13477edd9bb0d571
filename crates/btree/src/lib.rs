//! Ordered index of byte keys over pages: [`Tree`]. Keys compare as bytes; a value fits a cell with its key ([`fits`]).
//! Writers work on one leaf under its exclusive latch inside a mini-transaction ([`LeafEdit`]); readers see
//! entries under a shared latch ([`Tree::get`], [`Cursor`]). Splits and merges are mini-transactions of their own.
//! The latch order and the rules are in this crate's README. Nothing here knows rows, transactions or tables.
#![forbid(unsafe_code)]

mod bulk;
mod check;
mod check_space;
mod cursor;
mod descent;
mod difference;
mod entries;
mod estimate;
mod free;
mod leaf_edit;
mod leaf_sums;
mod merge;
mod partition;
mod past_damage;
mod room;
mod split_plan;
mod tree;

#[cfg(test)]
mod tests;

pub use bulk::BulkAppend;
pub use check::{TreeFault, TreeReport};
pub use check_space::{check_space, free_unreachable};
pub use cursor::{Cursor, CursorRange, Direction, LeafView, Taken};
pub use estimate::RangeEstimate;
pub use leaf_edit::{LeafEdit, Placed, RunEntry, RunStop};
pub use leaf_sums::LeafSums;
pub use page::KEY_BYTES_MAX;
pub use split_plan::fits;
pub use tree::{LIVENESS_BYTES, Liveness, Tree, TreeId};
