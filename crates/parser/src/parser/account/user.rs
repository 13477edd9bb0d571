//! CREATE, ALTER and RENAME USER: authentication, TLS, limits, password rules.

use crate::parser::account::password::accept_retain_current;
use crate::parser::account::{role_choice, role_name, user_name};
use crate::parser::ddl::{if_exists, if_not_exists};
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// Behind CREATE USER.
pub(crate) fn create_user(parser: &mut Parser) -> SqlResult<Statement> {
    let if_not_exists = if_not_exists(parser)?;
    let users = parser.list(|parser| {
        let user = user_name(parser)?;
        identification(parser, user)
    })?;
    let default_roles =
        if parser.accept_all(&[K::Default, K::Role]) { parser.list(role_name)? } else { Vec::new() };
    let attributes = user_attributes(parser)?;
    Ok(Statement::CreateUser(Box::new(CreateUser { if_not_exists, users, default_roles, attributes })))
}

/// Behind ALTER USER.
pub(crate) fn alter_user(parser: &mut Parser) -> SqlResult<Statement> {
    let if_exists = if_exists(parser)?;
    if parser.at_text("user") && parser.kind_at(1) == T::OpenParenthesis {
        return alter_own_user(parser, if_exists);
    }
    let first = user_name(parser)?;
    if parser.accept_all(&[K::Default, K::Role]) {
        return alter_default_role(parser, if_exists, first);
    }
    let mut users = vec![user_authentication(parser, first)?];
    while parser.accept_comma() {
        let user = user_name(parser)?;
        users.push(user_authentication(parser, user)?);
    }
    let attributes = user_attributes(parser)?;
    Ok(Statement::AlterUser(Box::new(AlterUser { if_exists, users, default_role: None, attributes })))
}

/// Behind `ALTER USER user DEFAULT ROLE`: of one account, and nothing else of it.
fn alter_default_role(parser: &mut Parser, if_exists: bool, user: UserName) -> SqlResult<Statement> {
    let default_role = Some(role_choice(parser, false)?);
    let users = vec![UserSpecification::of(user)];
    let attributes = UserAttributes::default();
    Ok(Statement::AlterUser(Box::new(AlterUser { if_exists, users, default_role, attributes })))
}

/// `ALTER USER USER() IDENTIFIED BY ..`.
fn alter_own_user(parser: &mut Parser, if_exists: bool) -> SqlResult<Statement> {
    parser.at += 2;
    parser.expect_kind(T::CloseParenthesis)?;
    let users = vec![user_authentication(parser, UserName::CurrentUser)?];
    if users[0] == UserSpecification::of(UserName::CurrentUser) {
        return parser.fail();
    }
    let attributes = UserAttributes::default();
    Ok(Statement::AlterUser(Box::new(AlterUser { if_exists, users, default_role: None, attributes })))
}

/// Behind RENAME USER.
pub(crate) fn rename_user(parser: &mut Parser) -> SqlResult<Statement> {
    Ok(Statement::RenameUser(parser.list(|parser| {
        let from = user_name(parser)?;
        parser.expect(K::To)?;
        Ok((from, user_name(parser)?))
    })?))
}

/// What CREATE USER and ALTER USER say of how an account is identified.
fn identification(parser: &mut Parser, user: UserName) -> SqlResult<UserSpecification> {
    let mut specification = UserSpecification::of(user);
    if parser.at_word(K::Identified) {
        specification.factors.push(authentication(parser)?);
        while parser.at_words(K::And, K::Identified) {
            parser.advance();
            specification.factors.push(authentication(parser)?);
        }
    }
    factor_changes(parser, &mut specification)?;
    Ok(specification)
}

/// With what only ALTER USER says: of passwords that were there before.
fn user_authentication(parser: &mut Parser, user: UserName) -> SqlResult<UserSpecification> {
    let mut specification = identification(parser, user)?;
    // The old password is kept or dropped by a statement of its own.
    if !specification.factors.is_empty() {
        if parser.accept(K::Replace) {
            specification.replace = Some(parser.string()?);
        }
        specification.retain_current = accept_retain_current(parser)?;
    } else if parser.accept(K::Discard) {
        parser.expect_all(&[K::Old, K::Password])?;
        specification.discard_old = true;
    }
    Ok(specification)
}

fn authentication(parser: &mut Parser) -> SqlResult<Authentication> {
    parser.expect(K::Identified)?;
    let plugin = if parser.accept(K::With) { Some(parser.name_or_string()?) } else { None };
    let secret = if parser.accept(K::By) {
        if parser.accept(K::Random) {
            parser.expect(K::Password)?;
            AuthenticationSecret::Random
        } else {
            AuthenticationSecret::Password(parser.string()?)
        }
    } else if plugin.is_some() && parser.accept(K::As) {
        AuthenticationSecret::Hash(parser.string_or_bytes()?)
    } else if plugin.is_some() {
        AuthenticationSecret::None
    } else {
        return parser.fail();
    };
    Ok(Authentication { plugin, secret })
}

/// ADD, MODIFY and DROP of factors, INITIAL AUTHENTICATION and registration: kept as text.
fn factor_changes(parser: &mut Parser, specification: &mut UserSpecification) -> SqlResult<()> {
    let words = [K::Add, K::Modify, K::Drop, K::Initial];
    loop {
        let first = parser.at;
        let starts_factor = parser.kind() == T::Integer && parser.kind_at(1) == T::Word(K::Factor);
        match parser.accept_any(&words) {
            Some(K::Initial) => {
                parser.expect(K::Authentication)?;
                authentication(parser)?;
            }
            None if starts_factor => registration(parser)?,
            None => return Ok(()),
            Some(word) => {
                parser.number()?;
                parser.expect(K::Factor)?;
                if word != K::Drop {
                    authentication(parser)?;
                }
            }
        }
        specification.factor_changes.push(parser.string_since(first));
    }
}

