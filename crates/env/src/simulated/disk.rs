//! [`SimulatedDisk`]: files in memory that lose at a crash what a real disk may lose.
//!
//! Contents are durable after a sync of the file, directory entries after a sync of the directory. Faults are aimed by
//! operation number ([`Fault`]); after `crash_at(n)` the operation with number n and every later one fail with `Crashed`,
//! and [`SimulatedDisk::restart`] gives the disk that the machine finds when it comes up again. How many files may be open at a time
//! can be limited (`handles.rs`). One mutex guards all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::file_image::FileImage;
use super::handles::{Handle, Handles};
use super::temporary::{SimulatedTemporaryFile, TemporaryImage};
use super::{Fault, FaultKind, OperationClass, OperationCounts, SimulatedRandom};
use crate::{Directory, Disk, DiskError, DiskErrorKind, DiskResult, File, FileLock, OpenMode};

/// A disk in memory. Clones share it.
#[derive(Clone)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

pub(super) struct State {
    files: BTreeMap<u64, FileImage>,
    pub(super) next_file: u64,
    /// Files without a name: not one of them is found after a crash or a kill.
    pub(super) temporary: BTreeMap<u64, TemporaryImage>,
    /// Names as programs see them.
    names: Names,
    /// Names as the platter holds them.
    durable_names: Names,
    unsynced_entries: Vec<EntryChange>,
    locked: BTreeSet<PathBuf>,
    /// Files and directories of another account.
    denied: BTreeSet<PathBuf>,
    counts: OperationCounts,
    faults: Vec<Fault>,
    crash_at: Option<u64>,
    crashed: bool,
    capacity_bytes: Option<u64>,
    pub(super) handles: Handles,
    random: SimulatedRandom,
}

/// What directories hold.
#[derive(Clone, Default)]
struct Names {
    directories: BTreeSet<PathBuf>,
    entries: BTreeMap<PathBuf, u64>,
}

#[derive(Clone)]
enum EntryChange {
    Link { path: PathBuf, file: u64 },
    Unlink { path: PathBuf },
    Rename { from: PathBuf, to: PathBuf, file: u64 },
    MakeDirectory { path: PathBuf },
    RemoveDirectory { path: PathBuf },
}

impl EntryChange {
    fn touches(&self, directory: &Path) -> bool {
        match self {
            EntryChange::Link { path, .. }
            | EntryChange::Unlink { path }
            | EntryChange::MakeDirectory { path }
            | EntryChange::RemoveDirectory { path } => parent(path) == directory,
            EntryChange::Rename { from, to, .. } => parent(from) == directory || parent(to) == directory,
        }
    }

