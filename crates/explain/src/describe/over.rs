//! Steps that read other steps: subqueries in FROM, set operations, recursion, grouping, sorting.

use super::number::constant;
use super::{Describer, ROW_COST, temporary_table};
use crate::step::{Estimate, Step};
use expression::{Expression, ExpressionKind};
use parser::ast::SetOperator;
use plan::lateral::{LateralAccess, LateralSource};
use plan::physical::{
    Aggregate, AggregateCall, DerivedAccess, Node, QueryPlan, Recursive, RowLimit, SetTerm, SortKey,
};

/// What MySQL takes a table function to cost.
const JSON_TABLE_COST: f64 = 2.725;

/// The tables whose columns are read, in the order in which they are named.
fn tables_read(arguments: &[Expression]) -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    for argument in arguments {
        argument.visit(&mut |part| {
            if let ExpressionKind::Column(slot) = &part.kind {
                let parts: Vec<&str> = slot.name.trim_matches('`').split("`.`").collect();
                if let [.., table, _] = parts[..]
                    && !tables.iter().any(|known| known == table)
                {
                    tables.push(table.to_owned());
                }
            }
        });
    }
    tables
}

impl<'a> Describer<'a> {
    /// A subquery in FROM. A common table that is used more than once is shown where it is used first.
    pub(super) fn derived(&mut self, derived: &'a DerivedAccess) -> Step {
        let scan = Step { select_list: Vec::new(), ..self.derived_rows(derived) };
        let estimate = scan.estimate;
        let mut scan = Step::costed(format!("Table scan on {}", derived.alias), estimate)
            .kind("table")
            .detail("table_name", derived.alias.as_str())
            .reads([scan]);
        if !derived.conditions.is_empty() {
            scan.actual = self.actual(|actuals| actuals.of_derived_input(derived));
        }
        self.filtered(&derived.conditions, scan)
    }

    fn derived_rows(&mut self, derived: &'a DerivedAccess) -> Step {
        let is_shared = |number: &usize| self.plan.common_tables[*number].uses > 1;
        let mut is_common = false;
        let label = match derived.common_table {
            Some(number) if is_shared(&number) => {
                is_common = true;
                let label = format!("Materialize CTE {} if needed", self.plan.common_tables[number].name);
                if let Some(estimate) = self.common_tables.get(&number).copied() {
                    let elsewhere = Step::new(format!("{label} (query plan printed elsewhere)"));
                    return elsewhere.kind("materialize").detail("cte", true).yields(estimate);
                }
                label
            }
            _ if derived.kept => "Materialize".to_owned(),
            _ => "Stream results".to_owned(),
        };
        let streams = !is_common && !derived.kept;
        let root = self.node(&derived.query.root);
        let estimate = root.estimate;
        if let Some(number) = derived.common_table {
            self.common_tables.insert(number, estimate);
        }
        let step = Step::costed(label, estimate)
            .kind(if streams { "stream" } else { "materialize" })
            .did(self.actual(|actuals| actuals.of_node(&derived.query.root)))
            .reads([root]);
        if is_common { step.detail("cte", true) } else { step }
    }

    /// A source in FROM that is opened again for each row of the tables that it reads.
    pub(super) fn lateral(&mut self, access: &'a LateralAccess) -> Step {
        let scan = match &access.source {
            LateralSource::Query { query, .. } => {
                let rows = self.lateral_rows(access, query);
                Step::costed(format!("Table scan on {}", access.alias), rows.estimate)
                    .kind("table")
                    .detail("table_name", access.alias.as_str())
                    .reads([rows])
            }
            LateralSource::Json(_) => Step::costed(
                "Materialize table function",
                Estimate::new(JSON_TABLE_COST, plan::json_table::ROWS_GUESSED),
            )
            .kind("materialized_table_function"),
        };
        let kept = self.actual(|actuals| actuals.of_lateral(access));
        if access.conditions.is_empty() {
            return scan.did(kept);
        }
        let scan = scan.did(self.actual(|actuals| actuals.of_lateral_input(access)));
        self.filtered(&access.conditions, scan).did(kept)
    }

    fn lateral_rows(&mut self, access: &'a LateralAccess, query: &'a QueryPlan) -> Step {
        let outer = access.arguments.iter().map(|argument| self.shown(argument)).collect();
        let around = std::mem::replace(&mut self.outer, outer);
        let root = self.node(&query.root);
        self.outer = around;
        let tables = tables_read(&access.arguments);
        let label = match tables.is_empty() {
            true => "Materialize".to_owned(),
            false => format!("Materialize (invalidate on row from {})", tables.join("; ")),
        };
        Step::costed(label, root.estimate)
            .kind("materialize")
            .detail("temp_table", true)
            .did(self.actual(|actuals| actuals.of_lateral_input(access)))
            .reads([root])
    }

    /// Rows of one node after another.
    pub(super) fn append(&mut self, inputs: &'a [Node]) -> Step {
        let inputs: Vec<Step> = inputs.iter().map(|input| self.node(input)).collect();
        let total = sum(&inputs);
        Step::new("Append").kind("append").yields(total).reads(inputs)
    }

