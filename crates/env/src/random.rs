//! [`Random`]: numbers nobody can predict. [`RealRandom`] asks the operating system.

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

/// The operating system's entropy, fit for secrets.
pub struct RealRandom;

impl Random for RealRandom {
    fn fill(&self, bytes: &mut [u8]) {
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
}
