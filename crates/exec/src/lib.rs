//! Physical operators, aggregates and data change over the engine. Entry points: [`prepare`], [`execute_prepared`],
//! [`execute`], [`explain`]. Knows no sockets; rows go to a `wire::result::ResultSink`.
//!
//! A caller (the session) does, for each query or data-changing statement:
//! 1. fills a [`StatementContext`];
//! 2. `let prepared = exec::prepare(&statement, typing, &mut context, true)?` or takes a kept one that `fits`;
//! 3. `let outcome = exec::execute_prepared(&prepared, &mut context, channel)?`;
//! 4. ends the result with `end_rows` or `ok`, and keeps what the outcome says (row count, ids).
#![forbid(unsafe_code)]

mod asked_first;
mod change;
mod context;
mod explain;
mod explain_tree;
mod long_row;
mod operator;
mod outfile;
mod pass_through;
mod query;
mod run;

pub use ::spill::{KeptRows, SPOOL_PIECE_BYTES, SpillCounts, Spool};
pub use context::{
    Effects, ExecutionSettings, FilePieces, FileWriter, LongParameters, NoServerFiles, ServerFiles,
    StatementContext, StatementOutcome,
};

use ::spill::{self, batch, key_table};
use errors::SqlResult;
use expression::{EvaluationContext, TablePurpose, TypedValue, table_type};
use parser::ast::Statement;
use pass_through::PassThrough;
use plan::physical::{OriginPath, OutputColumn};
use plan::{ParameterTypes, Plan, PlanKind, PlannerInput};
pub use plan::{ParameterUse, Reading};
use run::{PlanningContext, Run};
use std::sync::Arc;
use values::{ColumnType, RowRef, TypeKind};
use wire::result::{ClientChannel, ResultColumn};

/// A bound and optimised statement. May be kept and run many times with other parameters, while it is current;
/// cloning is cheap. Privileges are checked by [`prepare`] and again by [`execute_prepared`].
#[derive(Clone, Debug)]
pub struct Prepared {
    plan: Arc<Plan>,
    columns: Arc<[ResultColumn]>,
    pass_through: Option<Arc<PassThrough>>,
    parameter_kinds: Arc<[(TypeKind, bool)]>,
    /// The local day on which it was made ([`expression::TimeZone::local_day`]).
    made_on: i64,
}

fn parameter_kind(parameter: &TypedValue) -> (TypeKind, bool) {
    (parameter.column_type.kind, parameter.column_type.unsigned)
}

impl Prepared {
    /// Whether it may run as it is: the parameters have the types that it was made for, nothing in it must be looked up again, and
    /// it was made on the day `today`: a constant TIME becomes a DATETIME by the date.
    /// The caller keeps plans apart by the session's variables and default schema, and knows whether a definition has changed.
    pub fn fits(&self, today: i64, parameters: &[TypedValue]) -> bool {
        !self.plan.volatile
            && self.made_on == today
            && self.parameter_kinds.iter().copied().eq(parameters.iter().map(parameter_kind))
    }

    /// Whether it serves executions with other values of its parameters as well as a plan made for them.
    pub fn is_repeatable(&self) -> bool {
        self.plan.repeatable
    }

    /// The columns of its result set; empty for a statement that returns no rows.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// How stored rows become result rows, if they do so for that statement.
    fn pass_through(&self, context: &StatementContext<'_>) -> Option<&PassThrough> {
        let serves = |way: &&PassThrough| way.serves(context.facts.results_collation);
        let settings = &context.settings;
        self.pass_through.as_deref().filter(serves).filter(|_| settings.fast_plans && !settings.reads_lock)
    }

    /// What the statement makes of its parameters, by number; None where it does not use one.
    pub fn parameters(&self) -> &[Option<ParameterUse>] {
        &self.plan.parameters
    }

    /// Whether it only reads.
    pub fn is_read_only(&self) -> bool {
        matches!(self.plan.kind, PlanKind::Query(..) | PlanKind::Do(_))
    }
}

/// How a statement's parameters get their types.
#[derive(Clone, Copy, Debug)]
pub enum ParameterTyping<'a> {
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
    /// To run at once.
    Run,
    /// EXPLAIN.
    Explain,
}

fn plan_with(
    statement: &Statement,
    context: &mut StatementContext<'_>,
    typing: ParameterTyping<'_>,
    purpose: Purpose,
) -> SqlResult<Plan> {
    let runs = purpose != Purpose::Keep;
    let values = context.parameters.iter().map(|typed| typed.column_type.clone()).collect();
    let parameter_types = match typing {
        ParameterTyping::FromValues => ParameterTypes::Values(values),
        ParameterTyping::FromContext(settled) => {
            ParameterTypes::Context { settled: settled.to_vec(), values }
        }
    };
    let engine = context.engine;
    let virtual_tables = context.virtual_tables;
    let privileges = context.privileges;
    let select_limit = context.settings.select_limit;
    let transaction = (runs && !context.settings.reads_lock).then_some(context.transaction);
    let mut planning = PlanningContext::new(context);
    let input = PlannerInput {
        engine,
        virtual_tables,
        privileges,
        context: &mut planning,
        parameter_types,
        select_limit,
        runs,
        explains: purpose == Purpose::Explain,
        transaction,
    };
    plan::plan_statement(statement, input)
}

