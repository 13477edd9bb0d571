//! Which sockets an event thread watches. Main types: [`Registry`], [`End`].

use crate::side::Side;
use network::Socket;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::time::Duration;

/// The two ends of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Client,
    Server,
}

/// The bit of a token that tells the server's end.
const SERVER: u64 = 1 << 63;

/// Edges: a socket is told of when something comes, not as long as something is there. Writing is watched only while
/// something waits to be written.
const READING: EventFlags = EventFlags::IN.union(EventFlags::RDHUP).union(EventFlags::ET);
const READING_AND_WRITING: EventFlags = READING.union(EventFlags::OUT);

/// A thread's epoll.
pub(crate) struct Registry {
    epoll: OwnedFd,
}

impl Registry {
    pub fn new() -> Result<Registry, Errno> {
        Ok(Registry { epoll: epoll::create(CreateFlags::CLOEXEC)? })
    }

    /// Watches a session's socket, for writing too while `is_connecting` or bytes wait.
    pub fn add(&self, socket: &Socket, token: u64, end: End) -> Result<(), Errno> {
        epoll::add(&self.epoll, socket.descriptor(), EventData::new_u64(tagged(token, end)), READING)
    }

    /// Watches something that is no session's, as long as it may be read.
    pub fn add_level(&self, descriptor: impl AsFd, token: u64) -> Result<(), Errno> {
        epoll::add(&self.epoll, descriptor, EventData::new_u64(token), EventFlags::IN)
    }

    /// Watches writing exactly while it is waited for.
    pub fn follow(&self, side: &mut Side, token: u64, end: End, is_connecting: bool) -> Result<(), Errno> {
        let wanted = is_connecting || side.is_full();
        if wanted == side.watches_writing {
            return Ok(());
        }
        let flags = if wanted { READING_AND_WRITING } else { READING };
        epoll::modify(&self.epoll, side.socket.descriptor(), EventData::new_u64(tagged(token, end)), flags)?;
        side.watches_writing = wanted;
        Ok(())
    }

    /// Watches a socket no more.
    pub fn forget(&self, socket: &Socket) {
        // It may never have been watched.
        let _ = epoll::delete(&self.epoll, socket.descriptor());
    }

    /// Waits for events at most so long, and gives their tokens.
    pub fn wait(&self, events: &mut Vec<Event>, timeout: Duration) -> Result<(), Errno> {
        let timeout =
            Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
        events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn tagged(token: u64, end: End) -> u64 {
    match end {
        End::Client => token,
        End::Server => token | SERVER,
    }
}

/// The session's token of an event's, and which end it is about.
pub(crate) fn untagged(tagged: u64) -> (u64, End) {
    (tagged & !SERVER, if tagged & SERVER == 0 { End::Client } else { End::Server })
}
