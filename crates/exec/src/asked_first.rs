//! What MySQL computes while it looks for conditions that cannot hold, before it looks at a row: the parts of conditions that read
//! no row. They matter where a subquery in them fails or warns. Main function: [`run`].

use crate::run::Run;
use errors::SqlResult;
use expression::{EvaluationContext, Expression, ExpressionKind};
use plan::is_asked_first;
use values::RowRef;

/// Runs the subqueries of such parts; what they find is remembered for the rows.
pub fn run(run: &mut Run<'_, '_>) -> SqlResult<()> {
    for conditions in &run.plan.asked_first {
        all(conditions, run)?;
    }
    Ok(())
}

/// Whether all conditions hold, as far as that is known without a row. The first that does not ends the search.
fn all(conditions: &[Expression], run: &mut Run<'_, '_>) -> SqlResult<Option<bool>> {
    let mut holds = Some(true);
    for condition in conditions {
        match truth(condition, run)? {
            Some(true) => {}
            Some(false) => return Ok(Some(false)),
            None => holds = None,
        }
    }
    Ok(holds)
}

fn any(conditions: &[Expression], run: &mut Run<'_, '_>) -> SqlResult<Option<bool>> {
    let mut holds = Some(false);
    for condition in conditions {
        match truth(condition, run)? {
            Some(false) => {}
            Some(true) => return Ok(Some(true)),
            None => holds = None,
        }
    }
    Ok(holds)
}

fn truth(condition: &Expression, run: &mut Run<'_, '_>) -> SqlResult<Option<bool>> {
    match &condition.kind {
        ExpressionKind::And(terms) => return all(terms, run),
        ExpressionKind::Or(terms) => return any(terms, run),
        _ => {}
    }
    if !is_asked_first(condition) {
        return Ok(None);
    }
    let mut compared = Vec::new();
    condition.for_each_child(&mut |child| {
        compared.extend(matches!(child.kind, ExpressionKind::Subquery(_)).then_some(child));
    });
    for subquery in &compared {
        subquery.evaluate(RowRef::EMPTY, run)?;
    }
    // What the comparison itself reports is for the rows.
    let reported = run.diagnostics().reported();
    let holds = condition.holds(RowRef::EMPTY, run);
    if !compared.is_empty() {
        run.diagnostics().go_back(reported);
    }
    holds.map(Some)
}
