//! SQL_CALC_FOUND_ROWS: whose rows a statement counts beyond those that LIMIT takes. It stands in the first SELECT of a query, and counts
//! the rows that ORDER BY or LIMIT around this is for. Main functions: [`counts_all`], [`without_count`].

use parser::ast::{QueryBody, SelectOptions};

/// Whether the first SELECT asks for the count.
pub(super) fn counts_all(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(select) => select.options.calc_found_rows,
        QueryBody::Nested(query) => counts_all(&query.body),
        QueryBody::SetOperation(operation) => counts_all(&operation.first),
        QueryBody::Table(_) | QueryBody::Values(_) => false,
    }
}

/// A query whose first SELECT does not ask for it.
pub(super) fn without_count(body: &QueryBody) -> QueryBody {
    let mut body = body.clone();
    if let Some(options) = first_options(&mut body) {
        options.calc_found_rows = false;
    }
    body
}

fn first_options(body: &mut QueryBody) -> Option<&mut SelectOptions> {
    match body {
        QueryBody::Select(select) => Some(&mut select.options),
        QueryBody::Nested(query) => first_options(&mut query.body),
        QueryBody::SetOperation(operation) => first_options(&mut operation.first),
        QueryBody::Table(_) | QueryBody::Values(_) => None,
    }
}
