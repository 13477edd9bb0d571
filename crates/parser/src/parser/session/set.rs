//! SET: variables, NAMES, CHARACTER SET, PASSWORD, TRANSACTION and roles.

use crate::parser::account::password::{at_set_password, set_password};
use crate::parser::account::{role_choice, user_name};
use crate::parser::expression::expression;
use crate::parser::expression::variable::{accept_variable_scope, system_variable, variable_name};
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

pub(crate) fn set(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    if parser.accept(K::Role) {
        return role_choice(parser, true).map(Statement::SetRole);
    }
    if parser.accept_all(&[K::Default, K::Role]) {
        let roles = role_choice(parser, false)?;
        parser.expect(K::To)?;
        return Ok(Statement::SetDefaultRole { roles, users: parser.list(user_name)? });
    }
    parser.list(set_item).map(Statement::Set)
}

fn set_item(parser: &mut Parser) -> SqlResult<SetItem> {
    match parser.kind() {
        T::UserVariable => {
            let name = parser.user_variable()?;
            set_equal(parser)?;
            return Ok(SetItem::UserVariable { name, value: expression(parser)? });
        }
        T::DoubleAt => {
            let variable = system_variable(parser)?;
            let next_transaction = variable.scope.is_none();
            return set_variable(parser, variable, next_transaction);
        }
        T::Word(K::Names) if parser.kind_at(1) != T::Equal && parser.kind_at(1) != T::Assign => {
            return set_names(parser);
        }
        T::Word(K::Password) if at_set_password(parser) => {
            return set_password(parser).map(SetItem::Password);
        }
        T::Word(K::Charset | K::Character | K::Char) if parser.accept_charset_words()? => {
            let charset = if parser.accept(K::Default) { None } else { Some(parser.charset_name()?) };
            return Ok(SetItem::CharacterSet(charset));
        }
        _ => {}
    }
    let scoped = matches!(parser.kind_at(1), T::Word(_) | T::Name | T::QuotedName);
    let scope = if scoped { accept_variable_scope(parser) } else { None };
    if parser.at_word(K::Transaction) && parser.kind_at(1) != T::Equal {
        parser.advance();
        return set_transaction(parser, scope);
    }
    let first = variable_name_unreserved(parser)?;
    let variable = if parser.accept_kind(T::Point) {
        SystemVariable { scope, qualifier: Some(first), name: parser.name_behind_point()? }
    } else {
        SystemVariable { scope, qualifier: None, name: first }
    };
    set_variable(parser, variable, false)
}

fn variable_name_unreserved(parser: &mut Parser) -> SqlResult<Name> {
    if parser.at_word(K::Default) { variable_name(parser) } else { parser.name() }
}

pub(crate) fn set_equal(parser: &mut Parser) -> SqlResult<()> {
    if parser.accept_kind(T::Assign) { Ok(()) } else { parser.expect_kind(T::Equal) }
}

fn set_variable(parser: &mut Parser, variable: SystemVariable, next_transaction: bool) -> SqlResult<SetItem> {
    set_equal(parser)?;
    let ends = matches!(parser.kind_at(1), T::Comma | T::End | T::Semicolon);
    let value = match parser.kind() {
        T::Word(K::Default) if ends => {
            parser.advance();
            None
        }
        // Words that are reserved, but values here.
        T::Word(K::On | K::All | K::Binary | K::Row | K::System) if ends => {
            let bytes = parser.any_word()?.into_bytes();
            Some(Expression::Literal(Literal::String { bytes, introducer: None }))
        }
        _ => Some(expression(parser)?),
    };
    Ok(SetItem::SystemVariable { variable, value, next_transaction })
}

fn set_names(parser: &mut Parser) -> SqlResult<SetItem> {
    parser.advance();
    if parser.accept(K::Default) {
        return Ok(SetItem::Names { charset: None, collation: None });
    }
    let charset = Some(parser.charset_name()?);
    let collation = if parser.accept(K::Collate) { Some(parser.charset_name()?) } else { None };
    Ok(SetItem::Names { charset, collation })
}

fn set_transaction(parser: &mut Parser, scope: Option<VariableScope>) -> SqlResult<SetItem> {
    let (mut isolation, mut read_only) = (None, None);
    loop {
        if isolation.is_none() && parser.accept(K::Isolation) {
            parser.expect(K::Level)?;
            isolation = Some(isolation_level(parser)?);
        } else if read_only.is_none() && parser.accept(K::Read) {
            read_only = Some(parser.expect_any(&[K::Only, K::Write])? == K::Only);
        } else {
            return parser.fail();
        }
        let more = matches!(parser.kind_at(1), T::Word(K::Isolation | K::Read));
        if !more || !parser.accept_comma() {
            return Ok(SetItem::Transaction { scope, isolation, read_only });
        }
    }
}

fn isolation_level(parser: &mut Parser) -> SqlResult<IsolationLevel> {
    Ok(match parser.expect_any(&[K::Read, K::Repeatable, K::Serializable])? {
        K::Read => match parser.expect_any(&[K::Committed, K::Uncommitted])? {
            K::Committed => IsolationLevel::ReadCommitted,
            _ => IsolationLevel::ReadUncommitted,
        },
        K::Repeatable => {
            parser.expect(K::Read)?;
            IsolationLevel::RepeatableRead
        }
        _ => IsolationLevel::Serializable,
    })
}
