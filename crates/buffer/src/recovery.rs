//! Opening a data directory: finding the files, repairing torn pages, replaying the log.
//!
//! Recovery may be interrupted anywhere and starts again from the same checkpoint; page LSNs make replaying idempotent.
//! It allocates nothing on disk (I5). The log it reads is made durable before pages are written from it (I1).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use env::{Environment, OpenMode};
use page::{PAGE_BYTES, PageOperation, SpaceHeaderRef};
use redo::{GroupRange, Lineage, LogReader, RedoLog, RedoOptions};
use stdx::aligned::AlignedBuffer;
use stdx::ids::{Lsn, PageId};
use stdx::sync::lock;

use crate::damage::makes_anew;
use crate::doublewrite::Doublewrite;
use crate::frames::ExclusiveFrame;
use crate::mini_transaction::zero_page;
use crate::record::{self, EpochRecord, Record, Records};
use crate::space_files::{NEW_SUFFIX, file_pages, is_data_file};
use crate::spaces::SpaceFile;
use crate::{
    BufferPool, DATA_FILE_SUFFIX, Forced, PoolOptions, RecoveryHandler, StorageError, page_transform,
};

const LOCK_NAME: &str = "iruka.lock";
/// Where files go that belong to no table. They are never looked at again.
pub(crate) const LOST_DIRECTORY: &str = "#lost+found";

impl BufferPool {
    /// Opens the data directory (made if it is empty): finds the last checkpoint, repairs torn pages, replays the log,
    /// hands logical records to `handler`. Every tablespace file that was found is open afterwards. The checkpoint
    /// does not move before `set_checkpoint_participant` was called.
    pub fn open(
        environment: Environment,
        options: PoolOptions,
        handler: &mut dyn RecoveryHandler,
    ) -> Result<Arc<BufferPool>, StorageError> {
        environment.disk.create_directory(Path::new(""))?;
        let lock = environment.disk.lock(Path::new(LOCK_NAME))?;
        if options.forced == Forced::WithoutLog {
            RedoLog::remove(&environment)?;
        } else if !RedoLog::exists(&environment)?
            && let Some(file) = data_files(&environment)?.into_iter().find(|path| is_data_file(path))
        {
            return Err(StorageError::LogMissing(file));
        }
        let redo_options = RedoOptions {
            capacity_bytes: options.log_capacity_bytes,
            segment_bytes: options.log_segment_bytes,
            buffer_bytes: options.log_buffer_bytes,
            ends_at_damage: options.forced == Forced::PastDamagedLog,
        };
        let opened = RedoLog::open(&environment, &redo_options)?;
        let LogExtent { end, is_new } = log_extent(opened.reader(), opened.lineage())?;
        opened.sync()?;
        let readers = [opened.reader(), opened.reader()];
        let copies = Doublewrite::copies(&environment)?;
        let mut pool = BufferPool::assemble(environment, &options, opened.start(end)?, lock)?;
        pool.is_new = is_new && options.forced != Forced::WithoutLog;
        pool.log_epoch();
        let recovered = pool.recover(&copies, readers, end, handler, options.doublewrite);
        recovered.map_err(|error| pool.name_failure(error))?;
        let pool = Arc::new(pool);
        if options.background {
            pool.start_flusher();
        }
        Ok(pool)
    }

    /// Begins the log of this start.
    fn log_epoch(&self) {
        let (epoch, start) = self.redo.epoch();
        let mut group = Vec::new();
        redo::new_group(&mut group);
        let (log_id, features) = (self.redo.lineage().id, redo::FEATURES);
        let record = EpochRecord { log_id, epoch, start, server_version: SERVER_VERSION, features };
        record::put_epoch(&mut group, &record);
        self.redo.append(&mut group);
    }

    fn recover(
        &self,
        copies: &BTreeMap<PageId, Vec<u8>>,
        [reader, again]: [LogReader; 2],
        end: Lsn,
        handler: &mut dyn RecoveryHandler,
        doublewrite: bool,
    ) -> Result<(), StorageError> {
        self.find_files(copies)?;
        self.repair_torn_pages(copies)?;
        self.sync_files()?;
        if !doublewrite {
            Doublewrite::forget_copies(&self.environment).map_err(|error| self.stop(&error))?;
        }
        self.replay(reader, end, handler)?;
        self.note_needed_pages(again, end)?;
        self.damage.forget_met();
        self.update_throttle();
        Ok(())
    }

