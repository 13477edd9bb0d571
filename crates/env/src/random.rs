//! [`Random`]: numbers nobody can predict. [`RealRandom`] asks the operating system, for small amounts not each time.

use std::cell::RefCell;

/// A source of random bytes. Usable from any thread.
pub trait Random: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);

    /// A random number.
    fn next_u64(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// Bytes that a thread fetches at once. The call costs as much for one byte as for all of them.
const POOL_BYTES: usize = 256;

/// The operating system's entropy, fit for secrets.
pub struct RealRandom;

/// Bytes that a thread has fetched and not given out. The server never forks, so nobody else gets the same ones.
struct Pool {
    bytes: [u8; POOL_BYTES],
    /// Where the bytes begin that are left.
    next: usize,
}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; POOL_BYTES], next: POOL_BYTES }) };
}

impl Pool {
    /// Gives out bytes and forgets them.
    fn take(&mut self, into: &mut [u8]) {
        if self.bytes.len() - self.next < into.len() {
            ask_system(&mut self.bytes);
            self.next = 0;
        }
        let given = &mut self.bytes[self.next..][..into.len()];
        into.copy_from_slice(given);
        given.fill(0);
        self.next += into.len();
    }
}

impl Random for RealRandom {
    fn fill(&self, bytes: &mut [u8]) {
        if bytes.len() > POOL_BYTES / 4 {
            return ask_system(bytes);
        }
        POOL.with_borrow_mut(|pool| pool.take(bytes));
    }
}

fn ask_system(bytes: &mut [u8]) {
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            // The call is as old as the oldest kernel Rust supports. Weak secrets would be worse than stopping.
            Err(error) => panic!("the operating system gives no random bytes: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_given_out_twice() {
        let mut seen = std::collections::HashSet::new();
        for _ in 0..1000 {
            assert!(seen.insert(RealRandom.next_u64()));
            let mut large = [0; POOL_BYTES];
            RealRandom.fill(&mut large);
            assert_ne!(large, [0; POOL_BYTES]);
        }
    }
}
