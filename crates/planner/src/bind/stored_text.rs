//! Expressions that are kept as text with a definition: CHECK constraints, DEFAULT (expression). They are parsed and bound when a statement
//! that uses them is planned. Main functions: [`row_checks`], [`bind_stored`].

use super::change::{defaults, push_target};
use super::{Binder, Wanted};
use ::expression::{Expression, is_condition};
use dictionary::{CheckDefinition, TableDefinition};
use errors::{SqlResult, code, sql_error};
use parser::ast;
use plan::{DefaultValue, RowCheck};

/// The CHECK constraints that a statement can break which gives values to the columns `is_changed`, over rows of the table.
pub(super) fn row_checks(
    binder: &mut Binder<'_>,
    definition: &TableDefinition,
    is_changed: impl Fn(usize) -> bool,
) -> SqlResult<Vec<RowCheck>> {
    if definition.checks.iter().all(|check| !check.enforced) {
        return Ok(Vec::new());
    }
    push_target(binder, definition, &definition.name.table);
    let enforced = definition.checks.iter().filter(|check| check.enforced);
    let bound: SqlResult<Vec<RowCheck>> = enforced.map(|check| bound_check(binder, check)).collect();
    binder.blocks.pop();
    let mut checks = bound?;
    let reads_none = |check: &RowCheck| !check.condition.reads_columns();
    let columns = 0..definition.columns.len();
    checks.retain(|check| {
        reads_none(check) || columns.clone().any(|column| is_changed(column) && check.reads(column))
    });
    Ok(checks)
}

/// Defaults and enforced CHECK constraints of a definition. Errors: those of binding; 3812 for a constraint, enforced or not, that is no
/// condition.
pub(crate) fn row_plan_parts(
    binder: &mut Binder<'_>,
    definition: &TableDefinition,
) -> SqlResult<(Vec<DefaultValue>, Vec<RowCheck>)> {
    let defaults = defaults(binder, definition)?;
    push_target(binder, definition, &definition.name.table);
    let mut checks = Vec::new();
    for check in &definition.checks {
        let bound = bound_check(binder, check)?;
        if !is_condition(&bound.condition) {
            return Err(sql_error!(ER_NON_BOOLEAN_EXPR_FOR_CHECK_CONSTRAINT, check.name));
        }
        checks.extend(check.enforced.then_some(bound));
    }
    binder.blocks.pop();
    Ok((defaults, checks))
}

fn bound_check(binder: &mut Binder<'_>, check: &CheckDefinition) -> SqlResult<RowCheck> {
    let condition = bind_stored(binder, &parse_stored(&check.text)?)?;
    Ok(RowCheck { name: check.name.clone(), condition })
}

/// Binds a stored expression in the block of its table. Who uses the table need not be allowed to read what it names.
pub(super) fn bind_stored(binder: &mut Binder<'_>, parsed: &ast::Expression) -> SqlResult<Expression> {
    let trusted = std::mem::replace(&mut binder.privileges.trusted, true);
    // What its constants report is for who runs it.
    let runs = std::mem::replace(&mut binder.input.runs, false);
    let bound = binder.scalar_as(parsed, Wanted::integer());
    binder.input.runs = runs;
    binder.privileges.trusted = trusted;
    bound
}

/// The tree of a stored text, which does not depend on the session's sql_mode.
pub(super) fn parse_stored(text: &str) -> SqlResult<ast::Expression> {
    let parsed = parser::parse_expression(text.as_bytes(), parser::ParseOptions::default());
    parsed.map_err(|error| {
        code::ER_INTERNAL_ERROR.message(format!("a stored expression cannot be read: {}", error.message()))
    })
}
