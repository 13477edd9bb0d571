//! What ties the rows of a subquery to the row around: equalities of its columns with values of that row, and nothing else. Main function:
//! [`ties_of`].

use expression::operators::{ComparisonMode, ComparisonOperator};
use expression::{Expression, ExpressionKind, ResultType, TypeClass};
use optimizer::{Block, BoundTable, LogicalSelect};
use plan::OuterKey;
use values::TypeKind;

/// WHERE of a subquery, taken apart.
pub(crate) struct Ties {
    /// Columns that are equal to values of the row around.
    pub columns: Vec<Expression>,
    /// These values, in the same order.
    pub keys: Vec<OuterKey>,
    /// The other conditions.
    pub conditions: Vec<Expression>,
}

/// The ties of a subquery whose FROM and WHERE read the row around in no other way. None without any.
pub(crate) fn ties_of(block: &Block, select: &LogicalSelect) -> Option<Ties> {
    let reads_around =
        |table: &BoundTable| table.reads_outer_values() || !table.reads.iter().all(is_free_of_outer);
    if block.tables.iter().any(reads_around) {
        return None;
    }
    let mut ties = Ties { columns: Vec::new(), keys: Vec::new(), conditions: Vec::new() };
    for condition in &select.conditions {
        match outer_key(condition) {
            Some((column, key)) => {
                ties.columns.push(column.clone());
                ties.keys.push(key);
            }
            None if is_free_of_outer(condition) => ties.conditions.push(condition.clone()),
            None => return None,
        }
    }
    let in_joins = select.tree.as_ref()?.has_condition(&|condition| !is_free_of_outer(condition));
    (!ties.keys.is_empty() && !in_joins).then_some(ties)
}

/// Whether an expression reads nothing of the row around.
pub(crate) fn is_free_of_outer(expression: &Expression) -> bool {
    !expression.any(&|part| matches!(part.kind, ExpressionKind::Outer(_)))
}

/// The column that a condition makes equal to a value of the row around, if all rows with such a value are one group.
fn outer_key(condition: &Expression) -> Option<(&Expression, OuterKey)> {
    let ExpressionKind::Compare(comparison) = &condition.kind else { return None };
    let (left, right) = (&comparison.left, &comparison.right);
    let (column, outer) = match (&left.kind, &right.kind) {
        (ExpressionKind::Column(_), ExpressionKind::Outer(_)) => (left, right),
        (ExpressionKind::Outer(_), ExpressionKind::Column(_)) => (right, left),
        _ => return None,
    };
    let ExpressionKind::Outer(number) = outer.kind else { return None };
    let is_equality = comparison.operator == ComparisonOperator::Equal;
    (is_equality && are_one_group(comparison.mode, &column.result, &outer.result)).then(|| {
        let key = OuterKey {
            outer: number,
            mode: comparison.mode,
            outer_type: outer.result.column_type.clone(),
            key_type: column.result.column_type.clone(),
        };
        (column, key)
    })
}

/// Whether values of a column that are equal to one value are all in one group, and those of a group equal to the same values.
fn are_one_group(mode: ComparisonMode, column: &ResultType, outer: &ResultType) -> bool {
    let is_exact = |side: &ResultType| side.kind().is_integer() || side.kind() == TypeKind::Decimal;
    match mode {
        ComparisonMode::Integer => column.kind().is_integer() && outer.kind().is_integer(),
        ComparisonMode::Decimal => is_exact(column) && is_exact(outer),
        ComparisonMode::Text(collation) => {
            let is_text = |side: &ResultType| side.class() == TypeClass::Text && !side.kind().has_members();
            is_text(column) && is_text(outer) && column.column_type.collation == collation
        }
        ComparisonMode::Date | ComparisonMode::DateTime | ComparisonMode::Time => {
            matches!(column.kind(), TypeKind::Date | TypeKind::DateTime | TypeKind::Time)
                && column.kind() == outer.kind()
        }
        _ => false,
    }
}
