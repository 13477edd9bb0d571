//! Buffer pool, tablespace files, mini-transactions, flushing and doublewrite.
//!
//! [`BufferPool`] serves pages; [`MiniTransaction`] is the only way to change one (I3). The rules are in this crate's
//! README.

mod checkpoint_participant;
#[cfg(test)]
mod crash_tests;
mod error;
mod flush;
#[cfg(test)]
mod found_files_tests;
mod frames;
mod mini_transaction;
mod options;
mod page_transform;
mod pool;
mod recovery;
#[cfg(test)]
mod replay_tests;
mod spaces;
#[cfg(test)]
mod temporary_tests;
#[cfg(test)]
mod tests;

pub use checkpoint_participant::{CheckpointParticipant, NoLogicalRecords, NothingNeeded, RecoveryHandler};
pub use error::StorageError;
pub use flush::{LogRoomWaits, ReleasesLog, release_log};
pub use mini_transaction::{MiniTransaction, PageSlot, group_lines};
pub use options::{Forced, PoolOptions};
pub use page::{PAGE_BYTES, SpaceKind};
pub use pool::{BufferPool, SharedPage};
pub use recovery::{NeededPage, RecoveryReport};
pub use redo::{RedoError, RedoLog};
pub use spaces::{DATA_FILE_SUFFIX, FileFault, ReserveUse, TABLES_DIRECTORY, space_path, use_reserve};
