//! Parked threads that wait for a reactor to run. Main type: [`Spares`].

use super::core::Core;
use super::lock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Threads that stay parked; more of them end.
const PARKED_MAX: usize = 64;
/// A thread that was parked for so long ends: what its statements used of memory goes back with it, which the allocator
/// keeps for a thread that only sleeps.
const IDLE_MAX: Duration = Duration::from_secs(2);

/// The parked threads.
#[derive(Default)]
pub(crate) struct Spares {
    parked: Mutex<Vec<Arc<Seat>>>,
    is_closed: AtomicBool,
}

/// Where a parked thread receives its reactor.
#[derive(Default)]
struct Seat {
    core: Mutex<Option<Box<Core>>>,
    filled: Condvar,
}

impl Spares {
    /// Hands a core to a parked thread; gives it back if there is none.
    pub fn give(&self, core: Box<Core>) -> Result<(), Box<Core>> {
        let Some(seat) = lock(&self.parked).pop() else { return Err(core) };
        *lock(&seat.core) = Some(core);
        seat.filled.notify_one();
        Ok(())
    }

    /// Sends all parked threads home, and those that come later.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        for seat in lock(&self.parked).drain(..) {
            drop(lock(&seat.core));
            seat.filled.notify_one();
        }
    }

    /// Parks the calling thread until it is given a core; None if the thread is to end.
    pub fn wait(&self) -> Option<Box<Core>> {
        self.wait_for(IDLE_MAX)
    }

    fn wait_for(&self, idle_max: Duration) -> Option<Box<Core>> {
        let seat = Arc::new(Seat::default());
        {
            let mut parked = lock(&self.parked);
            if parked.len() >= PARKED_MAX || self.is_closed.load(Ordering::Acquire) {
                return None;
            }
            parked.push(Arc::clone(&seat));
        }
        let waits = |core: &mut Option<Box<Core>>| core.is_none() && !self.is_closed.load(Ordering::Acquire);
        let mut guard = lock(&seat.core);
        loop {
            let waited = seat.filled.wait_timeout_while(guard, idle_max, waits);
            let (held, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            guard = held;
            if !timeout.timed_out() {
                return guard.take();
            }
            drop(guard);
            match self.leave(&seat) {
                Some(0) => {
                    // The crowd is gone, and what the allocator kept for it is of no use to anybody.
                    env::return_free();
                    return None;
                }
                Some(_) => return None,
                None => {}
            }
            // Somebody took the seat's number just now: a core comes.
            guard = lock(&seat.core);
        }
    }

    /// Takes a seat out of the parked ones and says how many are left; None if it was taken for a core.
    fn leave(&self, seat: &Arc<Seat>) -> Option<usize> {
        let mut parked = lock(&self.parked);
        let place = parked.iter().position(|other| Arc::ptr_eq(other, seat))?;
        parked.remove(place);
        Some(parked.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_not_needed_ends() {
        let spares = Spares::default();
        assert!(spares.wait_for(Duration::from_millis(1)).is_none());
        assert!(lock(&spares.parked).is_empty());
        // Its seat was taken: it waits for what comes, here for the end.
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| spares.wait_for(Duration::from_millis(1)).is_none());
            let seat = loop {
                if let Some(seat) = lock(&spares.parked).pop() {
                    break seat;
                }
                if waiting.is_finished() {
                    return;
                }
            };
            spares.close();
            seat.filled.notify_one();
            assert!(waiting.join().unwrap());
        });
    }
}
