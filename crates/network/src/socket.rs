//! One client's socket: non-blocking, TCP or UNIX. Main type: [`Socket`].
//! Thread rules: any thread may call; the connection's owner is the only one that reads and writes.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// A connected, non-blocking socket. Closed when dropped.
#[derive(Debug)]
pub struct Socket {
    descriptor: OwnedFd,
    is_unix: bool,
}

/// What a receive call found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receive {
    /// That many bytes.
    Bytes(usize),
    /// Nothing for now.
    Empty,
    /// The peer closed its end.
    Closed,
}

impl Socket {
    /// Takes an accepted socket.
    pub fn new(descriptor: OwnedFd, is_unix: bool) -> Socket {
        Socket { descriptor, is_unix }
    }

    /// Whether this is a UNIX socket.
    pub fn is_unix(&self) -> bool {
        self.is_unix
    }

    /// Its descriptor, for epoll.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Receives without waiting.
    pub fn receive(&self, into: &mut [u8]) -> Result<Receive, Errno> {
        loop {
            return match rustix::net::recv(&self.descriptor, &mut *into, RecvFlags::empty()) {
                Ok((0, _)) => Ok(Receive::Closed),
                Ok((count, _)) => Ok(Receive::Bytes(count)),
                Err(Errno::AGAIN) => Ok(Receive::Empty),
                Err(Errno::INTR) => continue,
                Err(error) => Err(error),
            };
        }
    }

    /// Sends what the socket takes without waiting; returns that many bytes.
    pub fn send(&self, bytes: &[u8]) -> Result<usize, Errno> {
        loop {
            return match rustix::net::send(&self.descriptor, bytes, SendFlags::NOSIGNAL) {
                Ok(count) => Ok(count),
                Err(Errno::AGAIN) => Ok(0),
                Err(Errno::INTR) => continue,
                Err(error) => Err(error),
            };
        }
    }

    /// Waits until there is something to read (or the peer closed); false after the time-out.
    pub fn wait_readable(&self, timeout: Duration) -> Result<bool, Errno> {
        self.wait(PollFlags::IN, timeout)
    }

    /// Waits until there is room to write; false after the time-out.
    pub fn wait_writable(&self, timeout: Duration) -> Result<bool, Errno> {
        self.wait(PollFlags::OUT, timeout)
    }

    fn wait(&self, flags: PollFlags, timeout: Duration) -> Result<bool, Errno> {
        let timeout =
            Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
        env::blocking::region(|| {
            loop {
                match poll(&mut [PollFd::new(&self.descriptor, flags)], Some(&timeout)) {
                    Ok(ready) => return Ok(ready > 0),
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(error),
                }
            }
        })
    }

    /// Ends both directions; whoever waits for this socket wakes up.
    pub fn shut_down(&self) {
        // An error means that the peer was faster.
        let _ = rustix::net::shutdown(&self.descriptor, Shutdown::Both);
    }

    /// Tells the peer that nothing more comes, while its bytes are still taken.
    pub fn shut_down_sending(&self) {
        let _ = rustix::net::shutdown(&self.descriptor, Shutdown::Write);
    }
}
