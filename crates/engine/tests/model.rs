//! Random transactions against a map, several interleaved, with purge, rollback and savepoints in between.
// The branches do more than an entry could.
#![allow(clippy::map_entry)]

use crate::common::model::*;
use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;

/// One writer, and readers with snapshots of different ages that must see exactly their past.
#[test]
fn one_writer_many_snapshots() {
    for seed in 1..12u64 {
        let mut random = Random(seed * 7919);
        let engine = open(&SimulatedDisk::new(seed));
        let t = create(&engine, "t");
        let mut committed = Rows::new();
        let mut readers: Vec<(Transaction, Vec<Row>)> = Vec::new();
        for _ in 0..60 {
            let transaction = begin(&engine);
            let mut rows = committed.clone();
            for _ in 0..random.below(20) {
                let (mark, saved) = (transaction.mark(), rows.clone());
                for _ in 0..random.below(4) {
                    step(&transaction, &t, &mut rows, &mut random, 60).unwrap();
                }
                if random.below(4) == 0 {
                    transaction.rollback_to(mark).unwrap();
                    rows = saved;
                }
            }
            assert_eq!(
                all(&transaction, &t),
                rows.values().cloned().collect::<Vec<_>>(),
                "own writes, seed {seed}"
            );
            assert_eq!(engine.check_table(&t).unwrap(), [""; 0], "undo addresses, seed {seed}");
            if random.below(3) == 0 {
                transaction.rollback().unwrap();
            } else {
                transaction.commit().unwrap();
                committed = rows;
            }
            if random.below(3) == 0 {
                engine.purge().unwrap();
            }
            for (reader, expected) in &readers {
                assert_eq!(all(reader, &t), *expected, "snapshot, seed {seed}");
            }
            let reader = begin(&engine);
            let seen = all(&reader, &t);
            assert_eq!(seen, committed.values().cloned().collect::<Vec<_>>(), "committed, seed {seed}");
            readers.push((reader, seen));
            if readers.len() > 4 {
                readers.swap_remove(random.below(5) as usize);
            }
        }
        readers.clear();
        engine.purge().unwrap();
        let status = engine.status();
        assert_eq!((status.old_versions, status.history_list_length, status.snapshots), (0, 0, 0));
        assert_eq!(status.watermark, status.next_transaction);
        sound(&engine);
    }
}

/// Several transactions write rows of their own ranges in turn; each sees its own and the committed rows.
#[test]
fn interleaved_writers() {
    const RANGE: i64 = 100;
    // Above it a unique key that comes back closes gaps that reach into the neighbour's range.
    let isolation = Isolation::ReadCommitted;
    let options =
        || TransactionOptions { isolation, sees_at_least: stdx::ids::Lsn(u64::MAX), ..Default::default() };
    for seed in 1..8u64 {
        let mut random = Random(seed * 104729);
        let engine = open(&SimulatedDisk::new(seed));
        let t = create(&engine, "t");
        let mut committed: [Rows; 4] = Default::default();
        let mut open_ones: Vec<Option<(Transaction, Rows)>> = (0..4).map(|_| None).collect();
        for _ in 0..800 {
            let who = random.below(4) as usize;
            let (transaction, mut rows) =
                open_ones[who].take().unwrap_or_else(|| (engine.begin(options()), committed[who].clone()));
            match random.below(12) {
                0 => transaction.rollback().unwrap(),
                1 => {
                    transaction.commit().unwrap();
                    committed[who] = rows;
                }
                2 => {
                    assert_eq!(engine.check_table(&t).unwrap(), [""; 0], "undo addresses, seed {seed}");
                    engine.purge().unwrap();
                    open_ones[who] = Some((transaction, rows));
                }
                _ => {
                    // Ids and unique values of each writer lie in a range of its own, so that nobody waits.
                    let base = who as i64 * RANGE;
                    let id = base + random.below(20) as i64;
                    let row =
                        (id, Some(base + random.below(20) as i64), "s".repeat(random.below(30) as usize));
                    let taken = rows.values().any(|other| other.1 == row.1 && other.0 != id);
                    let result = if rows.contains_key(&id) {
                        if random.below(3) == 0 {
                            rows.remove(&id);
                            transaction.delete(&t, &key(&t, id))
                        } else {
                            let result = transaction.update(&t, &key(&t, id), &encode(&t, &row)).map(|_| ());
                            if !taken {
                                rows.insert(id, row);
                            }
                            result
                        }
                    } else {
                        let result = transaction.insert(&t, &encode(&t, &row)).map(|_| ());
                        if !taken {
                            rows.insert(id, row);
                        }
                        result
                    };
                    if !matches!(&result, Err(EngineError::DuplicateKey(_))) {
                        result.unwrap();
                    }
                    open_ones[who] = Some((transaction, rows));
                }
            }
        }
        open_ones.clear();
        let expected: Vec<Row> = committed.iter().flat_map(|rows| rows.values().cloned()).collect();
        assert_eq!(all(&begin(&engine), &t), expected, "seed {seed}");
        engine.purge().unwrap();
        sound(&engine);
    }
}
