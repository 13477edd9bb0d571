//! Watches for statements that run long without announcing a wait, and frees their reactors.
//! Sleeps in short ticks while any reactor moves, and until it is rung when none does.

use super::{Group, lock};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A statement that is seen at two ticks has run for one to two of them.
const TICK: Duration = Duration::from_millis(2);
/// Ticks without movement before the monitor sleeps until it is rung.
const QUIET_TICKS_MAX: u32 = 50;

/// Wakes the monitor.
#[derive(Default)]
pub(crate) struct Alarm {
    is_asleep: AtomicBool,
    is_finished: AtomicBool,
    lock: Mutex<()>,
    rung: Condvar,
}

impl Alarm {
    /// A reactor moves. Costs one load while the monitor is awake.
    pub fn ring(&self) {
        if self.is_asleep.load(Ordering::Relaxed) && self.is_asleep.swap(false, Ordering::AcqRel) {
            drop(lock(&self.lock));
            self.rung.notify_one();
        }
    }

    /// Ends the monitor.
    pub fn finish(&self) {
        self.is_finished.store(true, Ordering::Release);
        self.ring();
    }

    fn sleep(&self) {
        self.is_asleep.store(true, Ordering::Release);
        let guard = lock(&self.lock);
        let asleep =
            |_: &mut ()| self.is_asleep.load(Ordering::Acquire) && !self.is_finished.load(Ordering::Acquire);
        drop(self.rung.wait_while(guard, asleep).unwrap_or_else(PoisonError::into_inner));
    }
}

/// Starts the monitor's thread.
pub(crate) fn start(group: &Arc<Group>) {
    let threads = Arc::clone(&group.shared.environment.threads);
    let group = Arc::clone(group);
    let watched = Arc::clone(&group);
    group.keep(threads.spawn("monitor", Box::new(move || watch(&watched))));
}

fn watch(group: &Arc<Group>) {
    let mut seen = vec![0; group.reactors.len()];
    let mut quiet_ticks = 0;
    while !group.monitor.is_finished.load(Ordering::Acquire) {
        group.shared.environment.clock.sleep(TICK);
        let mut moved = false;
        for (reactor, seen) in group.reactors.iter().zip(&mut seen) {
            let ticket = reactor.tickets.load(Ordering::Relaxed);
            if ticket != *seen {
                *seen = ticket;
                moved = true;
            } else if let Some(core) = reactor.reclaim(ticket) {
                group.employ(core);
                moved = true;
            }
        }
        quiet_ticks = if moved { 0 } else { quiet_ticks + 1 };
        if quiet_ticks >= QUIET_TICKS_MAX {
            group.monitor.sleep();
            quiet_ticks = 0;
        }
    }
}
