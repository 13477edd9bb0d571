//! CASE and IF where a number or a truth is wanted of them: it is that of the chosen branch, not of the branch's text, although
//! the whole is a text. Main functions: [`choose_numbers`] when an expression is built, [`Expression::chosen`] for a row.
//! A user variable gives what is wanted of what it holds, too, although it has the type of what it held before.

use crate::context::EvaluationContext;
use crate::convert;
use crate::result_type::{ResultType, TypeClass};
use crate::tree::{Expression, ExpressionKind, FunctionCall};
use errors::SqlResult;
use values::{RowRef, Value};

fn is_if(call: &FunctionCall) -> bool {
    call.definition.name == "if"
}

/// The branches that an expression hands on one of.
fn results_mut(expression: &mut Expression) -> Option<Vec<&mut Expression>> {
    match &mut expression.kind {
        ExpressionKind::Case(case) => {
            Some(case.branches.iter_mut().map(|(_, result)| result).chain(&mut case.otherwise).collect())
        }
        ExpressionKind::Function(call) if is_if(call) => Some(call.arguments[1..].iter_mut().collect()),
        _ => None,
    }
}

/// Whether a constant expression is a text but chooses something else, which its text would not tell.
pub(crate) fn hides_number(expression: &Expression, context: &mut dyn EvaluationContext) -> bool {
    let is_text = |result: &ResultType| match result.class() {
        TypeClass::Null => true,
        TypeClass::Text => !result.is_number_bytes(),
        _ => false,
    };
    let is_choice = match &expression.kind {
        ExpressionKind::Case(_) => true,
        ExpressionKind::Function(call) => is_if(call),
        _ => false,
    };
    if !is_choice || !is_text(&expression.result) {
        return false;
    }
    let before = context.diagnostics().reported();
    let chosen = expression.chosen(RowRef::EMPTY, context);
    context.diagnostics().go_back(before);
    matches!(chosen, Ok(Some(chosen)) if !is_text(&chosen.result))
}

/// Lets a user variable that was another number give numbers of that type instead.
pub(crate) fn ask_variable(expression: &mut Expression, number: &ResultType) {
    use TypeClass::{Decimal, Double, Integer};
    if matches!(expression.kind, ExpressionKind::UserVariable(_))
        && matches!(expression.result.class(), Integer | Decimal | Double)
    {
        expression.result = ResultType { nullable: expression.result.nullable, ..number.clone() };
    }
}

/// The same for a CASE or IF that is a text as well.
pub(crate) fn choose_numbers(expression: &mut Expression, number: &ResultType) {
    ask_variable(expression, number);
    if expression.result.class() != TypeClass::Text {
        return;
    }
    let Some(results) = results_mut(expression) else { return };
    for result in results {
        choose_numbers(result, number);
    }
    expression.result = ResultType { nullable: expression.result.nullable, ..number.clone() };
}

impl Expression {
    /// Whether it hands on a date or time that something in it yields, or by ANY_VALUE bits: such is stored as its text.
    #[inline]
    pub fn hands_on_moment(&self) -> bool {
        let name = match &self.kind {
            ExpressionKind::Function(call) => call.definition.name,
            ExpressionKind::Case(_) => "case",
            _ => return false,
        };
        let is_moment = matches!(self.result.class(), TypeClass::DateTime | TypeClass::Time);
        match name {
            "any_value" => is_moment || self.result.is_number_bytes(),
            "nullif" | "ifnull" | "coalesce" | "if" | "case" | "greatest" | "least" => is_moment,
            _ => false,
        }
    }

    /// The value of a constant as an integer.
    pub fn constant_integer(&self, context: &mut dyn EvaluationContext) -> SqlResult<Value> {
        let Some(chosen) = self.chosen(RowRef::EMPTY, context)? else { return Ok(Value::Null) };
        let value = chosen.evaluate(RowRef::EMPTY, context)?;
        let Some(number) = convert::operand_integer(value.as_ref(), chosen, context)? else {
            return Ok(Value::Null);
        };
        Ok(Value::Int(number.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
    }

    /// What a CASE or IF that is a text chooses for a row, itself for all other expressions; None for no branch at all.
    pub(crate) fn chosen(
        &self,
        row: RowRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Option<&Expression>> {
        if self.result.class() != TypeClass::Text {
            return Ok(Some(self));
        }
        let branch = match &self.kind {
            ExpressionKind::Case(case) => case.choose(row, context)?,
            ExpressionKind::Function(call) if is_if(call) => {
                let holds = call.arguments[0].truth(row, context)? == Some(true);
                Some(&call.arguments[if holds { 1 } else { 2 }])
            }
            _ => return Ok(Some(self)),
        };
        match branch {
            Some(branch) => branch.chosen(row, context),
            None => Ok(None),
        }
    }
}
