//! Changing tree nodes in place: the bodies of the cell operations. Each checks all that it reads from the
//! page or from the operation before it writes, so that a failed change leaves the page as it was.

use std::cmp::Ordering;

use crate::builder::{NodeBuilder, NodeFrame, set_slot};
use crate::bytes::{Page, set_u16, set_u64, u16_at, u64_at};
use crate::cells::CellRun;
use crate::node::{
    COUNT_OFFSET, GARBAGE_OFFSET, HEAP_START_OFFSET, LENGTH_BYTES, LIVE_OFFSET, NodeRef, SLOT_BYTES,
    SLOTS_OFFSET, WRITER_OFFSET, head_of,
};
use crate::operation::Stamp;
use crate::{CELL_BYTES_MAX, CorruptPage, KEY_BYTES_MAX};

pub(crate) fn frame<'a>(node: &NodeRef<'a>) -> Result<NodeFrame<'a>, CorruptPage> {
    Ok(NodeFrame {
        level: node.level(),
        index: node.index(),
        right: node.right().unwrap_or_default(),
        writer: node.newest_writer(),
        live_rows: node.live_rows(),
        lower: node.lower_fence()?,
        upper: node.upper_fence()?,
    })
}

/// The counter of live rows after `stamp`.
pub(crate) fn live_after(live_rows: u16, stamp: Stamp) -> Result<u16, CorruptPage> {
    u16::try_from(i32::from(live_rows).saturating_add(stamp.live_delta))
        .map_err(|_| CorruptPage::new("live rows of a leaf leave their range"))
}

/// Applies the counters' part of a change.
pub(crate) fn apply_stamp(page: &mut Page, stamp: Stamp) -> Result<(), CorruptPage> {
    let live = live_after(u16_at(page, LIVE_OFFSET), stamp)?;
    set_u16(page, LIVE_OFFSET, live);
    let writer = u64_at(page, WRITER_OFFSET).max(stamp.writer);
    set_u64(page, WRITER_OFFSET, writer);
    Ok(())
}

/// Gathers the holes between cells: writes all cells afresh in key order.
fn compact(page: &mut Page) -> Result<(), CorruptPage> {
    let node = NodeRef::new(page)?;
    let mut builder = NodeBuilder::new(frame(&node)?)?;
    for slot in 0..node.count() {
        let (suffix, value) = node.cell(slot)?;
        builder.push(suffix, &[], value)?;
    }
    builder.finish(page);
    Ok(())
}

/// Makes room for a cell of `bytes` in the heap (and for `slots` new slots).
fn make_room(page: &mut Page, bytes: usize, slots: usize) -> Result<(), CorruptPage> {
    let node = NodeRef::new(page)?;
    let needed = bytes + slots * SLOT_BYTES;
    if needed <= node.contiguous_bytes() {
        return Ok(());
    }
    if needed > node.free_bytes() {
        return Err(CorruptPage::new("cell does not fit the node"));
    }
    compact(page)?;
    if needed > NodeRef::new(page)?.contiguous_bytes() {
        return Err(CorruptPage::new("free bytes of a node are counted wrongly"));
    }
    Ok(())
}

fn write_cell(page: &mut Page, suffix: &[u8], value: &[u8]) -> usize {
    let length = LENGTH_BYTES + suffix.len() + value.len();
    let at = usize::from(u16_at(page, HEAP_START_OFFSET)) - length;
    let tag = value.len() as u16;
    set_u16(page, at, tag);
    let key_at = at + LENGTH_BYTES;
    page[key_at..key_at + suffix.len()].copy_from_slice(suffix);
    page[key_at + suffix.len()..at + length].copy_from_slice(value);
    set_u16(page, HEAP_START_OFFSET, at as u16);
    at
}

fn check_sizes(suffix: &[u8], value: &[u8]) -> Result<usize, CorruptPage> {
    let bytes = LENGTH_BYTES + suffix.len() + value.len();
    if suffix.len() > KEY_BYTES_MAX || SLOT_BYTES + bytes > CELL_BYTES_MAX {
        return Err(CorruptPage::new("cell is too large"));
    }
    Ok(bytes)
}

