//! The store against a model, with and without a spill file that works.

use super::*;
use env::Environment;
use env::simulated::{Fault, FaultKind, OperationClass, SimulatedDisk};
use proptest::prelude::*;
use std::collections::BTreeMap;

const INDEX: IndexId = IndexId(7);

fn store(memory_bytes_max: u64, disk: &SimulatedDisk) -> VersionStore {
    let file = SpillFile::new(Environment::simulated(disk.clone(), 1));
    VersionStore::new(memory_bytes_max, Arc::new(file))
}

fn head(writer: u64) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..6].copy_from_slice(&writer.to_le_bytes()[..6]);
    head
}

fn writer(head: &[u8; HEAD_BYTES]) -> u64 {
    let mut writer = [0; 8];
    writer[..6].copy_from_slice(&head[..6]);
    u64::from_le_bytes(writer)
}

/// The body that a writer wrote: its length and bytes differ from writer to writer.
fn body(writer: u64, length: usize) -> Vec<u8> {
    (0..length).map(|at| (writer as usize * 31 + at) as u8).collect()
}

fn found(store: &VersionStore, key: &[u8], newest: u64) -> Option<(u64, Vec<u8>)> {
    let version = store.find(INDEX, key, |head| writer(head) <= newest)?;
    Some((writer(&version.head), version.body().unwrap().to_vec()))
}

#[test]
fn newest_visible_version_is_found_and_purge_keeps_the_rest() {
    let store = store(1 << 20, &SimulatedDisk::new(1));
    for id in 1..=4 {
        store.push(INDEX, b"k", TransactionId(id + 1), head(id), &body(id, 3));
    }
    assert_eq!(found(&store, b"k", 3), Some((3, body(3, 3))));
    assert_eq!(store.purge(INDEX, b"k", TransactionId(3)), 2);
    assert_eq!(store.figures().versions, 2);
    assert_eq!(found(&store, b"k", 2), None);
    store.pop(INDEX, b"k", TransactionId(4));
    assert_eq!(store.figures().versions, 2, "only the pusher of the newest version can pop it");
    store.pop(INDEX, b"k", TransactionId(5));
    store.pop(INDEX, b"k", TransactionId(4));
    assert_eq!(store.figures(), VersionFigures::default());
}

#[test]
fn keys_and_indexes_are_apart() {
    let store = store(1 << 20, &SimulatedDisk::new(1));
    store.push(INDEX, b"k", TransactionId(2), head(1), b"");
    assert!(store.find(IndexId(2), b"k", |_| true).is_none());
    assert!(store.find(INDEX, b"l", |_| true).is_none());
    assert!(store.find(INDEX, b"k", |_| true).is_some());
}

#[test]
fn bodies_spill_oldest_first_and_give_file_and_memory_back() {
    let disk = SimulatedDisk::new(1);
    let store = store(64 << 10, &disk);
    let keys = |id: u64| (id % 500).to_be_bytes();
    let mut purge_wanted = false;
    for id in 1..=4000 {
        purge_wanted |= store.spill_excess();
        store.push(INDEX, &keys(id), TransactionId(id), head(id - 1), &body(id, 200));
    }
    // A body of its own segment that is far larger than the limit.
    store.push(INDEX, b"long", TransactionId(1), head(0), &body(5, 1 << 20));
    store.spill_excess();
    let figures = store.figures();
    assert!(purge_wanted);
    assert_eq!((figures.versions, figures.spill_failures), (4001, 0));
    assert!(figures.spilled_versions > 3000, "{figures:?}");
    assert!(figures.memory_bytes < 500 * 200 + 4001 * 56 + (64 << 10), "{figures:?}");
    assert!(disk.used_bytes() >= figures.spilled_bytes && figures.spilled_bytes > 1 << 20);
    for id in [1, 77, 2000, 3999] {
        assert_eq!(found(&store, &keys(id), id - 1), Some((id - 1, body(id, 200))), "{id}");
    }
    assert_eq!(found(&store, b"long", 9), Some((0, body(5, 1 << 20))));

    let held = store.find(INDEX, &keys(1), |head| writer(head) == 0).unwrap();
    for id in 1..=4000 {
        assert_eq!(store.purge(INDEX, &keys(id), TransactionId(id)), 1);
    }
    assert_eq!(store.purge(INDEX, b"long", TransactionId(1)), 1);
    assert_eq!(held.body().unwrap()[..], body(1, 200), "who found it may still read it");
    drop(held);
    assert_eq!((store.figures(), disk.used_bytes()), (VersionFigures::default(), 0));
}

#[test]
fn a_full_disk_keeps_versions_in_memory_and_is_tried_again() {
    let disk = SimulatedDisk::new(1);
    disk.set_capacity_bytes(Some(20_000));
    let store = store(32 << 10, &disk);
    let push = |ids: std::ops::Range<u64>| {
        for id in ids {
            store.spill_excess();
            store.push(INDEX, &id.to_be_bytes(), TransactionId(id), head(id), &body(id, 300));
        }
    };
    push(0..1000);
    let figures = store.figures();
    assert!(figures.spill_failures > 0 && figures.spilled_bytes <= 20_000, "{figures:?}");
    assert!(figures.spill_failures < 250, "not one try a write: {figures:?}");
    disk.set_capacity_bytes(None);
    push(1000..1100);
    assert!(store.figures().spilled_versions > 900, "{:?}", store.figures());
    for id in 0..1100u64 {
        assert_eq!(found(&store, &id.to_be_bytes(), id), Some((id, body(id, 300))));
    }
    let kind = FaultKind::InputOutput;
    disk.add_fault(Fault { class: OperationClass::Read, nth: disk.counts().reads, kind });
    let oldest = store.find(INDEX, &0u64.to_be_bytes(), |_| true).unwrap();
    assert!(matches!(oldest.body(), Err(SpillError::Disk(_))));
    assert_eq!(oldest.body().unwrap()[..], body(0, 300), "only that one read failed");
}

