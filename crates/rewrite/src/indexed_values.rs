//! Expressions whose values an index has: in WHERE, ON and ORDER BY they become the generated column, or the functional key part, that
//! is computed in the same way. Main function: [`read_indexed_values`].

use expression::{Expression, ExpressionKind, yields_same};
use optimizer::{Block, LogicalSelect};

/// A generated column that is part of an index.
#[derive(Debug)]
pub struct IndexedValue {
    /// Number of its table in the block.
    pub table: usize,
    /// Its place in the table.
    pub place: usize,
    /// What reads it.
    pub column: Expression,
    /// What it is computed of. Here and there a slot is the place of a column in the table.
    pub expression: Expression,
}

/// Puts the columns in the places of their expressions. Rows that an outer join makes up have no values of theirs, whatever the
/// expression would yield.
pub fn read_indexed_values(block: &mut Block, select: &mut LogicalSelect, values: Vec<IndexedValue>) {
    let made_up = select.tree.as_ref().map_or(0, |tree| tree.optional_tables());
    for mut value in values {
        if made_up >> value.table & 1 == 1 || !to_slots(block, &mut value) {
            continue;
        }
        let mut replace = |expression: &mut Expression| {
            expression.replace(&mut |part| {
                yields_same(part, &value.expression)
                    .then(|| in_slot(&value.column, block.slot(value.table, value.place)))
            });
        };
        select.conditions.iter_mut().for_each(&mut replace);
        if let Some(tree) = &mut select.tree {
            tree.for_each_condition(&mut replace);
        }
        // Sorted for DISTINCT, groups and windows are values of the select list.
        if !(select.groups || select.has_windows || select.distinct) {
            select.order.iter_mut().for_each(|key| replace(&mut key.expression));
        }
    }
}

fn in_slot(column: &Expression, slot: usize) -> Expression {
    let mut moved = column.clone();
    if let ExpressionKind::Column(column) = &mut moved.kind {
        column.slot = slot;
    }
    moved
}

/// Makes slots of the columns of which it is computed. False if the block does not read one: the expression is not in it then.
fn to_slots(block: &Block, value: &mut IndexedValue) -> bool {
    let slots = &block.tables[value.table].slots;
    let mut reads_all = true;
    value.expression.replace(&mut |part| match &part.kind {
        ExpressionKind::Column(column) => {
            let slot = slots[column.slot];
            reads_all &= slot.is_some();
            slot.map(|slot| in_slot(part, slot))
        }
        _ => None,
    });
    reads_all
}
