//! How operations read parameters whose type an execution settled: a value of another kind than the parameter had made it
//! a number, say, and a later value is text again. The parameter stays a number in what the statement's types follow
//! from, but an operation that reads text gets the text. Main function: [`read_settled`].

use super::Binder;
use super::parameter::Wanted;
use ::expression::{Expression, TypeClass};
use errors::SqlResult;
use parser::ast;

/// As [`Binder::beside`] for operands that the operation hands on: numbers beside dates are text then.
pub(super) fn handed_on(
    binder: &mut Binder<'_>,
    all: &[&ast::Expression],
    context: Option<Wanted>,
) -> SqlResult<Vec<Expression>> {
    let mut bound = binder.beside(all, context, Binder::wanted_text)?;
    let is_other = |class| matches!(class, TypeClass::Text | TypeClass::DateTime | TypeClass::Time);
    read_settled(binder, all, &mut bound, is_other)?;
    Ok(bound)
}

/// Where there is an operand of such a class, parameters that are numbers are read as the operation reads text.
pub(super) fn read_settled(
    binder: &mut Binder<'_>,
    all: &[&ast::Expression],
    bound: &mut [Expression],
    is_other: impl Fn(TypeClass) -> bool,
) -> SqlResult<()> {
    if !binder.derives_parameters() || !bound.iter().any(|one| is_other(one.result.class())) {
        return Ok(());
    }
    for (syntax, bound) in all.iter().zip(bound) {
        if is_parameter(syntax) && !binder.is_open(syntax) && is_number(bound) {
            read_as_own(binder, syntax, bound)?;
        }
    }
    Ok(())
}

/// Binds those arguments again that a function reads in another way than the values beside them say.
pub(super) fn read_by(
    binder: &mut Binder<'_>,
    function: &str,
    all: &[ast::Expression],
    bound: &mut [Expression],
) -> SqlResult<()> {
    match (function, all, bound) {
        // Whatever stands there, it is compared as text.
        ("strcmp", all, bound) => {
            for (syntax, bound) in all.iter().zip(bound).filter(|(syntax, _)| is_parameter(syntax)) {
                read_as_own(binder, syntax, bound)?;
            }
        }
        // It is compared, but what is handed on is of the type that the parameter has.
        ("nullif", [syntax, _], [bound, _]) if is_parameter(syntax) && is_number(bound) => {
            *bound = binder.operand_as(syntax, Wanted::like(&bound.result.column_type))?;
        }
        _ => {}
    }
    Ok(())
}

fn read_as_own(binder: &mut Binder<'_>, syntax: &ast::Expression, bound: &mut Expression) -> SqlResult<()> {
    *bound = binder.operand_as(syntax, Wanted::like(&bound.result.column_type).read_own())?;
    Ok(())
}

fn is_parameter(syntax: &ast::Expression) -> bool {
    matches!(syntax, ast::Expression::Parameter(_))
}

fn is_number(bound: &Expression) -> bool {
    matches!(bound.result.class(), TypeClass::Integer | TypeClass::Decimal | TypeClass::Double)
}
