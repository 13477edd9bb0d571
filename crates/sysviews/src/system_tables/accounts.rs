//! Views of accounts and grants: information_schema's _PRIVILEGES, mysql.user and its neighbours.

use super::SystemTables;
use super::cursor::{Pieces, ViewRows};
use super::keys::Wanted;
use super::row::RowBuilder;
use crate::result::text;
use accounts::account::{Expiry, TableGrant, json_text};
use accounts::privilege::NAMED;
use accounts::{Account, AccountName, LockTime, Privileges, TlsRequirement};
use values::Value;

/// Which accounts a view tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// Those that the user may see.
    Visible,
    /// All.
    All,
    /// All, in the order of hosts.
    AllByHost,
}

/// Appends the rows that a view has of an account.
pub(super) type RowsOfAccount<'a> = fn(&SystemTables<'a>, &Wanted, &Account, &mut ViewRows);

pub(super) fn yes_no(on: bool) -> &'static str {
    if on { "YES" } else { "NO" }
}

/// Column of mysql.user and mysql.db for each static privilege.
const PRIVILEGE_COLUMNS: &[(Privileges, &str)] = &[
    (Privileges::SELECT, "Select_priv"),
    (Privileges::INSERT, "Insert_priv"),
    (Privileges::UPDATE, "Update_priv"),
    (Privileges::DELETE, "Delete_priv"),
    (Privileges::CREATE, "Create_priv"),
    (Privileges::DROP, "Drop_priv"),
    (Privileges::RELOAD, "Reload_priv"),
    (Privileges::SHUTDOWN, "Shutdown_priv"),
    (Privileges::PROCESS, "Process_priv"),
    (Privileges::FILE, "File_priv"),
    (Privileges::GRANT, "Grant_priv"),
    (Privileges::REFERENCES, "References_priv"),
    (Privileges::INDEX, "Index_priv"),
    (Privileges::ALTER, "Alter_priv"),
    (Privileges::SHOW_DATABASES, "Show_db_priv"),
    (Privileges::SUPER, "Super_priv"),
    (Privileges::CREATE_TEMPORARY_TABLES, "Create_tmp_table_priv"),
    (Privileges::LOCK_TABLES, "Lock_tables_priv"),
    (Privileges::EXECUTE, "Execute_priv"),
    (Privileges::REPLICATION_SLAVE, "Repl_slave_priv"),
    (Privileges::REPLICATION_CLIENT, "Repl_client_priv"),
    (Privileges::CREATE_VIEW, "Create_view_priv"),
    (Privileges::SHOW_VIEW, "Show_view_priv"),
    (Privileges::CREATE_ROUTINE, "Create_routine_priv"),
    (Privileges::ALTER_ROUTINE, "Alter_routine_priv"),
    (Privileges::CREATE_USER, "Create_user_priv"),
    (Privileges::EVENT, "Event_priv"),
    (Privileges::TRIGGER, "Trigger_priv"),
    (Privileges::CREATE_TABLESPACE, "Create_tablespace_priv"),
    (Privileges::CREATE_ROLE, "Create_role_priv"),
    (Privileges::DROP_ROLE, "Drop_role_priv"),
];

fn with_privileges<'a>(row: RowBuilder<'a>, held: Privileges) -> RowBuilder<'a> {
    PRIVILEGE_COLUMNS
        .iter()
        .fold(row, |row, (bit, column)| row.set(column, text(if held.contains(*bit) { "Y" } else { "N" })))
}

/// Names of the SET columns of tables_priv and columns_priv.
pub(super) fn set_text(held: Privileges) -> String {
    let mut words: Vec<String> = held.names().map(str::to_owned).collect();
    words.extend(held.contains(Privileges::GRANT).then(|| "Grant".to_owned()));
    words.join(",")
}

