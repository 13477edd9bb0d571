//! CREATE, ALTER, DROP and RENAME of accounts and roles, GRANT, REVOKE, passwords. Main types: [`AccountDefiner`], what such a
//! statement borrows of the running session; [`AccountChange`], what it does to the accounts once it was allowed.

mod attribute;
mod grant;
mod password;
mod password_history;
mod roles;
mod statements;

use accounts::account::AccountName;
use accounts::store;
use accounts::table::AccountTable;
use dictionary::ViewDefinition;
use errors::{Diagnostics, SqlResult, sql_error};
use instance::{Instance, SessionShared, SessionUser};
use std::sync::Arc;
use stdx::ids::Lsn;
use variables::SessionVariables;

/// What a statement about accounts borrows of the running session.
pub struct AccountDefiner<'s> {
    /// The server.
    pub instance: &'s Instance,
    /// The session as others see it.
    pub shared: &'s SessionShared,
    /// Its user.
    pub user: &'s mut SessionUser,
    /// Its variables.
    pub variables: &'s SessionVariables,
    /// When the statement started, microseconds since 1970.
    pub statement_time_microseconds: i64,
    /// The default schema.
    pub schema: Option<&'s str>,
    /// Conditions of the running statement.
    pub diagnostics: &'s mut Diagnostics,
    /// Passwords that were made, with their accounts.
    pub generated: Vec<(AccountName, String)>,
}

/// What a statement does to a copy of the accounts; it names those that it touched.
pub trait AccountChange:
    FnOnce(&mut AccountDefiner<'_>, &mut AccountTable) -> SqlResult<Vec<AccountName>>
{
}

impl<F> AccountChange for F where
    F: FnOnce(&mut AccountDefiner<'_>, &mut AccountTable) -> SqlResult<Vec<AccountName>>
{
}

impl AccountDefiner<'_> {
    /// Changes accounts under the writer's right: stores and publishes what `change` touched. Returns what the answer waits for.
    pub fn carry_out(&mut self, change: impl AccountChange) -> SqlResult<Option<Lsn>> {
        let instance = self.instance;
        let _writer = instance.accounts_writer();
        let mut table = (*instance.accounts()).clone();
        let mut names = change(self, &mut table)?;
        names.sort();
        names.dedup();
        if names.is_empty() {
            return Ok(None);
        }
        let lsn = store::save(instance.engine(), &table, &names)?;
        instance.publish_accounts(table);
        Ok(Some(lsn))
    }
}

impl AccountDefiner<'_> {
    /// Warning 4005 for an account that is the definer of a view; error 4006 to who may not leave definers without account.
    fn tell_of_views(&mut self, command: &str, account: &AccountName) -> SqlResult<()> {
        let dictionary = self.instance.engine().dictionary();
        let is_definer = |view: &Arc<ViewDefinition>| {
            view.definer_user == account.user && view.definer_host == account.host
        };
        let mut schemas = dictionary.schemas().into_iter();
        if !schemas.any(|schema| dictionary.views.of_schema(&schema.name).iter().any(is_definer)) {
            return Ok(());
        }
        if !self.user.current_grants(self.instance).dynamic("ALLOW_NONEXISTENT_DEFINER") {
            let (account, what) = (account.message(), "a view");
            return Err(sql_error!(ER_CANNOT_USER_REFERENCED_AS_DEFINER, command, account, what));
        }
        self.diagnostics.warning(sql_error!(ER_USER_REFERENCED_AS_DEFINER, account.message(), "a view"));
        Ok(())
    }
}
