//! Two sessions that take turns with the same statement, so that `cargo xtask sharing` can tell which lines of memory both
//! write. Entry point: [`run`]. Each has a thread, as in a server with two cores; marks in memory say whose turn it is to whoever
//! reads the trace.

use crate::{Client, SELECT, WARM_UP, close, connect, open, prepare};
use env::{RealThreads, Threads};
use errors::{SqlResult, sql_error};
use session::Instance;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};

/// Few: each instruction of filling the table costs time under the tracer.
const ROWS: u32 = 200;
/// Turns of each session that are looked at.
const TURNS: u32 = 8;
const SESSIONS: usize = 2;

/// Written when a session's turn begins, the last one when a turn ends.
static MARKS: [AtomicU64; SESSIONS + 1] = [const { AtomicU64::new(0) }; SESSIONS + 1];

/// Runs the sessions over a new engine in the directory and prints where the marks are.
pub(crate) fn run(directory: &Path) -> SqlResult<()> {
    let instance = open(directory)?;
    drop(prepare(&instance, ROWS)?);
    println!("marks {:x}", MARKS.as_ptr().addr());
    let failure = Arc::new(Mutex::new(None));
    let barrier = Arc::new(Barrier::new(SESSIONS));
    let threads: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let (instance, barrier, failure) =
                (Arc::clone(&instance), Arc::clone(&barrier), Arc::clone(&failure));
            let body = move || {
                if let Err(error) = take_turns(&instance, number, &barrier) {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
                }
            };
            RealThreads.spawn("session", Box::new(body))
        })
        .collect();
    let ended = threads.into_iter().all(env::JoinHandle::join);
    close(&instance)?;
    match failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None if !ended => Err(sql_error!(ER_INTERNAL_ERROR, "a session panicked")),
        None => Ok(()),
    }
}

/// The turns of one session. Both read the same rows, so that they meet wherever they can.
fn take_turns(instance: &Arc<Instance>, number: usize, barrier: &Barrier) -> SqlResult<()> {
    let connected = connect(instance, "bench");
    let mut outcome = connected.and_then(|mut client| warm_up(&mut client).map(|()| client));
    for turn in 0..TURNS {
        for whose in 0..SESSIONS {
            // Who fails takes its turns without doing anything: the other one waits for it.
            barrier.wait();
            if let (true, Ok(client)) = (whose == number, &mut outcome) {
                let statement = select(turn);
                mark(number);
                let answered = client.query(&statement);
                mark(SESSIONS);
                if let Err(error) = answered {
                    outcome = Err(error);
                }
            }
        }
    }
    barrier.wait();
    outcome.map(|_| ())
}

fn warm_up(client: &mut Client) -> SqlResult<()> {
    (0..WARM_UP).try_for_each(|at| client.query(&select(at)))
}

fn select(at: u32) -> String {
    format!("{SELECT}{}", at * 7919 % ROWS + 1)
}

fn mark(which: usize) {
    MARKS[which].store(1, Ordering::Relaxed);
}
