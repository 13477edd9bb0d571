//! [`RedoLog`]: appending, and flushing by whoever needs it.
//!
//! Appending copies a finished group into the active buffer under a short mutex. Whoever needs the log written or
//! durable becomes the leader: it swaps the buffer, writes it in whole blocks and syncs, for all who wait. There is no
//! log thread. The first failure of a write or sync latches the log for good (I2). Lock order: `preparing`, then one of
//! `segments`, `control`, `active`; the last three are held for memory operations and the control record only.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use env::{DiskError, DiskErrorKind, Environment, File, FileLock, OpenMode, blocking};
use metrics::Counter;
use stdx::OwnLine;
use stdx::ids::Lsn;
use stdx::sync::lock;

use crate::control::{self, CheckpointRecord, Control, FEATURES, Lineage};
use crate::group;
use crate::segments::Segments;
use crate::turns::{FlushTurns, FlushWaiter, Turn};
use crate::{BLOCK_BYTES, FIRST_LSN, GROUP_HEADER_BYTES, GroupRange, LOG_DIRECTORY, LogReader, RedoError};

/// More than this is not left written without being durable: how far a later group may lie from the first damaged one that it shows
/// depends on it.
pub(crate) const UNSYNCED_BYTES_MAX: u64 = 64 << 20;
/// A larger buffer is of no use.
pub(crate) const BUFFER_BYTES_MAX: usize = 64 << 20;
/// The least epoch of a new log.
const FIRST_EPOCH_MIN: u32 = 1 << 28;

/// Sizes of a log.
#[derive(Clone, Debug)]
pub struct RedoOptions {
    /// Bytes that all files together may occupy.
    pub capacity_bytes: u64,
    /// Bytes of one file; a multiple of 4096. Only read when the log is made.
    pub segment_bytes: u64,
    /// Bytes that may wait in memory before appending waits for a write.
    pub buffer_bytes: usize,
    /// Whether a log that is damaged ends there, instead of being refused. What follows is lost: only for an overlay.
    pub ends_at_damage: bool,
}

/// The redo log of an engine. Shared by all threads.
pub struct RedoLog {
    buffer_bytes: usize,
    segment_bytes: u64,
    epoch: u32,
    epoch_start: Lsn,
    lineage: Lineage,
    /// What each group, each flush and each reader of snapshots uses has a line of memory of its own.
    active: OwnLine<Mutex<ActiveBuffer>>,
    end: OwnLine<AtomicU64>,
    written: OwnLine<AtomicU64>,
    durable: OwnLine<AtomicU64>,
    checkpoint: AtomicU64,
    ready: AtomicU64,
    /// Set when there was no room, or no descriptor, for another file; cleared when one could be created.
    starved: AtomicBool,
    failure: OnceLock<DiskError>,
    turns: OwnLine<FlushTurns<LeaderMemory>>,
    segments: Mutex<Segments>,
    /// Held by who makes a file ready.
    preparing: Mutex<()>,
    control: Mutex<Control>,
    flushes: OwnLine<AtomicU64>,
}

/// The groups that were appended and not yet taken by a leader, behind the bytes of their first block that were.
struct ActiveBuffer {
    /// LSN of the first byte; a multiple of the block size.
    base: u64,
    bytes: Vec<u8>,
}

/// What one leader hands to the next.
#[derive(Default)]
pub(crate) struct LeaderMemory {
    /// The buffer that is not active. Both have their room from the start, which costs memory when it is written to: a buffer that
    /// grew would be copied under the append mutex, and leave its smaller selves to the allocator.
    spare: Vec<u8>,
    /// Files that were written since they were last synced, by number.
    unsynced: BTreeSet<u64>,
    /// The file that was written last, with its number: nearly every write is to the one before it. It lies behind the checkpoint, so it
    /// is not used again under another number.
    latest: Option<(u64, Arc<dyn File>)>,
}

/// A log that was found or made, before its records are replayed.
pub struct OpenedLog {
    environment: Environment,
    options: RedoOptions,
    control: Control,
    segments: Segments,
}

impl OpenedLog {
    /// Reads the log from the last checkpoint on.
    pub fn reader(&self) -> LogReader {
        self.readers()()
    }

