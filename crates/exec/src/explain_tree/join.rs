//! Joins.

use super::{Estimate, ROW_COST, Tree};
use expression::Expression;
use plan::physical::{HashJoin, JoinKind, NestedLoop};

impl<'a> Tree<'a> {
    pub(super) fn nested_loop(&mut self, join: &'a NestedLoop, depth: usize) -> Estimate {
        let kind = match join.kind {
            JoinKind::Inner => "Nested loop inner join",
            JoinKind::Left => "Nested loop left join",
            JoinKind::Semi => "Nested loop semijoin",
            JoinKind::Anti => "Nested loop antijoin",
        };
        let what = format!("{kind}{}", self.extra(&join.conditions));
        let sides = |tree: &mut Self, depth| {
            let outer = tree.node(&join.outer, depth);
            let inner = tree.table(&join.inner, depth);
            tree.subqueries_of(&join.conditions, "extra conditions", depth);
            Estimate { cost: outer.cost + outer.rows * inner.cost, rows: outer.rows * inner.rows }
        };
        self.above(depth, sides, |below| (what, below))
    }

    pub(super) fn hash_join(&mut self, join: &'a HashJoin, depth: usize) -> Estimate {
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
        let keys = if keys.is_empty() { "(no condition)".to_owned() } else { keys.join(", ") };
        let what = format!("{kind} {keys}{}", self.extra(&join.conditions));
        let sides = |tree: &mut Self, depth: usize| {
            let probe = tree.node(&join.probe, depth);
            tree.line(depth, "Hash");
            let build = tree.node(&join.build, depth + 1);
            let asked = join.keys.iter().flat_map(|key| [&key.probe, &key.build]).chain(&join.conditions);
            tree.subqueries_of(asked, "extra conditions", depth);
            let pairs =
                if join.keys.is_empty() { probe.rows * build.rows } else { probe.rows.max(build.rows) };
            Estimate { cost: probe.cost + build.cost + ROW_COST * pairs, rows: pairs }
        };
        self.above(depth, sides, |below| (what, below))
    }

    fn extra(&self, conditions: &[Expression]) -> String {
        match conditions {
            [] => String::new(),
            conditions => format!(", extra conditions: {}", self.joined(conditions)),
        }
    }
}
