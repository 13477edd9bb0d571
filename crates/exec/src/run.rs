//! The state of one execution of a plan: what expressions ask for, what subqueries remember, counters and memory.
//! Main types: [`Run`], [`PlanningContext`].

use crate::actuals::{Actuals, StepId};
use crate::batch::{RowBatch, long_bytes};
use crate::context::StatementContext;
use crate::operator::lateral::Seeds;
use crate::operator::recursive::Recursion;
use crate::operator::subquery::KeptSubquery;
use crate::operator::virtual_table::VirtualCursors;
use crate::spill::{DocumentWatch, Held, KeySet, RowStore, SpillCounts, Spool, Workspace, check_flag, full};
use charset::CollationId;
use engine::{EngineError, ReadMode, WaitPolicy};
use errors::{Diagnostics, SqlError, SqlResult, sql_error};
use expression::{
    CallState, EvaluationContext, Operand, Routine, SessionView, StatementFacts, SubqueryValue, TypedValue,
};
use plan::physical::RowLock;
use plan::{Plan, PlanningSurroundings, Rules};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use values::Value;

/// One execution of a plan.
pub struct Run<'r, 's> {
    pub(crate) plan: &'r Plan,
    pub(crate) statement: &'r mut StatementContext<'s>,
    /// Values of the enclosing rows, innermost last.
    pub(crate) frames: Vec<Vec<Value>>,
    /// Values of outer sides for the sources within inner sides, innermost last.
    pub(crate) seeds: Vec<Seeds>,
    pub(crate) subqueries: Vec<KeptSubquery>,
    /// The recursions that are being computed.
    pub(crate) recursions: Vec<Option<Recursion>>,
    /// Rows that were computed of common tables that are used more than once, and of queries in FROM that are asked for again and again.
    pub(crate) shared_rows: HashMap<StepId, Rc<RowStore>>,
    /// What is being read of tables without storage.
    pub(crate) virtual_cursors: VirtualCursors<'s>,
    pub(crate) rows_examined: u64,
    /// What the steps do, if that is measured.
    pub(crate) actuals: Option<Box<Actuals>>,
    pub(crate) found_rows: Option<u64>,
    /// What INSERT says of a column once, however many rows it holds for.
    told: Vec<SqlError>,
    sites: Vec<Option<CallState>>,
    /// Where constants in the select list of a subquery keep their values, by its number.
    constant_sites: Vec<(usize, usize)>,
    /// Texts of parameters, once they were looked at.
    parameters: Vec<Option<Rc<Value>>>,
    /// Memory and temporary files; made when first asked for.
    workspace: OnceCell<Rc<Workspace>>,
    /// What is held until the statement ends.
    charged: Option<Held>,
    /// The table that rows are stored in, where errors name it beside the column.
    pub(crate) stores_to: String,
    /// While expressions of a table over its own rows are computed, if the connection has another collation than these.
    stored_facts: Option<Box<StatementFacts>>,
}

impl<'r, 's> Run<'r, 's> {
    /// Begins an execution.
    pub fn new(plan: &'r Plan, statement: &'r mut StatementContext<'s>) -> Run<'r, 's> {
        let mut sites = Vec::new();
        sites.resize_with(plan.sites, || None);
        let mut subqueries = Vec::new();
        subqueries.resize_with(plan.subqueries.len(), KeptSubquery::default);
        let mut recursions = Vec::new();
        recursions.resize_with(plan.recursions, || None);
        Run {
            plan,
            statement,
            frames: Vec::new(),
            seeds: Vec::new(),
            subqueries,
            recursions,
            shared_rows: HashMap::new(),
            virtual_cursors: VirtualCursors::default(),
            rows_examined: 0,
            actuals: None,
            found_rows: None,
            told: Vec::new(),
            sites,
            constant_sites: Vec::new(),
            parameters: Vec::new(),
            workspace: OnceCell::new(),
            charged: None,
            stores_to: String::new(),
            stored_facts: None,
        }
    }

    /// The first of so many call sites for the constants of a subquery's select list; the same in each of its runs.
    pub fn constant_sites(&mut self, id: usize, count: usize) -> usize {
        if let Some((_, first)) = self.constant_sites.iter().find(|(known, _)| *known == id) {
            return *first;
        }
        let first = self.sites.len();
        self.sites.resize_with(first + count, || None);
        self.constant_sites.push((id, first));
        first
    }

    /// An empty batch for the rows of an operator that is read to its end.
    pub fn batch(&self) -> RowBatch {
        let mut batch = RowBatch::new();
        if self.plan.row_by_row {
            batch.want(1);
        }
        batch
    }

    /// Takes over memory that is held until the end of the statement.
    pub fn keep(&mut self, held: Held) {
        match &mut self.charged {
            Some(all) => all.absorb(held),
            None => self.charged = Some(held),
        }
    }

    /// Rows are going to be stored in that table: errors of JSON name it.
    pub fn store_to(&mut self, definition: &dictionary::TableDefinition) {
        if definition.has_json() {
            self.stores_to.clone_from(&definition.name.table);
        }
    }

