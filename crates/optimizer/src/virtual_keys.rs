//! Look-ups in tables without storage: conditions that give values to the columns by which such a table finds its rows.
//! Main functions: [`virtual_candidates`], [`with_keys`].

use super::access::Candidate;
use crate::cost::Work;
use crate::{Block, tables_of};
use expression::operators::{CastFailure, ComparisonMode, ComparisonOperator};
use expression::{Expression, ExpressionKind};
use plan::differs_between_rows;
use plan::physical::{AccessPath, Node, ROWS_UNKNOWN, VirtualKey};

/// The share of the rows that one value of a key column is taken to have.
const VALUE_SHARE: f64 = 0.1;

/// The look-up by all key columns that conditions give values to; none where they give no column one.
pub(super) fn virtual_candidates(
    block: &Block,
    number: usize,
    conditions: &[&Expression],
    placed: u64,
) -> Vec<Candidate> {
    let keys = keys_of(block, number, conditions, placed);
    if keys.is_empty() {
        return Vec::new();
    }
    let share = |key: &VirtualKey| (key.points.len() as f64 * VALUE_SHARE).min(1.0);
    let rows = ROWS_UNKNOWN * keys.iter().map(share).product::<f64>();
    let is_open = |part: &Expression| {
        matches!(
            part.kind,
            ExpressionKind::Column(_) | ExpressionKind::Outer(_) | ExpressionKind::Subquery(_)
        )
    };
    let dependent = keys.iter().flat_map(|key| &key.points).any(|point| point.any(&is_open));
    vec![Candidate { path: AccessPath::whole(0), rows, work: Work::of_made_rows(rows), dependent }]
}

/// A reader of a table without storage that looks up what conditions say of its key columns; other readers stay as they are.
pub(super) fn with_keys(
    block: &Block,
    number: usize,
    reader: Node,
    conditions: &[Expression],
    placed: u64,
) -> Node {
    let Node::Virtual(mut access) = reader else { return reader };
    access.keys = keys_of(block, number, &conditions.iter().collect::<Vec<_>>(), placed);
    Node::Virtual(access)
}

/// The key columns that conditions give values to which are known when the tables `placed` are.
fn keys_of(block: &Block, number: usize, conditions: &[&Expression], placed: u64) -> Vec<VirtualKey> {
    let mut keys: Vec<VirtualKey> = Vec::new();
    for condition in conditions {
        let Some(key) = key_of(block, number, condition, placed) else { continue };
        match keys.iter_mut().find(|known| known.column == key.column) {
            Some(known) if key.points.len() < known.points.len() => *known = key,
            Some(_) => {}
            None => keys.push(key),
        }
    }
    keys
}

fn key_of(block: &Block, number: usize, condition: &Expression, placed: u64) -> Option<VirtualKey> {
    let is_known =
        |value: &Expression| !differs_between_rows(value, true) && tables_of(block, value) & !placed == 0;
    match &condition.kind {
        ExpressionKind::Compare(comparison) if comparison.operator == ComparisonOperator::Equal => {
            let key = |column: &Expression, value: &Expression| {
                let column = key_column(block, number, column)?;
                is_known(value).then(|| VirtualKey::new(column, vec![value.clone()], comparison.mode))
            };
            let (left, right) = (&comparison.left, &comparison.right);
            key(left, right).or_else(|| key(right, left)).flatten()
        }
        ExpressionKind::In(list) if !list.negated => {
            let column = key_column(block, number, &list.operand)?;
            let (mode, _) = list.list.first()?;
            let fits = |(own, value): &(ComparisonMode, Expression)| own == mode && is_known(value);
            let values = || list.list.iter().map(|(_, value)| value.clone()).collect();
            list.list.iter().all(fits).then(|| VirtualKey::new(column, values(), *mode)).flatten()
        }
        _ => None,
    }
}

/// The key column that an expression is. A conversion between character sets that all names have in common changes nothing.
fn key_column(block: &Block, number: usize, expression: &Expression) -> Option<usize> {
    let expression = match &expression.kind {
        ExpressionKind::Cast(cast)
            if matches!(cast.failure, CastFailure::Refuse | CastFailure::Replace)
                && expression.result.kind().is_text() =>
        {
            &cast.operand
        }
        _ => expression,
    };
    let (table, column) = block.place(expression)?;
    let is_key = table == number && block.tables[number].key_columns.contains(&column);
    is_key.then_some(column)
}
