//! Transactions that a crash left unfinished: their rows are read, locked and undone; undo from log, spill file and undo tree.

use crate::common::model::sound;
use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;
use env::{Disk, Environment};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub(crate) const ROWS: i64 = 1500;

pub(crate) fn small_log() -> EngineOptions {
    EngineOptions {
        redo_log_bytes: 1 << 20,
        version_memory_bytes: 3 << 20,
        lock_wait_timeout: Duration::from_millis(20),
        ..options()
    }
}

pub(crate) fn open_small(disk: &SimulatedDisk) -> Engine {
    Engine::open(Environment::simulated(disk.clone(), 1), small_log()).expect("the engine opens")
}

pub(crate) fn old_rows() -> Vec<Row> {
    (0..ROWS).map(|id| row(id, id, "before the crash")).collect()
}

pub(crate) fn filled(disk: &SimulatedDisk) -> (Engine, Arc<Table>) {
    let engine = open_small(disk);
    let t = create(&engine, "t");
    insert(&engine, &t, &old_rows());
    engine.purge().unwrap();
    engine.checkpoint().unwrap();
    (engine, t)
}

/// Changes every row, some twice; deletes some and puts others in their place; inserts; and takes a part of it back.
pub(crate) fn change_much(transaction: &Transaction, t: &Table, table: &Arc<Table>) {
    for id in 0..ROWS {
        transaction
            .update(table, &key(t, id), &encode(t, &row(id, ROWS + id, "changed by the loser")))
            .unwrap();
        match id % 5 {
            0 => transaction.delete(table, &key(t, id)).unwrap(),
            1 => drop(transaction.update(table, &key(t, id), &encode(t, &row(id, id, "once more"))).unwrap()),
            2 => {
                transaction.delete(table, &key(t, id)).unwrap();
                transaction.insert(table, &encode(t, &row(id, 3 * ROWS + id, "in its place"))).unwrap();
            }
            3 => {
                let mark = transaction.mark();
                transaction
                    .insert(table, &encode(t, &row(2 * ROWS + id, 5 * ROWS + id, "taken back")))
                    .unwrap();
                transaction.delete(table, &key(t, id)).unwrap();
                transaction.rollback_to(mark).unwrap();
            }
            _ => drop(transaction.insert(table, &encode(t, &row(ROWS + id, 2 * ROWS + id, "new"))).unwrap()),
        }
    }
    // Marks that nothing follows: their records hold heads only.
    for id in (0..ROWS).filter(|id| id % 5 == 4) {
        transaction.delete(table, &key(t, id)).unwrap();
    }
}

/// Leaves a transaction unfinished whose undo is partly saved, and crashes.
fn crash_with_loser(disk: &SimulatedDisk) -> SimulatedDisk {
    let (engine, t) = filled(disk);
    let transaction = begin(&engine);
    change_much(&transaction, &t, &t);
    let status = engine.status();
    let (records, saved) = (status.writers[0].undo_records, status.writers[0].undo_records_saved);
    assert!(saved > 1000 && saved < records, "{saved} of {records} records are in the undo tree");
    engine.sync_log(status.log_end).unwrap();
    disk.crash();
    std::mem::forget(transaction);
    disk.restart_with_durable_state()
}

pub(crate) fn rows_of(engine: &Engine) -> Vec<Row> {
    all(&begin(engine), &table(engine, "t"))
}

#[test]
fn rows_of_losers_are_read_as_they_were_while_they_are_undone() {
    let disk = crash_with_loser(&SimulatedDisk::new(1));
    let engine = open_small(&disk);
    let status = engine.status();
    assert!(status.writers[0].undo_records_saved > 1000, "some of its undo is in the undo tree alone");
    assert!(status.watermark <= status.writers[0].id);
    assert_eq!(rows_of(&engine), old_rows());
    sound(&engine);
    let before = engine.unfinished()[0].undo_records;
    assert_eq!(engine.roll_back_unfinished(700).unwrap(), 1);
    assert_eq!(engine.unfinished()[0].undo_records, before - 700);
    engine.shutdown().unwrap();
    let disk = disk.restart_with_durable_state();
    let engine = open_small(&disk);
    let mut left = 1;
    while left > 0 {
        left = engine.roll_back_unfinished(1500).unwrap();
        engine.checkpoint().unwrap();
        engine.purge().unwrap();
        assert_eq!(rows_of(&engine), old_rows());
        sound(&engine);
    }
    assert_eq!(engine.status().watermark, engine.status().next_transaction);
    assert!(engine.unfinished().is_empty());
    engine.shutdown().unwrap();
    let engine = open_small(&disk.restart_after_kill());
    assert_eq!(engine.status().writers.len(), 0);
    assert_eq!(rows_of(&engine), old_rows());
}

