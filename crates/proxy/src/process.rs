//! The process: signals, its number in a file, its user, its limits.
#![allow(clippy::disallowed_methods)]

use crate::log::Log;
use crate::options::Options;
use env::{Clock, RealClock, SystemAccount};
use rustix::process::{Resource, Rlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the end of the program is looked at.
const LOOKS: Duration = Duration::from_millis(100);

/// What options say about the process, after sockets and log are open.
pub(crate) fn prepare(options: &Options) -> Result<(), String> {
    if let Some(count) = options.max_open_files {
        let limit = Rlimit { current: Some(count), maximum: Some(count) };
        rustix::process::setrlimit(Resource::Nofile, limit)
            .map_err(|error| format!("--max-open-files={count} cannot be set: {error}"))?;
    }
    if let Some(path) = &options.pid_file {
        let text = std::process::id().to_string();
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    match &options.user {
        Some(name) => become_user(name),
        None => Ok(()),
    }
}

/// Becomes that user. No other thread runs yet: those that are started later have this one's rights.
fn become_user(name: &str) -> Result<(), String> {
    let account = SystemAccount::find(name).ok_or_else(|| format!("unknown user: {name}"))?;
    if rustix::process::geteuid().as_raw() == account.user {
        return Ok(());
    }
    account.take_over().map_err(|error| format!("--user={name}: {error}"))
}

/// Waits for SIGTERM, SIGINT or the script's wish to end; SIGHUP opens the log again.
pub(crate) fn watch_signals(log: &Arc<Log>, is_stopping: &Arc<AtomicBool>) -> Result<(), String> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(|error| format!("signals: {error}"))?;
    while !is_stopping.load(Ordering::Acquire) {
        for signal in signals.pending() {
            match signal {
                SIGHUP => log.reopen(),
                _ => return Ok(()),
            }
        }
        RealClock.sleep(LOOKS);
    }
    Ok(())
}

/// Takes back what the start left behind.
pub(crate) fn leave(options: &Options) {
    if let Some(path) = &options.pid_file {
        remove(path);
    }
}

fn remove(path: &Path) {
    // Somebody else may have taken it away.
    let _ = std::fs::remove_file(path);
}
