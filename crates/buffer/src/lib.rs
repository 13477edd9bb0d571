//! Buffer pool, tablespace files, mini-transactions, flushing and doublewrite.
//!
//! [`BufferPool`] serves pages; [`MiniTransaction`] is the only way to change one (I3). The rules are in this crate's
//! README.

mod checkpoint_participant;
mod error;
mod mini_transaction;
mod options;
mod pool;

pub use checkpoint_participant::{CheckpointParticipant, NoLogicalRecords, NothingNeeded, RecoveryHandler};
pub use error::StorageError;
pub use mini_transaction::{MiniTransaction, PageSlot};
pub use options::PoolOptions;
pub use page::PAGE_BYTES;
pub use pool::{BufferPool, DATA_FILE_SUFFIX, SharedPage};
pub use redo::{RedoError, RedoLog};
