//! What scripts need of the program around them. Main types: [`Host`], [`Level`].

/// How much a message matters, in the names of MySQL Proxy's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The program ends.
    Error,
    /// What an administrator must see; shown unless told otherwise.
    Critical,
    /// Something is odd.
    Warning,
    /// Something of note.
    Message,
    /// Something happened.
    Info,
    /// For those who look for a fault.
    Debug,
}

/// The program around the scripts. Usable from any thread.
pub trait Host: Send + Sync {
    /// Writes to the log.
    fn log(&self, level: Level, text: &str);
    /// Monotonic time in microseconds.
    fn now_microseconds(&self) -> u64;
    /// Ends the program in an orderly way.
    fn shut_down(&self);
}
