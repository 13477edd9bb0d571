//! Queries: WITH, set operations, ORDER BY, LIMIT, locking. A block of it is read in `select`, its tables in `from`.

pub(crate) mod from;
pub(crate) mod hints;
pub(crate) mod into;
pub(crate) mod json_table;
pub(crate) mod select;

use crate::parser::constants::decimal_digits;
use crate::parser::dml::insert::row_of_values;
use crate::parser::expression::expression;
use crate::parser::expression::operand::operand;
use crate::parser::query::into::optional_into;
use crate::parser::query::select::select;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// The query of a statement. Its first SELECT may have SQL_CALC_FOUND_ROWS.
pub(crate) fn whole_query(parser: &mut Parser) -> SqlResult<Query> {
    parser.is_first_select = true;
    query(parser)
}

/// A query expression, at the top of a statement or in parentheses.
pub(crate) fn query(parser: &mut Parser) -> SqlResult<Query> {
    parser.nested(|parser| {
        let with = optional_with(parser)?;
        query_with(parser, with)
    })
}

/// Whether a query starts here, not counting parentheses.
pub(crate) fn at_query_word(parser: &Parser) -> bool {
    matches!(parser.kind(), T::Word(K::Select | K::With | K::Table | K::Values))
}

/// The rest of a query whose WITH clause is read.
pub(crate) fn query_with(parser: &mut Parser, with: Option<With>) -> SqlResult<Query> {
    let outer_into = parser.into.take();
    let body = query_body(parser)?;
    let order_by = optional_order_by(parser)?;
    let limit = optional_limit(parser)?;
    optional_into(parser)?;
    let locking = locking_clauses(parser)?;
    optional_into(parser)?;
    let into = std::mem::replace(&mut parser.into, outer_into);
    let bare = with.is_none() && order_by.is_empty() && limit.is_none() && locking.is_empty();
    match body {
        QueryBody::Nested(query) if bare => Ok(Query { into, ..*query }),
        body => Ok(Query { with, body, order_by, limit, locking, into }),
    }
}

#[inline(never)]
pub(crate) fn optional_with(parser: &mut Parser) -> SqlResult<Option<With>> {
    if !parser.accept(K::With) {
        return Ok(None);
    }
    let recursive = parser.accept(K::Recursive);
    let is_first_select = std::mem::take(&mut parser.is_first_select);
    let tables = parser.list(|parser| {
        let name = parser.name()?;
        let columns = parser.optional_names()?;
        parser.expect(K::As)?;
        let query = Box::new(parser.parenthesised(query)?);
        Ok(CommonTable { name, columns, query })
    })?;
    parser.is_first_select = is_first_select;
    Ok(Some(With { recursive, tables }))
}

/// UNION and EXCEPT, which have one precedence.
fn query_body(parser: &mut Parser) -> SqlResult<QueryBody> {
    let first = intersection(parser)?;
    let mut rest = Vec::new();
    while let Some(word) = parser.accept_any(&[K::Union, K::Except]) {
        refuse_into(parser)?;
        let operator = if word == K::Union { SetOperator::Union } else { SetOperator::Except };
        let all = set_quantifier(parser);
        rest.push(SetTerm { operator, all, body: intersection(parser)? });
    }
    Ok(chain(first, rest))
}

/// INTERSECT, which binds tighter.
#[inline(never)]
fn intersection(parser: &mut Parser) -> SqlResult<QueryBody> {
    let first = query_primary(parser)?;
    let mut rest = Vec::new();
    while parser.accept(K::Intersect) {
        refuse_into(parser)?;
        let all = set_quantifier(parser);
        rest.push(SetTerm { operator: SetOperator::Intersect, all, body: query_primary(parser)? });
    }
    Ok(chain(first, rest))
}

/// INTO stands at the end of a query. Error 3954.
fn refuse_into(parser: &Parser) -> SqlResult<()> {
    match &parser.into {
        Some(_) => Err(errors::sql_error!(ER_MISPLACED_INTO)),
        None => Ok(()),
    }
}

fn set_quantifier(parser: &mut Parser) -> bool {
    parser.accept_any(&[K::All, K::Distinct]) == Some(K::All)
}

