//! Fixtures shared by tests.

#![forbid(unsafe_code)]
