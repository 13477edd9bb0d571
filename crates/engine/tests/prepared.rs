//! Prepared transactions (XA): they outlive a crash with all that they have changed, wherever their undo is, until it is decided; and
//! what was decided is done whole.

use crate::common::model::sound;
use crate::common::*;
use crate::losers::{ROWS, change_much, damage_undo, filled, old_rows, open_small, rows_of, small_log};
use engine::*;
use env::Environment;
use env::simulated::SimulatedDisk;
use std::sync::Arc;

const NAME: &[u8] = b"\x00a name";

/// A transaction that has changed much of `t`, prepared and durable, and the rows as it has them.
fn prepare(engine: &Engine, t: &Arc<Table>) -> (Transaction, Vec<Row>) {
    let mut transaction = begin(engine);
    change_much(&transaction, t, t);
    let changed = all(&transaction, t);
    let lsn = transaction.prepare(NAME).unwrap();
    engine.sync_log(lsn).unwrap();
    (transaction, changed)
}

/// Leaves one prepared, and crashes.
fn crash_prepared(disk: &SimulatedDisk) -> (SimulatedDisk, Vec<Row>) {
    let (engine, t) = filled(disk);
    let (transaction, changed) = prepare(&engine, &t);
    let status = engine.status();
    assert!(status.writers[0].undo_records_saved > 1000, "some of its undo is in the undo tree");
    disk.crash();
    drop(transaction);
    (disk.restart_with_durable_state(), changed)
}

/// The one that the start has found.
fn recovered(engine: &Engine) -> Transaction {
    let mut recovered = engine.recovered();
    assert_eq!(recovered.len(), 1);
    let RecoveredTransaction { name, transaction, tables } = recovered.remove(0);
    assert_eq!((&*name, tables), (NAME, Some(vec![crate::common::name("t")])));
    transaction
}

fn is_locked(engine: &Engine, id: i64) -> bool {
    let t = table(engine, "t");
    let deleted = begin(engine).delete(&t, &key(&t, id));
    assert!(matches!(deleted, Ok(()) | Err(EngineError::LockWaitTimeout)), "{deleted:?}");
    deleted.is_err()
}

#[test]
fn a_crash_leaves_it_prepared_and_its_rows_locked_until_it_commits() {
    let (disk, changed) = crash_prepared(&SimulatedDisk::new(1));
    let engine = open_small(&disk);
    assert_eq!(engine.roll_back_unfinished(1000).unwrap(), 0, "nobody undoes it");
    assert_eq!(rows_of(&engine), old_rows(), "nobody sees it");
    assert!(is_locked(&engine, 7) && is_locked(&engine, ROWS - 1));
    sound(&engine);
    // It outlives the next start too, an orderly one.
    engine.shutdown().unwrap();
    let disk = disk.restart_with_durable_state();
    let engine = open_small(&disk);
    let before = begin(&engine);
    before.take_snapshot().unwrap();
    let mut transaction = recovered(&engine);
    let lsn = transaction.commit_in_place().unwrap();
    assert!(!is_locked(&engine, 1));
    assert_eq!(all(&before, &table(&engine, "t")), old_rows(), "an older snapshot reads the rows that were");
    drop(before);
    assert_eq!(rows_of(&engine), changed);
    engine.sync_log(lsn).unwrap();
    disk.crash();
    let disk = disk.restart_with_durable_state();
    let engine = open_small(&disk);
    assert!(engine.recovered().is_empty());
    engine.purge().unwrap();
    assert_eq!(rows_of(&engine), changed);
    sound(&engine);
    assert_eq!(engine.status().watermark, engine.status().next_transaction);
}

#[test]
fn a_crash_leaves_it_prepared_until_it_is_rolled_back() {
    let (disk, _) = crash_prepared(&SimulatedDisk::new(2));
    let engine = open_small(&disk);
    let lsn = recovered(&engine).rollback_prepared().unwrap();
    assert!(!is_locked(&engine, 7));
    assert_eq!(rows_of(&engine), old_rows());
    engine.sync_log(lsn).unwrap();
    disk.crash();
    let engine = open_small(&disk.restart_with_durable_state());
    assert!(engine.recovered().is_empty() && engine.unfinished().is_empty());
    engine.purge().unwrap();
    assert_eq!(rows_of(&engine), old_rows());
    sound(&engine);
}

