//! Writing dirty pages: batches through the doublewrite file, for whoever asks, under one mutex.
//!
//! A page is copied under its shared latch and written only when its log is durable (I1). Between the copy and the last
//! sync it stays in its frame, and its `flushing_since` holds the checkpoint back. A failed write or sync stops the engine
//! (I2); a full disk leaves the pages dirty for a later attempt (I4). Batches never wait for a latch.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use env::{DiskErrorKind, DiskResult, Environment, File, blocking};
use metrics::Counter;
use page::PAGE_BYTES;
use stdx::aligned::AlignedBuffer;
use stdx::ids::{Lsn, PageId, SpaceId};
use stdx::sync::lock;

use super::doublewrite::{BATCH_PAGES_MAX, Doublewrite, HEADER_BYTES};
use crate::spaces::{TableFile, reserve};
use crate::{BufferPool, PoolOptions, StorageError, page_transform};

/// What the one who writes pages needs.
pub(crate) struct FlushState {
    doublewrite: Option<Doublewrite>,
    /// Copies of the pages of a batch, behind room for the header of the doublewrite file.
    batch: AlignedBuffer,
    /// Frames last taken from the queue of dirty ones, oldest change last.
    queue: Vec<u32>,
}

/// Most frames taken from the queue of dirty frames at once: many batches' worth.
const QUEUE_MAX: usize = 8192;
/// Batches of pools that are too small for the maximum.
const BATCH_PAGES_MIN: usize = 8;
/// Most files that are open at a time while a batch is written.
const FILES_AT_ONCE: usize = 16;

/// A page of a batch.
struct BatchPage {
    page: PageId,
    index: u32,
    file: Arc<TableFile>,
    /// No copy in the doublewrite file is needed.
    needs_no_copy: bool,
    /// Nor a sync: the page is of a temporary space.
    unlogged: bool,
}

impl FlushState {
    pub fn new(environment: &Environment, options: &PoolOptions) -> Result<FlushState, StorageError> {
        let frames = usize::try_from(options.pool_bytes).unwrap_or(usize::MAX) / PAGE_BYTES;
        let mut batch_pages = (frames / 4).clamp(BATCH_PAGES_MIN, BATCH_PAGES_MAX);
        let mut doublewrite = None;
        if options.doublewrite {
            let opened = match Doublewrite::open(environment, BATCH_PAGES_MIN, batch_pages) {
                Err(error) if error.kind == DiskErrorKind::NoSpace && reserve::remove_file(environment) => {
                    Doublewrite::open(environment, BATCH_PAGES_MIN, batch_pages)
                }
                opened => opened,
            };
            let (opened, pages) = opened?;
            batch_pages = pages;
            doublewrite = Some(opened);
        }
        let batch = AlignedBuffer::zeroed(HEADER_BYTES + batch_pages * PAGE_BYTES);
        Ok(FlushState { doublewrite, batch, queue: Vec::new() })
    }

    /// Most pages of a batch.
    fn batch_pages(&self) -> usize {
        (self.batch.len() - HEADER_BYTES) / PAGE_BYTES
    }
}

impl BufferPool {
    /// Finds clean frames for a thread that needs one: writes a batch, or waits for the one that is being written.
    pub(crate) fn flush_for_frames(&self) -> Result<usize, StorageError> {
        const WAIT_MAX: Duration = Duration::from_millis(20);
        let batches = *lock(&self.batches_written.0);
        match self.flush.try_lock() {
            Ok(mut state) => {
                if state.queue.is_empty() {
                    state.queue =
                        self.unlogged_dirty.oldest_frames(&self.frames, Lsn(u64::MAX), QUEUE_MAX, |_| true);
                    state.queue.extend(self.dirty.oldest_frames(
                        &self.frames,
                        Lsn(u64::MAX),
                        QUEUE_MAX,
                        |_| true,
                    ));
                    state.queue.reverse();
                }
                self.flush_queued(state)
            }
            Err(_) => {
                let count = lock(&self.batches_written.0);
                let unchanged = |count: &mut u64| *count == batches;
                let wait = || self.batches_written.1.wait_timeout_while(count, WAIT_MAX, unchanged);
                drop(blocking::region(wait));
                Ok(0)
            }
        }
    }

    /// Writes a batch of dirty pages, oldest change first, and returns how many it wrote. Pages that are latched
    /// exclusively are passed over.
    pub fn flush_some(&self) -> Result<usize, StorageError> {
        let state = blocking::region(|| lock(&self.flush));
        self.flush_queued(state)
    }

