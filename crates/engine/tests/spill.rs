//! Old versions that outgrow their memory: a long snapshot reads them from the temporary file while rows change, faults of
//! that file lose nothing, purge and rollback give its space back.

use crate::common::*;
use engine::*;
use env::Environment;
use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const ROWS: i64 = 200;
/// A fraction of what the tests' updates leave.
const VERSION_MEMORY: u64 = 64 << 10;

fn open_small(disk: &SimulatedDisk) -> Engine {
    open_with(disk, VERSION_MEMORY)
}

fn open_with(disk: &SimulatedDisk, version_memory_bytes: u64) -> Engine {
    let options = EngineOptions {
        version_memory_bytes,
        buffer_pool_bytes: 32 << 20,
        redo_log_bytes: 64 << 20,
        flush_level: FlushLevel::EverySecond,
        ..options()
    };
    Engine::open(Environment::simulated(disk.clone(), 1), options).unwrap()
}

fn filled(engine: &Engine) -> Arc<Table> {
    let t = create(engine, "t");
    insert(engine, &t, &(0..ROWS).map(|id| state(id, 0)).collect::<Vec<_>>());
    t
}

/// The row after that many updates.
fn state(id: i64, updates: u64) -> Row {
    let length = 100 + (id as usize * 7 + updates as usize * 13) % 200;
    (id, Some(id), format!("{updates:06}{}", "x".repeat(length)))
}

fn update(transaction: &Transaction, t: &Arc<Table>, id: i64, updates: u64) {
    transaction.update(t, &key(t, id), &encode(t, &state(id, updates))).unwrap();
}

fn read(transaction: &Transaction, t: &Arc<Table>, id: i64) -> EngineResult<Option<Row>> {
    let mut row = None;
    transaction.get(t, 0, &key(t, id), ReadMode::Consistent, &mut |bytes| row = Some(decode(t, bytes)))?;
    Ok(row)
}

fn all_at(updates: u64) -> Vec<Row> {
    (0..ROWS).map(|id| state(id, updates)).collect()
}

fn update_all(engine: &Engine, t: &Arc<Table>, updates: std::ops::RangeInclusive<u64>) {
    for round in updates {
        let transaction = begin(engine);
        (0..ROWS).for_each(|id| update(&transaction, t, id, round));
        transaction.commit().unwrap();
    }
}

