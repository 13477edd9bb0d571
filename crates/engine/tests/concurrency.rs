//! Threads: locks, waits, deadlocks, and invariants that hold whatever the schedule.
#![allow(clippy::disallowed_methods)]

use crate::common::model::*;
use crate::common::*;
use engine::*;
use env::simulated::SimulatedDisk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

fn threaded(disk: &SimulatedDisk) -> Engine {
    let options = EngineOptions { background_threads: true, redo_log_bytes: 32 << 20, ..options() };
    Engine::open(env::Environment::simulated(disk.clone(), 1), options).unwrap()
}

fn read_locked(
    transaction: &Transaction,
    table: &Arc<Table>,
    id: i64,
    policy: WaitPolicy,
) -> EngineResult<Option<Row>> {
    let mut found = None;
    transaction.get(table, 0, &key(table, id), ReadMode::Exclusive(policy), &mut |row| {
        found = Some(decode(table, row))
    })?;
    Ok(found)
}

#[test]
fn nowait_and_skip_locked() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, "a"), row(2, 2, "b"), row(3, 3, "c")]);
    let (a, b) = (begin(&engine), begin(&engine));
    a.update(&t, &key(&t, 1), &encode(&t, &row(1, 1, "changed"))).unwrap();
    assert_eq!(read_locked(&a, &t, 2, WaitPolicy::Wait).unwrap(), Some(row(2, 2, "b")));
    for id in [1, 2] {
        assert_eq!(read_locked(&b, &t, id, WaitPolicy::NoWait), Err(EngineError::LockNotAvailable));
        assert_eq!(read_locked(&b, &t, id, WaitPolicy::SkipLocked), Ok(None));
    }
    for index in 0..t.indexes().len() {
        let free = scan(&b, &t, index, ReadMode::Exclusive(WaitPolicy::SkipLocked)).unwrap();
        assert_eq!(free, [row(3, 3, "c")], "index {index}");
        assert_eq!(
            scan(&b, &t, index, ReadMode::Shared(WaitPolicy::NoWait)),
            Err(EngineError::LockNotAvailable)
        );
    }
    a.commit().unwrap();
    assert_eq!(read_locked(&b, &t, 1, WaitPolicy::NoWait).unwrap(), Some(row(1, 1, "changed")));
    b.commit().unwrap();
    assert_eq!(engine.locks().len(), 0);
}

#[test]
fn locks_of_a_rolled_back_statement_stay() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, "a")]);
    let (a, b) = (begin(&engine), begin(&engine));
    let mark = a.begin_statement();
    a.update(&t, &key(&t, 1), &encode(&t, &row(1, 1, "changed"))).unwrap();
    a.rollback_to(mark).unwrap();
    assert_eq!(read_locked(&b, &t, 1, WaitPolicy::NoWait), Err(EngineError::LockNotAvailable));
    a.rollback().unwrap();
    assert_eq!(read_locked(&b, &t, 1, WaitPolicy::NoWait).unwrap(), Some(row(1, 1, "a")));
}