    /// Opens every tablespace file; removes those that were never finished.
    fn find_files(&self, copies: &BTreeMap<PageId, Vec<u8>>) -> Result<(), StorageError> {
        for path in data_files(&self.environment)? {
            if !is_data_file(&path) {
                self.environment.disk.remove(&path)?;
            } else if let Some(fault) = self.open_found_file(&path, copies)? {
                lock(&self.damaged_files).push((path, fault));
            }
        }
        Ok(())
    }

    /// Opens a file that was found, or says why it cannot be. Two files of one space are an error: only a person knows which
    /// of them is the copy.
    fn open_found_file(
        &self,
        path: &Path,
        copies: &BTreeMap<PageId, Vec<u8>>,
    ) -> Result<Option<FileFault>, StorageError> {
        let file = self.environment.disk.open(path, OpenMode::Existing)?;
        let pages = file_pages(file.as_ref())?;
        if pages == 0 {
            return Ok(Some(FileFault::Damaged));
        }
        let mut bytes = AlignedBuffer::zeroed(PAGE_BYTES);
        file.read_at(&mut bytes, 0)?;
        // A torn write leaves the identity as it was: it lies in the first sector and never changes.
        let page = page::page_id(&bytes);
        let header = match page_transform::open(&bytes, page) {
            Ok(()) => Some(&bytes[..]),
            Err(_) => copies.get(&page).map(Vec::as_slice),
        };
        let Some(header) = header.filter(|_| page.number.0 == 0) else {
            return Ok(Some(FileFault::Damaged));
        };
        if !self.is_ours(header) {
            return Ok(Some(FileFault::Foreign));
        }
        let file = SpaceFile { space: page.space, path: path.to_path_buf(), file };
        match self.spaces.add(file, pages) {
            Ok(()) => Ok(None),
            Err(StorageError::SpaceExists(space)) => {
                let first = self.spaces.require(space)?.with_file(space, |file| file.path.clone())?;
                Err(StorageError::SpaceTwice(space, first, path.to_path_buf()))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a space header is of a format that is known, and the log has the file's changes.
    fn is_ours(&self, header: &[u8]) -> bool {
        if self.forced == Forced::WithoutLog {
            return SpaceHeaderRef::new(header).is_ok();
        }
        let lineage = self.redo.lineage();
        let origin = SpaceHeaderRef::new(header).and_then(|header| header.origin());
        origin.is_ok_and(|origin| {
            origin.log_id == lineage.id
                || origin.log_id == lineage.parent_id && origin.created <= lineage.parent_end
        })
    }

    /// Writes doublewrite copies over pages that are not whole.
    fn repair_torn_pages(&self, copies: &BTreeMap<PageId, Vec<u8>>) -> Result<(), StorageError> {
        let mut bytes = AlignedBuffer::zeroed(PAGE_BYTES);
        for (page, copy) in copies {
            let Some(space) = self.spaces.get(page.space) else { continue };
            let Ok(file) = space.file(page.space) else { continue };
            if page.number.0 >= space.file_pages() {
                continue;
            }
            let offset = u64::from(page.number.0) * PAGE_BYTES as u64;
            file.read_at(&mut bytes, offset)?;
            if page_transform::open(&bytes, *page).is_err() {
                bytes[..PAGE_BYTES].copy_from_slice(copy);
                file.write_at(&bytes, offset).map_err(|error| self.stop(&error))?;
            }
        }
        Ok(())
    }

    /// Makes durable what a process that was killed had written and not synced. Until then the doublewrite file must stay as
    /// it is, and no page that was read may count as written: the machine may still lose either.
    fn sync_files(&self) -> Result<(), StorageError> {
        for file in self.spaces.list() {
            file.file.sync_data().map_err(|error| self.stop(&error))?;
        }
        Ok(())
    }

    fn replay(
        &self,
        mut reader: LogReader,
        end: Lsn,
        handler: &mut dyn RecoveryHandler,
    ) -> Result<(), StorageError> {
        while reader.position() < end {
            let Some((range, payload)) = reader.next_group()? else {
                return Err(log_corrupt("the log changed while it was read", reader.position()));
            };
            self.replay_pages(range, payload)?;
            for record in Records::new(payload) {
                if let Ok(Record::Logical { kind, payload }) = record {
                    handler.logical_record(kind, payload, range.start)?;
                }
            }
        }
        Ok(())
    }

    /// Applies a group to its pages. They stay latched until all of the group is applied and the LSN is stamped, so none
    /// is ever written, or found after the next crash, with half of it.
    fn replay_pages(&self, range: GroupRange, payload: &[u8]) -> Result<(), StorageError> {
        let mut pages = GroupPages { pool: self, range, held: Vec::new() };
        for record in Records::new(payload) {
            match record {
                Ok(Record::Create { page }) => pages.create(page)?,
                Ok(Record::Operation { page, operation }) => pages.apply(page, operation)?,
                Ok(Record::Logical { .. } | Record::Epoch(_)) => {}
                Err(_) => return Err(log_corrupt("a group holds an unknown record", range.start)),
            }
        }
        pages.stamp();
        Ok(())
    }
}

/// Why a file that looks like a tablespace was left alone at start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// Its header is not whole, or it has none.
    Damaged,
    /// It is of another server, or needs features that this one does not have.
    Foreign,
}

/// The pages of the group that is being replayed.
struct GroupPages<'pool> {
    pool: &'pool BufferPool,
    range: GroupRange,
    held: Vec<HeldPage<'pool>>,
}

struct HeldPage<'pool> {
    page: PageId,
    frame: ExclusiveFrame<'pool>,
    /// The page on disk has the group already.
    is_done: bool,
}

