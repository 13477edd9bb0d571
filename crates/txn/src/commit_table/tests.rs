//! Unit and property tests of the commit table; chunks and ring are small here, so that it laps.

use super::slots::SLOTS;
use super::sync::Section;
use super::*;
use crate::snapshots::{Snapshot, SnapshotRegistry};
use env::Environment;
use env::simulated::SimulatedDisk;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn spill_file(disk: &SimulatedDisk) -> Arc<SpillFile> {
    Arc::new(SpillFile::new(Environment::simulated(disk.clone(), 1)))
}

fn table(first: u64, unfinished: &[u64]) -> CommitTable {
    let unfinished: Vec<_> = unfinished.iter().copied().map(TransactionId).collect();
    let file = spill_file(&SimulatedDisk::new(1));
    CommitTable::new(TransactionId(first), &unfinished, file, Arc::new(Section::default()))
}

fn commit(table: &CommitTable, id: TransactionId, timestamp: u64, place: u64) {
    table.order.act(&mut || table.set_committed(id, CommitTimestamp(timestamp), HistoryPlace(place)));
}

/// With a timestamp that no other has yet.
fn commit_now(table: &CommitTable, id: TransactionId) {
    table.order.act(&mut || {
        let timestamp = CommitTimestamp(table.next_id().0);
        table.set_committed(id, timestamp, HistoryPlace(id.0 * 10));
    });
}

/// Snapshots from `newest` on, and nobody has an older one.
fn none_but(newest: u64) -> SnapshotsInUse {
    SnapshotRegistry::new().in_use(CommitTimestamp(newest))
}

fn place(table: &CommitTable, id: TransactionId) -> UndoPlace {
    table.undo_place(id).expect("the file can be read")
}

const FROM_LONG_AGO: TransactionState = TransactionState::Committed(CommitTimestamp(0));

#[test]
fn visibility_follows_commit_order_and_not_ids() {
    let table = table(10, &[]);
    let (a, b) = (table.allocate().unwrap(), table.allocate().unwrap());
    assert_eq!((a, b), (TransactionId(10), TransactionId(11)));
    commit(&table, b, 100, 0);
    assert!(table.is_visible(b, CommitTimestamp(100)));
    assert!(!table.is_visible(b, CommitTimestamp(99)));
    assert!(!table.is_visible(a, CommitTimestamp(1000)));
    assert!(table.is_visible(TransactionId(9), CommitTimestamp(0)));
    assert_eq!(table.state(TransactionId(12)), TransactionState::Active);
    table.set_rolled_back(a);
    assert_eq!(table.state(a), TransactionState::RolledBack);
}

#[test]
fn watermark_stops_at_the_first_that_someone_may_not_see() {
    let table = table(1, &[]);
    let ids: Vec<_> = (0..4).map(|_| table.allocate().unwrap()).collect();
    commit(&table, ids[0], 5, 0);
    table.set_rolled_back(ids[1]);
    commit(&table, ids[2], 50, 0);
    table.advance(&none_but(49));
    assert_eq!(table.watermark(), ids[2]);
    table.advance(&none_but(50));
    assert_eq!(table.watermark(), ids[3]);
}

#[test]
fn what_a_crash_left_rolled_back_leaves_no_mark() {
    let table = table(100, &[40]);
    table.set_rolled_back(TransactionId(50));
    let first = table.allocate().unwrap();
    // In the chunk of the first id, and in the slot of a later one.
    table.set_rolled_back(TransactionId(99));
    assert_eq!(table.state(first), TransactionState::Active);
    assert_eq!([50, 99].map(|id| table.state(TransactionId(id))), [FROM_LONG_AGO; 2]);
}

/// One that is unfinished keeps the watermark from them.
#[test]
fn ids_from_before_the_table_have_committed_whatever_becomes_of_their_chunk() {
    let table = table(100, &[40, 99]);
    let registry = Arc::new(SnapshotRegistry::new());
    let mut old = Snapshot::new(registry.clone());
    old.take(|| CommitTimestamp(5)).unwrap();
    for timestamp in 10..22 {
        let id = table.allocate().unwrap();
        commit(&table, id, timestamp, 1);
    }
    let check = |committed: CommitTimestamp| {
        for id in (90..99).map(TransactionId) {
            assert!(table.is_visible(id, committed), "{id}");
            assert_eq!(place(&table, id), UndoPlace::Gone);
        }
        assert!(!table.is_visible(TransactionId(100), committed));
        assert_eq!(table.state(TransactionId(99)), TransactionState::Active);
    };
    check(CommitTimestamp(5));
    table.advance(&registry.in_use(CommitTimestamp(30)));
    assert_eq!(table.slots.get(6).content().content(6), Content::Summary);
    check(CommitTimestamp(5));
}

