//! Codec, kept rows and key sets against what the standard library holds in memory.

use crate::batch::RowBatch;
use crate::row_codec::{Decoder, encode};
use crate::{Held, KeySet, RowCursor, RowStore, Sorter, Workspace};
use engine::{Engine, EngineOptions, KillFlag};
use env::Environment;
use env::simulated::SimulatedDisk;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use values::temporal::{Date, DateTime, Time};
use values::{Decimal, RowRef, Value};

fn workspace(bytes_max: u64) -> (Rc<Workspace>, KillFlag) {
    let options =
        EngineOptions { buffer_pool_bytes: 4 << 20, background_threads: false, ..EngineOptions::default() };
    let engine = Engine::open(Environment::simulated(SimulatedDisk::new(1), 1), options).unwrap();
    let kill = KillFlag::default();
    let server = Arc::new(crate::ServerMemory::new(u64::MAX));
    (Workspace::new(engine, kill.clone(), bytes_max, server), kill)
}

fn row(number: i64) -> Vec<Value> {
    let date = Date::new((number % 9999) as u16, (number % 13) as u8, (number % 32) as u8);
    let moment = DateTime { date, hour: 23, minute: 59, second: (number % 60) as u8, microsecond: 999_999 };
    let time =
        Time { negative: number % 2 == 1, hours: 838, minutes: 59, seconds: 58, microseconds: number as u32 };
    let decimal = ["0", "-1.50", "123456789012345678901234567890123456789012345678901234567.12345678"];
    vec![
        if number % 3 == 0 { Value::Null } else { Value::Int(-number) },
        Value::UInt(u64::MAX - number as u64),
        Value::Decimal(Decimal::parse(decimal[number as usize % 3].as_bytes()).number),
        Value::Float(number as f32 / 3.0),
        Value::Double(-0.0),
        Value::Bytes(vec![number as u8; (number % 50) as usize * if number % 97 == 0 { 1000 } else { 1 }]),
        Value::Date(date),
        Value::Time(time),
        Value::DateTime(moment),
    ]
}

#[test]
fn rows_survive_the_codec() {
    let mut bytes = Vec::new();
    (0..500).for_each(|number| encode(RowRef::Values(&row(number)), &mut bytes));
    let mut decoder = Decoder::new(&bytes);
    for number in 0..500 {
        let found = decoder.values(9).unwrap();
        assert_eq!(found, row(number));
        let scale = |row: &[Value]| match &row[2] {
            Value::Decimal(number) => number.scale(),
            other => panic!("{other:?}"),
        };
        assert_eq!(scale(&found), scale(&row(number)));
    }
    assert_eq!(decoder.remaining(), 0);
    // Bytes that are no rows are an error, whatever they are.
    for length in 0..200 {
        assert!(Decoder::new(&bytes[..length]).values(30).is_err());
    }
    assert!(Decoder::new(&[99]).values(1).is_err());
}

#[test]
fn a_store_is_read_while_it_grows() {
    for share_bytes in [0, 40_000, 1 << 30] {
        let (workspace, _) = workspace(1 << 30);
        let mut store = RowStore::new(workspace.clone(), share_bytes);
        let mut cursor = RowCursor::new();
        let mut batch = RowBatch::new();
        let mut read = 0;
        for number in 0..5000 {
            store.push(RowRef::Values(&row(number))).unwrap();
            // Some rows behind, and sometimes to the very end.
            let end = if number % 700 == 0 { u64::MAX } else { store.len() - store.len() % 64 };
            while number % 10 == 0 && cursor.next(&store, end, &mut batch).unwrap() {
                for found in batch.iter() {
                    assert_eq!(found.to_values(), row(read));
                    read += 1;
                }
            }
        }
        let mut again = RowCursor::new();
        let mut rows = 0;
        while again.next(&store, u64::MAX, &mut batch).unwrap() {
            batch.iter().for_each(|found| {
                assert_eq!(found.to_values(), row(rows));
                rows += 1;
            });
        }
        assert_eq!(rows, 5000);
        assert_eq!(workspace.counts().files, u64::from(share_bytes < 1 << 30));
        drop(store);
        assert_eq!(workspace.bytes_left(), 1 << 30);
    }
}

