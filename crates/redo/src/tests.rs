//! The log as a whole: what was flushed comes back, what was not comes back as a prefix, and mistakes are seen.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk, SimulatedRandom};
use env::{Disk, DiskError, DiskErrorKind, Environment, OpenMode, Threads};
use stdx::ids::Lsn;

use crate::log::{Goal, LeaderMemory};
use crate::{RedoError, RedoLog, RedoOptions, new_group};

fn options() -> RedoOptions {
    RedoOptions {
        capacity_bytes: 64 << 10,
        segment_bytes: 8 << 10,
        buffer_bytes: 12 << 10,
        ends_at_damage: false,
    }
}

fn environment(disk: &SimulatedDisk) -> Environment {
    Environment::simulated(disk.clone(), 1)
}

/// Opens the log and gives the payloads found in it.
fn open(disk: &SimulatedDisk) -> Result<(RedoLog, Vec<Vec<u8>>), RedoError> {
    let opened = RedoLog::open(&environment(disk), &options())?;
    let mut payloads = Vec::new();
    let mut reader = opened.reader();
    while let Some((_, payload)) = reader.next_group()? {
        payloads.push(payload.to_vec());
    }
    let end = reader.position();
    opened.sync()?;
    Ok((opened.start(end)?, payloads))
}

fn append(log: &RedoLog, payload: &[u8]) -> Lsn {
    let mut group = Vec::new();
    new_group(&mut group);
    group.extend_from_slice(payload);
    log.append(&mut group).end
}

/// A payload that tells its number and varies in length.
fn payload(number: u64, random: &SimulatedRandom) -> Vec<u8> {
    let mut bytes = number.to_le_bytes().to_vec();
    let longer = if random.one_in(20) { 6000 } else { 300 };
    bytes.resize(8 + random.below(longer) as usize, number as u8);
    bytes
}

fn number_of(payload: &[u8]) -> u64 {
    u64::from_le_bytes(payload[..8].try_into().unwrap())
}

#[test]
fn flushed_groups_come_back() {
    let disk = SimulatedDisk::new(1);
    let (log, found) = open(&disk).unwrap();
    assert!(found.is_empty());
    let random = SimulatedRandom::new(7);
    let payloads: Vec<Vec<u8>> = (0..100).map(|number| payload(number, &random)).collect();
    let mut end = Lsn(0);
    for payload in &payloads {
        end = append(&log, payload);
    }
    log.flush_to(end).unwrap();
    assert!(log.durable_lsn() >= end);
    let (log, found) = open(&disk.restart_with_durable_state()).unwrap();
    assert_eq!(found, payloads);
    assert_eq!(log.end_lsn(), end);
}

#[test]
fn one_write_and_one_sync_for_a_flush() {
    let disk = SimulatedDisk::new(1);
    let (log, _) = open(&disk).unwrap();
    let before = disk.counts();
    let end = append(&log, b"commit");
    log.flush_to(end).unwrap();
    log.flush_to(end).unwrap();
    let after = disk.counts();
    assert_eq!((after.writes - before.writes, after.syncs - before.syncs), (1, 1));
    assert_eq!(after.mutations - before.mutations, 2);
}

/// Appends, flushes and moves the checkpoint until the disk crashes. Gives the number of the last acknowledged group and
/// of the last group that need not come back because the checkpoint passed it.
fn run_until_crash(disk: &SimulatedDisk, log: &RedoLog, first: u64, seed: u64) -> (Option<u64>, u64) {
    let random = SimulatedRandom::new(seed);
    let mut acknowledged = None;
    let mut checkpointed = first;
    let mut last_end = Vec::new();
    for number in first..first + 60 {
        if disk.has_crashed() {
            break;
        }
        let end = append(log, &payload(number, &random));
        last_end.push((number, end));
        match random.below(4) {
            0 => {
                if log.flush_to(end).is_ok() {
                    assert!(log.durable_lsn() >= end);
                    acknowledged = Some(number);
                }
            }
            1 => drop(log.write_to(end)),
            2 if log.room_bytes() < 24 << 10 => {
                if log.set_checkpoint(end).is_ok() {
                    acknowledged = Some(number);
                }
                // Whether the record survived a failed write or not: either is right.
                checkpointed = number + 1;
            }
            _ => drop(log.prepare_files(8 << 10)),
        }
    }
    (acknowledged, checkpointed)
}

