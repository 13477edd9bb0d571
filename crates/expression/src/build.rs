//! Constructors that derive types: what `plan` calls to build an expression. One function per form; each checks
//! operands, gives text operands a common collation and folds constants where that is safe.

use crate::builtin::{self, Derivation, FunctionDefinition};
use crate::choice::{ask_variable, choose_numbers, hides_number};
use crate::common_type::common_type;
use crate::context::EvaluationContext;
use crate::convert;
use crate::derive;
use crate::facts::{SqlMode, StatementFacts};
use crate::json;
use crate::operators::{
    Arithmetic, ArithmeticMode, ArithmeticOperator, Between, BitOperation, BitOperator, Case, Cast,
    CastFailure, Comparison, ComparisonMode, ComparisonOperator, DateArithmetic, InList, IntervalUnit, Like,
    Regexp, check_regexp_sets, derive_negation, prepare_equal_values, prepare_list, prepare_listed_member,
    prepare_pair, prepare_range,
};
use crate::print::is_condition;
use crate::result_type::{Coercibility, ResultType, TypeClass};
use crate::row_comparison::compare_rows;
use crate::tree::{ColumnSlot, Expression, ExpressionKind, FunctionCall};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use functions::locale::Locale;
use std::sync::Arc;
use values::{ColumnType, RowRef, TypeKind, Value};

/// What constructors need to know of the statement.
#[derive(Clone, Copy, Debug)]
pub struct BuildFacts {
    /// sql_mode.
    pub sql_mode: SqlMode,
    /// collation_connection.
    pub connection: CollationId,
    /// div_precision_increment.
    pub division_precision_increment: u8,
    /// block_encryption_mode.
    pub encryption_mode: functions::cipher::Mode,
    /// lc_time_names: names of days and months have the greatest length of its names.
    pub time_names: &'static Locale,
    /// Parameters stand for literals of the text, and are treated as these are.
    pub literal_parameters: bool,
    /// Warnings of strict mode end the statement.
    pub escalates: bool,
}

impl BuildFacts {
    /// Those of a statement.
    pub fn of(facts: &StatementFacts) -> BuildFacts {
        BuildFacts {
            sql_mode: facts.sql_mode,
            connection: facts.connection_collation,
            division_precision_increment: facts.division_precision_increment,
            encryption_mode: facts.encryption_mode,
            time_names: facts.time_names,
            literal_parameters: true,
            escalates: false,
        }
    }
}

/// Display length of an operand of a bit operation.
const BIT_DIGITS: u32 = 21;

fn new(kind: ExpressionKind, result: ResultType) -> Expression {
    Expression { kind, result }
}

impl Expression {
    /// NULL.
    pub fn null() -> Expression {
        new(ExpressionKind::Literal(Value::Null), ResultType::null())
    }

    /// An integer literal.
    pub fn integer(value: u64) -> Expression {
        let digits = value.checked_ilog10().unwrap_or(0) + 1;
        match i64::try_from(value) {
            Ok(value) => new(ExpressionKind::Literal(Value::Int(value)), ResultType::integer(digits + 1)),
            Err(_) => new(ExpressionKind::Literal(Value::UInt(value)), ResultType::unsigned(digits)),
        }
    }

    /// TRUE and FALSE.
    pub fn boolean(value: bool) -> Expression {
        new(ExpressionKind::Literal(Value::Int(i64::from(value))), ResultType::boolean())
    }

    /// Any constant with its type.
    pub fn constant(value: Value, result: ResultType) -> Expression {
        new(ExpressionKind::Literal(value), result)
    }

    /// A string literal in a collation.
    pub fn text(bytes: Vec<u8>, collation: CollationId) -> Expression {
        let characters = functions::text::character_count(&bytes, collation);
        let length = u32::try_from(characters).unwrap_or(u32::MAX);
        let result = ResultType::text(length, collation, Coercibility::Coercible);
        new(ExpressionKind::Literal(Value::Bytes(bytes)), result)
    }

    /// A column by slot.
    pub fn column(slot: usize, name: Arc<str>, column_type: ColumnType, nullable: bool) -> Expression {
        let column = ColumnSlot { slot, name, picked: false };
        new(ExpressionKind::Column(column), ResultType::column(column_type, nullable))
    }

