//! Passwords that an account had, as CREATE USER, ALTER USER and SET PASSWORD look at them.

use super::AccountDefiner;
use accounts::{Account, ReusePolicy};
use errors::{SqlResult, sql_error};
use variables::id;

impl AccountDefiner<'_> {
    /// Error 3638 for a password that the account had and may not take again.
    pub(super) fn check_reuse(&self, account: &Account, password: &[u8]) -> SqlResult<()> {
        if password.is_empty() || account.history.0.is_empty() {
            return Ok(());
        }
        let policy = self.reuse_policy(account)?;
        // Each comparison takes milliseconds, and a policy may ask for thousands.
        env::blocking::region(|| {
            for (later, old) in account.history.0.iter().enumerate() {
                self.shared.check_killed()?;
                if policy.forbids(later, old) && account.plugin.verifies(&old.stored, password) {
                    let name = &account.name;
                    return Err(sql_error!(ER_CREDENTIALS_CONTRADICT_TO_HISTORY, name.user, name.host));
                }
            }
            Ok(())
        })
    }

    /// Takes the account's password into its history. Error 1062 if another one was set at the same time.
    pub(super) fn remember_password(&self, account: &mut Account) -> SqlResult<()> {
        if account.authentication_string.is_empty() {
            return Ok(());
        }
        let policy = self.reuse_policy(account)?;
        if account.history.remember(&account.authentication_string, &policy) {
            return Ok(());
        }
        let mut time = Vec::new();
        policy.zone.local(policy.now_microseconds).append_text(6, &mut time);
        let time = String::from_utf8_lossy(&time);
        let key = format!("{}-{}-{time}", account.name.host, account.name.user);
        // MySQL sends the number of the plain message with the text that names the key.
        let named = sql_error!(ER_DUP_ENTRY_WITH_KEY_NAME, key, "password_history.PRIMARY");
        Err(errors::code::ER_DUP_ENTRY.message(named.message()))
    }

    /// The account's policy; the server's where it names none. Days are those of the session's time zone.
    fn reuse_policy(&self, account: &Account) -> SqlResult<ReusePolicy> {
        let instance = self.instance;
        let or_global = |own: Option<u64>, global| own.unwrap_or_else(|| instance.global_number(global));
        let days = or_global(account.reuse_days(), id::PASSWORD_REUSE_INTERVAL);
        let zone = self.variables.get(id::TIME_ZONE).text(id::TIME_ZONE.variable());
        Ok(ReusePolicy {
            passwords: or_global(account.reuse_passwords(), id::PASSWORD_HISTORY),
            days: i64::try_from(days).unwrap_or(i64::MAX),
            zone: instance::time_zones::find(instance, &zone)
                .ok_or_else(|| sql_error!(ER_UNKNOWN_TIME_ZONE, zone))?,
            now_microseconds: self.statement_time_microseconds,
        })
    }
}
