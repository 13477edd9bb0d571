//! The redo log: records, log files, group flush, reading for recovery.
