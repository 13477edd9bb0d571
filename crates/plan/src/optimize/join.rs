//! Join order and join methods. Inner joins are reordered by cost: exhaustively over small sets, else greedily; the
//! inner side of an outer join stays behind the tables that its condition names.

use super::access::{Candidate, selectivity, table_rows};
use super::build::filtered;
use super::{JoinGoal, Joined, tables_of};
use crate::bind::{Binder, JoinTree, Source, is_never};
use crate::logical::{Derived, SemiJoin};
use crate::physical::{ExplainRow, JoinKind, Node, ROWS_UNKNOWN};
use errors::SqlResult;
use expression::operators::ComparisonOperator;
use expression::{Expression, ExpressionKind};

/// Members of a group whose orders are all tried.
const EXHAUSTIVE_MEMBERS_MAX: usize = 7;
/// Look-ups whose pages are taken to be at hand.
const FEW_LOOK_UPS: f64 = 1000.0;
/// Cost of a look-up beyond these, more than that of the first ones.
const COLD_LOOK_UP_COST: f64 = 15.0;
/// Rows of the outer side that are taken to have no match, at least.
const UNMATCHED_SHARE_MIN: f64 = 0.1;
/// Cost of putting a row into a hash table.
const BUILD_COST: f64 = 1.2;
/// Cost of looking a row up in a hash table.
const PROBE_COST: f64 = 0.4;
/// Cost of handing a row on to the next join.
pub(super) const ROW_ON_COST: f64 = 0.1;

/// One operand of a group of inner joins.
pub(super) struct Member {
    pub content: Content,
    pub tables: u64,
    /// For the inner side of an outer join, a semijoin or an antijoin: which, and its conditions.
    pub joined_by: Option<(JoinKind, Vec<Expression>)>,
    /// Tables that must come before.
    pub needs: u64,
}

pub(super) enum Content {
    Table(usize),
    Nest(Group),
}

#[derive(Default)]
pub(super) struct Group {
    pub members: Vec<Member>,
    pub conditions: Vec<Expression>,
    pub straight: bool,
}

/// How the next member is joined to those before it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub member: usize,
    pub candidate: Option<Candidate>,
    pub hash: bool,
    pub rows_after: f64,
}

