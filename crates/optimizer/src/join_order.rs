//! The order of joins and their methods, by cost: all orders of connected members where they are few, else one after the other.
//! Members without a condition that connects them come last. Main function: [`Optimizer::choose_order`].

use super::access::Candidate;
use super::equal_columns::Condition;
use super::index_order::fixed_parts;
use super::join::{Content, Group, Member, Step};
use super::join_cost::{Choice, JoinedRows, Method, Scan};
use super::join_rows::{MemberRows, is_equality};
use super::look_ups::LinkedIndex;
use crate::cost::{NEXT_JOIN_NS, kept_row_ns};
use crate::{Derived, Optimizer, Source, tables_of};
use errors::SqlResult;
use expression::operators::ComparisonMode;
use expression::{Expression, ExpressionKind};
use plan::physical::JoinKind;
use std::rc::Rc;

/// Members of a group whose orders are all tried.
const EXHAUSTIVE_MEMBERS_MAX: usize = 12;
/// Rows of the outer side that are taken to have no match, at least.
pub(super) const UNMATCHED_SHARE_MIN: f64 = 0.1;

/// What is estimated of a member that is a group itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct NestEstimate {
    pub rows: f64,
    /// What its rows cost before any is used.
    pub ns: f64,
    /// What a search for the first match costs, where there may be one for each row before it.
    pub first_match_ns: Option<f64>,
}

/// What the search asks of a member again and again.
pub(super) struct Facts<'g> {
    pub member: &'g Member,
    pub rows: MemberRows,
    /// Conditions on it alone.
    pub own: Vec<&'g Expression>,
    /// Ways to read it that depend on no other member.
    pub scans: Vec<Rc<Candidate>>,
    /// What each of these costs, or reading it whole if it has no index.
    pub readings: Vec<Scan>,
    /// Nanoseconds of reading what is wanted of a row.
    pub kept_row_ns: f64,
    /// Conditions between it and others.
    links: Vec<Link<'g>>,
    /// The indexes that links ask for values of other tables.
    pub indexes: Vec<LinkedIndex>,
    /// It is not hashed, but read for each row before it.
    pub is_looped: bool,
    /// What a search for the first match costs, where there may be one for each row before it.
    pub first_match_ns: Option<f64>,
}

/// A condition between a member and others.
pub(super) struct Link<'g> {
    pub condition: &'g Expression,
    pub tables: u64,
    /// The share of pairs that it leaves.
    share: f64,
    pub is_equality: bool,
    /// The mode of a comparison.
    pub mode: Option<ComparisonMode>,
    /// The class of columns that it makes equal: one link of a class decides, the others follow.
    class: Option<usize>,
}

/// Steps of a join, and what they cost.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    pub list: Vec<Step>,
    pub rows: JoinedRows,
}

/// The search for an order of one group.
pub(super) struct Search<'g> {
    pub(super) facts: Vec<Facts<'g>>,
    /// The order is that of the members.
    is_straight: bool,
    /// What is wanted of the rows that come out.
    pub wanted: Wanted,
}

/// What is wanted of the rows of a join.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The share of them that is read, be it all.
    pub share: f64,
    /// They come in the order of the first table.
    pub in_order: bool,
    /// The tables, as bits, for each row of which they are wanted.
    pub around: u64,
}

/// The best order of a set of members: which comes last, and how it is joined.
#[derive(Clone, Copy, Debug)]
struct Best {
    last: usize,
    choice: Choice,
}

