//! The part of a reactor that only the thread that runs it touches. Main type: [`Core`].
//! Connections live in numbered slots; a slot's number and generation are the epoll token.

use super::{Message, Reactor};
use crate::connection::{Connection, Next, Turn};
use env::BatchedSend;
use network::{Listener, ReceiveBuffer};
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stdx::ids::Lsn;

/// Events taken by one epoll call.
const EVENTS_MAX: usize = 128;
/// How often deadlines are looked at, and how long an idle reactor with connections sleeps.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
/// Spare buffers kept for connections with something to read.
const BUFFERS_MAX: usize = 64;
/// How long a listener is left alone after it could not accept: the client waits in its queue, and epoll would name it in every round.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
const TOKEN_WAKE: u64 = u64::MAX;
/// Listener `n` has the token `TOKEN_LISTENER + n`.
const TOKEN_LISTENER: u64 = u64::MAX - 64;

/// Edges of both directions would wake the reactor for each answer that the client takes: writing is only
/// watched while a socket is full.
const READING: EventFlags = EventFlags::IN.union(EventFlags::RDHUP).union(EventFlags::ET);
/// The peer sends nothing more, or the socket is broken.
const ENDED: EventFlags = EventFlags::RDHUP.union(EventFlags::HUP).union(EventFlags::ERR);
const READING_AND_WRITING: EventFlags = READING.union(EventFlags::OUT);

/// A reactor's own state.
pub(crate) struct Core {
    pub reactor: Arc<Reactor>,
    listeners: Arc<Vec<Listener>>,
    /// Listeners that are not watched until that time.
    paused: Vec<(usize, Duration)>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Sockets that epoll named: the token, and whether the peer closed or the socket failed.
    events: Vec<(u64, bool)>,
    /// Events before this one are done.
    next_event: usize,
    /// Connections that want another turn although epoll is silent.
    ready: VecDeque<u32>,
    /// Answers of this round, and those that wait for a flush of the log.
    pub answers: Vec<Answer>,
    /// Sends the answers of a round.
    pub sender: BatchedSend,
    /// Another thread flushes, and will wake this reactor at its end.
    pub awaits_flush: bool,
    /// Memory for connections with something to read or to say.
    buffers: Vec<ReceiveBuffer>,
    outputs: Vec<Vec<u8>>,
    /// The monotonic clock at the start of the round.
    pub now: Duration,
    next_sweep: Duration,
    pub is_stopping: bool,
    /// The server has ended.
    pub is_finished: bool,
}

/// A connection whose answer is written but not sent.
pub(crate) struct Answer {
    /// It may be sent when the log is durable up to here.
    pub lsn: Lsn,
    pub slot: u32,
    pub connection: Box<Connection>,
    pub next: Next,
}

struct Slot {
    generation: u32,
    place: Place,
    /// Something happened while the connection was away.
    was_touched: bool,
    /// The peer closed or the socket failed. The edge comes once, perhaps together with bytes, so it is remembered.
    has_ended: bool,
    /// Writing is watched.
    watches_writing: bool,
}

enum Place {
    Free,
    Here(Box<Connection>),
    /// Its statement runs, or its answer waits for the flush.
    Away,
}

/// What a thread that runs the core does next.
pub(crate) enum Work {
    /// Look at the inbox.
    Inbox,
    /// Accept from that listener.
    Accept(usize),
    /// Give that connection a turn.
    Turn(u32, Box<Connection>),
    /// Close that connection: its time is over.
    TimedOut(u32, Box<Connection>),
}

impl Core {
    /// A core that watches its wake-up and the listeners.
    pub fn new(reactor: Arc<Reactor>, listeners: Arc<Vec<Listener>>) -> Result<Core, Errno> {
        epoll::add(&reactor.epoll, &reactor.wake, EventData::new_u64(TOKEN_WAKE), EventFlags::IN)?;
        for (index, listener) in listeners.iter().enumerate() {
            watch(&reactor, index, listener)?;
        }
        Ok(Core {
            reactor,
            listeners,
            paused: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            events: Vec::with_capacity(EVENTS_MAX),
            next_event: 0,
            ready: VecDeque::new(),
            answers: Vec::new(),
            sender: BatchedSend::new(),
            awaits_flush: false,
            buffers: Vec::new(),
            outputs: Vec::new(),
            now: Duration::ZERO,
            next_sweep: Duration::ZERO,
            is_stopping: false,
            is_finished: false,
        })
    }

