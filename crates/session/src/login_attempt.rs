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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_and_days_unlock() {
        use crate::tests::{check, connect, environment, run, start};
        let (_disk, environment) = environment();
        let instance = start(&environment);
        let mut root = connect(&instance, "root").unwrap();
        let host = ClientHost::local();
        // The answer to a login: an error's number, or 0.
        let login = |user: &str, proved: bool| {
            let account = instance.find_account(user, &host).unwrap();
            let attempt = LoginAttempt::start(&instance, &account);
            let verdict = attempt.map_or(Ok(()), |attempt| attempt.judge(proved, user, &host));
            verdict.map_or_else(|error| error.number(), |()| 0)
        };
        let lock = |user: &str| {
            assert_eq!([login(user, false), login(user, false), login(user, true)], [0, 3955, 3955])
        };
        check(&mut root, &[("create user u failed_login_attempts 2 password_lock_time 2", "OK 0")]);
        for unlocks in [
            "alter user u account unlock",
            "alter user u failed_login_attempts 2",
            "alter user u password_lock_time 2",
            "flush privileges",
        ] {
            lock("u");
            check(
                &mut root,
                &[("alter user u account lock comment 'x'", "OK 0"), ("grant select on *.* to u", "OK 0")],
            );
            assert_eq!(login("u", true), 3955, "{unlocks}");
            check(&mut root, &[(unlocks, "OK 0")]);
            assert_eq!(login("u", true), 0, "{unlocks}");
        }
        lock("u");
        check(&mut root, &[("rename user u to w", "OK 0")]);
        assert_eq!(login("w", true), 3955);
        // A statement that fails, or is rolled back, unlocks nothing.
        run(&mut root, "alter user w account unlock, nobody account unlock");
        assert_eq!(login("w", true), 3955);
        environment.clock.sleep(std::time::Duration::from_secs(86_400));
        assert_eq!(login("w", true), 3955);
        environment.clock.sleep(std::time::Duration::from_secs(86_400));
        assert_eq!(login("w", true), 0);
        // Given up.
        let account = instance.find_account("w", &host).unwrap();
        drop(LoginAttempt::start(&instance, &account));
        assert_eq!(login("w", false), 3955);
        drop(root);
        drop(instance);
        let instance = start(&environment);
        let account = instance.find_account("w", &host).unwrap();
        assert!(LoginAttempt::start(&instance, &account).unwrap().judge(true, "w", &host).is_ok());
    }

    #[test]
    fn one_limit_without_the_other_locks_nothing() {
        for (attempts, time) in [(0, LockTime::Unbounded), (1, LockTime::Days(0)), (0, LockTime::Days(3))] {
            let locking = PasswordLocking::new(attempts, time);
            assert!((0..5).all(|day| locking.judge(false, day).is_ok()), "{locking:?}");
        }
        let forever = PasswordLocking::new(1, LockTime::Unbounded);
        assert_eq!(forever.judge(false, 0), Err(Locked(None)));
        assert_eq!(forever.judge(true, 1_000_000), Err(Locked(None)));
    }
}