/// The groups found must be a gapless run that reaches what was acknowledged.
fn check_found(found: &[Vec<u8>], acknowledged: Option<u64>, checkpointed: u64) -> bool {
    let numbers: Vec<u64> = found.iter().map(|payload| number_of(payload)).collect();
    let gapless = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let last = numbers.last().copied();
    let complete = acknowledged.is_none_or(|number| last >= Some(number) || number < checkpointed);
    gapless && complete
}

#[test]
fn every_crash_point_keeps_what_was_acknowledged() {
    let total = {
        let disk = SimulatedDisk::new(1);
        let (log, _) = open(&disk).unwrap();
        run_until_crash(&disk, &log, 0, 5);
        disk.counts().mutations
    };
    assert!(total > 60);
    for crash_at in 0..total {
        for seed in 0..6 {
            let disk = SimulatedDisk::new(seed);
            disk.crash_at(crash_at);
            let (acknowledged, checkpointed) = match open(&disk) {
                Ok((log, _)) => run_until_crash(&disk, &log, 0, 5),
                Err(error) if error.is_crash() => (None, 0),
                Err(error) => panic!("crash at {crash_at}, seed {seed}: {error}"),
            };
            let disk = disk.restart(seed);
            let (log, found) =
                open(&disk).unwrap_or_else(|error| panic!("crash {crash_at}, seed {seed}: {error}"));
            assert!(check_found(&found, acknowledged, checkpointed), "crash at {crash_at}, seed {seed}");
            second_life(&disk, log, &found, crash_at, seed);
        }
    }
}

/// The log goes on after a crash: new groups follow the old, and a second crash shows no ghost of the first life.
fn second_life(disk: &SimulatedDisk, log: RedoLog, found: &[Vec<u8>], crash_at: u64, seed: u64) {
    let next = found.last().map_or(1000, |payload| number_of(payload) + 1);
    let operations = disk.counts().mutations;
    disk.crash_at(operations + 3 + seed * 5);
    let (acknowledged, checkpointed) = run_until_crash(disk, &log, next, seed);
    drop(log);
    let (_, found) = open(&disk.restart(seed + 100)).unwrap();
    assert!(check_found(&found, acknowledged, checkpointed), "second crash after {crash_at}, seed {seed}");
}

#[test]
fn a_skipped_sync_is_seen() {
    let mut lost = false;
    for seed in 0..20 {
        let disk = SimulatedDisk::new(seed);
        let (log, _) = open(&disk).unwrap();
        let nth = disk.counts().syncs;
        disk.add_fault(Fault { class: OperationClass::Sync, nth, kind: FaultKind::SilentlySkipped });
        let end = append(&log, b"acknowledged");
        log.flush_to(end).unwrap();
        lost |= open(&disk.restart(seed)).unwrap().1.is_empty();
    }
    assert!(lost);
}

#[test]
fn a_failed_sync_latches_the_log() {
    for class in [OperationClass::Sync, OperationClass::Write] {
        let disk = SimulatedDisk::new(3);
        let (log, _) = open(&disk).unwrap();
        let counts = disk.counts();
        let nth = if class == OperationClass::Sync { counts.syncs } else { counts.writes };
        disk.add_fault(Fault { class, nth, kind: FaultKind::InputOutput });
        let end = append(&log, b"lost");
        assert!(log.flush_to(end).is_err());
        let operations = disk.counts().mutations;
        assert!(log.flush_to(end).is_err(), "the second attempt must not succeed");
        assert!(log.set_checkpoint(end).is_err());
        for _ in 0..100 {
            append(&log, &[1; 1000]);
        }
        assert!(log.durable_lsn() < end);
        assert_eq!(disk.counts().mutations, operations, "nothing is retried");
    }
}