    /// Readers of the log from the last checkpoint on, also when this is gone. They are of use until the checkpoint moves.
    pub fn readers(&self) -> impl Fn() -> LogReader + use<> {
        let files = self.segments.files_from(self.checkpoint());
        let (record, ends_at_damage) = (self.control.record, self.options.ends_at_damage);
        move || LogReader::new(files.clone(), record, ends_at_damage)
    }

    /// Which log this is.
    pub fn lineage(&self) -> Lineage {
        self.control.record.lineage
    }

    /// Where recovery starts.
    pub fn checkpoint(&self) -> Lsn {
        self.control.record.checkpoint
    }

    /// Makes durable what the reader may have read from the operating system's cache only. Before any page is written
    /// in recovery, its log must be durable (I1).
    pub fn sync(&self) -> Result<(), RedoError> {
        for file in self.segments.files_from(self.checkpoint()).iter() {
            file.sync_data()?;
        }
        self.control.sync()
    }

    /// Starts a new epoch at `end`, where the reader stopped. The checkpoint stays where it is. Allocates nothing.
    pub fn start(mut self, end: Lsn) -> Result<RedoLog, RedoError> {
        let old = self.control.record;
        let record = CheckpointRecord {
            durable: end.max(old.durable),
            epoch: old.epoch + 1,
            epoch_start: end,
            features: old.features.with(FEATURES),
            ..old
        };
        self.control.write(record)?;
        let base = end.0 / BLOCK_BYTES * BLOCK_BYTES;
        let mut bytes = vec![0; (end.0 - base) as usize];
        if let Some(file) = self.segments.file(Lsn(base)) {
            file.read_at(&mut bytes, base % self.segments.segment_bytes)?;
        }
        let buffer_bytes = self.options.buffer_bytes.min(BUFFER_BYTES_MAX);
        bytes.reserve_exact(buffer_bytes);
        Ok(RedoLog {
            buffer_bytes,
            segment_bytes: self.segments.segment_bytes,
            epoch: record.epoch,
            epoch_start: record.epoch_start,
            lineage: record.lineage,
            active: OwnLine(Mutex::new(ActiveBuffer { base, bytes })),
            end: OwnLine(AtomicU64::new(end.0)),
            written: OwnLine(AtomicU64::new(end.0)),
            durable: OwnLine(AtomicU64::new(end.0)),
            checkpoint: AtomicU64::new(record.checkpoint.0),
            ready: AtomicU64::new(self.segments.ready_lsn().0),
            starved: AtomicBool::new(false),
            failure: OnceLock::new(),
            turns: OwnLine(FlushTurns::new(LeaderMemory {
                spare: Vec::with_capacity(buffer_bytes),
                unsynced: BTreeSet::new(),
                latest: None,
            })),
            segments: Mutex::new(self.segments),
            preparing: Mutex::new(()),
            control: Mutex::new(self.control),
            flushes: OwnLine(AtomicU64::new(0)),
        })
    }

    /// The world.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }
}

impl RedoLog {
    /// Whether there is a log below the data directory.
    pub fn exists(environment: &Environment) -> Result<bool, RedoError> {
        Ok(Control::open(environment)?.is_some())
    }

    /// Refuses what stands in the place of files that the log needs, or will need. Errors: Misplaced.
    pub fn check_places(environment: &Environment) -> Result<(), RedoError> {
        const OURS: [&str; 4] = ["control", "doublewrite", "log", "reserve"];
        let (disk, directory) = (&environment.disk, Path::new(LOG_DIRECTORY));
        if !disk.directory_exists(directory)? {
            return match disk.open(directory, OpenMode::Existing) {
                Ok(_) => {
                    let what = "a file in the place of a directory";
                    Err(RedoError::Misplaced { path: directory.to_path_buf(), what })
                }
                Err(_) => Ok(()),
            };
        }
        let names = disk.list(directory)?;
        let mut directories = names.iter().filter_map(|name| name.strip_suffix('/'));
        match directories.find(|name| OURS.iter().any(|ours| name.starts_with(ours))) {
            Some(name) => {
                let what = "a directory in the place of a file";
                Err(RedoError::Misplaced { path: directory.join(name), what })
            }
            None => Ok(()),
        }
    }

