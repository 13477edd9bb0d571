//! [`OpenFiles`]: how many tablespace files are open at a time. A [`TableFile`] is opened when it is needed; beyond a maximum, or
//! where the process has no descriptor left, one that was not used lately is closed (a ring with a second chance).
//!
//! Who works with a file holds it open by a reference, and who writes syncs before it lets go: nothing that was written waits for the
//! sync of another descriptor, which need not hear of a failed write. Lock order: the ring, then a file's state.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use env::{Disk, DiskErrorKind, DiskResult, File, OpenMode};
use stdx::ids::SpaceId;
use stdx::sync::lock;

use super::reserve::RESERVED_SPACE;

/// The open files of all spaces.
pub(crate) struct OpenFiles {
    disk: Arc<dyn Disk>,
    maximum: usize,
    /// Those that may be closed, in the order in which they come up for it.
    ring: Mutex<VecDeque<Weak<TableFile>>>,
}

impl OpenFiles {
    pub fn new(disk: Arc<dyn Disk>, maximum: usize) -> Arc<OpenFiles> {
        Arc::new(OpenFiles { disk, maximum: maximum.max(1), ring: Mutex::default() })
    }

    /// Most files that stay open.
    pub fn maximum(&self) -> usize {
        self.maximum
    }

    /// How many files are open and could be closed.
    pub fn count(&self) -> usize {
        lock(&self.ring).len()
    }

    /// Takes a file of a space over that was just opened. That of dictionary and undo stays open: everything needs it.
    pub fn adopt(self: &Arc<OpenFiles>, space: SpaceId, path: &Path, file: Arc<dyn File>) -> Arc<TableFile> {
        self.adopt_as(path, file, space == RESERVED_SPACE)
    }

    /// Takes over a file that cannot be opened again: it has no name.
    pub fn adopt_nameless(self: &Arc<OpenFiles>, path: &Path, file: Arc<dyn File>) -> Arc<TableFile> {
        self.adopt_as(path, file, true)
    }

    fn adopt_as(self: &Arc<OpenFiles>, path: &Path, file: Arc<dyn File>, stays_open: bool) -> Arc<TableFile> {
        let adopted = Arc::new(TableFile {
            files: Arc::clone(self),
            stays_open,
            used: AtomicBool::new(false),
            state: Mutex::new(State { path: path.to_path_buf(), file: Some(file) }),
        });
        self.note_opened(&adopted);
        adopted
    }

    /// Runs what needs a descriptor, closing files for it as long as there is none.
    pub fn with_descriptor<T>(&self, mut act: impl FnMut() -> DiskResult<T>) -> DiskResult<T> {
        loop {
            match act() {
                Err(error) if error.kind == DiskErrorKind::TooManyFiles && self.close_one() => {}
                outcome => return outcome,
            }
        }
    }

    fn note_opened(&self, file: &Arc<TableFile>) {
        if file.stays_open {
            return;
        }
        let is_over = {
            let mut ring = lock(&self.ring);
            ring.push_back(Arc::downgrade(file));
            ring.len() > self.maximum
        };
        if is_over {
            self.close_one();
        }
    }

    /// Closes a file that was not used since it came up last, or else the first. False if there is none.
    fn close_one(&self) -> bool {
        let mut ring = lock(&self.ring);
        let chances = ring.len();
        for chance in 0..=chances {
            let Some(front) = ring.pop_front() else { return false };
            // Those of spaces that are gone were closed with them.
            let Some(file) = front.upgrade() else { return true };
            if chance < chances && file.used.swap(false, Ordering::Relaxed) {
                ring.push_back(front);
                continue;
            }
            drop(ring);
            // What works with it just now keeps the descriptor until it has done.
            lock(&file.state).file = None;
            return true;
        }
        false
    }
}

/// The file of a space.
pub(crate) struct TableFile {
    files: Arc<OpenFiles>,
    stays_open: bool,
    /// Used again since it came up for being closed.
    used: AtomicBool,
    state: Mutex<State>,
}

struct State {
    path: PathBuf,
    file: Option<Arc<dyn File>>,
}