    fn apply(&self, names: &mut Names) {
        let Names { directories, entries } = names;
        match self {
            EntryChange::Link { path, file } => {
                entries.insert(path.clone(), *file);
            }
            EntryChange::Unlink { path } => {
                entries.remove(path);
            }
            EntryChange::Rename { from, to, file } => {
                if entries.get(from) == Some(file) {
                    entries.remove(from);
                }
                entries.insert(to.clone(), *file);
            }
            EntryChange::MakeDirectory { path } => {
                directories.insert(path.clone());
            }
            EntryChange::RemoveDirectory { path } => {
                directories.remove(path);
            }
        }
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

impl SimulatedDisk {
    /// An empty disk; `seed` decides what failing syncs lose.
    pub fn new(seed: u64) -> SimulatedDisk {
        SimulatedDisk::of(BTreeMap::new(), Names::default(), 0, seed)
    }

    fn of(files: BTreeMap<u64, FileImage>, names: Names, next_file: u64, seed: u64) -> SimulatedDisk {
        let state = State {
            files,
            next_file,
            temporary: BTreeMap::new(),
            durable_names: names.clone(),
            names,
            unsynced_entries: Vec::new(),
            locked: BTreeSet::new(),
            denied: BTreeSet::new(),
            counts: OperationCounts::default(),
            faults: Vec::new(),
            crash_at: None,
            crashed: false,
            capacity_bytes: None,
            handles: Handles::default(),
            random: SimulatedRandom::new(seed),
        };
        SimulatedDisk { state: Arc::new(Mutex::new(state)) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Plans a fault. Several may be planned.
    pub fn add_fault(&self, fault: Fault) {
        self.state().faults.push(fault);
    }

    /// Forgets planned faults that have not struck.
    pub fn clear_faults(&self) {
        self.state().faults.clear();
    }

    /// Lets the machine crash in place of the mutation with number `operation` (see [`OperationCounts::mutations`]).
    pub fn crash_at(&self, operation: u64) {
        self.state().crash_at = Some(operation);
    }

    /// Crashes now: every later operation fails.
    pub fn crash(&self) {
        self.state().crashed = true;
    }

    /// Whether the machine has crashed.
    pub fn has_crashed(&self) -> bool {
        self.state().crashed
    }

    /// Lets nobody open that file, or list that directory.
    pub fn deny(&self, path: &Path) {
        self.state().denied.insert(path.to_path_buf());
    }

    /// The operations so far.
    pub fn counts(&self) -> OperationCounts {
        self.state().counts
    }

    /// Limits the sum of file lengths; growth beyond it fails with `NoSpace`. None lifts the limit.
    pub fn set_capacity_bytes(&self, capacity: Option<u64>) {
        self.state().capacity_bytes = capacity;
    }

    /// Limits how many files and directories may be open at a time; what is open stays open. None lifts the limit.
    pub fn set_open_files_max(&self, maximum: Option<usize>) {
        self.state().handles.maximum = maximum;
    }

    /// How many files and directories are open.
    pub fn open_files(&self) -> usize {
        self.state().handles.open
    }

    /// The sum of file lengths; of temporary files, of their blocks.
    pub fn used_bytes(&self) -> u64 {
        self.state().used_bytes()
    }

    /// Crashes, and gives the disk as the machine finds it afterwards. `seed` decides which unsynced changes survive
    /// whole, torn, in another order, or not.
    pub fn restart(&self, seed: u64) -> SimulatedDisk {
        let mut state = self.state();
        state.crashed = true;
        let random = SimulatedRandom::new(seed);
        let mut names = state.durable_names.clone();
        match random.below(3) {
            0 => {}
            1 => state.unsynced_entries.iter().for_each(|change| change.apply(&mut names)),
            _ => {
                let kept = state.unsynced_entries.iter().filter(|_| random.one_in(2));
                kept.for_each(|change| change.apply(&mut names));
            }
        }
        state.rebuilt(names, seed, |image| image.after_crash(&random))
    }

    /// Crashes in the harshest plain way: exactly what was synced remains.
    pub fn restart_with_durable_state(&self) -> SimulatedDisk {
        let mut state = self.state();
        state.crashed = true;
        let names = state.durable_names.clone();
        state.rebuilt(names, 0, FileImage::durable_only)
    }

    /// As if the process was killed and the machine ran on: every write remains, synced or not.
    pub fn restart_after_kill(&self) -> SimulatedDisk {
        let mut state = self.state();
        state.crashed = true;
        let files = state.files.clone();
        let disk = SimulatedDisk::of(files, state.names.clone(), state.next_file, 0);
        {
            let mut copy = disk.state();
            copy.durable_names = state.durable_names.clone();
            copy.unsynced_entries = state.unsynced_entries.clone();
        }
        disk
    }

    /// The contents of a file as programs see them, without counting an operation.
    pub fn contents(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        let file = state.names.entries.get(path)?;
        Some(state.files.get(file)?.current.clone())
    }

    /// Changes bytes of a file behind everybody's back (bit rot), durably.
    pub fn corrupt(&self, path: &Path, offset: usize, bytes: &[u8]) {
        let mut state = self.state();
        if let Some(file) = state.names.entries.get(path).copied()
            && let Some(image) = state.files.get_mut(&file)
        {
            image.write(offset, bytes);
            image.sync();
        }
    }
}

impl State {
    fn rebuilt(
        &self,
        mut names: Names,
        seed: u64,
        image_after: impl Fn(&FileImage) -> FileImage,
    ) -> SimulatedDisk {
        let Names { directories, entries } = &mut names;
        // What lies in a lost directory is lost with it.
        let reaches_root =
            |path: &Path| parent(path).as_os_str().is_empty() || directories.contains(parent(path));
        entries.retain(|path, _| reaches_root(path));
        let reachable: BTreeSet<u64> = entries.values().copied().collect();
        let files = self.files.iter().filter(|(file, _)| reachable.contains(file));
        let files = files.map(|(file, image)| (*file, image_after(image))).collect();
        SimulatedDisk::of(files, names, self.next_file, seed)
    }

    pub(super) fn has_crashed(&self) -> bool {
        self.crashed
    }

    fn used_bytes(&self) -> u64 {
        let reachable: BTreeSet<u64> = self.names.entries.values().copied().collect();
        let named = reachable.iter().filter_map(|file| self.files.get(file));
        named.map(|image| image.current.len() as u64).sum::<u64>()
            + self.temporary.values().map(TemporaryImage::used_bytes).sum::<u64>()
    }

    /// Counts an operation, and fails it if a crash or a fault is due. Gives the fault that the caller must act out.
    pub(super) fn begin(
        &mut self,
        class: OperationClass,
        operation: &'static str,
        path: &Path,
    ) -> DiskResult<Option<FaultKind>> {
        if self.crashed {
            return Err(DiskError::new(DiskErrorKind::Crashed, operation, path));
        }
        let in_class = self.counts.count(class);
        let mut number = None;
        if class != OperationClass::Read {
            let mutation = self.counts.count(OperationClass::AnyMutation);
            number = Some(mutation);
            if self.crash_at.is_some_and(|crash_at| mutation >= crash_at) {
                self.crashed = true;
                return Err(DiskError::new(DiskErrorKind::Crashed, operation, path));
            }
        }
        let due = |fault: &Fault| {
            (fault.class == class && fault.nth == in_class)
                || (fault.class == OperationClass::AnyMutation && Some(fault.nth) == number)
        };
        let fault = self.faults.iter().position(due).map(|index| self.faults.swap_remove(index).kind);
        match (fault, class) {
            (None, _) => Ok(None),
            (Some(FaultKind::SilentlySkipped), OperationClass::Sync) => Ok(fault),
            (Some(FaultKind::SilentlySkipped), _) => Ok(None),
            (Some(FaultKind::ShortWrite), OperationClass::Write) => Ok(fault),
            (Some(FaultKind::InputOutput | FaultKind::NoSpace), OperationClass::Sync) => Ok(fault),
            (Some(FaultKind::InputOutput), _) => Err(input_output_error(operation, path)),
            (Some(FaultKind::NoSpace | FaultKind::ShortWrite), _) => {
                Err(DiskError::new(DiskErrorKind::NoSpace, operation, path))
            }
        }
    }

    /// Bytes that files may still grow by.
    pub(super) fn left_bytes(&self) -> u64 {
        self.capacity_bytes.map_or(u64::MAX, |capacity| capacity.saturating_sub(self.used_bytes()))
    }

    pub(super) fn check_capacity(&self, growth: u64, operation: &'static str, path: &Path) -> DiskResult<()> {
        match self.capacity_bytes {
            Some(capacity) if growth > 0 && self.used_bytes() + growth > capacity => {
                Err(DiskError::new(DiskErrorKind::NoSpace, operation, path))
            }
            _ => Ok(()),
        }
    }
}

fn input_output_error(operation: &'static str, path: &Path) -> DiskError {
    const EIO: i32 = 5;
    DiskError { kind: DiskErrorKind::Other, operation, path: path.to_path_buf(), errno: EIO }
}

impl Disk for SimulatedDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> DiskResult<Arc<dyn File>> {
        let mut state = self.state();
        if state.crashed {
            return Err(DiskError::new(DiskErrorKind::Crashed, "open", path));
        }
        if state.denied.contains(path) {
            return Err(DiskError::new(DiskErrorKind::PermissionDenied, "open", path));
        }
        let found = state.names.entries.get(path).copied();
        state.handles.check("open", path)?;
        let file = match (found, mode) {
            (Some(_), OpenMode::CreateNew) => {
                return Err(DiskError::new(DiskErrorKind::AlreadyExists, "open", path));
            }
            (Some(file), _) => file,
            (None, OpenMode::Existing | OpenMode::ReadOnly | OpenMode::ExistingDirect) => {
                return Err(DiskError::new(DiskErrorKind::NotFound, "open", path));
            }
            (None, OpenMode::CreateNew | OpenMode::CreateIfMissing | OpenMode::CreatePrivate) => {
                state.begin(OperationClass::Allocate, "create", path)?;
                let directory = parent(path);
                if !directory.as_os_str().is_empty() && !state.names.directories.contains(directory) {
                    return Err(DiskError::new(DiskErrorKind::NotFound, "create", path));
                }
                let file = state.next_file;
                state.next_file += 1;
                state.files.insert(file, FileImage::default());
                state.names.entries.insert(path.to_path_buf(), file);
                state.unsynced_entries.push(EntryChange::Link { path: path.to_path_buf(), file });
                file
            }
        };
        let handle = state.handles.take(self);
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file, path: path.to_path_buf(), _handle: handle }))
    }

