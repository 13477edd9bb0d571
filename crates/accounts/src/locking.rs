//! FAILED_LOGIN_ATTEMPTS and PASSWORD_LOCK_TIME: an account is locked for some days after so many logins in a row
//! failed. Main type: [`PasswordLocking`], part of an account.
//! Failures are counted in memory only, beside the account: what renames or copies it keeps the count, what drops it
//! or states its limits anew forgets it. Thread rules: copies share the count; any thread may ask.

use std::sync::{Arc, Mutex, PoisonError};

/// How long an account stays locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockTime {
    /// PASSWORD_LOCK_TIME n: so many calendar days, that of the last failure included; 0 never locks.
    Days(u16),
    /// PASSWORD_LOCK_TIME UNBOUNDED: until it is unlocked.
    Unbounded,
}

/// What an account says about failed logins, and how many there were.
#[derive(Clone, Debug)]
pub struct PasswordLocking {
    /// FAILED_LOGIN_ATTEMPTS; 0 never locks.
    pub attempts: u16,
    /// PASSWORD_LOCK_TIME.
    pub time: LockTime,
    failures: Arc<Mutex<Failures>>,
}

#[derive(Debug, Default)]
struct Failures {
    /// Failed logins in a row.
    count: u16,
    /// The day on which the last one that was allowed failed.
    locked_on: Option<i64>,
}

/// An account that is locked: the days that remain; None for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locked(pub Option<i64>);

impl PasswordLocking {
    /// Those limits, without any failure so far.
    pub fn new(attempts: u16, time: LockTime) -> PasswordLocking {
        PasswordLocking { attempts, time, failures: Arc::default() }
    }

    /// The same limits, without any failure so far.
    pub fn anew(&self) -> PasswordLocking {
        PasswordLocking::new(self.attempts, self.time)
    }

    /// Whether failures can lock the account: both limits must be given.
    pub fn is_active(&self) -> bool {
        self.attempts > 0 && self.time != LockTime::Days(0)
    }

    /// Forgets the failures of all copies.
    pub fn forget(&self) {
        *self.failures.lock().unwrap_or_else(PoisonError::into_inner) = Failures::default();
    }

    /// Counts a login that ended on that day, proved or not; says whether the account is locked for it.
    pub fn judge(&self, proved: bool, today: i64) -> Result<(), Locked> {
        if !self.is_active() {
            return Ok(());
        }
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let mut remaining = failures.locked_on.map(|day| self.remaining_days(day, today));
        if remaining.is_some_and(|days| days.is_some_and(|days| days <= 0)) {
            *failures = Failures::default();
            remaining = None;
        }
        if let Some(days) = remaining {
            return Err(Locked(days));
        }
        if proved {
            *failures = Failures::default();
            return Ok(());
        }
        failures.count += 1;
        if failures.count < self.attempts {
            return Ok(());
        }
        failures.locked_on = Some(today);
        Err(Locked(self.remaining_days(today, today)))
    }

    fn remaining_days(&self, locked_on: i64, today: i64) -> Option<i64> {
        match self.time {
            LockTime::Days(days) => Some(i64::from(days) - (today - locked_on)),
            LockTime::Unbounded => None,
        }
    }
}

impl Default for PasswordLocking {
    fn default() -> PasswordLocking {
        PasswordLocking::new(0, LockTime::Days(0))
    }
}

/// The limits only: how often logins failed is no part of what an account is.
impl PartialEq for PasswordLocking {
    fn eq(&self, other: &PasswordLocking) -> bool {
        (self.attempts, self.time) == (other.attempts, other.time)
    }
}

impl Eq for PasswordLocking {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_locked_for_days_after_failures_in_a_row() {
        let locking = PasswordLocking::new(3, LockTime::Days(2));
        let copy = locking.clone();
        assert_eq!(locking.judge(false, 10), Ok(()));
        assert_eq!(copy.judge(false, 10), Ok(()));
        assert_eq!(locking.judge(true, 10), Ok(()));
        assert_eq!(locking.judge(false, 10), Ok(()));
        assert_eq!(locking.judge(false, 11), Ok(()));
        assert_eq!(copy.judge(false, 11), Err(Locked(Some(2))));
        assert_eq!(locking.judge(true, 11), Err(Locked(Some(2))));
        assert_eq!(locking.judge(false, 12), Err(Locked(Some(1))));
        // A clock that was put back does not unlock.
        assert_eq!(locking.judge(true, 9), Err(Locked(Some(4))));
        assert_eq!(locking.judge(false, 13), Ok(()));
        assert_eq!(locking.judge(false, 13), Ok(()));
        assert_eq!(locking.judge(false, 13), Err(Locked(Some(2))));
        assert_eq!(locking.anew().judge(true, 13), Ok(()));
        copy.forget();
        assert_eq!(locking.judge(true, 13), Ok(()));
    }
}