#[test]
fn a_key_set_on_disk_holds_what_a_set_in_memory_holds() {
    let (workspace, kill) = workspace(1 << 30);
    let mut expected: HashSet<Vec<u8>> = HashSet::new();
    let mut set = KeySet::new(workspace.clone(), 0);
    let mut state: u64 = 9;
    for _ in 0..30_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = (state >> 33) % 30_000;
        let length = if number < 30 { 9000 } else { number % 40 };
        let mut key = number.to_le_bytes().to_vec();
        key.extend(std::iter::repeat_n(7, length as usize));
        assert_eq!(set.contains(&key).unwrap(), expected.contains(&key));
        assert_eq!(set.insert(&key).unwrap(), expected.insert(key.clone()));
    }
    assert!(!set.contains(&[]).unwrap());
    assert!(set.insert(&[]).unwrap());
    assert!(set.contains(&[]).unwrap());
    assert!(workspace.counts().merge_passes >= 2, "{:?}", workspace.counts());
    assert_eq!(workspace.counts().files, 1);
    kill.kill();
    let killed = (0..100_000_u32).find_map(|number| set.insert(&number.to_be_bytes()).err());
    assert_eq!(killed.unwrap().number(), 1317);
    drop(set);
    assert_eq!(workspace.bytes_left(), 1 << 30);
}

/// The least that a buffer takes, and the rows of a run.
const BUFFER_BYTES_MIN: u64 = 4 << 10;
const RUN_BYTES_MIN: u64 = 16 << 10;

/// So many rows of that length, out of order; the most that the statement has held meanwhile.
fn fill(sorter: &mut Sorter, rows: u32, bytes: usize, workspace: &Workspace) -> u64 {
    let row = [Value::Bytes(vec![7; bytes])];
    let mut held = 0;
    for number in 0..rows {
        sorter.push(&number.wrapping_mul(2_654_435_761).to_be_bytes(), RowRef::Values(&row)).unwrap();
        held = held.max(workspace.held_bytes());
    }
    held
}

/// Reads all rows, which are so many; the most that the statement has held meanwhile.
fn read_all(sorter: Sorter, rows: u32, workspace: &Workspace) -> u64 {
    let mut sorted = sorter.finish().unwrap();
    let (mut held, mut found, mut last) = (0, 0, None);
    let mut batch = RowBatch::new();
    while let Some(key) = sorted.key().map(<[u8]>::to_vec) {
        assert!(last.as_ref().is_none_or(|last| *last < key));
        last = Some(key);
        held = held.max(workspace.held_bytes());
        sorted.skip().unwrap();
        found += 1;
    }
    assert_eq!(found, rows);
    // Who was read to its end holds nothing.
    let before = workspace.held_bytes();
    assert!(!sorted.next(1, &mut batch).unwrap());
    drop(sorted);
    assert_eq!(workspace.held_bytes(), before);
    held
}

/// A statement that may hold nothing more goes on on disk with the least buffers, which are counted; it does not fail.
#[test]
fn a_sorter_goes_on_where_nothing_is_left() {
    let (workspace, _) = workspace(1 << 20);
    let mut others = Held::new(workspace.clone());
    others.grow(1 << 20).unwrap();
    let mut sorter = Sorter::new(workspace.clone(), 1 << 28, None);
    let beside = fill(&mut sorter, 3000, 100, &workspace) - (1 << 20);
    assert!(beside > 0 && beside <= RUN_BYTES_MIN + BUFFER_BYTES_MIN, "{beside}");
    let beside = read_all(sorter, 3000, &workspace) - (1 << 20);
    assert!(beside > 0 && beside <= 8 * BUFFER_BYTES_MIN, "{beside}");
    let counts = workspace.counts();
    // Some 400 kB: runs of 16 KiB, eight of which are merged at once.
    assert!((2..30).contains(&counts.merge_passes), "{counts:?}");
    drop(others);
    assert_eq!(workspace.held_bytes(), 0);
}

