//! Buffer pool, tablespace files, mini-transactions, flushing and doublewrite.
//!
//! [`BufferPool`] serves pages; [`MiniTransaction`] is the only way to change one (I3). The rules are in this crate's
//! README.

mod checkpoint;
mod checkpoint_participant;
#[cfg(test)]
mod crash_tests;
mod damage;
mod dirty_queue;
mod doublewrite;
mod error;
mod flusher;
#[cfg(test)]
mod found_files_tests;
mod frame_supply;
mod frames;
mod group_text;
mod growing_array;
mod latch;
mod log_room;
mod mini_transaction;
mod open_files;
mod options;
mod page_count;
mod page_transform;
mod parking;
mod pool;
mod record;
mod recovery;
mod replay;
mod replay_batch;
mod replay_page;
#[cfg(test)]
mod replay_tests;
mod reserve;
mod space_files;
mod spaces;
#[cfg(test)]
mod tests;

pub use checkpoint_participant::{CheckpointParticipant, NoLogicalRecords, NothingNeeded, RecoveryHandler};
pub use damage::NeededPage;
pub use error::StorageError;
pub use group_text::group_lines;
pub use log_room::{LogRoomWaits, ReleasesLog, release_log};
pub use mini_transaction::{MiniTransaction, PageSlot};
pub use options::{Forced, PoolOptions};
pub use page::{PAGE_BYTES, SpaceKind};
pub use pool::{BufferPool, SharedPage};
pub use recovery::{FileFault, RecoveryReport};
pub use redo::{RedoError, RedoLog};
pub use reserve::{ReserveUse, use_reserve};
pub use space_files::{DATA_FILE_SUFFIX, TABLES_DIRECTORY, space_path};
