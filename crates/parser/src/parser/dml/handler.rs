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
    let handler = match parser.expect_any(&[K::Open, K::Close, K::Read])? {
        K::Open => Handler::Open { table, alias: table_alias(parser)? },
        _ if table.schema.is_some() => return parser.fail(),
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
        HandlerStep::Key { operator, values: row_of_values(parser)? }
    } else {
        match parser.expect_any(&[K::First, K::Next, K::Prev, K::Last])? {
            K::First => HandlerStep::First,
            K::Next => HandlerStep::Next,
            K::Prev => HandlerStep::Previous,
            _ => HandlerStep::Last,
        }
    };
    let filter = optional_where(parser)?;
    Ok(Handler::Read { table, index, step, filter, limit: optional_limit(parser)? })
}
