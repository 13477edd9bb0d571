//! [`AlignedBuffer`]: bytes at an address that direct disk access accepts.

use std::ops::{Deref, DerefMut};

/// The alignment that all file systems accept for direct access, in bytes.
pub const ALIGNMENT_BYTES: usize = 4096;

#[derive(Clone)]
#[repr(C, align(4096))]
struct Block([u8; ALIGNMENT_BYTES]);

/// A zeroed buffer of fixed size whose first byte lies at a multiple of [`ALIGNMENT_BYTES`].
pub struct AlignedBuffer {
    blocks: Box<[Block]>,
}

impl AlignedBuffer {
    /// A buffer of at least `bytes`, rounded up to whole blocks.
    pub fn zeroed(bytes: usize) -> AlignedBuffer {
        let blocks = vec![Block([0; ALIGNMENT_BYTES]); bytes.div_ceil(ALIGNMENT_BYTES)];
        AlignedBuffer { blocks: blocks.into_boxed_slice() }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let bytes = self.blocks.len() * ALIGNMENT_BYTES;
        // SAFETY: The boxed blocks are one contiguous run of plain bytes without padding, borrowed as long as `self`.
        unsafe { std::slice::from_raw_parts(self.blocks.as_ptr().cast(), bytes) }
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let bytes = self.blocks.len() * ALIGNMENT_BYTES;
        // SAFETY: As in `deref`; `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast(), bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_zeroed_and_writable() {
        let mut buffer = AlignedBuffer::zeroed(5000);
        assert_eq!(buffer.len(), 8192);
        assert_eq!(buffer.as_ptr() as usize % ALIGNMENT_BYTES, 0);
        assert!(buffer.iter().all(|byte| *byte == 0));
        buffer[8191] = 1;
        assert_eq!(buffer[8191], 1);
    }
}
