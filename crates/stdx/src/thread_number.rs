//! Numbers of the threads that live, from 0 on, for arrays in which each thread has a place of its own. Main function: [`current`].
//! A number is given again when its thread has ended. What the thread left in its places, the next one finds.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many threads have a number. Those beyond have none, and do in some other way what places are for.
pub const NUMBERS: usize = 256;

static TAKEN: [AtomicBool; NUMBERS] = [const { AtomicBool::new(false) }; NUMBERS];
/// One more than the greatest number that was ever given.
static USED: AtomicUsize = AtomicUsize::new(0);

/// No number has been looked for yet.
const UNCLAIMED: usize = usize::MAX;

/// Gives the thread's number back at its end.
struct Claim;

thread_local! {
    /// `NUMBERS`: the thread has none.
    static NUMBER: Cell<usize> = const { Cell::new(UNCLAIMED) };
    /// Only touched when a number is claimed: a variable with a destructor is slower to reach.
    static CLAIM: Claim = const { Claim };
}

impl Drop for Claim {
    fn drop(&mut self) {
        // After this the thread has none.
        give_back(NUMBER.replace(NUMBERS));
    }
}

/// The number of this thread, below [`NUMBERS`]; None for a thread too many, or one that is ending.
#[inline]
pub fn current() -> Option<usize> {
    let number = match NUMBER.get() {
        UNCLAIMED => claim(),
        number => number,
    };
    (number < NUMBERS).then_some(number)
}

/// How many places to look through: all numbers given so far are below. Who looks for what another thread has put into its place
/// after it got its number is in one order with that (sequentially consistent), if the thread's own accesses are.
pub fn used() -> usize {
    USED.load(Ordering::SeqCst)
}

#[cold]
fn claim() -> usize {
    let free = TAKEN.iter().position(|taken| !taken.swap(true, Ordering::Acquire));
    let number = free.unwrap_or(NUMBERS);
    NUMBER.set(number);
    if CLAIM.try_with(|_| ()).is_err() {
        // The thread is ending: nobody would give the number back.
        NUMBER.set(NUMBERS);
        give_back(number);
    } else if number < NUMBERS {
        USED.fetch_max(number + 1, Ordering::SeqCst);
    }
    NUMBER.get()
}

fn give_back(number: usize) {
    if let Some(taken) = TAKEN.get(number) {
        taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    // Nothing below has threads of its own to ask for.
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Barrier;

    #[test]
    fn threads_that_live_have_different_numbers_and_those_are_given_again() {
        const THREADS: usize = NUMBERS + 20;
        for _ in 0..2 {
            let barrier = Barrier::new(THREADS);
            let numbers: Vec<_> = std::thread::scope(|scope| {
                let number = || {
                    let number = current();
                    barrier.wait();
                    assert_eq!(current(), number, "it stays");
                    number
                };
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(number)).collect();
                threads.into_iter().map(|thread| thread.join().expect("no assertion failed")).collect()
            });
            let given: Vec<usize> = numbers.into_iter().flatten().collect();
            assert!(given.len() > NUMBERS / 2 && given.iter().all(|number| *number < used()));
            assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), given.len());
        }
    }
}
