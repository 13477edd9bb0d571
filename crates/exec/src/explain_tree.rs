//! EXPLAIN as a tree, the form that MySQL 9.7 prints by default: one line a step, indented below what reads it.
//! Main function: [`text`]. Costs and rows are this server's estimates in MySQL's unit (a row read is 0.1).

use engine::Engine;
use expression::{Expression, ExpressionKind};
use plan::physical::{
    Aggregate, AggregateKind, DerivedAccess, HashJoin, JoinKind, KeyCondition, NestedLoop, Node, Recursive,
    RowLimit, SetOperation, SortKey, TableAccess,
};
use plan::{InsertRows, Plan, PlanKind};
use std::collections::HashMap;
use std::fmt::Write as _;

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
}

/// The tree of a plan.
pub fn text(plan: &Plan, engine: &Engine) -> String {
    let mut tree = Tree { plan, engine, text: String::new(), common_tables: HashMap::new() };
    match &plan.kind {
        PlanKind::Query(query, _) => {
            tree.node(&query.root, 0);
        }
        PlanKind::Insert(insert) => {
            let verb = if insert.replace { "Replace" } else { "Insert" };
            tree.line(0, &format!("{verb} into {}", insert.table.definition().name.table));
            match &insert.rows {
                InsertRows::Values(_) => tree.line(1, "Rows fetched before execution"),
                InsertRows::Query(query) => {
                    tree.node(&query.root, 1);
                }
            }
        }
        _ => tree.text.push_str("<not executable by iterator executor>\n"),
    }
    if !tree.text.starts_with('<') {
        return tree.text;
    }
    format!("-> {}", tree.text)
}