    fn remove(&self, path: &Path) -> DiskResult<()> {
        let mut state = self.state();
        state.begin(OperationClass::Namespace, "remove", path)?;
        // A file that is made under this name is another one.
        let was_locked = state.locked.remove(path);
        if was_locked && !state.names.entries.contains_key(path) {
            return Ok(());
        }
        if state.names.entries.remove(path).is_none() {
            return Err(DiskError::new(DiskErrorKind::NotFound, "remove", path));
        }
        state.unsynced_entries.push(EntryChange::Unlink { path: path.to_path_buf() });
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> DiskResult<()> {
        let mut state = self.state();
        state.begin(OperationClass::Namespace, "rename", from)?;
        let Some(file) = state.names.entries.get(from).copied() else {
            return Err(DiskError::new(DiskErrorKind::NotFound, "rename", from));
        };
        let change = EntryChange::Rename { from: from.to_path_buf(), to: to.to_path_buf(), file };
        change.apply(&mut state.names);
        state.unsynced_entries.push(change);
        Ok(())
    }

    fn list(&self, directory: &Path) -> DiskResult<Vec<String>> {
        let state = self.state();
        if state.crashed {
            return Err(DiskError::new(DiskErrorKind::Crashed, "list", directory));
        }
        if state.denied.contains(directory) {
            return Err(DiskError::new(DiskErrorKind::PermissionDenied, "list", directory));
        }
        state.handles.check("list", directory)?;
        if !directory.as_os_str().is_empty() && !state.names.directories.contains(directory) {
            return Err(DiskError::new(DiskErrorKind::NotFound, "list", directory));
        }
        let name = |path: &Path, suffix: &str| {
            let name = path.file_name()?.to_str()?;
            (parent(path) == directory).then(|| format!("{name}{suffix}"))
        };
        let files = state.names.entries.keys().filter_map(|path| name(path, ""));
        let directories = state.names.directories.iter().filter_map(|path| name(path, "/"));
        let mut names: Vec<String> = files.chain(directories).collect();
        names.sort();
        Ok(names)
    }

    fn directory_exists(&self, path: &Path) -> DiskResult<bool> {
        let state = self.state();
        if state.crashed {
            return Err(DiskError::new(DiskErrorKind::Crashed, "stat", path));
        }
        Ok(path.as_os_str().is_empty() || state.names.directories.contains(path))
    }

    fn create_directory(&self, path: &Path) -> DiskResult<()> {
        let mut state = self.state();
        state.begin(OperationClass::Namespace, "create directory", path)?;
        let mut missing: Vec<&Path> = path
            .ancestors()
            .filter(|ancestor| {
                !ancestor.as_os_str().is_empty() && !state.names.directories.contains(*ancestor)
            })
            .collect();
        while let Some(directory) = missing.pop() {
            let change = EntryChange::MakeDirectory { path: directory.to_path_buf() };
            change.apply(&mut state.names);
            state.unsynced_entries.push(change);
        }
        Ok(())
    }

    fn remove_directory(&self, path: &Path) -> DiskResult<()> {
        let mut state = self.state();
        state.begin(OperationClass::Namespace, "remove directory", path)?;
        let occupied = state.names.entries.keys().any(|entry| parent(entry) == path);
        if occupied {
            return Err(DiskError::new(DiskErrorKind::Other, "remove directory", path));
        }
        match state.names.directories.remove(path) {
            true => {
                state.unsynced_entries.push(EntryChange::RemoveDirectory { path: path.to_path_buf() });
                Ok(())
            }
            false => Err(DiskError::new(DiskErrorKind::NotFound, "remove directory", path)),
        }
    }

    fn directory(&self, path: &Path) -> DiskResult<Arc<dyn Directory>> {
        let mut state = self.state();
        if state.crashed {
            return Err(DiskError::new(DiskErrorKind::Crashed, "open directory", path));
        }
        state.handles.check("open directory", path)?;
        let handle = state.handles.take(self);
        Ok(Arc::new(SimulatedDirectory { disk: self.clone(), path: path.to_path_buf(), _handle: handle }))
    }

    fn create_temporary(&self, directory: &Path) -> DiskResult<Arc<dyn File>> {
        Ok(Arc::new(SimulatedTemporaryFile::create(self, directory)?))
    }

    fn lock(&self, path: &Path) -> DiskResult<Box<dyn FileLock>> {
        let mut state = self.state();
        if state.crashed {
            return Err(DiskError::new(DiskErrorKind::Crashed, "lock", path));
        }
        if !state.locked.insert(path.to_path_buf()) {
            return Err(DiskError::new(DiskErrorKind::Locked, "lock", path));
        }
        Ok(Box::new(SimulatedLock { disk: self.clone(), path: path.to_path_buf() }))
    }
}

struct SimulatedLock {
    disk: SimulatedDisk,
    path: PathBuf,
}

impl FileLock for SimulatedLock {}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        self.disk.state().locked.remove(&self.path);
    }
}