/// The log was latched by a failure elsewhere, behind the back of a leader that had not taken the groups yet.
#[test]
fn a_leader_behind_a_failure_calls_nothing_durable_that_was_discarded() {
    let (log, _) = open(&SimulatedDisk::new(3)).unwrap();
    let durable = log.durable_lsn();
    log.fail(DiskError::new(DiskErrorKind::Other, "write", Path::new("a page file")));
    // More than the buffer holds.
    let end = (0..100).map(|_| append(&log, &[1; 1000])).last().unwrap();
    log.lead(LeaderMemory::default(), Goal::Durable);
    assert_eq!(log.durable_lsn(), durable);
    assert!(log.flush_to(end).is_err());
}

#[test]
fn a_log_that_lost_its_durable_end_is_refused() {
    let disk = SimulatedDisk::new(1);
    let (log, _) = open(&disk).unwrap();
    let first = append(&log, &[1; 5000]);
    append(&log, &[2; 5000]);
    let end = append(&log, &[3; 5000]);
    log.flush_to(end).unwrap();
    log.set_checkpoint(first).unwrap();
    drop(log);
    let disk = disk.restart_with_durable_state();
    disk.corrupt(Path::new("redo/log_0000000000000001"), 3000, &[0xFF; 8]);
    assert!(matches!(open(&disk), Err(RedoError::EndsEarly { .. })));
}

#[test]
fn a_file_that_is_lost_in_whole_is_missed() {
    for (lost, groups) in [(0_u32, 1), (1, 4), (2, 4), (2, 7)] {
        let disk = SimulatedDisk::new(1);
        let (log, _) = open(&disk).unwrap();
        log.note_durable(append(&log, &[9; 10])).unwrap();
        for number in 0..groups {
            let end = append(&log, &[number; 5000]);
            log.flush_to(end).unwrap();
            log.prepare_files(16 << 10).unwrap();
        }
        drop(log);
        let disk = disk.restart_with_durable_state();
        let path = format!("redo/log_{lost:016}");
        let length = disk.contents(Path::new(&path)).unwrap().len();
        disk.corrupt(Path::new(&path), 0, &vec![0; length]);
        let refused = open(&disk).err().unwrap();
        // Groups of 5000 bytes run across the ends of files of 8192.
        let is_named = [lost, lost.saturating_sub(1)]
            .iter()
            .any(|file| refused.to_string().contains(&format!("redo/log_{file:016}")));
        assert!(matches!(refused, RedoError::EndsEarly { .. }) && is_named, "file {lost}: {refused}");
    }
}

#[test]
fn an_end_that_is_zeroed_is_missed() {
    for kept in 0..=8 {
        let disk = SimulatedDisk::new(1);
        let (log, _) = open(&disk).unwrap();
        log.note_durable(append(&log, &[9; 10])).unwrap();
        let mut ends = Vec::new();
        for number in 0..8 {
            ends.push(append(&log, &[number; 100]));
            log.flush_to(ends[ends.len() - 1]).unwrap();
            log.note_progress().unwrap();
            // Synced records overwrite the slot of the notes.
            if number == 5 {
                log.set_checkpoint(ends[1]).unwrap();
            }
        }
        drop(log);
        let disk = disk.restart_after_kill();
        let Some(end) = ends.get(kept) else {
            assert_eq!(open(&disk).unwrap().1.last(), Some(&vec![7; 100]));
            continue;
        };
        let path = Path::new("redo/log_0000000000000000");
        let from = end.0 as usize - 50;
        disk.corrupt(path, from, &vec![0; disk.contents(path).unwrap().len() - from]);
        assert!(matches!(open(&disk), Err(RedoError::EndsEarly { .. })), "cut in group {kept}");
    }
}

