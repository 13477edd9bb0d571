//! [`Latch`]: a reader-writer latch in one word, with a version.
//!
//! Word, from the low end: 20 bits count shared holders; then one bit each: exclusive holder, somebody is parked, a writer waits,
//! a writer waits long, a writer was woken and has not come yet; the rest is a version that moves at each exclusive release.
//!
//! Who cannot have the latch spins, then parks (`parking.rs`), in the order of arrival. A release wakes the first writer, or the
//! readers before it. New readers give way to a waiting writer, but for some milliseconds only: so no writer starves, and a
//! thread may take the same latch shared twice, or two latches in any order, without being lost between writers. A new
//! writer may come before those that sleep, which are slow, until one of them has waited for a millisecond or was woken in vain.
//! Waiting is announced to `env::blocking`, which also tells when a wait shall end without the latch (KILL).

use std::time::Duration;

use env::blocking;
#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

use super::parking::{Chosen, GIVE_WAY_TIMES, Place, Queue, Wanted, Woken};

const SHARED_MASK: u64 = (1 << 20) - 1;
const EXCLUSIVE: u64 = 1 << 20;
/// Somebody is in the queue of the latch's place.
const PARKED: u64 = 1 << 21;
/// A writer is in the queue or was woken: readers stand back.
const WRITER_WAITS: u64 = 1 << 22;
/// And writers as well.
const WRITER_FIRST: u64 = 1 << 23;
/// A writer was woken and has neither got the latch nor parked again: nobody else needs to be woken.
const WRITER_COMES: u64 = 1 << 24;
const VERSION_STEP: u64 = 1 << 25;
/// What is known of writers that wait.
const WRITERS: u64 = WRITER_WAITS | WRITER_FIRST | WRITER_COMES;
/// A reader gives way for so long each time, unless something happens.
const GIVE_WAY: Duration = Duration::from_millis(1);
/// How long a writer waits before no other writer passes it.
const PATIENCE: Duration = Duration::from_millis(1);
/// How often a thread that waits for long asks whether it shall end.
const LOOK_AROUND: Duration = Duration::from_millis(50);
/// Looks at the word before parking; a latch is normally held for well under a microsecond.
const SPINS_MAX: u32 = if cfg!(loom) { 0 } else { 60 };

/// A reader-writer latch. Whoever acquires must release exactly once; guards in `frames` do.
#[derive(Default)]
pub(crate) struct Latch {
    word: AtomicU64,
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

    /// Acquires exclusively unless anybody holds it, or a writer has waited for long.
    #[inline]
    pub fn try_exclusive(&self) -> bool {
        self.try_exclusive_without(EXCLUSIVE | SHARED_MASK | WRITER_FIRST, 0)
    }

