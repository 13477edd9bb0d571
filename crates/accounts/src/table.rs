//! All accounts in memory, and the questions that statements ask of them. Main type: [`AccountTable`].
//! Immutable: a change makes a new table, so that sessions read without locks.

use crate::AuthenticationAccount;
use crate::ClientHost;
use crate::account::{Account, AccountName};
use crate::grants::Grants;
use crate::host;
use expression::context::RoleGraph;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

/// All accounts and roles.
#[derive(Clone, Debug, Default)]
pub struct AccountTable {
    accounts: BTreeMap<AccountName, Account>,
    /// Rises with every change.
    pub epoch: u64,
    rules: AccountRules,
    combined: CombinedGrants,
}

/// What global variables say about all accounts.
#[derive(Clone, Debug, Default)]
pub struct AccountRules {
    /// mandatory_roles: granted to everybody, as far as there are such accounts.
    pub mandatory_roles: Arc<[AccountName]>,
    /// partial_revokes: schemas are named as they are, not by patterns, and global privileges may be taken in them.
    pub partial_revokes: bool,
}

/// Grants of accounts with their active roles, made when a session first needs them. A copy of the table starts
/// without any: it is made to be changed.
#[derive(Debug, Default)]
struct CombinedGrants(RwLock<BTreeMap<WithRoles, Arc<Grants>>>);

/// An account and its active roles.
type WithRoles = (AccountName, Vec<AccountName>);

/// How many are kept: SET ROLE makes as many as there are choices of roles.
const COMBINED_MAX: usize = 10_000;

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

    /// What the server says about all accounts.
    pub fn rules(&self) -> &AccountRules {
        &self.rules
    }

    /// Changes that.
    pub fn set_rules(&mut self, rules: AccountRules) {
        self.rules = rules;
    }

    /// Those of mandatory_roles that there are.
    pub fn mandatory_roles(&self) -> impl Iterator<Item = &AccountName> {
        self.rules.mandatory_roles.iter().filter(|role| self.accounts.contains_key(role))
    }

    /// Whether the role is a mandatory one.
    pub fn is_mandatory(&self, role: &AccountName) -> bool {
        self.mandatory_roles().any(|mandatory| mandatory == role)
    }

    /// The roles that an account may make active: those that it was granted, and the mandatory ones.
    pub fn roles_of(&self, account: &Account) -> BTreeSet<AccountName> {
        account.roles.keys().chain(self.mandatory_roles()).cloned().collect()
    }

    /// Whether the account may make the role active.
    pub fn may_activate(&self, account: &Account, role: &AccountName) -> bool {
        account.roles.contains_key(role) || self.is_mandatory(role)
    }

    /// Those roles and the ones that they were granted, each once.
    pub fn with_their_roles(&self, roles: impl IntoIterator<Item = AccountName>) -> Vec<&Account> {
        let mut open: Vec<AccountName> = roles.into_iter().collect();
        let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
        while let Some(next) = open.pop() {
            if let Some(account) = self.accounts.get(&next).filter(|_| seen.insert(next)) {
                open.extend(account.roles.keys().cloned());
                found.push(account);
            }
        }
        found
    }

    /// Of the active roles those that give something, and theirs. A role that was revoked gives nothing any more, though it
    /// is still active in a session.
    pub fn roles_in_force(&self, own: &Account, active: &[AccountName]) -> Vec<&Account> {
        let roles = active.iter().filter(|role| self.may_activate(own, role));
        let mut found = self.with_their_roles(roles.cloned());
        found.retain(|role| role.name != own.name);
        found
    }

    /// Whether any account is restricted in a schema.
    pub fn has_restrictions(&self) -> bool {
        self.accounts.values().any(|account| !account.restrictions.is_empty())
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
        let mandatory = self.mandatory_roles().cloned();
        let held = self.with_their_roles(mandatory.chain([holder.clone()]));
        held.iter().any(|account| account.name == *role)
    }

    /// What an account may do with those roles active, roles of roles included.
    pub fn shared_grants(&self, name: &AccountName, active: &[AccountName]) -> Arc<Grants> {
        let key = (name.clone(), active.to_vec());
        let known = self.combined.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(grants) = known {
            return grants;
        }
        let grants = Arc::new(self.grants(name, active));
        let mut combined = self.combined.0.write().unwrap_or_else(PoisonError::into_inner);
        if combined.len() < COMBINED_MAX {
            combined.insert(key, Arc::clone(&grants));
        }
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
        let Some(own) = self.get(name) else { return Grants::of(None, &[], &self.rules) };
        Grants::of(Some(own), &self.roles_in_force(own, active), &self.rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privilege::Privileges;

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
    fn mandatory_roles_are_everybodys() {
        let mut table = table(&[("u", "%"), ("m", "%"), ("r", "%")]);
        let (user, mandatory, role) =
            (AccountName::new("u", "%"), AccountName::new("m", "%"), AccountName::new("r", "%"));
        table.get_mut(&mandatory).unwrap().global = Privileges::SELECT;
        let active = std::slice::from_ref(&mandatory);
        assert!(!table.grants(&user, active).global().contains(Privileges::SELECT));
        let unknown = AccountName::new("nobody", "%");
        let mandatory_roles = [unknown.clone(), mandatory.clone()].into();
        table.set_rules(AccountRules { mandatory_roles, partial_revokes: false });
        assert!(table.grants(&user, active).global().contains(Privileges::SELECT));
        assert!(table.grants_role(&role, &mandatory) && !table.grants_role(&mandatory, &role));
        assert!(!table.may_activate(table.get(&user).unwrap(), &unknown));
    }

    #[test]
    fn patterns_are_names_with_partial_revokes() {
        let mut table = table(&[("u", "%")]);
        let user = AccountName::new("u", "%");
        table.get_mut(&user).unwrap().schemas.insert("s%".to_owned(), Privileges::SELECT);
        assert!(table.grants(&user, &[]).schema("s1").contains(Privileges::SELECT));
        table.set_rules(AccountRules { partial_revokes: true, ..AccountRules::default() });
        assert!(!table.grants(&user, &[]).schema("s1").contains(Privileges::SELECT));
        assert!(table.grants(&user, &[]).schema("s%").contains(Privileges::SELECT));
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
