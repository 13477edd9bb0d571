//! Expressions that are kept as text with a definition: CHECK constraints, DEFAULT (expression), generated columns. They are parsed and bound when a statement
//! that uses them is planned. Main functions: [`own_expressions`], [`bind_stored`].

use super::change::{defaults, push_target};
use super::json::array_cast;
use super::{Binder, Wanted};
use ::expression::{Expression, is_condition};
use charset::CollationId;
use dictionary::{CheckDefinition, TableDefinition};
use errors::{SqlResult, code, sql_error};
use parser::ast;
use plan::{DefaultValue, GeneratedValue, OwnExpressions, RowCheck, RowExpression};

/// What the table is called where messages name its columns alone.
pub(super) const NAMELESS: &str = "";

/// The expressions of a table that concern a statement which gives values to the columns `is_changed`: generated columns that follow them,
/// and CHECK constraints that it can break.
pub(super) fn own_expressions(
    binder: &mut Binder<'_>,
    definition: &TableDefinition,
    is_changed: impl Fn(usize) -> bool,
) -> SqlResult<OwnExpressions> {
    if definition.checks.iter().all(|check| !check.enforced)
        && definition.columns.iter().all(|column| column.generated.is_none())
    {
        return Ok(OwnExpressions::default());
    }
    push_target(binder, definition, &definition.name.table);
    let generated = bound_generated(binder, definition);
    show_names_of(binder, &definition.name.table);
    let enforced = definition.checks.iter().filter(|check| check.enforced);
    let checks: SqlResult<Vec<RowCheck>> =
        enforced.map(|check| bound_check(binder, definition, check)).collect();
    binder.blocks.pop();
    let mut changed: Vec<bool> = (0..definition.columns.len()).map(is_changed).collect();
    let reads_changed = |expression: &RowExpression, changed: &[bool]| {
        let columns = expression.columns();
        columns.is_empty() || columns.iter().any(|column| changed[*column])
    };
    let mut own = OwnExpressions::default();
    for one in generated? {
        if reads_changed(&one.value, &changed) {
            changed[one.column] = true;
            own.generated.push(one);
        }
    }
    own.checks = checks?;
    own.checks.retain(|check| reads_changed(&check.condition, &changed));
    Ok(own)
}

/// Lets messages name the columns of the block's table as those of a table that is called so, without its schema.
pub(super) fn show_names_of(binder: &mut Binder<'_>, alias: &str) {
    if let Some(table) = binder.block().tables.first_mut() {
        table.schema = None;
        alias.clone_into(&mut table.alias);
    }
}

fn bound_generated(binder: &mut Binder<'_>, definition: &TableDefinition) -> SqlResult<Vec<GeneratedValue>> {
    show_names_of(binder, NAMELESS);
    let mut bound = Vec::new();
    for (column, generated) in definition.columns.iter().enumerate() {
        if let Some(generated) = &generated.generated {
            let value = bind_stored(binder, &parse_stored(&generated.text)?)?;
            bound.push(GeneratedValue { column, value: RowExpression::new(value, definition.columns.len()) });
        }
    }
    Ok(bound)
}

/// Defaults, generated columns and enforced CHECK constraints of a definition. Errors: those of binding; 3812 for a constraint, enforced or not, that is no
/// condition.
pub(crate) fn row_plan_parts(
    binder: &mut Binder<'_>,
    definition: &TableDefinition,
) -> SqlResult<(Vec<DefaultValue>, Vec<GeneratedValue>, Vec<RowCheck>)> {
    let defaults = defaults(binder, definition)?;
    push_target(binder, definition, &definition.name.table);
    let generated = bound_generated(binder, definition)?;
    show_names_of(binder, &definition.name.table);
    let mut checks = Vec::new();
    for check in &definition.checks {
        let bound = bound_check(binder, definition, check)?;
        if !is_condition(&bound.condition.expression) {
            return Err(sql_error!(ER_NON_BOOLEAN_EXPR_FOR_CHECK_CONSTRAINT, check.name));
        }
        checks.extend(check.enforced.then_some(bound));
    }
    binder.blocks.pop();
    Ok((defaults, generated, checks))
}

fn bound_check(
    binder: &mut Binder<'_>,
    definition: &TableDefinition,
    check: &CheckDefinition,
) -> SqlResult<RowCheck> {
    let condition = bind_stored(binder, &parse_stored(&check.text)?)?;
    let condition = RowExpression::new(condition, definition.columns.len());
    Ok(RowCheck { name: check.name.clone(), condition })
}

/// Binds a stored expression in the block of its table. Who uses the table need not be allowed to read what it names.
pub(super) fn bind_stored(binder: &mut Binder<'_>, parsed: &ast::Expression) -> SqlResult<Expression> {
    let trusted = std::mem::replace(&mut binder.privileges.trusted, true);
    // What its constants report is for who runs it; what its text is told of was told when it was written.
    let runs = std::mem::replace(&mut binder.input.runs, false);
    let warns = binder.input.warns_of_hints;
    binder.input.warns_of_hints &= !runs;
    // A text of numbers is the same for every client.
    let connection = std::mem::replace(&mut binder.facts.connection, CollationId::UTF8MB4_0900_AI_CI);
    binder.input.context.compute_stored(true);
    let bound = match parsed {
        ast::Expression::Cast(cast) if cast.array => array_cast(binder, cast),
        _ => binder.scalar_as(parsed, Wanted::integer()),
    };
    binder.input.context.compute_stored(false);
    binder.facts.connection = connection;
    binder.input.warns_of_hints = warns;
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
