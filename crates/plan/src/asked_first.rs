//! What of an expression is the same for all rows, as planner and executor see it alike.

use expression::{Expression, ExpressionKind, SubqueryUse};

/// Whether an expression may give another value each time that it is computed, whatever row it reads. `assigns`: user variables
/// change meanwhile.
pub fn differs_between_rows(expression: &Expression, assigns: bool) -> bool {
    expression.any(&|part| match &part.kind {
        ExpressionKind::UserVariable(_) => assigns,
        ExpressionKind::AssignUserVariable(..) | ExpressionKind::Routine(_) => true,
        ExpressionKind::Function(call) => call.definition.differs_between_rows(),
        ExpressionKind::Subquery(call) => call.repeats,
        _ => false,
    })
}

/// Whether a condition reads no row, not even through its subqueries, of which each gives one value.
pub fn is_asked_first(condition: &Expression) -> bool {
    let is_subquery = |part: &Expression| matches!(part.kind, ExpressionKind::Subquery(_));
    let is_other = |part: &Expression| match &part.kind {
        ExpressionKind::Subquery(call) => call.wanted != SubqueryUse::Scalar || !call.outer.is_empty(),
        _ => false,
    };
    condition.any(&is_subquery)
        && !condition.any(&is_other)
        && !condition.reads_rows()
        && !differs_between_rows(condition, true)
}
