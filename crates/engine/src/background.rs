//! The background threads: purge, undo that is in the way of the log, log flush once a second. Main types: [`Background`],
//! [`Worker`]. Each has a thread of its own: a long purge must not keep the log from being flushed, nor undo from being saved
//! that other transactions wait for.

use crate::engine::EngineInner;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

/// Pause between rounds of purge, of undo saving and of rollbacks when nobody asks for one.
const ROUND: Duration = Duration::from_millis(100);
/// Pause between two flushes of the log (flush levels 0 and 2).
const FLUSH_ROUND: Duration = Duration::from_secs(1);

/// All threads.
#[derive(Debug, Default)]
pub(crate) struct Background {
    /// Old versions and delete marks.
    pub(crate) purge: Arc<Worker>,
    /// Saves undo, so that the log may go on.
    pub(crate) undo: Arc<Worker>,
    flush: Arc<Worker>,
    /// Undoes what a crash left unfinished.
    rollback: Arc<Worker>,
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
    /// Starts the threads. They hold the engine weakly, so that dropping the last handle ends them.
    pub(crate) fn start(engine: &Arc<EngineInner>) {
        // Errors are met again by the statement that runs into the same page; work goes on with the next round.
        let Background { purge, undo, flush, rollback } = &engine.background;
        rollback.start(engine, "iruka-rollback", ROUND, EngineInner::roll_back_in_background);
        purge.start(engine, "iruka-purge", ROUND, |engine| drop(engine.purge_once()));
        undo.start(engine, "iruka-undo", ROUND, |engine| drop(engine.save_undo_in_the_way()));
        flush.start(engine, "iruka-log", FLUSH_ROUND, |engine| {
            let redo = engine.pool.redo();
            drop(redo.flush_to(redo.end_lsn()));
        });
    }

    /// Ends the threads and waits for them.
    pub(crate) fn stop(&self) {
        let all = [&self.purge, &self.undo, &self.flush, &self.rollback];
        all.iter().for_each(|worker| worker.end());
        all.iter().for_each(|worker| worker.join());
    }
}

/// Ends the threads when it is dropped. A round that runs holds the engine, so whoever opens the data directory next must not come
/// before its end.
#[derive(Debug)]
pub(crate) struct EndOfThreads(pub(crate) Arc<EngineInner>);

impl Drop for EndOfThreads {
    fn drop(&mut self) {
        self.0.background.stop();
        self.0.pool.stop_flusher();
    }
}

impl Worker {
    /// Asks for a round now.
    pub(crate) fn wake(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).wanted = true;
        self.changed.notify_all();
    }

    fn start(
        self: &Arc<Self>,
        engine: &Arc<EngineInner>,
        name: &str,
        pause: Duration,
        round: fn(&EngineInner),
    ) {
        let weak = Arc::downgrade(engine);
        let worker = self.clone();
        let body = move || worker.run(&weak, pause, round);
        let thread = engine.environment.threads.spawn(name, Box::new(body));
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

    fn run(&self, engine: &Weak<EngineInner>, pause: Duration, round: fn(&EngineInner)) {
        while self.pause(pause) {
            let Some(engine) = engine.upgrade() else { return };
            round(&engine);
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::disallowed_methods)]
mod tests {
    use crate::{Engine, EngineOptions, FlushLevel};
    use env::Environment;
    use env::simulated::SimulatedDisk;
    use std::sync::PoisonError;
    use std::time::{Duration, Instant};

    fn within_seconds(seconds: u64, holds: impl Fn() -> bool) -> bool {
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            if holds() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        holds()
    }

    /// A purge that takes long, and a save of undo that takes long, keep nobody waiting.
    #[test]
    fn flush_and_undo_saving_wait_for_no_purge() {
        let options = EngineOptions {
            buffer_pool_bytes: 8 << 20,
            redo_log_bytes: 4 << 20,
            flush_level: FlushLevel::EverySecond,
            ..EngineOptions::default()
        };
        let environment = Environment::simulated(SimulatedDisk::new(1), 1);
        let engine = Engine::open(environment, options).unwrap();
        let inner = &engine.inner;
        let purging = inner.purge.running.lock().unwrap_or_else(PoisonError::into_inner);
        inner.background.purge.wake();
        // As if a transaction were in the way of the log.
        inner.undo_store.want_saved_before(stdx::ids::Lsn(1));
        inner.background.undo.wake();
        assert!(within_seconds(5, || !inner.undo_store.is_wanted()), "undo is saved beside a long purge");
        let saving = inner.undo_saver.lock().unwrap_or_else(PoisonError::into_inner);
        let mut mini = inner.pool.mini_transaction();
        mini.log(crate::records::KIND_ROLLED_BACK, &crate::records::encode_id(stdx::ids::TransactionId(1)));
        let lsn = mini.commit();
        let redo = inner.pool.redo();
        assert!(within_seconds(5, || redo.durable_lsn() >= lsn), "the log is flushed beside both");
        drop((purging, saving));
        engine.shutdown().unwrap();
    }
}
