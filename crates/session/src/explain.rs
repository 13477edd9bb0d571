//! EXPLAIN and EXPLAIN ANALYZE: what they may, in which form, and where the text goes.

use crate::planning::{plan_to_explain, prepare_to_analyze};
use crate::session::Session;
use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use exec::{StatementContext, StatementOutcome};
use explain::Format;
use expression::TypedValue;
use instance::StatementTraits;
use parser::ast::{Explain, ExplainTarget, Statement};
use std::sync::Arc;
use values::{ColumnType, TypeKind, Value};
use variables::id;
use wire::result::ClientChannel;

/// Runs EXPLAIN.
pub(crate) fn run(
    session: &mut Session,
    explain: &Explain,
    channel: &mut dyn ClientChannel,
) -> SqlResult<()> {
    let ExplainTarget::Statement(statement) = &explain.target else {
        return Err(refused_for_connection(session, explain));
    };
    if explain.schema.is_some() {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "EXPLAIN FOR SCHEMA"));
    }
    let mut locks = session.locks_needed(statement);
    session.refuse_change(StatementTraits::of(statement), &locks)?;
    let format = format(session, explain)?;
    let is_query = matches!(**statement, Statement::Query(_));
    // What changes rows is not run.
    let runs = explain.analyze && is_query;
    if is_query && !runs {
        locks.only_read();
    }
    session.refuse_read_only_change(statement, &locks)?;
    let parameters = Arc::clone(&session.parameters);
    let explained = session.run_in_transaction(&locks, false, |session, reads_lock| {
        let mut only_planned = true;
        let outcome = session.with_context(&locks, reads_lock, &parameters, |context| {
            if runs {
                let prepared = prepare_to_analyze(statement, context)?;
                only_planned = false;
                return sent(explain, explain::analyzed(&prepared, format, context)?, context, channel);
            }
            let plan = plan_to_explain(statement, context)?;
            only_planned = false;
            if explain.into.is_none() {
                return Ok((explain::explain(&plan, format, context, channel)?, None));
            }
            let text = explain::explained(&plan, format, context)?;
            sent(explain, (text, StatementOutcome::default()), context, channel)
        });
        session.transaction.only_planned = only_planned;
        outcome
    });
    let (outcome, text) = explained?;
    if let (Some(name), Some(text)) = (&explain.into, text) {
        let column_type = ColumnType::text(TypeKind::LongText, CollationId::UTF8MB4_0900_AI_CI);
        let value = TypedValue { value: Value::Bytes(text.into_bytes()), column_type };
        session.state.set_user_variable(&name.to_lowercase(), value)?;
    }
    session.answer(outcome, channel)
}

/// What EXPLAIN FOR CONNECTION answers: plans of other sessions cannot be had here.
fn refused_for_connection(session: &Session, explain: &Explain) -> SqlError {
    let ExplainTarget::Connection(id) = explain.target else {
        return sql_error!(ER_NOT_SUPPORTED_YET, "EXPLAIN FOR CONNECTION");
    };
    let is_known = u32::try_from(id).is_ok_and(|id| session.instance.registry().get(id).is_some());
    match (&explain.into, &explain.format) {
        (Some(_), None) => sql_error!(ER_EXPLAIN_INTO_IMPLICIT_FORMAT_NOT_SUPPORTED),
        (Some(_), Some(_)) => sql_error!(ER_EXPLAIN_INTO_FOR_CONNECTION_NOT_SUPPORTED),
        _ if explain.analyze => sql_error!(ER_NOT_SUPPORTED_YET, "EXPLAIN ANALYZE FOR CONNECTION"),
        _ if !is_known => sql_error!(ER_NO_SUCH_THREAD, id),
        _ => sql_error!(ER_NOT_SUPPORTED_YET, "EXPLAIN FOR CONNECTION"),
    }
}

/// Sends a text, unless it is for a variable.
fn sent(
    explain: &Explain,
    (text, ran): (String, StatementOutcome),
    context: &StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<(StatementOutcome, Option<String>)> {
    if explain.into.is_some() {
        return Ok((ran, Some(text)));
    }
    let sent = explain::send_text(text, context, channel)?;
    Ok((StatementOutcome { rows_examined: ran.rows_examined, spilled: ran.spilled, ..sent }, None))
}

/// The form of EXPLAIN: its own FORMAT, else explain_format. Error 1791 for a form that does not exist, 1235 for one that is missing
/// here, 6006 and 6007 for what cannot go into a variable.
fn format(session: &Session, explain: &Explain) -> SqlResult<Format> {
    let named = explain.format.as_deref();
    let name = named.map_or_else(|| session.state.text(id::EXPLAIN_FORMAT), str::to_owned);
    let upper = name.to_ascii_uppercase();
    let format = match (upper.as_str(), named) {
        ("TRADITIONAL", _) | ("TRADITIONAL_STRICT", None) => Format::Traditional,
        ("TREE", _) => Format::Tree,
        ("JSON", _) => Format::Json,
        _ => return Err(sql_error!(ER_UNKNOWN_EXPLAIN_FORMAT, name)),
    };
    if explain.into.is_some() && named.is_none() {
        return Err(sql_error!(ER_EXPLAIN_INTO_IMPLICIT_FORMAT_NOT_SUPPORTED));
    }
    if explain.into.is_some() && format != Format::Json {
        return Err(sql_error!(ER_EXPLAIN_INTO_FORMAT_NOT_SUPPORTED, upper));
    }
    let is_first_version = session.state.number(id::EXPLAIN_JSON_FORMAT_VERSION) == 1;
    match (format, explain.analyze) {
        (Format::Traditional, true) if named.is_some() => {
            Err(sql_error!(ER_NOT_SUPPORTED_YET, "EXPLAIN ANALYZE with TRADITIONAL format"))
        }
        (Format::Traditional, true) => Ok(Format::Tree),
        (Format::Json, true) if is_first_version => {
            Err(sql_error!(ER_EXPLAIN_ANALYZE_JSON_FORMAT_VERSION_NOT_SUPPORTED))
        }
        (Format::Json, false) if is_first_version => {
            Err(sql_error!(ER_NOT_SUPPORTED_YET, "EXPLAIN FORMAT=JSON with explain_json_format_version=1"))
        }
        (format, _) => Ok(format),
    }
}
