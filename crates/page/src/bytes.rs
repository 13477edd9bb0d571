//! Little-endian fields at fixed places of a page. Callers pass offsets that are constants or were
//! checked against [`PAGE_BYTES`](crate::PAGE_BYTES) before.

use crate::{CorruptPage, PAGE_BYTES};

/// A page by its fixed size, so that reads at constant offsets need no bounds check.
pub(crate) type Page = [u8; PAGE_BYTES];

pub(crate) fn page_of(bytes: &[u8]) -> Result<&Page, CorruptPage> {
    bytes.try_into().map_err(|_| CorruptPage::new("page has the wrong size"))
}

pub(crate) fn page_of_mut(bytes: &mut [u8]) -> Result<&mut Page, CorruptPage> {
    bytes.try_into().map_err(|_| CorruptPage::new("page has the wrong size"))
}

/// Without a copy of a slice, which is a call wherever it is not inlined.
#[inline]
fn field<const BYTES: usize>(page: &Page, offset: usize) -> [u8; BYTES] {
    *page[offset..].first_chunk().expect("fields end within their page")
}

#[inline]
pub(crate) fn u16_at(page: &Page, offset: usize) -> u16 {
    u16::from_le_bytes([page[offset], page[offset + 1]])
}

#[inline]
pub(crate) fn u32_at(page: &Page, offset: usize) -> u32 {
    u32::from_le_bytes(field(page, offset))
}

#[inline]
pub(crate) fn u64_at(page: &Page, offset: usize) -> u64 {
    u64::from_le_bytes(field(page, offset))
}

#[inline]
pub(crate) fn set_u16(page: &mut Page, offset: usize, value: u16) {
    page[offset..offset + 2].copy_from_slice(&value.to_le_bytes());
}

#[inline]
pub(crate) fn set_u32(page: &mut Page, offset: usize, value: u32) {
    page[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
}

#[inline]
pub(crate) fn set_u64(page: &mut Page, offset: usize, value: u64) {
    page[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
}
