//! [`Clock`]: time and sleeping. [`RealClock`] is the operating system's.
#![allow(clippy::disallowed_methods)]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Time. Usable from any thread.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment; never goes back.
    fn monotonic(&self) -> Duration;
    /// Time since 1970-01-01 00:00:00 UTC; may jump.
    fn wall(&self) -> Duration;
    /// Waits. Wrap it in `env::blocking::region` where a reactor may call.
    fn sleep(&self, duration: Duration);
}

/// The operating system's clocks.
pub struct RealClock {
    started: Instant,
}

impl RealClock {
    /// A clock whose monotonic time starts now.
    pub fn new() -> RealClock {
        RealClock { started: Instant::now() }
    }
}

impl Default for RealClock {
    fn default() -> Self {
        RealClock::new()
    }
}

impl Clock for RealClock {
    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }

    fn wall(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}
