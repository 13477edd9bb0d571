//! The state of one execution of a plan: what expressions ask for, what subqueries remember, counters and memory.
//! Main types: [`Run`], [`PlanningContext`].

use crate::context::StatementContext;
use crate::operator::subquery::SubqueryMemory;
use engine::{EngineError, ReadMode, WaitPolicy};
use errors::{Diagnostics, SqlError, SqlResult, sql_error};
use expression::{CallState, EvaluationContext, SessionView, StatementFacts, SubqueryValue};
use plan::Plan;
use plan::physical::RowLock;
use values::Value;

/// One execution of a plan.
pub struct Run<'r, 's> {
    pub(crate) plan: &'r Plan,
    pub(crate) statement: &'r mut StatementContext<'s>,
    /// Values of the enclosing rows, innermost last.
    pub(crate) frames: Vec<Vec<Value>>,
    pub(crate) subqueries: Vec<SubqueryMemory>,
    /// Rows of the last round of each recursion.
    pub(crate) recursions: Vec<Vec<Vec<Value>>>,
    pub(crate) rows_examined: u64,
    pub(crate) found_rows: Option<u64>,
    sites: Vec<Option<CallState>>,
    memory_bytes: u64,
}

impl<'r, 's> Run<'r, 's> {
    /// Begins an execution.
    pub fn new(plan: &'r Plan, statement: &'r mut StatementContext<'s>) -> Run<'r, 's> {
        let mut sites = Vec::new();
        sites.resize_with(plan.sites, || None);
        let mut subqueries = Vec::new();
        subqueries.resize_with(plan.subqueries.len(), SubqueryMemory::default);
        Run {
            plan,
            statement,
            frames: Vec::new(),
            subqueries,
            recursions: vec![Vec::new(); plan.recursions],
            rows_examined: 0,
            found_rows: None,
            sites,
            memory_bytes: 0,
        }
    }

    /// Counts memory that the statement holds until it ends; error 1114 beyond the limit.
    pub fn charge(&mut self, bytes: usize) -> SqlResult<()> {
        self.memory_bytes += bytes as u64;
        if self.memory_bytes > self.statement.settings.memory_bytes_max {
            return Err(sql_error!(ER_RECORD_FILE_FULL, "#sql_temporary"));
        }
        Ok(())
    }

    /// Bytes that may still be charged.
    pub fn memory_left(&self) -> usize {
        let left = self.statement.settings.memory_bytes_max.saturating_sub(self.memory_bytes);
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// How the engine reads rows for that lock.
    pub fn read_mode(&self, lock: RowLock) -> ReadMode {
        match lock {
            RowLock::None if self.statement.settings.reads_lock => ReadMode::Shared(WaitPolicy::Wait),
            RowLock::None => ReadMode::Consistent,
            RowLock::Shared(wait) => ReadMode::Shared(wait),
            RowLock::Exclusive(wait) => ReadMode::Exclusive(wait),
        }
    }
}

/// An engine's error as the client sees it.
pub fn engine_error(error: EngineError, table: &engine::Table) -> SqlError {
    error.into_sql(&table.definition().name.table)
}

/// The memory that a row holds, roughly.
pub fn row_bytes(row: &[Value]) -> usize {
    let text = |value: &Value| match value {
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    std::mem::size_of_val(row) + row.iter().map(text).sum::<usize>()
}

fn parameter(statement: &StatementContext<'_>, index: usize) -> SqlResult<Value> {
    match statement.parameters.get(index) {
        Some(found) => Ok(found.value.clone()),
        None => Err(sql_error!(ER_WRONG_ARGUMENTS, "EXECUTE")),
    }
}

fn check_killed(statement: &StatementContext<'_>) -> SqlResult<()> {
    if statement.kill.is_raised() { Err(sql_error!(ER_QUERY_INTERRUPTED)) } else { Ok(()) }
}

impl EvaluationContext for Run<'_, '_> {
    fn facts(&self) -> &StatementFacts {
        &self.statement.facts
    }

    fn diagnostics(&mut self) -> &mut Diagnostics {
        self.statement.diagnostics
    }

    fn session(&mut self) -> &mut dyn SessionView {
        self.statement.session
    }

    fn parameter(&self, index: usize) -> SqlResult<Value> {
        parameter(self.statement, index)
    }

    fn outer(&self, index: usize) -> Value {
        self.frames.last().and_then(|frame| frame.get(index)).cloned().unwrap_or(Value::Null)
    }

    fn subquery(&mut self, id: usize, outer: Vec<Value>, operands: Vec<Value>) -> SqlResult<SubqueryValue> {
        crate::operator::subquery::run(self, id, outer, &operands)
    }

    fn check_killed(&self) -> SqlResult<()> {
        check_killed(self.statement)
    }

    fn call_state(&mut self, site: usize) -> &mut Option<CallState> {
        if site >= self.sites.len() {
            self.sites.resize_with(site + 1, || None);
        }
        &mut self.sites[site]
    }
}

/// What constants may ask for while a plan is made.
pub struct PlanningContext<'r, 's> {
    statement: &'r mut StatementContext<'s>,
    sites: Vec<Option<CallState>>,
}

impl<'r, 's> PlanningContext<'r, 's> {
    /// A context over the statement's.
    pub fn new(statement: &'r mut StatementContext<'s>) -> PlanningContext<'r, 's> {
        PlanningContext { statement, sites: Vec::new() }
    }
}

impl EvaluationContext for PlanningContext<'_, '_> {
    fn facts(&self) -> &StatementFacts {
        &self.statement.facts
    }

    fn diagnostics(&mut self) -> &mut Diagnostics {
        self.statement.diagnostics
    }

    fn session(&mut self) -> &mut dyn SessionView {
        self.statement.session
    }

    fn parameter(&self, index: usize) -> SqlResult<Value> {
        parameter(self.statement, index)
    }

    fn outer(&self, _index: usize) -> Value {
        Value::Null
    }

    fn subquery(
        &mut self,
        _id: usize,
        _outer: Vec<Value>,
        _operands: Vec<Value>,
    ) -> SqlResult<SubqueryValue> {
        Err(sql_error!(ER_WRONG_USAGE, "subquery", "constant"))
    }

    fn check_killed(&self) -> SqlResult<()> {
        check_killed(self.statement)
    }

    fn call_state(&mut self, site: usize) -> &mut Option<CallState> {
        if site >= self.sites.len() {
            self.sites.resize_with(site + 1, || None);
        }
        &mut self.sites[site]
    }
}
