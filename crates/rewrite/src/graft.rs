//! Putting the tables of one block into another. Main type: [`Graft`].

use expression::{Expression, ExpressionKind};
use optimizer::{Block, BoundTable, JoinTree};

/// Where the tables and slots of a block go in the block that takes it in.
pub(crate) struct Graft {
    /// The table of the other block that each table becomes; likewise slots.
    pub tables: Vec<usize>,
    pub slots: Vec<usize>,
    /// What stands for the values of the enclosing row that the block reads.
    pub outer: Vec<Expression>,
}

/// Leaves out the columns of tables whose slots nobody reads.
pub(crate) fn forget_unused(tables: &mut [BoundTable], is_used: &dyn Fn(usize) -> bool) {
    for slot in tables.iter_mut().flat_map(|table| &mut table.slots) {
        *slot = slot.filter(|slot| is_used(*slot));
    }
}

impl Graft {
    /// Finds a slot for each one of `inner`: those of `placed`, then those of `free`, which it takes out, then new ones.
    pub fn new(
        block: &mut Block,
        inner: &Block,
        tables: Vec<usize>,
        placed: &[Option<usize>],
        free: &mut Vec<usize>,
    ) -> Graft {
        let mut slots = Vec::with_capacity(inner.slots.len());
        for (number, place) in inner.slots.iter().enumerate() {
            let found = placed.get(number).copied().flatten().or_else(|| free.pop());
            let slot = found.unwrap_or_else(|| {
                block.slots.push((0, usize::MAX));
                block.slots.len() - 1
            });
            block.slots[slot] = (tables[place.0], place.1);
            slots.push(slot);
        }
        Graft { tables, slots, outer: Vec::new() }
    }

    /// An expression, over the slots of the other block.
    pub fn moved(&self, mut expression: Expression) -> Expression {
        expression.replace(&mut |part| match &part.kind {
            ExpressionKind::Column(column) => {
                Some(Expression::slot(self.slots[column.slot], column.name.clone(), part.result.clone()))
            }
            ExpressionKind::Outer(number) => self.outer.get(*number).cloned(),
            _ => None,
        });
        expression
    }

    pub fn moved_all(&self, expressions: Vec<Expression>) -> Vec<Expression> {
        expressions.into_iter().map(|expression| self.moved(expression)).collect()
    }

    pub fn moved_tree(&self, tree: JoinTree) -> JoinTree {
        match tree {
            JoinTree::Table(table) => JoinTree::Table(self.tables[table]),
            JoinTree::Join { left, right, outer, conditions, straight } => JoinTree::Join {
                left: Box::new(self.moved_tree(*left)),
                right: Box::new(self.moved_tree(*right)),
                outer,
                conditions: self.moved_all(conditions),
                straight,
            },
        }
    }

    pub fn moved_table(&self, mut table: BoundTable) -> BoundTable {
        table.slots.iter_mut().flatten().for_each(|slot| *slot = self.slots[*slot]);
        table.reads = self.moved_all(std::mem::take(&mut table.reads));
        table
    }
}