impl SystemTables<'_> {
    /// The rows that each account gives. Those of which they are made keep as they were when the reading began.
    pub(super) fn by_account<'a>(
        &'a self,
        wanted: Wanted,
        listed: Listed,
        rows_of: RowsOfAccount<'a>,
    ) -> Pieces<'a> {
        // All accounts with SELECT on mysql.user, else its own.
        let sees_all =
            listed != Listed::Visible || self.user.grants.table("mysql", "user").contains(Privileges::SELECT);
        let is_wanted = |name: &AccountName| {
            (sees_all || *name == self.user.account)
                && ["USER", "TO_USER"].iter().all(|column| wanted.has(column, &name.user))
                && ["HOST", "TO_HOST"].iter().all(|column| wanted.has(column, &name.host))
                && wanted.has("GRANTEE", &name.message())
        };
        let accounts = self.instance.accounts();
        let mut names: Vec<AccountName> =
            accounts.all().map(|account| &account.name).filter(|name| is_wanted(name)).cloned().collect();
        if listed == Listed::AllByHost {
            names.sort_by(|a, b| (&a.host, &a.user).cmp(&(&b.host, &b.user)));
        }
        Box::new(names.into_iter().map(move |name| {
            let mut rows = Vec::new();
            if let Some(account) = accounts.get(&name) {
                rows_of(self, &wanted, account, &mut rows);
            }
            rows
        }))
    }

    pub(super) fn user_privileges(&self, _wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
        let grantee = account.name.message();
        let grantable = account.global.contains(Privileges::GRANT);
        let mut names: Vec<(String, bool)> =
            account.global.names().map(|name| (name.to_owned(), grantable)).collect();
        names.extend(account.dynamic.iter().map(|(name, grant)| (name.clone(), *grant)));
        if names.is_empty() {
            names.push(("USAGE".to_owned(), false));
        }
        let row = |(name, grant)| vec![text(&*grantee), text("def"), text(name), text(yes_no(grant))];
        rows.extend(names.into_iter().map(row));
    }

    pub(super) fn schema_privileges(&self, wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
        for (schema, held) in account.schemas.iter().filter(|(schema, _)| wanted.has("TABLE_SCHEMA", schema))
        {
            let grant = yes_no(held.contains(Privileges::GRANT));
            rows.extend(held.names().map(|name| {
                vec![text(account.name.message()), text("def"), text(&**schema), text(name), text(grant)]
            }));
        }
    }

    pub(super) fn table_privileges(&self, wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
        for ((schema, table), held) in wanted_tables(account, wanted) {
            let grant = yes_no(held.table.contains(Privileges::GRANT));
            rows.extend(held.table.names().map(|name| {
                let grantee = text(account.name.message());
                vec![grantee, text("def"), text(&**schema), text(&**table), text(name), text(grant)]
            }));
        }
    }

    pub(super) fn column_privileges(&self, wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
        for ((schema, table), held) in wanted_tables(account, wanted) {
            let grant = yes_no(held.table.contains(Privileges::GRANT));
            for (column, bits) in &held.columns {
                rows.extend(bits.names().map(|name| {
                    let mut row = vec![text(account.name.message()), text("def"), text(&**schema)];
                    row.extend([text(&**table), text(&**column), text(name), text(grant)]);
                    row
                }));
            }
        }
    }

    pub(super) fn user_attributes(&self, _wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
        rows.push(vec![text(&*account.name.user), text(&*account.name.host), attribute(account)]);
    }

    pub(super) fn mysql_user(&self, wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
        let (ssl_type, cipher, issuer, subject) = match &account.tls {
            TlsRequirement::None => ("", "", "", ""),
            TlsRequirement::Tls => ("ANY", "", "", ""),
            TlsRequirement::Certificate => ("X509", "", "", ""),
            TlsRequirement::Specified { cipher, issuer, subject } => {
                ("SPECIFIED", cipher.as_str(), issuer.as_str(), subject.as_str())
            }
        };
        let limit = |at: usize| Value::UInt(account.limits[at]);
        let changed = self.time_zone().local(account.password_changed as i64 * 1_000_000);
        let row = with_privileges(RowBuilder::new(&wanted.view), account.global)
            .set("Host", text(&*account.name.host))
            .set("User", text(&*account.name.user))
            .set("ssl_type", text(ssl_type))
            .set("ssl_cipher", text(cipher))
            .set("x509_issuer", text(issuer))
            .set("x509_subject", text(subject))
            .set("max_questions", limit(0))
            .set("max_updates", limit(1))
            .set("max_connections", limit(2))
            .set("max_user_connections", limit(3))
            .set("plugin", text(account.plugin.name()))
            .set("authentication_string", Value::Bytes(account.authentication_string.clone()))
            .set("password_expired", text(if account.password_expired { "Y" } else { "N" }))
            .set("password_last_changed", Value::DateTime(changed))
            .set("password_lifetime", lifetime(account))
            .set("account_locked", text(if account.locked { "Y" } else { "N" }))
            .set("Password_reuse_history", limit_or_null(account.reuse_passwords()))
            .set("Password_reuse_time", limit_or_null(account.reuse_days()))
            .set("Password_require_current", requires_current(account))
            .set("User_attributes", all_attributes(account))
            .finish();
        rows.push(row);
    }

    pub(super) fn mysql_db(&self, wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
        for (schema, held) in account.schemas.iter().filter(|(schema, _)| wanted.has("Db", schema)) {
            rows.push(
                with_privileges(RowBuilder::new(&wanted.view), *held)
                    .set("Host", text(&*account.name.host))
                    .set("Db", text(&**schema))
                    .set("User", text(&*account.name.user))
                    .finish(),
            );
        }
    }

    pub(super) fn mysql_tables_priv(&self, wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
        for ((schema, table), held) in
            account.tables.iter().filter(|((schema, _), _)| wanted.has("Db", schema))
        {
            let columns = held.columns.values().fold(Privileges::NONE, |bits, more| bits.with(*more));
            rows.push(
                RowBuilder::new(&wanted.view)
                    .set("Host", text(&*account.name.host))
                    .set("Db", text(&**schema))
                    .set("User", text(&*account.name.user))
                    .set("Table_name", text(&**table))
                    .set("Table_priv", text(set_text(held.table)))
                    .set("Column_priv", text(set_text(columns)))
                    .finish(),
            );
        }
    }

    pub(super) fn mysql_columns_priv(&self, wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
        for ((schema, table), held) in
            account.tables.iter().filter(|((schema, _), _)| wanted.has("Db", schema))
        {
            rows.extend(held.columns.iter().map(|(column, bits)| {
                RowBuilder::new(&wanted.view)
                    .set("Host", text(&*account.name.host))
                    .set("Db", text(&**schema))
                    .set("User", text(&*account.name.user))
                    .set("Table_name", text(&**table))
                    .set("Column_name", text(&**column))
                    .set("Column_priv", text(set_text(*bits)))
                    .finish()
            }));
        }
    }

    pub(super) fn mysql_global_grants(&self, _wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
        let AccountName { user, host } = &account.name;
        // Members of WITH_GRANT_OPTION: N, Y.
        rows.extend(account.dynamic.iter().map(|(name, grant)| {
            vec![text(&**user), text(&**host), text(&**name), Value::UInt(u64::from(*grant) + 1)]
        }));
    }

    /// By host, by user, the latest password first: the table's primary key.
    pub(super) fn mysql_password_history(&self, _wanted: &Wanted, account: &Account, rows: &mut ViewRows) {
        let zone = self.time_zone();
        rows.extend(account.history.0.iter().map(|old| {
            vec![
                text(&*account.name.host),
                text(&*account.name.user),
                Value::DateTime(zone.local(old.set_microseconds)),
                Value::Bytes(old.stored.clone()),
            ]
        }));
    }
}

