//! [`BatchedSend`]: sends to many sockets with one call of the system, where it has io_uring.
//!
//! Each send to a socket of this machine wakes its reader, and the system may give the reader the processor as soon as
//! the call returns. A round of an event loop that sends to thirty sockets is then interrupted thirty times; with one
//! call for all of them it is interrupted once.

use io_uring::{IoUring, opcode, types};
use rustix::fd::{AsRawFd, BorrowedFd};
use rustix::io::Errno;
use rustix::net::SendFlags;

/// Sends of one call.
const ENTRIES: u32 = 256;
/// Sends without waiting and without SIGPIPE.
const FLAGS: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);

/// What is to be sent to which socket; None is a gap that keeps the numbers of the others.
pub type Sends<'a> = [Option<(BorrowedFd<'a>, &'a [u8])>];

/// Sends for one thread at a time.
pub struct BatchedSend {
    /// None where the system has no io_uring, or does not let this process use it: then each send is a call.
    ring: Option<IoUring>,
    /// Of the last call.
    results: Vec<Option<Result<usize, Errno>>>,
}

impl Default for BatchedSend {
    fn default() -> BatchedSend {
        BatchedSend::new()
    }
}

impl BatchedSend {
    /// With io_uring if the system lets us.
    pub fn new() -> BatchedSend {
        BatchedSend { ring: IoUring::builder().setup_coop_taskrun().build(ENTRIES).ok(), results: Vec::new() }
    }

    /// Sends to each what its socket takes without waiting. [`BatchedSend::result`] tells how that went.
    pub fn send_each(&mut self, sends: &Sends<'_>) {
        self.results.clear();
        self.results.resize(sends.len(), None);
        match &mut self.ring {
            // One send is one call either way.
            Some(ring) if sends.iter().flatten().count() > 1 => {
                let batches = sends.chunks(ENTRIES as usize).zip(self.results.chunks_mut(ENTRIES as usize));
                for (batch, results) in batches {
                    send_batch(ring, batch, results);
                }
            }
            _ => {
                for (result, entry) in self.results.iter_mut().zip(sends) {
                    *result = entry.map(|(socket, bytes)| send(socket, bytes));
                }
            }
        }
    }

    /// How the send of that number went; None for a gap. `AGAIN`: the socket is full.
    pub fn result(&self, number: usize) -> Option<Result<usize, Errno>> {
        self.results.get(number).copied().flatten()
    }
}

fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    loop {
        match rustix::net::send(socket, bytes, FLAGS) {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

fn send_batch(ring: &mut IoUring, sends: &Sends<'_>, results: &mut [Option<Result<usize, Errno>>]) {
    let mut open = 0;
    for (number, entry) in sends.iter().enumerate() {
        let Some((socket, bytes)) = entry else { continue };
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let entry = opcode::Send::new(types::Fd(socket.as_raw_fd()), bytes.as_ptr(), length)
            .flags(FLAGS.bits() as i32)
            .build()
            .user_data(number as u64);
        // SAFETY: The socket and the bytes are borrowed until this function returns, and it returns only when every
        // entry that was pushed has completed (the loop below), so the kernel never uses either after their end.
        let pushed = unsafe { ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "the ring is empty before, and a batch is never longer than it");
        open += 1;
    }
    while open > 0 {
        match ring.submit_and_wait(open) {
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.raw_os_error().map(Errno::from_raw_os_error),
                    Some(Errno::INTR | Errno::AGAIN | Errno::BUSY)
                ) => {}
            // Entries may be under way whose memory is about to be given back.
            Err(error) => {
                eprintln!("io_uring_enter failed: {error}");
                std::process::abort();
            }
        }
        for completed in ring.completion() {
            let result = completed.result();
            let value = usize::try_from(result).map_err(|_| Errno::from_raw_os_error(-result));
            if let Some(result) = results.get_mut(completed.user_data() as usize) {
                *result = Some(value);
            }
            open -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::{AsFd, OwnedFd};
    use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap()
    }

    fn check(mut sender: BatchedSend) {
        let pairs: Vec<_> = (0..600).map(|_| pair()).collect();
        let texts: Vec<Vec<u8>> = (0..600).map(|number: u32| number.to_le_bytes().to_vec()).collect();
        let is_gap = |number: usize| number % 7 == 3;
        let entries = pairs.iter().zip(&texts).enumerate();
        let sends: Vec<_> = entries
            .map(|(number, ((from, _), text))| (!is_gap(number)).then_some((from.as_fd(), &text[..])))
            .collect();
        sender.send_each(&sends);
        for (number, ((_, to), text)) in pairs.iter().zip(&texts).enumerate() {
            let mut got = [0; 8];
            let received = recv(to, &mut got, RecvFlags::empty());
            if is_gap(number) {
                assert_eq!((sender.result(number), received.err()), (None, Some(Errno::AGAIN)));
            } else {
                assert_eq!((sender.result(number), received.unwrap().0), (Some(Ok(4)), 4));
                assert_eq!(&got[..4], &text[..]);
            }
        }
        // A socket that takes no more, and one whose other end is gone.
        let (full, _keep) = pair();
        let (broken, gone) = pair();
        drop(gone);
        let much = vec![7; 64 << 20];
        sender.send_each(&[Some((full.as_fd(), &much)), Some((broken.as_fd(), b"x"))]);
        assert!(matches!(sender.result(0), Some(Ok(count)) if count < much.len()));
        assert_eq!(sender.result(1), Some(Err(Errno::PIPE)));
        sender.send_each(&[Some((full.as_fd(), &much)), Some((full.as_fd(), b"x"))]);
        assert_eq!(sender.result(0), Some(Err(Errno::AGAIN)));
        assert_eq!(sender.result(1), Some(Err(Errno::AGAIN)));
    }

    #[test]
    fn each_socket_gets_its_bytes() {
        check(BatchedSend::new());
        check(BatchedSend { ring: None, results: Vec::new() });
    }
}
