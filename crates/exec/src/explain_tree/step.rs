//! Steps that read other steps: subqueries in FROM, set operations, recursion, grouping, sorting.

use super::text::constant;
use super::{Estimate, ROW_COST, Tree};
use expression::Expression;
use parser::ast::SetOperator;
use plan::physical::{Aggregate, AggregateCall, DerivedAccess, Node, Recursive, RowLimit, SetTerm, SortKey};

impl<'a> Tree<'a> {
    /// A subquery in FROM. A common table that is used more than once is shown where it is used first.
    pub(super) fn derived(&mut self, derived: &'a DerivedAccess, depth: usize) -> Estimate {
        let scan = format!("Table scan on {}", derived.alias);
        let rows = |tree: &mut Self, depth| {
            tree.above(depth, |tree, depth| tree.derived_rows(derived, depth), |below| (scan, below))
        };
        self.filtered(&derived.conditions, depth, rows, |below| below)
    }

    fn derived_rows(&mut self, derived: &'a DerivedAccess, depth: usize) -> Estimate {
        let is_shared = |number: &usize| self.plan.common_tables[*number].uses > 1;
        let label = match derived.common_table {
            Some(number) if is_shared(&number) => {
                let label = format!("Materialize CTE {} if needed", self.plan.common_tables[number].name);
                if let Some(shown) = self.common_tables.get(&number).copied() {
                    self.line(depth, &format!("{label} (query plan printed elsewhere)"));
                    return shown;
                }
                label
            }
            _ if derived.kept => "Materialize".to_owned(),
            _ => "Stream results".to_owned(),
        };
        let root = &derived.query.root;
        let shown = self.above(depth, |tree, depth| tree.node(root, depth), |below| (label, below));
        if let Some(number) = derived.common_table {
            self.common_tables.insert(number, shown);
        }
        shown
    }

    /// Rows of one node after another.
    pub(super) fn append(&mut self, inputs: &'a [Node], depth: usize) -> Estimate {
        self.line(depth, "Append");
        inputs.iter().fold(Estimate::default(), |total, input| {
            let more = self.node(input, depth + 1);
            Estimate { cost: total.cost + more.cost, rows: total.rows + more.rows }
        })
    }

    /// Operands from left to right; those before another operator are one operand of it.
    pub(super) fn set_operation(&mut self, first: &'a Node, rest: &'a [SetTerm], depth: usize) -> Estimate {
        let Some(last) = rest.last() else { return self.node(first, depth) };
        let same = |term: &&SetTerm| (term.operator, term.all) == (last.operator, last.all);
        let (before, terms) = rest.split_at(rest.len() - rest.iter().rev().take_while(same).count());
        let name = match last.operator {
            SetOperator::Union => "union",
            SetOperator::Intersect => "intersect",
            SetOperator::Except => "except",
        };
        let below = if (last.operator, last.all) == (SetOperator::Union, true) {
            self.line(depth, "Append");
            depth + 1
        } else {
            self.line(depth, &format!("Table scan on <{name} temporary>"));
            let title = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
            let how = if last.all { " all materialize" } else { " materialize with deduplication" };
            self.line(depth + 1, &format!("{title}{how}"));
            depth + 2
        };
        let mut total = self.set_operation(first, before, below);
        for term in terms {
            let other = self.node(&term.node, below);
            total = Estimate { cost: total.cost + other.cost, rows: total.rows + other.rows };
        }
        total
    }

    pub(super) fn recursive(&mut self, recursive: &'a Recursive, depth: usize) -> Estimate {
        self.line(depth, "Materialize recursive CTE");
        let seed = self.node(&recursive.seed, depth + 1);
        self.line(depth + 1, "Repeat until convergence");
        for step in &recursive.steps {
            self.node(&step.node, depth + 2);
        }
        seed
    }

    /// `count(0)`, `sum(distinct t.a)`.
    pub(super) fn calls(&self, aggregate: &Aggregate) -> Vec<String> {
        let call = |call: &AggregateCall| {
            let distinct = if call.distinct { "distinct " } else { "" };
            let arguments =
                if call.arguments.is_empty() { "0".to_owned() } else { self.list(&call.arguments) };
            format!("{}({distinct}{arguments})", call.kind.name())
        };
        aggregate.aggregates.iter().map(call).collect()
    }

    pub(super) fn aggregate(&mut self, aggregate: &'a Aggregate, depth: usize) -> Estimate {
        let calls = self.calls(aggregate);
        let arguments = aggregate.aggregates.iter().flat_map(|call| &call.arguments);
        let asked: Vec<_> = aggregate.keys.iter().chain(arguments).collect();
        if aggregate.keys.is_empty() {
            let what = format!("Aggregate: {}", calls.join(", "));
            let input = |tree: &mut Self, depth| {
                let estimate = tree.node(&aggregate.input, depth);
                tree.subqueries_of(asked, "projection", depth);
                estimate
            };
            let grouped =
                |below: Estimate| (what, Estimate { cost: below.cost + ROW_COST * below.rows, rows: 1.0 });
            return self.above(depth, input, grouped);
        }
        let below = match (aggregate.sorts, aggregate.rollup) {
            (false, false) => {
                self.line(depth, "Table scan on <temporary>");
                self.line(depth + 1, "Aggregate using temporary table");
                depth + 2
            }
            (sorts, rollup) => {
                let rollup = if rollup { " with rollup" } else { "" };
                let calls = if calls.is_empty() {
                    " (no aggregates)".to_owned()
                } else {
                    format!(": {}", calls.join(", "))
                };
                self.line(depth, &format!("Group aggregate{rollup}{calls}"));
                if sorts {
                    let what = format!("Sort: {}", self.list(&aggregate.keys));
                    self.line(depth + 1, &what);
                }
                depth + 1 + usize::from(sorts)
            }
        };
        let estimate = self.node(&aggregate.input, below);
        self.subqueries_of(asked, "projection", below);
        estimate
    }

    pub(super) fn sort(
        &mut self,
        input: &'a Node,
        keys: &'a [SortKey],
        limit: Option<&RowLimit>,
        depth: usize,
    ) -> Estimate {
        let projected = projected(input);
        let shown: Vec<String> = keys
            .iter()
            .map(|key| {
                let sorted = key.expression.column_slot().and_then(|slot| projected.get(slot));
                let sorted = self.shown(sorted.unwrap_or(&key.expression));
                format!("{sorted}{}", if key.descending { " DESC" } else { "" })
            })
            .collect();
        let cut = limit.and_then(|limit| {
            let offset = limit.offset.as_ref().map_or(Some(0), |offset| constant(Some(offset)))?;
            Some(format!(", limit input to {} row(s) per chunk", constant(limit.count.as_ref())? + offset))
        });
        let what = format!("Sort: {}{}", shown.join(", "), cut.unwrap_or_default());
        let below = |tree: &mut Self, depth| {
            let estimate = tree.node(input, depth);
            tree.subqueries_of(keys.iter().map(|key| &key.expression), "order", depth);
            estimate
        };
        self.above(depth, below, |below| (what, below))
    }
}

/// What the rows of a step are made of, if they are made of expressions.
fn projected(node: &Node) -> &[Expression] {
    match node {
        Node::Project { expressions, .. } => expressions,
        Node::Distinct { input, .. } | Node::Filter { input, .. } => projected(input),
        _ => &[],
    }
}
