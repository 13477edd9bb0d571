//! [`PageOperation`]: every change that a page can undergo, with its encoding in the redo log.
//! Encoded: kind byte, then the fields in order as varints; byte strings carry their length.
//! `apply` is in `apply.rs`.

use stdx::ids::{IndexId, Lsn, PageNumber};

use crate::CorruptPage;
use crate::cells::CellRun;
use crate::codec::{Reader, put_bytes, put_signed, put_varint};
use crate::node::Fence;
use crate::space::{SpaceKind, SpaceOrigin};

/// What a change means to the row counters of its leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Writer id; the leaf keeps the greatest it has seen. 0 leaves the leaf's field alone.
    pub writer: u64,
    /// Change of the leaf's count of live rows (entries not marked as deleted).
    pub live_delta: i32,
}

impl Stamp {
    fn put(self, out: &mut Vec<u8>) {
        put_varint(out, self.writer);
        put_signed(out, self.live_delta);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, CorruptPage> {
        Ok(Self { writer: reader.varint()?, live_delta: reader.signed()? })
    }
}

/// A change of one page. The same function applies it in normal running and in recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOperation<'a> {
    /// Makes page 0 of a new file: `size_pages` exist, page 0 alone is used, the free list is empty.
    InitSpaceHeader {
        /// Pages that the file has.
        size_pages: u32,
        /// What never changes of it.
        origin: SpaceOrigin,
    },
    /// Sets the allocation fields of page 0.
    SetSpaceHeader {
        /// Pages that the file has.
        size_pages: u32,
        /// Pages handed out so far, from 0 on; the rest of the file was never used.
        used_pages: u32,
        /// First page of the free list, 0 for none.
        free_head: u32,
        /// Pages on the free list.
        free_pages: u32,
    },
    /// Puts a page on the free list.
    InitFree {
        /// The next free page, 0 for none.
        next: PageNumber,
    },
    /// Makes a tree node with its first cells, whatever the page held before.
    InitNode {
        /// 0 for a leaf.
        level: u8,
        /// The index that the node belongs to.
        index: IndexId,
        /// The next node of the level, 0 for none.
        right: PageNumber,
        /// Greatest writer id and number of live rows among the cells.
        stamp: Stamp,
        /// Least key that may stand in the node; empty for none.
        lower: &'a [u8],
        /// First key that may not stand in the node any more.
        upper: Fence<'a>,
        /// Cells, relative to the common prefix of both fences.
        cells: CellRun<'a>,
    },
    /// Keeps the cells `keep_from..keep_to`, changes fences and right link, adds cells behind: splits and merges.
    Reshape {
        /// First cell that stays.
        keep_from: u16,
        /// Cell behind the last that stays.
        keep_to: u16,
        /// The next node of the level, 0 for none.
        right: PageNumber,
        /// Change of live rows; a writer id raises the leaf's.
        stamp: Stamp,
        /// New lower fence.
        lower: &'a [u8],
        /// New upper fence.
        upper: Fence<'a>,
        /// Cells to add, relative to the common prefix of the new fences.
        cells: CellRun<'a>,
    },
    /// Puts a cell before cell `slot`.
    InsertCell {
        /// Its place.
        slot: u16,
        /// Its effect on the counters.
        stamp: Stamp,
        /// The key without the node's prefix.
        suffix: &'a [u8],
        /// The value.
        value: &'a [u8],
    },
    /// Gives cell `slot` another value.
    ReplaceCell {
        /// Its place.
        slot: u16,
        /// Its effect on the counters.
        stamp: Stamp,
        /// The new value.
        value: &'a [u8],
    },
    /// Overwrites some stored bytes of the value of cell `slot`.
    PatchCell {
        /// Its place.
        slot: u16,
        /// Its effect on the counters.
        stamp: Stamp,
        /// First byte, within the stored value.
        offset: u16,
        /// The new bytes.
        bytes: &'a [u8],
    },
    /// Takes cell `slot` away.
    RemoveCell {
        /// Its place.
        slot: u16,
        /// Its effect on the counters.
        stamp: Stamp,
    },
    /// Merges cells in key order into the node. No key may be there already.
    InsertCells {
        /// Their effect on the counters, summed.
        stamp: Stamp,
        /// The cells, relative to the node's prefix.
        cells: CellRun<'a>,
    },
    /// Changes the counters of a leaf only.
    SetStamp {
        /// The effect.
        stamp: Stamp,
    },
    /// Overwrites body bytes of a page that the tree code does not own (engine control pages).
    SetBytes {
        /// First byte, counted from the start of the page; not below the body.
        offset: u16,
        /// The new bytes.
        bytes: &'a [u8],
    },
}

