//! Aggregate functions: typing, collection in the block, and the step from rows to groups.

use super::Binder;
use super::column::{Block, Clause};
use crate::physical::{AggregateCall, AggregateKind, SortKey};
use ::expression::derive::common_collation;
use ::expression::{Coercibility, Expression, ExpressionKind, ResultType, SqlMode, TypeClass};
use errors::{SqlResult, sql_error};
use parser::ast;

impl Binder<'_> {
    /// Binds an aggregate call; its value is [`ExpressionKind::Aggregate`] until the block is grouped.
    pub fn aggregate(&mut self, call: &ast::AggregateCall) -> SqlResult<Expression> {
        if call.over.is_some() {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "window functions"));
        }
        let block = self.block();
        if block.in_aggregate || !block.clause.allows_aggregates() {
            return Err(sql_error!(ER_INVALID_GROUP_FUNC_USE));
        }
        block.in_aggregate = true;
        let bound = self.aggregate_parts(call);
        self.block().in_aggregate = false;
        let (mut arguments, order_by) = bound?;
        let kind = kind_of(call)?;
        if matches!(kind, AggregateKind::Minimum | AggregateKind::Maximum) {
            arguments.iter_mut().for_each(member_as_text);
        }
        let result = self.aggregate_type(kind, &mut arguments)?;
        let separator = call.separator.clone().unwrap_or_else(|| b",".to_vec());
        let separator = ::expression::text::convert(separator, self.facts.connection, result.collation());
        let distinct = call.distinct && !matches!(kind, AggregateKind::Minimum | AggregateKind::Maximum);
        Ok(self.add_aggregate(AggregateCall { kind, distinct, arguments, order_by, separator, result }))
    }

    fn aggregate_parts(&mut self, call: &ast::AggregateCall) -> SqlResult<(Vec<Expression>, Vec<SortKey>)> {
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for syntax in &call.arguments {
            arguments.push(self.scalar(syntax)?);
        }
        let mut order_by = Vec::with_capacity(call.order_by.len());
        for item in &call.order_by {
            let ordinal = match &item.expression {
                ast::Expression::Literal(ast::Literal::Integer(number)) => Some(*number as usize),
                _ => None,
            };
            let expression = match ordinal {
                Some(number) => match arguments.get(number.wrapping_sub(1)) {
                    Some(argument) => argument.clone(),
                    None => return Err(sql_error!(ER_BAD_FIELD_ERROR, number, "order clause")),
                },
                None => self.scalar(&item.expression)?,
            };
            order_by.push(SortKey { expression, descending: item.descending });
        }
        Ok((arguments, order_by))
    }

    fn add_aggregate(&mut self, call: AggregateCall) -> Expression {
        let result = call.result.clone();
        let block = self.block();
        let known = block.aggregates.iter().position(|known| same_call(known, &call));
        let number = known.unwrap_or_else(|| {
            block.aggregates.push(call);
            block.aggregates.len() - 1
        });
        Expression { kind: ExpressionKind::Aggregate(number), result }
    }

    /// group_concat_max_len.
    fn group_concat_bytes_max(&self) -> u32 {
        u32::try_from(self.input.context.facts().group_concat_max_len).unwrap_or(u32::MAX)
    }

    fn aggregate_type(&self, kind: AggregateKind, arguments: &mut [Expression]) -> SqlResult<ResultType> {
        let first = arguments.first().map(|argument| &argument.result);
        Ok(match (kind, first) {
            (AggregateKind::CountRows | AggregateKind::Count, _) => ResultType::integer(21),
            (AggregateKind::Grouping(_), _) => ResultType::integer(1),
            (AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor, _) => {
                ResultType::unsigned(21)
            }
            (AggregateKind::Variance { .. }, _) => ResultType::double().nullable(),
            (AggregateKind::GroupConcat, _) => self.group_concat_type(arguments)?,
            (AggregateKind::Sum, Some(argument)) => match exact_digits(argument) {
                Some((digits, scale)) => {
                    ResultType::decimal(digits + u32::from(scale) + 22, scale).nullable()
                }
                None => ResultType::scaled_double(argument.scale()).nullable(),
            },
            (AggregateKind::Average, Some(argument)) => match exact_digits(argument) {
                Some((digits, scale)) => {
                    let scale = (scale + self.facts.division_precision_increment).min(30);
                    ResultType::decimal(digits + u32::from(scale), scale).nullable()
                }
                None => {
                    let scale = argument.scale().saturating_add(self.facts.division_precision_increment);
                    ResultType::scaled_double(scale).nullable()
                }
            },
            (AggregateKind::Minimum | AggregateKind::Maximum | AggregateKind::First, Some(argument)) => {
                argument.clone().nullable()
            }
            (_, None) => return Err(sql_error!(ER_INVALID_GROUP_FUNC_USE)),
        })
    }

    /// The type of GROUP_CONCAT, whose arguments are brought to one character set.
    fn group_concat_type(&self, arguments: &mut [Expression]) -> SqlResult<ResultType> {
        let connection = self.facts.connection;
        let (mut collation, mut coercibility) = (connection, Coercibility::Coercible);
        if arguments.iter().any(|argument| argument.result.class() == TypeClass::Text) {
            let mut operands: Vec<&mut Expression> = arguments.iter_mut().collect();
            let common = common_collation(&mut operands, connection, "group_concat", false)?;
            (collation, coercibility) = (common.collation, common.coercibility);
        }
        let width = u32::from(collation.charset().max_bytes);
        let longest = self.group_concat_bytes_max().saturating_mul(width);
        let mut result = ResultType::text(longest, collation, coercibility).nullable();
        result.column_type.kind = match collation {
            charset::CollationId::BINARY => values::TypeKind::LongBlob,
            _ => values::TypeKind::LongText,
        };
        Ok(result)
    }

    /// ANY_VALUE: the value of some row of the group.
    pub fn any_value(&mut self, argument: &ast::Expression) -> SqlResult<Expression> {
        let block = self.block();
        if block.in_aggregate || !block.clause.allows_aggregates() {
            let argument = self.scalar(argument)?;
            let result = argument.result.clone();
            return Ok(Expression::retyped(argument, result));
        }
        let argument = self.scalar(argument)?;
        if argument.any(&|part| matches!(part.kind, ExpressionKind::Aggregate(_))) {
            return Ok(argument);
        }
        // A value of its own, not the column.
        let first = self.first_value(argument);
        let result = first.result.clone();
        Ok(Expression::retyped(first, result))
    }

    fn first_value(&mut self, argument: Expression) -> Expression {
        let result = argument.result.clone();
        self.add_aggregate(AggregateCall {
            kind: AggregateKind::First,
            distinct: false,
            arguments: vec![argument],
            order_by: Vec::new(),
            separator: Vec::new(),
            result,
        })
    }

    /// GROUPING(): which keys a ROLLUP row sums over, as bits.
    pub fn grouping(&mut self, arguments: &[ast::Expression]) -> SqlResult<Expression> {
        let mut total: Option<Expression> = None;
        for syntax in arguments {
            let bound = self.scalar(syntax)?;
            let keys = &self.block().group_keys;
            let Some(key) = keys.iter().position(|key| key.same(&bound)) else {
                return Err(sql_error!(ER_FIELD_IN_GROUPING_NOT_GROUP_BY, 0));
            };
            let bit = self.add_aggregate(AggregateCall {
                kind: AggregateKind::Grouping(key),
                distinct: false,
                arguments: Vec::new(),
                order_by: Vec::new(),
                separator: Vec::new(),
                result: ResultType::integer(1),
            });
            total = Some(match total {
                None => bit,
                Some(total) => {
                    use ::expression::operators::ArithmeticOperator::{Add, Multiply};
                    let shifted =
                        Expression::arithmetic(Multiply, total, Expression::integer(2), self.facts)?;
                    Expression::arithmetic(Add, shifted, bit, self.facts)?
                }
            });
        }
        total.ok_or_else(|| sql_error!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, "grouping"))
    }

    /// Rewrites an expression over rows to one over groups: group keys and aggregates become slots of the grouped
    /// row. A column that is neither takes the group's first value, or is error 1055 (1140 without GROUP BY).
    pub fn over_groups(
        &mut self,
        expression: &mut Expression,
        position: usize,
        rollup: bool,
    ) -> SqlResult<()> {
        let keys = self.block().group_keys.clone();
        let mut stray: Option<Expression> = None;
        let strict = self.facts.sql_mode.contains(SqlMode::ONLY_FULL_GROUP_BY);
        let dependent = strict && self.block().depends_on_keys(&keys);
        let mut added = Vec::new();
        let mut aggregates = self.block().aggregates.clone();
        expression.replace(&mut |part| {
            if let Some(key) = keys.iter().position(|key| key.same(part)) {
                let mut result = keys[key].result.clone();
                result.nullable |= rollup;
                return Some(Expression::slot(key, keys[key].to_string().into(), result));
            }
            match &part.kind {
                ExpressionKind::Aggregate(number) => {
                    let name = part.to_string().into();
                    Some(Expression::slot(keys.len() + number, name, part.result.clone()))
                }
                ExpressionKind::Column(_) => {
                    if strict && !dependent && stray.is_none() {
                        stray = Some(part.clone());
                    }
                    let call = AggregateCall {
                        kind: AggregateKind::First,
                        distinct: false,
                        arguments: vec![part.clone()],
                        order_by: Vec::new(),
                        separator: Vec::new(),
                        result: part.result.clone(),
                    };
                    let known = aggregates.iter().position(|known| same_call(known, &call));
                    let number = known.unwrap_or_else(|| {
                        aggregates.push(call.clone());
                        added.push(call);
                        aggregates.len() - 1
                    });
                    let name = part.to_string().into();
                    let result =
                        if keys.is_empty() { part.result.clone().nullable() } else { part.result.clone() };
                    Some(Expression::slot(keys.len() + number, name, result))
                }
                _ => None,
            }
        });
        self.block().aggregates.extend(added);
        match stray {
            None => Ok(()),
            Some(column) => Err(self.not_grouped(&column, position, keys.is_empty())),
        }
    }

    fn not_grouped(&mut self, column: &Expression, position: usize, no_keys: bool) -> errors::SqlError {
        let name = column.to_string().replace('`', "");
        let clause = match self.block().clause {
            Clause::Having => "HAVING clause",
            Clause::OrderBy => "ORDER BY clause",
            _ => "SELECT list",
        };
        if no_keys {
            let detailed = sql_error!(ER_MIX_OF_GROUP_FUNC_AND_FIELDS_V2, position, clause, name);
            return errors::code::ER_MIX_OF_GROUP_FUNC_AND_FIELDS.message(detailed.message());
        }
        let detailed = sql_error!(ER_WRONG_FIELD_WITH_GROUP_V2, position, clause, name);
        errors::code::ER_WRONG_FIELD_WITH_GROUP.message(detailed.message())
    }
}

