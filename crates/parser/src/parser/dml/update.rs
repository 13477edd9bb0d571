//! UPDATE of one table or several.

use crate::parser::dml::insert::assignment;
use crate::parser::query::from::table_reference;
use crate::parser::query::hints::optional_hints;
use crate::parser::query::select::optional_where;
use crate::parser::query::{limit_value, optional_order_by};
use crate::parser::*;
use Keyword as K;

pub(crate) fn update(parser: &mut Parser, with: Option<With>) -> SqlResult<Statement> {
    parser.expect(K::Update)?;
    let (hints, _) = optional_hints(parser);
    let low_priority = parser.accept(K::LowPriority);
    let ignore = parser.accept(K::Ignore);
    let tables = parser.list(table_reference)?;
    parser.expect(K::Set)?;
    let assignments = parser.list(assignment)?;
    let filter = optional_where(parser)?;
    let order_by = optional_order_by(parser)?;
    let limit = optional_row_limit(parser)?;
    let update = Update { with, low_priority, ignore, hints, tables, assignments, filter, order_by, limit };
    Ok(Statement::Update(Box::new(update)))
}

/// `LIMIT count`.
pub(crate) fn optional_row_limit(parser: &mut Parser) -> SqlResult<Option<Expression>> {
    if parser.accept(K::Limit) { limit_value(parser).map(Some) } else { Ok(None) }
}