pub(crate) fn insert_cell(
    page: &mut Page,
    slot: usize,
    stamp: Stamp,
    suffix: &[u8],
    value: &[u8],
) -> Result<(), CorruptPage> {
    let node = NodeRef::new(page)?;
    let bytes = check_sizes(suffix, value)?;
    let count = node.count();
    let after_left = slot == 0 || node.suffix(slot - 1)?.cmp(suffix) == Ordering::Less;
    let before_right = slot >= count || node.suffix(slot)?.cmp(suffix) == Ordering::Greater;
    if slot > count || !after_left || !before_right {
        return Err(CorruptPage::new("cell would be out of order"));
    }
    live_after(node.live_rows(), stamp)?;
    make_room(page, bytes, 1)?;
    apply_stamp(page, stamp)?;
    let at = write_cell(page, suffix, value);
    let (from, to) = (SLOTS_OFFSET + slot * SLOT_BYTES, SLOTS_OFFSET + count * SLOT_BYTES);
    page.copy_within(from..to, from + SLOT_BYTES);
    set_slot(page, slot, at, suffix.len(), head_of(suffix));
    set_u16(page, COUNT_OFFSET, count as u16 + 1);
    Ok(())
}

pub(crate) fn remove_cell(page: &mut Page, slot: usize, stamp: Stamp) -> Result<(), CorruptPage> {
    let node = NodeRef::new(page)?;
    let bytes = node.cell_bytes(slot)?;
    let count = node.count();
    live_after(node.live_rows(), stamp)?;
    apply_stamp(page, stamp)?;
    let (from, to) = (SLOTS_OFFSET + (slot + 1) * SLOT_BYTES, SLOTS_OFFSET + count * SLOT_BYTES);
    page.copy_within(from..to, from - SLOT_BYTES);
    set_u16(page, COUNT_OFFSET, count as u16 - 1);
    add_garbage(page, bytes)
}

fn add_garbage(page: &mut Page, bytes: usize) -> Result<(), CorruptPage> {
    let garbage = usize::from(u16_at(page, GARBAGE_OFFSET)) + bytes;
    let garbage =
        u16::try_from(garbage).map_err(|_| CorruptPage::new("holes of a node are counted wrongly"))?;
    set_u16(page, GARBAGE_OFFSET, garbage);
    Ok(())
}

pub(crate) fn replace_cell(
    page: &mut Page,
    slot: usize,
    stamp: Stamp,
    value: &[u8],
) -> Result<(), CorruptPage> {
    let node = NodeRef::new(page)?;
    let (suffix, old) = node.cell(slot)?;
    let bytes = check_sizes(suffix, value)?;
    live_after(node.live_rows(), stamp)?;
    if old.len() == value.len() {
        let (at, length) = node.value_place(slot)?;
        page[at..at + length].copy_from_slice(value);
        return apply_stamp(page, stamp);
    }
    let suffix = suffix.to_vec();
    let old_bytes = node.cell_bytes(slot)?;
    if bytes > node.free_bytes() + old_bytes {
        return Err(CorruptPage::new("cell does not fit the node"));
    }
    apply_stamp(page, stamp)?;
    if bytes <= node_contiguous(page)? {
        let at = write_cell(page, &suffix, value);
        set_slot(page, slot, at, suffix.len(), head_of(&suffix));
        return add_garbage(page, old_bytes);
    }
    // The old cell's bytes are needed as well: take it out, then put the new one in its place.
    remove_cell(page, slot, Stamp::default())?;
    insert_cell(page, slot, Stamp::default(), &suffix, value)
}

fn node_contiguous(page: &Page) -> Result<usize, CorruptPage> {
    Ok(NodeRef::new(page)?.contiguous_bytes())
}

pub(crate) fn patch_cell(
    page: &mut Page,
    slot: usize,
    stamp: Stamp,
    offset: usize,
    bytes: &[u8],
) -> Result<(), CorruptPage> {
    let node = NodeRef::new(page)?;
    let (at, length) = node.value_place(slot)?;
    if offset + bytes.len() > length {
        return Err(CorruptPage::new("patch reaches behind its value"));
    }
    live_after(node.live_rows(), stamp)?;
    page[at + offset..at + offset + bytes.len()].copy_from_slice(bytes);
    apply_stamp(page, stamp)
}

/// Merges a run of new cells into the node.
pub(crate) fn insert_cells(page: &mut Page, stamp: Stamp, cells: CellRun<'_>) -> Result<(), CorruptPage> {
    let node = NodeRef::new(page)?;
    let mut frame = frame(&node)?;
    frame.live_rows = live_after(frame.live_rows, stamp)?;
    frame.writer = frame.writer.max(stamp.writer);
    let mut builder = NodeBuilder::new(frame)?;
    let mut slot = 0;
    for cell in cells.iter() {
        let (suffix, value) = cell?;
        check_sizes(suffix, value)?;
        while slot < node.count() && node.suffix(slot)? < suffix {
            let (old_suffix, old_value) = node.cell(slot)?;
            builder.push(old_suffix, &[], old_value)?;
            slot += 1;
        }
        builder.push(suffix, &[], value)?;
    }
    for slot in slot..node.count() {
        let (suffix, value) = node.cell(slot)?;
        builder.push(suffix, &[], value)?;
    }
    builder.finish(page);
    Ok(())
}