#[test]
fn a_waiting_update_sees_the_newest_row() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 0, "n")]);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (engine, t) = (engine.clone(), t.clone());
            std::thread::spawn(move || {
                for _ in 0..100 {
                    let transaction = begin(&engine);
                    let (id, a, s) = read_locked(&transaction, &t, 1, WaitPolicy::Wait).unwrap().unwrap();
                    let next = (id, a.map(|a| a + 1), s);
                    transaction.update(&t, &key(&t, 1), &encode(&t, &next)).unwrap();
                    transaction.commit().unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(all(&begin(&engine), &t), [row(1, 400, "n")]);
    assert_eq!(engine.locks().len(), 0);
    sound(&engine);
}

/// The ids that a scan finds which locks rows. It waits for the first one, on both sides of which others are inserted meanwhile, and another
/// transaction gets the lock of the one that lies before.
fn scan_beside_inserts(isolation: Isolation, direction: Direction) -> EngineResult<Vec<i64>> {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(10, 10, "x"), row(20, 20, "x")]);
    let holder = begin(&engine);
    let held = if direction == Direction::Forward { 10 } else { 20 };
    holder.update(&t, &key(&t, held), &encode(&t, &row(held, held, "y"))).unwrap();
    let scanner = {
        let (engine, t) = (engine.clone(), t.clone());
        std::thread::spawn(move || {
            let timeout = Some(Duration::from_millis(500));
            let options =
                TransactionOptions { isolation, lock_wait_timeout: timeout, ..TransactionOptions::default() };
            let transaction = engine.begin(options);
            let mode = ReadMode::Exclusive(WaitPolicy::Wait);
            let mut scan = transaction.scan(&t, ScanOptions { mode, direction, ..ScanOptions::default() })?;
            let (mut batch, mut ids) = (RowBatch::new(), Vec::new());
            while scan.next_batch(&transaction, &mut batch, 100)? {
                ids.extend((0..batch.len()).map(|at| decode(&t, batch.row(at)).0));
            }
            Ok(ids)
        })
    };
    let are_closed = isolation == Isolation::RepeatableRead;
    while engine.locks().len() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    for id in [5, 15, 25] {
        holder.insert(&t, &encode(&t, &row(id, id, "new"))).unwrap();
    }
    if are_closed {
        return scanner.join().unwrap();
    }
    // It has the row behind before the scan goes on.
    let passed = if direction == Direction::Forward { 5 } else { 25 };
    let mut other = begin(&engine);
    let waits = {
        let (other, t) = (&mut other, &t);
        std::thread::scope(|scope| {
            let waits = scope.spawn(move || read_locked(other, t, passed, WaitPolicy::Wait));
            while engine.locks().len() < 4 {
                std::thread::sleep(Duration::from_millis(1));
            }
            holder.commit().unwrap();
            waits.join().unwrap()
        })
    };
    assert_eq!(waits.unwrap().unwrap().0, passed);
    scanner.join().unwrap()
}

#[test]
fn a_scan_goes_on_at_the_row_that_it_waited_for() {
    for isolation in [Isolation::ReadCommitted, Isolation::ReadUncommitted] {
        assert_eq!(scan_beside_inserts(isolation, Direction::Forward), Ok(vec![10, 15, 20, 25]));
        assert_eq!(scan_beside_inserts(isolation, Direction::Backward), Ok(vec![20, 15, 10, 5]));
    }
    // What it has looked at is closed to the holder's inserts, so that these end in a deadlock, whose victim has changed nothing.
    for direction in [Direction::Forward, Direction::Backward] {
        assert_eq!(scan_beside_inserts(Isolation::RepeatableRead, direction), Err(EngineError::Deadlock));
    }
}

/// Rows of a scan that shows what is locked as it was last committed: id, value, and whether it is unlocked.
fn last_committed(
    transaction: &Transaction,
    t: &Arc<Table>,
    direction: Direction,
    rows_max: usize,
) -> Vec<(i64, Option<i64>, bool)> {
    let mode = ReadMode::Exclusive(WaitPolicy::LastCommitted);
    let mut scan = transaction.scan(t, ScanOptions { mode, direction, ..ScanOptions::default() }).unwrap();
    let (mut batch, mut rows) = (RowBatch::new(), Vec::new());
    while scan.next_batch(transaction, &mut batch, rows_max).unwrap() {
        for at in 0..batch.len() {
            let (id, value, _) = decode(t, batch.row(at));
            rows.push((id, value, at + 1 == batch.len() && batch.last_is_unlocked()));
        }
    }
    rows
}

#[test]
fn rows_of_others_are_shown_as_they_were_committed_where_rows_are_given_back() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[1, 2, 3, 5, 6].map(|id| row(id, id, "x")));
    let holder = begin(&engine);
    holder.update(&t, &key(&t, 2), &encode(&t, &row(2, 20, "y"))).unwrap();
    holder.delete(&t, &key(&t, 3)).unwrap();
    holder.insert(&t, &encode(&t, &row(4, 4, "new"))).unwrap();
    assert!(read_locked(&holder, &t, 5, WaitPolicy::Wait).unwrap().is_some());
    let seen = [(1, false), (2, true), (3, true), (5, true), (6, false)];
    let expected = seen.map(|(id, is_unlocked)| (id, Some(id), is_unlocked));
    for isolation in [Isolation::ReadCommitted, Isolation::ReadUncommitted] {
        for rows_max in [1, 100] {
            // Of another session, whose commit is not durable: it counts, and the reply waits for it.
            let scanner = engine.begin(TransactionOptions { isolation, ..TransactionOptions::default() });
            assert_eq!(last_committed(&scanner, &t, Direction::Forward, rows_max), expected);
            let mut backward = last_committed(&scanner, &t, Direction::Backward, rows_max);
            backward.reverse();
            assert_eq!(backward, expected);
            let locks = engine.locks();
            let queued = locks.iter().filter(|lock| !lock.granted).count();
            assert_eq!(queued, 0, "nobody waits: {locks:?}");
            assert_eq!(locks.len(), 3, "of the holder those only that it asked for: {locks:?}");
            assert!(scanner.reply_lsn() > engine.durable_lsn());
            scanner.rollback().unwrap();
        }
    }
    let lock_wait_timeout = Some(Duration::from_millis(1));
    let repeating = engine.begin(TransactionOptions { lock_wait_timeout, ..TransactionOptions::default() });
    let mode = ReadMode::Exclusive(WaitPolicy::LastCommitted);
    assert_eq!(scan(&repeating, &t, 0, mode), Err(EngineError::LockWaitTimeout), "it keeps what it looks at");
}