impl<'pool> GroupPages<'pool> {
    fn find(&self, page: PageId) -> Option<usize> {
        self.held.iter().position(|held| held.page == page)
    }

    fn hold(&mut self, page: PageId, frame: ExclusiveFrame<'pool>) -> usize {
        let is_done = page::lsn(&frame) >= self.range.end;
        if !is_done {
            let marked = [(frame.index(), frame.header())].into_iter();
            self.pool.dirty.mark(&self.pool.frames, marked, || self.range.start);
        }
        self.held.push(HeldPage { page, frame, is_done });
        self.held.len() - 1
    }

    /// Holds the page that starts anew, unless it has the group already.
    fn create(&mut self, page: PageId) -> Result<(), StorageError> {
        let Some(index) = self.hold_to_create(page)? else { return Ok(()) };
        let held = &mut self.held[index];
        if !held.is_done {
            zero_page(&mut held.frame, page, Lsn(0));
        }
        Ok(())
    }

    fn hold_to_create(&mut self, page: PageId) -> Result<Option<usize>, StorageError> {
        if !self.pool.has_file_for(page, self.range.end) {
            return Ok(None);
        }
        if let Some(index) = self.find(page) {
            return Ok(Some(index));
        }
        match self.frame_to_create(page) {
            Ok(frame) => {
                self.pool.damage.forget(page);
                Ok(Some(self.hold(page, frame)))
            }
            Err(error) => self.pass_over(page, error),
        }
    }