    /// Computes expressions that a table keeps: they mean the same for every client.
    pub fn with_stored_facts<T>(&mut self, compute: impl FnOnce(&mut Self) -> T) -> T {
        if has_stored_facts(self.statement.facts) {
            return compute(self);
        }
        self.stored_facts = Some(Box::new(stored_facts(self.statement.facts)));
        let computed = compute(self);
        self.stored_facts = None;
        computed
    }

    /// The statement's memory and temporary files.
    pub fn workspace(&self) -> &Rc<Workspace> {
        self.workspace.get_or_init(|| {
            let statement = &self.statement;
            let bytes_max = statement.settings.memory_bytes_max;
            let server = Arc::clone(statement.server_memory);
            Workspace::new(statement.engine.clone(), statement.kill.clone(), bytes_max, server)
        })
    }

    /// Memory that is given back when its holder goes.
    pub fn hold(&self) -> Held {
        Held::new(self.workspace().clone())
    }

    /// What long work over documents asks.
    pub fn document_watch(&self) -> DocumentWatch<'s> {
        DocumentWatch::new(self.statement.kill, self.hold(), self.statement.facts.max_allowed_packet)
    }

    /// An empty store of rows.
    pub fn row_store(&self) -> RowStore {
        RowStore::new(self.workspace().clone(), self.statement.settings.kept_bytes_max)
    }

    /// An empty set of keys.
    pub fn key_set(&self) -> KeySet {
        KeySet::new(self.workspace().clone(), self.statement.settings.kept_bytes_max)
    }

    /// The warning of strict mode that ends the statement, as soon as it is known.
    pub fn check_raised(&self) -> SqlResult<()> {
        raised(self.statement)
    }

    /// Whether a message is the first of its kind about a column.
    pub fn tells_first(&mut self, error: &SqlError) -> bool {
        let is_known = self.told.contains(error);
        if !is_known {
            self.told.push(error.clone());
        }
        !is_known
    }

    /// Has common tables that depend on the row around computed anew.
    pub fn forget_common_tables(&mut self, numbers: &[usize]) {
        let tables = &self.plan.common_tables;
        self.shared_rows.retain(|step, _| !numbers.iter().any(|at| StepId::input(&tables[*at]) == *step));
    }

    /// What went to disk so far.
    pub fn spill_counts(&self) -> SpillCounts {
        self.workspace.get().map(|workspace| workspace.counts()).unwrap_or_default()
    }

    /// How the engine reads rows for that lock.
    pub fn read_mode(&self, lock: RowLock) -> ReadMode {
        match lock {
            RowLock::None if self.statement.settings.reads_lock => ReadMode::Shared(WaitPolicy::Wait),
            RowLock::None => ReadMode::Consistent,
            RowLock::Shared(wait) => ReadMode::Shared(wait),
            RowLock::Exclusive(wait) => ReadMode::Exclusive(wait),
            RowLock::Change(_) => ReadMode::Exclusive(WaitPolicy::Wait),
        }
    }
}

/// An engine's error as the client sees it.
pub fn engine_error(error: EngineError, table: &engine::Table) -> SqlError {
    error.into_sql(&table.definition().name.table)
}

/// The memory that a row holds, roughly.
pub fn row_bytes(row: &[Value]) -> usize {
    std::mem::size_of_val(row) + long_bytes(row)
}

#[inline]
fn parameter(statement: &StatementContext<'_>, index: usize) -> SqlResult<Value> {
    match statement.parameters.get(index) {
        Some(found) if statement.long_parameters.is_none() => Ok(found.value.clone()),
        found => loaded_parameter(statement, index, found),
    }
}

#[cold]
fn loaded_parameter(
    statement: &StatementContext<'_>,
    index: usize,
    found: Option<&TypedValue>,
) -> SqlResult<Value> {
    match (long_parameter(statement, index), found) {
        // Whoever computes with it needs it in memory.
        (Some(long), _) => Ok(Value::Bytes(long.load_within(statement.settings.memory_bytes_max)?)),
        (None, Some(found)) => Ok(found.value.clone()),
        (None, None) => Err(sql_error!(ER_WRONG_ARGUMENTS, "EXECUTE")),
    }
}

/// A parameter that is too long for memory.
pub fn long_parameter<'s>(statement: &'s StatementContext<'_>, index: usize) -> Option<&'s Arc<Spool>> {
    statement.long_parameters.as_ref()?.get(index)
}

fn check_killed(statement: &StatementContext<'_>) -> SqlResult<()> {
    check_flag(statement.kill)?;
    raised(statement)
}

/// The warning of strict mode that ends the statement.
fn raised(statement: &StatementContext<'_>) -> SqlResult<()> {
    statement.diagnostics.raised().map_or(Ok(()), |error| Err(error.clone()))
}

fn has_stored_facts(facts: &StatementFacts) -> bool {
    facts.connection_collation == CollationId::UTF8MB4_0900_AI_CI
}

