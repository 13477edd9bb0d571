//! From a chosen join order to nodes: readers, nested loops, hash joins, and the EXPLAIN line of each table.

use super::access::Candidate;
use super::equal_columns::Condition;
use super::join::{Content, Group};
use super::order::{ChosenSteps, StepOrder};
use super::virtual_keys::with_keys;
use crate::{Block, Derived, Joined, Optimizer, Source, tables_of, whole_table, width};
use expression::operators::{ComparisonMode, ComparisonOperator};
use expression::{Expression, ExpressionKind};
use plan::differs_between_rows;
use plan::physical::{
    DerivedAccess, ExplainRow, HashJoin, JoinKey, JoinKind, KeyCondition, NestedLoop, Node, TableAccess,
    VirtualAccess,
};
use plan::range::key_length;

/// A node behind a filter, if there are conditions.
pub(super) fn filtered(node: Node, conditions: Vec<Expression>) -> Node {
    if conditions.is_empty() { node } else { Node::Filter { input: Box::new(node), conditions } }
}

/// Makes nodes of what was chosen.
pub(super) struct Builder<'a> {
    block: &'a Block,
    /// Whether the statement assigns user variables.
    assigns: bool,
    /// Numbers of the queries in FROM that do.
    assigning: &'a [u32],
}

