//! Constants that are computed once for a statement, when they are first asked for. Main function: [`Expression::once`].

use super::{Call, FunctionDefinition, inner};
use crate::tree::{Expression, ExpressionKind};
use errors::SqlResult;
use values::Value;

impl Expression {
    /// The value of a constant that is computed once, when it is first asked for.
    pub fn once(self, site: usize) -> Expression {
        let result = self.result.clone();
        Expression::inner_call(&ONCE, vec![self], site, result)
    }

    /// Whether it is an operation, not a value or a conversion of one that the binder put in.
    pub fn computes(&self) -> bool {
        match &self.kind {
            ExpressionKind::Arithmetic(_)
            | ExpressionKind::Negate(_)
            | ExpressionKind::Bit(_)
            | ExpressionKind::DateArithmetic(_)
            | ExpressionKind::Case(_) => true,
            ExpressionKind::Function(call) => super::find(call.definition.name).is_some(),
            _ => false,
        }
    }
}

/// The name under which [`Expression::once`] is known to whoever prints it.
pub(crate) const ONCE_NAME: &str = "once";

static ONCE: FunctionDefinition = inner(ONCE_NAME, 1, once);

fn once(call: &mut Call<'_>) -> SqlResult<Value> {
    if let Some(value) = call.state().as_ref().and_then(|state| state.downcast_ref::<Value>()) {
        return Ok(value.clone());
    }
    let value = call.value(0)?;
    *call.state() = Some(Box::new(value.clone()));
    Ok(value)
}