fn prepared(plan: Plan, context: &StatementContext<'_>) -> Prepared {
    let columns = match &plan.kind {
        PlanKind::Query(query, None) => query::result_columns(query),
        _ => Vec::new(),
    };
    let pass_through = match &plan.kind {
        PlanKind::Query(query, None) => PassThrough::of(query, &columns, context.facts.results_collation),
        _ => None,
    };
    Prepared {
        plan: Arc::new(plan),
        pass_through: pass_through.map(Arc::new),
        columns: columns.into(),
        parameter_kinds: context.parameters.iter().map(parameter_kind).collect(),
        made_on: context.facts.time_zone.local_day(context.facts.statement_time_microseconds),
    }
}

/// Binds and optimises a query or data-changing statement (SELECT, VALUES, TABLE, INSERT, REPLACE, UPDATE, DELETE,
/// LOAD DATA, DO). `runs`: at once, so that what its constants report is for the client.
pub fn prepare(
    statement: &Statement,
    typing: ParameterTyping<'_>,
    context: &mut StatementContext<'_>,
    runs: bool,
) -> SqlResult<Prepared> {
    let plan = plan_with(statement, context, typing, if runs { Purpose::Run } else { Purpose::Keep })?;
    Ok(prepared(plan, context))
}

/// Runs a prepared statement. On an error the caller rolls back to the statement mark.
pub fn execute_prepared(
    prepared: &Prepared,
    context: &mut StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    prepared.plan.privileges.check(context.privileges)?;
    run_plan(prepared, context, channel)
}

fn run_plan(
    prepared: &Prepared,
    context: &mut StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    let plan = &*prepared.plan;
    let ignores = match &plan.kind {
        PlanKind::Insert(insert) => insert.ignore,
        PlanKind::Update(update) => update.ignore,
        PlanKind::Delete(delete) => delete.ignore,
        PlanKind::Load(load) => load.insert.ignore,
        PlanKind::Query(..) | PlanKind::Do(_) => true,
    };
    let escalates = context.facts.sql_mode.is_strict() && !ignores;
    context.diagnostics.escalate(escalates);
    let mut run = Run::new(plan, context);
    let outcome = run_kind(prepared, &mut run, channel);
    // The statement's error is the first one, and evaluation goes on after a warning that is one.
    let raised = run.statement.diagnostics.take_raised();
    run.statement.diagnostics.escalate(false);
    let mut outcome = raised.map_or(outcome, Err)?;
    outcome.rows_examined = run.rows_examined;
    outcome.spilled = run.spill_counts();
    Ok(outcome)
}

/// Runs a plan of any kind.
fn run_kind(
    prepared: &Prepared,
    run: &mut Run<'_, '_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    run.check_killed()?;
    if !run.plan.asked_first.is_empty() {
        asked_first::run(run)?;
    }
    match &prepared.plan.kind {
        PlanKind::Query(query, into) => query::run_query(run, query, into.as_ref(), prepared, channel),
        PlanKind::Insert(insert) => change::insert::run(run, insert),
        PlanKind::Update(update) => change::update::run(run, update),
        PlanKind::Delete(delete) => change::delete::run(run, delete),
        PlanKind::Load(load) => change::load::run(run, load, channel),
        PlanKind::Do(expressions) => {
            for expression in expressions {
                expression.evaluate(RowRef::EMPTY, run)?;
            }
            Ok(StatementOutcome::default())
        }
    }
}

/// Prepares and runs a statement.
pub fn execute(
    statement: &Statement,
    context: &mut StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    let prepared = prepare(statement, ParameterTyping::FromValues, context, true)?;
    run_plan(&prepared, context, channel)
}

/// The columns of a query's result as a table keeps them that is made of it (CREATE TABLE .. SELECT), and how the query
/// comes by them.
pub fn describe_for_table(
    statement: &Statement,
    context: &mut StatementContext<'_>,
) -> SqlResult<Vec<(ResultColumn, OriginPath)>> {
    let plan = plan_with(statement, context, ParameterTyping::FromValues, Purpose::Keep)?;
    let PlanKind::Query(query, _) = &plan.kind else { return Ok(Vec::new()) };
    let described = query::result_columns(query).into_iter().zip(&query.columns);
    let for_table = |(mut column, output): (ResultColumn, &OutputColumn)| {
        column.column_type = table_type(&output.result, output.source, TablePurpose::Created);
        (column, output.origin.as_ref().map_or(OriginPath::Table, |origin| origin.path))
    };
    Ok(described.map(for_table).collect())
}

/// The forms of EXPLAIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainFormat {
    /// A row a table.
    Traditional,
    /// One text, a line a step.
    Tree,
}

/// EXPLAIN: sends the plan.
pub fn explain(
    statement: &Statement,
    format: ExplainFormat,
    context: &mut StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    let plan = plan_with(statement, context, ParameterTyping::FromValues, Purpose::Explain)?;
    match format {
        ExplainFormat::Traditional => explain::send(&plan, context.facts.results_collation, channel),
        ExplainFormat::Tree => {
            let text = explain_tree::text(&plan, context.engine);
            explain::send_text(text, context.facts.results_collation, channel)
        }
    }
}
