//! SET PASSWORD.

use crate::parser::account::user_name;
use crate::parser::session::set::set_equal;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

pub(crate) fn at_set_password(parser: &Parser) -> bool {
    matches!(parser.kind_at(1), T::Equal | T::Assign | T::Word(K::For | K::To))
}

pub(crate) fn set_password(parser: &mut Parser) -> SqlResult<SetPassword> {
    parser.advance();
    let user = if parser.accept(K::For) { Some(user_name(parser)?) } else { None };
    let password = if parser.accept(K::To) {
        parser.expect(K::Random)?;
        None
    } else {
        set_equal(parser)?;
        Some(parser.string()?)
    };
    let replace = if parser.accept(K::Replace) { Some(parser.string()?) } else { None };
    let retain_current = accept_retain_current(parser)?;
    Ok(SetPassword { user, password, replace, retain_current })
}

/// RETAIN CURRENT PASSWORD.
pub(crate) fn accept_retain_current(parser: &mut Parser) -> SqlResult<bool> {
    if !parser.accept(K::Retain) {
        return Ok(false);
    }
    parser.expect_all(&[K::Current, K::Password])?;
    Ok(true)
}
