//! File descriptors of the process: how many there may be, and what becomes of connections when they run short. Main type:
//! [`Descriptors`]. Thread rules: all reactors use it.

use crate::error_log::ErrorLog;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::fd::AsRawFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Descriptors that the server asks for: connections, tables, logs.
const WANTED: u64 = 65_536;
/// One of so many is not for connections: tables' files, log files, and temporary files need some when clients have the rest.
const KEPT_SHARE: u64 = 8;
const KEPT_MIN: u64 = 8;
const KEPT_MAX: u64 = 64;
/// The error log is told of clients that found no descriptor this often at most.
const TELL_INTERVAL: Duration = Duration::from_secs(60);

/// The process's descriptors.
pub struct Descriptors {
    limit: u64,
    shortage: Mutex<Shortage>,
}

/// What the error log was not told yet.
#[derive(Default)]
struct Shortage {
    /// Clients that were turned away, and attempts to accept one that failed.
    count: u64,
    told_at: Option<Duration>,
}

impl Descriptors {
    /// Raises the limit as far as the operating system allows, and as `wanted` says if it is not 0. It is never lowered.
    pub fn raised(wanted: u64) -> Descriptors {
        let wanted = if wanted == 0 { WANTED } else { wanted };
        let found = getrlimit(Resource::Nofile);
        let wanted = found.maximum.map_or(wanted, |maximum| maximum.min(wanted));
        if found.current.is_some_and(|current| current < wanted) {
            // Fewer descriptors only mean fewer connections and open tables.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: found.maximum });
        }
        Descriptors::of(Descriptors::limit_of_process())
    }

    /// How many the operating system gives to this process at present.
    pub fn limit_of_process() -> u64 {
        getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
    }

    /// That many.
    pub fn of(limit: u64) -> Descriptors {
        Descriptors { limit, shortage: Mutex::default() }
    }

    /// How many there may be.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether a connection may have that descriptor. Numbers are given away from the lowest free one on, so a high one says that
    /// all below it are in use.
    pub fn may_be_connection(&self, descriptor: &impl AsRawFd) -> bool {
        let kept = (self.limit / KEPT_SHARE).clamp(KEPT_MIN, KEPT_MAX);
        (descriptor.as_raw_fd() as u64) < self.limit.saturating_sub(kept)
    }

    /// A client finds no descriptor: the error log gets a line, with the number of those since the line before, once a minute.
    pub fn note_shortage(&self, log: &ErrorLog, now: Duration, what: &str) {
        let mut shortage = self.shortage.lock().unwrap_or_else(PoisonError::into_inner);
        shortage.count += 1;
        if shortage.told_at.is_some_and(|told_at| now < told_at + TELL_INTERVAL) {
            return;
        }
        let (count, limit) = (std::mem::take(&mut shortage.count), self.limit);
        shortage.told_at = Some(now);
        drop(shortage);
        log.warning(&format!(
            "{what} (open_files_limit is {limit}; {count} attempts to connect have failed so since this was last said)."
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use env::simulated::SimulatedDisk;
    use env::{Disk, Environment, OpenMode};
    use std::path::Path;

    #[test]
    fn the_log_hears_of_a_shortage_once_a_minute() {
        let disk = SimulatedDisk::new(1);
        let file = disk.open(Path::new("log"), OpenMode::CreateIfMissing).unwrap();
        let log = ErrorLog::to_file(&Environment::simulated(disk.clone(), 1), file).unwrap();
        let descriptors = Descriptors::of(100);
        for second in 0..150 {
            descriptors.note_shortage(&log, Duration::from_secs(second), "No luck");
        }
        let text = String::from_utf8(disk.contents(Path::new("log")).unwrap()).unwrap();
        let counts: Vec<&str> =
            text.lines().filter_map(|line| line.split("; ").nth(1)?.split(' ').next()).collect();
        assert_eq!(counts, ["1", "60", "60"], "{text}");
    }
}