struct SimulatedDirectory {
    disk: SimulatedDisk,
    path: PathBuf,
    _handle: Handle,
}

impl Directory for SimulatedDirectory {
    fn sync(&self) -> DiskResult<()> {
        let mut state = self.disk.state();
        let fault = state.begin(OperationClass::Sync, "sync directory", &self.path)?;
        if fault == Some(FaultKind::SilentlySkipped) {
            return Ok(());
        }
        let changes = std::mem::take(&mut state.unsynced_entries);
        let (synced, kept): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|change| change.touches(&self.path));
        state.unsynced_entries = kept;
        for change in synced {
            if fault.is_none() || state.random.one_in(2) {
                change.apply(&mut state.durable_names);
            }
        }
        if fault.is_some() { Err(input_output_error("sync directory", &self.path)) } else { Ok(()) }
    }
}

struct SimulatedFile {
    disk: SimulatedDisk,
    file: u64,
    path: PathBuf,
    _handle: Handle,
}

impl SimulatedFile {
    fn with_image<T>(&self, state: &mut State, act: impl FnOnce(&mut FileImage) -> T) -> DiskResult<T> {
        match state.files.get_mut(&self.file) {
            Some(image) => Ok(act(image)),
            None => Err(DiskError::new(DiskErrorKind::NotFound, "access", &self.path)),
        }
    }

