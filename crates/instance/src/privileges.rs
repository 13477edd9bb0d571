//! What the session's user may do, as planning and statements ask for it. Main types: [`GrantCheck`], and
//! [`SessionUser`], whose `require_` functions are what statements ask.
//!
//! Rules. information_schema shows everybody what he may see and nobody changes it. performance_schema's tables are read
//! only. Everything else, `mysql` and `sys` included, goes by grants. A missing table privilege is told before anything
//! about the table is.

use crate::instance::Instance;
use crate::session_user::SessionUser;
use crate::system_schemas::{
    OVERLAY_SCHEMA, is_always_readable, is_hidden, is_read_only_schema, system_schema,
};
use accounts::ClientHost;
use accounts::table::AccountTable;
use accounts::{AccountName, Grants, Privileges, SYSTEM_USER};
use dictionary::TableName;
use engine::TemporaryTables;
use errors::{SqlError, SqlResult, sql_error};
use parser::ast::Statement;
use plan::{Extent, FileAccess, GrantsId, PrivilegeCheck, PrivilegeRequest, PrivilegesNeeded, TableAccess};
use std::num::NonZeroU64;
use std::sync::Arc;

/// Grants as the binder asks for them.
pub struct GrantCheck<'s> {
    /// The server: definers of views have accounts of their own.
    pub instance: Option<&'s Instance>,
    /// What the user may do.
    pub grants: &'s Grants,
    /// The account, for messages.
    pub account: &'s AccountName,
    /// Where it connected from, for messages.
    pub host: &'s ClientHost,
}

/// What a kind of access takes.
enum Wanted {
    /// All of these.
    All(Privileges),
    /// One of these; otherwise the message names this command.
    Any(Privileges, &'static str),
}

fn wanted(access: TableAccess) -> Wanted {
    use Privileges as P;
    match access {
        TableAccess::Select => Wanted::All(P::SELECT),
        TableAccess::SelectForUpdate => {
            Wanted::Any(P::UPDATE.with(P::DELETE).with(P::LOCK_TABLES), "SELECT with locking clause")
        }
        TableAccess::Insert => Wanted::All(P::INSERT),
        TableAccess::InsertOrUpdate => Wanted::All(P::INSERT.with(P::UPDATE)),
        TableAccess::Replace => Wanted::All(P::INSERT.with(P::DELETE)),
        TableAccess::Update => Wanted::All(P::UPDATE),
        TableAccess::Lock => Wanted::All(P::LOCK_TABLES),
        TableAccess::UpdateOrSelect => Wanted::Any(P::UPDATE.with(P::SELECT), "SELECT"),
        TableAccess::Delete => Wanted::All(P::DELETE),
    }
}

/// Grants of the definer of a view.
struct DefinerCheck {
    grants: Arc<Grants>,
    account: AccountName,
    host: ClientHost,
}

impl DefinerCheck {
    /// Error 1449.
    fn of(accounts: &AccountTable, user: &str, host: &str) -> SqlResult<Arc<dyn PrivilegeCheck>> {
        let account = AccountName::new(user, host);
        let Some(found) = accounts.get(&account) else {
            return Err(sql_error!(ER_NO_SUCH_USER, user, host));
        };
        let grants = accounts.shared_grants(&account, &found.default_roles);
        Ok(Arc::new(DefinerCheck { grants, account, host: ClientHost::local() }))
    }
}

impl PrivilegeCheck for DefinerCheck {
    fn check(&self, request: &PrivilegeRequest) -> SqlResult<()> {
        self.grant_check().check(request)
    }

    fn check_file(&self, access: FileAccess) -> SqlResult<()> {
        self.grant_check().check_file(access)
    }

    fn sees_table(&self, schema: &str, table: &str) -> bool {
        self.grant_check().sees_table(schema, table)
    }

    fn reads_whole(&self, schema: &str, table: &str) -> bool {
        self.grant_check().reads_whole(schema, table)
    }
}

impl DefinerCheck {
    fn grant_check(&self) -> GrantCheck<'_> {
        GrantCheck { instance: None, grants: &self.grants, account: &self.account, host: &self.host }
    }
}