    /// Operands from left to right; those before another operator are one operand of it.
    pub(super) fn set_operation(&mut self, first: &'a Node, rest: &'a [SetTerm]) -> Step {
        let Some(last) = rest.last() else { return self.node(first) };
        if self.is_too_deep() {
            return Step::new("");
        }
        let same = |term: &&SetTerm| (term.operator, term.all) == (last.operator, last.all);
        let (before, terms) = rest.split_at(rest.len() - rest.iter().rev().take_while(same).count());
        let mut operands = vec![self.set_operation(first, before)];
        operands.extend(terms.iter().map(|term| self.node(&term.node)));
        let total = sum(&operands);
        if (last.operator, last.all) == (SetOperator::Union, true) {
            return Step::new("Append").kind("append").yields(total).reads(operands);
        }
        let name = match last.operator {
            SetOperator::Union => "union",
            SetOperator::Intersect => "intersect",
            SetOperator::Except => "except",
        };
        let title = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        let how = if last.all { " all materialize" } else { " materialize with deduplication" };
        let kept = Step::new(format!("{title}{how}")).kind("materialize").detail(name, true);
        let kept = if last.all { kept } else { kept.detail("deduplication", true) };
        temporary_table(&format!("<{name} temporary>"), kept.yields(total).reads(operands))
    }

    pub(super) fn recursive(&mut self, recursive: &'a Recursive) -> Step {
        let seed = self.node(&recursive.seed);
        let estimate = seed.estimate;
        let steps: Vec<Step> = recursive.steps.iter().map(|step| self.node(&step.node)).collect();
        let again = Step::new("Repeat until convergence").kind("repeat_until_convergence").reads(steps);
        Step::new("Materialize recursive CTE")
            .kind("materialize")
            .detail("cte", true)
            .detail("recursive", true)
            .yields(estimate)
            .reads([seed, again])
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

    pub(super) fn aggregate(&mut self, aggregate: &'a Aggregate) -> Step {
        let calls = self.calls(aggregate);
        let arguments = aggregate.aggregates.iter().flat_map(|call| &call.arguments);
        let asked: Vec<_> = aggregate.keys.iter().chain(arguments).collect();
        let input = self.node(&aggregate.input);
        let estimate = input.estimate;
        let asked = self.subqueries_of(asked, "projection");
        if aggregate.keys.is_empty() {
            let one_row = Estimate::new(estimate.cost + ROW_COST * estimate.rows, 1.0);
            return Step::costed(format!("Aggregate: {}", calls.join(", ")), one_row)
                .kind("aggregate")
                .detail("functions", calls)
                .reads([input])
                .reads(asked);
        }
        if !aggregate.sorts && !aggregate.rollup && !aggregate.in_order {
            let kept = Step::new("Aggregate using temporary table").kind("temp_table_aggregate");
            return temporary_table("<temporary>", kept.yields(estimate).reads([input]).reads(asked));
        }
        let rollup = if aggregate.rollup { " with rollup" } else { "" };
        let shown =
            if calls.is_empty() { " (no aggregates)".to_owned() } else { format!(": {}", calls.join(", ")) };
        let step = Step::new(format!("Group aggregate{rollup}{shown}"))
            .kind("aggregate")
            .detail("group_by", true)
            .detail("functions", calls)
            .yields(estimate);
        if !aggregate.sorts {
            return step.reads([input]).reads(asked);
        }
        let keys: Vec<String> = aggregate.keys.iter().map(|key| self.shown(key)).collect();
        let sort = Step::new(format!("Sort: {}", self.list(&aggregate.keys)))
            .kind("sort")
            .detail("sort_fields", keys)
            .reads([input]);
        step.reads([sort.reads(asked)])
    }

    pub(super) fn sort(&mut self, input: &'a Node, keys: &'a [SortKey], limit: Option<&RowLimit>) -> Step {
        let projected = projected(input);
        let shown: Vec<String> = keys
            .iter()
            .map(|key| {
                let sorted = key.expression.column_slot().and_then(|slot| projected.get(slot));
                let sorted = self.shown(sorted.unwrap_or(&key.expression));
                format!("{sorted}{}", if key.descending { " DESC" } else { "" })
            })
            .collect();
        let rows_max = limit.and_then(|limit| {
            let offset = limit.offset.as_ref().map_or(Some(0), |offset| constant(Some(offset)))?;
            Some(constant(limit.count.as_ref())?.saturating_add(offset))
        });
        let cut = rows_max.map(|rows| format!(", limit input to {rows} row(s) per chunk"));
        let below = self.node(input);
        let asked = self.subqueries_of(keys.iter().map(|key| &key.expression), "order");
        let what = format!("Sort: {}{}", shown.join(", "), cut.unwrap_or_default());
        let step = Step::costed(what, below.estimate).kind("sort").detail("sort_fields", shown);
        let step = match rows_max {
            Some(rows) => step.detail("per_chunk_limit", rows),
            None => step,
        };
        step.reads([below]).reads(asked)
    }
}

fn sum(steps: &[Step]) -> Estimate {
    steps.iter().fold(Estimate::default(), |total, step| {
        Estimate::new(total.cost + step.estimate.cost, total.rows + step.estimate.rows)
    })
}

/// What the rows of a step are made of, if they are made of expressions.
fn projected(node: &Node) -> &[Expression] {
    match node {
        Node::Project { expressions, .. } => expressions,
        Node::Distinct { input, .. } | Node::Filter { input, .. } => projected(input),
        _ => &[],
    }
}
