//! GRANT and REVOKE.

use crate::parser::account::{role_choice, role_name, user_name};
use crate::parser::ddl::if_exists;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

pub(crate) fn grant(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    if parser.at_words(K::Proxy, K::On) {
        parser.at += 2;
        let user = user_name(parser)?;
        parser.expect(K::To)?;
        let to = parser.list(user_name)?;
        return Ok(Statement::Grant(Box::new(Grant::Proxy {
            user,
            to,
            grant_option: with_grant_option(parser)?,
        })));
    }
    let granted = granted_list(parser)?;
    if !parser.accept(K::On) {
        parser.expect(K::To)?;
        let roles = as_roles(parser, granted)?;
        let to = parser.list(user_name)?;
        let admin_option = parser.accept(K::With);
        if admin_option {
            parser.expect_all(&[K::Admin, K::Option])?;
        }
        return Ok(Statement::Grant(Box::new(Grant::Roles { roles, to, admin_option })));
    }
    let privileges = as_privileges(granted);
    let (object, level) = privilege_object(parser)?;
    parser.expect(K::To)?;
    let to = parser.list(user_name)?;
    let grant_option = with_grant_option(parser)?;
    let as_user = if parser.accept(K::As) { Some(user_name(parser)?) } else { None };
    let with_role = if as_user.is_some() && parser.accept_all(&[K::With, K::Role]) {
        Some(role_choice(parser, true)?)
    } else {
        None
    };
    Ok(Statement::Grant(Box::new(Grant::Privileges {
        privileges,
        object,
        level,
        to,
        grant_option,
        as_user,
        with_role,
    })))
}

fn with_grant_option(parser: &mut Parser) -> SqlResult<bool> {
    let found = parser.accept(K::With);
    if found {
        parser.expect_all(&[K::Grant, K::Option])?;
    }
    Ok(found)
}

pub(crate) fn revoke(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    let if_exists = if_exists(parser)?;
    let revoke = if parser.at_words(K::Proxy, K::On) {
        parser.at += 2;
        let user = user_name(parser)?;
        let (from, ignore_unknown_user) = revoke_tail(parser)?;
        Revoke::Proxy { user, from, if_exists, ignore_unknown_user }
    } else {
        let granted = granted_list(parser)?;
        if parser.accept(K::On) {
            let (object, level) = privilege_object(parser)?;
            let (from, ignore_unknown_user) = revoke_tail(parser)?;
            let privileges = as_privileges(granted);
            Revoke::Privileges { privileges, object, level, from, if_exists, ignore_unknown_user }
        } else if is_all_and_grant_option(&granted) {
            let (from, ignore_unknown_user) = revoke_tail(parser)?;
            Revoke::All { from, if_exists, ignore_unknown_user }
        } else {
            let roles = as_roles(parser, granted)?;
            let (from, ignore_unknown_user) = revoke_tail(parser)?;
            Revoke::Roles { roles, from, if_exists, ignore_unknown_user }
        }
    };
    Ok(Statement::Revoke(Box::new(revoke)))
}

fn revoke_tail(parser: &mut Parser) -> SqlResult<(Vec<UserName>, bool)> {
    parser.expect(K::From)?;
    let from = parser.list(user_name)?;
    let ignore_unknown_user = parser.accept(K::Ignore);
    if ignore_unknown_user {
        parser.expect_all(&[K::Unknown, K::User])?;
    }
    Ok((from, ignore_unknown_user))
}

fn granted_list(parser: &mut Parser) -> SqlResult<Vec<Granted>> {
    parser.list(granted)
}

fn granted(parser: &mut Parser) -> SqlResult<Granted> {
    if parser.accept(K::All) {
        parser.accept(K::Privileges);
        return Ok(Granted::Privilege(Privilege { name: "ALL".to_owned(), columns: Vec::new() }));
    }
    if let Some(&(words, name)) = PHRASES.iter().find(|(words, _)| {
        words.iter().enumerate().all(|(ahead, &word)| parser.kind_at(ahead) == T::Word(word))
    }) {
        parser.at += words.len();
        return Ok(Granted::Privilege(Privilege { name: name.to_owned(), columns: Vec::new() }));
    }
    // A word such as EVENT is a role if a host follows it.
    let is_role = parser.kind_at(1) == T::UserVariable;
    if !is_role && let Some(word) = parser.accept_any(WORDS) {
        let columns = parser.optional_names()?;
        return Ok(Granted::Privilege(Privilege { name: word.text().to_owned(), columns }));
    }
    let name = role_name(parser)?;
    let UserName::Account { name: text, host: None } = &name else { return Ok(Granted::Name(name)) };
    if parser.kind() != T::OpenParenthesis {
        return Ok(Granted::Name(name));
    }
    let privilege = Privilege { name: text.to_ascii_uppercase(), columns: parser.optional_names()? };
    Ok(Granted::Privilege(privilege))
}