    fn flush_queued(&self, mut state: MutexGuard<'_, FlushState>) -> Result<usize, StorageError> {
        if state.queue.is_empty() {
            state.queue = self.dirty.oldest_frames(&self.frames, Lsn(u64::MAX), QUEUE_MAX, |_| true);
            state.queue.reverse();
        }
        let keep = state.queue.len().saturating_sub(state.batch_pages());
        let batch = state.queue.split_off(keep);
        self.flush_batch(&mut state, batch)
    }

    /// As `flush_some`, for the pages of one space.
    pub(crate) fn flush_space_some(&self, space: SpaceId) -> Result<usize, StorageError> {
        self.flush_chosen(Lsn(u64::MAX), BATCH_PAGES_MAX, |page| page.space == space)
    }

    /// Writes up to `pages_max` pages whose oldest change lies before `target`, and returns how many it wrote.
    pub(crate) fn flush_older_than(&self, target: Lsn, pages_max: usize) -> Result<usize, StorageError> {
        self.flush_chosen(target, pages_max, |_| true)
    }

    fn flush_chosen(
        &self,
        before: Lsn,
        pages_max: usize,
        choose: impl Fn(PageId) -> bool,
    ) -> Result<usize, StorageError> {
        let mut frames = self.dirty.oldest_frames(&self.frames, before, pages_max.min(QUEUE_MAX), choose);
        let mut written = 0;
        while !frames.is_empty() {
            // Given up between batches: others may need a clean frame at once. A frame that was replaced meanwhile is
            // written if it is dirty again, or passed over.
            let mut state = blocking::region(|| lock(&self.flush));
            let rest = frames.split_off(frames.len().min(state.batch_pages()));
            written += self.flush_batch(&mut state, std::mem::replace(&mut frames, rest))?;
        }
        Ok(written)
    }

    /// Writes the pages in these frames, as far as they are still dirty and nobody changes them just now.
    fn flush_batch(&self, state: &mut FlushState, mut frames: Vec<u32>) -> Result<usize, StorageError> {
        if self.is_stopped() {
            return Err(StorageError::Stopped);
        }
        // Pages that need a copy first; within each kind, neighbours on disk become one write.
        frames.sort_unstable_by_key(|index| {
            let header = self.frames.header(*index);
            (header.needs_no_copy(), header.page())
        });
        let (pages, newest) = self.copy_pages(&mut state.batch[HEADER_BYTES..], &frames);
        if pages.is_empty() {
            return Ok(0);
        }
        self.redo.flush_to(newest)?;
        // I1: no page is written before the log that explains it.
        assert!(newest <= self.redo.durable_lsn(), "page LSN {newest} is not durable");
        // A log that loses its end while no server runs must not be taken for a whole one that these pages are too new for.
        self.redo.note_progress()?;
        let batch = &mut state.batch[..HEADER_BYTES + pages.len() * PAGE_BYTES];
        page_transform::seal(&mut batch[HEADER_BYTES..]);
        let outcome = blocking::region(|| write_batch(state.doublewrite.as_mut(), batch, &pages));
        match outcome {
            Ok(()) => {}
            Err(error) if leaves_pages_dirty(error.kind) => return Err(StorageError::Disk(error)),
            Err(error) => return Err(self.stop(&error)),
        }
        for page in &pages {
            let header = self.frames.header(page.index);
            header.created.store(false, Ordering::Release);
            header.flushing_since.store(0, Ordering::Release);
        }
        *lock(&self.batches_written.0) += 1;
        self.batches_written.1.notify_all();
        Counter::PoolPagesFlushed.add(pages.len() as u64);
        Ok(pages.len())
    }

    /// Copies pages into the batch and marks their frames as being flushed. Gives the greatest LSN among them.
    fn copy_pages(&self, batch: &mut [u8], frames: &[u32]) -> (Vec<BatchPage>, Lsn) {
        let mut pages = Vec::with_capacity(frames.len());
        let mut newest = Lsn(0);
        for &index in frames {
            let Some(frame) = self.frames.try_shared_before_writers(index) else { continue };
            let header = frame.header();
            let (Some(page), Some(oldest)) = (header.page(), header.oldest_change()) else { continue };
            let file = self.spaces.require(page.space).and_then(|space| space.table_file(page.space));
            // Pages of a space that is going away need not be written.
            let Ok(file) = file else { continue };
            let needs_no_copy = header.needs_no_copy();
            // The kind may have changed since the batch was sorted; then the page waits for another batch.
            if !needs_no_copy && pages.last().is_some_and(|last: &BatchPage| last.needs_no_copy) {
                continue;
            }
            let at = pages.len() * PAGE_BYTES;
            batch[at..at + PAGE_BYTES].copy_from_slice(&frame);
            header.flushing_since.store(oldest.0, Ordering::Release);
            header.dirty_since.store(0, Ordering::Release);
            newest = newest.max(Lsn(header.page_lsn.load(Ordering::Acquire)));
            let unlogged = header.unlogged.load(Ordering::Relaxed);
            pages.push(BatchPage { page, index, file, needs_no_copy, unlogged });
        }
        (pages, newest)
    }
}

