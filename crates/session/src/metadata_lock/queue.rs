//! The locks and requests of one name, without any sleeping. Main type: [`Queue`].
//!
//! A request waits for granted locks of others that conflict, for waiting ones that it yields to ([`LockMode::yields_to`]), and
//! for earlier ones that conflict and do not yield to it. A session that holds the name already passes those that wait:
//! they wait for it. A request that was passed [`Fairness::passes_max`] times (max_write_lock_count) is passed no more.
//! Others wait for it then, but in it for nobody that they did not wait for before, so that closes no cycle.

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

    fn is_blocked(&self, ticket: Ticket, own: Option<&Waiting>, fairness: Fairness) -> bool {
        let is_excluded = self.granted.iter().any(|held| conflicts(ticket, *held));
        if is_excluded && !(own.is_some() && planted(Mistake::GrantsBesideLocks)) {
            return true;
        }
        let conflicting = ticket.mode.conflicts();
        let may_be_behind = !self.waiting.is_empty()
            && MODES.iter().any(|mode| self.waiting_modes[*mode as usize] > 0 && conflicting.contains(*mode));
        may_be_behind
            && !self.holds(ticket.session)
            && self.waiting.iter().any(|other| is_behind(ticket, own, other, fairness))
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
        let own = self.waiting.iter().find(|waiting| waiting.number == number)?;
        let ticket = own.ticket;
        self.granted.iter().filter(|held| conflicts(ticket, **held)).for_each(|held| tell(held.session));
        if !self.holds(ticket.session) && !planted(Mistake::SearchesHoldersOnly) {
            let mut told = Modes::of(&[ticket.mode]);
            for other in self.waiting.iter().rev() {
                let mode = other.ticket.mode;
                let is_new = !told.contains(mode);
                if (is_new || is_wanted(other.ticket.session))
                    && is_behind(ticket, Some(own), other, fairness)
                {
                    told = told.with(mode);
                    tell(other.ticket.session);
                }
            }
        }
        Some(ticket)
    }

    /// Grants a lock; `number` is that of the request if it waited.
    pub fn grant(&mut self, ticket: Ticket, number: Option<u64>) {
        let earlier = |waiting: &&mut Waiting| number.is_none_or(|number| waiting.number < number);
        for waiting in self.waiting.iter_mut().filter(earlier) {
            if conflicts(waiting.ticket, ticket) {
                waiting.passed = waiting.passed.saturating_add(1);
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

    /// Gives back what the session holds for that time: its modes, if it held anything.
    pub fn release(&mut self, session: u32, duration: LockDuration) -> Option<Modes> {
        let mut released = Modes::default();
        let mut at = 0;
        while let Some(held) = self.granted.get(at) {
            if held.session == session && held.duration == duration {
                released = released.with(self.granted.swap_remove(at).mode);
            } else {
                at += 1;
            }
        }
        (released != Modes::default()).then_some(released)
    }

    /// Grants what can be granted now, from front to back; `is_held_back` may keep a request waiting for a reason from outside.
    pub fn serve(&mut self, fairness: Fairness, is_held_back: impl Fn(Ticket) -> bool) {
        let mut at = 0;
        while at < self.waiting.len() {
            let waiting = &self.waiting[at];
            let (ticket, number) = (waiting.ticket, waiting.number);
            if self.is_blocked(ticket, Some(waiting), fairness) || is_held_back(ticket) {
                at += 1;
            } else if let Some(served) = self.remove_waiting(at) {
                self.grant(ticket, Some(number));
                served.waiter.end(super::WaitEnd::Granted);
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

/// Whether a request goes behind another one that waits. `own`: the request itself, if it waits already.
fn is_behind(ticket: Ticket, own: Option<&Waiting>, other: &Waiting, fairness: Fairness) -> bool {
    if !conflicts(ticket, other.ticket) {
        return false;
    }
    let is_later = own.is_none_or(|own| other.number < own.number);
    if is_later {
        let passes = other.ticket.mode.yields_to().contains(ticket.mode) && !planted(Mistake::ServesInOrder);
        return !passes || other.passed >= fairness.passes_max;
    }
    let is_passed = ticket.mode.yields_to().contains(other.ticket.mode) && !planted(Mistake::ServesInOrder);
    is_passed && own.is_none_or(|own| own.passed < fairness.passes_max)
}
