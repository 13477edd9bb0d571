//! The error log, in MySQL's line format:
//! `2026-11-21T12:00:00.123456Z 0 [System] [MY-010931] [Server] text`. Main type: [`ErrorLog`].
//! Thread rules: any thread may write; lines are written whole.

use env::{Clock, Environment, File};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stdx::civil_date::civil_date;

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
}

struct LogFile {
    file: Arc<dyn File>,
    length: u64,
}

impl ErrorLog {
    /// A log on standard error.
    pub fn to_standard_error(environment: &Environment) -> ErrorLog {
        ErrorLog { clock: Arc::clone(&environment.clock), file: None }
    }

    /// A log that is appended to that file.
    pub fn to_file(environment: &Environment, file: Arc<dyn File>) -> Result<ErrorLog, env::DiskError> {
        let length = file.len()?;
        let file = Some(Mutex::new(LogFile { file, length }));
        Ok(ErrorLog { clock: Arc::clone(&environment.clock), file })
    }

    /// Writes a line. `number` is that of MySQL's log message, 0 for our own.
    pub fn write(&self, priority: Priority, number: u32, text: &str) {
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
    fn times() {
        assert_eq!(format_time(Duration::from_micros(0)), "1970-01-01T00:00:00.000000Z");
        assert_eq!(format_time(Duration::from_micros(951_782_400_000_001)), "2000-02-29T00:00:00.000001Z");
        assert_eq!(format_time(Duration::from_secs(1_795_262_399)), "2026-11-21T11:59:59.000000Z");
    }
}