    /// Offsets come from callers as 64-bit numbers; a simulated file is far smaller.
    fn position(&self, offset: u64, length: usize, operation: &'static str) -> DiskResult<(usize, usize)> {
        const FILE_BYTES_MAX: usize = 1 << 40;
        let start = usize::try_from(offset).ok();
        match start.and_then(|start| Some((start, start.checked_add(length)?))) {
            Some((start, end)) if end <= FILE_BYTES_MAX => Ok((start, end)),
            _ => Err(DiskError::new(DiskErrorKind::NoSpace, operation, &self.path)),
        }
    }

    fn sync(&self, operation: &'static str) -> DiskResult<()> {
        let mut state = self.disk.state();
        let fault = state.begin(OperationClass::Sync, operation, &self.path)?;
        match fault {
            Some(FaultKind::SilentlySkipped) => Ok(()),
            Some(_) => {
                let State { files, random, .. } = &mut *state;
                if let Some(image) = files.get_mut(&self.file) {
                    image.fail_sync(random);
                }
                Err(input_output_error(operation, &self.path))
            }
            None => self.with_image(&mut state, FileImage::sync),
        }
    }
}

impl File for SimulatedFile {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> DiskResult<()> {
        let (start, end) = self.position(offset, bytes.len(), "read")?;
        let mut state = self.disk.state();
        state.begin(OperationClass::Read, "read", &self.path)?;
        let copied = self.with_image(&mut state, |image| match image.current.get(start..end) {
            Some(source) => {
                bytes.copy_from_slice(source);
                true
            }
            None => false,
        })?;
        if copied { Ok(()) } else { Err(DiskError::new(DiskErrorKind::UnexpectedEnd, "read", &self.path)) }
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> DiskResult<()> {
        let (start, end) = self.position(offset, bytes.len(), "write")?;
        let mut state = self.disk.state();
        let fault = state.begin(OperationClass::Write, "write", &self.path)?;
        let length = self.with_image(&mut state, |image| image.current.len())?;
        state.check_capacity(end.saturating_sub(length) as u64, "write", &self.path)?;
        let stored = if fault.is_some() { bytes.len() / 2 } else { bytes.len() };
        self.with_image(&mut state, |image| image.write(start, &bytes[..stored]))?;
        if fault.is_some() {
            Err(DiskError::new(DiskErrorKind::NoSpace, "write", &self.path))
        } else {
            Ok(())
        }
    }