/// The operators of a join of many tables wait with the rows of one side until those below have theirs.
#[test]
fn sorters_that_rest_hold_nothing() {
    const BYTES_MAX: u64 = 2 << 20;
    let (workspace, _) = workspace(BYTES_MAX);
    let mut resting = Vec::new();
    for _ in 0..60 {
        let mut sorter = Sorter::new(workspace.clone(), 1 << 28, None);
        assert!(fill(&mut sorter, 300, 100, &workspace) <= BYTES_MAX);
        sorter.rest().unwrap();
        assert_eq!(workspace.held_bytes(), 0);
        resting.push(sorter);
    }
    for sorter in resting {
        assert!(read_all(sorter, 300, &workspace) <= BYTES_MAX);
    }
    assert_eq!(workspace.held_bytes(), 0);
}

/// Buffers are as long as the longest row, and fewer then.
#[test]
fn long_rows_are_merged_few_at_a_time() {
    const ROW_BYTES: usize = 100_000;
    let (workspace, _) = workspace(1 << 20);
    let mut sorter = Sorter::new(workspace.clone(), 1 << 28, None);
    fill(&mut sorter, 50, ROW_BYTES, &workspace);
    let held = read_all(sorter, 50, &workspace);
    assert!(held > 2 * ROW_BYTES as u64 && held <= 1 << 20, "{held}");
    assert_eq!(workspace.held_bytes(), 0);
}

/// One long row makes long one buffer only, and a limit that two rows do not fit in is an error.
#[test]
fn one_long_row_is_in_one_buffer() {
    const LONG: usize = 4 << 20;
    let (workspace, _) = workspace(8 << 20);
    let mut sorter = Sorter::new(workspace.clone(), 1 << 18, None);
    fill(&mut sorter, 5000, 500, &workspace);
    sorter.push(&[9], RowRef::Values(&[Value::Bytes(vec![1; LONG])])).unwrap();
    let held = read_all(sorter, 5001, &workspace);
    assert!(held > LONG as u64 && held <= 7 << 20, "{held}");
    let mut sorter = Sorter::new(workspace.clone(), 1 << 18, None);
    for key in [1, 2] {
        sorter.push(&[key], RowRef::Values(&[Value::Bytes(vec![1; LONG + (1 << 10)])])).unwrap();
    }
    assert_eq!(sorter.finish().err().unwrap().number(), 1114);
    assert_eq!(workspace.held_bytes(), 0);
}

/// Of long keys with one beginning only that is kept, and they are found by it; those of a tier are merged as many as there is room for.
#[test]
fn long_keys_are_not_kept_in_memory() {
    const BYTES_MAX: u64 = 1 << 20;
    const KEY_BYTES: usize = 60_000;
    let (workspace, _) = workspace(BYTES_MAX);
    let mut set = KeySet::new(workspace.clone(), 1 << 28);
    let key = |number: u32| {
        let mut key = vec![7; KEY_BYTES];
        key[KEY_BYTES / 2..][..4].copy_from_slice(&number.wrapping_mul(2_654_435_761).to_be_bytes());
        key
    };
    for number in 0..200 {
        assert!(set.insert(&key(number)).unwrap());
        assert!(workspace.held_bytes() <= BYTES_MAX, "{number}: {}", workspace.held_bytes());
    }
    assert!((0..200).all(|number| set.contains(&key(number)).unwrap()));
    assert!((200..400).all(|number| !set.contains(&key(number)).unwrap()));
    assert!((0..200).all(|number| !set.insert(&key(number)).unwrap()));
    assert!(workspace.counts().merge_passes > 1);
    drop(set);
    assert_eq!(workspace.held_bytes(), 0);
}
