//! Time that jumps to the ends of years. Main type: [`JumpingClock`].

use env::{Clock, RealClock};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// 2026-06-01 00:00:00 UTC: where wall time starts.
const WALL_START_S: u64 = 1_780_272_000;
const DAY_S: u64 = 86_400;
/// The first year that [`year`] counts from.
const FIRST_YEAR: u64 = 1970;

/// The real clock with what it was moved on by.
#[derive(Default)]
pub struct JumpingClock {
    jumped_ns: AtomicU64,
}

impl JumpingClock {
    /// Moves the wall to so long before the next year begins.
    pub fn jump_before_new_year(&self, before: Duration) {
        let now = self.wall();
        let next = new_year(year(now.as_secs()) + 1) - before;
        let jump = next.saturating_sub(now);
        self.jumped_ns.fetch_add(jump.as_nanos() as u64, Ordering::SeqCst);
    }
}

impl Clock for JumpingClock {
    fn monotonic(&self) -> Duration {
        RealClock.monotonic() + Duration::from_nanos(self.jumped_ns.load(Ordering::SeqCst))
    }

    fn wall(&self) -> Duration {
        Duration::from_secs(WALL_START_S) + self.monotonic()
    }

    fn sleep(&self, duration: Duration) {
        RealClock.sleep(duration);
    }
}

fn days_of(year: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if is_leap { 366 } else { 365 }
}

/// When a year begins, UTC.
pub fn new_year(year: u64) -> Duration {
    Duration::from_secs((FIRST_YEAR..year).map(days_of).sum::<u64>() * DAY_S)
}

/// The year of a moment in seconds.
pub fn year(seconds: u64) -> u64 {
    let mut days = seconds / DAY_S;
    let mut year = FIRST_YEAR;
    while days >= days_of(year) {
        days -= days_of(year);
        year += 1;
    }
    year
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_begin_and_end() {
        assert_eq!(new_year(2026).as_secs(), 1_767_225_600);
        for at in [1972, 2000, 2024, 2026, 2100] {
            let begin = new_year(at).as_secs();
            assert_eq!((year(begin - 1), year(begin)), (at - 1, at));
        }
    }

    #[test]
    fn a_jump_stands_before_the_next_year() {
        let clock = JumpingClock::default();
        for _ in 0..3 {
            let before = year(clock.wall().as_secs());
            clock.jump_before_new_year(Duration::from_secs(60));
            assert_eq!(year(clock.wall().as_secs()), before);
            assert_eq!(year(clock.wall().as_secs() + 60), before + 1);
            clock.jump_before_new_year(Duration::ZERO);
            assert_eq!(year(clock.wall().as_secs()), before + 1);
        }
    }
}