/// What the account was granted on tables that are wanted.
fn wanted_tables<'a>(
    account: &'a Account,
    wanted: &'a Wanted,
) -> impl Iterator<Item = (&'a (String, String), &'a TableGrant)> {
    let is_wanted = |(schema, table): &(String, String)| {
        wanted.has("TABLE_SCHEMA", schema) && wanted.has("TABLE_NAME", table)
    };
    account.tables.iter().filter(move |(name, _)| is_wanted(name))
}

/// A limit; NULL for that of the server.
fn limit_or_null(limit: Option<u64>) -> Value {
    limit.map_or(Value::Null, Value::UInt)
}

/// Days that a password lives: 0 for ever, NULL for as long as the server says.
fn lifetime(account: &Account) -> Value {
    limit_or_null(match account.expiry {
        Expiry::Default => None,
        Expiry::Never => Some(0),
        Expiry::Days(days) => Some(days),
    })
}

fn requires_current(account: &Account) -> Value {
    let clause = account.attributes.get("require_current");
    clause.map_or(Value::Null, |clause| text(if clause == "OPTIONAL" { "N" } else { "Y" }))
}

/// USER_ATTRIBUTES.ATTRIBUTE as JSON.
fn attribute(account: &Account) -> Value {
    account.metadata.as_deref().map_or(Value::Null, text)
}

