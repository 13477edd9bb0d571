//! Passwords that an account had, as CREATE USER, ALTER USER and SET PASSWORD look at them.

use crate::session::Session;
use accounts::{Account, ReusePolicy};
use errors::{SqlResult, sql_error};
use variables::id;

impl Session {
    /// Error 3638 for a password that the account had and may not take again.
    pub(super) fn check_reuse(&self, account: &Account, password: &[u8]) -> SqlResult<()> {
        if password.is_empty() || account.history.0.is_empty() {
            return Ok(());
        }
        let policy = self.reuse_policy(account)?;
        // Each comparison takes milliseconds, and a policy may ask for thousands.
        env::blocking::region(|| {
            for (later, old) in account.history.0.iter().enumerate() {
                if self.shared.kill.is_raised() {
                    return Err(sql_error!(ER_QUERY_INTERRUPTED));
                }
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
        let instance = &self.instance;
        let or_global = |own: Option<u64>, global| own.unwrap_or_else(|| instance.global_number(global));
        let days = or_global(account.reuse_days(), id::PASSWORD_REUSE_INTERVAL);
        let zone = self.state.text(id::TIME_ZONE);
        Ok(ReusePolicy {
            passwords: or_global(account.reuse_passwords(), id::PASSWORD_HISTORY),
            days: i64::try_from(days).unwrap_or(i64::MAX),
            zone: instance::time_zones::find(instance, &zone)
                .ok_or_else(|| sql_error!(ER_UNKNOWN_TIME_ZONE, zone))?,
            now_microseconds: self.state.statement_time_microseconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, connect, environment, run, start};
    use accounts::{Account, AccountName};
    use std::time::Duration;

    const DAY: Duration = Duration::from_secs(86_400);
    const REFUSED: &str = "ERROR 3638 Cannot use these credentials for 'u@%' because they contradict the password history policy";

    const SAME_TIME: &str =
        "ERROR 1062 Duplicate entry '%-u-1970-01-01 00:01:40.000000' for key 'password_history.PRIMARY'";

    #[test]
    fn a_password_comes_back_when_no_policy_needs_it() {
        let (_disk, environment) = environment();
        environment.clock.sleep(DAY);
        let instance = start(&environment);
        let mut root = connect(&instance, "root").unwrap();
        let set = |session: &mut crate::Session, password: &str| {
            environment.clock.sleep(Duration::from_millis(1));
            run(session, &format!("set password for u = '{password}'")).remove(0)
        };
        let count = |session: &mut crate::Session| {
            run(session, "select count(*) from mysql.password_history where user = 'u'").remove(0)
        };
        run(&mut root, "create user u identified by 'a'");
        assert_eq!([set(&mut root, "a"), count(&mut root)], ["OK 0", "0"]);
        run(&mut root, "set global password_history = 2");
        assert_eq!(
            [set(&mut root, "a"), set(&mut root, "a"), set(&mut root, "b")],
            ["OK 0", REFUSED, "OK 0"]
        );
        assert_eq!(
            [set(&mut root, "a"), set(&mut root, "c"), set(&mut root, "a")],
            [REFUSED, "OK 0", "OK 0"]
        );
        assert_eq!([set(&mut root, ""), set(&mut root, ""), count(&mut root)], ["OK 0", "OK 0", "2"]);
        // What the account says goes before what the server says.
        run(&mut root, "alter user u password history 0");
        assert_eq!([count(&mut root), set(&mut root, "a"), count(&mut root)], ["2", "OK 0", "0"]);
        run(&mut root, "set global password_reuse_interval = 2");
        assert_eq!(
            [set(&mut root, "a"), set(&mut root, "b"), set(&mut root, "a")],
            ["OK 0", "OK 0", REFUSED]
        );
        environment.clock.sleep(DAY);
        assert_eq!([set(&mut root, "c"), set(&mut root, "a"), count(&mut root)], ["OK 0", REFUSED, "3"]);
        environment.clock.sleep(DAY);
        assert_eq!([set(&mut root, "a"), count(&mut root)], ["OK 0", "4"]);
        environment.clock.sleep(DAY);
        assert_eq!([set(&mut root, "d"), count(&mut root)], ["OK 0", "3"]);
    }

    #[test]
    fn the_history_stays_with_the_account() {
        let (_disk, environment) = environment();
        environment.clock.sleep(DAY);
        let instance = start(&environment);
        let mut root = connect(&instance, "root").unwrap();
        check(
            &mut root,
            &[
                ("create user v identified by 'a' password history 3", "OK 0"),
                ("rename user v to u", "OK 0"),
                ("grant select on *.* to u", "OK 0"),
                ("alter user u comment 'x'", "OK 0"),
                ("alter user u identified by 'a'", REFUSED),
                ("set timestamp = 100", "OK 0"),
                ("alter user u identified by 'b', u identified by 'c'", SAME_TIME),
            ],
        );
        drop(root);
        drop(instance);
        let instance = start(&environment);
        let mut root = connect(&instance, "root").unwrap();
        let counted = "select count(*) from mysql.password_history";
        check(
            &mut root,
            &[
                ("alter user u identified by 'a'", REFUSED),
                (counted, "1"),
                ("drop user u", "OK 0"),
                (counted, "0"),
                ("create user u identified by 'a' password history 3", "OK 0"),
                (counted, "1"),
                // What one plugin stored says nothing to another.
                ("alter user u identified with mysql_native_password by 'a'", "OK 0"),
                (counted, "1"),
                ("alter user u identified by 'a'", REFUSED),
                ("alter user u identified with caching_sha2_password", "OK 0"),
                (counted, "0"),
            ],
        );
    }

    #[test]
    fn accounts_that_were_stored_without_a_history_are_read() {
        let text =
            "password\t2a41\t\t5\nattribute\tpassword_history\t99999\nattribute\tpassword_reuse\t3 DAY\n";
        let account = Account::decode(AccountName::new("u", "%"), text).unwrap();
        assert!(account.history.0.is_empty());
        assert_eq!((account.reuse_passwords(), account.reuse_days()), (Some(65_535), Some(3)));
    }
}