    /// That listening socket; None once the reactor takes nothing new.
    pub fn listener(&self, index: usize) -> Option<&Listener> {
        self.listeners.get(index).filter(|_| !self.is_stopping)
    }

    /// Leaves a listener alone for a while: it cannot accept.
    pub fn pause_listener(&mut self, index: usize) {
        let Some(listener) = self.listeners.get(index) else { return };
        if epoll::delete(&self.reactor.epoll, listener.descriptor()).is_ok() {
            self.paused.push((index, self.now + ACCEPT_PAUSE));
        }
    }

    /// Watches the listeners again whose pause is over.
    pub fn resume_listeners(&mut self) {
        let (reactor, listeners, now) = (&self.reactor, &self.listeners, self.now);
        self.paused.retain_mut(|(index, until)| {
            if *until > now {
                return true;
            }
            let is_watched = listeners.get(*index).is_none_or(|found| watch(reactor, *index, found).is_ok());
            *until = now + ACCEPT_PAUSE;
            !is_watched
        });
    }

    /// The next thing to do in this round; None when the round is over.
    pub fn next_work(&mut self) -> Option<Work> {
        while let Some(&(token, has_ended)) = self.events.get(self.next_event) {
            self.next_event += 1;
            if token == TOKEN_WAKE {
                return Some(Work::Inbox);
            }
            if token >= TOKEN_LISTENER {
                return Some(Work::Accept((token - TOKEN_LISTENER) as usize));
            }
            let (slot, generation) = (token as u32, (token >> 32) as u32);
            if let Some(connection) = self.touch(slot, Some(generation), has_ended) {
                return Some(Work::Turn(slot, connection));
            }
        }
        None
    }

    /// Takes a connection that something happened to, if it is here.
    fn touch(&mut self, slot: u32, generation: Option<u32>, has_ended: bool) -> Option<Box<Connection>> {
        let entry = self.slots.get_mut(slot as usize)?;
        if generation.is_some_and(|generation| generation != entry.generation) {
            return None;
        }
        entry.was_touched = true;
        entry.has_ended |= has_ended;
        match std::mem::replace(&mut entry.place, Place::Away) {
            Place::Here(mut connection) => {
                entry.was_touched = false;
                connection.note_readable(entry.has_ended);
                self.lend_memory(&mut connection);
                Some(connection)
            }
            place => {
                entry.place = place;
                None
            }
        }
    }

    fn lend_memory(&mut self, connection: &mut Connection) {
        let buffer = self.buffers.pop().unwrap_or_else(ReceiveBuffer::with_usual_capacity);
        connection.lend(buffer, self.outputs.pop().unwrap_or_default());
    }

    /// Keeps a connection's memory for others.
    pub fn take_memory_back(&mut self, connection: &mut Connection) {
        let (buffer, output) = connection.take_back();
        if self.buffers.len() < BUFFERS_MAX {
            self.buffers.extend(buffer);
        }
        if self.outputs.len() < BUFFERS_MAX {
            self.outputs.extend(output);
        }
    }

