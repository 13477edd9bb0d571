//! Transactions: ids, snapshots, version store, row locks, deadlock search.
//! Knows keys and values as bytes only; the engine brings trees, tables and the log.
#![forbid(unsafe_code)]

mod kill;

pub use kill::{KillFlag, Wake};
