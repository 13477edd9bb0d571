//! [`Segments`]: the files of the log. File `n` holds the bytes from `n * segment_bytes` of the endless log.
//!
//! Files are written full of zeroes and synced before the log may use them, and those that lie before the checkpoint are
//! renamed to become the next ones, so that a flush neither grows a file nor changes metadata.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use env::{Directory, DiskError, Environment, File, OpenMode};
use stdx::ids::Lsn;

use crate::{BLOCK_BYTES, LOG_DIRECTORY, RedoError, RedoOptions};

const NAME_PREFIX: &str = "log_";
/// Under this name a file is prepared.
const NEW_NAME: &str = "log.new";
/// New files are zeroed in pieces of this size.
const ZERO_CHUNK_BYTES: u64 = 1 << 20;

pub(crate) struct Segments {
    environment: Environment,
    /// Open from the start on, so that files can be renamed durably when no descriptor is left.
    directory: Arc<dyn Directory>,
    pub segment_bytes: u64,
    /// Most files that may exist; never below [`Segments::FILES_MIN`].
    files_max: u64,
    files: BTreeMap<u64, Arc<dyn File>>,
    /// The file behind the last of the gapless run that starts at the checkpoint.
    ready_end: u64,
}

/// Where a file lies, below the data directory.
pub(crate) fn path_of(number: u64) -> PathBuf {
    Path::new(LOG_DIRECTORY).join(format!("{NAME_PREFIX}{number:016x}"))
}

impl Segments {
    /// The file that is written, the one behind it, and one that the checkpoint still needs.
    pub const FILES_MIN: u64 = 3;

    /// Whether a file of that name is one of the log.
    pub fn is_name(name: &str) -> bool {
        name.starts_with(NAME_PREFIX)
    }

    /// Finds the files of an existing log whose checkpoint lies in file `first`.
    pub fn open(
        environment: &Environment,
        options: &RedoOptions,
        segment_bytes: u64,
        checkpoint: Lsn,
    ) -> Result<Segments, RedoError> {
        let mut segments = Segments::new(environment, segment_bytes, options.capacity_bytes, checkpoint)?;
        for name in environment.disk.list(Path::new(LOG_DIRECTORY))? {
            let number =
                name.strip_prefix(NAME_PREFIX).and_then(|digits| u64::from_str_radix(digits, 16).ok());
            if let Some(number) = number {
                let file = environment.disk.open(&path_of(number), OpenMode::Existing)?;
                let bytes = file.len()?;
                if bytes < segment_bytes {
                    if !options.ends_at_damage {
                        let (file, made) = (path_of(number), segment_bytes);
                        return Err(RedoError::FileShort { file, bytes, made });
                    }
                    // Over an overlay: the log ends at the zeroes.
                    file.set_len(segment_bytes)?;
                }
                segments.files.insert(number, file);
            }
        }
        while segments.files.contains_key(&segments.ready_end) {
            segments.ready_end += 1;
        }
        // Files are made ready one by one: a later one proves that the run was longer.
        let ready_end = segments.ready_end;
        if options.ends_at_damage {
            segments.files.retain(|number, _| *number < ready_end);
        }
        if segments.files.keys().next_back().is_some_and(|last| *last > ready_end) {
            let is_first = segments.is_empty_from(checkpoint);
            return Err(RedoError::FileMissing { file: path_of(segments.ready_end), is_first });
        }
        if segments.is_empty_from(checkpoint) {
            return Err(RedoError::FileMissing { file: path_of(segments.ready_end), is_first: true });
        }
        Ok(segments)
    }

    /// Whether the file that recovery begins in is not there.
    fn is_empty_from(&self, checkpoint: Lsn) -> bool {
        self.ready_end == checkpoint.0 / self.segment_bytes
    }

    /// A log file that holds something, although there is no control file. A start that was cut short before the first
    /// one leaves zeroes only.
    pub fn find_used(environment: &Environment) -> Result<Option<PathBuf>, DiskError> {
        let directory = Path::new(LOG_DIRECTORY);
        let mut block = vec![0; BLOCK_BYTES as usize];
        for name in environment.disk.list(directory)? {
            if !name.starts_with(NAME_PREFIX) {
                continue;
            }
            let path = directory.join(name);
            let file = environment.disk.open(&path, OpenMode::Existing)?;
            // A log starts with its second block, files that follow others with their first.
            for offset in [0, BLOCK_BYTES] {
                let is_there = offset + BLOCK_BYTES <= file.len()?;
                if is_there
                    && file.read_at(&mut block, offset).map(|()| block.iter().any(|byte| *byte != 0))?
                {
                    return Ok(Some(path));
                }
            }
        }
        Ok(None)
    }

    /// No files yet; `prepare_first` makes them.
    pub fn new(
        environment: &Environment,
        segment_bytes: u64,
        capacity_bytes: u64,
        checkpoint: Lsn,
    ) -> Result<Segments, DiskError> {
        Ok(Segments {
            environment: environment.clone(),
            directory: environment.disk.directory(Path::new(LOG_DIRECTORY))?,
            segment_bytes,
            files_max: (capacity_bytes / segment_bytes).max(Self::FILES_MIN),
            files: BTreeMap::new(),
            ready_end: checkpoint.0 / segment_bytes,
        })
    }

    /// The LSN up to which files are ready to be written.
    pub fn ready_lsn(&self) -> Lsn {
        Lsn(self.ready_end * self.segment_bytes)
    }

    /// The LSN that the log can reach without moving `checkpoint`, if the disk has room for all files.
    pub fn limit_lsn(&self, checkpoint: Lsn) -> Lsn {
        Lsn((checkpoint.0 / self.segment_bytes + self.files_max) * self.segment_bytes)
    }

