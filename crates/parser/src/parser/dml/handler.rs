//! HANDLER: reading a table index by index.

use crate::parser::dml::insert::row_of_values;
use crate::parser::query::from::{index_name, table_alias};
use crate::parser::query::optional_limit;
use crate::parser::query::select::optional_where;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

pub(crate) fn handler(parser: &mut Parser) -> SqlResult<Statement> {
    parser.advance();
    let table = parser.object_name()?;
    if table.schema.is_some() && !parser.at_word(K::Open) {
        return parser.fail();
    }
    let handler = match parser.expect_any(&[K::Open, K::Close, K::Read])? {
        K::Open => Handler::Open { table, alias: table_alias(parser)? },
        K::Close => Handler::Close(table.name),
        _ => handler_read(parser, table.name)?,
    };
    Ok(Statement::Handler(Box::new(handler)))
}

fn handler_read(parser: &mut Parser, table: Name) -> SqlResult<Handler> {
    let at_step = matches!(parser.kind(), T::Word(K::First | K::Next))
        && matches!(parser.kind_at(1), T::End | T::Semicolon | T::Word(K::Where | K::Limit));
    let index = if at_step { None } else { Some(index_name(parser)?) };
    let operator = match parser.kind() {
        T::Equal => Some(BinaryOperator::Equal),
        T::Less => Some(BinaryOperator::Less),
        T::LessOrEqual => Some(BinaryOperator::LessOrEqual),
        T::Greater => Some(BinaryOperator::Greater),
        T::GreaterOrEqual => Some(BinaryOperator::GreaterOrEqual),
        _ => None,
    };
    let step = if let Some(operator) = operator {
        parser.advance();
        let (first, is_empty) = (parser.at, parser.kind_at(1) == T::CloseParenthesis);
        if is_empty {
            parser.advance();
            return parser.fail();
        }
        let values = row_of_values(parser)?;
        refuse_queries(parser, first, values.iter())?;
        HandlerStep::Key { operator, values }
    } else {
        match parser.expect_any(&[K::First, K::Next, K::Prev, K::Last])? {
            K::First => HandlerStep::First,
            K::Next => HandlerStep::Next,
            K::Prev => HandlerStep::Previous,
            _ => HandlerStep::Last,
        }
    };
    let first = parser.at;
    let filter = optional_where(parser)?;
    refuse_queries(parser, first, filter.iter())?;
    Ok(Handler::Read { table, index, step, filter, limit: optional_limit(parser)? })
}

/// HANDLER takes no subqueries: error 1064 at the parenthesis of the first since that token.
fn refuse_queries<'e>(
    parser: &Parser,
    first: usize,
    mut expressions: impl Iterator<Item = &'e Expression>,
) -> SqlResult<()> {
    if !expressions.any(Expression::holds_query) {
        return Ok(());
    }
    let opens_query = |pair: &&[Token]| {
        pair[0].kind == T::OpenParenthesis
            && matches!(pair[1].kind, T::Word(K::Select | K::With | K::Values | K::Table))
    };
    let read = &parser.tokens[first..=parser.at];
    let found = read.windows(2).find(opens_query).map_or(parser.token(), |pair| pair[0]);
    Err(parser.syntax_error_at(found))
}