    /// A value of the row that has exactly this type.
    pub fn slot(slot: usize, name: Arc<str>, result: ResultType) -> Expression {
        new(ExpressionKind::Column(ColumnSlot { slot, name, picked: false }), result)
    }

    /// The same for the least or greatest value of a group.
    pub fn picked_slot(slot: usize, name: Arc<str>, result: ResultType) -> Expression {
        new(ExpressionKind::Column(ColumnSlot { slot, name, picked: true }), result)
    }

    /// An arithmetic operation.
    pub fn arithmetic(
        operator: ArithmeticOperator,
        mut left: Expression,
        mut right: Expression,
        facts: BuildFacts,
    ) -> SqlResult<Expression> {
        scalar(&left)?;
        scalar(&right)?;
        // JSON has the type of a floating point number, but DIV takes all digits of it.
        let number = |side: &Expression| match side.result.class() {
            TypeClass::Json => ResultType::double().nullable(),
            _ => side.result.clone(),
        };
        let (left_number, right_number) = (number(&left), number(&right));
        let make = match operator {
            ArithmeticOperator::IntegerDivide => json::make_decimal,
            _ => json::make_number,
        };
        make(&mut left);
        make(&mut right);
        let derive = |left, right| {
            Arithmetic::derive(operator, left, right, facts.sql_mode, facts.division_precision_increment)
        };
        let (mode, _) = derive(&left.result, &right.result);
        let (_, result) = derive(&left_number, &right_number);
        for operand in [&mut left, &mut right] {
            match mode {
                ArithmeticMode::Integer => {}
                ArithmeticMode::Decimal => ask_variable(operand, &ResultType::longest_decimal()),
                ArithmeticMode::Double => choose_numbers(operand, &ResultType::double()),
            }
        }
        let operation = Arithmetic { operator, mode, left, right, shown: [None, None] };
        Ok(new(ExpressionKind::Arithmetic(Box::new(operation)), result))
    }

    /// Unary minus; a literal becomes the negative literal.
    pub fn negate(mut operand: Expression) -> SqlResult<Expression> {
        scalar(&operand)?;
        json::make_number(&mut operand);
        match operand.literal() {
            // What is negative already becomes an exact number.
            Some(Value::Int(value)) if operand.result.class() == TypeClass::Integer && *value < 0 => {
                let exact = values::Decimal::from(*value).negated();
                let result = ResultType::decimal(operand.result.integer_digits(), 0);
                return Ok(new(ExpressionKind::Literal(Value::Decimal(exact)), result));
            }
            Some(Value::Int(value)) if operand.result.kind().is_integer() => {
                return Ok(new(ExpressionKind::Literal(Value::Int(-value)), operand.result.clone()));
            }
            Some(Value::UInt(value)) if *value == 1 << 63 => {
                return Ok(new(ExpressionKind::Literal(Value::Int(i64::MIN)), ResultType::integer(20)));
            }
            Some(Value::UInt(value)) if operand.result.class() == TypeClass::Integer && *value > 1 << 63 => {
                let exact = values::Decimal::from(*value).negated();
                return Ok(new(ExpressionKind::Literal(Value::Decimal(exact)), ResultType::decimal(20, 0)));
            }
            Some(Value::Decimal(value)) => {
                let value = Value::Decimal(value.negated().padded(operand.result.scale()));
                return Ok(new(ExpressionKind::Literal(value), operand.result.clone()));
            }
            Some(Value::Double(value)) if convert::fits_integer(*value) => {
                let result = ResultType::scaled_double(operand.result.scale());
                return Ok(new(ExpressionKind::Literal(Value::Double(-value)), result));
            }
            _ => {}
        }
        let result = derive_negation(&operand.result);
        if operand.result.class() == TypeClass::Text {
            choose_numbers(&mut operand, &ResultType::double());
        }
        Ok(new(ExpressionKind::Negate(Box::new(operand)), result))
    }

