//! The header that all pages share (bytes 0..24) and the kinds of pages.
//! The checksum and the LSN are the buffer pool's to set; nothing here computes them.

use stdx::ids::{Lsn, PageId, PageNumber, SpaceId};

use crate::bytes::{Page, set_u32, set_u64, u32_at, u64_at};
use crate::{CorruptPage, PAGE_BYTES};

pub(crate) const CHECKSUM_OFFSET: usize = 0;
pub(crate) const SPACE_OFFSET: usize = 4;
pub(crate) const NUMBER_OFFSET: usize = 8;
pub(crate) const LSN_OFFSET: usize = 12;
pub(crate) const KIND_OFFSET: usize = 20;
/// How the body is stored: 1 encrypted, 2 compressed. In memory it is neither.
const TRANSFORM_OFFSET: usize = 21;

/// What the body of a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PageKind {
    /// Never written: all body bytes are zero.
    Zero = 0,
    /// Page 0 of a file.
    SpaceHeader = 1,
    /// On the free list of its space.
    Free = 2,
    /// A tree node whose cells name child pages.
    Inner = 3,
    /// A tree node whose cells hold entries.
    Leaf = 4,
}

impl PageKind {
    pub(crate) fn from_byte(byte: u8) -> Result<Self, CorruptPage> {
        Ok(match byte {
            0 => Self::Zero,
            1 => Self::SpaceHeader,
            2 => Self::Free,
            3 => Self::Inner,
            4 => Self::Leaf,
            _ => return Err(CorruptPage::new("unknown page kind")),
        })
    }
}

/// The kind of a page.
pub fn kind(page: &[u8]) -> Result<PageKind, CorruptPage> {
    let byte = page.get(KIND_OFFSET).ok_or(CorruptPage::new("page has the wrong size"))?;
    PageKind::from_byte(*byte)
}

fn fixed(page: &[u8]) -> &Page {
    match page.try_into() {
        Ok(page) => page,
        Err(_) => panic!("a page is {PAGE_BYTES} bytes, not {}", page.len()),
    }
}

fn fixed_mut(page: &mut [u8]) -> &mut Page {
    let length = page.len();
    match page.try_into() {
        Ok(page) => page,
        Err(_) => panic!("a page is {PAGE_BYTES} bytes, not {length}"),
    }
}

/// The space that the page says it belongs to.
pub fn space(page: &[u8]) -> SpaceId {
    SpaceId(u32_at(fixed(page), SPACE_OFFSET))
}

/// The page number that the page says it has.
pub fn number(page: &[u8]) -> PageNumber {
    PageNumber(u32_at(fixed(page), NUMBER_OFFSET))
}

/// The address that the page says it has.
pub fn page_id(page: &[u8]) -> PageId {
    PageId { space: space(page), number: number(page) }
}

/// End of the last redo group that changed the page.
pub fn lsn(page: &[u8]) -> Lsn {
    Lsn(u64_at(fixed(page), LSN_OFFSET))
}

/// Stamps the end of the redo group that changed the page.
pub fn set_lsn(page: &mut [u8], lsn: Lsn) {
    set_u64(fixed_mut(page), LSN_OFFSET, lsn.0);
}

/// Writes the address of a page that has just been allocated.
pub fn stamp_identity(page: &mut [u8], id: PageId) {
    let page = fixed_mut(page);
    set_u32(page, SPACE_OFFSET, id.space.0);
    set_u32(page, NUMBER_OFFSET, id.number.0);
}

/// Whether the body is stored as it is in memory, neither encrypted nor compressed.
pub fn is_plain(page: &[u8]) -> bool {
    fixed(page)[TRANSFORM_OFFSET..crate::BODY_OFFSET] == [0; 3]
}

/// The CRC-32C of bytes 4.. as it was stored when the page was written.
pub fn stored_checksum(page: &[u8]) -> u32 {
    u32_at(fixed(page), CHECKSUM_OFFSET)
}

/// Stores the CRC-32C of bytes 4.. before the page is written.
pub fn set_checksum(page: &mut [u8], checksum: u32) {
    set_u32(fixed_mut(page), CHECKSUM_OFFSET, checksum);
}
