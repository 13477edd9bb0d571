//! Buffer pool, tablespace files, mini-transactions, flushing and doublewrite.
