//! [`Latch`]: a reader-writer latch in one word, with a version.
//!
//! Word, from the low end: 20 bits count shared holders; then one bit each: exclusive holder, somebody is parked, a writer waits,
//! a writer waits long, a writer was woken and has not come yet, slots may name the latch; then a count of readers in a row, and
//! whether the latch is biased; the rest is a version that moves at each exclusive release.
//!
//! A latch that very many readers had in a row is biased to them: they fill a slot of their thread (`reader_slots.rs`) instead of
//! counting themselves in the word, so that they write no line of memory in common. A reader looks at the bias again after it has
//! filled its slot; a writer takes the bias away before it looks at the slots. So either the writer sees the slot, or the reader
//! that the bias is gone. The latch is the writer's when no slot names it: only then is it known again that none does.
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
use super::reader_slots::Slot;

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
/// Slots may name the latch: since it was biased last, no writer has had it.
const SLOTS: u64 = 1 << 25;
const READER: u64 = 1 << 26;
/// Readers that make a latch biased, as a power of two, if no writer comes in between. Whoever writes once in so many reads
/// pays for looking through the slots what the readers saved.
const READERS_BITS: u32 = if cfg!(loom) { 1 } else { 6 };
/// Readers may fill slots. One reader more than can be counted is one.
const BIASED: u64 = READER << READERS_BITS;
/// What a writer takes away: the bias, and how near it was.
const FAVOUR: u64 = BIASED | (BIASED - READER);
const VERSION_STEP: u64 = BIASED << 1;
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