impl<'a> Builder<'a> {
    pub fn of(optimizer: &'a Optimizer<'_>) -> Builder<'a> {
        Builder { block: optimizer.block, assigns: optimizer.assigns, assigning: optimizer.assigning }
    }

    /// Turns the chosen steps into nodes.
    pub(super) fn build_joins(
        &self,
        group: Group,
        mut conditions: Vec<Condition>,
        mut nests: Vec<Option<Joined>>,
        chosen: ChosenSteps,
    ) -> Joined {
        let mut members: Vec<_> = group.members.into_iter().map(Some).collect();
        let mut node: Option<Node> = None;
        let ChosenSteps { steps, mut order } = chosen;
        let (mut placed, mut rows) = (0u64, 1.0);
        let mut explain = Vec::new();
        let mut first = None;
        for step in steps {
            let Some(member) = members[step.member].take() else { continue };
            let after = placed | member.tables;
            let is_last = members.iter().all(Option::is_none);
            let is_ready = |condition: &mut Condition| {
                let tables = condition.tables;
                let is_about = tables & member.tables != 0 || placed == 0;
                // What differs from row to row is asked of each row that comes out.
                tables & !after == 0 && (is_last || is_about && !self.differs(condition))
            };
            let ready = conditions.extract_if(.., is_ready).collect();
            let ready = without_idle(ready);
            let (kind, own, later) = match member.joined_by {
                Some((kind, on)) => (kind, on, ready),
                None => (JoinKind::Inner, ready, Vec::new()),
            };
            let reader = match (member.content, nests[step.member].take()) {
                (_, Some(nest)) => {
                    explain.extend(nest.explain);
                    nest.node
                }
                (Content::Table(table), None) => {
                    first = first.or_else(|| (placed == 0).then_some(table));
                    let candidate = step.candidate.as_ref();
                    let (reader, mut row) = self.table_reader(table, candidate);
                    let known = if step.hash { 0 } else { placed };
                    let reader = with_keys(self.block, table, reader, &own, known);
                    if step.hash {
                        row.extra.push("Using join buffer (hash join)".to_owned());
                    }
                    if !own.is_empty() && !candidate.is_some_and(|candidate| candidate.path.single_row) {
                        row.extra.insert(0, "Using where".to_owned());
                    }
                    explain.push(row);
                    reader
                }
                (Content::Nest(_), None) => Node::Nothing,
            };
            let joined = match node.take() {
                None => with_conditions(reader, own),
                Some(outer) if !step.hash => nested_loop(outer, reader, own, kind),
                Some(outer) => {
                    if step.swap && order == StepOrder::OfFirst {
                        order = StepOrder::None;
                    }
                    self.hash_join(outer, reader, own, kind, placed, member.tables, step.swap)
                }
            };
            node = Some(filtered(joined, later));
            placed = after;
            rows = step.rows_after;
        }
        let rest = without_idle(conditions);
        let ordered = order != StepOrder::None;
        Joined { node: filtered(node.unwrap_or(Node::Nothing), rest), ordered, rows, explain, first }
    }

    fn differs(&self, condition: &Condition) -> bool {
        differs_between_rows(&condition.expression, self.assigns)
    }

    fn hash_join(
        &self,
        outer: Node,
        inner: Node,
        own: Vec<Expression>,
        kind: JoinKind,
        placed: u64,
        tables: u64,
        swap: bool,
    ) -> Node {
        let (mut keys, mut local, mut both) = (Vec::new(), Vec::new(), Vec::new());
        for condition in own {
            let mask = tables_of(self.block, &condition);
            if differs_between_rows(&condition, self.assigns) {
                both.push(condition);
                continue;
            }
            if mask & placed == 0 {
                local.push(condition);
                continue;
            }
            match self.join_key(&condition, placed, tables) {
                Some(key) => keys.push(key),
                None => both.push(condition),
            }
        }
        let inner = with_conditions(inner, local);
        let build_tables = if swap { placed } else { tables };
        let slots = &self.block.slots;
        let build_slots = (0..slots.len()).filter(|slot| build_tables >> slots[*slot].0 & 1 == 1).collect();
        let (probe, build) = if swap { (inner, outer) } else { (outer, inner) };
        if swap {
            for key in &mut keys {
                std::mem::swap(&mut key.probe, &mut key.build);
            }
        }
        Node::HashJoin(Box::new(HashJoin { probe, build, build_slots, keys, kind, conditions: both }))
    }

    /// `outer expression = inner expression` as a hash key.
    fn join_key(&self, condition: &Expression, placed: u64, tables: u64) -> Option<JoinKey> {
        let ExpressionKind::Compare(comparison) = &condition.kind else { return None };
        let null_safe = match comparison.operator {
            ComparisonOperator::Equal => false,
            ComparisonOperator::NullSafeEqual => true,
            _ => return None,
        };
        // Dates and times compare after conversions that hashing would have to repeat; they stay conditions unless alike.
        let alike = comparison.left.result.kind() == comparison.right.result.kind();
        if matches!(comparison.mode, ComparisonMode::DateTime | ComparisonMode::Time) && !alike {
            return None;
        }
        let block = self.block;
        let (left, right) = (tables_of(block, &comparison.left), tables_of(block, &comparison.right));
        let key = |probe: &Expression, build: &Expression| JoinKey {
            probe: probe.clone(),
            build: build.clone(),
            mode: comparison.mode,
            null_safe,
        };
        if left & !placed == 0 && left != 0 && right & !tables == 0 && right != 0 {
            return Some(key(&comparison.left, &comparison.right));
        }
        if right & !placed == 0 && right != 0 && left & !tables == 0 && left != 0 {
            return Some(key(&comparison.right, &comparison.left));
        }
        None
    }

    /// The node that reads a table of FROM, without conditions, and its EXPLAIN line.
    pub(super) fn table_reader(&self, number: usize, candidate: Option<&Candidate>) -> (Node, ExplainRow) {
        let width = width(self.block);
        let block = self.block;
        let bound = &block.tables[number];
        let alias = bound.alias.clone();
        let columns = bound.used_columns();
        let scan_row = |name: String| ExplainRow {
            table: Some(name),
            access: Some("ALL"),
            filtered: Some(100.0),
            ..ExplainRow::default()
        };
        match &bound.source {
            Source::Base(_) => {
                let mut access = whole_table(self.block, number);
                if let Some(candidate) = candidate {
                    access.path = candidate.path.clone();
                    access.rows_read = candidate.rows;
                    access.rows_kept = candidate.rows;
                }
                let row = self.explain_access(&access, candidate);
                (Node::Table(Box::new(access)), row)
            }
            Source::Virtual(definition) => {
                let definition = definition.clone();
                let (keys, conditions) = (Vec::new(), Vec::new());
                let row = scan_row(alias.clone());
                let access = VirtualAccess { definition, alias, columns, width, keys, conditions };
                (Node::Virtual(Box::new(access)), row)
            }
            Source::Derived(Derived::Open(_), _) => {
                unreachable!("queries in FROM are planned or taken in before joins are chosen")
            }
            Source::Derived(Derived::Planned(query), common_table) => {
                let name = match bound.derived_number {
                    Some(number) => format!("<derived{number}>"),
                    None => alias.clone(),
                };
                let (query, common_table) = (query.clone(), *common_table);
                let kept = bound.derived_number.is_some_and(|number| self.assigning.contains(&number));
                let conditions = Vec::new();
                let access = DerivedAccess { query, alias, common_table, columns, width, conditions, kept };
                (Node::Derived(Box::new(access)), scan_row(name))
            }
            Source::Recursion(id) => (Node::RecursiveInput { id: *id, columns, width }, scan_row(alias)),
        }
    }

    fn explain_access(&self, access: &TableAccess, candidate: Option<&Candidate>) -> ExplainRow {
        let table = &access.table;
        let definition = table.indexes()[access.path.index].definition(table);
        let mut row =
            ExplainRow { table: Some(access.alias.clone()), filtered: Some(100.0), ..ExplainRow::default() };
        row.rows = Some(access.rows_read.round().max(1.0) as u64);
        if access.path.covering {
            row.extra.push("Using index".to_owned());
        }
        if !access.path.union.is_empty() {
            explain_union(access, &mut row);
            return row;
        }
        let Some(ranges) = &access.path.ranges else {
            let by_index = access.path.covering || access.path.ordered;
            row.access = Some(if by_index { "index" } else { "ALL" });
            if by_index && let Some(definition) = definition {
                row.key = Some(definition.name.clone());
                let all = vec![KeyCondition::Range { low: None, high: None }; definition.parts.len()];
                row.key_lengths = vec![key_length(table, definition, &all)];
            }
            return row;
        };
        let Some(definition) = definition else { return row };
        let points = ranges.len() == 1
            && ranges[0]
                .iter()
                .all(|condition| matches!(condition, KeyCondition::Points(points) if points.len() == 1));
        let dependent = candidate.is_some_and(|candidate| candidate.dependent);
        row.access = Some(match (points, access.path.single_row, dependent) {
            (true, true, false) => "const",
            (true, true, true) => "eq_ref",
            (true, false, _) => "ref",
            (false, ..) => "range",
        });
        row.possible_keys = vec![definition.name.clone()];
        row.key = Some(definition.name.clone());
        row.key_lengths
            .extend(ranges.iter().map(|conditions| key_length(table, definition, conditions)).max());
        if points {
            let names: Vec<String> = ranges[0].iter().map(|condition| self.reference(condition)).collect();
            row.reference = Some(names.join(","));
        }
        row
    }

    /// What a key part is compared with, as EXPLAIN names it.
    fn reference(&self, condition: &KeyCondition) -> String {
        match condition {
            KeyCondition::Points(points) => match points.first().map(|(point, _)| &point.kind) {
                Some(ExpressionKind::Column(column)) => column.name.replace('`', ""),
                Some(ExpressionKind::Literal(_) | ExpressionKind::Parameter(_)) => "const".to_owned(),
                _ => "func".to_owned(),
            },
            _ => "const".to_owned(),
        }
    }
}

