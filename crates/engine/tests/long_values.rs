//! Long values: they stand outside their rows, stay where they are while other columns change, go with what refers to them, and
//! are seen as rows are: by snapshots, after rollbacks, after crashes.

use crate::common::model::sound;
use crate::common::*;
use dictionary::{IndexDefinition, IndexKind, IndexPart, TableDefinition};
use engine::*;
use env::Environment;
use env::simulated::SimulatedDisk;
use std::sync::Arc;
use values::row::{ColumnSet, Piece};
use values::{ColumnType, TypeKind, Value};

const LONG: usize = 1 << 20;

fn open_large(disk: &SimulatedDisk) -> Engine {
    let options = EngineOptions { buffer_pool_bytes: 32 << 20, redo_log_bytes: 64 << 20, ..options() };
    Engine::open(Environment::simulated(disk.clone(), 1), options).unwrap()
}

fn text(seed: u64, bytes: usize) -> String {
    let letter = |at: usize| char::from(b'a' + ((at as u64 * 31 + seed * 7 + at as u64 / 257) % 26) as u8);
    (0..bytes).map(letter).collect()
}

fn read(transaction: &Transaction, t: &Arc<Table>, id: i64) -> Option<Row> {
    let mut row = None;
    let found = &mut |bytes: &[u8]| row = Some(decode(t, bytes));
    transaction.get(t, 0, &key(t, id), ReadMode::Consistent, found).unwrap();
    row
}

fn log_end(engine: &Engine) -> u64 {
    engine.status().log_end.0
}

#[test]
fn a_change_beside_a_long_value_leaves_it_alone() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    let t = create(&engine, "t");
    let long = text(1, LONG);
    insert(&engine, &t, &[row(1, 10, &long), row(2, 20, "short")]);
    let before = log_end(&engine);
    for a in 11..21 {
        let transaction = begin(&engine);
        let change = encode(&t, &row(1, 100 + a, ""));
        let kept = ColumnSet::of([2]);
        assert_eq!(transaction.update_keeping(&t, &key(&t, 1), &change, &kept), Ok(UpdateOutcome::Changed));
        assert_eq!(transaction.update_keeping(&t, &key(&t, 1), &change, &kept), Ok(UpdateOutcome::Unchanged));
        transaction.commit().unwrap();
    }
    assert!(log_end(&engine) - before < 10 * 2000, "{} bytes of log", log_end(&engine) - before);
    engine.purge().unwrap();
    assert_eq!(read(&begin(&engine), &t, 1), Some(row(1, 120, &long)));
    // The same value given again is the same value.
    let before = log_end(&engine);
    let transaction = begin(&engine);
    assert_eq!(
        transaction.update(&t, &key(&t, 1), &encode(&t, &row(1, 7, &long))),
        Ok(UpdateOutcome::Changed)
    );
    transaction.commit().unwrap();
    assert!(log_end(&engine) - before < 2000);
    engine.purge().unwrap();
    // A change of the primary key takes the value along.
    let transaction = begin(&engine);
    let moved = encode(&t, &row(5, 8, ""));
    let outcome = transaction.update_keeping(&t, &key(&t, 1), &moved, &ColumnSet::of([2]));
    assert_eq!(outcome, Ok(UpdateOutcome::Moved(key(&t, 5))));
    transaction.commit().unwrap();
    assert_eq!(all(&begin(&engine), &t), [row(2, 20, "short"), row(5, 8, &long)]);
    engine.purge().unwrap();
    sound(&engine);
}