/// Crashes of the rollback.
const CRASHES: u64 = 4;
const SEED: u64 = 3;

/// The rollback crashes again and again, its undo is saved anew in between, and the end is the same.
#[test]
fn crashes_in_the_rollback_end_in_the_same_state() {
    let mut disk = crash_with_loser(&SimulatedDisk::new(SEED));
    let mut crashes = 0;
    loop {
        crashes += 1;
        if crashes <= CRASHES {
            disk.crash_at(5 + (SEED * 7919 + crashes * 104_729) % 60);
        }
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let engine = Engine::open(Environment::simulated(disk.clone(), SEED), small_log())?;
            while engine.roll_back_unfinished(200)? > 0 {
                if crashes % 3 == 0 {
                    engine.checkpoint()?;
                }
            }
            engine.sync_log(engine.status().log_end)?;
            Ok::<(), EngineError>(())
        }));
        disk = disk.restart(SEED ^ crashes);
        let engine = open_small(&disk);
        sound(&engine);
        assert_eq!(rows_of(&engine), old_rows(), "crash {crashes}");
        drop(engine);
        disk = disk.restart_after_kill();
        if matches!(done, Ok(Ok(()))) {
            break;
        }
    }
    assert!(crashes > 3, "{crashes} crashes");
    let engine = open_small(&disk);
    assert_eq!(engine.status().writers.len(), 0);
}

#[test]
fn writers_wait_for_losers_and_ddl_rolls_them_back() {
    let disk = crash_with_loser(&SimulatedDisk::new(1));
    let engine = open_small(&disk);
    let t = table(&engine, "t");
    let other = create(&engine, "other");
    insert(&engine, &other, &[row(1, 1, "nobody waits here")]);
    let transaction = begin(&engine);
    let update = || transaction.update(&t, &key(&t, 1), &encode(&t, &row(1, 1, "mine")));
    assert!(matches!(update(), Err(EngineError::LockWaitTimeout)));
    // Unique keys and keys of rows that the loser deleted or inserted are its own, too.
    for (id, unique) in [(9 * ROWS, 1), (9 * ROWS, ROWS + 1), (5, 9 * ROWS), (ROWS + 4, 9 * ROWS)] {
        let inserted = transaction.insert(&t, &encode(&t, &row(id, unique, "mine")));
        assert!(matches!(inserted, Err(EngineError::LockWaitTimeout)), "{id}, {unique}: {inserted:?}");
    }
    let mut seen = false;
    let mode = ReadMode::Exclusive(WaitPolicy::NoWait);
    let read = transaction.get(&t, 0, &key(&t, 3), mode, &mut |_| seen = true);
    assert!(matches!(read, Err(EngineError::LockNotAvailable)) && !seen);
    let skip = ReadMode::Shared(WaitPolicy::SkipLocked);
    assert_eq!(scan(&transaction, &t, 0, skip).unwrap(), []);
    transaction.rollback().unwrap();

    let kill = KillFlag::default();
    kill.kill();
    let killed = engine.drop_indexes(&name("t"), &["k".to_owned()], &kill);
    assert!(matches!(killed, Err(EngineError::Killed)));
    engine.drop_indexes(&name("t"), &["k".to_owned()], &KillFlag::default()).unwrap();
    assert_eq!(engine.roll_back_unfinished(0).unwrap(), 0, "the loser is rolled back first");
    assert_eq!(rows_of(&engine), old_rows());
    let transaction = begin(&engine);
    let t = table(&engine, "t");
    transaction.update(&t, &key(&t, 1), &encode(&t, &row(1, 1, "mine"))).unwrap();
    transaction.commit().unwrap();
    sound(&engine);
}

