//! Checks a whole page against itself: what the buffer pool asks of a page that comes from disk, and what
//! the tree check asks of every page. References to other pages are the tree check's concern.

use crate::bytes::{page_of, u16_at};
use crate::header::{PageKind, kind};
use crate::node::{
    Fence, GARBAGE_OFFSET, HEAP_START_OFFSET, LOWER_LENGTH, NodeRef, PREFIX_OFFSET, common_prefix, head_of,
};
use crate::{CorruptPage, KEY_BYTES_MAX, PAGE_BYTES, SpaceHeaderRef};

/// Checks that a page holds together. The checksum is not part of it.
pub fn verify(page: &[u8]) -> Result<(), CorruptPage> {
    match kind(page)? {
        PageKind::Zero => Ok(()),
        PageKind::SpaceHeader => verify_space_header(page),
        PageKind::Free => SpaceHeaderRef::next_free(page).map(|_| ()),
        PageKind::Inner | PageKind::Leaf => verify_node(page),
    }
}

fn verify_space_header(page: &[u8]) -> Result<(), CorruptPage> {
    let header = SpaceHeaderRef::new(page)?;
    let free_head = header.free_head().map_or(0, |page| page.0);
    if header.used_pages() > header.size_pages()
        || header.free_pages() >= header.used_pages().max(1)
        || free_head >= header.used_pages()
        || (free_head == 0) != (header.free_pages() == 0)
    {
        return Err(CorruptPage::new("counts of a space header do not agree"));
    }
    Ok(())
}

fn verify_node(page: &[u8]) -> Result<(), CorruptPage> {
    let node = NodeRef::new(page)?;
    if node.is_leaf() != (node.level() == 0) {
        return Err(CorruptPage::new("kind and level of a node do not agree"));
    }
    verify_fences(page, &node)?;
    let heap_bytes = verify_cells(&node)?;
    let page = page_of(page)?;
    let upper_bytes = match node.upper_fence()? {
        Fence::Key(key) => key.len(),
        Fence::Infinite => 0,
    };
    let used = heap_bytes + usize::from(u16_at(page, LOWER_LENGTH)) + upper_bytes;
    let garbage = usize::from(u16_at(page, GARBAGE_OFFSET));
    if usize::from(u16_at(page, HEAP_START_OFFSET)) + used + garbage != PAGE_BYTES {
        return Err(CorruptPage::new("cells and holes of a node do not fill its heap"));
    }
    if node.is_leaf() && usize::from(node.live_rows()) > node.count() {
        return Err(CorruptPage::new("leaf counts more live rows than cells"));
    }
    Ok(())
}

fn verify_fences(page: &[u8], node: &NodeRef<'_>) -> Result<(), CorruptPage> {
    let (lower, upper) = (node.lower_fence()?, node.upper_fence()?);
    if lower.len() > KEY_BYTES_MAX || !upper.is_above(lower) {
        return Err(CorruptPage::new("fences of a node are out of order"));
    }
    if usize::from(u16_at(page_of(page)?, PREFIX_OFFSET)) != common_prefix(lower, upper) {
        return Err(CorruptPage::new("prefix of a node does not follow from its fences"));
    }
    Ok(())
}

/// Checks order, bounds, heads and places of the cells; returns their bytes in the heap.
fn verify_cells(node: &NodeRef<'_>) -> Result<usize, CorruptPage> {
    let (mut bytes, mut places) = (0, Vec::with_capacity(node.count()));
    let mut last: Option<&[u8]> = None;
    for slot in 0..node.count() {
        let (suffix, value) = node.cell(slot)?;
        if last.is_some_and(|last| last >= suffix) {
            return Err(CorruptPage::new("cells are out of order"));
        }
        if node.slot_head(slot)? != head_of(suffix) {
            return Err(CorruptPage::new("slot has the wrong key head"));
        }
        if !node.is_leaf() && value.len() != 4 {
            return Err(CorruptPage::new("cell of an inner node does not hold a child"));
        }
        let length = node.cell_bytes(slot)?;
        places.push((node.cell_place(slot)?, length));
        bytes += length;
        last = Some(suffix);
    }
    for slot in [0, node.count().wrapping_sub(1)] {
        if slot < node.count() && !within_fences(node, slot)? {
            return Err(CorruptPage::new("key lies outside the fences of its node"));
        }
    }
    places.sort_unstable();
    if places.windows(2).any(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
        return Err(CorruptPage::new("cells overlap"));
    }
    Ok(bytes)
}

fn within_fences(node: &NodeRef<'_>, slot: usize) -> Result<bool, CorruptPage> {
    let mut key = Vec::new();
    node.key_into(slot, &mut key)?;
    node.covers(&key)
}