#[test]
fn a_file_that_is_short_or_misplaced_is_named() {
    let disk = SimulatedDisk::new(1);
    let (log, _) = open(&disk).unwrap();
    let mut end = Lsn(0);
    for number in 0..30 {
        end = append(&log, &[number; 700]);
        log.flush_to(end).unwrap();
        log.prepare_files(16 << 10).unwrap();
    }
    drop(log);
    let at_end = disk.restart_with_durable_state();
    let files: Vec<String> = at_end.list(Path::new("redo")).unwrap();
    let refused = |disk: &SimulatedDisk, parts: &[&str]| {
        let error = open(disk).err().unwrap();
        assert!(parts.iter().all(|part| error.to_string().contains(part)), "{parts:?}: {error}");
        error
    };
    for (number, name) in files.iter().filter(|name| name.starts_with("log_")).enumerate() {
        let path = Path::new("redo").join(name);
        for bytes in [0, 100, 5000] {
            let disk = at_end.restart_with_durable_state();
            disk.open(&path, OpenMode::Existing).unwrap().set_len(bytes).unwrap();
            let has = format!("has {bytes} of 8192");
            assert!(refused(&disk, &[name, &has, "put it back", "innodb_force_recovery=1"]).is_damage());
            // By force the log ends there.
            let overlay = Environment::simulated(disk, 1).untouched();
            let forced = RedoOptions { ends_at_damage: true, ..options() };
            let opened = RedoLog::open(&overlay, &forced).unwrap();
            let mut reader = opened.reader();
            while reader.next_group().unwrap().is_some() {}
            let cut = Lsn((number as u64 * 8192 + bytes).max(crate::FIRST_LSN));
            assert!(reader.position() <= cut.min(end) && reader.position().0 + 8192 > cut.min(end).0);
        }
        let disk = at_end.restart_with_durable_state();
        disk.remove(&path).unwrap();
        if number == 0 {
            assert!(!refused(&disk, &[name, "is missing", "innodb_force_recovery=6"]).is_damage());
        }
        disk.create_directory(&path).unwrap();
        let error = RedoLog::check_places(&environment(&disk)).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("move it out"), "{error}");
    }
    let disk = SimulatedDisk::new(1);
    disk.open(Path::new("redo"), OpenMode::CreateNew).unwrap();
    assert!(matches!(RedoLog::check_places(&environment(&disk)), Err(RedoError::Misplaced { .. })));
}

#[test]
fn a_full_disk_leaves_the_log_usable() {
    let disk = SimulatedDisk::new(1);
    let (log, _) = open(&disk).unwrap();
    disk.set_capacity_bytes(Some(disk.used_bytes()));
    assert!(!log.prepare_files(1 << 20).unwrap());
    assert!(log.room_bytes() <= 24 << 10, "only what is ready counts");
    let end = append(&log, &[1; 7000]);
    log.flush_to(end).unwrap();
    log.set_checkpoint(end).unwrap();
    assert!(log.prepare_files(16 << 10).unwrap(), "files before the checkpoint are used again");
}

#[test]
fn without_descriptors_files_are_used_again() {
    let disk = SimulatedDisk::new(1);
    let (log, _) = open(&disk).unwrap();
    disk.set_open_files_max(Some(0));
    assert!(!log.prepare_files(1 << 20).unwrap() && log.is_starved());
    for round in 0..10 {
        let end = append(&log, &[round; 7000]);
        log.flush_to(end).unwrap();
        log.set_checkpoint(end).unwrap();
        assert!(log.prepare_files(16 << 10).unwrap(), "renamed, and the directory is open");
    }
    disk.set_open_files_max(None);
    assert!(log.exceed_capacity(100 << 10).unwrap() && !log.is_starved());
    let end = append(&log, &[77; 100]);
    log.flush_to(end).unwrap();
    drop(log);
    assert_eq!(open(&disk.restart_with_durable_state()).unwrap().1.last().unwrap(), &[77; 100]);
}

#[test]
fn many_threads_share_flushes() {
    const THREADS: u64 = 8;
    const COMMITS: u64 = 200;
    let disk = SimulatedDisk::new(1);
    let options =
        RedoOptions { capacity_bytes: 8 << 20, segment_bytes: 1 << 20, buffer_bytes: 64 << 10, ..options() };
    let opened = RedoLog::open(&environment(&disk), &options).unwrap();
    let log = Arc::new(opened.start(Lsn(crate::FIRST_LSN)).unwrap());
    let next = Arc::new(AtomicU64::new(0));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (log, next) = (Arc::clone(&log), Arc::clone(&next));
            let body = move || {
                for _ in 0..COMMITS {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let end = append(&log, &number.to_le_bytes());
                    log.flush_to(end).unwrap();
                    assert!(log.durable_lsn() >= end);
                }
            };
            env::RealThreads.spawn("committer", Box::new(body))
        })
        .collect();
    assert!(threads.into_iter().all(env::JoinHandle::join));
    assert!(log.flush_count() <= THREADS * COMMITS);
    drop(log);
    let opened = RedoLog::open(&environment(&disk.restart_with_durable_state()), &options).unwrap();
    let mut reader = opened.reader();
    let mut numbers = Vec::new();
    while let Some((_, payload)) = reader.next_group().unwrap() {
        numbers.push(number_of(payload));
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..THREADS * COMMITS).collect::<Vec<_>>());
}

