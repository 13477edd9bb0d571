//! All requests for locks on one key. Main type: [`Queue`].
//! Granted locks have no order; waiters stand in the order of their arrival. At all times no two owners' granted locks
//! exclude each other, and no waiter could be granted: whatever takes a lock or a waiter out calls [`Queue::grant_next`].
//! Everything happens under the mutex of the queue's shard; owner states are locked inside it (rule L5 in README.md).

use super::held_keys::HeldPlace;
use super::mistakes::{Mistake, pause, planted};
use super::mode::ModeSet;
use super::owner::{Owner, OwnerState, WaitEnd, is};
use super::table::Request;
use super::{LockKey, LockMode};
use crate::wait_graph::{Blockers, WaiterId};
use std::collections::VecDeque;
use std::sync::Arc;
use stdx::ids::IndexId;

#[derive(Debug)]
pub(super) struct Queue {
    pub(super) key: LockKey,
    pub(super) granted: Vec<Grant>,
    pub(super) waiting: VecDeque<Waiter>,
}

/// A lock that an owner has.
#[derive(Debug)]
pub(super) struct Grant {
    pub(super) owner: Arc<Owner>,
    pub(super) mode: LockMode,
    /// Its owner has written the entry, or holds it by a range: the lock ends with the transaction and not before.
    to_end: bool,
    /// The key's place among the owner's. Several grants of an owner on a key share it.
    place: HeldPlace,
}

/// A request that waits.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) owner: Arc<Owner>,
    pub(super) mode: LockMode,
    /// It has a lock on the key already and wants a stronger or wider one: it does not wait for other waiters.
    raises: bool,
}

impl Queue {
    pub(super) fn new(index: IndexId, key: &[u8]) -> Queue {
        Queue {
            key: LockKey { index, key: key.into() },
            granted: Vec::with_capacity(1),
            waiting: VecDeque::new(),
        }
    }

    pub(super) fn is(&self, index: IndexId, key: &[u8]) -> bool {
        self.key.index == index && *self.key.key == *key
    }

    pub(super) fn is_empty(&self) -> bool {
        self.granted.is_empty() && self.waiting.is_empty()
    }

    /// Whether an owner that has locked the row by a range was too late: another has or waits for a lock here that excludes it, and none of
    /// its own says that the range was seen.
    pub(super) fn has_come_before(&self, owner: &Owner, mode: LockMode) -> bool {
        let is_seen = self.granted.iter().any(|grant| is(&grant.owner, owner) && grant.mode.covers(mode));
        let waits = |waiter: &Waiter| !is(&waiter.owner, owner) && mode.waits_for(waiter.mode);
        !is_seen && (self.other_grants(owner, mode.conflicts()) || self.waiting.iter().any(waits))
    }

    /// Whether anybody else has or wants a lock here.
    pub(super) fn has_others(&self, owner: &Owner) -> bool {
        if planted(Mistake::WritesPastWaiters) {
            return self.other_grants(owner, LockMode::EXCLUSIVE_RECORD.conflicts());
        }
        !self.waiting.is_empty() || self.granted.iter().any(|grant| !is(&grant.owner, owner))
    }

    /// Gives the X lock of a writer, which is its id in the entry, an object. False if the writer has finished.
    pub(super) fn make_explicit(&mut self, writer: &Arc<Owner>) -> bool {
        if self.note_written(writer) {
            return true;
        }
        // Kept to the end: a writer that finishes has either ended before, or gives this object back with its others.
        let mut state = writer.lock_state();
        if state.finished {
            return planted(Mistake::TrustsEndedWriter);
        }
        pause();
        debug_assert!(
            !self.other_grants(writer, LockMode::EXCLUSIVE_RECORD.conflicts()),
            "a lock was granted beside the implicit lock of a writer"
        );
        self.grant(writer, &mut state, LockMode::EXCLUSIVE_RECORD, true);
        true
    }

