//! [`Damage`]: pages that cannot be read, and changes of the log that recovery had to pass over.
//!
//! A page that fails its check closes no more than its table. Recovery brings up to date what it can, and notes which pages
//! it could not, with the LSN that they must have for nothing to be lost. Whoever knows the tables keeps these notes over
//! later starts, before checkpoints may move. Reads that meet a bad page get an error each; the page is named once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use page::PageOperation;
use redo::LogReader;
use stdx::ids::{Lsn, PageId, SpaceId};
use stdx::sync::lock;

use crate::mini_transaction::record::{Record, Records};
use crate::{BufferPool, Forced, StorageError};

/// Most pages that are remembered as named. Beyond it nothing is named any more.
const NAMED_MAX: usize = 1000;
const NO_FILE: &str = "its file is missing, or has a damaged header";

/// A page that the log has changes of, in a space where recovery could not apply all changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededPage {
    /// The page.
    pub page: PageId,
    /// End of the last group with changes of it: a page with a lesser LSN lacks some.
    pub needed: Lsn,
    /// Why recovery had to pass over changes; None if it applied them all.
    pub reason: Option<&'static str>,
}

/// What is known of bad pages.
#[derive(Default)]
pub(crate) struct Damage {
    passed_over: Mutex<BTreeMap<PageId, (Lsn, &'static str)>>,
    /// Whether there may be such pages.
    any_passed_over: AtomicBool,
    /// The log that was replayed, and its end, until checkpoints may move.
    log: Mutex<Option<(LogReader, Lsn)>>,
    named: Mutex<Named>,
}

#[derive(Default)]
struct Named {
    pages: BTreeSet<PageId>,
    news: Vec<(PageId, &'static str)>,
}

impl Damage {
    /// Notes that a group, which ends there, was not applied to a page.
    pub fn pass_over(&self, page: PageId, end: Lsn, reason: &'static str) {
        let mut passed_over = lock(&self.passed_over);
        let entry = passed_over.entry(page).or_insert((end, reason));
        entry.0 = end;
        self.any_passed_over.store(true, Ordering::Release);
    }

    pub fn is_passed_over(&self, page: PageId) -> bool {
        // Changes of a page come one after another, so what was noted of it is seen.
        self.any_passed_over.load(Ordering::Acquire) && lock(&self.passed_over).contains_key(&page)
    }

    /// The page starts anew: what it was does not matter any more.
    pub fn forget(&self, page: PageId) {
        if self.any_passed_over.load(Ordering::Acquire) {
            lock(&self.passed_over).remove(&page);
        }
    }

    /// Keeps the log for [`BufferPool::needed_pages_of`].
    pub fn keep_log(&self, log: LogReader, end: Lsn) {
        *lock(&self.log) = Some((log, end));
    }

    /// Checkpoints may move.
    pub fn forget_log(&self) {
        *lock(&self.log) = None;
    }

    /// Notes a page that could not be read.
    pub fn meet(&self, page: PageId, reason: &'static str) {
        let mut named = lock(&self.named);
        if named.pages.len() < NAMED_MAX && named.pages.insert(page) {
            named.news.push((page, reason));
        }
    }

    /// Recovery reads pages that need not make sense.
    pub fn forget_met(&self) {
        *lock(&self.named) = Named::default();
    }
}

impl BufferPool {
    /// Pages that recovery had to pass over changes of, as far as the log speaks of them; of dropped spaces too. Whoever knows which
    /// spaces there must be decides, before checkpoints may move.
    pub fn passed_over_pages(&self) -> Vec<NeededPage> {
        let passed_over = lock(&self.damage.passed_over);
        let pages = passed_over.iter().map(|(page, (needed, reason))| NeededPage {
            page: *page,
            needed: *needed,
            reason: Some(*reason),
        });
        pages.collect()
    }

    /// Those of some spaces, with all other pages of these spaces that the log has changes of: a file that is put back later may lack
    /// them too. So may those of `strange` spaces, whose files are not the ones that were changed. Reads the log once more for them. To be
    /// asked once, before checkpoints may move.
    pub fn needed_pages_of(
        &self,
        spaces: &BTreeSet<SpaceId>,
        strange: &BTreeSet<SpaceId>,
    ) -> Result<Vec<NeededPage>, StorageError> {
        let log = lock(&self.damage.log).take();
        let mut pages = self.passed_over_pages();
        pages.retain(|page| spaces.contains(&page.page.space));
        let is_needed = !(pages.is_empty() && strange.is_empty());
        let (Some((mut log, end)), true) = (log, is_needed) else { return Ok(pages) };
        let damaged = pages.iter().map(|page| page.page.space);
        let spaces: BTreeSet<SpaceId> = damaged.chain(strange.iter().copied()).collect();
        let passed_over: BTreeSet<PageId> = pages.iter().map(|page| page.page).collect();
        let mut brought_up = BTreeMap::new();
        while log.position() < end {
            let Some((range, payload)) = log.next_group()? else { break };
            for record in Records::new(payload).flatten() {
                let (Record::Create { page } | Record::Operation { page, .. }) = record else { continue };
                if spaces.contains(&page.space) && !passed_over.contains(&page) {
                    brought_up.insert(page, range.end);
                }
            }
        }
        let whole = brought_up.into_iter().map(|(page, needed)| NeededPage { page, needed, reason: None });
        pages.extend(whole);
        Ok(pages)
    }

    /// Pages that could not be read since the last call, with their files, as texts for the error log.
    pub fn take_damage_messages(&self) -> Vec<String> {
        let news = std::mem::take(&mut lock(&self.damage.named).news);
        news.into_iter().map(|(page, reason)| self.describe(page, reason)).collect()
    }

    /// A page and its file, and what is wrong.
    pub fn describe(&self, page: PageId, reason: &str) -> String {
        match self.path_of(page.space) {
            Ok(path) => format!("Page {} of '{}' is damaged: {reason}.", page.number, path.display()),
            Err(_) => format!("Page {} of tablespace {} is damaged: {reason}.", page.number, page.space),
        }
    }

    /// Whether a page that the disk does not give is passed over, because the start was told to.
    pub(crate) fn may_pass_over(&self, error: &StorageError) -> bool {
        let cannot_be_read =
            matches!(error, StorageError::Disk(error) if error.kind == env::DiskErrorKind::Other);
        cannot_be_read && self.forced != Forced::No
    }

    /// Whether the page's space has a file. Without one its changes are passed over: of a dropped table they do not matter, of any
    /// other they are lost once the checkpoint moves.
    pub(crate) fn has_file_for(&self, page: PageId, end: Lsn) -> bool {
        let has_file = self.has_file(page.space);
        if !has_file {
            self.damage.pass_over(page, end, NO_FILE);
        }
        has_file
    }
}

/// Whether an operation makes its page anew, whatever it held before.
pub(crate) fn makes_anew(operation: &PageOperation<'_>) -> bool {
    use PageOperation::{InitFree, InitNode};
    matches!(operation, InitFree { .. } | InitNode { .. })
}
