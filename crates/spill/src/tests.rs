//! Codec, kept rows and key sets against what the standard library holds in memory.

use crate::batch::RowBatch;
use crate::row_codec::{Decoder, encode};
use crate::{KeySet, RowCursor, RowStore, Workspace};
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
