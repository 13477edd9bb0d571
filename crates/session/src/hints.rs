//! SET_VAR: variables that optimizer hints set for one statement. Main type: [`RunningHints`]. A mistake is a warning, and the rest
//! counts.

use crate::session::Session;
use crate::set::{assign_session, session_value};
use errors::{SqlError, sql_error};
use parser::ast::{HintValue, SetVariableHint, StatementHints};
use std::sync::Arc;
use values::{ColumnType, Decimal, TypeKind, Value};
use variables::{SessionVariables, find, id};

/// The hints of the running statement that are not for the block where they stand.
#[derive(Default)]
pub(crate) struct RunningHints {
    pub statement: Option<Arc<StatementHints>>,
    saved: Option<Saved>,
}

/// What was before the hints.
struct Saved {
    variables: Arc<SessionVariables>,
    fixed_time_microseconds: Option<i64>,
    insert_id: Option<u64>,
}

/// What PREPARE and a text statement are told of SET_VAR before anything runs: what is said twice, and names of no use.
pub(crate) fn warnings(hints: &StatementHints) -> Vec<SqlError> {
    let refused = |(at, hint): (usize, &SetVariableHint)| match find(&hint.name) {
        None => Some(sql_error!(ER_UNRESOLVED_HINT_NAME, format!("'{}'", hint.name), "SET_VAR")),
        Some(variable) if !variable.variable().hint => {
            Some(sql_error!(ER_NOT_HINT_UPDATABLE_VARIABLE, format!("'{}'", hint.name)))
        }
        Some(_) if is_said_before(hints, at) => Some(sql_error!(ER_WARN_CONFLICTING_HINT, hint.printed())),
        Some(_) => None,
    };
    hints.set_variables.iter().enumerate().filter_map(refused).collect()
}

fn is_said_before(hints: &StatementHints, at: usize) -> bool {
    let name = &hints.set_variables[at].name;
    hints.set_variables[..at].iter().any(|before| before.name.eq_ignore_ascii_case(name))
}

/// Sets the variables of the statement that begins.
#[inline]
pub(crate) fn enter(session: &mut Session) {
    if session.hints.statement.is_some() {
        set_variables(session);
    }
}

#[cold]
fn set_variables(session: &mut Session) {
    let Some(hints) = session.hints.statement.clone().filter(|hints| !hints.set_variables.is_empty()) else {
        return;
    };
    if session.hints.saved.is_none() {
        session.hints.saved = Some(Saved {
            variables: Arc::clone(&session.state.variables),
            fixed_time_microseconds: session.state.fixed_time_microseconds,
            insert_id: session.state.insert_id,
        });
    }
    for (at, hint) in hints.set_variables.iter().enumerate() {
        let Some(variable) = find(&hint.name).filter(|found| found.variable().hint) else { continue };
        if is_said_before(&hints, at) {
            continue;
        }
        let value = typed(&hint.value);
        let assigned = session_value(session, variable, value)
            .and_then(|value| assign_session(session, variable, value));
        if let Err(error) = assigned {
            session.diagnostics.warning(error);
        }
    }
    if let Some(fixed) = session.state.fixed_time_microseconds {
        session.state.statement_time_microseconds = fixed;
    }
}

/// Gives back what was before.
#[inline]
pub(crate) fn leave(session: &mut Session) {
    if session.hints.statement.is_some() {
        give_back(session);
    }
}

#[cold]
fn give_back(session: &mut Session) {
    session.hints.statement = None;
    let Some(saved) = session.hints.saved.take() else { return };
    session.state.variables = saved.variables;
    session.state.fixed_time_microseconds = saved.fixed_time_microseconds;
    session.state.insert_id = saved.insert_id;
    session.forget_settings();
    session.diagnostics.set_kept_max(session.state.number(id::MAX_ERROR_COUNT) as usize);
}

fn typed(value: &HintValue) -> expression::TypedValue {
    match value {
        HintValue::Integer(number) => {
            let column_type = ColumnType::integer(TypeKind::BigInt, true);
            expression::TypedValue { value: Value::UInt(*number), column_type }
        }
        HintValue::Decimal(text) => {
            let number = Decimal::parse(text.as_bytes()).number;
            let column_type = expression::ResultType::of_decimal(&number).column_type;
            expression::TypedValue { value: Value::Decimal(number), column_type }
        }
        HintValue::Text(text) => {
            let value = Value::Bytes(text.clone().into_bytes());
            expression::TypedValue { value, column_type: ColumnType::new(TypeKind::VarChar) }
        }
    }
}
