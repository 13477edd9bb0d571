//! Expressions: one arm a syntax node, each calling the constructor that derives its type.

use super::prepared_constant::{check_prepared, note_listed};
use super::{Binder, Wanted, aggregate, function, literal, settled_parameter, subquery};
use ::expression::operators::{
    ArithmeticOperator, BitOperator, CastFailure, Comparison, ComparisonOperator, adapt_equal_year,
    decided_by_range, number_not_held,
};
use ::expression::{
    Coercibility, Expression, ExpressionKind, ResultType, SqlMode, TypeClass, VariableScope, build::scalar,
};
use declared::{decimal_target, operand_name, temporal_target};
use errors::{SqlResult, sql_error};
use parser::ast;
use std::sync::Arc;
use values::{ColumnType, RowRef, TypeKind, Value};

/// The comparison of an operator sign.
pub(crate) fn comparison(operator: ast::BinaryOperator) -> Option<ComparisonOperator> {
    Some(match operator {
        ast::BinaryOperator::Equal => ComparisonOperator::Equal,
        ast::BinaryOperator::NullSafeEqual => ComparisonOperator::NullSafeEqual,
        ast::BinaryOperator::NotEqual => ComparisonOperator::NotEqual,
        ast::BinaryOperator::Less => ComparisonOperator::Less,
        ast::BinaryOperator::LessOrEqual => ComparisonOperator::LessOrEqual,
        ast::BinaryOperator::Greater => ComparisonOperator::Greater,
        ast::BinaryOperator::GreaterOrEqual => ComparisonOperator::GreaterOrEqual,
        _ => return None,
    })
}

/// A parameter that is text is read as bytes where a number is wanted.
fn read_as_bytes(constant: &mut Expression) {
    if matches!(constant.kind, ExpressionKind::Parameter(_)) && constant.result.class() == TypeClass::Text {
        let bytes = ResultType::binary(constant.result.byte_length()).nullable();
        let parameter = std::mem::replace(constant, Expression::null());
        *constant = Expression::retyped(parameter, bytes);
    }
}

