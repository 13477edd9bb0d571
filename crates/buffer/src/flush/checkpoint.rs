//! Moving the checkpoint, keeping room in the log, the flusher thread and the clean end.
//!
//! The checkpoint lies before the oldest change that is not on disk and before what the participant needs. The log may
//! grow beyond its capacity when it is pinned, rather than block; writers then make room themselves first (`log_room.rs`).

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

use env::blocking;
use stdx::ids::Lsn;
use stdx::sync::{lock, read, write};

use super::doublewrite::BATCH_PAGES_MAX;
use crate::{BufferPool, CheckpointParticipant, StorageError};

/// The flusher looks at the pool this often when nobody wakes it.
const TICK: Duration = Duration::from_millis(100);
/// The log is made durable at least this often, whatever commits ask for.
const LOG_FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// Most pages that one look of the flusher writes: 64 MiB.
const TICK_PAGES_MAX: usize = 4096;

/// How the flusher thread is woken and stopped.
#[derive(Default)]
pub(crate) struct FlusherSignal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Default, Clone, Copy)]
struct SignalState {
    wake: bool,
    stop: bool,
}

impl FlusherSignal {
    pub fn wake(&self) {
        lock(&self.state).wake = true;
        self.changed.notify_all();
    }

    pub fn stop(&self) {
        lock(&self.state).stop = true;
        self.changed.notify_all();
    }

    /// Waits for a tick or a call; true if the thread must end.
    fn wait(&self) -> bool {
        let state = lock(&self.state);
        let waiting = |state: &mut SignalState| !state.wake && !state.stop;
        let outcome = self.changed.wait_timeout_while(state, TICK, waiting);
        let (mut state, _) = outcome.unwrap_or_else(PoisonError::into_inner);
        state.wake = false;
        state.stop
    }
}

impl BufferPool {
    /// From now on checkpoints may move, as far as `participant` allows.
    pub fn set_checkpoint_participant(&self, participant: Arc<dyn CheckpointParticipant>) {
        self.damage.forget_log();
        *write(&self.participant) = Some(participant);
    }

    /// Writes all pages that are dirty now and moves the checkpoint as far as the participant allows. Returns it. The
    /// caller must not hold an exclusive latch.
    pub fn checkpoint(&self) -> Result<Lsn, StorageError> {
        let target = self.redo.end_lsn();
        loop {
            let written = self.flush_older_than(target, usize::MAX)?;
            let oldest = self.oldest_change();
            if oldest.is_none_or(|oldest| oldest >= target) {
                return self.advance_checkpoint();
            }
            if written == 0 {
                // Somebody is changing the page; that takes microseconds.
                blocking::region(|| self.environment.clock.sleep(Duration::from_micros(100)));
            }
        }
    }

    fn oldest_change(&self) -> Option<Lsn> {
        self.dirty.oldest(&self.frames)
    }

    /// Moves the checkpoint as far as the pages on disk and the participant allow, and returns it.
    pub fn advance_checkpoint(&self) -> Result<Lsn, StorageError> {
        let participant = read(&self.participant).clone();
        if let Some(participant) = participant {
            // First the end, then the marks: a group that is in the log before `end` has marked its pages.
            let end = self.redo.end_lsn();
            let oldest = self.oldest_change().unwrap_or(end);
            let needed = participant.oldest_needed_lsn(end);
            self.redo.set_checkpoint(end.min(oldest).min(needed))?;
        }
        self.update_throttle();
        Ok(self.redo.checkpoint_lsn())
    }

    pub(crate) fn start_flusher(self: &Arc<BufferPool>) {
        let pool = Arc::downgrade(self);
        let signal = Arc::clone(&self.flusher_signal);
        let body = move || run_flusher(&pool, &signal);
        let thread = self.environment.threads.spawn("flusher", Box::new(body));
        *lock(&self.flusher_thread) = Some(thread);
    }

