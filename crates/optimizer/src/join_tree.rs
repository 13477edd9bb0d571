//! How the tables of FROM hang together, with the conditions of ON. Main type: [`JoinTree`].

use expression::{Expression, ExpressionKind};

/// Most tables in one query block, as in MySQL.
pub const TABLES_MAX: usize = 61;

/// How the tables of FROM hang together. RIGHT JOIN is turned round.
#[derive(Clone, Debug)]
pub enum JoinTree {
    /// A table of the block, by its number.
    Table(usize),
    /// Two sides that are joined.
    Join {
        /// The outer side, if it is an outer join.
        left: Box<JoinTree>,
        /// The inner side.
        right: Box<JoinTree>,
        /// Whether rows of the left side come out without a match.
        outer: bool,
        /// ON, taken apart at its ANDs.
        conditions: Vec<Expression>,
        /// STRAIGHT_JOIN: the left side is read first.
        straight: bool,
    },
}

impl JoinTree {
    /// The tables below this node as bits.
    pub fn tables(&self) -> u64 {
        match self {
            JoinTree::Table(table) => 1 << table,
            JoinTree::Join { left, right, .. } => left.tables() | right.tables(),
        }
    }

    /// The tables from left to right; those of a RIGHT JOIN are the other way round.
    pub fn leaves(&self) -> Vec<usize> {
        match self {
            JoinTree::Table(table) => vec![*table],
            JoinTree::Join { left, right, .. } => [left.leaves(), right.leaves()].concat(),
        }
    }

    /// The conditions of ON.
    pub fn conditions(&self) -> Vec<Expression> {
        match self {
            JoinTree::Table(_) => Vec::new(),
            JoinTree::Join { left, right, conditions, .. } => {
                [left.conditions(), right.conditions(), conditions.clone()].concat()
            }
        }
    }

    /// The tables on the inner sides of outer joins as bits.
    pub fn optional_tables(&self) -> u64 {
        match self {
            JoinTree::Table(_) => 0,
            JoinTree::Join { right, outer: true, left, .. } => left.optional_tables() | right.tables(),
            JoinTree::Join { left, right, .. } => left.optional_tables() | right.optional_tables(),
        }
    }
}

impl JoinTree {
    /// Whether one of the conditions of ON is such.
    pub fn has_condition(&self, is_such: &dyn Fn(&Expression) -> bool) -> bool {
        let JoinTree::Join { left, right, conditions, .. } = self else { return false };
        conditions.iter().any(is_such) || left.has_condition(is_such) || right.has_condition(is_such)
    }

    /// Calls `visit` for each condition of ON, to change it.
    pub fn for_each_condition(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        let JoinTree::Join { left, right, conditions, .. } = self else { return };
        conditions.iter_mut().for_each(&mut *visit);
        left.for_each_condition(visit);
        right.for_each_condition(visit);
    }

    /// The conditions of inner joins that are not on the inner side of an outer one.
    pub fn for_each_inner_condition(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        let JoinTree::Join { left, right, outer, conditions, .. } = self else { return };
        left.for_each_inner_condition(visit);
        if !*outer {
            conditions.iter_mut().for_each(&mut *visit);
            right.for_each_inner_condition(visit);
        }
    }
}

/// Splits a condition at its ANDs.
pub fn conjuncts(condition: Expression) -> Vec<Expression> {
    let is_and = |term: &Expression| matches!(term.kind, ExpressionKind::And(_));
    match condition.kind {
        ExpressionKind::And(terms) if terms.iter().any(is_and) => {
            terms.into_iter().flat_map(conjuncts).collect()
        }
        ExpressionKind::And(terms) => terms,
        kind => vec![Expression { kind, result: condition.result }],
    }
}
