//! Operators: a precedence climb over MySQL's table of operators, from OR down to the operands.
//! The operands themselves are in `operand` and `call`.

pub(crate) mod aggregate;
pub(crate) mod call;
pub(crate) mod cast;
pub(crate) mod interval;
pub(crate) mod literal;
pub(crate) mod operand;
pub(crate) mod variable;
pub(crate) mod window;

use crate::parser::expression::interval::{at_interval, interval_unit};
use crate::parser::expression::operand::{opens_query, operand};
use crate::parser::query::query;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// An expression of any kind.
pub(crate) fn expression(parser: &mut Parser) -> SqlResult<Expression> {
    climb_from(parser, level::OR)
}

/// An expression without OR, AND, NOT and comparisons at its top (bit_expr in MySQL's grammar).
pub(crate) fn bit_expression(parser: &mut Parser) -> SqlResult<Expression> {
    climb_from(parser, level::BIT_OR)
}

pub(crate) fn expression_list(parser: &mut Parser) -> SqlResult<Vec<Expression>> {
    parser.list(expression)
}

/// Climbs, and leaves the greater of the earlier depth and the new expression's in `depth`.
fn climb_from(parser: &mut Parser, minimum: u8) -> SqlResult<Expression> {
    let before = std::mem::take(&mut parser.depth);
    let expression = parser.nested(|parser| climb(parser, minimum))?;
    parser.depth = parser.depth.max(before);
    Ok(expression)
}

fn climb(parser: &mut Parser, minimum: u8) -> SqlResult<Expression> {
    let mut left = if minimum <= level::NOT && parser.at_word(K::Not) && !parser.options.high_not_precedence {
        parser.advance();
        parser.depth = 0;
        let operand = Box::new(climb_from(parser, level::NOT)?);
        Expression::Unary { operator: UnaryOperator::Not, operand }
    } else {
        operand(parser)?
    };
    let mut maximum = u8::MAX;
    let mut depth = parser.depth + 1;
    while let Some((operator, level)) = operator(parser) {
        if level < minimum || level > maximum {
            break;
        }
        parser.depth = 0;
        left = combine(parser, left, operator, level)?;
        maximum = if level == level::PREDICATE { level - 1 } else { level };
        depth = depth.max(parser.depth) + u32::from(!is_flat_list(&left));
        parser.set_depth(depth)?;
    }
    parser.depth = depth;
    Ok(left)
}

/// The operator at the current token with its precedence.
#[inline]
fn operator(parser: &Parser) -> Option<(Operator, u8)> {
    use BinaryOperator as B;
    let binary = |operator, level| Some((Operator::Binary(operator), level));
    match parser.kind() {
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
        T::DoubleBar if parser.options.pipes_as_concat => Some((Operator::Concat, level::CONCAT)),
        T::DoubleBar => Some((Operator::Or, level::OR)),
        T::Word(word) => word_operator(parser, word),
        _ => None,
    }
}

fn word_operator(parser: &Parser, word: Keyword) -> Option<(Operator, u8)> {
    use BinaryOperator as B;
    Some(match word {
        K::And => (Operator::And, level::AND),
        K::Or => (Operator::Or, level::OR),
        K::Xor => (Operator::Binary(B::LogicalXor), level::XOR),
        K::Div => (Operator::Binary(B::IntegerDivide), level::MULTIPLY),
        K::Mod => (Operator::Binary(B::Modulo), level::MULTIPLY),
        K::Is => (Operator::Is, level::COMPARISON),
        K::In | K::Between | K::Like | K::Regexp | K::Rlike => (Operator::Predicate, level::PREDICATE),
        K::Not => match parser.kind_at(1) {
            T::Word(K::In | K::Between | K::Like | K::Regexp | K::Rlike) => {
                (Operator::Predicate, level::PREDICATE)
            }
            _ => return None,
        },
        K::Member if matches!(parser.kind_at(1), T::Word(K::Of) | T::OpenParenthesis) => {
            (Operator::Predicate, level::PREDICATE)
        }
        K::Sounds if parser.kind_at(1) == T::Word(K::Like) => (Operator::Predicate, level::PREDICATE),
        _ => return None,
    })
}