impl Tree<'_> {
    fn line(&mut self, depth: usize, what: &str) {
        let _written = writeln!(self.text, "{:width$}-> {what}", "", width = 4 * depth);
    }

    fn costed(&mut self, depth: usize, what: &str, estimate: Estimate) -> Estimate {
        let (cost, rows) = (number(estimate.cost), number(estimate.rows));
        self.line(depth, &format!("{what}  (cost={cost} rows={rows})"));
        estimate
    }

    /// Prints a node with its inputs; a line that needs the input's estimate is put before it afterwards.
    fn node(&mut self, node: &Node, depth: usize) -> Estimate {
        match node {
            Node::Nothing => {
                self.line(depth, "Zero rows (Impossible WHERE)  (cost=0..0 rows=0)");
                Estimate::default()
            }
            Node::OneRow { .. } | Node::Values { .. } => {
                let rows = if let Node::Values { rows } = node { rows.len() } else { 1 };
                self.line(depth, &format!("Rows fetched before execution  (cost=0..0 rows={rows})"));
                Estimate { cost: 0.0, rows: rows as f64 }
            }
            Node::Table(access) => self.table(access, depth),
            Node::Virtual(access) => {
                self.line(depth, &format!("Table scan on {}", access.definition.name.table));
                Estimate::default()
            }
            Node::Derived(derived) => self.derived(derived, depth),
            Node::NestedLoop(join) => self.nested_loop(join, depth),
            Node::HashJoin(join) => self.hash_join(join, depth),
            Node::Filter { input, conditions } => {
                let shown = joined(conditions);
                self.above(
                    depth,
                    |tree, depth| tree.node(input, depth),
                    |below| (format!("Filter: {shown}"), below),
                )
            }
            Node::Aggregate(aggregate) => self.aggregate(aggregate, depth),
            Node::Count(access) => {
                self.line(depth, &format!("Count rows in {}", access.alias));
                Estimate { cost: 0.0, rows: 1.0 }
            }
            Node::Project { input, .. } => self.node(input, depth),
            Node::Distinct { input, .. } => {
                self.line(depth, "Table scan on <temporary>");
                self.line(depth + 1, "Temporary table with deduplication");
                self.node(input, depth + 2)
            }
            Node::Sort { input, keys, limit } => {
                let shown = sort_text(input, keys, limit.as_ref());
                self.above(depth, |tree, depth| tree.node(input, depth), |below| (shown, below))
            }
            Node::Limit { input, limit, .. } => {
                let (shown, most) = limit_text(limit);
                self.above(
                    depth,
                    |tree, depth| tree.node(input, depth),
                    |below| (shown, Estimate { rows: below.rows.min(most), ..below }),
                )
            }
            Node::SetOperation(operation) => self.set_operation(operation, depth),
            Node::Recursive(recursive) => self.recursive(recursive, depth),
            Node::RecursiveInput { .. } => {
                self.line(depth, "Scan new records");
                Estimate::default()
            }
        }
    }

    /// A common table that is used more than once is shown where it is used first.
    fn derived(&mut self, derived: &DerivedAccess, depth: usize) -> Estimate {
        let is_shared = |number: &usize| self.plan.common_tables[*number].uses > 1;
        let Some(number) = derived.common_table.filter(is_shared) else {
            return self.above(
                depth,
                |tree, depth| tree.node(&derived.query.root, depth),
                |below| ("Materialize".to_owned(), below),
            );
        };
        let label = format!("Materialize CTE {} if needed", self.plan.common_tables[number].name);
        if let Some(shown) = self.common_tables.get(&number).copied() {
            self.line(depth, &format!("{label} (query plan printed elsewhere)"));
            return shown;
        }
        let shown =
            self.above(depth, |tree, depth| tree.node(&derived.query.root, depth), |below| (label, below));
        self.common_tables.insert(number, shown);
        shown
    }

    fn set_operation(&mut self, operation: &SetOperation, depth: usize) -> Estimate {
        self.line(depth, "Table scan on <union temporary>");
        self.line(depth + 1, "Union materialize with deduplication");
        let mut total = self.node(&operation.first, depth + 2);
        for term in &operation.rest {
            let other = self.node(&term.node, depth + 2);
            total = Estimate { cost: total.cost + other.cost, rows: total.rows + other.rows };
        }
        total
    }

    fn recursive(&mut self, recursive: &Recursive, depth: usize) -> Estimate {
        self.line(depth, "Materialize recursive CTE");
        let seed = self.node(&recursive.seed, depth + 1);
        self.line(depth + 1, "Repeat until convergence");
        for step in &recursive.steps {
            self.node(&step.node, depth + 2);
        }
        seed
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

    fn table(&mut self, access: &TableAccess, depth: usize) -> Estimate {
        let constant =
            access.path.single_row && key_points(access).iter().all(|(_, point)| point.is_constant());
        if constant {
            let empty = self.engine.statistics(&access.table).rows == 0;
            let shown = match empty {
                true => "Zero rows (no matching row in const table)  (cost=0..0 rows=0)",
                false => "Rows fetched before execution  (cost=0..0 rows=1)",
            };
            self.line(depth, shown);
            return Estimate { cost: 0.0, rows: f64::from(u8::from(!empty)) };
        }
        let conditions: Vec<Expression> =
            access.conditions.iter().filter(|condition| !is_looked_up(condition, access)).cloned().collect();
        let rows = access.rows_read.max(1.0);
        let ranges = access.path.ranges.as_ref().filter(|_| key_points(access).is_empty());
        let cost = match ranges {
            Some(_) => START_COST + (ROW_COST + RANGE_ROW_COST) * rows,
            None => START_COST + ROW_COST * rows,
        };
        let read = Estimate { cost, rows };
        let what = access_text(access);
        if conditions.is_empty() {
            return self.costed(depth, &what, read);
        }
        let kept = Estimate { rows: access.rows_kept.min(rows), ..read };
        let shown = format!("Filter: {}", joined(&conditions));
        self.above(depth, |tree, depth| tree.costed(depth, &what, read), |_| (shown, kept))
    }

    fn nested_loop(&mut self, join: &NestedLoop, depth: usize) -> Estimate {
        let what = match join.kind {
            JoinKind::Inner => "Nested loop inner join",
            JoinKind::Left => "Nested loop left join",
            JoinKind::Semi => "Nested loop semijoin",
            JoinKind::Anti => "Nested loop antijoin",
        };
        let sides = |tree: &mut Self, depth| {
            let outer = tree.node(&join.outer, depth);
            let inner = tree.table(&join.inner, depth);
            Estimate { cost: outer.cost + outer.rows * inner.cost, rows: outer.rows * inner.rows }
        };
        self.above(depth, sides, |below| (what.to_owned(), below))
    }

    fn hash_join(&mut self, join: &HashJoin, depth: usize) -> Estimate {
        let kind = match join.kind {
            JoinKind::Inner => "Inner hash join",
            JoinKind::Left => "Left hash join",
            JoinKind::Semi => "Hash semijoin",
            JoinKind::Anti => "Hash antijoin",
        };
        let keys: Vec<String> =
            join.keys.iter().map(|key| format!("({} = {})", shown(&key.probe), shown(&key.build))).collect();
        let keys = if keys.is_empty() { "no condition".to_owned() } else { keys.join(", ") };
        let what = if join.keys.is_empty() { format!("{kind} ({keys})") } else { format!("{kind} {keys}") };
        let sides = |tree: &mut Self, depth: usize| {
            let probe = tree.node(&join.probe, depth);
            tree.line(depth, "Hash");
            let build = tree.node(&join.build, depth + 1);
            let pairs =
                if join.keys.is_empty() { probe.rows * build.rows } else { probe.rows.max(build.rows) };
            Estimate { cost: probe.cost + build.cost + ROW_COST * pairs, rows: pairs }
        };
        self.above(depth, sides, |below| (what, below))
    }

    fn aggregate(&mut self, aggregate: &Aggregate, depth: usize) -> Estimate {
        if aggregate.keys.is_empty() {
            let calls: Vec<String> = aggregate
                .aggregates
                .iter()
                .map(|call| {
                    let arguments: Vec<String> = call.arguments.iter().map(shown).collect();
                    let distinct = if call.distinct { "distinct " } else { "" };
                    let arguments = if arguments.is_empty() { "0".to_owned() } else { arguments.join(",") };
                    format!("{}({distinct}{arguments})", aggregate_name(call.kind))
                })
                .collect();
            let what = format!("Aggregate: {}", calls.join(", "));
            return self.above(
                depth,
                |tree, depth| tree.node(&aggregate.input, depth),
                |below| (what, Estimate { cost: below.cost + ROW_COST * below.rows, rows: 1.0 }),
            );
        }
        self.line(depth, "Table scan on <temporary>");
        self.line(depth + 1, "Aggregate using temporary table");
        self.node(&aggregate.input, depth + 2)
    }
}

