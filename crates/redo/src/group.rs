//! A group: the unit that recovery replays wholly or not at all. Header layout and validity check.

use stdx::checksum::{crc32c, crc32c_append};
use stdx::ids::Lsn;

/// Bytes that a group's header takes: checksum u32, payload bytes u32, epoch u32.
pub const GROUP_HEADER_BYTES: usize = 12;
/// Largest payload of a group, in bytes.
pub const GROUP_BYTES_MAX: usize = 64 << 20;

/// Where a group lies in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRange {
    /// Its first byte.
    pub start: Lsn,
    /// The byte behind its last.
    pub end: Lsn,
}

/// Fills in the header of `group` but for what depends on its place, and gives the checksum so far.
pub(crate) fn prepare(group: &mut [u8], epoch: u32) -> u32 {
    let payload_bytes = group.len() - GROUP_HEADER_BYTES;
    assert!(payload_bytes > 0 && payload_bytes <= GROUP_BYTES_MAX, "group of {payload_bytes} bytes");
    group[4..8].copy_from_slice(&(payload_bytes as u32).to_le_bytes());
    group[8..12].copy_from_slice(&epoch.to_le_bytes());
    crc32c(&group[4..])
}

/// The checksum of a group that starts at `start`: stale bytes of a recycled file never carry it.
#[inline]
pub(crate) fn place(checksum: u32, start: Lsn) -> u32 {
    crc32c_append(checksum, &start.0.to_le_bytes())
}

/// A group's header as read from disk: nothing is known about it yet.
#[derive(Clone, Copy)]
pub(crate) struct GroupHeader {
    pub checksum: u32,
    pub payload_bytes: u32,
    pub epoch: u32,
}

impl GroupHeader {
    pub fn read(bytes: &[u8; GROUP_HEADER_BYTES]) -> GroupHeader {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        GroupHeader { checksum: number(0), payload_bytes: number(4), epoch: number(8) }
    }

    /// Whether header and payload belong together and to this place.
    pub fn matches(&self, payload: &[u8], start: Lsn) -> bool {
        let mut fields = [0; 8];
        fields[..4].copy_from_slice(&self.payload_bytes.to_le_bytes());
        fields[4..].copy_from_slice(&self.epoch.to_le_bytes());
        place(crc32c_append(crc32c(&fields), payload), start) == self.checksum
    }
}
