//! [`FlushTurns`]: who flushes, and who waits for it.
//!
//! One thread at a time leads. Others either wait in place, or leave a [`FlushWaiter`] and go on with other work: they
//! are told when the leader has ended, and ask again. All under one short mutex, so that nobody misses the end.

use std::sync::{Arc, PoisonError};

use env::blocking;
#[cfg(loom)]
use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex, MutexGuard};

/// Somebody who has other work while a flush goes on.
pub trait FlushWaiter: Send + Sync {
    /// A flush ended, well or badly: ask again. Called once a subscription, by the flush's thread; must be short.
    fn flush_ended(&self);
}

/// The seat of the leader, with what one leader hands to the next.
pub(crate) struct FlushTurns<T> {
    seat: Mutex<Seat<T>>,
    left: Condvar,
}

struct Seat<T> {
    /// None while somebody leads.
    baton: Option<T>,
    subscribed: Vec<Arc<dyn FlushWaiter>>,
    /// Threads that wait in place. Waking nobody would cost a system call.
    waiting: usize,
}

/// What became of somebody who needs a flush.
#[derive(Debug)]
pub(crate) enum Turn<T, R> {
    /// There is nothing left to do.
    Settled(R),
    /// To lead, and then to call [`FlushTurns::end`].
    Leads(T),
    /// The waiter will be told.
    Subscribed,
}

impl<T> FlushTurns<T> {
    /// Nobody leads.
    pub fn new(baton: T) -> FlushTurns<T> {
        FlushTurns {
            seat: Mutex::new(Seat { baton: Some(baton), subscribed: Vec::new(), waiting: 0 }),
            left: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seat<T>> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the seat, unless `settled` says that there is nothing to do. While another thread leads, waits for its end
    /// if there is no `waiter`.
    pub fn begin<R>(
        &self,
        settled: impl Fn() -> Option<R>,
        waiter: Option<&Arc<dyn FlushWaiter>>,
    ) -> Turn<T, R> {
        let mut seat = self.lock();
        loop {
            if let Some(result) = settled() {
                return Turn::Settled(result);
            }
            if let Some(baton) = seat.baton.take() {
                return Turn::Leads(baton);
            }
            if let Some(waiter) = waiter {
                seat.subscribed.push(Arc::clone(waiter));
                return Turn::Subscribed;
            }
            seat.waiting += 1;
            seat = blocking::region(|| self.left.wait(seat).unwrap_or_else(PoisonError::into_inner));
            seat.waiting -= 1;
        }
    }

    /// Gives the seat back and tells everybody.
    pub fn end(&self, baton: T) {
        let mut seat = self.lock();
        seat.baton = Some(baton);
        self.tell(seat);
    }

    /// Tells everybody to look again: what `settled` sees has changed.
    pub fn wake_all(&self) {
        self.tell(self.lock());
    }

    fn tell(&self, mut seat: MutexGuard<'_, Seat<T>>) {
        let subscribed = std::mem::take(&mut seat.subscribed);
        let has_waiting = seat.waiting > 0;
        drop(seat);
        if has_waiting {
            self.left.notify_all();
        }
        for waiter in subscribed {
            waiter.flush_ended();
        }
    }
}

/// All interleavings of a few threads. Run: RUSTFLAGS="--cfg loom" cargo test -p redo --lib turns::interleavings
#[cfg(all(test, loom))]
mod interleavings {
    use super::*;
    use loom::sync::atomic::{AtomicU64, Ordering};
    use loom::thread;

    /// A log of which `end` bytes are appended; `baton` counts leaders.
    struct Log {
        turns: FlushTurns<u32>,
        end: AtomicU64,
        durable: AtomicU64,
    }

    impl Log {
        fn flush(&self, lsn: u64, waiter: Option<&Arc<dyn FlushWaiter>>) -> bool {
            let settled = || (self.durable.load(Ordering::Acquire) >= lsn).then_some(());
            loop {
                match self.turns.begin(settled, waiter) {
                    Turn::Settled(()) => return true,
                    Turn::Leads(baton) => {
                        self.durable.store(self.end.load(Ordering::Acquire), Ordering::Release);
                        self.turns.end(baton + 1);
                    }
                    Turn::Subscribed => return false,
                }
            }
        }
    }

    #[derive(Default)]
    struct Bell {
        rings: Mutex<u32>,
        rung: Condvar,
    }

    impl FlushWaiter for Bell {
        fn flush_ended(&self) {
            *self.rings.lock().unwrap() += 1;
            self.rung.notify_one();
        }
    }

    impl Bell {
        fn wait(&self) {
            let mut rings = self.rings.lock().unwrap();
            while *rings == 0 {
                rings = self.rung.wait(rings).unwrap();
            }
            *rings -= 1;
        }
    }

    #[test]
    fn everybody_gets_the_flush_that_was_asked_for() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let log = loom::sync::Arc::new(Log {
                turns: FlushTurns::new(0),
                end: AtomicU64::new(0),
                durable: AtomicU64::new(0),
            });
            let appends = |log: &Log| log.end.fetch_add(1, Ordering::AcqRel) + 1;
            let waits = {
                let log = loom::sync::Arc::clone(&log);
                thread::spawn(move || assert!(log.flush(appends(&log), None)))
            };
            let subscribes = {
                let log = loom::sync::Arc::clone(&log);
                thread::spawn(move || {
                    let bell = Arc::new(Bell::default());
                    let waiter: Arc<dyn FlushWaiter> = Arc::clone(&bell) as Arc<dyn FlushWaiter>;
                    let lsn = appends(&log);
                    while !log.flush(lsn, Some(&waiter)) {
                        bell.wait();
                    }
                    assert!(log.durable.load(Ordering::Acquire) >= lsn);
                })
            };
            assert!(log.flush(appends(&log), None));
            waits.join().unwrap();
            subscribes.join().unwrap();
        });
    }
}
