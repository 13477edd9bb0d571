//! SHOW and DESCRIBE: what the session lends to `sysviews`, and the answer.

use crate::session::Session;
use errors::{SqlResult, sql_error};
use instance::{SourceReads, StatementSettings};
use parser::ast::{Limit, ObjectName, Show, ShowFilter};
use sysviews::{Listing, Showing, overlay_query};
use values::Value;
use wire::result::{ClientChannel, ResultSink};

/// SHOW.
pub(crate) fn show(session: &mut Session, show: &Show, channel: &mut dyn ClientChannel) -> SqlResult<()> {
    let limit = match show {
        Show::Warnings { limit: Some(limit) } | Show::Errors { limit: Some(limit) } => {
            shown_rows(session, limit)?
        }
        _ => (0, u64::MAX),
    };
    crate::views::check_shown(session, show)?;
    let (listing, filter) = showing(session, limit).listing(show)?;
    if queries_tables(show) {
        session.transaction.xa.check_tables()?;
    }
    let found_rows = session.state.numbers.found_rows;
    if matches!(show, Show::Processlist { .. }) {
        session.diagnostics.warning(sysviews::deprecated_process_list());
    }
    send_listing(session, listing, &filter, channel)?;
    if is_no_query(show) {
        session.state.numbers.found_rows = found_rows;
    }
    Ok(())
}

/// What MySQL does not answer by a query over information_schema: it leaves FOUND_ROWS() as it was.
pub(crate) fn is_no_query(show: &Show) -> bool {
    matches!(
        show,
        Show::Warnings { .. }
            | Show::Errors { .. }
            | Show::CreateTable(_)
            | Show::CreateView(_)
            | Show::CreateDatabase { .. }
            | Show::CreateUser(_)
            | Show::CreateProgram { .. }
            | Show::Engine { .. }
            | Show::Privileges
            | Show::Processlist { .. }
            | Show::Grants { .. }
            | Show::Replicas
            | Show::Profiles
    )
}

/// What MySQL answers by a query over information_schema, performance_schema or the dictionary: over tables.
pub(crate) fn queries_tables(show: &Show) -> bool {
    !is_no_query(show)
        && !matches!(
            show,
            Show::WarningCount
                | Show::ErrorCount
                | Show::BinaryLogs
                | Show::BinaryLogStatus
                | Show::BinlogEvents { .. }
                | Show::ReplicaStatus { .. }
                | Show::ProcedureCode(_)
                | Show::FunctionCode(_)
        )
}

/// DESCRIBE table [column or pattern].
pub(crate) fn describe_table(
    session: &mut Session,
    table: &ObjectName,
    column: Option<&[u8]>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<()> {
    let filter = column.map_or(ShowFilter::None, |pattern| ShowFilter::Like(pattern.to_vec()));
    crate::views::check_described(session, table)?;
    let listing = showing(session, (0, u64::MAX)).describe(table)?;
    session.transaction.xa.check_tables()?;
    send_listing(session, listing, &filter, channel)
}

/// What is lent for it.
pub(crate) fn showing(session: &mut Session, limit: (u64, u64)) -> Showing<'_> {
    let settings = session.settings.get_or_init(|| StatementSettings::of(&session.settings_source()));
    Showing {
        instance: &session.instance,
        shared: &session.shared,
        user: &mut session.user,
        variables: &session.state.variables,
        settings,
        temporary: &session.temporary,
        schema: session.schema.as_deref(),
        diagnostics: &session.diagnostics,
        counts: (session.state.numbers.warning_count, session.state.numbers.error_count),
        locks: &mut session.locks,
        limit,
    }
}

fn shown_rows(session: &mut Session, limit: &Limit) -> SqlResult<(u64, u64)> {
    let offset = limit.offset.as_ref().map(|offset| row_number(session, offset)).transpose()?;
    Ok((offset.unwrap_or(0), row_number(session, &limit.count)?))
}

fn row_number(session: &mut Session, expression: &parser::ast::Expression) -> SqlResult<u64> {
    match session.evaluate(expression)?.value {
        Value::Int(number) => Ok(number.max(0) as u64),
        Value::UInt(number) => Ok(number),
        _ => Err(sql_error!(ER_WRONG_ARGUMENTS, "LIMIT")),
    }
}

fn send_listing(
    session: &mut Session,
    mut listing: Listing,
    filter: &ShowFilter,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    match filter {
        ShowFilter::None => {}
        ShowFilter::Like(pattern) => {
            listing.keep_like(&session.connection_collation().charset().to_string_lossy(pattern));
        }
        ShowFilter::Where(condition) => {
            listing.rows = session
                .collect(&overlay_query(condition), Some(listing.overlay()), SourceReads::Consistent)?
                .1;
        }
    }
    session.state.numbers.found_rows = listing.rows.len() as u64;
    session.send_rows(&listing.columns, &listing.rows, sink)
}
