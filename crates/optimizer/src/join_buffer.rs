//! Which tables MySQL joins without its join buffer, so that rows stay in the order of the first table: those that an index is
//! looked up in for each row of the tables before, by a value of it or by a range. Main function:
//! [`ways_by_index`].

use crate::{Block, Source, tables_of};
use expression::operators::{Comparison, ComparisonOperator};
use expression::{Expression, ExpressionKind};

/// What a condition asks of the indexes of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    Nothing,
    /// A range of values that are known before; MySQL then reads it, not one for each row.
    Known,
    /// A range that depends on the tables before.
    Range,
    /// One value, which is looked up.
    Value,
}

/// Looks at conditions from the side of one table.
struct Indexes<'b> {
    block: &'b Block,
    table: usize,
    /// Tables that give one row, as bits.
    fixed: u64,
    /// The first columns of its indexes.
    columns: Vec<usize>,
}

/// The ways to look a table up by an index for each row before: the tables that must come before, as bits. `optional`: the
/// table is on the inner side of an outer join; others that are looked up by constants come first.
pub(super) fn ways_by_index(
    block: &Block,
    table: usize,
    conditions: &[&Expression],
    fixed: u64,
    optional: bool,
) -> Vec<u64> {
    let indexes = Indexes::of(block, table, fixed);
    let asked: Vec<(Asked, u64)> = conditions
        .iter()
        .map(|condition| {
            let before = tables_of(block, condition) & !fixed & !(1 << table);
            (indexes.asked(condition), before)
        })
        .collect();
    let takes_ranges = asked.iter().all(|(asked, _)| *asked != Asked::Known);
    let is_way = |asked: Asked, before: u64| match asked {
        Asked::Value => optional || before != 0,
        Asked::Range => takes_ranges,
        _ => false,
    };
    asked.iter().filter(|(asked, before)| is_way(*asked, *before)).map(|(_, before)| *before).collect()
}

/// Whether an operand is a column of the table that an index begins with.
pub(super) fn begins_index(block: &Block, table: usize, operand: &Expression) -> bool {
    Indexes::of(block, table, 0).is_column(operand)
}

/// Whether a condition asks an index of the table for values that are known before.
pub(super) fn asks_index(block: &Block, table: usize, condition: &Expression) -> bool {
    let indexes = Indexes::of(block, table, 0);
    tables_of(indexes.block, condition) == 1 << table && indexes.asked(condition) != Asked::Nothing
}

impl<'b> Indexes<'b> {
    fn of(block: &'b Block, table: usize, fixed: u64) -> Indexes<'b> {
        let columns = match &block.tables[table].source {
            Source::Base(base) => {
                let indexes = base.definition().indexes.iter().filter(|index| !index.invisible);
                indexes.filter_map(|index| index.parts.first()).map(|part| part.column).collect()
            }
            // MySQL makes an index for what is looked up in a derived table.
            _ => (0..block.tables[table].columns.len()).collect(),
        };
        Indexes { block, table, fixed, columns }
    }

    fn is_column(&self, operand: &Expression) -> bool {
        self.block
            .place(operand)
            .is_some_and(|(table, column)| table == self.table && self.columns.contains(&column))
    }

    /// What a value beside a column of an index makes of it; None if it is read with the column.
    fn beside(&self, value: &Expression) -> Option<Asked> {
        let tables = tables_of(self.block, value);
        match (tables >> self.table & 1, tables & !self.fixed) {
            (1, _) => None,
            (_, 0) => Some(Asked::Known),
            _ => Some(Asked::Range),
        }
    }

    fn asked(&self, condition: &Expression) -> Asked {
        match &condition.kind {
            ExpressionKind::Compare(comparison) => self.of_comparison(comparison),
            ExpressionKind::Between(between) if !between.negated => {
                let (low, high) = (&between.low.1, &between.high.1);
                if self.is_column(&between.operand) {
                    let bounds = [self.beside(low), self.beside(high)];
                    return bounds.into_iter().flatten().min().unwrap_or(Asked::Nothing);
                }
                match self.is_column(low) || self.is_column(high) {
                    true => self.beside(&between.operand).unwrap_or(Asked::Nothing),
                    false => Asked::Nothing,
                }
            }
            ExpressionKind::In(list) if !list.negated && self.is_column(&list.operand) => {
                let members = list.list.iter().map(|(_, member)| self.beside(member));
                members.map(|member| member.unwrap_or(Asked::Nothing)).max().unwrap_or(Asked::Nothing)
            }
            ExpressionKind::In(list) if self.is_column(&list.operand) => Asked::Known,
            ExpressionKind::Like(like) if self.is_column(&like.operand) => Asked::Known,
            ExpressionKind::IsNull(operand) if self.is_column(operand) => Asked::Value,
            ExpressionKind::Not(inner) => match &inner.kind {
                ExpressionKind::IsNull(operand) if self.is_column(operand) => Asked::Known,
                _ => Asked::Nothing,
            },
            ExpressionKind::And(terms) => {
                terms.iter().map(|term| self.asked(term)).max().unwrap_or(Asked::Nothing)
            }
            ExpressionKind::Or(terms) => {
                let asked: Vec<Asked> = terms.iter().map(|term| self.asked(term)).collect();
                match asked.iter().min() {
                    None | Some(Asked::Nothing) => Asked::Nothing,
                    _ if terms.iter().all(|term| self.is_known(term)) => Asked::Known,
                    _ => Asked::Range,
                }
            }
            _ => Asked::Nothing,
        }
    }

    fn is_known(&self, condition: &Expression) -> bool {
        tables_of(self.block, condition) & !self.fixed & !(1 << self.table) == 0
    }

    fn of_comparison(&self, comparison: &Comparison) -> Asked {
        let value = match (self.is_column(&comparison.left), self.is_column(&comparison.right)) {
            (true, _) => &comparison.right,
            (false, true) => &comparison.left,
            (false, false) => return Asked::Nothing,
        };
        match (self.beside(value), comparison.operator) {
            (Some(_), ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual) => Asked::Value,
            (Some(Asked::Known), _) => Asked::Known,
            (Some(_), ComparisonOperator::NotEqual) | (None, _) => Asked::Nothing,
            (Some(_), _) => Asked::Range,
        }
    }
}
