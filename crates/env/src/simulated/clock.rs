//! [`SimulatedClock`]: time that moves only when told to, or when somebody sleeps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::Clock;

/// 2026-01-01 00:00:00 UTC: where simulated wall time starts.
const WALL_START_S: u64 = 1_767_225_600;

/// A clock under the test's control. Sleeping moves it on and returns at once.
#[derive(Default)]
pub struct SimulatedClock {
    elapsed_ns: AtomicU64,
}

impl SimulatedClock {
    /// A clock at time 0.
    pub fn new() -> SimulatedClock {
        SimulatedClock::default()
    }

    /// Moves time on.
    pub fn advance(&self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.elapsed_ns.fetch_add(nanoseconds, Ordering::SeqCst);
    }
}

impl Clock for SimulatedClock {
    fn monotonic(&self) -> Duration {
        Duration::from_nanos(self.elapsed_ns.load(Ordering::SeqCst))
    }

    fn wall(&self) -> Duration {
        Duration::from_secs(WALL_START_S) + self.monotonic()
    }

    fn sleep(&self, duration: Duration) {
        self.advance(duration);
        std::thread::yield_now();
    }
}
