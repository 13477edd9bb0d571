//! Views of roles: which ones an account may use, which are active and what they give, mysql.role_edges and its neighbours.

use super::SystemTables;
use super::accounts::{set_text, yes_no};
use super::cursor::ViewRows;
use super::keys::Wanted;
use super::row::RowBuilder;
use crate::result::text;
use accounts::account::TableGrant;
use accounts::{Account, AccountName, Privileges};
use values::Value;

/// The user's roles and theirs: a row for each grant.
pub(super) fn applicable_roles(tables: &SystemTables) -> ViewRows {
    let accounts = tables.instance.accounts();
    let Some(own) = accounts.get(&tables.user.account) else { return Vec::new() };
    let roles = accounts.roles_of(own);
    let mut grants: Vec<(&Account, AccountName)> = roles.iter().map(|role| (own, role.clone())).collect();
    let mut holders = accounts.with_their_roles(roles);
    holders.retain(|holder| holder.name != own.name);
    let of_holder = |holder| move |role: &AccountName| (holder, role.clone());
    grants.extend(holders.iter().flat_map(|holder| holder.roles.keys().map(of_holder(*holder))));
    let row = |(holder, role): (&Account, AccountName)| {
        let names =
            [&own.name.user, &own.name.host, &holder.name.user, &holder.name.host, &role.user, &role.host];
        let mut row: Vec<Value> = names.into_iter().map(|name| text(&**name)).collect();
        let is_grantable = holder.roles.get(&role) == Some(&true);
        let flags = [is_grantable, own.default_roles.contains(&role), accounts.is_mandatory(&role)];
        row.extend(flags.map(|flag| text(yes_no(flag))));
        row
    };
    grants.into_iter().map(row).collect()
}

/// Those of them that may be granted on.
pub(super) fn administrable_roles(tables: &SystemTables) -> ViewRows {
    const IS_GRANTABLE: usize = 6;
    let mut rows = applicable_roles(tables);
    rows.retain(|row| row[IS_GRANTABLE] == text(yes_no(true)));
    rows
}

pub(super) fn enabled_roles(tables: &SystemTables) -> ViewRows {
    let accounts = tables.instance.accounts();
    let own = accounts.get(&tables.user.account);
    let row = |role: &AccountName| {
        let is_default = own.is_some_and(|account| account.default_roles.contains(role));
        let flags = [is_default, accounts.is_mandatory(role)].map(|flag| text(yes_no(flag)));
        [text(&*role.user), text(&*role.host)].into_iter().chain(flags).collect()
    };
    tables.user.active_roles.iter().map(row).collect()
}

/// What the active roles and theirs were granted on tables.
pub(super) fn role_table_grants(tables: &SystemTables, wanted: &Wanted) -> ViewRows {
    role_grants(tables, |role, schema, table, held| {
        let row = (!held.table.is_empty()).then(|| {
            grant_row(wanted, role, schema, table, held).set("PRIVILEGE_TYPE", text(set_text(held.table)))
        });
        row.map(RowBuilder::finish).into_iter().collect()
    })
}

/// What the active roles and theirs were granted on columns.
pub(super) fn role_column_grants(tables: &SystemTables, wanted: &Wanted) -> ViewRows {
    role_grants(tables, |role, schema, table, held| {
        let row = |(column, privileges): (&String, &Privileges)| {
            grant_row(wanted, role, schema, table, held)
                .set("COLUMN_NAME", text(&**column))
                .set("PRIVILEGE_TYPE", text(set_text(*privileges)))
                .finish()
        };
        held.columns.iter().map(row).collect()
    })
}

fn role_grants(
    tables: &SystemTables,
    rows_of: impl Fn(&AccountName, &str, &str, &TableGrant) -> ViewRows,
) -> ViewRows {
    let accounts = tables.instance.accounts();
    let Some(own) = accounts.get(&tables.user.account) else { return Vec::new() };
    let roles = accounts.roles_in_force(own, &tables.user.active_roles);
    let of_role = |role: &&Account| -> Vec<ViewRows> {
        role.tables.iter().map(|((schema, table), held)| rows_of(&role.name, schema, table, held)).collect()
    };
    roles.iter().flat_map(of_role).flatten().collect()
}

pub(super) fn mysql_role_edges(_: &SystemTables, _wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
    rows.extend(account.roles.iter().map(|(role, admin)| {
        let names = [&role.host, &role.user, &account.name.host, &account.name.user];
        let mut row: Vec<Value> = names.into_iter().map(|name| text(&**name)).collect();
        row.push(Value::UInt(u64::from(*admin) + 1));
        row
    }));
}

pub(super) fn mysql_default_roles(
    _: &SystemTables,
    _wanted: &Wanted,
    account: &Account,
    rows: &mut ViewRows,
) {
    rows.extend(account.default_roles.iter().map(|role| {
        let names = [&account.name.host, &account.name.user, &role.host, &role.user];
        names.into_iter().map(|name| text(&**name)).collect()
    }));
}

fn grant_row<'a>(
    wanted: &'a Wanted,
    role: &AccountName,
    schema: &str,
    table: &str,
    held: &TableGrant,
) -> RowBuilder<'a> {
    RowBuilder::new(&wanted.view)
        .set("GRANTEE", text(&*role.user))
        .set("GRANTEE_HOST", text(&*role.host))
        .set("TABLE_CATALOG", text("def"))
        .set("TABLE_SCHEMA", text(schema))
        .set("TABLE_NAME", text(table))
        .set("IS_GRANTABLE", text(yes_no(held.table.contains(Privileges::GRANT))))
}
