//! Which query an aggregate belongs to: the one whose rows it gathers. Main type: [`OpenAggregate`]; main function: [`level_of`].
//!
//! MySQL counts the columns that the aggregate names itself or in subqueries of its arguments. It does not count what is named within
//! an aggregate inside, nor what a name finds in a select list. Blocks are called by their level, the outermost is 0.

use super::Binder;
use super::aggregate::AggregateParts;
use ::expression::{Expression, ExpressionKind, SqlMode};
use errors::{SqlResult, sql_error};
use optimizer::Block;

/// An aggregate whose arguments are being bound.
pub(super) struct OpenAggregate {
    /// The block where it stands.
    here: usize,
    /// The innermost block of which its arguments name columns.
    named: Option<usize>,
    /// The innermost block to which an aggregate in its arguments belongs, of those that are not within a subquery of theirs.
    nested: Option<usize>,
}

impl OpenAggregate {
    pub fn new(here: usize) -> OpenAggregate {
        OpenAggregate { here, named: None, nested: None }
    }

    /// Its arguments name a column of that block. Those of a subquery's own tables are nothing to it.
    pub fn name_column(&mut self, level: usize) {
        if level <= self.here {
            self.named = self.named.max(Some(level));
        }
    }

    fn hold_aggregate(&mut self, level: usize) {
        if level <= self.here {
            self.nested = self.nested.max(Some(level));
        }
    }
}

/// The block to which an aggregate belongs, and told to the aggregate around it: its own where it names columns of it or none at all,
/// else the outermost that has what it reads, of those in whose clause it may stand. Error 1111 if there is none, or if an aggregate in
/// its arguments is of the same block.
pub(super) fn level_of(
    binder: &mut Binder<'_>,
    aggregate: &OpenAggregate,
    parts: &AggregateParts,
) -> SqlResult<usize> {
    let &OpenAggregate { here, named, nested } = aggregate;
    let is_allowed = |level: &usize| binder.blocks[*level].allows_aggregates();
    let own = Some(here).filter(is_allowed);
    let level = if named == Some(here) || (named.is_none() && own.is_some()) {
        own
    } else {
        // A name that is not counted may still be of a block further in.
        let outermost = named.max(level_read(&binder.blocks, parts)).unwrap_or(0);
        let own = own.filter(|_| !binder.facts.sql_mode.contains(SqlMode::ANSI));
        (outermost..here).find(is_allowed).or(own)
    };
    let level = level.filter(|level| nested.is_none_or(|nested| nested < *level));
    let Some(level) = level else { return Err(sql_error!(ER_INVALID_GROUP_FUNC_USE)) };
    if let Some(around) = binder.open_aggregates.last_mut() {
        around.hold_aggregate(level);
        if let Some(nested) = nested {
            around.hold_aggregate(nested);
        }
    }
    Ok(level)
}

/// The level of the innermost block of which the arguments read columns.
fn level_read(blocks: &[Block], (arguments, order_by): &AggregateParts) -> Option<usize> {
    let expressions = arguments.iter().chain(order_by.iter().map(|key| &key.expression));
    expressions.map(|expression| level_read_by(blocks, expression, blocks.len() - 1)).max().flatten()
}

fn level_read_by(blocks: &[Block], expression: &Expression, level: usize) -> Option<usize> {
    let mut innermost = None;
    expression.visit(&mut |part| {
        let read = match &part.kind {
            ExpressionKind::Column(_) | ExpressionKind::Aggregate(_) => Some(level),
            ExpressionKind::Outer(number) if level > 0 => {
                level_read_by(blocks, &blocks[level].outer[*number], level - 1)
            }
            _ => None,
        };
        innermost = innermost.max(read);
    });
    innermost
}

/// Makes an expression over the innermost block, which reads nothing of the blocks behind `level`, one over the block of that level.
pub(super) fn over_level(blocks: &[Block], level: usize, expression: &mut Expression) {
    for block in blocks[level + 1..].iter().rev() {
        expression.replace(&mut |part| match part.kind {
            ExpressionKind::Outer(number) => Some(block.outer[number].clone()),
            _ => None,
        });
    }
}
