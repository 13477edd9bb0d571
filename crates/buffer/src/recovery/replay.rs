//! Applying the log to the pages, in lanes. Main type: [`Replay`].
//!
//! The log is cut into batches of some MiB. While one is applied, the next is read. The changes of a batch are laid into buckets by page,
//! and lanes (threads) take one bucket after another and sort it: a page is read at most once a batch, and all that a batch has of
//! it is applied by one lane, in the order of the log, under one latch. Different pages of a group may be at different places
//! meanwhile: each has its LSN, and nobody but the replay looks at them. There are more lanes than cores, so that many
//! pages are read at a time. If the log has changes of more pages than the pool has room for, it is read several times, each time for
//! a part of the pages, so that each is read and written once. A page that turns out to have been written after all of a batch is not looked at again before its LSN.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use env::JoinHandle;
use redo::LogReader;
use stdx::ids::{Lsn, PageId};
use stdx::known_hash::BuildKnownHash;
use stdx::sync::lock;

use super::replay_batch::{BATCH_BYTES_MAX, Batch, Part, mixed};
use super::replay_page::{Replayed, replay_run};
use crate::mini_transaction::record::MalformedGroup;
use crate::{BufferPool, RecoveryHandler, StorageError};

/// Lanes for each core, and the least and most of them.
const LANES_A_CORE: usize = 4;
const LANES_MIN: usize = 8;
const LANES_MAX: usize = 64;
/// A lane holds one page, and takes a frame for it: of these there must be enough.
const FRAMES_A_LANE: usize = 8;
/// Most passes over the log.
const PASSES_MAX: u64 = 32;
/// Pages whose LSN is remembered: some 20 MB.
const REMEMBERED_PAGES_MAX: usize = 900_000;

/// What a replay did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplayCounts {
    /// Threads that applied changes; 1: only the one that opened the pool.
    pub lanes: usize,
    /// How often the log was read.
    pub passes: u64,
    /// Pages that were changed, counted once a batch.
    pub pages_changed: u64,
}

/// A replay in progress.
pub(crate) struct Replay {
    shared: Arc<Shared>,
    lanes: usize,
    /// The lanes of the batch that is applied.
    running: Option<(Vec<JoinHandle>, Arc<Work>)>,
    /// The other batch.
    spare: Option<Batch>,
}

struct Shared {
    pool: Arc<BufferPool>,
    /// Pages that were written after all changes of a batch, with their LSNs.
    up_to_date: Mutex<HashMap<PageKey, Lsn, BuildKnownHash>>,
    pages_changed: AtomicUsize,
    has_failed: AtomicBool,
    failure: Mutex<Option<StorageError>>,
}

/// A batch that is applied.
struct Work {
    batch: Batch,
    /// The first bucket that no lane has taken.
    next: AtomicUsize,
}

/// A page as key of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PageKey(PageId);

impl Hash for PageKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(mixed(self.0));
    }
}

impl Replay {
    /// `lanes` is 0 for what suits the machine.
    fn new(pool: &Arc<BufferPool>, lanes: usize) -> Replay {
        let cores = pool.environment.threads.available_parallelism();
        let lanes = if lanes == 0 { (cores * LANES_A_CORE).clamp(LANES_MIN, LANES_MAX) } else { lanes };
        let shared = Shared {
            pool: Arc::clone(pool),
            up_to_date: Mutex::default(),
            pages_changed: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            failure: Mutex::default(),
        };
        Replay {
            lanes: lanes.min(pool.frames.count() / FRAMES_A_LANE).max(1),
            shared: Arc::new(shared),
            running: None,
            spare: None,
        }
    }

    /// An empty batch. A pool that is small has small ones: their pages should fit it.
    fn new_batch(&mut self) -> Batch {
        let pool_bytes = self.shared.pool.frames.count() * page::PAGE_BYTES;
        self.spare.take().unwrap_or_else(|| Batch::new((pool_bytes / 8).min(BATCH_BYTES_MAX)))
    }

    /// Begins to apply a batch once the one before is through.
    fn apply(&mut self, batch: Batch) -> Result<(), StorageError> {
        self.wait()?;
        let work = Arc::new(Work { batch, next: AtomicUsize::new(0) });
        let mut handles = Vec::new();
        if self.lanes > 1 {
            for _ in 0..self.lanes {
                let (shared, work) = (Arc::clone(&self.shared), Arc::clone(&work));
                let lane = Box::new(move || shared.work(&work));
                // What cannot be started the others do.
                let Ok(handle) = self.shared.pool.environment.threads.try_spawn("replay", lane) else {
                    break;
                };
                handles.push(handle);
            }
        }
        if handles.is_empty() {
            self.shared.work(&work);
        }
        self.running = Some((handles, work));
        Ok(())
    }

