//! Binds names, types expressions, has queries rewritten and the optimizer read their tables. Entry point: [`plan_statement`]; result:
//! [`Plan`]. Knows the catalogue and statistics of the engine; runs nothing.
#![forbid(unsafe_code)]

mod bind;
mod changed_rows;
mod lower;
mod planning;
mod select_limit;
mod subquery_joins;
mod windows;

pub use bind::{ParameterTypes, PlannerInput};

use dictionary::TableDefinition;
use errors::{SqlResult, sql_error};
use expression::ExpressionKind;
use parser::ast;
use plan::physical::Node;
use plan::{Plan, PlanKind, PrivilegesNeeded, RowPlan, check_tables};

/// Whether the statement changes rows and may not leave out what does not fit.
fn changes_strictly(statement: &ast::Statement, facts: &expression::StatementFacts) -> bool {
    let ignores = match statement {
        ast::Statement::Insert(insert) => insert.ignore,
        ast::Statement::Update(update) => update.ignore,
        ast::Statement::Delete(delete) => delete.ignore,
        _ => true,
    };
    facts.sql_mode.is_strict() && !ignores
}

/// A variable in the select list of a statement shows an exact number with the decimals that it has, whatever its type
/// says.
fn show_own_decimals(node: &mut Node) {
    match node {
        Node::Limit { input, .. } | Node::Sort { input, .. } | Node::Distinct { input, .. } => {
            show_own_decimals(input);
        }
        Node::Project { expressions, .. } => {
            let variables = expressions.iter_mut().filter(|shown| {
                matches!(shown.kind, ExpressionKind::UserVariable(_))
                    && shown.result.kind() == values::TypeKind::Decimal
            });
            variables.for_each(|shown| shown.result.column_type.decimals = None);
        }
        _ => {}
    }
}

fn bind_statement(binder: &mut bind::Binder<'_>, statement: &ast::Statement) -> SqlResult<PlanKind> {
    Ok(match statement {
        ast::Statement::Query(query) => {
            let limited = select_limit::limited_query(query, binder.input.select_limit);
            let mut plan = binder.query(&limited, "SIMPLE")?;
            show_own_decimals(&mut plan.root);
            if let Some(ast::QueryInto::Outfile { format, .. }) = query.into.as_deref()
                && !format.has_single_marks()
            {
                return Err(sql_error!(ER_WRONG_FIELD_TERMINATORS));
            }
            PlanKind::Query(plan, query.into.as_deref().cloned())
        }
        ast::Statement::Do(expressions) => PlanKind::Do(binder.expressions(expressions)?),
        ast::Statement::Insert(insert) => PlanKind::Insert(Box::new(bind::insert(binder, insert)?)),
        ast::Statement::Update(update) => PlanKind::Update(Box::new(bind::update(binder, update)?)),
        ast::Statement::Delete(delete) => PlanKind::Delete(Box::new(bind::delete(binder, delete)?)),
        ast::Statement::Load(load) => PlanKind::Load(Box::new(bind::load(binder, load)?)),
        _ => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "this statement in the executor")),
    })
}

fn binder_for<'a>(statement: &ast::Statement, input: PlannerInput<'a>) -> bind::Binder<'a> {
    let escalates = changes_strictly(statement, input.context.facts());
    let mut binder = bind::Binder::new(input);
    binder.changes.command = match statement {
        ast::Statement::Update(_) => "UPDATE",
        ast::Statement::Delete(_) => "DELETE",
        _ => "INSERT",
    };
    binder.changes.escalates = escalates;
    binder.changes.stores = matches!(statement, ast::Statement::Insert(_) | ast::Statement::Update(_));
    binder.facts.escalates = escalates;
    binder
}

/// Binds the statement and reports its mistakes in their order.
fn bind_checked(binder: &mut bind::Binder<'_>, statement: &ast::Statement) -> SqlResult<PlanKind> {
    let bound = bind_statement(binder, statement);
    if let Some(denied) = binder.privileges.denied.take() {
        return Err(denied);
    }
    let kind = bound?;
    binder.changes.conflict.take().map_or(Ok(kind), Err)
}

/// The expressions of a definition: of a table that is not there yet, or whose rows are copied.
/// Errors: those of binding; 3812 for a CHECK constraint that is no condition.
pub fn plan_rows(definition: &TableDefinition, input: PlannerInput<'_>) -> SqlResult<RowPlan> {
    let mut binder = bind::Binder::new(input);
    let (defaults, generated, checks) = bind::row_plan_parts(&mut binder, definition)?;
    let parents = bind::row_parents(&binder, definition);
    let plan = finished_plan(binder, PlanKind::Do(Vec::new()));
    Ok(RowPlan { plan, defaults, generated, checks, parents })
}

/// Plans a query or data-changing statement for a user who has the privileges that it needs.
// By itself in every build: `cargo xtask instructions --release` counts below it.
#[inline(never)]
pub fn plan_statement(statement: &ast::Statement, input: PlannerInput<'_>) -> SqlResult<Plan> {
    let schema = input.context.facts().schema.as_deref();
    check_tables(statement, schema, input.privileges, input.temporary)?;
    let reported = input.context.diagnostics().mark();
    let mut binder = binder_for(statement, input);
    let mut kind = bind_checked(&mut binder, statement)?;
    if let Some(early) = binder.subqueries.early.for_second_binding() {
        let input = binder.input;
        input.context.diagnostics().forget_since(reported);
        binder = binder_for(statement, input);
        binder.subqueries.early = early;
        // Which subqueries run may depend on rows.
        binder.nature.volatile = true;
        kind = bind_checked(&mut binder, statement)?;
    }
    bind::warn_of_hints(&mut binder, reported);
    Ok(finished_plan(binder, kind))
}

/// The plan of what was bound.
fn finished_plan(mut binder: bind::Binder<'_>, kind: PlanKind) -> Plan {
    let mut explain = std::mem::take(&mut binder.explain);
    explain.sort_by_key(|row| row.id);
    let several = explain.iter().any(|row| row.id != explain[0].id);
    for row in &mut explain {
        if several && row.select_type == "SIMPLE" {
            row.select_type = "PRIMARY";
        }
    }
    // The same text means other tables in another session, or later.
    let uses_temporary = !binder.temporary.is_empty();
    let mut plan = Plan {
        kind,
        repeatable: false,
        sites: binder.sites,
        recursions: binder.common_tables.recursions.len(),
        subqueries: binder.subqueries.plans,
        asked_first: binder.subqueries.asked_first,
        common_tables: binder.common_tables.uses,
        privileges: PrivilegesNeeded::with_views(binder.privileges.requests, binder.privileges.views),
        tables: binder.tables,
        cascades: binder.cascades,
        volatile: binder.nature.volatile,
        clock_calls: binder.nature.clock_calls,
        reads_elsewhere: binder.nature.reads_elsewhere || uses_temporary,
        row_by_row: binder.nature.assigns || binder.nature.calls_routines,
        calls_routines: binder.nature.calls_routines,
        parameters: binder.parameters.uses,
        checked_parameters: binder.parameters.checked,
        listed: binder.parameters.listed,
        explain,
    };
    plan::keep_in_subqueries(&mut plan);
    plan.repeatable = !uses_temporary && plan::is_repeatable(&plan);
    plan
}