impl Optimizer<'_> {
    /// A search among the orders of a group. `nests`: estimates of the members that are groups themselves.
    pub(super) fn search_of<'g>(
        &mut self,
        group: &'g Group,
        conditions: &'g [Condition],
        nests: &[Option<NestEstimate>],
    ) -> Search<'g> {
        let mut facts = Vec::with_capacity(group.members.len());
        for (member, nest) in group.members.iter().zip(nests) {
            facts.push(self.facts_of(conditions, member, *nest));
        }
        let wanted = Wanted { share: 1.0, in_order: false, around: group.around };
        Search { facts, is_straight: group.straight, wanted }
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
        steps.list.reserve_exact(order.len());
        for Best { last, choice } in order {
            let (placed, _) = search.after(&steps);
            steps.rows = choice.rows;
            steps.list.push(search.step(last, placed, choice));
        }
        Ok(steps)
    }

    /// The best way to join one more member, and the rows behind it.
    pub(super) fn step(
        &mut self,
        search: &mut Search<'_>,
        number: usize,
        placed: u64,
        before: JoinedRows,
    ) -> (JoinedRows, Step) {
        let choice = self.choice(search, number, placed, before);
        (choice.rows, search.step(number, placed, choice))
    }

    fn choice(&mut self, search: &mut Search<'_>, number: usize, placed: u64, before: JoinedRows) -> Choice {
        self.find_look_ups(&mut search.facts[number], placed);
        search.facts[number].choice(placed, before, search.wanted)
    }

    fn facts_of<'g>(
        &mut self,
        conditions: &'g [Condition],
        member: &'g Member,
        nest: Option<NestEstimate>,
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
        let rows = self.rows_of_member(member, nest.map(|nest| nest.rows), &own, &scans);
        let kept_row_ns = self.kept_row_ns(member);
        let by_index = |(at, scan)| Scan::by_index(at, scan, self.order_of(member, scan));
        let mut readings: Vec<Scan> = scans.iter().enumerate().map(by_index).collect();
        if let Some(query_ns) = self.ns_of_lateral(member) {
            // Its rows are made anew each time.
            readings = vec![Scan::of_rows(query_ns + rows.total * kept_row_ns)];
        }
        if readings.is_empty() {
            let nest_ns = nest.map_or(0.0, |nest| nest.ns);
            readings.push(Scan::of_rows(nest_ns + rows.total * kept_row_ns));
        }
        let mut links = Vec::new();
        for (condition, tables, class, is_fixed) in conditions {
            if tables & member.tables != 0 && tables & !member.tables != 0 {
                let share = if is_fixed { 1.0 } else { self.share_of_pairs(condition) };
                let (is_equality, mode) = (is_equality(condition), comparison_mode(condition));
                links.push(Link { condition, tables, share, class, is_equality, mode });
            }
        }
        let indexes = self.linked_indexes(member, &links);
        let is_looped = match member.content {
            Content::Table(table) => self.block.tables[table].is_looped,
            Content::Nest(_) => false,
        };
        let is_looped = is_looped || member.is_lateral;
        let scans = scans.into_iter().map(Rc::new).collect();
        let first_match_ns = nest.and_then(|nest| nest.first_match_ns);
        Facts { member, rows, own, scans, readings, kept_row_ns, links, indexes, is_looped, first_match_ns }
    }

    /// The slot whose values ascend or descend in the rows that a candidate reads.
    pub(super) fn order_of(&self, member: &Member, candidate: &Candidate) -> Option<usize> {
        let Content::Table(number) = member.content else { return None };
        let bound = &self.block.tables[number];
        let Source::Base(table) = &bound.source else { return None };
        let fixed = candidate.path.ranges.as_ref().map_or(0, |ranges| fixed_parts(ranges));
        let definition = table.indexes()[candidate.path.index].definition(table)?;
        bound.slots.get(definition.parts.get(fixed)?.column).copied().flatten()
    }

    /// What the query takes once that a LATERAL member is.
    fn ns_of_lateral(&self, member: &Member) -> Option<f64> {
        let Content::Table(number) = member.content else { return None };
        match &self.block.tables[number].source {
            Source::Derived(Derived::Planned(plan), _) if member.is_lateral => Some(plan.joins_ns),
            _ => None,
        }
    }

    fn kept_row_ns(&self, member: &Member) -> f64 {
        let Content::Table(number) = member.content else { return kept_row_ns(0, 0) };
        let bound = &self.block.tables[number];
        let read = bound.columns.iter().zip(&bound.slots).filter(|(_, slot)| slot.is_some());
        let (mut texts, mut others) = (0, 0);
        for (column, _) in read {
            *(if column.result.kind().is_string() { &mut texts } else { &mut others }) += 1;
        }
        kept_row_ns(others, texts)
    }

    /// The best of all orders in which each member is connected to one before it, where there is such a one: the members behind
    /// those of `start`.
    fn best_order(&mut self, search: &mut Search<'_>, start: &Steps) -> SqlResult<Option<Vec<Best>>> {
        let count = search.facts.len();
        let mut best: Vec<Option<Best>> = vec![None; 1 << count];
        let begun = start.list.iter().fold(0, |set, step| set | 1 << step.member);
        for set in begun..1_usize << count {
            let rows = match &best[set] {
                _ if set == begun => start.rows,
                Some(found) => found.choice.rows,
                None => continue,
            };
            if set % 64 == 0 {
                self.context.check_killed()?;
            }
            let placed = search.tables_of_set(set);
            for last in search.next_members(placed, |number| set >> number & 1 == 1) {
                let choice = self.choice(search, last, placed, rows);
                let next = &mut best[set | 1 << last];
                let ns = |choice: &Choice| choice.rows.ns(search.wanted.share);
                if next.is_none_or(|known| ns(&choice) < ns(&known.choice)) {
                    *next = Some(Best { last, choice });
                }
            }
        }
        let mut order = Vec::with_capacity(count);
        let mut set = (1 << count) - 1;
        while set != begun {
            let Some(found) = best[set] else { return Ok(None) };
            set &= !(1 << found.last);
            order.push(found);
        }
        order.reverse();
        Ok(Some(order))
    }

    /// An order behind `start` that grows by the member that costs least, or where order is given by the first that may come
    /// next.
    fn grown_order(&mut self, search: &mut Search<'_>, start: &Steps) -> SqlResult<Vec<Best>> {
        let mut order: Vec<Best> = Vec::new();
        let begun: Vec<usize> = start.list.iter().map(|step| step.member).collect();
        let (mut placed, mut rows) = search.after(start);
        while order.len() + begun.len() < search.facts.len() {
            self.context.check_killed()?;
            let is_placed =
                |number: usize| begun.contains(&number) || order.iter().any(|known| known.last == number);
            let free = match search.is_straight {
                true => search.free_members(placed, is_placed).into_iter().take(1).collect(),
                false => search.next_members(placed, is_placed),
            };
            let mut best: Option<(f64, Best)> = None;
            for last in free {
                let choice = self.choice(search, last, placed, rows);
                // Each row that comes out will be looked up further.
                let cost = choice.rows.ns(search.wanted.share) + choice.rows.count * NEXT_JOIN_NS;
                if best.is_none_or(|(known, _)| cost < known) {
                    best = Some((cost, Best { last, choice }));
                }
            }
            let Some((_, found)) = best else { break };
            placed |= search.facts[found.last].member.tables;
            rows = found.choice.rows;
            order.push(found);
        }
        Ok(order)
    }
}

