//! Room in the log: who may still write when it is short, and what is kept so that it never runs out (rules G1 to G4 in
//! README.md). Main functions: [`BufferPool::check_writable`], [`release_log`].

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use env::blocking;
use stdx::ids::Lsn;
use stdx::nesting::Nested;
use stdx::sync::read;

use crate::spaces::reserve;
use crate::{BufferPool, CheckpointParticipant, StorageError};

/// How often a statement tries to make room in a log that is pinned, before the log grows beyond its capacity.
const ATTEMPTS: u32 = 20;
/// As often somebody who does not free room tries.
const ATTEMPTS_OF_OTHERS: u32 = 3;
/// How often at most while somebody is at releasing the log, on a full disk: some seconds.
const ATTEMPTS_MAX: u32 = 2000;
/// As often a mini-transaction waits for that which is not part of it.
const ATTEMPTS_BESIDE: u32 = 250;
/// Pause between these attempts.
const PAUSE: Duration = Duration::from_millis(2);
/// Bounds of what is kept for mini-transactions that are open already.
const OPEN_BYTES: (u64, u64) = (128 << 10, 4 << 20);
/// Each byte of new log may ask for so many more when the log is to be released: less than that are undo records (9/8), and who begins
/// to write adds a constant.
const OWED_A_BYTE: u64 = 2;

thread_local! {
    static RELEASES: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, its thread writes so that the log need not be kept: it takes the room that is kept for that.
#[derive(Debug)]
pub struct ReleasesLog {
    _within: Nested,
}

/// Lets the thread take the log's last room, for what releases log.
pub fn release_log() -> ReleasesLog {
    ReleasesLog { _within: Nested::enter(&RELEASES) }
}

/// Up to where the log may be written before somebody looks again.
pub(crate) struct LogLimits {
    /// Mini-transactions that start when the log has passed this LSN make room first.
    throttle: AtomicU64,
    /// Statements ask for room from here on.
    statements: AtomicU64,
    /// Log files that are ready keep so many bytes for open mini-transactions and for what releases log.
    kept_bytes: AtomicU64,
    waits: AtomicU64,
    waited_us: AtomicU64,
}

/// How often mini-transactions had to make room in the log before they started, and how long that took them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogRoomWaits {
    /// Number.
    pub waits: u64,
    /// Time.
    pub waited: Duration,
}

impl LogLimits {
    pub fn new() -> LogLimits {
        LogLimits {
            throttle: AtomicU64::new(u64::MAX),
            statements: AtomicU64::new(0),
            kept_bytes: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            waited_us: AtomicU64::new(0),
        }
    }
}

impl BufferPool {
    /// Looks again how far the log may be written. Writers are held up from the last eighth of the log on, from its last
    /// file on, or from where room is kept on.
    pub(crate) fn update_throttle(&self) {
        let participant = self.participant();
        // First the end: what is logged behind it counts as owed.
        let (end, ready) = (self.redo.end_lsn().0, self.redo.ready_bytes());
        let owed = participant.map_or(0, |participant| participant.log_to_release());
        let kept = self.open_bytes() + owed;
        let until = |kept: u64| end + ready.saturating_sub(kept) / (1 + OWED_A_BYTE);
        let capacity = self.redo.capacity_bytes();
        let wanted = (kept + self.statement_bytes()).min(capacity / 2);
        let margin = self.redo.segment_bytes().max(capacity / 8).max(wanted);
        let throttle = end.saturating_add(self.redo.room_bytes().saturating_sub(margin));
        self.limits.kept_bytes.store(kept, Ordering::Relaxed);
        self.limits.statements.store(until(kept + self.statement_bytes()), Ordering::Relaxed);
        self.limits.throttle.store(throttle.min(until(kept)), Ordering::Release);
    }

    #[inline]
    pub(crate) fn log_is_nearly_full(&self) -> bool {
        self.redo.end_lsn().0 > self.limits.throttle.load(Ordering::Relaxed)
    }

    /// The log is pinned and grows beyond its capacity: look again after half a file.
    pub(crate) fn throttle_later(&self) {
        let later = self.redo.end_lsn().0 + self.redo.segment_bytes() / 2;
        if self.redo.ready_bytes() >= self.kept_bytes() + self.redo.segment_bytes() / 2 {
            self.limits.throttle.store(later, Ordering::Release);
        }
    }

    /// Room for mini-transactions that are open when somebody finds that there is no more.
    fn open_bytes(&self) -> u64 {
        (self.redo.segment_bytes() / 4).clamp(OPEN_BYTES.0, OPEN_BYTES.1)
    }

    /// Room that only what frees room may take.
    fn statement_bytes(&self) -> u64 {
        self.redo.segment_bytes() / 2
    }

    fn kept_bytes(&self) -> u64 {
        self.limits.kept_bytes.load(Ordering::Relaxed)
    }

    fn participant(&self) -> Option<Arc<dyn CheckpointParticipant>> {
        read(&self.participant).clone()
    }

    /// Bytes of log files that must be ready so that the thread's statement may go on.
    pub(crate) fn wanted_log_bytes(&self) -> u64 {
        self.kept_bytes() + if reserve::may_use() { 0 } else { self.statement_bytes() }
    }

    fn has_log_room(&self) -> bool {
        self.redo.ready_bytes() >= self.wanted_log_bytes()
    }

    /// Whether a statement that writes should start: `LogFull` if the disk is full and the log cannot be emptied, an error
    /// of the log after a failed write. Statements ask before they change anything (I4), because a log that finds no room
    /// for what was changed must stop (I2). Costs a few loads when all is well.
    #[inline]
    pub fn check_writable(&self) -> Result<(), StorageError> {
        let has_room = self.redo.end_lsn().0 <= self.limits.statements.load(Ordering::Relaxed);
        if has_room && !self.is_stopped() { Ok(()) } else { self.make_writable() }
    }

