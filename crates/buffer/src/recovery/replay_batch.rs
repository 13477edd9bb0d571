//! [`Batch`]: a part of the log whose page changes are laid out by page.

use std::sync::{Mutex, MutexGuard};

use redo::GroupRange;
use stdx::ids::{Lsn, PageId, PageNumber};
use stdx::sync::lock;

use crate::mini_transaction::record::{MalformedGroup, Record, Records};

/// Most bytes of operations in a batch, but for one group that has more. Two batches are in memory at a time.
pub(crate) const BATCH_BYTES_MAX: usize = 32 << 20;
/// Most changes of a batch, but for those of one group: small ones take more room than their bytes.
const BATCH_CHANGES_MAX: usize = 800_000;
/// So many neighbours on disk are in one bucket.
const NEIGHBOURS: u32 = 8;
/// Buckets of a batch: many more than lanes, so that these end at about the same time.
const BUCKETS: usize = 128;
/// Most bytes of log from the first group of a batch to the end of its last: they are counted in 32 bits.
const SPAN_MAX: u64 = 1 << 31;
/// Stands for the operation of a page that starts anew.
const CREATE: u32 = u32::MAX;

/// Groups that follow one another in the log.
pub(crate) struct Batch {
    bytes_max: usize,
    /// Where the first group begins.
    start: Lsn,
    /// What it has of pages lies behind.
    since: Lsn,
    /// The operations.
    bytes: Vec<u8>,
    changes: usize,
    /// The changes, those of a page in one bucket, in the order of the log until the bucket is opened.
    buckets: Vec<Mutex<Vec<BatchChange>>>,
}

/// A change of a page, in the bytes of its batch.
#[derive(Clone, Copy)]
struct BatchChange {
    page: PageId,
    /// Its place in the order of the log.
    number: u32,
    /// Where its operation begins.
    at: u32,
    /// Bytes of the operation, or `CREATE`.
    length: u32,
    /// The end of its group, counted from the batch's start.
    group_end: u32,
}

/// A bucket, by page.
pub(crate) struct Bucket<'b> {
    batch: &'b Batch,
    changes: MutexGuard<'b, Vec<BatchChange>>,
}

/// All changes that a batch has of a page, in the order of the log.
#[derive(Clone, Copy)]
pub(crate) struct PageRun<'b> {
    batch: &'b Batch,
    changes: &'b [BatchChange],
    pub page: PageId,
    /// The end of the last group among them.
    pub end: Lsn,
}

/// A change of a page.
#[derive(Clone, Copy)]
pub(crate) struct PageChange<'b> {
    /// The end of its group.
    pub end: Lsn,
    /// The operation, encoded; None if the page starts anew.
    pub operation: Option<&'b [u8]>,
}

impl Batch {
    pub fn new(bytes_max: usize) -> Batch {
        let buckets = (0..BUCKETS).map(|_| Mutex::default()).collect();
        Batch { bytes_max, start: Lsn(0), since: Lsn(0), bytes: Vec::new(), changes: 0, buckets }
    }

    /// Whether a group fits. Any fits an empty batch.
    pub fn has_room_for(&self, range: GroupRange, payload: &[u8]) -> bool {
        self.changes == 0
            || self.bytes.len() + payload.len() <= self.bytes_max
                && self.changes < BATCH_CHANGES_MAX
                && range.end.0 - self.start.0 < SPAN_MAX
    }

