//! An account or role with its grants. Main type: [`Account`]. Its stored form: `stored.rs`.

use crate::history::PasswordHistory;
use crate::privilege::Privileges;
use crate::restriction::Restrictions;
use crate::{AuthenticationPlugin, PasswordLocking, ResourceUse, TlsRequirement};
use std::collections::BTreeMap;

/// The name of an account. Users compare byte by byte, hosts in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountName {
    /// User; empty for the anonymous account.
    pub user: String,
    /// Host pattern.
    pub host: String,
}

impl AccountName {
    /// A name; the host becomes lower case.
    pub fn new(user: &str, host: &str) -> AccountName {
        AccountName { user: user.to_owned(), host: host.to_ascii_lowercase() }
    }

    /// As messages quote it: `'user'@'host'`.
    pub fn message(&self) -> String {
        format!("'{}'@'{}'", self.user, self.host)
    }

    /// As SHOW GRANTS quotes it.
    pub fn quoted(&self) -> String {
        format!("{}@{}", values::print::quoted(&self.user), values::print::quoted(&self.host))
    }
}

impl std::fmt::Display for AccountName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.user, self.host)
    }
}

/// PASSWORD EXPIRE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expiry {
    /// default_password_lifetime counts.
    #[default]
    Default,
    /// NEVER.
    Never,
    /// After so many days.
    Days(u64),
}

/// Grants on one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableGrant {
    /// On the whole table.
    pub table: Privileges,
    /// On columns.
    pub columns: BTreeMap<String, Privileges>,
}

/// An account or role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Name.
    pub name: AccountName,
    /// Authentication plugin.
    pub plugin: AuthenticationPlugin,
    /// Stored verifier.
    pub authentication_string: Vec<u8>,
    /// Verifier kept by RETAIN CURRENT PASSWORD.
    pub retained: Vec<u8>,
    /// REQUIRE.
    pub tls: TlsRequirement,
    /// ACCOUNT LOCK.
    pub locked: bool,
    /// PASSWORD EXPIRE was said, or the account is a role.
    pub password_expired: bool,
    /// PASSWORD EXPIRE DEFAULT, NEVER, INTERVAL.
    pub expiry: Expiry,
    /// When the password was last changed: seconds since 1970; 0 if that is not known.
    pub password_changed: u64,
    /// The passwords that it had, as far as they may not be taken again.
    pub history: PasswordHistory,
    /// MAX_QUERIES_PER_HOUR, MAX_UPDATES_PER_HOUR, MAX_CONNECTIONS_PER_HOUR, MAX_USER_CONNECTIONS.
    pub limits: [u64; 4],
    /// What was used of those that count by the hour.
    pub used: ResourceUse,
    /// FAILED_LOGIN_ATTEMPTS, PASSWORD_LOCK_TIME.
    pub locking: PasswordLocking,
    /// Further attributes as SHOW CREATE USER prints them: limits of reuse.
    pub attributes: BTreeMap<String, String>,
    /// What COMMENT and ATTRIBUTE say: the text of a JSON object.
    pub metadata: Option<String>,
    /// Grants on `*.*`, GRANT OPTION included.
    pub global: Privileges,
    /// Schemas in which global privileges do not hold.
    pub restrictions: Restrictions,
    /// Dynamic privileges and whether they may be granted on.
    pub dynamic: BTreeMap<String, bool>,
    /// Grants on schemas by name or pattern.
    pub schemas: BTreeMap<String, Privileges>,
    /// Grants on tables by (schema, table).
    pub tables: BTreeMap<(String, String), TableGrant>,
    /// Granted roles and whether with admin option.
    pub roles: BTreeMap<AccountName, bool>,
    /// Roles that are active from the start.
    pub default_roles: Vec<AccountName>,
}

/// Names of [`Account::limits`] in their order.
pub const LIMITS: [&str; 4] =
    ["MAX_QUERIES_PER_HOUR", "MAX_UPDATES_PER_HOUR", "MAX_CONNECTIONS_PER_HOUR", "MAX_USER_CONNECTIONS"];

