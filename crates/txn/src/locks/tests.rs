//! Tests of the lock manager: queue rules, deadlocks, kill, time-out, and a stress run with real threads.
#![allow(clippy::disallowed_methods)]

use super::*;
use std::sync::atomic::AtomicI64;

const INDEX: IndexId = IndexId(1);
const S: LockMode = LockMode::SHARED_RECORD;
const X: LockMode = LockMode::EXCLUSIVE_RECORD;

fn options(timeout_ms: u64) -> WaitOptions {
    WaitOptions {
        timeout: Duration::from_millis(timeout_ms),
        kill: KillFlag::default(),
        deadlock_detect: true,
    }
}

fn ask(locks: &LockManager, owner: &Arc<Owner>, key: &[u8], mode: LockMode) -> Request {
    locks.request(owner, INDEX, key, mode, None, true)
}

#[test]
fn shared_locks_agree_and_exclusive_ones_queue() {
    let locks = LockManager::new();
    let (a, b, c) = (locks.owner(1), locks.owner(2), locks.owner(3));
    assert_eq!(ask(&locks, &a, b"k", S), Request::Granted);
    assert_eq!(ask(&locks, &a, b"k", S), Request::Held);
    assert_eq!(ask(&locks, &b, b"k", S), Request::Granted);
    assert_eq!(ask(&locks, &c, b"k", X), Request::Queued);
    assert_eq!(locks.request(&locks.owner(4), INDEX, b"k", S, None, false), Request::Refused);
    locks.finish(&a);
    locks.finish(&b);
    assert_eq!(locks.wait(&c, &options(0), || 0), WaitEnd::Granted);
    locks.finish(&c);
    assert_eq!(locks.object_count(), 0);
}

#[test]
fn first_come_first_served() {
    let locks = LockManager::new();
    let (a, b, c) = (locks.owner(1), locks.owner(2), locks.owner(3));
    assert_eq!(ask(&locks, &a, b"k", S), Request::Granted);
    assert_eq!(ask(&locks, &b, b"k", X), Request::Queued);
    // A reader behind a waiting writer waits too, or writers would starve.
    assert_eq!(ask(&locks, &c, b"k", S), Request::Queued);
    // But who holds S already may raise it past the waiter that waits for it.
    assert_eq!(ask(&locks, &a, b"k", X), Request::Granted);
    locks.finish(&a);
    assert_eq!(locks.wait(&b, &options(0), || 0), WaitEnd::Granted);
    assert_eq!(locks.wait(&c, &options(0), || 0), WaitEnd::TimedOut);
    locks.finish(&b);
    locks.finish(&c);
    assert_eq!(locks.object_count(), 0);
}

#[test]
fn a_writers_implicit_lock_becomes_an_object_for_the_waiter() {
    let locks = LockManager::new();
    let (writer, waiter) = (locks.owner(1), locks.owner(2));
    assert!(!locks.blocks_write(&waiter, INDEX, b"k"));
    assert_eq!(locks.request(&waiter, INDEX, b"k", X, Some(&writer), true), Request::Queued);
    assert!(!locks.blocks_write(&writer, INDEX, b"k"), "the writer holds X");
    assert!(locks.blocks_write(&waiter, INDEX, b"k"));
    locks.finish(&writer);
    assert_eq!(locks.wait(&waiter, &options(0), || 0), WaitEnd::Granted);
    // A finished writer gets no object any more.
    let third = locks.owner(3);
    assert_eq!(locks.request(&third, INDEX, b"other", X, Some(&writer), true), Request::Granted);
    locks.finish(&waiter);
    locks.finish(&third);
    assert_eq!(locks.object_count(), 0);
}

#[test]
fn the_lightest_of_a_cycle_is_the_victim() {
    let locks = Arc::new(LockManager::new());
    let (a, b) = (locks.owner(1), locks.owner(2));
    a.rows_changed.store(100, Ordering::Relaxed);
    ask(&locks, &a, b"1", X);
    ask(&locks, &b, b"2", X);
    assert_eq!(ask(&locks, &b, b"1", X), Request::Queued);
    let waiting = {
        let (locks, b) = (locks.clone(), b.clone());
        std::thread::spawn(move || {
            let end = locks.wait(&b, &options(20_000), || 0);
            locks.finish(&b);
            end
        })
    };
    assert_eq!(ask(&locks, &a, b"2", X), Request::Queued);
    assert_eq!(locks.wait(&a, &options(20_000), || 0), WaitEnd::Granted);
    assert_eq!(waiting.join().unwrap(), WaitEnd::Victim);
    assert_eq!(locks.counters().deadlocks.load(Ordering::Relaxed), 1);
    locks.finish(&a);
    assert_eq!(locks.object_count(), 0);
}

