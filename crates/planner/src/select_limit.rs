//! sql_select_limit: one LIMIT around all of a query that goes to the client, if that has none of its own.
//! Entry point: [`limited_query`]. Queries within other statements and subqueries are not limited.

use parser::ast::{Expression, Limit, Literal, Query, QueryBody};
use std::borrow::Cow;

/// The query with its limit. `rows_max`: sql_select_limit.
pub(crate) fn limited_query(query: &Query, rows_max: u64) -> Cow<'_, Query> {
    if rows_max == u64::MAX || has_limit(query) {
        return Cow::Borrowed(query);
    }
    let count = Expression::Literal(Literal::Integer(rows_max));
    Cow::Owned(Query { limit: Some(Limit { count, offset: None }), ..query.clone() })
}

/// Whether the query, or all of it in parentheses, has a LIMIT.
fn has_limit(query: &Query) -> bool {
    match (&query.limit, &query.body) {
        (None, QueryBody::Nested(nested)) => has_limit(nested),
        (limit, _) => limit.is_some(),
    }
}
