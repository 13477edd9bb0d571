//! The memory of one statement and its temporary files. Main types: [`Workspace`], [`Held`], [`TemporaryFile`].

use crate::server_memory::{Reservation, ServerMemory};
use engine::{Engine, KillFlag};
use env::{DiskError, DiskErrorKind, DiskResult, File};
use errors::{SqlError, SqlResult, sql_error};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// What a statement did on disk, for the status variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpillCounts {
    /// Merges of sorted runs (Sort_merge_passes).
    pub merge_passes: u64,
    /// Temporary files (Created_tmp_files).
    pub files: u64,
    /// Kept rows, groups and sets of keys that outgrew memory (Created_tmp_disk_tables).
    pub disk_tables: u64,
}

/// This part of a statement's memory is for operators that cannot go to disk.
const RESERVE_PART: u64 = 8;
/// The buffers of one file take at most this part of what the statement has left.
const BUFFERS_PART: u64 = 8;
/// The least that the buffers of one file need is never refused up to this: two of rows of 128 KiB.
const BUFFERS_BYTES_UNREFUSED: u64 = 256 << 10;

/// What a statement may keep in memory, and the way to disk.
pub struct Workspace {
    engine: Engine,
    kill: KillFlag,
    held_bytes: Cell<u64>,
    bytes_max: u64,
    /// What of it the server knows of.
    reserved: Reservation,
    counts: Cell<SpillCounts>,
}

impl Workspace {
    /// Nothing held yet. The statement may hold so many bytes, if the server has them.
    pub fn new(engine: Engine, kill: KillFlag, bytes_max: u64, server: Arc<ServerMemory>) -> Rc<Workspace> {
        Rc::new(Workspace {
            engine,
            kill,
            held_bytes: Cell::new(0),
            bytes_max,
            reserved: Reservation::new(server),
            counts: Cell::new(SpillCounts::default()),
        })
    }

    /// Bytes that may be held in all.
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Bytes that may still be held.
    pub fn bytes_left(&self) -> u64 {
        self.bytes_max.saturating_sub(self.held_bytes.get())
    }

    /// The share of one operator: what it is given, but not more than half of all.
    pub fn share_of(&self, bytes: u64) -> u64 {
        bytes.min(self.bytes_max / 2)
    }

    /// Holds bytes for whoever gives them back himself; error 1114 if the statement may not.
    pub fn occupy(&self, bytes: u64) -> SqlResult<()> {
        if self.hold(bytes) { Ok(()) } else { Err(full()) }
    }

    /// Whether the statement may hold so many bytes more; it holds them then.
    fn hold(&self, bytes: u64) -> bool {
        let may = bytes <= self.bytes_left() && self.reserved.cover(self.held_bytes.get() + bytes);
        if may {
            self.held_bytes.update(|held| held + bytes);
        }
        may
    }

    /// Gives back what [`Workspace::occupy`] took.
    pub fn vacate(&self, bytes: u64) {
        self.held_bytes.update(|held| held.saturating_sub(bytes));
        self.reserved.fall_to(self.held_bytes.get());
    }

    /// Bytes that are held.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.get()
    }

    /// Whether the statement was killed.
    pub fn is_killed(&self) -> bool {
        self.kill.is_raised()
    }

    /// What went to disk so far.
    pub fn counts(&self) -> SpillCounts {
        self.counts.get()
    }

    /// Changes what went to disk.
    pub fn count(&self, change: impl FnOnce(&mut SpillCounts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }

    /// An empty temporary file.
    pub(crate) fn temporary_file(&self) -> SqlResult<TemporaryFile> {
        let file =
            env::blocking::region(|| self.engine.environment().temporary_file()).map_err(disk_error)?;
        self.count(|counts| counts.files += 1);
        Ok(TemporaryFile { file, length: 0, kill: self.kill.clone() })
    }
}

/// Error 1114: what a statement keeps is more than its memory or the disk holds.
pub fn full() -> SqlError {
    sql_error!(ER_RECORD_FILE_FULL, "#sql_temporary")
}

pub(crate) fn disk_error(error: DiskError) -> SqlError {
    match error.kind {
        DiskErrorKind::NoSpace => full(),
        _ => sql_error!(ER_GET_ERRNO, error.errno, error),
    }
}

/// Memory that an operator holds; given back when dropped.
pub struct Held {
    workspace: Rc<Workspace>,
    bytes: u64,
}

