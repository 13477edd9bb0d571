//! Rows and keys of one statement: between operators ([`RowBatch`]), and what may outgrow its memory. [`Workspace`] counts the
//! statement's memory and makes its temporary files; on them stand [`Sorter`] (rows in order), [`RowStore`] (rows in the order they
//! came) and [`KeySet`] (which keys were there). All of one statement's thread. Knows no plan. The rules are in the README.
#![forbid(unsafe_code)]

pub mod batch;
mod document_watch;
mod exact_slots;
mod kept_rows;
pub mod key_counts;
mod key_set;
pub mod key_table;
pub mod keys;
mod row_codec;
mod row_store;
mod runs;
pub mod seeded;
mod server_memory;
mod sorter;
mod spool;
#[cfg(test)]
mod tests;
mod workspace;

pub use batch::RowBatch;
pub use document_watch::DocumentWatch;
pub use exact_slots::ExactSlots;
pub use kept_rows::KeptRows;
pub use key_set::KeySet;
pub use row_codec::encode as encode_row;
pub use row_store::{RowCursor, RowStore};
pub use server_memory::{Reservation, ServerMemory};
pub use sorter::{Sorted, Sorter};
pub use spool::{SPOOL_PIECE_BYTES, Spool};
pub use workspace::{Held, LongHeld, SpillCounts, Workspace, check_flag, corrupt, full};