fn aggregate_name(kind: AggregateKind) -> &'static str {
    match kind {
        AggregateKind::CountRows | AggregateKind::Count => "count",
        AggregateKind::Sum => "sum",
        AggregateKind::Average => "avg",
        AggregateKind::Minimum => "min",
        AggregateKind::Maximum => "max",
        AggregateKind::GroupConcat => "group_concat",
        AggregateKind::BitAnd => "bit_and",
        AggregateKind::BitOr => "bit_or",
        AggregateKind::BitXor => "bit_xor",
        AggregateKind::Variance { root: true, .. } => "std",
        AggregateKind::Variance { .. } => "variance",
        AggregateKind::First => "any_value",
        AggregateKind::Grouping(_) => "grouping",
    }
}

/// The parts of the index that are compared with one value each: name of the column, value.
fn key_points(access: &TableAccess) -> Vec<(String, &Expression)> {
    let Some([conditions]) = access.path.ranges.as_deref() else { return Vec::new() };
    let definition = access.table.definition();
    let Some(index) = access.table.indexes()[access.path.index].definition(&access.table) else {
        return Vec::new();
    };
    conditions
        .iter()
        .zip(&index.parts)
        .filter_map(|(condition, part)| match condition {
            KeyCondition::Points(points) if points.len() == 1 => {
                Some((definition.columns[part.column].name.clone(), &points[0].0))
            }
            _ => None,
        })
        .collect()
}

/// Whether a condition is one that the index look-up answers.
fn is_looked_up(condition: &Expression, access: &TableAccess) -> bool {
    let ExpressionKind::Compare(comparison) = &condition.kind else { return false };
    let points = key_points(access);
    let is_part = |column: &Expression, value: &Expression| {
        points.iter().any(|(name, point)| {
            matches!(&column.kind, ExpressionKind::Column(slot) if slot.name.rsplit('.').next().map(|column| column.trim_matches('`')) == Some(name))
                && point.to_string() == value.to_string()
        })
    };
    comparison.operator == expression::operators::ComparisonOperator::Equal
        && (is_part(&comparison.left, &comparison.right) || is_part(&comparison.right, &comparison.left))
}

fn access_text(access: &TableAccess) -> String {
    let (alias, table) = (&access.alias, &access.table);
    let index =
        table.indexes()[access.path.index].definition(table).map_or("PRIMARY", |index| index.name.as_str());
    let covering = if access.path.covering { "Covering index" } else { "Index" };
    let reverse = if access.path.backward { " (reverse)" } else { "" };
    let Some(ranges) = &access.path.ranges else {
        return match access.path.index {
            0 if !access.path.ordered => format!("Table scan on {alias}"),
            _ => format!("{covering} scan on {alias} using {index}{reverse}"),
        };
    };
    let points = key_points(access);
    if ranges.len() == 1 && points.len() == ranges[0].len() {
        let shown: Vec<String> =
            points.iter().map(|(name, point)| format!("{name} = {}", shown(point))).collect();
        let single = match (access.path.single_row, access.path.covering) {
            (true, true) => "Single-row covering index",
            (true, false) => "Single-row index",
            _ => covering,
        };
        return format!("{single} lookup on {alias} using {index} ({}){reverse}", shown.join(", "));
    }
    format!("{covering} range scan on {alias} using {index} over {}{reverse}", ranges_text(access))
}

