//! Few rows that change without end, under snapshots of every age, beside rollbacks, purge and a spill file: each snapshot sees
//! one moment, and the same one as long as it lives. What a moment looks like follows from its number alone.

use crate::common::model::*;
use crate::common::*;
use engine::*;
use env::Environment;
use env::simulated::SimulatedDisk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const ROWS: i64 = 8;

fn open_with(disk: &SimulatedDisk, version_memory_bytes: u64) -> Engine {
    let options = EngineOptions {
        version_memory_bytes,
        buffer_pool_bytes: 16 << 20,
        redo_log_bytes: 32 << 20,
        flush_level: FlushLevel::EverySecond,
        ..options()
    };
    Engine::open(Environment::simulated(disk.clone(), 1), options).unwrap()
}

/// A row in a round; None if it is deleted then. The first is always there.
fn state(id: i64, round: u64) -> Option<Row> {
    let is_there = id == 0 || !(round + id as u64).is_multiple_of(4);
    // The indexed column moves every third round.
    is_there.then(|| {
        (id, Some(id * 1_000_000 + round as i64 / 3), format!("{round:08}{}", "x".repeat(id as usize * 9)))
    })
}

fn moment(round: u64) -> Vec<Row> {
    (0..ROWS).filter_map(|id| state(id, round)).collect()
}

fn round_of(rows: &[Row]) -> u64 {
    rows[0].2[..8].parse().unwrap()
}

/// Takes one row from its state in a round to that in another.
fn step(transaction: &Transaction, t: &Arc<Table>, id: i64, from: u64, to: u64) {
    let bytes = state(id, to).map(|row| encode(t, &row));
    match (state(id, from), bytes) {
        (Some(_), Some(bytes)) => _ = transaction.update(t, &key(t, id), &bytes).unwrap(),
        (Some(_), None) => transaction.delete(t, &key(t, id)).unwrap(),
        (None, Some(bytes)) => _ = transaction.insert(t, &bytes).unwrap(),
        (None, None) => {}
    }
}

/// Takes all rows on by a round; what is never to be seen comes and goes on the way.
fn change(engine: &Engine, t: &Arc<Table>, round: u64) {
    let transaction = begin(engine);
    for id in 0..ROWS {
        if (round + id as u64).is_multiple_of(5) {
            let mark = transaction.mark();
            step(&transaction, t, id, round - 1, 99_999_997 + round % 2);
            step(&transaction, t, id, 99_999_997 + round % 2, 99_999_996);
            transaction.rollback_to(mark).unwrap();
        }
        if (round + id as u64).is_multiple_of(7) && state(id, round - 1).is_some() {
            // A mark and a row in its place, by one writer.
            transaction.delete(t, &key(t, id)).unwrap();
            transaction.insert(t, &encode(t, &state(id, round - 1).unwrap())).unwrap();
        }
        step(&transaction, t, id, round - 1, round);
    }
    if round.is_multiple_of(6) {
        transaction.rollback().unwrap();
        let again = begin(engine);
        (0..ROWS).for_each(|id| step(&again, t, id, round - 1, round));
        again.commit().unwrap();
    } else {
        transaction.commit().unwrap();
    }
}

fn check(reader: &Transaction, t: &Arc<Table>, expected: Option<u64>) -> u64 {
    let rows = scan(reader, t, 0, ReadMode::Consistent).unwrap();
    let round = round_of(&rows);
    assert_eq!(rows, moment(round));
    assert!(expected.is_none_or(|expected| expected == round), "{expected:?} {round}");
    let mut by_index = scan(reader, t, 1, ReadMode::Consistent).unwrap();
    by_index.sort();
    assert_eq!(by_index, moment(round));
    assert_eq!(reader.count(t, 0, &KeyRange::all()).unwrap(), rows.len() as u64);
    round
}

/// Readers, each with snapshots that it keeps for a while, a writer, purge.
#[test]
fn snapshots_of_every_age_see_their_moment() {
    for (memory, rounds) in [(256 << 20, 500), (64 << 10, 300)] {
        let disk = SimulatedDisk::new(1);
        let engine = open_with(&disk, memory);
        let t = create(&engine, "t");
        insert(&engine, &t, &moment(1));
        let ending = AtomicBool::new(false);
        let checks = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for seed in 1..=3u64 {
                let (engine, t, ending, checks) = (&engine, &t, &ending, &checks);
                scope.spawn(move || {
                    let mut random = Random(seed * 7919);
                    let mut kept: Vec<(Transaction, u64)> = Vec::new();
                    while !ending.load(Ordering::Relaxed) {
                        let reader = begin(engine);
                        let round = check(&reader, t, None);
                        kept.push((reader, round));
                        let at = random.below(kept.len() as u64) as usize;
                        check(&kept[at].0, t, Some(kept[at].1));
                        if kept.len() > 6 {
                            // Some live long.
                            kept.swap_remove(2 + random.below(5) as usize);
                        }
                        checks.fetch_add(1, Ordering::Relaxed);
                    }
                    kept.iter().for_each(|(reader, round)| _ = check(reader, t, Some(*round)));
                });
            }
            scope.spawn(|| {
                while !ending.load(Ordering::Relaxed) {
                    engine.purge().unwrap();
                    std::thread::yield_now();
                }
            });
            (2..=rounds).for_each(|round| change(&engine, &t, round));
            ending.store(true, Ordering::Relaxed);
        });
        assert!(checks.load(Ordering::Relaxed) > 20);
        check(&begin(&engine), &t, Some(rounds));
        assert!(engine.check().unwrap().is_empty());
        engine.purge().unwrap();
        let status = engine.status();
        assert_eq!((status.old_versions, status.old_version_bytes, status.history_list_length), (0, 0, 0));
    }
}

/// An old snapshot finds its row below a great many newer ones in few steps.
#[test]
fn a_hot_row_is_read_through_a_long_history() {
    let disk = SimulatedDisk::new(1);
    // Each step reads the temporary file, where nearly all of it lies.
    let engine = open_with(&disk, 64 << 10);
    let t = create(&engine, "t");
    insert(&engine, &t, &moment(1));
    let old = begin(&engine);
    old.take_snapshot().unwrap();
    let mut others = Vec::new();
    for round in 2..=20_000u64 {
        let transaction = begin(&engine);
        step(&transaction, &t, 0, round - 1, round);
        transaction.commit().unwrap();
        if round.is_multiple_of(3000) {
            let between = begin(&engine);
            between.take_snapshot().unwrap();
            others.push((between, round));
            engine.purge().unwrap();
        }
    }
    let first = |reader: &Transaction| {
        let mut row = None;
        reader
            .get(&t, 0, &key(&t, 0), ReadMode::Consistent, &mut |bytes| row = Some(decode(&t, bytes)))
            .unwrap();
        row
    };
    let before = disk.counts().reads;
    assert_eq!(first(&old), state(0, 1));
    let steps = disk.counts().reads - before;
    assert!((2..=45).contains(&steps), "{steps} steps");
    others.iter().for_each(|(reader, round)| assert_eq!(first(reader), state(0, *round)));
    drop(old);
    engine.purge().unwrap();
    others.iter().for_each(|(reader, round)| assert_eq!(first(reader), state(0, *round)));
}
