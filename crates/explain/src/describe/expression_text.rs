//! Expressions in the tree, and the subqueries in them, which are shown below the step that asks for them.

use super::Describer;
use crate::step::Step;
use expression::{ColumnSlot, Expression, ExpressionKind, SubqueryCall, SubqueryUse};

impl<'a> Describer<'a> {
    /// An expression with its columns as `table.column` and its subqueries by their numbers.
    pub(super) fn shown(&self, expression: &Expression) -> String {
        let mut expression = expression.clone();
        self.rename(&mut expression);
        expression.to_string()
    }

    pub(super) fn joined(&self, conditions: &[Expression]) -> String {
        match conditions {
            [only] => self.shown(only),
            several => {
                let shown: Vec<String> = several.iter().map(|condition| self.shown(condition)).collect();
                format!("({})", shown.join(" and "))
            }
        }
    }

    pub(super) fn list(&self, expressions: &[Expression]) -> String {
        expressions.iter().map(|expression| self.shown(expression)).collect::<Vec<_>>().join(",")
    }

    /// Gives the parts names that say what they are.
    fn rename(&self, expression: &mut Expression) {
        let name = match &expression.kind {
            ExpressionKind::Column(slot) => {
                let aggregate = slot.name.strip_prefix("aggregate ").and_then(|index| index.parse().ok());
                let call = aggregate.and_then(|index: usize| self.aggregates.get(index));
                call.cloned().unwrap_or_else(|| without_schemas(&slot.name))
            }
            ExpressionKind::Outer(index) => match self.outer.get(*index) {
                Some(shown) => shown.clone(),
                None => return,
            },
            ExpressionKind::Subquery(call) => self.subquery_text(call),
            _ => return expression.for_each_child_mut(&mut |child| self.rename(child)),
        };
        expression.kind = ExpressionKind::Column(ColumnSlot { slot: 0, name: name.into(), picked: false });
    }

    fn subquery_text(&self, call: &SubqueryCall) -> String {
        let number = self.block_number(call.id);
        let operands = match call.operands.as_slice() {
            [only] => self.shown(only),
            several => format!("({})", self.list(several)),
        };
        match call.wanted {
            SubqueryUse::Scalar | SubqueryUse::Row => format!("(select #{number})"),
            SubqueryUse::Exists => format!("exists(select #{number})"),
            SubqueryUse::In => format!("({operands} in (select #{number}))"),
            SubqueryUse::NotIn => format!("({operands} not in (select #{number}))"),
            SubqueryUse::Any(operator) => format!("({operands} {} any (select #{number}))", operator.sign()),
            SubqueryUse::All(operator) => format!("({operands} {} all (select #{number}))", operator.sign()),
        }
    }

    /// The number of a subquery's first query block, as the other forms of EXPLAIN show it.
    fn block_number(&self, id: usize) -> u32 {
        let shown = self.plan.subqueries.get(id).and_then(|subquery| subquery.query.block);
        shown.unwrap_or(u32::try_from(id).unwrap_or(u32::MAX).saturating_add(2))
    }

    /// The subqueries of expressions that were not shown yet.
    pub(super) fn subqueries_of(
        &mut self,
        expressions: impl IntoIterator<Item = &'a Expression>,
        place: &'static str,
    ) -> Vec<Step> {
        let mut calls: Vec<&'a SubqueryCall> = Vec::new();
        for expression in expressions {
            expression.visit(&mut |part| {
                if let ExpressionKind::Subquery(call) = &part.kind {
                    calls.push(call);
                }
            });
        }
        calls.into_iter().flat_map(|call| self.subquery(call, place)).collect()
    }

    /// A subquery, and its groups for all rows around if it may have them.
    fn subquery(&mut self, call: &SubqueryCall, place: &'static str) -> Vec<Step> {
        let plan = self.plan;
        let Some(subquery) = plan.subqueries.get(call.id).filter(|_| self.subqueries.insert(call.id)) else {
            return Vec::new();
        };
        let (runs, how) = match (call.outer.is_empty(), call.repeats) {
            (_, true) => ("uncacheable", "uncacheable"),
            (true, false) => ("run only once", "cacheable"),
            (false, false) => ("dependent", "dependent"),
        };
        let number = self.block_number(call.id);
        let outer = call.outer.iter().map(|outer| self.shown(outer)).collect();
        let around = std::mem::replace(&mut self.outer, outer);
        let step = self.node(&subquery.query.root);
        self.outer = around;
        let step = step
            .detail("subquery", true)
            .detail("subquery_location", place)
            .detail(how, true)
            .under(format!("Select #{number} (subquery in {place}; {runs})"));
        let groups = subquery.groups.as_ref().map(|groups| {
            let after = match groups.after_runs {
                0 => String::new(),
                runs => format!(" after {runs} runs"),
            };
            self.node(&groups.query.root)
                .detail("subquery", true)
                .detail("subquery_location", place)
                .detail("groups_after_runs", groups.after_runs)
                .under(format!("Select #{number} (subquery in {place}; groups of all outer values{after})"))
        });
        std::iter::once(step).chain(groups).collect()
    }
}

/// The name of a column, or the text of what was computed before: without backticks, and names of columns as `table.column`.
fn without_schemas(name: &str) -> String {
    let mut shown = String::new();
    // The path that is being read: parts before the last, and the last.
    let (mut parts, mut last) = (Vec::new(), String::new());
    let mut quote = None;
    for c in name.chars() {
        match (c, quote) {
            ('`', Some('`')) => quote = None,
            ('\'', Some('\'')) => {
                last.push(c);
                quote = None;
            }
            ('`', None) => quote = Some(c),
            ('.', None) => parts.push(std::mem::take(&mut last)),
            (_, Some(_)) => last.push(c),
            _ if c.is_alphanumeric() || matches!(c, '_' | '$') => last.push(c),
            _ => {
                end_path(&mut parts, &mut last, &mut shown);
                shown.push(c);
                quote = Some(c).filter(|c| *c == '\'');
            }
        }
    }
    end_path(&mut parts, &mut last, &mut shown);
    shown
}

fn end_path(parts: &mut Vec<String>, last: &mut String, shown: &mut String) {
    if let Some(table) = parts.pop() {
        shown.push_str(&table);
        shown.push('.');
    }
    shown.push_str(&std::mem::take(last));
    parts.clear();
}

#[cfg(test)]
mod tests {
    use super::without_schemas;

    #[test]
    fn names_lose_their_schemas_wherever_they_stand() {
        for (name, expected) in [
            ("d.t.c", "t.c"),
            ("t.c", "t.c"),
            ("c", "c"),
            ("`d`.`t`.`a b.c`", "t.a b.c"),
            ("year(`d`.`t`.`c`)", "year(t.c)"),
            ("(`d`.`t`.`c` + 1.5)", "(t.c + 1.5)"),
            ("concat(d.t.c,'x.y.z')", "concat(t.c,'x.y.z')"),
            ("d.t.c,d.t.b", "t.c,t.b"),
        ] {
            assert_eq!(without_schemas(name), expected);
        }
    }
}