/// The end of a handle ends nothing: the server stops with prepared transactions.
#[test]
fn a_handle_that_is_dropped_leaves_it_prepared() {
    let disk = SimulatedDisk::new(3);
    let (engine, t) = filled(&disk);
    let (transaction, changed) = prepare(&engine, &t);
    drop(transaction);
    assert!(is_locked(&engine, 7));
    engine.shutdown().unwrap();
    let engine = open_small(&disk.restart_with_durable_state());
    recovered(&engine).commit_in_place().unwrap();
    assert_eq!(rows_of(&engine), changed);
    sound(&engine);
}

/// The log goes on over the record that has told of it: then the undo tree tells.
#[test]
fn the_log_goes_on_without_it() {
    let disk = SimulatedDisk::new(4);
    let options = EngineOptions { background_threads: true, ..small_log() };
    let engine = Engine::open(Environment::simulated(disk.clone(), 1), options).unwrap();
    let (t, other) = (create(&engine, "t"), create(&engine, "other"));
    insert(&engine, &t, &[row(1, 1, "old")]);
    let mut transaction = begin(&engine);
    transaction.update(&t, &key(&t, 1), &encode(&t, &row(1, 2, "new"))).unwrap();
    let lsn = transaction.prepare(NAME).unwrap();
    for round in 0..40 {
        let rows: Vec<Row> = (0..500).map(|id| row(round * 500 + id, round * 500 + id, "a filler")).collect();
        insert(&engine, &other, &rows);
        engine.checkpoint().unwrap();
    }
    let status = engine.status();
    assert!(status.log_end.0 - lsn.0 > 2 << 20, "the log has gone round");
    let writer = &status.writers[0];
    assert_eq!(writer.undo_records_saved, writer.undo_records, "all of it is in the undo tree");
    engine.sync_log(status.log_end).unwrap();
    drop(transaction);
    drop(engine);
    disk.crash();
    let engine = open_small(&disk.restart_with_durable_state());
    assert_eq!(rows_of(&engine), [row(1, 1, "old")]);
    recovered(&engine).commit_in_place().unwrap();
    assert_eq!(rows_of(&engine), [row(1, 2, "new")]);
    sound(&engine);
}

#[test]
fn one_that_has_written_nothing_is_not_known_to_a_start() {
    let disk = SimulatedDisk::new(5);
    let (engine, t) = filled(&disk);
    let mut reader = begin(&engine);
    assert!(reader.get(&t, 0, &key(&t, 1), ReadMode::Exclusive(WaitPolicy::Wait), &mut |_| ()).unwrap());
    assert_eq!(reader.prepare(NAME).unwrap(), stdx::ids::Lsn(0));
    assert!(is_locked(&engine, 1), "its locks stay");
    reader.commit_in_place().unwrap();
    assert!(!is_locked(&engine, 1));
    // One that has taken back all it wrote is known: it had written.
    let mut empty = begin(&engine);
    let mark = empty.mark();
    empty.delete(&t, &key(&t, 1)).unwrap();
    empty.rollback_to(mark).unwrap();
    engine.sync_log(empty.prepare(NAME).unwrap()).unwrap();
    disk.crash();
    let engine = open_small(&disk.restart_with_durable_state());
    let mut found = engine.recovered();
    found.remove(0).transaction.commit_in_place().unwrap();
    assert_eq!(rows_of(&engine), old_rows());
    sound(&engine);
}

