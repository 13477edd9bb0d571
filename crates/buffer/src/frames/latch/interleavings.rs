//! All interleavings of a few threads at a latch. Run: RUSTFLAGS="--cfg loom" cargo test -p buffer --lib latch::interleavings

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::*;

struct Guarded {
    latch: Latch,
    value: UnsafeCell<u32>,
}

/// The latch at first: of a page that was never read, and of one that is biased to readers.
const AT_FIRST: [u64; 2] = [0, BIASED | SLOTS];

fn check(body: impl Fn(Arc<Guarded>) + Copy + Sync + Send + 'static) {
    for word in AT_FIRST {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            body(Arc::new(Guarded {
                latch: Latch { word: AtomicU64::new(word) },
                value: UnsafeCell::new(0),
            }));
        });
    }
}

/// Another thread, which has the latch as well.
fn beside(shared: &Arc<Guarded>, body: impl FnOnce(&Guarded) + 'static) -> thread::JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || body(&shared))
}

fn add(guarded: &Guarded) {
    guarded.latch.exclusive();
    add_and_release(guarded);
}

fn try_to_add(guarded: &Guarded) -> bool {
    let latched = guarded.latch.try_exclusive();
    if latched {
        add_and_release(guarded);
    }
    latched
}

fn add_and_release(guarded: &Guarded) {
    // loom checks by itself that nobody else is at the value.
    guarded.value.with_mut(|value| {
        // SAFETY: The exclusive latch is held.
        unsafe { *value += 1 }
    });
    guarded.latch.release_exclusive();
}

fn read(guarded: &Guarded) -> u32 {
    let hold = guarded.latch.shared();
    let value = value(guarded);
    guarded.latch.release_shared(&hold);
    value
}

/// The value, for whoever holds the latch shared.
fn value(guarded: &Guarded) -> u32 {
    guarded.value.with(|value| {
        // SAFETY: The shared latch is held.
        unsafe { *value }
    })
}

#[test]
fn writers_exclude_each_other_and_none_sleeps_on() {
    check(|shared| {
        let writer = beside(&shared, add);
        add(&shared);
        writer.join().unwrap();
        assert_eq!(read(&shared), 2);
    });
}

#[test]
fn a_writer_waits_for_readers_and_is_woken() {
    check(|shared| {
        let reader = beside(&shared, |shared| assert!(read(shared) <= 1));
        let writer = beside(&shared, add);
        assert!(read(&shared) <= 1);
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(read(&shared), 1);
    });
}

#[test]
fn three_writers_come_one_after_the_other() {
    check(|shared| {
        let threads = [beside(&shared, add), beside(&shared, add)];
        add(&shared);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(shared.latch.word.load(Ordering::Relaxed) % VERSION_STEP, 0, "nobody is left behind");
        assert_eq!(read(&shared), 3);
    });
}

/// A writer that is killed while it waits leaves, and who stood back for it goes on beside the reader that is in.
#[test]
fn a_killed_writer_leaves_nobody_behind() {
    check(|shared| {
        let left = Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let hold = shared.latch.shared();
        let writer = {
            let left = Arc::clone(&left);
            beside(&shared, move |shared| {
                assert!(!shared.latch.wait_exclusive(&|| true));
                left.store(true, Ordering::Release);
            })
        };
        let reader = beside(&shared, |shared| assert_eq!(read(shared), 0));
        // In a model no time passes: sleepers are told to look around.
        while !left.load(Ordering::Acquire) {
            shared.latch.place().disturb(true);
            thread::yield_now();
        }
        writer.join().unwrap();
        reader.join().unwrap();
        shared.latch.release_shared(&hold);
        add(&shared);
        assert_eq!(read(&shared), 1);
    });
}

#[test]
fn a_downgrade_lets_readers_in_and_keeps_writers_out() {
    check(|shared| {
        let reader = beside(&shared, |shared| assert!(read(shared) <= 2));
        let writer = beside(&shared, add);
        shared.latch.exclusive();
        // SAFETY: The exclusive latch is held.
        let written = shared.value.with_mut(|value| unsafe {
            *value += 1;
            *value
        });
        let hold = shared.latch.downgrade();
        assert_eq!(value(&shared), written, "the latch is held since, without a gap");
        shared.latch.release_shared(&hold);
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(read(&shared), 2);
    });
}

/// One that is in by a slot, and one more that is counted in the word: a model has one slot a thread.
#[test]
fn a_writer_waits_for_both_holds_of_a_thread() {
    check(|shared| {
        let writer = beside(&shared, add);
        let first = shared.latch.shared();
        let second = shared.latch.try_shared_before_writers();
        let seen = value(&shared);
        shared.latch.release_shared(&first);
        if let Some(second) = second {
            assert_eq!(value(&shared), seen);
            shared.latch.release_shared(&second);
        }
        writer.join().unwrap();
        assert_eq!(read(&shared), 1);
    });
}

#[test]
fn who_only_tries_has_the_latch_alone_or_not_at_all() {
    check(|shared| {
        let reader = beside(&shared, |shared| {
            let hold = shared.latch.shared();
            let seen = value(shared);
            assert!(!shared.latch.try_exclusive());
            assert_eq!(value(shared), seen);
            shared.latch.release_shared(&hold);
        });
        let writer = beside(&shared, |shared| _ = try_to_add(shared));
        let added = try_to_add(&shared);
        reader.join().unwrap();
        writer.join().unwrap();
        assert!(read(&shared) >= u32::from(added));
    });
}

/// A writer that has looked through the slots must not take what was seen then for what is: the bias may have come back for a reader,
/// and gone again with another writer.
#[test]
fn a_bias_that_came_back_is_seen() {
    check(|shared| {
        let reader = beside(&shared, |shared| {
            let values = [read(shared), read(shared), read(shared)];
            assert!(values.is_sorted());
        });
        let writer = beside(&shared, |shared| _ = try_to_add(shared));
        let added = try_to_add(&shared);
        reader.join().unwrap();
        writer.join().unwrap();
        assert!(read(&shared) >= u32::from(added));
    });
}

#[test]
fn a_hold_is_given_back_by_another_thread() {
    check(|shared| {
        let hold = shared.latch.shared();
        let seen = value(&shared);
        let writer = beside(&shared, add);
        let reader = beside(&shared, move |shared| {
            assert_eq!(value(shared), seen);
            shared.latch.release_shared(&hold);
        });
        // The slot may be in use again before the writer looks.
        assert!(read(&shared) <= 1);
        writer.join().unwrap();
        reader.join().unwrap();
        assert_eq!(read(&shared), 1);
    });
}
