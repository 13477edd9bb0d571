//! The background thread: purge, log flush once a second, undo that is in the way of the log. Main type: [`Background`].

use crate::engine::EngineInner;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

/// Pause between rounds when nobody asks for one.
const ROUND: Duration = Duration::from_millis(100);
/// Rounds between two flushes of the log (flush levels 0 and 2).
const ROUNDS_A_FLUSH: u32 = 10;

/// Wakes and ends the background thread.
#[derive(Debug, Default)]
pub(crate) struct Background {
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
    /// Asks for a round now.
    pub(crate) fn wake(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).wanted = true;
        self.changed.notify_all();
    }

    /// Starts the thread. It holds the engine weakly, so that dropping the last handle ends it.
    pub(crate) fn start(self: &Arc<Self>, engine: &Arc<EngineInner>) {
        let weak = Arc::downgrade(engine);
        let background = self.clone();
        let body = move || background.run(&weak);
        let thread = engine.environment.threads.spawn("iruka-purge", Box::new(body));
        self.state.lock().unwrap_or_else(PoisonError::into_inner).thread = Some(thread);
    }

    /// Ends the thread and waits for it.
    pub(crate) fn stop(&self) {
        let thread = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.ending = true;
            state.thread.take()
        };
        self.changed.notify_all();
        if let Some(thread) = thread {
            thread.join();
        }
    }

    fn run(&self, engine: &Weak<EngineInner>) {
        let mut round = 0u32;
        while self.pause() {
            let Some(engine) = engine.upgrade() else { return };
            round = round.wrapping_add(1);
            // Errors are met again by the statement that runs into the same page; purge goes on with the next round.
            let _ = engine.save_undo_in_the_way();
            let _ = engine.purge_once();
            if round.is_multiple_of(ROUNDS_A_FLUSH) {
                let redo = engine.pool.redo();
                let _ = redo.flush_to(redo.end_lsn());
            }
        }
    }

    /// Sleeps until the next round; false when the thread shall end.
    fn pause(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = |state: &mut State| !state.wanted && !state.ending;
        let (mut state, _) =
            self.changed.wait_timeout_while(state, ROUND, idle).unwrap_or_else(PoisonError::into_inner);
        state.wanted = false;
        !state.ending
    }
}
