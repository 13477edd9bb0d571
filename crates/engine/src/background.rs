//! The background threads: purge, delete marks of before the start, undo that is in the way of the log, log flush once a second,
//! rollback. Main types: [`Background`], [`Worker`]. What their rounds do is said in `start/threads.rs`. Each has a thread of its own: a
//! long purge must not keep the log from being flushed, nor undo from being saved that other transactions wait for.

use env::Environment;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

/// Pause between rounds of purge, of undo saving and of rollbacks when nobody asks for one.
pub(crate) const ROUND: Duration = Duration::from_millis(100);
/// Pause between two flushes of the log (flush levels 0 and 2).
pub(crate) const FLUSH_ROUND: Duration = Duration::from_secs(1);

/// All threads.
#[derive(Debug, Default)]
pub(crate) struct Background {
    /// Old versions and delete marks.
    pub(crate) purge: Arc<Worker>,
    /// Saves undo, so that the log may go on.
    pub(crate) undo: Arc<Worker>,
    pub(crate) flush: Arc<Worker>,
    /// Delete marks that the last stop has left.
    pub(crate) sweep: Arc<Worker>,
    /// Undoes what a crash left unfinished.
    pub(crate) rollback: Arc<Worker>,
}

/// Wakes and ends one thread.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    wanted: bool,
    ending: bool,
    thread: Option<env::JoinHandle>,
}

impl Background {
    /// Ends the threads and waits for them.
    pub(crate) fn stop(&self) {
        let all = [&self.purge, &self.sweep, &self.undo, &self.flush, &self.rollback];
        all.iter().for_each(|worker| worker.end());
        all.iter().for_each(|worker| worker.join());
    }
}

impl Worker {
    /// Asks for a round now.
    pub(crate) fn wake(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).wanted = true;
        self.changed.notify_all();
    }

    /// Starts the thread, which calls `round` as long as `of` is there. It holds that weakly, so that dropping the last handle ends it.
    pub(crate) fn start<T: Send + Sync + 'static>(
        self: &Arc<Self>,
        environment: &Environment,
        of: &Arc<T>,
        name: &str,
        pause: Duration,
        round: fn(&T),
    ) {
        let weak = Arc::downgrade(of);
        let worker = self.clone();
        let body = move || worker.run(&weak, pause, round);
        let thread = environment.threads.spawn(name, Box::new(body));
        self.state.lock().unwrap_or_else(PoisonError::into_inner).thread = Some(thread);
    }

    fn end(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).ending = true;
        self.changed.notify_all();
    }

    fn join(&self) {
        let thread = self.state.lock().unwrap_or_else(PoisonError::into_inner).thread.take();
        if let Some(thread) = thread {
            thread.join();
        }
    }

    fn run<T>(&self, of: &Weak<T>, pause: Duration, round: fn(&T)) {
        while self.pause(pause) {
            let Some(of) = of.upgrade() else { return };
            round(&of);
        }
    }

    /// Sleeps until the next round; false when the thread shall end.
    fn pause(&self, pause: Duration) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = |state: &mut State| !state.wanted && !state.ending;
        let (mut state, _) =
            self.changed.wait_timeout_while(state, pause, idle).unwrap_or_else(PoisonError::into_inner);
        state.wanted = false;
        !state.ending
    }
}