/// What a transaction saved before it committed is left over, not undone, wherever the log begins.
#[test]
fn saved_undo_of_the_committed_is_not_undone() {
    for checkpoint in [false, true] {
        let disk = SimulatedDisk::new(1);
        let (engine, t) = filled(&disk);
        let transaction = begin(&engine);
        change_much(&transaction, &t, &t);
        assert!(engine.status().writers[0].undo_records_saved > 1000);
        let expected = all(&transaction, &t);
        let lsn = transaction.commit().unwrap();
        if checkpoint {
            engine.checkpoint().unwrap();
        }
        engine.sync_log(lsn).unwrap();
        disk.crash();
        let disk = disk.restart_with_durable_state();
        let engine = open_small(&disk);
        assert_eq!(engine.status().writers.len(), 0);
        assert_eq!(rows_of(&engine), expected);
        sound(&engine);
        engine.purge().unwrap();
        engine.shutdown().unwrap();
        let engine = open_small(&disk.restart_after_kill());
        assert_eq!(rows_of(&engine), expected);
        sound(&engine);
    }
}

/// Readers of all kinds beside the rollback, whose undo is saved anew meanwhile, beside writers of other rows and purge.
#[test]
fn readers_beside_the_rollback_see_what_was_before() {
    let disk = crash_with_loser(&SimulatedDisk::new(7));
    let engine = Engine::open(
        Environment::simulated(disk, 1),
        EngineOptions { background_threads: true, ..small_log() },
    )
    .unwrap();
    let t = table(&engine, "t");
    let others = create(&engine, "others");
    let busy = || engine.roll_back_unfinished(0).unwrap() > 0;
    let reads = AtomicU64::new(0);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while busy() {
                assert_eq!(all(&begin(&engine), &t), old_rows());
                reads.fetch_add(1, Ordering::Relaxed);
            }
        });
        threads.spawn(|| {
            let transaction = begin(&engine);
            transaction.take_snapshot().unwrap();
            let mut id = 0;
            while busy() {
                id = (id + 997) % (2 * ROWS);
                let mut found = None;
                let show = &mut |row: &[u8]| found = Some(decode(&t, row));
                transaction.get(&t, 0, &key(&t, id), ReadMode::Consistent, show).unwrap();
                let expected = (id < ROWS).then(|| row(id, id, "before the crash"));
                assert_eq!(found, expected);
                reads.fetch_add(1, Ordering::Relaxed);
            }
        });
        threads.spawn(|| {
            let mut id = 0;
            while busy() {
                id += 1;
                insert(&engine, &others, &[row(id, id, "of others")]);
                // Rows that are undone already may be locked; the others are the loser's.
                let transaction = begin(&engine);
                let mode = ReadMode::Exclusive(WaitPolicy::SkipLocked);
                let mut found = None;
                let show = &mut |row: &[u8]| found = Some(decode(&t, row));
                transaction.get(&t, 0, &key(&t, id % ROWS), mode, show).unwrap();
                assert!(found.is_none_or(|found| found == row(id % ROWS, id % ROWS, "before the crash")));
            }
        });
    });
    assert!(reads.load(Ordering::Relaxed) > 0);
    assert_eq!(all(&begin(&engine), &t), old_rows());
    engine.shutdown().unwrap();
    sound(&engine);
}