    /// A bit operation.
    pub fn bit(operator: BitOperator, left: Expression, right: Option<Expression>) -> SqlResult<Expression> {
        scalar(&left)?;
        right.as_ref().map_or(Ok(()), scalar)?;
        let (left, right) = (json::as_integer(left), right.map(json::as_integer));
        let (mut operation, result) = BitOperation::derive(operator, left, right);
        if !operation.over_bytes {
            choose_numbers(&mut operation.left, &ResultType::integer(BIT_DIGITS));
        }
        if let Some(right) = operation.right.as_mut().filter(|_| !operation.over_bytes) {
            choose_numbers(right, &ResultType::integer(BIT_DIGITS));
        }
        Ok(new(ExpressionKind::Bit(Box::new(operation)), result))
    }

    /// A comparison. Rows are compared member by member.
    pub fn compare(
        operator: ComparisonOperator,
        left: Expression,
        right: Expression,
        facts: BuildFacts,
    ) -> SqlResult<Expression> {
        compare_with(operator, left, right, facts, prepare_pair)
    }

    /// `operand = value` of a CASE with an operand.
    pub fn case_equal(
        mut operand: Expression,
        mut value: Expression,
        facts: BuildFacts,
    ) -> SqlResult<Expression> {
        scalar(&operand)?;
        scalar(&value)?;
        json::make_comparable(&mut [&mut operand, &mut value]);
        let mode = prepare_equal_values("case", &mut operand, &mut value, facts)?;
        Ok(new_comparison(ComparisonOperator::Equal, mode, operand, value))
    }

    /// AND; nested ANDs become one.
    pub fn and(terms: Vec<Expression>) -> Expression {
        let mut flat = Vec::with_capacity(terms.len());
        for term in terms {
            match term.kind {
                ExpressionKind::And(inner) => flat.extend(inner),
                kind => flat.push(new(kind, term.result)),
            }
        }
        combine(flat, ExpressionKind::And, true)
    }

    /// OR; nested ORs become one.
    pub fn or(terms: Vec<Expression>) -> Expression {
        let mut flat = Vec::with_capacity(terms.len());
        for term in terms {
            match term.kind {
                ExpressionKind::Or(inner) => flat.extend(inner),
                kind => flat.push(new(kind, term.result)),
            }
        }
        combine(flat, ExpressionKind::Or, false)
    }

    /// XOR.
    pub fn xor(left: Expression, right: Expression) -> Expression {
        let nullable = left.result.nullable || right.result.nullable;
        new(ExpressionKind::Xor(Box::new([left, right])), ResultType::boolean().nullable_if(nullable))
    }

    /// NOT; comparisons are turned round instead where that is the same.
    #[allow(clippy::should_implement_trait)]
    pub fn not(operand: Expression) -> Expression {
        let result = ResultType::boolean().nullable_if(operand.result.nullable);
        match operand.kind {
            ExpressionKind::Compare(mut comparison) => {
                if let Some(operator) = comparison.operator.negated() {
                    comparison.operator = operator;
                    return new(ExpressionKind::Compare(comparison), operand.result);
                }
                let inner = new(ExpressionKind::Compare(comparison), operand.result);
                new(ExpressionKind::Not(Box::new(inner)), result)
            }
            kind => {
                let inner = new(kind, operand.result);
                new(ExpressionKind::Not(Box::new(inner)), result)
            }
        }
    }

    /// IS [NOT] NULL.
    pub fn is_null(operand: Expression, negated: bool) -> SqlResult<Expression> {
        scalar(&operand)?;
        // What cannot be NULL is not evaluated; IS NOT NULL evaluates it. A text may be too long, and NULL then.
        let may_be_null = operand.result.nullable || operand.result.class() == TypeClass::Text;
        if !negated && !may_be_null && operand.is_constant() {
            return Ok(Expression::boolean(false));
        }
        let test = new(ExpressionKind::IsNull(Box::new(operand)), ResultType::boolean());
        Ok(if negated { Expression::not(test) } else { test })
    }

    /// IS [NOT] TRUE and FALSE.
    pub fn is_truth(operand: Expression, wanted: bool, negated: bool) -> SqlResult<Expression> {
        scalar(&operand)?;
        let test = new(ExpressionKind::IsTruth(Box::new(operand), wanted), ResultType::boolean());
        Ok(if negated { Expression::not(test) } else { test })
    }

