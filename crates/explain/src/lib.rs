//! EXPLAIN and EXPLAIN ANALYZE. A plan becomes a tree of [`step::Step`]s once (`describe/`), which is then printed as lines
//! (`tree`) or as JSON (`json`); the older form with a row a table is in `table_form`. Entry points: [`explain`], [`analyze`].
#![forbid(unsafe_code)]

mod describe;
mod json;
mod step;
mod table_form;
mod tree;

use describe::Describer;
use errors::{SqlResult, sql_error};
use exec::{Actuals, Prepared, StatementContext, StatementOutcome};
use plan::Plan;
use step::Step;
use wire::result::{ClientChannel, ResultSink};

/// The forms of EXPLAIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A row a table.
    Traditional,
    /// One text, a line a step.
    Tree,
    /// One JSON document, version 2 of MySQL's.
    Json,
}

/// EXPLAIN: sends the plan.
pub fn explain(
    plan: &Plan,
    format: Format,
    context: &mut StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    if format == Format::Traditional {
        let steps = Describer::new(plan, context.engine, None).statement()?;
        if steps.iter().any(Step::has_windows) {
            context.diagnostics.note(sql_error!(ER_WINDOW_EXPLAIN_JSON));
        }
        return table_form::send(plan, context.facts.results_collation, channel);
    }
    let text = text_of(plan, format, None, context)?;
    table_form::send_text(text, context.facts.results_collation, channel)
}

/// EXPLAIN .. INTO: the plan as one text.
pub fn explained(plan: &Plan, format: Format, context: &StatementContext<'_>) -> SqlResult<String> {
    text_of(plan, format, None, context)
}

/// EXPLAIN ANALYZE: runs a query, whose rows nobody gets, and gives the plan with what its steps did.
pub fn analyzed(
    prepared: &Prepared,
    format: Format,
    context: &mut StatementContext<'_>,
) -> SqlResult<(String, StatementOutcome)> {
    let (outcome, actuals) = exec::execute_measured(prepared, context)?;
    Ok((text_of(prepared.plan(), format, Some(&actuals), context)?, outcome))
}

/// Sends such a text.
pub fn send_text(
    text: String,
    context: &StatementContext<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<StatementOutcome> {
    table_form::send_text(text, context.facts.results_collation, sink)
}

fn text_of(
    plan: &Plan,
    format: Format,
    actuals: Option<&Actuals>,
    context: &StatementContext<'_>,
) -> SqlResult<String> {
    let steps = Describer::new(plan, context.engine, actuals).statement()?;
    Ok(match format {
        Format::Json => json::document(plan, &steps),
        Format::Traditional | Format::Tree => tree::text(&steps),
    })
}