    /// Adds a group's changes of the pages of a part, and hands its logical records on.
    pub fn add<E: From<MalformedGroup>>(
        &mut self,
        range: GroupRange,
        payload: &[u8],
        part: Part,
        mut logical: impl FnMut(u8, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.changes == 0 {
            self.start = range.start;
            // Dirty pages are queued by their marks, so these may not go back with another pass.
            self.since = if part.parts == 1 { range.start } else { part.log_start };
        }
        let group_end = (range.end.0 - self.start.0) as u32;
        for record in Records::new(payload) {
            match record? {
                Record::Create { page } => self.add_change(page, None, group_end, part),
                Record::Operation { page, operation } => {
                    self.add_change(page, Some(operation), group_end, part);
                }
                Record::Logical { kind, payload } => logical(kind, payload)?,
                Record::Epoch(_) => {}
            }
        }
        Ok(())
    }

    fn add_change(&mut self, page: PageId, operation: Option<&[u8]>, group_end: u32, part: Part) {
        let hash = hash_of_neighbours(page);
        if !part.holds(hash) {
            return;
        }
        let at = self.bytes.len() as u32;
        let length = operation.map_or(CREATE, |operation| operation.len() as u32);
        self.bytes.extend_from_slice(operation.unwrap_or_default());
        let bucket = self.buckets[hash as usize % BUCKETS].get_mut();
        let bucket = bucket.unwrap_or_else(std::sync::PoisonError::into_inner);
        bucket.push(BatchChange { page, number: self.changes as u32, at, length, group_end });
        self.changes += 1;
    }

    /// Sorts a bucket; None behind the last.
    pub fn open(&self, bucket: usize) -> Option<Bucket<'_>> {
        let mut changes = lock(self.buckets.get(bucket)?);
        changes.sort_unstable_by_key(|change| (change.page, change.number));
        Some(Bucket { batch: self, changes })
    }

    /// Empties it, and keeps its memory for the next.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.changes = 0;
        self.buckets.iter_mut().for_each(|bucket| lock(bucket).clear());
    }
}

/// A part of all pages: those of a pass over the log.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub number: u64,
    pub parts: u64,
    /// Where each pass begins.
    pub log_start: Lsn,
}

impl Part {
    fn holds(self, hash: u64) -> bool {
        self.parts == 1 || (hash >> 32) % self.parts == self.number
    }
}

/// Neighbours on disk have one.
fn hash_of_neighbours(page: PageId) -> u64 {
    mixed(PageId { number: PageNumber(page.number.0 / NEIGHBOURS), ..page })
}

/// A hash of a page, good in all its bits.
pub(crate) fn mixed(page: PageId) -> u64 {
    // The end of MurmurHash3.
    let mut hash = u64::from(page.space.0) << 32 | u64::from(page.number.0);
    hash = (hash ^ hash >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash = (hash ^ hash >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^ hash >> 33
}

impl Bucket<'_> {
    /// Its pages, as they lie on disk.
    pub fn runs(&self) -> impl Iterator<Item = PageRun<'_>> {
        self.changes.chunk_by(|one, next| one.page == next.page).map(|changes| {
            let last = changes[changes.len() - 1];
            PageRun { batch: self.batch, changes, page: last.page, end: self.batch.lsn(last.group_end) }
        })
    }
}

impl Batch {
    fn lsn(&self, from_start: u32) -> Lsn {
        Lsn(self.start.0 + u64::from(from_start))
    }
}

impl<'b> PageRun<'b> {
    /// A lower bound of the changes, which never goes back.
    pub fn since(&self) -> Lsn {
        self.batch.since
    }