    /// BETWEEN.
    pub fn between(
        mut operand: Expression,
        mut low: Expression,
        mut high: Expression,
        negated: bool,
        facts: BuildFacts,
    ) -> SqlResult<Expression> {
        for part in [&operand, &low, &high] {
            scalar(part)?;
        }
        let (below, above) = prepare_range(&mut operand, &mut low, &mut high, negated, facts)?;
        let nullable = operand.result.nullable || low.result.nullable || high.result.nullable;
        let (low, high) = ((below, low), (above, high));
        let between = Between { operand, low, high, negated };
        Ok(new(ExpressionKind::Between(Box::new(between)), ResultType::boolean().nullable_if(nullable)))
    }

    /// IN with a list.
    pub fn in_list(
        mut operand: Expression,
        mut list: Vec<Expression>,
        negated: bool,
        facts: BuildFacts,
    ) -> SqlResult<Expression> {
        if matches!(operand.kind, ExpressionKind::Row(_)) {
            let mut terms = Vec::with_capacity(list.len());
            let prepare = if list.len() == 1 { prepare_pair } else { prepare_listed_member };
            for member in list {
                terms.push(compare_with(ComparisonOperator::Equal, operand.clone(), member, facts, prepare)?);
            }
            let any = Expression::or(terms);
            return Ok(if negated { Expression::not(any) } else { any });
        }
        for member in &list {
            scalar(member)?;
        }
        if list.len() == 1 {
            let equal = Expression::compare(ComparisonOperator::Equal, operand, list.remove(0), facts)?;
            return Ok(if negated { Expression::not(equal) } else { equal });
        }
        let modes = prepare_list(&mut operand, &mut list, facts)?;
        let nullable = operand.result.nullable || list.iter().any(|member| member.result.nullable);
        let list = InList::new(operand, modes.into_iter().zip(list).collect(), negated);
        Ok(new(ExpressionKind::In(Box::new(list)), ResultType::boolean().nullable_if(nullable)))
    }

    /// LIKE.
    pub fn like(
        mut operand: Expression,
        mut pattern: Expression,
        escape: Option<char>,
        negated: bool,
        facts: BuildFacts,
    ) -> SqlResult<Expression> {
        scalar(&operand)?;
        scalar(&pattern)?;
        json::make_text(&mut operand);
        json::make_text(&mut pattern);
        let common =
            derive::common_collation(&mut [&mut operand, &mut pattern], facts.connection, "like", true)?;
        let nullable = operand.result.nullable || pattern.result.nullable;
        let like = Like { operand, pattern, escape, negated, collation: common.collation };
        Ok(new(ExpressionKind::Like(Box::new(like)), ResultType::boolean().nullable_if(nullable)))
    }

    /// REGEXP.
    pub fn regexp(
        mut operand: Expression,
        mut pattern: Expression,
        negated: bool,
        facts: BuildFacts,
    ) -> SqlResult<Expression> {
        scalar(&operand)?;
        scalar(&pattern)?;
        json::make_text(&mut operand);
        json::make_text(&mut pattern);
        check_regexp_sets(&operand.result, &pattern.result, "regexp_like")?;
        let common = derive::common_collation(
            &mut [&mut operand, &mut pattern],
            facts.connection,
            "regexp_like",
            true,
        )?;
        let nullable = operand.result.nullable || pattern.result.nullable;
        let regexp = Regexp::new(operand, pattern, negated, common.collation)?;
        Ok(new(ExpressionKind::Regexp(Box::new(regexp)), ResultType::boolean().nullable_if(nullable)))
    }

