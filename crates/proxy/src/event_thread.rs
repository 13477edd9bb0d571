//! An event thread: its sessions, and the loop that gives them turns. Main type: [`EventThread`].

use crate::connect::local_address;
use crate::registry::{End, Registry, untagged};
use crate::session::{Next, Phase, Role, Session, Turn};
use crate::shared::Shared;
use env::{BatchedSend, Clock, RealClock};
use network::{Listener, Socket};
use proxy_script::{Address, Level};
use rustix::event::epoll::{Event, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const EVENTS_MAX: usize = 256;
/// Bytes received at once.
const SCRATCH_BYTES: usize = 64 << 10;
/// How often deadlines and the end of the program are looked at.
const SWEEP: Duration = Duration::from_millis(100);
const TOKEN_WAKE: u64 = u64::MAX >> 1;
const TOKEN_POOL: u64 = TOKEN_WAKE - 1;
const TOKEN_LISTENER: u64 = TOKEN_WAKE - 4096;
const GENERATION_SHIFT: u32 = 32;
/// The generation has to leave room for the bit that tells the ends apart.
const GENERATION_MASK: u32 = 0x3FFF_FFFF;

/// Where other threads leave clients for this one.
pub(crate) struct Inbox {
    wake: OwnedFd,
    clients: Mutex<Vec<Accepted>>,
}

impl Inbox {
    pub fn new() -> Result<Inbox, Errno> {
        Ok(Inbox {
            wake: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
            clients: Mutex::default(),
        })
    }

    fn post(&self, accepted: Accepted) {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner).push(accepted);
        // A counter that is full wakes as well.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    fn take(&self) -> Vec<Accepted> {
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
        std::mem::take(&mut *self.clients.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A client that was just accepted.
pub(crate) struct Accepted {
    socket: Socket,
    address: Option<SocketAddr>,
    role: Role,
}

/// What the first thread, which accepts, needs more than the others.
pub(crate) struct Acceptor {
    pub listeners: Vec<(Listener, Role)>,
    /// Of all threads, this one's first.
    pub inboxes: Vec<Arc<Inbox>>,
    pub next: AtomicUsize,
}

/// One thread's sessions.
pub(crate) struct EventThread {
    shared: Arc<Shared>,
    registry: Registry,
    inbox: Arc<Inbox>,
    acceptor: Option<Acceptor>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    scratch: Vec<u8>,
    now: Duration,
    /// Sessions that had a turn in this round and may have something to send.
    touched: Vec<u32>,
    /// Tokens of sessions that had more to do than one turn allows.
    unfinished: Vec<u64>,
    sender: BatchedSend,
}

#[derive(Default)]
struct Slot {
    generation: u32,
    session: Option<Box<Session>>,
}

impl EventThread {
    pub fn new(
        shared: Arc<Shared>,
        inbox: Arc<Inbox>,
        acceptor: Option<Acceptor>,
    ) -> Result<EventThread, Errno> {
        let registry = Registry::new()?;
        registry.add_level(&inbox.wake, TOKEN_WAKE)?;
        if let Some(acceptor) = &acceptor {
            registry.add_level(shared.pool.descriptor(), TOKEN_POOL)?;
            for (index, (listener, _)) in acceptor.listeners.iter().enumerate() {
                registry.add_level(listener.descriptor(), TOKEN_LISTENER + index as u64)?;
            }
        }
        Ok(EventThread {
            shared,
            registry,
            inbox,
            acceptor,
            slots: Vec::new(),
            free: Vec::new(),
            scratch: vec![0; SCRATCH_BYTES],
            now: RealClock.monotonic(),
            touched: Vec::new(),
            unfinished: Vec::new(),
            sender: BatchedSend::new(),
        })
    }

    /// Serves until the program is to end.
    pub fn run(mut self) {
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS_MAX);
        let mut next_sweep = Duration::ZERO;
        while !self.shared.is_stopping.load(Ordering::Acquire) {
            let timeout = if self.unfinished.is_empty() { SWEEP } else { Duration::ZERO };
            if let Err(error) = self.registry.wait(&mut events, timeout) {
                self.shared.log.write(Level::Error, &format!("epoll_wait failed: {error}"));
                break;
            }
            self.now = RealClock.monotonic();
            for token in std::mem::take(&mut self.unfinished) {
                self.turn(token, None, false);
            }
            for event in &events {
                let ended = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
                let flags = event.flags;
                self.handle(event.data.u64(), flags.intersects(ended));
            }
            self.send();
            if self.now >= next_sweep {
                next_sweep = self.now + SWEEP;
                self.sweep();
            }
        }
        for index in 0..self.slots.len() {
            self.close(index);
        }
        self.shared.pool.clear();
    }

    fn handle(&mut self, tagged: u64, has_ended: bool) {
        match tagged {
            TOKEN_WAKE => {
                for accepted in self.inbox.take() {
                    self.welcome(accepted);
                }
            }
            TOKEN_POOL => self.shared.pool.sweep(),
            TOKEN_LISTENER..TOKEN_POOL => self.accept((tagged - TOKEN_LISTENER) as usize),
            _ => {
                let (token, end) = untagged(tagged);
                self.turn(token, Some(end), has_ended);
            }
        }
    }

    fn accept(&mut self, index: usize) {
        let Some(acceptor) = &self.acceptor else { return };
        let Some((listener, role)) = acceptor.listeners.get(index) else { return };
        match listener.accept() {
            Ok(Some((socket, address))) => {
                let accepted = Accepted { socket, address, role: *role };
                let thread = acceptor.next.fetch_add(1, Ordering::Relaxed) % acceptor.inboxes.len();
                if thread == 0 {
                    self.welcome(accepted);
                } else {
                    acceptor.inboxes[thread].post(accepted);
                }
            }
            Ok(None) => {}
            Err(error) => {
                self.shared.log.write(Level::Critical, &format!("accept() failed: {error}"));
                // Without a free descriptor the client stays in the queue, and epoll names it again at once.
                RealClock.sleep(Duration::from_millis(10));
            }
        }
    }

    fn welcome(&mut self, Accepted { socket, address, role }: Accepted) {
        let source = address.map_or_else(|| Address::Unix(PathBuf::new()), Address::Tcp);
        let destination = local_address(&socket);
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.generation = slot.generation.wrapping_add(1) & GENERATION_MASK;
        let token = u64::from(slot.generation) << GENERATION_SHIFT | u64::from(index);
        let mut turn = Turn::new(&self.shared, &self.registry, &mut self.scratch, self.now);
        let mut session = Box::new(Session::new(token, socket, source, destination, &turn));
        let next = guarded(&self.shared, || session.start(&mut turn, role)).unwrap_or(Next::Close);
        slot.session = Some(session);
        self.touched.push(index);
        if next == Next::Close {
            self.close(index as usize);
        }
    }

    /// A session's turn: one of its ends has something, or it goes on.
    fn turn(&mut self, token: u64, end: Option<End>, has_ended: bool) {
        let index = (token & u64::from(u32::MAX)) as usize;
        let generation = (token >> GENERATION_SHIFT) as u32;
        // An event of this round may be about a session that an earlier one has closed.
        let Some(slot) = self.slots.get_mut(index).filter(|slot| slot.generation == generation) else {
            return;
        };
        let Some(session) = &mut slot.session else { return };
        let mut turn = Turn::new(&self.shared, &self.registry, &mut self.scratch, self.now);
        match guarded(&self.shared, || session.turn(&mut turn, end, has_ended)) {
            Some(Next::Stay) => {
                if turn.was_cut() {
                    self.unfinished.push(token);
                }
                self.touched.push(index as u32);
            }
            _ => self.close(index),
        }
    }

    /// Sends what the sessions of this round have made.
    fn send(&mut self) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        // A session that had two turns is there twice.
        touched.dedup();
        let mut places = Vec::with_capacity(2 * touched.len());
        let mut sends = Vec::with_capacity(2 * touched.len());
        for index in &touched {
            let Some(session) = &self.slots[*index as usize].session else { continue };
            let client = Some((End::Client, &session.client));
            let server = session.server.as_ref().map(|server| (End::Server, server));
            for (end, side) in client.into_iter().chain(server) {
                if let Some(bytes) = side.waiting() {
                    places.push((*index, end));
                    sends.push(Some((side.socket.descriptor(), bytes)));
                }
            }
        }
        self.sender.send_each(&sends);
        drop(sends);
        for (number, (index, end)) in places.into_iter().enumerate() {
            let Some(result) = self.sender.result(number) else { continue };
            let index = index as usize;
            let turn = Turn::new(&self.shared, &self.registry, &mut self.scratch, self.now);
            let Some(session) = &mut self.slots[index].session else { continue };
            if session.note_sent(&turn, end, result) == Next::Close {
                self.close(index);
            }
        }
        touched.clear();
        self.touched = touched;
    }

    fn close(&mut self, index: usize) {
        let Some(mut session) = self.slots[index].session.take() else { return };
        let turn = Turn::new(&self.shared, &self.registry, &mut self.scratch, self.now);
        guarded(&self.shared, || session.end(&turn));
        self.free.push(index as u32);
    }

    /// Closes the sessions whose time is over.
    fn sweep(&mut self) {
        for index in 0..self.slots.len() {
            let Some(session) = &mut self.slots[index].session else { continue };
            if self.now < session.deadline {
                continue;
            }
            let mut turn = Turn::new(&self.shared, &self.registry, &mut self.scratch, self.now);
            let next = match &session.phase {
                Phase::Login(login) if login.is_connecting() => session.connect_timed_out(&mut turn),
                _ => Next::Close,
            };
            if next == Next::Close {
                self.close(index);
            }
        }
    }
}

/// A panic is a bug of ours: it ends the session that it happened in, and no other.
fn guarded<T>(shared: &Shared, body: impl FnOnce() -> T) -> Option<T> {
    let outcome = catch_unwind(AssertUnwindSafe(body));
    outcome
        .inspect_err(|_| {
            shared.log.write(Level::Critical, "a session failed in a way that is a bug; it is closed")
        })
        .ok()
}
