//! Metadata locks with threads that sleep: what `explorer.rs` leaves out.

use super::*;
use engine::KillFlag;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

fn new_locks() -> Arc<MetadataLocks> {
    Arc::new(MetadataLocks::new(Arc::new(env::RealClock), Arc::default()))
}

fn take(locks: &MetadataLocks, session: u32, table: &str, mode: LockMode, timeout_ms: u64) -> WaitEnd {
    take_unless_killed(locks, session, table, mode, timeout_ms, &KillFlag::default())
}

fn take_unless_killed(
    locks: &MetadataLocks,
    session: u32,
    table: &str,
    mode: LockMode,
    timeout_ms: u64,
    kill: &KillFlag,
) -> WaitEnd {
    let key = LockKey::table("s", table);
    let limit = WaitLimit { timeout: Duration::from_millis(timeout_ms), kill };
    let duration = LockDuration::Transaction;
    locks.acquire(&LockRequest { session, key: &key, mode, duration }, limit)
}

fn give_back(locks: &MetadataLocks, session: u32, table: &str) {
    locks.release(session, &LockKey::table("s", table), LockDuration::Transaction);
}

fn wait_for_rows(locks: &MetadataLocks, count: usize) {
    while locks.rows().len() < count {
        std::thread::yield_now();
    }
}

#[test]
fn a_kill_ends_a_wait() {
    let (locks, kill) = (new_locks(), KillFlag::default());
    assert_eq!(take(&locks, 1, "t", LockMode::Read, 0), WaitEnd::Granted);
    std::thread::scope(|scope| {
        let ddl = scope.spawn(|| take_unless_killed(&locks, 2, "t", LockMode::Exclusive, 60_000, &kill));
        wait_for_rows(&locks, 2);
        kill.kill();
        assert_eq!(ddl.join().unwrap(), WaitEnd::Killed);
    });
    assert_eq!(locks.rows().len(), 1);
    assert_eq!(locks.waits.waiting_count(), 0);
}

#[test]
fn what_was_handed_over_is_held_against_its_session_too() {
    let locks = new_locks();
    assert_eq!(take(&locks, 1, "t", LockMode::Write, 0), WaitEnd::Granted);
    let key = LockKey::table("s", "t");
    std::thread::scope(|scope| {
        let ddl = scope.spawn(|| take(&locks, 2, "t", LockMode::Exclusive, 60_000));
        wait_for_rows(&locks, 2);
        locks.hand_over(1, &key, 9);
        give_back(&locks, 1, "t");
        assert_eq!(take(&locks, 1, "t", LockMode::Read, 0), WaitEnd::TimedOut, "DDL goes first");
        // Session 1 may wait for whoever waits for the heir: no cycle.
        assert_eq!(take(&locks, 1, "u", LockMode::Exclusive, 0), WaitEnd::Granted);
        give_back(&locks, 9, "t");
        assert_eq!(ddl.join().unwrap(), WaitEnd::Granted);
    });
    assert_eq!(take(&locks, 9, "t", LockMode::Read, 0), WaitEnd::TimedOut);
}

#[test]
fn the_one_that_closes_a_cycle_of_equals_is_the_victim() {
    let locks = new_locks();
    assert_eq!(take(&locks, 1, "a", LockMode::Read, 0), WaitEnd::Granted);
    assert_eq!(take(&locks, 2, "b", LockMode::Read, 0), WaitEnd::Granted);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| take(&locks, 1, "b", LockMode::Exclusive, 60_000));
        wait_for_rows(&locks, 3);
        assert_eq!(take(&locks, 2, "a", LockMode::Exclusive, 60_000), WaitEnd::Victim);
        give_back(&locks, 2, "b");
        assert_eq!(first.join().unwrap(), WaitEnd::Granted);
    });
}

#[test]
fn a_reader_is_a_victim_before_ddl() {
    let locks = new_locks();
    assert_eq!(take(&locks, 1, "a", LockMode::Read, 0), WaitEnd::Granted);
    assert_eq!(take(&locks, 2, "b", LockMode::Exclusive, 0), WaitEnd::Granted);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let end = take(&locks, 1, "b", LockMode::Read, 60_000);
            give_back(&locks, 1, "a");
            end
        });
        wait_for_rows(&locks, 3);
        assert_eq!(take(&locks, 2, "a", LockMode::Exclusive, 60_000), WaitEnd::Granted);
        assert_eq!(reader.join().unwrap(), WaitEnd::Victim);
    });
}

/// Whoever waits does so for somebody, and nobody was chosen to end a cycle.
fn check_waits(locks: &MetadataLocks, waits: &[(u32, BegunWait)], case: usize) {
    for (session, begun) in waits {
        let mut blockers = 0;
        let tell = &mut |_| blockers += 1;
        match begun.waiter.decided() {
            Some(end) => assert_eq!(end, WaitEnd::Granted, "case {case}, session {session}"),
            None => {
                locks.table.tell_blockers(&begun.wait.key, begun.wait.number, begun.id, tell);
                assert!(blockers > 0, "case {case}: {session} waits for nobody");
            }
        }
    }
}

