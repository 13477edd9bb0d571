//! Applying operations to pages. One function serves normal running and recovery, so that replay of the
//! log gives the same bytes. An operation that does not fit its page changes nothing and is reported.

use crate::builder::{NodeBuilder, NodeFrame};
use crate::bytes::{Page, page_of_mut};
use crate::cells::CellRun;
use crate::header::{KIND_OFFSET, PageKind};
use crate::node::NodeRef;
use crate::node_edit::{
    apply_stamp, insert_cell, insert_cells, live_after, patch_cell, remove_cell, replace_cell,
};
use crate::operation::{PageOperation, Stamp};
use crate::{BODY_OFFSET, CorruptPage, PAGE_BYTES, space};

impl PageOperation<'_> {
    /// Changes `page`, which must be [`PAGE_BYTES`] long. On an error the page is as it was.
    pub fn apply(&self, page: &mut [u8]) -> Result<(), CorruptPage> {
        let page = page_of_mut(page)?;
        match *self {
            Self::InitSpaceHeader { size_pages, origin } => {
                start_body(page, PageKind::SpaceHeader);
                space::write_origin(page, origin);
                space::write_sizes(page, size_pages, 1, 0, 0);
            }
            Self::SetSpaceHeader { size_pages, used_pages, free_head, free_pages } => {
                require_kind(page, PageKind::SpaceHeader)?;
                space::write_sizes(page, size_pages, used_pages, free_head, free_pages);
            }
            Self::InitFree { next } => {
                start_body(page, PageKind::Free);
                space::write_free(page, next);
            }
            Self::InitNode { level, index, right, stamp, lower, upper, cells } => {
                let live_rows = live_after(0, stamp)?;
                let frame = NodeFrame { level, index, right, writer: stamp.writer, live_rows, lower, upper };
                init_node(page, frame, cells)?;
            }
            Self::Reshape { keep_from, keep_to, right, stamp, lower, upper, cells } => {
                let old = NodeRef::new(page)?;
                let new = NodeFrame {
                    level: old.level(),
                    index: old.index(),
                    right,
                    writer: old.newest_writer().max(stamp.writer),
                    live_rows: live_after(old.live_rows(), stamp)?,
                    lower,
                    upper,
                };
                reshape(page, usize::from(keep_from)..usize::from(keep_to), new, cells)?;
            }
            Self::SetBytes { offset, bytes } => set_bytes(page, usize::from(offset), bytes)?,
            _ => self.apply_to_leaf(page)?,
        }
        Ok(())
    }

    fn apply_to_leaf(&self, page: &mut Page) -> Result<(), CorruptPage> {
        match *self {
            Self::InsertCell { slot, stamp, suffix, value } => {
                insert_cell(page, usize::from(slot), stamp, suffix, value)
            }
            Self::ReplaceCell { slot, stamp, value } => replace_cell(page, usize::from(slot), stamp, value),
            Self::PatchCell { slot, stamp, offset, bytes } => {
                patch_cell(page, usize::from(slot), stamp, usize::from(offset), bytes)
            }
            Self::RemoveCell { slot, stamp } => remove_cell(page, usize::from(slot), stamp),
            Self::InsertCells { stamp, cells } => insert_cells(page, stamp, cells),
            Self::SetStamp { stamp } => {
                NodeRef::new(page)?;
                apply_stamp(page, stamp)
            }
            _ => unreachable!("not a change of cells"),
        }
    }
}

fn require_kind(page: &Page, kind: PageKind) -> Result<(), CorruptPage> {
    if page[KIND_OFFSET] == kind as u8 { Ok(()) } else { Err(CorruptPage::new("page has another kind")) }
}

/// Clears the body for a page of another kind.
pub(crate) fn start_body(page: &mut Page, kind: PageKind) {
    page[KIND_OFFSET..].fill(0);
    page[KIND_OFFSET] = kind as u8;
}

fn init_node(page: &mut Page, frame: NodeFrame<'_>, cells: CellRun<'_>) -> Result<(), CorruptPage> {
    let mut builder = NodeBuilder::new(frame)?;
    for cell in cells.iter() {
        let (suffix, value) = cell?;
        builder.push(suffix, &[], value)?;
    }
    builder.finish(page);
    Ok(())
}

fn reshape(
    page: &mut Page,
    keep: std::ops::Range<usize>,
    new: NodeFrame<'_>,
    cells: CellRun<'_>,
) -> Result<(), CorruptPage> {
    let old = NodeRef::new(page)?;
    if keep.start > keep.end || keep.end > old.count() {
        return Err(CorruptPage::new("cells to keep are out of range"));
    }
    let old_prefix = old.prefix()?;
    let mut builder = NodeBuilder::new(new)?;
    let new_prefix = builder.prefix();
    for slot in keep {
        let (suffix, value) = old.cell(slot)?;
        let head = old_prefix.get(new_prefix..).unwrap_or_default();
        let cut = new_prefix.saturating_sub(old_prefix.len());
        let tail = suffix.get(cut..).ok_or(CorruptPage::new("key is shorter than its node's prefix"))?;
        builder.push(head, tail, value)?;
    }
    for cell in cells.iter() {
        let (suffix, value) = cell?;
        builder.push(suffix, &[], value)?;
    }
    builder.finish(page);
    Ok(())
}

fn set_bytes(page: &mut Page, offset: usize, bytes: &[u8]) -> Result<(), CorruptPage> {
    if offset < BODY_OFFSET || offset + bytes.len() > PAGE_BYTES {
        return Err(CorruptPage::new("bytes to set are out of range"));
    }
    page[offset..offset + bytes.len()].copy_from_slice(bytes);
    Ok(())
}

/// The stamp of a node whose contents move elsewhere: its writer and its live rows.
impl From<&NodeRef<'_>> for Stamp {
    fn from(node: &NodeRef<'_>) -> Self {
        Self { writer: node.newest_writer(), live_delta: i32::from(node.live_rows()) }
    }
}
