//! The order of joins and their methods, by cost: all orders of connected members where they are few, else one after the other.
//! Members without a condition that connects them come last. Main function: [`Optimizer::choose_order`].

use super::access::Candidate;
use super::equal_columns::Condition;
use super::join::{Content, Group, Member, Step};
use super::join_rows::{MemberRows, is_equality};
use crate::{Optimizer, tables_of};
use errors::SqlResult;
use expression::operators::ComparisonMode;
use expression::{Expression, ExpressionKind};
use plan::physical::JoinKind;
use std::collections::HashMap;
use std::sync::Arc;

/// Members of a group whose orders are all tried.
const EXHAUSTIVE_MEMBERS_MAX: usize = 12;
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
/// How much more a key costs that has a text: both sides' bytes are copied and made to sort keys.
const TEXT_KEY_FACTOR: f64 = 3.5;
/// Cost of a row that comes out of a join.
pub(super) const ROW_COST: f64 = 0.1;
/// Cost of a pair that has no hash key to decide about it.
const PAIR_COST: f64 = 0.3;

/// What the search asks of a member again and again.
struct Facts<'g> {
    member: &'g Member,
    rows: MemberRows,
    /// Conditions on it alone.
    own: Vec<&'g Expression>,
    /// Ways to read it that depend on no other member.
    scans: Vec<Candidate>,
    /// Conditions between it and others.
    links: Vec<Link<'g>>,
    /// Tables that the links read beside its own.
    linked: u64,
    /// It is not hashed, but read for each row before it.
    is_looped: bool,
}

/// A condition between a member and others.
struct Link<'g> {
    condition: &'g Expression,
    tables: u64,
    /// The share of pairs that it leaves.
    share: f64,
    is_equality: bool,
    is_text: bool,
    /// The class of columns that it makes equal: one link of a class decides, the others follow.
    class: Option<usize>,
}

/// Steps of a join, and what they cost.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    pub list: Vec<Step>,
    pub cost: f64,
}

/// The search for an order of one group.
pub(super) struct Search<'g> {
    facts: Vec<Facts<'g>>,
    /// The order is that of the members.
    is_straight: bool,
    /// Ways to look a member up, by the tables before that its links read.
    look_ups: HashMap<(usize, u64), Arc<Vec<Candidate>>>,
}

/// A way to join one more member.
#[derive(Clone, Copy, Debug)]
struct Choice {
    cost: f64,
    rows_after: f64,
    method: Method,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// Read by the scan of that number, as the first one or to be hashed.
    Scan(usize),
    /// Looked up by the candidate of that number.
    LookUp(usize),
    /// Read by the scan of that number for each row before it.
    Loop(usize),
    /// Read whole: it has no index.
    Whole,
}

/// The best order of a set of members.
#[derive(Clone, Copy, Debug)]
struct Best {
    cost: f64,
    rows: f64,
    last: usize,
}

