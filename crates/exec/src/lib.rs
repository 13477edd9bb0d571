//! Physical operators, aggregates and data change over the engine. Entry points: [`execute_prepared`],
//! [`execute_planned`], [`execute_measured`]. Knows no sockets; rows go to a `wire::result::ResultSink`.
//!
//! A caller (the session) does, for each query or data-changing statement:
//! 1. fills a [`StatementContext`];
//! 2. lets `planner` make a plan, with a [`PlanningContext`] over it, and keeps it in a [`Prepared`], or takes a kept one that `fits`;
//! 3. `let outcome = exec::execute_prepared(&prepared, &mut context, channel)?`;
//! 4. ends the result with `end_rows` or `ok`, and keeps what the outcome says (row count, ids).
#![forbid(unsafe_code)]

mod actuals;
mod asked_first;
mod change;
mod context;
mod long_row;
mod operator;
mod outfile;
mod pass_through;
mod query;
mod run;
mod storing;

pub use ::spill::{
    DocumentWatch, KeptRows, Reservation, SPOOL_PIECE_BYTES, ServerMemory, SpillCounts, Spool,
};
pub use actuals::{Actual, Actuals};
pub use change::copied_rows::CopiedRows;
pub use context::{
    Effects, ExecutionSettings, FilePieces, FileWriter, LongParameters, NoServerFiles, ServerFiles,
    StatementContext, StatementOutcome,
};

use ::spill::{self, batch, key_table};
use errors::{SqlResult, sql_error};
use expression::{EvaluationContext, TablePurpose, TypedValue, table_type};
use pass_through::PassThrough;
use plan::physical::{OriginPath, OutputColumn};
pub use plan::{ParameterUse, Reading};
use plan::{Plan, PlanKind};
pub use run::PlanningContext;
use run::Run;
use std::sync::Arc;
use values::{RowRef, TypeKind};
use wire::result::{ClientChannel, ResultColumn};

/// A bound and optimised statement. May be kept and run many times with other parameters, while it is current;
/// cloning is cheap. Privileges are checked when it is made and again by [`execute_prepared`].
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
    /// A plan that was made for the values of the context's parameters.
    pub fn new(plan: Plan, context: &StatementContext<'_>) -> Prepared {
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
            made_on: context.facts.time_zone.local_day(context.facts.started.microseconds()),
        }
    }

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

    /// The plan, for those who show it.
    pub fn plan(&self) -> &Plan {
        &self.plan
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

/// How many rows the values of the parameters have in the table that a plan for any values reads; None where that is not to be known.
pub fn rows_ahead(prepared: &Prepared, context: &mut StatementContext<'_>) -> Option<u64> {
    let access = plan::varying_access(&prepared.plan)?;
    let engine = context.engine;
    let mut values = PlanningContext::new(context);
    let rows = plan::range::estimated_rows(engine, &access.table, &access.path, &mut values)?;
    Some(rows.round() as u64)
}

/// Runs a prepared statement. On an error the caller rolls back to the statement mark.
pub fn execute_prepared(
    prepared: &Prepared,
    context: &mut StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    prepared.plan.privileges.check(context.privileges)?;
    execute_planned(prepared, context, channel)
}

/// Runs a statement that was planned just now: privileges were asked for.
pub fn execute_planned(
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
    if !plan.listed.is_empty() {
        report_listed(plan, context)?;
    }
    context.diagnostics.escalate(escalates);
    let mut run = Run::new(plan, context);
    let checked = match escalates {
        true => plan::check_parameters(&plan.checked_parameters, &mut run),
        false => Ok(()),
    };
    let outcome = checked.and_then(|()| run_kind(prepared, &mut run, channel));
    // The statement's error is the first one, and evaluation goes on after a warning that is one.
    let raised = run.statement.diagnostics.take_raised();
    run.statement.diagnostics.escalate(false);
    let mut outcome = raised.map_or(outcome, Err)?;
    outcome.rows_examined = run.rows_examined;
    outcome.spilled = run.spill_counts();
    Ok(outcome)
}

/// Reports on the constants of lists that are looked up. Few plans have any.
#[cold]
#[inline(never)]
fn report_listed(plan: &Plan, context: &mut StatementContext<'_>) -> SqlResult<()> {
    plan::report_listed(&plan.listed, &mut Run::new(plan, context))
}

/// Runs a plan of any kind.
fn run_kind(
    prepared: &Prepared,
    run: &mut Run<'_, '_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    run.check_killed()?;
    let rows_max = run.statement.settings.examined_rows_max;
    if rows_max != u64::MAX {
        plan::check_rows_examined(run.plan, rows_max, run)?;
    }
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

/// The columns of a query's result as a table keeps them that is made of it (CREATE TABLE .. SELECT), and how the query
/// comes by them.
pub fn describe_for_table(plan: &Plan) -> Vec<(ResultColumn, OriginPath)> {
    let PlanKind::Query(query, _) = &plan.kind else { return Vec::new() };
    let described = query::result_columns(query).into_iter().zip(&query.columns);
    let for_table = |(mut column, output): (ResultColumn, &OutputColumn)| {
        column.column_type = table_type(&output.result, output.source, TablePurpose::Created);
        (column, output.origin.as_ref().map_or(OriginPath::Table, |origin| origin.path))
    };
    described.map(for_table).collect()
}

/// Runs a prepared query for what its steps do: nobody gets its rows.
pub fn execute_measured(
    prepared: &Prepared,
    context: &mut StatementContext<'_>,
) -> SqlResult<(StatementOutcome, Actuals)> {
    prepared.plan.privileges.check(context.privileges)?;
    let PlanKind::Query(query, _) = &prepared.plan.kind else {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "EXPLAIN ANALYZE on this query"));
    };
    let clock = Arc::clone(&context.engine.environment().clock);
    let mut run = Run::new(&prepared.plan, context);
    run.actuals = Some(Box::new(Actuals::new(Arc::clone(&clock))));
    let mut outcome = query::drain(&mut run, query)?;
    outcome.rows_examined = run.rows_examined;
    outcome.spilled = run.spill_counts();
    Ok((outcome, run.actuals.take().map_or_else(|| Actuals::new(clock), |actuals| *actuals)))
}
