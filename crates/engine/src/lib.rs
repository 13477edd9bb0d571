//! Facade of the storage layer: tables, cursors, transactions, recovery, data dictionary.