#[test]
fn a_scan_that_does_not_look_at_long_values_reads_none() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    let t = create(&engine, "t");
    for id in 0..20 {
        insert(&engine, &t, &[row(id, id, &text(id as u64, 200_000))]);
    }
    engine.shutdown().unwrap();
    drop(engine);
    let engine = open_large(&disk);
    let t = table(&engine, "t");
    let reads = disk.counts().reads;
    let transaction = begin(&engine);
    let options = ScanOptions { columns: ColumnSet::of([0, 1]), ..ScanOptions::default() };
    let mut scan = transaction.scan(&t, options).unwrap();
    let (mut batch, mut sum) = (RowBatch::new(), 0);
    while scan.next_batch(&transaction, &mut batch, 100).unwrap() {
        for at in 0..batch.len() {
            sum += values::row::RowView::new(t.layout(), batch.row(at)).unwrap().integer(1);
        }
    }
    assert_eq!(sum, 190);
    assert!(disk.counts().reads - reads < 6, "{} reads", disk.counts().reads - reads);
    // With the column, the batch stays small however many rows a leaf has.
    let mut scan = transaction.scan(&t, ScanOptions::default()).unwrap();
    let mut rows = 0;
    while scan.next_batch(&transaction, &mut batch, 100).unwrap() {
        assert!(batch.bytes() < 700_000, "{} bytes in a batch", batch.bytes());
        rows += batch.len();
    }
    assert_eq!(rows, 20);
}

#[test]
fn snapshots_see_the_values_of_their_time() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, &text(1, LONG)), row(2, 2, &text(2, LONG)), row(3, 3, "x")]);
    let old = begin(&engine);
    old.take_snapshot().unwrap();
    let change = |id: i64, seed: u64| {
        let transaction = begin(&engine);
        transaction.update(&t, &key(&t, id), &encode(&t, &row(id, id, &text(seed, 300_000)))).unwrap();
        transaction.commit().unwrap();
    };
    change(1, 11);
    change(1, 12);
    change(3, 13);
    let transaction = begin(&engine);
    transaction.delete(&t, &key(&t, 2)).unwrap();
    transaction.commit().unwrap();
    insert(&engine, &t, &[row(2, 2, &text(22, 9000))]);
    engine.purge().unwrap();
    let before = [row(1, 1, &text(1, LONG)), row(2, 2, &text(2, LONG)), row(3, 3, "x")];
    assert_eq!(all(&old, &t), before);
    drop(old);
    engine.purge().unwrap();
    let after = [row(1, 1, &text(12, 300_000)), row(2, 2, &text(22, 9000)), row(3, 3, &text(13, 300_000))];
    assert_eq!(all(&begin(&engine), &t), after);
    sound(&engine);
}

#[test]
fn what_is_rolled_back_leaves_nothing() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, &text(1, LONG)), row(2, 2, "x")]);
    let transaction = begin(&engine);
    transaction.update(&t, &key(&t, 2), &encode(&t, &row(2, 2, &text(5, LONG)))).unwrap();
    let mark = transaction.mark();
    transaction.update(&t, &key(&t, 1), &encode(&t, &row(1, 1, &text(6, LONG)))).unwrap();
    transaction.delete(&t, &key(&t, 2)).unwrap();
    transaction.insert(&t, &encode(&t, &row(3, 3, &text(7, LONG)))).unwrap();
    let duplicate = transaction.insert(&t, &encode(&t, &row(9, 3, &text(8, LONG))));
    assert!(matches!(duplicate, Err(EngineError::DuplicateKey(_))));
    transaction.rollback_to(mark).unwrap();
    transaction.commit().unwrap();
    let rows = [row(1, 1, &text(1, LONG)), row(2, 2, &text(5, LONG))];
    assert_eq!(all(&begin(&engine), &t), rows);
    sound(&engine);

    let transaction = begin(&engine);
    transaction.delete(&t, &key(&t, 1)).unwrap();
    transaction.update(&t, &key(&t, 2), &encode(&t, &row(2, 9, ""))).unwrap();
    transaction.rollback().unwrap();
    engine.purge().unwrap();
    assert_eq!(all(&begin(&engine), &t), rows);
    sound(&engine);
}

