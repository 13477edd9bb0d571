//! Arrays of one number an id, for the chunks that need one. They are used again, and never freed: who has found an array by a chunk's
//! slot may read it at any time, and looks at the slot again then. Main type: [`Arrays`].

use super::slots::CHUNK_IDS;
use super::sync::{AtomicU64, Mutex, Ordering, lock};
use std::sync::OnceLock;

/// Arrays in a page of them.
const PAGE_ARRAYS: u32 = if cfg!(loom) { 4 } else { 1024 };
/// Pages: half a terabyte of arrays.
const PAGES: u32 = if cfg!(loom) { 2 } else { 4096 };

/// The number of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArrayId(pub(super) u32);

/// One number for each id of a chunk.
pub(super) type Array = Box<[AtomicU64]>;

/// Arrays that were made, in the order of their numbers.
type Page = Box<[OnceLock<Array>]>;

/// All arrays.
#[derive(Debug)]
pub(super) struct Arrays {
    pages: Box<[OnceLock<Page>]>,
    unused: Mutex<Unused>,
}

#[derive(Debug, Default)]
struct Unused {
    given_back: Vec<ArrayId>,
    made: u32,
}

impl Arrays {
    pub(super) fn new() -> Arrays {
        Arrays { pages: (0..PAGES).map(|_| OnceLock::new()).collect(), unused: Mutex::default() }
    }

    /// An array of zeros.
    pub(super) fn take(&self) -> ArrayId {
        let mut unused = lock(&self.unused);
        let Some(id) = unused.given_back.pop() else {
            let id = ArrayId(unused.made);
            unused.made += 1;
            self.place(id).get_or_init(|| (0..CHUNK_IDS).map(|_| AtomicU64::new(0)).collect());
            return id;
        };
        drop(unused);
        // Who still reads it for another chunk finds that the chunk has it no more.
        self.get(id).iter().for_each(|number| number.store(0, Ordering::Release));
        id
    }

    /// No slot names the array any more.
    pub(super) fn give_back(&self, id: ArrayId) {
        lock(&self.unused).given_back.push(id);
    }

    /// One that was taken, now or before.
    #[inline]
    pub(super) fn get(&self, id: ArrayId) -> &[AtomicU64] {
        self.place(id).get().expect("it was made when it was taken first")
    }

    /// Bytes of all arrays, and how many of those are in use.
    pub(super) fn bytes(&self) -> (u64, u64) {
        let unused = lock(&self.unused);
        let of = |arrays: u64| arrays * CHUNK_IDS * 8;
        (of(unused.made.into()), of(u64::from(unused.made) - unused.given_back.len() as u64))
    }

    #[inline]
    fn place(&self, id: ArrayId) -> &OnceLock<Array> {
        let page = self.pages[(id.0 / PAGE_ARRAYS) as usize]
            .get_or_init(|| (0..PAGE_ARRAYS).map(|_| OnceLock::new()).collect());
        &page[(id.0 % PAGE_ARRAYS) as usize]
    }
}
