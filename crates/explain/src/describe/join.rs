//! Joins.

use super::{Describer, ROW_COST, column_names};
use crate::json::Json;
use crate::step::{Estimate, Step};
use expression::Expression;
use plan::physical::{HashJoin, JoinKind, NestedLoop, Node};

/// What JSON calls a join.
fn join_type(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "inner join",
        JoinKind::Left => "left join",
        JoinKind::Semi => "semijoin",
        JoinKind::Anti => "antijoin",
    }
}

/// The conditions on the row that a join is opened for, if that row is what the node gives.
fn asked_of_outer_row(node: &Node) -> Option<&[Expression]> {
    match node {
        Node::OuterRow { .. } => Some(&[]),
        Node::Filter { input, conditions } => asked_of_outer_row(input).map(|_| &conditions[..]),
        _ => None,
    }
}

impl<'a> Describer<'a> {
    /// `inner` makes the step of the inner side.
    pub(super) fn nested_loop<A>(
        &mut self,
        join: &'a NestedLoop<A>,
        inner: impl FnOnce(&mut Self) -> Step,
    ) -> Step {
        if let Some(conditions) = asked_of_outer_row(&join.outer) {
            let inner = inner(self);
            return self.filtered(conditions, inner);
        }
        let what = format!("Nested loop {}{}", join_type(join.kind), self.extra(&join.conditions));
        let outer = self.node(&join.outer);
        let inner = inner(self);
        let asked = self.subqueries_of(&join.conditions, "extra conditions");
        let (one, each) = (outer.estimate, inner.estimate);
        let pairs = one.rows * each.rows;
        let rows =
            if matches!(join.kind, JoinKind::Semi | JoinKind::Anti) { pairs.min(one.rows) } else { pairs };
        let estimate = Estimate::new(one.cost + one.rows * each.cost, rows);
        self.join(what, join.kind, "nested_loop", &join.conditions, estimate)
            .reads([outer, inner])
            .reads(asked)
    }

    pub(super) fn hash_join(&mut self, join: &'a HashJoin) -> Step {
        let kind = match join.kind {
            JoinKind::Inner => "Inner hash join",
            JoinKind::Left => "Left hash join",
            JoinKind::Semi => "Hash semijoin",
            JoinKind::Anti => "Hash antijoin",
        };
        let keys: Vec<String> = join
            .keys
            .iter()
            .map(|key| {
                let sign = if key.null_safe { "<=>" } else { "=" };
                format!("({} {sign} {})", self.shown(&key.probe), self.shown(&key.build))
            })
            .collect();
        let shown = if keys.is_empty() { "(no condition)".to_owned() } else { keys.join(", ") };
        let what = format!("{kind} {shown}{}", self.extra(&join.conditions));
        let probe = self.node(&join.probe);
        let build = self.node(&join.build).under("Hash");
        let asked = join.keys.iter().flat_map(|key| [&key.probe, &key.build]).chain(&join.conditions);
        let columns = column_names(asked.clone());
        let asked = self.subqueries_of(asked, "extra conditions");
        let (many, kept) = (probe.estimate, build.estimate);
        let pairs = if join.keys.is_empty() { many.rows * kept.rows } else { many.rows.max(join.rows) };
        let estimate = Estimate::new(many.cost + kept.cost + ROW_COST * pairs, join.rows);
        let mut step = self.join(what, join.kind, "hash", &join.conditions, estimate);
        if !keys.is_empty() {
            step = step.detail("hash_condition", keys).detail("join_columns", columns);
        }
        step.reads([probe, build]).reads(asked)
    }

    /// A join without its inputs.
    fn join(
        &self,
        what: String,
        kind: JoinKind,
        algorithm: &'static str,
        conditions: &[Expression],
        estimate: Estimate,
    ) -> Step {
        let step = Step::costed(what, estimate)
            .kind("join")
            .detail("join_type", join_type(kind))
            .detail("join_algorithm", algorithm);
        if conditions.is_empty() {
            return step;
        }
        let extra: Vec<Json> = conditions.iter().map(|condition| self.shown(condition).into()).collect();
        step.detail("extra_condition", Json::List(extra))
    }

    fn extra(&self, conditions: &[Expression]) -> String {
        match conditions {
            [] => String::new(),
            conditions => format!(", extra conditions: {}", self.joined(conditions)),
        }
    }
}
