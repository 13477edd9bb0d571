//! SIGNAL, RESIGNAL and GET DIAGNOSTICS.

use crate::parser::expression::expression;
use crate::parser::expression::operand::operand;
use crate::parser::query::into::target_variable;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// SIGNAL and RESIGNAL.
pub(crate) fn signal(parser: &mut Parser, word: Keyword) -> SqlResult<Statement> {
    parser.advance();
    let optional = word == K::Resignal && (parser.ends_at(0) || parser.at_word(K::Set));
    let condition = if parser.accept(K::Sqlstate) {
        parser.accept(K::Value);
        SignalCondition::State(parser.string()?)
    } else if optional {
        SignalCondition::None
    } else {
        SignalCondition::Name(parser.name()?)
    };
    let items = if parser.accept(K::Set) {
        parser.list(|parser| {
            let name = parser.name()?.to_ascii_uppercase();
            parser.expect_kind(T::Equal)?;
            Ok((name, expression(parser)?))
        })?
    } else {
        Vec::new()
    };
    let signal = Signal { condition, items };
    Ok(if word == K::Signal { Statement::Signal(signal) } else { Statement::Resignal(signal) })
}

pub(crate) fn get_diagnostics(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    let stacked = parser.accept_any(&[K::Current, K::Stacked]) == Some(K::Stacked);
    parser.expect(K::Diagnostics)?;
    let condition = if parser.accept(K::Condition) { Some(operand(parser)?) } else { None };
    let items = parser.list(|parser| {
        let target = target_variable(parser)?;
        parser.expect_kind(T::Equal)?;
        Ok((target, parser.name()?.to_ascii_uppercase()))
    })?;
    Ok(Statement::GetDiagnostics(Box::new(GetDiagnostics { stacked, condition, items })))
}