/// The conditions without equalities that follow from others and find nothing new.
fn without_idle(conditions: Vec<Condition>) -> Vec<Expression> {
    let is_idle = |at: usize, condition: &Condition| {
        let same_class = |other: &Condition| condition.class.is_some() && other.class == condition.class;
        condition.is_implied
            && (conditions.iter().any(|other| !other.is_implied && same_class(other))
                || conditions[..at].iter().any(same_class))
    };
    let idle: Vec<bool> = conditions.iter().enumerate().map(|(at, one)| is_idle(at, one)).collect();
    let kept = conditions.into_iter().zip(idle).filter(|(_, idle)| !idle);
    kept.map(|(condition, _)| condition.expression).collect()
}

/// The keys of a union, in MySQL's words.
fn explain_union(access: &TableAccess, row: &mut ExplainRow) {
    let table = &access.table;
    let parts = access
        .path
        .union
        .iter()
        .filter_map(|path| Some((path, table.indexes()[path.index].definition(table)?)));
    let mut names = Vec::new();
    for (path, definition) in parts {
        names.push(definition.name.as_str());
        let ranges = path.ranges.iter().flatten();
        row.key_lengths.extend(ranges.map(|one| key_length(table, definition, one)).max());
    }
    row.access = Some("index_merge");
    row.possible_keys = names.iter().map(|name| (*name).to_owned()).collect();
    row.extra.push(format!("Using sort_union({})", names.join(",")));
    row.key = Some(names.join(","));
}

/// Adds conditions to a reader; they are checked where the row is read.
fn with_conditions(node: Node, more: Vec<Expression>) -> Node {
    match node {
        Node::Table(mut access) => {
            access.conditions.extend(more);
            Node::Table(access)
        }
        Node::Virtual(mut access) => {
            access.conditions.extend(more);
            Node::Virtual(access)
        }
        Node::Derived(mut access) => {
            access.conditions.extend(more);
            Node::Derived(access)
        }
        other => filtered(other, more),
    }
}

fn nested_loop(outer: Node, inner: Node, own: Vec<Expression>, kind: JoinKind) -> Node {
    match inner {
        Node::Table(mut access) => {
            access.conditions.extend(own);
            Node::NestedLoop(Box::new(NestedLoop { outer, inner: *access, kind, conditions: Vec::new() }))
        }
        Node::Virtual(mut access) => {
            access.conditions.extend(own);
            Node::VirtualLoop(Box::new(NestedLoop { outer, inner: *access, kind, conditions: Vec::new() }))
        }
        // Others are not looked up by key.
        other => {
            let join = HashJoin {
                probe: outer,
                build: other,
                build_slots: Vec::new(),
                keys: Vec::new(),
                kind,
                conditions: own,
            };
            Node::HashJoin(Box::new(join))
        }
    }
}
