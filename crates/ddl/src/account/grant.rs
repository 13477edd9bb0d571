//! GRANT and REVOKE.

use super::{AccountChange, AccountDefiner};
use accounts::account::{Account, AccountName};
use accounts::privilege::{DYNAMIC, Privileges, find_static};
use accounts::restriction::Restrictions;
use accounts::table::AccountTable;
use accounts::{Grants, SYSTEM_USER};
use errors::{SqlResult, sql_error};
use parser::ast::{ObjectKind, Privilege, PrivilegeLevel, RoleChoice, UserName};

/// Where privileges are granted.
enum Level {
    Global,
    Schema(String),
    Table(String, String),
}

/// Privileges of a statement, sorted by kind.
#[derive(Default)]
struct Wanted {
    plain: Privileges,
    dynamic: Vec<String>,
    /// Column name and privileges.
    columns: Vec<(String, Privileges)>,
    /// ALL was said.
    all: bool,
}

impl AccountDefiner<'_> {
    /// Errors: 1046, 1235.
    fn level(&self, object: ObjectKind, level: &PrivilegeLevel) -> SqlResult<Level> {
        if object != ObjectKind::Table {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "privileges on stored programs"));
        }
        match level {
            PrivilegeLevel::Global => Ok(Level::Global),
            PrivilegeLevel::CurrentSchema => match self.schema {
                Some(schema) => Ok(Level::Schema(schema.to_owned())),
                None => Err(sql_error!(ER_NO_DB_ERROR)),
            },
            PrivilegeLevel::Schema(schema) => Ok(Level::Schema(schema.clone())),
            PrivilegeLevel::Object(name) => {
                let name = instance::table_name(name, self.schema)?;
                Ok(Level::Table(name.schema, name.table))
            }
        }
    }

    /// Error 1044: nothing of information_schema is anybody's to give or to take.
    fn refuse_open_schema(&self, level: &Level) -> SqlResult<()> {
        match level {
            Level::Schema(schema) | Level::Table(schema, _)
                if schema.eq_ignore_ascii_case("information_schema") =>
            {
                Err(self.user.denied_schema(schema))
            }
            _ => Ok(()),
        }
    }

    /// Who may grant learns what there is to grant on. Error 1146 for a table that does not exist, except with CREATE;
    /// error 1054 for a column.
    fn check_object(&self, wanted: &Wanted, level: &Level) -> SqlResult<()> {
        let Level::Table(schema, table) = level else { return Ok(()) };
        if !sysviews::table_exists(self.instance, schema, table) && !wanted.plain.contains(Privileges::CREATE)
        {
            return Err(sql_error!(ER_NO_SUCH_TABLE, schema, table));
        }
        let stored = self.instance.engine().dictionary().table(schema, table);
        let system = sysviews::definition(schema, table);
        let definition = stored.as_ref().map(|table| table.definition()).or(system.as_deref());
        let unknown = |(column, _): &&(String, Privileges)| {
            definition.is_some_and(|definition| definition.column_position(column).is_none())
        };
        match wanted.columns.iter().find(unknown) {
            Some((column, _)) => Err(sql_error!(ER_BAD_FIELD_ERROR, column, table)),
            None => Ok(()),
        }
    }

    /// Sorts named privileges. Errors: 1064 and 1149 for unknown ones, 1144, 1221, 3619, 1054.
    fn wanted(&mut self, privileges: &[Privilege], level: &Level) -> SqlResult<Wanted> {
        let allowed = match level {
            Level::Global => Privileges::ALL_GLOBAL,
            Level::Schema(_) => Privileges::ALL_SCHEMA,
            Level::Table(..) => Privileges::ALL_TABLE,
        };
        let mut wanted = Wanted::default();
        for privilege in privileges {
            let name = privilege.name.as_str();
            if matches!(name, "ALL" | "ALL PRIVILEGES") {
                wanted.all = true;
                wanted.plain = wanted.plain.with(allowed);
                if matches!(level, Level::Global) {
                    wanted.dynamic = DYNAMIC.iter().map(|name| (*name).to_owned()).collect();
                }
                continue;
            }
            if name == "USAGE" {
                continue;
            }
            let Some(bit) = find_static(name) else {
                if !DYNAMIC.contains(&name) {
                    return Err(sql_error!(ER_SYNTAX_ERROR));
                }
                if !matches!(level, Level::Global) {
                    return Err(sql_error!(ER_ILLEGAL_PRIVILEGE_LEVEL, name));
                }
                wanted.dynamic.push(name.to_owned());
                continue;
            };
            if name == "SUPER" {
                let text = "The SUPER privilege identifier is deprecated";
                self.diagnostics.warning(errors::code::ER_WARN_DEPRECATED_SYNTAX.message(text));
            }
            if !privilege.columns.is_empty() {
                self.want_columns(&mut wanted, privilege, bit, level)?;
            } else if bit != Privileges::GRANT && !allowed.contains(bit) {
                return Err(match level {
                    Level::Table(..) => sql_error!(ER_ILLEGAL_GRANT_FOR_TABLE),
                    _ => sql_error!(ER_WRONG_USAGE, "DB GRANT", "GLOBAL PRIVILEGES"),
                });
            } else {
                wanted.plain = wanted.plain.with(bit);
            }
        }
        Ok(wanted)
    }

    fn want_columns(
        &self,
        wanted: &mut Wanted,
        privilege: &Privilege,
        bit: Privileges,
        level: &Level,
    ) -> SqlResult<()> {
        if !matches!(level, Level::Table(..)) || !Privileges::ALL_COLUMN.contains(bit) {
            return Err(sql_error!(ER_WRONG_USAGE, "COLUMN GRANT", "NON-COLUMN PRIVILEGES"));
        }
        wanted.columns.extend(privilege.columns.iter().map(|column| (column.clone(), bit)));
        Ok(())
    }

    /// Errors 1044, 1045, 1142, 1227: one grants only what one has, and with GRANT OPTION. What one holds on some columns
    /// of a table one may grant on columns.
    fn check_may_grant(&mut self, wanted: &Wanted, level: &Level) -> SqlResult<()> {
        let grants = self.user.current_grants(self.instance);
        let columns = wanted.columns.iter().fold(Privileges::NONE, |bits, (_, bit)| bits.with(*bit));
        let needed = wanted.plain.with(columns).with(Privileges::GRANT);
        let missing = match level {
            Level::Global => needed.without(grants.global()),
            Level::Schema(schema) => needed.without(grants.schema(schema)),
            Level::Table(schema, table) => {
                let on_columns = columns.without(wanted.plain);
                let held = grants.table_or_columns(schema, table);
                needed.without(grants.table(schema, table)).without(Privileges(held.0 & on_columns.0))
            }
        };
        let only_dynamic = !wanted.dynamic.is_empty() && wanted.plain.is_empty();
        if !only_dynamic && !missing.is_empty() {
            return Err(match level {
                Level::Global => {
                    let password = if grants.has_password() { "YES" } else { "NO" };
                    sql_error!(
                        ER_ACCESS_DENIED_ERROR,
                        self.user.account.user,
                        self.user.host.display(),
                        password
                    )
                }
                Level::Schema(schema) => self.user.denied_schema(schema),
                Level::Table(_, table) => self.user.denied_table(&missing.list(), table),
            });
        }
        let denied = wanted.dynamic.iter().find(|name| !grants.may_grant_dynamic(name));
        match denied {
            Some(_) => Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "GRANT OPTION")),
            None => Ok(()),
        }
    }

    /// As for GRANT; what one holds on some columns of a table suffices to take it from the table.
    fn check_may_revoke(&mut self, wanted: &Wanted, level: &Level) -> SqlResult<()> {
        if let Level::Table(schema, table) = level {
            let columns = wanted.columns.iter().fold(Privileges::NONE, |bits, (_, bit)| bits.with(*bit));
            let needed = wanted.plain.with(columns).with(Privileges::GRANT);
            let missing =
                needed.without(self.user.current_grants(self.instance).table_or_columns(schema, table));
            return match missing.is_empty() {
                true => Ok(()),
                false => Err(self.user.denied_table(&missing.list(), table)),
            };
        }
        self.check_may_grant(wanted, level)
    }

    /// GRANT of privileges.
    pub fn grant_privileges<'a>(
        &mut self,
        privileges: &[Privilege],
        object: ObjectKind,
        level: &PrivilegeLevel,
        to: &'a [UserName],
        grant_option: bool,
        grantor: Option<(&UserName, Option<&RoleChoice>)>,
    ) -> SqlResult<impl AccountChange + use<'a>> {
        let level = self.level(object, level)?;
        self.refuse_open_schema(&level)?;
        let wanted = self.wanted(privileges, &level)?;
        let grantor = self.grantor(&wanted, &level, grantor)?;
        self.check_may_grant(&wanted, &level)?;
        self.check_object(&wanted, &level)?;
        self.require_system_user_for(to)?;
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let mut names = Vec::new();
            for user in to {
                let name = session.account_name(user)?;
                let is_mandatory = table.is_mandatory(&name);
                let Some(account) = table.get_mut(&name) else {
                    return Err(sql_error!(ER_CANT_CREATE_USER_WITH_GRANT));
                };
                if is_mandatory && wanted.dynamic.iter().any(|privilege| privilege == SYSTEM_USER) {
                    let AccountName { user, host } = name;
                    return Err(sql_error!(
                        ER_CANNOT_GRANT_SYSTEM_PRIV_TO_MANDATORY_ROLE,
                        user,
                        host,
                        SYSTEM_USER
                    ));
                }
                let option = if grant_option { Privileges::GRANT } else { Privileges::NONE };
                give(account, &level, &wanted, option, &grantor);
                names.push(name);
            }
            Ok(names)
        })
    }

    /// What restricts the grant: what the session's user is restricted in, or the account in whose name he grants.
    /// Errors: 3835 below the global level, 3836 where that would be less.
    fn grantor(
        &mut self,
        wanted: &Wanted,
        level: &Level,
        named: Option<(&UserName, Option<&RoleChoice>)>,
    ) -> SqlResult<Restrictions> {
        let own = self.user.current_grants(self.instance);
        let Some((user, roles)) = named else { return Ok(own.restrictions().clone()) };
        if !matches!(level, Level::Global) {
            return Err(sql_error!(ER_UNSUPPORTED_USE_OF_GRANT_AS));
        }
        let invalid = || sql_error!(ER_UKNOWN_AUTH_ID_OR_ACCESS_DENIED_FOR_GRANT_AS);
        let accounts = self.instance.accounts();
        let account = accounts.get(&self.account_name(user)?).ok_or_else(invalid)?;
        let roles = roles.map_or(Ok(Vec::new()), |choice| self.chosen_roles(&accounts, account, choice));
        let theirs = accounts.grants(&account.name, &roles.map_err(|_| invalid())?);
        match own.restrictions().first_looser(theirs.restrictions(), wanted.plain) {
            Some(_) => Err(invalid()),
            None => Ok(theirs.restrictions().clone()),
        }
    }

    /// Error 3879 for who would take from others, in a schema too, what he is restricted in there.
    fn check_may_take(&self, revoker: &Grants, account: &Account, privileges: Privileges) -> SqlResult<()> {
        let taken = Privileges(account.global.0 & privileges.0);
        match revoker.restrictions().first_looser(&account.restrictions, taken) {
            Some(schema) => {
                let AccountName { user, host } = &self.user.account;
                Err(sql_error!(ER_DB_ACCESS_DENIED, user, host, schema))
            }
            None => Ok(()),
        }
    }

    /// REVOKE of privileges.
    pub fn revoke_privileges<'a>(
        &mut self,
        privileges: &[Privilege],
        object: ObjectKind,
        level: &PrivilegeLevel,
        from: &'a [UserName],
        if_exists: bool,
        ignore_unknown_user: bool,
    ) -> SqlResult<impl AccountChange + use<'a>> {
        let level = self.level(object, level)?;
        self.refuse_open_schema(&level)?;
        let wanted = self.wanted(privileges, &level)?;
        self.check_may_revoke(&wanted, &level)?;
        self.require_system_user_for(from)?;
        let revoker = self.user.current_grants(self.instance);
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let partial = table.rules().partial_revokes;
            let mut names = Vec::new();
            for user in from {
                let name = session.account_name(user)?;
                let Some(account) = table.get_mut(&name) else {
                    session.unknown_grantee(&name, ignore_unknown_user)?;
                    continue;
                };
                if let Level::Global = level {
                    session.check_may_take(&revoker, account, wanted.plain)?;
                }
                if let Err(error) = take(account, &level, &wanted, partial) {
                    if !if_exists {
                        return Err(error);
                    }
                    session.diagnostics.warning(error);
                }
                account.tidy();
                names.push(name);
            }
            Ok(names)
        })
    }

    fn unknown_grantee(&mut self, name: &AccountName, ignore: bool) -> SqlResult<()> {
        let error = sql_error!(ER_NONEXISTING_GRANT, name.user, name.host);
        if !ignore {
            return Err(error);
        }
        self.diagnostics.warning(error);
        Ok(())
    }

    /// REVOKE ALL PRIVILEGES, GRANT OPTION.
    pub fn revoke_all<'a>(
        &mut self,
        from: &'a [UserName],
        ignore_unknown_user: bool,
    ) -> SqlResult<impl AccountChange + use<'a>> {
        self.user.require_global(self.instance, Privileges::CREATE_USER)?;
        self.require_system_user_for(from)?;
        let revoker = self.user.current_grants(self.instance);
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let mut names = Vec::new();
            for user in from {
                let name = session.account_name(user)?;
                let Some(account) = table.get_mut(&name) else {
                    if !ignore_unknown_user {
                        return Err(sql_error!(ER_REVOKE_GRANTS));
                    }
                    session.unknown_grantee(&name, ignore_unknown_user)?;
                    continue;
                };
                session.check_may_take(&revoker, account, account.global)?;
                account.revoke_all();
                names.push(name);
            }
            Ok(names)
        })
    }
}

