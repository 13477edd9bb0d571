//! What long work over documents asks now and then. Main type: [`Watch`].

/// Whether work may go on.
pub trait Watch {
    /// Asked after some thousand steps, and before so many bytes more are held.
    fn goes_on(&self, bytes: usize) -> bool;
}

/// Nobody ends it.
pub struct Unwatched;

impl Watch for Unwatched {
    fn goes_on(&self, _bytes: usize) -> bool {
        true
    }
}

/// Long work was told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Steps after which work asks.
const STEPS: u32 = 4096;

/// Counts the steps of one piece of work.
pub(crate) struct Steps<'w> {
    watch: &'w dyn Watch,
    left: u32,
    bytes: usize,
}

impl<'w> Steps<'w> {
    pub fn new(watch: &'w dyn Watch) -> Steps<'w> {
        Steps { watch, left: STEPS, bytes: 0 }
    }

    /// One step further, which takes so many bytes.
    #[inline]
    pub fn next(&mut self, bytes: usize) -> Result<(), Stopped> {
        self.left -= 1;
        self.bytes += bytes;
        if self.left > 0 && self.bytes < BYTES {
            return Ok(());
        }
        self.left = STEPS;
        match self.watch.goes_on(std::mem::take(&mut self.bytes)) {
            true => Ok(()),
            false => Err(Stopped),
        }
    }
}

/// Bytes after which work asks.
const BYTES: usize = 1 << 16;
