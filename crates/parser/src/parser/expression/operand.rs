//! Operands: what stands between operators. Calls are in `call`, casts in `cast`, windows in `window`.

use crate::parser::expression::call::{call_arguments, named_call, reserved_call};
use crate::parser::expression::cast::cast_operand;
use crate::parser::expression::interval::interval_operand;
use crate::parser::expression::literal::literal;
use crate::parser::expression::variable::{system_variable, variable_operand};
use crate::parser::expression::{bit_expression, expression};
use crate::parser::query::query;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// An operand with its unary operators and COLLATE clauses. Leaves its levels in `depth`.
pub(crate) fn operand(parser: &mut Parser) -> SqlResult<Expression> {
    let operator = match parser.kind() {
        T::Minus => UnaryOperator::Minus,
        T::Plus => UnaryOperator::Plus,
        T::Tilde => UnaryOperator::BitNot,
        T::Exclamation => UnaryOperator::Not,
        T::Word(K::Not) if parser.options.high_not_precedence => UnaryOperator::Not,
        T::Word(K::Binary) => UnaryOperator::Binary,
        _ => {
            parser.depth = 0;
            let primary = primary(parser)?;
            return collated(parser, primary);
        }
    };
    match parser.kind() {
        T::Exclamation => parser.deprecate(Deprecation::Replaced("!", "NOT")),
        T::Word(K::Binary) => parser.deprecate(Deprecation::Replaced("BINARY expr", "CAST")),
        _ => {}
    }
    parser.advance();
    let operand = Box::new(parser.nested(operand)?);
    parser.set_depth(parser.depth + 1)?;
    Ok(Expression::Unary { operator, operand })
}

#[inline(never)]
fn collated(parser: &mut Parser, mut operand: Expression) -> SqlResult<Expression> {
    while parser.accept(K::Collate) {
        let collation = parser.charset_name()?;
        operand = Expression::Collate { operand: Box::new(operand), collation };
        parser.set_depth(parser.depth + 1)?;
    }
    Ok(operand)
}

fn primary(parser: &mut Parser) -> SqlResult<Expression> {
    if at_lifted_literal(parser) {
        return Ok(next_parameter(parser));
    }
    if let Some(literal) = literal(parser)? {
        return Ok(Expression::Literal(literal));
    }
    match parser.kind() {
        T::OpenParenthesis => parenthesised_operand(parser),
        T::Parameter => Ok(next_parameter(parser)),
        T::UserVariable => variable_operand(parser),
        T::DoubleAt => Ok(Expression::SystemVariable(system_variable(parser)?)),
        T::OpenBrace => odbc_operand(parser),
        T::Name | T::QuotedName => named_operand(parser),
        T::Word(word) => word_operand(parser, word),
        _ => parser.fail(),
    }
}

fn next_parameter(parser: &mut Parser) -> Expression {
    parser.advance();
    parser.parameters += 1;
    Expression::Parameter(parser.parameters - 1)
}

/// Whether the token is a literal that is to be read as a parameter.
fn at_lifted_literal(parser: &Parser) -> bool {
    let next = parser.lifted.get(parser.parameters as usize);
    next.is_some_and(|literal| literal.start == parser.token().start)
}

#[inline(never)]
fn word_operand(parser: &mut Parser, word: Keyword) -> SqlResult<Expression> {
    match word {
        K::Exists => {
            parser.advance();
            Ok(Expression::Exists(Box::new(parser.parenthesised(query)?)))
        }
        K::Row => {
            parser.advance();
            let items = parser.parenthesised_list(expression)?;
            if items.len() < 2 { parser.fail() } else { Ok(Expression::Row(items)) }
        }
        K::Case => case_operand(parser),
        K::Convert => cast_operand(parser),
        K::Match => match_operand(parser),
        K::Default if parser.kind_at(1) == T::OpenParenthesis => {
            parser.advance();
            Ok(Expression::Default(Some(parser.parenthesised(Parser::column_reference)?)))
        }
        K::Values if parser.kind_at(1) == T::OpenParenthesis => {
            parser.advance();
            parser.deprecate(Deprecation::ValuesElsewhere);
            Ok(Expression::Values(parser.parenthesised(Parser::column_reference)?))
        }
        K::Interval => interval_operand(parser),
        _ if word.is_reserved() => reserved_call(parser, word),
        _ => named_operand(parser),
    }
}

/// `(a)`, `(a, b)` or `(SELECT ..)`.
#[inline(never)]
fn parenthesised_operand(parser: &mut Parser) -> SqlResult<Expression> {
    if opens_query(parser) {
        return Ok(Expression::Subquery(Box::new(parser.parenthesised(query)?)));
    }
    let mut items = parser.parenthesised_list(expression)?;
    match items.pop() {
        Some(only) if items.is_empty() => Ok(only),
        Some(last) => {
            items.push(last);
            Ok(Expression::Row(items))
        }
        None => parser.fail(),
    }
}