/// `2 FACTOR INITIATE REGISTRATION` and its like.
fn registration(parser: &mut Parser) -> SqlResult<()> {
    parser.at += 2;
    match parser.expect_any(&[K::Initiate, K::Unregister, K::Finish])? {
        K::Initiate => parser.expect(K::Registration),
        K::Unregister => Ok(()),
        _ => {
            parser.expect(K::Registration)?;
            parser.expect_all(&[K::Set])?;
            parser.name()?;
            parser.expect(K::As)?;
            parser.string().map(|_| ())
        }
    }
}

fn user_attributes(parser: &mut Parser) -> SqlResult<UserAttributes> {
    let mut attributes = UserAttributes::default();
    if parser.accept(K::Require) {
        attributes.require = Some(tls_requirement(parser)?);
    }
    if parser.accept(K::With) {
        let words =
            [K::MaxQueriesPerHour, K::MaxUpdatesPerHour, K::MaxConnectionsPerHour, K::MaxUserConnections];
        let mut word = parser.expect_any(&words).map(Some)?;
        while let Some(limit) = word {
            attributes.limits.push((limit.text(), parser.number()?));
            word = parser.accept_any(&words);
        }
    }
    while user_attribute(parser, &mut attributes)? {}
    if parser.accept(K::Comment) {
        attributes.comment = Some(parser.string()?);
    } else if parser.accept(K::Attribute) {
        attributes.attribute = Some(parser.string()?);
    }
    Ok(attributes)
}

fn tls_requirement(parser: &mut Parser) -> SqlResult<TlsRequirement> {
    if let Some(word) = parser.accept_any(&[K::None, K::Ssl, K::X509]) {
        return Ok(match word {
            K::None => TlsRequirement::None,
            K::Ssl => TlsRequirement::Ssl,
            _ => TlsRequirement::X509,
        });
    }
    let (mut cipher, mut issuer, mut subject) = (None, None, None);
    loop {
        let place = match parser.expect_any(&[K::Cipher, K::Issuer, K::Subject])? {
            K::Cipher => &mut cipher,
            K::Issuer => &mut issuer,
            _ => &mut subject,
        };
        *place = Some(parser.string()?);
        let and = parser.accept(K::And);
        if !and && !matches!(parser.kind(), T::Word(K::Cipher | K::Issuer | K::Subject)) {
            return Ok(TlsRequirement::Specified { cipher, issuer, subject });
        }
    }
}

/// ACCOUNT, PASSWORD .., FAILED_LOGIN_ATTEMPTS, PASSWORD_LOCK_TIME.
fn user_attribute(parser: &mut Parser, attributes: &mut UserAttributes) -> SqlResult<bool> {
    let words = [K::Account, K::Password, K::FailedLoginAttempts, K::PasswordLockTime];
    match parser.accept_any(&words) {
        None => return Ok(false),
        Some(K::Account) => {
            attributes.account_locked = Some(match parser.kind() {
                T::Word(K::Lock) => true,
                T::Word(K::Unlock) => false,
                _ => return parser.fail(),
            });
            parser.advance();
        }
        Some(K::FailedLoginAttempts) => {
            attributes.failed_login_attempts = Some(locking_limit(parser, "FAILED_LOGIN_ATTEMPTS")?);
        }
        Some(K::PasswordLockTime) => {
            let unbounded = parser.accept(K::Unbounded);
            let limit = if unbounded { None } else { Some(locking_limit(parser, "PASSWORD_LOCK_TIME")?) };
            attributes.password_lock_days = Some(limit);
        }
        Some(_) => password_attribute(parser, attributes)?,
    }
    Ok(true)
}

/// The number of FAILED_LOGIN_ATTEMPTS or PASSWORD_LOCK_TIME. Errors: 1525 beyond [`PASSWORD_LOCKING_MAX`], 1064.
fn locking_limit(parser: &mut Parser, option: &str) -> SqlResult<u16> {
    let value = parser.whole_number()?;
    let limit = u16::try_from(value).ok().filter(|limit| *limit <= PASSWORD_LOCKING_MAX);
    limit.ok_or_else(|| sql_error!(ER_WRONG_VALUE, option, value))
}

fn password_attribute(parser: &mut Parser, attributes: &mut UserAttributes) -> SqlResult<()> {
    match parser.expect_any(&[K::Expire, K::History, K::Reuse, K::Require])? {
        K::Expire => {
            attributes.password_expire =
                Some(match parser.accept_any(&[K::Interval, K::Never, K::Default]) {
                    None => PasswordExpire::Now,
                    Some(K::Never) => PasswordExpire::Never,
                    Some(K::Default) => PasswordExpire::Default,
                    Some(_) => {
                        let days = parser.number()?;
                        parser.expect(K::Day)?;
                        PasswordExpire::Interval(days)
                    }
                });
        }
        K::History => attributes.password_history = Some(number_or_default(parser)?),
        K::Reuse => {
            parser.expect(K::Interval)?;
            let days = number_or_default(parser)?;
            if days.is_some() {
                parser.expect(K::Day)?;
            }
            attributes.password_reuse_days = Some(days);
        }
        _ => {
            parser.expect(K::Current)?;
            attributes.require_current = Some(match parser.accept_any(&[K::Default, K::Optional]) {
                None => RequireCurrent::Required,
                Some(K::Default) => RequireCurrent::Default,
                Some(_) => RequireCurrent::Optional,
            });
        }
    }
    Ok(())
}

fn number_or_default(parser: &mut Parser) -> SqlResult<Option<u64>> {
    if parser.accept(K::Default) { Ok(None) } else { parser.whole_number().map(Some) }
}
