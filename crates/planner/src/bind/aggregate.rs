//! Aggregate functions: typing, collection in the block, and the step from rows to groups.

use super::aggregate_level::{OpenAggregate, level_of, over_level};
use super::{Binder, Wanted};
use ::expression::derive::common_collation;
use ::expression::json;
use ::expression::operators::bit_aggregate_type;
use ::expression::table_type::LARGE_TEXT_CHARACTERS;
use ::expression::{BuildFacts, Coercibility, Expression, ExpressionKind, ResultType, TypeClass};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use optimizer::Block;
use parser::ast;
use plan::physical::{AggregateCall, AggregateKind, SortKey};
use values::{ColumnType, TypeKind};

/// Binds an aggregate call; its value is [`ExpressionKind::Aggregate`] until the block is grouped that [`level_of`] says it belongs to.
/// Error 1111.
pub(super) fn aggregate(binder: &mut Binder<'_>, call: &ast::AggregateCall) -> SqlResult<Expression> {
    if let Some(over) = &call.over {
        return super::window::window_aggregate(binder, call, over);
    }
    // There is a block to bind in, even outside of queries.
    binder.block();
    let here = binder.blocks.len() - 1;
    if !binder.blocks.iter().any(Block::allows_aggregates) {
        return Err(sql_error!(ER_INVALID_GROUP_FUNC_USE));
    }
    let outer_counts: Vec<usize> = binder.blocks.iter().map(|block| block.outer.len()).collect();
    let nested = std::mem::replace(&mut binder.block().in_aggregate, true);
    let bound = with_open(binder, |binder| bind_aggregate_parts(binder, call));
    binder.block().in_aggregate = nested;
    let (mut parts, open) = bound?;
    let level = level_of(binder, &open, &parts)?;
    if level == here {
        return finish_aggregate(binder, call, parts);
    }
    let (arguments, order_by) = &mut parts;
    let order_by = order_by.iter_mut().map(|key| &mut key.expression);
    arguments.iter_mut().chain(order_by).for_each(|part| over_level(&binder.blocks, level, part));
    // What the blocks between read for it is read there.
    for (block, count) in binder.blocks.iter_mut().zip(outer_counts).skip(level + 1) {
        block.outer.truncate(count);
    }
    let inner = binder.blocks.split_off(level + 1);
    let bound = finish_aggregate(binder, call, parts);
    binder.blocks.extend(inner);
    Ok(binder.lift(level, bound?))
}

/// Binds what stands in an aggregate, and says what is to be known of that.
pub(super) fn with_open<T>(
    binder: &mut Binder<'_>,
    bind: impl FnOnce(&mut Binder<'_>) -> SqlResult<T>,
) -> SqlResult<(T, OpenAggregate)> {
    let here = binder.blocks.len() - 1;
    let around = binder.open_aggregates.len();
    binder.open_aggregates.push(OpenAggregate::new(here));
    let bound = bind(binder);
    let open = binder.open_aggregates.drain(around..).next();
    Ok((bound?, open.unwrap_or_else(|| OpenAggregate::new(here))))
}

fn finish_aggregate(
    binder: &mut Binder<'_>,
    call: &ast::AggregateCall,
    parts: AggregateParts,
) -> SqlResult<Expression> {
    let (mut arguments, order_by) = parts;
    let kind = kind_of(call)?;
    if matches!(kind, AggregateKind::Minimum | AggregateKind::Maximum) {
        arguments.iter_mut().for_each(member_as_text);
    }
    let mut result = aggregate_type(binder.facts, concatenated_bytes_max(binder), kind, &mut arguments)?;
    if matches!(kind, AggregateKind::Minimum | AggregateKind::Maximum | AggregateKind::First) {
        let shown = arguments.first().and_then(|argument| shown_width(binder.block(), argument));
        result.column_type.length = shown.or(result.column_type.length);
    }
    let separator = call.separator.clone().unwrap_or_else(|| b",".to_vec());
    let separator = ::expression::text::convert(separator, binder.facts.connection, result.collation());
    let distinct = call.distinct && !matches!(kind, AggregateKind::Minimum | AggregateKind::Maximum);
    Ok(add_aggregate(
        binder.block(),
        AggregateCall { kind, distinct, arguments, order_by, separator, kept_as: None, result },
    ))
}

pub(super) fn bind_aggregate_parts(
    binder: &mut Binder<'_>,
    call: &ast::AggregateCall,
) -> SqlResult<AggregateParts> {
    let mut arguments = Vec::with_capacity(call.arguments.len());
    let kind = kind_of(call)?;
    let wanted = wanted_by_aggregate(binder, kind);
    for (number, syntax) in call.arguments.iter().enumerate() {
        let argument = binder.scalar_as(syntax, wanted.clone())?;
        arguments.push(without_json(kind, number, argument));
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
            None => binder.scalar(&item.expression)?,
        };
        order_by.push(SortKey { expression, descending: item.descending });
    }
    Ok((arguments, order_by))
}

