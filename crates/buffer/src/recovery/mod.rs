//! Opening a data directory: finding the files, repairing torn pages, replaying the log.
//!
//! Recovery may be interrupted anywhere and starts again from the same checkpoint; page LSNs make replaying idempotent.
//! It allocates nothing on disk (I5). The log it reads is made durable before pages are written from it (I1).

mod damage;
mod page_count;
mod replay;
mod replay_batch;
mod replay_page;

pub(crate) use damage::Damage;
pub use damage::NeededPage;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use env::{DiskError, DiskErrorKind, Environment, OpenMode};
use page::{PAGE_BYTES, SpaceHeaderRef};
use redo::{Lineage, LogReader, RedoLog, RedoOptions};
use stdx::aligned::AlignedBuffer;
use stdx::ids::{Lsn, PageId, SpaceId};
use stdx::sync::lock;

use page_count::PageCount;
use replay::{log_corrupt, replay};

use crate::flush::Doublewrite;
use crate::mini_transaction::record::{self, EpochRecord, Record, Records};
use crate::spaces::{
    FileFault, LOST_DIRECTORY, NEW_SUFFIX, file_pages, is_data_file, space_named, space_path, store_id_in,
};
use crate::{
    BufferPool, DATA_FILE_SUFFIX, Forced, PoolOptions, RecoveryHandler, StorageError, page_transform,
};

const LOCK_NAME: &str = "iruka.lock";
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
        let mut locks = vec![environment.disk.lock(Path::new(LOCK_NAME))?];
        RedoLog::check_places(&environment)?;
        locks.extend(RedoLog::lock(&environment)?);
        let has_lock_of_log = locks.len() > 1;
        if options.forced == Forced::WithoutLog {
            RedoLog::remove(&environment)?;
        } else if !RedoLog::exists(&environment)?
            && let Some(file) = data_files(&environment)?.files.into_iter().find(|path| is_data_file(path))
        {
            return Err(StorageError::LogMissing(file));
        }
        let redo_options = RedoOptions {
            capacity_bytes: options.log_capacity_bytes,
            segment_bytes: options.log_segment_bytes,
            buffer_bytes: options.log_buffer_bytes,
            ends_at_damage: options.forced == Forced::PastDamagedLog,
        };
        let begun = environment.clock.monotonic();
        let opened = RedoLog::open(&environment, &redo_options)?;
        // Not of one that is in memory only.
        if !has_lock_of_log && options.forced != Forced::WithoutLog {
            locks.extend(RedoLog::lock(&environment)?);
        }
        let LogExtent { end, is_new, pages, spaces } = log_extent(opened.reader(), opened.lineage())?;
        opened.sync()?;
        let readers = opened.readers();
        let log_bytes = end.0 - opened.checkpoint().0;
        let copies = Doublewrite::copies(&environment)?;
        let mut pool = BufferPool::assemble(environment, &options, opened.start(end)?, locks)?;
        pool.is_new = is_new && options.forced != Forced::WithoutLog;
        let pool = Arc::new(pool);
        pool.log_epoch();
        // The log of this start must not be lost in silence either. A full disk may have no room for it yet.
        if pool.redo.ready_bytes() > 0 {
            pool.redo.note_durable(pool.redo.end_lsn())?;
        }
        let checked = pool.environment.clock.monotonic();
        let recovery = Recovery { pool: &pool, copies: &copies };
        let recovered = recovery.run(spaces, &readers, (end, pages), handler, &options);
        let mut report = recovered.map_err(|error| pool.name_failure(error))?;
        report.log_bytes = log_bytes;
        report.check_time = checked.saturating_sub(begun);
        *self::lock(&pool.recovery) = report;
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

    /// Opens a file that was found, or says why it cannot be. Two files of one space are an error: only a person knows which
    /// of them is the copy.
    fn open_found_file(
        &self,
        path: &Path,
        named: Option<SpaceId>,
        copies: &BTreeMap<PageId, Vec<u8>>,
    ) -> Result<Option<FileFault>, StorageError> {
        let file = self.open_file(path, OpenMode::Existing)?;
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
            Err(_) => copies.get(&page).map(Vec::as_slice).filter(|copy| is_torn_from(copy, &bytes)),
        };
        let is_it = page.number.0 == 0 && named.is_none_or(|named| named == page.space);
        let Some(header) = header.filter(|_| is_it) else { return Ok(Some(FileFault::Damaged)) };
        if !self.is_ours(header) {
            return Ok(Some(FileFault::Foreign));
        }
        let store_id = store_id_in(header);
        let file = self.space_file(page.space, store_id, path, file);
        let added = match self.spaces.is_found(page.space) && named.is_some() {
            true => self.spaces.add_found(file, pages),
            false => self.spaces.add(file, pages),
        };
        match added {
            Ok(()) => Ok(None),
            Err(StorageError::SpaceExists(space)) => {
                let other = self.path_of(space)?;
                // What has the space's name may be anything.
                if named.is_none()
                    && self.spaces.is_found(space)
                    && let Some(fault) = self.open_found_space(space)?
                {
                    self.spaces.forget_found(space);
                    lock(&self.damaged_files).push((other, fault));
                    return self.open_found_file(path, named, copies);
                }
                Err(StorageError::SpaceTwice(space, other, path.to_path_buf()))
            }
            Err(error) => Err(error),
        }
    }

    /// Looks at the file of a space that was found by its name, and opens it; says why it cannot be used. Nothing is done where that was
    /// done before. Errors: SpaceMissing, if there is no such file any more; what fails for now only.
    pub fn open_found_space(&self, space: SpaceId) -> Result<Option<FileFault>, StorageError> {
        if self.has_opened(space) {
            return Ok(None);
        }
        if !self.spaces.is_found(space) {
            // Another thread may have opened it since: a table that was renamed meanwhile is looked at by who has its old definition and
            // by who has the new one.
            return if self.has_opened(space) { Ok(None) } else { Err(StorageError::SpaceMissing(space)) };
        }
        let fault = match self.open_found_file(&space_path(space), Some(space), &BTreeMap::new()) {
            // Another thread was quicker.
            Err(StorageError::SpaceTwice(..)) => return Ok(None),
            Err(StorageError::SpaceExists(_) | StorageError::SpaceMissing(_)) if self.has_opened(space) => {
                return Ok(None);
            }
            Err(StorageError::Disk(error)) if is_of_one_file(&error) => Some(unreadable_file(&error)),
            fault => fault?,
        };
        // What is no file of ours is left alone, and what cannot be read is as good as not there.
        if matches!(fault, Some(FileFault::Foreign | FileFault::Unreadable(_))) {
            self.spaces.forget_found(space);
        }
        Ok(fault)
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
}

