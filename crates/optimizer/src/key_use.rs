//! Whether UPDATE and DELETE look for their rows by keys, as sql_safe_updates wants it. MySQL asks of one table whether a key
//! could be used, even if it reads all of a small table in the end, and of joined tables how those are read whose rows change.
//! Main function: [`reads_whole`].

use super::join_buffer::{asks_index, begins_index};
use super::terms::TermReader;
use crate::{Block, Survey, is_never};
use expression::{Expression, ExpressionKind, SubqueryUse};
use plan::physical::{JoinKind, Node, TableAccess};
use plan::range::key_ranges;
use values::RowRef;

/// How rows are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// Not at all: there are none.
    Nothing,
    Keys,
    /// Each row of a table that changes is looked at.
    Whole,
}

impl Search {
    /// Of two tables whose rows are put together; `optional`: rows of the second may be missing.
    fn with(self, other: Search, optional: bool) -> Search {
        match (self, other) {
            (Search::Nothing, _) => Search::Nothing,
            (_, Search::Nothing) if !optional => Search::Nothing,
            (Search::Whole, _) | (_, Search::Whole) => Search::Whole,
            _ => Search::Keys,
        }
    }
}

/// Whether the rows of UPDATE or DELETE are looked for without a key.
pub fn reads_whole(survey: &mut Survey<'_>, node: &Node) -> bool {
    let joined = survey.optimizer.block.tables.len() > 1;
    search(survey, node, joined) == Search::Whole
}

fn search(survey: &mut Survey<'_>, node: &Node, joined: bool) -> Search {
    match node {
        Node::Nothing => Search::Nothing,
        Node::Table(access) => search_of_table(survey, access, joined),
        Node::Filter { input, conditions } => {
            if conditions.iter().any(|condition| finds_nothing(survey, condition)) {
                return Search::Nothing;
            }
            match search(survey, input, joined) {
                Search::Whole
                    if !joined
                        && conditions.iter().any(|one| asks_by_key(survey.optimizer.block, 0, one)) =>
                {
                    Search::Keys
                }
                other => other,
            }
        }
        Node::Sort { input, limit: None, .. } | Node::Project { input, .. } => search(survey, input, joined),
        Node::NestedLoop(join) => {
            let inner = search_of_table(survey, &join.inner, true);
            search(survey, &join.outer, true).with(inner, is_optional(join.kind))
        }
        Node::HashJoin(join) => {
            let build = search(survey, &join.build, true);
            search(survey, &join.probe, true).with(build, is_optional(join.kind))
        }
        // LIMIT says how many rows are changed at most.
        _ => Search::Keys,
    }
}

fn search_of_table(survey: &mut Survey<'_>, access: &TableAccess, joined: bool) -> Search {
    if access.conditions.iter().any(|condition| finds_nothing(survey, condition)) {
        return Search::Nothing;
    }
    if access.path.ranges.is_some() {
        return if joined && has_no_row(survey, access) { Search::Nothing } else { Search::Keys };
    }
    let definition = access.table.definition();
    let key = definition.primary_key().map_or(&[][..], |key| &key.parts);
    let is_key = |column: usize| key.iter().any(|part| part.column == column);
    let reads_index = access.path.covering || access.columns.iter().all(|(column, _)| is_key(*column));
    if access.key_slot.is_none() || joined && reads_index {
        return Search::Keys;
    }
    let number = survey.optimizer.block.tables.iter().position(|table| {
        table.alias == access.alias
            && matches!(&table.source, crate::Source::Base(base) if base.id() == access.table.id())
    });
    let Some(number) = number else { return Search::Whole };
    match access.conditions.iter().any(|condition| asks_by_key(survey.optimizer.block, number, condition)) {
        true => Search::Keys,
        false => Search::Whole,
    }
}

/// Whether a condition holds for no row, as far as is known before.
fn finds_nothing(survey: &Survey<'_>, condition: &Expression) -> bool {
    let is_empty = |id: usize| survey.subqueries.get(id).is_some_and(|plan| plan.query.is_empty);
    match &condition.kind {
        ExpressionKind::Subquery(call) => {
            matches!(call.wanted, SubqueryUse::In | SubqueryUse::Exists) && is_empty(call.id)
        }
        _ => is_never(condition),
    }
}

/// Whether an index has no entry for the only key that is looked up. The plan is one for this execution then.
fn has_no_row(survey: &mut Survey<'_>, access: &TableAccess) -> bool {
    let conditions = access.path.ranges.iter().flatten().flatten();
    if !access.path.single_row || !conditions.into_iter().all(super::is_known_now) {
        return false;
    }
    let warnings = survey.optimizer.context.diagnostics().reported();
    let ranges = key_ranges(&access.table, &access.path, RowRef::EMPTY, survey.optimizer.context);
    survey.optimizer.context.diagnostics().go_back(warnings);
    let engine = survey.optimizer.engine;
    let is_missing = ranges.is_ok_and(|ranges| {
        ranges
            .into_iter()
            .all(|range| matches!(engine.estimate_range(&access.table, access.path.index, range), Ok(0)))
    });
    *survey.volatile |= is_missing;
    is_missing
}

/// Whether a condition leaves some of the keys of an index of a table. The table may be looked up by the values of IN
/// (subquery).
fn asks_by_key(block: &Block, number: usize, condition: &Expression) -> bool {
    if let ExpressionKind::Subquery(call) = &condition.kind {
        let Some(operand) = call.operands.first().filter(|_| call.wanted == SubqueryUse::In) else {
            return false;
        };
        return begins_index(block, number, operand);
    }
    let differs = condition.any(&|part| {
        matches!(&part.kind, ExpressionKind::Function(call) if call.definition.differs_between_rows())
    });
    let is_like = condition.any(&|part| matches!(part.kind, ExpressionKind::Like(_)));
    let reader = TermReader { block, table: number, placed: 0 };
    let by_column = || asks_index(block, number, condition) && (!is_like || reader.read(condition).is_some());
    !differs && (by_column() || reader.asks_elements(condition))
}

fn is_optional(kind: JoinKind) -> bool {
    matches!(kind, JoinKind::Left | JoinKind::Anti)
}
