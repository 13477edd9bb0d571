//! Overflow pages: the pieces of a long value, chained front to back.

use stdx::ids::{IndexId, PageNumber};

use crate::apply::start_body;
use crate::bytes::{Page, page_of, set_u16, set_u32, set_u64, u16_at, u32_at, u64_at};
use crate::header::{KIND_OFFSET, PageKind};
use crate::{BODY_OFFSET, CorruptPage, OVERFLOW_CAPACITY_BYTES};

const NEXT_OFFSET: usize = BODY_OFFSET;
const LENGTH_OFFSET: usize = BODY_OFFSET + 4;
const INDEX_OFFSET: usize = BODY_OFFSET + 8;
pub(crate) const PAYLOAD_OFFSET: usize = BODY_OFFSET + 16;

/// An overflow page, read in place.
#[derive(Clone, Copy)]
pub struct OverflowRef<'a> {
    page: &'a Page,
}

impl<'a> OverflowRef<'a> {
    /// A view of a page that must be an overflow page.
    pub fn new(page: &'a [u8]) -> Result<Self, CorruptPage> {
        let page = page_of(page)?;
        if page[KIND_OFFSET] != PageKind::Overflow as u8 {
            return Err(CorruptPage::new("page is not an overflow page"));
        }
        if usize::from(u16_at(page, LENGTH_OFFSET)) > OVERFLOW_CAPACITY_BYTES {
            return Err(CorruptPage::new("overflow page says it holds more than a page"));
        }
        Ok(Self { page })
    }

    /// The next page of the value.
    pub fn next(&self) -> Option<PageNumber> {
        match u32_at(self.page, NEXT_OFFSET) {
            0 => None,
            number => Some(PageNumber(number)),
        }
    }

    /// The index whose entry the value belongs to.
    pub fn index(&self) -> IndexId {
        IndexId(u64_at(self.page, INDEX_OFFSET))
    }

    /// The piece of the value.
    pub fn bytes(&self) -> &'a [u8] {
        &self.page[PAYLOAD_OFFSET..PAYLOAD_OFFSET + usize::from(u16_at(self.page, LENGTH_OFFSET))]
    }
}

pub(crate) fn write(
    page: &mut Page,
    index: IndexId,
    next: PageNumber,
    bytes: &[u8],
) -> Result<(), CorruptPage> {
    if bytes.len() > OVERFLOW_CAPACITY_BYTES {
        return Err(CorruptPage::new("piece does not fit an overflow page"));
    }
    start_body(page, PageKind::Overflow);
    set_u32(page, NEXT_OFFSET, next.0);
    set_u16(page, LENGTH_OFFSET, bytes.len() as u16);
    set_u64(page, INDEX_OFFSET, index.0);
    page[PAYLOAD_OFFSET..PAYLOAD_OFFSET + bytes.len()].copy_from_slice(bytes);
    Ok(())
}
