//! The types of a prepared statement's parameters, from what stands around them. Main types: [`ParameterTypes`],
//! [`Parameters`], [`Wanted`]; main function: [`Binder::beside`]. Operands that are all parameters are open: they
//! take the type that the enclosing operation wants of them, or that of their operator where nothing wants any.
//! What the arguments of functions are is the table `functions/parameters.rs` of `expression`.

use super::Binder;
use super::settled_parameter::{handed_on, read_by, read_settled};
use ::expression::operators::{IntervalUnit, ListedConstant};
use ::expression::result_type::class_of;
use ::expression::{Coercibility, Expression, ExpressionKind, ResultType, TypeClass, parameter};
use builtins::{ArgumentRule, argument_rule};
use charset::CollationId;
use errors::SqlResult;
use parser::ast;
use plan::{CheckedParameter, ParameterUse, Reading};
use values::{ColumnType, TypeKind};

/// How a statement's parameters get their types.
#[derive(Clone, Debug)]
pub enum ParameterTypes {
    /// From their values: literals that the plan cache lifted out, and statements that are bound when they run.
    Values(Vec<ColumnType>),
    /// From what stands around them.
    Context {
        /// Types that an execution settled, for those that do not follow the context any more.
        settled: Vec<Option<ColumnType>>,
        /// Types of the values of this execution; empty when the statement is prepared.
        values: Vec<ColumnType>,
    },
}

/// What a statement makes of its parameters.
#[derive(Default)]
pub(crate) struct Parameters {
    /// By number.
    pub uses: Vec<Option<ParameterUse>>,
    /// Those that each execution converts first.
    pub checked: Vec<CheckedParameter>,
    /// See [`Plan::listed`](plan::Plan).
    pub listed: Vec<ListedConstant>,
    /// What the operation that is being bound wants of the operand that is bound next.
    pub wanted: Option<Wanted>,
}

impl Parameters {
    fn note(&mut self, index: usize, used: ParameterUse) {
        if self.uses.len() <= index {
            self.uses.resize(index + 1, None);
        }
        self.uses[index] = Some(used);
    }
}

/// What an operation wants of an operand that is a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    column_type: ColumnType,
    reading: Reading,
}

impl Wanted {
    /// The type of a parameter beside a value of that type.
    pub fn like(column_type: &ColumnType) -> Wanted {
        Wanted { column_type: parameter::derived_type(column_type), reading: Reading::Typed }
    }

    /// A value to be brought to that type by whoever wants it: a column, CAST.
    pub fn any_for(column_type: &ColumnType) -> Wanted {
        Wanted { reading: Reading::AsGiven, ..Wanted::like(column_type) }
    }

    /// The same for an operation that reads values in its own way.
    pub fn read_own(self) -> Wanted {
        Wanted { reading: Reading::Own, ..self }
    }

    /// The same for a value that goes to the client.
    pub fn shown(self) -> Wanted {
        Wanted { reading: Reading::Shown, ..self }
    }

    /// A truth value, or another integer.
    pub fn integer() -> Wanted {
        Wanted { column_type: parameter::integer(false), reading: Reading::Typed }
    }

    /// A number of rows.
    pub fn row_count() -> Wanted {
        Wanted { column_type: parameter::integer(true), reading: Reading::RowCount }
    }

    /// A number that a window function is given.
    pub fn whole_number() -> Wanted {
        Wanted { column_type: parameter::integer(true), reading: Reading::WholeNumber }
    }

    /// Bytes.
    pub fn bytes() -> Wanted {
        Wanted { column_type: parameter::text(CollationId::BINARY), reading: Reading::Typed }
    }

    /// A floating point number.
    pub fn double() -> Wanted {
        Wanted { column_type: ResultType::double().column_type, reading: Reading::Typed }
    }

    /// What `date + INTERVAL amount unit` wants of the date, and of the amount.
    pub fn interval(unit: IntervalUnit, connection: CollationId) -> (Wanted, Wanted) {
        let date = if unit.is_date_only() { TypeKind::Date } else { TypeKind::DateTime };
        let amount = if unit == IntervalUnit::Second {
            parameter::decimal()
        } else if unit.name().contains('_') {
            parameter::text(connection)
        } else {
            parameter::integer(false)
        };
        let amount = Wanted { column_type: amount, reading: Reading::Own };
        (Wanted::like(&ColumnType::new(date)).read_own(), amount)
    }
}