#[test]
fn a_long_cycle_is_found_and_a_long_chain_is_not_one() {
    let locks = LockManager::new();
    let owners: Vec<_> = (0..1000u64).map(|at| locks.owner(at)).collect();
    let key = |at: usize| (at as u64).to_be_bytes();
    for (at, owner) in owners.iter().enumerate() {
        ask(&locks, owner, &key(at), X);
    }
    for (at, owner) in owners.iter().enumerate().take(owners.len() - 1) {
        assert_eq!(ask(&locks, owner, &key(at + 1), X), Request::Queued);
        locks.search_deadlock(owner);
    }
    assert_eq!(locks.counters().deadlocks.load(Ordering::Relaxed), 0);
    let last = &owners[owners.len() - 1];
    assert_eq!(ask(&locks, last, &key(0), X), Request::Queued);
    assert_eq!(locks.wait(last, &options(20_000), || 0), WaitEnd::Victim);
    owners.iter().for_each(|owner| locks.finish(owner));
    assert_eq!(locks.object_count(), 0);
}

#[test]
fn kill_ends_a_wait() {
    let locks = Arc::new(LockManager::new());
    let (a, b) = (locks.owner(1), locks.owner(2));
    ask(&locks, &a, b"k", X);
    ask(&locks, &b, b"k", X);
    let wait = options(20_000);
    let kill = wait.kill.clone();
    let waiting = {
        let (locks, b) = (locks.clone(), b.clone());
        std::thread::spawn(move || locks.wait(&b, &wait, || 0))
    };
    while locks.counters().waiting.load(Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    kill.kill();
    assert_eq!(waiting.join().unwrap(), WaitEnd::Killed);
    locks.finish(&a);
    locks.finish(&b);
    assert_eq!(locks.object_count(), 0);
}

#[test]
fn unlock_only_what_came_after() {
    let locks = LockManager::new();
    let (a, b) = (locks.owner(1), locks.owner(2));
    ask(&locks, &a, b"early", X);
    let keep = a.lock_count();
    ask(&locks, &a, b"late", X);
    locks.unlock(&a, INDEX, b"early", keep);
    locks.unlock(&a, INDEX, b"late", keep);
    assert_eq!(ask(&locks, &b, b"late", X), Request::Granted);
    assert_eq!(locks.request(&b, INDEX, b"early", X, None, false), Request::Refused);
}

/// Threads take random pairs of locks. At no time do two of them hold X on one key, and every wait ends.
#[test]
fn stress_mutual_exclusion() {
    const KEYS: u64 = 5;
    let locks = Arc::new(LockManager::new());
    let holders: Arc<Vec<AtomicI64>> = Arc::new((0..KEYS).map(|_| AtomicI64::new(0)).collect());
    let threads: Vec<_> = (0..4u64)
        .map(|thread| {
            let (locks, holders) = (locks.clone(), holders.clone());
            std::thread::spawn(move || {
                let mut random = thread * 7919 + 1;
                for _ in 0..3000 {
                    let owner = locks.owner(thread);
                    let mut held = Vec::new();
                    for _ in 0..3 {
                        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                        let key = (random >> 33) % KEYS;
                        let mode = if random >> 63 == 0 { S } else { X };
                        let got = match ask(&locks, &owner, &key.to_be_bytes(), mode) {
                            Request::Queued => locks.wait(&owner, &options(20_000), || 0),
                            _ => WaitEnd::Granted,
                        };
                        match got {
                            WaitEnd::Granted => {}
                            WaitEnd::Victim => break,
                            other => panic!("{other:?}"),
                        }
                        if mode == X && !held.contains(&key) {
                            held.push(key);
                            assert_eq!(holders[key as usize].fetch_add(1, Ordering::SeqCst), 0);
                        }
                    }
                    held.iter().for_each(|key| {
                        holders[*key as usize].fetch_sub(1, Ordering::SeqCst);
                    });
                    locks.finish(&owner);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(locks.object_count(), 0);
}
