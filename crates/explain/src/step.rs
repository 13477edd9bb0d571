//! What EXPLAIN tells of a plan, whatever its form. Main type: [`Step`].

use crate::json::Json;
use exec::Actual;

/// How a step that computes window functions begins.
pub const WINDOW_AGGREGATE: &str = "Window aggregate";

/// What a step is estimated to cost and to yield.
#[derive(Clone, Copy, Debug, Default)]
pub struct Estimate {
    /// Cost of the first row, where it is told.
    pub first_row_cost: Option<f64>,
    /// Cost in MySQL's unit.
    pub cost: f64,
    /// Rows.
    pub rows: f64,
}

impl Estimate {
    /// So many rows at that cost.
    pub fn new(cost: f64, rows: f64) -> Estimate {
        Estimate { first_row_cost: None, cost, rows }
    }

    /// So many rows that are there before the query runs.
    pub fn at_hand(rows: f64) -> Estimate {
        Estimate { first_row_cost: Some(0.0), cost: 0.0, rows }
    }
}

/// A step of a plan.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// What stands above the step: `Hash`, `Select #2 (..)`.
    pub heading: Option<String>,
    /// The step in words.
    pub operation: String,
    /// Cost and rows, if they are shown.
    pub shown: Option<Estimate>,
    /// Cost and rows for whoever reads the step.
    pub estimate: Estimate,
    /// What it did, if the statement was analysed.
    pub actual: Option<Actual>,
    /// It reads what its first input has kept: both did the same.
    pub reads_kept: bool,
    /// What JSON says of it besides.
    pub details: Vec<(&'static str, Json)>,
    /// The steps whose rows it reads, and the subqueries that it asks.
    pub inputs: Vec<Step>,
    /// The subqueries that are asked for each of its rows in a select list.
    pub select_list: Vec<Step>,
}

impl Step {
    /// A step without cost and rows.
    pub fn new(operation: impl Into<String>) -> Step {
        Step { operation: operation.into(), ..Step::default() }
    }

    /// A step with cost and rows.
    pub fn costed(operation: impl Into<String>, estimate: Estimate) -> Step {
        Step { shown: Some(estimate), estimate, ..Step::new(operation) }
    }

    /// A step over one that it costs nothing to read, without cost and rows of its own.
    pub fn over(operation: impl Into<String>, input: Step) -> Step {
        Step { estimate: input.estimate, inputs: vec![input], ..Step::new(operation) }
    }

    /// What the step is for whoever reads it, though it does not show that.
    pub fn yields(mut self, estimate: Estimate) -> Step {
        self.estimate = estimate;
        self
    }

    /// With what stands above it.
    pub fn under(mut self, heading: impl Into<String>) -> Step {
        self.heading = Some(heading.into());
        self
    }

    /// With its inputs.
    pub fn reads(mut self, inputs: impl IntoIterator<Item = Step>) -> Step {
        self.inputs.extend(inputs);
        self
    }

    /// Whether it or a step below it computes window functions.
    pub fn has_windows(&self) -> bool {
        self.operation.starts_with(WINDOW_AGGREGATE)
            || self.inputs.iter().chain(&self.select_list).any(Step::has_windows)
    }

    /// With what it did.
    pub fn did(mut self, actual: Option<Actual>) -> Step {
        self.actual = actual;
        self
    }

    /// With one more thing that JSON says.
    pub fn detail(mut self, name: &'static str, value: impl Into<Json>) -> Step {
        self.details.push((name, value.into()));
        self
    }

    /// With what kind of step it is for JSON.
    pub fn kind(self, access_type: &'static str) -> Step {
        self.detail("access_type", access_type)
    }
}
