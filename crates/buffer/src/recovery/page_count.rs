//! [`PageCount`]: of about how many pages a log has changes, in little memory, and of which spaces.

use std::collections::BTreeSet;

use stdx::ids::{PageId, SpaceId};

use super::replay_batch::mixed;
use crate::mini_transaction::record::{Record, Records};

/// Bits: some 1% off for half as many pages, 5% for four times as many.
const BITS: usize = 1 << 22;

/// Counts pages by linear counting: each sets a bit that its hash chooses, and the share of bits that stay clear tells how many there
/// were.
pub(crate) struct PageCount {
    bits: Vec<u64>,
    set: usize,
    last: Option<PageId>,
    spaces: BTreeSet<SpaceId>,
}

impl PageCount {
    pub fn new() -> PageCount {
        PageCount { bits: vec![0; BITS / 64], set: 0, last: None, spaces: BTreeSet::new() }
    }

    /// Counts the pages of a group.
    pub fn add(&mut self, records: Records<'_>) {
        for record in records.flatten() {
            let (Record::Create { page } | Record::Operation { page, .. }) = record else { continue };
            if self.last != Some(page) {
                if self.last.is_none_or(|last| last.space != page.space) {
                    self.spaces.insert(page.space);
                }
                self.last = Some(page);
                let bit = mixed(page) as usize % BITS;
                let word = &mut self.bits[bit / 64];
                self.set += usize::from(*word >> (bit % 64) & 1 == 0);
                *word |= 1 << (bit % 64);
            }
        }
    }

    /// The spaces of the pages that were counted.
    pub fn into_spaces(self) -> BTreeSet<SpaceId> {
        self.spaces
    }

    /// About how many there were.
    pub fn estimate(&self) -> u64 {
        let (bits, clear) = (BITS as f64, (BITS - self.set).max(1) as f64);
        (bits * (bits / clear).ln()).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mini_transaction::record::put_create;
    use stdx::ids::{PageNumber, SpaceId};

    #[test]
    fn counts_are_about_right() {
        for wanted in [0, 1, 150, 40_000, 2_000_000] {
            let mut count = PageCount::new();
            for number in (0..wanted).chain(0..wanted) {
                let mut group = Vec::new();
                put_create(
                    &mut group,
                    PageId { space: SpaceId(number / 9000), number: PageNumber(number % 9000) },
                );
                count.add(Records::new(&group));
            }
            let (found, wanted) = (count.estimate(), u64::from(wanted));
            assert!(found.abs_diff(wanted) <= 1 + wanted / 100, "{found} for {wanted}");
            let spaces: Vec<u32> = count.into_spaces().into_iter().map(|space| space.0).collect();
            assert_eq!(spaces, (0..wanted.div_ceil(9000) as u32).collect::<Vec<_>>());
        }
    }
}
