//! Transactions: ids, snapshots, version store, row locks, deadlock search.
