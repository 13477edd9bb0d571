//! [`Record`]: what a redo group holds. The byte table is in this crate's README.

use redo::Features;
use stdx::ids::{Lsn, PageId, PageNumber, SpaceId};
use stdx::varint::{put_varint, take_varint};

const OPERATION: u8 = 1;
const OPERATION_ON_SAME_PAGE: u8 = 2;
const CREATE: u8 = 3;
const LOGICAL: u8 = 4;
const EPOCH: u8 = 5;
/// Records from here on say how long they are: who does not know one passes over it.
const SKIPPABLE_MIN: u8 = 64;

/// A record of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    /// A page operation, encoded.
    Operation { page: PageId, operation: &'a [u8] },
    /// The page starts anew: zeroed but for its identity.
    Create { page: PageId },
    /// A record of the layer above.
    Logical { kind: u8, payload: &'a [u8] },
    /// The first of a start of the server.
    Epoch(EpochRecord),
}

/// What the first group of each start says: which log it is a part of, and who writes from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EpochRecord {
    pub log_id: u64,
    /// The number that the start's groups carry.
    pub epoch: u32,
    /// Where the first of them begins.
    pub start: Lsn,
    /// Major, minor and patch version of the server, 8 bits each.
    pub server_version: u32,
    pub features: Features,
}

/// Bytes of an epoch record behind its tag.
const EPOCH_RECORD_BYTES: usize = 48;

/// Appends the start of an operation record; returns where its length must be put by `end_operation`.
#[inline]
pub(crate) fn begin_operation(group: &mut Vec<u8>, page: PageId, same_page: bool) -> usize {
    if same_page {
        group.push(OPERATION_ON_SAME_PAGE);
    } else {
        group.push(OPERATION);
        put_page(group, page);
    }
    group.extend_from_slice(&[0, 0]);
    group.len() - 2
}

/// Completes an operation record after the operation was encoded behind it.
#[inline]
pub(crate) fn end_operation(group: &mut [u8], length_at: usize) {
    let length = group.len() - length_at - 2;
    let Ok(length) = u16::try_from(length) else {
        panic!("page operation of {length} bytes: no operation is much longer than a page");
    };
    group[length_at..length_at + 2].copy_from_slice(&length.to_le_bytes());
}

pub(crate) fn put_create(group: &mut Vec<u8>, page: PageId) {
    group.push(CREATE);
    put_page(group, page);
}

pub(crate) fn put_logical(group: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    group.extend_from_slice(&[LOGICAL, kind]);
    put_varint(group, payload.len() as u64);
    group.extend_from_slice(payload);
}

pub(crate) fn put_epoch(group: &mut Vec<u8>, record: &EpochRecord) {
    group.push(EPOCH);
    let versions = u64::from(record.epoch) | u64::from(record.server_version) << 32;
    let features = record.features;
    let numbers = [
        record.log_id,
        record.start.0,
        versions,
        features.incompatible,
        features.read_compatible,
        features.compatible,
    ];
    numbers.iter().for_each(|number| group.extend_from_slice(&number.to_le_bytes()));
}

fn put_page(group: &mut Vec<u8>, page: PageId) {
    put_varint(group, u64::from(page.space.0));
    put_varint(group, u64::from(page.number.0));
}

/// Reads the records of a group's payload. Ends with an error if the payload does not hold together.
pub(crate) struct Records<'a> {
    rest: &'a [u8],
    page: Option<PageId>,
}

/// A group whose checksum was right but whose records make no sense.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MalformedGroup;

impl<'a> Records<'a> {
    pub fn new(payload: &'a [u8]) -> Self {
        Records { rest: payload, page: None }
    }

