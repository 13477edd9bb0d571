//! Tests of [`Latch`] with real threads.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use env::Threads;

use super::*;

#[test]
fn holders_exclude_each_other() {
    for latch in [Latch::default(), biased()] {
        let holds = [latch.try_shared().unwrap(), latch.try_shared().unwrap()];
        assert!(!latch.try_exclusive());
        holds.iter().for_each(|hold| latch.release_shared(hold));
        assert!(latch.try_exclusive() && latch.try_shared().is_none() && !latch.try_exclusive());
        let holds = [latch.downgrade(), latch.try_shared().unwrap()];
        assert!(!latch.try_exclusive());
        holds.iter().for_each(|hold| latch.release_shared(hold));
        assert!(latch.try_exclusive());
        latch.release_exclusive();
    }
}

/// A latch that very many readers had in a row.
fn biased() -> Latch {
    let latch = Latch::default();
    for _ in 0..1 << READERS_BITS {
        assert!(!is_biased(&latch));
        let hold = latch.shared();
        assert!(hold.0.is_none());
        latch.release_shared(&hold);
    }
    assert!(is_biased(&latch));
    latch
}

fn is_biased(latch: &Latch) -> bool {
    latch.word.load(Ordering::Relaxed) & BIASED != 0
}

/// Nobody holds it or waits for it.
fn is_left_alone(latch: &Latch) -> bool {
    latch.word.load(Ordering::Relaxed) & (VERSION_STEP - 1) & !FAVOUR == 0
}

#[test]
fn readers_of_a_biased_latch_do_not_write_it() {
    let latch = biased();
    let word = || latch.word.load(Ordering::Relaxed);
    let before = word();
    let holds: Vec<_> = (0..4).map(|_| latch.try_shared().unwrap()).collect();
    assert!(word() == before && holds.iter().all(|hold| hold.0.is_some()));
    // Who tries finds the slots and takes the bias away; those that have a slot keep it until they are through.
    assert!(!latch.try_exclusive() && !is_biased(&latch));
    let counted = latch.try_shared().unwrap();
    assert!(counted.0.is_none());
    holds.iter().for_each(|hold| latch.release_shared(hold));
    assert!(!latch.try_exclusive());
    latch.release_shared(&counted);
    let version = word() / VERSION_STEP;
    assert!(latch.try_exclusive());
    latch.release_exclusive();
    assert_eq!(word(), (version + 1) * VERSION_STEP);
}

#[test]
fn a_writer_begins_the_count_of_readers_anew() {
    let latch = Latch::default();
    for _ in 0..100 {
        for _ in 1..1 << READERS_BITS {
            latch.release_shared(&latch.try_shared().unwrap());
        }
        assert!(latch.try_exclusive());
        latch.release_exclusive();
        assert!(!is_biased(&latch));
    }
}

#[test]
fn holds_beyond_a_threads_slots_are_counted() {
    let latch = biased();
    let holds: Vec<_> = (0..40).map(|_| latch.try_shared().unwrap()).collect();
    let slots = holds.iter().filter(|hold| hold.0.is_some()).count();
    assert_eq!(latch.word.load(Ordering::Relaxed) & SHARED_MASK, 40 - slots as u64);
    assert!(slots > 1 && slots < 40);
    holds.iter().for_each(|hold| {
        assert!(!latch.try_exclusive());
        latch.release_shared(hold);
    });
    assert!(latch.try_exclusive());
}

#[test]
fn a_reader_comes_back_beside_a_waiting_writer() {
    for latch in [Latch::default(), biased()] {
        come_back_beside_a_waiting_writer(latch);
    }
}

