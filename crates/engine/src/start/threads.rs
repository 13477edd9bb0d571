//! What the background threads do: rollback of what a crash left, purge, saving of undo, the flush of the log.

use crate::background::{FLUSH_ROUND, ROUND};
use crate::inner::EngineInner;
use std::sync::Arc;

/// Starts the background threads. They hold the engine weakly, so that dropping the last handle ends them.
pub(super) fn start_threads(inner: &Arc<EngineInner>) {
    // Errors are met again by the statement that runs into the same page; work goes on with the next round.
    let (background, environment) = (&inner.background, &inner.shared.environment);
    background.rollback.start(environment, inner, "iruka-rollback", ROUND, |engine| {
        engine.rollback.roll_back_in_background();
    });
    background.purge.start(environment, inner, "iruka-purge", ROUND, |engine| {
        drop(engine.purge.purge_once());
    });
    // What is to be swept is known by now, and does not grow.
    if !inner.shared.is_forced() && inner.sweep.is_needed() {
        background.sweep.start(environment, inner, "iruka-sweep", ROUND, |engine| {
            drop(engine.sweep.sweep_some(&engine.purge));
        });
    }
    background.undo.start(environment, inner, "iruka-undo", ROUND, |engine| {
        drop(engine.undo.save_undo_in_the_way());
    });
    background.flush.start(environment, inner, "iruka-log", FLUSH_ROUND, |engine| {
        let redo = engine.pool.redo();
        drop(redo.flush_to(redo.end_lsn()));
    });
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
        inner.undo.store.want_saved_before(stdx::ids::Lsn(1));
        inner.background.undo.wake();
        assert!(within_seconds(5, || !inner.undo.store.is_saving(true)), "undo is saved beside a long purge");
        let saving = inner.undo.saver.lock().unwrap_or_else(PoisonError::into_inner);
        let mut mini = inner.pool.mini_transaction();
        undo::log_rolled_back(&mut mini, stdx::ids::TransactionId(1));
        let lsn = mini.commit();
        let redo = inner.pool.redo();
        assert!(within_seconds(5, || redo.durable_lsn() >= lsn), "the log is flushed beside both");
        drop((purging, saving));
        engine.shutdown().unwrap();
    }
}
