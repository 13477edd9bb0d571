//! What is known of each chunk of ids, in a ring of slots. Main types: [`Slots`], [`Slot`].
//! A word names the chunk that it is about by the lap of the ring, so that no two words of a slot are equal, whatever comes back.

use super::arrays::ArrayId;
use super::sync::{AtomicU64, Ordering};
use std::sync::OnceLock;

/// Ids in one chunk.
pub(super) const CHUNK_IDS: u64 = if cfg!(loom) {
    2
} else if cfg!(test) {
    16
} else {
    1 << 14
};
/// Slots in a page of them.
const PAGE_SLOTS: u64 = if cfg!(loom) {
    2
} else if cfg!(test) {
    4
} else {
    1 << 10
};
/// Pages of the ring.
const PAGES: u64 = if cfg!(loom) {
    1
} else if cfg!(test) {
    8
} else {
    1 << 12
};
/// Chunks that the ring knows at once: 68 thousand million ids, whose places in the history fill half a terabyte of the temporary file.
pub(super) const SLOTS: u64 = PAGE_SLOTS * PAGES;

/// What is known of the ids of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Every snapshot sees all of them but the exceptions; or none was given.
    Passed,
    /// An entry for each.
    Detail(ArrayId),
    /// All have ended but the exceptions, and no snapshot that can be asked about sees some of their commits and not the others.
    Summary,
}

/// Where the places in the history of a chunk's ids are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// The chunk was passed.
    Gone,
    /// None has one.
    Empty,
    /// In an array.
    Memory(ArrayId),
    /// In the spill file.
    File,
}

/// A content or places, with the lap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u64);

/// Of one chunk at a time.
#[derive(Debug)]
pub(super) struct Slot {
    content: AtomicU64,
    places: AtomicU64,
    /// The greatest timestamp, of a summary.
    greatest: AtomicU64,
}

/// All slots.
#[derive(Debug)]
pub(super) struct Slots {
    pages: Box<[OnceLock<Box<[Slot]>>]>,
}

const KIND_BITS: u64 = 2;
const ARRAY_BITS: u64 = 32;

impl Word {
    fn new(chunk: u64, kind: u64, array: u32) -> Word {
        Word(((chunk / SLOTS) << (KIND_BITS + ARRAY_BITS)) | (u64::from(array) << KIND_BITS) | kind)
    }

    /// The kind and the array; None if it is about another chunk.
    #[inline]
    fn of(self, chunk: u64) -> Option<(u64, ArrayId)> {
        let is_of_chunk = self.0 >> (KIND_BITS + ARRAY_BITS) == chunk / SLOTS;
        is_of_chunk.then_some((self.0 & ((1 << KIND_BITS) - 1), ArrayId((self.0 >> KIND_BITS) as u32)))
    }

    /// As a slot's content.
    #[inline]
    pub(super) fn content(self, chunk: u64) -> Content {
        match self.of(chunk) {
            Some((1, array)) => Content::Detail(array),
            Some((2, _)) => Content::Summary,
            _ => Content::Passed,
        }
    }

    /// As a slot's places.
    #[inline]
    pub(super) fn places(self, chunk: u64) -> Places {
        match self.of(chunk) {
            Some((1, _)) => Places::Empty,
            Some((2, array)) => Places::Memory(array),
            Some((3, _)) => Places::File,
            _ => Places::Gone,
        }
    }

    /// Whether a slot with this content may be given to another chunk.
    pub(super) fn is_free(self) -> bool {
        self.0 & ((1 << KIND_BITS) - 1) == 0
    }
}

impl Slot {
    fn new() -> Slot {
        Slot { content: AtomicU64::new(0), places: AtomicU64::new(0), greatest: AtomicU64::new(0) }
    }

    #[inline]
    pub(super) fn content(&self) -> Word {
        Word(self.content.load(Ordering::Acquire))
    }

    #[inline]
    pub(super) fn places(&self) -> Word {
        Word(self.places.load(Ordering::Acquire))
    }

    /// Of a summary: whoever has read it looks at the content again.
    pub(super) fn greatest(&self) -> u64 {
        self.greatest.load(Ordering::Acquire)
    }

    /// What the words tell must be there before.
    pub(super) fn set_content(&self, chunk: u64, content: Content) {
        let word = match content {
            Content::Passed => Word::new(chunk, 0, 0),
            Content::Detail(array) => Word::new(chunk, 1, array.0),
            Content::Summary => Word::new(chunk, 2, 0),
        };
        self.content.store(word.0, Ordering::Release);
    }

    pub(super) fn set_places(&self, chunk: u64, places: Places) {
        let word = match places {
            Places::Gone => Word::new(chunk, 0, 0),
            Places::Empty => Word::new(chunk, 1, 0),
            Places::Memory(array) => Word::new(chunk, 2, array.0),
            Places::File => Word::new(chunk, 3, 0),
        };
        self.places.store(word.0, Ordering::Release);
    }

    pub(super) fn set_greatest(&self, timestamp: u64) {
        self.greatest.store(timestamp, Ordering::Release);
    }
}

impl Slots {
    pub(super) fn new() -> Slots {
        Slots { pages: (0..PAGES).map(|_| OnceLock::new()).collect() }
    }

    /// The slot of a chunk; it may be another's now.
    #[inline]
    pub(super) fn get(&self, chunk: u64) -> &Slot {
        let at = chunk % SLOTS;
        let page = self.pages[(at / PAGE_SLOTS) as usize]
            .get_or_init(|| (0..PAGE_SLOTS).map(|_| Slot::new()).collect());
        &page[(at % PAGE_SLOTS) as usize]
    }
}
