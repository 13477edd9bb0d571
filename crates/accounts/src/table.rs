//! All accounts in memory, and the questions that statements ask of them. Main types: [`AccountTable`], [`Grants`].
//! Immutable: a change makes a new table, so that sessions read without locks.

use crate::AuthenticationAccount;
use crate::ClientHost;
use crate::account::{Account, AccountName, TableGrant};
use crate::host;
use crate::privilege::Privileges;
use expression::context::RoleGraph;
use plan::GrantsId;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// All accounts and roles.
#[derive(Clone, Debug, Default)]
pub struct AccountTable {
    accounts: BTreeMap<AccountName, Account>,
    /// Rises with every change.
    pub epoch: u64,
    combined: CombinedGrants,
}

/// Grants of accounts without active roles, made when a session of theirs first needs them. A copy of the table starts
/// without any: it is made to be changed.
#[derive(Debug, Default)]
struct CombinedGrants(RwLock<BTreeMap<AccountName, Arc<Grants>>>);

impl Clone for CombinedGrants {
    fn clone(&self) -> CombinedGrants {
        CombinedGrants::default()
    }
}

impl AccountTable {
    /// The account of exactly that name.
    pub fn get(&self, name: &AccountName) -> Option<&Account> {
        self.accounts.get(name)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, name: &AccountName) -> Option<&mut Account> {
        self.accounts.get_mut(name)
    }

    /// Adds or replaces an account.
    pub fn put(&mut self, account: Account) {
        self.accounts.insert(account.name.clone(), account);
    }

    /// Removes an account, and it from those that it was granted to as a role.
    pub fn remove(&mut self, name: &AccountName) -> Option<Account> {
        for account in self.accounts.values_mut() {
            account.roles.remove(name);
            account.default_roles.retain(|role| role != name);
        }
        self.accounts.remove(name)
    }

    /// All accounts, by name.
    pub fn all(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values()
    }

    /// All accounts, and the roles that they were granted.
    pub fn role_graph(&self) -> RoleGraph {
        let accounts = self.accounts.keys().map(AccountName::quoted).collect();
        let places: BTreeMap<&AccountName, usize> =
            self.accounts.keys().enumerate().map(|(place, name)| (name, place)).collect();
        let mut grants = Vec::new();
        for (holder, account) in self.accounts.values().enumerate() {
            let roles = account.roles.iter();
            grants
                .extend(roles.filter_map(|(role, admin)| Some((holder, places.get(role).copied()?, *admin))));
        }
        RoleGraph { accounts, grants }
    }

    /// The account that a client matches: the most specific host first, then a named user before the anonymous one.
    pub fn find(&self, user: &str, client: &ClientHost) -> Option<&Account> {
        let fits = |account: &&Account| {
            (account.name.user == user || account.name.user.is_empty())
                && host::matches(&account.name.host, client)
        };
        self.accounts
            .values()
            .filter(fits)
            .min_by_key(|account| (host::rank(&account.name.host), account.name.user.is_empty()))
    }

    /// Forgets the failed logins of all accounts.
    pub fn forget_failed_logins(&self) {
        self.accounts.values().for_each(|account| account.locking.forget());
    }

    /// Forgets what accounts used of their resources.
    pub fn forget_resources(&self) {
        self.accounts.values().for_each(|account| account.used.forget());
    }

    /// What the handshake needs of an account.
    pub fn authentication(account: &Account) -> AuthenticationAccount {
        AuthenticationAccount {
            user: account.name.user.clone(),
            host: account.name.host.clone(),
            plugin: account.plugin,
            authentication_string: account.authentication_string.clone(),
            retained_authentication_string: account.retained.clone(),
            tls: account.tls.clone(),
            locked: account.locked,
            locking: account.locking.is_active().then(|| account.locking.clone()),
        }
    }

