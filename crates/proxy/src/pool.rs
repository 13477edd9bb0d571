//! Idle connections to backends. Main types: [`Pool`], [`Upstream`].
//! Thread rules: shared by all event threads; the first one watches [`Pool::descriptor`] and calls [`Pool::sweep`].

use crate::greeting::ServerGreeting;
use crate::log::Log;
use network::Socket;
use proxy_script::{Backends, Level, ServerLink, ServerPool, Wanted};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::capabilities::client;

/// CLIENT_* that form the packets of the login, and none behind it.
const LOGIN_ONLY: u32 = client::CONNECT_WITH_DB
    | client::PLUGIN_AUTH
    | client::CONNECT_ATTRS
    | client::PLUGIN_AUTH_LENENC_CLIENT_DATA;

/// What carries a connection to a server.
pub(crate) struct Upstream {
    pub socket: Arc<Socket>,
    /// None until the server has greeted.
    pub greeting: Option<ServerGreeting>,
}

/// The idle connections.
pub(crate) struct Pool {
    /// All idle sockets are in it: one that may be read from was closed by its server.
    epoll: OwnedFd,
    idle: Mutex<Idle>,
    backends: Backends,
    log: Arc<Log>,
}

#[derive(Default)]
struct Idle {
    links: Vec<(u64, ServerLink)>,
    next_number: u64,
}

impl Pool {
    pub fn new(backends: Backends, log: Arc<Log>) -> Result<Pool, Errno> {
        Ok(Pool { epoll: epoll::create(CreateFlags::CLOEXEC)?, idle: Mutex::default(), backends, log })
    }

    /// Readable when a server closed an idle connection.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    /// Drops the connections that their servers closed, or spoke on unasked.
    pub fn sweep(&self) {
        let mut events: Vec<Event> = Vec::with_capacity(64);
        let timeout = rustix::event::Timespec::default();
        if epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&timeout)).is_err() {
            return;
        }
        let numbers: Vec<u64> = events.iter().map(|event| event.data.u64()).collect();
        let mut idle = self.idle();
        for number in numbers {
            if let Some(at) = idle.links.iter().position(|(known, _)| *known == number) {
                let (_, link) = idle.links.swap_remove(at);
                self.forget(&link);
                self.log.write(Level::Debug, "an idle connection was closed by its server");
            }
        }
    }

    /// Closes all.
    pub fn clear(&self) {
        for (_, link) in self.idle().links.drain(..) {
            self.forget(&link);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The link leaves the pool.
    fn forget(&self, link: &ServerLink) {
        if let Some(backend) = self.backends.get(link.backend) {
            backend.remove_idle(link.endpoint.user.as_deref().unwrap_or_default());
        }
        if let Some(upstream) = upstream(link) {
            // It is in no other epoll that this pool knows; an error means that it is in none.
            let _ = epoll::delete(&self.epoll, upstream.socket.descriptor());
        }
    }
}

/// What clients must have agreed on alike to use the same connection.
pub(crate) fn lasting(capabilities: u32) -> u32 {
    capabilities & !LOGIN_ONLY
}

/// What carries that link.
pub(crate) fn upstream(link: &ServerLink) -> Option<&Upstream> {
    link.carrier.downcast_ref()
}

impl ServerPool for Pool {
    fn put(&self, link: ServerLink) {
        let Some(upstream) = upstream(&link) else { return };
        let Some(backend) = self.backends.get(link.backend) else { return };
        let mut idle = self.idle();
        idle.next_number += 1;
        let number = idle.next_number;
        let flags = EventFlags::IN | EventFlags::RDHUP;
        if epoll::add(&self.epoll, upstream.socket.descriptor(), EventData::new_u64(number), flags).is_err() {
            // It cannot be watched, so it is closed.
            return;
        }
        backend.add_idle(link.endpoint.user.as_deref().unwrap_or_default());
        idle.links.push((number, link));
    }

    fn take(&self, backend: usize, wanted: Wanted<'_>) -> Option<ServerLink> {
        let mut idle = self.idle();
        let fits = |link: &ServerLink| {
            let is_the_users = |(user, capabilities): (&[u8], u32)| {
                link.endpoint.user.as_deref() == Some(user)
                    && lasting(link.capabilities) == lasting(capabilities)
            };
            link.backend == backend && wanted.login.is_none_or(is_the_users)
        };
        let uses_schema = |link: &ServerLink| link.endpoint.default_schema.as_deref() == Some(wanted.schema);
        let links = &idle.links;
        let found = links
            .iter()
            .position(|(_, link)| fits(link) && uses_schema(link))
            .or_else(|| links.iter().position(|(_, link)| fits(link)))?;
        let (_, link) = idle.links.swap_remove(found);
        self.forget(&link);
        Some(link)
    }
}