/// An argument of that number as the aggregate sees it: JSON as a number or a text, or what it is made JSON.
fn without_json(kind: AggregateKind, number: usize, argument: Expression) -> Expression {
    use AggregateKind::{Average, BitAnd, BitOr, BitXor, GroupConcat, JsonArray, JsonObject, Sum, Variance};
    match kind {
        Sum | Average | Variance { .. } => json::as_number(argument),
        BitAnd | BitOr | BitXor => json::as_integer(argument),
        GroupConcat => json::as_text(argument),
        JsonArray { .. } => json::as_document(argument),
        // The name of a member stays text.
        JsonObject if number == 0 => json::as_text(argument),
        JsonObject => json::as_document(argument),
        _ => argument,
    }
}

/// What an aggregate wants of an argument that is a parameter.
fn wanted_by_aggregate(binder: &Binder<'_>, kind: AggregateKind) -> Wanted {
    match kind {
        AggregateKind::Sum | AggregateKind::Average => Wanted::double(),
        AggregateKind::Variance { .. } => Wanted::like(&ColumnType::new(TypeKind::Decimal)),
        AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => Wanted::bytes(),
        AggregateKind::GroupConcat | AggregateKind::JsonArray { .. } | AggregateKind::JsonObject => {
            binder.wanted_text().read_own()
        }
        _ => binder.wanted_text(),
    }
}

fn add_aggregate(block: &mut Block, call: AggregateCall) -> Expression {
    let result = call.result.clone();
    let known = block.aggregates.iter().position(|known| same_call(known, &call));
    let number = known.unwrap_or_else(|| {
        block.aggregates.push(call);
        block.aggregates.len() - 1
    });
    Expression { kind: ExpressionKind::Aggregate(number), result }
}

/// group_concat_max_len.
fn concatenated_bytes_max(binder: &Binder<'_>) -> u32 {
    u32::try_from(binder.input.context.facts().group_concat_max_len).unwrap_or(u32::MAX)
}

