//! Plans of text statements, found by their shape without parsing. Main types: [`PlanCache`], [`RecentPlans`].
//!
//! Rules:
//! 1. A shape is the text with its literals left out, the class of each literal, and the fingerprint of what planning
//!    reads of the session (`plan_settings.rs`). Its number finds the slot; what is
//!    there is compared with the text at hand (`shape.rs`).
//! 2. A shape is planned with its literals when it is first seen. If that plan would serve other literals as well
//!    ([`exec::Prepared::is_repeatable`]) the shape is a candidate; when it comes again, the plan with parameters
//!    is kept. What comes once (a dump's INSERTs) takes no room.
//! 3. Privileges are no part of the key: each execution checks them. A plan is used while the cells of its
//!    tables are as they were (`catalog`): no exclusive lock since, no ANALYZE, and not four times as many rows.
//! 4. A plan that read ten times the rows that it was made for, and more than a few hundred, looks from then on how many rows
//!    the values of an execution have; where these are too many again, the statement is planned for them (`read_watch.rs`).
//! 5. Slots are direct-mapped: a newer shape takes the place of an older one.
//!
//! Thread rules: one mutex a slot, held to copy an entry; a session's [`RecentPlans`] are looked at first, so that
//! sessions that run the same statement all day do not meet there.

use crate::planned::Planned;
use crate::shape::{ShapeIdentity, ShapeKey};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SLOTS: usize = 4096;
/// An ordinary shape is looked at again after so many uses.
const ORDINARY_USES_MAX: u32 = 128;
const RECENT_SLOTS: usize = 16;

/// What is known of a shape.
#[derive(Clone)]
pub enum Shape {
    /// Its plan may serve other literals.
    Candidate,
    /// It was planned with its literals so many times since it was last looked whether its plan repeats.
    Ordinary(u32),
    /// Its plan.
    Kept(Arc<Planned>),
}

struct Slot {
    identity: Arc<ShapeIdentity>,
    shape: Shape,
}

/// Shapes of all sessions.
pub struct PlanCache {
    seed: u64,
    slots: Box<[Mutex<Option<Slot>>]>,
}

impl PlanCache {
    /// An empty cache. Without the seed nobody can make many shapes share a slot.
    pub fn new(seed: u64) -> PlanCache {
        PlanCache { seed, slots: (0..SLOTS).map(|_| Mutex::new(None)).collect() }
    }

    /// The seed of digests.
    #[inline]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    fn slot(&self, number: u64) -> MutexGuard<'_, Option<Slot>> {
        self.slots[number as usize % SLOTS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a shape. Now and then an ordinary one is not known: tables grow, and with them the plan may
    /// become one that repeats.
    #[inline]
    pub fn find(&self, key: &ShapeKey<'_>) -> Option<(Arc<ShapeIdentity>, Shape)> {
        let mut slot = self.slot(key.number());
        let Slot { identity, shape } = slot.as_mut().filter(|slot| key.is(&slot.identity))?;
        if let Shape::Ordinary(uses) = shape {
            *uses += 1;
            if *uses >= ORDINARY_USES_MAX {
                return None;
            }
        }
        Some((Arc::clone(identity), shape.clone()))
    }

    /// Remembers a shape.
    pub fn put(&self, identity: Arc<ShapeIdentity>, shape: Shape) {
        // What was there is dropped after the mutex is free: it may be the last holder of a table.
        let _before = self.slot(identity.number()).replace(Slot { identity, shape });
    }
}

/// Plans that a session ran lately.
#[derive(Default)]
pub struct RecentPlans {
    slots: Vec<Option<(Arc<ShapeIdentity>, Arc<Planned>)>>,
}

impl RecentPlans {
    /// Takes the plan of a shape out for as long as it runs, so that nobody's count of its holders changes.
    #[inline]
    pub fn take(&mut self, key: &ShapeKey<'_>) -> Option<(Arc<ShapeIdentity>, Arc<Planned>)> {
        self.slots.get_mut(key.number() as usize % RECENT_SLOTS)?.take_if(|(identity, _)| key.is(identity))
    }

    /// Remembers a plan.
    pub fn put(&mut self, identity: Arc<ShapeIdentity>, planned: Arc<Planned>) {
        if self.slots.is_empty() {
            self.slots.resize_with(RECENT_SLOTS, || None);
        }
        let slot = identity.number() as usize % RECENT_SLOTS;
        self.slots[slot] = Some((identity, planned));
    }
}
