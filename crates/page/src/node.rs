//! Reading tree nodes, leaves and inner nodes alike: [`NodeRef`].
//! A slot has the first four bytes of its key suffix as a number, so that most comparisons of a search
//! touch the slot array only. Every offset read from the page is checked before it is followed.

use std::cmp::Ordering;

use stdx::ids::{IndexId, PageNumber};

use crate::bytes::{Page, page_of, u16_at, u32_at, u64_at};
use crate::header::{KIND_OFFSET, PageKind};
use crate::{CorruptPage, PAGE_BYTES};

pub(crate) const LEVEL_OFFSET: usize = 24;
pub(crate) const FLAGS_OFFSET: usize = 25;
pub(crate) const COUNT_OFFSET: usize = 26;
pub(crate) const HEAP_START_OFFSET: usize = 28;
pub(crate) const GARBAGE_OFFSET: usize = 30;
pub(crate) const LIVE_OFFSET: usize = 32;
pub(crate) const PREFIX_OFFSET: usize = 34;
pub(crate) const RIGHT_OFFSET: usize = 36;
pub(crate) const LOWER_OFFSET: usize = 40;
pub(crate) const LOWER_LENGTH: usize = 42;
pub(crate) const UPPER_OFFSET: usize = 44;
pub(crate) const UPPER_LENGTH: usize = 46;
pub(crate) const INDEX_OFFSET: usize = 48;
pub(crate) const WRITER_OFFSET: usize = 56;
/// Where the slot array starts: on a cache line of its own.
pub(crate) const SLOTS_OFFSET: usize = 64;

const CACHE_LINE_BYTES: usize = 64;
/// Slots up to which a search first touches them all: leaves of ordinary rows. Larger nodes are inner ones, which
/// stay in the cache.
const TOUCHED_SLOTS_MAX: usize = 192;

pub(crate) const SLOT_BYTES: usize = 8;
pub(crate) const LENGTH_BYTES: usize = 2;
/// Flag: the node has no upper fence.
pub(crate) const FLAG_UPPER_INFINITE: u8 = 1;

/// The upper bound of a node's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence<'a> {
    /// Keys below this one only.
    Key(&'a [u8]),
    /// No bound: the last node of its level.
    Infinite,
}

impl Fence<'_> {
    /// Whether `key` lies below the fence.
    pub fn is_above(&self, key: &[u8]) -> bool {
        match self {
            Fence::Key(fence) => key < *fence,
            Fence::Infinite => true,
        }
    }
}

/// Length of the prefix that all keys between two fences share, by the fences alone.
pub fn common_prefix(lower: &[u8], upper: Fence<'_>) -> usize {
    match upper {
        Fence::Key(upper) => lower.iter().zip(upper).take_while(|(a, b)| a == b).count(),
        Fence::Infinite => 0,
    }
}

/// The first four bytes of a key suffix as a number, zero-padded: orders like the bytes.
#[inline]
pub(crate) fn head_of(suffix: &[u8]) -> u32 {
    match suffix.first_chunk::<4>() {
        Some(head) => u32::from_be_bytes(*head),
        None => {
            let mut head = [0; 4];
            head[..suffix.len()].copy_from_slice(suffix);
            u32::from_be_bytes(head)
        }
    }
}

/// Where a key stands, or would stand, among the cells of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Index of the first cell whose key is not below the key.
    pub slot: u16,
    /// Whether that cell has exactly the key.
    pub found: bool,
}

/// A tree node, read in place.
#[derive(Clone, Copy)]
pub struct NodeRef<'a> {
    page: &'a Page,
    count: usize,
}

impl<'a> NodeRef<'a> {
    /// A view of a page that must be a leaf or an inner node with plausible counts.
    #[inline]
    pub fn new(page: &'a [u8]) -> Result<Self, CorruptPage> {
        let page = page_of(page)?;
        let kind = page[KIND_OFFSET];
        if kind != PageKind::Leaf as u8 && kind != PageKind::Inner as u8 {
            return Err(CorruptPage::new("page is not a tree node"));
        }
        let count = usize::from(u16_at(page, COUNT_OFFSET));
        let heap_start = usize::from(u16_at(page, HEAP_START_OFFSET));
        if heap_start > PAGE_BYTES || SLOTS_OFFSET + count * SLOT_BYTES > heap_start {
            return Err(CorruptPage::new("slots and cells of a node overlap"));
        }
        Ok(Self { page, count })
    }

    /// 0 for a leaf.
    #[inline]
    pub fn level(&self) -> u8 {
        self.page[LEVEL_OFFSET]
    }

    /// Whether cells hold entries (not child pages).
    #[inline]
    pub fn is_leaf(&self) -> bool {
        self.page[KIND_OFFSET] == PageKind::Leaf as u8
    }

    /// How many cells the node has.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Entries not marked as deleted, by the stamps of the operations. Leaves only.
    #[inline]
    pub fn live_rows(&self) -> u16 {
        u16_at(self.page, LIVE_OFFSET)
    }