    pub fn changes(&self) -> impl Iterator<Item = PageChange<'b>> {
        let batch = self.batch;
        self.changes.iter().map(move |change| {
            let at = change.at as usize;
            let operation = (change.length != CREATE).then(|| &batch.bytes[at..at + change.length as usize]);
            PageChange { end: batch.lsn(change.group_end), operation }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mini_transaction::record::{begin_operation, end_operation, put_create, put_logical};
    use std::collections::BTreeMap;
    use stdx::ids::SpaceId;

    fn page(number: u32) -> PageId {
        PageId { space: SpaceId(3), number: PageNumber(number) }
    }

    fn group(pages: &[(u32, &[u8])]) -> Vec<u8> {
        let mut group = Vec::new();
        for (number, bytes) in pages {
            let at = begin_operation(&mut group, page(*number), false);
            group.extend_from_slice(bytes);
            end_operation(&mut group, at);
        }
        group
    }

    fn add(batch: &mut Batch, start: u64, payload: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let mut logical = Vec::new();
        let range = GroupRange { start: Lsn(start), end: Lsn(start + 10) };
        let all = Part { number: 0, parts: 1, log_start: Lsn(50) };
        let added = batch.add::<MalformedGroup>(range, payload, all, |kind, payload| {
            logical.push((kind, payload.to_vec()));
            Ok(())
        });
        assert_eq!(added, Ok(()));
        logical
    }

    /// The changes of each page, with the ends of their groups; that of the last in front.
    type Found = BTreeMap<u32, (u64, Vec<(u64, Option<Vec<u8>>)>)>;

    fn found(batch: &Batch) -> Found {
        let mut found = BTreeMap::new();
        for number in 0..BUCKETS {
            let bucket = batch.open(number).unwrap();
            for run in bucket.runs() {
                assert_eq!(run.since(), batch.since);
                let changes =
                    run.changes().map(|change| (change.end.0, change.operation.map(<[u8]>::to_vec)));
                let earlier = found.insert(run.page.number.0, (run.end.0, changes.collect()));
                assert!(earlier.is_none());
            }
        }
        assert!(batch.open(BUCKETS).is_none());
        found
    }

    #[test]
    fn changes_come_by_page_in_the_order_of_the_log() {
        let mut batch = Batch::new(1000);
        for turn in 0..2 {
            let mut first = group(&[(9, b"a"), (2, b"bb")]);
            put_create(&mut first, page(5));
            put_create(&mut first, page(500));
            put_logical(&mut first, 7, b"of the layer above");
            first.extend_from_slice(&group(&[(5, b"x")]));
            assert_eq!(add(&mut batch, 100, &first), [(7, b"of the layer above".to_vec())]);
            assert_eq!(add(&mut batch, 110, &group(&[(5, b"c"), (9, b""), (9, b"d")])), []);
            assert_eq!(batch.since, Lsn(100));
            let bytes = |text: &[u8]| Some(text.to_vec());
            let expected: Found = [
                (2, (110, vec![(110, bytes(b"bb"))])),
                (5, (120, vec![(110, None), (110, bytes(b"x")), (120, bytes(b"c"))])),
                (9, (120, vec![(110, bytes(b"a")), (120, bytes(b"")), (120, bytes(b"d"))])),
                (500, (110, vec![(110, None)])),
            ]
            .into();
            assert_eq!(found(&batch), expected, "turn {turn}");
            let next = GroupRange { start: Lsn(120), end: Lsn(130) };
            let far = GroupRange { end: Lsn(next.end.0 + SPAN_MAX), ..next };
            assert!(!batch.has_room_for(next, &[0; 1000]) && batch.has_room_for(next, &[0; 800]));
            assert!(!batch.has_room_for(far, &[0; 800]));
            batch.clear();
            assert!(batch.has_room_for(far, &[0; 2000]) && found(&batch).is_empty());
        }
    }

    #[test]
    fn each_page_is_in_one_part() {
        let pages: Vec<(u32, &[u8])> = (0..2000).map(|number| (number, b"a".as_slice())).collect();
        let range = GroupRange { start: Lsn(100), end: Lsn(110) };
        let mut all = BTreeMap::new();
        for number in 0..5 {
            let mut batch = Batch::new(100_000);
            let part = Part { number, parts: 5, log_start: Lsn(50) };
            batch.add::<MalformedGroup>(range, &group(&pages), part, |_, _| Ok(())).unwrap();
            assert_eq!(batch.since, Lsn(50));
            let found = found(&batch);
            assert!((200..600).contains(&found.len()), "{} pages", found.len());
            all.extend(found);
        }
        assert_eq!(all.len(), 2000);
    }
}
