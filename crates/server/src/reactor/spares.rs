//! Parked threads that wait for a reactor to run. Main type: [`Spares`].

use super::core::Core;
use super::lock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Threads that stay parked; more of them end.
const PARKED_MAX: usize = 64;

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
        let seat = Arc::new(Seat::default());
        {
            let mut parked = lock(&self.parked);
            if parked.len() >= PARKED_MAX || self.is_closed.load(Ordering::Acquire) {
                return None;
            }
            parked.push(Arc::clone(&seat));
        }
        let guard = lock(&seat.core);
        let waits = |core: &mut Option<Box<Core>>| core.is_none() && !self.is_closed.load(Ordering::Acquire);
        let mut guard = seat.filled.wait_while(guard, waits).unwrap_or_else(PoisonError::into_inner);
        guard.take()
    }
}