impl Optimizer<'_> {
    /// A search among the orders of a group. `nest_rows`: estimates of the members that are groups themselves.
    pub(super) fn search_of<'g>(
        &mut self,
        group: &'g Group,
        conditions: &'g [Condition],
        nest_rows: &[Option<f64>],
    ) -> Search<'g> {
        let mut facts = Vec::with_capacity(group.members.len());
        for (member, rows) in group.members.iter().zip(nest_rows) {
            facts.push(self.facts_of(conditions, member, *rows));
        }
        Search { facts, is_straight: group.straight, look_ups: HashMap::new() }
    }

    /// The cheapest steps that begin with those of `start`, and the cost of all.
    pub(super) fn choose_order(&mut self, search: &mut Search<'_>, start: Steps) -> SqlResult<Steps> {
        let count = search.facts.len();
        let is_small = (2..=EXHAUSTIVE_MEMBERS_MAX).contains(&count);
        let order = match is_small && !search.is_straight {
            true => self.best_order(search, &start)?,
            false => None,
        };
        let order = match order {
            Some(order) => order,
            None => self.grown_order(search, &start)?,
        };
        let mut steps = start;
        for number in order {
            let (placed, rows) = search.after(&steps);
            let (cost, step) = self.step(search, number, placed, rows);
            steps.cost += cost + step.rows_after * ROW_COST;
            steps.list.push(step);
        }
        Ok(steps)
    }

    /// The best way to join one more member, with its cost.
    pub(super) fn step(
        &mut self,
        search: &mut Search<'_>,
        number: usize,
        placed: u64,
        rows_before: f64,
    ) -> (f64, Step) {
        let choice = self.choice(search, number, placed, rows_before);
        let candidate = match choice.method {
            Method::Scan(at) | Method::Loop(at) => search.facts[number].scans.get(at).cloned(),
            Method::LookUp(at) => self.look_ups_of(search, number, placed).get(at).cloned(),
            Method::Whole => None,
        };
        let hash = match choice.method {
            Method::LookUp(_) | Method::Loop(_) => false,
            Method::Scan(_) => placed != 0,
            Method::Whole => placed != 0 && !search.facts[number].is_looped,
        };
        let own_rows = search.facts[number].rows.own;
        (choice.cost, Step { member: number, candidate, hash, own_rows, rows_after: choice.rows_after })
    }

    fn facts_of<'g>(
        &mut self,
        conditions: &'g [Condition],
        member: &'g Member,
        nest_rows: Option<f64>,
    ) -> Facts<'g> {
        let conditions: Vec<(&Expression, u64, Option<usize>, bool)> = match &member.joined_by {
            Some((_, conditions)) => {
                let block = &*self.block;
                conditions
                    .iter()
                    .map(|condition| (condition, tables_of(block, condition), None, false))
                    .collect()
            }
            None => conditions
                .iter()
                .map(|known| (&known.expression, known.tables, known.class, known.is_fixed))
                .collect(),
        };
        let is_own = |tables: u64| tables & member.tables != 0 && tables & !member.tables == 0;
        let own: Vec<&Expression> = conditions
            .iter()
            .filter(|(_, tables, ..)| is_own(*tables))
            .map(|(condition, ..)| *condition)
            .collect();
        let scans = match member.content {
            Content::Table(table) => self.candidates(table, &own, 0),
            Content::Nest(_) => Vec::new(),
        };
        let rows = self.rows_of_member(member, nest_rows, &own, &scans);
        let mut links = Vec::new();
        for (condition, tables, class, is_fixed) in conditions {
            if tables & member.tables != 0 && tables & !member.tables != 0 {
                let share = if is_fixed { 1.0 } else { self.share_of_pairs(condition) };
                let (is_equality, is_text) = (is_equality(condition), compares_text(condition));
                links.push(Link { condition, tables, share, class, is_equality, is_text });
            }
        }
        let linked = links.iter().fold(0, |bits, link| bits | link.tables) & !member.tables;
        let is_looped = match member.content {
            Content::Table(table) => self.block.tables[table].is_looped,
            Content::Nest(_) => false,
        };
        Facts { member, rows, own, scans, links, linked, is_looped }
    }

    /// The ways to look a member up by values of the tables that are placed.
    fn look_ups_of(&mut self, search: &mut Search<'_>, number: usize, placed: u64) -> Arc<Vec<Candidate>> {
        let facts = &search.facts[number];
        let key = (number, placed & facts.linked);
        if let Some(known) = search.look_ups.get(&key) {
            return known.clone();
        }
        let found = match facts.member.content {
            Content::Table(table) if key.1 != 0 => {
                let conditions = search.conditions_of(number, placed);
                let mut candidates = self.candidates(table, &conditions, placed);
                candidates.retain(|candidate| candidate.dependent);
                candidates
            }
            _ => Vec::new(),
        };
        let found = Arc::new(found);
        search.look_ups.insert(key, found.clone());
        found
    }

    /// The best way to join one more member.
    fn choice(&mut self, search: &mut Search<'_>, number: usize, placed: u64, rows_before: f64) -> Choice {
        let look_ups = self.look_ups_of(search, number, placed);
        let facts = &search.facts[number];
        let matches = facts.matches(placed, &look_ups);
        let rows_after = facts.rows_after(rows_before, matches);
        let mut best: Option<Choice> = None;
        let mut offer = |cost: f64, method: Method| {
            if best.is_none_or(|known: Choice| cost < known.cost) {
                best = Some(Choice { cost, rows_after, method });
            }
        };
        for (at, candidate) in look_ups.iter().enumerate() {
            offer(rows_before * candidate.cost + extra_look_ups(rows_before), Method::LookUp(at));
        }
        for (at, scan) in facts.scans.iter().enumerate() {
            if facts.is_looped && placed != 0 {
                offer(rows_before * scan.cost, Method::Loop(at));
                continue;
            }
            let joined = if placed == 0 { 0.0 } else { facts.hash_cost(placed, rows_before, matches) };
            // A range may hold more rows than the best one does, never fewer than pass.
            offer(scan.cost + joined, Method::Scan(at));
        }
        let joined = if placed == 0 { 0.0 } else { facts.hash_cost(placed, rows_before, matches) };
        best.unwrap_or(Choice { cost: facts.rows.total + joined, rows_after, method: Method::Whole })
    }

    /// The best of all orders in which each member is connected to one before it, where there is such a one: the members behind
    /// those of `start`.
    fn best_order(&mut self, search: &mut Search<'_>, start: &Steps) -> SqlResult<Option<Vec<usize>>> {
        let count = search.facts.len();
        let mut best: Vec<Option<Best>> = vec![None; 1 << count];
        let begun = start.list.iter().fold(0, |set, step| set | 1 << step.member);
        let (_, rows) = search.after(start);
        best[begun] = Some(Best { cost: start.cost, rows, last: 0 });
        for set in begun..1_usize << count {
            let Some(Best { cost, rows, .. }) = best[set] else { continue };
            if set % 64 == 0 {
                self.context.check_killed()?;
            }
            let placed = search.tables_of_set(set);
            for number in search.next_members(placed, |number| set >> number & 1 == 1) {
                let choice = self.choice(search, number, placed, rows);
                let total = cost + choice.cost + choice.rows_after * ROW_COST;
                let next = &mut best[set | 1 << number];
                if next.is_none_or(|known| total < known.cost) {
                    *next = Some(Best { cost: total, rows: choice.rows_after, last: number });
                }
            }
        }
        let mut order = Vec::with_capacity(count);
        let mut set = (1 << count) - 1;
        while set != begun {
            let Some(found) = best[set] else { return Ok(None) };
            order.push(found.last);
            set &= !(1 << found.last);
        }
        order.reverse();
        Ok(Some(order))
    }

    /// An order behind `start` that grows by the member that costs least, or where order is given by the first that may come
    /// next.
    fn grown_order(&mut self, search: &mut Search<'_>, start: &Steps) -> SqlResult<Vec<usize>> {
        let mut order: Vec<usize> = Vec::new();
        let begun: Vec<usize> = start.list.iter().map(|step| step.member).collect();
        let (mut placed, mut rows) = search.after(start);
        while order.len() + begun.len() < search.facts.len() {
            self.context.check_killed()?;
            let is_placed = |number: usize| begun.contains(&number) || order.contains(&number);
            let free = match search.is_straight {
                true => search.free_members(placed, is_placed).into_iter().take(1).collect(),
                false => search.next_members(placed, is_placed),
            };
            let mut best: Option<(f64, usize, Choice)> = None;
            for number in free {
                let choice = self.choice(search, number, placed, rows);
                let cost = choice.cost + choice.rows_after;
                if best.is_none_or(|(known, ..)| cost < known) {
                    best = Some((cost, number, choice));
                }
            }
            let Some((_, number, choice)) = best else { break };
            placed |= search.facts[number].member.tables;
            rows = choice.rows_after;
            order.push(number);
        }
        Ok(order)
    }
}

