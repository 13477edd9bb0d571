//! The locks and requests of one name, without any sleeping. Main type: [`Queue`].
//!
//! A request waits for granted locks of others that conflict, for waiting ones that it yields to ([`LockMode::yields_to`]), and
//! for earlier ones that conflict and do not yield to it. A session that holds the name already passes those that wait:
//! they wait for it. A request that was passed [`Fairness::passes_max`] times (max_write_lock_count) is a barrier: what comes
//! behind it passes neither it nor anything before it. Between barriers the stronger mode goes first and of one mode
//! the earlier request, so who waits for whom in a queue is an order, with cycles through other queues only. Those who come
//! to wait for a request because of a barrier wait in it for nobody that they did not wait for before: no cycle is closed.

use super::mistakes::{Mistake, planted};
use super::mode::{LockDuration, LockMode, Modes};
use super::wait::Waiter;
use std::collections::VecDeque;
use std::sync::Arc;

/// A lock that is asked for or held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    pub session: u32,
    pub mode: LockMode,
    pub duration: LockDuration,
}

/// A request that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub ticket: Ticket,
    /// Of all waits of the server; within a queue it rises from front to back.
    pub number: u64,
    /// How many conflicting requests that came later were granted before it.
    pub passed: u64,
    pub waiter: Arc<Waiter>,
}

/// When a waiting request is passed no more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fairness {
    pub passes_max: u64,
}

/// Granted locks and waiting requests of one name.
#[derive(Debug, Default)]
pub(super) struct Queue {
    granted: Vec<Ticket>,
    waiting: VecDeque<Waiting>,
    /// Waiting requests of each mode.
    waiting_modes: [u32; LockMode::COUNT],
}

impl Queue {
    pub fn granted(&self) -> &[Ticket] {
        &self.granted
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter()
    }

    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether a strong lock is held or waited for.
    pub fn has_strong(&self) -> bool {
        self.granted.iter().any(|held| held.mode.is_strong())
            || MODES.iter().any(|mode| mode.is_strong() && self.waiting_modes[*mode as usize] > 0)
    }

    pub fn is_idle(&self) -> bool {
        self.granted.is_empty() && self.waiting.is_empty()
    }

    /// Whether the session has for that time a lock that allows everything that the mode allows.
    pub fn covers(&self, ticket: Ticket) -> bool {
        self.granted.iter().any(|held| {
            held.session == ticket.session
                && held.duration == ticket.duration
                && held.mode.covers(ticket.mode)
        })
    }

    /// Whether a request that comes now must wait for somebody here.
    pub fn blocks(&self, ticket: Ticket, fairness: Fairness) -> bool {
        self.is_blocked(ticket, None, fairness)
    }

    /// `place`: that of the request, if it waits already.
    fn is_blocked(&self, ticket: Ticket, place: Option<usize>, fairness: Fairness) -> bool {
        let is_excluded = self.granted.iter().any(|held| conflicts(ticket, *held));
        if is_excluded && !(place.is_some() && planted(Mistake::GrantsBesideLocks)) {
            return true;
        }
        let conflicting = ticket.mode.conflicts();
        let may_be_behind = !self.waiting.is_empty()
            && MODES.iter().any(|mode| self.waiting_modes[*mode as usize] > 0 && conflicting.contains(*mode));
        may_be_behind
            && !self.holds(ticket.session)
            && self.ahead_of(ticket, place, fairness).next().is_some()
    }

    /// Waiting requests that a request goes behind, from the last to the first. `place` as in `is_blocked`.
    fn ahead_of(
        &self,
        ticket: Ticket,
        place: Option<usize>,
        fairness: Fairness,
    ) -> impl Iterator<Item = &Waiting> {
        let place = place.unwrap_or(self.waiting.len());
        let is_barrier = move |at: &usize| self.waiting[*at].passed >= fairness.passes_max;
        let has_barriers = fairness.passes_max < u64::MAX;
        let last_before = (0..place).rev().find(|at| has_barriers && is_barrier(at));
        let first_behind = (place..self.waiting.len()).find(|at| has_barriers && is_barrier(at));
        let is_ahead = move |at: usize, other: Ticket| {
            if planted(Mistake::ServesInOrder) {
                return at < place;
            }
            if at < place {
                return last_before.is_some_and(|barrier| at <= barrier)
                    || !other.mode.yields_to().contains(ticket.mode);
            }
            first_behind.is_none_or(|barrier| at <= barrier) && ticket.mode.yields_to().contains(other.mode)
        };
        let all = self.waiting.iter().enumerate().rev();
        all.filter(move |(at, other)| conflicts(ticket, other.ticket) && is_ahead(*at, other.ticket))
            .map(|(_, other)| other)
    }

    fn holds(&self, session: u32) -> bool {
        !planted(Mistake::QueuesHolders) && self.granted.iter().any(|held| held.session == session)
    }

