//! Status variables: counters that each session keeps and the server adds up. Main types: [`Counters`], [`StatusId`].
//! A session alone writes its counters, so an increment is a load and a store; readers add up live sessions and
//! what ended sessions left.

use std::sync::atomic::{AtomicU64, Ordering};

#[rustfmt::skip]
#[path = "generated/status_variables.rs"]
#[allow(clippy::all)]
pub mod id;

/// The place of a status variable in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatusId(pub u16);

/// A status variable.
#[derive(Clone, Copy, Debug)]
pub struct StatusVariable {
    /// Name as SHOW STATUS prints it.
    pub name: &'static str,
    /// Whether SHOW SESSION STATUS shows the session's own value.
    pub per_session: bool,
    /// Whether the value is text.
    pub text: bool,
}

impl StatusId {
    /// What is known of it.
    pub fn variable(self) -> &'static StatusVariable {
        &id::ALL[self.0 as usize]
    }

    /// All variables by name.
    pub fn all() -> impl Iterator<Item = StatusId> {
        (0..id::ALL.len() as u16).map(StatusId)
    }
}

/// The variable of that name, without regard to case.
pub fn find(name: &str) -> Option<StatusId> {
    id::ALL.iter().position(|variable| variable.name.eq_ignore_ascii_case(name)).map(|at| StatusId(at as u16))
}

/// One value for each status variable.
#[derive(Debug)]
pub struct Counters(Box<[AtomicU64; id::ALL.len()]>);

impl Default for Counters {
    fn default() -> Self {
        Counters(Box::new([const { AtomicU64::new(0) }; id::ALL.len()]))
    }
}

impl Counters {
    /// Adds to a counter. Only the owner of a session's counters calls this, so no atomic addition is needed.
    #[inline]
    pub fn add(&self, id: StatusId, count: u64) {
        let counter = &self.0[id.0 as usize];
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
    }

    /// Adds to a counter that several threads write.
    pub fn add_shared(&self, id: StatusId, count: u64) {
        self.0[id.0 as usize].fetch_add(count, Ordering::Relaxed);
    }

    /// The value.
    pub fn get(&self, id: StatusId) -> u64 {
        self.0[id.0 as usize].load(Ordering::Relaxed)
    }

    /// Adds all of another set: a session ends.
    pub fn absorb(&self, other: &Counters) {
        for (mine, theirs) in self.0.iter().zip(other.0.iter()) {
            // Most are zero, and a session ends with each connection.
            match theirs.load(Ordering::Relaxed) {
                0 => {}
                count => _ = mine.fetch_add(count, Ordering::Relaxed),
            }
        }
    }

    /// Sets everything to zero: FLUSH STATUS.
    pub fn reset(&self) {
        for counter in self.0.iter() {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_up() {
        let (ended, live) = (Counters::default(), Counters::default());
        live.add(id::QUESTIONS, 3);
        ended.absorb(&live);
        ended.absorb(&live);
        assert_eq!(ended.get(id::QUESTIONS), 6);
        assert_eq!(find("questions"), Some(id::QUESTIONS));
    }
}
