//! Gaps that locking reads keep closed: no insert lands where one has looked, however it is made and wherever pages end.

use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

const EXCLUSIVE: ReadMode = ReadMode::Exclusive(WaitPolicy::Wait);
const SHARED: ReadMode = ReadMode::Shared(WaitPolicy::Wait);

/// A transaction that does not wait for locks.
fn impatient(engine: &Engine, isolation: Isolation) -> Transaction {
    engine.begin(TransactionOptions {
        isolation,
        lock_wait_timeout: Some(Duration::ZERO),
        sees_at_least: stdx::ids::Lsn(u64::MAX),
        ..TransactionOptions::default()
    })
}

/// A way to insert a row.
type Way<'a> = &'a dyn Fn(&Transaction) -> EngineResult<()>;

/// What inserting a row says, by each of the ways in; nothing of it stays.
fn tries(engine: &Engine, t: &Arc<Table>, new: &Row) -> [EngineResult<()>; 2] {
    let encoded = encode(t, new);
    let ways: [Way<'_>; 2] = [&|transaction| transaction.insert(t, &encoded).map(|_| ()), &|transaction| {
        transaction.insert_many(t, &[&encoded])
    }];
    ways.map(|insert| {
        let transaction = impatient(engine, Isolation::ReadCommitted);
        let answer = insert(&transaction);
        transaction.rollback().unwrap();
        answer
    })
}

fn key_of(t: &Table, index: usize, value: i64) -> Vec<u8> {
    let mut key = Vec::new();
    let value = if index == 2 { text_of(value) } else { values::Value::Int(value) };
    t.indexes()[index].key_layout().encode(&[value], &mut key).unwrap();
    key
}

fn text_of(value: i64) -> values::Value {
    values::Value::Bytes(text(value).into_bytes())
}

/// Long enough that a leaf has few rows.
fn text(value: i64) -> String {
    format!("{value:06}{}", "x".repeat(300))
}

fn new_row(id: i64) -> Row {
    row(id, id, &text(id))
}

fn filled(engine: &Engine, rows: i64) -> Arc<Table> {
    let t = create(engine, "t");
    insert(engine, &t, &(1..=rows).map(|number| new_row(number * 10)).collect::<Vec<_>>());
    t
}

/// The ids that a locking scan of `from..=to` finds; at most `limit`.
fn locked(
    transaction: &Transaction,
    t: &Arc<Table>,
    index: usize,
    (from, to): (i64, i64),
    (mode, direction): (ReadMode, Direction),
    limit: usize,
) -> Vec<i64> {
    let range = KeyRange {
        lower: Bound::Included(key_of(t, index, from)),
        upper: KeyRange::after_prefix(&key_of(t, index, to)),
    };
    let options = ScanOptions { index, range, mode, direction, ..ScanOptions::default() };
    let mut scan = transaction.scan(t, options).unwrap();
    let (mut batch, mut ids) = (RowBatch::new(), Vec::new());
    while ids.len() < limit && scan.next_batch(transaction, &mut batch, (limit - ids.len()).min(7)).unwrap() {
        ids.extend((0..batch.len()).map(|at| decode(t, batch.row(at)).0));
    }
    ids
}

#[test]
fn nothing_lands_where_a_locking_scan_has_looked() {
    let engine = open(&SimulatedDisk::new(1));
    let t = filled(&engine, 400);
    let mut random = 11u64;
    let mut below = |limit: i64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((random >> 33) % limit as u64) as i64
    };
    for _ in 0..300 {
        let index = below(3) as usize;
        let from = below(4100);
        let to = from + below(600);
        let mode = if below(2) == 0 { EXCLUSIVE } else { SHARED };
        let direction = if below(2) == 0 { Direction::Forward } else { Direction::Backward };
        let limit = if below(3) == 0 { 1 + below(30) as usize } else { usize::MAX };
        let reader = impatient(&engine, Isolation::RepeatableRead);
        let found = locked(&reader, &t, index, (from, to), (mode, direction), limit);
        let (low, high) = match (found.len() == limit, direction) {
            (false, _) => (from, to),
            (true, Direction::Forward) => (from, *found.last().unwrap()),
            (true, Direction::Backward) => (*found.last().unwrap(), to),
        };
        for _ in 0..6 {
            let id = low + below(high - low + 1);
            for answer in tries(&engine, &t, &new_row(id)) {
                match id % 10 == 0 && (10..=4000).contains(&id) {
                    // The row's lock keeps it; at the end of the scan it is a duplicate.
                    true => assert!(answer.is_err(), "{id} in {low}..={high} of index {index}"),
                    false => assert_eq!(answer, Err(EngineError::LockWaitTimeout), "{id} in {low}..={high}"),
                }
            }
        }
        // Two rows beyond what was found nothing is closed.
        for id in [low - 25, high + 25].into_iter().filter(|id| id % 10 != 0 && (5..3990).contains(id)) {
            assert_eq!(tries(&engine, &t, &new_row(id)), [Ok(()), Ok(())], "{id} beside {low}..={high}");
        }
        assert_eq!(locked(&reader, &t, index, (from, to), (mode, direction), limit), found);
        reader.commit().unwrap();
        assert_eq!(engine.locks().len(), 0);
    }
}