impl<'g> Search<'g> {
    /// The tables that steps have placed, as bits, and the rows that come out of them.
    pub(super) fn after(&self, steps: &Steps) -> (u64, JoinedRows) {
        let members = steps.list.iter().map(|step| self.facts[step.member].member);
        (members.fold(self.wanted.around, |bits, member| bits | member.tables), steps.rows)
    }

    /// The rows of a member that is read first by that candidate, or behind members of which there is one row; `count` of them meet the
    /// conditions.
    pub(super) fn first_rows(
        &self,
        number: usize,
        candidate: &Candidate,
        before: JoinedRows,
        count: f64,
    ) -> JoinedRows {
        let rows_ns = before.rows_ns + candidate.cost_ns() + candidate.rows * self.facts[number].kept_row_ns;
        JoinedRows { count, rows_ns, order: None, ..before }
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
        members.fold(self.wanted.around, |bits, (_, facts)| bits | facts.member.tables)
    }

    /// The step that joins the member of that number in the chosen way.
    fn step(&self, number: usize, placed: u64, choice: Choice) -> Step {
        self.facts[number].step(number, (placed, placed == self.wanted.around), choice)
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
            let reads_placed = facts.member.joined_by.is_some() || facts.member.is_lateral;
            reads_placed || facts.usable(placed).next().is_some()
        };
        if placed != 0 && free.iter().any(is_linked) {
            free.retain(is_linked);
        }
        free
    }
}

