//! Locking clauses behind parentheses or a set operation: they are those of its last block. Main function: [`with_locks_in_place`].

use parser::ast::{LockingClause, Query, QueryBody};

/// A query with its locking clauses where they belong, if that is elsewhere.
pub(super) fn with_locks_in_place(query: &Query) -> Option<Query> {
    let is_inside = matches!(query.body, QueryBody::Nested(_) | QueryBody::SetOperation(_));
    if query.locking.is_empty() || !is_inside {
        return None;
    }
    let mut query = query.clone();
    let clauses = std::mem::take(&mut query.locking);
    lock_last_block(&mut query.body, clauses);
    Some(query)
}

fn lock_last_block(body: &mut QueryBody, clauses: Vec<LockingClause>) {
    match body {
        QueryBody::SetOperation(operation) => {
            let last = operation.rest.last_mut().map_or(&mut *operation.first, |term| &mut term.body);
            lock_last_block(last, clauses);
        }
        QueryBody::Nested(query) => match query.body {
            QueryBody::Nested(_) | QueryBody::SetOperation(_) => lock_last_block(&mut query.body, clauses),
            _ => query.locking.extend(clauses),
        },
        block => {
            let body = std::mem::replace(block, QueryBody::Values(Vec::new()));
            let (order_by, limit, into) = (Vec::new(), None, None);
            let query = Query { with: None, body, order_by, limit, locking: clauses, into };
            *block = QueryBody::Nested(Box::new(query));
        }
    }
}
