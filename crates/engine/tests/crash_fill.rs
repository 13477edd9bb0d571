//! CREATE TABLE .. SELECT ends at every disk operation: afterwards there are the table and all its rows, or neither, and no file is left.

use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;
use env::{Disk, Environment};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

const ROWS: i64 = 400;

fn try_open(disk: &SimulatedDisk) -> EngineResult<Engine> {
    Engine::open(Environment::simulated(disk.clone(), 1), options())
}

/// Makes a table and fills it. True once the commit is durable.
fn fill(disk: &SimulatedDisk, commits: bool) -> EngineResult<bool> {
    let engine = try_open(disk)?;
    let kill = KillFlag::default();
    if engine.dictionary().schema("test").is_none() {
        let collation = charset::CollationId::BINARY;
        engine.create_schema(dictionary::SchemaDefinition { name: "test".to_owned(), collation }, &kill)?;
    }
    let made = engine.create_hidden_table(definition("made"), &kill)?;
    assert!(engine.dictionary().tables("test").is_empty(), "nobody sees a table that is not full");
    let transaction = begin(&engine);
    for id in 0..ROWS {
        let long = if id % 100 == 0 { 8000 } else { 40 };
        transaction.insert(&made, &encode(&made, &row(id, id, &"x".repeat(long))))?;
        if id == ROWS / 2 {
            engine.checkpoint()?;
        }
    }
    if !commits {
        transaction.rollback_with_table(&made)?;
        engine.abandon_table(&made)?;
        assert!(engine.dictionary().table("test", "made").is_none());
        return Ok(false);
    }
    transaction.publish_table(&made)?;
    let lsn = transaction.commit()?;
    engine.show_table(&made, lsn)?;
    assert_eq!(all(&begin(&engine), &made).len() as i64, ROWS);
    Ok(true)
}

fn check_after(disk: &SimulatedDisk, acknowledged: bool) -> bool {
    let engine = try_open(disk).unwrap();
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
    let messages = engine.take_messages();
    assert!(messages.iter().all(|message| message.contains("rolled back")), "{messages:?}");
    match engine.dictionary().table("test", "made") {
        Some(made) => {
            assert_eq!(all(&begin(&engine), &made).len() as i64, ROWS, "a table that is not full");
            true
        }
        None => {
            assert!(!acknowledged, "an acknowledged table is lost");
            let files = disk.list(Path::new("#tables")).unwrap_or_default();
            assert_eq!(files.len(), engine.dictionary().tables("test").len(), "a file is left: {files:?}");
            false
        }
    }
}

#[test]
fn a_table_is_there_with_its_rows_or_not_at_all() {
    for commits in [true, false] {
        let whole = SimulatedDisk::new(1);
        assert_eq!(fill(&whole, commits).unwrap(), commits);
        assert_eq!(check_after(&whole.restart_after_kill(), commits), commits);
        let (mut there, mut absent) = (0, 0);
        for operation in 0..whole.counts().mutations {
            let disk = SimulatedDisk::new(1);
            disk.crash_at(operation);
            let acknowledged = catch_unwind(AssertUnwindSafe(|| fill(&disk, commits)));
            let acknowledged = matches!(acknowledged, Ok(Ok(true)));
            for restarted in
                [disk.restart_with_durable_state(), disk.restart_after_kill(), disk.restart(operation)]
            {
                let found = check_after(&restarted, acknowledged);
                there += u32::from(found);
                absent += u32::from(!found);
                assert_eq!(check_after(&restarted, false), found, "the second start finds the same");
            }
        }
        assert!(absent > 0 && (there > 0) == commits, "{there} {absent}");
    }
}

#[test]
fn a_full_disk_leaves_nothing() {
    let whole = SimulatedDisk::new(1);
    fill(&whole, true).unwrap();
    let empty = SimulatedDisk::new(1);
    drop(try_open(&empty).unwrap());
    for capacity in (empty.used_bytes()..whole.used_bytes() + 65_536).step_by(65_536) {
        let disk = SimulatedDisk::new(1);
        drop(try_open(&disk).unwrap());
        disk.set_capacity_bytes(Some(capacity));
        let filled = fill(&disk, true);
        disk.set_capacity_bytes(None);
        let is_there = check_after(&disk.restart_after_kill(), false);
        assert_eq!(is_there, filled.is_ok(), "{capacity}: {filled:?}");
    }
}

#[test]
fn rows_of_a_table_that_is_abandoned_are_not_undone_one_by_one() {
    const ROWS: i64 = 5000;
    let engine = try_open(&SimulatedDisk::new(1)).unwrap();
    let other = create(&engine, "other");
    let mut next = 0;
    let mut log_end = || {
        let transaction = begin(&engine);
        next += 1;
        transaction.insert(&other, &encode(&other, &row(next, next, "x"))).unwrap();
        transaction.commit().unwrap().0
    };
    let made = engine.create_hidden_table(definition("made"), &KillFlag::default()).unwrap();
    let transaction = begin(&engine);
    for id in 0..ROWS {
        transaction.insert(&made, &encode(&made, &row(id, id, "x"))).unwrap();
    }
    // Its change of the dictionary is undone all the same.
    transaction.publish_table(&made).unwrap();
    let before = log_end();
    transaction.rollback_with_table(&made).unwrap();
    engine.abandon_table(&made).unwrap();
    let logged = log_end() - before;
    assert!(logged < ROWS as u64, "{logged} bytes were logged");
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
    engine.create_table(definition("made"), &KillFlag::default()).unwrap();
}
