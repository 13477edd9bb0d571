//! [`GrowingArray`]: an array that grows without moving and is read without a lock.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

/// Elements of the first chunk; each further chunk doubles what is there.
const FIRST_CHUNK: usize = 1024;
const CHUNKS: usize = 23;

/// Numbers by index, 0 until they are set. Chunks are made on first use.
pub(crate) struct GrowingArray {
    chunks: [OnceLock<Box<[AtomicU32]>>; CHUNKS],
}

impl GrowingArray {
    pub const fn new() -> GrowingArray {
        GrowingArray { chunks: [const { OnceLock::new() }; CHUNKS] }
    }

    /// The element, if its chunk exists.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&AtomicU32> {
        let (chunk, offset) = place(index);
        Some(&self.chunks[chunk].get()?[offset])
    }

    /// The element; its chunk is made if it does not exist.
    pub fn get_or_grow(&self, index: u32) -> &AtomicU32 {
        let (chunk, offset) = place(index);
        let make = || (0..chunk_length(chunk)).map(|_| AtomicU32::new(0)).collect();
        &self.chunks[chunk].get_or_init(make)[offset]
    }

    /// All elements of chunks that exist, with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &AtomicU32)> {
        let existing = self.chunks.iter().enumerate().filter_map(|(chunk, lock)| Some((chunk, lock.get()?)));
        existing.flat_map(|(chunk, elements)| {
            let first = if chunk == 0 { 0 } else { FIRST_CHUNK << (chunk - 1) };
            elements.iter().enumerate().map(move |(offset, element)| ((first + offset) as u32, element))
        })
    }
}

/// Chunk 0 has the first 1024 elements, chunk k the 1024 * 2^(k-1) from there on.
#[inline]
fn place(index: u32) -> (usize, usize) {
    let index = index as usize;
    let chunk = (usize::BITS - (index / FIRST_CHUNK).leading_zeros()) as usize;
    (chunk, if chunk == 0 { index } else { index - (FIRST_CHUNK << (chunk - 1)) })
}

fn chunk_length(chunk: usize) -> usize {
    if chunk == 0 { FIRST_CHUNK } else { FIRST_CHUNK << (chunk - 1) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn places_are_dense() {
        let mut expected = (0, 0);
        for index in 0..40_000 {
            assert_eq!(place(index), expected);
            expected.1 += 1;
            if expected.1 == chunk_length(expected.0) {
                expected = (expected.0 + 1, 0);
            }
        }
        assert_eq!(place(u32::MAX).0, CHUNKS - 1);
        assert!(place(u32::MAX).1 < chunk_length(CHUNKS - 1));
    }

    #[test]
    fn elements_stay_where_they_are() {
        let array = GrowingArray::new();
        assert!(array.get(5000).is_none());
        array.get_or_grow(5000).store(7, Ordering::Relaxed);
        array.get_or_grow(0).store(1, Ordering::Relaxed);
        assert_eq!(array.get(5000).unwrap().load(Ordering::Relaxed), 7);
        let set: Vec<u32> =
            array.iter().filter(|(_, e)| e.load(Ordering::Relaxed) != 0).map(|(i, _)| i).collect();
        assert_eq!(set, [0, 5000]);
    }
}
