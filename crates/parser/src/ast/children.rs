//! What an expression is made of, for walks over syntax trees. Main function: [`Expression::each_child`].
//! The one place that knows the parts of every kind of expression: walks name only the kinds that they look for.

use super::{Expression, OrderItem, Over, Query, WindowSpecification};

/// A direct part of an expression.
#[derive(Clone, Copy, Debug)]
pub enum Child<'a> {
    /// An operand.
    Expression(&'a Expression),
    /// A subquery.
    Query(&'a Query),
}

impl Expression {
    /// Whether there is a subquery in it.
    pub fn holds_query(&self) -> bool {
        let mut found = false;
        self.each_child(&mut |child| {
            found |= match child {
                Child::Query(_) => true,
                Child::Expression(part) => part.holds_query(),
            };
        });
        found
    }

    /// Calls `visit` for each direct part, in the order of the text.
    pub fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Child<'a>)) {
        use Expression as E;
        match self {
            E::Literal(_) | E::Column(_) | E::Parameter(_) | E::UserVariable(_) | E::SystemVariable(_) => {}
            E::Default(_) | E::Values(_) => {}
            E::AssignVariable { value, .. } => visit(Child::Expression(value)),
            E::Unary { operand, .. }
            | E::Is { operand, .. }
            | E::ConvertUsing { operand, .. }
            | E::Collate { operand, .. }
            | E::Extract { operand, .. }
            | E::WeightString { operand, .. }
            | E::Odbc { operand, .. } => visit(Child::Expression(operand)),
            E::Cast(cast) => visit(Child::Expression(&cast.operand)),
            E::JsonValue(value) => visit(Child::Expression(&value.document)),
            E::Match { against, .. } => visit(Child::Expression(against)),
            E::InSubquery { operand, query, .. } | E::Quantified { operand, query, .. } => {
                visit(Child::Expression(operand));
                visit(Child::Query(query));
            }
            E::Exists(query) | E::Subquery(query) => visit(Child::Query(query)),
            E::And(terms) | E::Or(terms) | E::Row(terms) | E::Grouping(terms) => all(terms, visit),
            E::Function(call) => all(&call.arguments, visit),
            E::Char { arguments, .. } => all(arguments, visit),
            E::Binary { .. }
            | E::Regexp { .. }
            | E::MemberOf { .. }
            | E::DateArithmetic { .. }
            | E::TimestampAdd { .. }
            | E::TimestampDiff { .. }
            | E::Between { .. }
            | E::InList { .. }
            | E::Like { .. }
            | E::Trim { .. }
            | E::Case { .. }
            | E::Aggregate(_)
            | E::WindowFunction(_) => self.each_operand(visit),
        }
    }

    /// The kinds with several operands of different sorts.
    fn each_operand<'a>(&'a self, visit: &mut dyn FnMut(Child<'a>)) {
        use Expression as E;
        let mut each = |operands: &[&'a Expression]| {
            operands.iter().for_each(|operand| visit(Child::Expression(operand)));
        };
        match self {
            E::Binary { left, right, .. } => each(&[left, right]),
            E::Regexp { operand, pattern, .. } => each(&[operand, pattern]),
            E::MemberOf { operand, array } => each(&[operand, array]),
            E::DateArithmetic { operand, amount, .. } => each(&[operand, amount]),
            E::TimestampAdd { operand, amount, .. } => each(&[amount, operand]),
            E::TimestampDiff { from, to, .. } => each(&[from, to]),
            E::Between { operand, low, high, .. } => each(&[operand, low, high]),
            E::InList { operand, list, .. } => {
                each(&[operand]);
                all(list, visit);
            }
            E::Like { operand, pattern, escape, .. } => {
                each(&[operand, pattern]);
                escape.iter().for_each(|escape| visit(Child::Expression(escape)));
            }
            E::Trim { remove, operand, .. } => {
                remove.iter().for_each(|remove| visit(Child::Expression(remove)));
                visit(Child::Expression(operand));
            }
            E::Case { operand, branches, otherwise } => {
                operand.iter().for_each(|operand| visit(Child::Expression(operand)));
                for branch in branches {
                    visit(Child::Expression(&branch.when));
                    visit(Child::Expression(&branch.then));
                }
                otherwise.iter().for_each(|otherwise| visit(Child::Expression(otherwise)));
            }
            E::Aggregate(call) => {
                all(&call.arguments, visit);
                ordered(&call.order_by, visit);
                call.over.iter().for_each(|over| window(over, visit));
            }
            E::WindowFunction(call) => {
                all(&call.arguments, visit);
                window(&call.over, visit);
            }
            // All others have at most one operand or a list: see `each_child`.
            _ => {}
        }
    }
}

fn all<'a>(expressions: &'a [Expression], visit: &mut dyn FnMut(Child<'a>)) {
    expressions.iter().for_each(|expression| visit(Child::Expression(expression)));
}

fn ordered<'a>(items: &'a [OrderItem], visit: &mut dyn FnMut(Child<'a>)) {
    items.iter().for_each(|item| visit(Child::Expression(&item.expression)));
}

fn window<'a>(over: &'a Over, visit: &mut dyn FnMut(Child<'a>)) {
    if let Over::Window(window) = over {
        window.each_child(visit);
    }
}

impl WindowSpecification {
    /// Calls `visit` for the expressions of PARTITION BY and ORDER BY.
    pub fn each_child<'a>(&'a self, visit: &mut dyn FnMut(Child<'a>)) {
        all(&self.partition_by, visit);
        ordered(&self.order_by, visit);
    }
}
