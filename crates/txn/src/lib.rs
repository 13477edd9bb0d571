//! Transactions: ids, snapshots, undo records and lists, row locks, deadlock search.
//! Knows keys and values as bytes only; the engine brings trees, tables and the log. Rules V, S, N, T, L and U of README.md are
//! referred to by number in the code.
#![forbid(unsafe_code)]

mod commit_table;
mod hash;
mod key_list;
mod kill;
pub mod locks;
mod snapshots;
mod spill_file;
mod table_stamp;
pub mod undo;
mod undo_list;
mod wait_graph;

pub use commit_table::{CommitTable, CommitTableSize, EndOrder, HistoryPlace, TransactionState, UndoPlace};
pub use key_list::KeyList;
pub use kill::{KillFlag, Wake};
pub use snapshots::{Snapshot, SnapshotRegistry, SnapshotsInUse};
pub use spill_file::{Extent, SpillError, SpillFile};
pub use table_stamp::{Changed, ChangedTables, TableStamp};
pub use undo::{Jump, Jumps, Old, UndoRecord};
pub use undo_list::{RecordCounts, UndoList};
pub use wait_graph::{Blockers, CycleMember, DeadlockWatcher, WaitGraph, WaitRequest, WaiterId, Waiting};
