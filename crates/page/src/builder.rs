//! [`NodeBuilder`] writes a node afresh: fences at the end of the page, cells below them in key order.
//! Used for new nodes, splits, merges and compaction, so that equal contents give equal bytes.

use stdx::ids::{IndexId, PageNumber};

use crate::bytes::{Page, set_u16, set_u32, set_u64};
use crate::header::{KIND_OFFSET, PageKind};
use crate::node::{
    COUNT_OFFSET, FLAG_UPPER_INFINITE, FLAGS_OFFSET, Fence, GARBAGE_OFFSET, HEAP_START_OFFSET, INDEX_OFFSET,
    LENGTH_BYTES, LEVEL_OFFSET, LIVE_OFFSET, LOWER_LENGTH, LOWER_OFFSET, PREFIX_OFFSET, RIGHT_OFFSET,
    SLOT_BYTES, SLOTS_OFFSET, UPPER_LENGTH, UPPER_OFFSET, WRITER_OFFSET, common_prefix, head_of,
};
use crate::{BODY_OFFSET, CorruptPage, KEY_BYTES_MAX, PAGE_BYTES};

/// What a node has beside its cells.
#[derive(Clone, Copy)]
pub(crate) struct NodeFrame<'a> {
    pub level: u8,
    pub index: IndexId,
    pub right: PageNumber,
    pub writer: u64,
    pub live_rows: u16,
    pub lower: &'a [u8],
    pub upper: Fence<'a>,
}

pub(crate) struct NodeBuilder {
    page: Box<Page>,
    count: usize,
    heap_start: usize,
    prefix: usize,
    /// Whole key suffix of the last cell, as a place in the page, to check the order.
    last_suffix: (usize, usize),
}

impl NodeBuilder {
    pub(crate) fn new(frame: NodeFrame<'_>) -> Result<Self, CorruptPage> {
        let mut builder = Self {
            page: Box::new([0; PAGE_BYTES]),
            count: 0,
            heap_start: PAGE_BYTES,
            prefix: common_prefix(frame.lower, frame.upper),
            last_suffix: (0, 0),
        };
        let page = &mut *builder.page;
        page[KIND_OFFSET] = if frame.level == 0 { PageKind::Leaf } else { PageKind::Inner } as u8;
        page[LEVEL_OFFSET] = frame.level;
        set_u16(page, LIVE_OFFSET, frame.live_rows);
        set_u32(page, RIGHT_OFFSET, frame.right.0);
        set_u64(page, INDEX_OFFSET, frame.index.0);
        set_u64(page, WRITER_OFFSET, frame.writer);
        set_u16(page, PREFIX_OFFSET, builder.prefix as u16);
        let (lower_at, lower_length) = builder.put_fence(frame.lower)?;
        let (upper_at, upper_length) = match frame.upper {
            Fence::Key(key) => builder.put_fence(key)?,
            Fence::Infinite => {
                builder.page[FLAGS_OFFSET] = FLAG_UPPER_INFINITE;
                (0, 0)
            }
        };
        let page = &mut *builder.page;
        set_u16(page, LOWER_OFFSET, lower_at);
        set_u16(page, LOWER_LENGTH, lower_length);
        set_u16(page, UPPER_OFFSET, upper_at);
        set_u16(page, UPPER_LENGTH, upper_length);
        Ok(builder)
    }

    fn put_fence(&mut self, key: &[u8]) -> Result<(u16, u16), CorruptPage> {
        if key.len() > KEY_BYTES_MAX {
            return Err(CorruptPage::new("fence is too long"));
        }
        self.heap_start -= key.len();
        self.page[self.heap_start..self.heap_start + key.len()].copy_from_slice(key);
        Ok((self.heap_start as u16, key.len() as u16))
    }

    /// Length of the prefix that cells leave out.
    pub(crate) fn prefix(&self) -> usize {
        self.prefix
    }

    /// Adds a cell; its suffix comes in two parts and must be above the last one.
    pub(crate) fn push(&mut self, head: &[u8], tail: &[u8], value: &[u8]) -> Result<(), CorruptPage> {
        let length = head.len() + tail.len();
        let cell = LENGTH_BYTES + length + value.len();
        let slot = SLOTS_OFFSET + self.count * SLOT_BYTES;
        if length > KEY_BYTES_MAX || slot + SLOT_BYTES + cell > self.heap_start {
            return Err(CorruptPage::new("cells do not fit the node"));
        }
        let at = self.heap_start - cell;
        let tag = value.len() as u16;
        let page = &mut *self.page;
        set_u16(page, at, tag);
        let key_at = at + LENGTH_BYTES;
        page[key_at..key_at + head.len()].copy_from_slice(head);
        page[key_at + head.len()..key_at + length].copy_from_slice(tail);
        page[key_at + length..at + cell].copy_from_slice(value);
        let (last_at, last_length) = self.last_suffix;
        if self.count > 0 && page[last_at..last_at + last_length] >= page[key_at..key_at + length] {
            return Err(CorruptPage::new("cells are out of order"));
        }
        let key_head = head_of(&page[key_at..key_at + length]);
        set_slot(page, self.count, at, length, key_head);
        self.count += 1;
        self.heap_start = at;
        self.last_suffix = (key_at, length);
        Ok(())
    }

    /// Puts the node into `page`, which keeps checksum, identity and LSN.
    pub(crate) fn finish(mut self, page: &mut Page) {
        set_u16(&mut self.page, COUNT_OFFSET, self.count as u16);
        set_u16(&mut self.page, HEAP_START_OFFSET, self.heap_start as u16);
        set_u16(&mut self.page, GARBAGE_OFFSET, 0);
        page[KIND_OFFSET] = self.page[KIND_OFFSET];
        page[KIND_OFFSET + 1..BODY_OFFSET].fill(0);
        page[BODY_OFFSET..].copy_from_slice(&self.page[BODY_OFFSET..]);
    }
}

/// Writes slot `slot`.
pub(crate) fn set_slot(page: &mut Page, slot: usize, offset: usize, key_length: usize, head: u32) {
    let at = SLOTS_OFFSET + slot * SLOT_BYTES;
    set_u16(page, at, offset as u16);
    set_u16(page, at + 2, key_length as u16);
    set_u32(page, at + 4, head);
}
