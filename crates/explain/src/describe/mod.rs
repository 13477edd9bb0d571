//! A plan as a tree of [`Step`]s, in MySQL's words. Main type: [`Describer`]. Costs and rows are this server's estimates in MySQL's
//! unit (a row read is 0.1). Reading of tables is in `access`, joins in `join`, what reads other steps in `over`, expressions and
//! their subqueries in `expression_text`.

mod access;
mod expression_text;
mod join;
pub mod number;
mod over;
mod window;

use crate::json::Json;
use crate::step::{Estimate, Step};
use engine::Engine;
use errors::SqlResult;
use exec::{Actual, Actuals};
use expression::Expression;
use number::limit_text;
use plan::physical::{Aggregate, Node};
use plan::{Assignment, InsertRows, Plan, PlanKind, TargetTable, check_stack};
use std::collections::{HashMap, HashSet};

/// Cost of beginning to read a table.
const START_COST: f64 = 0.25;
/// Cost of a row.
const ROW_COST: f64 = 0.1;
/// Cost of finding a row by a range, besides the row's own.
const RANGE_ROW_COST: f64 = 0.23;

/// Describes the steps of a plan.
pub struct Describer<'a> {
    plan: &'a Plan,
    engine: &'a Engine,
    actuals: Option<&'a Actuals>,
    /// Common tables that were shown.
    common_tables: HashMap<usize, Estimate>,
    /// Subqueries of expressions that were shown, by their number in the plan.
    subqueries: HashSet<usize>,
    /// Of the subquery that is being shown: what its outer references are in the query around it.
    outer: Vec<String>,
    /// The aggregates below the step that is being shown.
    aggregates: Vec<String>,
    /// Error 1436: steps lie too deep in each other. A plan is flat where its description is not, as that of a chain of set operations.
    failed: SqlResult<()>,
}