    /// How one more file can be made ready: by renaming one that lies before `checkpoint`, else by creating one if fewer
    /// than the maximum exist or `beyond_maximum` is set. None if neither is possible. One plan at a time.
    pub fn plan_next(&mut self, checkpoint: Lsn, beyond_maximum: bool) -> Option<NextFile> {
        let (first_needed, next) = (checkpoint.0 / self.segment_bytes, self.ready_end);
        let spare = self.files.keys().copied().find(|number| *number < first_needed);
        let reused = spare.and_then(|number| Some((number, self.files.remove(&number)?)));
        let may_create = beyond_maximum || (self.files.len() as u64) < self.files_max;
        (reused.is_some() || may_create).then(|| NextFile {
            environment: self.environment.clone(),
            directory: Arc::clone(&self.directory),
            segment_bytes: self.segment_bytes,
            number: next,
            reused,
        })
    }

    /// Adds the file of a plan that was carried out.
    pub fn add_next(&mut self, plan: &NextFile, file: Arc<dyn File>) {
        assert!(plan.number == self.ready_end);
        self.files.insert(plan.number, file);
        self.ready_end += 1;
    }

    /// Forgets a plan that failed.
    pub fn abandon(&mut self, plan: NextFile) {
        self.files.extend(plan.reused);
    }

    /// Plans and makes a file at once: for a log that nobody uses yet.
    pub fn prepare_first(&mut self, checkpoint: Lsn) -> Result<(), DiskError> {
        if let Some(plan) = self.plan_next(checkpoint, true) {
            let file = plan.carry_out()?;
            self.add_next(&plan, file);
        }
        Ok(())
    }

    /// Removes files that neither the log nor a maximum that was lowered needs.
    pub fn remove_surplus(&mut self, checkpoint: Lsn) -> Result<(), DiskError> {
        let first_needed = checkpoint.0 / self.segment_bytes;
        while self.files.len() as u64 > self.files_max {
            let Some(number) = self.files.keys().copied().find(|number| *number < first_needed) else {
                break;
            };
            self.environment.disk.remove(&path_of(number))?;
            self.files.remove(&number);
        }
        Ok(())
    }

    /// The file that holds `lsn`, if it is ready.
    pub fn file(&self, lsn: Lsn) -> Option<&Arc<dyn File>> {
        let number = lsn.0 / self.segment_bytes;
        if number < self.ready_end { self.files.get(&number) } else { None }
    }

    /// The ready files from the one that holds `lsn` on.
    pub fn files_from(&self, lsn: Lsn) -> LogFiles {
        let ready = self.files.range(lsn.0 / self.segment_bytes..self.ready_end);
        LogFiles {
            segment_bytes: self.segment_bytes,
            end: self.ready_end,
            files: ready.map(|(number, file)| (*number, Arc::clone(file))).collect(),
        }
    }
}

/// A file that is to become ready. The work is done without any lock: it takes a while.
pub(crate) struct NextFile {
    environment: Environment,
    directory: Arc<dyn Directory>,
    segment_bytes: u64,
    number: u64,
    /// The file that gets a new name, and its old number.
    reused: Option<(u64, Arc<dyn File>)>,
}

impl NextFile {
    /// Whether the file takes new room on the disk.
    pub fn is_new(&self) -> bool {
        self.reused.is_none()
    }

    /// Renames or creates the file, durably.
    pub fn carry_out(&self) -> Result<Arc<dyn File>, DiskError> {
        let disk = &self.environment.disk;
        let (old_path, file) = match &self.reused {
            Some((number, file)) => (path_of(*number), Arc::clone(file)),
            None => (Path::new(LOG_DIRECTORY).join(NEW_NAME), self.create()?),
        };
        disk.rename(&old_path, &path_of(self.number))?;
        self.directory.sync()?;
        Ok(file)
    }

    fn create(&self) -> Result<Arc<dyn File>, DiskError> {
        let path = Path::new(LOG_DIRECTORY).join(NEW_NAME);
        let file = self.environment.disk.open(&path, OpenMode::CreateIfMissing)?;
        let outcome = self.fill_with_zeroes(file.as_ref());
        if outcome.is_err() {
            // Room matters more than the half-made file, and a later attempt overwrites it anyway.
            let _ = self.environment.disk.remove(&path);
        }
        outcome.map(|()| file)
    }

    fn fill_with_zeroes(&self, file: &dyn File) -> Result<(), DiskError> {
        file.allocate(0, self.segment_bytes)?;
        let zeroes = vec![0; ZERO_CHUNK_BYTES.min(self.segment_bytes) as usize];
        let mut position = 0;
        while position < self.segment_bytes {
            let count = ZERO_CHUNK_BYTES.min(self.segment_bytes - position);
            file.write_at(&zeroes[..count as usize], position)?;
            position += count;
        }
        file.sync_all()
    }
}

/// Files for reading.
#[derive(Clone)]
pub(crate) struct LogFiles {
    pub segment_bytes: u64,
    end: u64,
    files: BTreeMap<u64, Arc<dyn File>>,
}

impl LogFiles {
    /// The LSN behind the last file.
    pub fn end_lsn(&self) -> Lsn {
        Lsn(self.end * self.segment_bytes)
    }

    /// The file that holds `lsn`.
    pub fn file(&self, lsn: Lsn) -> Option<&Arc<dyn File>> {
        self.files.get(&(lsn.0 / self.segment_bytes))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn File>> {
        self.files.values()
    }
}