fn come_back_beside_a_waiting_writer(latch: Latch) {
    let shared = Arc::new((latch, AtomicU64::new(0)));
    let first = shared.0.shared();
    let writer = {
        let shared = Arc::clone(&shared);
        let body = move || {
            shared.0.exclusive();
            shared.1.store(1, Ordering::Relaxed);
            shared.0.release_exclusive();
        };
        env::RealThreads.spawn("writer", Box::new(body))
    };
    while shared.0.word.load(Ordering::Relaxed) & WRITER_WAITS == 0 {
        std::thread::yield_now();
    }
    let second = shared.0.shared();
    assert_eq!(shared.1.load(Ordering::Relaxed), 0);
    shared.0.release_shared(&first);
    shared.0.release_shared(&second);
    assert!(writer.join());
    assert_eq!(shared.1.load(Ordering::Relaxed), 1);
}

/// Waits until the place of the latch has so many waiters.
fn parked(latch: &Latch, count: usize) {
    while latch.place().lock().count(latch.address()) < count {
        std::thread::yield_now();
    }
}

#[test]
fn writers_come_in_the_order_of_their_arrival() {
    let latch = Latch::default();
    let came = std::sync::Mutex::new(Vec::new());
    latch.exclusive();
    std::thread::scope(|scope| {
        for (number, exclusive) in [true, false, true, true, false].into_iter().enumerate() {
            let (latch, came) = (&latch, &came);
            scope.spawn(move || {
                let push = || came.lock().unwrap().push(number);
                if exclusive {
                    assert!(latch.wait_exclusive(&|| false));
                    push();
                    latch.release_exclusive();
                } else {
                    let hold = latch.wait_shared(&|| false).unwrap();
                    push();
                    latch.release_shared(&hold);
                }
            });
            parked(latch, number + 1);
        }
        latch.release_exclusive();
    });
    let came = came.into_inner().unwrap();
    let writers: Vec<_> = came.into_iter().filter(|number| [0, 2, 3].contains(number)).collect();
    assert_eq!(writers, [0, 2, 3]);
    assert!(is_left_alone(&latch));
}

#[test]
fn a_killed_wait_ends_and_readers_go_on() {
    for latch in [Latch::default(), biased()] {
        let first = latch.shared();
        assert!(!latch.wait_exclusive(&|| true));
        let second = latch.try_shared().expect("nobody stands back for a writer that has left");
        latch.release_shared(&first);
        latch.release_shared(&second);
        latch.exclusive();
        assert!(latch.wait_shared(&|| true).is_none() && !latch.wait_exclusive(&|| true));
        latch.release_exclusive();
        assert!(is_left_alone(&latch));
    }
}

#[test]
fn threads_lose_no_update_and_no_wakeup() {
    // The second time the latch is biased to readers most of the time.
    for (turns, writes) in [(3, 2), (300, 1)] {
        write_and_read_by_turns(turns, writes);
    }
}

fn write_and_read_by_turns(turns: u64, writes: u64) {
    const THREADS: u64 = 4;
    const ROUNDS: u64 = 3000;
    let shared = Arc::new((Latch::default(), AtomicU64::new(0), AtomicU64::new(0)));
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let shared = Arc::clone(&shared);
            let body = move || {
                let (latch, first, second) = &*shared;
                for round in 0..ROUNDS {
                    if (round + thread) % turns >= writes {
                        let hold = latch.shared();
                        let seen = first.load(Ordering::Relaxed);
                        if round % 16 == 0 {
                            std::thread::yield_now();
                        }
                        assert_eq!(seen, second.load(Ordering::Relaxed));
                        latch.release_shared(&hold);
                    } else {
                        latch.exclusive();
                        first.store(first.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        if round % 64 == 0 {
                            std::thread::yield_now();
                        }
                        second.store(second.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        latch.release_exclusive();
                    }
                }
            };
            env::RealThreads.spawn("latcher", Box::new(body))
        })
        .collect();
    assert!(threads.into_iter().all(env::JoinHandle::join));
    let (_, first, second) = &*shared;
    assert_eq!(first.load(Ordering::Relaxed), THREADS * ROUNDS * writes / turns);
    assert_eq!(first.load(Ordering::Relaxed), second.load(Ordering::Relaxed));
}
