//! From a chosen join order to nodes: readers, nested loops, hash joins.

use super::access::Candidate;
use super::equal_columns::Condition;
use super::join::{Content, Group, Nest};
use super::order::{ChosenSteps, StepOrder};
use super::virtual_keys::with_keys;
use crate::{Block, Derived, Joined, Optimizer, Source, tables_of, whole_table, width};
use expression::operators::{Comparison, ComparisonMode, ComparisonOperator};
use expression::{Expression, ExpressionKind, TypeClass};
use plan::lateral::{LateralAccess, LateralSource, SeededTree};
use plan::physical::{DerivedAccess, HashJoin, JoinKey, JoinKind, NestedLoop, Node, VirtualAccess};
use plan::{differs_between_rows, keep_repeated};
use std::rc::Rc;
use values::TypeKind;

/// A node behind a filter, if there are conditions.
pub(super) fn filtered(node: Node, conditions: Vec<Expression>) -> Node {
    if conditions.is_empty() { node } else { Node::Filter { input: Box::new(node), conditions } }
}

/// Makes nodes of what was chosen.
pub(super) struct Builder<'a> {
    pub(super) block: &'a Block,
    /// Whether the statement assigns user variables.
    assigns: bool,
    /// Numbers of the queries in FROM that do.
    assigning: &'a [u32],
    /// Whether lines of EXPLAIN are wanted.
    pub(super) explains: bool,
}

