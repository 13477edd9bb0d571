//! [`BufferPool`]: the pages of all tablespaces. This file finds pages in memory and reads missing ones; replacing old
//! ones, space files, flushing, recovery and mini-transactions have files of their own.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, RwLock};

use env::{DiskError, Environment, FileLock, JoinHandle, blocking};
use metrics::Counter;
use page::PAGE_BYTES;
use redo::RedoLog;
use stdx::ids::PageId;
use stdx::sync::lock;

use crate::flush::{FlushState, FlusherSignal, LogLimits};
use crate::frames::{DirtyQueue, ExclusiveFrame, FrameSupply, Frames, SharedFrame};
use crate::recovery::{Damage, RecoveryReport};
use crate::spaces::{FileFault, GrowthLimits, OpenFiles, Spaces};
use crate::{CheckpointParticipant, Forced, MiniTransaction, PoolOptions, StorageError, page_transform};

/// The pages of all tablespaces. Shared by all threads.
pub struct BufferPool {
    pub(crate) environment: Environment,
    pub(crate) redo: RedoLog,
    pub(crate) frames: Frames,
    /// Frames with changes that are not on disk.
    pub(crate) dirty: DirtyQueue,
    /// Frames with changes that have no log: of temporary spaces. No checkpoint waits for them.
    pub(crate) unlogged_dirty: DirtyQueue,
    /// Counts the marks of that queue.
    pub(crate) unlogged_marks: AtomicU64,
    pub(crate) spaces: Spaces,
    pub(crate) open_files: Arc<OpenFiles>,
    pub(crate) growth: GrowthLimits,
    supply: FrameSupply,
    pub(crate) flush: Mutex<FlushState>,
    /// Counts batches that were written, for those who wait for clean frames.
    pub(crate) batches_written: (Mutex<u64>, Condvar),
    pub(crate) participant: RwLock<Option<Arc<dyn CheckpointParticipant>>>,
    pub(crate) limits: LogLimits,
    pub(crate) stopped: AtomicBool,
    pub(crate) flusher_signal: Arc<FlusherSignal>,
    pub(crate) flusher_thread: Mutex<Option<JoinHandle>>,
    pub(crate) damaged_files: Mutex<Vec<(PathBuf, FileFault)>>,
    pub(crate) damage: Damage,
    pub(crate) recovery: Mutex<RecoveryReport>,
    /// Directories whose entry in their parent this process has synced.
    pub(crate) durable_directories: Mutex<BTreeSet<PathBuf>>,
    pub(crate) is_new: bool,
    pub(crate) forced: Forced,
    pub(crate) reserve_pages: u32,
    /// Of the data directory and of its log.
    pub(crate) _locks: Vec<Box<dyn FileLock>>,
}