pub(super) fn aggregate_type(
    facts: BuildFacts,
    longest: u32,
    kind: AggregateKind,
    arguments: &mut [Expression],
) -> SqlResult<ResultType> {
    let first = arguments.first().map(|argument| &argument.result);
    Ok(match (kind, first) {
        (AggregateKind::CountRows | AggregateKind::Count, _) => ResultType::integer(21),
        (AggregateKind::Grouping(_), _) => ResultType::integer(1),
        (AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor, _) => {
            match arguments.first() {
                Some(argument) => bit_aggregate_type(argument)?,
                None => ResultType::unsigned(21),
            }
        }
        (AggregateKind::Variance { .. }, _) => ResultType::double().nullable(),
        (AggregateKind::JsonArray { .. } | AggregateKind::JsonObject, _) => ResultType::json().nullable(),
        (AggregateKind::GroupConcat, _) => group_concat_type(facts.connection, longest, arguments)?,
        (AggregateKind::Sum, Some(argument)) => match exact_digits(argument) {
            Some((digits, scale)) => ResultType::decimal(digits + u32::from(scale) + 22, scale).nullable(),
            None => ResultType::scaled_double(argument.scale()).nullable(),
        },
        (AggregateKind::Average, Some(argument)) => match exact_digits(argument) {
            Some((digits, scale)) => {
                // The digits that do not fit behind the point are not taken from those before it.
                let behind = scale + facts.division_precision_increment;
                ResultType::decimal(digits + u32::from(behind), behind.min(30)).nullable()
            }
            None => {
                let scale = argument.scale().saturating_add(facts.division_precision_increment);
                ResultType::scaled_double(scale).nullable()
            }
        },
        (AggregateKind::Minimum | AggregateKind::Maximum | AggregateKind::First, Some(argument)) => {
            argument.clone().nullable()
        }
        (_, None) => return Err(sql_error!(ER_INVALID_GROUP_FUNC_USE)),
    })
}

/// Display width of a column that a temporary table keeps: its least and its greatest value have it too.
fn shown_width(block: &Block, argument: &Expression) -> Option<u32> {
    let (table, column) = block.place(argument)?;
    block.tables[table].columns.get(column)?.shown_width
}

/// The type of GROUP_CONCAT, whose arguments are brought to one character set; `longest`: in bytes, as group_concat_max_len says.
fn group_concat_type(
    connection: CollationId,
    longest: u32,
    arguments: &mut [Expression],
) -> SqlResult<ResultType> {
    let (mut collation, mut coercibility) = (connection, Coercibility::Coercible);
    let is_text = |result: &ResultType| result.class() == TypeClass::Text || result.kind() == TypeKind::Bit;
    if arguments.iter().any(|argument| is_text(&argument.result)) {
        let mut operands: Vec<&mut Expression> = arguments.iter_mut().collect();
        let common = common_collation(&mut operands, connection, "group_concat", false)?;
        (collation, coercibility) = (common.collation, common.coercibility);
    } else if arguments.iter().all(|argument| argument.result.class() == TypeClass::Null) {
        collation = CollationId::BINARY;
    }
    if longest <= LARGE_TEXT_CHARACTERS {
        return Ok(ResultType::text(longest, collation, coercibility).nullable());
    }
    let width = u32::from(collation.charset().max_bytes);
    let longest = longest.saturating_mul(width);
    let mut result = ResultType::text(longest, collation, coercibility).nullable();
    result.column_type.kind = match collation {
        CollationId::BINARY => TypeKind::LongBlob,
        _ => TypeKind::LongText,
    };
    Ok(result)
}

/// GROUPING(): which keys a ROLLUP row sums over, as bits.
/// The keys are not known yet: until [`find_groupings`](super::group::find_groupings) the calls have numbers of their own.
pub(super) fn grouping(binder: &mut Binder<'_>, arguments: &[ast::Expression]) -> SqlResult<Expression> {
    let mut total: Option<Expression> = None;
    for (position, syntax) in arguments.iter().enumerate() {
        let bound = binder.scalar(syntax)?;
        let groupings = &mut binder.block().groupings;
        let known = groupings.iter().position(|(_, known)| known.same(&bound));
        let number = known.unwrap_or_else(|| {
            groupings.push((position, bound));
            groupings.len() - 1
        });
        let bit = add_aggregate(
            binder.block(),
            AggregateCall {
                kind: AggregateKind::Grouping(number),
                distinct: false,
                arguments: Vec::new(),
                order_by: Vec::new(),
                separator: Vec::new(),
                kept_as: None,
                result: ResultType::integer(1),
            },
        );
        total = Some(match total {
            None => bit,
            Some(total) => {
                use ::expression::operators::ArithmeticOperator::{Add, Multiply};
                let shifted = Expression::arithmetic(Multiply, total, Expression::integer(2), binder.facts)?;
                Expression::arithmetic(Add, shifted, bit, binder.facts)?
            }
        });
    }
    let total = total.ok_or_else(|| sql_error!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, "grouping"))?;
    Ok(Expression { result: ResultType::integer(21).nullable(), ..total })
}

