//! The one door through which bytes of pages go to disk and come back: whoever writes pages, their doublewrite copies or a
//! new file seals them, whoever reads any opens them. What is to be encrypted or compressed will be here; nothing is yet.

use page::PAGE_BYTES;
use stdx::checksum::crc32c;
use stdx::ids::{Lsn, PageId};

use crate::StorageError;

/// Makes a page of zeroes but for its identity and LSN.
pub(crate) fn zero_page(bytes: &mut [u8], page: PageId, lsn: Lsn) {
    bytes.fill(0);
    page::stamp_identity(bytes, page);
    page::set_lsn(bytes, lsn);
}

/// Makes pages ready to be written: as they are, with their checksums.
pub(crate) fn seal(pages: &mut [u8]) {
    for page in pages.chunks_exact_mut(PAGE_BYTES) {
        let checksum = crc32c(&page[4..]);
        page::set_checksum(page, checksum);
    }
}

/// Checks that bytes from disk are the whole page they should be, and are stored in a way that is known.
pub(crate) fn open(bytes: &[u8], page: PageId) -> Result<(), StorageError> {
    let corrupt = |reason| Err(StorageError::Corrupt { page, reason });
    if page::stored_checksum(bytes) != crc32c(&bytes[4..]) {
        return corrupt("checksum does not match");
    }
    if page::page_id(bytes) != page {
        return corrupt("another page was written in its place");
    }
    if !page::is_plain(bytes) {
        return corrupt("it is encrypted or compressed, which this server does not know");
    }
    Ok(())
}