impl<'a> Builder<'a> {
    pub fn of(optimizer: &'a Optimizer<'_>) -> Builder<'a> {
        let Optimizer { assigns, assigning, explains, .. } = *optimizer;
        Builder { block: optimizer.block, assigns, assigning, explains }
    }

    /// Turns the chosen steps into nodes.
    pub(super) fn build_joins(
        &self,
        group: Group,
        mut conditions: Vec<Condition>,
        mut nests: Vec<Option<Nest>>,
        chosen: ChosenSteps,
    ) -> Joined {
        let own_tables = group.members.iter().fold(0, |bits, member| bits | member.tables);
        let mut members: Vec<_> = group.members.into_iter().map(Some).collect();
        let mut node = self.outer_row(group.around, &mut conditions);
        let ChosenSteps { steps, mut order, ns } = chosen;
        let (mut placed, mut rows) = (group.around, 1.0);
        let (mut explain, mut first) = (Vec::new(), None);
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
            let ready = without_idle(conditions.extract_if(.., is_ready).collect());
            let (kind, mut own, later) = match member.joined_by {
                Some((kind, on)) => (kind, on, ready),
                None => (JoinKind::Inner, ready, Vec::new()),
            };
            let is_tree_loop = nests[step.member].is_some() && (member.is_lateral || !step.hash);
            let mut asking = Vec::new();
            let reader = match (member.content, nests[step.member].take()) {
                (_, Some(nest)) => {
                    let nest = nest.into_read(is_tree_loop, &mut own, &mut asking);
                    explain.extend(nest.explain);
                    nest.node
                }
                (Content::Table(table), None) => {
                    first = first.or_else(|| (placed == 0).then_some(table));
                    let dependent = step.candidate.as_ref().is_some_and(|candidate| candidate.dependent);
                    let candidate = step.candidate.map(Rc::unwrap_or_clone);
                    let reader = self.table_reader(table, candidate, own_tables);
                    self.add_line_of_step(&mut explain, table, &reader, (dependent, step.hash), &own);
                    let known = if step.hash { 0 } else { placed };
                    with_keys(self.block, table, reader, &own, known)
                }
                (Content::Nest(_), None) => Node::Nothing,
            };
            let way = (kind, step.rows_after);
            let joined = match node.take() {
                None => with_conditions(reader, own),
                Some(outer) if is_tree_loop => {
                    let inner = self.seeded_tree(reader, member.tables, own_tables, &asking);
                    Node::TreeLoop(NestedLoop { outer, inner, kind, conditions: own }.into())
                }
                Some(outer) if !step.hash => nested_loop(outer, reader, own, way),
                Some(outer) => {
                    if step.swap && order == StepOrder::OfFirst {
                        order = StepOrder::None;
                    }
                    self.hash_join(outer, reader, own, way, (placed, member.tables), step.swap)
                }
            };
            node = Some(filtered(joined, later));
            placed = after;
            rows = step.rows_after;
        }
        let rest = without_idle(conditions);
        let ordered = order != StepOrder::None;
        Joined { node: filtered(node.unwrap_or(Node::Nothing), rest), ordered, rows, ns, explain, first }
    }

    /// The slots of other tables than `known` that sources among those tables read.
    fn slots_read(&self, tables: u64, known: u64) -> Vec<usize> {
        let mut slots: Vec<usize> = self.block.reads_of(tables).flat_map(Expression::slots).collect();
        slots.retain(|slot| known >> self.block.slots[*slot].0 & 1 == 0);
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// What a group that is joined anew for each row of those tables begins with: the row, if it meets its conditions.
    fn outer_row(&self, around: u64, conditions: &mut Vec<Condition>) -> Option<Node> {
        let is_ready =
            |condition: &mut Condition| condition.tables & !around == 0 && !self.differs(condition);
        let width = width(self.block);
        (around != 0).then(|| {
            let ready = without_idle(conditions.extract_if(.., is_ready).collect());
            filtered(Node::OuterRow { width }, ready)
        })
    }

    /// A join of those tables, read again for each row of the other ones among `around`, and with conditions that ask.
    fn seeded_tree(&self, mut node: Node, tables: u64, around: u64, asking: &[Expression]) -> SeededTree {
        keep_repeated(&mut node);
        let handed_on = self.slots_read(tables, around);
        let mut seeds = self.slots_read(tables, tables);
        let asked = asking.iter().flat_map(Expression::slots);
        seeds.extend(asked.filter(|slot| tables >> self.block.slots[*slot].0 & 1 == 0));
        seeds.sort_unstable();
        seeds.dedup();
        let slots = self.slots_of(tables);
        SeededTree { node, slots, seeds, handed_on, width: width(self.block) }
    }

    fn slots_of(&self, tables: u64) -> Vec<usize> {
        let slots = &self.block.slots;
        (0..slots.len()).filter(|slot| tables >> slots[*slot].0 & 1 == 1).collect()
    }

    fn differs(&self, condition: &Condition) -> bool {
        differs_between_rows(&condition.expression, self.assigns)
    }

    fn hash_join(
        &self,
        outer: Node,
        inner: Node,
        own: Vec<Expression>,
        (kind, rows): (JoinKind, f64),
        (placed, tables): (u64, u64),
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
            match self.join_key(condition, placed, tables) {
                Ok(key) => keys.push(key),
                Err(condition) => both.push(condition),
            }
        }
        let inner = with_conditions(inner, local);
        let build_tables = if swap { placed } else { tables };
        let build_slots = self.slots_of(build_tables);
        let (probe, build) = if swap { (inner, outer) } else { (outer, inner) };
        if swap {
            for key in &mut keys {
                std::mem::swap(&mut key.probe, &mut key.build);
            }
        }
        Node::HashJoin(Box::new(HashJoin { probe, build, build_slots, keys, kind, conditions: both, rows }))
    }

    /// `outer expression = inner expression` as a hash key; another condition comes back.
    fn join_key(&self, condition: Expression, placed: u64, tables: u64) -> Result<JoinKey, Expression> {
        let ExpressionKind::Compare(comparison) = condition.kind else { return Err(condition) };
        let null_safe = comparison.operator == ComparisonOperator::NullSafeEqual;
        let is_equality = null_safe || comparison.operator == ComparisonOperator::Equal;
        let sides = [&comparison.left, &comparison.right].map(|side| tables_of(self.block, side));
        let is_of = |side: u64, tables: u64| side != 0 && side & !tables == 0;
        let forwards = is_of(sides[0], placed) && is_of(sides[1], tables);
        let backwards = is_of(sides[1], placed) && is_of(sides[0], tables);
        if !is_equality || !has_key(&comparison) || !forwards && !backwards {
            return Err(Expression { kind: ExpressionKind::Compare(comparison), ..condition });
        }
        let Comparison { left, right, mode, .. } = *comparison;
        let (probe, build) = if forwards { (left, right) } else { (right, left) };
        Ok(JoinKey { probe, build, mode, null_safe })
    }

    /// The node that reads a table of FROM, without conditions, in a join of the tables `around`.
    pub(super) fn table_reader(&self, number: usize, candidate: Option<Candidate>, around: u64) -> Node {
        let width = width(self.block);
        let bound = &self.block.tables[number];
        match &bound.source {
            Source::Base(_) => {
                let mut access = whole_table(self.block, number);
                if let Some(candidate) = candidate {
                    access.path = candidate.path;
                    access.rows_read = candidate.rows;
                    access.rows_kept = candidate.rows;
                }
                Node::Table(Box::new(access))
            }
            Source::Virtual(definition) => {
                let (definition, alias) = (definition.clone(), bound.alias.clone());
                let (columns, keys, conditions) = (bound.used_columns(), Vec::new(), Vec::new());
                Node::Virtual(Box::new(VirtualAccess { definition, alias, columns, width, keys, conditions }))
            }
            Source::Derived(Derived::Open(_), _) => {
                unreachable!("queries in FROM are planned or taken in before joins are chosen")
            }
            Source::Derived(Derived::Planned(query), _) if !bound.reads.is_empty() => {
                let common_tables = bound.common_tables.clone();
                self.lateral(number, LateralSource::Query { query: query.clone(), common_tables }, around)
            }
            Source::Derived(Derived::Planned(query), common_table) => {
                let (query, common_table, alias) = (query.clone(), *common_table, bound.alias.clone());
                let kept = bound.derived_number.is_some_and(|number| self.assigning.contains(&number));
                let (columns, conditions) = (bound.used_columns(), Vec::new());
                let access = DerivedAccess { query, alias, common_table, columns, width, conditions, kept };
                Node::Derived(Box::new(access))
            }
            Source::JsonTable(table) => self.lateral(number, LateralSource::Json(table.clone()), around),
            Source::Recursion(id) => Node::RecursiveInput { id: *id, columns: bound.used_columns(), width },
        }
    }

    /// The node that reads a source which depends on tables before it.
    fn lateral(&self, number: usize, source: LateralSource, around: u64) -> Node {
        let bound = &self.block.tables[number];
        Node::Lateral(Box::new(LateralAccess {
            source,
            alias: bound.alias.clone(),
            arguments: bound.reads.clone(),
            seeds: self.slots_read(1 << number, around),
            columns: bound.used_columns(),
            width: width(self.block),
            conditions: Vec::new(),
        }))
    }
}

