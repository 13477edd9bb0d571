//! Reactors: one epoll loop a core, statements run to completion on its thread. Main types: [`Group`] (all of them),
//! [`Reactor`] (the part of one that every thread may touch), `Core` (the part that only its thread may touch).
//!
//! A reactor is not bound to a thread. While a statement runs, the reactor's core lies in [`Reactor::lend`]'s slot,
//! and may be taken from it: by the statement's own thread when it is about to wait (`env::blocking`), or by the
//! monitor when the statement runs for long. Whoever takes it gives it to a spare thread. The statement's thread
//! then finds the slot empty, answers its client itself, returns the connection by the inbox, and becomes a spare.
//!
//! Group commit: all requests of one epoll round run first; then all answers leave that need no flush; then the log is
//! flushed once up to the greatest position that the others returned; then they are sent. While another reactor
//! flushes, this one goes on with new requests, and is woken by that flush's end: they all share the next flush.

mod core;
mod monitor;
mod spares;
mod worker;

#[cfg(test)]
mod tests;

use crate::connection::Connection;
use crate::shared::Shared;
use core::Core;
use engine::FlushWaiter;
use env::JoinHandle;
use network::{Listener, Socket};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use session::ClientHost;
use spares::Spares;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// All reactors of a server.
pub struct Group {
    pub(crate) shared: Arc<Shared>,
    reactors: Vec<Arc<Reactor>>,
    spares: Spares,
    monitor: monitor::Alarm,
    threads: Mutex<Vec<JoinHandle>>,
    /// Told whenever a connection closes, for the end of the server.
    closed: Condvar,
    closed_lock: Mutex<()>,
}

/// The part of a reactor that every thread may touch.
pub(crate) struct Reactor {
    index: usize,
    epoll: OwnedFd,
    /// Wakes the reactor from epoll for its inbox.
    wake: OwnedFd,
    /// Whether a wake-up is on its way already.
    is_woken: AtomicBool,
    inbox: Mutex<Vec<Message>>,
    /// The flush that the reactor waited for has ended.
    flush_ended: AtomicBool,
    /// The core while its thread runs a statement, with the ticket of that statement.
    slot: Mutex<Option<(u64, Box<Core>)>>,
    /// Tickets handed out; also tells the monitor whether the reactor moves.
    tickets: AtomicU64,
    /// Connections it looks after.
    connection_count: AtomicU32,
}

/// What other threads have for a reactor.
pub(crate) enum Message {
    /// A connection accepted by another reactor.
    Adopt(Socket, ClientHost),
    /// A connection whose statement ended on a thread that had given the reactor away.
    Return(u32, Box<Connection>),
    /// That connection was closed there.
    Gone(u32),
    /// Close what is idle and take nothing new.
    Stop,
    /// All connections are gone: the core is dropped.
    Finish,
}

