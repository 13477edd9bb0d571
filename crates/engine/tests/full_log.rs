//! A small log on a disk with 0 bytes free never runs out (rules G1 to G5 in buffer's README): whoever writes leaves the room that it
//! takes to let go of the log. Each test is a way in which it did.

use crate::common::*;
use engine::*;
use env::Environment;
use env::simulated::SimulatedDisk;

const ROWS: i64 = 3000;

fn start(disk: &SimulatedDisk) -> Engine {
    let options = EngineOptions { redo_log_bytes: 2 << 20, reserve_bytes: 8 << 20, ..options() };
    Engine::open(Environment::simulated(disk.clone(), 1), options).unwrap()
}

fn fill_up(disk: &SimulatedDisk) {
    disk.set_capacity_bytes(Some(disk.used_bytes()));
}

fn rows() -> Vec<Row> {
    (0..ROWS).map(|id| row(id, id, "a text that is not short")).collect()
}

fn prepared() -> (SimulatedDisk, Engine) {
    let disk = SimulatedDisk::new(1);
    let engine = start(&disk);
    insert(&engine, &create(&engine, "t"), &rows());
    engine.purge().unwrap();
    engine.checkpoint().unwrap();
    engine.refill_reserve().unwrap();
    (disk, engine)
}

fn update(engine: &Engine, transaction: &Transaction, changes: i64) {
    let table = table(engine, "t");
    for change in 0..changes {
        let id = change % ROWS;
        let new = row(id, id + ROWS * (1 + change / ROWS), "another text of that kind");
        transaction.update(&table, &key(&table, id), &encode(&table, &new)).unwrap();
    }
}

/// Leaves a transaction unfinished in a log that is more or less full, and crashes.
fn crash_in_changes(changes: i64) -> SimulatedDisk {
    let (disk, engine) = prepared();
    let transaction = begin(&engine);
    update(&engine, &transaction, changes);
    engine.sync_log(engine.status().log_end).unwrap();
    disk.crash();
    std::mem::forget(transaction);
    disk.restart_with_durable_state()
}

/// Cause: what was saved before the crash counted as not saved, so a full log had to be saved into itself.
#[test]
fn a_log_that_was_full_at_the_crash_is_let_go() {
    for part in 1..=12 {
        let disk = crash_in_changes(part * ROWS / 3);
        fill_up(&disk);
        // The second start comes when a part is undone.
        let engine = start(&disk);
        for _ in 0..part {
            engine.roll_back_unfinished(50).unwrap();
        }
        engine.sync_log(engine.status().log_end).unwrap();
        disk.crash();
        let disk = disk.restart_with_durable_state();
        fill_up(&disk);
        let engine = start(&disk);
        while engine.roll_back_unfinished(500).unwrap() > 0 {}
        assert_eq!(all(&begin(&engine), &table(&engine, "t")), rows(), "{part} thirds of the rows");
        engine.purge().unwrap();
        insert(&engine, &table(&engine, "t"), &[row(ROWS, ROWS, "one more")]);
        assert_eq!(engine.check().unwrap(), Vec::<String>::new());
    }
}

/// Cause: the log was kept from the end record of a transaction on until the last of its chunks was gone.
#[test]
fn chunks_of_a_finished_transaction_do_not_keep_the_log() {
    let (disk, engine) = prepared();
    let transaction = begin(&engine);
    update(&engine, &transaction, 20 * ROWS);
    fill_up(&disk);
    engine.flush_log(transaction.commit().unwrap()).unwrap();
    engine.purge().unwrap();
    engine.checkpoint().unwrap();
    assert_eq!(all(&begin(&engine), &table(&engine, "t")).len() as i64, ROWS);
    drop(engine);
    let engine = start(&disk.restart_after_kill());
    assert_eq!(engine.roll_back_unfinished(0).unwrap(), 0, "nothing of it is left");
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
}

/// Cause: an undo record stands for all rows of a leaf, and the log was asked for room once for 64 records.
#[test]
fn rows_of_runs_are_undone() {
    for runs in [1, 4, 9] {
        let (disk, engine) = prepared();
        let transaction = begin(&engine);
        let target = table(&engine, "t");
        for run in 0..runs {
            let new: Vec<Vec<u8>> = (0..ROWS)
                .map(|id| encode(&target, &row(id + (run + 1) * ROWS, id + (run + 1) * ROWS, "x")))
                .collect();
            let slices: Vec<&[u8]> = new.iter().map(|row| &row[..]).collect();
            transaction.insert_many(&target, &slices).unwrap();
        }
        engine.sync_log(engine.status().log_end).unwrap();
        disk.crash();
        std::mem::forget(transaction);
        let disk = disk.restart_with_durable_state();
        fill_up(&disk);
        let engine = start(&disk);
        while engine.roll_back_unfinished(64).unwrap() > 0 {}
        assert_eq!(all(&begin(&engine), &table(&engine, "t")), rows());
    }
}

/// Cause: purge asked for no room, and beside a transaction that kept the log it took the last.
#[test]
fn purge_leaves_what_others_need() {
    let (disk, engine) = prepared();
    let target = table(&engine, "t");
    for run in 1..12 {
        insert(
            &engine,
            &target,
            &(0..ROWS).map(|id| row(id + run * ROWS, id + run * ROWS, "x")).collect::<Vec<_>>(),
        );
    }
    engine.purge().unwrap();
    engine.checkpoint().unwrap();
    let deletes = begin(&engine);
    for id in ROWS..12 * ROWS {
        deletes.delete(&target, &key(&target, id)).unwrap();
    }
    deletes.commit().unwrap();
    engine.checkpoint().unwrap();
    // Nobody saves its undo: in this test there are no threads.
    let idle = begin(&engine);
    idle.update(&target, &key(&target, 1), &encode(&target, &row(1, 1, "kept"))).unwrap();
    fill_up(&disk);
    let purged = engine.purge();
    assert!(matches!(purged, Ok(_) | Err(EngineError::NoSpace)), "{purged:?}");
    idle.rollback().unwrap();
    engine.purge().unwrap();
    engine.checkpoint().unwrap();
    assert_eq!(all(&begin(&engine), &target), rows());
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
}