#[test]
fn garbage_is_removed_after_a_restart() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    let t = create(&engine, "t");
    insert(&engine, &t, &(0..4).map(|id| row(id, id, &text(id as u64, LONG))).collect::<Vec<_>>());
    let transaction = begin(&engine);
    transaction.delete(&t, &key(&t, 0)).unwrap();
    transaction.update(&t, &key(&t, 1), &encode(&t, &row(1, 1, "short now"))).unwrap();
    engine.sync_log(transaction.commit().unwrap()).unwrap();
    // An unfinished one: what it took out of rows comes back.
    let loser = begin(&engine);
    loser.delete(&t, &key(&t, 2)).unwrap();
    loser.update(&t, &key(&t, 3), &encode(&t, &row(3, 3, &text(33, LONG)))).unwrap();
    engine.sync_log(stdx::ids::Lsn(log_end(&engine))).unwrap();
    disk.crash();
    std::mem::forget(loser);
    drop(engine);
    let disk = disk.restart_with_durable_state();
    let engine = open_large(&disk);
    let t = table(&engine, "t");
    engine.purge().unwrap();
    sound(&engine);
    let expected = [row(1, 1, "short now"), row(2, 2, &text(2, LONG)), row(3, 3, &text(3, LONG))];
    assert_eq!(all(&begin(&engine), &t), expected, "before the rollback");
    assert_eq!(engine.roll_back_unfinished(100).unwrap(), 0);
    sound(&engine);
    assert_eq!(all(&begin(&engine), &t), expected);
    // Another start does not take what was undone for garbage.
    let undone = begin(&engine);
    undone.delete(&t, &key(&t, 2)).unwrap();
    undone.rollback().unwrap();
    drop(engine);
    let engine = open_large(&disk.restart_after_kill());
    let t = table(&engine, "t");
    engine.purge().unwrap();
    sound(&engine);
    assert_eq!(all(&begin(&engine), &t), expected);
    assert_eq!(engine.roll_back_unfinished(100).unwrap(), 0);
    let transaction = begin(&engine);
    (1..4).for_each(|id| transaction.delete(&t, &key(&t, id)).unwrap());
    transaction.commit().unwrap();
    engine.purge().unwrap();
    sound(&engine);
}

/// Columns that do not fit an entry even when every value that can is outside.
#[test]
fn a_row_that_is_too_long_without_its_long_values_stands_outside_itself() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    create(&engine, "t");
    let mut wide = definition("wide");
    let column = |at: usize| {
        let mut column = wide.columns[if at.is_multiple_of(2) { 2 } else { 0 }].clone();
        (column.name, column.nullable, column.auto_increment) = (format!("c{at}"), false, false);
        column
    };
    let more: Vec<_> = (0..1000).map(column).collect();
    wide.columns.extend(more);
    let t = engine.create_table(wide, &KillFlag::default()).unwrap();
    let values = |id: i64, seed: u64| {
        let mut values = vec![Value::Int(id), Value::Int(id), Value::Bytes(text(seed, 40).into_bytes())];
        values.extend((0..1000).map(|at| match at % 2 {
            1 => Value::Int(at as i64 * seed as i64),
            _ => Value::Bytes(text(seed + at as u64, 100 + at * 3).into_bytes()),
        }));
        values
    };
    let encoded = |id: i64, seed: u64| t.layout().encode(&values(id, seed)).unwrap();
    let transaction = begin(&engine);
    transaction.insert(&t, &encoded(1, 1)).unwrap();
    transaction.insert_many(&t, &[&encoded(2, 2), &encoded(3, 3)]).unwrap();
    transaction.commit().unwrap();
    let transaction = begin(&engine);
    transaction.update(&t, &key(&t, 1), &encoded(1, 9)).unwrap();
    transaction.delete(&t, &key(&t, 2)).unwrap();
    transaction.commit().unwrap();
    let reader = begin(&engine);
    for (id, expected) in [(1, Some(encoded(1, 9))), (2, None), (3, Some(encoded(3, 3)))] {
        let mut found = None;
        let show = &mut |bytes: &[u8]| found = Some(bytes.to_vec());
        reader.get(&t, 0, &key(&t, id), ReadMode::Consistent, show).unwrap();
        assert_eq!(found, expected);
    }
    drop(reader);
    engine.purge().unwrap();
    sound(&engine);
}

