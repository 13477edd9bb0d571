//! What scripts need of the program around them. Main types: [`Host`], [`Level`].

pub use proxy_modules::Level;

/// The program around the scripts: the log and the end of the program, which modules need too, and the time. Usable from any thread.
pub trait Host: proxy_modules::Host {
    /// Monotonic time in microseconds.
    fn now_microseconds(&self) -> u64;
}
