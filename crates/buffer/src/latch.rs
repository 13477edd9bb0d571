//! [`Latch`]: a reader-writer latch in one word, with a version, and the table where waiters park.
//!
//! Word: bits 0..31 count shared holders, bit 31 is the exclusive holder, bit 32 says that somebody is parked, bit 33 that a
//! writer waits, bits 34..64 are a version that moves at each exclusive release. New readers give way to a waiting writer, but
//! for some milliseconds only: so no writer starves, and a thread may take the same latch shared twice, or two latches in
//! any order, without being lost between writers. A writer that finds readers spins, then parks. Waiting is announced to
//! `env::blocking`.

use std::sync::PoisonError;
use std::time::Duration;

use env::blocking;
#[cfg(loom)]
use loom::sync::{
    Condvar, Mutex,
    atomic::{AtomicU64, Ordering},
};
#[cfg(not(loom))]
use std::sync::{
    Condvar, Mutex,
    atomic::{AtomicU64, Ordering},
};

const SHARED_MASK: u64 = (1 << 31) - 1;
const EXCLUSIVE: u64 = 1 << 31;
const PARKED: u64 = 1 << 32;
const WRITER_WAITS: u64 = 1 << 33;
const VERSION_STEP: u64 = 1 << 34;
/// A reader gives way so often, and so long each time unless something happens; then it goes in beside the writer that waits.
const GIVE_WAY_TIMES: u32 = 4;
const GIVE_WAY: Duration = Duration::from_millis(1);
/// Looks at the word before parking; a latch is normally held for well under a microsecond.
const SPINS_MAX: u32 = if cfg!(loom) { 0 } else { 60 };
/// Parking places. Latches that share one only wake each other's waiters in vain.
const PARKING_PLACES: usize = if cfg!(loom) { 1 } else { 64 };

/// A reader-writer latch. Whoever acquires must release exactly once; guards in `frames` do.
#[derive(Default)]
pub(crate) struct Latch {
    word: AtomicU64,
}

struct ParkingPlace {
    guard: Mutex<()>,
    released: Condvar,
}

#[cfg(not(loom))]
static PARKING: [ParkingPlace; PARKING_PLACES] =
    [const { ParkingPlace { guard: Mutex::new(()), released: Condvar::new() } }; PARKING_PLACES];

#[cfg(loom)]
loom::lazy_static! {
    static ref PARKING: [ParkingPlace; 1] = [ParkingPlace { guard: Mutex::new(()), released: Condvar::new() }];
}

impl Latch {
    /// Acquires shared unless a writer has it or waits for it.
    #[inline]
    pub fn try_shared(&self) -> bool {
        self.try_shared_without(EXCLUSIVE | WRITER_WAITS)
    }

    /// Acquires shared unless a writer has it: for those whom a waiting writer may need.
    #[inline]
    pub fn try_shared_before_writers(&self) -> bool {
        self.try_shared_without(EXCLUSIVE)
    }