    #[cold]
    fn make_writable(&self) -> Result<(), StorageError> {
        if self.is_stopped() {
            return Err(self.redo.failure().map_or(StorageError::Stopped, StorageError::Log));
        }
        self.update_throttle();
        self.redo.prepare_files(self.wanted_log_bytes())?;
        let (mut attempts, mut in_vain) = (0, 0);
        while !self.has_log_room() {
            attempts += 1;
            if self.is_releasing() {
                // What it has done so far.
                let _ = self.advance_checkpoint();
                self.redo.prepare_files(self.wanted_log_bytes())?;
            } else {
                in_vain += 1;
                self.make_log_room();
                // Not only what lies in the older half may be in the way.
                self.release_before(self.redo.end_lsn());
            }
            if self.has_log_room() {
                break;
            }
            let in_vain_max = if reserve::may_use() { ATTEMPTS } else { ATTEMPTS_OF_OTHERS };
            if self.redo.is_starved() && (in_vain >= in_vain_max || attempts >= ATTEMPTS_MAX) {
                return Err(StorageError::LogFull);
            }
            // Unless the disk is full, a file more is better than a wait.
            if attempts >= ATTEMPTS && !self.redo.is_starved() {
                self.redo.exceed_capacity(self.wanted_log_bytes())?;
            }
            blocking::region(|| self.environment.clock.sleep(PAUSE));
        }
        self.update_throttle();
        Ok(())
    }

    fn is_releasing(&self) -> bool {
        self.participant().is_some_and(|participant| participant.is_releasing())
    }

    fn release_before(&self, target: Lsn) {
        if let Some(participant) = self.participant() {
            participant.release_before(target);
        }
    }

    /// A mini-transaction is about to start, and the log is nearly full. When this returns there is room for it, or the log has
    /// failed, or this is recovery, which writes next to nothing. Called with shared latches at most.
    #[cold]
    pub(crate) fn wait_for_log_room(&self) {
        if RELEASES.get() > 0 && self.may_start() {
            return;
        }
        let began = self.environment.clock.monotonic();
        self.make_room_to_start();
        let waited = self.environment.clock.monotonic().saturating_sub(began);
        self.limits.waits.fetch_add(1, Ordering::Relaxed);
        self.limits.waited_us.fetch_add(waited.as_micros() as u64, Ordering::Relaxed);
    }

    /// For the monitor.
    pub fn log_room_waits(&self) -> LogRoomWaits {
        let waited = Duration::from_micros(self.limits.waited_us.load(Ordering::Relaxed));
        LogRoomWaits { waits: self.limits.waits.load(Ordering::Relaxed), waited }
    }

    fn make_room_to_start(&self) {
        // Nobody may have made files ahead: that is no reason to write pages.
        let _ = self.redo.prepare_files(self.ahead_bytes());
        self.update_throttle();
        if self.may_start() && !self.log_is_nearly_full() {
            return;
        }
        self.make_log_room();
        if self.participant().is_none() {
            return;
        }
        let mut attempts = 0;
        while !self.may_start() && !self.is_stopped() {
            let waits_in_vain =
                attempts >= ATTEMPTS_BESIDE || !self.redo.is_starved() || !self.is_releasing();
            if self.redo.ready_bytes() >= self.least_bytes() && waits_in_vain {
                break;
            }
            attempts += 1;
            blocking::region(|| self.environment.clock.sleep(PAUSE));
            self.make_log_room();
            if self.redo.ready_bytes() < self.least_bytes() {
                self.take_last_room();
            }
        }
    }

    /// Others leave what releasing needs if they can, and room for open mini-transactions in any case. What releases log takes most of
    /// that too: not all are open at once.
    fn may_start(&self) -> bool {
        self.redo.ready_bytes() >= if RELEASES.get() > 0 { self.least_bytes() } else { self.kept_bytes() }
    }

    /// Nobody starts a mini-transaction with less.
    fn least_bytes(&self) -> u64 {
        if RELEASES.get() > 0 { self.open_bytes() / 4 } else { self.open_bytes() }
    }

    /// Bytes that files are made for ahead of the log's end where none are ready.
    fn ahead_bytes(&self) -> u64 {
        self.redo.segment_bytes().max(self.kept_bytes() + self.statement_bytes())
    }

    /// Whether the log up to that place has found room, as it must once checkpoints move (rule G1).
    pub(crate) fn log_is_in_files(&self, end: Lsn) -> bool {
        self.redo.ready_bytes() > 0
            || end < self.redo.end_lsn()
            || self.participant().is_none()
            || self.is_stopped()
    }

    /// Files beyond the maximum, if need be in place of the reserve's. Failures show where they matter: in flushes.
    fn take_last_room(&self) {
        let wanted = self.open_bytes();
        if !self.redo.exceed_capacity(wanted).unwrap_or(true) && reserve::remove_file(&self.environment) {
            let _ = self.redo.exceed_capacity(wanted);
        }
    }

    /// Writes the older half of what the log holds and moves the checkpoint. Failures show where they matter: in flushes.
    #[cold]
    pub(crate) fn make_log_room(&self) {
        let end = self.redo.end_lsn();
        let checkpoint = self.redo.checkpoint_lsn();
        let target = Lsn(checkpoint.0 + (end.0 - checkpoint.0) / 2);
        self.release_before(target);
        let _ = self.flush_older_than(target, usize::MAX);
        let _ = self.advance_checkpoint();
        let _ = self.redo.prepare_files(self.ahead_bytes());
        self.update_throttle();
        if self.log_is_nearly_full() {
            self.throttle_later();
        }
    }
}