/// Whether a write may succeed later. Nobody has to stop for it, and the pages wait.
fn leaves_pages_dirty(kind: DiskErrorKind) -> bool {
    matches!(kind, DiskErrorKind::NoSpace | DiskErrorKind::TooManyFiles)
}

/// One durable copy of all that need one, then each page in its place, with one sync for each file. `batch` has the pages behind
/// room for the header.
fn write_batch(
    doublewrite: Option<&mut Doublewrite>,
    batch: &mut [u8],
    pages: &[BatchPage],
) -> DiskResult<()> {
    let copied = pages.iter().take_while(|page| !page.needs_no_copy).count();
    if let Some(doublewrite) = doublewrite.filter(|_| copied > 0) {
        doublewrite.write(&mut batch[..HEADER_BYTES + copied * PAGE_BYTES])?;
    }
    let bytes = &batch[HEADER_BYTES..];
    let mut runs = runs(pages);
    // The files of a batch need not all be open at a time.
    runs.sort_by_key(|run| pages[run.start].page.space);
    let mut rest = &runs[..];
    while !rest.is_empty() {
        let count = write_some(bytes, pages, rest)?;
        rest = &rest[count..];
    }
    Ok(())
}

/// Writes runs of pages, which are sorted by their files, and syncs these through the descriptors that they were written by. Gives
/// how many runs it has written: one at least, and no more than there are descriptors for.
fn write_some(bytes: &[u8], pages: &[BatchPage], runs: &[Range<usize>]) -> DiskResult<usize> {
    let mut files: Vec<(SpaceId, bool, Arc<dyn File>)> = Vec::new();
    let mut written = Ok(0);
    for run in runs {
        let BatchPage { page, file, unlogged, .. } = &pages[run.start];
        let file = match files.last() {
            Some((space, _, file)) if *space == page.space => Ok(Arc::clone(file)),
            Some(_) if files.len() == FILES_AT_ONCE => break,
            _ => file.open().inspect(|file| files.push((page.space, *unlogged, Arc::clone(file)))),
        };
        let outcome = file.and_then(|file| write_run(file.as_ref(), bytes, *page, run));
        match outcome {
            Ok(()) => written = written.map(|count| count + 1),
            // Those that are written leave their descriptors to the others.
            Err(error) if error.kind == DiskErrorKind::TooManyFiles && !files.is_empty() => break,
            Err(error) => {
                written = Err(error);
                break;
            }
        }
    }
    // Also where the disk was full in between: the next batch overwrites the copies.
    for (_, _, file) in files.iter().filter(|(_, unlogged, _)| !unlogged) {
        file.sync_data()?;
        Counter::DataFsyncs.increment();
    }
    written
}

fn write_run(file: &dyn File, bytes: &[u8], first: PageId, run: &Range<usize>) -> DiskResult<()> {
    let offset = u64::from(first.number.0) * PAGE_BYTES as u64;
    file.write_at(&bytes[run.start * PAGE_BYTES..run.end * PAGE_BYTES], offset)?;
    Counter::DataWrites.increment();
    Counter::DataWritten.add((run.len() * PAGE_BYTES) as u64);
    Counter::PagesWritten.add(run.len() as u64);
    Ok(())
}

/// Pages that lie side by side in one file, in the order of the batch.
fn runs(pages: &[BatchPage]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    while start < pages.len() {
        let end = start + run_length(&pages[start..]);
        runs.push(start..end);
        start = end;
    }
    runs
}

/// How many pages from the first on lie side by side in one file.
fn run_length(pages: &[BatchPage]) -> usize {
    let adjoining = pages.windows(2).take_while(|pair| {
        let (one, next) = (pair[0].page, pair[1].page);
        one.space == next.space && one.number.0 + 1 == next.number.0
    });
    adjoining.count() + 1
}