/// A shared hold, to be given back: by a slot, or counted in the latch's word. It may go to another thread.
#[derive(Debug)]
#[must_use]
pub(crate) struct Shared(Option<&'static Slot>);

impl Latch {
    /// Acquires shared unless a writer has it or waits for it.
    #[inline]
    pub fn try_shared(&self) -> Option<Shared> {
        self.try_shared_without(EXCLUSIVE | WRITER_WAITS)
    }

    /// Acquires shared unless a writer has it: for those whom a waiting writer may need.
    #[inline]
    pub fn try_shared_before_writers(&self) -> Option<Shared> {
        self.try_shared_without(EXCLUSIVE)
    }

    #[inline]
    fn try_shared_without(&self, obstacle: u64) -> Option<Shared> {
        let mut word = self.word.load(Ordering::Relaxed);
        if word & BIASED != 0 {
            debug_assert!(word & (EXCLUSIVE | WRITER_WAITS) == 0);
            if let Some(slot) = Slot::fill(self.address()) {
                // Acquire: what the last writer wrote. No writer comes in as long as the slot is filled.
                if self.word.load(Ordering::SeqCst) & BIASED != 0 {
                    return Some(Shared(Some(slot)));
                }
                self.empty(slot);
            }
            word = self.word.load(Ordering::Relaxed);
        }
        while word & obstacle == 0 {
            let next = with_reader(word);
            match self.word.compare_exchange_weak(word, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Shared(None)),
                Err(present) => word = present,
            }
        }
        None
    }

    /// Acquires exclusively unless anybody holds it, or a writer has waited for long.
    #[inline]
    pub fn try_exclusive(&self) -> bool {
        self.try_exclusive_without(EXCLUSIVE | SHARED_MASK | WRITER_FIRST, 0)
    }

    #[inline]
    fn try_exclusive_without(&self, obstacle: u64, forgotten: u64) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & (obstacle | SLOTS) == 0 {
            let taken = word & !(forgotten | FAVOUR) | EXCLUSIVE;
            match self.word.compare_exchange_weak(word, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(present) => word = present,
            }
        }
        word & obstacle == 0 && self.try_exclusive_from_slots(obstacle, forgotten)
    }

    /// As `try_exclusive_without`, of a latch that slots may name. The bias is gone in any case.
    #[cold]
    fn try_exclusive_from_slots(&self, obstacle: u64, forgotten: u64) -> bool {
        let before = self.word.fetch_and(!FAVOUR, Ordering::SeqCst);
        if Slot::any_names(self.address()) {
            return false;
        }
        let mut word = self.word.load(Ordering::Relaxed);
        // None names it since, unless the bias came back meanwhile: that, too, moves the version.
        while word & obstacle == 0 && (word ^ before) < VERSION_STEP {
            let taken = word & !(forgotten | FAVOUR | SLOTS) | EXCLUSIVE;
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
    pub fn shared(&self) -> Shared {
        let shared = self.try_shared();
        shared.or_else(|| blocking::region(|| self.wait_shared(&|| false))).expect("nobody interrupts it")
    }

    /// Acquires shared, waiting for an exclusive holder and, for a moment, for writers that came before. None if the wait was
    /// interrupted.
    pub fn shared_unless_interrupted(&self) -> Option<Shared> {
        self.try_shared().or_else(|| blocking::region(|| self.wait_shared(&blocking::is_interrupted)))
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

    /// Gives back a shared hold of this latch.
    #[inline]
    pub fn release_shared(&self, Shared(slot): &Shared) {
        if let Some(slot) = slot {
            return self.empty(slot);
        }
        let word = self.word.fetch_sub(1, Ordering::Release);
        debug_assert!(word & SHARED_MASK > 0 && word & EXCLUSIVE == 0);
        if word & SHARED_MASK == 1 && word & (PARKED | WRITER_COMES) == PARKED {
            self.wake_next();
        }
    }

    /// Gives a slot back. Either who parks sees that it is empty, or we see that somebody has parked.
    #[inline]
    fn empty(&self, slot: &Slot) {
        slot.empty(self.address());
        if self.word.load(Ordering::SeqCst) & (PARKED | WRITER_COMES) == PARKED {
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
    pub fn downgrade(&self) -> Shared {
        self.end_exclusive(1);
        Shared(None)
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
        let is_read = || word & SHARED_MASK != 0 || word & SLOTS != 0 && Slot::any_names(self.address());
        let held = word & EXCLUSIVE != 0 || !queue.readers_are_due(self.address()) && is_read();
        let chosen = match held || word & WRITER_COMES != 0 {
            true => Chosen::default(),
            false => queue.choose(self.address()),
        };
        self.say_who_waits(&queue, &chosen);
        drop(queue);
        chosen.wake();
    }

    /// Says anew who waits, when those have been chosen.
    fn say_who_waits(&self, queue: &Queue, chosen: &Chosen) {
        let waiters = self.waiters(queue, chosen);
        self.change(|word| {
            let of_who_comes = if word & WRITER_COMES != 0 { word & WRITERS } else { 0 };
            word & !(PARKED | WRITERS) | waiters | of_who_comes
        });
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

    #[inline]
    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    #[cold]
    fn wait_shared(&self, is_interrupted: &dyn Fn() -> bool) -> Option<Shared> {
        for _ in 0..SPINS_MAX {
            std::hint::spin_loop();
            if let Some(shared) = self.try_shared() {
                return Some(shared);
            }
        }
        let (mut wants, mut has_turn) = (Wanted::default(), false);
        loop {
            let gives_way = wants.gave_way < GIVE_WAY_TIMES;
            let obstacle = if has_turn || !gives_way { EXCLUSIVE } else { EXCLUSIVE | WRITER_WAITS };
            if let Some(shared) = self.try_shared_without(obstacle) {
                return Some(shared);
            }
            let time = if gives_way { GIVE_WAY } else { LOOK_AROUND };
            if let Some(woken) = self.park(obstacle, 0, &mut wants, time) {
                has_turn = woken == Woken::ByTurn;
                if !has_turn && !gives_way && is_interrupted() {
                    return None;
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

    /// Parks once, unless the obstacle is gone already: None. `over` is what the latch forgets then. A writer's obstacles are slots, too.
    fn park(&self, obstacle: u64, over: u64, wants: &mut Wanted, at_most: Duration) -> Option<Woken> {
        let place = self.place();
        let sleeper = Place::sleeper();
        let mut queue = place.lock();
        let (says, over, slots) = match (wants.exclusive, wants.impatient) {
            (false, _) => (PARKED, over, 0),
            (true, false) => (PARKED | WRITER_WAITS, over | FAVOUR, SLOTS),
            (true, true) => (PARKED | WRITER_WAITS | WRITER_FIRST, over | FAVOUR, SLOTS),
        };
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & (obstacle | slots) == 0 {
                return None;
            }
            let next = word & !over | says;
            match self.word.compare_exchange_weak(word, next, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => break,
                Err(present) => word = present,
            }
        }
        if word & obstacle == 0 && !Slot::any_names(self.address()) {
            self.say_who_waits(&queue, &Chosen::default());
            return None;
        }
        if wants.ticket == 0 {
            wants.ticket = queue.ticket();
        }
        Some(place.sleep(queue, &sleeper, self.address(), *wants, at_most))
    }
}

/// The word with a reader more, who is counted in it. The last of very many in a row biases it, unless a writer waits.
#[inline]
fn with_reader(word: u64) -> u64 {
    let next = word + 1;
    let counted = next + READER;
    match (word ^ counted) & BIASED {
        _ if word & BIASED != 0 => next,
        0 => counted,
        _ if word & WRITER_WAITS != 0 => next,
        _ => (counted | SLOTS).wrapping_add(VERSION_STEP),
    }
}

#[cfg(all(test, loom))]
mod interleavings;
#[cfg(all(test, not(loom)))]
mod tests;
