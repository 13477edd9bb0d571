//! The log: lines with time and level in the form of MySQL Proxy's. Main type: [`Log`].
//! Thread rules: any thread may write; a line is one write.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use env::{Clock, RealClock};
use proxy_script::Level;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stdx::civil_date::civil_date;

/// Where lines go, and which.
pub(crate) struct Log {
    level: Level,
    path: Option<PathBuf>,
    state: Mutex<State>,
}

struct State {
    /// None is the standard error output.
    file: Option<File>,
    last: String,
    last_level: Level,
    repeated: u32,
}

/// The levels by their names in options.
pub(crate) const LEVELS: [(&str, Level); 6] = [
    ("error", Level::Error),
    ("critical", Level::Critical),
    ("warning", Level::Warning),
    ("message", Level::Message),
    ("info", Level::Info),
    ("debug", Level::Debug),
];

impl Log {
    /// Opens the file, if one is named.
    pub fn open(level: Level, path: Option<PathBuf>) -> std::io::Result<Log> {
        let file = path.as_ref().map(open_file).transpose()?;
        let state = State { file, last: String::new(), last_level: level, repeated: 0 };
        Ok(Log { level, path, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the file again, after it was moved away. The old one stays if that fails.
    pub fn reopen(&self) {
        let Some(path) = &self.path else { return };
        match open_file(path) {
            Ok(file) => self.state().file = Some(file),
            Err(error) => {
                self.write(Level::Critical, &format!("{} cannot be opened again: {error}", path.display()))
            }
        }
    }

    /// Writes a line, unless the level hides it. The same text again and again is counted until another comes.
    pub fn write(&self, level: Level, text: &str) {
        if level > self.level {
            return;
        }
        let mut state = self.state();
        if state.last == text && state.last_level == level {
            state.repeated += 1;
            return;
        }
        if state.repeated > 0 {
            let line = format!("last message repeated {} times", state.repeated);
            let last_level = state.last_level;
            state.line(last_level, &line);
        }
        state.line(level, text);
        state.last.clear();
        state.last.push_str(text);
        state.last_level = level;
        state.repeated = 0;
    }
}

impl State {
    fn line(&mut self, level: Level, text: &str) {
        let name = LEVELS.iter().find(|(_, known)| *known == level).map_or("", |(name, _)| name);
        let line = format!("{}: ({name}) {text}\n", moment(RealClock.wall().as_secs()));
        // Nowhere is left to tell that the log cannot be written.
        let _ = match &mut self.file {
            Some(file) => file.write_all(line.as_bytes()),
            None => std::io::stderr().write_all(line.as_bytes()),
        };
    }
}

fn open_file(path: &PathBuf) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// `2026-11-22 08:45:16` in UTC of seconds since 1970.
fn moment(seconds: u64) -> String {
    let (days, second) = ((seconds / 86_400) as i64, seconds % 86_400);
    let (year, month, day) = civil_date(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}
