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

/// Sends for one thread.
pub struct BatchedSend {
    /// None where the system has no io_uring, or does not let this process use it: then each send is a call.
    ring: Option<IoUring>,
}

impl Default for BatchedSend {
    fn default() -> BatchedSend {
        BatchedSend::new()
    }
}

impl BatchedSend {
    /// With io_uring if the system lets us.
    pub fn new() -> BatchedSend {
        BatchedSend { ring: IoUring::builder().setup_coop_taskrun().build(ENTRIES).ok() }
    }

    /// Sends to each what its socket takes without waiting; the results have the order of `sends`. `AGAIN`: the socket is full.
    pub fn send_each(&mut self, sends: &[(BorrowedFd<'_>, &[u8])], results: &mut Vec<Result<usize, Errno>>) {
        results.clear();
        match &mut self.ring {
            // One send is one call either way.
            Some(ring) if sends.len() > 1 => {
                for batch in sends.chunks(ENTRIES as usize) {
                    send_batch(ring, batch, results);
                }
            }
            _ => results.extend(sends.iter().map(|(socket, bytes)| send(*socket, bytes))),
        }
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

fn send_batch(
    ring: &mut IoUring,
    sends: &[(BorrowedFd<'_>, &[u8])],
    results: &mut Vec<Result<usize, Errno>>,
) {
    let first = results.len();
    for (index, (socket, bytes)) in sends.iter().enumerate() {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let entry = opcode::Send::new(types::Fd(socket.as_raw_fd()), bytes.as_ptr(), length)
            .flags(FLAGS.bits() as i32)
            .build()
            .user_data(index as u64);
        // SAFETY: The socket and the bytes are borrowed until this function returns, and it returns only when every
        // entry that was pushed has completed (the loop below), so the kernel never uses either after their end.
        let pushed = unsafe { ring.submission().push(&entry) };
        // The ring is empty at the start and has room for a whole batch.
        assert!(pushed.is_ok(), "a batch is never longer than the ring");
        results.push(Err(Errno::AGAIN));
    }
    let mut open = sends.len();
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
            if let Some(slot) = results.get_mut(first + completed.user_data() as usize) {
                *slot = value;
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
        let sends: Vec<_> =
            pairs.iter().zip(&texts).map(|((from, _), text)| (from.as_fd(), &text[..])).collect();
        let mut results = Vec::new();
        sender.send_each(&sends, &mut results);
        assert!(results.iter().all(|result| *result == Ok(4)));
        for ((_, to), text) in pairs.iter().zip(&texts) {
            let mut got = [0; 8];
            let (count, _) = recv(to, &mut got, RecvFlags::empty()).unwrap();
            assert_eq!(&got[..count], &text[..]);
        }
        // A socket that takes no more, and one whose other end is gone.
        let (full, _keep) = pair();
        let (broken, gone) = pair();
        drop(gone);
        let much = vec![7; 64 << 20];
        sender.send_each(&[(full.as_fd(), &much), (broken.as_fd(), b"x")], &mut results);
        assert!(matches!(results[0], Ok(count) if count < much.len()));
        assert_eq!(results[1], Err(Errno::PIPE));
        sender.send_each(&[(full.as_fd(), &much), (full.as_fd(), b"x")], &mut results);
        assert_eq!(results, [Err(Errno::AGAIN), Err(Errno::AGAIN)]);
    }

    #[test]
    fn each_socket_gets_its_bytes() {
        check(BatchedSend::new());
        check(BatchedSend { ring: None });
    }
}