    /// The greatest writer id that ever changed the leaf.
    #[inline]
    pub fn newest_writer(&self) -> u64 {
        u64_at(self.page, WRITER_OFFSET)
    }

    /// The index that the node belongs to.
    #[inline]
    pub fn index(&self) -> IndexId {
        IndexId(u64_at(self.page, INDEX_OFFSET))
    }

    /// The next node of the level.
    #[inline]
    pub fn right(&self) -> Option<PageNumber> {
        match u32_at(self.page, RIGHT_OFFSET) {
            0 => None,
            number => Some(PageNumber(number)),
        }
    }

    fn range(&self, offset: usize, length: usize) -> Result<&'a [u8], CorruptPage> {
        self.page.get(offset..offset + length).ok_or(CorruptPage::new("cell or fence lies outside the page"))
    }

    /// Least key that may stand here; empty when there is no bound.
    pub fn lower_fence(&self) -> Result<&'a [u8], CorruptPage> {
        let length = usize::from(u16_at(self.page, LOWER_LENGTH));
        self.range(usize::from(u16_at(self.page, LOWER_OFFSET)), length)
    }

    /// First key that may not stand here any more.
    pub fn upper_fence(&self) -> Result<Fence<'a>, CorruptPage> {
        if self.page[FLAGS_OFFSET] & FLAG_UPPER_INFINITE != 0 {
            return Ok(Fence::Infinite);
        }
        let length = usize::from(u16_at(self.page, UPPER_LENGTH));
        self.range(usize::from(u16_at(self.page, UPPER_OFFSET)), length).map(Fence::Key)
    }

    /// Whether `key` lies between the fences.
    pub fn covers(&self, key: &[u8]) -> Result<bool, CorruptPage> {
        Ok(self.lower_fence()? <= key && self.upper_fence()?.is_above(key))
    }

    /// What all keys of the node start with; cells leave it out.
    #[inline]
    pub fn prefix(&self) -> Result<&'a [u8], CorruptPage> {
        let length = usize::from(u16_at(self.page, PREFIX_OFFSET));
        if length == 0 {
            return Ok(&[]);
        }
        self.range(usize::from(u16_at(self.page, LOWER_OFFSET)), length)
    }

    /// Bytes free for cells: in one piece, and in holes that compaction gathers.
    pub fn free_bytes(&self) -> usize {
        self.contiguous_bytes() + usize::from(u16_at(self.page, GARBAGE_OFFSET))
    }

    pub(crate) fn contiguous_bytes(&self) -> usize {
        usize::from(u16_at(self.page, HEAP_START_OFFSET)) - SLOTS_OFFSET - self.count * SLOT_BYTES
    }

    #[inline]
    fn slot(&self, slot: usize) -> Result<(usize, usize, u32), CorruptPage> {
        if slot >= self.count {
            return Err(CorruptPage::new("slot is out of range"));
        }
        let at = SLOTS_OFFSET + slot * SLOT_BYTES;
        let word = u64_at(self.page, at);
        Ok((word as u16 as usize, (word >> 16) as u16 as usize, (word >> 32) as u32))
    }

    /// The key of cell `slot` without the prefix.
    #[inline]
    pub fn suffix(&self, slot: usize) -> Result<&'a [u8], CorruptPage> {
        let (offset, length, _) = self.slot(slot)?;
        self.range(offset + LENGTH_BYTES, length)
    }

    /// Appends the whole key of cell `slot`.
    pub fn key_into(&self, slot: usize, key: &mut Vec<u8>) -> Result<(), CorruptPage> {
        key.extend_from_slice(self.prefix()?);
        key.extend_from_slice(self.suffix(slot)?);
        Ok(())
    }

    /// Compares the whole key of cell `slot` with `key`.
    pub fn compare_key(&self, slot: usize, key: &[u8]) -> Result<Ordering, CorruptPage> {
        let (prefix, suffix) = (self.prefix()?, self.suffix(slot)?);
        Ok(match key.split_at_checked(prefix.len()) {
            Some((head, tail)) => prefix.cmp(head).then_with(|| suffix.cmp(tail)),
            None => prefix.cmp(key),
        })
    }

    /// Whether the whole key of cell `slot` begins with those bytes.
    pub fn key_starts_with(&self, slot: usize, start: &[u8]) -> Result<bool, CorruptPage> {
        let (prefix, suffix) = (self.prefix()?, self.suffix(slot)?);
        Ok(match start.strip_prefix(prefix) {
            Some(rest) => suffix.starts_with(rest),
            None => prefix.starts_with(start),
        })
    }

    /// The stored value of cell `slot`.
    #[inline]
    pub fn value(&self, slot: usize) -> Result<&'a [u8], CorruptPage> {
        Ok(self.cell(slot)?.1)
    }

    /// Key suffix and stored value of cell `slot`.
    #[inline]
    pub fn cell(&self, slot: usize) -> Result<(&'a [u8], &'a [u8]), CorruptPage> {
        let (offset, key_length, _) = self.slot(slot)?;
        let rest = self.page.get(offset..).ok_or(CorruptPage::new("cell lies outside the page"))?;
        let (length, rest) =
            rest.split_first_chunk::<LENGTH_BYTES>().ok_or(CorruptPage::new("cell is cut off"))?;
        let value_length = usize::from(u16::from_le_bytes(*length));
        let cell = rest.get(..key_length + value_length).ok_or(CorruptPage::new("cell is cut off"))?;
        Ok(cell.split_at(key_length))
    }

    /// Offset of the stored value of cell `slot` in the page, and its length.
    pub(crate) fn value_place(&self, slot: usize) -> Result<(usize, usize), CorruptPage> {
        let (offset, key_length, _) = self.slot(slot)?;
        let length = self.value(slot)?.len();
        Ok((offset + LENGTH_BYTES + key_length, length))
    }

    /// Offset of cell `slot` in the page.
    pub(crate) fn cell_place(&self, slot: usize) -> Result<usize, CorruptPage> {
        Ok(self.slot(slot)?.0)
    }

    /// The key head that slot `slot` holds.
    pub(crate) fn slot_head(&self, slot: usize) -> Result<u32, CorruptPage> {
        Ok(self.slot(slot)?.2)
    }

    /// Bytes that cell `slot` takes of the node, its slot included.
    pub fn footprint_bytes(&self, slot: usize) -> Result<usize, CorruptPage> {
        Ok(SLOT_BYTES + self.cell_bytes(slot)?)
    }

    /// Bytes of cell `slot` in the heap: tag, suffix and value, without the slot.
    pub(crate) fn cell_bytes(&self, slot: usize) -> Result<usize, CorruptPage> {
        let (suffix, value) = self.cell(slot)?;
        Ok(LENGTH_BYTES + suffix.len() + value.len())
    }

    /// Where `key` stands among the cells. Keys outside the fences come out before or behind all cells.
    #[inline]
    pub fn search(&self, key: &[u8]) -> Result<Position, CorruptPage> {
        let prefix = self.prefix()?;
        let suffix = if prefix.is_empty() {
            key
        } else {
            match key.split_at_checked(prefix.len()) {
                Some((head, tail)) if head == prefix => tail,
                _ if key < prefix => return Ok(Position { slot: 0, found: false }),
                _ => return Ok(Position { slot: self.count as u16, found: false }),
            }
        };
        self.search_suffix(suffix)
    }

    /// Where a key with the node's prefix stands, given the rest of the key.
    pub fn search_suffix(&self, suffix: &[u8]) -> Result<Position, CorruptPage> {
        let head = head_of(suffix);
        if self.count <= TOUCHED_SLOTS_MAX {
            self.touch_slots();
        }
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = (low + high) / 2;
            match self.compare_slot(middle, suffix, head)? {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(Position { slot: middle as u16, found: true }),
            }
        }
        Ok(Position { slot: low as u16, found: false })
    }

    /// Reads one byte of each cache line of the slot array: these reads miss the cache side by side, where those of
    /// the binary search would wait for one another.
    #[inline]
    fn touch_slots(&self) {
        let slots = &self.page[SLOTS_OFFSET..SLOTS_OFFSET + self.count * SLOT_BYTES];
        let touched = slots.iter().step_by(CACHE_LINE_BYTES).fold(0, |touched, byte| touched | byte);
        std::hint::black_box(touched);
    }

    #[inline]
    fn compare_slot(&self, slot: usize, suffix: &[u8], head: u32) -> Result<Ordering, CorruptPage> {
        let (offset, length, slot_head) = self.slot(slot)?;
        if slot_head != head {
            return Ok(slot_head.cmp(&head));
        }
        if length <= 4 && suffix.len() <= 4 {
            return Ok(length.cmp(&suffix.len()));
        }
        Ok(self.range(offset + LENGTH_BYTES, length)?.cmp(suffix))
    }

    /// The child page of cell `slot` of an inner node.
    #[inline]
    pub fn child(&self, slot: usize) -> Result<PageNumber, CorruptPage> {
        let value = self.value(slot)?;
        let number = value.first_chunk::<4>().ok_or(CorruptPage::new("child cell is cut off"))?;
        Ok(PageNumber(u32::from_le_bytes(*number)))
    }

    /// The cell of an inner node whose child covers `key`: the last whose key is not above it.
    #[inline]
    pub fn child_slot(&self, key: &[u8]) -> Result<usize, CorruptPage> {
        let position = self.search(key)?;
        let slot = usize::from(position.slot);
        if position.found {
            return Ok(slot);
        }
        slot.checked_sub(1).ok_or(CorruptPage::new("inner node has no child for the key"))
    }

    /// The cell whose child covers the keys just below `key`; `None` when the node starts at `key`.
    pub fn child_slot_before(&self, key: &[u8]) -> Result<Option<usize>, CorruptPage> {
        Ok(usize::from(self.search(key)?.slot).checked_sub(1))
    }
}