    /// Gives what an owner holds by a range, which has this key, an object. None if the owner has finished, or has published the range
    /// behind the lock of another and is about to find that out; else whether it is a new one: then who waits to insert here waits for
    /// one more.
    pub(super) fn make_range_explicit(&mut self, holder: &Arc<Owner>, mode: LockMode) -> Option<bool> {
        if self.has_come_before(holder, mode) {
            return None;
        }
        let mut state = holder.lock_state();
        if state.finished {
            return None;
        }
        let covers = |grant: &&mut Grant| is(&grant.owner, holder) && grant.mode.covers(mode);
        if let Some(grant) = self.granted.iter_mut().find(covers) {
            grant.to_end |= !planted(Mistake::UnlocksRanges);
            return Some(false);
        }
        pause();
        // The range stays to the owner's end, and so does this.
        let held = state.held.len();
        self.grant(holder, &mut state, mode, !planted(Mistake::UnlocksRanges));
        state.range_objects += (state.held.len() - held) as u64;
        drop(state);
        // Should it wait here itself: what it has now is no obstacle to it, and it need not wait for who came before it.
        if let Some(own) = self.waiting.iter_mut().find(|waiter| is(&waiter.owner, holder)) {
            own.raises = true;
            self.grant_next();
        }
        Some(true)
    }

    /// Those who wait here.
    pub(super) fn waiting_ids(&self) -> impl Iterator<Item = WaiterId> {
        self.waiting.iter().map(|waiter| waiter.owner.waiter_id())
    }

    /// Keeps the owner's X lock to its end, because it has written the entry. False if it has no object for it.
    pub(super) fn note_written(&mut self, writer: &Owner) -> bool {
        let is_writers =
            |grant: &&mut Grant| is(&grant.owner, writer) && grant.mode.covers(LockMode::EXCLUSIVE_RECORD);
        let Some(grant) = self.granted.iter_mut().find(is_writers) else { return false };
        grant.to_end = true;
        true
    }

    /// None if the owner waits elsewhere, because an error kept it from waiting for its last queued request.
    pub(super) fn request(&mut self, owner: &Arc<Owner>, mode: LockMode, may_wait: bool) -> Option<Request> {
        let own = self.granted.iter().filter(|grant| is(&grant.owner, owner));
        let (mut raises, mut covered) = (false, false);
        for grant in own {
            raises = true;
            covered |= grant.mode.covers(mode);
        }
        if covered {
            return Some(Request::Held);
        }
        let conflicts = mode.conflicts();
        let ahead: ModeSet = self.waiting.iter().map(|waiter| waiter.mode).collect();
        let blocked = self.other_grants(owner, conflicts) || !raises && ahead.meets(conflicts);
        if !blocked {
            self.grant(owner, &mut owner.lock_state(), mode, false);
            return Some(Request::Granted);
        }
        if !may_wait {
            return Some(Request::Refused);
        }
        let mut state = owner.lock_state();
        if state.waiting.is_some() {
            return None;
        }
        state.waiting = Some(self.key.clone());
        state.wait_number += 1;
        owner.waiter.reset();
        drop(state);
        self.waiting.push_back(Waiter { owner: owner.clone(), mode, raises });
        Some(Request::Queued)
    }

    /// Takes all granted locks of an owner away, and gives their place among its keys.
    pub(super) fn release(&mut self, owner: &Owner) -> Option<HeldPlace> {
        let mut place = None;
        let mut at = 0;
        while let Some(grant) = self.granted.get(at) {
            if is(&grant.owner, owner) {
                place = Some(self.granted.swap_remove(at).place);
            } else {
                at += 1;
            }
        }
        place
    }

    /// Whether an owner's lock may be given back before its end: it came at or behind a mark and nothing was written under it.
    pub(super) fn may_unlock(&self, owner: &Owner, mark: u64) -> bool {
        let mut own = self.granted.iter().filter(|grant| is(&grant.owner, owner)).peekable();
        own.peek().is_some()
            && own.all(|grant| {
                (!grant.to_end || planted(Mistake::UnlocksWritten)) && grant.place.sequence >= mark
            })
    }

    /// Takes the waiting request of an owner out, and ends its wait as said. False if none waits here.
    pub(super) fn give_up(&mut self, owner: &Owner, wait_number: Option<u64>, end: WaitEnd) -> bool {
        let Some(at) = self.place_of(owner) else { return false };
        let mut state = owner.lock_state();
        if wait_number.is_some_and(|number| number != state.wait_number) {
            return false;
        }
        state.end_wait(owner, end);
        drop(state);
        self.waiting.remove(at);
        self.grant_next();
        true
    }