/// The recovery of a start: doublewrite copies and log against the files.
struct Recovery<'a> {
    pool: &'a Arc<BufferPool>,
    /// Pages as the doublewrite file has them.
    copies: &'a BTreeMap<PageId, Vec<u8>>,
}

impl Recovery<'_> {
    /// Brings files and pages up to date, and hands out what the log has besides.
    fn run(
        &self,
        changed: BTreeSet<SpaceId>,
        readers: &dyn Fn() -> LogReader,
        (end, pages): (Lsn, u64),
        handler: &mut dyn RecoveryHandler,
        options: &PoolOptions,
    ) -> Result<RecoveryReport, StorageError> {
        let clock = &self.pool.environment.clock;
        let begun = clock.monotonic();
        let changed: BTreeSet<SpaceId> =
            changed.into_iter().chain(self.copies.keys().map(|page| page.space)).collect();
        self.find_files(&changed)?;
        self.repair_torn_pages()?;
        self.sync_files(&changed)?;
        if !options.doublewrite {
            Doublewrite::forget_copies(&self.pool.environment).map_err(|error| self.pool.stop(&error))?;
        }
        let found = clock.monotonic();
        let counts = replay(self.pool, readers, end, pages, handler, options.replay_lanes)?;
        self.pool.damage.keep_log(readers(), end);
        self.pool.damage.forget_met();
        self.pool.update_throttle();
        Ok(RecoveryReport {
            files_time: found.saturating_sub(begun),
            apply_time: clock.monotonic().saturating_sub(found),
            lanes: counts.lanes,
            passes: counts.passes,
            pages_changed: counts.pages_changed,
            ..RecoveryReport::default()
        })
    }

    /// Finds every tablespace file; removes those that were never finished. Opened are those of which pages may have to be brought up to
    /// date, and those whose names do not say whose they are.
    fn find_files(&self, changed: &BTreeSet<SpaceId>) -> Result<(), StorageError> {
        let mut found = data_files(&self.pool.environment)?;
        found.files.retain(|path| match space_named(path) {
            Some(space) if !changed.contains(&space) => !self.pool.spaces.note_found(space),
            _ => true,
        });
        // What a name says comes before what a copy of the file says.
        found.files.sort_by_key(|path| space_named(path).is_none());
        let unreadable = found.unreadable.into_iter();
        lock(&self.pool.damaged_files)
            .extend(unreadable.map(|error| (error.path.clone(), unreadable_file(&error))));
        for path in found.files {
            let named = space_named(&path);
            if !is_data_file(&path) {
                // Its name never comes again, so it is in nobody's way.
                let _ = self.pool.environment.disk.remove(&path);
                continue;
            }
            let fault = match self.pool.open_found_file(&path, named, self.copies) {
                Err(StorageError::Disk(error)) if is_of_one_file(&error) => Some(unreadable_file(&error)),
                fault => fault?,
            };
            lock(&self.pool.damaged_files).extend(fault.map(|fault| (path, fault)));
        }
        Ok(())
    }

    /// Writes doublewrite copies over pages that are not whole.
    fn repair_torn_pages(&self) -> Result<(), StorageError> {
        let mut bytes = AlignedBuffer::zeroed(PAGE_BYTES);
        for (page, copy) in self.copies {
            let Some(space) = self.pool.spaces.get(page.space) else { continue };
            let Ok(file) = space.file(page.space) else { continue };
            if page.number.0 >= space.file_pages() {
                continue;
            }
            let offset = u64::from(page.number.0) * PAGE_BYTES as u64;
            file.read_at(&mut bytes, offset)?;
            if page_transform::open(&bytes, *page).is_err() {
                bytes[..PAGE_BYTES].copy_from_slice(copy);
                file.write_at(&bytes, offset).map_err(|error| self.pool.stop(&error))?;
                file.sync_data().map_err(|error| self.pool.stop(&error))?;
            }
        }
        Ok(())
    }

    /// Makes durable what a process that was killed had written and not synced. Until then the doublewrite file must stay as
    /// it is, and no page that was read may count as written: the machine may still lose either. Only spaces that the log has
    /// changes of can have such writes, for the checkpoint does not pass a change of a page before the page is synced (B7); and
    /// those of which a start before this one has mended pages.
    fn sync_files(&self, spaces: &BTreeSet<SpaceId>) -> Result<(), StorageError> {
        for space in spaces {
            let Some(Ok(file)) = self.pool.spaces.get(*space).map(|object| object.table_file(*space)) else {
                continue;
            };
            file.open()?.sync_data().map_err(|error| self.pool.stop(&error))?;
        }
        Ok(())
    }
}

