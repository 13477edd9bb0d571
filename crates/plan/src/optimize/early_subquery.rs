//! Subqueries that MySQL runs while it optimises: what reads nothing of the rows around it is a constant to it, so it looks
//! for the keys that a column beside it may have, and finds conditions that cannot hold. Main function:
//! [`Binder::run_early`].

use crate::bind::Binder;
use crate::optimize::known_values::KnownValues;
use crate::optimize::tables_of;
use crate::privileges_needed::PrivilegesNeeded;
use crate::{Plan, PlanKind};
use errors::SqlResult;
use expression::{Expression, ExpressionKind, SubqueryUse};

impl Binder<'_> {
    /// Runs the subqueries of a condition on a table whose values matter before rows are read: where the condition reads no row,
    /// and where it asks an index for keys. The plan is one for this execution then, which finds their values in it. What they
    /// report is reported.
    pub(super) fn run_early(
        &mut self,
        table: usize,
        condition: &Expression,
        known: &mut KnownValues,
    ) -> SqlResult<()> {
        let has_subquery = || condition.any(&|part| matches!(part.kind, ExpressionKind::Subquery(_)));
        if !has_subquery() || !self.may_run_early() {
            return Ok(());
        }
        let whole = tables_of(self.block(), condition) == 0;
        if !whole && !self.asks_index(table, condition) {
            return Ok(());
        }
        let mut calls = Vec::new();
        gather(condition, whole, &mut calls);
        for (id, shown) in calls {
            if known.has_subquery(id) {
                continue;
            }
            let plan = self.plan_of_subqueries();
            let value = self.input.context.run_subquery(&plan, id);
            self.subqueries = plan.subqueries;
            let value = value?;
            self.volatile = true;
            self.subqueries[id].known = Some(value.clone());
            known.keep_subquery(id, Expression::constant(value, shown.result));
        }
        Ok(())
    }

    /// Whether rows may be read now, the user may read them, and warnings are nothing but warnings.
    fn may_run_early(&self) -> bool {
        self.input.transaction.is_some()
            && !self.escalates
            && self.denied.is_none()
            && self.common_table_uses.is_empty()
            && self.recursion_scopes.is_empty()
    }

    /// A plan that holds nothing but the subqueries that are bound so far. They are to be put back.
    fn plan_of_subqueries(&mut self) -> Plan {
        Plan {
            kind: PlanKind::Do(Vec::new()),
            subqueries: std::mem::take(&mut self.subqueries),
            privileges: PrivilegesNeeded::new(Vec::new()),
            tables: Vec::new(),
            dictionary_epoch: self.input.engine.dictionary().epoch(),
            volatile: true,
            row_by_row: self.assigns,
            repeatable: false,
            sites: self.site_count(),
            recursions: 0,
            common_tables: Vec::new(),
            parameters: Vec::new(),
            explain: Vec::new(),
        }
    }
}

/// The subqueries of a condition that give one value for all rows. EXISTS is one where it is only negated; `whole`: the condition
/// reads no row.
fn gather(part: &Expression, whole: bool, found: &mut Vec<(usize, Expression)>) {
    match &part.kind {
        ExpressionKind::Subquery(call) => {
            let is_value = call.wanted == SubqueryUse::Scalar && call.part.is_none();
            if is_value && call.outer.is_empty() && !call.repeats {
                found.push((call.id, part.clone()));
            }
        }
        ExpressionKind::Not(inner) if whole && is_lone_exists(inner) => {
            if let ExpressionKind::Subquery(call) = &inner.kind {
                found.push((call.id, (**inner).clone()));
            }
        }
        _ => part.for_each_child(&mut |child| gather(child, whole, found)),
    }
}

fn is_lone_exists(part: &Expression) -> bool {
    matches!(&part.kind, ExpressionKind::Subquery(call)
        if call.wanted == SubqueryUse::Exists && call.outer.is_empty() && !call.repeats)
}