impl<'g> Facts<'g> {
    /// The conditions that decide about a pair once the member is joined to the tables that are placed.
    pub(super) fn usable(&self, placed: u64) -> impl Iterator<Item = &Link<'g>> {
        let reach = placed | self.member.tables;
        self.links.iter().filter(move |link| link.tables & !reach == 0)
    }

    /// The step that joins the member, which has that number, in the chosen way, behind the tables that are placed or as the first.
    fn step(&self, number: usize, (placed, is_first): (u64, bool), choice: Choice) -> Step {
        let candidate = match choice.method {
            Method::Scan(at) | Method::Kept(at) | Method::Loop(at) => self.scans.get(at).cloned(),
            Method::LookUp(at) => self.look_ups(placed).nth(at).map(|found| found.candidate.clone()),
            Method::Whole | Method::KeptWhole | Method::LoopWhole | Method::FirstMatch => None,
        };
        let swap = !is_first && matches!(choice.method, Method::Scan(_) | Method::Whole);
        let hash = swap || matches!(choice.method, Method::Kept(_) | Method::KeptWhole);
        Step { member: number, candidate, hash, swap, rows_after: choice.rows.count }
    }

    /// How many rows of the member match one of those before.
    pub(super) fn matches(&self, placed: u64) -> f64 {
        let mut share = 1.0;
        // There is mostly one class: it needs no room on the heap.
        let mut first: Option<(usize, f64)> = None;
        let mut further: Vec<(usize, f64)> = Vec::new();
        for link in self.usable(placed) {
            let Some(class) = link.class else {
                share *= link.share;
                continue;
            };
            let (known, least) = first.get_or_insert((class, link.share));
            if *known == class {
                *least = least.min(link.share);
                continue;
            }
            match further.iter_mut().find(|(known, _)| *known == class) {
                Some((_, least)) => *least = least.min(link.share),
                None => further.push((class, link.share)),
            }
        }
        share *= first.iter().chain(&further).map(|(_, share)| share).product::<f64>();
        let matches = self.rows.own * share;
        match self.look_ups(placed).any(|way| way.candidate.path.single_row) {
            // A unique key is taken to be referred to: conditions on its parts are not independent.
            true => (self.rows.own / self.rows.total.max(1.0)).min(1.0),
            false => matches,
        }
    }

    pub(super) fn rows_after(&self, rows_before: f64, matches: f64) -> f64 {
        let joined = rows_before * matches;
        match self.member.joined_by {
            Some((JoinKind::Left, _)) => joined.max(rows_before),
            Some((JoinKind::Semi, _)) => joined.clamp(0.01, rows_before.max(0.01)),
            Some((JoinKind::Anti, _)) => (rows_before - joined).max(rows_before * UNMATCHED_SHARE_MIN),
            Some((JoinKind::Inner, _)) | None => joined.max(0.01),
        }
    }
}

fn comparison_mode(condition: &Expression) -> Option<ComparisonMode> {
    match &condition.kind {
        ExpressionKind::Compare(comparison) => Some(comparison.mode),
        _ => None,
    }
}