/// What opening a pool took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Bytes of log from the checkpoint on.
    pub log_bytes: u64,
    /// Reading and checking them.
    pub check_time: Duration,
    /// Finding the data files, repairing torn pages, making durable what was not.
    pub files_time: Duration,
    /// Applying the log.
    pub apply_time: Duration,
    /// Threads that applied it.
    pub lanes: usize,
    /// How often they read it: more than once if it has changes of more pages than fit the pool.
    pub passes: u64,
    /// Pages that were changed, counted once for each part of the log.
    pub pages_changed: u64,
}

/// Whether a space header that is not whole may be another version of this copy: what never changes of a file lies in the first
/// sector. Zeroes name the system tablespace, and a file of another history the number of ours.
fn is_torn_from(copy: &[u8], torn: &[u8]) -> bool {
    let origin = |bytes| SpaceHeaderRef::new(bytes).and_then(|header| header.origin()).ok();
    origin(torn).is_some_and(|found| origin(copy) == Some(found))
}

fn unreadable_file(error: &DiskError) -> FileFault {
    FileFault::Unreadable(error.to_string())
}

/// Whether a disk call failed because of the file that it was for: then the others can do without it. A disk that fails is no
/// such case: what it holds is not given up.
fn is_of_one_file(error: &DiskError) -> bool {
    matches!(error.kind, DiskErrorKind::NotFound | DiskErrorKind::PermissionDenied)
}

/// What looks like tablespaces.
struct DataFiles {
    files: Vec<PathBuf>,
    /// Directories that cannot be looked into: those of other accounts, such as `lost+found` where a file system has its root.
    unreadable: Vec<DiskError>,
}

/// The files in the root and in the directories below it that are tablespaces by their names, or were to become some
/// ([`NEW_SUFFIX`]).
fn data_files(environment: &Environment) -> Result<DataFiles, StorageError> {
    let disk = &environment.disk;
    let mut directories = vec![PathBuf::new()];
    for name in disk.list(Path::new(""))? {
        let name = name.strip_suffix('/');
        let is_ours = |name: &&str| ![redo::LOG_DIRECTORY, LOST_DIRECTORY].contains(name);
        directories.extend(name.filter(is_ours).map(PathBuf::from));
    }
    let unfinished = format!("{DATA_FILE_SUFFIX}{NEW_SUFFIX}");
    let mut found = DataFiles { files: Vec::new(), unreadable: Vec::new() };
    for directory in directories {
        let names = match disk.list(&directory) {
            Err(error) if is_of_one_file(&error) => {
                found.unreadable.push(error);
                continue;
            }
            names => names?.into_iter(),
        };
        let ours = names.filter(|name| name.ends_with(DATA_FILE_SUFFIX) || name.ends_with(&unfinished));
        found.files.extend(ours.map(|name| directory.join(name)));
    }
    Ok(found)
}

/// What a first reading of the log finds.
struct LogExtent {
    end: Lsn,
    /// Nothing was ever logged but starts of the server.
    is_new: bool,
    /// Of about how many pages it has changes.
    pages: u64,
    /// The spaces of these pages.
    spaces: BTreeSet<SpaceId>,
}

fn log_extent(mut reader: LogReader, lineage: Lineage) -> Result<LogExtent, StorageError> {
    let mut is_new = reader.position() == Lsn(redo::FIRST_LSN);
    let mut pages = PageCount::new();
    while let Some((range, payload)) = reader.next_group()? {
        let mut records = Records::new(payload);
        match records.next() {
            Some(Ok(Record::Epoch(epoch))) if epoch.log_id != lineage.id || epoch.start != range.start => {
                return Err(log_corrupt("a part of another log", range.start));
            }
            Some(Ok(Record::Epoch(_))) => {}
            _ => is_new = false,
        }
        pages.add(Records::new(payload));
    }
    let end = reader.position();
    Ok(LogExtent { end, is_new, pages: pages.estimate(), spaces: pages.into_spaces() })
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