impl PrivilegeCheck for GrantCheck<'_> {
    fn sees_view(&self, schema: &str, view: &str) -> bool {
        self.grants.table(schema, view).contains(Privileges::SHOW_VIEW)
    }

    fn accounts_id(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(self.instance?.accounts_epoch())
    }

    fn of_definer(&self, user: &str, host: &str) -> SqlResult<Arc<dyn PrivilegeCheck>> {
        let Some(instance) = self.instance else { return Err(sql_error!(ER_NO_SUCH_USER, user, host)) };
        // As in MySQL, who has no SUPER does not hear for whom the view was made.
        let knows = self.grants.global().contains(Privileges::SUPER);
        DefinerCheck::of(&instance.accounts(), user, host).map_err(|error| {
            if knows {
                return error;
            }
            let password = if self.grants.has_password() { "YES" } else { "NO" };
            sql_error!(ER_ACCESS_DENIED_ERROR, self.account.user, self.account.host, password)
        })
    }

    fn grants_id(&self) -> Option<GrantsId> {
        self.grants.id()
    }

    fn check(&self, request: &PrivilegeRequest) -> SqlResult<()> {
        let table = request.table.as_str();
        let Some(schema) = self.granted_schema(request)? else { return Ok(()) };
        let whole = self.grants.table(schema, table);
        let denied = |command: &str| Err(self.denied_table(command, table));
        match (&request.extent, wanted(request.access)) {
            (Extent::Table, Wanted::All(wanted)) => {
                if whole.contains(wanted) {
                    return Ok(());
                }
                let missing = wanted.without(self.grants.table_or_columns(schema, table));
                if missing.is_empty() { Ok(()) } else { denied(&missing.list()) }
            }
            (Extent::Table, Wanted::Any(wanted, command)) => {
                let held = self.grants.table_or_columns(schema, table);
                if held.intersects(wanted) { Ok(()) } else { denied(command) }
            }
            (_, Wanted::All(wanted)) if whole.contains(wanted) => Ok(()),
            (Extent::Columns(columns), Wanted::All(wanted)) => {
                match self.first_denied(schema, table, columns, wanted) {
                    Some(column) => Err(self.denied_column(&wanted.list(), column, table)),
                    None => Ok(()),
                }
            }
            (Extent::EveryColumn(columns), Wanted::All(wanted)) => {
                match self.first_denied(schema, table, columns, wanted) {
                    // Who has some columns is not told which others there are.
                    Some(_) if self.grants.has_column_grants(schema, table) => denied(&wanted.list()),
                    Some(column) => Err(self.denied_column(&wanted.list(), column, table)),
                    None => Ok(()),
                }
            }
            (_, Wanted::Any(_, command)) => denied(command),
        }
    }

    fn check_file(&self, access: FileAccess) -> SqlResult<()> {
        if self.grants.global().contains(Privileges::FILE) {
            return Ok(());
        }
        Err(match access {
            FileAccess::Load => {
                let password = if self.grants.has_password() { "YES" } else { "NO" };
                sql_error!(ER_ACCESS_DENIED_ERROR, self.account.user, self.host.display(), password)
            }
            FileAccess::Write => sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "FILE"),
        })
    }

    fn sees_table(&self, schema: &str, table: &str) -> bool {
        is_always_readable(schema, table) || self.grants.table(schema, table) != Privileges::NONE
    }

    fn reads_whole(&self, schema: &str, table: &str) -> bool {
        is_always_readable(schema, table) || self.grants.table(schema, table).contains(Privileges::SELECT)
    }
}