/// At an opening parenthesis: whether a query stands in it, however many parentheses follow.
/// Looks ahead without parsing: parsing twice would take exponential time for nested queries.
pub(crate) fn opens_query(parser: &mut Parser) -> bool {
    // Each level looks ahead. What is nested deeper than that fails, whatever stands in it.
    for open in parser.at..=parser.at + NESTING_MAX as usize {
        match parser.tokens[(open + 1).min(parser.tokens.len() - 1)].kind {
            T::Word(K::Select | K::With | K::Table) => return true,
            T::Word(K::Values) => {
                return parser.tokens.get(open + 2).is_some_and(|token| token.kind == T::Word(K::Row));
            }
            T::OpenParenthesis => {}
            _ => return false,
        }
        let close = parser.closing_parenthesis(open + 1);
        match parser.tokens[(close + 1).min(parser.tokens.len() - 1)].kind {
            T::Word(
                K::Union | K::Except | K::Intersect | K::Order | K::Limit | K::For | K::Lock | K::Into,
            ) => return true,
            T::CloseParenthesis => {}
            _ => return false,
        }
    }
    true
}

/// `{d '2020-01-01'}`, `{fn now()}`.
#[inline(never)]
fn odbc_operand(parser: &mut Parser) -> SqlResult<Expression> {
    parser.advance();
    let name = parser.name()?;
    let operand = expression(parser)?;
    parser.expect_kind(T::CloseBrace)?;
    let Expression::Literal(Literal::String { bytes, introducer: None }) = &operand else {
        return Ok(Expression::Odbc { name, operand: Box::new(operand) });
    };
    let bytes = bytes.clone();
    Ok(match name.to_ascii_lowercase().as_str() {
        "d" => Expression::Literal(Literal::Date(bytes)),
        "t" => Expression::Literal(Literal::Time(bytes)),
        "ts" => Expression::Literal(Literal::Timestamp(bytes)),
        _ => Expression::Odbc { name, operand: Box::new(operand) },
    })
}

#[inline(never)]
fn case_operand(parser: &mut Parser) -> SqlResult<Expression> {
    parser.advance();
    let operand = if parser.at_word(K::When) { None } else { Some(Box::new(expression(parser)?)) };
    let mut branches = Vec::new();
    while parser.accept(K::When) {
        let when = expression(parser)?;
        parser.expect(K::Then)?;
        branches.push(CaseBranch { when, then: expression(parser)? });
    }
    if branches.is_empty() {
        return parser.fail();
    }
    let otherwise = if parser.accept(K::Else) { Some(Box::new(expression(parser)?)) } else { None };
    parser.expect(K::End)?;
    Ok(Expression::Case { operand, branches, otherwise })
}

#[inline(never)]
fn match_operand(parser: &mut Parser) -> SqlResult<Expression> {
    parser.advance();
    let columns = if parser.kind() == T::OpenParenthesis {
        parser.parenthesised_list(Parser::column_reference)?
    } else {
        parser.list(Parser::column_reference)?
    };
    parser.expect(K::Against)?;
    parser.expect_kind(T::OpenParenthesis)?;
    let against = Box::new(bit_expression(parser)?);
    let mode = match_mode(parser)?;
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(Expression::Match { columns, against, mode })
}

fn match_mode(parser: &mut Parser) -> SqlResult<MatchMode> {
    if parser.accept_all(&[K::In, K::Boolean, K::Mode]) {
        return Ok(MatchMode::Boolean);
    }
    if parser.accept(K::In) {
        parser.expect_all(&[K::Natural, K::Language, K::Mode])?;
    }
    if parser.accept(K::With) {
        parser.expect_all(&[K::Query, K::Expansion])?;
        return Ok(MatchMode::NaturalLanguageWithExpansion);
    }
    Ok(MatchMode::NaturalLanguage)
}

/// A column, a JSON path of a column, or a call.
#[inline(never)]
fn named_operand(parser: &mut Parser) -> SqlResult<Expression> {
    let is_call = parser.kind_at(1) == T::OpenParenthesis;
    if is_call {
        return named_call(parser);
    }
    let first = parser.name()?;
    if parser.kind() == T::Point && parser.kind_at(2) == T::OpenParenthesis {
        parser.advance();
        let name = parser.name_behind_point()?;
        let arguments = call_arguments(parser)?;
        return Ok(Expression::call_object(ObjectName { schema: Some(first), name }, arguments));
    }
    let column = Expression::Column(parser.column_reference_from(first)?);
    match parser.kind() {
        T::Arrow => json_path(parser, column, false),
        T::LongArrow => json_path(parser, column, true),
        _ => Ok(column),
    }
}

#[inline(never)]
fn json_path(parser: &mut Parser, column: Expression, unquote: bool) -> SqlResult<Expression> {
    parser.advance();
    let path = Expression::Literal(Literal::String { bytes: parser.string()?, introducer: None });
    let extract = Expression::call("json_extract", vec![column, path]);
    Ok(if unquote { Expression::call("json_unquote", vec![extract]) } else { extract })
}
