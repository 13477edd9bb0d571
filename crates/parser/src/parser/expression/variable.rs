//! User and system variables as operands.

use crate::parser::expression::expression;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// `@a` or `@a := value`.
#[inline(never)]
pub(crate) fn variable_operand(parser: &mut Parser) -> SqlResult<Expression> {
    let name = parser.user_variable()?;
    if !parser.accept_kind(T::Assign) {
        return Ok(Expression::UserVariable(name));
    }
    parser.deprecate(Deprecation::VariableAssignment);
    let value = Box::new(expression(parser)?);
    Ok(Expression::AssignVariable { name, value })
}

/// `@@name`, `@@scope.name`, `@@component.name`.
#[inline(never)]
pub(crate) fn system_variable(parser: &mut Parser) -> SqlResult<SystemVariable> {
    parser.expect_kind(T::DoubleAt)?;
    let scope = if parser.kind_at(1) == T::Point { accept_variable_scope(parser) } else { None };
    if scope.is_some() {
        parser.expect_kind(T::Point)?;
    }
    let first = variable_name(parser)?;
    if !parser.accept_kind(T::Point) {
        return Ok(SystemVariable { scope, qualifier: None, name: first });
    }
    let name = parser.name_behind_point()?;
    Ok(SystemVariable { scope, qualifier: Some(first), name })
}

/// `default` is a name here (`@@default.key_buffer_size`).
pub(crate) fn variable_name(parser: &mut Parser) -> SqlResult<Name> {
    if parser.at_word(K::Default) && parser.kind_at(1) == T::Point {
        parser.any_word()
    } else {
        parser.name_behind_point()
    }
}

pub(crate) fn accept_variable_scope(parser: &mut Parser) -> Option<VariableScope> {
    Some(match parser.accept_any(&[K::Global, K::Session, K::Local, K::Persist, K::PersistOnly])? {
        K::Global => VariableScope::Global,
        K::Persist => VariableScope::Persist,
        K::PersistOnly => VariableScope::PersistOnly,
        _ => VariableScope::Session,
    })
}
