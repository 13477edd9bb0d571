//! [`Clock`]: time and sleeping. [`RealClock`] is the operating system's.
#![allow(clippy::disallowed_methods)]

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Time. Usable from any thread.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment; never goes back.
    fn monotonic(&self) -> Duration;
    /// Time since 1970-01-01 00:00:00 UTC; may jump.
    fn wall(&self) -> Duration;
    /// Waits. Wrap it in `env::blocking::region` where a reactor may call.
    fn sleep(&self, duration: Duration);
}

/// The operating system's clocks, read without the arithmetic of std, which each statement would pay for a few times.
#[derive(Debug)]
pub struct RealClock;

/// What a clock of the system shows. Those that are asked for begin long before any program runs.
fn reading(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

impl Clock for RealClock {
    fn monotonic(&self) -> Duration {
        reading(ClockId::Monotonic)
    }

    fn wall(&self) -> Duration {
        reading(ClockId::Realtime)
    }

    fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}
