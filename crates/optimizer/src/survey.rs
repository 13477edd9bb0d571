//! What may be read and run of a statement before it runs, as MySQL does while it optimises. Main type: [`Survey`].

use crate::{EarlyRuns, Optimizer};
use engine::Transaction;
use expression::BuildFacts;
use plan::SubqueryPlan;

/// Looks at rows of one block, and runs subqueries in it, before the query runs.
pub struct Survey<'a> {
    /// The block and the server.
    pub optimizer: Optimizer<'a>,
    /// The transaction in which rows are read, if they may be.
    pub transaction: Option<&'a Transaction>,
    /// The subqueries of the statement that are bound so far.
    pub subqueries: &'a mut Vec<SubqueryPlan>,
    /// Which of them run now.
    pub early: &'a mut EarlyRuns,
    /// Whether rows may be read now, the user may read them, and warnings are nothing but warnings.
    pub may_run: bool,
    /// Whether the statement calls stored functions.
    pub calls_routines: bool,
    /// How many call sites the statement has so far.
    pub sites: usize,
    /// How conditions that follow are built.
    pub facts: BuildFacts,
    /// Set where what was found holds for this execution only.
    pub volatile: &'a mut bool,
}