    /// One look of the flusher thread.
    fn flush_tick(&self, progress: &mut Progress) -> Result<(), StorageError> {
        let now = self.environment.clock.monotonic();
        let end = self.redo.end_lsn();
        if now.saturating_sub(progress.log_flushed_at) >= LOG_FLUSH_INTERVAL {
            self.redo.flush_to(end)?;
            progress.log_flushed_at = now;
            self.refill_reserve()?;
        }
        self.redo.note_progress()?;
        self.redo.prepare_files((2 * self.redo.segment_bytes()).max(self.wanted_log_bytes()))?;
        let idle = progress.last_end == end;
        progress.last_end = end;
        if idle && progress.all_clean {
            // Nothing has changed since the last look: a large pool is not walked for nothing.
            return Ok(());
        }
        let written = self.flush_by_need(end, idle, progress)?;
        let lag = end.0 - self.redo.checkpoint_lsn().0;
        if written > 0 || lag > self.redo.segment_bytes() || (idle && lag > 0) {
            self.advance_checkpoint()?;
        } else {
            self.update_throttle();
        }
        Ok(())
    }

    /// Writes what must be written so that neither the log nor the pool fills up; a little when there is nothing to do.
    fn flush_by_need(&self, end: Lsn, idle: bool, progress: &mut Progress) -> Result<usize, StorageError> {
        let capacity = self.redo.capacity_bytes();
        let mut written = 0;
        // From half of the log on, and the more of it is used, the younger the changes that are written.
        let used = end.0 - self.redo.checkpoint_lsn().0;
        if used > capacity / 2 {
            let excess = (used - capacity / 2).saturating_mul(2);
            let target = Lsn(self.redo.checkpoint_lsn().0 + excess.min(used));
            if let Some(participant) = read(&self.participant).clone() {
                participant.release_before(target);
            }
            written += self.flush_older_than(target, TICK_PAGES_MAX)?;
        }
        let is_clean = self.oldest_change().is_none();
        // What became dirty since the end was read shows at the next tick: the end has moved then.
        progress.all_clean = is_clean && self.redo.checkpoint_lsn() == end;
        let surplus = self.surplus_dirty_pages();
        if surplus > 0 {
            let excess = surplus.clamp(BATCH_PAGES_MAX, TICK_PAGES_MAX);
            written += self.flush_older_than(Lsn(u64::MAX), excess)?;
        } else if idle && !is_clean && written == 0 {
            written += self.flush_some()?;
        }
        Ok(written)
    }

    /// Dirty pages beyond a quarter of a pool that is nearly full, else 0.
    fn surplus_dirty_pages(&self) -> usize {
        let quarter = self.frames.count() / 4;
        if self.dirty.frames_max() <= quarter {
            return 0;
        }
        let (pages, dirty) = self.page_counts();
        if pages * 8 > self.frames.count() * 7 { dirty.saturating_sub(quarter) } else { 0 }
    }

    /// Stops the flusher, writes everything, and leaves a log that needs no recovery. Other threads must have stopped
    /// using the pool.
    pub fn shutdown(&self) -> Result<(), StorageError> {
        self.stop_flusher();
        self.checkpoint().map(drop)
    }

    /// Stops the flusher and waits for its end.
    pub fn stop_flusher(&self) {
        self.flusher_signal.stop();
        let thread = lock(&self.flusher_thread).take();
        if let Some(thread) = thread {
            blocking::region(|| thread.join());
        }
    }
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        self.flusher_signal.stop();
    }
}

struct Progress {
    log_flushed_at: Duration,
    last_end: Lsn,
    /// The last look found no dirty page, and the checkpoint at the log's end.
    all_clean: bool,
}

fn run_flusher(pool: &Weak<BufferPool>, signal: &FlusherSignal) {
    let mut progress = Progress { log_flushed_at: Duration::ZERO, last_end: Lsn(0), all_clean: false };
    while !signal.wait() {
        let Some(pool) = pool.upgrade() else { return };
        match pool.flush_tick(&mut progress) {
            Ok(()) => {}
            // A full disk is tried again at the next tick, a failed one never (I2).
            Err(_) if pool.is_stopped() => return,
            Err(_) => {}
        }
    }
}