#[test]
fn a_key_that_is_not_there_is_kept_free() {
    let engine = open(&SimulatedDisk::new(1));
    let t = filled(&engine, 3);
    // Once more where a purged or only marked row has been.
    for id in [15, 20, 35, 5] {
        if id == 20 {
            let deleter = begin(&engine);
            deleter.delete(&t, &key(&t, 20)).unwrap();
            deleter.commit().unwrap();
        }
        let reader = impatient(&engine, Isolation::RepeatableRead);
        assert!(!reader.get(&t, 0, &key(&t, id), EXCLUSIVE, &mut |_| ()).unwrap());
        assert!(tries(&engine, &t, &new_row(id)).iter().all(Result::is_err), "{id}");
        // Its own insert is not kept out, nor is anybody's once it has ended.
        reader.insert(&t, &encode(&t, &new_row(id))).unwrap();
        reader.rollback().unwrap();
        assert_eq!(tries(&engine, &t, &new_row(id)), [Ok(()), Ok(())]);
        let reader = impatient(&engine, Isolation::ReadCommitted);
        assert!(!reader.get(&t, 0, &key(&t, id), EXCLUSIVE, &mut |_| ()).unwrap());
        assert_eq!(tries(&engine, &t, &new_row(id)), [Ok(()), Ok(())], "READ COMMITTED closes nothing");
        reader.commit().unwrap();
    }
}

#[test]
fn a_whole_unique_key_closes_nothing_when_it_is_found() {
    let engine = open(&SimulatedDisk::new(1));
    let t = filled(&engine, 3);
    for index in [0, 1] {
        let reader = impatient(&engine, Isolation::Serializable);
        assert!(reader.get(&t, index, &key_of(&t, index, 20), EXCLUSIVE, &mut |_| ()).unwrap());
        for id in [15, 25] {
            assert_eq!(tries(&engine, &t, &new_row(id)), [Ok(()), Ok(())], "{id} by index {index}");
        }
        reader.commit().unwrap();
    }
}

#[test]
fn an_update_into_a_closed_gap_waits() {
    let engine = open(&SimulatedDisk::new(1));
    let t = filled(&engine, 3);
    let reader = impatient(&engine, Isolation::RepeatableRead);
    assert_eq!(locked(&reader, &t, 1, (12, 18), (SHARED, Direction::Forward), usize::MAX), []);
    let writer = impatient(&engine, Isolation::RepeatableRead);
    let moved = encode(&t, &row(30, 15, &text(30)));
    assert_eq!(writer.update(&t, &key(&t, 30), &moved), Err(EngineError::LockWaitTimeout));
    reader.commit().unwrap();
    writer.update(&t, &key(&t, 30), &moved).unwrap();
    writer.commit().unwrap();
}

#[test]
fn a_mark_at_the_end_of_a_range_is_no_way_in() {
    let engine = open(&SimulatedDisk::new(1));
    let t = filled(&engine, 4);
    let deleter = begin(&engine);
    [20, 30].iter().for_each(|id| deleter.delete(&t, &key(&t, *id)).unwrap());
    deleter.commit().unwrap();
    for index in 0..3 {
        for direction in [Direction::Forward, Direction::Backward] {
            for range in [(20, 30), (20, 20), (20, 25), (25, 30)] {
                let reader = impatient(&engine, Isolation::RepeatableRead);
                assert_eq!(locked(&reader, &t, index, range, (SHARED, direction), usize::MAX), []);
                for id in [20, 30].into_iter().filter(|id| (range.0..=range.1).contains(id)) {
                    let refused = [Err(EngineError::LockWaitTimeout), Err(EngineError::LockWaitTimeout)];
                    assert_eq!(
                        tries(&engine, &t, &new_row(id)),
                        refused,
                        "{id} of {range:?} by index {index}"
                    );
                }
                reader.commit().unwrap();
            }
        }
    }
}

#[test]
fn a_unique_key_whose_entry_turns_out_to_be_no_row_is_kept_free() {
    let engine = open(&SimulatedDisk::new(1));
    let t = filled(&engine, 3);
    let deleter = begin(&engine);
    deleter.delete(&t, &key(&t, 20)).unwrap();
    let mut reader = begin(&engine);
    let found = std::thread::scope(|scope| {
        let look = scope.spawn({
            let (reader, t) = (&mut reader, &t);
            move || locked(reader, t, 1, (20, 20), (SHARED, Direction::Forward), usize::MAX)
        });
        // Its entry may be a row as long as the deletion is not committed.
        while engine.locks().iter().all(|lock| lock.granted) {
            std::thread::yield_now();
        }
        deleter.commit().unwrap();
        look.join().unwrap()
    });
    assert_eq!(found, []);
    let elsewhere = row(25, 20, &text(25));
    let refused = [Err(EngineError::LockWaitTimeout), Err(EngineError::LockWaitTimeout)];
    assert_eq!(tries(&engine, &t, &elsewhere), refused);
    reader.commit().unwrap();
    assert_eq!(tries(&engine, &t, &elsewhere), [Ok(()), Ok(())]);
}
