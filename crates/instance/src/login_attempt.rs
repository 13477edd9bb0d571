//! A login from its start to its verdict, at an account that failures can lock. Main type: [`LoginAttempt`].

use crate::instance::Instance;
use accounts::{AuthenticationAccount, ClientHost, LockTime, Locked, PasswordLocking};
use errors::{SqlResult, sql_error};
use std::sync::Arc;
use variables::id;

/// A login at an account that failures can lock. One that is given up before its verdict has failed.
pub struct LoginAttempt {
    instance: Arc<Instance>,
    locking: PasswordLocking,
    is_judged: bool,
}

impl LoginAttempt {
    /// A login that starts; None where no failure locks the account.
    pub fn start(instance: &Arc<Instance>, account: &AuthenticationAccount) -> Option<LoginAttempt> {
        let locking = account.locking.clone()?;
        Some(LoginAttempt { instance: Arc::clone(instance), locking, is_judged: false })
    }

    /// The verdict on the password. Error 3955 for `user` from `host` if the account is locked, or is so now.
    pub fn judge(mut self, proved: bool, user: &str, host: &ClientHost) -> SqlResult<()> {
        self.is_judged = true;
        let Err(Locked(remaining)) = self.locking.judge(proved, today(&self.instance)) else { return Ok(()) };
        let shown = |days: Option<i64>| days.map_or("unlimited".to_owned(), |days| days.to_string());
        let whole = match self.locking.time {
            LockTime::Days(days) => Some(i64::from(days)),
            LockTime::Unbounded => None,
        };
        Err(sql_error!(
            ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK,
            user,
            host.display(),
            shown(whole),
            shown(remaining),
            self.locking.attempts
        ))
    }
}

impl Drop for LoginAttempt {
    fn drop(&mut self) {
        if !self.is_judged {
            // The client is gone: nobody hears of the lock before the next login.
            let _ = self.locking.judge(false, today(&self.instance));
        }
    }
}

/// The calendar day in the server's time zone.
fn today(instance: &Instance) -> i64 {
    let zone = crate::time_zones::find(instance, &instance.global_text(id::TIME_ZONE));
    zone.unwrap_or(expression::TimeZone::Fixed(0)).local_day(instance.wall_microseconds())
}
