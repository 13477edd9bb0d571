//! MAX_QUERIES_PER_HOUR, MAX_UPDATES_PER_HOUR, MAX_CONNECTIONS_PER_HOUR and MAX_USER_CONNECTIONS. Main type: [`ResourceUse`], what
//! an account used in its hour, part of the account. It is counted in memory only: what copies the account keeps the count,
//! what drops or renames it or states its limits anew begins another; sessions of an account that is gone go on with theirs.
//! Statements of prepared statements in the binary protocol do not count, as in MySQL. Thread rules: copies share the count; any thread may ask.

use crate::account::Account;
use std::sync::{Arc, Mutex, PoisonError};

/// What the account limits, in the order of [`Account::limits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// MAX_QUERIES_PER_HOUR.
    Questions,
    /// MAX_UPDATES_PER_HOUR.
    Updates,
    /// MAX_CONNECTIONS_PER_HOUR.
    Connections,
    /// MAX_USER_CONNECTIONS, which counts what is open.
    Open,
}

/// How many of them are counted by the hour.
const COUNTED: usize = 3;

impl Resource {
    /// Its name in error 1226.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Questions => "max_questions",
            Resource::Updates => "max_updates",
            Resource::Connections => "max_connections_per_hour",
            Resource::Open => "max_user_connections",
        }
    }
}

const HOUR_MICROSECONDS: u64 = 3_600_000_000;

/// What an account used in the hour that began with its first use.
#[derive(Clone, Debug, Default)]
pub struct ResourceUse(Arc<Mutex<Used>>);

#[derive(Debug, Default)]
struct Used {
    since_microseconds: u64,
    counts: [u64; COUNTED],
}

/// What was used is no part of what an account is.
impl PartialEq for ResourceUse {
    fn eq(&self, _other: &ResourceUse) -> bool {
        true
    }
}

impl Eq for ResourceUse {}

impl ResourceUse {
    /// Forgets what all copies used.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Used::default();
    }

    /// Uses one of a resource, if the limit allows it; 0 allows everything.
    pub fn take(&self, resource: Resource, limit: u64, now_microseconds: u64) -> bool {
        if limit == 0 {
            return true;
        }
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now_microseconds.saturating_sub(used.since_microseconds) >= HOUR_MICROSECONDS {
            *used = Used { since_microseconds: now_microseconds, ..Used::default() };
        }
        let fits = used.counts[resource as usize] < limit;
        used.counts[resource as usize] += u64::from(fits);
        fits
    }
}

/// The limits of a session's account; kept by the session if there are any for statements.
#[derive(Clone)]
pub struct StatementLimits {
    used: ResourceUse,
    limits: [u64; 4],
}

impl StatementLimits {
    /// None if the account limits no statements.
    pub fn of(account: &Account) -> Option<StatementLimits> {
        let is_limited = [Resource::Questions, Resource::Updates]
            .iter()
            .any(|resource| account.limits[*resource as usize] > 0);
        is_limited.then(|| StatementLimits { used: account.used.clone(), limits: account.limits })
    }

    /// Uses one of a resource; the limit if that is more than it allows.
    pub fn take(&self, resource: Resource, now_microseconds: u64) -> Result<(), u64> {
        let limit = self.limits[resource as usize];
        if self.used.take(resource, limit, now_microseconds) { Ok(()) } else { Err(limit) }
    }
}

#[cfg(test)]
mod tests {
    use super::Resource::*;
    use super::*;

    #[test]
    fn an_hour_begins_with_its_first_use() {
        let used = ResourceUse::default();
        let copy = used.clone();
        let now = HOUR_MICROSECONDS;
        assert!(used.take(Questions, 2, now) && copy.take(Questions, 2, now + 5));
        assert!(!used.take(Questions, 2, now + HOUR_MICROSECONDS - 1));
        assert!(used.take(Updates, 1, now) && used.take(Connections, 0, now));
        assert!(used.take(Questions, 2, now + HOUR_MICROSECONDS));
        used.forget();
        assert!(copy.take(Questions, 1, now) && !copy.take(Questions, 1, now));
    }
}