/// A rollback that needs room waits for it. The start does not, and whoever reads does not either.
#[test]
fn a_start_on_a_full_disk_serves_rows_and_rolls_back_when_there_is_room() {
    let disk = SimulatedDisk::new(1);
    let engine = open_small(&disk);
    let t = create(&engine, "t");
    let long = |id: i64| row(id, id, &"long ".repeat(300));
    insert(&engine, &t, &(0..400).map(long).collect::<Vec<_>>());
    engine.purge().unwrap();
    engine.checkpoint().unwrap();
    let transaction = begin(&engine);
    for id in 0..400 {
        transaction.update(&t, &key(&t, id), &encode(&t, &row(id, id, "short"))).unwrap();
    }
    // Others take the room of the loser's rows: to bring these back, leaves must be split.
    for id in 400..5000 {
        let filling = begin(&engine);
        filling.insert(&t, &encode(&t, &row(id * 7 % 4600 + 400, id, "filling"))).ok();
        filling.commit().unwrap();
    }
    let status = engine.status();
    engine.sync_log(status.log_end).unwrap();
    engine.checkpoint().unwrap();
    disk.crash();
    std::mem::forget(transaction);
    let disk = disk.restart_with_durable_state();
    disk.set_capacity_bytes(Some(disk.used_bytes()));
    let engine = open_small(&disk);
    let expected = rows_of(&engine);
    assert_eq!(expected[..400], (0..400).map(long).collect::<Vec<_>>());
    let mut met_the_end = false;
    for _ in 0..50 {
        match engine.roll_back_unfinished(100) {
            Ok(0) => break,
            Ok(_) => {}
            Err(EngineError::NoSpace) => met_the_end = true,
            Err(error) => panic!("{error:?}"),
        }
        assert_eq!(rows_of(&engine), expected);
    }
    assert!(met_the_end, "the disk had room");
    disk.set_capacity_bytes(None);
    while engine.roll_back_unfinished(100).unwrap() > 0 {}
    assert_eq!(rows_of(&engine), expected);
    sound(&engine);
}

/// Leaves of the undo tree on disk, by what the loser's rows were.
fn undo_pages(disk: &SimulatedDisk) -> Vec<usize> {
    const PAGE: usize = 16_384;
    let bytes = disk.contents(SYSTEM_FILE.as_ref()).unwrap();
    let has_undo = |page: &[u8]| page.windows(16).any(|text| text == b"before the crash");
    bytes
        .chunks(PAGE)
        .enumerate()
        .skip(4)
        .filter(|(_, page)| has_undo(page))
        .map(|(at, _)| at * PAGE)
        .collect()
}

/// Damages one of these leaves, of a server that has stopped.
pub(crate) fn damage_undo(stopped: &SimulatedDisk) -> SimulatedDisk {
    let disk = stopped.restart_with_durable_state();
    disk.remove("redo/doublewrite".as_ref()).unwrap();
    let pages = undo_pages(&disk);
    disk.corrupt(SYSTEM_FILE.as_ref(), pages[pages.len() / 2] + 8000, &[0x5A; 64]);
    disk
}

const SYSTEM_FILE: &str = "iruka_system.ibd";

/// Undo that cannot be read is in nobody's way who does not need it: starts, other tables, and DROP of what it is for, for good.
#[test]
fn a_table_whose_undo_is_damaged_can_be_dropped() {
    for truncates in [false, true] {
        let disk = crash_with_loser(&SimulatedDisk::new(1));
        let engine = open_small(&disk);
        create(&engine, "other");
        engine.shutdown().unwrap();
        let disk = damage_undo(&disk);
        let engine = open_small(&disk);
        while engine.roll_back_unfinished(100).is_ok() {}
        // The newest undo that is left cannot be read now, and the next starts serve all the same.
        engine.shutdown().unwrap();
        let disk = disk.restart_with_durable_state();
        let engine = open_small(&disk);
        assert!(engine.roll_back_unfinished(100).is_err());
        let other = table(&engine, "other");
        insert(&engine, &other, &[row(1, 1, "x")]);
        if truncates {
            engine.truncate_table(&name("t"), &KillFlag::default()).unwrap();
        } else {
            engine.drop_tables(&[name("t")], &KillFlag::default()).unwrap();
        }
        assert_eq!(engine.roll_back_unfinished(100), Ok(0));
        // Nothing of it keeps the log from being used again.
        for round in 0..40 {
            insert(
                &engine,
                &other,
                &(0..60)
                    .map(|at| row(2 + round * 60 + at, 0, &"y".repeat(900)))
                    .map(|(id, _, text)| (id, None, text))
                    .collect::<Vec<_>>(),
            );
            engine.purge().unwrap();
            engine.checkpoint().unwrap();
        }
        let count = all(&begin(&engine), &other).len();
        drop(engine);
        let disk = disk.restart_after_kill();
        for _ in 0..2 {
            let engine = open_small(&disk);
            assert_eq!((engine.roll_back_unfinished(100), engine.status().writers.len()), (Ok(0), 0));
            assert_eq!(engine.dictionary().table("test", "t").is_some(), truncates);
            assert_eq!(all(&begin(&engine), &table(&engine, "other")).len(), count);
            engine.shutdown().unwrap();
        }
    }
}
