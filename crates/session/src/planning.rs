//! Plans of statements: what the planner is told of the session, and what becomes of its plan. Main function: [`prepare`].

use dictionary::TableDefinition;
use errors::SqlResult;
use exec::{PlanningContext, Prepared, StatementContext};
use parser::ast::Statement;
use plan::physical::OriginPath;
use plan::{Plan, RowPlan};
use planner::{ParameterTypes, PlannerInput};
use values::ColumnType;
use wire::result::ResultColumn;

/// How a statement's parameters get their types.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParameterTyping<'a> {
    /// From their values.
    FromValues,
    /// From what stands around them, but for those that are settled, by number.
    FromContext(&'a [Option<ColumnType>]),
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Later executions.
    Keep,
    /// The columns of a view.
    DefineView,
    /// To run at once.
    Run,
    /// EXPLAIN.
    Explain,
    /// EXPLAIN ANALYZE: it runs at once, and is shown.
    Analyze,
}

fn plan_with(
    statement: &Statement,
    context: &mut StatementContext<'_>,
    typing: ParameterTyping<'_>,
    purpose: Purpose,
) -> SqlResult<Plan> {
    with_input(context, typing, purpose, |input| planner::plan_statement(statement, input))
}

/// The expressions of a definition.
pub(crate) fn plan_rows(
    definition: &TableDefinition,
    context: &mut StatementContext<'_>,
) -> SqlResult<RowPlan> {
    with_input(context, ParameterTyping::FromValues, Purpose::Keep, |input| {
        planner::plan_rows(definition, input)
    })
}

/// Calls `plan` with what a plan is made from.
fn with_input<T>(
    context: &mut StatementContext<'_>,
    typing: ParameterTyping<'_>,
    purpose: Purpose,
    plan: impl FnOnce(PlannerInput<'_>) -> T,
) -> T {
    let runs = !matches!(purpose, Purpose::Keep | Purpose::DefineView);
    let values = context.parameters.iter().map(|typed| typed.column_type.clone()).collect();
    let parameter_types = match typing {
        ParameterTyping::FromValues => ParameterTypes::Values(values),
        ParameterTyping::FromContext(settled) => {
            ParameterTypes::Context { settled: settled.to_vec(), values }
        }
    };
    let is_execution = runs && matches!(typing, ParameterTyping::FromContext(_));
    let (engine, temporary) = (context.engine, context.temporary);
    let virtual_tables = context.virtual_tables;
    let privileges = context.privileges;
    let hints = context.hints;
    let select_limit = context.settings.select_limit;
    let transaction = (runs && !context.settings.reads_lock).then_some(context.transaction);
    let mut planning = PlanningContext::new(context);
    let input = PlannerInput {
        engine,
        temporary,
        virtual_tables,
        privileges,
        context: &mut planning,
        parameter_types,
        select_limit,
        runs,
        defines_view: purpose == Purpose::DefineView,
        explains: purpose == Purpose::Explain,
        shows_plan: matches!(purpose, Purpose::Explain | Purpose::Analyze),
        hints,
        warns_of_hints: !is_execution,
        transaction,
    };
    plan(input)
}

/// Binds and optimises a query or data-changing statement (SELECT, VALUES, TABLE, INSERT, REPLACE, UPDATE, DELETE,
/// LOAD DATA, DO). `runs`: at once, so that what its constants report is for the client.
pub(crate) fn prepare(
    statement: &Statement,
    typing: ParameterTyping<'_>,
    context: &mut StatementContext<'_>,
    runs: bool,
) -> SqlResult<Prepared> {
    let plan = plan_with(statement, context, typing, if runs { Purpose::Run } else { Purpose::Keep })?;
    Ok(Prepared::new(plan, context))
}

/// The plan of a query that runs at once, and once.
pub(crate) fn plan_to_run(statement: &Statement, context: &mut StatementContext<'_>) -> SqlResult<Plan> {
    plan_with(statement, context, ParameterTyping::FromValues, Purpose::Run)
}

/// The columns of a query's result as a table keeps them that is made of it (CREATE TABLE .. SELECT), and how the query
/// comes by them.
pub(crate) fn describe_for_table(
    statement: &Statement,
    context: &mut StatementContext<'_>,
) -> SqlResult<Vec<(ResultColumn, OriginPath)>> {
    let plan = plan_with(statement, context, ParameterTyping::FromValues, Purpose::Keep)?;
    Ok(exec::describe_for_table(&plan))
}

/// The same of a view, whose query has to hold to the rules of groups only when it is read.
pub(crate) fn describe_for_view(
    statement: &Statement,
    context: &mut StatementContext<'_>,
) -> SqlResult<Vec<(ResultColumn, OriginPath)>> {
    let plan = plan_with(statement, context, ParameterTyping::FromValues, Purpose::DefineView)?;
    Ok(exec::describe_for_table(&plan))
}

/// The plan of a statement as EXPLAIN shows it. It is not run.
pub(crate) fn plan_to_explain(statement: &Statement, context: &mut StatementContext<'_>) -> SqlResult<Plan> {
    plan_with(statement, context, ParameterTyping::FromValues, Purpose::Explain)
}

/// The plan of a query that EXPLAIN ANALYZE runs and shows.
pub(crate) fn prepare_to_analyze(
    statement: &Statement,
    context: &mut StatementContext<'_>,
) -> SqlResult<Prepared> {
    let plan = plan_with(statement, context, ParameterTyping::FromValues, Purpose::Analyze)?;
    Ok(Prepared::new(plan, context))
}
