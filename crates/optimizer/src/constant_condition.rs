//! Conditions whose value is known before a row is read. Main functions: [`is_never`], [`is_known`], [`fails`].

use expression::{Expression, ExpressionKind};
use plan::PlanningSurroundings;
use values::{RowRef, Value};

/// Whether a condition is a constant that does not hold.
pub fn is_never(condition: &Expression) -> bool {
    match condition.literal() {
        Some(Value::Null) => true,
        Some(Value::Int(value)) => *value == 0,
        Some(Value::UInt(value)) => *value == 0,
        _ => false,
    }
}

/// Whether a condition is a constant that holds.
pub fn is_always(condition: &Expression) -> bool {
    matches!(condition.literal(), Some(Value::Int(value)) if *value != 0)
}

/// Whether the statement's execution knows the value before it reads a row.
pub fn is_known(condition: &Expression) -> bool {
    let waits = |part: &Expression| {
        matches!(
            part.kind,
            ExpressionKind::Outer(_) | ExpressionKind::Subquery(_) | ExpressionKind::SystemVariable(..)
        )
    };
    condition.is_constant() && !condition.any(&waits)
}

/// Whether a condition without columns does not hold. What its evaluation reports is for nobody.
pub fn fails(condition: &Expression, context: &mut dyn PlanningSurroundings) -> bool {
    let before = context.diagnostics().reported();
    let truth = condition.truth(RowRef::EMPTY, context);
    context.diagnostics().go_back(before);
    matches!(truth, Ok(truth) if truth != Some(true))
}
