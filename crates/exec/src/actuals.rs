//! What the steps of a plan do in an execution, for EXPLAIN ANALYZE. Main types: [`Actuals`], [`Actual`], [`Measured`].
//! A step is known by its address in the plan, which stays where it is while it runs and is shown.

use crate::batch::RowBatch;
use crate::operator::{KeyCounts, Operator};
use crate::run::Run;
use env::Clock;
use errors::SqlResult;
use plan::lateral::LateralAccess;
use plan::physical::{DerivedAccess, Node, TableAccess, VirtualAccess};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What a step did, all its executions together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Actual {
    /// How often it was begun.
    pub loops: u64,
    /// Rows that it gave.
    pub rows: u64,
    /// Time until the first row (or the end) of each execution, that of its inputs included.
    pub first_row: Duration,
    /// Time in it, that of its inputs included.
    pub all_rows: Duration,
}

/// A step, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StepId {
    /// The rows that come out of it.
    Output(usize),
    /// The rows that its conditions are checked on.
    Input(usize),
}

impl StepId {
    /// What a step gives.
    pub fn output<T>(step: &T) -> StepId {
        StepId::Output(std::ptr::from_ref(step).addr())
    }

    /// What its conditions are checked on.
    pub fn input<T>(step: &T) -> StepId {
        StepId::Input(std::ptr::from_ref(step).addr())
    }
}

/// How far one execution of a step has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Loop {
    begun: bool,
    yielded: bool,
    spent: Duration,
}

/// What the steps of a plan did.
pub struct Actuals {
    clock: Arc<dyn Clock>,
    steps: HashMap<StepId, Actual>,
}

impl Actuals {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Actuals {
        Actuals { clock, steps: HashMap::new() }
    }

    /// What a node of the plan did.
    pub fn of_node(&self, node: &Node) -> Actual {
        match node {
            Node::Table(access) => self.of_access(access),
            Node::Virtual(access) => self.of_virtual_table(access),
            Node::Lateral(access) => self.of_lateral(access),
            node => self.of(StepId::output(node)),
        }
    }

    /// Rows of a table that met its conditions.
    pub fn of_access(&self, access: &TableAccess) -> Actual {
        self.of(StepId::output(access))
    }

    /// Rows of a table that were read.
    pub fn of_rows_read(&self, access: &TableAccess) -> Actual {
        self.of(StepId::input(access))
    }

    /// Rows of a subquery in FROM before its conditions.
    pub fn of_derived_input(&self, access: &DerivedAccess) -> Actual {
        self.of(StepId::input(access))
    }

    /// Rows of a lateral source that met its conditions.
    pub fn of_lateral(&self, access: &LateralAccess) -> Actual {
        self.of(StepId::output(access))
    }

    /// Rows of a lateral source before its conditions.
    pub fn of_lateral_input(&self, access: &LateralAccess) -> Actual {
        self.of(StepId::input(access))
    }

    /// Rows of a table without storage that met its conditions.
    pub fn of_virtual_table(&self, access: &VirtualAccess) -> Actual {
        self.of(StepId::output(access))
    }

    /// Rows of a table without storage before its conditions.
    pub fn of_virtual_rows(&self, access: &VirtualAccess) -> Actual {
        self.of(StepId::input(access))
    }

    #[cold]
    fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    fn of(&self, id: StepId) -> Actual {
        self.steps.get(&id).copied().unwrap_or_default()
    }

    fn record(&mut self, id: StepId, rows: u64, began: Duration, at: &mut Loop) {
        let spent = self.clock.monotonic().saturating_sub(began);
        self.add(id, rows, spent, at);
    }

    fn add(&mut self, id: StepId, rows: u64, spent: Duration, at: &mut Loop) {
        let actual = self.steps.entry(id).or_default();
        actual.loops += u64::from(!std::mem::replace(&mut at.begun, true));
        actual.rows += rows;
        actual.all_rows += spent;
        at.spent += spent;
        // A step that gives nothing has reached its end.
        if !std::mem::replace(&mut at.yielded, true) {
            actual.first_row += at.spent;
        }
    }
}

impl Run<'_, '_> {
    /// The time, if the statement is measured.
    #[inline]
    pub(crate) fn began(&self) -> Option<Duration> {
        self.actuals.as_deref().map(Actuals::now)
    }

    /// Counts rows that a step has given since `began`.
    pub(crate) fn gave(&mut self, id: StepId, rows: u64, began: Option<Duration>, at: &mut Loop) {
        if let (Some(actuals), Some(began)) = (&mut self.actuals, began) {
            actuals.record(id, rows, began, at);
        }
    }

    /// Counts rows that a step has given, and the time for them.
    pub(crate) fn gave_in(&mut self, id: StepId, rows: u64, spent: Duration, at: &mut Loop) {
        if let Some(actuals) = &mut self.actuals {
            actuals.add(id, rows, spent, at);
        }
    }
}

/// An operator that is measured.
pub(crate) struct Measured<'p> {
    id: StepId,
    operator: Box<dyn Operator + 'p>,
    at: Loop,
}

impl<'p> Measured<'p> {
    /// Measures the operator of a node.
    pub fn new(node: &'p Node, operator: Box<dyn Operator + 'p>) -> Measured<'p> {
        Measured { id: StepId::output(node), operator, at: Loop::default() }
    }
}

impl Operator for Measured<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        let began = run.began();
        let more = self.operator.next(run, batch)?;
        run.gave(self.id, batch.len() as u64, began, &mut self.at);
        Ok(more)
    }

    fn narrow(&mut self, slot: usize, keys: &Rc<KeyCounts>) {
        self.operator.narrow(slot, keys);
    }
}