impl Binder<'_> {
    /// Whether parameters get their types from what stands around them.
    pub fn derives_parameters(&self) -> bool {
        matches!(self.input.parameter_types, ParameterTypes::Context { .. })
    }

    /// Binds an operand; a parameter there is what is wanted.
    pub fn operand_as(&mut self, syntax: &ast::Expression, wanted: Wanted) -> SqlResult<Expression> {
        self.parameters.wanted = Some(wanted);
        let bound = self.expression(syntax);
        self.parameters.wanted = None;
        bound
    }

    /// The same for a single value.
    pub fn scalar_as(&mut self, syntax: &ast::Expression, wanted: Wanted) -> SqlResult<Expression> {
        let bound = self.operand_as(syntax, wanted)?;
        ::expression::build::scalar(&bound)?;
        Ok(bound)
    }

    /// Binds operands of one operation: parameters among them are like the first that is none; else what the context
    /// wants of them; else `otherwise`. Rows are bound member by member.
    pub fn beside(
        &mut self,
        all: &[&ast::Expression],
        context: Option<Wanted>,
        otherwise: impl FnOnce(&Self) -> Wanted,
    ) -> SqlResult<Vec<Expression>> {
        if !self.derives_parameters() {
            return all.iter().map(|syntax| self.expression(syntax)).collect();
        }
        if let Some(rows) = rows_of_one_width(all) {
            return self.rows_beside(&rows);
        }
        let mut bound: Vec<Option<Expression>> = Vec::with_capacity(all.len());
        for syntax in all {
            bound.push(if self.is_open(syntax) { None } else { Some(self.expression(syntax)?) });
        }
        let first = bound.iter().flatten().next();
        let wanted = match (first, context) {
            (Some(first), _) => Wanted::like(&first.result.column_type),
            (None, Some(context)) => context,
            (None, None) => otherwise(self),
        };
        // Beside text a value is text, whatever the parameter is since another execution.
        let is_text = class_of(wanted.column_type.kind) == TypeClass::Text;
        let wanted = if is_text && wanted.reading == Reading::Typed { wanted.read_own() } else { wanted };
        let pairs = bound.into_iter().zip(all);
        let mut bound = pairs
            .map(|(known, syntax)| known.map_or_else(|| self.operand_as(syntax, wanted.clone()), Ok))
            .collect::<SqlResult<Vec<Expression>>>()?;
        read_settled(self, all, &mut bound, |class| class == TypeClass::Text)?;
        Ok(bound)
    }

    /// As [`Binder::beside`] for two operands.
    pub fn two_beside(
        &mut self,
        left: &ast::Expression,
        right: &ast::Expression,
        context: Option<Wanted>,
        otherwise: impl FnOnce(&Self) -> Wanted,
    ) -> SqlResult<(Expression, Expression)> {
        if !self.derives_parameters() {
            return Ok((self.expression(left)?, self.expression(right)?));
        }
        let mut bound = self.beside(&[left, right], context, otherwise)?;
        let last = bound.pop().unwrap_or_else(Expression::null);
        Ok((bound.pop().unwrap_or_else(Expression::null), last))
    }

    fn rows_beside(&mut self, rows: &[&[ast::Expression]]) -> SqlResult<Vec<Expression>> {
        let mut bound: Vec<Vec<Expression>> = vec![Vec::new(); rows.len()];
        for position in 0..rows[0].len() {
            let column: Vec<&ast::Expression> = rows.iter().map(|row| &row[position]).collect();
            let members = self.beside(&column, None, Self::wanted_text)?;
            bound.iter_mut().zip(members).for_each(|(row, member)| row.push(member));
        }
        let row = |members| Expression { kind: ExpressionKind::Row(members), result: ResultType::boolean() };
        Ok(bound.into_iter().map(row).collect())
    }

    /// Text in the connection's collation.
    pub fn wanted_text(&self) -> Wanted {
        Wanted { column_type: parameter::text(self.facts.connection), reading: Reading::Typed }
    }

    /// Binds the arguments of a function, those that are parameters by its rules.
    pub fn arguments(
        &mut self,
        function: &str,
        all: &[ast::Expression],
        context: Option<Wanted>,
    ) -> SqlResult<Vec<Expression>> {
        if !self.derives_parameters() {
            return all.iter().map(|syntax| self.scalar(syntax)).collect();
        }
        let stands_beside = |position: usize| argument_rule(function, position) == ArgumentRule::Beside;
        let beside: Vec<&ast::Expression> = all
            .iter()
            .enumerate()
            .filter(|(position, _)| stands_beside(*position))
            .map(|(_, one)| one)
            .collect();
        let mut beside = match function {
            "nullif" => self.beside(&beside, context, Self::wanted_text)?,
            _ => handed_on(self, &beside, context)?,
        }
        .into_iter();
        let mut bound = Vec::with_capacity(all.len());
        for (position, syntax) in all.iter().enumerate() {
            let next = if stands_beside(position) { beside.next() } else { None };
            bound.push(match next {
                Some(argument) => {
                    ::expression::build::scalar(&argument)?;
                    argument
                }
                None => self.argument(function, position, syntax)?,
            });
        }
        read_by(self, function, all, &mut bound)?;
        Ok(bound)
    }

    /// Binds one argument of a function.
    pub fn argument(
        &mut self,
        function: &str,
        position: usize,
        syntax: &ast::Expression,
    ) -> SqlResult<Expression> {
        let plain = |kind| Wanted::like(&ColumnType::new(kind));
        let wanted = match argument_rule(function, position) {
            ArgumentRule::Text | ArgumentRule::Beside => self.wanted_text(),
            ArgumentRule::Bytes => Wanted::bytes(),
            ArgumentRule::Integer => Wanted::integer(),
            ArgumentRule::Double => Wanted::double(),
            ArgumentRule::Decimal => plain(TypeKind::Decimal),
            ArgumentRule::Date => plain(TypeKind::Date),
            ArgumentRule::DateTime => plain(TypeKind::DateTime),
            ArgumentRule::Time => plain(TypeKind::Time),
        };
        // What a function hands on as it is has the parameter's type.
        let hands_on = ::expression::builtin::picks_argument_or_fact(function);
        self.scalar_as(syntax, if hands_on { wanted } else { wanted.read_own() })
    }

    /// Whether an operand has no type of its own: a parameter, or an operation over parameters alone whose type is that
    /// of its operands.
    pub fn is_open(&self, syntax: &ast::Expression) -> bool {
        use ast::BinaryOperator::{Add, Divide, IntegerDivide, Modulo, Multiply, Subtract};
        match syntax {
            ast::Expression::Parameter(index) => match &self.input.parameter_types {
                ParameterTypes::Values(_) => false,
                ParameterTypes::Context { settled, .. } => {
                    settled.get(*index as usize).is_none_or(Option::is_none)
                }
            },
            ast::Expression::Unary {
                operator: ast::UnaryOperator::Minus | ast::UnaryOperator::Plus,
                operand,
            } => self.is_open(operand),
            ast::Expression::Binary {
                operator: Add | Subtract | Multiply | Divide | IntegerDivide | Modulo,
                left,
                right,
            } => self.is_open(left) && self.is_open(right),
            ast::Expression::Function(call) => {
                let name = call.name.to_ascii_lowercase();
                let mut results = (0..call.arguments.len())
                    .filter(|position| argument_rule(&name, *position) == ArgumentRule::Beside)
                    .map(|position| &call.arguments[position])
                    .peekable();
                results.peek().is_some() && results.all(|argument| self.is_open(argument))
            }
            ast::Expression::Case { branches, otherwise, .. } => {
                let mut results = branches.iter().map(|branch| &branch.then).chain(otherwise.as_deref());
                results.all(|result| self.is_open(result))
            }
            _ => false,
        }
    }

    /// A parameter. `wanted` is what the operation around it wants; text where nothing is.
    pub fn parameter(&mut self, index: usize, wanted: Option<Wanted>) -> Expression {
        let (settled, given) = match &self.input.parameter_types {
            ParameterTypes::Values(types) => (None, types.get(index).cloned()),
            ParameterTypes::Context { settled, values } => {
                let wanted = wanted.unwrap_or_else(|| self.wanted_text());
                let own = settled.get(index).cloned().flatten();
                let reading = wanted.reading;
                let column_type = own.unwrap_or(wanted.column_type);
                (Some(ParameterUse { column_type, reading }), values.get(index).cloned())
            }
        };
        let kind = ExpressionKind::Parameter(index);
        let Some(used) = settled else {
            let result = given.map_or_else(ResultType::null, |given| self.result_as_given(given));
            return Expression { kind, result };
        };
        self.parameters.note(index, used.clone());
        match given {
            Some(given) if used.reading.is_as_given() => {
                Expression { kind, result: self.result_as_given(given) }
            }
            Some(given) if given.kind != TypeKind::Null && given.kind != used.column_type.kind => {
                let operand = Expression { kind, result: parameter_result(given) };
                let result = parameter_result(used.column_type);
                match used.reading {
                    Reading::Shown if result.kind() == TypeKind::Decimal => {
                        Expression::retyped(operand, result)
                    }
                    Reading::Own => Expression::retyped(operand, result),
                    _ => Expression::convert_parameter(operand, result),
                }
            }
            _ => Expression { kind, result: parameter_result(used.column_type) },
        }
    }

    /// The type of a parameter that is what its value is.
    fn result_as_given(&self, mut given: ColumnType) -> ResultType {
        if given.kind == TypeKind::Null {
            return ResultType::null();
        }
        if given.kind.is_text() {
            given.collation = self.facts.connection;
        }
        parameter_result(given)
    }
}

fn parameter_result(column_type: ColumnType) -> ResultType {
    let is_text = class_of(column_type.kind) == TypeClass::Text;
    let coercibility = if is_text { Coercibility::Coercible } else { Coercibility::Numeric };
    ResultType { column_type, nullable: true, coercibility, is_truth: false }
}

/// The members of operands that are all rows, if they have as many.
fn rows_of_one_width<'s>(all: &[&'s ast::Expression]) -> Option<Vec<&'s [ast::Expression]>> {
    let rows: Option<Vec<&[ast::Expression]>> = all
        .iter()
        .map(|syntax| match syntax {
            ast::Expression::Row(members) => Some(members.as_slice()),
            _ => None,
        })
        .collect();
    rows.filter(|rows| rows.first().is_some_and(|first| rows.iter().all(|row| row.len() == first.len())))
}
