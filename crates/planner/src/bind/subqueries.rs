//! The subqueries in a statement's expressions. Main type: [`Subqueries`].

use ::expression::{Expression, ExpressionKind};
use optimizer::{EarlyRuns, OpenSelect};
use plan::{SubqueryPlan, is_asked_first};
use std::collections::HashMap;
use std::sync::Arc;

/// The subqueries that are bound so far.
#[derive(Default)]
pub(crate) struct Subqueries {
    pub plans: Vec<SubqueryPlan>,
    /// Those whose rows may be joined with those of the query that asks for them, by number.
    pub open: HashMap<usize, Arc<OpenSelect>>,
    /// See [`Plan::asked_first`](crate::Plan::asked_first).
    pub asked_first: Vec<Vec<Expression>>,
    /// Which of them run now.
    pub early: EarlyRuns,
}

impl Subqueries {
    /// Keeps conditions of the statement's own block that have a part which reads no row but runs a subquery: MySQL computes such
    /// parts while it looks for conditions that cannot hold. `blocks`: how deep the block stands.
    pub fn ask_first<'e>(&mut self, blocks: usize, conditions: impl Iterator<Item = &'e Expression>) {
        if blocks > 1 || self.plans.is_empty() {
            return;
        }
        let conditions: Vec<Expression> = conditions.cloned().collect();
        if conditions.iter().any(has_part_to_ask) {
            self.asked_first.push(conditions);
        }
    }
}

fn has_part_to_ask(condition: &Expression) -> bool {
    match &condition.kind {
        ExpressionKind::And(terms) | ExpressionKind::Or(terms) => terms.iter().any(has_part_to_ask),
        _ => is_asked_first(condition),
    }
}
