//! What does not fit a statement's memory. [`Workspace`] counts its memory and makes its temporary files; on them stand
//! [`Sorter`] (rows in order), [`RowStore`] (rows in the order they came) and [`KeySet`] (which keys were there).
//! All of one statement's thread. The rules are in the crate's README, "Larger than memory".

mod kept_rows;
mod key_set;
mod row_codec;
mod row_store;
mod runs;
mod sorter;
mod spool;
#[cfg(test)]
mod tests;
mod workspace;

pub use kept_rows::KeptRows;
pub(crate) use key_set::KeySet;
pub(crate) use row_codec::encode as encode_row;
pub(crate) use row_store::{RowCursor, RowStore};
pub(crate) use sorter::{Sorted, Sorter};
pub use spool::{SPOOL_PIECE_BYTES, Spool};
pub use workspace::SpillCounts;
pub(crate) use workspace::{Held, LongHeld, TemporaryFile, Workspace, full};
