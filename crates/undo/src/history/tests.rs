//! Lists go in, are found by place and position, spill, and come out in commit order.

use super::*;
use crate::writer::Undo;
use env::Environment;
use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk};
use stdx::ids::IndexId;
use txn::{Old, UndoRecord};

fn spill_file(disk: &SimulatedDisk) -> Arc<SpillFile> {
    Arc::new(SpillFile::new(Environment::simulated(disk.clone(), 1)))
}

/// A record of a list: every second one holds an old row, every fifth leaves a delete mark.
fn record<'a>(at: u64, key: &'a [u8], old: &'a [u8]) -> UndoRecord<'a> {
    let (version, tombstone) = (at.is_multiple_of(2), at.is_multiple_of(5));
    let old = if version || tombstone { Old::Value(old) } else { Old::Absent };
    UndoRecord { index: IndexId(3), key, old, version, tombstone, dead: &[], jumps: &[] }
}

fn undo_of(seed: u64, count: u64) -> Undo {
    let mut undo = Undo::default();
    for at in 0..count {
        undo.list.push(record(at, &(seed + at).to_be_bytes(), &[seed as u8; 50]));
    }
    undo
}

fn add(
    history: &History,
    timestamp: CommitTimestamp,
    writer: TransactionId,
    left: Committed,
) -> HistoryPlace {
    let Some(adding) = history.begin(writer, left) else { return HistoryPlace::default() };
    let place = adding.place();
    adding.add(timestamp);
    place
}

fn count(seed: u64) -> u64 {
    if seed % 100 == 7 { 3000 } else { 1 + seed % 5 }
}

fn check_list(history: &History, place: HistoryPlace, seed: u64) {
    for at in (0..count(seed)).step_by(1 + count(seed) as usize / 20) {
        let bytes = history.record(place, TransactionId(seed), at).unwrap().unwrap();
        if at.is_multiple_of(2) || at.is_multiple_of(5) {
            let expected = (seed + at).to_be_bytes();
            assert_eq!(UndoRecord::decode(&bytes), Some(record(at, &expected, &[seed as u8; 50])));
        }
    }
    assert_eq!(history.record(place, TransactionId(seed), count(seed)).unwrap(), None);
    assert_eq!(history.record(place, TransactionId(seed + 1), 0).unwrap(), None);
}

#[test]
fn lists_are_found_until_purge_ends_them() {
    for memory_bytes_max in [1 << 30, 40_000] {
        let disk = SimulatedDisk::new(1);
        let history = History::new(memory_bytes_max, spill_file(&disk));
        let places: Vec<HistoryPlace> = (1..=1000)
            .map(|seed| {
                let left = Committed::of(&mut undo_of(seed, count(seed)), history.block_bytes());
                let place = add(&history, CommitTimestamp(seed * 10), TransactionId(seed), left);
                history.spill_excess();
                place
            })
            .collect();
        let spilled = history.figures().spilled_versions;
        assert_eq!(spilled > 10_000, memory_bytes_max == 40_000, "{:?}", history.figures());
        for seed in 1..=1000u64 {
            check_list(&history, places[seed as usize - 1], seed);
        }
        assert!(history.next_finished(CommitTimestamp(9)).unwrap().is_none());
        let mut seen = Vec::new();
        for seed in (0..=1000u64).step_by(10) {
            let horizon = CommitTimestamp(seed * 10 + 5);
            while let Some(finished) = history.next_finished(horizon).unwrap() {
                let visited = finished.visit(|writer, record| {
                    seen.push((writer.0, u64::from_be_bytes(record.key.try_into().unwrap())));
                    Ok::<(), SpillError>(())
                });
                visited.unwrap();
                history.end(&finished);
            }
            // What was not worked off is still there.
            (seed + 1..=1000)
                .step_by(7)
                .for_each(|seed| check_list(&history, places[seed as usize - 1], seed));
        }
        let marks = |seed: u64| (0..count(seed)).step_by(5).map(move |at| (seed, seed + at));
        assert_eq!(seen, (1..=1000).flat_map(marks).collect::<Vec<_>>());
        assert_eq!(history.figures(), HistoryFigures::default());
        assert_eq!(history.record(places[500], TransactionId(501), 0).unwrap(), None);
        assert_eq!(disk.used_bytes(), 0);
    }
}

#[test]
fn a_block_that_is_still_open_gets_more_lists() {
    let history = History::new(1 << 30, spill_file(&SimulatedDisk::new(1)));
    for round in 0..50 {
        let mut places = Vec::new();
        for seed in round * 10 + 1..=round * 10 + 10 {
            let left = Committed::of(&mut undo_of(seed, 3), history.block_bytes());
            places.push(add(&history, CommitTimestamp(seed), TransactionId(seed), left));
        }
        let finished = history.next_finished(CommitTimestamp(round * 10 + 4)).unwrap().unwrap();
        history.end(&finished);
        assert!(history.next_finished(CommitTimestamp(round * 10 + 4)).unwrap().is_none());
        assert_eq!(history.figures().length, 6 * 2);
        assert!(history.record(places[4], TransactionId(round * 10 + 5), 0).unwrap().is_some());
        let finished = history.next_finished(CommitTimestamp(round * 10 + 10)).unwrap().unwrap();
        let left = Committed::of(&mut undo_of(7, 3), history.block_bytes());
        let later = add(&history, CommitTimestamp(round * 10 + 11), TransactionId(7), left);
        history.end(&finished);
        assert!(history.record(later, TransactionId(7), 0).unwrap().is_some());
        assert!(history.next_finished(CommitTimestamp(round * 10 + 10)).unwrap().is_none_or(|none| {
            history.end(&none);
            none.versions() == 0 && history.next_finished(CommitTimestamp(round * 10 + 10)).unwrap().is_none()
        }));
        let finished = history.next_finished(CommitTimestamp(round * 10 + 11)).unwrap().unwrap();
        history.end(&finished);
        assert_eq!(history.figures(), HistoryFigures::default());
    }
}

#[test]
fn failed_writes_lose_nothing() {
    let disk = SimulatedDisk::new(1);
    let history = History::new(20_000, spill_file(&disk));
    for nth in 0..5 {
        disk.add_fault(Fault { class: OperationClass::Write, nth, kind: FaultKind::ShortWrite });
    }
    let mut places = Vec::new();
    for seed in 1..=300u64 {
        let left = Committed::of(&mut undo_of(seed, count(seed)), history.block_bytes());
        places.push(add(&history, CommitTimestamp(seed), TransactionId(seed), left));
        history.spill_excess();
    }
    assert_eq!(history.figures().spill_failures, 5);
    (1..=300).for_each(|seed| check_list(&history, places[seed as usize - 1], seed));
    assert!(history.figures().memory_bytes < 40_000);
}

#[test]
fn writers_that_only_inserted_leave_nothing() {
    let history = History::new(1 << 20, spill_file(&SimulatedDisk::new(1)));
    let mut undo = Undo::default();
    undo.list.push(record(1, b"k", &[]));
    let left = Committed::of(&mut undo, history.block_bytes());
    assert_eq!(add(&history, CommitTimestamp(3), TransactionId(3), left), HistoryPlace::default());
    assert_eq!(history.figures(), HistoryFigures::default());
}