/// Whether operands that are equal have equal bytes as hash keys. What is no moment, or no time, has none where it is compared as
/// something else then: that can be a number beside a moment, and a text or number beside a time.
fn has_key(comparison: &Comparison) -> bool {
    let has_moment = |side: &Expression| match side.result.class() {
        TypeClass::DateTime | TypeClass::Time | TypeClass::Text => true,
        _ => side.result.kind() == TypeKind::Year,
    };
    let Comparison { left, right, mode, .. } = comparison;
    match mode {
        ComparisonMode::DateTime => has_moment(left) && has_moment(right),
        ComparisonMode::Time => [left, right].iter().all(|side| side.result.class() == TypeClass::Time),
        _ => true,
    }
}

/// The conditions without equalities that follow from others and find nothing new.
fn without_idle(conditions: Vec<Condition>) -> Vec<Expression> {
    let is_idle = |at: usize| {
        let condition = &conditions[at];
        let same_class = |other: &Condition| condition.class.is_some() && other.class == condition.class;
        condition.is_implied
            && (conditions.iter().any(|other| !other.is_implied && same_class(other))
                || conditions[..at].iter().any(same_class))
    };
    let idle: Vec<usize> = (0..conditions.len()).filter(|at| is_idle(*at)).collect();
    let mut kept = Vec::with_capacity(conditions.len() - idle.len());
    for (at, condition) in conditions.into_iter().enumerate() {
        if !idle.contains(&at) {
            kept.push(condition.expression);
        }
    }
    kept
}

/// Adds conditions to those of a reader, which mostly has none.
fn add_to(conditions: &mut Vec<Expression>, more: Vec<Expression>) {
    match conditions.is_empty() {
        true => *conditions = more,
        false => conditions.extend(more),
    }
}

/// Adds conditions to a reader; they are checked where the row is read.
fn with_conditions(node: Node, more: Vec<Expression>) -> Node {
    match node {
        Node::Table(mut access) => {
            add_to(&mut access.conditions, more);
            Node::Table(access)
        }
        Node::Virtual(mut access) => {
            add_to(&mut access.conditions, more);
            Node::Virtual(access)
        }
        Node::Derived(mut access) => {
            add_to(&mut access.conditions, more);
            Node::Derived(access)
        }
        Node::Lateral(mut access) => {
            add_to(&mut access.conditions, more);
            Node::Lateral(access)
        }
        other => filtered(other, more),
    }
}

fn nested_loop(outer: Node, inner: Node, own: Vec<Expression>, (kind, rows): (JoinKind, f64)) -> Node {
    match inner {
        Node::Table(mut access) => {
            add_to(&mut access.conditions, own);
            Node::NestedLoop(Box::new(NestedLoop { outer, inner: *access, kind, conditions: Vec::new() }))
        }
        Node::Virtual(mut access) => {
            add_to(&mut access.conditions, own);
            Node::VirtualLoop(Box::new(NestedLoop { outer, inner: *access, kind, conditions: Vec::new() }))
        }
        Node::Lateral(mut access) => {
            add_to(&mut access.conditions, own);
            Node::LateralLoop(Box::new(NestedLoop { outer, inner: *access, kind, conditions: Vec::new() }))
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
                rows,
            };
            Node::HashJoin(Box::new(join))
        }
    }
}
