//! On a disk with 0 bytes free: what frees room works, because room was kept for it, and what takes room leaves that alone.

use crate::common::*;
use engine::*;
use env::Environment;
use env::simulated::SimulatedDisk;

const ROWS: i64 = 12_000;

fn start(disk: &SimulatedDisk, reserve_bytes: u64) -> Engine {
    let options = EngineOptions { reserve_bytes, ..options() };
    Engine::open(Environment::simulated(disk.clone(), 1), options).unwrap()
}

fn fill_up(disk: &SimulatedDisk) {
    disk.set_capacity_bytes(Some(disk.used_bytes()));
}

/// What background threads do.
fn work_off(engine: &Engine) {
    engine.purge().unwrap();
    engine.checkpoint().unwrap();
}

fn delete_all(engine: &Engine, name: &str) -> EngineResult<()> {
    let (transaction, table) = (begin(engine), table(engine, name));
    for id in 0..ROWS {
        transaction.delete(&table, &key(&table, id))?;
    }
    engine.flush_log(transaction.commit()?)
}

/// Inserts until the disk is full.
fn insert_until_full(engine: &Engine, name: &str) -> i64 {
    let (transaction, table) = (begin(engine), table(engine, name));
    for id in ROWS.. {
        match transaction.insert(&table, &encode(&table, &row(id, id, "one more"))) {
            Ok(_) => {}
            Err(EngineError::NoSpace) => {
                transaction.rollback().unwrap();
                work_off(engine);
                return id;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    unreachable!()
}

fn directory(reserve_bytes: u64) -> (SimulatedDisk, Engine) {
    let disk = SimulatedDisk::new(1);
    let engine = start(&disk, reserve_bytes);
    for name in ["t", "u"] {
        let table = create(&engine, name);
        insert(&engine, &table, &(0..ROWS).map(|id| row(id, id, "text")).collect::<Vec<_>>());
    }
    work_off(&engine);
    engine.refill_reserve().unwrap();
    fill_up(&disk);
    (disk, engine)
}

#[test]
fn what_frees_room_works_on_a_full_disk() {
    let (disk, engine) = directory(8 << 20);
    insert_until_full(&engine, "u");
    delete_all(&engine, "t").unwrap();
    assert!(all(&begin(&engine), &table(&engine, "t")).is_empty());
    work_off(&engine);
    let kill = KillFlag::default();
    let made = create(&engine, "made");
    insert(&engine, &made, &[row(1, 1, "small")]);
    drop(engine);
    let disk = disk.restart_after_kill();
    fill_up(&disk);
    let engine = start(&disk, 8 << 20);
    assert_eq!(all(&begin(&engine), &table(&engine, "u")).len() as i64, ROWS);
    engine.drop_tables(&[name("made")], &kill).unwrap();
    let emptied = engine.truncate_table(&name("u"), &kill).unwrap();
    insert(&engine, &emptied, &[row(1, 1, "back")]);
    work_off(&engine);
    engine.refill_reserve().unwrap();
    assert_eq!(engine.check().unwrap(), Vec::<String>::new());
}

/// Updates in one transaction until there is no room for more undo; how many.
fn update_until_full(engine: &Engine) -> i64 {
    let (transaction, table) = (begin(engine), table(engine, "t"));
    for round in 0..40 * ROWS {
        let (id, text) = (round % ROWS, if (round / ROWS) % 2 == 0 { "TEXT" } else { "text" });
        match transaction.update(&table, &key(&table, id), &encode(&table, &row(id, id, text))) {
            Ok(_) => {}
            Err(EngineError::NoSpace) => return round,
            Err(error) => panic!("{error:?}"),
        }
    }
    40 * ROWS
}

#[test]
fn what_takes_room_leaves_the_reserve_alone() {
    let without = update_until_full(&directory(0).1);
    let with = update_until_full(&directory(8 << 20).1);
    assert!(with < without + ROWS, "{with} updates with a reserve, {without} without");
}
