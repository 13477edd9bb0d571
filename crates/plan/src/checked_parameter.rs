//! Parameters that an execution converts before it looks for rows, as MySQL converts constants when it prepares an operation.
//! Main function: [`check_parameters`].

use errors::SqlResult;
use expression::operators::{ComparisonMode, ListedConstant, compare_values};
use expression::{EvaluationContext, Expression};
use values::{ColumnType, RowRef, TypeKind};

/// A parameter that stands for a literal, and as what it is compared: each execution converts it before it looks for rows.
pub type CheckedParameter = (ComparisonMode, Expression);

/// Converts what a plan has noted. Error 1292 of the first that cannot be converted.
pub fn check_parameters(checked: &[CheckedParameter], context: &mut dyn EvaluationContext) -> SqlResult<()> {
    checked.iter().try_for_each(|(mode, parameter)| check_converted(*mode, parameter, context))
}

/// Reports what is wrong with constants of lists that are looked up: error 1292 where that ends the statement.
pub fn report_listed(listed: &[ListedConstant], context: &mut dyn EvaluationContext) -> SqlResult<()> {
    for constant in listed {
        match constant.report(context)? {
            Some(error) if constant.escalates => return Err(error),
            Some(warning) => context.diagnostics().warning(warning),
            None => {}
        }
    }
    Ok(())
}

/// Converts a constant as an operation of that mode does. Error 1292 if it cannot be converted.
pub fn check_converted(
    mode: ComparisonMode,
    constant: &Expression,
    context: &mut dyn EvaluationContext,
) -> SqlResult<()> {
    let before = context.diagnostics().reported();
    context.diagnostics().escalate(true);
    let date = ColumnType::new(TypeKind::Date);
    let compared = constant.evaluate(RowRef::EMPTY, context).and_then(|value| {
        let column_type = &constant.result.column_type;
        let beside = if mode == ComparisonMode::Date { &date } else { column_type };
        compare_values(mode, value.as_ref(), column_type, value.as_ref(), beside, context)
    });
    let raised = context.diagnostics().take_raised();
    context.diagnostics().go_back(before);
    match raised {
        Some(error) => Err(error),
        None => compared.map(|_| ()),
    }
}
