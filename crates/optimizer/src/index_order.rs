//! Whether an index gives rows in the order that ORDER BY wants. Main function: [`order_of_path`].

use super::equal_columns::Condition;
use super::terms::{TermReader, Terms, keeps_order_when_equal};
use crate::{Block, Source};
use dictionary::IndexPart;
use engine::Table;
use expression::operators::ComparisonOperator;
use expression::{Expression, ExpressionKind};
use plan::physical::{AccessPath, KeyCondition, KeyConditions, SortKey};

/// By what the entries of an index are ordered.
struct EntryOrder {
    /// Columns, and whether they descend. Entries of a secondary index go on with the primary key.
    parts: Vec<(usize, bool)>,
    /// How many of these tell every row from the others.
    unique_parts: Option<usize>,
}

/// What a sort key is for rows that come in the order of one table.
enum KeyPlace {
    /// One value in all rows.
    Constant,
    /// The value of any of these columns of the table.
    Columns(Vec<usize>),
    /// Something else.
    Elsewhere,
}

/// Whether a path to a table gives rows in that order: Some(backward). `conditions` hold for all rows that are wanted;
/// `constant` are the tables of which one row at most is read before.
pub(super) fn order_of_path(
    block: &Block,
    number: usize,
    path: &AccessPath,
    order: &[SortKey],
    conditions: &[Condition],
    constant: u64,
) -> Option<bool> {
    let Source::Base(table) = &block.tables[number].source else { return None };
    let entries = entry_order(&table.clone(), path.index)?;
    let fixed = path.ranges.as_ref().map_or(0, |ranges| fixed_parts(ranges));
    let mut part = fixed.min(entries.parts.len());
    let mut backward = None;
    for key in order {
        let columns = match key_place(block, number, key, conditions, constant) {
            KeyPlace::Constant => continue,
            KeyPlace::Columns(columns) => columns,
            KeyPlace::Elsewhere => return None,
        };
        // What is constant, or was ordered by already, orders nothing; nor does anything among rows that are one.
        let is_settled = entries.parts[..part].iter().any(|(column, _)| columns.contains(column));
        if is_settled || entries.unique_parts.is_some_and(|parts| part >= parts) {
            continue;
        }
        let (column, descending) = *entries.parts.get(part)?;
        let reverse = key.descending != descending;
        if !columns.contains(&column) || *backward.get_or_insert(reverse) != reverse {
            return None;
        }
        part += 1;
    }
    let backward = backward.unwrap_or(false);
    // The keys of a union are sorted forwards.
    (!backward || path.union.is_empty()).then_some(backward)
}

fn key_place(
    block: &Block,
    number: usize,
    key: &SortKey,
    conditions: &[Condition],
    constant: u64,
) -> KeyPlace {
    let ExpressionKind::Column(column) = &key.expression.kind else { return KeyPlace::Elsewhere };
    let slots = equal_slots(column.slot, conditions);
    let mut columns = Vec::new();
    for slot in slots {
        let Some((table, position)) = block.slots.get(slot).copied() else { continue };
        let reader = TermReader { block, table, placed: constant };
        let is_fixed = |condition: &Expression| {
            let Some(Terms::One(term)) = reader.read(condition) else { return false };
            keeps_order_when_equal(condition) && term.column == position && term.asked.points() == Some(1)
        };
        if constant >> table & 1 == 1 || conditions.iter().any(|condition| is_fixed(&condition.expression)) {
            return KeyPlace::Constant;
        }
        if table == number && position != usize::MAX {
            columns.push(position);
        }
    }
    if columns.is_empty() { KeyPlace::Elsewhere } else { KeyPlace::Columns(columns) }
}

/// A slot and those that conditions make equal to it, so that rows in the order of one are in the order of all.
fn equal_slots(slot: usize, conditions: &[Condition]) -> Vec<usize> {
    let pair = |condition: &Expression| {
        let ExpressionKind::Compare(comparison) = &condition.kind else { return None };
        let is_equality =
            comparison.operator == ComparisonOperator::Equal && keeps_order_when_equal(condition);
        let slots = (comparison.left.column_slot()?, comparison.right.column_slot()?);
        is_equality.then_some(slots)
    };
    let pairs: Vec<(usize, usize)> =
        conditions.iter().filter_map(|condition| pair(&condition.expression)).collect();
    let mut slots = vec![slot];
    let mut at = 0;
    while let Some(known) = slots.get(at).copied() {
        for (left, right) in &pairs {
            let other = match known {
                known if known == *left => *right,
                known if known == *right => *left,
                _ => continue,
            };
            if !slots.contains(&other) {
                slots.push(other);
            }
        }
        at += 1;
    }
    slots
}

/// None for an index without order.
fn entry_order(table: &Table, number: usize) -> Option<EntryOrder> {
    let index = &table.indexes()[number];
    let definition = index.definition(table).filter(|_| index.orders_rows())?;
    let columns = &table.definition().columns;
    let is_whole = |part: &&IndexPart| part.prefix_length.is_none();
    let order = |part: &IndexPart| (part.column, part.descending);
    let mut parts: Vec<(usize, bool)> = definition.parts.iter().take_while(is_whole).map(order).collect();
    if parts.len() < definition.parts.len() {
        return Some(EntryOrder { parts, unique_parts: None });
    }
    let may_be_null = definition.parts.iter().any(|part| columns[part.column].nullable);
    if number == 0 || index.is_unique() && !may_be_null {
        let unique_parts = Some(parts.len());
        return Some(EntryOrder { parts, unique_parts });
    }
    let clustered = &table.indexes()[0];
    let Some(key) = clustered.definition(table).filter(|_| clustered.orders_rows()) else {
        return Some(EntryOrder { parts, unique_parts: None });
    };
    let own = parts.len();
    parts.extend(key.parts.iter().take_while(is_whole).map(order));
    let unique_parts = (parts.len() == own + key.parts.len()).then_some(parts.len());
    Some(EntryOrder { parts, unique_parts })
}

/// How many first parts are one constant each. Several ranges are read in key order: between them nothing is constant.
pub(super) fn fixed_parts(ranges: &[KeyConditions]) -> usize {
    let [conditions] = ranges else { return 0 };
    let single =
        |condition: &&KeyCondition| matches!(condition, KeyCondition::Points(points) if points.len() == 1);
    // IN lists behind the constants still come in key order, because ranges are read sorted.
    conditions.iter().take_while(single).count()
}
