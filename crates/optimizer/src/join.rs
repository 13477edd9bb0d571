//! Joins of one block, from the tree of FROM to nodes: groups of what inner joins connect. The inner side of an outer join, and the
//! tables of a subquery that WHERE asks, stay behind the tables that their conditions name. Main function: [`plan_joins`].

use super::access::Candidate;
use super::build::{Builder, filtered};
use super::equal_columns::with_implied;
use super::join_order::NestEstimate;
use super::order::choose_steps;
use crate::{Block, JoinGoal, JoinTree, Joined, Optimizer, SemiJoin, Source, is_never, tables_of, width};
use errors::SqlResult;
use expression::{Expression, ExpressionKind};
use plan::Rule;
use plan::physical::{ExplainRow, JoinKind, Node};
use std::rc::Rc;

/// One operand of a group of inner joins.
#[derive(Clone)]
pub(super) struct Member {
    pub content: Content,
    pub tables: u64,
    /// For the inner side of an outer join, a semijoin or an antijoin: which, and its conditions.
    pub joined_by: Option<(JoinKind, Vec<Expression>)>,
    /// Tables that must come before.
    pub needs: u64,
    /// Sources in it read the rows before it: it is read again for each of them.
    pub is_lateral: bool,
}

#[derive(Clone)]
pub(super) enum Content {
    Table(usize),
    Nest(Group),
}

#[derive(Clone, Default)]
pub(super) struct Group {
    pub members: Vec<Member>,
    pub conditions: Vec<Expression>,
    pub straight: bool,
    /// The tables, as bits, for each row of which it is joined anew up to the first match. 0: it is joined once.
    pub around: u64,
}

/// A member that is a group itself, planned.
pub(super) struct Nest {
    /// To be read whole.
    pub whole: Joined,
    /// Of a semijoin or antijoin: to be read for each row before it, up to the first match.
    pub first_match: Option<Joined>,
}

impl Nest {
    /// What is read of it; `looped`: for each row before it. The conditions of the join go to `asking` where what is read meets them.
    pub fn into_read(self, looped: bool, own: &mut Vec<Expression>, asking: &mut Vec<Expression>) -> Joined {
        match self.first_match {
            Some(found) if looped => {
                asking.append(own);
                found
            }
            _ => self.whole,
        }
    }

    fn estimate(&self) -> NestEstimate {
        let first_match_ns = self.first_match.as_ref().map(|joined| joined.ns);
        NestEstimate { rows: self.whole.rows, ns: self.whole.ns, first_match_ns }
    }
}

impl Group {
    /// Puts members behind the tables that sources in them read.
    fn put_behind_what_is_read(&mut self, block: &Block) {
        let own = self.members.iter().fold(0, |bits, member| bits | member.tables);
        for member in &mut self.members {
            if let Content::Nest(inner) = &mut member.content {
                inner.put_behind_what_is_read(block);
            }
            let read = block.tables_read_by(member.tables) & own & !member.tables;
            member.needs |= read;
            member.is_lateral = read != 0;
        }
    }

    /// Puts members behind those that hints want before them, unless no order of all is left then.
    fn obey(&mut self, block: &Block) {
        if block.hints.is_empty() {
            return;
        }
        let single = |member: &Member| matches!(member.content, Content::Table(_));
        let among = self.members.iter().filter(|member| single(member));
        let among = among.fold(0, |bits, member| bits | member.tables);
        let aliases: Vec<&str> = block.tables.iter().map(|table| table.alias.as_str()).collect();
        let wanted = block.hints.order_needs(&aliases, among);
        let needs_of = |member: &Member| match member.content {
            Content::Table(number) => member.needs | wanted[number],
            Content::Nest(_) => member.needs,
        };
        let mut placed = 0;
        while let Some(next) = self
            .members
            .iter()
            .find(|member| placed & member.tables != member.tables && needs_of(member) & !placed == 0)
        {
            placed |= next.tables;
        }
        if self.members.iter().all(|member| placed & member.tables == member.tables) {
            let needs: Vec<u64> = self.members.iter().map(needs_of).collect();
            self.members.iter_mut().zip(needs).for_each(|(member, needs)| member.needs = needs);
        }
    }
}