#[test]
fn unique_inserts_wait_for_each_other() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    let first = begin(&engine);
    first.insert(&t, &encode(&t, &row(1, 7, "first"))).unwrap();
    let second = {
        let (engine, t) = (engine.clone(), t.clone());
        std::thread::spawn(move || {
            let transaction = begin(&engine);
            let result = transaction.insert(&t, &encode(&t, &row(2, 7, "second")));
            transaction.commit().unwrap();
            result
        })
    };
    while engine
        .status_variables()
        .iter()
        .all(|(name, value)| *name != "Innodb_row_lock_current_waits" || *value == 0)
    {
        std::thread::yield_now();
    }
    first.rollback().unwrap();
    second.join().unwrap().expect("the key is free after the rollback");
    assert_eq!(all(&begin(&engine), &t), [row(2, 7, "second")]);
    // Many threads race for few unique keys; each key is taken once.
    let threads: Vec<_> = (0..4i64)
        .map(|thread| {
            let (engine, t) = (engine.clone(), t.clone());
            std::thread::spawn(move || {
                let mut taken = 0;
                for attempt in 0..200i64 {
                    let transaction = begin(&engine);
                    let mark = transaction.mark();
                    let row = row(1000 + thread * 1000 + attempt, 100 + attempt % 50, "race");
                    // Half of the threads go through the path of sorted runs.
                    let result = match thread % 2 {
                        0 => transaction.insert(&t, &encode(&t, &row)).map(|_| ()),
                        _ => transaction.insert_many(&t, &[&encode(&t, &row)]),
                    };
                    match result {
                        Ok(()) => taken += 1,
                        Err(EngineError::DuplicateKey(_)) if thread % 2 == 1 => {
                            transaction.rollback_to(mark).unwrap();
                        }
                        Err(EngineError::DuplicateKey(_) | EngineError::Deadlock) => {}
                        Err(error) => panic!("{error:?}"),
                    }
                    if !transaction.is_rolled_back() {
                        transaction.commit().unwrap();
                    }
                }
                taken
            })
        })
        .collect();
    let taken: i32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(taken, 50);
    sound(&engine);
}

/// A change that finds its row as it wants it has seen the commit that made it so: its reply waits for that commit (C3), also if
/// that comes in the middle of the look.
#[test]
fn a_commit_beside_a_write_is_noted() {
    let engine = open(&SimulatedDisk::new(3));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, "0")]);
    let turns = std::sync::Barrier::new(2);
    let mut met = 0;
    std::thread::scope(|scope| {
        let (sender, commits) = std::sync::mpsc::channel();
        scope.spawn({
            let (engine, t, turns) = (&engine, &t, &turns);
            move || {
                for round in 1..=COMMITS {
                    let writer = begin(engine);
                    writer.update(t, &key(t, 1), &encode(t, &row(1, 1, &round.to_string()))).unwrap();
                    turns.wait();
                    (0..round % 400).for_each(|_| std::hint::spin_loop());
                    sender.send(writer.commit().unwrap()).unwrap();
                    turns.wait();
                }
            }
        });
        for round in 1..=COMMITS {
            let same = encode(&t, &row(1, 1, &round.to_string()));
            let other = begin(&engine);
            turns.wait();
            let outcome = other.update(&t, &key(&t, 1), &same).unwrap();
            turns.wait();
            let commit = commits.recv().unwrap();
            let waits = other.reply_lsn() >= commit || engine.durable_lsn() >= commit;
            met += u64::from(outcome == UpdateOutcome::Unchanged && waits);
        }
    });
    assert_eq!(met, COMMITS, "replies that wait for the commit they saw");
}

