//! The ways to look a member of a join up by values of the tables before it. What an index is asked for depends on conditions on its columns
//! only, and so on few of the tables: each way is found once. Main types: [`LinkedIndex`], [`LookUp`].

use super::access::Candidate;
use super::join::{Content, Member};
use super::join_order::{Facts, Link};
use crate::{Optimizer, Source};
use dictionary::IndexDefinition;
use expression::{Expression, ExpressionKind};
use plan::physical::KeyCondition;
use std::rc::Rc;

/// A candidate that depends on the rows before.
#[derive(Clone, Debug)]
pub(super) struct LookUp {
    pub candidate: Rc<Candidate>,
    /// The slot that its first key part is looked up by.
    pub slot: Option<usize>,
}

/// An index of a member that links ask for values of other tables.
#[derive(Clone, Debug)]
pub(super) struct LinkedIndex {
    /// None: several indexes, by links with OR, or a table without storage.
    index: Option<usize>,
    /// The slots of its columns.
    slots: Vec<usize>,
    /// The other tables that these links read, as bits.
    tables: u64,
    /// The ways that were found, by those of these tables which are placed.
    found: Vec<(u64, Vec<LookUp>)>,
}

impl LookUp {
    fn new(candidate: Candidate) -> LookUp {
        let first = candidate.path.ranges.as_deref().and_then(|ranges| ranges.first()?.first());
        let slot = match first {
            Some(KeyCondition::Points(points)) => match points.as_slice() {
                [(point, _)] => point.column_slot(),
                _ => None,
            },
            _ => None,
        };
        LookUp { slot, candidate: Rc::new(candidate) }
    }
}

impl LinkedIndex {
    fn is_asked(&self, condition: &Expression) -> bool {
        let is_own = |part: &Expression| part.column_slot().is_some_and(|slot| self.slots.contains(&slot));
        self.index.is_none() || condition.any(&is_own)
    }

    fn found(&self, placed: u64) -> Option<&[LookUp]> {
        let mut found = self.found.iter().filter(|(tables, _)| *tables == placed & self.tables);
        found.next().map(|(_, ways)| ways.as_slice())
    }
}

impl Facts<'_> {
    /// The ways to look the member up by values of the tables that are placed, index by index, once they have been found.
    pub(super) fn look_ups(&self, placed: u64) -> impl Iterator<Item = &LookUp> {
        let asked = self.indexes.iter().filter(move |linked| linked.tables & placed != 0);
        asked.filter_map(move |linked| linked.found(placed)).flatten()
    }
}

impl Optimizer<'_> {
    /// The indexes of a member that these links may look it up by.
    pub(super) fn linked_indexes(&self, member: &Member, links: &[Link<'_>]) -> Vec<LinkedIndex> {
        let Content::Table(number) = member.content else { return Vec::new() };
        let bound = &self.block.tables[number];
        let slot = |column: usize| bound.slots.get(column).copied().flatten();
        let any = LinkedIndex { index: None, slots: Vec::new(), tables: 0, found: Vec::new() };
        let mut found = match &bound.source {
            Source::Base(table) => {
                let definitions = table.indexes().iter().map(|index| index.definition(table));
                let allowed = definitions.enumerate().filter_map(|(index, definition)| {
                    let limits = &bound.limits;
                    let usable = |one: &&IndexDefinition| !one.invisible && limits.allows_for_join(&one.name);
                    Some((index, definition.filter(usable)?))
                });
                let linked = |(index, definition): (usize, &IndexDefinition)| {
                    let slots = definition.parts.iter().filter_map(|part| slot(part.column)).collect();
                    LinkedIndex { index: Some(index), slots, tables: 0, found: Vec::new() }
                };
                let has_or = links.iter().any(|link| matches!(link.condition.kind, ExpressionKind::Or(_)));
                allowed.map(linked).chain(has_or.then_some(any)).collect()
            }
            Source::Virtual(_) => vec![any],
            _ => Vec::new(),
        };
        for known in &mut found {
            let asking = links.iter().filter(|link| known.is_asked(link.condition));
            known.tables = asking.fold(0, |bits, link| bits | link.tables) & !member.tables;
        }
        found.retain(|known| known.tables != 0);
        found
    }

    /// Finds the ways to look a member up by values of the tables that are placed.
    pub(super) fn find_look_ups(&mut self, facts: &mut Facts<'_>, placed: u64) {
        let Content::Table(table) = facts.member.content else { return };
        for at in 0..facts.indexes.len() {
            let linked = &facts.indexes[at];
            if linked.tables & placed == 0 || linked.found(placed).is_some() {
                continue;
            }
            let usable = facts.usable(placed).map(|link| link.condition);
            let all = facts.own.iter().copied().chain(usable);
            let conditions: Vec<&Expression> = all.filter(|condition| linked.is_asked(condition)).collect();
            let candidates = self.look_ups(table, linked.index, &conditions, placed);
            let ways = candidates.into_iter().map(LookUp::new).collect();
            let tables = placed & linked.tables;
            facts.indexes[at].found.push((tables, ways));
        }
    }
}
