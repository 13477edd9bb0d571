//! What a session keeps between statements: user variables, texts of system variables, definitions of temporary tables. Main type:
//! [`KeptMemory`]. MySQL bounds it by the machine's memory; here each kind may take what one statement may, out of what the server has for
//! all statements, so that no client takes the server down by what it leaves behind.

use errors::{SqlResult, sql_error};
use exec::{Reservation, ServerMemory};
use std::cell::Cell;
use std::sync::Arc;

/// Bytes that a session may keep of one kind.
pub(crate) const KEPT_BYTES_MAX: u64 = 1 << 30;

/// One kind of what a session keeps. Given back when dropped.
pub(crate) struct KeptMemory {
    /// What it is, for messages.
    what: &'static str,
    bytes: Cell<u64>,
    reserved: Reservation,
}

impl KeptMemory {
    /// Nothing yet.
    pub fn new(what: &'static str, server: Arc<ServerMemory>) -> KeptMemory {
        KeptMemory { what, bytes: Cell::new(0), reserved: Reservation::new(server) }
    }

    /// Bytes that are kept.
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// Error 3170 for more than a session may keep, whatever the server has.
    pub fn check(what: &str, bytes: u64) -> SqlResult<()> {
        match bytes <= KEPT_BYTES_MAX {
            true => Ok(()),
            false => Err(sql_error!(ER_CAPACITY_EXCEEDED, KEPT_BYTES_MAX, what, "")),
        }
    }

    /// Keeps so many bytes in all from now on; error 3170 if they are too many, or the server has no room for them, and nothing changes.
    pub fn set(&self, bytes: u64) -> SqlResult<()> {
        KeptMemory::check(self.what, bytes)?;
        if !self.reserved.cover(bytes) {
            let (limit, advice) = (self.reserved.server().bytes_max(), "See global_connection_memory_limit.");
            return Err(sql_error!(ER_CAPACITY_EXCEEDED, limit, self.what, advice));
        }
        self.fall_to(bytes);
        Ok(())
    }

    /// Keeps no more than so many bytes.
    pub fn fall_to(&self, bytes: u64) {
        self.bytes.set(bytes);
        self.reserved.settle_at(bytes);
    }
}