/// What the owner of a thread says: the statement was killed, or not.
struct Killer(Arc<AtomicBool>);

impl env::blocking::Hook for Killer {
    fn enter(&self) {}
    fn exit(&self) {}
    fn is_interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A statement that waits for a page ends when it is killed, and its page is free for others; what takes it back waits on.
#[test]
fn a_kill_ends_the_wait_for_a_page() {
    let engine = open(&SimulatedDisk::new(5));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, "0"), row(2, 2, "0")]);
    let (is_read, may_end, killed) =
        (AtomicBool::new(false), AtomicBool::new(false), Arc::new(AtomicBool::new(false)));
    let (began, undone) = (AtomicBool::new(false), AtomicBool::new(false));
    let until = |flag: &AtomicBool| {
        for _ in 0..10_000 {
            if flag.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    std::thread::scope(|scope| {
        let writer = begin(&engine);
        writer.update(&t, &key(&t, 1), &encode(&t, &row(1, 1, "1"))).unwrap();
        scope.spawn(|| {
            let slow = begin(&engine);
            let mut read = |_: &[u8]| {
                is_read.store(true, Ordering::Relaxed);
                until(&may_end);
            };
            assert!(slow.get(&t, 0, &key(&t, 2), ReadMode::Consistent, &mut read).unwrap());
        });
        until(&is_read);
        let victim = scope.spawn({
            let (engine, t, began, undone, killed) = (&engine, &t, &began, &undone, killed.clone());
            move || {
                env::blocking::set_hook(std::rc::Rc::new(Killer(killed)));
                began.store(true, Ordering::Relaxed);
                let outcome = writer.update(t, &key(t, 1), &encode(t, &row(1, 1, "2")));
                assert_eq!(outcome, Err(EngineError::Killed));
                let others = all(&begin(engine), t);
                assert_eq!(others, [row(1, 1, "0"), row(2, 2, "0")], "readers go on");
                undone.store(true, Ordering::Relaxed);
                writer.rollback().unwrap();
            }
        });
        until(&began);
        std::thread::sleep(Duration::from_millis(120));
        assert!(!undone.load(Ordering::Relaxed), "it waits while nobody kills it");
        killed.store(true, Ordering::Relaxed);
        until(&undone);
        std::thread::sleep(Duration::from_millis(120));
        assert!(!victim.is_finished(), "a rollback is not killed");
        may_end.store(true, Ordering::Relaxed);
    });
    assert_eq!(all(&begin(&engine), &t), [row(1, 1, "0"), row(2, 2, "0")]);
    sound(&engine);
}

/// COUNT(*) takes the counters of leaves where everyone sees all of a leaf. Rows that stay are counted once, whatever splits and
/// merges happen between two steps; those that come and go are there or not as the snapshot says.
#[test]
fn leaves_are_counted_once_beside_splits_and_merges() {
    const KEPT: i64 = 500;
    const ROUNDS: i64 = 12;
    let engine = open(&SimulatedDisk::new(6));
    let t = create(&engine, "t");
    let long = "k".repeat(3000);
    insert(&engine, &t, &(0..KEPT).map(|id| row(id * 10, id, &long)).collect::<Vec<_>>());
    engine.purge().unwrap();
    let may_end = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for lane in 1..=2i64 {
            let (engine, t, long, may_end) = (&engine, &t, &long, &may_end);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    // Rows between those that stay fill leaves, which are cut; when they are gone, leaves are joined.
                    let ids = (0..KEPT).map(|id| id * 10 + lane + 2 * (round % 4)).filter(|id| id % 3 != 0);
                    let writer = begin(engine);
                    ids.clone().for_each(|id| {
                        writer.insert(t, &encode(t, &row(id, 100_000 + id * 20 + lane, long))).unwrap();
                    });
                    writer.commit().unwrap();
                    let writer = begin(engine);
                    ids.for_each(|id| writer.delete(t, &key(t, id)).unwrap());
                    writer.commit().unwrap();
                    engine.purge().unwrap();
                }
                may_end.store(true, Ordering::Relaxed);
            });
        }
        let mut counts = 0;
        while !may_end.load(Ordering::Relaxed) || counts == 0 {
            let reader = begin(&engine);
            let seen = scan(&reader, &t, 0, ReadMode::Consistent).unwrap().len() as u64;
            for index in 0..t.indexes().len() {
                let count = reader.count(&t, index, &KeyRange::all()).unwrap();
                assert_eq!(count, seen, "index {index} after {counts} counts");
            }
            counts += 1;
        }
    });
    assert_eq!(all(&begin(&engine), &t).len() as i64, KEPT);
    sound(&engine);
}