#[test]
fn what_a_crash_left_prepared_commits_like_others() {
    let table = table(100, &[50]);
    let prepared = TransactionId(50);
    assert_eq!(place(&table, prepared), UndoPlace::Writer);
    commit(&table, prepared, 9, 7);
    assert!(!table.is_visible(prepared, CommitTimestamp(8)));
    assert!(table.is_visible(prepared, CommitTimestamp(9)));
    assert_eq!(place(&table, prepared), UndoPlace::History(HistoryPlace(7)));
    table.advance(&none_but(8));
    assert_eq!(table.watermark(), prepared);
    table.advance(&none_but(9));
    assert_eq!(table.watermark(), TransactionId(100));
    assert_eq!(place(&table, prepared), UndoPlace::Gone);
}

#[test]
fn what_a_crash_left_unfinished_is_nobodys() {
    let losers = [70, 50];
    let table = table(100, &losers);
    let own = table.allocate().unwrap();
    commit(&table, own, 5, 0);
    table.advance(&none_but(9));
    assert_eq!(table.watermark(), TransactionId(50));
    for loser in losers.map(TransactionId) {
        assert_eq!(table.state(loser), TransactionState::Active);
        assert!(!table.is_visible(loser, CommitTimestamp(9)));
    }
    for other in [49, 51, 69, 71, 99, own.0] {
        assert!(table.is_visible(TransactionId(other), CommitTimestamp(9)), "{other}");
    }
    table.set_rolled_back(TransactionId(losers[1]));
    table.advance(&none_but(9));
    assert_eq!(table.watermark(), TransactionId(70));
    commit(&table, TransactionId(70), 12, 0);
    table.advance(&none_but(11));
    assert_eq!(table.watermark(), TransactionId(70));
    assert!(!table.is_visible(TransactionId(70), CommitTimestamp(11)));
    table.advance(&none_but(12));
    assert_eq!(table.watermark(), table.next_id());
}

/// Commits ids one by one; the timestamp is the id, the place ten times it.
fn commit_some(table: &CommitTable, count: u64, snapshots: impl Fn(u64) -> SnapshotsInUse) {
    for _ in 0..count {
        let id = table.allocate().expect("the ring has room");
        commit(table, id, id.0, id.0 * 10);
        if CommitTable::begins_chunk(id) {
            table.try_advance(&snapshots(id.0));
        }
    }
}

#[test]
fn many_laps_take_the_memory_of_a_few_chunks() {
    let table = table(1, &[]);
    commit_some(&table, CHUNK_IDS * SLOTS * 3, none_but);
    let size = table.size();
    assert!(size.array_bytes_made <= 6 * CHUNK_IDS * 8 && size.spilled_chunks == 0, "{size:?}");
    assert!(table.watermark().0 + CHUNK_IDS > table.next_id().0);
    assert_eq!(table.state(TransactionId(7)), FROM_LONG_AGO);
}

#[test]
fn behind_a_snapshot_places_go_to_the_file_and_come_back() {
    let disk = SimulatedDisk::new(1);
    let file = spill_file(&disk);
    let table = CommitTable::new(TransactionId(1), &[], file.clone(), Arc::new(Section::default()));
    let registry = Arc::new(SnapshotRegistry::new());
    commit_some(&table, 100, |newest| registry.in_use(CommitTimestamp(newest)));
    let mut old = Snapshot::new(registry.clone());
    old.take(|| CommitTimestamp(100)).unwrap();
    commit_some(&table, CHUNK_IDS * (SLOTS - 10), |newest| registry.in_use(CommitTimestamp(newest)));
    let size = table.size();
    assert!(size.array_bytes_made <= 8 * CHUNK_IDS * 8 && size.spilled_chunks > SLOTS - 15, "{size:?}");
    for id in (90..table.next_id().0).map(TransactionId) {
        assert_eq!(table.is_visible(id, CommitTimestamp(100)), id.0 <= 100, "{id}");
        assert!(table.is_visible(id, CommitTimestamp(table.next_id().0)));
        if id.0 > 100 {
            assert_eq!(place(&table, id), UndoPlace::History(HistoryPlace(id.0 * 10)));
        }
    }
    // It is as old as the ring is long: writers are told, and nothing is lost.
    let told = (0..CHUNK_IDS * 20).find_map(|_| table.allocate().is_none().then_some(()));
    assert_eq!(told, Some(()));
    for id in (table.watermark().0..table.next_id().0).map(TransactionId) {
        if table.state(id) == TransactionState::Active {
            table.set_rolled_back(id);
        }
    }
    old.end();
    table.advance(&registry.in_use(CommitTimestamp(table.next_id().0)));
    assert_eq!((table.size().spilled_chunks, file.file_bytes()), (0, 0), "the space is given back");
    assert_eq!(table.watermark(), table.next_id());
    assert!(table.allocate().is_some());
}

