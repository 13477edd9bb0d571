//! [`Value`]: an entry's value as a reader sees it under the leaf's latch, whole or in pieces.

use buffer::{BufferPool, StorageError};
use page::{CellValue, OVERFLOW_TAIL_BYTES, OverflowRef};
use stdx::ids::{PageId, PageNumber};

/// A value under its leaf's latch.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// The whole value.
    Whole(&'a [u8]),
    /// A long value: its start is here, the rest in overflow pages.
    Long(LongValue<'a>),
}

/// A value that goes on in overflow pages. They stay as they are while the leaf is latched.
#[derive(Clone, Copy)]
pub struct LongValue<'a> {
    pool: &'a BufferPool,
    leaf: PageId,
    pub(crate) head: &'a [u8],
    total_bytes: u64,
    pub(crate) first: PageNumber,
}

impl<'a> Value<'a> {
    #[inline]
    pub(crate) fn of_cell(
        pool: &'a BufferPool,
        leaf: PageId,
        cell: CellValue<'a>,
    ) -> Result<Self, StorageError> {
        if !cell.overflow {
            return Ok(Value::Whole(cell.bytes));
        }
        LongValue::parse(pool, leaf, cell.bytes)
            .map(Value::Long)
            .ok_or(StorageError::Corrupt { page: leaf, reason: "cell of a long value is cut off" })
    }

    /// The value's start: all of a whole value, the first 256 bytes of a long one.
    #[inline]
    pub fn head(&self) -> &'a [u8] {
        match self {
            Value::Whole(bytes) => bytes,
            Value::Long(long) => long.head,
        }
    }

    /// Bytes of the whole value.
    pub fn total_bytes(&self) -> u64 {
        match self {
            Value::Whole(bytes) => bytes.len() as u64,
            Value::Long(long) => long.total_bytes,
        }
    }

    /// Appends the whole value.
    pub fn load_into(&self, out: &mut Vec<u8>) -> Result<(), StorageError> {
        match self {
            Value::Whole(bytes) => {
                out.extend_from_slice(bytes);
                Ok(())
            }
            Value::Long(long) => long.load_into(out),
        }
    }
}

impl<'a> LongValue<'a> {
    fn parse(pool: &'a BufferPool, leaf: PageId, bytes: &'a [u8]) -> Option<Self> {
        let (head, tail) = bytes.split_at_checked(bytes.len().checked_sub(OVERFLOW_TAIL_BYTES)?)?;
        let (total, first) = tail.split_first_chunk::<8>()?;
        let first = PageNumber(u32::from_le_bytes(*first.first_chunk()?));
        Some(Self { pool, leaf, head, total_bytes: u64::from_le_bytes(*total), first })
    }

    fn load_into(&self, out: &mut Vec<u8>) -> Result<(), StorageError> {
        let start = out.len();
        out.extend_from_slice(self.head);
        let mut next = Some(self.first);
        while let Some(number) = next {
            let id = PageId { space: self.leaf.space, number };
            let page = self.pool.shared(id)?;
            let piece = OverflowRef::new(&page).map_err(|error| StorageError::corrupt(id, error))?;
            out.extend_from_slice(piece.bytes());
            // A ring of pages would exceed the total sooner or later.
            if (out.len() - start) as u64 > self.total_bytes || piece.bytes().is_empty() {
                break;
            }
            next = piece.next();
        }
        if (out.len() - start) as u64 == self.total_bytes && next.is_none() {
            return Ok(());
        }
        Err(StorageError::Corrupt { page: self.leaf, reason: "long value does not have its length" })
    }
}
