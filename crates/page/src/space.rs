//! Page 0 of a file, the space header, and pages on its free list.

use stdx::ids::{Lsn, PageNumber};

use crate::bytes::{Page, page_of, set_u32, set_u64, u32_at, u64_at};
use crate::header::{KIND_OFFSET, PageKind};
use crate::{BODY_OFFSET, CorruptPage};

const FORMAT_OFFSET: usize = BODY_OFFSET;
const SIZE_OFFSET: usize = BODY_OFFSET + 4;
const USED_OFFSET: usize = BODY_OFFSET + 8;
const FREE_HEAD_OFFSET: usize = BODY_OFFSET + 12;
const FREE_PAGES_OFFSET: usize = BODY_OFFSET + 16;
const INCOMPATIBLE_OFFSET: usize = 44;
const READ_COMPATIBLE_OFFSET: usize = 52;
const LOG_ID_OFFSET: usize = 68;
const CREATED_OFFSET: usize = 76;
const SPACE_KIND_OFFSET: usize = 84;
const STORE_ID_OFFSET: usize = 88;
const FREE_NEXT_OFFSET: usize = BODY_OFFSET;

/// Version of all page formats of a file.
const FORMAT_VERSION: u32 = 2;

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SpaceKind {
    /// A table's.
    Table = 0,
    /// Dictionary and undo.
    System = 1,
    /// Tables of one session, which go with it.
    Temporary = 2,
}

impl SpaceKind {
    pub(crate) fn from_byte(byte: u8) -> Result<SpaceKind, CorruptPage> {
        match byte {
            0 => Ok(SpaceKind::Table),
            1 => Ok(SpaceKind::System),
            2 => Ok(SpaceKind::Temporary),
            _ => Err(CorruptPage::new("unknown kind of file")),
        }
    }
}

/// What never changes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceOrigin {
    /// The log that has its changes.
    pub log_id: u64,
    /// The end of that log when the file was made.
    pub created: Lsn,
    /// What it is for.
    pub kind: SpaceKind,
    /// A random number that the dictionary has too: a file of another history that has the same name and number is told apart by it. 0
    /// in files from before there was one.
    pub store_id: u64,
}

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
        // There are none yet.
        if u64_at(page, INCOMPATIBLE_OFFSET) | u64_at(page, READ_COMPATIBLE_OFFSET) != 0 {
            return Err(CorruptPage::new("file has features that this server does not know"));
        }
        SpaceKind::from_byte(page[SPACE_KIND_OFFSET])?;
        Ok(Self { page })
    }

    /// What never changes of the file.
    pub fn origin(&self) -> Result<SpaceOrigin, CorruptPage> {
        Ok(SpaceOrigin {
            log_id: u64_at(self.page, LOG_ID_OFFSET),
            created: Lsn(u64_at(self.page, CREATED_OFFSET)),
            kind: SpaceKind::from_byte(self.page[SPACE_KIND_OFFSET])?,
            store_id: u64_at(self.page, STORE_ID_OFFSET),
        })
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

pub(crate) fn write_origin(page: &mut Page, origin: SpaceOrigin) {
    set_u32(page, FORMAT_OFFSET, FORMAT_VERSION);
    set_u64(page, LOG_ID_OFFSET, origin.log_id);
    set_u64(page, CREATED_OFFSET, origin.created.0);
    page[SPACE_KIND_OFFSET] = origin.kind as u8;
    set_u64(page, STORE_ID_OFFSET, origin.store_id);
}

pub(crate) fn write_sizes(
    page: &mut Page,
    size_pages: u32,
    used_pages: u32,
    free_head: u32,
    free_pages: u32,
) {
    set_u32(page, SIZE_OFFSET, size_pages);
    set_u32(page, USED_OFFSET, used_pages);
    set_u32(page, FREE_HEAD_OFFSET, free_head);
    set_u32(page, FREE_PAGES_OFFSET, free_pages);
}

pub(crate) fn write_free(page: &mut Page, next: PageNumber) {
    set_u32(page, FREE_NEXT_OFFSET, next.0);
}
