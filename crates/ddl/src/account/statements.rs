//! CREATE, ALTER, DROP and RENAME USER, roles, SET PASSWORD, SET ROLE. Main type:
//! [`AccountDefiner`].
//! A statement changes all its accounts or none, in one transaction of the engine.

use super::password::retain_current;
use super::{AccountChange, AccountDefiner};
use accounts::account::{Account, AccountName, Expiry, LIMITS};
use accounts::history::PasswordHistory;
use accounts::privilege::Privileges;
use accounts::table::AccountTable;
use accounts::{AuthenticationPlugin, LockTime, PasswordLocking, ResourceUse, TlsRequirement};
use errors::{SqlResult, sql_error};
use parser::ast::{self, *};
use variables::id;
use wire::auth::{caching_sha2, native};

/// Longest user name and host, characters.
const USER_CHARACTERS_MAX: usize = 32;
const HOST_CHARACTERS_MAX: usize = 255;

impl AccountDefiner<'_> {
    /// The account that a name in a statement means.
    pub(super) fn account_name(&self, user: &UserName) -> SqlResult<AccountName> {
        match user {
            UserName::CurrentUser => Ok(self.user.account.clone()),
            UserName::Account { name, host } => {
                if name.chars().count() > USER_CHARACTERS_MAX {
                    return Err(sql_error!(ER_WRONG_STRING_LENGTH, name, "user name", USER_CHARACTERS_MAX));
                }
                let host = host.as_deref().unwrap_or("%");
                if host.chars().count() > HOST_CHARACTERS_MAX {
                    return Err(sql_error!(ER_WRONG_STRING_LENGTH, host, "host name", HOST_CHARACTERS_MAX));
                }
                Ok(AccountName::new(name, host))
            }
        }
    }

    /// CREATE USER.
    pub fn create_user<'a>(&mut self, create: &'a CreateUser) -> SqlResult<impl AccountChange + use<'a>> {
        self.user.require_global(self.instance, Privileges::CREATE_USER)?;
        self.require_role_admin(&create.default_roles)?;
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let mut made = Vec::new();
            let mut existing = Vec::new();
            for specification in &create.users {
                session.shared.check_killed()?;
                let name = session.account_name(&specification.user)?;
                if table.get(&name).is_some() {
                    existing.push(name);
                    continue;
                }
                let mut account = Account::new(name.clone());
                account.plugin = session.default_plugin();
                account.password_changed = session.now_seconds();
                account.apply_reuse(&create.attributes);
                let generated = session.authenticate_with(&mut account, specification)?;
                session.generated.extend(generated);
                session.apply_attributes(&mut account, &create.attributes)?;
                // They are granted with it.
                for role in &create.default_roles {
                    let role = session.account_name(role)?;
                    if table.get(&role).is_none() {
                        return Err(sql_error!(ER_USER_DOES_NOT_EXIST, role.quoted()));
                    }
                    account.roles.insert(role.clone(), false);
                    account.default_roles.push(role);
                }
                table.put(account);
                made.push(name);
            }
            session.existing_accounts("CREATE USER", existing, create.if_not_exists)?;
            Ok(made)
        })
    }

    /// Accounts that are there already: notes with IF NOT EXISTS, else error 1396 that names all.
    pub(super) fn existing_accounts(
        &mut self,
        command: &str,
        existing: Vec<AccountName>,
        if_not_exists: bool,
    ) -> SqlResult<()> {
        if !if_not_exists && !existing.is_empty() {
            return Err(failed(command, &existing, " (User account already exists)"));
        }
        for name in existing {
            self.diagnostics.note(sql_error!(ER_USER_ALREADY_EXISTS, name.message()));
        }
        Ok(())
    }

    /// The same for accounts that are not there.
    fn missing_accounts(
        &mut self,
        command: &str,
        missing: Vec<AccountName>,
        if_exists: bool,
    ) -> SqlResult<()> {
        if !if_exists && !missing.is_empty() {
            return Err(failed(command, &missing, " (User account does not exist)"));
        }
        for name in missing {
            self.diagnostics.note(sql_error!(ER_USER_DOES_NOT_EXIST, name.message()));
        }
        Ok(())
    }

    /// Error 1227 for accounts that hold SYSTEM_USER, unless the session's own holds it: who may create accounts does
    /// not take over the administrators'.
    pub(super) fn require_system_user_for<'u>(
        &mut self,
        users: impl IntoIterator<Item = &'u UserName>,
    ) -> SqlResult<()> {
        for user in users {
            let name = self.account_name(user)?;
            self.user.require_power_over(self.instance, &name)?;
        }
        Ok(())
    }

    /// Error 1227 without any of those global privileges.
    pub(super) fn require_any_global(&mut self, wanted: Privileges) -> SqlResult<()> {
        if self.user.current_grants(self.instance).global().intersects(wanted) {
            return Ok(());
        }
        Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, wanted.list()))
    }

    fn default_plugin(&self) -> AuthenticationPlugin {
        let policy = self.instance.global_text(id::AUTHENTICATION_POLICY);
        let first = policy.split(',').next().unwrap_or_default().trim_start_matches("*:").trim().to_owned();
        AuthenticationPlugin::from_name(&first).unwrap_or(AuthenticationPlugin::CachingSha2Password)
    }

    /// Applies IDENTIFIED clauses. Errors: 1524 unknown plugin, 1827 bad hash, 3638 an old password, 1235 further
    /// factors.
    fn authenticate_with(
        &mut self,
        account: &mut Account,
        specification: &UserSpecification,
    ) -> SqlResult<Option<(AccountName, String)>> {
        if specification.factors.len() > 1 || !specification.factor_changes.is_empty() {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "multi-factor authentication"));
        }
        if specification.discard_old {
            account.retained.clear();
        }
        let Some(factor) = specification.factors.first() else { return Ok(None) };
        if let Some(plugin) = &factor.plugin {
            let plugin = AuthenticationPlugin::from_name(plugin)
                .ok_or_else(|| sql_error!(ER_PLUGIN_IS_NOT_LOADED, plugin))?;
            if plugin != account.plugin && specification.retain_current {
                let AccountName { user, host } = &account.name;
                return Err(sql_error!(ER_PASSWORD_CANNOT_BE_RETAINED_ON_PLUGIN_CHANGE, user, host));
            }
            if plugin != account.plugin {
                account.history = PasswordHistory::default();
                account.retained.clear();
            }
            account.plugin = plugin;
        }
        if let AuthenticationSecret::Password(password) = &factor.secret {
            self.check_reuse(account, password)?;
        }
        self.check_current_password(account, specification.replace.as_deref())?;
        if specification.retain_current {
            let becomes_empty = match &factor.secret {
                AuthenticationSecret::None => true,
                AuthenticationSecret::Password(text) | AuthenticationSecret::Hash(text) => text.is_empty(),
                AuthenticationSecret::Random => false,
            };
            retain_current(account, becomes_empty)?;
        }
        let mut generated = None;
        match &factor.secret {
            AuthenticationSecret::None => account.set_authentication_string(Vec::new()),
            AuthenticationSecret::Password(password) => self.set_secret(account, password),
            AuthenticationSecret::Random => {
                let password = self.random_password();
                self.set_secret(account, password.as_bytes());
                generated = Some((account.name.clone(), password));
            }
            AuthenticationSecret::Hash(hash) => {
                let valid = hash.is_empty()
                    || match account.plugin {
                        AuthenticationPlugin::CachingSha2Password => caching_sha2::is_valid(hash),
                        AuthenticationPlugin::MysqlNativePassword => native::is_valid(hash),
                    };
                if !valid {
                    return Err(sql_error!(ER_PASSWORD_FORMAT));
                }
                account.set_authentication_string(hash.clone());
            }
        }
        self.remember_password(account)?;
        account.password_expired = false;
        account.password_changed = self.now_seconds();
        Ok(generated)
    }

    fn apply_attributes(&mut self, account: &mut Account, attributes: &UserAttributes) -> SqlResult<()> {
        match &attributes.require {
            None => {}
            Some(ast::TlsRequirement::None) => account.tls = TlsRequirement::None,
            Some(ast::TlsRequirement::Ssl) => account.tls = TlsRequirement::Tls,
            Some(ast::TlsRequirement::X509) => account.tls = TlsRequirement::Certificate,
            Some(ast::TlsRequirement::Specified { cipher, issuer, subject }) => {
                let shown = |value: &Option<Vec<u8>>| {
                    value
                        .as_ref()
                        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
                        .unwrap_or_default()
                };
                account.tls = TlsRequirement::Specified {
                    cipher: shown(cipher),
                    issuer: shown(issuer),
                    subject: shown(subject),
                };
            }
        }
        if !attributes.limits.is_empty() {
            account.used = ResourceUse::default();
        }
        for (name, value) in &attributes.limits {
            if let Some(place) = LIMITS.iter().position(|limit| limit == name) {
                account.limits[place] = *value;
            }
        }
        match attributes.password_expire {
            None => {}
            Some(PasswordExpire::Now) => account.password_expired = true,
            Some(PasswordExpire::Default) => account.expiry = Expiry::Default,
            Some(PasswordExpire::Never) => account.expiry = Expiry::Never,
            Some(PasswordExpire::Interval(days)) => account.expiry = Expiry::Days(days),
        }
        if let Some(locked) = attributes.account_locked {
            account.locked = locked;
        }
        let mut keep = |name: &str, value: Option<String>| match value {
            Some(value) => drop(account.attributes.insert(name.to_owned(), value)),
            None => drop(account.attributes.remove(name)),
        };
        match attributes.require_current {
            None => {}
            Some(RequireCurrent::Default) => keep("require_current", None),
            Some(RequireCurrent::Optional) => keep("require_current", Some("OPTIONAL".to_owned())),
            Some(RequireCurrent::Required) => keep("require_current", Some(String::new())),
        }
        apply_locking(account, attributes);
        self.patch_metadata(account, attributes)
    }

    /// ALTER USER.
    pub fn alter_user<'a>(&mut self, alter: &'a AlterUser) -> SqlResult<impl AccountChange + use<'a>> {
        let own = |session: &AccountDefiner<'_>, user: &UserName| {
            session.account_name(user).is_ok_and(|name| name == session.user.account)
        };
        let changes_password = |user: &UserSpecification| !user.factors.is_empty() || user.discard_old;
        let only_own_password =
            alter.users.iter().all(|user| own(self, &user.user) && changes_password(user))
                && alter.attributes == UserAttributes::default();
        let only_own_roles = alter.default_role.is_some()
            && alter.users.iter().all(|user| own(self, &user.user) && user.factors.is_empty())
            && alter.attributes == UserAttributes::default();
        if !only_own_password && alter.default_role.is_some() {
            self.require_system_user_for(alter.users.iter().map(|user| &user.user))?;
        }
        if !only_own_password && !only_own_roles {
            self.user.require_global(self.instance, Privileges::CREATE_USER)?;
        }
        if only_own_password && alter.users.iter().any(|user| user.retain_current || user.discard_old) {
            self.require_second_password()?;
        }
        self.require_system_user_for(alter.users.iter().map(|user| &user.user))?;
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let mut names = Vec::new();
            let mut missing = Vec::new();
            for specification in &alter.users {
                let name = session.account_name(&specification.user)?;
                let Some(mut account) = table.get(&name).cloned() else {
                    // MySQL takes no default roles from an account that is not there without a word.
                    missing.extend((alter.default_role != Some(RoleChoice::None)).then_some(name));
                    continue;
                };
                account.apply_reuse(&alter.attributes);
                let generated = session.authenticate_with(&mut account, specification)?;
                session.generated.extend(generated);
                session.apply_attributes(&mut account, &alter.attributes)?;
                if let Some(choice) = &alter.default_role {
                    account.default_roles = session.chosen_roles(table, &account, choice)?;
                }
                table.put(account);
                names.push(name);
            }
            session.missing_accounts("ALTER USER", missing, alter.if_exists)?;
            Ok(names)
        })
    }

    /// DROP USER and DROP ROLE, as `command` says.
    pub fn drop_accounts<'a>(
        &mut self,
        command: &'static str,
        users: &'a [UserName],
        if_exists: bool,
    ) -> SqlResult<impl AccountChange + use<'a>> {
        let role = command == "DROP ROLE";
        match role {
            true => self.require_any_global(Privileges::CREATE_USER.with(Privileges::DROP_ROLE))?,
            false => self.user.require_global(self.instance, Privileges::CREATE_USER)?,
        }
        self.require_system_user_for(users)?;
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let mut changed = Vec::new();
            let mut missing = Vec::new();
            for user in users {
                session.shared.check_killed()?;
                let name = session.account_name(user)?;
                if table.is_mandatory(&name) {
                    return Err(sql_error!(ER_MANDATORY_ROLE, name.quoted()));
                }
                let holders: Vec<AccountName> = table
                    .all()
                    .filter(|account| {
                        account.roles.contains_key(&name) || account.default_roles.contains(&name)
                    })
                    .map(|account| account.name.clone())
                    .collect();
                if table.remove(&name).is_none() {
                    missing.push(name);
                    continue;
                }
                session.tell_of_views(command, &name)?;
                changed.extend(holders);
                changed.push(name);
            }
            session.missing_accounts(command, missing, if_exists)?;
            Ok(changed)
        })
    }

    /// RENAME USER.
    pub fn rename_users<'a>(
        &mut self,
        renames: &'a [(UserName, UserName)],
    ) -> SqlResult<impl AccountChange + use<'a>> {
        self.user.require_global(self.instance, Privileges::CREATE_USER)?;
        self.require_system_user_for(renames.iter().flat_map(|(from, to)| [from, to]))?;
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let mut changed = Vec::new();
            let mut refused = Vec::new();
            for (from, _) in renames {
                let from = session.account_name(from)?;
                if table.all().any(|account| account.roles.contains_key(&from)) {
                    return Err(sql_error!(ER_RENAME_ROLE));
                }
            }
            for (from, to) in renames {
                let (from, to) = (session.account_name(from)?, session.account_name(to)?);
                let account = table.get(&from).filter(|_| table.get(&to).is_none()).cloned();
                let Some(mut account) = account else {
                    refused.push(from);
                    continue;
                };
                account.name = to.clone();
                // What was used stays with the sessions of the old name.
                account.used = ResourceUse::default();
                let holds = |other: &&Account| other.default_roles.contains(&from);
                let holders: Vec<AccountName> =
                    table.all().filter(holds).map(|other| other.name.clone()).collect();
                table.remove(&from);
                table.put(account);
                for holder in &holders {
                    table.get_mut(holder).into_iter().for_each(|other| other.default_roles.push(to.clone()));
                }
                changed.extend(holders);
                changed.extend([from, to]);
            }
            if !refused.is_empty() {
                return Err(failed("RENAME USER", &refused, ""));
            }
            Ok(changed)
        })
    }
}

/// FAILED_LOGIN_ATTEMPTS and PASSWORD_LOCK_TIME. Either of them, and ACCOUNT UNLOCK, forgets the failures so far.
fn apply_locking(account: &mut Account, attributes: &UserAttributes) {
    if let Some(attempts) = attributes.failed_login_attempts {
        account.locking = PasswordLocking::new(attempts, account.locking.time);
    }
    if let Some(days) = attributes.password_lock_days {
        let time = days.map_or(LockTime::Unbounded, LockTime::Days);
        account.locking = PasswordLocking::new(account.locking.attempts, time);
    }
    if attributes.account_locked == Some(false) {
        account.locking = account.locking.anew();
    }
}

/// Error 1396.
fn failed(command: &str, names: &[AccountName], reason: &str) -> errors::SqlError {
    let shown: Vec<String> = names.iter().map(|name| format!("{}{reason}", name.message())).collect();
    sql_error!(ER_CANNOT_USER, command, shown.join(","))
}
