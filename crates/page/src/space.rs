//! Page 0 of a file, the space header, and pages on its free list.

use stdx::ids::PageNumber;

use crate::bytes::{Page, page_of, set_u32, u32_at};
use crate::header::{KIND_OFFSET, PageKind};
use crate::{BODY_OFFSET, CorruptPage};

const FORMAT_OFFSET: usize = BODY_OFFSET;
const SIZE_OFFSET: usize = BODY_OFFSET + 4;
const USED_OFFSET: usize = BODY_OFFSET + 8;
const FREE_HEAD_OFFSET: usize = BODY_OFFSET + 12;
const FREE_PAGES_OFFSET: usize = BODY_OFFSET + 16;
const FREE_NEXT_OFFSET: usize = BODY_OFFSET;

/// Version of all page formats of a file.
const FORMAT_VERSION: u32 = 1;

/// The space header, read in place.
#[derive(Clone, Copy)]
pub struct SpaceHeaderRef<'a> {
    page: &'a Page,
}

impl<'a> SpaceHeaderRef<'a> {
    /// A view of a page that must be a space header of a known format.
    pub fn new(page: &'a [u8]) -> Result<Self, CorruptPage> {
        let page = page_of(page)?;
        if page[KIND_OFFSET] != PageKind::SpaceHeader as u8 {
            return Err(CorruptPage::new("page is not a space header"));
        }
        if u32_at(page, FORMAT_OFFSET) != FORMAT_VERSION {
            return Err(CorruptPage::new("file has an unknown format version"));
        }
        Ok(Self { page })
    }

    /// Pages that the file has.
    pub fn size_pages(&self) -> u32 {
        u32_at(self.page, SIZE_OFFSET)
    }

    /// Pages handed out so far, counted from 0; those behind were never used.
    pub fn used_pages(&self) -> u32 {
        u32_at(self.page, USED_OFFSET)
    }

    /// First page of the free list.
    pub fn free_head(&self) -> Option<PageNumber> {
        some_page(u32_at(self.page, FREE_HEAD_OFFSET))
    }

    /// Pages on the free list.
    pub fn free_pages(&self) -> u32 {
        u32_at(self.page, FREE_PAGES_OFFSET)
    }

    /// The free page behind `page` on the free list; `page` must be free.
    pub fn next_free(page: &[u8]) -> Result<Option<PageNumber>, CorruptPage> {
        let page = page_of(page)?;
        if page[KIND_OFFSET] != PageKind::Free as u8 {
            return Err(CorruptPage::new("page of the free list is in use"));
        }
        Ok(some_page(u32_at(page, FREE_NEXT_OFFSET)))
    }
}

fn some_page(number: u32) -> Option<PageNumber> {
    (number != 0).then_some(PageNumber(number))
}

pub(crate) fn write(page: &mut Page, size_pages: u32, used_pages: u32, free_head: u32, free_pages: u32) {
    set_u32(page, FORMAT_OFFSET, FORMAT_VERSION);
    set_u32(page, SIZE_OFFSET, size_pages);
    set_u32(page, USED_OFFSET, used_pages);
    set_u32(page, FREE_HEAD_OFFSET, free_head);
    set_u32(page, FREE_PAGES_OFFSET, free_pages);
}

pub(crate) fn write_free(page: &mut Page, next: PageNumber) {
    set_u32(page, FREE_NEXT_OFFSET, next.0);
}
