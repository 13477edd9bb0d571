//! [`Doublewrite`]: pages go to one small file, durably, before they go to their places, so that a write torn by a power
//! cut can be repaired.
//!
//! The file has a header that names the pages of the present batch, and room for them. A batch overwrites the one before
//! only after all pages of that one are durable in their places. A copy that the header does not name, with the LSN that it
//! has, is left over from an earlier batch: the page may have been changed and written since, without a copy even.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use env::{DiskError, DiskErrorKind, Environment, File, OpenMode};
use metrics::Counter;
use page::PAGE_BYTES;
use stdx::aligned::AlignedBuffer;
use stdx::checksum::crc32c;
use stdx::ids::{Lsn, PageId, PageNumber, SpaceId};

use crate::page_transform;

/// Most pages of a batch.
pub(crate) const BATCH_PAGES_MAX: usize = 128;
/// Bytes in front of the pages: the header, which is written together with them.
pub(crate) const HEADER_BYTES: usize = 4096;

const CHECKSUM_BYTES: usize = 4;
const COUNT_OFFSET: usize = 4;
const BATCH_OFFSET: usize = 8;
const LIST_OFFSET: usize = 16;
/// Space, page number and LSN of a page.
const ENTRY_BYTES: usize = 16;

const _: () = assert!(LIST_OFFSET + BATCH_PAGES_MAX * ENTRY_BYTES <= HEADER_BYTES);

pub(crate) struct Doublewrite {
    file: Arc<dyn File>,
    /// Batches written since the start.
    batches: u64,
}

fn file_path() -> PathBuf {
    Path::new(redo::LOG_DIRECTORY).join("doublewrite")
}

/// Names the pages behind the header.
fn write_header(batch: &mut [u8], number: u64) {
    let (header, pages) = batch.split_at_mut(HEADER_BYTES);
    header.fill(0);
    let count = pages.len() / PAGE_BYTES;
    header[COUNT_OFFSET..BATCH_OFFSET].copy_from_slice(&(count as u32).to_le_bytes());
    header[BATCH_OFFSET..LIST_OFFSET].copy_from_slice(&number.to_le_bytes());
    for (entry, copy) in
        header[LIST_OFFSET..].chunks_exact_mut(ENTRY_BYTES).zip(pages.chunks_exact(PAGE_BYTES))
    {
        let page = page::page_id(copy);
        entry[..4].copy_from_slice(&page.space.0.to_le_bytes());
        entry[4..8].copy_from_slice(&page.number.0.to_le_bytes());
        entry[8..].copy_from_slice(&page::lsn(copy).0.to_le_bytes());
    }
    let checksum = crc32c(&header[CHECKSUM_BYTES..]);
    header[..CHECKSUM_BYTES].copy_from_slice(&checksum.to_le_bytes());
}

/// The pages that a header names, in the order of their copies; none for what is no header.
fn read_header(header: &[u8]) -> Vec<(PageId, Lsn)> {
    let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
    let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
    let count = u32_at(COUNT_OFFSET) as usize;
    if u32_at(0) != crc32c(&header[CHECKSUM_BYTES..]) || count > BATCH_PAGES_MAX {
        return Vec::new();
    }
    let named = |number: usize| {
        let at = LIST_OFFSET + number * ENTRY_BYTES;
        let page = PageId { space: SpaceId(u32_at(at)), number: PageNumber(u32_at(at + 4)) };
        (page, Lsn(u64_at(at + 8)))
    };
    (0..count).map(named).collect()
}

impl Doublewrite {
    /// Opens the file; makes it, full of zeroes and durable, or longer, if it is missing or too small for batches of this
    /// many pages. Copies that are in it stay. Gives the pages that it has room for: fewer where the disk is full, but never
    /// fewer than `pages_min`.
    pub fn open(
        environment: &Environment,
        pages_min: usize,
        batch_pages: usize,
    ) -> Result<(Doublewrite, usize), DiskError> {
        let file = environment.disk.open(&file_path(), OpenMode::CreateIfMissing)?;
        let bytes = (HEADER_BYTES + batch_pages * PAGE_BYTES) as u64;
        let length = file.len()?;
        let mut pages = batch_pages;
        if length < bytes {
            let present = (length as usize).saturating_sub(HEADER_BYTES) / PAGE_BYTES;
            match grow(file.as_ref(), length, bytes) {
                Err(error) if error.kind == DiskErrorKind::NoSpace && present >= pages_min => pages = present,
                outcome => outcome?,
            }
        }
        environment.disk.sync_directory(Path::new(redo::LOG_DIRECTORY))?;
        Ok((Doublewrite { file, batches: 0 }, pages))
    }

    /// Makes copies of the pages in `batch` durable, which has [`HEADER_BYTES`] to be filled in in front of them.
    pub fn write(&mut self, batch: &mut [u8]) -> Result<(), DiskError> {
        assert!(batch.len() <= HEADER_BYTES + BATCH_PAGES_MAX * PAGE_BYTES);
        self.batches += 1;
        write_header(batch, self.batches);
        self.file.write_at(batch, 0)?;
        self.file.sync_data()?;
        Counter::DoublewriteWrites.increment();
        Counter::DoublewritePages.add((batch.len() / PAGE_BYTES) as u64);
        Ok(())
    }

    /// The whole copies of the last batch, for repairs; none if there is no file.
    pub fn copies(environment: &Environment) -> Result<BTreeMap<PageId, Vec<u8>>, DiskError> {
        let mut copies = BTreeMap::new();
        let Some(file) = open_existing(environment)? else { return Ok(copies) };
        let pages = file.len()?.saturating_sub(HEADER_BYTES as u64) / PAGE_BYTES as u64;
        let bytes_max = HEADER_BYTES + pages.min(BATCH_PAGES_MAX as u64) as usize * PAGE_BYTES;
        let mut bytes = AlignedBuffer::zeroed(bytes_max);
        match file.read_at(&mut bytes, 0) {
            // A start that was cut short has made no copy.
            Err(error) if error.kind == DiskErrorKind::UnexpectedEnd => return Ok(copies),
            outcome => outcome?,
        }
        let (header, pages) = bytes.split_at(HEADER_BYTES);
        for ((page, lsn), copy) in read_header(header).into_iter().zip(pages.chunks_exact(PAGE_BYTES)) {
            if page::lsn(copy) == lsn && page_transform::open(copy, page).is_ok() {
                copies.insert(page, copy.to_vec());
            }
        }
        Ok(copies)
    }

    /// Forgets all copies, durably: pages are written without any from here on.
    pub fn forget_copies(environment: &Environment) -> Result<(), DiskError> {
        let Some(file) = open_existing(environment)? else { return Ok(()) };
        if file.len()? >= HEADER_BYTES as u64 {
            file.write_at(&AlignedBuffer::zeroed(HEADER_BYTES), 0)?;
            file.sync_data()?;
        }
        Ok(())
    }
}

fn grow(file: &dyn File, from: u64, to: u64) -> Result<(), DiskError> {
    file.allocate(from, to - from)?;
    file.write_at(&AlignedBuffer::zeroed((to - from) as usize), from)?;
    file.sync_all()
}

fn open_existing(environment: &Environment) -> Result<Option<Arc<dyn File>>, DiskError> {
    match environment.disk.open(&file_path(), OpenMode::Existing) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind == DiskErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