/// An entry of a secondary index that has no room for its row.
#[test]
fn covering_scans_of_long_keys_ask_the_clustered_index() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    create(&engine, "t");
    let mut long = definition("long");
    let binary = ColumnType { length: Some(3000), ..long.columns[2].column_type.clone() };
    assert_eq!(binary.kind, TypeKind::VarBinary);
    long.columns[2].column_type = binary;
    long.indexes[2] = IndexDefinition {
        parts: vec![IndexPart { column: 2, prefix_length: None, descending: false }],
        ..index("k", IndexKind::Plain, 2)
    };
    let t = engine.create_table(TableDefinition { ..long }, &KillFlag::default()).unwrap();
    let length = |id: i64| if id % 3 == 0 { 2990 } else { 20 };
    let state = |id: i64, seed: i64| row(id, id, &text((id + seed) as u64, length(id)));
    let rows: Vec<Vec<u8>> = (0..60).map(|id| encode(&t, &state(id, 0))).collect();
    let slices: Vec<&[u8]> = rows.iter().map(|row| &row[..]).collect();
    let transaction = begin(&engine);
    transaction.insert_many(&t, &slices).unwrap();
    transaction.commit().unwrap();
    let expect = |transaction: &Transaction, seed: i64| {
        let expected: Vec<Row> = (0..60).map(|id| state(id, seed)).collect();
        assert_eq!(all(transaction, &t), expected);
        let options = ScanOptions { index: 2, covering: true, ..ScanOptions::default() };
        let mut scan = transaction.scan(&t, options).unwrap();
        let (mut batch, mut found) = (RowBatch::new(), Vec::new());
        let position = t.indexes()[2].row_columns().iter().position(|column| *column == 2).unwrap();
        while scan.next_batch(transaction, &mut batch, 7).unwrap() {
            for at in 0..batch.len() {
                let view = values::row::RowView::new(t.indexes()[2].row_layout(), batch.row(at)).unwrap();
                found.push(String::from_utf8(view.bytes(position).to_vec()).unwrap());
            }
        }
        found.sort();
        let mut texts: Vec<String> = expected.into_iter().map(|row| row.2).collect();
        texts.sort();
        assert_eq!(found, texts);
    };
    engine.purge().unwrap();
    expect(&begin(&engine), 0);
    let old = begin(&engine);
    old.take_snapshot().unwrap();
    let transaction = begin(&engine);
    for id in 0..60 {
        transaction.update(&t, &key(&t, id), &encode(&t, &state(id, 1))).unwrap();
    }
    transaction.commit().unwrap();
    expect(&old, 0);
    expect(&begin(&engine), 1);
    drop(old);
    engine.purge().unwrap();
    sound(&engine);
}

/// Rows without variable columns may be too long for their entries as well.
#[test]
fn a_row_of_fixed_columns_may_be_too_long() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    create(&engine, "t");
    let mut fixed = definition("fixed");
    fixed.columns.truncate(2);
    fixed.indexes.truncate(2);
    let number = fixed.columns[1].clone();
    fixed.columns.extend((0..900).map(|at| {
        let mut column = number.clone();
        column.name = format!("c{at}");
        column
    }));
    let t = engine.create_table(fixed, &KillFlag::default()).unwrap();
    let encoded = |id: i64| t.layout().encode(&vec![Value::Int(id); 902]).unwrap();
    let transaction = begin(&engine);
    (0..3).for_each(|id| drop(transaction.insert(&t, &encoded(id)).unwrap()));
    transaction.delete(&t, &key(&t, 1)).unwrap();
    transaction.commit().unwrap();
    let mut found = None;
    let show = &mut |bytes: &[u8]| found = Some(bytes.to_vec());
    begin(&engine).get(&t, 0, &key(&t, 2), ReadMode::Consistent, show).unwrap();
    assert_eq!(found, Some(encoded(2)));
    engine.purge().unwrap();
    sound(&engine);
}