    fn sync_data(&self) -> DiskResult<()> {
        self.sync("fdatasync")
    }

    fn sync_all(&self) -> DiskResult<()> {
        self.sync("fsync")
    }

    fn allocate(&self, offset: u64, length: u64) -> DiskResult<()> {
        let end = offset.saturating_add(length);
        let (_, end) = self.position(end, 0, "allocate")?;
        let mut state = self.disk.state();
        state.begin(OperationClass::Allocate, "allocate", &self.path)?;
        let present = self.with_image(&mut state, |image| image.current.len())?;
        let growth = end.saturating_sub(present);
        let refused = state.check_capacity(growth as u64, "allocate", &self.path);
        // As ext4 does, it takes all that is left before it fails.
        let fitting = usize::try_from(state.left_bytes()).unwrap_or(usize::MAX).min(growth);
        if fitting > 0 {
            self.with_image(&mut state, |image| image.set_len(present + fitting))?;
        }
        refused
    }

    fn discard(&self, offset: u64, length: u64) -> DiskResult<()> {
        let (start, end) = self.position(offset, usize::try_from(length).unwrap_or(usize::MAX), "discard")?;
        let mut state = self.disk.state();
        state.begin(OperationClass::Allocate, "discard", &self.path)?;
        self.with_image(&mut state, |image| {
            let end = end.min(image.current.len());
            if start < end {
                image.write(start, &vec![0; end - start]);
            }
        })
    }

    fn set_len(&self, length: u64) -> DiskResult<()> {
        let (end, _) = self.position(length, 0, "set length")?;
        let mut state = self.disk.state();
        state.begin(OperationClass::Allocate, "set length", &self.path)?;
        self.with_image(&mut state, |image| image.set_len(end))
    }

    fn len(&self) -> DiskResult<u64> {
        let mut state = self.disk.state();
        if state.crashed {
            return Err(DiskError::new(DiskErrorKind::Crashed, "stat", &self.path));
        }
        self.with_image(&mut state, |image| image.current.len() as u64)
    }
}