/// Decides, and crashes at a step of that. True if it was done before.
fn crash_in_decision(prepared: &SimulatedDisk, changed: &[Row], commits: bool, step: u64) -> bool {
    let disk = prepared.restart_with_durable_state();
    disk.crash_at(step);
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let engine = Engine::open(Environment::simulated(disk.clone(), 1), small_log())?;
        let mut transaction = engine.recovered().remove(0).transaction;
        let lsn = match commits {
            true => transaction.commit_in_place()?,
            false => transaction.rollback_prepared()?,
        };
        engine.sync_log(lsn)?;
        // What is left of it in the undo tree goes too.
        engine.checkpoint()
    }));
    let is_done = matches!(done, Ok(Ok(())));
    let engine = open_small(&disk.restart_with_durable_state());
    let mut recovered = engine.recovered();
    if let Some(mut found) = recovered.pop() {
        assert!(!is_done, "step {step}: it has ended");
        assert_eq!(rows_of(&engine), old_rows(), "step {step}");
        found.transaction.commit_in_place().unwrap();
        assert_eq!(rows_of(&engine), changed, "step {step}: nothing of it was undone");
    } else {
        while engine.roll_back_unfinished(5000).unwrap() > 0 {}
        assert_eq!(rows_of(&engine), if commits { changed.to_vec() } else { old_rows() }, "step {step}");
    }
    engine.purge().unwrap();
    sound(&engine);
    is_done
}

#[test]
fn a_crash_in_the_decision_leaves_it_prepared_or_decided() {
    let (disk, changed) = crash_prepared(&SimulatedDisk::new(6));
    for commits in [true, false] {
        let mut step = 1;
        while !crash_in_decision(&disk, &changed, commits, step) {
            step += 1 + step / 6;
            assert!(step < 100_000);
        }
    }
}

/// What one that a start has found replaces stays for the snapshots from before its commit, long values too.
#[test]
fn older_snapshots_keep_the_long_values_that_it_has_replaced() {
    let disk = SimulatedDisk::new(5);
    let (old, new) = ("o".repeat(60_000), "n".repeat(60_000));
    let engine = open_small(&disk);
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, &old)]);
    let mut transaction = begin(&engine);
    transaction.update(&t, &key(&t, 1), &encode(&t, &row(1, 1, &new))).unwrap();
    let lsn = transaction.prepare(NAME).unwrap();
    engine.sync_log(lsn).unwrap();
    disk.crash();
    drop((transaction, t, engine));
    let engine = open_small(&disk.restart_with_durable_state());
    let before = begin(&engine);
    before.take_snapshot().unwrap();
    recovered(&engine).commit_in_place().unwrap();
    engine.purge().unwrap();
    assert_eq!(all(&before, &table(&engine, "t")), [row(1, 1, &old)]);
    drop(before);
    engine.purge().unwrap();
    assert_eq!(rows_of(&engine), [row(1, 1, &new)]);
    sound(&engine);
}

/// Undo that cannot be read keeps it from its commit. It can be rolled back all the same: as far as that goes, with its table free to be
/// dropped, as after any other rollback that finds damage.
#[test]
fn damaged_undo_does_not_keep_it_from_being_rolled_back() {
    let (disk, _) = crash_prepared(&SimulatedDisk::new(6));
    let engine = open_small(&disk);
    create(&engine, "other");
    engine.shutdown().unwrap();
    let disk = damage_undo(&disk);
    {
        // A rescue changes no rows, and decides nothing that does.
        let options = EngineOptions { force_recovery: ForceRecovery::PastDamage, ..small_log() };
        let rescue = Engine::open(Environment::simulated(disk.clone(), 1), options).unwrap();
        let mut transaction = recovered(&rescue);
        assert_eq!(transaction.rollback_prepared(), Err(EngineError::ForcedRecovery));
        assert!(!transaction.is_rolled_back());
    }
    let disk = disk.restart_with_durable_state();
    let engine = open_small(&disk);
    let mut transaction = recovered(&engine);
    assert!(transaction.commit_in_place().is_err() && !transaction.is_rolled_back());
    assert!(transaction.rollback_prepared().is_err() && transaction.is_rolled_back());
    drop(transaction);
    engine.drop_tables(&[name("t")], &KillFlag::default()).unwrap();
    assert_eq!(engine.roll_back_unfinished(100), Ok(0));
    insert(&engine, &table(&engine, "other"), &[row(1, 1, "x")]);
    engine.shutdown().unwrap();
    let engine = open_small(&disk.restart_with_durable_state());
    assert!(engine.recovered().is_empty() && engine.unfinished().is_empty());
    assert!(engine.dictionary().table("test", "t").is_none());
    assert_eq!(all(&begin(&engine), &table(&engine, "other")), [row(1, 1, "x")]);
}
