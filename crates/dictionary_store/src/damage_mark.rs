//! What a file lacks of the log, as the dictionary notes it. Main type: [`DamageMark`]. See rule R7 in the engine's README.

use buffer::NeededPage;
use stdx::ids::{Lsn, PageId, PageNumber, SpaceId};

/// A page must have that LSN for the file to have all changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DamageMark {
    /// The page.
    pub page: PageId,
    /// The LSN.
    pub needed: Lsn,
    /// Why its changes were passed over; empty if they were not.
    pub reason: String,
}

impl DamageMark {
    /// The mark of a page that a start has found to lack changes.
    pub fn of(page: &NeededPage) -> DamageMark {
        let reason = page.reason.unwrap_or_default().to_owned();
        DamageMark { page: page.page, needed: page.needed, reason }
    }

    /// The mark of a file that no copy can mend, because changes were never taken back in it.
    pub fn for_good(space: SpaceId, reason: &str) -> DamageMark {
        let page = PageId { space, number: PageNumber(u32::MAX) };
        DamageMark { page, needed: Lsn(u64::MAX), reason: reason.to_owned() }
    }

    /// None if it makes no sense.
    pub fn decode(key: &[u8], content: &[u8]) -> Option<DamageMark> {
        let (space, number) = key.split_first_chunk::<4>()?;
        let (needed, reason) = content.split_first_chunk::<8>()?;
        let space = SpaceId(u32::from_be_bytes(*space));
        let number = PageNumber(u32::from_be_bytes(number.try_into().ok()?));
        let reason = String::from_utf8(reason.to_vec()).ok()?;
        Some(DamageMark { page: PageId { space, number }, needed: Lsn(u64::from_le_bytes(*needed)), reason })
    }
}
