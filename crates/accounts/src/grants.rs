//! What a session may do: its account's grants and those of its active roles, combined. Main type: [`Grants`].

use crate::account::{Account, TableGrant};
use crate::privilege::Privileges;
use crate::restriction::Restrictions;
use crate::table::AccountRules;
use plan::GrantsId;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// Where some of `global` does not hold.
    restrictions: Restrictions,
    dynamic: BTreeMap<String, bool>,
    schemas: Vec<(String, Privileges)>,
    /// The names of `schemas` are no patterns.
    schemas_by_name: bool,
    /// By schema, then by table.
    tables: BTreeMap<String, BTreeMap<String, TableGrant>>,
    has_password: bool,
}

impl Grants {
    /// Those of an account and of roles that are in force for it; of nobody, who may do nothing.
    pub(crate) fn of(own: Option<&Account>, roles: &[&Account], rules: &AccountRules) -> Grants {
        let has_password = own.is_some_and(|account| !account.authentication_string.is_empty());
        let schemas_by_name = rules.partial_revokes;
        let mut grants = Grants { id: next_grants_id(), has_password, schemas_by_name, ..Grants::default() };
        let held: Vec<&Account> = roles.iter().copied().chain(own).collect();
        grants.restrictions = Restrictions::in_force(&held);
        held.iter().for_each(|account| grants.add(account));
        grants
    }

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

    /// Where some of the global privileges do not hold.
    pub fn restrictions(&self) -> &Restrictions {
        &self.restrictions
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

    /// Privileges that hold for the schema and all in it: the global ones that are not restricted there, and those of its
    /// name or pattern.
    pub fn schema(&self, schema: &str) -> Privileges {
        let is_meant = |name: &str| match self.schemas_by_name {
            true => name == schema,
            false => values::print::like(schema, name),
        };
        let matching = self.schemas.iter().filter(|(name, _)| is_meant(name));
        let global = self.global.without(self.restrictions.of(schema));
        matching.fold(global, |bits, (_, more)| bits.with(*more))
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