impl BufferPool {
    /// Reads a page under a shared latch. Several may be held by a thread, also of the same page; a thread that holds
    /// one must not latch the same page exclusively.
    #[inline]
    pub fn shared(&self, page: PageId) -> Result<SharedPage<'_>, StorageError> {
        Counter::PoolReadRequests.increment();
        if let Some(index) = self.translate(page)
            && let Some(frame) = self.frames.try_shared(index)
        {
            let header = frame.header();
            if header.holds(page) {
                // Most often it is set already, and the line stays shared.
                if !header.referenced.load(Ordering::Relaxed) {
                    header.referenced.store(true, Ordering::Relaxed);
                }
                return Ok(SharedPage { frame, page });
            }
        }
        self.shared_slowly(page)
    }

    #[inline]
    fn translate(&self, page: PageId) -> Option<u32> {
        self.spaces.get(page.space)?.entry(page.number)?.load(Ordering::Acquire).checked_sub(1)
    }

    #[cold]
    fn shared_slowly(&self, page: PageId) -> Result<SharedPage<'_>, StorageError> {
        loop {
            if let Some(index) = self.translate(page) {
                let frame = self.frames.shared_unless_interrupted(index).ok_or(StorageError::Interrupted)?;
                if frame.header().holds(page) {
                    frame.header().referenced.store(true, Ordering::Relaxed);
                    return Ok(SharedPage { frame, page });
                }
            } else if let Some(frame) = self.read_page(page)? {
                return Ok(SharedPage { frame: frame.downgrade(), page });
            }
        }
    }

    /// Latches a page exclusively, reading it if it must be.
    pub(crate) fn exclusive(&self, page: PageId) -> Result<ExclusiveFrame<'_>, StorageError> {
        Counter::PoolReadRequests.increment();
        loop {
            if let Some(index) = self.translate(page) {
                let frame =
                    self.frames.exclusive_unless_interrupted(index).ok_or(StorageError::Interrupted)?;
                if frame.header().holds(page) {
                    frame.header().referenced.store(true, Ordering::Relaxed);
                    return Ok(frame);
                }
            } else if let Some(frame) = self.read_page(page)? {
                return Ok(frame);
            }
        }
    }

    /// As `exclusive`, but None if somebody holds the page.
    pub(crate) fn try_exclusive(&self, page: PageId) -> Result<Option<ExclusiveFrame<'_>>, StorageError> {
        match self.translate(page) {
            Some(index) => Ok(self.frames.try_exclusive(index).filter(|frame| frame.header().holds(page))),
            None => self.read_page(page),
        }
    }

    /// Latches a page that is about to be written over as a whole: what is on disk is not read. Its bytes are whatever
    /// they are.
    pub(crate) fn exclusive_without_reading(&self, page: PageId) -> Result<ExclusiveFrame<'_>, StorageError> {
        loop {
            if let Some(index) = self.translate(page) {
                let frame = self.frames.exclusive(index);
                if frame.header().holds(page) {
                    return Ok(frame);
                }
            } else if let Some(frame) = self.enter(page, true)? {
                return Ok(frame);
            }
        }
    }

    /// Reads a page that is not in memory; None if another thread was quicker. It must be used a second time to count as
    /// in use: pages that are read once do not push out others.
    fn read_page(&self, page: PageId) -> Result<Option<ExclusiveFrame<'_>>, StorageError> {
        let read = self.enter(page, false).and_then(|frame| match frame {
            Some(frame) => self.filled(page, frame).map(Some),
            None => Ok(None),
        });
        if let Some(reason) = read.as_ref().err().and_then(StorageError::damage) {
            self.damage.meet(page, reason);
        }
        read
    }

    fn filled<'p>(
        &'p self,
        page: PageId,
        mut frame: ExclusiveFrame<'p>,
    ) -> Result<ExclusiveFrame<'p>, StorageError> {
        match self.fill(page, &mut frame) {
            Ok(()) => Ok(frame),
            Err(error) => {
                self.vacate(frame);
                Err(error)
            }
        }
    }

    fn fill(&self, page: PageId, frame: &mut ExclusiveFrame<'_>) -> Result<(), StorageError> {
        let file = self.spaces.require(page.space)?.file(page.space)?;
        let offset = u64::from(page.number.0) * PAGE_BYTES as u64;
        blocking::region(|| file.read_at(frame, offset))?;
        Counter::PoolReads.increment();
        Counter::PagesRead.increment();
        Counter::DataReads.increment();
        Counter::DataRead.add(PAGE_BYTES as u64);
        page_transform::open(frame, page)?;
        // A page from the future means that the log was lost: serving it would mix two histories.
        if page::lsn(frame) > self.redo.end_lsn() && self.forced != Forced::WithoutLog {
            return Err(StorageError::Corrupt { page, reason: "page is newer than the end of the redo log" });
        }
        frame.header().page_lsn.store(page::lsn(frame).0, Ordering::Release);
        Ok(())
    }

    /// Gives a page a frame, latched exclusively, with undefined bytes; None if it has one already.
    fn enter(&self, page: PageId, keep: bool) -> Result<Option<ExclusiveFrame<'_>>, StorageError> {
        let space = self.spaces.require(page.space)?;
        let entry = space.entry_of_file(page)?;
        let frame = self.take_frame()?;
        let header = frame.header();
        let entered = space.with_file(page.space, |_| {
            header.set_page(Some(page));
            header.page_lsn.store(0, Ordering::Release);
            header.referenced.store(keep, Ordering::Relaxed);
            header.unlogged.store(space.is_temporary(), Ordering::Relaxed);
            entry.compare_exchange(0, frame.index() + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        });
        match entered {
            Ok(true) => Ok(Some(frame)),
            Ok(false) => {
                self.supply.give_back(frame);
                Ok(None)
            }
            Err(error) => {
                self.supply.give_back(frame);
                Err(error)
            }
        }
    }

    /// Takes the page out of a frame without writing it.
    pub(crate) fn vacate(&self, frame: ExclusiveFrame<'_>) {
        if let Some(page) = frame.header().page()
            && let Some(entry) = self.spaces.get(page.space).and_then(|space| space.entry(page.number))
        {
            // A space that took over the object cannot have this frame: it is latched, and named by this page.
            let _ = entry.compare_exchange(frame.index() + 1, 0, Ordering::AcqRel, Ordering::Relaxed);
        }
        self.supply.give_back(frame);
    }

    /// A frame without a page, latched exclusively.
    fn take_frame(&self) -> Result<ExclusiveFrame<'_>, StorageError> {
        const ATTEMPTS_MAX: usize = 500;
        if let Some(frame) = self.supply.take_unused(&self.frames) {
            return Ok(frame);
        }
        for attempt in 0..ATTEMPTS_MAX {
            if let Some(frame) = self.supply.evict_one(&self.frames, &self.spaces) {
                return Ok(frame);
            }
            if let Some(frame) = self.supply.take_unused(&self.frames) {
                return Ok(frame);
            }
            // Nothing clean: have some pages written. What is latched cannot be written, so it may take more rounds.
            Counter::PoolWaitFree.increment();
            self.flusher_signal.wake();
            if self.flush_for_frames()? == 0 && attempt > 2 {
                blocking::region(|| self.environment.clock.sleep(std::time::Duration::from_millis(1)));
            }
        }
        Err(StorageError::PoolExhausted)
    }

    /// Starts a mini-transaction. It may first make room in the log, unless this thread has another one open.
    #[inline]
    pub fn mini_transaction(&self) -> MiniTransaction<'_> {
        MiniTransaction::new(self)
    }

    /// Whether nothing was ever logged in the data directory before this start.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// What opening the pool took.
    pub fn recovery_report(&self) -> RecoveryReport {
        *lock(&self.recovery)
    }

    /// The redo log.
    #[inline]
    pub fn redo(&self) -> &RedoLog {
        &self.redo
    }

    /// The world.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Frames of the pool.
    pub fn frame_count(&self) -> usize {
        self.frames.count()
    }

    /// Frames that hold a page, and those of them that differ from disk. Counted by walking the headers.
    pub fn page_counts(&self) -> (usize, usize) {
        let used = self.frames.headers().iter().filter(|header| header.page().is_some());
        used.fold((0, 0), |(pages, dirty), header| (pages + 1, dirty + usize::from(header.is_dirty())))
    }

    /// How many tablespace files are open, and how many may be.
    pub fn open_files(&self) -> (usize, usize) {
        (self.open_files.count(), self.open_files.maximum())
    }

    /// Whether a failed write has stopped the engine (I2).
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire) || self.redo.failure().is_some()
    }

    /// Stops for good after a failed write or sync of a page file: nothing is acknowledged any more (I2).
    pub(crate) fn stop(&self, error: &DiskError) -> StorageError {
        self.stopped.store(true, Ordering::Release);
        self.redo.fail(error.clone());
        if error.is_crash() { StorageError::Disk(error.clone()) } else { StorageError::Stopped }
    }

    /// At start, where nobody else tells what failed: what failed in place of `Stopped`.
    pub fn name_failure(&self, error: StorageError) -> StorageError {
        match (error, self.redo.failure()) {
            (StorageError::Stopped, Some(failure)) => StorageError::Log(failure),
            (error, _) => error,
        }
    }

    pub(crate) fn assemble(
        environment: Environment,
        options: &PoolOptions,
        redo: RedoLog,
        locks: Vec<Box<dyn FileLock>>,
    ) -> Result<BufferPool, StorageError> {
        let frame_count = (options.pool_bytes / PAGE_BYTES as u64).clamp(FRAMES_MIN, FRAMES_MAX);
        let frames = Frames::reserve(frame_count as usize).ok_or(StorageError::PoolExhausted)?;
        Ok(BufferPool {
            flush: Mutex::new(FlushState::new(&environment, options)?),
            batches_written: Default::default(),
            open_files: OpenFiles::new(Arc::clone(&environment.disk), options.open_files_max),
            growth: GrowthLimits::default(),
            environment,
            redo,
            frames,
            dirty: DirtyQueue::default(),
            unlogged_dirty: DirtyQueue::default(),
            unlogged_marks: AtomicU64::new(0),
            spaces: Spaces::new(),
            supply: FrameSupply::default(),
            participant: RwLock::new(None),
            limits: LogLimits::new(),
            stopped: AtomicBool::new(false),
            flusher_signal: Arc::default(),
            flusher_thread: Mutex::new(None),
            damaged_files: Mutex::default(),
            damage: Damage::default(),
            recovery: Mutex::default(),
            durable_directories: Mutex::default(),
            is_new: false,
            forced: options.forced,
            reserve_pages: options.reserve_pages,
            _locks: locks,
        })
    }
}

/// A pool below this could not hold the pages that one mini-transaction latches.
const FRAMES_MIN: u64 = 16;
/// Frame indices plus one fit 32 bits; 64 TiB of frames.
const FRAMES_MAX: u64 = u32::MAX as u64 - 1;

/// A page under a shared latch, readable as bytes.
pub struct SharedPage<'pool> {
    frame: SharedFrame<'pool>,
    page: PageId,
}

impl SharedPage<'_> {
    /// The page's address.
    #[inline]
    pub fn id(&self) -> PageId {
        self.page
    }

    /// Whether a writer waits for the page: who is at something long gives it back and goes on later.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.frame.header().latch.is_wanted()
    }
}

impl Deref for SharedPage<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.frame
    }
}