    /// Waits until nothing is applied any more.
    fn wait(&mut self) -> Result<(), StorageError> {
        if let Some((handles, work)) = self.running.take() {
            let whole = handles.into_iter().all(JoinHandle::join);
            assert!(whole, "a lane of the replay has panicked");
            self.spare = Arc::into_inner(work).map(|mut work| {
                work.batch.clear();
                work.batch
            });
        }
        lock(&self.shared.failure).take().map_or(Ok(()), Err)
    }
}

impl Drop for Replay {
    /// Whoever fails must not leave threads behind that have the pool.
    fn drop(&mut self) {
        if let Some((handles, _)) = self.running.take() {
            let _ = handles.into_iter().all(JoinHandle::join);
        }
    }
}

impl Shared {
    /// Takes buckets of a batch and applies their changes until there are no more.
    fn work(&self, work: &Work) {
        while let Some(bucket) = work.batch.open(work.next.fetch_add(1, Ordering::Relaxed)) {
            for run in bucket.runs() {
                if self.has_failed.load(Ordering::Relaxed) {
                    return;
                }
                let known = lock(&self.up_to_date).get(&PageKey(run.page)).copied();
                if known.is_some_and(|lsn| lsn >= run.end) {
                    continue;
                }
                match replay_run(&self.pool, run) {
                    Ok(Replayed::Changed) => {
                        self.pages_changed.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(Replayed::HadAll(lsn)) => self.remember(PageKey(run.page), lsn),
                    Err(error) => return self.fail(error),
                }
            }
        }
    }

    fn remember(&self, page: PageKey, lsn: Lsn) {
        let mut up_to_date = lock(&self.up_to_date);
        if up_to_date.len() < REMEMBERED_PAGES_MAX {
            up_to_date.insert(page, lsn);
        }
    }

    fn fail(&self, error: StorageError) {
        self.has_failed.store(true, Ordering::Relaxed);
        lock(&self.failure).get_or_insert(error);
    }
}

/// Applies the log up to `end` to the pages, and hands logical records to `handler`, in the order of the log. `readers` gives the
/// log from its beginning, `pages` says of about how many pages it has changes.
pub(crate) fn replay(
    pool: &Arc<BufferPool>,
    readers: &dyn Fn() -> LogReader,
    end: Lsn,
    pages: u64,
    handler: &mut dyn RecoveryHandler,
    lanes: usize,
) -> Result<ReplayCounts, StorageError> {
    let mut replay = Replay::new(pool, lanes);
    let parts = replay.parts(pages);
    for number in 0..parts {
        let mut logical = |kind, payload: &[u8], start| match number {
            0 => handler.logical_record(kind, payload, start),
            _ => Ok(()),
        };
        let reader = readers();
        let part = Part { number, parts, log_start: reader.position() };
        replay.pass(reader, end, part, &mut logical)?;
    }
    let pages_changed = replay.shared.pages_changed.load(Ordering::Relaxed) as u64;
    Ok(ReplayCounts { lanes: replay.lanes, passes: parts, pages_changed })
}

/// Takes kind, payload and start of the group of a logical record.
type Logical<'h> = dyn FnMut(u8, &[u8], Lsn) -> Result<(), StorageError> + 'h;

impl Replay {
    /// How often the log is read so that the pages of a pass fit the pool: each page is then read and written once. To read the log is
    /// much cheaper than to read and write pages again and again.
    fn parts(&self, pages: u64) -> u64 {
        let frames = self.shared.pool.frames.count() as u64;
        pages.div_ceil(frames - frames / 4).clamp(1, PASSES_MAX)
    }

    /// Applies the changes of some of the pages.
    fn pass(
        &mut self,
        mut reader: LogReader,
        end: Lsn,
        part: Part,
        logical: &mut Logical<'_>,
    ) -> Result<(), StorageError> {
        let mut batch = self.new_batch();
        while reader.position() < end {
            let start = reader.position();
            let Some((range, payload)) = reader.next_group()? else {
                return Err(log_corrupt("the log changed while it was read", start));
            };
            if !batch.has_room_for(range, payload) {
                self.apply(batch)?;
                batch = self.new_batch();
            }
            let logical =
                |kind, payload: &[u8]| logical(kind, payload, range.start).map_err(GroupError::Storage);
            batch.add(range, payload, part, logical).map_err(|error| match error {
                GroupError::Malformed => log_corrupt("a group holds an unknown record", range.start),
                GroupError::Storage(error) => error,
            })?;
        }
        self.apply(batch)?;
        self.wait()
    }
}

enum GroupError {
    Malformed,
    Storage(StorageError),
}

impl From<MalformedGroup> for GroupError {
    fn from(_: MalformedGroup) -> GroupError {
        GroupError::Malformed
    }
}

pub(crate) fn log_corrupt(reason: &'static str, lsn: Lsn) -> StorageError {
    StorageError::Log(redo::RedoError::Corrupt { reason, lsn })
}
