//! In whose name a session runs its statements, and what that user may do. Main type: [`SessionUser`].

use crate::instance::Instance;
use accounts::ClientHost;
use accounts::account::Account;
use accounts::table::AccountTable;
use accounts::{AccountName, Grants, Privileges, StatementLimits};
use std::sync::Arc;
use variables::id;

/// The user of a session.
pub struct SessionUser {
    /// The account that was matched.
    pub account: AccountName,
    /// Where it connected from.
    pub host: ClientHost,
    /// USER().
    pub text: Arc<str>,
    /// CURRENT_USER().
    pub account_text: Arc<str>,
    /// Roles that are active now.
    pub active_roles: Vec<AccountName>,
    /// CURRENT_ROLE().
    pub current_role: Arc<str>,
    /// With the active roles.
    pub grants: Arc<Grants>,
    /// The account must change its password first.
    pub password_expired: bool,
    /// How many statements the account may run in an hour.
    pub statement_limits: Option<StatementLimits>,
    /// [`Instance::accounts_epoch`] for which grants, limits and what is said of the password hold; 0 for none.
    account_epoch: u64,
}

impl SessionUser {
    /// A user whose account is still to be read.
    pub fn new(
        account: AccountName,
        host: ClientHost,
        text: Arc<str>,
        account_text: Arc<str>,
    ) -> SessionUser {
        SessionUser {
            account,
            host,
            text,
            account_text,
            active_roles: Vec::new(),
            current_role: "NONE".into(),
            grants: Arc::default(),
            password_expired: false,
            statement_limits: None,
            account_epoch: 0,
        }
    }

    /// Reads the account again if any account changed.
    #[inline]
    pub fn refresh(&mut self, instance: &Instance) {
        if self.account_epoch == instance.accounts_epoch() {
            return;
        }
        let accounts = instance.accounts();
        self.take_account(instance, &accounts, accounts.get(&self.account));
    }

    /// Takes from the account what decides what the session may do.
    pub fn take_account(&mut self, instance: &Instance, accounts: &AccountTable, account: Option<&Account>) {
        self.grants = accounts.shared_grants(&self.account, &self.active_roles);
        self.password_expired = account.is_some_and(|account| has_expired(account, instance));
        // Sessions of an account that was dropped or renamed stay limited.
        if let Some(account) = account {
            self.statement_limits = StatementLimits::of(account);
        }
        self.account_epoch = accounts.epoch;
    }

    /// Whether it has the FILE privilege.
    pub fn reads_files(&self) -> bool {
        self.grants.global().contains(Privileges::FILE)
    }

    /// Roles that are active after login: the default ones or all, and the mandatory ones.
    pub fn activate_default_roles(&mut self, instance: &Instance) {
        let accounts = instance.accounts();
        let account = accounts.get(&self.account);
        let mut roles = Vec::new();
        if let Some(account) = account {
            if instance.global_value(id::ACTIVATE_ALL_ROLES_ON_LOGIN).is_on() {
                roles.extend(accounts.roles_of(account));
            } else {
                let granted = |role: &&AccountName| accounts.may_activate(account, role);
                roles.extend(account.default_roles.iter().filter(granted).cloned());
            }
            if instance.global_value(id::ACTIVATE_MANDATORY_ROLES).is_on() {
                roles.extend(accounts.mandatory_roles().cloned());
            }
        }
        self.set_active_roles(roles);
        self.take_account(instance, &accounts, account);
    }

    /// Changes the active roles.
    pub fn set_active_roles(&mut self, mut roles: Vec<AccountName>) {
        roles.sort();
        roles.dedup();
        let names: Vec<String> = roles.iter().map(AccountName::quoted).collect();
        self.current_role = if names.is_empty() { "NONE".into() } else { names.join(",").into() };
        self.active_roles = roles;
        self.account_epoch = 0;
    }
}

fn has_expired(account: &Account, instance: &Instance) -> bool {
    account.has_expired(
        || instance.global_number(id::DEFAULT_PASSWORD_LIFETIME),
        || (instance.wall_microseconds() / 1_000_000) as u64,
    )
}
