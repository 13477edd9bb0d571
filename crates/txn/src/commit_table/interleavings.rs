//! All interleavings of looks at an id with its end, its chunk's way through the ring, and those who open chunks.
//! Run: RUSTFLAGS="--cfg loom" cargo test -p txn --lib interleavings

use super::slots::SLOTS;
use super::sync::Section;
use super::*;
use crate::snapshots::SnapshotRegistry;
use env::Environment;
use env::simulated::SimulatedDisk;
use loom::thread;

fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// A table whose first id is 2, that of a chunk.
fn table() -> Arc<CommitTable> {
    let file = Arc::new(SpillFile::new(Environment::simulated(SimulatedDisk::new(1), 1)));
    let table = CommitTable::new(TransactionId(CHUNK_IDS), &[], file, Arc::new(Section::default()));
    // The model does not see that what is made at first use is whole for whoever finds it.
    (0..SLOTS).for_each(|chunk| _ = table.slots.get(chunk));
    let arrays: Vec<_> = (0..4).map(|_| table.arrays.take()).collect();
    arrays.into_iter().for_each(|array| table.arrays.give_back(array));
    Arc::new(table)
}

fn allocate(table: &CommitTable) -> TransactionId {
    table.allocate().unwrap()
}

fn commit(table: &CommitTable, id: TransactionId) {
    table.order.act(&mut || table.set_committed(id, timestamp(id), HistoryPlace(id.0)));
}

fn timestamp(id: TransactionId) -> CommitTimestamp {
    CommitTimestamp(id.0 + 100)
}

fn advance(table: &CommitTable, newest: u64) {
    table.advance(&SnapshotRegistry::new().in_use(CommitTimestamp(newest)));
}

fn is_of(table: &CommitTable, id: TransactionId) {
    match table.state(id) {
        TransactionState::Committed(at) => assert!(at.0 == 0 || at >= timestamp(id), "{at:?}"),
        other => panic!("{other:?}"),
    }
    match table.undo_place(id).unwrap() {
        UndoPlace::History(place) => assert_eq!(place.0, id.0),
        other => assert_eq!(other, UndoPlace::Gone),
    }
}

/// What has committed has committed, and has its own place or none, while its slot and its arrays are given to a later chunk.
#[test]
fn an_id_is_not_taken_for_that_of_another_lap() {
    check(3, || {
        let table = table();
        let ids = [allocate(&table), allocate(&table)];
        ids.iter().for_each(|id| commit(&table, *id));
        let reader = {
            let table = table.clone();
            thread::spawn(move || is_of(&table, ids[0]))
        };
        advance(&table, 1000);
        let later = [allocate(&table), allocate(&table)];
        later.iter().for_each(|id| table.set_rolled_back(*id));
        advance(&table, 1000);
        let lap = allocate(&table);
        assert_eq!(lap.0, ids[0].0 + CHUNK_IDS * SLOTS);
        assert_eq!(table.state(lap), TransactionState::Active, "a place is empty when it is given");
        commit(&table, lap);
        is_of(&table, lap);
        reader.join().unwrap();
    });
}

/// Behind a snapshot the summary takes the place of the entries: nobody sees one for the other.
#[test]
fn a_summary_tells_what_the_entries_told() {
    check(3, || {
        let table = table();
        let ids = [allocate(&table), allocate(&table)];
        let registry = Arc::new(SnapshotRegistry::new());
        let mut old = crate::snapshots::Snapshot::new(registry.clone());
        old.take(|| CommitTimestamp(50)).unwrap();
        ids.iter().for_each(|id| commit(&table, *id));
        let reader = {
            let table = table.clone();
            thread::spawn(move || {
                assert!(!table.is_visible(ids[0], CommitTimestamp(50)));
                assert!(table.is_visible(ids[0], CommitTimestamp(1000)));
                assert_eq!(table.undo_place(ids[0]).unwrap(), UndoPlace::History(HistoryPlace(ids[0].0)));
            })
        };
        table.advance(&registry.in_use(CommitTimestamp(1000)));
        // It gets the array that the entries were in.
        let later = allocate(&table);
        commit(&table, later);
        reader.join().unwrap();
    });
}

/// An unfinished writer ends while it becomes an exception: nobody forgets it.
#[test]
fn who_ends_while_it_becomes_an_exception_has_ended() {
    check(2, || {
        let table = table();
        let old = allocate(&table);
        for _ in 0..3 {
            let other = allocate(&table);
            table.order.act(&mut || table.set_committed(other, CommitTimestamp(50), HistoryPlace(0)));
        }
        let writer = {
            let table = table.clone();
            thread::spawn(move || commit(&table, old))
        };
        let reader = {
            let table = table.clone();
            thread::spawn(move || match table.undo_place(old).unwrap() {
                UndoPlace::History(place) => assert_eq!(place.0, old.0),
                other => assert_eq!(other, UndoPlace::Writer),
            })
        };
        advance(&table, 60);
        writer.join().unwrap();
        reader.join().unwrap();
        is_of(&table, old);
        assert!(!table.is_visible(old, CommitTimestamp(timestamp(old).0 - 1)));
        advance(&table, 1000);
        assert_eq!(table.size().exceptions, 0);
    });
}

/// Two begin where a chunk ends, beside one who moves on: each gets an id of its own, which is active.
#[test]
fn who_opens_a_chunk_beside_another_gets_an_id_of_its_own() {
    check(2, || {
        let table = table();
        let ids = [allocate(&table), allocate(&table)];
        ids.iter().for_each(|id| commit(&table, *id));
        let begin = |table: Arc<CommitTable>| {
            thread::spawn(move || {
                let id = allocate(&table);
                assert_eq!(table.state(id), TransactionState::Active);
                commit(&table, id);
                is_of(&table, id);
                id
            })
        };
        let writers = [begin(table.clone()), begin(table.clone())];
        advance(&table, 1000);
        let mut given = writers.map(|writer| writer.join().unwrap().0);
        given.sort_unstable();
        assert_eq!(given, [4, 5]);
    });
}

/// Commits get their timestamps and their stamps in the section, and what a flush finds there is published behind it. A snapshot of what is
/// published sees every commit before it and none behind, exceptions included.
#[test]
fn a_snapshot_of_what_is_published_sees_all_before_it() {
    check(2, || {
        let table = table();
        let slow = allocate(&table);
        for _ in 0..3 {
            let other = allocate(&table);
            table.order.act(&mut || table.set_committed(other, CommitTimestamp(50), HistoryPlace(0)));
        }
        let end = Arc::new(AtomicU64::new(60));
        let published = Arc::new(AtomicU64::new(60));
        let writer = {
            let (table, end) = (table.clone(), end.clone());
            thread::spawn(move || {
                table.order.act(&mut || {
                    let timestamp = end.load(Ordering::Relaxed) + 10;
                    table.set_committed(slow, CommitTimestamp(timestamp), HistoryPlace(slow.0));
                    end.store(timestamp, Ordering::Relaxed);
                });
            })
        };
        let flush = {
            let (table, published) = (table.clone(), published.clone());
            thread::spawn(move || {
                let mut flushed = 0;
                table.order.act(&mut || flushed = end.load(Ordering::Relaxed));
                published.store(flushed, Ordering::Release);
            })
        };
        // The slow writer becomes an exception meanwhile.
        advance(&table, 60);
        let snapshot = CommitTimestamp(published.load(Ordering::Acquire));
        assert_eq!(table.is_visible(slow, snapshot), snapshot.0 == 70, "{snapshot:?}");
        writer.join().unwrap();
        flush.join().unwrap();
    });
}