/// With max_write_lock_count, four sessions that come in any order of modes while a fifth reads; one gives up, the fifth changes rows
/// and so passes them: all go on in the end, and whoever need not wait goes on at once.
#[test]
fn requests_that_are_passed_no_more_stop_nobody_for_ever() {
    use LockMode::*;
    const MODES: [LockMode; 5] = [Read, Write, ReadOnly, NoReadWrite, Exclusive];
    let orders = MODES.len().pow(4);
    for case in 0..orders * 2 * 5 {
        let (passes_max, gives_up) = (1 + case / orders % 2, case / orders / 2);
        let locks = new_locks();
        locks.set_passes_max(passes_max as u64);
        assert_eq!(take(&locks, 9, "t", Read, 0), WaitEnd::Granted);
        let (key, duration) = (LockKey::table("s", "t"), LockDuration::Transaction);
        let mut waits = Vec::new();
        for session in 0..4 {
            let mode = MODES[case / MODES.len().pow(session) % MODES.len()];
            if let Begun::Waits(begun) =
                locks.begin(&LockRequest { session, key: &key, mode, duration }, true)
            {
                waits.push((session, begun));
            }
        }
        if gives_up < waits.len() {
            let (_, begun) = waits.remove(gives_up);
            let _end = locks.finish(&begun, WaitEnd::TimedOut);
        }
        check_waits(&locks, &waits, case);
        let _end = take(&locks, 9, "t", Write, 0);
        check_waits(&locks, &waits, case);
        let holds = |session: u32| !waits.iter().any(|(waiting, _)| *waiting == session);
        [9, 0, 1, 2, 3]
            .into_iter()
            .filter(|session| holds(*session))
            .for_each(|session| give_back(&locks, session, "t"));
        while !waits.is_empty() {
            check_waits(&locks, &waits, case);
            let next = waits.iter().position(|(_, begun)| begun.waiter.decided().is_some());
            let (session, begun) =
                waits.remove(next.unwrap_or_else(|| panic!("case {case}: nobody goes on")));
            assert_eq!(locks.finish(&begun, WaitEnd::Granted), WaitEnd::Granted);
            give_back(&locks, session, "t");
        }
        assert_eq!((locks.rows().len(), locks.waits.waiting_count()), (0, 0));
    }
}

/// max_write_lock_count: with a limit of 1 a reader that a first DDL passed goes before a second one.
#[test]
fn a_request_is_passed_only_so_often() {
    for (passes_max, first) in [(u64::MAX, 4), (1, 3)] {
        let locks = new_locks();
        locks.set_passes_max(passes_max);
        assert_eq!(take(&locks, 1, "t", LockMode::Exclusive, 0), WaitEnd::Granted);
        let (order, locks) = (AtomicU32::new(0), &locks);
        std::thread::scope(|scope| {
            let mut waiters = Vec::new();
            for (session, mode) in [(3, LockMode::Read), (2, LockMode::Exclusive), (4, LockMode::Exclusive)] {
                let order = &order;
                waiters.push(scope.spawn(move || {
                    assert_eq!(take(locks, session, "t", mode, 60_000), WaitEnd::Granted);
                    if session != 2 {
                        let _was = order.compare_exchange(0, session, Ordering::SeqCst, Ordering::SeqCst);
                    }
                    give_back(locks, session, "t");
                }));
                wait_for_rows(locks, waiters.len() + 1);
            }
            give_back(locks, 1, "t");
        });
        assert_eq!(order.load(Ordering::SeqCst), first);
    }
}

/// The cost of one more waiter must not rise with the number of those that wait for the same.
#[test]
fn a_thousand_waiters_are_told_by_few() {
    let locks = new_locks();
    let key = LockKey::user_lock("u");
    let ask = |session| LockRequest {
        session,
        key: &key,
        mode: LockMode::Exclusive,
        duration: LockDuration::Explicit,
    };
    assert!(matches!(locks.begin(&ask(1), true), Begun::Ended(WaitEnd::Granted)));
    let mut waits = Vec::new();
    for session in 2..1002 {
        let Begun::Waits(wait) = locks.begin(&ask(session), true) else { panic!("granted") };
        waits.push(wait);
    }
    let mut told = 0;
    let last = waits.last().unwrap();
    let nobody = WaiterId::session(0);
    assert!(locks.table.tell_blockers(&key, last.wait.number, nobody, &mut |_| told += 1));
    assert_eq!(told, 1);
}

/// Sessions that write, read, define and lock the server, with sleeping and time-outs: what they see under their locks must be
/// what the locks promise: no gate is passed while it closes. Each gives way inside of its lock, so that others come in if
/// they can; [`Mistake::OverlooksIntentions`] and [`Mistake::PassesTheGate`] are seen by it.
#[test]
fn threads_see_what_their_locks_promise() {
    const ROUNDS: u32 = 3_000;
    let (locks, writers, still) = (new_locks(), AtomicUsize::new(0), AtomicUsize::new(0));
    let (locks, writers, still) = (&locks, &writers, &still);
    let kill = KillFlag::default();
    let limit = WaitLimit { timeout: Duration::from_secs(60), kill: &kill };
    std::thread::scope(|scope| {
        for session in 1..=4 {
            scope.spawn(move || {
                let intents = locks.enrol(session);
                for _ in 0..ROUNDS {
                    assert_eq!(locks.intend(&intents, Intent::Statement, limit), WaitEnd::Granted);
                    writers.fetch_add(1, Ordering::SeqCst);
                    std::thread::yield_now();
                    assert_eq!(still.load(Ordering::SeqCst), 0, "the server is locked");
                    writers.fetch_sub(1, Ordering::SeqCst);
                    locks.relent(&intents, Intent::Statement);
                }
            });
        }
        for session in 5..=6 {
            scope.spawn(move || {
                for _ in 0..ROUNDS / 10 {
                    assert_eq!(locks.lock_global(session, limit), WaitEnd::Granted);
                    still.fetch_add(1, Ordering::SeqCst);
                    std::thread::yield_now();
                    assert_eq!(writers.load(Ordering::SeqCst), 0, "somebody changes something");
                    still.fetch_sub(1, Ordering::SeqCst);
                    locks.unlock_global(session);
                }
            });
        }
    });
    assert!(locks.rows().is_empty());
}