impl Account {
    /// An account without password and grants.
    pub fn new(name: AccountName) -> Account {
        Account {
            name,
            plugin: AuthenticationPlugin::CachingSha2Password,
            authentication_string: Vec::new(),
            retained: Vec::new(),
            tls: TlsRequirement::None,
            locked: false,
            password_expired: false,
            expiry: Expiry::Default,
            password_changed: 0,
            history: PasswordHistory::default(),
            limits: [0; 4],
            used: ResourceUse::default(),
            locking: PasswordLocking::default(),
            attributes: BTreeMap::new(),
            metadata: None,
            global: Privileges::NONE,
            restrictions: Restrictions::default(),
            dynamic: BTreeMap::new(),
            schemas: BTreeMap::new(),
            tables: BTreeMap::new(),
            roles: BTreeMap::new(),
            default_roles: Vec::new(),
        }
    }

    /// Whether the password must be changed before anything else: PASSWORD EXPIRE was said, or the password is older
    /// than its EXPIRE INTERVAL (default_password_lifetime, where the account names none). When a password was set is
    /// not known of accounts that never had one.
    pub fn has_expired(
        &self,
        default_lifetime_days: impl Fn() -> u64,
        now_seconds: impl Fn() -> u64,
    ) -> bool {
        self.password_expired
            || self.password_changed > 0 && self.is_too_old(default_lifetime_days, now_seconds)
    }

    fn is_too_old(&self, default_lifetime_days: impl Fn() -> u64, now_seconds: impl Fn() -> u64) -> bool {
        const DAY_SECONDS: u64 = 86_400;
        let lifetime_days = match self.expiry {
            Expiry::Default => default_lifetime_days(),
            Expiry::Never => 0,
            Expiry::Days(days) => days,
        };
        let end = self.password_changed.saturating_add(lifetime_days.saturating_mul(DAY_SECONDS));
        lifetime_days > 0 && now_seconds() >= end
    }

    /// Gives it another password, as it is stored. Beside an empty one there is no second.
    pub fn set_authentication_string(&mut self, stored: Vec<u8>) {
        if stored.is_empty() {
            self.retained.clear();
        }
        self.authentication_string = stored;
    }

    /// Whether that is its password.
    pub fn has_password(&self, password: &[u8]) -> bool {
        self.plugin.verifies(&self.authentication_string, password)
    }

    /// Adds the grants of roles: SHOW GRANTS .. USING.
    pub fn absorb(&mut self, roles: &[&Account]) {
        self.restrictions = Restrictions::in_force(&[&[&*self], roles].concat());
        roles.iter().for_each(|role| self.absorb_grants(role));
    }

    fn absorb_grants(&mut self, role: &Account) {
        self.global = self.global.with(role.global);
        role.dynamic
            .iter()
            .for_each(|(name, grant)| *self.dynamic.entry(name.clone()).or_default() |= *grant);
        for (schema, privileges) in &role.schemas {
            let held = self.schemas.entry(schema.clone()).or_default();
            *held = held.with(*privileges);
        }
        for ((schema, table), grant) in &role.tables {
            let held = self.table_grant(schema, table);
            held.table = held.table.with(grant.table);
            for (column, privileges) in &grant.columns {
                let bits = held.columns.entry(column.clone()).or_default();
                *bits = bits.with(*privileges);
            }
        }
    }

    /// Forgets grants that say nothing any more.
    pub fn tidy(&mut self) {
        self.schemas.retain(|_, privileges| !privileges.is_empty());
        for grant in self.tables.values_mut() {
            grant.columns.retain(|_, privileges| !privileges.is_empty());
        }
        self.tables.retain(|_, grant| !grant.table.is_empty() || !grant.columns.is_empty());
    }

    /// Roles that it was granted WITH ADMIN OPTION.
    pub fn administered_roles(&self) -> impl Iterator<Item = &AccountName> {
        self.roles.iter().filter(|(_, admin)| **admin).map(|(role, _)| role)
    }

    /// REVOKE ALL: what the account was granted at any level, but for roles.
    pub fn revoke_all(&mut self) {
        self.global = Privileges::NONE;
        self.restrictions = Restrictions::default();
        self.dynamic.clear();
        self.schemas.clear();
        self.tables.clear();
    }

    /// The grant on that table, made if there is none.
    pub fn table_grant(&mut self, schema: &str, table: &str) -> &mut TableGrant {
        self.tables.entry((schema.to_owned(), table.to_owned())).or_default()
    }
}

/// What COMMENT keeps: a JSON object with one member.
pub fn comment_object(comment: &str) -> String {
    format!("{{\"comment\": {}}}", json_text(comment))
}

/// A text as JSON.
pub fn json_text(text: &str) -> String {
    let mut quoted = Vec::new();
    values::json::quote(text.as_bytes(), &mut quoted);
    String::from_utf8_lossy(&quoted).into_owned()
}
