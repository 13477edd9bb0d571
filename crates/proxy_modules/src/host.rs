//! What the modules need of the proxy that they run in. Main type: [`Host`].

/// How important a log line is, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Level {
    Error,
    Critical,
    Warning,
    Message,
    Info,
    Debug,
}

impl Level {
    /// All levels.
    pub const ALL: [Level; 6] =
        [Level::Error, Level::Critical, Level::Warning, Level::Message, Level::Info, Level::Debug];

    /// The name in options, in log lines and in `chassis.log`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Critical => "critical",
            Level::Warning => "warning",
            Level::Message => "message",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }

    /// The level of that name.
    pub fn of(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// The proxy. Called from scripts, thus with whatever lock the proxy holds while a script runs: neither may run a script.
pub trait Host: Send + Sync {
    /// Writes a line to the log, if its level is asked for. The text already says which line of which script it is from.
    fn log(&self, level: Level, text: &str);

    /// Starts the proxy's shutdown and returns at once: `chassis.set_shutdown()`.
    fn shutdown(&self);
}