    #[inline]
    fn try_exclusive_without(&self, obstacle: u64, forgotten: u64) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & obstacle == 0 {
            let taken = word & !forgotten | EXCLUSIVE;
            match self.word.compare_exchange_weak(word, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(present) => word = present,
            }
        }
        false
    }

    /// Whether a writer waits: who holds the latch shared for long gives it back.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.word.load(Ordering::Relaxed) & WRITER_WAITS != 0
    }

    /// Acquires shared, waiting for an exclusive holder and, for a moment, for writers that came before.
    #[cfg(test)]
    pub fn shared(&self) {
        if !self.try_shared() {
            blocking::region(|| self.wait_shared(&|| false));
        }
    }

    /// Acquires shared, waiting for an exclusive holder and, for a moment, for writers that came before. False if the wait was
    /// interrupted.
    pub fn shared_unless_interrupted(&self) -> bool {
        self.try_shared() || blocking::region(|| self.wait_shared(&blocking::is_interrupted))
    }

    /// Acquires exclusively, waiting for all holders.
    #[inline]
    pub fn exclusive(&self) {
        if !self.try_exclusive() {
            blocking::region(|| self.wait_exclusive(&|| false));
        }
    }

    /// As `exclusive`, but false if the thread's wait was interrupted.
    #[inline]
    pub fn exclusive_unless_interrupted(&self) -> bool {
        self.try_exclusive() || blocking::region(|| self.wait_exclusive(&blocking::is_interrupted))
    }

    /// Gives back a shared hold.
    #[inline]
    pub fn release_shared(&self) {
        let word = self.word.fetch_sub(1, Ordering::Release);
        debug_assert!(word & SHARED_MASK > 0 && word & EXCLUSIVE == 0);
        if word & SHARED_MASK == 1 && word & (PARKED | WRITER_COMES) == PARKED {
            self.wake_next();
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
        while word & (PARKED | WRITER_WAITS) == 0 || word & WRITER_COMES != 0 {
            debug_assert!(word & EXCLUSIVE != 0 && word & SHARED_MASK == 0);
            let next = (word & !EXCLUSIVE).wrapping_add(VERSION_STEP) + shared;
            match self.word.compare_exchange_weak(word, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(present) => word = present,
            }
        }
        self.end_exclusive_and_wake(shared);
    }

    /// What waits is decided before the latch is free, so that no new reader comes before a writer.
    #[cold]
    fn end_exclusive_and_wake(&self, shared: u64) {
        let mut queue = self.place().lock();
        let chosen = match shared > 0 && !queue.readers_are_due(self.address()) {
            // The last reader will wake it.
            true => Chosen::default(),
            false => queue.choose(self.address()),
        };
        let waiters = self.waiters(&queue, &chosen);
        self.change(|word| {
            debug_assert!(word & EXCLUSIVE != 0 && word & SHARED_MASK == 0);
            (word & !(EXCLUSIVE | PARKED | WRITERS) | waiters).wrapping_add(VERSION_STEP) + shared
        });
        drop(queue);
        chosen.wake();
    }

    /// Wakes whose turn it is, if the latch is free, and says anew who waits.
    #[cold]
    fn wake_next(&self) {
        let mut queue = self.place().lock();
        let word = self.word.load(Ordering::Relaxed);
        // Whoever has the latch by now will see that somebody is parked.
        let held = word & EXCLUSIVE != 0 || word & SHARED_MASK != 0 && !queue.readers_are_due(self.address());
        let chosen = match held || word & WRITER_COMES != 0 {
            true => Chosen::default(),
            false => queue.choose(self.address()),
        };
        let waiters = self.waiters(&queue, &chosen);
        self.change(|word| {
            let of_who_comes = if word & WRITER_COMES != 0 { word & WRITERS } else { 0 };
            word & !(PARKED | WRITERS) | waiters | of_who_comes
        });
        drop(queue);
        chosen.wake();
    }

    /// The bits that say who waits, when those have been chosen.
    fn waiters(&self, queue: &Queue, chosen: &Chosen) -> u64 {
        let waiting = queue.waiting(self.address());
        let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        let (comes, impatient) =
            (chosen.writer().is_some(), chosen.writer().is_some_and(|wants| wants.impatient));
        bit(waiting.anybody, PARKED)
            | bit(waiting.writer || comes, WRITER_WAITS)
            | bit(waiting.impatient_writer || impatient, WRITER_FIRST)
            | bit(comes, WRITER_COMES)
    }

    fn change(&self, next: impl Fn(u64) -> u64) {
        let mut word = self.word.load(Ordering::Relaxed);
        while let Err(present) =
            self.word.compare_exchange_weak(word, next(word), Ordering::Release, Ordering::Relaxed)
        {
            word = present;
        }
    }

    fn place(&self) -> &'static Place {
        Place::of(self.address())
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    #[cold]
    fn wait_shared(&self, is_interrupted: &dyn Fn() -> bool) -> bool {
        for _ in 0..SPINS_MAX {
            std::hint::spin_loop();
            if self.try_shared() {
                return true;
            }
        }
        let (mut wants, mut has_turn) = (Wanted::default(), false);
        loop {
            let gives_way = wants.gave_way < GIVE_WAY_TIMES;
            let obstacle = if has_turn || !gives_way { EXCLUSIVE } else { EXCLUSIVE | WRITER_WAITS };
            if self.try_shared_without(obstacle) {
                return true;
            }
            let time = if gives_way { GIVE_WAY } else { LOOK_AROUND };
            if let Some(woken) = self.park(obstacle, 0, &mut wants, time) {
                has_turn = woken == Woken::ByTurn;
                if !has_turn && !gives_way && is_interrupted() {
                    return false;
                }
            }
            wants.gave_way += 1;
        }
    }

    #[cold]
    fn wait_exclusive(&self, is_interrupted: &dyn Fn() -> bool) -> bool {
        for _ in 0..SPINS_MAX {
            std::hint::spin_loop();
            if self.try_exclusive() {
                return true;
            }
        }
        let mut wants = Wanted { exclusive: true, ..Wanted::default() };
        let (mut times, mut has_turn) = (0, false);
        loop {
            let others_first = if has_turn || times > 1 { 0 } else { WRITER_FIRST };
            let obstacle = EXCLUSIVE | SHARED_MASK | others_first;
            // Who has its turn comes now, one way or the other.
            let over = if has_turn { WRITER_COMES } else { 0 };
            if self.try_exclusive_without(obstacle, over) {
                return true;
            }
            let time = if times == 0 { PATIENCE } else { LOOK_AROUND };
            let Some(woken) = self.park(obstacle, over, &mut wants, time) else { continue };
            has_turn = woken == Woken::ByTurn;
            times += 1;
            wants.impatient = true;
            if !has_turn && is_interrupted() {
                // Those that gave way go on.
                self.wake_next();
                return false;
            }
        }
    }

    /// Parks once, unless the obstacle is gone already: None. `over` is what the latch forgets then.
    fn park(&self, obstacle: u64, over: u64, wants: &mut Wanted, at_most: Duration) -> Option<Woken> {
        let place = self.place();
        let sleeper = Place::sleeper();
        let mut queue = place.lock();
        let says = match (wants.exclusive, wants.impatient) {
            (false, _) => PARKED,
            (true, false) => PARKED | WRITER_WAITS,
            (true, true) => PARKED | WRITER_WAITS | WRITER_FIRST,
        };
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & obstacle == 0 {
                return None;
            }
            let next = word & !over | says;
            match self.word.compare_exchange_weak(word, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(present) => word = present,
            }
        }
        if wants.ticket == 0 {
            wants.ticket = queue.ticket();
        }
        Some(place.sleep(queue, &sleeper, self.address(), *wants, at_most))
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
    fn three_writers_come_one_after_the_other() {
        check(|| {
            let shared = guarded();
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let other = Arc::clone(&shared);
                    thread::spawn(move || add(&other))
                })
                .collect();
            add(&shared);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(read(&shared), 3);
            assert_eq!(
                shared.latch.word.load(Ordering::Relaxed) & (VERSION_STEP - 1),
                0,
                "nobody is left behind"
            );
        });
    }

    /// A writer that is killed while it waits leaves, and who stood back for it goes on beside the reader that is in.
    #[test]
    fn a_killed_writer_leaves_nobody_behind() {
        check(|| {
            let shared = guarded();
            let left = Arc::new(loom::sync::atomic::AtomicBool::new(false));
            shared.latch.shared();
            let writer = {
                let (shared, left) = (Arc::clone(&shared), Arc::clone(&left));
                thread::spawn(move || {
                    assert!(!shared.latch.wait_exclusive(&|| true));
                    left.store(true, Ordering::Release);
                })
            };
            let reader = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || assert_eq!(read(&shared), 0))
            };
            // In a model no time passes: sleepers are told to look around.
            while !left.load(Ordering::Acquire) {
                shared.latch.place().disturb(true);
                thread::yield_now();
            }
            writer.join().unwrap();
            reader.join().unwrap();
            shared.latch.release_shared();
            add(&shared);
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

    /// Waits until the place of the latch has so many waiters.
    fn parked(latch: &Latch, count: usize) {
        while latch.place().lock().count(latch.address()) < count {
            std::thread::yield_now();
        }
    }

    #[test]
    fn writers_come_in_the_order_of_their_arrival() {
        let latch = Latch::default();
        let came = std::sync::Mutex::new(Vec::new());
        latch.exclusive();
        std::thread::scope(|scope| {
            for (number, exclusive) in [true, false, true, true, false].into_iter().enumerate() {
                let (latch, came) = (&latch, &came);
                scope.spawn(move || {
                    if exclusive {
                        assert!(latch.wait_exclusive(&|| false));
                    } else {
                        assert!(latch.wait_shared(&|| false));
                    }
                    came.lock().unwrap().push(number);
                    if exclusive { latch.release_exclusive() } else { latch.release_shared() }
                });
                parked(latch, number + 1);
            }
            latch.release_exclusive();
        });
        let came = came.into_inner().unwrap();
        let writers: Vec<_> = came.into_iter().filter(|number| [0, 2, 3].contains(number)).collect();
        assert_eq!(writers, [0, 2, 3]);
        assert_eq!(latch.word.load(Ordering::Relaxed) % VERSION_STEP, 0);
    }

    #[test]
    fn a_killed_wait_ends_and_readers_go_on() {
        let latch = Latch::default();
        latch.shared();
        assert!(!latch.wait_exclusive(&|| true));
        assert!(latch.try_shared(), "nobody stands back for a writer that has left");
        latch.release_shared();
        latch.release_shared();
        latch.exclusive();
        assert!(!latch.wait_shared(&|| true) && !latch.wait_exclusive(&|| true));
        latch.release_exclusive();
        assert_eq!(latch.word.load(Ordering::Relaxed) % VERSION_STEP, 0);
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