    /// CASE. `compares`: the conditions are those of `CASE x WHEN y`.
    pub fn case(
        compares: bool,
        mut branches: Vec<(Expression, Expression)>,
        mut otherwise: Option<Expression>,
        facts: BuildFacts,
    ) -> SqlResult<Expression> {
        // A document is true as a number.
        branches.iter_mut().for_each(|(condition, _)| json::make_number(condition));
        let mut results: Vec<&mut Expression> =
            branches.iter_mut().map(|(_, result)| result).chain(otherwise.as_mut()).collect();
        let mut derivation_collation = derive::DerivedCollation {
            collation: facts.connection,
            coercibility: Coercibility::Coercible,
            ascii_only: true,
        };
        if results.iter().any(|result| result.result.class() == TypeClass::Text) {
            derivation_collation = derive::common_collation(&mut results, facts.connection, "case", false)?;
        }
        let types: Vec<&ResultType> = branches
            .iter()
            .map(|(_, result)| &result.result)
            .chain(otherwise.iter().map(|e| &e.result))
            .collect();
        let nullable = otherwise.is_none();
        let result = common_type(&types, derivation_collation).nullable_if(nullable);
        Ok(new(ExpressionKind::Case(Box::new(Case { branches, compares, otherwise })), result))
    }

    /// CAST to a type, with warnings for what does not fit.
    pub fn cast(operand: Expression, target: ColumnType, facts: BuildFacts) -> SqlResult<Expression> {
        scalar(&operand)?;
        let coercibility = match crate::result_type::class_of(target.kind) {
            TypeClass::Text | TypeClass::Json => Coercibility::Implicit,
            _ => Coercibility::Numeric,
        };
        let may_fail = target.kind.is_temporal() || matches!(target.kind, TypeKind::Year | TypeKind::Json);
        let checked = target.kind.is_string() && facts.sql_mode.is_strict();
        let nullable = operand.result.nullable || may_fail || checked;
        let result = ResultType { column_type: target, nullable, coercibility, is_truth: false };
        let cast = Cast { operand, failure: CastFailure::Warn, column: None };
        Ok(new(ExpressionKind::Cast(Box::new(cast)), result))
    }

    /// CAST AS BINARY(n): bytes of exactly that length, but of a type that need not have it.
    pub fn cast_binary(operand: Expression, length: u32, facts: BuildFacts) -> SqlResult<Expression> {
        scalar(&operand)?;
        let nullable = operand.result.nullable || facts.sql_mode.is_strict();
        let mut result = ResultType::binary(length).nullable_if(nullable);
        result.coercibility = Coercibility::Implicit;
        let cast = Cast { operand, failure: CastFailure::WarnAndPad, column: None };
        Ok(new(ExpressionKind::Cast(Box::new(cast)), result))
    }

    /// Bytes of a column that has exactly so many: behind shorter values come zeros.
    pub fn padded(operand: Expression, result: ResultType) -> Expression {
        let cast = Cast { operand, failure: CastFailure::WarnAndPad, column: None };
        new(ExpressionKind::Cast(Box::new(cast)), result)
    }

    /// Text in another character set; error 3854 when that set cannot hold it.
    pub fn convert_character_set(operand: Expression, result: ResultType) -> Expression {
        let cast = Cast { operand, failure: CastFailure::Refuse, column: None };
        new(ExpressionKind::Cast(Box::new(cast)), result)
    }

    /// CONVERT(.. USING ..) and BINARY: what the character set cannot hold becomes '?'.
    pub fn convert_using(operand: Expression, result: ResultType) -> Expression {
        let cast = Cast { operand, failure: CastFailure::Replace, column: None };
        new(ExpressionKind::Cast(Box::new(cast)), result)
    }

    /// A COLLATE clause; error 1253 when the collation is not of the operand's character set.
    pub fn collate(operand: Expression, collation: CollationId, facts: BuildFacts) -> SqlResult<Expression> {
        scalar(&operand)?;
        let operand = json::as_text(operand);
        let operand = if operand.result.class() == TypeClass::Text {
            operand
        } else {
            let length = operand.result.text_length();
            let result = ResultType::text(length, facts.connection, Coercibility::Coercible)
                .nullable_if(operand.result.nullable);
            Expression::convert_character_set(operand, result)
        };
        if !functions::text::same_character_set(operand.result.collation(), collation) {
            let name = functions::text::collation_name(collation);
            let set = functions::text::character_set_name(operand.result.collation());
            return Err(sql_error!(ER_COLLATION_CHARSET_MISMATCH, name, set));
        }
        let mut result = operand.result.clone();
        result.column_type.collation = collation;
        result.coercibility = Coercibility::Explicit;
        result.nullable |= facts.sql_mode.is_strict();
        Ok(new(ExpressionKind::Retyped(Box::new(operand)), result))
    }