impl<'g> Search<'g> {
    /// The tables that steps have placed, as bits, and the rows that come out of them.
    pub(super) fn after(&self, steps: &Steps) -> (u64, f64) {
        let placed = steps.list.iter().fold(0, |bits, step| bits | self.facts[step.member].member.tables);
        (placed, steps.list.last().map_or(1.0, |step| step.rows_after))
    }

    /// Whether the order is that of the members.
    pub(super) fn is_straight(&self) -> bool {
        self.is_straight
    }

    /// The members.
    pub(super) fn members(&self) -> impl Iterator<Item = &'g Member> + use<'_, 'g> {
        self.facts.iter().map(|facts| facts.member)
    }

    /// The conditions that decide about rows of a member once it is joined to the tables that are placed.
    pub(super) fn conditions_of(&self, number: usize, placed: u64) -> Vec<&'g Expression> {
        let facts = &self.facts[number];
        facts.own.iter().copied().chain(facts.usable(placed).map(|link| link.condition)).collect()
    }

    fn tables_of_set(&self, set: usize) -> u64 {
        let members = self.facts.iter().enumerate().filter(|(number, _)| set >> number & 1 == 1);
        members.fold(0, |bits, (_, facts)| bits | facts.member.tables)
    }

    /// Members that are not placed and may be.
    fn free_members(&self, placed: u64, is_placed: impl Fn(usize) -> bool) -> Vec<usize> {
        let may_be = |number: &usize| self.facts[*number].member.needs & !placed == 0;
        (0..self.facts.len()).filter(|number| !is_placed(*number)).filter(may_be).collect()
    }

    /// Of these the ones that a condition connects with the placed ones; all if there is no such one.
    fn next_members(&self, placed: u64, is_placed: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut free = self.free_members(placed, is_placed);
        let is_linked = |number: &usize| {
            let facts = &self.facts[*number];
            facts.member.joined_by.is_some() || facts.usable(placed).next().is_some()
        };
        if placed != 0 && free.iter().any(is_linked) {
            free.retain(is_linked);
        }
        free
    }
}

