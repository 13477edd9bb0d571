//! [`Doublewrite`]: pages go to one small file, durably, before they go to their places, so that a write torn by a power
//! cut can be repaired.
//!
//! The file has room for a batch of whole pages, which name themselves. A batch overwrites the one before only after
//! all pages of that one are durable in their places.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use env::{DiskError, DiskErrorKind, Environment, File, OpenMode};
use metrics::Counter;
use page::PAGE_BYTES;
use stdx::aligned::AlignedBuffer;
use stdx::ids::{Lsn, PageId};

use crate::pool::check_page;

/// Most pages of a batch.
pub(crate) const BATCH_PAGES_MAX: usize = 128;

pub(crate) struct Doublewrite {
    file: Arc<dyn File>,
}

fn file_path() -> PathBuf {
    Path::new(redo::LOG_DIRECTORY).join("doublewrite")
}

impl Doublewrite {
    /// Opens the file; makes it, full of zeroes and durable, if it is missing or too small for batches of this many pages.
    pub fn open(environment: &Environment, batch_pages: usize) -> Result<Doublewrite, DiskError> {
        let file = environment.disk.open(&file_path(), OpenMode::CreateIfMissing)?;
        let bytes = (batch_pages * PAGE_BYTES) as u64;
        if file.len()? < bytes {
            file.allocate(0, bytes)?;
            file.write_at(&AlignedBuffer::zeroed(batch_pages * PAGE_BYTES), 0)?;
            file.sync_all()?;
        }
        environment.disk.sync_directory(Path::new(redo::LOG_DIRECTORY))?;
        Ok(Doublewrite { file })
    }

    /// Makes copies of the pages durable.
    pub fn write(&self, pages: &[u8]) -> Result<(), DiskError> {
        assert!(pages.len() <= BATCH_PAGES_MAX * PAGE_BYTES);
        self.file.write_at(pages, 0)?;
        self.file.sync_data()?;
        Counter::DoublewriteWrites.increment();
        Counter::DoublewritePages.add((pages.len() / PAGE_BYTES) as u64);
        Ok(())
    }

    /// The newest whole copy of each page in the file, for repairs; none if there is no file.
    pub fn copies(environment: &Environment) -> Result<BTreeMap<PageId, Vec<u8>>, DiskError> {
        let mut copies: BTreeMap<PageId, Vec<u8>> = BTreeMap::new();
        let file = match environment.disk.open(&file_path(), OpenMode::Existing) {
            Ok(file) => file,
            Err(error) if error.kind == DiskErrorKind::NotFound => return Ok(copies),
            Err(error) => return Err(error),
        };
        let pages = (file.len()? / PAGE_BYTES as u64).min(BATCH_PAGES_MAX as u64);
        let mut bytes = AlignedBuffer::zeroed(pages as usize * PAGE_BYTES);
        file.read_at(&mut bytes, 0)?;
        for copy in bytes.chunks_exact(PAGE_BYTES) {
            let page = page::page_id(copy);
            let is_newest = copies.get(&page).is_none_or(|other| page::lsn(other) < page::lsn(copy));
            if page::lsn(copy) > Lsn(0) && is_newest && check_page(copy, page).is_ok() {
                copies.insert(page, copy.to_vec());
            }
        }
        Ok(copies)
    }
}
