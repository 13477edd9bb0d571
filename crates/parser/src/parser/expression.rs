//! Operators: a precedence climb over MySQL's table of operators, from OR down to the operands.
//! The operands themselves are in `primary` and `call`.

use super::*;
use Keyword as K;
use TokenKind as T;

/// Precedence of operators, weakest first. The right side of a left-associative operator starts one above it.
mod level {
    pub const OR: u8 = 1;
    pub const XOR: u8 = 2;
    pub const AND: u8 = 3;
    pub const NOT: u8 = 4;
    /// `=` and its like, and IS.
    pub const COMPARISON: u8 = 5;
    /// IN, BETWEEN, LIKE, REGEXP, MEMBER OF, SOUNDS LIKE: not associative.
    pub const PREDICATE: u8 = 6;
    pub const BIT_OR: u8 = 7;
    pub const BIT_AND: u8 = 8;
    pub const SHIFT: u8 = 9;
    pub const ADD: u8 = 10;
    pub const MULTIPLY: u8 = 11;
    pub const BIT_XOR: u8 = 12;
    /// `||` in sql_mode PIPES_AS_CONCAT.
    pub const CONCAT: u8 = 13;
}

/// What stands between two operands.
enum Operator {
    Or,
    And,
    Concat,
    Is,
    Predicate,
    Binary(BinaryOperator),
}