const COMMITS: u64 = 60_000;

/// A transaction that was rolled back: what it wrote now, nothing would undo.
fn assert_writes_nothing(dead: &Transaction, t: &Arc<Table>) {
    let new = encode(t, &row(3, 3, "by the dead"));
    assert_eq!(dead.insert(t, &new).map(|_| ()), Err(EngineError::Deadlock));
    assert_eq!(dead.insert_many(t, &[&new]), Err(EngineError::Deadlock));
    assert_eq!(dead.delete(t, &key(t, 2)).map(|_| ()), Err(EngineError::Deadlock));
}

#[test]
fn deadlock_victim_is_rolled_back_and_kill_and_timeout_end_waits() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, "a"), row(2, 2, "b")]);
    let a = begin(&engine);
    a.update(&t, &key(&t, 1), &encode(&t, &row(1, 1, "by a"))).unwrap();
    let other = {
        let (engine, t) = (engine.clone(), t.clone());
        std::thread::spawn(move || {
            let b = begin(&engine);
            b.update(&t, &key(&t, 2), &encode(&t, &row(2, 2, "by b"))).unwrap();
            let result = b.update(&t, &key(&t, 1), &encode(&t, &row(1, 1, "by b")));
            if b.is_rolled_back() {
                assert_writes_nothing(&b, &t);
            }
            (result.map(|_| ()), b.is_rolled_back(), if b.is_rolled_back() { None } else { Some(b.commit()) })
        })
    };
    while engine.locks().iter().all(|lock| lock.granted) {
        std::thread::yield_now();
    }
    let result = a.update(&t, &key(&t, 2), &encode(&t, &row(2, 2, "by a")));
    let a_lost = a.is_rolled_back();
    assert_eq!(a_lost, result == Err(EngineError::Deadlock));
    if a_lost {
        assert_writes_nothing(&a, &t);
    } else {
        a.commit().unwrap();
    }
    let (other_result, b_lost, _) = other.join().unwrap();
    assert_eq!(b_lost, other_result == Err(EngineError::Deadlock));
    assert!(a_lost != b_lost, "exactly one victim");
    let winner = if a_lost { "by b" } else { "by a" };
    assert!(all(&begin(&engine), &t).iter().all(|row| row.2 == winner));

    let holder = begin(&engine);
    holder.delete(&t, &key(&t, 1)).unwrap();
    let impatient = engine.begin(TransactionOptions {
        lock_wait_timeout: Some(Duration::from_millis(20)),
        ..TransactionOptions::default()
    });
    assert_eq!(impatient.delete(&t, &key(&t, 1)), Err(EngineError::LockWaitTimeout));
    let kill = KillFlag::default();
    let killed = engine.begin(TransactionOptions { kill: kill.clone(), ..TransactionOptions::default() });
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        kill.kill();
    });
    assert_eq!(killed.delete(&t, &key(&t, 1)), Err(EngineError::Killed));
    killer.join().unwrap();
    holder.rollback().unwrap();
    drop((impatient, killed));
    assert_eq!(engine.locks().len(), 0);
}

