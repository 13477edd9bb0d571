//! Queries: rows to the client or into variables, and the description of result columns.

use crate::Prepared;
use crate::context::StatementOutcome;
use crate::operator::open;
use crate::run::Run;
use errors::{SqlResult, sql_error};
use expression::{EvaluationContext, TypedValue};
use parser::ast::{IntoVariable, QueryInto};
use plan::QueryPlan;
use values::RowRef;
use values::TypeKind;
use wire::result::{ResultColumn, ResultSink};

/// The result columns as the protocol describes them.
pub fn result_columns(query: &QueryPlan) -> Vec<ResultColumn> {
    let mut columns = Vec::with_capacity(query.columns.len());
    for column in &query.columns {
        let mut described = ResultColumn {
            computed: column.computed,
            flags: u16::from(!column.result.nullable),
            ..ResultColumn::named(column.name.clone(), column.result.column_type.clone())
        };
        if let Some(origin) = &column.origin {
            described.schema.clone_from(&origin.schema);
            described.table.clone_from(&origin.table);
            described.original_table.clone_from(&origin.original_table);
            described.original_name.clone_from(&origin.column);
            described.flags |= origin.flags;
            if column.result.nullable {
                described.flags &= !1;
            }
        }
        columns.push(described);
    }
    columns
}

/// Sends the rows of a query.
pub fn send(
    run: &mut Run<'_, '_>,
    query: &QueryPlan,
    prepared: &Prepared,
    sink: &mut dyn ResultSink,
) -> SqlResult<StatementOutcome> {
    if let Some(pass_through) = prepared.pass_through(run.statement)
        && let Some(rows) = sink.encoded_rows()
    {
        return pass_through.send(query, rows, run);
    }
    let columns = prepared.columns();
    let mut operator = open(&query.root, run);
    let mut batch = run.batch();
    // The first rows are computed before the header goes out, so that an error replaces the result set.
    let mut more = operator.next(run, &mut batch)?;
    sink.columns(columns, run.statement.facts.results_collation)?;
    let mut outcome = StatementOutcome { sent_rows: true, row_count: -1, ..StatementOutcome::default() };
    let prints = columns.iter().any(|column| column.column_type.kind == TypeKind::Json);
    while more {
        // As in MySQL nobody looks once the only row of a query without FROM, or without groups, is computed.
        if !query.root.computes_one_row() || outcome.rows_sent > 0 || batch.len() > 1 {
            run.check_killed()?;
        }
        // A locking read may have met rows whose commit is not durable yet.
        sink.require_durable(run.statement.transaction.reply_lsn());
        for row in batch.iter() {
            match prints {
                true => sink.long_documents(row.first(columns.len()), &run.document_watch())?,
                false => sink.row(row.first(columns.len()))?,
            }
        }
        outcome.rows_sent += batch.len() as u64;
        more = operator.next(run, &mut batch)?;
    }
    outcome.found_rows = Some(run.found_rows.unwrap_or(outcome.rows_sent));
    Ok(outcome)
}

/// Computes the rows of a query, for nobody.
pub fn drain(run: &mut Run<'_, '_>, query: &QueryPlan) -> SqlResult<StatementOutcome> {
    let mut operator = open(&query.root, run);
    let mut batch = run.batch();
    while operator.next(run, &mut batch)? {
        run.check_killed()?;
    }
    Ok(StatementOutcome::default())
}

/// SELECT ... INTO @a, @b.
pub fn into_variables(
    run: &mut Run<'_, '_>,
    query: &QueryPlan,
    variables: &[IntoVariable],
) -> SqlResult<StatementOutcome> {
    for variable in variables {
        if let IntoVariable::Local(name) = variable {
            return Err(sql_error!(ER_SP_UNDECLARED_VAR, name));
        }
    }
    if variables.len() != query.columns.len() {
        return Err(sql_error!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT));
    }
    let mut found = false;
    let mut operator = open(&query.root, run);
    let mut batch = run.batch();
    while operator.next(run, &mut batch)? {
        for row in batch.iter() {
            // The values of the first row stay, whatever comes after it.
            if std::mem::replace(&mut found, true) {
                return Err(sql_error!(ER_TOO_MANY_ROWS));
            }
            assign(run, query, variables, row)?;
        }
    }
    if !found {
        run.diagnostics().warning(sql_error!(ER_SP_FETCH_NO_DATA));
        return Ok(StatementOutcome {
            found_rows: run.found_rows.or(Some(0)),
            ..StatementOutcome::default()
        });
    }
    Ok(StatementOutcome {
        affected_rows: 1,
        row_count: 1,
        found_rows: run.found_rows.or(Some(1)),
        ..StatementOutcome::default()
    })
}

fn assign(
    run: &mut Run<'_, '_>,
    query: &QueryPlan,
    variables: &[IntoVariable],
    row: RowRef<'_>,
) -> SqlResult<()> {
    for ((variable, column), value) in variables.iter().zip(&query.columns).zip(row.iter()) {
        let IntoVariable::User(name) = variable else { continue };
        let typed = TypedValue { value: value.to_value(), column_type: column.result.column_type.clone() };
        run.statement.session.set_user_variable(&name.to_lowercase(), typed)?;
    }
    Ok(())
}

/// Runs a query to where its INTO says.
pub fn run_query(
    run: &mut Run<'_, '_>,
    query: &QueryPlan,
    into: Option<&QueryInto>,
    prepared: &Prepared,
    sink: &mut dyn ResultSink,
) -> SqlResult<StatementOutcome> {
    match into {
        None => send(run, query, prepared, sink),
        Some(QueryInto::Variables(variables)) => into_variables(run, query, variables),
        Some(QueryInto::Outfile { path, format, .. }) => crate::outfile::write(run, query, path, format),
        Some(QueryInto::Dumpfile(_)) => Err(sql_error!(ER_NOT_SUPPORTED_YET, "INTO DUMPFILE")),
    }
}