const INIT_SPACE_HEADER: u8 = 1;
const SET_SPACE_HEADER: u8 = 2;
const INIT_FREE: u8 = 3;
const INIT_NODE: u8 = 4;
const RESHAPE: u8 = 5;
const INSERT_CELL: u8 = 6;
const REPLACE_CELL: u8 = 7;
const PATCH_CELL: u8 = 8;
const REMOVE_CELL: u8 = 9;
const INSERT_CELLS: u8 = 10;
const SET_STAMP: u8 = 11;
const SET_BYTES: u8 = 13;

impl<'a> PageOperation<'a> {
    /// Appends the encoded operation. It does not carry its own length: the log frames it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::InitSpaceHeader { size_pages, origin } => {
                out.push(INIT_SPACE_HEADER);
                put_varint(out, u64::from(size_pages));
                put_varint(out, origin.log_id);
                put_varint(out, origin.created.0);
                out.push(origin.kind as u8);
                put_varint(out, origin.store_id);
            }
            Self::SetSpaceHeader { size_pages, used_pages, free_head, free_pages } => {
                out.push(SET_SPACE_HEADER);
                for number in [size_pages, used_pages, free_head, free_pages] {
                    put_varint(out, u64::from(number));
                }
            }
            Self::InitFree { next } => {
                out.push(INIT_FREE);
                put_varint(out, u64::from(next.0));
            }
            Self::InitNode { level, index, right, stamp, lower, upper, cells } => {
                out.extend_from_slice(&[INIT_NODE, level]);
                put_varint(out, index.0);
                put_node_frame(out, right, stamp, lower, upper, cells);
            }
            Self::Reshape { keep_from, keep_to, right, stamp, lower, upper, cells } => {
                out.push(RESHAPE);
                put_varint(out, u64::from(keep_from));
                put_varint(out, u64::from(keep_to));
                put_node_frame(out, right, stamp, lower, upper, cells);
            }
            Self::SetBytes { offset, bytes } => {
                out.push(SET_BYTES);
                put_varint(out, u64::from(offset));
                put_bytes(out, bytes);
            }
            _ => self.encode_cell_change(out),
        }
    }

    fn encode_cell_change(&self, out: &mut Vec<u8>) {
        match *self {
            Self::InsertCell { slot, stamp, suffix, value } => {
                put_cell_frame(out, INSERT_CELL, slot, stamp);
                put_bytes(out, suffix);
                put_bytes(out, value);
            }
            Self::ReplaceCell { slot, stamp, value } => {
                put_cell_frame(out, REPLACE_CELL, slot, stamp);
                put_bytes(out, value);
            }
            Self::PatchCell { slot, stamp, offset, bytes } => {
                put_cell_frame(out, PATCH_CELL, slot, stamp);
                put_varint(out, u64::from(offset));
                put_bytes(out, bytes);
            }
            Self::RemoveCell { slot, stamp } => put_cell_frame(out, REMOVE_CELL, slot, stamp),
            Self::InsertCells { stamp, cells } => {
                out.push(INSERT_CELLS);
                stamp.put(out);
                cells.put(out);
            }
            Self::SetStamp { stamp } => {
                out.push(SET_STAMP);
                stamp.put(out);
            }
            _ => unreachable!("not a change of cells"),
        }
    }

    /// Reads an operation that fills `bytes` exactly. Whether it fits its page shows when it is applied.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, CorruptPage> {
        let mut reader = Reader::new(bytes);
        let kind = reader.byte()?;
        let operation = match kind {
            INSERT_CELL | REPLACE_CELL | PATCH_CELL | REMOVE_CELL | INSERT_CELLS | SET_STAMP => {
                Self::decode_cell_change(kind, &mut reader)?
            }
            _ => Self::decode_page_change(kind, &mut reader)?,
        };
        if !reader.is_empty() {
            return Err(CorruptPage::new("operation is followed by other bytes"));
        }
        Ok(operation)
    }

    fn decode_page_change(kind: u8, reader: &mut Reader<'a>) -> Result<Self, CorruptPage> {
        Ok(match kind {
            INIT_SPACE_HEADER => Self::InitSpaceHeader {
                size_pages: reader.varint_u32()?,
                origin: SpaceOrigin {
                    log_id: reader.varint()?,
                    created: Lsn(reader.varint()?),
                    kind: SpaceKind::from_byte(reader.byte()?)?,
                    store_id: reader.varint()?,
                },
            },
            SET_SPACE_HEADER => Self::SetSpaceHeader {
                size_pages: reader.varint_u32()?,
                used_pages: reader.varint_u32()?,
                free_head: reader.varint_u32()?,
                free_pages: reader.varint_u32()?,
            },
            INIT_FREE => Self::InitFree { next: PageNumber(reader.varint_u32()?) },
            INIT_NODE => {
                let level = reader.byte()?;
                let index = IndexId(reader.varint()?);
                let (right, stamp, lower, upper, cells) = read_node_frame(reader)?;
                Self::InitNode { level, index, right, stamp, lower, upper, cells }
            }
            RESHAPE => {
                let (keep_from, keep_to) = (reader.varint_u16()?, reader.varint_u16()?);
                let (right, stamp, lower, upper, cells) = read_node_frame(reader)?;
                Self::Reshape { keep_from, keep_to, right, stamp, lower, upper, cells }
            }
            SET_BYTES => Self::SetBytes { offset: reader.varint_u16()?, bytes: reader.bytes()? },
            _ => return Err(CorruptPage::new("unknown operation")),
        })
    }

    fn decode_cell_change(kind: u8, reader: &mut Reader<'a>) -> Result<Self, CorruptPage> {
        if kind == INSERT_CELLS {
            return Ok(Self::InsertCells { stamp: Stamp::read(reader)?, cells: CellRun::read(reader)? });
        }
        if kind == SET_STAMP {
            return Ok(Self::SetStamp { stamp: Stamp::read(reader)? });
        }
        let slot = reader.varint_u16()?;
        let stamp = Stamp::read(reader)?;
        Ok(match kind {
            INSERT_CELL => Self::InsertCell { slot, stamp, suffix: reader.bytes()?, value: reader.bytes()? },
            REPLACE_CELL => Self::ReplaceCell { slot, stamp, value: reader.bytes()? },
            PATCH_CELL => {
                Self::PatchCell { slot, stamp, offset: reader.varint_u16()?, bytes: reader.bytes()? }
            }
            _ => Self::RemoveCell { slot, stamp },
        })
    }
}