/// Partial revokes as JSON.
fn restrictions(account: &Account) -> Option<String> {
    let one = |(schema, privileges): (&str, Privileges)| {
        let names: Vec<String> = privileges.list().split(", ").map(|name| format!("\"{name}\"")).collect();
        format!("{{\"Database\": {}, \"Privileges\": [{}]}}", json_text(schema), names.join(", "))
    };
    let all: Vec<String> = account.restrictions.iter().map(one).collect();
    (!all.is_empty()).then(|| format!("\"Restrictions\": [{}]", all.join(", ")))
}

/// mysql.user.User_attributes as JSON.
fn all_attributes(account: &Account) -> Value {
    let locking = &account.locking;
    let days = match locking.time {
        LockTime::Days(days) => i32::from(days),
        LockTime::Unbounded => -1,
    };
    let metadata = account.metadata.as_ref().map(|metadata| format!("\"metadata\": {metadata}"));
    let limits = (locking.attempts > 0 || days != 0).then(|| {
        let attempts = locking.attempts;
        let limits = format!("\"failed_login_attempts\": {attempts}, \"password_lock_time_days\": {days}");
        format!("\"Password_locking\": {{{limits}}}")
    });
    let restrictions = restrictions(account);
    let retained = (!account.retained.is_empty()).then(|| {
        let retained = String::from_utf8_lossy(&account.retained);
        format!("\"additional_password\": {}", json_text(&retained))
    });
    let parts: Vec<String> = [metadata, restrictions, limits, retained].into_iter().flatten().collect();
    if parts.is_empty() { Value::Null } else { text(format!("{{{}}}", parts.join(", "))) }
}

/// SHOW PRIVILEGES: name, where it is used, what for.
pub(crate) fn privilege_rows() -> Vec<Vec<Value>> {
    let mut rows: Vec<Vec<Value>> = NAMED
        .iter()
        .map(|(bit, name)| {
            let context = if Privileges::ALL_TABLE.contains(*bit) {
                "Tables"
            } else if Privileges::ALL_SCHEMA.contains(*bit) {
                "Databases"
            } else {
                "Server Admin"
            };
            let mut shown = name.to_lowercase();
            shown[..1].make_ascii_uppercase();
            vec![text(shown), text(context), text("")]
        })
        .collect();
    rows.push(vec![text("Grant option"), text("Databases,Tables,Functions,Procedures"), text("")]);
    rows.push(vec![text("Usage"), text("Server Admin"), text("No privileges - allow connect only")]);
    let dynamic = accounts::print::dynamic_names().iter();
    rows.extend(dynamic.map(|name| vec![text(*name), text("Server Admin"), text("")]));
    rows
}