/// Groups of 1,000 bytes with those numbers, each flushed, behind a checkpoint at the log's start.
fn flushed_groups(disk: &SimulatedDisk, numbers: std::ops::Range<u64>) -> Vec<Lsn> {
    let (log, _) = open(disk).unwrap();
    log.prepare_files(40 << 10).unwrap();
    let flushed = |number: u64| {
        let start = log.end_lsn();
        let end = append(&log, &[number as u8; 1000]);
        log.flush_to(end).unwrap();
        start
    };
    numbers.map(flushed).collect()
}

#[test]
fn a_hole_before_a_group_that_knows_of_it_is_refused() {
    let disk = SimulatedDisk::new(1);
    let starts = flushed_groups(&disk, 0..20);
    for (number, start) in starts.iter().enumerate() {
        // A bit in the checksum, in the length, in the lag, in the payload.
        for at in [0, 5, 13, 500] {
            let disk = disk.restart_with_durable_state();
            let place = start.0 + at;
            let file = format!("redo/log_{:016x}", place / (8 << 10));
            let mut byte = [0];
            let opened = environment(&disk).disk.open(Path::new(&file), env::OpenMode::Existing).unwrap();
            opened.read_at(&mut byte, place % (8 << 10)).unwrap();
            disk.corrupt(Path::new(&file), (place % (8 << 10)) as usize, &[byte[0] ^ 1]);
            let outcome = open(&disk).map(|(_, found)| found.len());
            // What was appended behind the last two groups was none.
            match outcome {
                Err(RedoError::Hole { lsn, file: named, offset, later }) => {
                    assert_eq!((lsn, offset), (*start, start.0 % (8 << 10)), "group {number}");
                    assert_eq!(named, Path::new(&format!("redo/log_{:016x}", start.0 / (8 << 10))));
                    assert!(starts.contains(&later) && later > *start);
                }
                outcome => assert!(number == 19 && matches!(outcome, Ok(19)), "{number}: {outcome:?}"),
            }
        }
    }
}

#[test]
fn a_torn_tail_is_no_hole() {
    // The groups behind the first are one flush: any of its blocks may be lost.
    for lost in 0..6_u64 {
        let disk = SimulatedDisk::new(1);
        let starts = flushed_groups(&disk, 0..1);
        let (log, _) = open(&disk).unwrap();
        log.prepare_files(40 << 10).unwrap();
        let first = log.end_lsn();
        let end = (0..20).map(|number| append(&log, &[number; 1000])).last().unwrap();
        log.flush_to(end).unwrap();
        drop(log);
        let disk = disk.restart_with_durable_state();
        let block = first.0.next_multiple_of(4096) + lost * 4096;
        if block + 4096 > end.0 {
            continue;
        }
        let file = format!("redo/log_{:016x}", block / (8 << 10));
        disk.corrupt(Path::new(&file), (block % (8 << 10)) as usize, &[0; 4096]);
        let (_, found) = open(&disk).unwrap();
        assert!(!found.is_empty() && found.len() < 21 && !starts.is_empty(), "{lost}");
    }
}

#[test]
fn stamps_come_in_the_order_of_the_log_and_before_it_is_durable() {
    let (log, _) = open(&SimulatedDisk::new(1)).unwrap();
    let stamped = AtomicU64::new(log.end_lsn().0);
    let appends = || {
        let mut group = Vec::new();
        for _ in 0..300 {
            new_group(&mut group);
            group.extend_from_slice(b"payload");
            log.append_with(&mut group, |range| {
                // Time for others, who have no place yet.
                std::thread::yield_now();
                assert_eq!(stamped.swap(range.end.0, Ordering::Relaxed), range.start.0);
            });
            let turn = log.between_appends(|| stamped.load(Ordering::Relaxed));
            assert!(turn <= log.end_lsn().0);
        }
    };
    std::thread::scope(|scope| {
        let threads = [scope.spawn(appends), scope.spawn(appends), scope.spawn(appends)];
        while threads.iter().any(|thread| !thread.is_finished()) {
            log.flush_to(log.end_lsn()).unwrap();
            let durable = log.durable_lsn().0;
            assert!(stamped.load(Ordering::Relaxed) >= durable, "{durable} is not stamped");
        }
    });
}