fn give(account: &mut Account, level: &Level, wanted: &Wanted, option: Privileges, grantor: &Restrictions) {
    match level {
        Level::Global => {
            let has_plain = !wanted.plain.is_empty() || wanted.dynamic.is_empty();
            let plain_option = if has_plain { option } else { Privileges::NONE };
            account.grant_global(wanted.plain.with(plain_option), grantor);
            // GRANT OPTION as a privilege of its own means all that the account holds.
            if wanted.plain == Privileges::GRANT {
                account.dynamic.values_mut().for_each(|grant| *grant = true);
            }
            for name in &wanted.dynamic {
                let grant = account.dynamic.entry(name.clone()).or_default();
                *grant |= !option.is_empty();
            }
        }
        Level::Schema(schema) => {
            account.grant_on_schema(schema, wanted.plain.with(option));
        }
        Level::Table(schema, table) => {
            let grant = account.table_grant(schema, table);
            grant.table = grant.table.with(wanted.plain).with(option);
            for (column, bit) in &wanted.columns {
                let held = grant.columns.entry(column.clone()).or_default();
                *held = held.with(*bit);
            }
        }
    }
    account.tidy();
}

/// Errors 1141 and 1147 where there is nothing to take.
fn take(account: &mut Account, level: &Level, wanted: &Wanted, partial: bool) -> SqlResult<()> {
    let plain = if wanted.all { wanted.plain.without(Privileges::GRANT) } else { wanted.plain };
    let name = account.name.clone();
    match level {
        // As in MySQL, all of the global level is all that there is.
        Level::Global if wanted.all => account.revoke_all(),
        Level::Global => {
            account.revoke_global(plain);
            account.dynamic.retain(|name, _| !wanted.dynamic.contains(name));
        }
        Level::Schema(schema) => {
            if !account.revoke_on_schema(schema, plain, wanted.all, partial) {
                return Err(sql_error!(ER_NONEXISTING_GRANT, name.user, name.host));
            }
        }
        Level::Table(schema, table) => {
            let missing = || sql_error!(ER_NONEXISTING_TABLE_GRANT, name.user, name.host, table);
            let key = (schema.clone(), table.clone());
            let grant = account.tables.get_mut(&key).ok_or_else(missing)?;
            let columns = grant.columns.values().fold(Privileges::NONE, |bits, more| bits.with(*more));
            if !wanted.all && !plain.is_empty() && !grant.table.with(columns).intersects(plain) {
                return Err(missing());
            }
            grant.table = grant.table.without(plain);
            for bits in grant.columns.values_mut() {
                *bits = bits.without(plain);
            }
            for (column, bit) in &wanted.columns {
                if let Some(held) = grant.columns.get_mut(column) {
                    *held = held.without(*bit);
                }
            }
        }
    }
    Ok(())
}
