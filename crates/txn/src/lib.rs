//! Transactions: ids, snapshots, version store, row locks, deadlock search.
//! Knows keys and values as bytes only; the engine brings trees, tables and the log. Rules V, S, L and U of README.md are
//! referred to by number in the code.
#![forbid(unsafe_code)]

mod hash;
mod ids;
mod key_list;
mod kill;
pub mod locks;
mod snapshots;
mod spill_file;
pub mod undo;
mod undo_list;
mod versions;
mod wait_graph;

pub use ids::{CommitTable, TransactionState};
pub use key_list::KeyList;
pub use kill::{KillFlag, Wake};
pub use snapshots::{Snapshot, SnapshotRegistry};
pub use spill_file::{Extent, SpillError, SpillFile};
pub use undo::{Old, UndoRecord};
pub use undo_list::UndoList;
pub use versions::{HEAD_BYTES, OldVersion, VersionFigures, VersionStore};
pub use wait_graph::{Blockers, WaitGraph, WaiterId, Waiting};