#[test]
fn a_trailer_is_checked_with_its_group() {
    let disk = SimulatedDisk::new(1);
    let (log, _) = open(&disk).unwrap();
    for length in [0, 1, 50, 96] {
        let mut group = Vec::new();
        new_group(&mut group);
        group.extend_from_slice(b"payload");
        let range = log.append_with_trailer(&mut group, &vec![length; usize::from(length)]);
        assert_eq!(range.end.0 - range.start.0, 16 + 7 + 1 + u64::from(length));
    }
    let end = append(&log, b"without");
    log.flush_to(end).unwrap();
    let (_, found) = open(&disk.restart_with_durable_state()).unwrap();
    assert_eq!(found, [b"payload".as_slice(), b"payload", b"payload", b"payload", b"without"]);
    // The last byte of the second group's trailer.
    let disk = disk.restart_with_durable_state();
    disk.corrupt(Path::new("redo/log_0000000000000000"), 4096 + 24 + 24, &[9]);
    let (_, found) = open(&disk).unwrap();
    assert_eq!(found.len(), 1);
}

#[test]
fn a_control_record_that_is_older_than_the_log_is_refused() {
    let disk = SimulatedDisk::new(1);
    drop(open(&disk).unwrap());
    flushed_groups(&disk, 0..50);
    let disk = disk.restart_with_durable_state();
    let path = Path::new("redo/control");
    let bytes = disk.contents(path).unwrap();
    let sequence = |slot: usize| u64::from_le_bytes(bytes[slot * 4096 + 8..][..8].try_into().unwrap());
    let newest = usize::from(sequence(1) > sequence(0));
    disk.corrupt(path, newest * 4096 + 60, &[bytes[newest * 4096 + 60] ^ 1]);
    for _ in 0..2 {
        assert!(matches!(open(&disk), Err(RedoError::Corrupt { .. })));
    }
    // The older of the two may rot.
    disk.corrupt(path, newest * 4096 + 60, &[bytes[newest * 4096 + 60]]);
    disk.corrupt(path, (1 - newest) * 4096 + 60, &[bytes[(1 - newest) * 4096 + 60] ^ 1]);
    assert_eq!(open(&disk).unwrap().1.len(), 50);
}

#[test]
fn a_hole_is_seen_behind_a_long_transaction() {
    let options =
        RedoOptions { capacity_bytes: 1 << 30, segment_bytes: 16 << 20, buffer_bytes: 16 << 20, ..options() };
    let disk = SimulatedDisk::new(1);
    let opened = RedoLog::open(&environment(&disk), &options).unwrap();
    let log = opened.start(Lsn(crate::FIRST_LSN)).unwrap();
    append(&log, &[1; 100]);
    // Written as the buffer fills, and durable at its end.
    let mut end = Lsn(0);
    for _ in 0..133 {
        end = append(&log, &vec![2; 1 << 20]);
        assert!(end.0 - log.durable_lsn().0 <= crate::log::UNSYNCED_BYTES_MAX + (32 << 20));
    }
    log.flush_to(end).unwrap();
    for number in 0..20_u64 {
        end = append(&log, &number.to_le_bytes());
        log.flush_to(end).unwrap();
    }
    drop(log);
    let disk = disk.restart_with_durable_state();
    disk.corrupt(Path::new("redo/log_0000000000000000"), 4096 + 30, &[9]);
    let opened = RedoLog::open(&environment(&disk), &options).unwrap();
    let outcome = opened.reader().next_group().map(|found| found.is_some());
    assert!(matches!(outcome, Err(RedoError::Hole { .. })), "{outcome:?}");
}
