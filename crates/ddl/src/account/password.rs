//! Passwords: SET PASSWORD, what is stored of them, and when the current one must be known to change it.
//! Entry point: [`AccountDefiner::set_password`]; `statements.rs` asks the same for CREATE and ALTER USER.

use super::{AccountChange, AccountDefiner};
use accounts::table::AccountTable;
use accounts::{Account, AccountName, AuthenticationPlugin, Privileges};
use errors::{SqlResult, sql_error};
use parser::ast::*;
use variables::id;
use wire::auth::{caching_sha2, native};

impl AccountDefiner<'_> {
    /// SET PASSWORD. Errors: 1133 for an unknown account, 3638 for an old password.
    pub fn set_password<'a>(&mut self, password: &'a SetPassword) -> SqlResult<impl AccountChange + use<'a>> {
        let name = match &password.user {
            Some(user) => self.account_name(user)?,
            None => self.user.account.clone(),
        };
        if name != self.user.account {
            self.require_schema_of_accounts()?;
            self.require_system_user_for(&password.user)?;
        } else if password.retain_current {
            self.require_second_password()?;
        }
        let Some(secret) = &password.password else {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "SET PASSWORD TO RANDOM"));
        };
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let mut account = table.get(&name).cloned().ok_or_else(|| sql_error!(ER_PASSWORD_NO_MATCH))?;
            session.check_reuse(&account, secret)?;
            session.check_current_password(&account, password.replace.as_deref())?;
            if password.retain_current {
                retain_current(&mut account, secret.is_empty())?;
            }
            session.set_secret(&mut account, secret);
            session.remember_password(&mut account)?;
            account.password_expired = false;
            account.password_changed = session.now_seconds();
            table.put(account);
            Ok(vec![name])
        })
    }

    /// Error 1227 for who may not have two passwords at a time. Asked for one's own account; others' take CREATE USER anyway.
    pub(super) fn require_second_password(&mut self) -> SqlResult<()> {
        const ADMIN: &str = "APPLICATION_PASSWORD_ADMIN";
        let grants = self.user.current_grants(self.instance);
        if grants.global().contains(Privileges::CREATE_USER) || grants.holds_dynamic(ADMIN) {
            return Ok(());
        }
        Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, format!("CREATE USER or {ADMIN}")))
    }

    /// Error 1044 for SET PASSWORD of another account, which asks to change the tables of accounts.
    fn require_schema_of_accounts(&mut self) -> SqlResult<()> {
        match self.user.current_grants(self.instance).schema("mysql").contains(Privileges::UPDATE) {
            true => Ok(()),
            false => Err(self.user.denied_schema("mysql")),
        }
    }

    /// Whether REPLACE names the current password, and whether it may be left out. An account may have to know its
    /// password to change it (PASSWORD REQUIRE CURRENT, password_require_current), unless it may change everybody's.
    /// Errors: 3891 a wrong one, 3892 none, 3893 one of another account.
    pub(super) fn check_current_password(
        &mut self,
        account: &Account,
        current: Option<&[u8]>,
    ) -> SqlResult<()> {
        if let Some(current) = current {
            if account.name != self.user.account {
                return Err(sql_error!(ER_CURRENT_PASSWORD_NOT_REQUIRED));
            }
            return match account.has_password(current) {
                true => Ok(()),
                false => Err(sql_error!(ER_INCORRECT_CURRENT_PASSWORD)),
            };
        }
        let is_required = match account.attributes.get("require_current").map(String::as_str) {
            Some("OPTIONAL") => false,
            Some(_) => true,
            None => self.instance.global_value(id::PASSWORD_REQUIRE_CURRENT).is_on(),
        };
        if !is_required || account.authentication_string.is_empty() || self.may_change_accounts() {
            return Ok(());
        }
        Err(sql_error!(ER_MISSING_CURRENT_PASSWORD))
    }

    fn may_change_accounts(&mut self) -> bool {
        let grants = self.user.current_grants(self.instance);
        grants.global().contains(Privileges::CREATE_USER)
            || grants.schema("mysql").contains(Privileges::UPDATE)
    }

    pub(super) fn set_secret(&mut self, account: &mut Account, password: &[u8]) {
        let stored = match (password.is_empty(), account.plugin) {
            (true, _) => Vec::new(),
            (_, AuthenticationPlugin::CachingSha2Password) => {
                let mut random = [0; caching_sha2::SALT_BYTES];
                self.instance.environment().random.fill(&mut random);
                let rounds = self.instance.global_number(id::CACHING_SHA2_PASSWORD_DIGEST_ROUNDS);
                caching_sha2::hash(password, random, rounds as u32)
            }
            (_, AuthenticationPlugin::MysqlNativePassword) => native::hash(password).into_bytes(),
        };
        account.set_authentication_string(stored);
    }

    pub(super) fn random_password(&self) -> String {
        const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_+.!";
        let length = self.variables.get(id::GENERATED_RANDOM_PASSWORD_LENGTH).unsigned() as usize;
        let mut random = vec![0; length];
        self.instance.environment().random.fill(&mut random);
        random.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect()
    }

    /// When a password is changed by this statement, SET TIMESTAMP included: seconds since 1970.
    pub(super) fn now_seconds(&self) -> u64 {
        (self.statement_time_microseconds / 1_000_000) as u64
    }
}

/// RETAIN CURRENT PASSWORD: both are right from now on. Errors: 3895 beside an empty new one, 3878 for an empty current one.
pub(super) fn retain_current(account: &mut Account, becomes_empty: bool) -> SqlResult<()> {
    if becomes_empty {
        let AccountName { user, host } = &account.name;
        return Err(sql_error!(ER_CURRENT_PASSWORD_CANNOT_BE_RETAINED, user, host));
    }
    if account.authentication_string.is_empty() {
        let AccountName { user, host } = &account.name;
        return Err(sql_error!(ER_SECOND_PASSWORD_CANNOT_BE_EMPTY, user, host));
    }
    account.retained.clone_from(&account.authentication_string);
    Ok(())
}
