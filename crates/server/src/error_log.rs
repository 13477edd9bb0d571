//! The error log, in MySQL's line format:
//! `2026-11-21T12:00:00.123456Z 0 [System] [MY-010931] [Server] text`. Main type: [`ErrorLog`].
//! Thread rules: any thread may write; lines are written whole.

use env::{Clock, Environment, File};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stdx::civil_date::civil_date;

/// log_error_verbosity before anything is known of it.
const VERBOSITY: u64 = 2;

/// How grave a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Always written: start and end of the server.
    System,
    /// Something failed.
    Error,
    /// Something is odd.
    Warning,
    /// Good to know.
    Note,
}

impl Priority {
    /// The least log_error_verbosity that writes such a line.
    fn verbosity(self) -> u64 {
        match self {
            Priority::System => 0,
            Priority::Error => 1,
            Priority::Warning => 2,
            Priority::Note => 3,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Priority::System => "System",
            Priority::Error => "ERROR",
            Priority::Warning => "Warning",
            Priority::Note => "Note",
        }
    }
}

/// Writes lines to standard error or to a file.
pub struct ErrorLog {
    clock: Arc<dyn Clock>,
    file: Option<Mutex<LogFile>>,
    /// log_error_verbosity: graver lines only.
    verbosity: AtomicU64,
}

struct LogFile {
    file: Arc<dyn File>,
    length: u64,
}

impl ErrorLog {
    /// A log on standard error.
    pub fn to_standard_error(environment: &Environment) -> ErrorLog {
        ErrorLog { clock: Arc::clone(&environment.clock), file: None, verbosity: AtomicU64::new(VERBOSITY) }
    }

    /// A log that is appended to that file.
    pub fn to_file(environment: &Environment, file: Arc<dyn File>) -> Result<ErrorLog, env::DiskError> {
        let length = file.len()?;
        let file = Some(Mutex::new(LogFile { file, length }));
        Ok(ErrorLog { clock: Arc::clone(&environment.clock), file, verbosity: AtomicU64::new(VERBOSITY) })
    }

    /// Which lines are written from now on: 1 errors, 2 also warnings, 3 also notes.
    pub fn set_verbosity(&self, verbosity: u64) {
        self.verbosity.store(verbosity, Ordering::Relaxed);
    }

    /// Writes a line, if it is grave enough. `number` is that of MySQL's log message, 0 for our own.
    pub fn write(&self, priority: Priority, number: u32, text: &str) {
        if priority.verbosity() > self.verbosity.load(Ordering::Relaxed) {
            return;
        }
        let time = format_time(self.clock.wall());
        let line = format!("{time} 0 [{}] [MY-{number:06}] [Server] {text}\n", priority.name());
        match &self.file {
            // Nobody can be told when the log itself fails.
            None => drop(std::io::stderr().write_all(line.as_bytes())),
            Some(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                if file.file.write_at(line.as_bytes(), file.length).is_ok() {
                    file.length += line.len() as u64;
                }
            }
        }
    }

    /// Writes an error.
    pub fn error(&self, text: &str) {
        self.write(Priority::Error, 0, text);
    }

    /// Writes a warning.
    pub fn warning(&self, text: &str) {
        self.write(Priority::Warning, 0, text);
    }
}

/// `2026-11-21T12:00:00.123456Z` of a time since 1970.
fn format_time(since_epoch: Duration) -> String {
    let seconds = since_epoch.as_secs();
    let (year, month, day) = civil_date((seconds / 86_400) as i64);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let micros = since_epoch.subsec_micros();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_are_grave_enough_are_written() {
        let disk = env::simulated::SimulatedDisk::new(1);
        let path = std::path::Path::new("log");
        let file = env::Disk::open(&disk, path, env::OpenMode::CreateIfMissing).expect("a file");
        let log = ErrorLog::to_file(&Environment::simulated(disk.clone(), 1), file).expect("a log");
        for verbosity in [1, 2, 3] {
            log.set_verbosity(verbosity);
            for priority in [Priority::System, Priority::Error, Priority::Warning, Priority::Note] {
                log.write(priority, 0, &format!("{verbosity}"));
            }
        }
        let text = String::from_utf8(disk.contents(path).expect("contents")).expect("text");
        let counts = ["1", "2", "3"].map(|end| text.lines().filter(|line| line.ends_with(end)).count());
        assert_eq!(counts, [2, 3, 4], "{text}");
    }

    #[test]
    fn times() {
        assert_eq!(format_time(Duration::from_micros(0)), "1970-01-01T00:00:00.000000Z");
        assert_eq!(format_time(Duration::from_micros(951_782_400_000_001)), "2000-02-29T00:00:00.000001Z");
        assert_eq!(format_time(Duration::from_secs(1_795_262_399)), "2026-11-21T11:59:59.000000Z");
    }
}