    /// Starts to look after a connection: its slot, or the error of epoll.
    pub fn insert(&mut self, connection: Box<Connection>) -> Result<u32, Errno> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.slots.push(Slot {
                    generation: 0,
                    place: Place::Free,
                    was_touched: false,
                    has_ended: false,
                    watches_writing: false,
                });
                (self.slots.len() - 1) as u32
            }
        };
        let entry = &mut self.slots[slot as usize];
        entry.generation = entry.generation.wrapping_add(1) & 0x7FFF_FFFF;
        let token = token(slot, entry.generation);
        if let Err(error) = epoll::add(&self.reactor.epoll, connection.socket().descriptor(), token, READING)
        {
            self.free.push(slot);
            return Err(error);
        }
        entry.watches_writing = false;
        entry.has_ended = false;
        entry.place = Place::Here(connection);
        self.reactor.connection_count.fetch_add(1, Ordering::Relaxed);
        Ok(slot)
    }

    /// A connection is back and waits for its client.
    pub fn put_back(&mut self, slot: u32, mut connection: Box<Connection>, next: Next) {
        self.take_memory_back(&mut connection);
        let entry = &mut self.slots[slot as usize];
        let wants_writing = connection.has_unsent();
        if wants_writing != entry.watches_writing {
            let flags = if wants_writing { READING_AND_WRITING } else { READING };
            let token = token(slot, entry.generation);
            // The descriptor is registered as long as its connection has a slot.
            let _ = epoll::modify(&self.reactor.epoll, connection.socket().descriptor(), token, flags);
            entry.watches_writing = wants_writing;
        }
        let again = next == Next::Again || std::mem::take(&mut entry.was_touched);
        entry.place = Place::Here(connection);
        if again {
            self.ready.push_back(slot);
        }
    }

    /// A connection was closed: its slot is free.
    pub fn release(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        entry.place = Place::Free;
        entry.was_touched = false;
        self.free.push(slot);
        self.reactor.connection_count.fetch_sub(1, Ordering::Relaxed);
    }

    /// A turn is over: the answer waits for the end of the round.
    pub fn hold_answer(&mut self, slot: u32, connection: Box<Connection>, turn: Turn) {
        self.answers.push(Answer { lsn: turn.lsn, slot, connection, next: turn.next });
    }

    /// Connections that want another turn come into the next round.
    pub fn take_ready(&mut self) -> Option<(u32, Box<Connection>)> {
        while let Some(slot) = self.ready.pop_front() {
            if let Some(connection) = self.touch(slot, None, false) {
                return Some((slot, connection));
            }
        }
        None
    }

    /// How many connections want another turn.
    pub fn ready_count(&self) -> usize {
        self.ready.len()
    }

    /// Waits for events. Returns at once when connections want another turn. `found` is the thread's memory for
    /// what epoll writes.
    pub fn wait(&mut self, found: &mut Vec<Event>) -> Result<(), Errno> {
        let has_connections = self.slots.len() > self.free.len();
        let timeout = if !self.ready.is_empty() {
            Some(Duration::ZERO)
        } else if !self.paused.is_empty() {
            Some(ACCEPT_PAUSE)
        } else if has_connections {
            Some(SWEEP_INTERVAL)
        } else {
            None
        };
        let timeout = timeout
            .map(|wait| Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) });
        self.events.clear();
        self.next_event = 0;
        found.clear();
        found.reserve(EVENTS_MAX);
        let events = rustix::buffer::spare_capacity(found);
        match epoll::wait(&self.reactor.epoll, events, timeout.as_ref()) {
            Ok(_) => {
                // The fields of the packed event are copied, not borrowed.
                self.events.extend(found.iter().map(|event| {
                    let flags = event.flags;
                    (event.data.u64(), flags.intersects(ENDED))
                }));
                Ok(())
            }
            Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The next idle connection whose time is over. Looks once in a while only.
    pub fn take_timed_out(&mut self) -> Option<Work> {
        if self.now < self.next_sweep {
            return None;
        }
        let now = self.now;
        let late =
            |entry: &Slot| matches!(&entry.place, Place::Here(connection) if connection.deadline() <= now);
        let Some(index) = self.slots.iter().position(late) else {
            self.next_sweep = now + SWEEP_INTERVAL;
            return None;
        };
        self.take_here(index).map(|connection| Work::TimedOut(index as u32, connection))
    }

    /// Any idle connection, when the server goes down.
    pub fn take_any(&mut self) -> Option<(u32, Box<Connection>)> {
        let index = self.slots.iter().position(|entry| matches!(entry.place, Place::Here(_)))?;
        self.take_here(index).map(|connection| (index as u32, connection))
    }

    fn take_here(&mut self, index: usize) -> Option<Box<Connection>> {
        let entry = &mut self.slots[index];
        match std::mem::replace(&mut entry.place, Place::Away) {
            Place::Here(connection) => Some(connection),
            place => {
                entry.place = place;
                None
            }
        }
    }

    /// What other threads sent.
    pub fn take_messages(&mut self) -> Vec<Message> {
        self.reactor.take_messages()
    }

    /// Takes nothing new from now on.
    pub fn stop_accepting(&mut self) {
        self.is_stopping = true;
        for listener in self.listeners.iter() {
            // It is registered as long as the core lives.
            let _ = epoll::delete(&self.reactor.epoll, listener.descriptor());
        }
        self.listeners = Arc::new(Vec::new());
        self.paused.clear();
    }
}

/// Lets one of the reactors hear of clients.
fn watch(reactor: &Reactor, index: usize, listener: &Listener) -> Result<(), Errno> {
    let token = EventData::new_u64(TOKEN_LISTENER + index as u64);
    epoll::add(&reactor.epoll, listener.descriptor(), token, EventFlags::IN | EventFlags::EXCLUSIVE)
}

fn token(slot: u32, generation: u32) -> EventData {
    EventData::new_u64(u64::from(generation) << 32 | u64::from(slot))
}
