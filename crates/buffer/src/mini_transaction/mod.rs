//! [`MiniTransaction`]: a set of pages changed together, replayed wholly or not at all. The only way to change a page (I3).

mod group_text;
pub(crate) mod record;

pub use group_text::group_lines;

use std::cell::Cell;
use std::sync::atomic::Ordering::{Relaxed, Release};

use metrics::Counter;
use page::{PageOperation, SpaceHeaderRef};
use stdx::ids::{Lsn, PageId, PageNumber, SpaceId};

use crate::frames::ExclusiveFrame;
use crate::page_transform::zero_page;
use crate::{BufferPool, StorageError};

/// A page latched by a mini-transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSlot(pub(crate) u16);

/// A set of exclusively latched pages and the redo of their changes. Do everything that can fail (`latch`, `allocate`,
/// `free`) before the first `apply` or `log`: a mini-transaction that changed nothing may be dropped, dropping one that
/// changed something aborts the process (I3). Latch order is the caller's business; `allocate` and `free` latch page 0
/// of the space and keep it, so latch whatever other threads may hold (neighbours, parents) before them.
pub struct MiniTransaction<'pool> {
    pool: &'pool BufferPool,
    slots: Vec<Option<Slot<'pool>>>,
    /// The redo group: room for its header, then records.
    group: Vec<u8>,
    /// The slot of the last page record, for which the page need not be named again.
    last_slot: Option<PageSlot>,
    spaces: Vec<SpaceChange>,
    /// A page of a temporary space was changed.
    changes_unlogged: bool,
}

struct Slot<'pool> {
    frame: ExclusiveFrame<'pool>,
    page: PageId,
    changed: bool,
    fresh: Option<Origin>,
    /// The page's first record ever is in this group.
    created: bool,
    /// The page is of a temporary space.
    unlogged: bool,
}

/// Where an allocated page came from, until its creation is logged.
#[derive(Clone, Copy)]
enum Origin {
    /// It was never used.
    NeverUsed,
    /// It was first on the free list; the next one is named.
    FreeList(Option<PageNumber>),
}

/// What the mini-transaction means to do to a space header when it commits.
struct SpaceChange {
    space: SpaceId,
    header: PageSlot,
    size_pages: u32,
    used_pages: u32,
    free_head: Option<PageNumber>,
    free_pages: u32,
    freed: Vec<PageSlot>,
    changed: bool,
}

/// Buffers above this size are not kept for the thread's next mini-transaction.
const KEPT_GROUP_BYTES_MAX: usize = 1 << 20;
/// In the marks of pages that have no log: a mark that no LSN can equal, as entries of both queues are told by them.
const UNLOGGED_MARK: u64 = 1 << 63;

thread_local! {
    static SPARE_GROUP: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    /// Mini-transactions that this thread has open.
    static OPEN: Cell<u32> = const { Cell::new(0) };
}

impl<'pool> MiniTransaction<'pool> {
    pub(crate) fn new(pool: &'pool BufferPool) -> Self {
        OPEN.set(OPEN.get() + 1);
        // Counted as open meanwhile: what the participant does to make room may itself use mini-transactions.
        if OPEN.get() == 1 && pool.log_is_nearly_full() {
            pool.wait_for_log_room();
        }
        let mut group = SPARE_GROUP.take();
        redo::new_group(&mut group);
        MiniTransaction {
            pool,
            slots: Vec::with_capacity(4),
            group,
            last_slot: None,
            spaces: Vec::new(),
            changes_unlogged: false,
        }
    }

