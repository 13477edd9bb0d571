//! The search for cycles of waits. Run by each owner that begins to wait, one search at a time.
//! A found cycle is checked again before anyone is chosen: every member must still be in the same wait, so that all
//! edges hold at one moment (I9: only true cycles). No limit on depth; the stack is a vector.

use super::LockManager;
use super::owner::{Owner, WaitEnd};
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// A member of a path of waits.
struct Step {
    owner: Arc<Owner>,
    wait_number: u64,
    blockers: Vec<Arc<Owner>>,
    next: usize,
}

impl LockManager {
    /// Looks for a cycle through `start` and ends the wait of its lightest member.
    pub(super) fn search_deadlock(&self, start: &Arc<Owner>) {
        let _one_search = self.search.lock().unwrap_or_else(PoisonError::into_inner);
        // A victim leaves the graph; `start` may stand in more cycles than one.
        while let Some(cycle) = self.find_cycle(start) {
            if !self.holds_still(&cycle) {
                continue;
            }
            let Some(victim) =
                cycle.iter().min_by_key(|step| (step.owner.weight(), step.owner.number != start.number))
            else {
                return;
            };
            self.counters.deadlocks.fetch_add(1, Ordering::Relaxed);
            if self.table.give_up(&victim.owner, WaitEnd::Victim) == WaitEnd::Victim {
                victim.owner.waiter.end(WaitEnd::Victim);
            }
            if victim.owner.number == start.number {
                return;
            }
        }
    }

    fn find_cycle(&self, start: &Arc<Owner>) -> Option<Vec<Step>> {
        let mut visited = HashSet::new();
        let mut path = vec![self.step(start)?];
        loop {
            let step = path.last_mut()?;
            let Some(blocker) = step.blockers.get(step.next).cloned() else {
                path.pop();
                continue;
            };
            step.next += 1;
            if blocker.number == start.number {
                return Some(path);
            }
            if visited.insert(blocker.number)
                && let Some(step) = self.step(&blocker)
            {
                path.push(step);
            }
        }
    }

    fn step(&self, owner: &Arc<Owner>) -> Option<Step> {
        let (wait_number, blockers) = self.table.blockers_of(owner)?;
        Some(Step { owner: owner.clone(), wait_number, blockers, next: 0 })
    }

    fn holds_still(&self, cycle: &[Step]) -> bool {
        cycle.iter().enumerate().all(|(at, step)| {
            let waits_for = cycle[(at + 1) % cycle.len()].owner.number;
            self.table.blockers_of(&step.owner).is_some_and(|(wait_number, blockers)| {
                wait_number == step.wait_number && blockers.iter().any(|blocker| blocker.number == waits_for)
            })
        })
    }
}
