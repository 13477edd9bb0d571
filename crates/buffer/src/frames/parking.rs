//! Where threads sleep that wait for a latch: queues in the order of arrival. Main type: [`Place`].
//!
//! A place serves all latches whose addresses fall on it; each waiter says which one it wants and is woken alone. The bits of a
//! latch that speak of waiters change only under its place's mutex, but for those that a woken writer takes back.

use std::sync::PoisonError;
use std::time::Duration;

#[cfg(loom)]
use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Parking places. Latches that share one share its mutex and nothing else.
const PLACES: usize = if cfg!(loom) { 1 } else { 64 };

/// A reader gives way so often, to a writer or for a moment in which nothing happens; then it goes in beside the writer that waits.
pub(crate) const GIVE_WAY_TIMES: u32 = 4;
/// Readers that each reader wakes as it wakes.
const WAKES: usize = 2;

#[cfg(not(loom))]
static ALL: [Place; PLACES] =
    [const { Place(Mutex::new(Queue { waiters: Vec::new(), next_ticket: 0, coming: Vec::new() })) }; PLACES];

#[cfg(loom)]
loom::lazy_static! {
    static ref ALL: [Place; 1] = [Place(Mutex::new(Queue { waiters: Vec::new(), next_ticket: 0, coming: Vec::new() }))];
}

/// A parking place.
pub(crate) struct Place(Mutex<Queue>);

/// The waiters of a place in the order of their tickets.
pub(crate) struct Queue {
    waiters: Vec<Waiter>,
    next_ticket: u64,
    /// Readers whose turn has come and who are still to be woken: each that wakes wakes the next, so that a release costs one call
    /// of the operating system however many wait.
    coming: Vec<Arc<Condvar>>,
}

/// A thread that sleeps.
struct Waiter {
    latch: usize,
    wants: Wanted,
    sleeper: Arc<Condvar>,
}

/// What a waiter waits for and since when. It keeps its ticket when it must wait again.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted {
    /// 0 before it waits.
    pub ticket: u64,
    pub exclusive: bool,
    /// Of a writer: it has waited so long that no other writer may come before it.
    pub impatient: bool,
    /// Of a reader: how often it has given way to a writer.
    pub gave_way: u32,
}

/// Who waits for a latch.
#[derive(Clone, Copy, Default)]
pub(crate) struct Waiting {
    pub anybody: bool,
    pub writer: bool,
    pub impatient_writer: bool,
}

/// Who was taken out of a queue and is to be woken when its mutex is free again.
#[derive(Default)]
pub(crate) struct Chosen {
    /// The first of the readers.
    reader: Option<Arc<Condvar>>,
    writer: Option<(Wanted, Arc<Condvar>)>,
}

/// How a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Its turn has come: it is out of the queue.
    ByTurn,
    /// The time is up (or nothing happened at all): it has left the queue.
    ByTime,
}

impl Place {
    /// The place of a latch.
    pub fn of(latch: usize) -> &'static Place {
        &ALL[(latch / 64).wrapping_mul(0x9E37_79B9) / 64 % PLACES]
    }

    /// What a thread sleeps on: made before the place is locked.
    pub fn sleeper() -> Arc<Condvar> {
        Arc::new(Condvar::new())
    }

    pub fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn, for so long at most. The caller has told the latch that it waits, under this guard.
    pub fn sleep(
        &self,
        mut queue: MutexGuard<'_, Queue>,
        sleeper: &Arc<Condvar>,
        latch: usize,
        wants: Wanted,
        at_most: Duration,
    ) -> Woken {
        let at = queue.waiters.partition_point(|waiter| waiter.wants.ticket < wants.ticket);
        queue.waiters.insert(at, Waiter { latch, wants, sleeper: Arc::clone(sleeper) });
        let (mut queue, _) = sleeper.wait_timeout(queue, at_most).unwrap_or_else(PoisonError::into_inner);
        let left = queue.coming.len().saturating_sub(WAKES);
        let coming = queue.coming.split_off(left);
        let own = |waiter: &Waiter| waiter.wants.ticket == wants.ticket;
        let woken = match queue.waiters.iter().position(own) {
            None => Woken::ByTurn,
            Some(at) => {
                queue.waiters.remove(at);
                Woken::ByTime
            }
        };
        drop(queue);
        coming.iter().for_each(|sleeper| sleeper.notify_one());
        woken
    }

    /// Lets sleepers look around: in a model no time passes.
    #[cfg(loom)]
    pub fn disturb(&self, writers: bool) {
        let queue = self.lock();
        let those = queue.waiters.iter().filter(|waiter| waiter.wants.exclusive == writers);
        those.for_each(|waiter| waiter.sleeper.notify_one());
    }
}

