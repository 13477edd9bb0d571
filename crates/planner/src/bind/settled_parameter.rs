//! How operations read parameters whose type an execution settled: a value of another kind than the parameter had made it
//! a number, say, and a later value is text again. The parameter stays a number in what the statement's types follow
//! from, but an operation that reads text gets the text. Main function: [`Binder::read_settled`].

use super::Binder;
use super::parameter::Wanted;
use ::expression::{Expression, TypeClass};
use errors::SqlResult;
use parser::ast;

impl Binder<'_> {
    /// As [`Binder::beside`] for operands that the operation hands on: numbers beside dates are text then.
    pub fn handed_on(
        &mut self,
        all: &[&ast::Expression],
        context: Option<Wanted>,
    ) -> SqlResult<Vec<Expression>> {
        let mut bound = self.beside(all, context, Self::wanted_text)?;
        let is_other = |class| matches!(class, TypeClass::Text | TypeClass::DateTime | TypeClass::Time);
        self.read_settled(all, &mut bound, is_other)?;
        Ok(bound)
    }

    /// Where there is an operand of such a class, parameters that are numbers are read as the operation reads text.
    pub fn read_settled(
        &mut self,
        all: &[&ast::Expression],
        bound: &mut [Expression],
        is_other: impl Fn(TypeClass) -> bool,
    ) -> SqlResult<()> {
        if !self.derives_parameters() || !bound.iter().any(|one| is_other(one.result.class())) {
            return Ok(());
        }
        for (syntax, bound) in all.iter().zip(bound) {
            if is_parameter(syntax) && !self.is_open(syntax) && is_number(bound) {
                self.read_as_own(syntax, bound)?;
            }
        }
        Ok(())
    }

    /// Binds those arguments again that a function reads in another way than the values beside them say.
    pub fn read_by(
        &mut self,
        function: &str,
        all: &[ast::Expression],
        bound: &mut [Expression],
    ) -> SqlResult<()> {
        match (function, all, bound) {
            // Whatever stands there, it is compared as text.
            ("strcmp", all, bound) => {
                for (syntax, bound) in all.iter().zip(bound).filter(|(syntax, _)| is_parameter(syntax)) {
                    self.read_as_own(syntax, bound)?;
                }
            }
            // It is compared, but what is handed on is of the type that the parameter has.
            ("nullif", [syntax, _], [bound, _]) if is_parameter(syntax) && is_number(bound) => {
                *bound = self.operand_as(syntax, Wanted::like(&bound.result.column_type))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn read_as_own(&mut self, syntax: &ast::Expression, bound: &mut Expression) -> SqlResult<()> {
        *bound = self.operand_as(syntax, Wanted::like(&bound.result.column_type).read_own())?;
        Ok(())
    }
}

fn is_parameter(syntax: &ast::Expression) -> bool {
    matches!(syntax, ast::Expression::Parameter(_))
}

fn is_number(bound: &Expression) -> bool {
    matches!(bound.result.class(), TypeClass::Integer | TypeClass::Decimal | TypeClass::Double)
}