fn put_cell_frame(out: &mut Vec<u8>, kind: u8, slot: u16, stamp: Stamp) {
    out.push(kind);
    put_varint(out, u64::from(slot));
    stamp.put(out);
}

fn put_node_frame(
    out: &mut Vec<u8>,
    right: PageNumber,
    stamp: Stamp,
    lower: &[u8],
    upper: Fence<'_>,
    cells: CellRun<'_>,
) {
    put_varint(out, u64::from(right.0));
    stamp.put(out);
    put_bytes(out, lower);
    match upper {
        Fence::Infinite => put_varint(out, 0),
        Fence::Key(key) => {
            put_varint(out, key.len() as u64 + 1);
            out.extend_from_slice(key);
        }
    }
    cells.put(out);
}

type NodeFrame<'a> = (PageNumber, Stamp, &'a [u8], Fence<'a>, CellRun<'a>);

fn read_node_frame<'a>(reader: &mut Reader<'a>) -> Result<NodeFrame<'a>, CorruptPage> {
    let right = PageNumber(reader.varint_u32()?);
    let stamp = Stamp::read(reader)?;
    let lower = reader.bytes()?;
    let upper = match reader.varint()? {
        0 => Fence::Infinite,
        length => Fence::Key(reader.take(usize::try_from(length - 1).unwrap_or(usize::MAX))?),
    };
    Ok((right, stamp, lower, upper, CellRun::read(reader)?))
}