#[test]
fn a_long_snapshot_reads_old_rows_while_threads_change_them() {
    let disk = SimulatedDisk::new(1);
    let engine = open_small(&disk);
    let t = filled(&engine);
    let long = begin(&engine);
    long.take_snapshot().unwrap();
    let ending = AtomicBool::new(false);
    let rounds = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for lane in 0..2 {
            let (engine, t, rounds) = (&engine, &t, &rounds);
            scope.spawn(move || {
                for round in 1..=40 {
                    for id in (lane..ROWS).step_by(2) {
                        let transaction = begin(engine);
                        update(&transaction, t, id, round);
                        transaction.commit().unwrap();
                    }
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| {
            while !ending.load(Ordering::Relaxed) {
                engine.purge().unwrap();
                // A snapshot of the moment: its rows are of one round each, and it needs old versions soon.
                let reader = begin(&engine);
                let rows = scan(&reader, &t, 0, ReadMode::Consistent).unwrap();
                assert_eq!(scan(&reader, &t, 0, ReadMode::Consistent).unwrap(), rows);
            }
        });
        while rounds.load(Ordering::Relaxed) < 80 {
            assert_eq!(scan(&long, &t, 0, ReadMode::Consistent).unwrap(), all_at(0));
            assert_eq!(read(&long, &t, 77).unwrap(), Some(state(77, 0)));
        }
        ending.store(true, Ordering::Relaxed);
    });
    let status = engine.status();
    assert_eq!(status.old_versions, 40 * ROWS as u64);
    assert!(status.spilled_versions > 30 * ROWS as u64, "{status:?}");
    let used = disk.used_bytes();
    let spilled = status.spilled_version_bytes;
    assert!(spilled > 1 << 20);
    assert_eq!(all(&long, &t), all_at(0));
    drop(long);
    engine.purge().unwrap();
    let status = engine.status();
    assert_eq!((status.old_versions, status.old_version_bytes, status.spilled_version_bytes), (0, 0, 0));
    assert!(disk.used_bytes() <= used - spilled, "the temporary file is empty again");
    assert_eq!(all(&begin(&engine), &t), all_at(40));
    assert!(engine.check().unwrap().is_empty());
}

#[test]
fn failed_writes_keep_versions_in_memory() {
    let disk = SimulatedDisk::new(1);
    let engine = open_small(&disk);
    let t = filled(&engine);
    let long = begin(&engine);
    long.take_snapshot().unwrap();
    // Nothing else is written: the log waits for its flush, the pages for a checkpoint.
    let writes = disk.counts().writes;
    for (nth, kind) in (writes..writes + 500)
        .zip([FaultKind::NoSpace, FaultKind::ShortWrite, FaultKind::InputOutput].into_iter().cycle())
    {
        disk.add_fault(Fault { class: OperationClass::Write, nth, kind });
    }
    update_all(&engine, &t, 1..=10);
    let status = engine.status();
    assert!(status.spill_failures > 10 && status.spilled_versions == 0, "{status:?}");
    assert!(status.old_version_bytes > 4 * VERSION_MEMORY, "{status:?}");
    assert_eq!(all(&long, &t), all_at(0));
    disk.clear_faults();
    update_all(&engine, &t, 11..=20);
    assert!(engine.status().spilled_version_bytes > 4 * VERSION_MEMORY);
    assert_eq!(all(&long, &t), all_at(0));
    assert_eq!(all(&begin(&engine), &t), all_at(20));
}

#[test]
fn a_read_that_fails_is_an_error_of_that_read_only() {
    let disk = SimulatedDisk::new(1);
    let engine = open_small(&disk);
    let t = filled(&engine);
    let long = begin(&engine);
    long.take_snapshot().unwrap();
    update_all(&engine, &t, 1..=30);
    let kind = FaultKind::InputOutput;
    disk.add_fault(Fault { class: OperationClass::Read, nth: disk.counts().reads, kind });
    assert!(matches!(read(&long, &t, 5), Err(EngineError::Io(_))));
    assert_eq!(read(&long, &t, 5).unwrap(), Some(state(5, 0)));
    disk.add_fault(Fault { class: OperationClass::Read, nth: disk.counts().reads + 3, kind });
    assert!(matches!(scan(&long, &t, 0, ReadMode::Consistent), Err(EngineError::Io(_))));
    assert_eq!(all(&long, &t), all_at(0));
    assert_eq!(all(&begin(&engine), &t), all_at(30));
}

#[test]
fn a_crash_loses_the_file_and_nothing_else() {
    let disk = SimulatedDisk::new(1);
    let engine = open_small(&disk);
    let t = filled(&engine);
    let long = begin(&engine);
    long.take_snapshot().unwrap();
    update_all(&engine, &t, 1..=30);
    let unfinished = begin(&engine);
    (0..ROWS).for_each(|id| update(&unfinished, &t, id, 31));
    assert!(engine.status().spilled_versions > 0);
    engine.sync_log(engine.status().log_end).unwrap();
    for after in [disk.restart_with_durable_state(), disk.restart_after_kill(), disk.restart(7)] {
        let engine = open_small(&after);
        assert_eq!(all(&begin(&engine), &table(&engine, "t")), all_at(30));
        assert_eq!(engine.status().old_versions, 0);
        assert!(engine.check().unwrap().is_empty());
    }
    std::mem::forget((long, unfinished));
}

#[test]
fn a_huge_transaction_keeps_its_undo_in_the_file() {
    let disk = SimulatedDisk::new(1);
    let engine = open_small(&disk);
    let t = filled(&engine);
    update_all(&engine, &t, 1..=1);
    engine.purge().unwrap();
    let huge = begin(&engine);
    let mut savepoint = huge.mark();
    for round in 2..=20 {
        (0..ROWS).for_each(|id| update(&huge, &t, id, round));
        if round == 10 {
            savepoint = huge.mark();
        }
    }
    assert_eq!(all(&begin(&engine), &t), all_at(1));
    let kind = FaultKind::InputOutput;
    disk.add_fault(Fault { class: OperationClass::Read, nth: disk.counts().reads, kind });
    assert!(matches!(huge.rollback_to(savepoint), Err(EngineError::Io(_))), "undo is read from the file");
    huge.rollback_to(savepoint).unwrap();
    assert_eq!(all(&huge, &t), all_at(10));
    huge.rollback().unwrap();
    assert_eq!(all(&begin(&engine), &t), all_at(1));
    assert_eq!(engine.status().old_versions, 0);

    // Committed, its list waits for purge as it is, and a failed read of it is made up for by the next purge.
    let long = begin(&engine);
    long.take_snapshot().unwrap();
    let huge = begin(&engine);
    (2..=20).for_each(|round| (0..ROWS).for_each(|id| update(&huge, &t, id, round)));
    huge.commit().unwrap();
    engine.purge().unwrap();
    assert_eq!(all(&long, &t), all_at(1));
    drop(long);
    disk.add_fault(Fault { class: OperationClass::Read, nth: disk.counts().reads, kind });
    assert!(engine.purge().is_err());
    let status = engine.status();
    assert_eq!(status.watermark, status.next_transaction, "ids go on whatever purge meets");
    assert!(status.old_versions > 0);
    engine.purge().unwrap();
    let status = engine.status();
    assert_eq!((status.old_versions, status.history_list_length), (0, 0));
    assert_eq!(all(&begin(&engine), &t), all_at(20));
    assert!(engine.check().unwrap().is_empty());
}

/// Nothing of a rollback that fails is left for good: the background goes on with it.
#[test]
fn a_rollback_that_fails_goes_on_later() {
    let disk = SimulatedDisk::new(1);
    let engine = open_small(&disk);
    let t = filled(&engine);
    update_all(&engine, &t, 1..=1);
    engine.purge().unwrap();
    let huge = begin(&engine);
    (2..=20).for_each(|round| (0..ROWS).for_each(|id| update(&huge, &t, id, round)));
    let kind = FaultKind::InputOutput;
    disk.add_fault(Fault { class: OperationClass::Read, nth: disk.counts().reads, kind });
    assert!(matches!(huge.rollback(), Err(EngineError::Io(_))), "undo is read from the file");
    assert_eq!(all(&begin(&engine), &t), all_at(1));
    assert_eq!(engine.roll_back_unfinished(usize::MAX), Ok(0));
    assert_eq!(all(&begin(&engine), &t), all_at(1));
    update_all(&engine, &t, 2..=2);
    engine.purge().unwrap();
    assert_eq!(engine.status().old_versions, 0);
    assert!(engine.check().unwrap().is_empty());
}

/// What each id takes: nothing while nobody has an old snapshot, the place of its undo while somebody has one. No round of purge is needed
/// for that, so a long one costs nothing either.
#[test]
fn ids_take_the_memory_of_their_places() {
    const CHUNK_BYTES: u64 = 8 << 14;
    let disk = SimulatedDisk::new(1);
    let engine = open_with(&disk, 1 << 30);
    let t = filled(&engine);
    let change = |transactions: u64| {
        for number in 0..transactions {
            let transaction = begin(&engine);
            update(&transaction, &t, number as i64 % ROWS, number);
            transaction.commit().unwrap();
        }
    };
    change(6 << 14);
    let made = engine.status().commit_table.array_bytes_made;
    assert!(made <= 5 * CHUNK_BYTES, "{made}");
    let long = begin(&engine);
    long.take_snapshot().unwrap();
    let before = read(&long, &t, 7).unwrap();
    change(6 << 14);
    let made = engine.status().commit_table.array_bytes_made;
    assert!(made <= 10 * CHUNK_BYTES, "{made}");
    assert_eq!(read(&long, &t, 7).unwrap(), before);
    drop(long);
    engine.purge().unwrap();
    let status = engine.status();
    assert!(status.commit_table.array_bytes <= 2 * CHUNK_BYTES, "{status:?}");
    assert_eq!((status.watermark, status.spilled_versions), (status.next_transaction, 0));
}
