//! Long values: chains of overflow pages, made and freed in the mini-transaction that changes the entry, so that
//! a crash leaves neither a value without its pages nor pages without their value.

use buffer::{MiniTransaction, PageSlot, StorageError};
use page::{
    CELL_BYTES_MAX, CELL_OVERHEAD_BYTES, CellValue, OVERFLOW_CAPACITY_BYTES, OVERFLOW_PREFIX_BYTES,
    OVERFLOW_TAIL_BYTES, OverflowRef, PageOperation,
};
use stdx::ids::PageNumber;

use crate::tree::Tree;
use crate::value::Value;

/// Most overflow pages of one value: what one mini-transaction may latch. 32,000 pages are about 500 MiB.
const CHAIN_PAGES_MAX: usize = 32_000;

/// Whether a value of that size goes to overflow pages.
pub(crate) fn is_long(key_bytes: usize, value_bytes: usize) -> bool {
    CELL_OVERHEAD_BYTES + key_bytes + value_bytes > CELL_BYTES_MAX
}

/// Bytes that a value takes in its cell.
pub(crate) fn stored_bytes(key_bytes: usize, value_bytes: usize) -> usize {
    if is_long(key_bytes, value_bytes) { OVERFLOW_PREFIX_BYTES + OVERFLOW_TAIL_BYTES } else { value_bytes }
}

/// A value about to be stored: its pages are allocated, nothing is written yet.
pub(crate) struct StoredValue<'v> {
    value: &'v [u8],
    /// The bytes of the cell when the value is long.
    long: Vec<u8>,
    pages: Vec<PageSlot>,
}

impl<'v> StoredValue<'v> {
    /// Allocates what the value needs. Everything that can fail happens here.
    pub(crate) fn prepare(
        tree: &Tree,
        mini: &mut MiniTransaction<'_>,
        key: &[u8],
        value: &'v [u8],
    ) -> Result<Self, StorageError> {
        if !is_long(key.len(), value.len()) {
            return Ok(Self { value, long: Vec::new(), pages: Vec::new() });
        }
        let rest = value.len().saturating_sub(OVERFLOW_PREFIX_BYTES);
        let count = rest.div_ceil(OVERFLOW_CAPACITY_BYTES);
        if count > CHAIN_PAGES_MAX {
            return Err(StorageError::PoolExhausted);
        }
        let mut pages = Vec::with_capacity(count);
        for _ in 0..count {
            pages.push(mini.allocate(tree.id.space)?);
        }
        let first = pages.first().map_or(PageNumber(0), |slot| mini.page_id(*slot).number);
        let mut long = Vec::with_capacity(OVERFLOW_PREFIX_BYTES + OVERFLOW_TAIL_BYTES);
        long.extend_from_slice(&value[..OVERFLOW_PREFIX_BYTES]);
        long.extend_from_slice(&(value.len() as u64).to_le_bytes());
        long.extend_from_slice(&first.0.to_le_bytes());
        Ok(Self { value, long, pages })
    }

    /// Writes the overflow pages.
    pub(crate) fn fill(&self, tree: &Tree, mini: &mut MiniTransaction<'_>) {
        let pieces =
            self.value.get(OVERFLOW_PREFIX_BYTES..).unwrap_or_default().chunks(OVERFLOW_CAPACITY_BYTES);
        for (at, (slot, bytes)) in self.pages.iter().zip(pieces).enumerate() {
            let next = self.pages.get(at + 1).map_or(PageNumber(0), |slot| mini.page_id(*slot).number);
            mini.apply(*slot, &PageOperation::InitOverflow { index: tree.id.index, next, bytes });
        }
    }

    /// What the cell holds.
    pub(crate) fn cell(&self) -> CellValue<'_> {
        if self.long.is_empty() {
            CellValue::inline(self.value)
        } else {
            CellValue { bytes: &self.long, overflow: true }
        }
    }
}

/// Where the overflow pages of a value start, and how many there are.
#[derive(Clone, Copy)]
pub(crate) struct ChainStart {
    first: PageNumber,
    pages: u64,
}

impl ChainStart {
    /// The chain of a value; `None` for one that is stored whole.
    pub(crate) fn of(value: &Value<'_>) -> Option<Self> {
        let Value::Long(long) = value else { return None };
        let rest = value.total_bytes().saturating_sub(long.head.len() as u64);
        Some(Self { first: long.first, pages: rest.div_ceil(OVERFLOW_CAPACITY_BYTES as u64) })
    }
}

/// The latched overflow pages of a value that is about to go.
pub(crate) struct PreparedChain {
    pages: Vec<PageSlot>,
}

impl PreparedChain {
    /// Gives the pages back to the space.
    pub(crate) fn free(self, mini: &mut MiniTransaction<'_>) -> Result<(), StorageError> {
        self.pages.into_iter().try_for_each(|slot| mini.free(slot))
    }
}

/// Latches the chain of a value.
pub(crate) fn chain_of(
    tree: &Tree,
    mini: &mut MiniTransaction<'_>,
    value: Option<ChainStart>,
) -> Result<PreparedChain, StorageError> {
    let mut pages = Vec::new();
    let Some(ChainStart { first, pages: expected }) = value else { return Ok(PreparedChain { pages }) };
    let mut next = Some(first);
    while let Some(number) = next {
        let id = tree.page_id(number);
        let slot = mini.latch(id)?;
        let page = OverflowRef::new(mini.bytes(slot)).map_err(|error| StorageError::corrupt(id, error))?;
        if page.index() != tree.id.index || pages.len() as u64 >= expected {
            return Err(StorageError::Corrupt { page: id, reason: "overflow page is not of this value" });
        }
        next = page.next();
        pages.push(slot);
    }
    Ok(PreparedChain { pages })
}