impl Binder<'_> {
    /// Plans FROM and WHERE of the current block, whose conditions are settled: outer joins are those that remained.
    pub fn plan_joins(
        &mut self,
        tree: Option<JoinTree>,
        conditions: Vec<Expression>,
        semijoins: Vec<SemiJoin>,
        goal: JoinGoal,
        straight: bool,
    ) -> SqlResult<Joined> {
        self.block().has_limit = goal.rows_wanted.is_some();
        if conditions.iter().any(is_never) {
            let row = ExplainRow { extra: vec!["Impossible WHERE".to_owned()], ..ExplainRow::default() };
            return Ok(Joined {
                node: Node::Nothing,
                ordered: true,
                rows: 0.0,
                explain: vec![row],
                first: None,
            });
        }
        let Some(tree) = tree else {
            let width = self.width();
            let row = ExplainRow { extra: vec!["No tables used".to_owned()], ..ExplainRow::default() };
            let node = filtered(Node::OneRow { width }, conditions);
            return Ok(Joined { node, ordered: true, rows: 1.0, explain: vec![row], first: None });
        };
        let mut group = Group { straight, ..Group::default() };
        self.flatten(tree, &mut group);
        group.conditions.extend(conditions);
        semijoins.into_iter().for_each(|semijoin| self.add_semijoin(semijoin, &mut group));
        self.plan_group(group, &goal)
    }

    /// Takes a join tree apart: what is joined by inner joins becomes one group.
    fn flatten(&mut self, tree: JoinTree, group: &mut Group) {
        match tree {
            JoinTree::Table(table) => group.members.push(Member {
                content: Content::Table(table),
                tables: 1 << table,
                joined_by: None,
                needs: 0,
            }),
            JoinTree::Join { left, right, outer, conditions, straight } => {
                group.straight |= straight;
                if !outer {
                    self.flatten(*left, group);
                    self.flatten(*right, group);
                    group.conditions.extend(conditions);
                    return;
                }
                let (left_tables, right_tables) = (left.tables(), right.tables());
                self.flatten(*left, group);
                let mut needs = 0;
                for condition in &conditions {
                    needs |= tables_of(self.block(), condition);
                }
                let needs = if needs & left_tables == 0 { left_tables } else { needs & !right_tables };
                let content = match *right {
                    JoinTree::Table(table) => Content::Table(table),
                    other => {
                        let mut inner = Group::default();
                        self.flatten(other, &mut inner);
                        Content::Nest(inner)
                    }
                };
                let joined_by = Some((JoinKind::Left, conditions));
                group.members.push(Member { content, tables: right_tables, joined_by, needs });
            }
        }
    }

    /// Adds the tables of subqueries of which WHERE asks for a row, or for none.
    fn add_semijoin(&mut self, semijoin: SemiJoin, group: &mut Group) {
        let from = group.members.iter().fold(0, |bits, member| bits | member.tables);
        let SemiJoin { tree, conditions, negated } = semijoin;
        let tables = tree.tables();
        let block = self.block();
        let conditions_of_tree = tree.conditions();
        let all = conditions.iter().chain(&conditions_of_tree);
        let read = all.fold(0, |bits, condition| bits | tables_of(block, condition));
        let needs = if read & !tables == 0 { from } else { read & !tables };
        let (content, conditions) = match tree {
            JoinTree::Table(table) => (Content::Table(table), conditions),
            tree => {
                let mut inner = Group::default();
                self.flatten(tree, &mut inner);
                inner.conditions.extend(conditions);
                let block = self.block();
                let is_own = |condition: &Expression| tables_of(block, condition) & !tables == 0;
                let (own, joining) = inner.conditions.into_iter().partition(is_own);
                inner.conditions = own;
                (Content::Nest(inner), joining)
            }
        };
        let kind = if negated { JoinKind::Anti } else { JoinKind::Semi };
        group.members.push(Member { content, tables, joined_by: Some((kind, conditions)), needs });
    }

    fn plan_group(&mut self, mut group: Group, goal: &JoinGoal) -> SqlResult<Joined> {
        self.input.context.check_killed()?;
        let masks: Vec<u64> = {
            let block = self.block();
            group.conditions.iter().map(|condition| tables_of(block, condition)).collect()
        };
        // A nest is planned once; it is read whole and hashed.
        let mut nests: Vec<Option<Joined>> = Vec::with_capacity(group.members.len());
        for member in &mut group.members {
            nests.push(match &mut member.content {
                Content::Table(_) => None,
                Content::Nest(inner) => {
                    let inner = std::mem::take(inner);
                    Some(self.plan_group(inner, &JoinGoal::default())?)
                }
            });
        }
        let chosen = self.choose_steps(&group, &masks, &nests, goal);
        Ok(self.build_joins(group, &masks, nests, chosen))
    }

    /// Estimated rows of a member that is not a base table.
    fn member_rows(&mut self, member: &Member, nest: Option<&Joined>) -> f64 {
        match (&member.content, nest) {
            (_, Some(nest)) => nest.rows,
            (Content::Table(table), None) => match &self.block().tables[*table].source {
                Source::Base(base) => {
                    let base = base.clone();
                    table_rows(&self.input.engine.statistics(&base))
                }
                Source::Derived(Derived::Planned(plan), _) => plan.rows,
                _ => ROWS_UNKNOWN,
            },
            (Content::Nest(_), None) => ROWS_UNKNOWN,
        }
    }

    /// The best way to join one more member.
    pub(super) fn best_step(
        &mut self,
        group: &Group,
        masks: &[u64],
        nests: &[Option<Joined>],
        number: usize,
        placed: u64,
        rows_before: f64,
    ) -> (f64, Step) {
        let member = &group.members[number];
        let usable = usable_conditions(group, masks, number, placed);
        let block = self.block();
        let local = |condition: &&&Expression| tables_of(block, condition) & !member.tables == 0;
        let local_selectivity: f64 =
            usable.iter().filter(local).map(|condition| selectivity(condition)).product();
        let has_equality = placed != 0 && usable.iter().any(|condition| is_equality(condition));
        let join_selectivity: f64 = usable
            .iter()
            .filter(|condition| !local(condition))
            .map(|condition| selectivity(condition))
            .product();
        let total = self.member_rows(member, nests[number].as_ref());
        let mut best: Option<(f64, Step)> = None;
        let mut offer = |cost: f64, step: Step| {
            if best.as_ref().is_none_or(|(known, _)| cost < *known) {
                best = Some((cost, step));
            }
        };
        let kept_of = |rows_after: f64| match member.joined_by {
            Some((JoinKind::Left, _)) => rows_after.max(rows_before),
            Some((JoinKind::Semi, _)) => rows_after.clamp(0.01, rows_before.max(0.01)),
            Some((JoinKind::Anti, _)) => (rows_before - rows_after).max(rows_before * UNMATCHED_SHARE_MIN),
            Some((JoinKind::Inner, _)) | None => rows_after.max(0.01),
        };
        let mut scan_rows = (total * local_selectivity).max(0.1);
        if let Content::Table(table) = member.content {
            let candidates = self.candidates(table, &usable, placed);
            if let Some(rows) = self.rows_by_index(table, &candidates, &usable) {
                scan_rows = rows.clamp(0.1, scan_rows.max(total));
            }
            for candidate in candidates {
                let after = if candidate.dependent {
                    rows_before * candidate.rows * local_selectivity.max(0.05)
                } else {
                    rows_before * candidate.rows.min(scan_rows.max(candidate.rows * 0.1)) * join_selectivity
                };
                let hash = placed != 0 && !candidate.dependent;
                let (cost, after) = if hash {
                    let matches = if has_equality {
                        (rows_before * scan_rows / total.max(1.0)).max(scan_rows.min(rows_before))
                    } else {
                        rows_before * scan_rows * join_selectivity
                    };
                    let outer = member.joined_by.is_some();
                    (hash_cost(&candidate, outer, has_equality, rows_before, scan_rows, matches), matches)
                } else {
                    (rows_before * candidate.cost + extra_look_ups(rows_before), after)
                };
                let rows_after = kept_of(after);
                offer(cost, Step { member: number, rows_after, hash, candidate: Some(candidate) });
            }
        }
        best.unwrap_or_else(|| {
            let matches = if has_equality { rows_before.max(scan_rows) } else { rows_before * scan_rows };
            let cost = scan_rows * (1.0 + BUILD_COST) + rows_before * PROBE_COST + matches * 0.1;
            (cost, Step { member: number, candidate: None, hash: placed != 0, rows_after: kept_of(matches) })
        })
    }

    /// Rows that meet the conditions on one table, if an index has counted some of them: the range with the most key parts
    /// is taken at its word, and only conditions on other columns are guessed.
    fn rows_by_index(
        &mut self,
        table: usize,
        candidates: &[Candidate],
        conditions: &[&Expression],
    ) -> Option<f64> {
        let parts = |candidate: &&Candidate| candidate.path.ranges.as_ref()?.iter().map(Vec::len).min();
        let known = candidates.iter().filter(|candidate| !candidate.dependent && parts(candidate).is_some());
        let best = known.max_by_key(parts)?;
        let block = self.block();
        let Source::Base(base) = &block.tables[table].source else { return None };
        let counted = &base.indexes()[best.path.index].key_columns()[..parts(&best)?];
        let slots = &block.tables[table].slots;
        let is_counted = |part: &Expression| {
            part.column_slot().is_some_and(|slot| counted.iter().any(|column| slots[*column] == Some(slot)))
        };
        let own = conditions.iter().filter(|condition| tables_of(block, condition) & !(1 << table) == 0);
        let rest = own.filter(|condition| !condition.any(&is_counted));
        Some(best.rows * rest.map(|condition| selectivity(condition)).product::<f64>())
    }

    /// The cheapest steps that begin with those, and their cost. `start` comes with its cost.
    pub(super) fn choose_order(
        &mut self,
        group: &Group,
        masks: &[u64],
        nests: &[Option<Joined>],
        start: (f64, Vec<Step>),
    ) -> (f64, Vec<Step>) {
        let count = group.members.len();
        if count > EXHAUSTIVE_MEMBERS_MAX || group.straight || count == 1 {
            return self.greedy_order(group, masks, nests, start);
        }
        // best[set of members] = cost, rows, steps.
        let mut best: Vec<Option<(f64, f64, Vec<Step>)>> = vec![None; 1 << count];
        let (spent, first) = start.clone();
        let begun = first.iter().fold(0, |set, step| set | 1 << step.member);
        best[begun] = Some((spent, first.last().map_or(1.0, |step| step.rows_after), first));
        for set in 0..1usize << count {
            let Some((cost, rows, steps)) = best[set].clone() else { continue };
            let placed = placed_tables(group, set);
            for number in 0..count {
                let member = &group.members[number];
                if set >> number & 1 == 1 || member.needs & !placed != 0 {
                    continue;
                }
                let (more, step) = self.best_step(group, masks, nests, number, placed, rows);
                let next = set | 1 << number;
                let total = cost + more + step.rows_after * ROW_ON_COST;
                if best[next].as_ref().is_none_or(|(known, ..)| total < *known) {
                    let mut steps = steps.clone();
                    let rows = step.rows_after;
                    steps.push(step);
                    best[next] = Some((total, rows, steps));
                }
            }
        }
        match best.pop().flatten() {
            Some((cost, _, steps)) => (cost, steps),
            None => self.greedy_order(group, masks, nests, start),
        }
    }

    fn greedy_order(
        &mut self,
        group: &Group,
        masks: &[u64],
        nests: &[Option<Joined>],
        start: (f64, Vec<Step>),
    ) -> (f64, Vec<Step>) {
        let (mut spent, mut steps) = start;
        let mut rows = steps.last().map_or(1.0, |step| step.rows_after);
        let mut placed = steps.iter().fold(0, |bits, step| bits | group.members[step.member].tables);
        while steps.len() < group.members.len() {
            let free: Vec<usize> = (0..group.members.len())
                .filter(|number| steps.iter().all(|step| step.member != *number))
                .filter(|number| group.members[*number].needs & !placed == 0)
                .collect();
            let choices = if group.straight { &free[..1.min(free.len())] } else { &free[..] };
            let mut best: Option<(f64, f64, Step)> = None;
            for number in choices {
                let (cost, step) = self.best_step(group, masks, nests, *number, placed, rows);
                let total = cost + step.rows_after;
                if best.as_ref().is_none_or(|(known, ..)| total < *known) {
                    best = Some((total, cost, step));
                }
            }
            let Some((_, cost, step)) = best else { break };
            spent += cost + step.rows_after * ROW_ON_COST;
            placed |= group.members[step.member].tables;
            rows = step.rows_after;
            steps.push(step);
        }
        (spent, steps)
    }
}