impl GrantCheck<'_> {
    /// The schema by its own name where grants decide; None where everybody may do that. Error 1044 or 1142 where nobody
    /// may.
    fn granted_schema<'r>(&self, request: &'r PrivilegeRequest) -> SqlResult<Option<&'r str>> {
        let written = request.schema.as_str();
        let Some(schema) = system_schema(written) else {
            // What is for internal use exists for nobody; SHOW's own result belongs to who asked.
            return match is_hidden(written) {
                true if written == OVERLAY_SCHEMA => Ok(None),
                true => Err(sql_error!(ER_BAD_DB_ERROR, written)),
                false => Ok(Some(written)),
            };
        };
        match (schema, request.access) {
            ("information_schema", TableAccess::Select) => Ok(None),
            ("information_schema", TableAccess::SelectForUpdate) => {
                Err(self.denied_table("SELECT with locking clause", &request.table))
            }
            ("information_schema", _) => {
                Err(sql_error!(ER_DBACCESS_DENIED_ERROR, self.account.user, self.account.host, schema))
            }
            ("performance_schema", TableAccess::Select) => {
                let table = request.table.to_lowercase();
                Ok(if is_always_readable(schema, &table) { None } else { Some(schema) })
            }
            ("performance_schema", access) => {
                let command = match wanted(access) {
                    Wanted::All(wanted) => wanted.list(),
                    Wanted::Any(_, command) => command.to_owned(),
                };
                Err(self.denied_table(&command, &request.table))
            }
            _ => Ok(Some(schema)),
        }
    }

    fn first_denied<'c>(
        &self,
        schema: &str,
        table: &str,
        columns: &'c [String],
        wanted: Privileges,
    ) -> Option<&'c str> {
        let may = |column: &&String| self.grants.column(schema, table, column).contains(wanted);
        columns.iter().find(|column| !may(column)).map(String::as_str)
    }

    fn denied_table(&self, command: &str, table: &str) -> SqlError {
        sql_error!(ER_TABLEACCESS_DENIED_ERROR, command, self.account.user, self.host.display(), table)
    }

    fn denied_column(&self, command: &str, column: &str, table: &str) -> SqlError {
        sql_error!(
            ER_COLUMNACCESS_DENIED_ERROR,
            command,
            self.account.user,
            self.host.display(),
            column,
            table
        )
    }
}

impl SessionUser {
    /// What the user may do now, with the active roles.
    #[inline]
    pub fn current_grants(&mut self, instance: &Instance) -> Arc<Grants> {
        self.refresh(instance);
        Arc::clone(&self.grants)
    }