    /// Takes the lock of the log, if there is one: without it a second server would write to the same files, whatever has become
    /// of other lock files.
    pub fn lock(environment: &Environment) -> Result<Option<Box<dyn FileLock>>, RedoError> {
        let path = control::control_path();
        match environment.disk.open(&path, OpenMode::Existing) {
            Ok(_) => Ok(Some(environment.disk.lock(&path)?)),
            Err(error) if error.kind == DiskErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the log, but for the doublewrite file.
    pub fn remove(environment: &Environment) -> Result<(), RedoError> {
        let directory = Path::new(LOG_DIRECTORY);
        if !environment.disk.directory_exists(directory)? {
            return Ok(());
        }
        for name in environment.disk.list(directory)? {
            if name.starts_with(control::NAME) || Segments::is_name(&name) {
                environment.disk.remove(&directory.join(name))?;
            }
        }
        Ok(())
    }

    /// Finds the log below the data directory, or makes an empty one.
    pub fn open(environment: &Environment, options: &RedoOptions) -> Result<OpenedLog, RedoError> {
        environment.disk.create_directory(Path::new(LOG_DIRECTORY))?;
        let (control, segments) = match Control::open(environment)? {
            Some(control) => {
                // Whoever made the log may have been killed before its name was durable.
                environment.disk.sync_directory(Path::new(LOG_DIRECTORY))?;
                let record = control.record;
                let segments = Segments::open(environment, options, record.segment_bytes, record.checkpoint)?;
                (control, segments)
            }
            None => match Segments::find_used(environment)? {
                Some(file) => return Err(RedoError::ControlMissing(file)),
                None => RedoLog::create(environment, options)?,
            },
        };
        Ok(OpenedLog { environment: environment.clone(), options: options.clone(), control, segments })
    }

    /// The control file comes last: without it there is no log, and a start that was cut short begins again.
    fn create(environment: &Environment, options: &RedoOptions) -> Result<(Control, Segments), RedoError> {
        let start = Lsn(FIRST_LSN);
        let segment_bytes = options.segment_bytes.max(BLOCK_BYTES).next_multiple_of(BLOCK_BYTES);
        environment.disk.sync_directory(Path::new(""))?;
        let mut segments = Segments::new(environment, segment_bytes, options.capacity_bytes, start)?;
        for _ in 0..Segments::FILES_MIN {
            segments.prepare_first(start)?;
        }
        let record = CheckpointRecord {
            sequence: 0,
            segment_bytes,
            checkpoint: start,
            durable: start,
            // Not a small number, whose bytes stand in every payload: a damaged log is searched for them.
            epoch: environment.random.next_u64() as u32 >> 2 | FIRST_EPOCH_MIN,
            epoch_start: start,
            lineage: Lineage::new(environment),
            features: FEATURES,
        };
        Ok((Control::create(environment, record)?, segments))
    }

    /// Everything before this LSN survives a power cut.
    #[inline]
    pub fn durable_lsn(&self) -> Lsn {
        Lsn(self.durable.load(Ordering::Acquire))
    }

    /// Everything before this LSN was handed to the operating system.
    #[inline]
    pub fn written_lsn(&self) -> Lsn {
        Lsn(self.written.load(Ordering::Acquire))
    }

    /// The LSN at which the next group will start.
    #[inline]
    pub fn end_lsn(&self) -> Lsn {
        Lsn(self.end.load(Ordering::Acquire))
    }

    /// Where recovery would start.
    #[inline]
    pub fn checkpoint_lsn(&self) -> Lsn {
        Lsn(self.checkpoint.load(Ordering::Acquire))
    }

    /// Where the groups of this start begin, and the number that they carry.
    pub fn epoch(&self) -> (u32, Lsn) {
        (self.epoch, self.epoch_start)
    }

    /// Which log this is.
    pub fn lineage(&self) -> Lineage {
        self.lineage
    }

    /// How many times the log was synced.
    pub fn flush_count(&self) -> u64 {
        self.flushes.load(Ordering::Relaxed)
    }

    /// The failure that latched the log, if one did.
    pub fn failure(&self) -> Option<RedoError> {
        self.failure.get().map(|error| RedoError::Failed(error.clone()))
    }

    /// Latches the log after a failure elsewhere (a page file): nothing is acknowledged any more.
    pub fn fail(&self, error: DiskError) {
        let _ = self.failure.set(error);
        self.turns.wake_all();
    }

    /// Appends a group: `group` holds [`GROUP_HEADER_BYTES`] bytes to be filled in, then the payload. It cannot fail: after
    /// a failure of the log the group goes nowhere, and nobody is ever told that it is durable.
    #[inline]
    pub fn append(&self, group: &mut [u8]) -> GroupRange {
        self.append_group(group, &[], |_| {})
    }

    /// As `append`; calls `stamp` with the group's place before any other group has one, and before the group may be called durable. It must
    /// be short, and must not use the log.
    #[inline]
    pub fn append_with(&self, group: &mut [u8], stamp: impl FnOnce(GroupRange)) -> GroupRange {
        self.append_group(group, &[], stamp)
    }

    /// Acts between two appends. As for `append_with`, it must not use the log.
    pub fn between_appends<R>(&self, act: impl FnOnce() -> R) -> R {
        let _section = lock(&self.active);
        act()
    }

    /// As `append`, with what only the append section knows behind the payload.
    #[cfg(test)]
    pub(crate) fn append_with_trailer(&self, group: &mut [u8], trailer: &[u8]) -> GroupRange {
        assert!(trailer.len() <= crate::group::TRAILER_BYTES_MAX);
        let counted: Vec<u8> = std::iter::once(trailer.len() as u8).chain(trailer.iter().copied()).collect();
        self.append_group(group, &counted, |_| {})
    }

    /// `trailer` has its length in front, or is empty for a group without one.
    #[inline]
    fn append_group(&self, group: &mut [u8], trailer: &[u8], stamp: impl FnOnce(GroupRange)) -> GroupRange {
        let prepared = group::prepare(group, self.epoch, !trailer.is_empty());
        let group_bytes = group.len() + trailer.len();
        let mut active = lock(&self.active);
        while active.bytes.len() + group_bytes > self.buffer_bytes && active.bytes.len() as u64 > BLOCK_BYTES
        {
            let end = Lsn(active.base + active.bytes.len() as u64);
            drop(active);
            Counter::LogWaits.increment();
            // A failure is latched, and reported to whoever asks for durability.
            let failed = self.reach(end, Goal::Written).is_err();
            active = lock(&self.active);
            if failed {
                let range = self.discard(&mut active, group_bytes);
                stamp(range);
                return range;
            }
        }
        let start = Lsn(active.base + active.bytes.len() as u64);
        prepared.place(&mut group[..GROUP_HEADER_BYTES], trailer, start, self.durable_lsn());
        active.bytes.extend_from_slice(group);
        active.bytes.extend_from_slice(trailer);
        let range = GroupRange { start, end: Lsn(start.0 + group_bytes as u64) };
        // First: who meets the stamp may ask for a flush up to there.
        self.end.store(range.end.0, Ordering::Release);
        stamp(range);
        range
    }

    /// Moves the end on without keeping the bytes: the log has failed.
    #[cold]
    fn discard(&self, active: &mut ActiveBuffer, group_bytes: usize) -> GroupRange {
        let start = Lsn(active.base + active.bytes.len() as u64);
        let end = Lsn(start.0 + group_bytes as u64);
        active.bytes.clear();
        active.base = end.0;
        self.end.store(end.0, Ordering::Release);
        GroupRange { start, end }
    }

    /// Returns when everything before `lsn` is durable. Whoever comes first writes and syncs for all who wait.
    #[inline]
    pub fn flush_to(&self, lsn: Lsn) -> Result<(), RedoError> {
        if self.durable_lsn() >= lsn { Ok(()) } else { self.reach(lsn, Goal::Durable) }
    }

    /// Returns when everything before `lsn` was handed to the operating system: it then survives the end of the process,
    /// not that of the machine.
    #[inline]
    pub fn write_to(&self, lsn: Lsn) -> Result<(), RedoError> {
        if self.written_lsn() >= lsn { Ok(()) } else { self.reach(lsn, Goal::Written) }
    }

    /// As [`RedoLog::flush_to`], but does not wait for another thread's flush: then returns false, and `waiter` is told
    /// when that flush has ended.
    pub fn flush_or_subscribe(&self, lsn: Lsn, waiter: &Arc<dyn FlushWaiter>) -> Result<bool, RedoError> {
        if self.durable_lsn() >= lsn { Ok(true) } else { self.take_turns(lsn, Goal::Durable, Some(waiter)) }
    }

    fn reach(&self, lsn: Lsn, goal: Goal) -> Result<(), RedoError> {
        self.take_turns(lsn, goal, None).map(drop)
    }

    /// False if the waiter was subscribed.
    fn take_turns(
        &self,
        lsn: Lsn,
        goal: Goal,
        waiter: Option<&Arc<dyn FlushWaiter>>,
    ) -> Result<bool, RedoError> {
        assert!(lsn <= self.end_lsn(), "LSN {lsn} lies beyond the end of the log");
        loop {
            match self.turns.begin(|| self.outcome(lsn, goal), waiter) {
                Turn::Settled(outcome) => return outcome.map(|()| true),
                Turn::Leads(memory) => {
                    let memory = self.lead(memory, goal);
                    self.turns.end(memory);
                    // Seldom not: then the goal lies behind what is left unsynced.
                    if let Some(outcome) = self.outcome(lsn, goal) {
                        return outcome.map(|()| true);
                    }
                }
                Turn::Subscribed => return Ok(false),
            }
        }
    }

    /// Whether the goal is reached, or never will be.
    fn outcome(&self, lsn: Lsn, goal: Goal) -> Option<Result<(), RedoError>> {
        let reached = match goal {
            Goal::Written => self.written_lsn(),
            Goal::Durable => self.durable_lsn(),
        };
        if reached >= lsn { Some(Ok(())) } else { self.failure().map(Err) }
    }

    /// The leader's work. Gives its memory back; a failure is latched.
    pub(crate) fn lead(&self, mut memory: LeaderMemory, goal: Goal) -> LeaderMemory {
        let (mut bytes, base) = self.take_active(std::mem::take(&mut memory.spare));
        if self.failure.get().is_some() {
            // Latched elsewhere since the seat was taken: groups may have been discarded, and what lies here ends behind them.
            memory.spare = bytes;
            return memory;
        }
        let end = base + bytes.len() as u64;
        bytes.resize(bytes.len().next_multiple_of(BLOCK_BYTES as usize), 0);
        let outcome = self.write_blocks(&bytes, base, &mut memory).and_then(|()| {
            self.written.store(end, Ordering::Release);
            let is_enough = goal == Goal::Written && end - self.durable_lsn().0 <= UNSYNCED_BYTES_MAX;
            if is_enough { Ok(()) } else { self.sync_files(&mut memory, end) }
        });
        if let Err(error) = outcome {
            let _ = self.failure.set(error);
        }
        memory.spare = bytes;
        memory
    }

    /// Swaps the active buffer for `spare`, which starts with the bytes of the last, unfinished block.
    fn take_active(&self, mut spare: Vec<u8>) -> (Vec<u8>, u64) {
        let mut active = lock(&self.active);
        let whole = active.bytes.len() / BLOCK_BYTES as usize * BLOCK_BYTES as usize;
        spare.clear();
        spare.extend_from_slice(&active.bytes[whole..]);
        let base = active.base;
        active.base += whole as u64;
        (std::mem::replace(&mut active.bytes, spare), base)
    }

    fn write_blocks(&self, bytes: &[u8], base: u64, memory: &mut LeaderMemory) -> Result<(), DiskError> {
        let mut position = base;
        let mut rest = bytes;
        while !rest.is_empty() {
            while self.ready.load(Ordering::Acquire) <= position {
                // Out of turn, so that a commit is not lost: normally the flusher keeps files ready.
                self.prepare_one(position + 1, true)?;
            }
            let number = position / self.segment_bytes;
            if memory.latest.as_ref().is_none_or(|(latest, _)| *latest != number) {
                memory.latest = self.file(number).map(|file| (number, file));
            }
            let Some((_, file)) = &memory.latest else { break };
            let offset = position % self.segment_bytes;
            let count = (self.segment_bytes - offset).min(rest.len() as u64) as usize;
            memory.unsynced.insert(number);
            file.write_at(&rest[..count], offset)?;
            Counter::LogWrites.increment();
            Counter::LogBytesWritten.add(count as u64);
            position += count as u64;
            rest = &rest[count..];
        }
        assert!(rest.is_empty(), "a log file that was made ready is missing");
        Ok(())
    }

    /// A file that is ready.
    fn file(&self, number: u64) -> Option<Arc<dyn File>> {
        let segments = lock(&self.segments);
        segments.file(Lsn(number * self.segment_bytes)).map(Arc::clone)
    }

    fn sync_files(&self, memory: &mut LeaderMemory, end: u64) -> Result<(), DiskError> {
        while let Some(number) = memory.unsynced.pop_first() {
            let looked_up;
            let file = match &memory.latest {
                Some((latest, file)) if *latest == number => file,
                _ => {
                    looked_up = self.file(number);
                    // A file that was recycled meanwhile lay before the checkpoint, and so was synced for it.
                    let Some(file) = &looked_up else { continue };
                    file
                }
            };
            file.sync_data()?;
            Counter::LogFsyncs.increment();
        }
        // One leads at a time.
        self.flushes.store(self.flush_count() + 1, Ordering::Relaxed);
        // I1: nothing is called durable that was not written and synced by now.
        assert!(end <= self.written.load(Ordering::Acquire));
        self.durable.store(end, Ordering::Release);
        Ok(())
    }

    /// Moves the checkpoint to `lsn`: recovery will start there, and files before it may be used again. The caller
    /// vouches that no page change before `lsn` is missing on disk.
    pub fn set_checkpoint(&self, lsn: Lsn) -> Result<(), RedoError> {
        self.flush_to(lsn)?;
        let mut control = lock(&self.control);
        if let Some(error) = self.failure() {
            return Err(error);
        }
        let old = control.record;
        if lsn <= old.checkpoint {
            return Ok(());
        }
        // I1: a checkpoint beyond the durable log would skip groups that recovery cannot find.
        assert!(lsn <= self.durable_lsn());
        self.write_control(
            &mut control,
            CheckpointRecord { checkpoint: lsn, durable: self.durable_lsn(), ..old },
        )?;
        self.checkpoint.store(lsn.0, Ordering::Release);
        Ok(())
    }

    /// Makes the log durable up to there and says so in the control record: a start refuses a log that ends before.
    pub fn note_durable(&self, lsn: Lsn) -> Result<(), RedoError> {
        self.flush_to(lsn)?;
        let mut control = lock(&self.control);
        let (old, durable) = (control.record, self.durable_lsn());
        match self.failure() {
            Some(error) => Err(error),
            None if durable <= old.durable => Ok(()),
            None => self.write_control(&mut control, CheckpointRecord { durable, ..old }),
        }
    }

    /// Says in the control record how far the log is durable by now, without a sync: a process that is killed has said it all the same, and
    /// what is taken from its log before the next start is missed. To be called every now and then, and before pages are written.
    pub fn note_progress(&self) -> Result<(), RedoError> {
        let mut control = lock(&self.control);
        if let Some(error) = self.failure() {
            return Err(error);
        }
        match control.note(self.durable_lsn()) {
            // What it said before is as true.
            Err(RedoError::Disk(error)) if is_lack(&error) => Ok(()),
            Err(RedoError::Disk(error)) => {
                self.fail(error.clone());
                Err(RedoError::Failed(error))
            }
            outcome => outcome,
        }
    }

    fn write_control(&self, control: &mut Control, record: CheckpointRecord) -> Result<(), RedoError> {
        control.write(record).inspect_err(|error| {
            if let RedoError::Disk(error) = error {
                self.fail(error.clone());
            }
        })
    }

    /// Bytes that can be appended before the log has to move its checkpoint: up to the files that are ready, or that can
    /// be made unless the disk has lately been full.
    pub fn room_bytes(&self) -> u64 {
        self.limit_lsn().0.saturating_sub(self.end_lsn().0)
    }

    /// Bytes that the log can hold altogether, at present.
    pub fn capacity_bytes(&self) -> u64 {
        self.limit_lsn().0.saturating_sub(self.checkpoint_lsn().0)
    }

    fn limit_lsn(&self) -> Lsn {
        if self.starved.load(Ordering::Acquire) {
            return Lsn(self.ready.load(Ordering::Acquire));
        }
        lock(&self.segments).limit_lsn(self.checkpoint_lsn())
    }

    /// Bytes that can be appended to files that are ready.
    #[inline]
    pub fn ready_bytes(&self) -> u64 {
        self.ready.load(Ordering::Acquire).saturating_sub(self.end_lsn().0)
    }

    /// Keeps files for `ahead_bytes` ready behind the end of the log. False if the disk has no room, the process no descriptor, or the
    /// maximum is reached: then the checkpoint must move.
    pub fn prepare_files(&self, ahead_bytes: u64) -> Result<bool, RedoError> {
        if !self.prepare_ahead(ahead_bytes, false)? {
            return Ok(false);
        }
        lock(&self.segments).remove_surplus(self.checkpoint_lsn()).map_err(RedoError::Disk)?;
        self.note_new_file()?;
        Ok(true)
    }

    /// A file that got its first groups since the control record was written must not be lost in silence.
    fn note_new_file(&self) -> Result<(), RedoError> {
        let file_of = |lsn: Lsn| lsn.0 / self.segment_bytes;
        let (durable, noted) = (self.durable_lsn(), lock(&self.control).record.durable);
        if file_of(durable) > file_of(noted) { self.note_durable(durable) } else { Ok(()) }
    }

    /// Whether there was no room, or no descriptor, for another file when one was last wanted.
    pub fn is_starved(&self) -> bool {
        self.starved.load(Ordering::Acquire)
    }

    /// As `prepare_files`, for a log whose checkpoint cannot move: makes files beyond the maximum. They are removed when
    /// the checkpoint has moved. False if the disk has no room.
    pub fn exceed_capacity(&self, ahead_bytes: u64) -> Result<bool, RedoError> {
        self.prepare_ahead(ahead_bytes, true)
    }

    fn prepare_ahead(&self, ahead_bytes: u64, beyond_maximum: bool) -> Result<bool, RedoError> {
        while self.ready_bytes() < ahead_bytes {
            if let Some(error) = self.failure() {
                return Err(error);
            }
            match self.prepare_one(self.end_lsn().0 + ahead_bytes, beyond_maximum) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) if is_lack(&error) => {
                    self.starved.store(true, Ordering::Release);
                    return Ok(false);
                }
                Err(error) => {
                    self.fail(error.clone());
                    return Err(RedoError::Failed(error));
                }
            }
        }
        Ok(true)
    }