impl TableFile {
    /// The file, open as long as the returned reference.
    pub fn open(self: &Arc<TableFile>) -> DiskResult<Arc<dyn File>> {
        let mut is_new = false;
        let file = self.files.with_descriptor(|| {
            let mut state = lock(&self.state);
            if let Some(file) = &state.file {
                return Ok(Arc::clone(file));
            }
            let file = self.files.disk.open(&state.path, OpenMode::Existing)?;
            state.file = Some(Arc::clone(&file));
            is_new = true;
            Ok(file)
        })?;
        if is_new {
            self.files.note_opened(self);
        } else if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
        Ok(file)
    }

    /// Where it lies, relative to the data directory.
    pub fn path(&self) -> PathBuf {
        lock(&self.state).path.clone()
    }

    /// Renames it. Nobody opens it meanwhile.
    pub fn rename(&self, to: &Path) -> DiskResult<()> {
        let mut state = lock(&self.state);
        self.files.disk.rename(&state.path, to)?;
        state.path = to.to_path_buf();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use env::simulated::SimulatedDisk;

    fn names(count: u32) -> Vec<PathBuf> {
        (0..count).map(|number| PathBuf::from(format!("{number}.ibd"))).collect()
    }

    fn adopt(disk: &SimulatedDisk, files: &Arc<OpenFiles>, count: u32) -> Vec<Arc<TableFile>> {
        let adopt = |(number, name): (u32, PathBuf)| {
            let file = files.with_descriptor(|| disk.open(&name, OpenMode::CreateIfMissing)).unwrap();
            file.write_at(&[number as u8], 0).unwrap();
            files.adopt(SpaceId(number), &name, file)
        };
        (1..=count).zip(names(count)).map(adopt).collect()
    }

    fn read(file: &Arc<TableFile>) -> u8 {
        let mut byte = [0];
        file.open().unwrap().read_at(&mut byte, 0).unwrap();
        byte[0]
    }

    #[test]
    fn no_more_than_the_maximum_stay_open_and_what_is_used_does() {
        let disk = SimulatedDisk::new(1);
        let files = OpenFiles::new(Arc::new(disk.clone()), 4);
        let all = adopt(&disk, &files, 20);
        let opened_before = |file: &Arc<TableFile>| lock(&file.state).file.is_some();
        for round in 0..3 {
            for (number, file) in (1..).zip(&all) {
                assert_eq!(read(&all[7]), 8);
                assert!(round == 0 && number == 1 || opened_before(&all[7]));
                assert_eq!(read(file), number);
                assert!(disk.open_files() <= 4 && files.count() <= 4);
            }
        }
        // What is held stays open, whatever else is opened.
        let held = all[2].open().unwrap();
        assert!((4..).zip(&all[3..]).all(|(number, file)| read(file) == number));
        assert_eq!(disk.open_files(), 5);
        held.write_at(&[9], 0).unwrap();
        held.sync_data().unwrap();
        drop((held, all));
        assert_eq!(disk.open_files(), 0);
    }

    #[test]
    fn files_are_closed_for_what_needs_a_descriptor() {
        let disk = SimulatedDisk::new(1);
        let files = OpenFiles::new(Arc::new(disk.clone()), 100);
        disk.set_open_files_max(Some(5));
        let all = adopt(&disk, &files, 20);
        assert!((1..).zip(&all).all(|(number, file)| read(file) == number));
        let held: Vec<_> = (0..5).map(|_| files.with_descriptor(|| disk.directory(Path::new("")))).collect();
        assert!(held.iter().all(Result::is_ok));
        let refused = files.with_descriptor(|| disk.directory(Path::new(""))).err().unwrap();
        assert_eq!(refused.kind, DiskErrorKind::TooManyFiles);
        assert_eq!(all[0].open().err().unwrap().kind, DiskErrorKind::TooManyFiles);
        drop(held);
        all[0].rename(Path::new("other")).unwrap();
        assert_eq!((read(&all[0]), all[0].path()), (1, PathBuf::from("other")));
    }
}
