//! Dates beside texts of rows that MySQL reads before all others: the row that a unique key leaves of a table. What such a row
//! holds is a constant to it, and of a constant the time counts, which is left out where both sides are read row by row.
//! Main function: [`keep_times`].

use expression::operators::ComparisonMode;
use expression::{Expression, ExpressionKind};
use optimizer::{Block, JoinTree, Survey, constant_tables, tables_of};
use plan::SubqueryPlan;

/// Compares dates with texts by their time where one of them is of a row that is read before all others. `others`:
/// expressions over the rows beside the conditions.
pub fn keep_times(
    survey: &mut Survey<'_>,
    tree: Option<&mut JoinTree>,
    conditions: &mut [Expression],
    others: &mut [&mut Expression],
) {
    let Some(tree) = tree else { return };
    let compares =
        |expression: &Expression| expression.any(&|part| is_date_comparison(survey.subqueries, part));
    let may = conditions.iter().any(compares)
        || others.iter().any(|other| compares(other))
        || tree.has_condition(&compares);
    if !may {
        return;
    }
    let constant = constant_tables(&mut survey.optimizer, tree, conditions);
    if constant == 0 {
        return;
    }
    let (block, subqueries) = (&*survey.optimizer.block, &mut *survey.subqueries);
    let mut keep = |expression: &mut Expression| keep_times_in(block, subqueries, expression, constant);
    conditions.iter_mut().for_each(&mut keep);
    others.iter_mut().for_each(|other| keep(other));
    tree.for_each_condition(&mut keep);
}

fn is_date_comparison(subqueries: &[SubqueryPlan], part: &Expression) -> bool {
    match &part.kind {
        ExpressionKind::Compare(comparison) => comparison.mode == ComparisonMode::Date,
        ExpressionKind::Subquery(call) => {
            subqueries[call.id].comparisons.iter().any(|(mode, _)| *mode == ComparisonMode::Date)
        }
        _ => false,
    }
}

fn keep_times_in(block: &Block, subqueries: &mut [SubqueryPlan], expression: &mut Expression, constant: u64) {
    expression.for_each_child_mut(&mut |child| keep_times_in(block, subqueries, child, constant));
    let is_constant = |side: &Expression| {
        let tables = tables_of(block, side);
        tables != 0 && tables & !constant == 0
    };
    match &mut expression.kind {
        ExpressionKind::Compare(comparison)
            if comparison.mode == ComparisonMode::Date
                && (is_constant(&comparison.left) || is_constant(&comparison.right)) =>
        {
            comparison.mode = ComparisonMode::DateTime;
        }
        ExpressionKind::Subquery(call) => {
            let operands = call.operands.iter().map(is_constant).collect::<Vec<bool>>();
            let comparisons = &mut subqueries[call.id].comparisons;
            for ((mode, _), _) in comparisons.iter_mut().zip(operands).filter(|(_, constant)| *constant) {
                if *mode == ComparisonMode::Date {
                    *mode = ComparisonMode::DateTime;
                }
            }
        }
        _ => {}
    }
}