impl Binder<'_> {
    /// Binds an expression and folds what is constant.
    pub fn expression(&mut self, syntax: &ast::Expression) -> SqlResult<Expression> {
        let Some(mut texts) = self.operand_texts.take() else {
            let bound = self.bind(syntax)?;
            return Ok(self.fold(bound));
        };
        let bound = self.bind(syntax)?;
        let is_computed = bound.literal().is_none() && bound.is_foldable();
        texts.push(is_computed.then(|| bound.to_string().into()));
        self.operand_texts = Some(texts);
        Ok(self.fold(bound))
    }

    /// Binds an expression that must be a single value.
    pub fn scalar(&mut self, syntax: &ast::Expression) -> SqlResult<Expression> {
        let bound = self.expression(syntax)?;
        scalar(&bound)?;
        Ok(bound)
    }

    /// Binds several expressions.
    pub fn expressions(&mut self, all: &[ast::Expression]) -> SqlResult<Vec<Expression>> {
        all.iter().map(|syntax| self.expression(syntax)).collect()
    }

    fn bind(&mut self, syntax: &ast::Expression) -> SqlResult<Expression> {
        self.count_bound()?;
        let facts = self.facts;
        let wanted = self.parameters.wanted.take();
        match syntax {
            ast::Expression::Literal(literal) => literal::literal(literal, facts, self.input.context),
            ast::Expression::Column(reference) => self.column(reference),
            ast::Expression::Parameter(index) => Ok(self.parameter(*index as usize, wanted)),
            ast::Expression::UserVariable(name) => Ok(self.user_variable(name)),
            ast::Expression::AssignVariable { name, value } => self.assignment(name, value),
            ast::Expression::SystemVariable(variable) => self.system_variable(variable),
            ast::Expression::Unary { operator, operand } => self.unary(*operator, operand, wanted),
            ast::Expression::Binary { operator, left, right } => self.binary(*operator, left, right, wanted),
            ast::Expression::And(terms) => Ok(Expression::and(self.conditions(terms)?)),
            ast::Expression::Or(terms) => Ok(Expression::or(self.conditions(terms)?)),
            ast::Expression::Is { .. }
            | ast::Expression::Between { .. }
            | ast::Expression::InList { .. }
            | ast::Expression::Like { .. }
            | ast::Expression::Regexp { .. } => self.predicate(syntax),
            ast::Expression::Row(members) => {
                let members = self.expressions(members)?;
                Ok(Expression { kind: ExpressionKind::Row(members), result: ResultType::boolean() })
            }
            ast::Expression::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), wanted)
            }
            ast::Expression::Cast(cast) => self.cast(cast),
            ast::Expression::ConvertUsing { operand, charset } => {
                let collation = literal::character_set(charset)?;
                let text = ResultType::text(1, collation, Coercibility::Implicit).column_type;
                let operand = self.scalar_as(operand, Wanted::any_for(&text))?;
                let length = match collation {
                    charset::CollationId::BINARY => operand.result.byte_length(),
                    _ => operand.result.text_length(),
                };
                let nullable = operand.result.nullable || facts.sql_mode.is_strict();
                let result =
                    ResultType::text(length, collation, Coercibility::Implicit).nullable_if(nullable);
                Ok(Expression::convert_using(operand, result))
            }
            ast::Expression::Collate { operand, collation } => {
                let operand = self.text_operand(operand)?;
                Expression::collate(operand, literal::collation(collation)?, facts)
            }
            ast::Expression::DateArithmetic { operand, amount, unit, subtract } => {
                self.date_arithmetic(operand, amount, *unit, *subtract)
            }
            ast::Expression::TimestampAdd { unit, amount, operand } => {
                self.date_arithmetic(operand, amount, *unit, false)
            }
            ast::Expression::Odbc { operand, .. } => {
                self.parameters.wanted = wanted;
                self.bind(operand)
            }
            ast::Expression::InSubquery { .. }
            | ast::Expression::Quantified { .. }
            | ast::Expression::Exists(_)
            | ast::Expression::Subquery(_) => subquery::subquery_expression(self, syntax),
            ast::Expression::Aggregate(call) => aggregate::aggregate(self, call),
            ast::Expression::Grouping(arguments) => aggregate::grouping(self, arguments),
            ast::Expression::Values(reference) => function::inserted_value(self, reference),
            ast::Expression::Default(reference) => function::default_of(self, reference.as_ref()),
            ast::Expression::Function(call) => function::function(self, call, wanted),
            other => function::special_call(self, other),
        }
    }

    fn date_arithmetic(
        &mut self,
        operand: &ast::Expression,
        amount: &ast::Expression,
        unit: ast::IntervalUnit,
        subtract: bool,
    ) -> SqlResult<Expression> {
        let (date, count) = Wanted::interval(unit, self.facts.connection);
        let (operand, amount) = (self.scalar_as(operand, date)?, self.scalar_as(amount, count)?);
        Expression::date_arithmetic(operand, amount, unit, subtract, self.facts)
    }

    /// IS, BETWEEN, IN with a list, LIKE and REGEXP.
    fn predicate(&mut self, syntax: &ast::Expression) -> SqlResult<Expression> {
        let facts = self.facts;
        match syntax {
            ast::Expression::Is { operand, test, negated } => {
                let operand = match test {
                    ast::IsTest::Null | ast::IsTest::Unknown => self.expression(operand)?,
                    ast::IsTest::True | ast::IsTest::False => self.operand_as(operand, Wanted::integer())?,
                };
                if matches!(test, ast::IsTest::True | ast::IsTest::False) {
                    self.warn_of_truth(&operand);
                }
                match test {
                    ast::IsTest::Null | ast::IsTest::Unknown => Expression::is_null(operand, *negated),
                    ast::IsTest::True => Expression::is_truth(operand, true, *negated),
                    ast::IsTest::False => Expression::is_truth(operand, false, *negated),
                }
            }
            ast::Expression::Between { operand, low, high, negated } => {
                let bound = self.beside(&[operand, low, high], None, Self::wanted_text)?;
                let [operand, low, high] = <[Expression; 3]>::try_from(bound)
                    .map_err(|_| sql_error!(ER_INTERNAL_ERROR, "operands of BETWEEN"))?;
                self.warn_of_comparison([&operand, &low, &high], "in the BETWEEN operator");
                let bound = Expression::between(operand, low, high, *negated, facts)?;
                check_prepared(self, &bound)?;
                Ok(bound)
            }
            ast::Expression::InList { operand, list, negated } => {
                let all: Vec<&ast::Expression> = std::iter::once(&**operand).chain(list).collect();
                let mut list = self.beside(&all, None, Self::wanted_text)?;
                let operand = list.remove(0);
                if let (ExpressionKind::Row(members), [_, _, ..]) = (&operand.kind, &list[..]) {
                    let listed = list.iter().flat_map(|member| match &member.kind {
                        ExpressionKind::Row(members) => &members[..],
                        _ => &[],
                    });
                    self.warn_of_comparison(members.iter().chain(listed), "within a ROW in the IN operator");
                }
                let bound = Expression::in_list(operand, list, *negated, facts)?;
                note_listed(self, &bound);
                check_prepared(self, &bound)?;
                Ok(bound)
            }
            ast::Expression::Like { operand, pattern, escape, negated } => {
                self.like(operand, pattern, escape.as_deref(), *negated)
            }
            ast::Expression::Regexp { operand, pattern, negated } => {
                let (operand, pattern) = (self.text_operand(operand)?, self.text_operand(pattern)?);
                Expression::regexp(operand, pattern, *negated, facts)
            }
            _ => Err(sql_error!(ER_NOT_SUPPORTED_YET, "this expression")),
        }
    }

    fn conditions(&mut self, terms: &[ast::Expression]) -> SqlResult<Vec<Expression>> {
        terms.iter().map(|term| self.truth_of(term)).collect()
    }

    fn user_variable(&mut self, name: &str) -> Expression {
        self.nature.volatile = true;
        self.nature.reads_elsewhere = true;
        self.nature.repeats = true;
        let name = name.to_lowercase();
        let result = match self.input.context.session().user_variable(&name) {
            Some(found) => ResultType::user_variable(found.column_type),
            None => ResultType::binary(UNSET_VARIABLE_BYTES),
        };
        let result = ResultType { coercibility: Coercibility::Implicit, ..result };
        Expression { kind: ExpressionKind::UserVariable(name.into()), result: result.nullable() }
    }

    fn assignment(&mut self, name: &str, value: &ast::Expression) -> SqlResult<Expression> {
        let value = self.scalar(value)?;
        self.nature.volatile = true;
        self.nature.reads_elsewhere = true;
        self.nature.repeats = true;
        self.nature.assigns = true;
        let result = match value.result.class() {
            TypeClass::Integer => {
                let mut result = ResultType::integer(value.result.text_length());
                result.column_type.unsigned = value.result.column_type.is_unsigned_integer();
                result
            }
            TypeClass::Double => ResultType::scaled_double(value.result.scale()),
            TypeClass::DateTime | TypeClass::Time => {
                let length = value.result.text_length();
                ResultType::text(length, self.facts.connection, Coercibility::Implicit)
            }
            TypeClass::Text if value.result.kind().has_members() => value.result.members_as_text(),
            _ => ResultType { coercibility: Coercibility::Implicit, ..value.result.clone() },
        };
        let result = result.nullable_if(value.result.nullable);
        let name: Arc<str> = name.to_lowercase().into();
        Ok(Expression { kind: ExpressionKind::AssignUserVariable(name, Box::new(value)), result })
    }

    fn system_variable(&mut self, variable: &ast::SystemVariable) -> SqlResult<Expression> {
        self.nature.volatile = true;
        self.nature.reads_elsewhere = true;
        let scope = match variable.scope {
            None => VariableScope::Default,
            Some(ast::VariableScope::Session) => VariableScope::Session,
            Some(ast::VariableScope::Global) => VariableScope::Global,
            Some(_) => VariableScope::Persist,
        };
        let name = match &variable.qualifier {
            Some(qualifier) => format!("{qualifier}.{}", variable.name).to_lowercase(),
            None => variable.name.to_lowercase(),
        };
        let found = self.input.context.session().system_variable(scope, &name)?;
        let mut result = ResultType::column(found.column_type, true);
        result.coercibility = Coercibility::SystemConstant;
        if result.kind() == TypeKind::BigInt && result.column_type.length.is_none() {
            result.column_type.length = Some(VARIABLE_INTEGER_LENGTH);
        } else if result.kind() == TypeKind::Double && result.column_type.decimals.is_some() {
            result = ResultType {
                column_type: ResultType::double_of(VARIABLE_DOUBLE_LENGTH, result.scale()).column_type,
                ..result
            };
        }
        Ok(Expression { kind: ExpressionKind::SystemVariable(scope, name.into()), result })
    }

    fn unary(
        &mut self,
        operator: ast::UnaryOperator,
        operand: &ast::Expression,
        wanted: Option<Wanted>,
    ) -> SqlResult<Expression> {
        let wanted = match operator {
            ast::UnaryOperator::Minus => wanted.unwrap_or_else(Wanted::double),
            ast::UnaryOperator::Plus => wanted.unwrap_or_else(|| self.wanted_text()),
            ast::UnaryOperator::BitNot => Wanted::bytes(),
            ast::UnaryOperator::Not => Wanted::integer(),
            ast::UnaryOperator::Binary => Wanted::any_for(&ColumnType::new(TypeKind::VarBinary)),
        };
        let operand = self.operand_as(operand, wanted)?;
        match operator {
            ast::UnaryOperator::Minus => {
                // Whether an integer's negative is one is known of a constant before.
                if operand.result.class() == TypeClass::Integer {
                    function::report_constant(self, &operand);
                }
                let operand = self.exact_beyond_signed(operand);
                Expression::negate(operand)
            }
            ast::UnaryOperator::Plus => Ok(operand),
            ast::UnaryOperator::BitNot => Expression::bit(BitOperator::Invert, operand, None),
            ast::UnaryOperator::Not => {
                scalar(&operand)?;
                self.warn_of_truth(&operand);
                Ok(Expression::not(operand))
            }
            ast::UnaryOperator::Binary => {
                let nullable = operand.result.nullable || self.facts.sql_mode.is_strict();
                let mut target = ResultType::binary(operand.result.byte_length()).nullable_if(nullable);
                target.coercibility = Coercibility::Implicit;
                Ok(Expression::convert_using(operand, target))
            }
        }
    }

    /// A constant that is beyond all signed integers as an exact number: its negative is one.
    fn exact_beyond_signed(&mut self, operand: Expression) -> Expression {
        let may = operand.result.class() == TypeClass::Integer && operand.literal().is_none();
        if !may || !self.input.runs || !operand.is_foldable() {
            return operand;
        }
        let before = self.input.context.diagnostics().reported();
        let value = operand.evaluate(RowRef::EMPTY, self.input.context);
        self.input.context.diagnostics().go_back(before);
        match value {
            Ok(Value::UInt(number)) if number > 1 << 63 => {
                let exact = ResultType::decimal(20, 0).nullable_if(operand.result.nullable);
                Expression::convert_character_set(operand, exact)
            }
            _ => operand,
        }
    }

    fn binary(
        &mut self,
        operator: ast::BinaryOperator,
        left: &ast::Expression,
        right: &ast::Expression,
        wanted: Option<Wanted>,
    ) -> SqlResult<Expression> {
        use ast::BinaryOperator as Operator;
        let facts = self.facts;
        if let Some(operator) = comparison(operator) {
            let (mut left, mut right) = self.two_beside(left, right, None, Self::wanted_text)?;
            if operator == ComparisonOperator::Equal
                && self.derives_parameters()
                && self.block().clause.is_condition()
            {
                adapt_equal_year(&left, &mut right);
                adapt_equal_year(&right, &mut left);
            }
            let report =
                number_not_held(&left, &right, facts).or_else(|| number_not_held(&right, &left, facts));
            if let Some(report) = report.filter(|_| self.input.runs && !facts.escalates) {
                self.input.context.diagnostics().warning(report);
                self.nature.volatile = true;
            }
            let bound = Expression::compare(operator, left, right, facts)?;
            check_prepared(self, &bound)?;
            return Ok(self.compared_once(bound));
        }
        // Where parameters get their types from what stands beside them, operands are not bound in their order.
        self.operand_texts = (!self.derives_parameters()).then(|| Vec::with_capacity(2));
        let bound = self.operands(operator, left, right, wanted);
        let texts = self.operand_texts.take();
        let (left, right) = bound?;
        let arithmetic = match operator {
            Operator::Add => Some(ArithmeticOperator::Add),
            Operator::Subtract => Some(ArithmeticOperator::Subtract),
            Operator::Multiply => Some(ArithmeticOperator::Multiply),
            Operator::Divide => Some(ArithmeticOperator::Divide),
            Operator::IntegerDivide => Some(ArithmeticOperator::IntegerDivide),
            Operator::Modulo => Some(ArithmeticOperator::Modulo),
            _ => None,
        };
        if let Some(operator) = arithmetic {
            let bound = Expression::arithmetic(operator, left, right, facts)?;
            return Ok(match texts.map(<[Option<Arc<str>>; 2]>::try_from) {
                Some(Ok(texts)) => bound.showing(texts),
                _ => bound,
            });
        }
        match operator {
            Operator::BitOr => Expression::bit(BitOperator::Or, left, Some(right)),
            Operator::BitAnd => Expression::bit(BitOperator::And, left, Some(right)),
            Operator::BitXor => Expression::bit(BitOperator::Xor, left, Some(right)),
            Operator::ShiftLeft => Expression::bit(BitOperator::ShiftLeft, left, Some(right)),
            Operator::ShiftRight => Expression::bit(BitOperator::ShiftRight, left, Some(right)),
            Operator::LogicalXor => {
                self.warn_of_truth(&left);
                self.warn_of_truth(&right);
                Ok(Expression::xor(left, right))
            }
            Operator::SoundsLike => {
                let left = function::call(self, "soundex", vec![left])?;
                let right = function::call(self, "soundex", vec![right])?;
                Expression::compare(ComparisonOperator::Equal, left, right, facts)
            }
            _ => Err(sql_error!(ER_NOT_SUPPORTED_YET, "this operator")),
        }
    }

    /// A parameter that a condition compares with an integer column is looked at while MySQL optimises: once, or twice for
    /// what is to be equal. A value that decides the condition for all rows, or the one that a BIGINT must have, is not
    /// looked at again. What it warns of makes the plan one for this execution only.
    fn look_at_parameter(&mut self, comparison: &mut Comparison) {
        let counts = |column: &Expression, side: &Expression| {
            let is_given = match &side.kind {
                ExpressionKind::Cast(cast) => cast.failure == CastFailure::Parameter,
                _ => false,
            };
            let kind = column.result.kind();
            is_given && column.column_slot().is_some() && (kind.is_integer() || kind == TypeKind::Year)
        };
        let (operator, column, parameter) = if counts(&comparison.left, &comparison.right) {
            (comparison.operator, &comparison.left, &mut comparison.right)
        } else if counts(&comparison.right, &comparison.left) {
            (comparison.operator.mirrored(), &comparison.right, &mut comparison.left)
        } else {
            return;
        };
        if operator == ComparisonOperator::NullSafeEqual {
            return;
        }
        let context = &mut *self.input.context;
        let before = context.diagnostics().reported();
        let Ok(value) = parameter.evaluate(RowRef::EMPTY, context) else {
            context.diagnostics().go_back(before);
            return;
        };
        if context.diagnostics().count() == before.count() {
            return;
        }
        self.nature.volatile = true;
        let is_equal = operator == ComparisonOperator::Equal;
        let is_decided = decided_by_range(operator, &column.result.column_type, &value).is_some();
        if is_decided || is_equal && column.result.kind() == TypeKind::BigInt {
            let result = parameter.result.clone();
            *parameter = Expression::constant(value, result);
        } else if is_equal && parameter.evaluate(RowRef::EMPTY, context).is_err() {
            context.diagnostics().go_back(before);
        }
    }

    /// A comparison, of which a constant that is another kind of type than it is compared as is converted once.
    fn compared_once(&mut self, mut bound: Expression) -> Expression {
        let in_condition = self.block().clause.is_condition();
        let ExpressionKind::Compare(comparison) = &mut bound.kind else { return bound };
        if let Some(is_left) = comparison.converted_constant(in_condition) {
            comparison.once = Some((is_left, self.site()));
            let constant = if is_left { &mut comparison.left } else { &mut comparison.right };
            if self.derives_parameters() {
                read_as_bytes(constant);
            }
        } else if in_condition && self.input.runs && !self.changes.escalates {
            self.look_at_parameter(comparison);
        }
        bound
    }

    /// The operands of an operator that does not compare.
    fn operands(
        &mut self,
        operator: ast::BinaryOperator,
        left: &ast::Expression,
        right: &ast::Expression,
        wanted: Option<Wanted>,
    ) -> SqlResult<(Expression, Expression)> {
        use ast::BinaryOperator as Operator;
        let each = match operator {
            Operator::IntegerDivide => return self.two_beside(left, right, wanted, |_| Wanted::integer()),
            Operator::BitOr | Operator::BitAnd | Operator::BitXor => {
                return self.two_beside(left, right, None, |_| Wanted::bytes());
            }
            Operator::ShiftLeft | Operator::ShiftRight => (Wanted::bytes(), Wanted::integer()),
            Operator::LogicalXor => (Wanted::integer(), Wanted::integer()),
            Operator::SoundsLike => (self.wanted_text().read_own(), self.wanted_text().read_own()),
            _ => return self.two_beside(left, right, wanted, |_| Wanted::double()),
        };
        Ok((self.operand_as(left, each.0)?, self.operand_as(right, each.1)?))
    }

    /// An operand that is read as text.
    fn text_operand(&mut self, syntax: &ast::Expression) -> SqlResult<Expression> {
        let wanted = self.wanted_text().read_own();
        self.operand_as(syntax, wanted)
    }

    fn like(
        &mut self,
        operand: &ast::Expression,
        pattern: &ast::Expression,
        escape: Option<&ast::Expression>,
        negated: bool,
    ) -> SqlResult<Expression> {
        let (operand, pattern) = (self.text_operand(operand)?, self.text_operand(pattern)?);
        let backslash = !self.facts.sql_mode.contains(SqlMode::NO_BACKSLASH_ESCAPES);
        let escape = match escape {
            None => backslash.then_some('\\'),
            Some(syntax) => {
                let bound = self.scalar(syntax)?;
                let value = bound.literal().ok_or_else(|| sql_error!(ER_WRONG_ARGUMENTS, "ESCAPE"))?;
                literal::escape_character(value, bound.result.collation())?
            }
        };
        Expression::like(operand, pattern, escape, negated, self.facts)
    }

    fn case(
        &mut self,
        operand: Option<&ast::Expression>,
        branches: &[ast::CaseBranch],
        otherwise: Option<&ast::Expression>,
        wanted: Option<Wanted>,
    ) -> SqlResult<Expression> {
        let facts = self.facts;
        // In MySQL's order: what a parameter is follows the first of them that is none.
        let compared: Vec<&ast::Expression> =
            branches.iter().map(|branch| &branch.when).chain(operand).collect();
        let mut compared = match operand {
            Some(_) => self.beside(&compared, None, Self::wanted_text)?,
            None => compared.into_iter().map(|syntax| self.expression(syntax)).collect::<SqlResult<_>>()?,
        };
        let results: Vec<&ast::Expression> =
            branches.iter().map(|branch| &branch.then).chain(otherwise).collect();
        let mut results = settled_parameter::handed_on(self, &results, wanted)?;
        compared.iter().chain(&results).try_for_each(scalar)?;
        let otherwise = if otherwise.is_some() { results.pop() } else { None };
        let operand = if operand.is_some() { compared.pop() } else { None };
        let mut bound = Vec::with_capacity(branches.len());
        for (when, result) in compared.into_iter().zip(results) {
            let condition = match &operand {
                Some(operand) => Expression::case_equal(operand.clone(), when, facts)?,
                None => when,
            };
            bound.push((condition, result));
        }
        Expression::case(operand.is_some(), bound, otherwise, facts)
    }

    fn cast(&mut self, cast: &ast::CastExpression) -> SqlResult<Expression> {
        if cast.array {
            return Err(declared::array_elsewhere(cast));
        }
        if let Some(zone) = &cast.time_zone {
            return self.cast_at_time_zone(cast, zone);
        }
        let wanted = self.wanted_by_cast(&cast.target)?;
        let operand = self.scalar_as(&cast.operand, wanted)?;
        if let Some(length) = length_of_bytes(&cast.target) {
            let length = cast_length(length)?;
            return Expression::cast_binary(operand, length, self.facts);
        }
        let target = self.cast_target(&cast.target, &operand, &operand_name(&cast.operand))?;
        Expression::cast(operand, target, self.facts)
    }

    /// CAST of a TIMESTAMP to DATETIME in a time zone, which can only be UTC, written `+00:00`. Errors: 3998 for what is no TIMESTAMP,
    /// 1298 for other zones.
    fn cast_at_time_zone(&mut self, cast: &ast::CastExpression, zone: &[u8]) -> SqlResult<Expression> {
        let operand = self.scalar(&cast.operand)?;
        let target = self.cast_target(&cast.target, &operand, &operand_name(&cast.operand))?;
        let is_literal = matches!(operand.literal(), Some(Value::DateTime(_) | Value::Null));
        if !is_literal && operand.result.kind() != TypeKind::Timestamp {
            return Err(sql_error!(ER_INVALID_CAST, "TIMESTAMP WITH TIME ZONE"));
        }
        if zone != b"+00:00" {
            return Err(sql_error!(ER_UNKNOWN_TIME_ZONE, String::from_utf8_lossy(zone)));
        }
        let digits = Expression::integer(u64::from(target.decimals.unwrap_or(0)));
        let site = self.site();
        let bound = Expression::call(&builtins::AT_TIME_ZONE, vec![operand, digits], site, self.facts)?;
        let result = ResultType { column_type: target, nullable: true, ..bound.result };
        Ok(Expression { kind: bound.kind, result })
    }

    /// What a parameter is that is CAST.
    fn wanted_by_cast(&self, target: &ast::CastTarget) -> SqlResult<Wanted> {
        let kind = match target {
            ast::CastTarget::Signed | ast::CastTarget::Unsigned => TypeKind::BigInt,
            ast::CastTarget::Char { charset: Some(name), .. } => {
                let text = ResultType::text(1, literal::character_set(name)?, Coercibility::Implicit);
                return Ok(Wanted::any_for(&text.column_type));
            }
            ast::CastTarget::Binary { .. } => TypeKind::VarBinary,
            ast::CastTarget::Date => TypeKind::Date,
            ast::CastTarget::Time { .. } | ast::CastTarget::DateTime { .. } => TypeKind::DateTime,
            ast::CastTarget::Decimal { .. } => TypeKind::Decimal,
            ast::CastTarget::Float { .. } | ast::CastTarget::Double | ast::CastTarget::Real => {
                TypeKind::Double
            }
            ast::CastTarget::Year => TypeKind::Year,
            _ => {
                let text = ResultType::text(1, self.facts.connection, Coercibility::Implicit);
                return Ok(Wanted::any_for(&text.column_type));
            }
        };
        Ok(Wanted::any_for(&ColumnType::new(kind)))
    }

    /// `name` is what errors call the operand.
    pub(super) fn cast_target(
        &self,
        target: &ast::CastTarget,
        operand: &Expression,
        name: &str,
    ) -> SqlResult<ColumnType> {
        Ok(match target {
            ast::CastTarget::Signed => ColumnType { length: Some(21), ..ColumnType::big_int() },
            ast::CastTarget::Unsigned => ColumnType { length: Some(21), ..ColumnType::big_int_unsigned() },
            ast::CastTarget::Char { length, charset, national } => {
                let collation = match charset {
                    Some(name) => literal::character_set(name)?,
                    None if *national => charset::CollationId::UTF8MB3_GENERAL_CI,
                    None => self.facts.connection,
                };
                let length = match length {
                    Some(length) => characters_of_cast(*length, collation)?,
                    None => operand.result.text_length(),
                };
                ResultType::text(length, collation, Coercibility::Implicit).column_type
            }
            ast::CastTarget::Binary { .. } => ResultType::binary(operand.result.byte_length()).column_type,
            ast::CastTarget::Date => ColumnType::new(TypeKind::Date),
            ast::CastTarget::Time { decimals } => temporal_target(TypeKind::Time, *decimals)?,
            ast::CastTarget::DateTime { decimals } => temporal_target(TypeKind::DateTime, *decimals)?,
            ast::CastTarget::Decimal { digits, scale } => decimal_target(name, *digits, *scale)?,
            ast::CastTarget::Float { precision } => match precision {
                Some(precision) if *precision > 53 => {
                    return Err(sql_error!(ER_TOO_BIG_PRECISION, precision, "CAST", 53));
                }
                Some(precision) if *precision > 24 => ResultType::double().column_type,
                _ => ColumnType { length: Some(23), ..ColumnType::new(TypeKind::Float) },
            },
            ast::CastTarget::Real if self.facts.sql_mode.contains(SqlMode::REAL_AS_FLOAT) => {
                ColumnType { length: Some(23), ..ColumnType::new(TypeKind::Float) }
            }
            ast::CastTarget::Double | ast::CastTarget::Real => ResultType::double().column_type,
            ast::CastTarget::Year => ColumnType::new(TypeKind::Year),
            ast::CastTarget::Json => ResultType::json().column_type,
            ast::CastTarget::Geometry(_) => {
                return Err(sql_error!(ER_NOT_SUPPORTED_YET, "CAST to this type"));
            }
        })
    }
}