    /// A parameter of a prepared statement whose value does not have the type that the parameter has.
    pub fn convert_parameter(operand: Expression, result: ResultType) -> Expression {
        let cast = Cast { operand, failure: CastFailure::Parameter, column: None };
        new(ExpressionKind::Cast(Box::new(cast)), result)
    }

    /// The same value with another type (no conversion).
    pub fn retyped(operand: Expression, result: ResultType) -> Expression {
        new(ExpressionKind::Retyped(Box::new(operand)), result)
    }

    /// `operand + INTERVAL amount unit`.
    pub fn date_arithmetic(
        operand: Expression,
        amount: Expression,
        unit: IntervalUnit,
        subtract: bool,
        facts: BuildFacts,
    ) -> SqlResult<Expression> {
        scalar(&operand)?;
        scalar(&amount)?;
        let (mut operand, amount) = (operand, json::as_text(amount));
        json::make_bare(&mut operand);
        let result = DateArithmetic::derive(&operand.result, &amount.result, unit, facts.connection);
        let operation = DateArithmetic { operand, amount, unit, subtract };
        Ok(new(ExpressionKind::DateArithmetic(Box::new(operation)), result))
    }

    /// A call of a built-in function. `site` is unique within the plan.
    pub fn call(
        definition: &'static FunctionDefinition,
        arguments: Vec<Expression>,
        site: usize,
        facts: BuildFacts,
    ) -> SqlResult<Expression> {
        Expression::call_knowing(definition, arguments, &[], site, facts)
    }

    /// The same where the values of some arguments are known, which are constant but no literals.
    pub fn call_knowing(
        definition: &'static FunctionDefinition,
        mut arguments: Vec<Expression>,
        known: &[Option<Value>],
        site: usize,
        facts: BuildFacts,
    ) -> SqlResult<Expression> {
        builtin::check_arity(definition, arguments.len())?;
        for argument in &arguments {
            scalar(argument)?;
        }
        definition.convert_json(&mut arguments);
        let mut derivation = Derivation {
            name: definition.name,
            arguments: &mut arguments,
            connection: facts.connection,
            facts,
            known,
        };
        let mut result = (definition.derive)(&mut derivation)?;
        // Where text is checked strictly, text that a function makes counts as nullable: it may be too long.
        let strict = facts.sql_mode.is_strict();
        let made = result.class() == TypeClass::Text && !builtin::picks_argument_or_fact(definition.name);
        result.nullable |= strict && made;
        let call = FunctionCall { definition, arguments, site };
        Ok(new(ExpressionKind::Function(Box::new(call)), result))
    }

    /// The same arithmetic operation, whose operands errors show so where only their values are left.
    pub fn showing(mut self, operands: [Option<Arc<str>>; 2]) -> Expression {
        if let ExpressionKind::Arithmetic(operation) = &mut self.kind {
            operation.shown = operands;
        }
        self
    }