/// Money moves between accounts; every snapshot, at any time, shows the same sum. Purge and flush run beside it.
#[test]
fn bank_transfers_keep_the_sum() {
    const ACCOUNTS: i64 = 20;
    let disk = SimulatedDisk::new(3);
    let engine = threaded(&disk);
    let t = create(&engine, "t");
    let rows: Vec<Row> = (0..ACCOUNTS).map(|id| (id, None, "100".to_owned())).collect();
    insert(&engine, &t, &rows);
    // Snapshots show durable commits only.
    engine.sync_log(engine.status().log_end).unwrap();
    let ending = Arc::new(AtomicBool::new(false));
    let deadlocks = Arc::new(AtomicU64::new(0));
    let sum = |rows: &[Row]| rows.iter().map(|row| row.2.parse::<i64>().unwrap()).sum::<i64>();
    let writers: Vec<_> = (1..4u64)
        .map(|seed| {
            let (engine, t, deadlocks) = (engine.clone(), t.clone(), deadlocks.clone());
            std::thread::spawn(move || {
                let mut random = Random(seed * 7919);
                let mut done = 0;
                while done < 300 {
                    let (from, to) =
                        (random.below(ACCOUNTS as u64) as i64, random.below(ACCOUNTS as u64) as i64);
                    if from == to {
                        continue;
                    }
                    let transaction = begin(&engine);
                    let mut transfer = || {
                        for (id, change) in [(from, -1), (to, 1)] {
                            let Some(row) = read_locked(&transaction, &t, id, WaitPolicy::Wait)? else {
                                panic!("account {id} is gone")
                            };
                            let amount = row.2.parse::<i64>().unwrap() + change;
                            // Changing the key of an index now and then moves its entries.
                            let a = (random.below(3) == 0).then(|| id * 1000 + random.below(1000) as i64);
                            transaction.update(
                                &t,
                                &key(&t, id),
                                &encode(&t, &(id, a, amount.to_string())),
                            )?;
                        }
                        Ok(())
                    };
                    match transfer() {
                        Ok(()) if random.below(10) == 0 => transaction.rollback().unwrap(),
                        Ok(()) => {
                            let lsn = transaction.commit().unwrap();
                            if random.below(4) == 0 {
                                engine.flush_log(lsn).unwrap();
                            }
                            done += 1;
                        }
                        Err(EngineError::Deadlock) => {
                            deadlocks.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => panic!("{error:?}"),
                    }
                }
            })
        })
        .collect();
    let reader = {
        let (engine, t, ending) = (engine.clone(), t.clone(), ending.clone());
        std::thread::spawn(move || {
            let mut snapshots = 0;
            while !ending.load(Ordering::Relaxed) {
                let transaction = engine.begin(TransactionOptions::default());
                for index in 0..t.indexes().len() {
                    let rows = scan(&transaction, &t, index, ReadMode::Consistent).unwrap();
                    assert_eq!(
                        (rows.len(), sum(&rows)),
                        (ACCOUNTS as usize, ACCOUNTS * 100),
                        "index {index}"
                    );
                    assert_eq!(transaction.count(&t, index, &KeyRange::all()).unwrap(), ACCOUNTS as u64);
                }
                snapshots += 1;
            }
            snapshots
        })
    };
    writers.into_iter().for_each(|thread| thread.join().unwrap());
    ending.store(true, Ordering::Relaxed);
    assert!(reader.join().unwrap() > 0);
    sound(&engine);
    engine.purge().unwrap();
    assert_eq!(engine.locks().len(), 0);
    assert_eq!(engine.status().old_versions, 0);
    engine.sync_log(engine.status().log_end).unwrap();
    // The same after a crash.
    let engine = open(&disk.restart_with_durable_state());
    let rows = all(&begin(&engine), &table(&engine, "t"));
    assert_eq!(sum(&rows), ACCOUNTS * 100);
    sound(&engine);
}

/// A transaction larger than the log: its undo moves to the undo tree, and both commit and crash find all of it.
#[test]
fn a_transaction_larger_than_the_log() {
    for crash in [false, true] {
        let disk = SimulatedDisk::new(9);
        let engine = threaded_small_log(&disk);
        let t = create(&engine, "t");
        insert(&engine, &t, &(0..50).map(|id| row(id, id, "kept")).collect::<Vec<_>>());
        let transaction = begin(&engine);
        for round in 0..12i64 {
            for id in 0..50 {
                transaction.update(&t, &key(&t, id), &encode(&t, &row(id, id, &"w".repeat(3000)))).unwrap();
                transaction
                    .insert(
                        &t,
                        &encode(&t, &row(1000 + round * 50 + id, 1000 + round * 50 + id, &"x".repeat(3000))),
                    )
                    .unwrap();
                transaction.update(&t, &key(&t, id), &encode(&t, &row(id, id, &"v".repeat(3000)))).unwrap();
            }
        }
        assert!(engine.status().writers[0].undo_records_saved > 0, "the undo tree is used");
        let mark = transaction.mark();
        for id in 5000..5100 {
            transaction.insert(&t, &encode(&t, &row(id, id, &"y".repeat(3000)))).unwrap();
        }
        transaction.rollback_to(mark).unwrap();
        for id in 6000..6100 {
            transaction.insert(&t, &encode(&t, &row(id, id, &"z".repeat(3000)))).unwrap();
        }
        let disk = if crash {
            engine.sync_log(engine.status().log_end).unwrap();
            let image = disk.restart_with_durable_state();
            std::mem::forget(transaction);
            image
        } else {
            transaction.rollback().unwrap();
            // The undo tree keeps nothing of a transaction that has ended.
            engine.purge().unwrap();
            sound(&engine);
            assert_eq!(all(&begin(&engine), &t).len(), 50);
            engine.sync_log(engine.status().log_end).unwrap();
            disk.restart_with_durable_state()
        };
        let engine = open(&disk);
        let t = table(&engine, "t");
        assert_eq!(all(&begin(&engine), &t), (0..50).map(|id| row(id, id, "kept")).collect::<Vec<_>>());
        sound(&engine);
    }
}

fn threaded_small_log(disk: &SimulatedDisk) -> Engine {
    let options = EngineOptions { background_threads: true, redo_log_bytes: 2 << 20, ..options() };
    Engine::open(env::Environment::simulated(disk.clone(), 1), options).unwrap()
}

fn in_mode(mode: u8) -> Engine {
    let options = EngineOptions { auto_increment_lock_mode: mode, ..options() };
    Engine::open(env::Environment::simulated(SimulatedDisk::new(1), 1), options).unwrap()
}

fn some_values(count: u64) -> AutoIncrementRequest {
    AutoIncrementRequest { count, increment: 1, offset: 1, column_max: u64::MAX }
}

#[test]
fn a_bulk_insert_keeps_its_values_together() {
    let engine = in_mode(1);
    let t = create(&engine, "t");
    let (bulk, mut simple) = (begin(&engine), begin(&engine));
    let take = |transaction: &Transaction, kind| {
        TableCounter::new(transaction, &t, kind).reserve(some_values(2)).map(|range| range.first)
    };
    assert_eq!(take(&simple, InsertKind::Simple), Ok(1), "nobody has the lock");
    assert_eq!(take(&bulk, InsertKind::Bulk), Ok(3));
    std::thread::scope(|scope| {
        let waits = scope.spawn({
            let (simple, take) = (&mut simple, &take);
            move || take(simple, InsertKind::Simple)
        });
        while engine.waits().waiting_count() == 0 {
            std::thread::yield_now();
        }
        assert_eq!(take(&bulk, InsertKind::Bulk), Ok(5), "it has the lock");
        TableCounter::new(&bulk, &t, InsertKind::Simple).give_back();
        assert_eq!(waits.join().unwrap(), Ok(7));
    });
    TableCounter::new(&simple, &t, InsertKind::Simple).give_back();
    assert_eq!(engine.locks().len(), 0, "the statements are over, the transactions are not");
}

#[test]
fn auto_inc_locks_take_part_in_deadlocks() {
    let engine = in_mode(1);
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, "a")]);
    let (mut bulk, simple) = (begin(&engine), begin(&engine));
    assert!(read_locked(&simple, &t, 1, WaitPolicy::Wait).unwrap().is_some());
    TableCounter::new(&bulk, &t, InsertKind::Bulk).reserve(some_values(1)).unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn({
            let (bulk, t) = (&mut bulk, &t);
            move || read_locked(bulk, t, 1, WaitPolicy::Wait)
        });
        while engine.waits().waiting_count() == 0 {
            std::thread::yield_now();
        }
        let closes = TableCounter::new(&simple, &t, InsertKind::Simple).reserve(some_values(1));
        let ends = [closes.map(|_| ()).err(), waits.join().unwrap().map(|_| ()).err()];
        assert!(ends.contains(&Some(EngineError::Deadlock)) && ends.contains(&None), "{ends:?}");
    });
}

