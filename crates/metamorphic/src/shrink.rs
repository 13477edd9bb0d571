//! Makes a query that shows a violation smaller. Main function: [`smaller`].

use crate::query::Query;

/// The query without some of its parts, as often as `fails` says that it still shows the violation.
pub fn smaller(query: Query, fails: &mut dyn FnMut(&Query) -> bool) -> Query {
    let mut query = query;
    loop {
        match cuts(&query).into_iter().find(|cut| fails(cut)) {
            Some(cut) => query = cut,
            None => return query,
        }
    }
}

/// The query with one part less, in all ways.
fn cuts(query: &Query) -> Vec<Query> {
    let mut found = Vec::new();
    for at in 0..query.conditions.len() {
        let mut cut = query.clone();
        cut.conditions.remove(at);
        found.push(cut);
    }
    if query.limit.is_some() {
        found.push(Query { limit: None, ..query.clone() });
    }
    if !query.order.is_empty() {
        found.push(Query { order: Vec::new(), limit: None, ..query.clone() });
    }
    if query.order.is_empty() && query.items.len() > 1 {
        for at in 0..query.items.len() {
            let mut cut = query.clone();
            cut.items.remove(at);
            found.push(cut);
        }
    }
    if query.aggregates.len() > 1 {
        for at in 0..query.aggregates.len() {
            let mut cut = query.clone();
            cut.aggregates.remove(at);
            found.push(cut);
        }
    }
    found
}
