//! Rows that a scan locks by range beside transactions that lock and write them one by one: at all times who has a row has it alone.
#![allow(clippy::disallowed_methods)]

use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ROWS: i64 = 40;
const WRITERS: i64 = 6;
/// A range with a row of another in it showed after 1.4 and 2.3 s, on two cores.
const SECONDS: u64 = 4;

/// Changes one of two rows and changes it back, so that no committed state tells.
fn write(engine: &Engine, t: &std::sync::Arc<Table>, id: i64) {
    let options = TransactionOptions { isolation: Isolation::ReadCommitted, ..TransactionOptions::default() };
    let writer = engine.begin(options);
    let change = || -> EngineResult<()> {
        writer.get(t, 0, &key(t, id), ReadMode::Exclusive(WaitPolicy::Wait), &mut |_| ())?;
        writer.update(t, &key(t, id), &encode(t, &row(id, id, "changed")))?;
        std::thread::yield_now();
        writer.update(t, &key(t, id), &encode(t, &row(id, id, "clean"))).map(|_| ())
    };
    match change() {
        Ok(()) => drop(writer.commit().unwrap()),
        Err(_) => writer.rollback().unwrap(),
    }
}

#[test]
fn locking_scans_see_no_unfinished_row() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &(1..=ROWS).map(|id| row(id, id, "clean")).collect::<Vec<_>>());
    let (stop, unclean, scans) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let (engine, t, stop, unclean, scans) = (&engine, &t, &stop, &unclean, &scans);
        for number in 0..WRITERS {
            scope.spawn(move || {
                let first = number * ROWS / WRITERS + 1;
                for turn in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    write(engine, t, first + turn % 2);
                }
            });
        }
        for index in [0, 0, 1] {
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let reader = begin(engine);
                    if let Ok(rows) = scan(&reader, t, index, ReadMode::Exclusive(WaitPolicy::Wait)) {
                        scans.fetch_add(1, Ordering::Relaxed);
                        let changed = rows.iter().filter(|row| row.2 != "clean").count();
                        unclean.fetch_add(changed as u64, Ordering::Relaxed);
                    }
                    reader.rollback().unwrap();
                }
            });
        }
        let end = Instant::now() + Duration::from_secs(SECONDS);
        while Instant::now() < end && unclean.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(unclean.load(Ordering::Relaxed), 0, "after {} scans", scans.load(Ordering::Relaxed));
    assert!(scans.load(Ordering::Relaxed) > 0);
    assert_eq!(engine.locks().len(), 0);
}