impl Block {
    /// Whether the keys hold a whole unique key without NULL of every table, so that each group is one row of each.
    fn depends_on_keys(&self, keys: &[Expression]) -> bool {
        let grouped: Vec<usize> = keys.iter().filter_map(Expression::column_slot).collect();
        if grouped.is_empty() {
            return false;
        }
        self.tables.iter().all(|table| {
            let super::Source::Base(base) = &table.source else { return false };
            let definition = base.definition();
            definition.indexes.iter().any(|index| {
                index.kind != dictionary::IndexKind::Plain
                    && index.parts.iter().all(|part| {
                        part.prefix_length.is_none()
                            && !definition.columns[part.column].nullable
                            && table.slots[part.column].is_some_and(|slot| grouped.contains(&slot))
                    })
            })
        })
    }
}

fn same_call(left: &AggregateCall, right: &AggregateCall) -> bool {
    left.kind == right.kind
        && left.distinct == right.distinct
        && left.separator == right.separator
        && left.arguments.len() == right.arguments.len()
        && left.order_by.len() == right.order_by.len()
        && left.arguments.iter().zip(&right.arguments).all(|(left, right)| left.same(right))
        && left.order_by.iter().zip(&right.order_by).all(|(left, right)| {
            left.descending == right.descending && left.expression.same(&right.expression)
        })
}

