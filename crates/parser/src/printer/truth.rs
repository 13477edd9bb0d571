//! Truth values: NOT, which MySQL moves to the leaves, AND, OR, XOR and comparisons. What is no truth value is compared with 0
//! where one is wanted.

use super::{Printer, names, plain};
use crate::ast::*;

impl Printer<'_> {
    /// An operand of AND, OR, XOR or IS TRUE.
    pub(super) fn truth_value(&mut self, operand: &Expression) -> Option<()> {
        if is_truth_value(operand) {
            return self.expression(operand);
        }
        self.compared_with_zero("(0 <> ", operand)
    }

    /// NOT of an operand, itself a truth value.
    pub(super) fn negation(&mut self, operand: &Expression) -> Option<()> {
        let operand = plain(operand);
        match operand {
            Expression::Unary { operator: UnaryOperator::Not, operand } => self.truth_value(operand),
            Expression::And(_) => self.conjunction(operand, true),
            Expression::Or(_) => self.disjunction(operand, true),
            Expression::Binary { operator, left, right } => {
                self.negated_binary(operand, *operator, left, right)
            }
            Expression::Is { .. }
            | Expression::Between { .. }
            | Expression::InList { .. }
            | Expression::Like { .. }
            | Expression::Regexp { .. } => self.predicate(operand, true),
            Expression::Function(call) if is_null_test(call) => {
                self.wrapped("(", &call.arguments, " is not null)")
            }
            _ => self.negated_leaf(operand),
        }
    }

    fn negated_binary(
        &mut self,
        whole: &Expression,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> Option<()> {
        match (operator, opposite(operator)) {
            (BinaryOperator::LogicalXor, _) => self.exclusive_or(left, right, true),
            (BinaryOperator::SoundsLike, _) => self.sounds_like(" <> ", left, right),
            (_, Some(opposite)) => self.comparison(opposite, left, right),
            (BinaryOperator::NullSafeEqual, _) => self.not_null_safe_equal(whole, left, right),
            (_, None) => self.negated_leaf(whole),
        }
    }

    /// `<=>` has no opposite, but rows are compared item by item.
    fn not_null_safe_equal(
        &mut self,
        whole: &Expression,
        left: &Expression,
        right: &Expression,
    ) -> Option<()> {
        let Some((lefts, rights)) = rows(left, right) else { return self.negated_leaf(whole) };
        self.push("(");
        for (at, (left, right)) in lefts.iter().zip(rights).enumerate() {
            self.push(if at > 0 { " or " } else { "" });
            if rows(left, right).is_some() {
                self.not_null_safe_equal(whole, left, right)?;
                continue;
            }
            self.push("(not(");
            self.whole_comparison(BinaryOperator::NullSafeEqual, left, right)?;
            self.push("))");
        }
        self.push(")");
        Some(())
    }

    /// NOT of what has no opposite.
    fn negated_leaf(&mut self, operand: &Expression) -> Option<()> {
        if !is_truth_value(operand) {
            return self.compared_with_zero("(0 = ", operand);
        }
        if matches!(plain(operand), Expression::Exists(_)) {
            return self.wrapped("(not ", std::slice::from_ref(operand), ")");
        }
        match plain(operand) {
            Expression::InSubquery { operand, query, negated } => {
                return self.in_subquery(operand, query, !negated);
            }
            Expression::Quantified { operator, quantifier, operand, query } => {
                let quantifier = match quantifier {
                    Quantifier::All => Quantifier::Any,
                    Quantifier::Any => Quantifier::All,
                };
                if let Some(opposite) = opposite(*operator) {
                    return self.quantified(opposite, quantifier, operand, query);
                }
            }
            _ => {}
        }
        self.wrapped("(not(", std::slice::from_ref(operand), "))")
    }

    fn compared_with_zero(&mut self, open: &str, operand: &Expression) -> Option<()> {
        self.wrapped(open, std::slice::from_ref(operand), ")")
    }

    /// AND of the terms of `whole`, or what NOT makes of it.
    pub(super) fn conjunction(&mut self, whole: &Expression, negated: bool) -> Option<()> {
        let mut terms = Vec::new();
        each_conjunct(whole, &mut terms);
        self.terms(&terms, if negated { " or " } else { " and " }, negated)
    }

    /// OR of the terms of `whole`, or what NOT makes of it.
    pub(super) fn disjunction(&mut self, whole: &Expression, negated: bool) -> Option<()> {
        let mut terms = Vec::new();
        each_disjunct(whole, &mut terms);
        self.terms(&terms, if negated { " and " } else { " or " }, negated)
    }

    fn terms(&mut self, terms: &[&Expression], between: &str, negated: bool) -> Option<()> {
        self.push("(");
        for (at, term) in terms.iter().enumerate() {
            if at > 0 {
                self.push(between);
            }
            if negated { self.negation(term)? } else { self.truth_value(term)? }
        }
        self.push(")");
        Some(())
    }

    /// NOT goes to the left operand, or to the right one if only that has an opposite.
    pub(super) fn exclusive_or(
        &mut self,
        left: &Expression,
        right: &Expression,
        negated: bool,
    ) -> Option<()> {
        let goes_right = negated && !has_opposite(left) && has_opposite(right);
        self.push("(");
        if negated && !goes_right {
            self.negation(left)?
        } else {
            self.truth_value(left)?
        }
        self.push(" xor ");
        if goes_right {
            self.negation(right)?
        } else {
            self.truth_value(right)?
        }
        self.push(")");
        Some(())
    }

    pub(super) fn sounds_like(&mut self, between: &str, left: &Expression, right: &Expression) -> Option<()> {
        self.wrapped("(soundex(", std::slice::from_ref(left), ")")?;
        self.push(between);
        self.wrapped("soundex(", std::slice::from_ref(right), "))")
    }

    /// A comparison; rows are compared for equality item by item.
    pub(super) fn comparison(
        &mut self,
        kind: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> Option<()> {
        let between = match kind {
            BinaryOperator::Equal | BinaryOperator::NullSafeEqual => " and ",
            BinaryOperator::NotEqual => " or ",
            _ => return self.whole_comparison(kind, left, right),
        };
        let Some((lefts, rights)) = rows(left, right) else {
            return self.whole_comparison(kind, left, right);
        };
        self.push("(");
        for (at, (left, right)) in lefts.iter().zip(rights).enumerate() {
            self.push(if at > 0 { between } else { "" });
            self.comparison(kind, left, right)?;
        }
        self.push(")");
        Some(())
    }

    /// A comparison of two values, or of two rows as they are.
    pub(super) fn whole_comparison(
        &mut self,
        kind: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> Option<()> {
        self.push("(");
        self.expression(left)?;
        self.push(names::operator(kind));
        self.expression(right)?;
        self.push(")");
        Some(())
    }
}

/// The items of two rows of one length.
fn rows<'a>(left: &'a Expression, right: &'a Expression) -> Option<(&'a [Expression], &'a [Expression])> {
    match (plain(left), plain(right)) {
        (Expression::Row(lefts), Expression::Row(rights)) if lefts.len() == rights.len() => {
            Some((lefts, rights))
        }
        _ => None,
    }
}

/// AND in AND is one list: the parser makes one only of what stands without parentheses.
fn each_conjunct<'a>(expression: &'a Expression, terms: &mut Vec<&'a Expression>) {
    match plain(expression) {
        Expression::And(parts) => parts.iter().for_each(|part| each_conjunct(part, terms)),
        _ => terms.push(expression),
    }
}