impl<'a> Describer<'a> {
    /// A describer of a plan; with what its steps did, if it was analysed.
    pub fn new(plan: &'a Plan, engine: &'a Engine, actuals: Option<&'a Actuals>) -> Describer<'a> {
        Describer {
            plan,
            engine,
            actuals,
            common_tables: HashMap::new(),
            subqueries: HashSet::new(),
            failed: Ok(()),
            outer: Vec::new(),
            aggregates: Vec::new(),
        }
    }

    /// The steps of the statement: what stands on the left margin. Error 1436.
    pub fn statement(mut self) -> SqlResult<Vec<Step>> {
        let steps = self.steps();
        self.failed.map(|()| steps)
    }

    fn steps(&mut self) -> Vec<Step> {
        let plan = self.plan;
        let step = match &plan.kind {
            PlanKind::Query(query, _) => self.node(&query.root),
            PlanKind::Insert(insert) => self.insert(insert),
            PlanKind::Update(update) => {
                let buffered = |target: &TargetTable| match update.targets.as_slice() {
                    [_] => update.buffered,
                    _ => !target.changes_at_once,
                };
                self.change("Update", &update.targets, buffered, &update.node)
            }
            PlanKind::Delete(delete) => {
                self.change("Delete from", &delete.targets, |_| delete.buffered, &delete.node)
            }
            PlanKind::Load(_) | PlanKind::Do(_) => Step::new("<not executable by iterator executor>"),
        };
        vec![step]
    }

    fn insert(&mut self, insert: &'a plan::InsertPlan) -> Step {
        let verb = if insert.replace { "Replace" } else { "Insert" };
        let definition = insert.target.table.definition();
        let rows = match &insert.rows {
            InsertRows::Values(rows) => {
                let asked = self.subqueries_of(rows.iter().flatten().flatten(), "values");
                let step = Step::new("Rows fetched before execution").kind("rows_fetched_before_execution");
                std::iter::once(step).chain(asked).collect()
            }
            InsertRows::Query(query) => vec![self.node(&query.root)],
        };
        let assigned = self.assigned(&insert.on_duplicate);
        Step::new(format!("{verb} into {}", definition.name.table))
            .kind(if matches!(insert.rows, InsertRows::Values(_)) {
                "insert_values"
            } else {
                "insert_select"
            })
            .detail("table_name", definition.name.table.as_str())
            .detail("schema_name", definition.name.schema.as_str())
            .reads(rows)
            .reads(assigned)
    }

    /// UPDATE and DELETE. A table is changed as its rows are found, or buffered until all are.
    fn change(
        &mut self,
        verb: &str,
        targets: &'a [TargetTable],
        buffered: impl Fn(&TargetTable) -> bool,
        rows: &'a Node,
    ) -> Step {
        let shown: Vec<String> = targets
            .iter()
            .map(|target| {
                format!("{} ({})", target.alias, if buffered(target) { "buffered" } else { "immediate" })
            })
            .collect();
        let rows = self.node(rows);
        let assigned: Vec<Step> =
            targets.iter().flat_map(|target| self.assigned(&target.assignments)).collect();
        Step::new(format!("{verb} {}", shown.join(", "))).reads([rows]).reads(assigned)
    }

    fn assigned(&mut self, assignments: &'a [Assignment]) -> Vec<Step> {
        self.subqueries_of(assignments.iter().filter_map(|assignment| assignment.value.as_ref()), "values")
    }

    /// A node with its inputs.
    fn node(&mut self, node: &'a Node) -> Step {
        if self.is_too_deep() {
            return Step::new("");
        }
        let below = aggregate_below(node).map(|aggregate| self.calls(aggregate));
        let above = std::mem::replace(&mut self.aggregates, below.unwrap_or_default());
        let mut step = self.step(node);
        if step.actual.is_none() {
            step.actual = self.actual(|actuals| actuals.of_node(node));
            let kept = step.inputs.first_mut().filter(|_| step.reads_kept);
            kept.into_iter().for_each(|kept| kept.actual = step.actual);
        }
        self.aggregates = above;
        step
    }

    /// Whether there is no stack for what lies below, or was not before.
    fn is_too_deep(&mut self) -> bool {
        if self.failed.is_ok() {
            self.failed = check_stack();
        }
        self.failed.is_err()
    }

    /// What a step did, if the statement was analysed.
    fn actual(&self, of: impl FnOnce(&Actuals) -> Actual) -> Option<Actual> {
        self.actuals.map(of)
    }

    fn step(&mut self, node: &'a Node) -> Step {
        match node {
            Node::Nothing => zero_rows("Impossible WHERE"),
            Node::OneRow { .. } | Node::OuterRow { .. } | Node::Values { .. } => self.rows_at_hand(node),
            Node::Table(access) => self.table(access),
            Node::Virtual(access) => self.virtual_table(access),
            Node::Derived(derived) => self.derived(derived),
            Node::NestedLoop(join) => self.nested_loop(join, |all| all.table(&join.inner)),
            Node::VirtualLoop(join) => self.nested_loop(join, |all| all.virtual_table(&join.inner)),
            Node::Lateral(access) => self.lateral(access),
            Node::LateralLoop(join) => self.nested_loop(join, |all| all.lateral(&join.inner)),
            Node::TreeLoop(join) => self.nested_loop(join, |all| all.node(&join.inner.node)),
            Node::HashJoin(join) => self.hash_join(join),
            Node::Filter { input, conditions } => {
                let input = self.node(input);
                self.filtered(conditions, input)
            }
            Node::Aggregate(aggregate) => self.aggregate(aggregate),
            Node::Window(step) => self.window(step),
            Node::Count(access) => self.count(access),
            Node::Project { input, expressions } => {
                let mut step = self.node(input);
                step.select_list.extend(self.subqueries_of(expressions, "projection"));
                step
            }
            Node::Distinct { input, .. } => {
                let kept = Step::over("Temporary table with deduplication", self.node(input))
                    .kind("materialize")
                    .detail("temp_table", true)
                    .detail("deduplication", true);
                temporary_table("<temporary>", kept)
            }
            Node::Sort { input, keys, limit } => self.sort(input, keys, limit.as_ref()),
            Node::Limit { input, limit, .. } => {
                let (shown, most) = limit_text(limit);
                let below = self.node(input);
                let estimate = Estimate { rows: below.estimate.rows.min(most.rows), ..below.estimate };
                Step::costed(shown, estimate)
                    .kind("limit")
                    .detail("limit", most.last_row)
                    .detail("limit_offset", most.offset)
                    .reads([below])
            }
            Node::Append(inputs) => self.append(inputs),
            Node::SetOperation(operation) => self.set_operation(&operation.first, &operation.rest),
            Node::Recursive(recursive) => self.recursive(recursive),
            Node::RecursiveInput { .. } => Step::new("Scan new records").kind("scan_new_records"),
        }
    }

    /// Rows that no table has.
    fn rows_at_hand(&mut self, node: &'a Node) -> Step {
        let (rows, asked) = match node {
            Node::Values { rows } => (rows.len(), self.subqueries_of(rows.iter().flatten(), "values")),
            _ => (1, Vec::new()),
        };
        let mut step = Step::costed("Rows fetched before execution", Estimate::at_hand(rows as f64))
            .kind("rows_fetched_before_execution");
        step.select_list = asked;
        step
    }

    /// What passes conditions, if there are any.
    fn filtered(&mut self, conditions: &'a [Expression], below: Step) -> Step {
        if conditions.is_empty() {
            return below;
        }
        let estimate = below.estimate;
        let asked = self.subqueries_of(conditions, "condition");
        self.filter(conditions, estimate).reads([below]).reads(asked)
    }

    /// A filter without its input.
    fn filter(&self, conditions: &[Expression], estimate: Estimate) -> Step {
        let shown = self.joined(conditions);
        Step::costed(format!("Filter: {shown}"), estimate)
            .kind("filter")
            .detail("condition", shown)
            .detail("filter_columns", column_names(conditions))
    }
}

/// No rows, and why.
fn zero_rows(cause: &str) -> Step {
    Step::costed(format!("Zero rows ({cause})"), Estimate::at_hand(0.0))
        .kind("zero_rows")
        .detail("zero_rows_cause", cause)
}

/// Reading what was kept.
fn temporary_table(name: &str, kept: Step) -> Step {
    let scan = Step::over(format!("Table scan on {name}"), kept);
    Step { reads_kept: true, ..scan.kind("table").detail("table_name", name) }
}

/// The columns that expressions read, with their schemas and tables.
fn column_names<'e>(expressions: impl IntoIterator<Item = &'e Expression>) -> Json {
    let mut names: Vec<String> = Vec::new();
    for expression in expressions {
        expression.visit(&mut |part| {
            if let expression::ExpressionKind::Column(slot) = &part.kind
                && slot.name.contains('.')
                && !slot.name.contains(['(', ' '])
            {
                names.push(slot.name.replace('`', ""));
            }
        });
    }
    names.sort();
    names.dedup();
    names.into()
}

/// The grouping whose rows a step reads, be it through other steps.
fn aggregate_below(node: &Node) -> Option<&Aggregate> {
    match node {
        Node::Aggregate(aggregate) => Some(aggregate),
        Node::Window(step) => aggregate_below(&step.input),
        Node::Filter { input, .. }
        | Node::Project { input, .. }
        | Node::Distinct { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. } => aggregate_below(input),
        _ => None,
    }
}