#[inline(never)]
fn query_primary(parser: &mut Parser) -> SqlResult<QueryBody> {
    let is_first_select = parser.is_first_select && parser.kind() == T::OpenParenthesis;
    let is_first = std::mem::replace(&mut parser.is_first_select, is_first_select);
    match parser.kind() {
        T::Word(K::Select) => Ok(QueryBody::Select(Box::new(select(parser, is_first)?))),
        T::Word(K::Table) => {
            parser.advance();
            Ok(QueryBody::Table(parser.object_name()?))
        }
        T::Word(K::Values) => {
            parser.advance();
            Ok(QueryBody::Values(parser.list(|parser| {
                parser.expect(K::Row)?;
                row_of_values(parser)
            })?))
        }
        T::OpenParenthesis => {
            let mut nested = parser.parenthesised(query)?;
            // That of the last operand is the whole query's.
            if let Some(into) = nested.into.take() {
                refuse_into(parser)?;
                parser.into = Some(into);
            }
            Ok(QueryBody::Nested(Box::new(nested)))
        }
        _ => parser.fail(),
    }
}

#[inline(never)]
pub(crate) fn optional_order_by(parser: &mut Parser) -> SqlResult<Vec<OrderItem>> {
    if !parser.accept(K::Order) {
        return Ok(Vec::new());
    }
    parser.expect(K::By)?;
    parser.list(order_item)
}

pub(crate) fn order_item(parser: &mut Parser) -> SqlResult<OrderItem> {
    let expression = expression(parser)?;
    Ok(OrderItem { expression, descending: parser.accept_any(&[K::Asc, K::Desc]) == Some(K::Desc) })
}

/// `LIMIT count`, `LIMIT offset, count` or `LIMIT count OFFSET offset`.
#[inline(never)]
pub(crate) fn optional_limit(parser: &mut Parser) -> SqlResult<Option<Limit>> {
    if !parser.accept(K::Limit) {
        return Ok(None);
    }
    let first = limit_value(parser)?;
    if parser.accept_comma() {
        return Ok(Some(Limit { count: limit_value(parser)?, offset: Some(first) }));
    }
    let offset = if parser.accept(K::Offset) { Some(limit_value(parser)?) } else { None };
    Ok(Some(Limit { count: first, offset }))
}

/// A whole number in decimal digits below 2^64, a parameter, or the name of a stored program's variable.
pub(crate) fn limit_value(parser: &mut Parser) -> SqlResult<Expression> {
    match parser.kind() {
        T::Integer => match decimal_digits(parser.text_of(parser.token())) {
            Some(count) => {
                parser.advance();
                Ok(Expression::Literal(Literal::Integer(count)))
            }
            None => parser.fail(),
        },
        T::Parameter => operand(parser),
        kind if kind.is_name() => Ok(Expression::Column(ColumnReference::unqualified(parser.name()?))),
        _ => parser.fail(),
    }
}

#[inline(never)]
fn locking_clauses(parser: &mut Parser) -> SqlResult<Vec<LockingClause>> {
    let mut clauses = Vec::new();
    loop {
        if parser.accept(K::For) {
            let strength = match parser.expect_any(&[K::Update, K::Share])? {
                K::Update => LockStrength::Update,
                _ => LockStrength::Share,
            };
            let tables = if parser.accept(K::Of) { parser.list(Parser::object_name)? } else { Vec::new() };
            clauses.push(LockingClause { strength, tables, wait: lock_wait(parser)? });
        } else if parser.at_words(K::Lock, K::In) {
            parser.at += 2;
            parser.expect_all(&[K::Share, K::Mode])?;
            clauses.push(LockingClause {
                strength: LockStrength::Share,
                tables: Vec::new(),
                wait: LockWait::Wait,
            });
        } else {
            return Ok(clauses);
        }
    }
}

fn lock_wait(parser: &mut Parser) -> SqlResult<LockWait> {
    if parser.accept(K::Nowait) {
        return Ok(LockWait::NoWait);
    }
    if parser.accept(K::Skip) {
        parser.expect(K::Locked)?;
        return Ok(LockWait::SkipLocked);
    }
    Ok(LockWait::Wait)
}

fn chain(first: QueryBody, rest: Vec<SetTerm>) -> QueryBody {
    if rest.is_empty() {
        first
    } else {
        QueryBody::SetOperation(SetOperation { first: Box::new(first), rest })
    }
}