/// Words that are privileges cannot be granted as roles unless quoted.
fn as_roles(parser: &Parser, granted: Vec<Granted>) -> SqlResult<Vec<UserName>> {
    granted
        .into_iter()
        .map(|item| match item {
            Granted::Name(name) => Ok(name),
            Granted::Privilege(_) => parser.fail(),
        })
        .collect()
}

/// Behind ON.
fn privilege_object(parser: &mut Parser) -> SqlResult<(ObjectKind, PrivilegeLevel)> {
    let is_kind = !matches!(parser.kind_at(1), T::Point | T::Word(K::To | K::From));
    let word =
        if is_kind { parser.accept_any(&[K::Table, K::Function, K::Procedure, K::Library]) } else { None };
    let object = match word {
        None | Some(K::Table) => ObjectKind::Table,
        Some(K::Function) => ObjectKind::Function,
        Some(K::Procedure) => ObjectKind::Procedure,
        Some(_) => ObjectKind::Library,
    };
    if parser.accept_kind(T::Star) {
        if !parser.accept_kind(T::Point) {
            return Ok((object, PrivilegeLevel::CurrentSchema));
        }
        parser.expect_kind(T::Star)?;
        return Ok((object, PrivilegeLevel::Global));
    }
    if parser.kind_at(1) == T::Point && parser.kind_at(2) == T::Star {
        let schema = parser.name()?;
        parser.at += 2;
        return Ok((object, PrivilegeLevel::Schema(schema)));
    }
    Ok((object, PrivilegeLevel::Object(parser.object_name()?)))
}

/// Privileges of more than one word, longest first where one starts another.
const PHRASES: &[(&[Keyword], &str)] = &[
    (&[K::Create, K::Temporary, K::Tables], "CREATE TEMPORARY TABLES"),
    (&[K::Create, K::User], "CREATE USER"),
    (&[K::Create, K::View], "CREATE VIEW"),
    (&[K::Create, K::Routine], "CREATE ROUTINE"),
    (&[K::Create, K::Role], "CREATE ROLE"),
    (&[K::Create, K::Tablespace], "CREATE TABLESPACE"),
    (&[K::Alter, K::Routine], "ALTER ROUTINE"),
    (&[K::Drop, K::Role], "DROP ROLE"),
    (&[K::Grant, K::Option], "GRANT OPTION"),
    (&[K::Lock, K::Tables], "LOCK TABLES"),
    (&[K::Replication, K::Client], "REPLICATION CLIENT"),
    (&[K::Replication, K::Slave], "REPLICATION SLAVE"),
    (&[K::Show, K::Databases], "SHOW DATABASES"),
    (&[K::Show, K::View], "SHOW VIEW"),
];

const WORDS: &[Keyword] = &[
    K::Select,
    K::Insert,
    K::Update,
    K::References,
    K::Delete,
    K::Usage,
    K::Index,
    K::Alter,
    K::Create,
    K::Drop,
    K::Execute,
    K::Reload,
    K::Shutdown,
    K::Process,
    K::File,
    K::Grant,
    K::Super,
    K::Event,
    K::Trigger,
];

/// One item between GRANT and ON or TO: a privilege, or a name that is a role or a dynamic privilege.
enum Granted {
    Privilege(Privilege),
    Name(UserName),
}

fn as_privileges(granted: Vec<Granted>) -> Vec<Privilege> {
    granted
        .into_iter()
        .map(|item| match item {
            Granted::Privilege(privilege) => privilege,
            Granted::Name(UserName::Account { name, .. }) => {
                Privilege { name: name.to_ascii_uppercase(), columns: Vec::new() }
            }
            Granted::Name(UserName::CurrentUser) => {
                Privilege { name: "CURRENT_USER".to_owned(), columns: Vec::new() }
            }
        })
        .collect()
}

fn is_all_and_grant_option(granted: &[Granted]) -> bool {
    match granted {
        [Granted::Privilege(all), Granted::Privilege(option)] => {
            all.name == "ALL" && option.name == "GRANT OPTION"
        }
        _ => false,
    }
}