/// How the next member is joined to those before it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub member: usize,
    pub candidate: Option<Rc<Candidate>>,
    pub hash: bool,
    /// Of a hash join: the rows before are kept, and its own are looked up among them.
    pub swap: bool,
    /// Rows that come out of the join.
    pub rows_after: f64,
}

/// Plans FROM and WHERE of the current block, whose conditions are settled: outer joins are those that remained.
pub fn plan_joins(
    optimizer: &mut Optimizer<'_>,
    tree: Option<JoinTree>,
    conditions: Vec<Expression>,
    semijoins: Vec<SemiJoin>,
    goal: JoinGoal,
    straight: bool,
) -> SqlResult<Joined> {
    optimizer.block.has_limit = goal.rows_wanted.is_some();
    if conditions.iter().any(is_never) {
        let row = ExplainRow { extra: vec!["Impossible WHERE".to_owned()], ..ExplainRow::default() };
        let explain = vec![row];
        return Ok(Joined { node: Node::Nothing, ordered: true, rows: 0.0, ns: 0.0, explain, first: None });
    }
    let Some(tree) = tree else {
        let width = width(optimizer.block);
        let row = ExplainRow { extra: vec!["No tables used".to_owned()], ..ExplainRow::default() };
        let node = filtered(Node::OneRow { width }, conditions);
        return Ok(Joined { node, ordered: true, rows: 1.0, ns: 0.0, explain: vec![row], first: None });
    };
    let rules = optimizer.context.rules();
    let straight = straight || !rules.has(Rule::JoinOrder);
    let mut group = Group { straight, ..Group::default() };
    flatten(optimizer.block, tree, &mut group);
    group.conditions.extend(conditions);
    if rules.has(Rule::NullAntijoin) {
        find_antijoins(optimizer.block, &mut group);
    }
    semijoins.into_iter().for_each(|semijoin| add_semijoin(optimizer.block, semijoin, &mut group));
    group.put_behind_what_is_read(optimizer.block);
    group.obey(optimizer.block);
    plan_group(optimizer, group, &goal)
}

/// Takes a join tree apart: what is joined by inner joins becomes one group.
fn flatten(block: &Block, tree: JoinTree, group: &mut Group) {
    match tree {
        JoinTree::Table(table) => group.members.push(Member {
            content: Content::Table(table),
            tables: 1 << table,
            joined_by: None,
            needs: 0,
            is_lateral: false,
        }),
        JoinTree::Join { left, right, outer, conditions, straight } => {
            group.straight |= straight;
            if !outer {
                flatten(block, *left, group);
                flatten(block, *right, group);
                group.conditions.extend(conditions);
                return;
            }
            let (left_tables, right_tables) = (left.tables(), right.tables());
            flatten(block, *left, group);
            let mut needs = 0;
            for condition in &conditions {
                needs |= tables_of(block, condition);
            }
            let needs = if needs & left_tables == 0 { left_tables } else { needs & !right_tables };
            let content = match *right {
                JoinTree::Table(table) => Content::Table(table),
                other => {
                    let mut inner = Group::default();
                    flatten(block, other, &mut inner);
                    Content::Nest(inner)
                }
            };
            let joined_by = Some((JoinKind::Left, conditions));
            group.members.push(Member { content, tables: right_tables, joined_by, needs, is_lateral: false });
        }
    }
}

/// Outer joins of which WHERE keeps only the rows without a match: the search for one may end at the first.
fn find_antijoins(block: &Block, group: &mut Group) {
    let Group { members, conditions, .. } = group;
    for member in members {
        let (Content::Table(number), Some((kind, _))) = (&member.content, &mut member.joined_by) else {
            continue;
        };
        let Source::Base(table) = &block.tables[*number].source else { continue };
        let is_missing = |condition: &Expression| {
            let ExpressionKind::IsNull(operand) = &condition.kind else { return false };
            let column = block.place(operand).filter(|(table, _)| table == number);
            let column = column.and_then(|(_, column)| table.definition().columns.get(column));
            column.is_some_and(|column| !column.nullable)
        };
        if *kind == JoinKind::Left && conditions.iter().any(is_missing) {
            *kind = JoinKind::Anti;
        }
    }
}

