//! The value of an index entry: writer id, flags, row. Main type: [`Entry`].
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 6 | id of the transaction that wrote this state, little-endian |
//! | 6 | 1 | flags: bit 0 = deleted, others 0 |
//! | 7 | - | row in the layout of the table (clustered) or of the index (secondary) |

use stdx::ids::TransactionId;

/// Bytes before the row.
pub const HEADER_BYTES: usize = txn::HEAD_BYTES;
const DELETED: u8 = 1;

/// An entry's value, taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) writer: TransactionId,
    pub(crate) deleted: bool,
    pub(crate) row: &'a [u8],
}

impl<'a> Entry<'a> {
    /// None if the bytes are too short.
    #[inline]
    pub(crate) fn parse(value: &'a [u8]) -> Option<Entry<'a>> {
        let (header, row) = value.split_first_chunk::<HEADER_BYTES>()?;
        let mut writer = [0; 8];
        writer[..6].copy_from_slice(&header[..6]);
        Some(Entry {
            writer: TransactionId(u64::from_le_bytes(writer)),
            deleted: header[6] & DELETED != 0,
            row,
        })
    }
}

/// The header of an entry in words, for whoever looks at a page. None if the value is too short for one.
pub fn entry_text(value: &[u8]) -> Option<String> {
    let entry = Entry::parse(value)?;
    Some(format!("writer {}{} ", entry.writer, if entry.deleted { ", deleted" } else { "" }))
}

/// Tells the tree from the first bytes of a value whether the entry is live.
pub(crate) fn is_live(value: &[u8]) -> bool {
    value.get(HEADER_BYTES - 1).is_some_and(|flags| flags & DELETED == 0)
}

/// The header of an entry.
pub(crate) fn header(writer: TransactionId, deleted: bool) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..6].copy_from_slice(&writer.0.to_le_bytes()[..6]);
    header[6] = if deleted { DELETED } else { 0 };
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_round_trip() {
        let mut value = header(TransactionId(0x0102_0304_0506), true).to_vec();
        value.extend_from_slice(b"row");
        let entry = Entry::parse(&value).unwrap();
        assert_eq!((entry.writer.0, entry.deleted, entry.row), (0x0102_0304_0506, true, &b"row"[..]));
        assert!(Entry::parse(&value[..6]).is_none());
    }
}