/// The length of BINARY(n), which is also written CHAR(n) CHARACTER SET binary.
fn length_of_bytes(target: &ast::CastTarget) -> Option<u64> {
    match target {
        ast::CastTarget::Binary { length } => *length,
        ast::CastTarget::Char { length, charset: Some(name), .. } if name.eq_ignore_ascii_case("binary") => {
            *length
        }
        _ => None,
    }
}

/// The length of CAST AS CHAR(n) or BINARY(n). Error 1439.
fn cast_length(length: u64) -> SqlResult<u32> {
    u32::try_from(length).map_err(|_| sql_error!(ER_TOO_BIG_DISPLAYWIDTH, "cast as char", u32::MAX))
}

/// The characters of CAST AS CHAR(n). Error 1690 if their bytes may be more than any text has.
fn characters_of_cast(length: u64, collation: charset::CollationId) -> SqlResult<u32> {
    let length = cast_length(length)?;
    match length.checked_mul(u32::from(collation.charset().max_bytes)) {
        Some(_) => Ok(length),
        None => Err(sql_error!(ER_DATA_OUT_OF_RANGE, "char(n)", "cast_as_char")),
    }
}

/// Bytes that a user variable is said to have that was never set.
const UNSET_VARIABLE_BYTES: u32 = 65_532;
/// Display length of an integer in a variable.
const VARIABLE_INTEGER_LENGTH: u32 = 21;
/// Display length of a floating point number in a system variable.
const VARIABLE_DOUBLE_LENGTH: u32 = 23;