/// What look-ups cost beyond the estimate of one: few of them find their pages in the processor's cache, many do not.
fn extra_look_ups(count: f64) -> f64 {
    (count - FEW_LOOK_UPS).max(0.0) * COLD_LOOK_UP_COST
}

fn placed_tables(group: &Group, set: usize) -> u64 {
    group
        .members
        .iter()
        .enumerate()
        .filter(|(number, _)| set >> number & 1 == 1)
        .fold(0, |bits, (_, m)| bits | m.tables)
}

fn is_equality(condition: &Expression) -> bool {
    matches!(&condition.kind, ExpressionKind::Compare(comparison)
        if matches!(comparison.operator, ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual))
}

/// The conditions that may be tested once a member is joined to the tables that are placed.
pub(super) fn usable_conditions<'g>(
    group: &'g Group,
    masks: &[u64],
    number: usize,
    placed: u64,
) -> Vec<&'g Expression> {
    let member = &group.members[number];
    let is_usable = |mask: u64| mask & member.tables != 0 && mask & !(placed | member.tables) == 0;
    match &member.joined_by {
        Some((_, conditions)) => conditions.iter().collect(),
        None => group
            .conditions
            .iter()
            .zip(masks)
            .filter(|(_, mask)| is_usable(**mask))
            .map(|(condition, _)| condition)
            .collect(),
    }
}

/// What a hash join with that table costs. The smaller side is kept, unless an outer join decides.
fn hash_cost(
    candidate: &Candidate,
    outer: bool,
    has_equality: bool,
    rows_before: f64,
    scan_rows: f64,
    matches: f64,
) -> f64 {
    let (build, probe) = if outer || scan_rows <= rows_before {
        (scan_rows, rows_before)
    } else {
        (rows_before, candidate.rows)
    };
    let pairs = if has_equality { matches } else { rows_before * scan_rows * 0.3 };
    candidate.cost + build * BUILD_COST + probe * PROBE_COST + pairs * 0.1
}
