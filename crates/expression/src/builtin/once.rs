//! Constants that are computed once for a statement, when they are first asked for. Main function: [`Expression::once`].

use super::{Call, FunctionDefinition, inner};
use crate::context::EvaluationContext;
use crate::tree::{Expression, ExpressionKind, FunctionCall};
use errors::SqlResult;
use std::rc::Rc;
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
            ExpressionKind::Function(call) => !call.definition.hidden,
            _ => false,
        }
    }
}

/// The name under which [`Expression::once`] is known to whoever prints it.
pub const ONCE_NAME: &str = "once";

static ONCE: FunctionDefinition = inner(ONCE_NAME, 1, once);

fn once(call: &mut Call<'_>) -> SqlResult<Value> {
    if let Some(value) = kept(call.context, call.call.site) {
        return Ok(Rc::unwrap_or_clone(value));
    }
    let value = call.value(0)?;
    *call.state() = Some(Box::new(Rc::new(value.clone())));
    Ok(value)
}

/// The value of such a constant that was asked for before, without a copy of its text.
#[inline]
pub(crate) fn known_once(call: &FunctionCall, context: &mut dyn EvaluationContext) -> Option<Rc<Value>> {
    if std::ptr::eq(call.definition, &ONCE) { kept(context, call.site) } else { None }
}

fn kept(context: &mut dyn EvaluationContext, site: usize) -> Option<Rc<Value>> {
    context.call_state(site).as_ref().and_then(|state| state.downcast_ref::<Rc<Value>>().cloned())
}
