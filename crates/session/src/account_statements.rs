//! Statements about accounts as the session runs them: what is asked first, the commit of what was open, the change under its locks
//! (`ddl::account`), the answer. Entry points: [`run_account_statement`], [`set_password`].

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

fn accounts(session: &mut Session) -> AccountDefiner<'_> {
    AccountDefiner {
        instance: &session.instance,
        shared: &session.shared,
        user: &mut session.user,
        variables: &session.state.variables,
        statement_time_microseconds: session.state.statement_time_microseconds,
        schema: session.schema.as_deref(),
        diagnostics: &mut session.diagnostics,
        generated: Vec::new(),
    }
}

/// Runs a statement about accounts; None if it is of another kind.
pub(crate) fn run_account_statement(
    session: &mut Session,
    statement: &Statement,
    sink: &mut dyn ResultSink,
) -> Option<SqlResult<()>> {
    let generated = define_accounts(session, statement)?;
    Some(generated.and_then(|generated| answer_generated(session, generated, sink)))
}

fn define_accounts(session: &mut Session, statement: &Statement) -> Option<SqlResult<Generated>> {
    Some(match statement {
        Statement::CreateUser(create) => {
            accounts(session).create_user(create).and_then(|change| change_accounts(session, change))
        }
        Statement::AlterUser(alter) => {
            accounts(session).alter_user(alter).and_then(|change| change_accounts(session, change))
        }
        Statement::DropUser { users, if_exists } => accounts(session)
            .drop_accounts("DROP USER", users, *if_exists)
            .and_then(|change| change_accounts(session, change)),
        Statement::RenameUser(renames) => {
            accounts(session).rename_users(renames).and_then(|change| change_accounts(session, change))
        }
        Statement::CreateRole { roles, if_not_exists } => accounts(session)
            .create_roles(roles, *if_not_exists)
            .and_then(|change| change_accounts(session, change)),
        Statement::DropRole { roles, if_exists } => accounts(session)
            .drop_accounts("DROP ROLE", roles, *if_exists)
            .and_then(|change| change_accounts(session, change)),
        Statement::Grant(grant) => grant_or_roles(session, grant),
        Statement::Revoke(revoke) => revoke_or_roles(session, revoke),
        Statement::SetRole(choice) => accounts(session).set_role(choice).map(|()| Vec::new()),
        Statement::SetDefaultRole { roles, users } => accounts(session)
            .set_default_role(roles, users)
            .and_then(|change| change_accounts(session, change)),
        _ => return None,
    })
}

fn grant_or_roles(session: &mut Session, grant: &Grant) -> SqlResult<Generated> {
    match grant {
        Grant::Privileges { privileges, object, level, to, grant_option, as_user, with_role } => {
            let grantor = as_user.as_ref().map(|user| (user, with_role.as_ref()));
            accounts(session)
                .grant_privileges(privileges, *object, level, to, *grant_option, grantor)
                .and_then(|change| change_accounts(session, change))
        }
        Grant::Roles { roles, to, admin_option } => accounts(session)
            .grant_roles(roles, to, *admin_option)
            .and_then(|change| change_accounts(session, change)),
        Grant::Proxy { .. } => Err(sql_error!(ER_NOT_SUPPORTED_YET, "GRANT PROXY")),
    }
}

fn revoke_or_roles(session: &mut Session, revoke: &Revoke) -> SqlResult<Generated> {
    match revoke {
        Revoke::Privileges { privileges, object, level, from, if_exists, ignore_unknown_user } => {
            accounts(session)
                .revoke_privileges(privileges, *object, level, from, *if_exists, *ignore_unknown_user)
                .and_then(|change| change_accounts(session, change))
        }
        Revoke::All { from, ignore_unknown_user, .. } => accounts(session)
            .revoke_all(from, *ignore_unknown_user)
            .and_then(|change| change_accounts(session, change)),
        Revoke::Roles { roles, from, if_exists, ignore_unknown_user } => accounts(session)
            .revoke_roles(roles, from, *if_exists, *ignore_unknown_user)
            .and_then(|change| change_accounts(session, change)),
        Revoke::Proxy { .. } => Err(sql_error!(ER_NOT_SUPPORTED_YET, "REVOKE PROXY")),
    }
}

/// SET PASSWORD.
pub(crate) fn set_password(session: &mut Session, password: &SetPassword) -> SqlResult<()> {
    let change = accounts(session).set_password(password)?;
    change_accounts(session, change).map(drop)
}

/// Commits what was open and changes accounts.
fn change_accounts(session: &mut Session, change: impl AccountChange) -> SqlResult<Generated> {
    session.commit_implicitly()?;
    if session.locks.explicit.in_force() {
        return Err(sql_error!(ER_TABLE_NOT_LOCKED, "user"));
    }
    session.with_definition_locks(Vec::new(), |session| {
        let mut accounts = accounts(session);
        let lsn = accounts.carry_out(change)?;
        let generated = accounts.generated;
        if let Some(lsn) = lsn {
            session.wait_for(lsn);
        }
        Ok(generated)
    })
}

/// IDENTIFIED .. RANDOM PASSWORD answers with the passwords.
fn answer_generated(session: &mut Session, generated: Generated, sink: &mut dyn ResultSink) -> SqlResult<()> {
    if generated.is_empty() {
        return session.send_ok(sink);
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
    session.send_rows(&columns, &rows, sink)
}