impl<'g> Facts<'g> {
    /// The conditions that decide about a pair once the member is joined to the tables that are placed.
    fn usable(&self, placed: u64) -> impl Iterator<Item = &Link<'g>> {
        let reach = placed | self.member.tables;
        self.links.iter().filter(move |link| link.tables & !reach == 0)
    }

    /// How many rows of the member match one of those before.
    fn matches(&self, placed: u64, look_ups: &[Candidate]) -> f64 {
        let mut share = 1.0;
        let mut classes: Vec<(usize, f64)> = Vec::new();
        for link in self.usable(placed) {
            match link.class {
                None => share *= link.share,
                Some(class) => match classes.iter_mut().find(|(known, _)| *known == class) {
                    Some((_, least)) => *least = least.min(link.share),
                    None => classes.push((class, link.share)),
                },
            }
        }
        share *= classes.iter().map(|(_, share)| share).product::<f64>();
        let matches = self.rows.own * share;
        match look_ups.iter().any(|candidate| candidate.path.single_row) {
            // A unique key is taken to be referred to: conditions on its parts are not independent.
            true => (self.rows.own / self.rows.total.max(1.0)).min(1.0),
            false => matches,
        }
    }

    fn rows_after(&self, rows_before: f64, matches: f64) -> f64 {
        let joined = rows_before * matches;
        match self.member.joined_by {
            Some((JoinKind::Left, _)) => joined.max(rows_before),
            Some((JoinKind::Semi, _)) => joined.clamp(0.01, rows_before.max(0.01)),
            Some((JoinKind::Anti, _)) => (rows_before - joined).max(rows_before * UNMATCHED_SHARE_MIN),
            Some((JoinKind::Inner, _)) | None => joined.max(0.01),
        }
    }

    /// What a hash join costs beside reading the member. The smaller side is kept, unless the kind of join decides.
    fn hash_cost(&self, placed: u64, rows_before: f64, matches: f64) -> f64 {
        let own = self.rows.own;
        let is_fixed = self.member.joined_by.is_some();
        let (build, probe) =
            if is_fixed || own <= rows_before { (own, rows_before) } else { (rows_before, own) };
        let keys: Vec<&Link<'_>> = self.usable(placed).filter(|link| link.is_equality).collect();
        let (has_key, has_text) = (!keys.is_empty(), keys.iter().any(|link| link.is_text));
        let key_cost = if has_text { TEXT_KEY_FACTOR } else { 1.0 };
        let pairs = if has_key { rows_before * matches * ROW_COST } else { rows_before * own * PAIR_COST };
        (build * BUILD_COST + probe * PROBE_COST) * key_cost + pairs
    }
}

/// Whether texts are compared.
fn compares_text(condition: &Expression) -> bool {
    matches!(&condition.kind, ExpressionKind::Compare(comparison) if matches!(comparison.mode, ComparisonMode::Text(_)))
}

/// What look-ups cost beyond the estimate of one: few of them find their pages in the processor's cache, many do not.
fn extra_look_ups(count: f64) -> f64 {
    (count - FEW_LOOK_UPS).max(0.0) * COLD_LOOK_UP_COST
}