/// Rewrites an expression over rows to one over groups: group keys and aggregates become slots of the grouped
/// row. A column that is neither has the group's first value.
pub(super) fn over_groups(block: &mut Block, expression: &mut Expression, rollup: bool) {
    let keys = block.group_keys.clone();
    let mut added = Vec::new();
    let mut aggregates = block.aggregates.clone();
    let mut reads_keys = false;
    expression.replace(&mut |part| {
        if let Some(key) = keys.iter().position(|key| key.same(part)) {
            reads_keys = true;
            let mut result = keys[key].result.clone();
            result.nullable |= rollup;
            return Some(Expression::slot(key, keys[key].to_string().into(), result));
        }
        match &part.kind {
            ExpressionKind::Aggregate(number) => {
                let name = shown_call(&aggregates[*number], !keys.is_empty()).into();
                let picks =
                    matches!(aggregates[*number].kind, AggregateKind::Minimum | AggregateKind::Maximum);
                let slot = if picks { Expression::picked_slot } else { Expression::slot };
                Some(slot(keys.len() + number, name, part.result.clone()))
            }
            ExpressionKind::Column(_) => {
                let call = AggregateCall {
                    kind: AggregateKind::First,
                    distinct: false,
                    arguments: vec![part.clone()],
                    order_by: Vec::new(),
                    separator: Vec::new(),
                    kept_as: None,
                    result: part.result.clone(),
                };
                let known = aggregates.iter().position(|known| same_call(known, &call));
                let number = known.unwrap_or_else(|| {
                    aggregates.push(call.clone());
                    added.push(call);
                    aggregates.len() - 1
                });
                let name = part.to_string().into();
                // Where no row is, there is no first one.
                let result = part.result.clone().nullable_if(keys.is_empty() || rollup);
                Some(Expression::slot(keys.len() + number, name, result.nullable_if(part.result.nullable)))
            }
            _ => None,
        }
    });
    block.aggregates.extend(added);
    // What is computed of a key that was rolled up is NULL as a rule.
    expression.result.nullable |= rollup && reads_keys;
}

/// Arguments, and the order in which GROUP_CONCAT takes them.
pub(super) type AggregateParts = (Vec<Expression>, Vec<SortKey>);

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
        TypeClass::Double | TypeClass::Text | TypeClass::Null | TypeClass::Json => None,
    }
}

pub(super) fn kind_of(call: &ast::AggregateCall) -> SqlResult<AggregateKind> {
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
        Kind::JsonArrayagg => AggregateKind::JsonArray { absent_on_null: call.absent_on_null },
        Kind::JsonObjectagg => AggregateKind::JsonObject,
        Kind::StCollect => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "spatial functions")),
    })
}

/// MIN and MAX give the text of an ENUM or SET, in whose order of members they look.
pub(super) fn member_as_text(argument: &mut Expression) {
    if argument.result.kind().has_members() {
        let result = argument.result.members_as_text();
        let inner = std::mem::replace(argument, Expression::null());
        *argument = Expression::convert_character_set(inner, result);
    }
}

/// A call as MySQL writes it in errors; in groups that a temporary table holds it is the name of a column.
fn shown_call(call: &AggregateCall, in_groups: bool) -> String {
    let distinct = if call.distinct { "distinct " } else { "" };
    let arguments: Vec<String> = match call.kind {
        AggregateKind::CountRows => vec!["0".to_owned()],
        _ => call.arguments.iter().map(ToString::to_string).collect(),
    };
    let quote = if in_groups { "`" } else { "" };
    format!("{quote}{}({distinct}{}){quote}", call.kind.name(), arguments.join(","))
}
