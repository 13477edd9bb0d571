//! Conditions within OR: what all alternatives demand stands beside them, so that indexes and joins can use it, and what each says
//! of one table is a condition on that table. `(a = b AND x = 1 AND y < 2) OR (a = b AND x = 2 AND y < 3)` demands `a = b` and
//! `x = 1 OR x = 2`. Only what can neither fail nor warn is taken apart. Main function: [`factor_alternatives`].

use crate::{Block, JoinTree, conjuncts, tables_of};
use expression::silent::is_silent;
use expression::{Expression, ExpressionKind};

/// Most alternatives that are looked at.
const ALTERNATIVES_MAX: usize = 16;

/// Takes apart the alternatives among conditions of a block that all must hold.
pub fn factor_alternatives(block: &Block, conditions: Vec<Expression>) -> Vec<Expression> {
    if !conditions.iter().any(|condition| matches!(condition.kind, ExpressionKind::Or(_))) {
        return conditions;
    }
    conditions.into_iter().flat_map(|condition| factored(block, condition)).collect()
}

/// The same for the conditions of joins.
pub fn factor_joins(block: &Block, tree: &mut JoinTree) {
    let JoinTree::Join { left, right, conditions, .. } = tree else { return };
    *conditions = factor_alternatives(block, std::mem::take(conditions));
    factor_joins(block, left);
    factor_joins(block, right);
}

/// A condition as several that all must hold.
fn factored(block: &Block, condition: Expression) -> Vec<Expression> {
    let ExpressionKind::Or(alternatives) = &condition.kind else { return vec![condition] };
    if !(2..=ALTERNATIVES_MAX).contains(&alternatives.len()) || !is_silent(&condition) {
        return vec![condition];
    }
    let mut branches: Vec<Vec<Expression>> = alternatives.iter().cloned().map(conjuncts).collect();
    let first = branches[0].clone();
    let is_common =
        |term: &Expression| branches[1..].iter().all(|branch| branch.iter().any(|other| other.same(term)));
    let mut found: Vec<Expression> = first.into_iter().filter(is_common).collect();
    for branch in &mut branches {
        branch.retain(|term| !found.iter().any(|common| common.same(term)));
    }
    // An alternative that demands nothing else holds wherever the others might.
    if branches.iter().any(Vec::is_empty) {
        return found;
    }
    found.extend(by_table(block, &branches));
    found.push(Expression::or(branches.into_iter().map(Expression::and).collect()));
    found
}

/// What the alternatives say of single tables, where they read several and each of them says something of that one.
fn by_table(block: &Block, branches: &[Vec<Expression>]) -> Vec<Expression> {
    let read = branches.iter().flatten().fold(0, |bits, term| bits | tables_of(block, term));
    if read.count_ones() < 2 {
        return Vec::new();
    }
    let numbers = (0..u64::BITS).map(|number| 1 << number).filter(|table| read & table != 0);
    let of_table = |table: u64| {
        let own = |branch: &Vec<Expression>| -> Option<Expression> {
            let terms: Vec<Expression> =
                branch.iter().filter(|term| tables_of(block, term) == table).cloned().collect();
            (!terms.is_empty()).then(|| Expression::and(terms))
        };
        branches.iter().map(own).collect::<Option<Vec<_>>>().map(Expression::or)
    };
    numbers.filter_map(of_table).collect()
}