/// Integer digits and scale of an exact argument of SUM and AVG; None for what is summed as DOUBLE.
fn exact_digits(argument: &ResultType) -> Option<(u32, u8)> {
    match argument.class() {
        TypeClass::Integer | TypeClass::Decimal | TypeClass::DateTime | TypeClass::Time => {
            Some((argument.integer_digits(), argument.scale().min(30)))
        }
        TypeClass::Text if argument.is_number_bytes() => Some((argument.integer_digits(), 0)),
        TypeClass::Double | TypeClass::Text | TypeClass::Null => None,
    }
}

fn kind_of(call: &ast::AggregateCall) -> SqlResult<AggregateKind> {
    use ast::AggregateKind as Kind;
    Ok(match call.kind {
        Kind::Count if call.arguments.is_empty() => AggregateKind::CountRows,
        Kind::Count => AggregateKind::Count,
        Kind::Sum => AggregateKind::Sum,
        Kind::Avg => AggregateKind::Average,
        Kind::Min => AggregateKind::Minimum,
        Kind::Max => AggregateKind::Maximum,
        Kind::GroupConcat => AggregateKind::GroupConcat,
        Kind::BitAnd => AggregateKind::BitAnd,
        Kind::BitOr => AggregateKind::BitOr,
        Kind::BitXor => AggregateKind::BitXor,
        Kind::StddevPop => AggregateKind::Variance { sample: false, root: true },
        Kind::StddevSamp => AggregateKind::Variance { sample: true, root: true },
        Kind::VarPop => AggregateKind::Variance { sample: false, root: false },
        Kind::VarSamp => AggregateKind::Variance { sample: true, root: false },
        Kind::JsonArrayagg | Kind::JsonObjectagg => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "JSON")),
        Kind::StCollect => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "spatial functions")),
    })
}

/// MIN and MAX give the text of an ENUM or SET, in whose order of members they look.
fn member_as_text(argument: &mut Expression) {
    if argument.result.kind().has_members() {
        let result = argument.result.members_as_text();
        let inner = std::mem::replace(argument, Expression::null());
        *argument = Expression::convert_character_set(inner, result);
    }
}