    /// Error 1227 without a dynamic privilege (or SUPER).
    pub fn require_dynamic(&mut self, instance: &Instance, name: &str) -> SqlResult<()> {
        if self.current_grants(instance).dynamic(name) {
            return Ok(());
        }
        Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, format!("SUPER or {name}")))
    }

    /// Error 1227 without a dynamic privilege that SUPER does not stand for.
    pub fn require_exactly(&mut self, instance: &Instance, name: &str) -> SqlResult<()> {
        if self.current_grants(instance).holds_dynamic(name) {
            return Ok(());
        }
        Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, name))
    }

    /// Error 1227 for an account that holds SYSTEM_USER, unless this one does: who may change accounts, end sessions or make views
    /// for others does not take over the administrators'.
    pub fn require_power_over(&mut self, instance: &Instance, account: &AccountName) -> SqlResult<()> {
        let has_power = *account == self.account
            || self.current_grants(instance).holds_dynamic(SYSTEM_USER)
            || !instance.accounts().holds_dynamic(account, SYSTEM_USER);
        if has_power { Ok(()) } else { Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, SYSTEM_USER)) }
    }

    /// Error 1227 without a global privilege.
    pub fn require_global(&mut self, instance: &Instance, wanted: Privileges) -> SqlResult<()> {
        if self.current_grants(instance).global().contains(wanted) {
            return Ok(());
        }
        Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, wanted.list()))
    }

    /// Error 1142 that names those of the privileges that the user does not hold for the whole table; 1044 in a schema
    /// that nobody changes.
    pub fn require_table(
        &mut self,
        instance: &Instance,
        wanted: Privileges,
        name: &TableName,
    ) -> SqlResult<()> {
        let TableName { schema, table } = name;
        let missing = wanted.without(self.current_grants(instance).table(schema, table));
        if is_read_only_schema(schema) && wanted != Privileges::SELECT {
            return Err(self.refuse_system_change(schema, table, missing));
        }
        self.missing_on_table(missing, table)
    }

    /// What a foreign key takes of the table that it refers to, whether that exists or not. Error 1142, by its full name.
    pub fn require_references(&mut self, instance: &Instance, name: &TableName) -> SqlResult<()> {
        let TableName { schema, table } = name;
        let missing = Privileges::REFERENCES.without(self.current_grants(instance).table(schema, table));
        self.missing_on_table(missing, &format!("{schema}.{table}"))
    }

    /// The same where a privilege on any column of the table will do.
    pub fn require_table_or_columns(
        &mut self,
        instance: &Instance,
        wanted: Privileges,
        name: &TableName,
    ) -> SqlResult<()> {
        let missing =
            wanted.without(self.current_grants(instance).table_or_columns(&name.schema, &name.table));
        self.missing_on_table(missing, &name.table)
    }

    /// What RENAME takes of both names.
    pub fn require_rename(&mut self, instance: &Instance, from: &TableName, to: &TableName) -> SqlResult<()> {
        self.require_table(instance, Privileges::DROP.with(Privileges::ALTER), from)?;
        self.require_table(instance, Privileges::INSERT.with(Privileges::CREATE), to)
    }

    /// What a query or row change takes of the tables that it names, but for the session's temporary ones.
    pub fn require_statement(
        &mut self,
        instance: &Instance,
        statement: &Statement,
        (schema, temporary): (Option<&str>, &TemporaryTables),
    ) -> SqlResult<()> {
        let grants = self.current_grants(instance);
        let (account, host) = (&self.account, &self.host);
        let privileges = GrantCheck { instance: Some(instance), grants: &grants, account, host };
        plan::check_tables(statement, schema, &privileges, temporary)
    }

    /// What a kept plan takes of the account.
    pub fn require_plan(&mut self, instance: &Instance, needed: &PrivilegesNeeded) -> SqlResult<()> {
        let grants = self.current_grants(instance);
        let (account, host) = (&self.account, &self.host);
        needed.check(&GrantCheck { instance: Some(instance), grants: &grants, account, host })
    }

    fn missing_on_table(&self, missing: Privileges, table: &str) -> SqlResult<()> {
        if missing.is_empty() {
            return Ok(());
        }
        Err(self.denied_table(&missing.list(), table))
    }

    /// What a change in a system schema gets: in `mysql` and `sys` the missing privileges, otherwise error 1044.
    fn refuse_system_change(&self, schema: &str, table: &str, missing: Privileges) -> SqlError {
        let by_grants = matches!(schema, "mysql" | "sys");
        if by_grants && !missing.is_empty() {
            return self.denied_table(&missing.list(), table);
        }
        self.denied_schema(schema)
    }

    /// Error 1142.
    pub fn denied_table(&self, command: &str, table: &str) -> SqlError {
        sql_error!(ER_TABLEACCESS_DENIED_ERROR, command, self.account.user, self.host.display(), table)
    }

    /// Error 1044: it names the account where others name where the user connected from.
    pub fn denied_schema(&self, schema: &str) -> SqlError {
        sql_error!(ER_DBACCESS_DENIED_ERROR, self.account.user, self.account.host, schema)
    }

    /// Error 1044 without any privilege in the schema: it may not be entered, and not be shown.
    pub fn require_schema_use(&mut self, instance: &Instance, schema: &str) -> SqlResult<()> {
        if is_always_readable(schema, "") || self.current_grants(instance).uses_schema(schema) {
            return Ok(());
        }
        Err(self.denied_schema(schema))
    }

    /// Error 1044 without that privilege on the schema.
    pub fn require_schema(&mut self, instance: &Instance, wanted: Privileges, schema: &str) -> SqlResult<()> {
        if !is_read_only_schema(schema) && self.current_grants(instance).schema(schema).contains(wanted) {
            return Ok(());
        }
        Err(self.denied_schema(schema))
    }
}