    /// Whether `holder` has `role`, through other roles too.
    pub fn grants_role(&self, holder: &AccountName, role: &AccountName) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![holder.clone()];
        while let Some(next) = open.pop() {
            if next == *role {
                return true;
            }
            if seen.insert(next.clone())
                && let Some(account) = self.get(&next)
            {
                open.extend(account.roles.keys().cloned());
            }
        }
        false
    }

    /// What an account may do with those roles active, roles of roles included.
    pub fn shared_grants(&self, name: &AccountName, active: &[AccountName]) -> Arc<Grants> {
        if !active.is_empty() {
            return Arc::new(self.grants(name, active));
        }
        let known = self.combined.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(grants) = known {
            return grants;
        }
        let grants = Arc::new(self.grants(name, active));
        let mut combined = self.combined.0.write().unwrap_or_else(PoisonError::into_inner);
        combined.insert(name.clone(), Arc::clone(&grants));
        grants
    }

    /// Whether the account holds a dynamic privilege, itself or by a role that it was granted, active or not.
    pub fn holds_dynamic(&self, name: &AccountName, privilege: &str) -> bool {
        let roles: Vec<AccountName> =
            self.get(name).map(|account| account.roles.keys().cloned().collect()).unwrap_or_default();
        self.grants(name, &roles).holds_dynamic(privilege)
    }

    /// As [`AccountTable::shared_grants`], made anew.
    pub fn grants(&self, name: &AccountName, active: &[AccountName]) -> Grants {
        let has_password = self.get(name).is_some_and(|account| !account.authentication_string.is_empty());
        let mut grants = Grants { id: next_grants_id(), has_password, ..Grants::default() };
        let mut seen = BTreeSet::new();
        // A role that was revoked gives nothing any more, though it is still active in a session.
        let granted = |role: &&AccountName| self.get(name).is_some_and(|own| own.roles.contains_key(role));
        let mut open: Vec<AccountName> = active.iter().filter(granted).cloned().collect();
        open.push(name.clone());
        while let Some(next) = open.pop() {
            let Some(account) = self.accounts.get(&next).filter(|_| seen.insert(next.clone())) else {
                continue;
            };
            grants.add(account);
            if next != *name {
                open.extend(account.roles.keys().cloned());
            }
        }
        grants
    }
}

/// Numbers of grants, for the life of the process.
static GRANTS_MADE: AtomicU64 = AtomicU64::new(0);

fn next_grants_id() -> Option<GrantsId> {
    NonZeroU64::new(GRANTS_MADE.fetch_add(1, Ordering::Relaxed).wrapping_add(1)).map(GrantsId)
}

/// What a session may do: its account's grants and those of its active roles.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    /// None: they are not those of an account as it stands in the table.
    id: Option<GrantsId>,
    global: Privileges,
    dynamic: BTreeMap<String, bool>,
    schemas: Vec<(String, Privileges)>,
    /// By schema, then by table.
    tables: BTreeMap<String, BTreeMap<String, TableGrant>>,
    has_password: bool,
}

impl Grants {
    fn add(&mut self, account: &Account) {
        self.global = self.global.with(account.global);
        for (name, grant) in &account.dynamic {
            let entry = self.dynamic.entry(name.clone()).or_default();
            *entry |= *grant;
        }
        self.schemas.extend(account.schemas.iter().map(|(name, bits)| (name.clone(), *bits)));
        for ((schema, table), grant) in &account.tables {
            let merged = self.tables.entry(schema.clone()).or_default().entry(table.clone()).or_default();
            merged.table = merged.table.with(grant.table);
            for (column, bits) in &grant.columns {
                let entry = merged.columns.entry(column.clone()).or_default();
                *entry = entry.with(*bits);
            }
        }
    }

    /// Everything: internal statements.
    pub fn everything() -> Grants {
        Grants { global: Privileges::ALL_GLOBAL.with(Privileges::GRANT), ..Grants::default() }
    }

    /// Names these grants. They never change, so that what they allowed once they allow always.
    pub fn id(&self) -> Option<GrantsId> {
        self.id
    }

    /// Privileges on `*.*`.
    pub fn global(&self) -> Privileges {
        self.global
    }

    /// Whether a dynamic privilege is held. SUPER stands for those that were split from it.
    pub fn dynamic(&self, name: &str) -> bool {
        self.dynamic.contains_key(name) || self.global.contains(Privileges::SUPER)
    }

    /// Whether that very dynamic privilege is held.
    pub fn holds_dynamic(&self, name: &str) -> bool {
        self.dynamic.contains_key(name)
    }

    /// Whether a dynamic privilege may be granted to others.
    pub fn may_grant_dynamic(&self, name: &str) -> bool {
        self.dynamic.get(name).copied().unwrap_or(false)
    }

    /// Privileges that hold for the schema and all in it: the global ones and those of its name or pattern.
    pub fn schema(&self, schema: &str) -> Privileges {
        let matching = self.schemas.iter().filter(|(pattern, _)| values::print::like(schema, pattern));
        matching.fold(self.global, |bits, (_, more)| bits.with(*more))
    }

    /// What was granted on that very table.
    pub fn table_grant(&self, schema: &str, table: &str) -> Option<&TableGrant> {
        self.tables.get(schema)?.get(table)
    }

