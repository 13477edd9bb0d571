//! Gaps of the standard library that every layer shares: id newtypes, checksums, bounded containers.
//! Nothing here knows a page, a row or a statement.

pub mod ids;
