//! Writing pages and keeping room in the log: batches with doublewrite, the flusher thread, the checkpoint, who waits for log. See rules
//! B6 to B9 and G in README.md.

mod checkpoint;
mod doublewrite;
mod flusher;
mod log_room;

pub(crate) use checkpoint::FlusherSignal;
pub(crate) use doublewrite::Doublewrite;
#[cfg(test)]
pub(crate) use doublewrite::HEADER_BYTES;
pub(crate) use flusher::FlushState;
pub(crate) use log_room::LogLimits;
pub use log_room::{LogRoomWaits, ReleasesLog, release_log};
