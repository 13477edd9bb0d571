//! What the session hands the executor for one statement, and what it gets back.
//! Main types: [`StatementContext`], [`StatementOutcome`].

use crate::ParameterUse;
use crate::spill::{ServerMemory, SpillCounts, Spool};
use engine::{Engine, KillFlag, TemporaryTables, Transaction};
use errors::{Diagnostics, SqlResult};
use expression::{Routine, SessionView, StatementFacts, TypedValue};
use parser::ast::Hint;
use plan::{PrivilegeCheck, Rules, VirtualTables};
use std::sync::Arc;
use values::Value;

/// Everything a statement may use. Lives for one execution.
pub struct StatementContext<'a> {
    /// The engine.
    pub engine: &'a Engine,
    /// The session's temporary tables.
    pub temporary: &'a TemporaryTables,
    /// The running transaction. The caller begins it, sets the statement mark, and commits or rolls back.
    pub transaction: &'a Transaction,
    /// sql_mode, time zone, statement time and the like.
    pub facts: &'a StatementFacts,
    /// User variables, system variables, LAST_INSERT_ID(), user locks, stored functions.
    pub session: &'a mut dyn Effects,
    /// Where warnings go. The caller clears it before the statement.
    pub diagnostics: &'a mut Diagnostics,
    /// Grants of the user.
    pub privileges: &'a dyn PrivilegeCheck,
    /// information_schema and other tables without storage, and views.
    pub virtual_tables: &'a dyn VirtualTables,
    /// Files on the server (LOAD DATA INFILE, INTO OUTFILE).
    pub files: &'a mut dyn ServerFiles,
    /// Values of a prepared statement's parameters.
    pub parameters: &'a [TypedValue],
    /// Those of them that are too long for memory; `parameters` has empty ones in their places.
    pub long_parameters: Option<&'a Arc<LongParameters>>,
    /// Optimizer hints that are for other blocks than those where they stand.
    pub hints: &'a [Hint],
    /// What all statements of the server may hold together.
    pub server_memory: &'a Arc<ServerMemory>,
    /// Raised by KILL QUERY and by max_execution_time.
    pub kill: &'a KillFlag,
    /// Session settings that change how statements run.
    pub settings: ExecutionSettings,
}

/// The session as a running statement uses it: what expressions see and change of it, and the programs that they call.
pub trait Effects: SessionView {
    /// Runs a stored function. What its statements warn of is forgotten with them.
    fn call(&mut self, routine: &Arc<Routine>, arguments: Vec<TypedValue>) -> SqlResult<Value>;

    /// SET INSERT_ID, for the first statement that wants a generated id: it is that one's alone.
    fn take_insert_id(&mut self) -> Option<u64>;
}

/// Parameters that came in pieces and are too long for memory, by position.
#[derive(Debug, Default)]
pub struct LongParameters(Vec<Option<Arc<Spool>>>);

impl LongParameters {
    /// Adds a parameter.
    pub fn insert(&mut self, index: usize, value: Spool) {
        self.insert_shared(index, &Arc::new(value));
    }

    /// Loads those that their parameters do not take as they stand. None if no other is left. Error 1114 for one of more than so many
    /// bytes.
    pub fn without_misfits(
        &self,
        given: &mut [TypedValue],
        uses: &[Option<ParameterUse>],
        bytes_max: u64,
    ) -> SqlResult<Option<LongParameters>> {
        let mut left = LongParameters::default();
        for (index, typed) in given.iter_mut().enumerate() {
            let Some(spool) = self.get(index) else { continue };
            let used = uses.get(index).and_then(Option::as_ref);
            let as_it_stands = |used: &ParameterUse| {
                used.reading.is_as_given() || expression::parameter::is_as_it_stands(typed, &used.column_type)
            };
            if used.is_none_or(as_it_stands) {
                left.insert_shared(index, spool);
            } else {
                typed.value = Value::Bytes(spool.load_within(bytes_max)?);
            }
        }
        Ok((!left.0.is_empty()).then_some(left))
    }

    fn insert_shared(&mut self, index: usize, value: &Arc<Spool>) {
        self.0.resize(index + 1, None);
        self.0[index] = Some(Arc::clone(value));
    }

    /// That parameter, if it is one of them.
    pub fn get(&self, index: usize) -> Option<&Arc<Spool>> {
        self.0.get(index).and_then(Option::as_ref)
    }
}

/// What one operator keeps in memory unless a variable says otherwise: a quarter of a statement's memory.
const OPERATOR_BYTES_MAX: u64 = 1 << 28;