impl Parser<'_> {
    /// An expression of any kind.
    pub(super) fn expression(&mut self) -> SqlResult<Expression> {
        self.climb_from(level::OR)
    }

    /// An expression without OR, AND, NOT and comparisons at its top (bit_expr in MySQL's grammar).
    pub(super) fn bit_expression(&mut self) -> SqlResult<Expression> {
        self.climb_from(level::BIT_OR)
    }

    pub(super) fn expression_list(&mut self) -> SqlResult<Vec<Expression>> {
        self.list(Self::expression)
    }

    /// Climbs, and leaves the greater of the earlier depth and the new expression's in `depth`.
    fn climb_from(&mut self, minimum: u8) -> SqlResult<Expression> {
        let before = std::mem::take(&mut self.depth);
        let expression = self.nested(|parser| parser.climb(minimum))?;
        self.depth = self.depth.max(before);
        Ok(expression)
    }

    fn climb(&mut self, minimum: u8) -> SqlResult<Expression> {
        let mut left = if minimum <= level::NOT && self.at_word(K::Not) && !self.options.high_not_precedence {
            self.advance();
            self.depth = 0;
            let operand = Box::new(self.climb_from(level::NOT)?);
            Expression::Unary { operator: UnaryOperator::Not, operand }
        } else {
            self.operand()?
        };
        let mut maximum = u8::MAX;
        let mut depth = self.depth + 1;
        while let Some((operator, level)) = self.operator() {
            if level < minimum || level > maximum {
                break;
            }
            self.depth = 0;
            left = self.combine(left, operator, level)?;
            maximum = if level == level::PREDICATE { level - 1 } else { level };
            depth = depth.max(self.depth) + u32::from(!is_flat_list(&left));
            self.set_depth(depth)?;
        }
        self.depth = depth;
        Ok(left)
    }

    /// The operator at the current token with its precedence.
    #[inline]
    fn operator(&self) -> Option<(Operator, u8)> {
        use BinaryOperator as B;
        let binary = |operator, level| Some((Operator::Binary(operator), level));
        match self.kind() {
            T::Equal => binary(B::Equal, level::COMPARISON),
            T::NullSafeEqual => binary(B::NullSafeEqual, level::COMPARISON),
            T::NotEqual => binary(B::NotEqual, level::COMPARISON),
            T::Less => binary(B::Less, level::COMPARISON),
            T::LessOrEqual => binary(B::LessOrEqual, level::COMPARISON),
            T::Greater => binary(B::Greater, level::COMPARISON),
            T::GreaterOrEqual => binary(B::GreaterOrEqual, level::COMPARISON),
            T::Plus => binary(B::Add, level::ADD),
            T::Minus => binary(B::Subtract, level::ADD),
            T::Star => binary(B::Multiply, level::MULTIPLY),
            T::Slash => binary(B::Divide, level::MULTIPLY),
            T::Percent => binary(B::Modulo, level::MULTIPLY),
            T::Caret => binary(B::BitXor, level::BIT_XOR),
            T::Ampersand => binary(B::BitAnd, level::BIT_AND),
            T::Bar => binary(B::BitOr, level::BIT_OR),
            T::ShiftLeft => binary(B::ShiftLeft, level::SHIFT),
            T::ShiftRight => binary(B::ShiftRight, level::SHIFT),
            T::DoubleAmpersand => Some((Operator::And, level::AND)),
            T::DoubleBar if self.options.pipes_as_concat => Some((Operator::Concat, level::CONCAT)),
            T::DoubleBar => Some((Operator::Or, level::OR)),
            T::Word(word) => self.word_operator(word),
            _ => None,
        }
    }

    fn word_operator(&self, word: Keyword) -> Option<(Operator, u8)> {
        use BinaryOperator as B;
        Some(match word {
            K::And => (Operator::And, level::AND),
            K::Or => (Operator::Or, level::OR),
            K::Xor => (Operator::Binary(B::LogicalXor), level::XOR),
            K::Div => (Operator::Binary(B::IntegerDivide), level::MULTIPLY),
            K::Mod => (Operator::Binary(B::Modulo), level::MULTIPLY),
            K::Is => (Operator::Is, level::COMPARISON),
            K::In | K::Between | K::Like | K::Regexp | K::Rlike => (Operator::Predicate, level::PREDICATE),
            K::Not => match self.kind_at(1) {
                T::Word(K::In | K::Between | K::Like | K::Regexp | K::Rlike) => {
                    (Operator::Predicate, level::PREDICATE)
                }
                _ => return None,
            },
            K::Member if matches!(self.kind_at(1), T::Word(K::Of) | T::OpenParenthesis) => {
                (Operator::Predicate, level::PREDICATE)
            }
            K::Sounds if self.kind_at(1) == T::Word(K::Like) => (Operator::Predicate, level::PREDICATE),
            _ => return None,
        })
    }

    #[inline(never)]
    fn combine(&mut self, left: Expression, operator: Operator, level: u8) -> SqlResult<Expression> {
        match self.kind() {
            T::DoubleAmpersand => self.deprecate(Deprecation::Replaced("&&", "AND")),
            T::DoubleBar if !self.options.pipes_as_concat => {
                self.deprecate(Deprecation::Replaced("|| as a synonym for OR", "OR"));
            }
            _ => {}
        }
        match operator {
            Operator::Is => self.is_test(left),
            Operator::Predicate => self.predicate(left),
            Operator::Or => {
                self.advance();
                let right = self.climb_from(level + 1)?;
                Ok(match left {
                    Expression::Or(terms) => Expression::Or(longer(terms, right)),
                    left => Expression::Or(vec![left, right]),
                })
            }
            Operator::And => {
                self.advance();
                let right = self.climb_from(level + 1)?;
                Ok(match left {
                    Expression::And(terms) => Expression::And(longer(terms, right)),
                    left => Expression::And(vec![left, right]),
                })
            }
            Operator::Concat => {
                self.advance();
                let right = self.climb_from(level + 1)?;
                Ok(concat(left, right))
            }
            Operator::Binary(operator) => {
                self.advance();
                self.binary(left, operator, level)
            }
        }
    }

    #[inline(never)]
    fn binary(&mut self, left: Expression, operator: BinaryOperator, level: u8) -> SqlResult<Expression> {
        if operator.is_comparison()
            && let Some(quantifier) = self.quantifier()
        {
            let query = Box::new(self.parenthesised(Self::query)?);
            return Ok(Expression::Quantified { operator, quantifier, operand: Box::new(left), query });
        }
        let is_sum = matches!(operator, BinaryOperator::Add | BinaryOperator::Subtract);
        if is_sum && self.at_interval() {
            self.advance();
            let amount = Box::new(self.expression()?);
            let unit = self.interval_unit()?;
            let subtract = operator == BinaryOperator::Subtract;
            return Ok(Expression::DateArithmetic { operand: Box::new(left), amount, unit, subtract });
        }
        let right = Box::new(self.climb_from(level + 1)?);
        Ok(Expression::Binary { operator, left: Box::new(left), right })
    }

    /// ANY, SOME or ALL before a subquery.
    fn quantifier(&mut self) -> Option<Quantifier> {
        if self.kind_at(1) != T::OpenParenthesis {
            return None;
        }
        match self.accept_any(&[K::Any, K::Some, K::All])? {
            K::All => Some(Quantifier::All),
            _ => Some(Quantifier::Any),
        }
    }

    #[inline(never)]
    fn is_test(&mut self, left: Expression) -> SqlResult<Expression> {
        self.advance();
        let negated = self.accept(K::Not);
        let test = match self.expect_any(&[K::Null, K::True, K::False, K::Unknown])? {
            K::Null => IsTest::Null,
            K::True => IsTest::True,
            K::False => IsTest::False,
            _ => IsTest::Unknown,
        };
        Ok(Expression::Is { operand: Box::new(left), test, negated })
    }

    /// At IN, BETWEEN and the like, with or without NOT.
    #[inline(never)]
    fn predicate(&mut self, left: Expression) -> SqlResult<Expression> {
        let negated = self.accept(K::Not);
        let operand = Box::new(left);
        match self.expect_any(&[K::In, K::Between, K::Like, K::Regexp, K::Rlike, K::Member, K::Sounds])? {
            K::In => self.in_predicate(operand, negated),
            K::Between => {
                let low = Box::new(self.bit_expression()?);
                self.expect(K::And)?;
                let high = Box::new(self.climb_from(level::PREDICATE)?);
                Ok(Expression::Between { operand, low, high, negated })
            }
            K::Like => {
                let pattern = Box::new(self.simple_expression()?);
                let escape =
                    if self.accept(K::Escape) { Some(Box::new(self.simple_expression()?)) } else { None };
                Ok(Expression::Like { operand, pattern, escape, negated })
            }
            K::Member => {
                self.accept(K::Of);
                let array = Box::new(self.parenthesised(Self::simple_expression)?);
                Ok(Expression::MemberOf { operand, array })
            }
            K::Sounds => {
                self.expect(K::Like)?;
                let right = Box::new(self.bit_expression()?);
                Ok(Expression::Binary { operator: BinaryOperator::SoundsLike, left: operand, right })
            }
            _ => {
                let pattern = Box::new(self.bit_expression()?);
                Ok(Expression::Regexp { operand, pattern, negated })
            }
        }
    }

    #[inline(never)]
    fn in_predicate(&mut self, operand: Box<Expression>, negated: bool) -> SqlResult<Expression> {
        if self.kind() == T::OpenParenthesis && self.opens_query() {
            let query = Box::new(self.parenthesised(Self::query)?);
            return Ok(Expression::InSubquery { operand, query, negated });
        }
        let list = self.parenthesised_list(Self::expression)?;
        Ok(Expression::InList { operand, list, negated })
    }

    /// An operand with `||` of PIPES_AS_CONCAT between (simple_expr in MySQL's grammar).
    pub(super) fn simple_expression(&mut self) -> SqlResult<Expression> {
        self.climb_from(level::CONCAT)
    }

    /// Whether INTERVAL starts an amount with a unit and not the function INTERVAL(a, b, ..).
    pub(super) fn at_interval(&mut self) -> bool {
        if !self.at_word(K::Interval) {
            return false;
        }
        if self.kind_at(1) != T::OpenParenthesis {
            return true;
        }
        // INTERVAL (a) DAY is an amount in parentheses; INTERVAL (a, b) is the function.
        let close = self.closing_parenthesis(self.at + 1);
        !self.has_comma_at_top(self.at + 1, close)
    }

    fn has_comma_at_top(&mut self, open: usize, close: usize) -> bool {
        let mut at = open + 1;
        while at < close {
            match self.tokens[at].kind {
                T::Comma => return true,
                T::OpenParenthesis => at = self.closing_parenthesis(at),
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// The unit behind the amount of an INTERVAL.
    pub(super) fn interval_unit(&mut self) -> SqlResult<IntervalUnit> {
        use IntervalUnit as U;
        let T::Word(word) = self.kind() else { return self.fail() };
        let unit = match word {
            K::Microsecond => U::Microsecond,
            K::Second | K::SqlTsiSecond => U::Second,
            K::Minute | K::SqlTsiMinute => U::Minute,
            K::Hour | K::SqlTsiHour => U::Hour,
            K::Day | K::SqlTsiDay => U::Day,
            K::Week | K::SqlTsiWeek => U::Week,
            K::Month | K::SqlTsiMonth => U::Month,
            K::Quarter | K::SqlTsiQuarter => U::Quarter,
            K::Year | K::SqlTsiYear => U::Year,
            K::SecondMicrosecond => U::SecondMicrosecond,
            K::MinuteMicrosecond => U::MinuteMicrosecond,
            K::MinuteSecond => U::MinuteSecond,
            K::HourMicrosecond => U::HourMicrosecond,
            K::HourSecond => U::HourSecond,
            K::HourMinute => U::HourMinute,
            K::DayMicrosecond => U::DayMicrosecond,
            K::DaySecond => U::DaySecond,
            K::DayMinute => U::DayMinute,
            K::DayHour => U::DayHour,
            K::YearMonth => U::YearMonth,
            _ => return self.fail(),
        };
        self.advance();
        Ok(unit)
    }
}

/// Whether one more term makes the expression longer, not deeper.
fn is_flat_list(expression: &Expression) -> bool {
    matches!(expression, Expression::And(terms) | Expression::Or(terms) if terms.len() > 2)
        || matches!(expression, Expression::Function(call) if call.arguments.len() > 2)
}

fn longer(mut terms: Vec<Expression>, term: Expression) -> Vec<Expression> {
    terms.push(term);
    terms
}

/// `a || b || c` is one call of CONCAT.
fn concat(left: Expression, right: Expression) -> Expression {
    match left {
        Expression::Function(mut call) if call.schema.is_none() && call.name == "concat" && !call.spaced => {
            call.arguments.push(right);
            Expression::Function(call)
        }
        left => Expression::call("concat", vec![left, right]),
    }
}
