//! A group: the unit that recovery replays wholly or not at all. Header and trailer layout, and the validity check.

use stdx::checksum::{crc32c, crc32c_append};
use stdx::ids::Lsn;

/// Bytes that a group's header takes: checksum u32, length u32, epoch u32, lag u32.
pub const GROUP_HEADER_BYTES: usize = 16;
/// Largest payload of a group, in bytes.
pub const GROUP_BYTES_MAX: usize = 2 << 20;
/// Largest trailer, in bytes, without its length.
pub const TRAILER_BYTES_MAX: usize = 96;

/// Set in the length of a group that has a trailer. The bit below is to be zero.
const HAS_TRAILER: u32 = 1 << 31;
/// Where a group lies in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRange {
    /// Its first byte.
    pub start: Lsn,
    /// The byte behind its last.
    pub end: Lsn,
}

/// A group whose place is not known yet, with the checksum of its payload.
#[derive(Clone, Copy)]
pub(crate) struct Prepared {
    length: u32,
    epoch: u32,
    payload_checksum: u32,
}

/// Does what can be done for `group` before its place is known.
#[inline]
pub(crate) fn prepare(group: &[u8], epoch: u32, has_trailer: bool) -> Prepared {
    let payload_bytes = group.len() - GROUP_HEADER_BYTES;
    assert!(payload_bytes > 0 && payload_bytes <= GROUP_BYTES_MAX, "group of {payload_bytes} bytes");
    let length = payload_bytes as u32 | if has_trailer { HAS_TRAILER } else { 0 };
    Prepared { length, epoch, payload_checksum: crc32c(&group[GROUP_HEADER_BYTES..]) }
}

impl Prepared {
    /// Fills in the header of a group that starts at `start` while the log is durable up to `durable`. `trailer` has its
    /// length in front, or is empty for a group without one.
    #[inline]
    pub fn place(self, header: &mut [u8], trailer: &[u8], start: Lsn, durable: Lsn) {
        let lag = u32::try_from(start.0.saturating_sub(durable.0)).unwrap_or(u32::MAX);
        let fields = [self.checksum(lag, trailer, start), self.length, self.epoch, lag];
        for (place, field) in header.chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
    }

    /// Stale bytes of a recycled file never carry it: they were made for another place.
    #[inline]
    fn checksum(self, lag: u32, trailer: &[u8], start: Lsn) -> u32 {
        let mut rest = [0; 24];
        rest[..8].copy_from_slice(&start.0.to_le_bytes());
        rest[8..12].copy_from_slice(&self.length.to_le_bytes());
        rest[12..16].copy_from_slice(&self.epoch.to_le_bytes());
        rest[16..20].copy_from_slice(&lag.to_le_bytes());
        let content = match trailer {
            [] => self.payload_checksum,
            trailer => crc32c_append(self.payload_checksum, trailer),
        };
        crc32c_append(content, &rest)
    }
}

/// A group's header as read from disk: nothing is known about it yet.
#[derive(Clone, Copy)]
pub(crate) struct GroupHeader {
    checksum: u32,
    length: u32,
    pub epoch: u32,
    /// How far the log was durable behind the group's start when it was appended, or more than that can be said.
    lag: u32,
}

impl GroupHeader {
    pub fn read(bytes: &[u8; GROUP_HEADER_BYTES]) -> GroupHeader {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        GroupHeader { checksum: number(0), length: number(4), epoch: number(8), lag: number(12) }
    }

    /// None if no group has such a length.
    pub fn payload_bytes(&self) -> Option<usize> {
        let bytes = (self.length & !HAS_TRAILER) as usize;
        (bytes > 0 && bytes <= GROUP_BYTES_MAX).then_some(bytes)
    }

    pub fn has_trailer(&self) -> bool {
        self.length & HAS_TRAILER != 0
    }

    /// Up to where the log was durable at least when a group that starts at `start` was appended. None if the group does
    /// not say.
    pub fn durable_before(&self, start: Lsn) -> Option<Lsn> {
        let known = self.lag != u32::MAX;
        start.0.checked_sub(u64::from(self.lag)).filter(|_| known).map(Lsn)
    }

    /// Whether header, payload and trailer (with its length in front; empty if there is none) belong together and to this
    /// place.
    pub fn matches(&self, payload: &[u8], trailer: &[u8], start: Lsn) -> bool {
        let (length, epoch) = (self.length, self.epoch);
        let prepared = Prepared { length, epoch, payload_checksum: crc32c(payload) };
        prepared.checksum(self.lag, trailer, start) == self.checksum
    }
}
