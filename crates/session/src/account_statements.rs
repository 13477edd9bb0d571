//! Statements about accounts as the session runs them: what is asked first, the commit of what was open, the change under its locks
//! (`ddl::account`), the answer. Entry points: [`Session::run_account_statement`], [`Session::set_password`].

use crate::session::Session;
use accounts::AccountName;
use ddl::account::{AccountChange, AccountDefiner};
use errors::{SqlResult, sql_error};
use parser::ast::{Grant, Revoke, SetPassword, Statement};
use sysviews::result::{number_column, text, text_column};
use values::Value;
use wire::result::ResultSink;

/// Accounts with the passwords that were made for them.
type Generated = Vec<(AccountName, String)>;

impl Session {
    fn accounts(&mut self) -> AccountDefiner<'_> {
        AccountDefiner {
            instance: &self.instance,
            shared: &self.shared,
            user: &mut self.user,
            variables: &self.state.variables,
            statement_time_microseconds: self.state.statement_time_microseconds,
            schema: self.schema.as_deref(),
            diagnostics: &mut self.diagnostics,
            generated: Vec::new(),
        }
    }

    /// Runs a statement about accounts; None if it is of another kind.
    pub(crate) fn run_account_statement(
        &mut self,
        statement: &Statement,
        sink: &mut dyn ResultSink,
    ) -> Option<SqlResult<()>> {
        let generated = self.define_accounts(statement)?;
        Some(generated.and_then(|generated| self.answer_generated(generated, sink)))
    }

    fn define_accounts(&mut self, statement: &Statement) -> Option<SqlResult<Generated>> {
        Some(match statement {
            Statement::CreateUser(create) => {
                self.accounts().create_user(create).and_then(|change| self.change_accounts(change))
            }
            Statement::AlterUser(alter) => {
                self.accounts().alter_user(alter).and_then(|change| self.change_accounts(change))
            }
            Statement::DropUser { users, if_exists } => self
                .accounts()
                .drop_accounts("DROP USER", users, *if_exists)
                .and_then(|change| self.change_accounts(change)),
            Statement::RenameUser(renames) => {
                self.accounts().rename_users(renames).and_then(|change| self.change_accounts(change))
            }
            Statement::CreateRole { roles, if_not_exists } => self
                .accounts()
                .create_roles(roles, *if_not_exists)
                .and_then(|change| self.change_accounts(change)),
            Statement::DropRole { roles, if_exists } => self
                .accounts()
                .drop_accounts("DROP ROLE", roles, *if_exists)
                .and_then(|change| self.change_accounts(change)),
            Statement::Grant(grant) => self.grant(grant),
            Statement::Revoke(revoke) => self.revoke(revoke),
            Statement::SetRole(choice) => self.accounts().set_role(choice).map(|()| Vec::new()),
            Statement::SetDefaultRole { roles, users } => {
                self.accounts().set_default_role(roles, users).and_then(|change| self.change_accounts(change))
            }
            _ => return None,
        })
    }

    fn grant(&mut self, grant: &Grant) -> SqlResult<Generated> {
        match grant {
            Grant::Privileges { privileges, object, level, to, grant_option, .. } => self
                .accounts()
                .grant_privileges(privileges, *object, level, to, *grant_option)
                .and_then(|change| self.change_accounts(change)),
            Grant::Roles { roles, to, admin_option } => self
                .accounts()
                .grant_roles(roles, to, *admin_option)
                .and_then(|change| self.change_accounts(change)),
            Grant::Proxy { .. } => Err(sql_error!(ER_NOT_SUPPORTED_YET, "GRANT PROXY")),
        }
    }

    fn revoke(&mut self, revoke: &Revoke) -> SqlResult<Generated> {
        match revoke {
            Revoke::Privileges { privileges, object, level, from, if_exists, ignore_unknown_user } => self
                .accounts()
                .revoke_privileges(privileges, *object, level, from, *if_exists, *ignore_unknown_user)
                .and_then(|change| self.change_accounts(change)),
            Revoke::All { from, ignore_unknown_user, .. } => self
                .accounts()
                .revoke_all(from, *ignore_unknown_user)
                .and_then(|change| self.change_accounts(change)),
            Revoke::Roles { roles, from, if_exists, ignore_unknown_user } => self
                .accounts()
                .revoke_roles(roles, from, *if_exists, *ignore_unknown_user)
                .and_then(|change| self.change_accounts(change)),
            Revoke::Proxy { .. } => Err(sql_error!(ER_NOT_SUPPORTED_YET, "REVOKE PROXY")),
        }
    }

    /// SET PASSWORD.
    pub(crate) fn set_password(&mut self, password: &SetPassword) -> SqlResult<()> {
        let change = self.accounts().set_password(password)?;
        self.change_accounts(change).map(drop)
    }

    /// Commits what was open and changes accounts.
    fn change_accounts(&mut self, change: impl AccountChange) -> SqlResult<Generated> {
        self.commit_implicitly()?;
        if self.locks.explicit.in_force() {
            return Err(sql_error!(ER_TABLE_NOT_LOCKED, "user"));
        }
        self.with_definition_locks(Vec::new(), |session| {
            let mut accounts = session.accounts();
            let lsn = accounts.carry_out(change)?;
            let generated = accounts.generated;
            if let Some(lsn) = lsn {
                session.wait_for(lsn);
            }
            Ok(generated)
        })
    }

    /// IDENTIFIED .. RANDOM PASSWORD answers with the passwords.
    fn answer_generated(&mut self, generated: Generated, sink: &mut dyn ResultSink) -> SqlResult<()> {
        if generated.is_empty() {
            return self.send_ok(sink);
        }
        let columns = [
            text_column("user", 96),
            text_column("host", 255),
            text_column("generated password", 255),
            number_column("auth_factor"),
        ];
        let rows: Vec<Vec<Value>> = generated
            .into_iter()
            .map(|(name, password)| vec![text(name.user), text(name.host), text(password), Value::Int(1)])
            .collect();
        self.send_rows(&columns, &rows, sink)
    }
}