    /// Privileges that hold for the table as a whole.
    pub fn table(&self, schema: &str, table: &str) -> Privileges {
        let granted = self.table_grant(schema, table);
        self.schema(schema).with(granted.map(|grant| grant.table).unwrap_or_default())
    }

    /// Privileges that hold for the column.
    pub fn column(&self, schema: &str, table: &str, column: &str) -> Privileges {
        let granted = self.table_grant(schema, table).and_then(|grant| {
            grant.columns.iter().find(|(name, _)| name.eq_ignore_ascii_case(column)).map(|(_, bits)| *bits)
        });
        self.table(schema, table).with(granted.unwrap_or_default())
    }

    /// Privileges that hold for the table or for any column of it.
    pub fn table_or_columns(&self, schema: &str, table: &str) -> Privileges {
        let columns = self.table_grant(schema, table).into_iter().flat_map(|grant| grant.columns.values());
        columns.fold(self.table(schema, table), |bits, more| bits.with(*more))
    }

    /// Whether something was granted on columns of the table.
    pub fn has_column_grants(&self, schema: &str, table: &str) -> bool {
        self.table_grant(schema, table).is_some_and(|grant| !grant.columns.is_empty())
    }

    /// Whether the account proves itself by a password.
    pub fn has_password(&self) -> bool {
        self.has_password
    }

    /// Whether the user may do anything in the schema.
    pub fn uses_schema(&self, schema: &str) -> bool {
        !self.schema(schema).without(Privileges::GLOBAL_ONLY).is_empty() || self.tables.contains_key(schema)
    }

    /// Whether the user may know that the schema exists.
    pub fn sees_schema(&self, schema: &str) -> bool {
        self.uses_schema(schema) || self.global.contains(Privileges::SHOW_DATABASES)
    }
}

impl Privileges {
    /// Those that say nothing about schemas.
    pub const GLOBAL_ONLY: Privileges =
        Privileges(Privileges::ALL_GLOBAL.0 & !Privileges::ALL_SCHEMA.0 | Privileges::GRANT.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[(&str, &str)]) -> AccountTable {
        let mut table = AccountTable::default();
        names.iter().for_each(|(user, host)| table.put(Account::new(AccountName::new(user, host))));
        table
    }

    #[test]
    fn most_specific_account_wins() {
        let table = table(&[("u", "%"), ("", "localhost"), ("u", "127.0.0.%"), ("v", "%")]);
        let local = ClientHost::local();
        assert_eq!(table.find("u", &local).unwrap().name, AccountName::new("", "localhost"));
        let remote = ClientHost { address: "127.0.0.9".parse().ok(), port: 1, name: None };
        assert_eq!(table.find("u", &remote).unwrap().name, AccountName::new("u", "127.0.0.%"));
        assert!(table.find("w", &remote).is_none());
    }

    #[test]
    fn combined_grants_are_kept_until_the_table_is_copied() {
        let user = AccountName::new("u", "%");
        let old = table(&[("u", "%")]);
        assert!(Arc::ptr_eq(&old.shared_grants(&user, &[]), &old.shared_grants(&user, &[])));
        let mut new = old.clone();
        new.get_mut(&user).unwrap().schemas.insert("s".to_owned(), Privileges::SELECT);
        assert!(new.shared_grants(&user, &[]).schema("s").contains(Privileges::SELECT));
        assert!(!old.shared_grants(&user, &[]).schema("s").contains(Privileges::SELECT));
    }

    #[test]
    fn roles_give_their_grants_while_active() {
        let mut table = table(&[("u", "%"), ("r", "%"), ("q", "%")]);
        let (user, role, inner) =
            (AccountName::new("u", "%"), AccountName::new("r", "%"), AccountName::new("q", "%"));
        table.get_mut(&inner).unwrap().schemas.insert("s\\_1".to_owned(), Privileges::SELECT);
        table.get_mut(&role).unwrap().roles.insert(inner.clone(), false);
        table.get_mut(&user).unwrap().roles.insert(role.clone(), false);
        assert!(!table.grants(&user, &[]).schema("s_1").contains(Privileges::SELECT));
        let grants = table.grants(&user, std::slice::from_ref(&role));
        assert!(grants.table("s_1", "t").contains(Privileges::SELECT));
        assert!(!grants.table("sx1", "t").contains(Privileges::SELECT));
        table.get_mut(&user).unwrap().roles.remove(&role);
        assert!(!table.grants(&user, &[role]).table("s_1", "t").contains(Privileges::SELECT));
    }
}