    #[inline]
    fn try_shared_without(&self, obstacle: u64) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & obstacle == 0 {
            match self.word.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(present) => word = present,
            }
        }
        false
    }

    /// Acquires exclusively unless anybody holds it. Other writers that wait say so again.
    #[inline]
    pub fn try_exclusive(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & (EXCLUSIVE | SHARED_MASK) == 0 {
            let taken = word & !WRITER_WAITS | EXCLUSIVE;
            match self.word.compare_exchange_weak(word, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(present) => word = present,
            }
        }
        false
    }

    /// Acquires shared, waiting for an exclusive holder and, for a moment, for writers that came before.
    #[inline]
    pub fn shared(&self) {
        if !self.try_shared() {
            self.wait_shared();
        }
    }

    /// Acquires exclusively, waiting for all holders.
    #[inline]
    pub fn exclusive(&self) {
        if !self.try_exclusive() {
            self.wait_exclusive();
        }
    }

    /// Gives back a shared hold.
    #[inline]
    pub fn release_shared(&self) {
        let word = self.word.fetch_sub(1, Ordering::Release);
        debug_assert!(word & SHARED_MASK > 0 && word & EXCLUSIVE == 0);
        if word & SHARED_MASK == 1 && word & PARKED != 0 {
            self.wake();
        }
    }

    /// Gives back the exclusive hold.
    #[inline]
    pub fn release_exclusive(&self) {
        self.end_exclusive(0);
    }

    /// Turns the exclusive hold into a shared one.
    #[inline]
    pub fn downgrade(&self) {
        self.end_exclusive(1);
    }

    #[inline]
    fn end_exclusive(&self, shared: u64) {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            debug_assert!(word & EXCLUSIVE != 0 && word & SHARED_MASK == 0);
            let next = (word & !(EXCLUSIVE | PARKED)).wrapping_add(VERSION_STEP) + shared;
            match self.word.compare_exchange_weak(word, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(present) => word = present,
            }
        }
        if word & PARKED != 0 {
            self.notify();
        }
    }

    #[cold]
    fn wake(&self) {
        self.word.fetch_and(!PARKED, Ordering::Relaxed);
        self.notify();
    }

    /// Whoever set `PARKED` did so holding the place's mutex and gave it up only by waiting, so it cannot miss this.
    #[cold]
    fn notify(&self) {
        let place = self.place();
        let _guard = place.guard.lock().unwrap_or_else(PoisonError::into_inner);
        place.released.notify_all();
    }

    fn place(&self) -> &'static ParkingPlace {
        let address = std::ptr::from_ref(self) as usize;
        &PARKING[(address / 64).wrapping_mul(0x9E37_79B9) / 64 % PARKING_PLACES]
    }

    #[cold]
    fn wait_shared(&self) {
        for _ in 0..SPINS_MAX {
            std::hint::spin_loop();
            if self.try_shared() {
                return;
            }
        }
        for _ in 0..GIVE_WAY_TIMES {
            if self.try_shared() {
                return;
            }
            blocking::region(|| self.park(EXCLUSIVE | WRITER_WAITS, Some(GIVE_WAY)));
        }
        while !self.try_shared_before_writers() {
            blocking::region(|| self.park(EXCLUSIVE, None));
        }
    }

    #[cold]
    fn wait_exclusive(&self) {
        for _ in 0..SPINS_MAX {
            std::hint::spin_loop();
            if self.try_exclusive() {
                return;
            }
        }
        while !self.try_exclusive() {
            blocking::region(|| self.park(EXCLUSIVE | SHARED_MASK, None));
        }
    }

    /// Parks once, for so long at most, unless the obstacle is gone already. Who waits for readers is a writer.
    fn park(&self, obstacle: u64, at_most: Option<Duration>) {
        let place = self.place();
        let guard = place.guard.lock().unwrap_or_else(PoisonError::into_inner);
        let says = if obstacle & SHARED_MASK != 0 { PARKED | WRITER_WAITS } else { PARKED };
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & obstacle == 0 {
                return;
            }
            match self.word.compare_exchange_weak(word, word | says, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(present) => word = present,
            }
        }
        match at_most {
            None => drop(place.released.wait(guard).unwrap_or_else(PoisonError::into_inner)),
            Some(time) => {
                drop(place.released.wait_timeout(guard, time).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }
}

/// All interleavings of a few threads. Run: RUSTFLAGS="--cfg loom" cargo test -p buffer --lib latch::interleavings
#[cfg(all(test, loom))]
mod interleavings {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    struct Guarded {
        latch: Latch,
        value: UnsafeCell<u32>,
    }

    fn guarded() -> Arc<Guarded> {
        Arc::new(Guarded { latch: Latch { word: AtomicU64::new(0) }, value: UnsafeCell::new(0) })
    }

    fn add(guarded: &Guarded) {
        guarded.latch.exclusive();
        // loom checks by itself that nobody else is at the value.
        guarded.value.with_mut(|value| {
            // SAFETY: The exclusive latch is held.
            unsafe { *value += 1 }
        });
        guarded.latch.release_exclusive();
    }

    fn read(guarded: &Guarded) -> u32 {
        guarded.latch.shared();
        let value = guarded.value.with(|value| {
            // SAFETY: The shared latch is held.
            unsafe { *value }
        });
        guarded.latch.release_shared();
        value
    }

    fn check(body: impl Fn() + Sync + Send + 'static) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(body);
    }

    #[test]
    fn writers_exclude_each_other_and_none_sleeps_on() {
        check(|| {
            let shared = guarded();
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || add(&other));
            add(&shared);
            thread.join().unwrap();
            assert_eq!(read(&shared), 2);
        });
    }

    #[test]
    fn a_writer_waits_for_readers_and_is_woken() {
        check(|| {
            let shared = guarded();
            let (one, two) = (Arc::clone(&shared), Arc::clone(&shared));
            let reader = thread::spawn(move || assert!(read(&one) <= 1));
            let writer = thread::spawn(move || add(&two));
            assert!(read(&shared) <= 1);
            reader.join().unwrap();
            writer.join().unwrap();
            assert_eq!(read(&shared), 1);
        });
    }

    #[test]
    fn a_downgrade_lets_readers_in_and_keeps_writers_out() {
        check(|| {
            let shared = guarded();
            let (one, two) = (Arc::clone(&shared), Arc::clone(&shared));
            let reader = thread::spawn(move || assert!(read(&one) <= 2));
            let writer = thread::spawn(move || add(&two));
            shared.latch.exclusive();
            // SAFETY: The exclusive latch is held.
            let written = shared.value.with_mut(|value| unsafe {
                *value += 1;
                *value
            });
            shared.latch.downgrade();
            // SAFETY: The shared latch is held since, without a gap.
            shared.value.with(|value| assert_eq!(unsafe { *value }, written));
            shared.latch.release_shared();
            reader.join().unwrap();
            writer.join().unwrap();
            assert_eq!(read(&shared), 2);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    use env::Threads;

    use super::*;

    #[test]
    fn holders_exclude_each_other() {
        let latch = Latch::default();
        assert!(latch.try_shared() && latch.try_shared() && !latch.try_exclusive());
        latch.release_shared();
        latch.release_shared();
        assert!(latch.try_exclusive() && !latch.try_shared() && !latch.try_exclusive());
        latch.downgrade();
        assert!(latch.try_shared() && !latch.try_exclusive());
        latch.release_shared();
        latch.release_shared();
        assert!(latch.try_exclusive());
        latch.release_exclusive();
    }

    #[test]
    fn a_reader_comes_back_beside_a_waiting_writer() {
        let shared = Arc::new((Latch::default(), AtomicU64::new(0)));
        shared.0.shared();
        let writer = {
            let shared = Arc::clone(&shared);
            let body = move || {
                shared.0.exclusive();
                shared.1.store(1, Ordering::Relaxed);
                shared.0.release_exclusive();
            };
            env::RealThreads.spawn("writer", Box::new(body))
        };
        while shared.0.word.load(Ordering::Relaxed) & WRITER_WAITS == 0 {
            std::thread::yield_now();
        }
        shared.0.shared();
        assert_eq!(shared.1.load(Ordering::Relaxed), 0);
        shared.0.release_shared();
        shared.0.release_shared();
        assert!(writer.join());
        assert_eq!(shared.1.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn threads_lose_no_update_and_no_wakeup() {
        const THREADS: u64 = 4;
        const ROUNDS: u64 = 3000;
        let shared = Arc::new((Latch::default(), AtomicU64::new(0), AtomicU64::new(0)));
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let shared = Arc::clone(&shared);
                let body = move || {
                    let (latch, first, second) = &*shared;
                    for round in 0..ROUNDS {
                        if (round + thread) % 3 == 0 {
                            latch.shared();
                            let seen = first.load(Ordering::Relaxed);
                            assert_eq!(seen, second.load(Ordering::Relaxed));
                            latch.release_shared();
                        } else {
                            latch.exclusive();
                            first.store(first.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                            if round % 64 == 0 {
                                std::thread::yield_now();
                            }
                            second.store(second.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                            latch.release_exclusive();
                        }
                    }
                };
                env::RealThreads.spawn("latcher", Box::new(body))
            })
            .collect();
        assert!(threads.into_iter().all(env::JoinHandle::join));
        let (_, first, second) = &*shared;
        assert_eq!(first.load(Ordering::Relaxed), THREADS * ROUNDS * 2 / 3);
        assert_eq!(first.load(Ordering::Relaxed), second.load(Ordering::Relaxed));
    }
}
