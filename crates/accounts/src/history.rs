//! PASSWORD HISTORY and PASSWORD REUSE INTERVAL: the passwords that an account had, and which of them it may not take
//! again. Main types: [`PasswordHistory`], part of an account; [`ReusePolicy`], what is asked of it now.
//! Passwords are remembered only while a policy asks for it, and the empty one never. One that is given by its hash is
//! remembered, but cannot be compared. Thread rules: plain data, changed with its account.

use crate::account::Account;
use expression::TimeZone;
use parser::ast::UserAttributes;

/// The largest number of PASSWORD HISTORY and of days of PASSWORD REUSE INTERVAL: what mysql.user holds.
const REUSE_MAX: u64 = u16::MAX as u64;

/// Names of the account's attributes.
const PASSWORD_HISTORY: &str = "password_history";
const PASSWORD_REUSE: &str = "password_reuse";

/// A password that an account had, or has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldPassword {
    /// When it was set: microseconds since 1970.
    pub set_microseconds: i64,
    /// The verifier that was stored.
    pub stored: Vec<u8>,
}

/// The passwords that an account had, the latest first. No two are of the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PasswordHistory(pub Vec<OldPassword>);

/// What an account's passwords are held against.
pub struct ReusePolicy {
    /// So many of the last ones are not taken again.
    pub passwords: u64,
    /// None that was set less than so many calendar days ago is.
    pub days: i64,
    /// Whose calendar that is.
    pub zone: TimeZone,
    /// Since 1970.
    pub now_microseconds: i64,
}

impl ReusePolicy {
    /// Days of the calendar since a password was set.
    fn age_days(&self, old: &OldPassword) -> i64 {
        self.zone.local_day(self.now_microseconds) - self.zone.local_day(old.set_microseconds)
    }

    /// Whether a password may not be taken again that so many are later than.
    pub fn forbids(&self, later: usize, old: &OldPassword) -> bool {
        (later as u64) < self.passwords || self.days > 0 && self.age_days(old) < self.days
    }

    /// Whether a password is still remembered once a further one is set. One that is as old as the interval is.
    fn keeps(&self, later: usize, old: &OldPassword) -> bool {
        (later as u64) + 1 < self.passwords || self.days > 0 && self.age_days(old) <= self.days
    }

    fn is_active(&self) -> bool {
        self.passwords > 0 || self.days > 0
    }
}

impl PasswordHistory {
    /// Takes a password in and forgets those that the policy needs no more. False if there is one of the same time.
    pub fn remember(&mut self, stored: &[u8], policy: &ReusePolicy) -> bool {
        let mut places = 0..;
        self.0.retain(|old| places.next().is_some_and(|later| policy.keeps(later, old)));
        if !policy.is_active() {
            return true;
        }
        let now = policy.now_microseconds;
        let Err(place) = self.0.binary_search_by(|old| now.cmp(&old.set_microseconds)) else { return false };
        self.0.insert(place, OldPassword { set_microseconds: now, stored: stored.to_vec() });
        true
    }
}

impl Account {
    /// PASSWORD HISTORY; None: DEFAULT.
    pub fn reuse_passwords(&self) -> Option<u64> {
        self.reuse_limit(PASSWORD_HISTORY)
    }

    /// PASSWORD REUSE INTERVAL in days; None: DEFAULT.
    pub fn reuse_days(&self) -> Option<u64> {
        self.reuse_limit(PASSWORD_REUSE)
    }

    /// The number that an attribute starts with. What was stored before it was enforced may be larger than is allowed.
    fn reuse_limit(&self, attribute: &str) -> Option<u64> {
        let number: u64 = self.attributes.get(attribute)?.split(' ').next()?.parse().ok()?;
        Some(number.min(REUSE_MAX))
    }

    /// PASSWORD HISTORY and PASSWORD REUSE INTERVAL of a statement.
    pub fn apply_reuse(&mut self, attributes: &UserAttributes) {
        let days = attributes.password_reuse_days;
        let clauses = [(PASSWORD_HISTORY, attributes.password_history, ""), (PASSWORD_REUSE, days, " DAY")];
        for (name, limit, unit) in clauses {
            match limit {
                None => {}
                Some(None) => drop(self.attributes.remove(name)),
                Some(Some(limit)) => {
                    let text = format!("{}{unit}", limit.min(REUSE_MAX));
                    self.attributes.insert(name.to_owned(), text);
                }
            }
        }
    }
}