/// Session settings that change how statements run.
#[derive(Clone, Debug)]
pub struct ExecutionSettings {
    /// CLIENT_FOUND_ROWS: affected rows count rows found, not changed.
    pub found_rows_as_affected: bool,
    /// Plain reads lock rows for sharing (SERIALIZABLE within a transaction).
    pub reads_lock: bool,
    /// auto_increment_increment.
    pub auto_increment_increment: u64,
    /// auto_increment_offset.
    pub auto_increment_offset: u64,
    /// sql_safe_updates.
    pub safe_updates: bool,
    /// sql_select_limit.
    pub select_limit: u64,
    /// max_join_size, unless sql_big_selects lets statements read any number of rows.
    pub examined_rows_max: u64,
    /// cte_max_recursion_depth.
    pub recursion_depth_max: u64,
    /// Bytes that one statement may keep in memory, all its operators together.
    pub memory_bytes_max: u64,
    /// sort_buffer_size: bytes that one sort keeps in memory before it goes to disk.
    pub sort_bytes_max: u64,
    /// tmp_table_size: the same for kept rows, groups and the keys of DISTINCT, UNION and IN.
    pub kept_bytes_max: u64,
    /// join_buffer_size: the same for the kept side of a hash join.
    pub join_bytes_max: u64,
    /// foreign_key_checks = 0: nobody asks for parents, and rows that refer to changed ones stay as they are.
    pub foreign_key_checks: bool,
    /// unique_checks = 0 promises that a bulk load has no duplicates.
    pub unique_checks: bool,
    /// Use of the fast plans. Off: every statement takes the generic path (differential tests).
    pub fast_plans: bool,
    /// Rules of the optimizer, and fast ways with a switch of their own, that may be used.
    pub rules: Rules,
}

impl Default for ExecutionSettings {
    fn default() -> Self {
        ExecutionSettings {
            found_rows_as_affected: false,
            reads_lock: false,
            auto_increment_increment: 1,
            auto_increment_offset: 1,
            safe_updates: false,
            select_limit: u64::MAX,
            examined_rows_max: u64::MAX,
            recursion_depth_max: 1000,
            memory_bytes_max: 1 << 30,
            sort_bytes_max: OPERATOR_BYTES_MAX,
            kept_bytes_max: OPERATOR_BYTES_MAX,
            join_bytes_max: OPERATOR_BYTES_MAX,
            foreign_key_checks: true,
            unique_checks: true,
            fast_plans: true,
            rules: Rules::ALL,
        }
    }
}

/// What a statement did. The caller ends the result (`ResultSink::end_rows` or `ok`) from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementOutcome {
    /// Whether a result set was started (`columns` was called); the caller then calls `end_rows`, otherwise `ok`.
    pub sent_rows: bool,
    /// Rows in the result set.
    pub rows_sent: u64,
    /// Rows read from tables.
    pub rows_examined: u64,
    /// Affected rows of the OK packet.
    pub affected_rows: u64,
    /// ROW_COUNT() afterwards: -1 for a result set.
    pub row_count: i64,
    /// The id of the OK packet: the first generated value, or that of the last row given.
    pub last_insert_id: u64,
    /// The first value generated by this statement, which LAST_INSERT_ID() shall return from now on.
    pub generated_id: Option<u64>,
    /// The first value generated for a column that the statement's view does not show: the OK packet names it, LAST_INSERT_ID() does not.
    pub hidden_id: Option<u64>,
    /// The answer names no id although LAST_INSERT_ID() has one: LOAD DATA.
    pub keeps_id: bool,
    /// FOUND_ROWS() afterwards, if the statement sets it.
    pub found_rows: Option<u64>,
    /// What went to disk.
    pub spilled: SpillCounts,
    /// Text of the OK packet, e.g. "Rows matched: 1  Changed: 1  Warnings: 0".
    pub info: String,
}

/// Files on the server's disk, as far as secure_file_priv allows.
pub trait ServerFiles {
    /// Opens a file for reading. Errors: 13 (not found), 1290 (secure_file_priv).
    fn open(&mut self, path: &str) -> SqlResult<Box<dyn FilePieces>>;

    /// Creates a file that must not exist. Errors: 1086, 1290.
    fn create(&mut self, path: &str) -> SqlResult<Box<dyn FileWriter>>;
}

/// A file that is read in pieces.
pub trait FilePieces {
    /// The next piece; None at the end.
    fn next_piece(&mut self) -> SqlResult<Option<Vec<u8>>>;
}

/// A file that is being written.
pub trait FileWriter {
    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]) -> SqlResult<()>;

    /// Makes the file complete.
    fn finish(&mut self) -> SqlResult<()>;
}

/// No files: tests and embedded use.
#[derive(Debug)]
pub struct NoServerFiles;

impl ServerFiles for NoServerFiles {
    fn open(&mut self, _path: &str) -> SqlResult<Box<dyn FilePieces>> {
        Err(errors::sql_error!(ER_OPTION_PREVENTS_STATEMENT, "--secure-file-priv"))
    }

    fn create(&mut self, _path: &str) -> SqlResult<Box<dyn FileWriter>> {
        Err(errors::sql_error!(ER_OPTION_PREVENTS_STATEMENT, "--secure-file-priv"))
    }
}
