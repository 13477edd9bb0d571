//! Changes of entries: in one leaf under its latch ([`LeafEdit`]), one by one outside of transactions, and many in order
//! ([`BulkAppend`]).

mod bulk;
mod difference;
mod entries;
mod leaf_edit;
mod sorted_entries;

pub use bulk::BulkAppend;
pub use leaf_edit::{LeafEdit, Placed, RunEntry, RunStop};
pub use sorted_entries::SortedEntries;
