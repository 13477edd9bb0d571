//! Accounts, roles and privileges. Here the names of accounts and roles, which other statements use too.

pub(crate) mod grant;
pub(crate) mod password;
pub(crate) mod user;

use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// `'name'@'host'`, `name@host`, `name` or CURRENT_USER.
pub(crate) fn user_name(parser: &mut Parser) -> SqlResult<UserName> {
    if parser.accept(K::CurrentUser) {
        if parser.accept_kind(T::OpenParenthesis) {
            parser.expect_kind(T::CloseParenthesis)?;
        }
        return Ok(UserName::CurrentUser);
    }
    role_name(parser)
}

/// A role, or an account that is not CURRENT_USER.
pub(crate) fn role_name(parser: &mut Parser) -> SqlResult<UserName> {
    let name = parser.name_or_string()?;
    let host = if parser.kind() == T::UserVariable {
        Some(parser.at_sign_name()?.to_ascii_lowercase())
    } else {
        None
    };
    Ok(UserName::Account { name, host })
}

/// `DEFINER = user`.
pub(crate) fn optional_definer(parser: &mut Parser) -> SqlResult<Option<UserName>> {
    if !parser.accept(K::Definer) {
        return Ok(None);
    }
    parser.expect_kind(T::Equal)?;
    user_name(parser).map(Some)
}

/// What SET ROLE and SET DEFAULT ROLE choose; DEFAULT and EXCEPT only for the former.
pub(crate) fn role_choice(parser: &mut Parser, for_session: bool) -> SqlResult<RoleChoice> {
    if for_session && parser.accept(K::Default) {
        return Ok(RoleChoice::Default);
    }
    if parser.accept(K::None) {
        return Ok(RoleChoice::None);
    }
    if parser.accept(K::All) {
        if for_session && parser.accept(K::Except) {
            return Ok(RoleChoice::AllExcept(parser.list(role_name)?));
        }
        return Ok(RoleChoice::All);
    }
    parser.list(role_name).map(RoleChoice::Roles)
}