/// What a row's writers do, in the order in which they commit.
#[derive(Clone, Debug)]
enum Step {
    /// Overwrites a row with a body of that length.
    Push { key: u8, length: usize },
    /// The newest writer of the row is rolled back.
    Pop { key: u8 },
    /// Every snapshot sees that many more of the pushes.
    Purge { count: usize },
    /// A snapshot from so many pushes ago reads the row.
    Find { key: u8, back: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let length = prop_oneof![20 => 0..200usize, 1 => 5000..20_000usize];
    prop_oneof![
        8 => (0..20u8, length).prop_map(|(key, length)| Step::Push { key, length }),
        1 => (0..20u8).prop_map(|key| Step::Pop { key }),
        1 => (0..60usize).prop_map(|count| Step::Purge { count }),
        6 => (0..20u8, 0..200u64).prop_map(|(key, back)| Step::Find { key, back }),
    ]
}

/// Overwriter, writer and body of each version of a row, oldest first.
type Model = BTreeMap<u8, Vec<(u64, u64, Vec<u8>)>>;

fn run(steps: &[Step], limit: u64, faults: &[(u64, FaultKind)]) {
    let disk = SimulatedDisk::new(1);
    for (nth, kind) in faults {
        disk.add_fault(Fault { class: OperationClass::Write, nth: *nth, kind: *kind });
    }
    let store = store(limit, &disk);
    let mut model = Model::new();
    let mut pushes: Vec<(u8, u64)> = Vec::new();
    let mut next = 1u64;
    for step in steps {
        match step {
            Step::Push { key, length } => {
                store.spill_excess();
                let chain = model.entry(*key).or_default();
                let old = chain.last().map_or(0, |(overwriter, ..)| *overwriter);
                store.push(INDEX, &[*key], TransactionId(next), head(old), &body(next, *length));
                chain.push((next, old, body(next, *length)));
                pushes.push((*key, next));
                next += 1;
            }
            Step::Pop { key } => {
                let Some((overwriter, ..)) = model.get_mut(key).and_then(Vec::pop) else { continue };
                store.pop(INDEX, &[*key], TransactionId(overwriter));
                pushes.retain(|(_, id)| *id != overwriter);
            }
            Step::Purge { count } => {
                let count = (*count).min(pushes.len());
                for (key, overwriter) in pushes.drain(..count) {
                    assert_eq!(store.purge(INDEX, &[key], TransactionId(overwriter)), 1);
                    model.entry(key).or_default().remove(0);
                }
            }
            Step::Find { key, back } => {
                let newest = next.saturating_sub(*back);
                let chain = model.get(key).map_or(&[][..], Vec::as_slice);
                let expected = chain.iter().rev().find(|(_, old, _)| *old <= newest);
                let expected = expected.map(|(_, old, body)| (*old, body.clone()));
                assert_eq!(found(&store, &[*key], newest), expected);
            }
        }
        let figures = store.figures();
        assert_eq!(figures.versions as usize, model.values().map(Vec::len).sum::<usize>());
        assert!(figures.spilled_versions <= figures.versions);
    }
    for (key, overwriter) in pushes {
        store.purge(INDEX, &[key], TransactionId(overwriter));
    }
    let left = VersionFigures { spill_failures: store.figures().spill_failures, ..Default::default() };
    assert_eq!((store.figures(), disk.used_bytes()), (left, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_is_what_a_list_in_memory_is(
        steps in prop::collection::vec(step(), 1..400),
        limit in prop_oneof![Just(0u64), 500..20_000u64, Just(1 << 30)],
    ) {
        run(&steps, limit, &[]);
    }

    #[test]
    fn failed_writes_lose_nothing(
        steps in prop::collection::vec(step(), 1..400),
        limit in 0..5000u64,
        faults in prop::collection::vec((0..60u64, prop_oneof![
            Just(FaultKind::NoSpace), Just(FaultKind::ShortWrite), Just(FaultKind::InputOutput)
        ]), 0..20),
    ) {
        run(&steps, limit, &faults);
    }
}

#[test]
fn readers_writers_and_purge_on_many_threads_agree() {
    const WRITERS: u64 = 3;
    const ROUNDS: u64 = 4000;
    let store = store(16 << 10, &SimulatedDisk::new(1));
    std::thread::scope(|scope| {
        for lane in 0..WRITERS {
            let store = &store;
            scope.spawn(move || {
                let key = |id: u64| [lane as u8, (id % 50) as u8];
                for id in 1..=ROUNDS {
                    store.spill_excess();
                    store.push(INDEX, &key(id), TransactionId(id), head(id), &body(id, 100));
                    let old = id.saturating_sub(150).max(1);
                    if let Some((writer, bytes)) = found(store, &key(old), old) {
                        assert_eq!((writer, bytes), (old, body(old, 100)));
                    }
                    if id > 300 {
                        assert_eq!(store.purge(INDEX, &key(id - 300), TransactionId(id - 300)), 1);
                    }
                }
            });
        }
        scope.spawn(|| {
            // Reads what may be purged meanwhile: it is there whole or not at all.
            for round in 0..20_000u64 {
                let key = [(round % WRITERS) as u8, (round % 50) as u8];
                if let Some(version) = store.find(INDEX, &key, |_| true) {
                    assert_eq!(version.body().unwrap()[..], body(writer(&version.head), 100));
                }
            }
        });
    });
    assert_eq!(store.figures().versions, WRITERS * 300);
}
