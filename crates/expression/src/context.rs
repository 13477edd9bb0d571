//! What an expression may ask of the statement and session in which it runs. Main trait: [`EvaluationContext`].
//! Implemented by the executor over what the session hands it; one context per running statement, one thread.

use errors::{Diagnostics, SqlError, SqlResult, sql_error};
use std::sync::Arc;
use values::{ColumnType, Value};

use crate::facts::StatementFacts;
use crate::operand::Operand;
use crate::routine::Routine;
use functions::Interrupt;

/// Which copy of a system variable is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableScope {
    /// `@@name`: the session's copy if there is one, otherwise the global one.
    Default,
    /// `@@session.name`.
    Session,
    /// `@@global.name`.
    Global,
    /// `@@persist.name` and `@@persist_only.name`.
    Persist,
}

/// A value together with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedValue {
    /// The value.
    pub value: Value,
    /// Its type.
    pub column_type: ColumnType,
}

/// The session as expressions see it. Implemented by `session`.
pub trait SessionView {
    /// The user variable of that name (lower case), None if it was never set.
    fn user_variable(&self, name: &str) -> Option<TypedValue>;

    /// Sets a user variable; error 3170 if all of the session's are too long together.
    fn set_user_variable(&mut self, name: &str, value: TypedValue) -> SqlResult<()>;

    /// A system variable; error 1193 or 1238 when there is none of that name and scope.
    fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<TypedValue>;

    /// LAST_INSERT_ID().
    fn last_insert_id(&self) -> u64;

    /// LAST_INSERT_ID(value).
    fn set_last_insert_id(&mut self, value: u64);

    /// sql_auto_is_null.
    fn auto_is_null(&self) -> bool;

    /// ROW_COUNT(): -1 after a statement that returned rows.
    fn row_count(&self) -> i64;

    /// FOUND_ROWS().
    fn found_rows(&self) -> u64;

    /// CURRENT_ROLE(): the active roles, or NONE.
    fn current_role(&self) -> Arc<str>;

    /// All accounts and who was granted what role, quoted; None where the session may not see them.
    fn role_graph(&self) -> Option<RoleGraph>;

    /// Whether there is a connection of that number.
    fn is_connected(&self, connection_id: u64) -> bool;

    /// Takes a user lock: Some(true) taken, Some(false) timed out, None on error. Negative: wait without end.
    fn get_lock(&mut self, name: &str, timeout_seconds: f64) -> SqlResult<Option<bool>>;

    /// Gives a user lock back: Some(true) released, Some(false) held by another, None no such lock.
    fn release_lock(&mut self, name: &str) -> SqlResult<Option<bool>>;

    /// RELEASE_ALL_LOCKS(): how many were released.
    fn release_all_locks(&mut self) -> u64;

    /// The connection that holds a user lock.
    fn lock_holder(&self, name: &str) -> SqlResult<Option<u64>>;

    /// The time zone of that name, one of those that SET time_zone takes.
    fn time_zone(&self, name: &str) -> Option<functions::temporal::zone::TimeZone>;

    /// Sleeps, until `seconds` are over or the statement is killed (true).
    fn sleep(&mut self, seconds: f64) -> bool;

    /// The state of the session's RAND(): two 30-bit words.
    fn random_state(&mut self) -> &mut [u32; 2];

    /// Random bytes from the environment (UUID(), RANDOM_BYTES()).
    fn random_bytes(&mut self, bytes: &mut [u8]);

    /// A microsecond clock of the moment, not of the statement (SYSDATE(), UUID()): since 1970 in UTC.
    fn now_microseconds(&self) -> i64;

    /// Bytes of a file on the server (LOAD_FILE); None where it may not be read.
    fn load_file(&mut self, path: &str) -> Option<Vec<u8>>;
}

/// Accounts and the roles that they were granted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleGraph {
    /// The accounts, quoted, by name.
    pub accounts: Vec<String>,
    /// Each grant: who has it, which role it is (places in `accounts`), and whether it may be granted on.
    pub grants: Vec<(usize, usize, bool)>,
}

/// What a subquery yields.
#[derive(Clone, Debug, PartialEq)]
pub enum SubqueryValue {
    /// A scalar subquery's value (NULL for no row) or the truth of EXISTS, IN, ANY and ALL.
    Scalar(Value),
    /// A row subquery's columns; None for no row.
    Row(Option<Vec<Value>>),
}

/// Values of fewer bytes are not counted while they wait: as deep as expressions nest, they come to little.
pub const LONG_BYTES: usize = 64 << 10;

/// The bytes of a value that are to be counted while it waits: those that were made for it.
#[inline]
pub fn waiting_bytes(value: &Operand<'_>) -> usize {
    match value {
        Operand::Owned(Value::Bytes(bytes)) if bytes.len() >= LONG_BYTES => bytes.len(),
        _ => 0,
    }
}

/// What evaluation needs besides the row.
pub trait EvaluationContext {
    /// Facts that hold during the whole statement.
    fn facts(&self) -> &StatementFacts;

    /// Where warnings go.
    fn diagnostics(&mut self) -> &mut Diagnostics;

    /// The session.
    fn session(&mut self) -> &mut dyn SessionView;

    /// The value of a prepared statement's parameter.
    fn parameter(&self, index: usize) -> SqlResult<Value>;

    /// The same to be looked at: for row after row without a copy each.
    fn parameter_operand(&mut self, index: usize) -> SqlResult<Operand<'static>> {
        Ok(Operand::Owned(self.parameter(index)?))
    }

    /// A value of the enclosing query's current row, by its place in the running subquery's list of outer
    /// references.
    fn outer(&self, index: usize) -> Value;

    /// Runs the subquery of that number with these values of the enclosing row. `operands` are the left operands
    /// of IN, ANY and ALL, empty otherwise.
    fn subquery(&mut self, id: usize, outer: Vec<Value>, operands: Vec<Value>) -> SqlResult<SubqueryValue>;

    /// Runs a stored function. Error 1305 where there are none.
    fn call_routine(&mut self, routine: &Arc<Routine>, _arguments: Vec<TypedValue>) -> SqlResult<Value> {
        Err(sql_error!(ER_SP_DOES_NOT_EXIST, "FUNCTION", format!("{routine:?}")))
    }

    /// Error 1317 or 3024 once the statement was killed or ran out of time; what `Diagnostics::raised` says where
    /// strict mode ended it.
    fn check_killed(&self) -> SqlResult<()>;

    /// Counts bytes of long values ([`LONG_BYTES`]) that wait while something else is evaluated; error 1114 beyond what the statement
    /// may hold. Whoever counts them takes them back, whatever comes of the evaluation; for what a call site keeps it may be with the
    /// statement's end.
    fn occupy(&mut self, bytes: usize) -> SqlResult<()>;

    /// Takes back what was counted.
    fn vacate(&mut self, bytes: usize);

    /// Room for what one call site keeps between rows (a compiled pattern, a random state). The number is
    /// [`crate::FunctionCall::site`].
    fn call_state(&mut self, site: usize) -> &mut Option<CallState>;
}

/// What functions ask within long work.
impl Interrupt for &mut dyn EvaluationContext {
    fn check_killed(&self) -> SqlResult<()> {
        EvaluationContext::check_killed(&**self)
    }
}

/// What a call site keeps between rows.
pub type CallState = Box<dyn std::any::Any>;

/// Adds a warning, unless the same statement runs where warnings of this kind are errors.
pub fn warn(context: &mut dyn EvaluationContext, error: SqlError) {
    context.diagnostics().warning(error);
}