    /// Whom the waiting request of that number waits for; None if it waits no more. Of many waiting requests of one mode only
    /// the last is told, and none of its own mode: they wait for the same as it does, which is told. One that
    /// `is_wanted` is always told.
    pub fn tell_blockers(
        &self,
        number: u64,
        is_wanted: &dyn Fn(u32) -> bool,
        fairness: Fairness,
        tell: &mut dyn FnMut(u32),
    ) -> Option<Ticket> {
        let place = self.waiting.iter().position(|waiting| waiting.number == number)?;
        let ticket = self.waiting[place].ticket;
        self.granted.iter().filter(|held| conflicts(ticket, **held)).for_each(|held| tell(held.session));
        if !self.holds(ticket.session) && !planted(Mistake::SearchesHoldersOnly) {
            let mut told = Modes::of(&[ticket.mode]);
            for other in self.ahead_of(ticket, Some(place), fairness).map(|other| other.ticket) {
                if !told.contains(other.mode) || is_wanted(other.session) {
                    told = told.with(other.mode);
                    tell(other.session);
                }
            }
        }
        Some(ticket)
    }

    /// Grants a lock; `number` is that of the request if it waited. True if a request that it passed has become a barrier: others
    /// may go on that waited for what is behind that one.
    pub fn grant(&mut self, ticket: Ticket, number: Option<u64>, fairness: Fairness) -> bool {
        let earlier = |waiting: &&mut Waiting| number.is_none_or(|number| waiting.number < number);
        let mut has_raised_barrier = false;
        for waiting in self.waiting.iter_mut().filter(earlier) {
            if conflicts(waiting.ticket, ticket) {
                waiting.passed = waiting.passed.saturating_add(1);
                has_raised_barrier |= waiting.passed == fairness.passes_max;
            }
        }
        let same = |held: &&mut Ticket| {
            held.session == ticket.session
                && held.duration == ticket.duration
                && ticket.mode.covers(held.mode)
        };
        match self.granted.iter_mut().find(same) {
            Some(held) => held.mode = ticket.mode,
            None => self.granted.push(ticket),
        }
        has_raised_barrier
    }

    /// Queues a request.
    pub fn enqueue(&mut self, waiting: Waiting) {
        self.waiting_modes[waiting.ticket.mode as usize] += 1;
        self.waiting.push_back(waiting);
    }

    /// Takes a waiting request out. None if it waits no more.
    pub fn withdraw(&mut self, number: u64) -> Option<Waiting> {
        let at = self.waiting.iter().position(|waiting| waiting.number == number)?;
        self.remove_waiting(at)
    }

    fn remove_waiting(&mut self, at: usize) -> Option<Waiting> {
        let removed = self.waiting.remove(at)?;
        self.waiting_modes[removed.ticket.mode as usize] -= 1;
        Some(removed)
    }

    /// Gives back what the session holds for that time, but for the modes that it keeps: its modes, if it held anything.
    pub fn release(&mut self, session: u32, duration: LockDuration, kept: &[LockMode]) -> Option<Modes> {
        let mut released = Modes::default();
        let mut at = 0;
        while let Some(held) = self.granted.get(at) {
            if held.session == session && held.duration == duration {
                released = released.with(self.granted.swap_remove(at).mode);
            } else {
                at += 1;
            }
        }
        if released == Modes::default() {
            return None;
        }
        for mode in kept {
            let ticket = Ticket { session, mode: *mode, duration };
            if !self.covers(ticket) {
                self.granted.push(ticket);
            }
        }
        Some(released)
    }

    /// What a session holds to the end of its transaction is another's from now on. Nobody waits for it any more or less than before, but
    /// the session itself, which does not wait now.
    pub fn hand_over(&mut self, session: u32, heir: u32) {
        let of_transaction =
            |held: &&mut Ticket| held.session == session && held.duration == LockDuration::Transaction;
        self.granted.iter_mut().filter(of_transaction).for_each(|held| held.session = heir);
    }

    /// Grants what can be granted now, from front to back; `is_held_back` may keep a request waiting for a reason from outside.
    pub fn serve(&mut self, fairness: Fairness, is_held_back: impl Fn(Ticket) -> bool) {
        let mut at = 0;
        while at < self.waiting.len() {
            let waiting = &self.waiting[at];
            let (ticket, number) = (waiting.ticket, waiting.number);
            if self.is_blocked(ticket, Some(at), fairness) || is_held_back(ticket) {
                at += 1;
            } else if let Some(served) = self.remove_waiting(at) {
                let has_raised_barrier = self.grant(ticket, Some(number), fairness);
                served.waiter.end(super::WaitEnd::Granted);
                at = if has_raised_barrier { 0 } else { at };
            }
        }
    }
}

const MODES: [LockMode; LockMode::COUNT] = [
    LockMode::Intention,
    LockMode::Shared,
    LockMode::Read,
    LockMode::Write,
    LockMode::ReadOnly,
    LockMode::NoReadWrite,
    LockMode::Exclusive,
];

fn conflicts(ticket: Ticket, other: Ticket) -> bool {
    ticket.session != other.session && ticket.mode.conflicts().contains(other.mode)
}
