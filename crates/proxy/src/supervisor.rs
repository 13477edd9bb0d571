//! `--daemon` and `--keepalive`: this program starts itself once more, and watches over that.
//!
//! Each stage is told by an environment variable which one it is. A daemon's starter waits until it serves, so that a
//! mistake of the options is told where they were given. A keeper starts a proxy that died by a signal again.

use crate::log::Log;
use crate::options::Options;
use env::{Clock, RealClock};
use proxy_script::Level;
use rustix::process::{Pid, Signal, kill_process, setsid};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

const STAGE: &str = "IRUKA_PROXY_STAGE";
/// Of the process that a daemon's starter started.
const DAEMON: &str = "daemon";
/// Of the process that serves.
const WORKER: &str = "worker";
/// What a daemon says when it serves.
const READY: &str = "ready";
/// How long a proxy that died stays down.
const PAUSE: Duration = Duration::from_secs(2);
const LOOKS: Duration = Duration::from_millis(50);

/// Starts the next stage, if the options ask for one, and waits for it. The exit code then; None for the process that serves.
pub(crate) fn supervise(options: &Options, log: &Log, arguments: &[String]) -> Result<Option<u8>, String> {
    let stage = std::env::var(STAGE).unwrap_or_default();
    if options.daemon && stage.is_empty() {
        return start_daemon(arguments).map(Some);
    }
    if stage == DAEMON {
        // It is no process group's leader but its starter's child, so this cannot fail.
        setsid().map_err(|error| format!("setsid: {error}"))?;
    }
    if options.keepalive && stage != WORKER {
        return keep_alive(log, arguments).map(Some);
    }
    Ok(None)
}

/// The proxy serves: whoever waits for that goes on.
pub(crate) fn tell_ready() {
    if std::env::var(STAGE).is_ok() {
        let mut out = std::io::stdout().lock();
        // Without a starter nobody reads it.
        let _ = writeln!(out, "{READY}").and_then(|()| out.flush());
    }
}

fn next_stage(stage: &str, arguments: &[String]) -> Result<Command, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("this program's file is unknown: {error}"))?;
    let mut command = Command::new(program);
    command.arg("proxy").args(arguments).env(STAGE, stage).stdin(Stdio::null());
    Ok(command)
}

fn start_daemon(arguments: &[String]) -> Result<u8, String> {
    let mut command = next_stage(DAEMON, arguments)?;
    let mut daemon = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the daemon cannot start: {error}"))?;
    let Some(output) = daemon.stdout.take() else { return Err("the daemon has no output".to_owned()) };
    let mut lines = BufReader::new(output).lines();
    if lines.any(|line| line.is_ok_and(|line| line == READY)) {
        return Ok(0);
    }
    let status = daemon.wait().map_err(|error| format!("the daemon was lost: {error}"))?;
    Ok(code(status))
}

fn code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Starts the proxy again when a signal killed it; an exit code of its own is passed on.
fn keep_alive(log: &Log, arguments: &[String]) -> Result<u8, String> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(|error| format!("signals: {error}"))?;
    loop {
        let worker = next_stage(WORKER, arguments)?.spawn();
        let mut worker = worker.map_err(|error| format!("the proxy cannot start: {error}"))?;
        let Some(status) = wait(&mut worker, &mut signals)? else { return Ok(0) };
        let Some(signal) = status.signal() else { return Ok(code(status)) };
        log.write(
            Level::Critical,
            &format!("the proxy died by signal {signal}, it starts again after 2 seconds"),
        );
        RealClock.sleep(PAUSE);
    }
}

/// The worker's end; None if this process was told to end, and the worker has ended after it.
fn wait(worker: &mut Child, signals: &mut Signals) -> Result<Option<ExitStatus>, String> {
    let mut is_told = false;
    loop {
        if signals.pending().next().is_some() {
            is_told = true;
            if let Some(pid) = i32::try_from(worker.id()).ok().and_then(Pid::from_raw) {
                // It may have ended by itself.
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        match worker.try_wait().map_err(|error| format!("the proxy was lost: {error}"))? {
            Some(_) if is_told => return Ok(None),
            Some(status) => return Ok(Some(status)),
            None => RealClock.sleep(LOOKS),
        }
    }
}