    fn read(&mut self) -> Option<Record<'a>> {
        let (tag, rest) = self.rest.split_first()?;
        self.rest = rest;
        match *tag {
            OPERATION => {
                self.page = Some(self.take_page()?);
                self.take_operation()
            }
            OPERATION_ON_SAME_PAGE => self.take_operation(),
            CREATE => {
                let page = self.take_page()?;
                self.page = Some(page);
                Some(Record::Create { page })
            }
            LOGICAL => {
                let (kind, rest) = self.rest.split_first()?;
                self.rest = rest;
                let length = usize::try_from(take_varint(&mut self.rest)?).ok()?;
                Some(Record::Logical { kind: *kind, payload: self.take(length)? })
            }
            EPOCH => self.take_epoch(),
            _ => None,
        }
    }

    fn take_epoch(&mut self) -> Option<Record<'a>> {
        let bytes = self.take(EPOCH_RECORD_BYTES)?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at * 8 + byte]));
        Some(Record::Epoch(EpochRecord {
            log_id: number(0),
            start: Lsn(number(1)),
            epoch: number(2) as u32,
            server_version: (number(2) >> 32) as u32,
            features: Features { incompatible: number(3), read_compatible: number(4), compatible: number(5) },
        }))
    }

    /// Passes over records that say how long they are. None if one is longer than what is left.
    fn skip(&mut self) -> Option<()> {
        while let Some((tag, rest)) = self.rest.split_first()
            && *tag >= SKIPPABLE_MIN
        {
            self.rest = rest;
            let length = usize::try_from(take_varint(&mut self.rest)?).ok()?;
            self.take(length)?;
        }
        Some(())
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    fn take_page(&mut self) -> Option<PageId> {
        let space = u32::try_from(take_varint(&mut self.rest)?).ok()?;
        let number = u32::try_from(take_varint(&mut self.rest)?).ok()?;
        Some(PageId { space: SpaceId(space), number: PageNumber(number) })
    }

    fn take_operation(&mut self) -> Option<Record<'a>> {
        let length = self.take(2)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        Some(Record::Operation { page: self.page?, operation: self.take(length)? })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, MalformedGroup>;

    fn next(&mut self) -> Option<Self::Item> {
        let skipped = self.skip();
        if skipped.is_some() && self.rest.is_empty() {
            return None;
        }
        let record = skipped.and_then(|()| self.read());
        if record.is_none() {
            self.rest = &[];
        }
        Some(record.ok_or(MalformedGroup))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(space: u32, number: u32) -> PageId {
        PageId { space: SpaceId(space), number: PageNumber(number) }
    }

    fn sample() -> Vec<u8> {
        let mut group = Vec::new();
        put_create(&mut group, page(300, 70_000));
        for (same, bytes) in [(true, b"abc".as_slice()), (false, b"".as_slice())] {
            let at = begin_operation(&mut group, page(2, 5), same);
            group.extend_from_slice(bytes);
            end_operation(&mut group, at);
        }
        put_logical(&mut group, 9, &[7; 300]);
        // Of a newer server.
        group.extend_from_slice(&[SKIPPABLE_MIN, 3, 1, 1, 1, 255, 0]);
        put_epoch(&mut group, &epoch());
        group.extend_from_slice(&[100, 1, 1]);
        group
    }

    fn epoch() -> EpochRecord {
        let features = Features { incompatible: 1, read_compatible: 2, compatible: 3 };
        EpochRecord {
            log_id: u64::MAX - 5,
            epoch: 7,
            start: Lsn(1 << 40),
            server_version: 0x1_0203,
            features,
        }
    }

    #[test]
    fn records_come_back() {
        let group = sample();
        let records: Vec<_> = Records::new(&group).map(Result::unwrap).collect();
        assert_eq!(
            records,
            [
                Record::Create { page: page(300, 70_000) },
                Record::Operation { page: page(300, 70_000), operation: b"abc" },
                Record::Operation { page: page(2, 5), operation: b"" },
                Record::Logical { kind: 9, payload: &[7; 300] },
                Record::Epoch(epoch()),
            ]
        );
    }

    #[test]
    fn cut_or_damaged_groups_end_with_an_error() {
        let group = sample();
        for cut in 1..group.len() {
            let records: Vec<_> = Records::new(&group[..cut]).collect();
            // The last record is one that is passed over.
            let is_whole = cut + 3 == group.len();
            let has_failed = records.last().is_some_and(Result::is_err);
            assert!(records.len() < 5 || has_failed || is_whole, "{cut}");
            assert!(records.iter().rev().skip(1).all(Result::is_ok), "{cut}");
        }
        assert_eq!(Records::new(&[SKIPPABLE_MIN, 5, 0]).next(), Some(Err(MalformedGroup)));
        assert_eq!(Records::new(&[OPERATION_ON_SAME_PAGE, 0, 0]).next(), Some(Err(MalformedGroup)));
        assert_eq!(Records::new(&[99]).next(), Some(Err(MalformedGroup)));
    }
}
