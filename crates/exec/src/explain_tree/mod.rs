//! EXPLAIN as a tree, the form that MySQL 9.7 prints by default: one line a step, indented below what reads it.
//! Main function: [`text`]. Costs and rows are this server's estimates in MySQL's unit (a row read is 0.1). Reading of tables is
//! in `access`, joins in `join`, other steps in `step`, expressions and their subqueries in `expression_text`.

mod access;
mod expression_text;
mod join;
mod step;
mod text;

use engine::Engine;
use expression::Expression;
use plan::physical::{Aggregate, Node};
use plan::{Assignment, InsertRows, Plan, PlanKind, TargetTable};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use text::{limit_text, number};

/// Cost of beginning to read a table.
const START_COST: f64 = 0.25;
/// Cost of a row.
const ROW_COST: f64 = 0.1;

/// Cost of finding a row by a range, besides the row's own.
const RANGE_ROW_COST: f64 = 0.23;

/// What a step is estimated to cost and to yield.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    cost: f64,
    rows: f64,
}

struct Tree<'a> {
    plan: &'a Plan,
    engine: &'a Engine,
    text: String,
    /// Common tables that were shown.
    common_tables: HashMap<usize, Estimate>,
    /// Subqueries of expressions that were shown, by their number in the plan.
    subqueries: HashSet<usize>,
    /// Of the subquery that is being shown: what its outer references are in the query around it.
    outer: Vec<String>,
    /// The aggregates below the step that is being shown.
    aggregates: Vec<String>,
}

/// The tree of a plan.
pub fn text(plan: &Plan, engine: &Engine) -> String {
    let mut tree = Tree {
        plan,
        engine,
        text: String::new(),
        common_tables: HashMap::new(),
        subqueries: HashSet::new(),
        outer: Vec::new(),
        aggregates: Vec::new(),
    };
    match &plan.kind {
        PlanKind::Query(query, _) => {
            tree.node(&query.root, 0);
        }
        PlanKind::Insert(insert) => tree.insert(insert),
        PlanKind::Update(update) => {
            let buffered = |target: &TargetTable| match update.targets.as_slice() {
                [_] => update.buffered,
                _ => !target.changes_at_once,
            };
            tree.change("Update", &update.targets, buffered, &update.node);
        }
        PlanKind::Delete(delete) => {
            tree.change("Delete from", &delete.targets, |_| delete.buffered, &delete.node);
        }
        PlanKind::Load(_) | PlanKind::Do(_) => {
            return "-> <not executable by iterator executor>\n".to_owned();
        }
    }
    tree.text
}

impl<'a> Tree<'a> {
    fn line(&mut self, depth: usize, what: &str) {
        // Writing to a string cannot fail.
        let _written = writeln!(self.text, "{:width$}-> {what}", "", width = 4 * depth);
    }

    fn costed(&mut self, depth: usize, what: &str, estimate: Estimate) -> Estimate {
        let (cost, rows) = (number(estimate.cost), number(estimate.rows));
        self.line(depth, &format!("{what}  (cost={cost} rows={rows})"));
        estimate
    }

    fn insert(&mut self, insert: &'a plan::InsertPlan) {
        let verb = if insert.replace { "Replace" } else { "Insert" };
        self.line(0, &format!("{verb} into {}", insert.target.table.definition().name.table));
        match &insert.rows {
            InsertRows::Values(rows) => {
                self.line(1, "Rows fetched before execution");
                self.subqueries_of(rows.iter().flatten().flatten(), "values", 1);
            }
            InsertRows::Query(query) => {
                self.node(&query.root, 1);
            }
        }
        self.assigned(&insert.on_duplicate);
    }

    /// UPDATE and DELETE. A table is changed as its rows are found, or buffered until all are.
    fn change(
        &mut self,
        verb: &str,
        targets: &'a [TargetTable],
        buffered: impl Fn(&TargetTable) -> bool,
        rows: &'a Node,
    ) {
        let shown: Vec<String> = targets
            .iter()
            .map(|target| {
                format!("{} ({})", target.alias, if buffered(target) { "buffered" } else { "immediate" })
            })
            .collect();
        self.line(0, &format!("{verb} {}", shown.join(", ")));
        self.node(rows, 1);
        targets.iter().for_each(|target| self.assigned(&target.assignments));
    }

    fn assigned(&mut self, assignments: &'a [Assignment]) {
        self.subqueries_of(
            assignments.iter().filter_map(|assignment| assignment.value.as_ref()),
            "values",
            1,
        );
    }

