//! Gaps of the standard library that every layer shares: id newtypes, checksums, bounded containers.
//! Nothing here knows a page, a row or a statement.

pub mod aligned;
pub mod checksum;
pub mod civil_date;
pub mod counting_allocator;
pub mod ids;
pub mod known_hash;
pub mod nesting;
mod own_line;
pub mod sort;
pub mod stack;
pub mod sync;
pub mod thread_number;
pub mod varint;

pub use own_line::OwnLine;