#[inline(never)]
fn combine(parser: &mut Parser, left: Expression, operator: Operator, level: u8) -> SqlResult<Expression> {
    match parser.kind() {
        T::DoubleAmpersand => parser.deprecate(Deprecation::Replaced("&&", "AND")),
        T::DoubleBar if !parser.options.pipes_as_concat => {
            parser.deprecate(Deprecation::Replaced("|| as a synonym for OR", "OR"));
        }
        _ => {}
    }
    match operator {
        Operator::Is => is_test(parser, left),
        Operator::Predicate => predicate(parser, left),
        Operator::Or => {
            parser.advance();
            let right = climb_from(parser, level + 1)?;
            Ok(match left {
                Expression::Or(terms) => Expression::Or(longer(terms, right)),
                left => Expression::Or(vec![left, right]),
            })
        }
        Operator::And => {
            parser.advance();
            let right = climb_from(parser, level + 1)?;
            Ok(match left {
                Expression::And(terms) => Expression::And(longer(terms, right)),
                left => Expression::And(vec![left, right]),
            })
        }
        Operator::Concat => {
            parser.advance();
            let right = climb_from(parser, level + 1)?;
            Ok(concat(left, right))
        }
        Operator::Binary(operator) => {
            parser.advance();
            binary(parser, left, operator, level)
        }
    }
}

#[inline(never)]
fn binary(
    parser: &mut Parser,
    left: Expression,
    operator: BinaryOperator,
    level: u8,
) -> SqlResult<Expression> {
    if operator.is_comparison()
        && let Some(quantifier) = quantifier(parser)
    {
        let query = Box::new(parser.parenthesised(query)?);
        return Ok(Expression::Quantified { operator, quantifier, operand: Box::new(left), query });
    }
    let is_sum = matches!(operator, BinaryOperator::Add | BinaryOperator::Subtract);
    if is_sum && at_interval(parser) {
        parser.advance();
        let amount = Box::new(expression(parser)?);
        let unit = interval_unit(parser)?;
        let subtract = operator == BinaryOperator::Subtract;
        return Ok(Expression::DateArithmetic { operand: Box::new(left), amount, unit, subtract });
    }
    let right = Box::new(climb_from(parser, level + 1)?);
    Ok(Expression::Binary { operator, left: Box::new(left), right })
}

/// ANY, SOME or ALL before a subquery.
fn quantifier(parser: &mut Parser) -> Option<Quantifier> {
    if parser.kind_at(1) != T::OpenParenthesis {
        return None;
    }
    match parser.accept_any(&[K::Any, K::Some, K::All])? {
        K::All => Some(Quantifier::All),
        _ => Some(Quantifier::Any),
    }
}

#[inline(never)]
fn is_test(parser: &mut Parser, left: Expression) -> SqlResult<Expression> {
    parser.advance();
    let negated = parser.accept(K::Not);
    let test = match parser.expect_any(&[K::Null, K::True, K::False, K::Unknown])? {
        K::Null => IsTest::Null,
        K::True => IsTest::True,
        K::False => IsTest::False,
        _ => IsTest::Unknown,
    };
    Ok(Expression::Is { operand: Box::new(left), test, negated })
}

/// At IN, BETWEEN and the like, with or without NOT.
#[inline(never)]
fn predicate(parser: &mut Parser, left: Expression) -> SqlResult<Expression> {
    let negated = parser.accept(K::Not);
    let operand = Box::new(left);
    match parser.expect_any(&[K::In, K::Between, K::Like, K::Regexp, K::Rlike, K::Member, K::Sounds])? {
        K::In => in_predicate(parser, operand, negated),
        K::Between => {
            let low = Box::new(bit_expression(parser)?);
            parser.expect(K::And)?;
            let high = Box::new(climb_from(parser, level::PREDICATE)?);
            Ok(Expression::Between { operand, low, high, negated })
        }
        K::Like => {
            let pattern = Box::new(simple_expression(parser)?);
            let escape =
                if parser.accept(K::Escape) { Some(Box::new(simple_expression(parser)?)) } else { None };
            Ok(Expression::Like { operand, pattern, escape, negated })
        }
        K::Member => {
            parser.accept(K::Of);
            let array = Box::new(parser.parenthesised(simple_expression)?);
            Ok(Expression::MemberOf { operand, array })
        }
        K::Sounds => {
            parser.expect(K::Like)?;
            let right = Box::new(bit_expression(parser)?);
            Ok(Expression::Binary { operator: BinaryOperator::SoundsLike, left: operand, right })
        }
        _ => {
            let pattern = Box::new(bit_expression(parser)?);
            Ok(Expression::Regexp { operand, pattern, negated })
        }
    }
}

#[inline(never)]
fn in_predicate(parser: &mut Parser, operand: Box<Expression>, negated: bool) -> SqlResult<Expression> {
    if parser.kind() == T::OpenParenthesis && opens_query(parser) {
        let query = Box::new(parser.parenthesised(query)?);
        return Ok(Expression::InSubquery { operand, query, negated });
    }
    let list = parser.parenthesised_list(expression)?;
    Ok(Expression::InList { operand, list, negated })
}

/// An operand with `||` of PIPES_AS_CONCAT between (simple_expr in MySQL's grammar).
pub(crate) fn simple_expression(parser: &mut Parser) -> SqlResult<Expression> {
    climb_from(parser, level::CONCAT)
}

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
