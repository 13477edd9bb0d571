//! Physical operators and the execution of queries and row changes.
