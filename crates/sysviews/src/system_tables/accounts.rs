//! Views of accounts and grants: information_schema's _PRIVILEGES, mysql.user and its neighbours.

use super::row::RowBuilder;
use super::{Emit, SystemTables};
use crate::result::text;
use accounts::account::Expiry;
use accounts::privilege::NAMED;
use accounts::{Account, LockTime, Privileges, TlsRequirement};
use dictionary::TableDefinition;
use errors::SqlResult;
use values::Value;

fn yes_no(on: bool) -> &'static str {
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
fn set_text(held: Privileges) -> String {
    let mut words: Vec<String> = held.names().map(str::to_owned).collect();
    words.extend(held.contains(Privileges::GRANT).then(|| "Grant".to_owned()));
    words.join(",")
}

impl SystemTables<'_> {
    /// Accounts whose grants the user may see: all with SELECT on mysql.user, else its own.
    fn each_account(&self, visit: &mut dyn FnMut(&Account) -> SqlResult<bool>) -> SqlResult<()> {
        let all = self.user.grants.table("mysql", "user").contains(Privileges::SELECT);
        for account in self.instance.accounts().all() {
            if (all || account.name == self.user.account) && !visit(account)? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn user_privileges(&self, emit: Emit<'_>) -> SqlResult<()> {
        self.each_account(&mut |account| {
            let grantee = account.name.message();
            let grantable = account.global.contains(Privileges::GRANT);
            let mut names: Vec<(String, bool)> =
                account.global.names().map(|name| (name.to_owned(), grantable)).collect();
            names.extend(account.dynamic.iter().map(|(name, grant)| (name.clone(), *grant)));
            if names.is_empty() {
                names.push(("USAGE".to_owned(), false));
            }
            for (name, grant) in names {
                if !emit(vec![text(&*grantee), text("def"), text(name), text(yes_no(grant))])? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    pub(super) fn schema_privileges(&self, emit: Emit<'_>) -> SqlResult<()> {
        self.each_account(&mut |account| {
            for (schema, held) in &account.schemas {
                let grant = yes_no(held.contains(Privileges::GRANT));
                for name in held.names() {
                    let row = vec![
                        text(account.name.message()),
                        text("def"),
                        text(&**schema),
                        text(name),
                        text(grant),
                    ];
                    if !emit(row)? {
                        return Ok(false);
                    }
                }
            }
            Ok(true)
        })
    }

    pub(super) fn table_privileges(&self, emit: Emit<'_>) -> SqlResult<()> {
        self.each_account(&mut |account| {
            for ((schema, table), held) in &account.tables {
                let grant = yes_no(held.table.contains(Privileges::GRANT));
                for name in held.table.names() {
                    let grantee = text(account.name.message());
                    let row =
                        vec![grantee, text("def"), text(&**schema), text(&**table), text(name), text(grant)];
                    if !emit(row)? {
                        return Ok(false);
                    }
                }
            }
            Ok(true)
        })
    }

    pub(super) fn column_privileges(&self, emit: Emit<'_>) -> SqlResult<()> {
        self.each_account(&mut |account| {
            for ((schema, table), held) in &account.tables {
                let grant = yes_no(held.table.contains(Privileges::GRANT));
                for (column, bits) in &held.columns {
                    for name in bits.names() {
                        let mut row = vec![text(account.name.message()), text("def"), text(&**schema)];
                        row.extend([text(&**table), text(&**column), text(name), text(grant)]);
                        if !emit(row)? {
                            return Ok(false);
                        }
                    }
                }
            }
            Ok(true)
        })
    }

    pub(super) fn user_attributes(&self, emit: Emit<'_>) -> SqlResult<()> {
        self.each_account(&mut |account| {
            emit(vec![text(&*account.name.user), text(&*account.name.host), attribute(account)])
        })
    }

    pub(super) fn applicable_roles(&self, emit: Emit<'_>) -> SqlResult<()> {
        let accounts = self.instance.accounts();
        let Some(account) = accounts.get(&self.user.account) else { return Ok(()) };
        for (role, admin) in &account.roles {
            let default = account.default_roles.contains(role);
            let row = [
                &account.name.user,
                &account.name.host,
                &account.name.user,
                &account.name.host,
                &role.user,
                &role.host,
            ];
            let mut row: Vec<Value> = row.into_iter().map(|name| text(&**name)).collect();
            row.extend([text(yes_no(*admin)), text(yes_no(default)), text("NO")]);
            if !emit(row)? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn enabled_roles(&self, emit: Emit<'_>) -> SqlResult<()> {
        let accounts = self.instance.accounts();
        for role in &self.user.active_roles {
            let default =
                accounts.get(&self.user.account).is_some_and(|account| account.default_roles.contains(role));
            if !emit(vec![text(&*role.user), text(&*role.host), text(yes_no(default)), text("NO")])? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn mysql_user(&self, table: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        let zone = self.time_zone();
        for account in self.instance.accounts().all() {
            let (ssl_type, cipher, issuer, subject) = match &account.tls {
                TlsRequirement::None => ("", "", "", ""),
                TlsRequirement::Tls => ("ANY", "", "", ""),
                TlsRequirement::Certificate => ("X509", "", "", ""),
                TlsRequirement::Specified { cipher, issuer, subject } => {
                    ("SPECIFIED", cipher.as_str(), issuer.as_str(), subject.as_str())
                }
            };
            let limit = |at: usize| Value::UInt(account.limits[at]);
            let changed = zone.local(account.password_changed as i64 * 1_000_000);
            let row = with_privileges(RowBuilder::new(table), account.global)
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
            if !emit(row)? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn mysql_db(&self, table: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        for account in self.instance.accounts().all() {
            for (schema, held) in &account.schemas {
                let row = with_privileges(RowBuilder::new(table), *held)
                    .set("Host", text(&*account.name.host))
                    .set("Db", text(&**schema))
                    .set("User", text(&*account.name.user))
                    .finish();
                if !emit(row)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(super) fn mysql_tables_priv(&self, view: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        for account in self.instance.accounts().all() {
            for ((schema, table), held) in &account.tables {
                let columns = held.columns.values().fold(Privileges::NONE, |bits, more| bits.with(*more));
                let row = RowBuilder::new(view)
                    .set("Host", text(&*account.name.host))
                    .set("Db", text(&**schema))
                    .set("User", text(&*account.name.user))
                    .set("Table_name", text(&**table))
                    .set("Table_priv", text(set_text(held.table)))
                    .set("Column_priv", text(set_text(columns)))
                    .finish();
                if !emit(row)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(super) fn mysql_columns_priv(&self, view: &TableDefinition, emit: Emit<'_>) -> SqlResult<()> {
        for account in self.instance.accounts().all() {
            for ((schema, table), held) in &account.tables {
                for (column, bits) in &held.columns {
                    let row = RowBuilder::new(view)
                        .set("Host", text(&*account.name.host))
                        .set("Db", text(&**schema))
                        .set("User", text(&*account.name.user))
                        .set("Table_name", text(&**table))
                        .set("Column_name", text(&**column))
                        .set("Column_priv", text(set_text(*bits)))
                        .finish();
                    if !emit(row)? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn mysql_global_grants(&self, emit: Emit<'_>) -> SqlResult<()> {
        for account in self.instance.accounts().all() {
            for (name, grant) in &account.dynamic {
                // Members of WITH_GRANT_OPTION: N, Y.
                let row = vec![
                    text(&*account.name.user),
                    text(&*account.name.host),
                    text(&**name),
                    Value::UInt(u64::from(*grant) + 1),
                ];
                if !emit(row)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(super) fn mysql_role_edges(&self, emit: Emit<'_>) -> SqlResult<()> {
        for account in self.instance.accounts().all() {
            for (role, admin) in &account.roles {
                let names = [&role.host, &role.user, &account.name.host, &account.name.user];
                let mut row: Vec<Value> = names.into_iter().map(|name| text(&**name)).collect();
                row.push(Value::UInt(u64::from(*admin) + 1));
                if !emit(row)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// By host, by user, the latest password first: the table's primary key.
    pub(super) fn mysql_password_history(&self, emit: Emit<'_>) -> SqlResult<()> {
        let table = self.instance.accounts();
        let zone = self.time_zone();
        let mut accounts: Vec<&Account> = table.all().collect();
        accounts.sort_by_key(|account| (&account.name.host, &account.name.user));
        for account in accounts {
            for old in &account.history.0 {
                let row = vec![
                    text(&*account.name.host),
                    text(&*account.name.user),
                    Value::DateTime(zone.local(old.set_microseconds)),
                    Value::Bytes(old.stored.clone()),
                ];
                if !emit(row)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(super) fn mysql_default_roles(&self, emit: Emit<'_>) -> SqlResult<()> {
        for account in self.instance.accounts().all() {
            for role in &account.default_roles {
                let names = [&account.name.host, &account.name.user, &role.host, &role.user];
                if !emit(names.into_iter().map(|name| text(&**name)).collect())? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
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
    metadata(account).map_or(Value::Null, text)
}

/// What COMMENT says, as JSON.
fn metadata(account: &Account) -> Option<String> {
    let comment = account.attributes.get("comment")?.replace('\\', "\\\\").replace('"', "\\\"");
    Some(format!("{{\"comment\": \"{comment}\"}}"))
}

/// mysql.user.User_attributes as JSON.
fn all_attributes(account: &Account) -> Value {
    let locking = &account.locking;
    let days = match locking.time {
        LockTime::Days(days) => i32::from(days),
        LockTime::Unbounded => -1,
    };
    let metadata = metadata(account).map(|metadata| format!("\"metadata\": {metadata}"));
    let limits = (locking.attempts > 0 || days != 0).then(|| {
        let attempts = locking.attempts;
        let limits = format!("\"failed_login_attempts\": {attempts}, \"password_lock_time_days\": {days}");
        format!("\"Password_locking\": {{{limits}}}")
    });
    let parts: Vec<String> = [metadata, limits].into_iter().flatten().collect();
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
