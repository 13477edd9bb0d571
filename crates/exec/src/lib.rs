//! Physical operators, aggregates and data change over the engine. Entry points: [`prepare`], [`execute_prepared`],
//! [`execute`], [`describe`], [`explain`]. Knows no sockets; rows go to a `wire::result::ResultSink`.
//!
//! A caller (the session) does, for each query or data-changing statement:
//! 1. fills a [`StatementContext`];
//! 2. `let prepared = exec::prepare(&statement, &mut context)?` or takes a cached one that `is_current`;
//! 3. `let outcome = exec::execute_prepared(&prepared, &mut context, channel)?`;
//! 4. ends the result with `end_rows` or `ok`, and keeps what the outcome says (row count, ids).
#![forbid(unsafe_code)]

mod context;

pub use context::{
    ExecutionSettings, FilePieces, FileWriter, NoServerFiles, ServerFiles, StatementContext, StatementOutcome,
};

use engine::Engine;
use errors::{SqlResult, sql_error};
use parser::ast::Statement;
use std::sync::Arc;
use wire::result::{ClientChannel, ResultColumn};

/// A bound and optimised statement. May be kept and run many times with other parameters, while it is current;
/// cloning is cheap. Privileges are checked by [`prepare`] and again by [`execute_prepared`].
#[derive(Clone, Debug)]
pub struct Prepared {
    plan: Arc<plan::Plan>,
}

impl Prepared {
    /// Whether no definition that it was made for has changed since.
    pub fn is_current(&self, engine: &Engine) -> bool {
        self.plan.dictionary_epoch == engine.dictionary().epoch()
    }

    /// The columns of its result set; empty for a statement that returns no rows.
    pub fn columns(&self) -> &[ResultColumn] {
        &[]
    }
}

/// Binds and optimises a query or data-changing statement (SELECT, VALUES, TABLE, INSERT, REPLACE, UPDATE, DELETE,
/// LOAD DATA, DO).
pub fn prepare(statement: &Statement, context: &mut StatementContext<'_>) -> SqlResult<Prepared> {
    let _ = (statement, context);
    Err(sql_error!(ER_NOT_SUPPORTED_YET, "this statement"))
}

/// Runs a prepared statement. On an error the caller rolls back to the statement mark.
pub fn execute_prepared(
    prepared: &Prepared,
    context: &mut StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    let _ = (prepared, context, channel);
    Err(sql_error!(ER_NOT_SUPPORTED_YET, "this statement"))
}

/// Prepares and runs a statement.
pub fn execute(
    statement: &Statement,
    context: &mut StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    let prepared = prepare(statement, context)?;
    execute_prepared(&prepared, context, channel)
}

/// The columns of a statement's result set without running it (COM_STMT_PREPARE). Parameters need no values.
pub fn describe(statement: &Statement, context: &mut StatementContext<'_>) -> SqlResult<Vec<ResultColumn>> {
    Ok(prepare(statement, context)?.columns().to_vec())
}

/// EXPLAIN in table form: sends the plan as rows.
pub fn explain(
    statement: &Statement,
    context: &mut StatementContext<'_>,
    channel: &mut dyn ClientChannel,
) -> SqlResult<StatementOutcome> {
    let _ = (statement, context, channel);
    Err(sql_error!(ER_NOT_SUPPORTED_YET, "EXPLAIN"))
}