/// Without a primary key rows come back in the order in which they went in, long ones among them.
#[test]
fn long_rows_of_a_batch_keep_their_places() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    create(&engine, "t");
    let mut heap = definition("heap");
    heap.indexes.remove(0);
    heap.columns[0].auto_increment = false;
    let t = engine.create_table(heap, &KillFlag::default()).unwrap();
    let rows: Vec<Row> =
        (0..9).map(|id| row(id, id, &text(id as u64, if id % 3 == 0 { 9000 } else { 9 }))).collect();
    let encoded: Vec<Vec<u8>> = rows.iter().map(|row| encode(&t, row)).collect();
    let transaction = begin(&engine);
    transaction.insert_many(&t, &encoded.iter().map(|row| &row[..]).collect::<Vec<_>>()).unwrap();
    transaction.commit().unwrap();
    assert_eq!(scan(&begin(&engine), &t, 0, ReadMode::Consistent).unwrap(), rows);
}

/// A leaf's rows refer to more than a batch should hold: they are shown in several steps.
#[test]
fn rows_that_are_shown_in_place_wait_for_few_long_values_at_once() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    let t = create(&engine, "t");
    insert(&engine, &t, &(0..20).map(|id| row(id, id, &text(id as u64, 200_000))).collect::<Vec<_>>());
    let transaction = begin(&engine);
    let mut scan = transaction.scan(&t, ScanOptions::default()).unwrap();
    let (mut steps, mut shown) = (0, Vec::new());
    loop {
        let before = shown.len();
        if !scan.visit_leaf(&transaction, &mut |bytes| shown.push(decode(&t, bytes).0)).unwrap() {
            break;
        }
        steps += 1;
        assert!(shown.len() - before <= 2, "{} rows of 200,000 bytes at once", shown.len() - before);
    }
    assert_eq!((shown, steps >= 10), ((0..20).collect::<Vec<i64>>(), true));
}

#[test]
fn a_value_may_be_written_before_its_row_and_read_in_parts() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, "short"), row(2, 2, &text(2, LONG))]);
    let value = text(3, LONG + 777);
    let transaction = begin(&engine);
    let put = |id: i64| {
        let mut writer = transaction.begin_value(&t).unwrap();
        value.as_bytes().chunks(12_345).for_each(|piece| writer.push(piece).unwrap());
        let reference = writer.finish().unwrap();
        assert_eq!(reference.length(), value.len() as u64);
        with_reference(&t, &row(id, id, ""), &reference.encode())
    };
    transaction.insert(&t, &put(3)).unwrap();
    assert_eq!(transaction.update(&t, &key(&t, 2), &put(2)), Ok(UpdateOutcome::Changed));
    // A row that does not go in after all: the value goes with the rollback.
    let mark = transaction.mark();
    assert!(matches!(transaction.insert(&t, &put(1)), Err(EngineError::DuplicateKey(_))));
    transaction.rollback_to(mark).unwrap();
    engine.sync_log(transaction.commit().unwrap()).unwrap();
    engine.purge().unwrap();
    sound(&engine);
    drop(engine);

    let engine = open_large(&disk.restart_after_kill());
    let t = table(&engine, "t");
    let reader = begin(&engine);
    assert_eq!(all(&reader, &t), [row(1, 1, "short"), row(2, 2, &value), row(3, 3, &value)]);
    let mut reference = None;
    let nothing = ColumnSet::none();
    let found = &mut |bytes: &[u8]| {
        let view = values::row::RowView::new(t.layout(), bytes).unwrap();
        let Piece::Outside(outside) = view.piece(2) else { panic!("the value is in the row") };
        reference = LobReference::decode(outside);
    };
    reader.get_columns(&t, 0, &key(&t, 3), ReadMode::Consistent, &nothing, found).unwrap();
    let reference = reference.unwrap();
    let end = value.len() as u64;
    for range in [0..1, 0..5000, 4999..5001, 5000..15_000, 777_777..end, end - 1..end + 9, end..end + 1] {
        let mut read = Vec::new();
        reader.read_value(&t, &reference, range.clone(), &mut read).unwrap();
        let expected = &value.as_bytes()[range.start as usize..range.end.min(end) as usize];
        assert!(read == expected, "{range:?}: {} bytes", read.len());
    }
}

