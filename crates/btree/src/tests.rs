//! Tests of whole trees over a buffer pool.