    /// The pool.
    pub fn pool(&self) -> &'pool BufferPool {
        self.pool
    }

    /// Latches a page exclusively; the same slot if it is latched already. Waits for other holders.
    pub fn latch(&mut self, page: PageId) -> Result<PageSlot, StorageError> {
        if let Some(slot) = self.find(page) {
            return Ok(slot);
        }
        let frame = self.pool.exclusive(page)?;
        Ok(self.add(frame, page))
    }

    /// As `latch`, but gives None instead of waiting for another holder.
    pub fn try_latch(&mut self, page: PageId) -> Result<Option<PageSlot>, StorageError> {
        if let Some(slot) = self.find(page) {
            return Ok(Some(slot));
        }
        let frame = self.pool.try_exclusive(page)?;
        Ok(frame.map(|frame| self.add(frame, page)))
    }

    fn find(&self, page: PageId) -> Option<PageSlot> {
        let index = self.slots.iter().position(|slot| slot.as_ref().is_some_and(|slot| slot.page == page))?;
        Some(PageSlot(index as u16))
    }

    fn add(&mut self, frame: ExclusiveFrame<'pool>, page: PageId) -> PageSlot {
        let Ok(index) = u16::try_from(self.slots.len()) else {
            panic!("a mini-transaction latched more than {} pages", u16::MAX);
        };
        let unlogged = frame.header().unlogged.load(Relaxed);
        self.slots.push(Some(Slot { frame, page, changed: false, fresh: None, created: false, unlogged }));
        PageSlot(index)
    }

    fn slot(&self, slot: PageSlot) -> &Slot<'pool> {
        match &self.slots[usize::from(slot.0)] {
            Some(slot) => slot,
            None => panic!("page slot {} was released", slot.0),
        }
    }

    fn slot_mut(&mut self, slot: PageSlot) -> &mut Slot<'pool> {
        match &mut self.slots[usize::from(slot.0)] {
            Some(slot) => slot,
            None => panic!("page slot {} was released", slot.0),
        }
    }

    /// Gives a latch back early. The page must not have been changed.
    pub fn release(&mut self, slot: PageSlot) {
        let held = self.slot(slot);
        assert!(!held.changed && held.fresh.is_none(), "page {} was changed, its latch must stay", held.page);
        let is_header = self.spaces.iter().any(|change| change.header == slot);
        let is_freed = self.spaces.iter().any(|change| change.freed.contains(&slot));
        assert!(!is_header && !is_freed, "page {} will change at commit, its latch must stay", held.page);
        self.slots[usize::from(slot.0)] = None;
    }

    /// Takes a page from the space, zeroed but for its header. The file is grown if it must be. `NoSpace` if the disk
    /// is full. A damaged free list is given up.
    pub fn allocate(&mut self, space: SpaceId) -> Result<PageSlot, StorageError> {
        let change = self.space_change(space)?;
        if self.pool.reserve_pages > 0 {
            self.grow_for(change, 1)?;
        }
        let slot = match self.take_from_free_list(change)? {
            Some(slot) => slot,
            None => self.take_never_used(change)?,
        };
        self.spaces[change].changed = true;
        let held = self.slot_mut(slot);
        let (page, lsn) = (held.page, held.frame.header().page_lsn.load(Relaxed));
        zero_page(&mut held.frame, page, Lsn(lsn));
        Counter::PagesCreated.increment();
        Ok(slot)
    }

    /// Grows the file until so many pages can be taken and the reserve stays whole. True if it grew, which is to be
    /// committed then.
    pub(crate) fn require_pages(&mut self, space: SpaceId, count: u32) -> Result<bool, StorageError> {
        let change = self.space_change(space)?;
        let grows = self.grow_for(change, count)?;
        self.spaces[change].changed |= grows;
        Ok(grows)
    }

    /// Sees to it that the reserve stays whole when pages are taken; whether the file grew. Error: NoSpace.
    fn grow_for(&mut self, change: usize, count: u32) -> Result<bool, StorageError> {
        let SpaceChange { space, used_pages, free_pages, size_pages, .. } = self.spaces[change];
        let needed = self.pool.pages_with_reserve(space, used_pages, free_pages, count);
        let pages = self.pool.ensure_file_pages(space, needed)?;
        self.spaces[change].size_pages = pages;
        Ok(pages != size_pages)
    }

    /// The pending change of a space's header; the header is latched by it.
    fn space_change(&mut self, space: SpaceId) -> Result<usize, StorageError> {
        if let Some(index) = self.spaces.iter().position(|change| change.space == space) {
            return Ok(index);
        }
        let page = PageId { space, number: PageNumber(0) };
        let header = self.latch(page)?;
        let view =
            SpaceHeaderRef::new(self.bytes(header)).map_err(|error| StorageError::corrupt(page, error))?;
        let change = SpaceChange {
            space,
            header,
            size_pages: view.size_pages(),
            used_pages: view.used_pages(),
            free_head: view.free_head(),
            free_pages: view.free_pages(),
            freed: Vec::new(),
            changed: false,
        };
        self.spaces.push(change);
        Ok(self.spaces.len() - 1)
    }

    fn take_from_free_list(&mut self, change: usize) -> Result<Option<PageSlot>, StorageError> {
        let (space, Some(number)) = (self.spaces[change].space, self.spaces[change].free_head) else {
            return Ok(None);
        };
        let page = PageId { space, number };
        // Readers with an old pointer may be on the page for a moment; a page at the end serves as well.
        let slot = match self.try_latch(page) {
            Ok(Some(slot)) => slot,
            Ok(None) => return Ok(None),
            Err(error) if error.damage().is_some() => return Ok(self.give_up_free_list(change)),
            Err(error) => return Err(error),
        };
        let next = match SpaceHeaderRef::next_free(self.bytes(slot)) {
            Ok(next) => next,
            Err(error) => {
                self.release(slot);
                self.pool.damage.meet(page, error.reason);
                return Ok(self.give_up_free_list(change));
            }
        };
        self.slot_mut(slot).fresh = Some(Origin::FreeList(next));
        let change = &mut self.spaces[change];
        change.free_head = next;
        change.free_pages = change.free_pages.saturating_sub(1);
        Ok(Some(slot))
    }

    /// Nothing of a damaged free list can be found any more: its pages are out of use until the table is built anew.
    fn give_up_free_list(&mut self, change: usize) -> Option<PageSlot> {
        let change = &mut self.spaces[change];
        (change.free_head, change.free_pages) = (None, 0);
        None
    }

    fn take_never_used(&mut self, change: usize) -> Result<PageSlot, StorageError> {
        let (space, used_pages) = (self.spaces[change].space, self.spaces[change].used_pages);
        let file_pages = self.pool.ensure_file_pages(space, used_pages.saturating_add(1))?;
        let page = PageId { space, number: PageNumber(used_pages) };
        let frame = self.pool.exclusive_without_reading(page)?;
        let slot = self.add(frame, page);
        self.slot_mut(slot).fresh = Some(Origin::NeverUsed);
        self.spaces[change].size_pages = file_pages;
        self.spaces[change].used_pages = used_pages + 1;
        Ok(slot)
    }

    /// Gives a page back to its space when the mini-transaction commits. The slot's bytes must not be used after this.
    pub fn free(&mut self, slot: PageSlot) -> Result<(), StorageError> {
        let change = self.space_change(self.page_id(slot).space)?;
        let change = &mut self.spaces[change];
        assert!(slot != change.header && !change.freed.contains(&slot));
        change.freed.push(slot);
        change.changed = true;
        Ok(())
    }

    /// The page in a slot.
    #[inline]
    pub fn page_id(&self, slot: PageSlot) -> PageId {
        self.slot(slot).page
    }

    /// The bytes of the page in a slot.
    #[inline]
    pub fn bytes(&self, slot: PageSlot) -> &[u8] {
        &self.slot(slot).frame
    }

    /// Changes a page and notes the change for the log.
    ///
    /// # Panics
    /// If the operation does not fit the page: callers check before they change anything.
    pub fn apply(&mut self, slot: PageSlot, operation: &PageOperation<'_>) {
        Counter::PoolWriteRequests.increment();
        self.log_creation(slot);
        let (page, unlogged) = (self.page_id(slot), self.slot(slot).unlogged);
        if unlogged {
            self.changes_unlogged = true;
        } else {
            let same_page = self.last_slot == Some(slot);
            let length_at = record::begin_operation(&mut self.group, page, same_page);
            operation.encode(&mut self.group);
            record::end_operation(&mut self.group, length_at);
            self.last_slot = Some(slot);
        }
        let held = self.slot_mut(slot);
        held.changed = true;
        if let Err(error) = operation.apply(&mut held.frame) {
            panic!("operation does not fit page {page}: {error}");
        }
    }

    /// The record that a page starts anew goes before its first operation.
    fn log_creation(&mut self, slot: PageSlot) {
        let held = self.slot_mut(slot);
        if let Some(origin) = held.fresh.take() {
            held.changed = true;
            held.created = matches!(origin, Origin::NeverUsed);
            if held.unlogged {
                self.changes_unlogged = true;
                return;
            }
            let page = held.page;
            record::put_create(&mut self.group, page);
            self.last_slot = Some(slot);
        }
    }

    /// Adds a logical record of the layer above to the same atomic group.
    pub fn log(&mut self, kind: u8, payload: &[u8]) {
        record::put_logical(&mut self.group, kind, payload);
    }

    /// Appends the redo group, stamps the pages with its end and gives all latches back. Returns the end: the changes
    /// are durable once `RedoLog::durable_lsn` has reached it. Without any change: the present end of the log.
    pub fn commit(self) -> Lsn {
        self.commit_with(|_| {})
    }

    /// As `commit`; `stamp` is called with the end of the group before any other group has a place, and before it may be called durable. It
    /// must be short. Without a change in the log it is not called.
    pub fn commit_with(mut self, stamp: impl FnOnce(Lsn)) -> Lsn {
        self.change_spaces();
        for index in 0..self.slots.len() {
            if self.slots[index].as_ref().is_some_and(|slot| slot.fresh.is_some()) {
                self.log_creation(PageSlot(index as u16));
            }
        }
        if !self.has_changes() {
            return self.pool.redo.end_lsn();
        }
        if self.changes_unlogged {
            return self.commit_unlogged();
        }
        // A lower bound of the group's start, set before the group is in the log: whoever sees the log's end behind the
        // group sees the marks too, and the checkpoint cannot pass it.
        let changed = self.slots.iter().flatten().filter(|slot| slot.changed);
        let frames = changed.clone().map(|slot| (slot.frame.index(), slot.frame.header()));
        self.pool.dirty.mark(&self.pool.frames, frames, || self.pool.redo.end_lsn());
        for slot in changed {
            if slot.created {
                slot.frame.header().created.store(true, Release);
            }
        }
        Counter::LogWriteRequests.increment();
        let range = self.pool.redo.append_with(&mut self.group, |range| stamp(range.end));
        debug_assert!(self.pool.log_is_in_files(range.end), "the log ran out of files that are ready");
        for slot in self.slots.iter_mut().flatten().filter(|slot| slot.changed) {
            page::set_lsn(&mut slot.frame, range.end);
            slot.frame.header().page_lsn.store(range.end.0, Release);
        }
        self.group.clear();
        self.slots.clear();
        range.end
    }

    /// Puts freed pages on the free list and brings the space headers up to date.
    fn change_spaces(&mut self) {
        for mut change in std::mem::take(&mut self.spaces) {
            for slot in std::mem::take(&mut change.freed) {
                let next = change.free_head.unwrap_or_default();
                change.free_head = Some(self.page_id(slot).number);
                change.free_pages += 1;
                self.apply(slot, &PageOperation::InitFree { next });
            }
            if change.changed {
                let operation = PageOperation::SetSpaceHeader {
                    size_pages: change.size_pages,
                    used_pages: change.used_pages,
                    free_head: change.free_head.map_or(0, |page| page.0),
                    free_pages: change.free_pages,
                };
                self.apply(change.header, &operation);
            }
        }
    }

    fn has_changes(&self) -> bool {
        self.group.len() > redo::GROUP_HEADER_BYTES || self.changes_unlogged
    }

    /// Marks changed pages of temporary spaces dirty and gives all latches back.
    fn commit_unlogged(&mut self) -> Lsn {
        assert!(
            self.group.len() == redo::GROUP_HEADER_BYTES,
            "what a temporary space and a durable one have in common cannot be replayed"
        );
        let changed = self.slots.iter().flatten().filter(|slot| slot.changed);
        let frames = changed.map(|slot| (slot.frame.index(), slot.frame.header()));
        let mark = || Lsn(UNLOGGED_MARK | self.pool.unlogged_marks.fetch_add(1, Relaxed));
        self.pool.unlogged_dirty.mark(&self.pool.frames, frames, mark);
        self.changes_unlogged = false;
        self.slots.clear();
        self.pool.redo.end_lsn()
    }

    /// Undoes allocations whose creation was not logged.
    fn return_fresh_pages(&mut self) {
        for slot in self.slots.iter_mut() {
            match slot.as_ref().and_then(|slot| slot.fresh) {
                Some(Origin::NeverUsed) => {
                    if let Some(slot) = slot.take() {
                        self.pool.vacate(slot.frame);
                    }
                }
                Some(Origin::FreeList(next)) => {
                    if let Some(slot) = slot {
                        let operation = PageOperation::InitFree { next: next.unwrap_or_default() };
                        // The page was free before, so it can be again; it stays dirty if it was.
                        let outcome = operation.apply(&mut slot.frame);
                        debug_assert!(outcome.is_ok());
                    }
                }
                None => {}
            }
        }
    }
}

impl Drop for MiniTransaction<'_> {
    fn drop(&mut self) {
        OPEN.set(OPEN.get() - 1);
        if self.has_changes() {
            eprintln!("a mini-transaction that changed pages was not committed: stopping, recovery repairs");
            std::process::abort();
        }
        self.return_fresh_pages();
        if self.group.capacity() <= KEPT_GROUP_BYTES_MAX {
            SPARE_GROUP.set(std::mem::take(&mut self.group));
        }
    }
}