/// The stored form of a row whose text stands outside already.
fn with_reference(t: &Table, row: &Row, reference: &[u8; 24]) -> Vec<u8> {
    let short = encode(t, row);
    let view = values::row::RowView::new(t.layout(), &short).unwrap();
    let mut bytes = Vec::new();
    t.layout().rewrite(&view, &[Piece::Outside(reference)], &mut bytes).unwrap();
    bytes
}

/// Asks for an end the third time.
#[derive(Default)]
struct Impatient(std::cell::Cell<u32>);

impl env::blocking::Hook for Impatient {
    fn enter(&self) {}
    fn exit(&self) {}
    fn is_interrupted(&self) -> bool {
        self.0.set(self.0.get() + 1);
        self.0.get() > 2
    }
}

#[test]
fn kill_ends_the_reading_of_one_value() {
    let disk = SimulatedDisk::new(1);
    let engine = open_large(&disk);
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 10, &text(1, LONG))]);
    let transaction = begin(&engine);
    env::blocking::set_hook(std::rc::Rc::new(Impatient::default()));
    let outcome = transaction.get(&t, 0, &key(&t, 1), ReadMode::Consistent, &mut |_| {});
    env::blocking::clear_hook();
    assert_eq!(outcome, Err(EngineError::Killed));
    assert_eq!(read(&transaction, &t, 1), Some(row(1, 10, &text(1, LONG))));
}

/// Nobody's values are not found where they only are on their way.
#[test]
fn a_check_beside_changes_finds_nothing() {
    let disk = SimulatedDisk::new(1);
    // The check waits for threads that sleep between two steps of a change, so that time must pass.
    let clock = Arc::new(env::RealClock);
    let environment = Environment { clock, ..Environment::simulated(disk.clone(), 1) };
    let engine =
        Engine::open(environment, EngineOptions { buffer_pool_bytes: 32 << 20, ..options() }).unwrap();
    let t = create(&engine, "t");
    insert(&engine, &t, &(1..20).map(|id| row(id, id, &text(id as u64, 9000))).collect::<Vec<_>>());
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (engine, t, done) = (&engine, &t, &done);
            scope.spawn(move || {
                for round in 0.. {
                    if done.load(std::sync::atomic::Ordering::Relaxed) {
                        break;
                    }
                    let transaction = begin(engine);
                    let id = 1 + 2 * (round % 9) + thread;
                    let other = row(id, id, &text(round as u64, 7000 + round as usize % 5000));
                    transaction.update(t, &key(t, id), &encode(t, &other)).unwrap();
                    if round % 3 == 0 {
                        transaction.delete(t, &key(t, id)).unwrap();
                        transaction.rollback().unwrap();
                    } else {
                        transaction.commit().unwrap();
                    }
                    if round % 10 == 0 {
                        engine.purge().unwrap();
                    }
                }
            });
        }
        let faults = (0..30).find_map(|_| {
            let faults = engine.check_rows(&t, false, &KillFlag::default()).unwrap();
            (!faults.is_empty()).then_some(faults)
        });
        // Before any assertion: the writers would go on for ever.
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(faults, None);
    });
    engine.purge().unwrap();
    sound(&engine);
}