    /// Makes one more file ready, unless files reach `until` by now. False if there may be no more.
    fn prepare_one(&self, until: u64, beyond_maximum: bool) -> Result<bool, DiskError> {
        let _preparing = blocking::region(|| lock(&self.preparing));
        if self.ready.load(Ordering::Acquire) >= until {
            return Ok(true);
        }
        let Some(plan) = lock(&self.segments).plan_next(self.checkpoint_lsn(), beyond_maximum) else {
            return Ok(false);
        };
        let outcome = plan.carry_out();
        let mut segments = lock(&self.segments);
        match outcome {
            Ok(file) => {
                if plan.is_new() {
                    self.starved.store(false, Ordering::Release);
                }
                segments.add_next(&plan, file);
                self.ready.store(segments.ready_lsn().0, Ordering::Release);
                Ok(true)
            }
            Err(error) => {
                segments.abandon(plan);
                Err(error)
            }
        }
    }

    /// Bytes of one log file.
    pub fn segment_bytes(&self) -> u64 {
        self.segment_bytes
    }
}

/// Whether a file cannot be made now and perhaps can later: the log goes on with those that it has.
fn is_lack(error: &DiskError) -> bool {
    matches!(error.kind, DiskErrorKind::NoSpace | DiskErrorKind::TooManyFiles)
}

/// How far a flush must go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    Written,
    Durable,
}

/// An empty group for [`RedoLog::append`]: room for the header, payload to be added.
pub fn new_group(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.resize(GROUP_HEADER_BYTES, 0);
}