/// A poisoned lock means that another thread panicked between two plain assignments: the data is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Group {
    /// Makes reactors that accept from those listeners, and starts their threads.
    pub fn start(shared: Arc<Shared>, listeners: Vec<Listener>, count: usize) -> Result<Arc<Group>, Errno> {
        let listeners = Arc::new(listeners);
        let reactors = (0..count).map(|index| Reactor::new(index).map(Arc::new));
        let reactors = reactors.collect::<Result<Vec<_>, _>>()?;
        let group = Arc::new(Group {
            shared,
            reactors,
            spares: Spares::default(),
            monitor: monitor::Alarm::default(),
            threads: Mutex::default(),
            closed: Condvar::new(),
            closed_lock: Mutex::new(()),
        });
        for reactor in &group.reactors {
            let core = Core::new(Arc::clone(reactor), Arc::clone(&listeners))?;
            group.employ(Box::new(core));
        }
        monitor::start(&group);
        Ok(group)
    }

    /// Gives a core to a parked thread, or to a new one.
    fn employ(self: &Arc<Group>, core: Box<Core>) {
        if let Err(core) = self.spares.give(core) {
            worker::start(self, core);
        }
    }

    /// Stops accepting, closes idle connections, and waits until the others have ended or the time is over.
    /// Returns the number of connections that are still open; if there are none, all threads have ended.
    pub fn stop(&self, grace: Duration) -> u32 {
        self.shared.is_stopping.store(true, Ordering::Release);
        for reactor in &self.reactors {
            reactor.post(Message::Stop);
        }
        let count = || self.shared.connection_count.load(Ordering::Acquire);
        let guard = lock(&self.closed_lock);
        let waited = self.closed.wait_timeout_while(guard, grace, |()| count() > 0);
        drop(waited);
        let left = count();
        if left == 0 {
            self.finish();
        }
        left
    }

    /// Ends all threads.
    fn finish(&self) {
        for reactor in &self.reactors {
            reactor.post(Message::Finish);
        }
        self.spares.close();
        self.monitor.finish();
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads {
            thread.join();
        }
    }

    /// Remembers a thread that must end before the server does.
    fn keep(&self, thread: JoinHandle) {
        const PRUNED_ABOVE: usize = 128;
        let mut threads = lock(&self.threads);
        if threads.len() > PRUNED_ABOVE {
            threads.retain(|thread| !thread.is_finished());
        }
        threads.push(thread);
    }

    /// A connection was closed.
    fn count_closed(&self) {
        self.shared.connection_count.fetch_sub(1, Ordering::AcqRel);
        if self.shared.is_stopping() {
            drop(lock(&self.closed_lock));
            self.closed.notify_all();
        }
    }

    /// The reactor that a connection accepted by `here` is for: another one if it has clearly fewer.
    fn choose(&self, here: &Reactor) -> &Arc<Reactor> {
        const CLEARLY_FEWER: u32 = 3;
        let own = here.connection_count.load(Ordering::Relaxed);
        let count = |reactor: &&Arc<Reactor>| reactor.connection_count.load(Ordering::Relaxed);
        match self.reactors.iter().min_by_key(count) {
            Some(least) if count(&least) + CLEARLY_FEWER <= own => least,
            _ => &self.reactors[here.index],
        }
    }
}

impl FlushWaiter for Reactor {
    fn flush_ended(&self) {
        self.flush_ended.store(true, Ordering::Release);
        self.wake();
    }
}

impl Reactor {
    fn new(index: usize) -> Result<Reactor, Errno> {
        let epoll = rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Reactor {
            index,
            epoll,
            wake,
            is_woken: AtomicBool::new(false),
            inbox: Mutex::new(Vec::new()),
            flush_ended: AtomicBool::new(false),
            slot: Mutex::new(None),
            tickets: AtomicU64::new(0),
            connection_count: AtomicU32::new(0),
        })
    }

    /// Puts a message into the inbox and wakes the reactor.
    fn post(&self, message: Message) {
        lock(&self.inbox).push(message);
        self.wake();
    }

    /// Makes the reactor look at its inbox.
    fn wake(&self) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            // Full means that it is awake for sure.
            let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
        }
    }

    /// Whether a flush ended since the last call.
    fn take_flush_ended(&self) -> bool {
        self.flush_ended.swap(false, Ordering::AcqRel)
    }

    /// What was posted since the last call.
    fn take_messages(&self) -> Vec<Message> {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.wake, &mut count);
        self.is_woken.store(false, Ordering::Release);
        std::mem::take(&mut *lock(&self.inbox))
    }

    /// Leaves the core where others can take it while this thread runs something that may take long.
    fn lend(&self, core: Box<Core>) -> u64 {
        let ticket = self.tickets.fetch_add(1, Ordering::SeqCst) + 1;
        *lock(&self.slot) = Some((ticket, core));
        ticket
    }

    /// The core if it is still there under that ticket.
    fn reclaim(&self, ticket: u64) -> Option<Box<Core>> {
        lock(&self.slot).take_if(|(held, _)| *held == ticket).map(|(_, core)| core)
    }
}