/// Adds the tables of subqueries of which WHERE asks for a row, or for none.
fn add_semijoin(block: &Block, semijoin: SemiJoin, group: &mut Group) {
    let from = group.members.iter().fold(0, |bits, member| bits | member.tables);
    let SemiJoin { tree, mut conditions, negated } = semijoin;
    let tables = tree.tables();
    if !negated {
        // What a row must be to be asked for is said of it before.
        let is_before = |condition: &mut Expression| {
            let read = tables_of(block, condition);
            read != 0 && read & tables == 0
        };
        group.conditions.extend(conditions.extract_if(.., is_before));
    }
    let conditions_of_tree = tree.conditions();
    let all = conditions.iter().chain(&conditions_of_tree);
    let read = all.fold(0, |bits, condition| bits | tables_of(block, condition));
    let needs = if read & !tables == 0 { from } else { read & !tables };
    let (content, conditions) = match tree {
        JoinTree::Table(table) => (Content::Table(table), conditions),
        tree => {
            let mut inner = Group::default();
            flatten(block, tree, &mut inner);
            inner.conditions.extend(conditions);
            let is_own = |condition: &Expression| tables_of(block, condition) & !tables == 0;
            let (own, joining) = inner.conditions.into_iter().partition(is_own);
            inner.conditions = own;
            (Content::Nest(inner), joining)
        }
    };
    let kind = if negated { JoinKind::Anti } else { JoinKind::Semi };
    group.members.push(Member {
        content,
        tables,
        joined_by: Some((kind, conditions)),
        needs,
        is_lateral: false,
    });
}

fn plan_group(optimizer: &mut Optimizer<'_>, mut group: Group, goal: &JoinGoal) -> SqlResult<Joined> {
    optimizer.context.check_killed()?;
    let conditions =
        with_implied(optimizer.block, optimizer.context.rules(), std::mem::take(&mut group.conditions));
    // A nest is planned once to be read whole and hashed, and once to be looked up.
    let mut nests: Vec<Option<Nest>> = Vec::with_capacity(group.members.len());
    for member in &mut group.members {
        let looked_up = looked_up_group(optimizer, member);
        nests.push(match &mut member.content {
            Content::Table(_) => None,
            Content::Nest(inner) => {
                let inner = std::mem::take(inner);
                let one = JoinGoal { rows_wanted: Some(1.0), ..JoinGoal::default() };
                let first_match = looked_up.map(|group| plan_group(optimizer, group, &one)).transpose()?;
                Some(Nest { whole: plan_group(optimizer, inner, &JoinGoal::default())?, first_match })
            }
        });
    }
    let estimates: Vec<_> = nests.iter().map(|nest| nest.as_ref().map(Nest::estimate)).collect();
    let chosen = choose_steps(optimizer, &group, &conditions, &estimates, goal)?;
    Ok(Builder::of(optimizer).build_joins(group, conditions, nests, chosen))
}

/// The group that a semijoin or antijoin asks for a row of, with the conditions that ask, to be joined anew for each row that asks. Of
/// base tables only: others would be made anew each time.
fn looked_up_group(optimizer: &Optimizer<'_>, member: &Member) -> Option<Group> {
    let (Content::Nest(group), Some((JoinKind::Semi | JoinKind::Anti, asking))) =
        (&member.content, &member.joined_by)
    else {
        return None;
    };
    let tables = optimizer.block.tables.iter().enumerate();
    let mut own = tables.filter(|(number, _)| member.tables >> number & 1 == 1);
    let is_base = own.all(|(_, table)| matches!(table.source, Source::Base(_)));
    if !is_base || !optimizer.context.rules().has(Rule::FirstMatch) {
        return None;
    }
    let conditions = group.conditions.iter().chain(asking).cloned().collect();
    Some(Group { conditions, around: member.needs, ..group.clone() })
}