#[test]
fn writers_that_stay_unfinished_keep_nobody_back() {
    let table = table(1, &[]);
    let old: Vec<_> = (0..40).map(|_| table.allocate().unwrap()).collect();
    commit_some(&table, CHUNK_IDS * SLOTS * 2, none_but);
    let size = table.size();
    assert!(size.exceptions == 40 && size.array_bytes_made <= 12 * CHUNK_IDS * 8, "{size:?}");
    assert_eq!(table.watermark(), old[0]);
    let newest = table.next_id().0;
    assert!(old.iter().all(|id| table.state(*id) == TransactionState::Active));
    assert_eq!(place(&table, old[3]), UndoPlace::Writer);
    commit(&table, old[3], newest, 77);
    table.set_rolled_back(old[0]);
    assert!(!table.is_visible(old[3], CommitTimestamp(newest - 1)));
    assert!(table.is_visible(old[3], CommitTimestamp(newest)));
    assert_eq!(place(&table, old[3]), UndoPlace::History(HistoryPlace(77)));
    table.advance(&none_but(newest - 1));
    assert_eq!((table.watermark(), table.size().exceptions), (old[1], 39));
    assert_eq!(place(&table, old[3]), UndoPlace::History(HistoryPlace(77)), "somebody may not see it yet");
    table.advance(&none_but(newest));
    assert_eq!((table.size().exceptions, table.state(old[3])), (38, FROM_LONG_AGO));
    old.iter()
        .filter(|id| table.state(**id) == TransactionState::Active)
        .for_each(|id| table.set_rolled_back(*id));
    table.advance(&none_but(newest));
    assert_eq!(table.watermark(), table.next_id());
}

#[test]
fn places_that_cannot_be_written_stay_in_memory() {
    let disk = SimulatedDisk::new(1);
    let table = CommitTable::new(TransactionId(1), &[], spill_file(&disk), Arc::new(Section::default()));
    let registry = Arc::new(SnapshotRegistry::new());
    let mut old = Snapshot::new(registry.clone());
    old.take(|| CommitTimestamp(0)).unwrap();
    disk.set_capacity_bytes(Some(0));
    commit_some(&table, CHUNK_IDS * 12, |newest| registry.in_use(CommitTimestamp(newest)));
    assert_eq!(table.size().spilled_chunks, 0);
    let check = || {
        for id in (1..table.next_id().0).map(TransactionId) {
            assert_eq!(place(&table, id), UndoPlace::History(HistoryPlace(id.0 * 10)));
        }
    };
    check();
    disk.set_capacity_bytes(None);
    table.advance(&registry.in_use(CommitTimestamp(table.next_id().0)));
    assert!(table.size().spilled_chunks > 5);
    check();
}

/// What the table must answer, kept the plain way.
#[derive(Default)]
struct Model {
    /// Timestamp and place by id; None: active.
    ids: BTreeMap<u64, Option<(u64, u64)>>,
    clock: u64,
}

#[derive(Clone, Debug)]
enum Step {
    Begin(usize),
    Commit(prop::sample::Index, bool),
    RollBack(prop::sample::Index),
    Snapshot,
    End(prop::sample::Index),
    Advance,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..60_usize).prop_map(Step::Begin),
        8 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(at, has_place)| Step::Commit(at, has_place)),
        1 => any::<prop::sample::Index>().prop_map(Step::RollBack),
        1 => Just(Step::Snapshot),
        1 => any::<prop::sample::Index>().prop_map(Step::End),
        3 => Just(Step::Advance),
    ];
    prop::collection::vec(step, 1..200)
}

struct World {
    table: CommitTable,
    registry: Arc<SnapshotRegistry>,
    snapshots: Vec<Snapshot>,
    model: Model,
}

