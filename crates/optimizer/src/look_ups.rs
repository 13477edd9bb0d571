//! The ways to look a member of a join up by values of the tables before it. What an index is asked for depends on conditions on its columns
//! only, and so on few of the tables: each way is found once. Main types: [`LinkedIndex`], [`LookUp`].

use super::access::{Candidate, plain_index};
use super::join::{Content, Member};
use super::join_order::{Facts, Link};
use crate::{Block, Optimizer, Source};
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
    fn found(&self, placed: u64) -> Option<&[LookUp]> {
        let mut found = self.found.iter().filter(|(tables, _)| *tables == placed & self.tables);
        found.next().map(|(_, ways)| ways.as_slice())
    }
}

/// Whether a condition is on columns of that index of a table. None: of any.
fn asks(block: &Block, number: usize, index: Option<usize>, condition: &Expression) -> bool {
    let (Some(index), Source::Base(table)) = (index, &block.tables[number].source) else { return true };
    let Some(definition) = table.indexes()[index].definition(table) else { return false };
    condition.any(&|part| {
        block.place(part).is_some_and(|(table, column)| {
            table == number && definition.parts.iter().any(|part| part.column == column)
        })
    })
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
        let linked = |index: Option<usize>| {
            let asking = links.iter().filter(|link| asks(self.block, number, index, link.condition));
            let tables = asking.fold(0, |bits, link| bits | link.tables) & !member.tables;
            (tables != 0).then(|| LinkedIndex { index, tables, found: Vec::new() })
        };
        match &bound.source {
            Source::Base(table) => {
                let is_allowed = |index: &usize| {
                    plain_index(table, *index).is_some_and(|one| bound.limits.allows_for_join(&one.name))
                };
                let allowed = (0..table.indexes().len()).filter(is_allowed).map(Some);
                let has_or = links.iter().any(|link| matches!(link.condition.kind, ExpressionKind::Or(_)));
                allowed.chain(has_or.then_some(None)).filter_map(linked).collect()
            }
            Source::Virtual(_) => linked(None).into_iter().collect(),
            _ => Vec::new(),
        }
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
            let asking = all.filter(|condition| asks(self.block, table, linked.index, condition));
            let conditions: Vec<&Expression> = asking.collect();
            let candidates = self.look_ups(table, linked.index, &conditions, placed);
            let ways = candidates.into_iter().map(LookUp::new).collect();
            let tables = placed & linked.tables;
            facts.indexes[at].found.push((tables, ways));
        }
    }
}
