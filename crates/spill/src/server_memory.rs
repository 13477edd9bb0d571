//! The memory that the statements of a server may hold together. Main types: [`ServerMemory`], [`Reservation`].
//! Statements reserve it in steps of a MiB, so that their rows do not touch what all share; what a small one holds is not counted.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is reserved and given back at once.
const STEP_BYTES: u64 = 1 << 20;
/// What a statement may hold without a reservation.
const SMALL_BYTES: u64 = 64 << 10;

/// What all statements have reserved, and how much they may.
#[derive(Debug)]
pub struct ServerMemory {
    reserved_bytes: AtomicU64,
    bytes_max: AtomicU64,
}

impl ServerMemory {
    /// Nothing reserved.
    pub fn new(bytes_max: u64) -> ServerMemory {
        ServerMemory { reserved_bytes: AtomicU64::new(0), bytes_max: AtomicU64::new(bytes_max) }
    }

    /// Changes how much statements may reserve. What they have they keep.
    pub fn set_bytes_max(&self, bytes_max: u64) {
        self.bytes_max.store(bytes_max, Ordering::Relaxed);
    }

    /// How much statements may reserve.
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max.load(Ordering::Relaxed)
    }

    /// Bytes that statements have reserved.
    pub fn reserved_bytes(&self) -> u64 {
        self.reserved_bytes.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: u64) -> bool {
        let bytes_max = self.bytes_max();
        let fits = |reserved: u64| reserved.checked_add(bytes).filter(|reserved| *reserved <= bytes_max);
        self.reserved_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.reserved_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl errors::ConditionMemory for ServerMemory {
    fn take(&self, bytes: u64) -> bool {
        ServerMemory::take(self, bytes)
    }

    fn give_back(&self, bytes: u64) {
        ServerMemory::give_back(self, bytes);
    }
}

/// What one statement has reserved, or what a session keeps between statements; given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    server: Arc<ServerMemory>,
    bytes: Cell<u64>,
}

impl Reservation {
    /// Nothing yet.
    pub fn new(server: Arc<ServerMemory>) -> Reservation {
        Reservation { server, bytes: Cell::new(0) }
    }

    /// Whose memory it is.
    pub fn server(&self) -> &Arc<ServerMemory> {
        &self.server
    }

    /// Whether the statement may hold so many bytes; they are reserved then.
    #[inline]
    pub fn cover(&self, held_bytes: u64) -> bool {
        let missing = self.missing(held_bytes);
        missing == 0 || self.take(missing)
    }

    /// Reserves so many bytes whether or not there are as many.
    #[inline]
    pub fn cover_anyway(&self, held_bytes: u64) {
        let missing = self.missing(held_bytes);
        if missing > 0 && !self.take(missing) {
            self.server.reserved_bytes.fetch_add(missing, Ordering::Relaxed);
            self.bytes.update(|bytes| bytes + missing);
        }
    }

    /// The statement holds no more than so many bytes: what it needs no longer is given back, but for a step.
    #[inline]
    pub fn fall_to(&self, held_bytes: u64) {
        let needed = held_bytes.next_multiple_of(STEP_BYTES) + STEP_BYTES;
        if self.bytes.get() > needed {
            self.server.give_back(self.bytes.replace(needed) - needed);
        }
    }

    /// The same between statements, when no more is expected: little is not reserved at all.
    pub fn settle_at(&self, held_bytes: u64) {
        match held_bytes <= SMALL_BYTES {
            true => self.release(),
            false => self.fall_to(held_bytes),
        }
    }

    /// Gives all back.
    pub fn release(&self) {
        // Who has nothing leaves alone what all share.
        if self.bytes.get() > 0 {
            self.server.give_back(self.bytes.take());
        }
    }

    fn missing(&self, held_bytes: u64) -> u64 {
        if held_bytes <= SMALL_BYTES.max(self.bytes.get()) {
            return 0;
        }
        held_bytes.next_multiple_of(STEP_BYTES) - self.bytes.get()
    }

    #[cold]
    fn take(&self, missing: u64) -> bool {
        let is_taken = self.server.take(missing);
        if is_taken {
            self.bytes.update(|bytes| bytes + missing);
        }
        is_taken
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_reserve_in_steps_what_the_server_has() {
        let server = Arc::new(ServerMemory::new(4 * STEP_BYTES));
        let (one, other) = (Reservation::new(server.clone()), Reservation::new(server.clone()));
        assert!(one.cover(SMALL_BYTES));
        assert_eq!(server.reserved_bytes(), 0);
        assert!(one.cover(SMALL_BYTES + 1) && one.cover(STEP_BYTES));
        assert_eq!(server.reserved_bytes(), STEP_BYTES);
        assert!(other.cover(2 * STEP_BYTES + 1));
        assert_eq!(server.reserved_bytes(), 4 * STEP_BYTES);
        assert!(!one.cover(STEP_BYTES + 1));
        one.cover_anyway(STEP_BYTES + 1);
        assert_eq!(server.reserved_bytes(), 5 * STEP_BYTES);
        assert!(!other.cover(3 * STEP_BYTES + 1));
        // One step is kept for what comes next.
        other.fall_to(1);
        assert_eq!(server.reserved_bytes(), 4 * STEP_BYTES);
        drop(one);
        assert!(other.cover(4 * STEP_BYTES) && !other.cover(4 * STEP_BYTES + 1));
        drop(other);
        assert_eq!(server.reserved_bytes(), 0);
    }
}