impl World {
    fn unfinished(&self) -> Vec<u64> {
        self.model.ids.iter().filter(|(_, end)| end.is_none()).map(|(id, _)| *id).collect()
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Begin(count) => {
                for _ in 0..*count {
                    let Some(id) = self.table.allocate() else { return };
                    self.model.ids.insert(id.0, None);
                    // Most are short.
                    if !id.0.is_multiple_of(23) {
                        self.commit(id.0, id.0 * 3 % 5);
                    }
                }
            }
            Step::Commit(at, has_place) => {
                let unfinished = self.unfinished();
                if !unfinished.is_empty() {
                    let id = *at.get(&unfinished);
                    self.commit(id, if *has_place { id * 7 } else { 0 });
                }
            }
            Step::RollBack(at) => {
                let unfinished = self.unfinished();
                if !unfinished.is_empty() {
                    let id = *at.get(&unfinished);
                    self.table.set_rolled_back(TransactionId(id));
                    self.model.ids.remove(&id);
                }
            }
            Step::Snapshot => {
                let mut snapshot = Snapshot::new(self.registry.clone());
                snapshot.take(|| CommitTimestamp(self.model.clock)).expect("there are slots");
                self.snapshots.push(snapshot);
            }
            Step::End(at) if !self.snapshots.is_empty() => {
                self.snapshots.swap_remove(at.index(self.snapshots.len()));
            }
            Step::End(_) => {}
            Step::Advance => {
                self.table.advance(&self.registry.in_use(CommitTimestamp(self.model.clock)));
                self.check();
            }
        }
    }

    fn commit(&mut self, id: u64, place: u64) {
        self.model.clock += 1;
        commit(&self.table, TransactionId(id), self.model.clock, place);
        self.model.ids.insert(id, Some((self.model.clock, place)));
    }

    fn check(&self) {
        let now = CommitTimestamp(self.model.clock);
        let in_use = self.snapshots.iter().filter_map(Snapshot::timestamp).chain([now]);
        for snapshot in in_use {
            for (id, end) in &self.model.ids {
                let id = TransactionId(*id);
                let sees = end.is_some_and(|(timestamp, _)| timestamp <= snapshot.0);
                assert_eq!(self.table.is_visible(id, snapshot), sees, "{id} {end:?} {snapshot:?}");
                match end {
                    None => assert_eq!(place(&self.table, id), UndoPlace::Writer),
                    Some((_, expected)) if !sees => {
                        assert_eq!(place(&self.table, id), UndoPlace::History(HistoryPlace(*expected)));
                    }
                    Some(_) => assert_ne!(place(&self.table, id), UndoPlace::Writer),
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn any_order_of_ends_and_snapshots(steps in steps()) {
        let registry = Arc::new(SnapshotRegistry::new());
        let mut world = World { table: table(5, &[]), registry, snapshots: Vec::new(), model: Model::default() };
        steps.iter().for_each(|step| world.step(step));
        world.check();
        world.snapshots.clear();
        world.step(&Step::Advance);
    }
}

/// Threads that look at ids beside one that commits them, one that ends old ones late, and the chunks' way through the ring.
#[test]
fn looks_beside_commits_beside_laps() {
    const IDS: u64 = 400_000;
    let table = table(1, &[]);
    let (late_ones, late) = std::sync::mpsc::channel::<TransactionId>();
    let looks = || {
        let mut at = 7_u64;
        while table.next_id().0 < IDS {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let id = TransactionId(table.next_id().0.saturating_sub(1 + at % (8 * CHUNK_IDS)).max(1));
            let first_look = table.state(id);
            match table.undo_place(id).unwrap() {
                UndoPlace::History(place) => assert_eq!(place.0, id.0 * 10),
                UndoPlace::Writer => assert_eq!(first_look, TransactionState::Active, "{id}"),
                UndoPlace::Gone => {}
            }
            if let TransactionState::Committed(timestamp) = first_look {
                assert!(timestamp.0 == 0 || timestamp.0 >= id.0, "{id} {timestamp:?}");
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(looks);
        }
        scope.spawn(|| {
            for id in late {
                commit_now(&table, id);
                assert_ne!(table.state(id), TransactionState::Active, "{id} has ended");
            }
        });
        let mut waiting = std::collections::VecDeque::new();
        for _ in 1..IDS {
            let id = table.allocate().unwrap();
            if id.0.is_multiple_of(37) {
                // It ends about when its chunk would be a summary without it.
                waiting.push_back(id);
            } else {
                commit_now(&table, id);
            }
            if CommitTable::begins_chunk(id) {
                table.try_advance(&none_but(id.0));
                if let Some(old) = waiting.pop_front_if(|old| old.0 + 3 * CHUNK_IDS < id.0) {
                    late_ones.send(old).unwrap();
                }
            }
        }
        drop(late_ones);
    });
    table.advance(&none_but(IDS * 2));
    let unfinished = |id: &u64| table.state(TransactionId(*id)) == TransactionState::Active;
    assert!((1..IDS).filter(unfinished).all(|id| id.is_multiple_of(37)));
}