    /// Grants what nothing stands in the way of any more, in the order of arrival.
    pub(super) fn grant_next(&mut self) {
        if planted(Mistake::LeavesWaiters) {
            return;
        }
        let mut raising = self.waiting.iter().filter(|waiter| waiter.raises).count();
        let mut granted: ModeSet = self.granted.iter().map(|grant| grant.mode).collect();
        if planted(Mistake::GrantsBesideLocks) {
            granted = ModeSet::EMPTY;
        }
        let wanted: ModeSet = self.waiting.iter().map(|waiter| waiter.mode).collect();
        let (mut ahead, mut at) = (ModeSet::EMPTY, 0);
        while let Some(waiter) = self.waiting.get(at) {
            // A queue of a thousand waiters is not walked for each that leaves it.
            if raising == 0 && wanted.all_meet(granted.union(ahead)) {
                return;
            }
            let (mode, conflicts) = (waiter.mode, waiter.mode.conflicts());
            raising -= usize::from(waiter.raises);
            let blocked = match waiter.raises {
                true => self.other_grants(&waiter.owner, conflicts),
                false => granted.union(ahead).meets(conflicts),
            };
            if blocked {
                ahead = ahead.with(mode);
                at += 1;
                continue;
            }
            let Some(waiter) = self.waiting.remove(at) else { return };
            granted = granted.with(mode);
            let mut state = waiter.owner.lock_state();
            self.grant(&waiter.owner, &mut state, mode, false);
            state.end_wait(&waiter.owner, WaitEnd::Granted);
        }
    }

    /// Tells whom a waiting owner waits for: granted locks that exclude its request or that of a waiter before it which it waits
    /// for. The latter wait for nobody outside of this queue, so they are passed through. False if the owner does
    /// not wait here.
    pub(super) fn blockers(&self, owner: &Owner, found: &mut Blockers) -> bool {
        let Some(at) = self.place_of(owner) else { return false };
        let waiter = &self.waiting[at];
        let granted: ModeSet = self.granted.iter().map(|grant| grant.mode).collect();
        let mut conflicts = waiter.mode.conflicts();
        let mut reached = if waiter.raises { ModeSet::EMPTY } else { conflicts };
        for ahead in self.waiting.range(..at).rev() {
            if conflicts.contains_all(granted) || planted(Mistake::SearchesHoldersOnly) {
                break;
            }
            if reached.contains(ahead.mode) {
                conflicts = conflicts.union(ahead.mode.conflicts());
                if !ahead.raises {
                    reached = reached.union(ahead.mode.conflicts());
                }
            }
        }
        let classes = granted.intersection(conflicts).bits();
        let queue = Arc::as_ptr(&self.key.key).cast::<u8>() as usize as u64;
        let untold = ModeSet::from_bits(found.untold(queue, classes));
        for grant in self.granted.iter().filter(|grant| conflicts.contains(grant.mode)) {
            let id = grant.owner.waiter_id();
            if !is(&grant.owner, owner) && (untold.contains(grant.mode) || id == found.wanted()) {
                found.tell(id);
            }
        }
        true
    }

    /// Whether another owner has a lock of one of these modes.
    fn other_grants(&self, owner: &Owner, modes: ModeSet) -> bool {
        self.granted.iter().any(|grant| modes.contains(grant.mode) && !is(&grant.owner, owner))
    }

    fn place_of(&self, owner: &Owner) -> Option<usize> {
        self.waiting.iter().position(|waiter| is(&waiter.owner, owner))
    }

    /// Adds a lock; one of the same owner that it covers goes, and what holds to the end holds so with the new one. `state` is the owner's.
    fn grant(&mut self, owner: &Arc<Owner>, state: &mut OwnerState, mode: LockMode, to_end: bool) {
        let own = |grant: &Grant| is(&grant.owner, owner);
        let place = match self.granted.iter().find(|grant| own(grant)) {
            Some(grant) => grant.place,
            None => state.held.add(self.key.clone()),
        };
        let mut to_end = to_end;
        self.granted.retain(|grant| {
            let is_covered = own(grant) && (mode == grant.mode || mode.covers(grant.mode));
            to_end |= is_covered && grant.to_end;
            !is_covered
        });
        self.granted.push(Grant { owner: owner.clone(), mode, to_end, place });
    }
}