    /// Prints a node with its inputs; a line that needs the input's estimate is put before it afterwards.
    fn node(&mut self, node: &'a Node, depth: usize) -> Estimate {
        let below = aggregate_below(node).map(|aggregate| self.calls(aggregate));
        let above = std::mem::replace(&mut self.aggregates, below.unwrap_or_default());
        let estimate = self.step(node, depth);
        self.aggregates = above;
        estimate
    }

    fn step(&mut self, node: &'a Node, depth: usize) -> Estimate {
        match node {
            Node::Nothing => {
                self.line(depth, "Zero rows (Impossible WHERE)  (cost=0..0 rows=0)");
                Estimate::default()
            }
            Node::OneRow { .. } | Node::Values { .. } => self.rows_at_hand(node, depth),
            Node::Table(access) => self.table(access, depth),
            Node::Virtual(access) => self.virtual_table(access, depth),
            Node::Derived(derived) => self.derived(derived, depth),
            Node::NestedLoop(join) => self.nested_loop(join, depth),
            Node::HashJoin(join) => self.hash_join(join, depth),
            Node::Filter { input, conditions } => {
                self.filtered(conditions, depth, |tree, depth| tree.node(input, depth), |below| below)
            }
            Node::Aggregate(aggregate) => self.aggregate(aggregate, depth),
            Node::Count(access) => self.count(access, depth),
            Node::Project { input, expressions } => {
                let estimate = self.node(input, depth);
                self.subqueries_of(expressions, "projection", depth);
                estimate
            }
            Node::Distinct { input, .. } => {
                self.line(depth, "Table scan on <temporary>");
                self.line(depth + 1, "Temporary table with deduplication");
                self.node(input, depth + 2)
            }
            Node::Sort { input, keys, limit } => self.sort(input, keys, limit.as_ref(), depth),
            Node::Limit { input, limit, .. } => {
                let (shown, most) = limit_text(limit);
                self.above(
                    depth,
                    |tree, depth| tree.node(input, depth),
                    |below| (shown, Estimate { rows: below.rows.min(most), ..below }),
                )
            }
            Node::Append(inputs) => self.append(inputs, depth),
            Node::SetOperation(operation) => self.set_operation(&operation.first, &operation.rest, depth),
            Node::Recursive(recursive) => self.recursive(recursive, depth),
            Node::RecursiveInput { .. } => {
                self.line(depth, "Scan new records");
                Estimate::default()
            }
        }
    }

    /// Rows that no table has.
    fn rows_at_hand(&mut self, node: &'a Node, depth: usize) -> Estimate {
        let rows = if let Node::Values { rows } = node { rows.len() } else { 1 };
        self.line(depth, &format!("Rows fetched before execution  (cost=0..0 rows={rows})"));
        if let Node::Values { rows } = node {
            self.subqueries_of(rows.iter().flatten(), "values", depth);
        }
        Estimate { cost: 0.0, rows: rows as f64 }
    }

    /// What passes conditions, if there are any.
    fn filtered(
        &mut self,
        conditions: &'a [Expression],
        depth: usize,
        below: impl FnOnce(&mut Self, usize) -> Estimate,
        kept: impl FnOnce(Estimate) -> Estimate,
    ) -> Estimate {
        if conditions.is_empty() {
            return below(self, depth);
        }
        let shown = format!("Filter: {}", self.joined(conditions));
        self.above(
            depth,
            |tree, depth| {
                let estimate = below(tree, depth);
                tree.subqueries_of(conditions, "condition", depth);
                estimate
            },
            |below| (shown, kept(below)),
        )
    }

    /// Prints what is below first, then puts its reader's line before it.
    fn above(
        &mut self,
        depth: usize,
        below: impl FnOnce(&mut Self, usize) -> Estimate,
        line: impl FnOnce(Estimate) -> (String, Estimate),
    ) -> Estimate {
        let at = self.text.len();
        let estimate = below(self, depth + 1);
        let inner = self.text.split_off(at);
        let (what, estimate) = line(estimate);
        self.costed(depth, &what, estimate);
        self.text.push_str(&inner);
        estimate
    }
}

/// The grouping whose rows a step reads, be it through other steps.
fn aggregate_below(node: &Node) -> Option<&Aggregate> {
    match node {
        Node::Aggregate(aggregate) => Some(aggregate),
        Node::Filter { input, .. }
        | Node::Project { input, .. }
        | Node::Distinct { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. } => aggregate_below(input),
        _ => None,
    }
}