#[test]
fn traditional_locking_uses_values_up_row_by_row() {
    let engine = in_mode(0);
    let t = create(&engine, "t");
    let first = begin(&engine);
    assert_eq!(TableCounter::new(&first, &t, InsertKind::Simple).next(some_values(1)).unwrap().first, 1);
    assert_eq!(
        TableCounter::new(&first, &t, InsertKind::Simple).next(some_values(1)).unwrap().first,
        1,
        "no row went in"
    );
    TableCounter::new(&first, &t, InsertKind::Simple).raise(1).unwrap();
    assert_eq!(TableCounter::new(&first, &t, InsertKind::Simple).next(some_values(1)).unwrap().first, 2);
    assert_eq!(engine.locks().len(), 1);
    first.commit().unwrap();
    assert_eq!(engine.locks().len(), 0, "a transaction that ends gives it back too");
}

#[test]
fn a_strict_snapshot_lets_the_first_updater_win() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, "a"), row(2, 2, "b"), row(3, 3, "c")]);
    let begin_strict = |isolation| {
        let sees_at_least = engine.last_commit();
        let default = TransactionOptions::default();
        engine.begin(TransactionOptions { isolation, strict_snapshot: true, sees_at_least, ..default })
    };
    for (isolation, strict) in [(Isolation::RepeatableRead, true), (Isolation::ReadCommitted, false)] {
        let reader = begin_strict(isolation);
        reader.take_snapshot().unwrap();
        let other = begin(&engine);
        other.update(&t, &key(&t, 1), &encode(&t, &row(1, 1, "changed"))).unwrap();
        other.insert(&t, &encode(&t, &row(4, 4, "new"))).unwrap();
        other.commit().unwrap();
        let changed = if strict { Some(EngineError::RecordChanged) } else { None };
        for id in [1, 4] {
            assert_eq!(read_locked(&reader, &t, id, WaitPolicy::Wait).err(), changed, "{isolation:?} {id}");
            let updated = reader.update(&t, &key(&t, id), &encode(&t, &row(id, id, "mine")));
            assert_eq!(updated.err(), changed, "{isolation:?} {id}");
        }
        assert!(read_locked(&reader, &t, 2, WaitPolicy::Wait).unwrap().is_some(), "nobody changed it");
        reader.rollback().unwrap();
        // Without a snapshot there is nothing that is older.
        assert!(read_locked(&begin_strict(isolation), &t, 1, WaitPolicy::Wait).unwrap().is_some());
        let cleaner = begin(&engine);
        cleaner.delete(&t, &key(&t, 4)).unwrap();
        cleaner.commit().unwrap();
    }
}