impl Held {
    /// Nothing yet.
    pub fn new(workspace: Rc<Workspace>) -> Held {
        Held { workspace, bytes: 0 }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whose memory it is.
    pub fn workspace(&self) -> &Rc<Workspace> {
        &self.workspace
    }

    /// Holds more, if the statement may: for operators that can go on on disk. They leave a part to those that cannot.
    pub fn try_grow(&mut self, bytes: u64) -> bool {
        let reserve = self.workspace.bytes_max / RESERVE_PART;
        let fits = bytes.saturating_add(reserve) <= self.workspace.bytes_left() && self.workspace.hold(bytes);
        if fits {
            self.bytes += bytes;
        }
        fits
    }

    /// Holds more, for operators that cannot go on otherwise; error 1114 if the statement may not.
    pub fn grow(&mut self, bytes: u64) -> SqlResult<()> {
        self.workspace.occupy(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Holds `most` bytes more, or as much less as there is room for, but `least` in any case; gives how many. For buffers of what is on
    /// disk, which serve in any size: who went there because the statement may hold no more does not fail for them, unless a long row
    /// makes them large. Error 1114 then.
    pub fn grow_between(&mut self, least: u64, most: u64) -> SqlResult<u64> {
        let mut bytes = most.min(self.workspace.bytes_left() / BUFFERS_PART);
        while bytes > least {
            if self.try_grow(bytes) {
                return Ok(bytes);
            }
            bytes /= 2;
        }
        match least > BUFFERS_BYTES_UNREFUSED {
            true => self.grow(least)?,
            false => self.grow_anyway(least),
        }
        Ok(least)
    }

    /// Holds more even beyond what the statement may: the little that it takes to go on on disk.
    pub fn grow_anyway(&mut self, bytes: u64) {
        self.workspace.held_bytes.update(|held| held + bytes);
        self.workspace.reserved.cover_anyway(self.workspace.held_bytes.get());
        self.bytes += bytes;
    }

    /// Takes over what another one of the same statement holds.
    pub fn absorb(&mut self, mut other: Held) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    /// Gives all back but that many bytes.
    pub fn shrink_to(&mut self, bytes: u64) {
        let freed = self.bytes.saturating_sub(bytes);
        self.workspace.vacate(freed);
        self.bytes -= freed;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

/// Memory of values that are put together one by one: nothing is charged until they are long, so that short rows cost nothing.
#[derive(Default)]
pub struct LongHeld(Option<Held>);

impl LongHeld {
    /// Holds so many bytes in all, if it does not hold more already; error 1114 if the statement may not.
    #[inline]
    pub fn reach(&mut self, bytes: usize, workspace: impl FnOnce() -> Rc<Workspace>) -> SqlResult<()> {
        if bytes < expression::LONG_BYTES {
            return Ok(());
        }
        let held = self.0.get_or_insert_with(|| Held::new(workspace()));
        held.grow((bytes as u64).saturating_sub(held.bytes()))
    }
}

/// A temporary file that is written from its start to its end. Its errors are 1114 (disk full), 1030 and
/// 1317 of the statement; the server goes on.
pub(crate) struct TemporaryFile {
    file: Arc<dyn File>,
    length: u64,
    kill: KillFlag,
}

impl TemporaryFile {
    /// Bytes written.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Forgets what was written; its place is written again.
    pub fn rewind(&mut self) {
        self.length = 0;
    }

    /// Writes behind what is there. Returns where.
    pub fn append(&mut self, bytes: &[u8]) -> SqlResult<u64> {
        self.check_killed()?;
        let at = self.length;
        let written: DiskResult<()> = env::blocking::region(|| self.file.write_at(bytes, at));
        written.map_err(disk_error)?;
        self.length += bytes.len() as u64;
        Ok(at)
    }

    /// A statement that is on disk looks here whether it was killed: for every buffer that it writes or reads.
    fn check_killed(&self) -> SqlResult<()> {
        check_flag(&self.kill)
    }

    /// Fills `bytes` from `offset`.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> SqlResult<()> {
        self.check_killed()?;
        env::blocking::region(|| self.file.read_at(bytes, offset)).map_err(disk_error)
    }
}

/// Error 1030: bytes of a temporary file are not what was written.
pub fn corrupt() -> SqlError {
    sql_error!(ER_GET_ERRNO, 126, "a temporary file holds other bytes than were written")
}

/// Error 1317 once the flag is raised.
#[inline]
pub fn check_flag(kill: &KillFlag) -> SqlResult<()> {
    if kill.is_raised() { Err(sql_error!(ER_QUERY_INTERRUPTED)) } else { Ok(()) }
}