fn each_disjunct<'a>(expression: &'a Expression, terms: &mut Vec<&'a Expression>) {
    match plain(expression) {
        Expression::Or(parts) => parts.iter().for_each(|part| each_disjunct(part, terms)),
        _ => terms.push(expression),
    }
}

/// The comparison that is true where the other is false.
fn opposite(operator: BinaryOperator) -> Option<BinaryOperator> {
    use BinaryOperator as B;
    Some(match operator {
        B::Equal => B::NotEqual,
        B::NotEqual => B::Equal,
        B::Less => B::GreaterOrEqual,
        B::LessOrEqual => B::Greater,
        B::Greater => B::LessOrEqual,
        B::GreaterOrEqual => B::Less,
        _ => return None,
    })
}

/// The expression that is printed for NOT NOT of a truth value: that value.
pub(super) fn without_double_not(expression: &Expression) -> &Expression {
    let mut shown = plain(expression);
    while let Expression::Unary { operator: UnaryOperator::Not, operand } = shown
        && let Expression::Unary { operator: UnaryOperator::Not, operand } = plain(operand)
        && is_truth_value(operand)
    {
        shown = plain(operand);
    }
    shown
}

/// Whether NOT of the expression is something else than NOT around it.
fn has_opposite(expression: &Expression) -> bool {
    let expression = without_double_not(expression);
    match expression {
        Expression::Like { negated, .. } | Expression::Regexp { negated, .. } => *negated,
        Expression::Binary { operator: BinaryOperator::NullSafeEqual, left, right } => {
            rows(left, right).is_some()
        }
        Expression::MemberOf { .. } | Expression::Literal(Literal::True | Literal::False) => false,
        Expression::Function(call) => is_null_test(call) || !is_truth_value(expression),
        _ => true,
    }
}

/// Whether the expression gives a truth value, so that AND and OR take it as it is.
pub(super) fn is_truth_value(expression: &Expression) -> bool {
    match plain(expression) {
        Expression::Binary { operator, .. } => {
            operator.is_comparison()
                || matches!(operator, BinaryOperator::LogicalXor | BinaryOperator::SoundsLike)
        }
        Expression::Unary { operator: UnaryOperator::Not, .. }
        | Expression::And(_)
        | Expression::Or(_)
        | Expression::Is { .. }
        | Expression::Between { .. }
        | Expression::InList { .. }
        | Expression::Like { .. }
        | Expression::Regexp { .. }
        | Expression::MemberOf { .. }
        | Expression::Exists(_)
        | Expression::InSubquery { .. }
        | Expression::Quantified { .. }
        | Expression::Literal(Literal::True | Literal::False) => true,
        Expression::Function(call) => call.schema.is_none() && names::gives_truth_value(&call.name),
        _ => false,
    }
}

/// ISNULL(a).
fn is_null_test(call: &FunctionCall) -> bool {
    call.schema.is_none() && call.arguments.len() == 1 && call.name.eq_ignore_ascii_case("isnull")
}