    /// Replaces an expression over constants by its value, where evaluation gives neither error nor warning and the
    /// value is not long; in an expression over other things, the constants that were converted for it.
    pub fn fold(mut self, context: &mut dyn EvaluationContext) -> Expression {
        if matches!(self.kind, ExpressionKind::Literal(_) | ExpressionKind::Row(_)) {
            return self;
        }
        if context.check_killed().is_err() {
            return self;
        }
        if !self.is_foldable() || hides_number(&self, context) {
            self.for_each_child_mut(&mut |child| {
                if matches!(&child.kind, ExpressionKind::Cast(cast) if cast.operand.literal().is_some()) {
                    let cast = std::mem::replace(child, Expression::null());
                    *child = cast.fold(context);
                }
            });
            return self;
        }
        let warnings = context.diagnostics().count();
        let before = context.diagnostics().reported();
        match self.evaluate(RowRef::EMPTY, context) {
            // A number that is too great for an integer is kept as what made it: error 1690 shows that.
            Ok(Value::Double(value)) if !convert::fits_integer(value) => {
                context.diagnostics().go_back(before);
                self
            }
            Ok(Value::Float(value)) if !convert::fits_integer(value.into()) => {
                context.diagnostics().go_back(before);
                self
            }
            // A text that is read as a number in silence, or as another one.
            Ok(value) if convert::is_misread(&self, value.as_ref()) => {
                context.diagnostics().go_back(before);
                self
            }
            // A moment that a function made is rounded otherwise than one that is written.
            Ok(Value::Time(time)) if time.microseconds >= 500_000 && convert::is_made(&self) => {
                context.diagnostics().go_back(before);
                self
            }
            Ok(Value::DateTime(moment)) if moment.microsecond >= 500_000 && convert::is_made(&self) => {
                context.diagnostics().go_back(before);
                self
            }
            Ok(value) if context.diagnostics().count() == warnings && is_kept(&value) => {
                let nullable = self.result.nullable || value == Value::Null;
                // What chooses among truth values gives a number.
                let is_truth = is_condition(&self);
                let result = ResultType { nullable, is_truth, ..self.result };
                new(ExpressionKind::Literal(value), result)
            }
            _ => {
                context.diagnostics().go_back(before);
                self
            }
        }
    }
}

/// The longest value that a plan keeps in the place of an expression: longer than any key, so that ranges are found.
/// Without it a statement of some bytes a function (REPEAT, SPACE) would make a plan without bound.
const FOLDED_BYTES_MAX: usize = 4 << 10;

fn is_kept(value: &Value) -> bool {
    !matches!(value, Value::Bytes(bytes) if bytes.len() > FOLDED_BYTES_MAX)
}

/// Error 1241 for a row where one value is wanted.
pub fn scalar(expression: &Expression) -> SqlResult<()> {
    match &expression.kind {
        ExpressionKind::Row(_) => Err(sql_error!(ER_OPERAND_COLUMNS, 1)),
        _ => Ok(()),
    }
}

fn combine(
    mut terms: Vec<Expression>,
    kind: fn(Vec<Expression>) -> ExpressionKind,
    empty: bool,
) -> Expression {
    if terms.len() == 1 {
        return terms.remove(0);
    }
    if terms.is_empty() {
        return Expression::boolean(empty);
    }
    let nullable = terms.iter().any(|term| term.result.nullable);
    new(kind(terms), ResultType::boolean().nullable_if(nullable))
}

/// What brings two operands to where they can be compared.
type Prepare = fn(&str, &mut Expression, &mut Expression, BuildFacts) -> SqlResult<ComparisonMode>;

fn compare_with(
    operator: ComparisonOperator,
    left: Expression,
    right: Expression,
    facts: BuildFacts,
    prepare: Prepare,
) -> SqlResult<Expression> {
    match (left.kind, right.kind) {
        (ExpressionKind::Row(left), ExpressionKind::Row(right)) => {
            compare_rows(operator, left, right, |operator, left, right| {
                compare_with(operator, left, right, facts, prepare)
            })
        }
        (ExpressionKind::Row(members), _) => Err(sql_error!(ER_OPERAND_COLUMNS, members.len())),
        (_, ExpressionKind::Row(_)) => Err(sql_error!(ER_OPERAND_COLUMNS, 1)),
        (left_kind, right_kind) => {
            let mut left = new(left_kind, left.result);
            let mut right = new(right_kind, right.result);
            let mode = prepare(operator.sign(), &mut left, &mut right, facts)?;
            Ok(new_comparison(operator, mode, left, right))
        }
    }
}

fn new_comparison(
    operator: ComparisonOperator,
    mode: ComparisonMode,
    left: Expression,
    right: Expression,
) -> Expression {
    let nullable =
        operator != ComparisonOperator::NullSafeEqual && (left.result.nullable || right.result.nullable);
    let comparison = Comparison { operator, mode, left, right, once: None };
    new(ExpressionKind::Compare(Box::new(comparison)), ResultType::boolean().nullable_if(nullable))
}
