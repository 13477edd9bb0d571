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
        if self.is_asleep.load(Ordering::SeqCst) && self.is_asleep.swap(false, Ordering::SeqCst) {
            drop(lock(&self.lock));
            self.rung.notify_one();
        }
    }

    /// Ends the monitor.
    pub fn finish(&self) {
        self.is_finished.store(true, Ordering::SeqCst);
        self.ring();
    }

    /// Sleeps until it is rung; not at all if something has moved since the monitor looked last. `has_moved` is asked
    /// after the sleep was announced: whoever moves later sees the announcement and rings. That needs one order of
    /// announcements and moves in which all threads believe: hence `SeqCst`, for [`Reactor::lend`](super::Reactor) too.
    fn sleep(&self, has_moved: impl FnOnce() -> bool) {
        self.is_asleep.store(true, Ordering::SeqCst);
        if has_moved() {
            return self.is_asleep.store(false, Ordering::SeqCst);
        }
        let guard = lock(&self.lock);
        let asleep =
            |_: &mut ()| self.is_asleep.load(Ordering::SeqCst) && !self.is_finished.load(Ordering::SeqCst);
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
            group.monitor.sleep(|| {
                let mut reactors = group.reactors.iter().zip(&seen);
                reactors.any(|(reactor, seen)| reactor.tickets.load(Ordering::SeqCst) != *seen)
            });
            quiet_ticks = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monitor_does_not_sleep_through_a_move() {
        let alarm = Alarm::default();
        // It moved before the announcement, so that nobody rang.
        alarm.sleep(|| true);
        assert!(!alarm.is_asleep.load(Ordering::SeqCst));
        // It moved after the announcement, before the monitor slept.
        alarm.sleep(|| {
            alarm.ring();
            false
        });
        alarm.finish();
        alarm.sleep(|| false);
    }
}