/// Those by which expressions that a table keeps are computed.
fn stored_facts(facts: &StatementFacts) -> StatementFacts {
    StatementFacts { connection_collation: CollationId::UTF8MB4_0900_AI_CI, ..facts.clone() }
}

impl EvaluationContext for Run<'_, '_> {
    fn facts(&self) -> &StatementFacts {
        self.stored_facts.as_deref().unwrap_or(self.statement.facts)
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

    fn parameter_operand(&mut self, index: usize) -> SqlResult<Operand<'static>> {
        if let Some(Some(shared)) = self.parameters.get(index) {
            return Ok(Operand::Shared(shared.clone()));
        }
        let value = parameter(self.statement, index)?;
        // What is too long for memory is loaded anew each time.
        if !matches!(value, Value::Bytes(_)) || self.statement.long_parameters.is_some() {
            return Ok(Operand::Owned(value));
        }
        if index >= self.parameters.len() {
            self.parameters.resize(index + 1, None);
        }
        Ok(Operand::Shared(self.parameters[index].insert(Rc::new(value)).clone()))
    }

    fn outer(&self, index: usize) -> Value {
        self.frames.last().and_then(|frame| frame.get(index)).cloned().unwrap_or(Value::Null)
    }

    fn subquery(&mut self, id: usize, outer: Vec<Value>, operands: Vec<Value>) -> SqlResult<SubqueryValue> {
        crate::operator::subquery::run(self, id, outer, &operands)
    }

    fn call_routine(&mut self, routine: &Arc<Routine>, arguments: Vec<TypedValue>) -> SqlResult<Value> {
        self.statement.session.call(routine, arguments)
    }

    fn check_killed(&self) -> SqlResult<()> {
        check_killed(self.statement)
    }

    fn occupy(&mut self, bytes: usize) -> SqlResult<()> {
        if bytes == 0 { Ok(()) } else { self.workspace().occupy(bytes as u64) }
    }

    fn vacate(&mut self, bytes: usize) {
        if let Some(workspace) = self.workspace.get() {
            workspace.vacate(bytes as u64);
        }
    }

    fn call_state(&mut self, site: usize) -> &mut Option<CallState> {
        if site >= self.sites.len() {
            self.sites.resize_with(site + 1, || None);
        }
        &mut self.sites[site]
    }
}

/// How often the memory of a statement its constants may make long values of that size, one after another.
const MADE_TIMES: u64 = 16;

/// What constants may ask for while a plan is made.
pub struct PlanningContext<'r, 's> {
    statement: &'r mut StatementContext<'s>,
    sites: Vec<Option<CallState>>,
    /// Long values that wait.
    occupied_bytes: u64,
    /// Long values that were made so far: an expression of many of them is not computed again for each that it is a part of.
    made_bytes: u64,
    /// While expressions that a table keeps are bound.
    stored_facts: Option<Box<StatementFacts>>,
}

impl<'r, 's> PlanningContext<'r, 's> {
    /// A context over the statement's.
    pub fn new(statement: &'r mut StatementContext<'s>) -> PlanningContext<'r, 's> {
        PlanningContext { statement, sites: Vec::new(), occupied_bytes: 0, made_bytes: 0, stored_facts: None }
    }
}

impl PlanningSurroundings for PlanningContext<'_, '_> {
    fn run_subquery(&mut self, plan: &Plan, id: usize) -> SqlResult<Value> {
        let mut run = Run::new(plan, self.statement);
        match crate::operator::subquery::run(&mut run, id, Vec::new(), &[])? {
            SubqueryValue::Scalar(value) => Ok(value),
            SubqueryValue::Row(_) => Ok(Value::Null),
        }
    }

    fn rules(&self) -> Rules {
        self.statement.settings.rules
    }

    fn compute_stored(&mut self, is_stored: bool) {
        let differs = is_stored && !has_stored_facts(self.statement.facts);
        self.stored_facts = differs.then(|| Box::new(stored_facts(self.statement.facts)));
    }
}

impl EvaluationContext for PlanningContext<'_, '_> {
    fn facts(&self) -> &StatementFacts {
        self.stored_facts.as_deref().unwrap_or(self.statement.facts)
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

    fn occupy(&mut self, bytes: usize) -> SqlResult<()> {
        self.made_bytes += bytes as u64;
        self.occupied_bytes += bytes as u64;
        let held_max = self.statement.settings.memory_bytes_max;
        if self.occupied_bytes > held_max || self.made_bytes > held_max.saturating_mul(MADE_TIMES) {
            return Err(full());
        }
        Ok(())
    }

    fn vacate(&mut self, bytes: usize) {
        self.occupied_bytes = self.occupied_bytes.saturating_sub(bytes as u64);
    }

    fn call_state(&mut self, site: usize) -> &mut Option<CallState> {
        if site >= self.sites.len() {
            self.sites.resize_with(site + 1, || None);
        }
        &mut self.sites[site]
    }
}
