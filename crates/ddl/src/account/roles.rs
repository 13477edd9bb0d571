//! Roles: CREATE ROLE, GRANT and REVOKE of roles, SET ROLE, SET DEFAULT ROLE. Main type: [`AccountDefiner`].
//! Mandatory roles are granted to everybody by mandatory_roles, and neither dropped nor revoked while they stand there.

use super::{AccountChange, AccountDefiner};
use accounts::account::{Account, AccountName};
use accounts::privilege::Privileges;
use accounts::table::AccountTable;
use errors::{SqlError, SqlResult, sql_error};
use parser::ast::{RoleChoice, UserName};

impl AccountDefiner<'_> {
    /// CREATE ROLE.
    pub fn create_roles<'a>(
        &mut self,
        roles: &'a [UserName],
        if_not_exists: bool,
    ) -> SqlResult<impl AccountChange + use<'a>> {
        self.require_any_global(Privileges::CREATE_USER.with(Privileges::CREATE_ROLE))?;
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let mut made = Vec::new();
            let mut existing = Vec::new();
            for role in roles {
                let name = session.account_name(role)?;
                if table.get(&name).is_some() {
                    existing.push(name);
                    continue;
                }
                let mut account = Account::new(name.clone());
                account.locked = true;
                account.password_expired = true;
                table.put(account);
                made.push(name);
            }
            session.existing_accounts("CREATE ROLE", existing, if_not_exists)?;
            Ok(made)
        })
    }

    /// GRANT of roles.
    pub fn grant_roles<'a>(
        &mut self,
        roles: &'a [UserName],
        to: &'a [UserName],
        admin_option: bool,
    ) -> SqlResult<impl AccountChange + use<'a>> {
        self.require_role_admin(roles)?;
        self.require_system_user_for(roles.iter().chain(to))?;
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let mut names = Vec::new();
            for user in to {
                let name = session.account_name(user)?;
                for role in roles {
                    let role = session.account_name(role)?;
                    if table.get(&role).is_none() {
                        return Err(unknown(&role));
                    }
                    if role == name || table.grants_role(&role, &name) {
                        return Err(sql_error!(ER_ROLE_GRANTED_TO_ITSELF, name.quoted(), role.quoted()));
                    }
                    let account = table.get_mut(&name);
                    let account = account.ok_or_else(|| unknown(&name))?;
                    let admin = account.roles.entry(role).or_default();
                    *admin |= admin_option;
                }
                names.push(name);
            }
            Ok(names)
        })
    }

    /// REVOKE of roles. It is no error that one was not granted. With IF EXISTS, a role that there is not or that is a
    /// mandatory one is a warning.
    pub fn revoke_roles<'a>(
        &mut self,
        roles: &'a [UserName],
        from: &'a [UserName],
        if_exists: bool,
        ignore_unknown_user: bool,
    ) -> SqlResult<impl AccountChange + use<'a>> {
        self.require_role_admin(roles)?;
        self.require_system_user_for(roles.iter().chain(from))?;
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let revoked = session.revocable(roles, if_exists, table)?;
            let mut names = Vec::new();
            for user in from {
                let name = session.account_name(user)?;
                let Some(mut account) = table.get(&name).cloned() else {
                    if !ignore_unknown_user {
                        return Err(unknown(&name));
                    }
                    session.diagnostics.warning(sql_error!(ER_USER_DOES_NOT_EXIST, name.user));
                    continue;
                };
                for role in &revoked {
                    account.roles.remove(role);
                    account.default_roles.retain(|default| default != role);
                }
                table.put(account);
                names.push(name);
            }
            Ok(names)
        })
    }

    /// Those of the roles that can be revoked. Errors 3523 and 3628, with IF EXISTS warnings.
    fn revocable(
        &mut self,
        roles: &[UserName],
        if_exists: bool,
        table: &AccountTable,
    ) -> SqlResult<Vec<AccountName>> {
        let mut found = Vec::new();
        for role in roles {
            let role = self.account_name(role)?;
            let error = match table.get(&role) {
                None => unknown(&role),
                Some(_) if table.is_mandatory(&role) => sql_error!(ER_MANDATORY_ROLE, role.quoted()),
                Some(_) => {
                    found.push(role);
                    continue;
                }
            };
            if !if_exists {
                return Err(error);
            }
            self.diagnostics.warning(error);
        }
        Ok(found)
    }

    /// Error 1227 without ROLE_ADMIN or ADMIN OPTION on all the roles, the account's own or an active role's.
    pub(super) fn require_role_admin(&mut self, roles: &[UserName]) -> SqlResult<()> {
        if self.user.current_grants(self.instance).dynamic("ROLE_ADMIN") {
            return Ok(());
        }
        let accounts = self.instance.accounts();
        let own = accounts.get(&self.user.account);
        let active = own.map(|own| accounts.roles_in_force(own, &self.user.active_roles));
        let holders: Vec<&Account> = own.into_iter().chain(active.into_iter().flatten()).collect();
        for role in roles {
            let role = self.account_name(role)?;
            let is_administered = |holder: &&Account| holder.roles.get(&role) == Some(&true);
            if !holders.iter().any(is_administered) {
                return Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "WITH ADMIN, ROLE_ADMIN, SUPER"));
            }
        }
        Ok(())
    }

    /// The roles that a choice means for an account. Error 3530 for a role that was not granted.
    pub(super) fn chosen_roles(
        &self,
        table: &AccountTable,
        account: &Account,
        choice: &RoleChoice,
    ) -> SqlResult<Vec<AccountName>> {
        let named = |roles: &[UserName]| -> SqlResult<Vec<AccountName>> {
            roles.iter().map(|role| self.account_name(role)).collect()
        };
        let mut chosen = match choice {
            RoleChoice::None => Vec::new(),
            RoleChoice::Default => account.default_roles.clone(),
            RoleChoice::All | RoleChoice::AllExcept(_) => table.roles_of(account).into_iter().collect(),
            RoleChoice::Roles(roles) => named(roles)?,
        };
        if let RoleChoice::AllExcept(roles) = choice {
            let except = named(roles)?;
            chosen.retain(|role| !except.contains(role));
        }
        match chosen.iter().find(|role| !table.may_activate(account, role)) {
            Some(role) => {
                let AccountName { user, host } = &account.name;
                Err(sql_error!(ER_ROLE_NOT_GRANTED, role.user, role.host, user, host))
            }
            None => Ok(chosen),
        }
    }

    /// SET ROLE. Error 3530.
    pub fn set_role(&mut self, choice: &RoleChoice) -> SqlResult<()> {
        let accounts = self.instance.accounts();
        // An account that was dropped or renamed since has no roles.
        let gone = Account::new(self.user.account.clone());
        let account = accounts.get(&self.user.account).unwrap_or(&gone);
        let roles = self.chosen_roles(&accounts, account, choice)?;
        self.user.set_active_roles(roles);
        Ok(())
    }

    /// SET DEFAULT ROLE.
    pub fn set_default_role<'a>(
        &mut self,
        choice: &'a RoleChoice,
        users: &'a [UserName],
    ) -> SqlResult<impl AccountChange + use<'a>> {
        for user in users {
            if self.account_name(user)? != self.user.account {
                self.require_system_user_for([user])?;
                self.user.require_global(self.instance, Privileges::CREATE_USER)?;
            }
        }
        Ok(move |session: &mut AccountDefiner<'_>, table: &mut AccountTable| {
            let mut names = Vec::new();
            for user in users {
                let name = session.account_name(user)?;
                let Some(mut account) = table.get(&name).cloned() else {
                    if *choice == RoleChoice::None {
                        continue;
                    }
                    return Err(unknown(&name));
                };
                account.default_roles = session.chosen_roles(table, &account, choice)?;
                table.put(account);
                names.push(name);
            }
            Ok(names)
        })
    }
}

/// Error 3523.
fn unknown(name: &AccountName) -> SqlError {
    sql_error!(ER_UNKNOWN_AUTHID, name.user, name.host)
}
