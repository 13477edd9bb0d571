//! Expressions whose values an index has: what WHERE and ON compare and ORDER BY sorts by becomes the generated column, or the functional
//! key part, that is computed in the same way. Main function: [`read_indexed_values`].

use expression::operators::{Between, Comparison};
use expression::{Expression, ExpressionKind, TypeClass, yields_same};
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

impl IndexedValue {
    /// Makes slots of the columns of which it is computed. False if the block does not read one: the expression is not in it then.
    pub fn read_slots(&mut self, block: &Block) -> bool {
        let slots = &block.tables[self.table].slots;
        let mut reads_all = true;
        self.expression.replace(&mut |part| match &part.kind {
            ExpressionKind::Column(column) => {
                let slot = slots[column.slot];
                reads_all &= slot.is_some();
                slot.map(|slot| in_slot(part, slot))
            }
            _ => None,
        });
        reads_all
    }

    /// What reads the column in the block.
    pub fn column_in(&self, block: &mut Block) -> Expression {
        in_slot(&self.column, block.slot(self.table, self.place))
    }
}

/// Whether something that is computed is compared, or rows are ordered by it: few statements are looked at further.
pub fn computes_sides(select: &LogicalSelect) -> bool {
    select.conditions.iter().any(has_computed_side)
        || select.tree.as_ref().is_some_and(|tree| tree.has_condition(&has_computed_side))
        || select.order.iter().any(|key| is_computed(&key.expression))
}

fn has_computed_side(condition: &Expression) -> bool {
    match &condition.kind {
        ExpressionKind::And(terms) | ExpressionKind::Or(terms) => terms.iter().any(has_computed_side),
        ExpressionKind::Not(term) => has_computed_side(term),
        ExpressionKind::IsNull(operand) => is_computed(operand),
        ExpressionKind::Compare(comparison) => {
            is_computed(&comparison.left) || is_computed(&comparison.right)
        }
        ExpressionKind::Between(between) => is_computed(&between.operand),
        ExpressionKind::In(list) => is_computed(&list.operand),
        _ => false,
    }
}

fn is_computed(side: &Expression) -> bool {
    use ExpressionKind as Kind;
    !matches!(side.kind, Kind::Column(_) | Kind::Literal(_) | Kind::Parameter(_) | Kind::Outer(_))
}

/// Puts the columns in the places of their expressions.
pub fn read_indexed_values(block: &mut Block, select: &mut LogicalSelect, values: Vec<IndexedValue>) {
    for mut value in values {
        if !value.read_slots(block) {
            continue;
        }
        let mut replace =
            |part: &Expression| yields_same(part, &value.expression).then(|| value.column_in(block));
        select.conditions.iter_mut().for_each(|condition| replace_sides(condition, &mut replace));
        if let Some(tree) = &mut select.tree {
            tree.for_each_condition(&mut |condition| replace_sides(condition, &mut replace));
        }
        // Sorted for DISTINCT, groups and windows are values of the select list.
        if !(select.groups || select.has_windows || select.distinct) {
            select.order.iter_mut().for_each(|key| key.expression.replace(&mut |part| replace(part)));
        }
    }
}

/// Replaces what conditions compare. A side of another class would have to be converted, and what is told of that depends on how rows are found.
fn replace_sides(condition: &mut Expression, replace: &mut dyn FnMut(&Expression) -> Option<Expression>) {
    let mut replace_beside = |side: &mut Expression, others: &[&Expression]| {
        if others.iter().all(|other| is_alike(side, other))
            && let Some(column) = replace(side)
        {
            *side = column;
        }
    };
    match &mut condition.kind {
        ExpressionKind::And(terms) | ExpressionKind::Or(terms) => {
            terms.iter_mut().for_each(|term| replace_sides(term, replace));
        }
        ExpressionKind::Not(term) => replace_sides(term, replace),
        ExpressionKind::IsNull(operand) => replace_beside(operand, &[]),
        ExpressionKind::Compare(comparison) => {
            let Comparison { left, right, .. } = &mut **comparison;
            replace_beside(left, &[right]);
            replace_beside(right, &[left]);
        }
        ExpressionKind::Between(between) => {
            let Between { operand, low, high, .. } = &mut **between;
            replace_beside(operand, &[&low.1, &high.1]);
        }
        ExpressionKind::In(list) => {
            let others: Vec<&Expression> = list.list.iter().map(|(_, other)| other).collect();
            replace_beside(&mut list.operand, &others);
        }
        _ => {}
    }
}

/// Whether both are compared as they are. Texts beside dates are read as dates once.
fn is_alike(side: &Expression, other: &Expression) -> bool {
    let (class, of_other) = (side.result.class(), other.result.class());
    of_other == class
        || of_other == TypeClass::Null
        || class == TypeClass::DateTime && of_other == TypeClass::Text && other.literal().is_some()
}

fn in_slot(column: &Expression, slot: usize) -> Expression {
    let mut moved = column.clone();
    if let ExpressionKind::Column(column) = &mut moved.kind {
        column.slot = slot;
    }
    moved
}
