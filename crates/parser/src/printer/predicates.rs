//! IS, BETWEEN, IN, LIKE, REGEXP and MEMBER OF, and what NOT makes of them.

use super::Printer;
use crate::ast::*;

impl Printer<'_> {
    /// The predicate, or its opposite.
    pub(super) fn predicate(&mut self, expression: &Expression, opposite: bool) -> Option<()> {
        match expression {
            Expression::Is { operand, test, negated } => self.is(operand, *test, *negated != opposite),
            Expression::Between { operand, low, high, negated } => {
                self.push("(");
                self.operand(operand)?;
                self.push(if *negated != opposite { " not between " } else { " between " });
                self.operand(low)?;
                self.push(" and ");
                self.expression(high)?;
                self.push(")");
                Some(())
            }
            Expression::InList { operand, list, negated } => {
                self.in_list(operand, list, *negated != opposite)
            }
            Expression::Like { negated, .. } | Expression::Regexp { negated, .. } => {
                if *negated == opposite {
                    return self.pattern(expression);
                }
                self.push("(not(");
                self.pattern(expression)?;
                self.push("))");
                Some(())
            }
            Expression::MemberOf { operand, array } => {
                self.operand(operand)?;
                self.push(" member of (");
                self.operand(array)?;
                self.push(")");
                Some(())
            }
            _ => None,
        }
    }

    fn is(&mut self, operand: &Expression, test: IsTest, negated: bool) -> Option<()> {
        self.push("(");
        if matches!(test, IsTest::Null | IsTest::Unknown) {
            self.expression(operand)?;
        } else {
            self.truth_value(operand)?;
        }
        self.push(if negated { " is not " } else { " is " });
        self.push(match test {
            IsTest::Null | IsTest::Unknown => "null)",
            IsTest::True => "true)",
            IsTest::False => "false)",
        });
        Some(())
    }

    /// A list of one is a comparison, of rows too, which are then not compared item by item.
    fn in_list(&mut self, operand: &Expression, list: &[Expression], negated: bool) -> Option<()> {
        if let [only] = list {
            let kind = if negated { BinaryOperator::NotEqual } else { BinaryOperator::Equal };
            return self.whole_comparison(kind, operand, only);
        }
        self.push("(");
        self.operand(operand)?;
        self.wrapped(if negated { " not in (" } else { " in (" }, list, "))")
    }

    /// LIKE and REGEXP without their NOT.
    fn pattern(&mut self, expression: &Expression) -> Option<()> {
        match expression {
            Expression::Like { operand, pattern, escape, .. } => {
                self.push("(");
                self.operand(operand)?;
                self.push(" like ");
                self.operand(pattern)?;
                if let Some(escape) = escape {
                    self.push(" escape ");
                    self.operand(escape)?;
                }
            }
            Expression::Regexp { operand, pattern, .. } => {
                self.push("regexp_like(");
                self.expression(operand)?;
                self.push(",");
                self.expression(pattern)?;
            }
            _ => return None,
        }
        self.push(")");
        Some(())
    }
}