/// An index leads to no row any more where the snapshot has one: that is a change, too.
#[test]
fn a_strict_snapshot_misses_no_row_that_an_index_has_lost() {
    let engine = open(&SimulatedDisk::new(1));
    let t = create(&engine, "t");
    insert(&engine, &t, &[row(1, 1, "a"), row(2, 2, "b"), row(3, 3, "c")]);
    let options = TransactionOptions {
        strict_snapshot: true,
        sees_at_least: engine.last_commit(),
        ..TransactionOptions::default()
    };
    for moves in [true, false] {
        let reader =
            engine.begin(TransactionOptions { sees_at_least: engine.last_commit(), ..options.clone() });
        reader.take_snapshot().unwrap();
        let other = begin(&engine);
        match moves {
            true => drop(other.update(&t, &key(&t, 2), &encode(&t, &row(2, 9, "b"))).unwrap()),
            false => other.delete(&t, &key(&t, 3)).unwrap(),
        }
        other.commit().unwrap();
        let found = scan(&reader, &t, 1, ReadMode::Exclusive(WaitPolicy::Wait));
        assert_eq!(found.err(), Some(EngineError::RecordChanged), "moves: {moves}");
        reader.rollback().unwrap();
    }
}

#[test]
fn a_timeout_may_roll_the_whole_transaction_back() {
    for rollback_on_timeout in [false, true] {
        let options = EngineOptions { rollback_on_timeout, ..options() };
        let environment = env::Environment::simulated(SimulatedDisk::new(1), 1);
        let engine = Engine::open(environment, options).unwrap();
        let t = create(&engine, "t");
        insert(&engine, &t, &[row(1, 1, "a"), row(2, 2, "b")]);
        let holder = begin(&engine);
        assert!(read_locked(&holder, &t, 1, WaitPolicy::Wait).unwrap().is_some());
        let waiter = begin(&engine);
        waiter.set_lock_wait_timeout(Duration::from_millis(20));
        waiter.update(&t, &key(&t, 2), &encode(&t, &row(2, 2, "changed"))).unwrap();
        assert_eq!(read_locked(&waiter, &t, 1, WaitPolicy::Wait), Err(EngineError::LockWaitTimeout));
        assert_eq!(waiter.is_rolled_back(), rollback_on_timeout);
        let is_free = read_locked(&holder, &t, 2, WaitPolicy::NoWait).is_ok();
        assert_eq!(is_free, rollback_on_timeout);
    }
}
