//! Accounts for the pages of a tablespace: each is the header, a page of one of the trees, or free. [`check_space`]
//! says which are not; [`free_unreachable`] gives those back that a crash during ALTER TABLE left behind.

use std::collections::HashSet;

use buffer::{BufferPool, StorageError};
use page::SpaceHeaderRef;
use stdx::ids::{PageId, PageNumber, SpaceId};

use super::TreeFault;

/// Compares the free list and the count of used pages with `in_use`, the pages of all trees of the space.
/// Meant for a space that nobody changes meanwhile.
pub fn check_space(
    pool: &BufferPool,
    space: SpaceId,
    in_use: &HashSet<PageNumber>,
) -> Result<Vec<TreeFault>, StorageError> {
    let page_zero = PageId { space, number: PageNumber(0) };
    let corrupt = |error| StorageError::corrupt(page_zero, error);
    let (mut next, said_free, used) = {
        let page = pool.shared(page_zero)?;
        let header = SpaceHeaderRef::new(&page).map_err(corrupt)?;
        (header.free_head(), header.free_pages(), header.used_pages())
    };
    let mut faults = Vec::new();
    let mut free = HashSet::new();
    while let Some(number) = next {
        let id = PageId { space, number };
        if !free.insert(number) {
            faults.push(TreeFault { page: id, reason: "free list is a ring" });
            break;
        }
        if in_use.contains(&number) {
            faults.push(TreeFault { page: id, reason: "page is in use and on the free list" });
        }
        let page = pool.shared(id)?;
        next = SpaceHeaderRef::next_free(&page).map_err(|error| StorageError::corrupt(id, error))?;
    }
    if free.len() != said_free as usize {
        faults.push(TreeFault { page: page_zero, reason: "free list does not have its length" });
    }
    let lost = (1..used).map(PageNumber).filter(|number| !in_use.contains(number) && !free.contains(number));
    faults.extend(lost.map(|number| TreeFault { page: PageId { space, number }, reason: UNREACHABLE }));
    let beyond = in_use.iter().filter(|number| number.0 >= used);
    faults.extend(beyond.map(|number| TreeFault {
        page: PageId { space, number: *number },
        reason: "page is in use but was never allocated",
    }));
    Ok(faults)
}

/// Puts pages that are neither in `in_use` nor free on the free list: what an index that was being built or dropped
/// when the server crashed has left. Nobody may use the space meanwhile. Returns how many.
pub fn free_unreachable(
    pool: &BufferPool,
    space: SpaceId,
    in_use: &HashSet<PageNumber>,
) -> Result<u64, StorageError> {
    let lost = check_space(pool, space, in_use)?.into_iter().filter(|fault| fault.reason == UNREACHABLE);
    let mut freed = 0;
    for fault in lost {
        let mut mini = pool.mini_transaction();
        let slot = mini.latch(fault.page)?;
        mini.free(slot)?;
        mini.commit();
        freed += 1;
    }
    Ok(freed)
}

const UNREACHABLE: &str = "page is neither in use nor free";
