//! A stop leaves delete marks where they are; the next start removes them, whatever happens in between (rule R12).

use crate::common::model::sound;
use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;
use std::panic::{AssertUnwindSafe, catch_unwind};

const ROWS: i64 = 1200;
/// Each row stands in three indexes.
const ENTRIES: u64 = 3 * ROWS as u64;

fn is_left(id: i64) -> bool {
    id % 300 == 7
}

fn rows_left() -> Vec<Row> {
    (0..ROWS).filter(|id| is_left(*id)).map(|id| row(id, id, "stays")).collect()
}

/// Deletes nearly all rows of a table and stops.
fn stop_with_marks(disk: &SimulatedDisk) {
    let engine = open(disk);
    let t = create(&engine, "t");
    let rows: Vec<Row> = (0..ROWS).map(|id| row(id, id, "stays")).collect();
    insert(&engine, &t, &rows);
    engine.purge().unwrap();
    let transaction = begin(&engine);
    for id in (0..ROWS).filter(|id| !is_left(*id)) {
        transaction.delete(&t, &key(&t, id)).unwrap();
    }
    transaction.commit().unwrap();
    engine.shutdown().unwrap();
}

/// Scans find every mark from before the start.
fn has_no_marks(disk: &SimulatedDisk) -> bool {
    let engine = open(disk);
    assert_eq!(all(&begin(&engine), &table(&engine, "t")), rows_left());
    sound(&engine);
    engine.purge().unwrap() == 0
}

fn removed_by_a_start(disk: &SimulatedDisk) -> u64 {
    let engine = open(disk);
    let removed = engine.purge().unwrap();
    sound(&engine);
    engine.shutdown().unwrap();
    removed
}

#[test]
fn a_stop_does_not_purge_and_the_next_start_does() {
    let disk = SimulatedDisk::new(1);
    stop_with_marks(&disk);
    let marks = ENTRIES - 3 * rows_left().len() as u64;
    let disk = disk.restart_with_durable_state();
    assert_eq!(removed_by_a_start(&disk), marks);
    let disk = disk.restart_with_durable_state();
    assert_eq!(removed_by_a_start(&disk), 0, "the note is gone");
    assert!(has_no_marks(&disk.restart_with_durable_state()));
}

/// A start that is stopped at once keeps the note.
#[test]
fn a_start_that_does_not_come_to_it_leaves_it_to_the_next() {
    let disk = SimulatedDisk::new(2);
    stop_with_marks(&disk);
    let disk = disk.restart_with_durable_state();
    open(&disk).shutdown().unwrap();
    let disk = disk.restart_with_durable_state();
    assert!(removed_by_a_start(&disk) > 0);
    assert!(has_no_marks(&disk.restart_with_durable_state()));
}

/// The machine stops at any disk operation of the stop, or of the start that sweeps.
#[test]
fn a_crash_anywhere_leaves_no_mark_unknown() {
    let whole = SimulatedDisk::new(3);
    stop_with_marks(&whole);
    let points = 30;
    let swept = whole.restart_with_durable_state();
    removed_by_a_start(&swept);
    let total = swept.counts().mutations.max(points);
    for point in 0..points {
        let disk = SimulatedDisk::new(3);
        stop_with_marks(&disk);
        let disk = disk.restart_with_durable_state();
        disk.crash_at(1 + point * total / points);
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let engine = Engine::open(env::Environment::simulated(disk.clone(), 1), options())?;
            engine.purge()?;
            engine.checkpoint()?;
            engine.shutdown()
        }));
        let disk = disk.restart(point);
        removed_by_a_start(&disk);
        assert!(has_no_marks(&disk.restart_with_durable_state()), "stopped at operation {point}");
    }
}

/// Definition and note go together: what takes the table's place has none, and marks of the dictionary itself go with the stop.
#[test]
fn a_dropped_table_leaves_no_note() {
    let disk = SimulatedDisk::new(4);
    stop_with_marks(&disk);
    let disk = disk.restart_with_durable_state();
    let engine = open(&disk);
    engine.drop_tables(&[name("t")], &KillFlag::default()).unwrap();
    create(&engine, "t");
    engine.shutdown().unwrap();
    let disk = disk.restart_with_durable_state();
    assert_eq!(removed_by_a_start(&disk), 0);
}

/// What is written over a mark, or beside it, while the sweep is under way stays.
#[test]
fn rows_in_the_place_of_marks_stay() {
    let disk = SimulatedDisk::new(5);
    stop_with_marks(&disk);
    let engine = open(&disk.restart_with_durable_state());
    let t = table(&engine, "t");
    let rows: Vec<Row> = (0..ROWS).filter(|id| !is_left(*id)).map(|id| row(id, id, "again")).collect();
    insert(&engine, &t, &rows[..500]);
    engine.purge().unwrap();
    assert_eq!(all(&begin(&engine), &t).len(), 500 + rows_left().len());
    insert(&engine, &t, &rows[500..]);
    engine.purge().unwrap();
    assert_eq!(all(&begin(&engine), &t).len() as i64, ROWS);
    sound(&engine);
    engine.shutdown().unwrap();
}