    /// What is on disk need not make sense before a page's first write.
    fn frame_to_create(&self, page: PageId) -> Result<ExclusiveFrame<'pool>, StorageError> {
        match self.pool.exclusive(page) {
            Err(StorageError::Corrupt { .. }) => {
                let mut frame = self.pool.exclusive_without_reading(page)?;
                zero_page(&mut frame, page, Lsn(0));
                Ok(frame)
            }
            outcome => outcome,
        }
    }

    /// The page with its changes so far; None if it cannot be brought up to date.
    fn hold_to_change(&mut self, page: PageId) -> Result<Option<usize>, StorageError> {
        if !self.pool.has_file_for(page, self.range.end) {
            return Ok(None);
        }
        if let Some(index) = self.find(page) {
            return Ok(Some(index));
        }
        if self.pool.damage.is_passed_over(page) {
            self.pool.damage.pass_over(page, self.range.end, "");
            return Ok(None);
        }
        match self.pool.exclusive(page) {
            Ok(frame) => Ok(Some(self.hold(page, frame))),
            Err(error) => self.pass_over(page, error),
        }
    }

    fn pass_over(&self, page: PageId, error: StorageError) -> Result<Option<usize>, StorageError> {
        let reason = match error.damage() {
            Some(reason) => reason,
            None if self.pool.may_pass_over(&error) => "it cannot be read",
            None => return Err(error),
        };
        self.pool.damage.pass_over(page, self.range.end, reason);
        Ok(None)
    }

    fn apply(&mut self, page: PageId, operation: &[u8]) -> Result<(), StorageError> {
        let operation =
            PageOperation::decode(operation).map_err(|error| StorageError::corrupt(page, error))?;
        let held = match makes_anew(&operation) {
            true => self.hold_to_create(page)?,
            false => self.hold_to_change(page)?,
        };
        let Some(held) = held.map(|index| &mut self.held[index]).filter(|held| !held.is_done) else {
            return Ok(());
        };
        if let Err(error) = operation.apply(&mut held.frame) {
            // It is not what it was when this was logged. Without the stamp it shows as one that lacks the change.
            held.is_done = true;
            self.pool.damage.pass_over(page, self.range.end, error.reason);
        }
        Ok(())
    }

    fn stamp(mut self) {
        for held in self.held.iter_mut().filter(|held| !held.is_done) {
            page::set_lsn(&mut held.frame, self.range.end);
            held.frame.header().page_lsn.store(self.range.end.0, Ordering::Release);
        }
    }
}

/// The files in the root and in the directories below it that are tablespaces by their names, or were to become some
/// ([`NEW_SUFFIX`]).
fn data_files(environment: &Environment) -> Result<Vec<PathBuf>, StorageError> {
    let disk = &environment.disk;
    let mut directories = vec![PathBuf::new()];
    for name in disk.list(Path::new(""))? {
        let name = name.strip_suffix('/');
        let is_ours = |name: &&str| ![redo::LOG_DIRECTORY, LOST_DIRECTORY].contains(name);
        directories.extend(name.filter(is_ours).map(PathBuf::from));
    }
    let unfinished = format!("{DATA_FILE_SUFFIX}{NEW_SUFFIX}");
    let mut files = Vec::new();
    for directory in directories {
        let names = disk.list(&directory)?.into_iter();
        let ours = names.filter(|name| name.ends_with(DATA_FILE_SUFFIX) || name.ends_with(&unfinished));
        files.extend(ours.map(|name| directory.join(name)));
    }
    Ok(files)
}

/// What a first reading of the log finds.
struct LogExtent {
    end: Lsn,
    /// Nothing was ever logged but starts of the server.
    is_new: bool,
}

fn log_extent(mut reader: LogReader, lineage: Lineage) -> Result<LogExtent, StorageError> {
    let mut is_new = reader.position() == Lsn(redo::FIRST_LSN);
    while let Some((range, payload)) = reader.next_group()? {
        match Records::new(payload).next() {
            Some(Ok(Record::Epoch(epoch))) if epoch.log_id != lineage.id || epoch.start != range.start => {
                return Err(log_corrupt("a part of another log", range.start));
            }
            Some(Ok(Record::Epoch(_))) => {}
            _ => is_new = false,
        }
    }
    Ok(LogExtent { end: reader.position(), is_new })
}

/// As epoch records have it.
const SERVER_VERSION: u32 = {
    let [major, minor, patch] =
        [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH")];
    number(major) << 16 | number(minor) << 8 | number(patch)
};

const fn number(digits: &str) -> u32 {
    match u32::from_str_radix(digits, 10) {
        Ok(number) => number,
        Err(_) => panic!("a version has numbers"),
    }
}

fn log_corrupt(reason: &'static str, lsn: Lsn) -> StorageError {
    StorageError::Log(redo::RedoError::Corrupt { reason, lsn })
}