fn ranges_text(access: &TableAccess) -> String {
    let definition = access.table.definition();
    let Some(index) = access.table.indexes()[access.path.index].definition(&access.table) else {
        return String::new();
    };
    let mut alternatives = Vec::new();
    for conditions in access.path.ranges.iter().flatten() {
        let mut parts: Vec<Vec<String>> = Vec::new();
        for (condition, part) in conditions.iter().zip(&index.parts) {
            let name = &definition.columns[part.column].name;
            parts.push(match condition {
                KeyCondition::Points(points) => {
                    points.iter().map(|(point, _)| format!("{name} = {}", shown(point))).collect()
                }
                KeyCondition::Range { low, high } => {
                    let sign = |inside: bool| if inside { "<=" } else { "<" };
                    let low = low.as_ref().map_or("NULL < ".to_owned(), |(bound, inside)| {
                        format!("{} {} ", shown(bound), sign(*inside))
                    });
                    let high = high.as_ref().map_or(String::new(), |(bound, inside)| {
                        format!(" {} {}", sign(*inside), shown(bound))
                    });
                    vec![format!("{low}{name}{high}")]
                }
                KeyCondition::Prefix(pattern, _) => vec![format!("{name} like {}", shown(pattern))],
            });
        }
        match parts.as_slice() {
            [only] => alternatives.extend(only.iter().map(|text| format!("({text})"))),
            several => {
                let all: Vec<String> = several.iter().map(|texts| texts.join(" OR ")).collect();
                alternatives.push(format!("({})", all.join(" AND ")));
            }
        }
    }
    alternatives.join(" OR ")
}

fn sort_text(input: &Node, keys: &[SortKey], limit: Option<&RowLimit>) -> String {
    let projected = match input {
        Node::Project { expressions, .. } => expressions.as_slice(),
        _ => &[],
    };
    let keys: Vec<String> = keys
        .iter()
        .map(|key| {
            let sorted =
                key.expression.column_slot().and_then(|slot| projected.get(slot)).unwrap_or(&key.expression);
            format!("{}{}", shown(sorted), if key.descending { " DESC" } else { "" })
        })
        .collect();
    let cut = limit.and_then(|limit| {
        let count =
            constant(limit.count.as_ref())? + limit.offset.as_ref().map_or(Some(0), |o| constant(Some(o)))?;
        Some(format!(", limit input to {count} row(s) per chunk"))
    });
    format!("Sort: {}{}", keys.join(", "), cut.unwrap_or_default())
}

/// The text of a LIMIT and its number of rows.
fn limit_text(limit: &RowLimit) -> (String, f64) {
    let count = constant(limit.count.as_ref());
    let most = count.map_or(f64::MAX, |count| count as f64);
    let count = count.map_or("?".to_owned(), |count| count.to_string());
    match constant(limit.offset.as_ref()).filter(|offset| *offset > 0) {
        Some(offset) => (format!("Limit/Offset: {count}/{offset} row(s)"), most),
        None => (format!("Limit: {count} row(s)"), most),
    }
}

fn constant(expression: Option<&Expression>) -> Option<u64> {
    match expression?.literal()? {
        values::Value::Int(number) => u64::try_from(*number).ok(),
        values::Value::UInt(number) => Some(*number),
        _ => None,
    }
}

fn joined(conditions: &[Expression]) -> String {
    match conditions {
        [only] => shown(only),
        several => format!("({})", several.iter().map(shown).collect::<Vec<_>>().join(" and ")),
    }
}

/// An expression with its columns as `table.column`.
fn shown(expression: &Expression) -> String {
    let mut expression = expression.clone();
    shorten(&mut expression);
    expression.to_string()
}

fn shorten(expression: &mut Expression) {
    if let ExpressionKind::Column(slot) = &mut expression.kind {
        let plain = slot.name.replace('`', "");
        let mut parts: Vec<&str> = plain.rsplitn(3, '.').take(2).collect();
        parts.reverse();
        slot.name = parts.join(".").into();
    }
    expression.for_each_child_mut(&mut shorten);
}

/// Three significant digits, as MySQL shows costs and rows.
fn number(value: f64) -> String {
    if value >= 1e6 {
        let exponent = value.log10().floor() as i32;
        let digits = format!("{:.2}", value / 10f64.powi(exponent));
        return format!("{}e+{exponent}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    if value >= 100.0 {
        return format!("{value:.0}");
    }
    let decimals = (2 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 6) as usize;
    let digits = format!("{value:.decimals$}");
    if digits.contains('.') {
        return digits.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_three_digits() {
        for (value, expected) in [
            (0.55, "0.55"),
            (0.0, "0"),
            (3.0, "3"),
            (3955.2, "3955"),
            (12.345, "12.3"),
            (2_500_000.0, "2.5e+6"),
            (0.6666, "0.667"),
        ] {
            assert_eq!(number(value), expected);
        }
    }
}