impl Queue {
    pub fn ticket(&mut self) -> u64 {
        self.next_ticket += 1;
        self.next_ticket
    }

    /// Takes out whose turn it is: the first writer, before readers that came earlier; all readers if no writer waits; both if
    /// so many writers have passed a reader that it gives way no more. Then the writer need not wait until those
    /// readers have been given a processor.
    pub fn choose(&mut self, latch: usize) -> Chosen {
        let readers = self.readers_are_due(latch);
        let mut chosen = Chosen::default();
        let mut at = 0;
        while let Some(waiter) = self.waiters.get_mut(at) {
            if waiter.latch != latch || !waiter.wants.exclusive && !readers {
                if waiter.latch == latch {
                    waiter.wants.gave_way += 1;
                }
                at += 1;
                continue;
            }
            let Waiter { sleeper, wants, .. } = self.waiters.remove(at);
            if wants.exclusive {
                chosen.writer = Some((wants, sleeper));
                break;
            }
            match chosen.reader {
                None => chosen.reader = Some(sleeper),
                Some(_) => self.coming.push(sleeper),
            }
        }
        chosen
    }

    /// Whether it is the turn of readers: no writer waits, or one of those before the first writer gives way no more.
    pub fn readers_are_due(&self, latch: usize) -> bool {
        let mut due = false;
        for wants in self.of(latch) {
            if wants.exclusive {
                return due;
            }
            due |= wants.gave_way >= GIVE_WAY_TIMES;
        }
        true
    }

    /// How many wait.
    #[cfg(test)]
    pub fn count(&self, latch: usize) -> usize {
        self.of(latch).count()
    }

    /// Who is in the queue.
    pub fn waiting(&self, latch: usize) -> Waiting {
        self.of(latch).fold(Waiting::default(), |waiting, wants| Waiting {
            anybody: true,
            writer: waiting.writer || wants.exclusive,
            impatient_writer: waiting.impatient_writer || wants.exclusive && wants.impatient,
        })
    }

    fn of(&self, latch: usize) -> impl Iterator<Item = Wanted> + '_ {
        self.waiters.iter().filter(move |waiter| waiter.latch == latch).map(|waiter| waiter.wants)
    }
}

impl Chosen {
    /// The writer among them.
    pub fn writer(&self) -> Option<Wanted> {
        self.writer.as_ref().map(|(wants, _)| *wants)
    }

    /// Wakes them; of readers the first, who wakes the others. Best called without the mutex, which they take first.
    pub fn wake(self) {
        let writer = self.writer.map(|(_, sleeper)| sleeper);
        [self.reader, writer].iter().flatten().for_each(|sleeper| sleeper.notify_one());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const HERE: usize = 64;

    /// A queue of readers and writers of one latch, with another latch's between them.
    fn queue(waiters: &str) -> Queue {
        let mut queue = Queue { waiters: Vec::new(), next_ticket: 0, coming: Vec::new() };
        for kind in waiters.chars() {
            let wants = Wanted { ticket: queue.ticket(), exclusive: kind == 'w', ..Wanted::default() };
            let latch = if kind == 'o' { 2 * HERE } else { HERE };
            queue.waiters.push(Waiter { latch, wants, sleeper: Place::sleeper() });
        }
        queue
    }

    /// How many readers, and the ticket of the writer, that the next release wakes.
    fn next(queue: &mut Queue) -> (usize, Option<u64>) {
        let chosen = queue.choose(HERE);
        let readers = usize::from(chosen.reader.is_some()) + queue.coming.drain(..).count();
        (readers, chosen.writer().map(|wants| wants.ticket))
    }

    #[test]
    fn a_reader_gives_way_to_some_writers_and_then_no_more() {
        let mut queue = queue("rowrwwwwrw");
        let writers: Vec<_> = (0..4).map(|_| next(&mut queue)).collect();
        assert_eq!(writers, [(0, Some(3)), (0, Some(5)), (0, Some(6)), (0, Some(7))]);
        // The first reader has given way four times: those before the next writer come, and so may it.
        assert_eq!(next(&mut queue), (2, Some(8)));
        assert_eq!(next(&mut queue), (0, Some(10)));
        assert_eq!((next(&mut queue), next(&mut queue)), ((1, None), (0, None)));
        assert_eq!(queue.waiters.len(), 1, "the other latch's waiter stays");
    }
}
