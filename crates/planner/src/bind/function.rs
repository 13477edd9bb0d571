//! Function calls, and the syntax nodes that are functions under another spelling.

use super::column::{find_column, find_in_first};
use super::{Binder, Wanted};
use ::expression::builtin::{self, JsonArguments};
use ::expression::json;
use ::expression::{Coercibility, Expression, ExpressionKind, ResultType, Routine, RoutineCall, TypeClass};
use builtins::{ArgumentRule, Reads, argument_rule};
use dictionary::ColumnDefault;
use errors::{SqlResult, sql_error};
use optimizer::Source;
use parser::ast;
use plan::{VirtualTables, implicit_default};
use std::sync::Arc;
use values::{RowRef, TypeKind, Value};

/// A unit or word as a first argument.
fn word(text: &str) -> Expression {
    Expression::text(text.as_bytes().to_vec(), charset::CollationId::UTF8MB4_0900_AI_CI)
}

fn compares(part: &Expression) -> bool {
    matches!(
        part.kind,
        ExpressionKind::Compare(_)
            | ExpressionKind::In(_)
            | ExpressionKind::Between(_)
            | ExpressionKind::Xor(_)
    )
}

/// A call of a built-in function over bound arguments.
pub(super) fn call(
    binder: &mut Binder<'_>,
    name: &str,
    mut arguments: Vec<Expression>,
) -> SqlResult<Expression> {
    let Some(definition) = builtins::find(name) else {
        let routine = routine_here(binder, name)?;
        return call_routine(binder, routine, arguments);
    };
    if !definition.pure {
        match builtins::reads_of(name, arguments.len()) {
            Reads::Nothing | Reads::Settings => {}
            Reads::Clock => binder.nature.clock_calls += 1,
            Reads::Anything => binder.nature.reads_elsewhere = true,
        }
        binder.nature.volatile |= matches!(name, "rand" | "last_insert_id" | "found_rows" | "row_count");
    }
    binder.nature.repeats |= definition.differs_between_rows();
    for (position, argument) in arguments.iter_mut().enumerate() {
        let is_integer = argument_rule(name, position) == ArgumentRule::Integer;
        if is_integer && definition.json == JsonArguments::Text {
            json::make_integer(argument);
        }
    }
    if matches!(name, "greatest" | "least") {
        binder.warn_of_comparison(&arguments, "in the LEAST and GREATEST operators");
    }
    let site = binder.site();
    let mut known = Vec::with_capacity(arguments.len());
    for position in 0..arguments.len() {
        known.push(known_argument(binder, name, &arguments, position)?);
    }
    Expression::call_knowing(definition, arguments, &known, site, binder.facts)
}

/// The stored function of that name. Errors: 1305; 1630 where it is a built-in's name that is none with a blank or a schema.
fn routine(tables: &dyn VirtualTables, schema: &str, name: &str) -> SqlResult<Arc<Routine>> {
    tables.routine(schema, name).ok_or_else(|| {
        let full = format!("{schema}.{name}");
        match parser::is_unspaced_function(&name.to_ascii_lowercase()) {
            true => sql_error!(ER_FUNC_INEXISTENT_NAME_COLLISION, full),
            false => sql_error!(ER_SP_DOES_NOT_EXIST, "FUNCTION", full),
        }
    })
}

/// The stored function of that name in the current schema. Errors 1046, 1305, 1630.
fn routine_here(binder: &Binder<'_>, name: &str) -> SqlResult<Arc<Routine>> {
    let Some(schema) = &binder.schema else { return Err(sql_error!(ER_NO_DB_ERROR)) };
    routine(binder.input.virtual_tables, schema, name)
}

/// A call of a stored function. Error 1318.
fn call_routine(
    binder: &mut Binder<'_>,
    routine: Arc<Routine>,
    arguments: Vec<Expression>,
) -> SqlResult<Expression> {
    routine.check_arguments(arguments.len())?;
    binder.nature.volatile = true;
    binder.nature.reads_elsewhere = true;
    binder.nature.repeats = true;
    binder.nature.calls_routines = true;
    let coercibility = Coercibility::Coercible;
    let result =
        ResultType { column_type: routine.returns.clone(), nullable: true, coercibility, is_truth: false };
    let call = RoutineCall { routine, arguments };
    Ok(Expression { kind: ExpressionKind::Routine(Box::new(call)), result })
}

/// Reports what a constant warns of when its operation is prepared, before it is computed.
pub(super) fn report_constant(binder: &mut Binder<'_>, constant: &Expression) {
    let is_reported = constant.is_foldable() && constant.literal().is_none() && !constant.any(&compares);
    if !binder.input.runs || binder.changes.escalates || !is_reported {
        return;
    }
    let context = &mut *binder.input.context;
    let before = context.diagnostics().reported();
    if constant.evaluate(RowRef::EMPTY, context).is_err() {
        context.diagnostics().go_back(before);
    } else if context.diagnostics().count() > before.count() {
        binder.nature.volatile = true;
    }
}

/// The value of a constant argument that the type of the call depends on. What its evaluation reports is reported here
/// and once more when the call runs; the plan is one for this execution only. In a strict change it is an error.
fn known_argument(
    binder: &mut Binder<'_>,
    name: &str,
    arguments: &[Expression],
    position: usize,
) -> SqlResult<Option<Value>> {
    let argument = &arguments[position];
    let (class, kind) = (argument.result.class(), arguments[0].result.class());
    let is_text = class == TypeClass::Text && !argument.result.is_number_bytes();
    let asks = builtin::asks_before(name, position)
        && (is_text || argument.literal().is_none())
        && argument.is_foldable();
    // A plan for other literals would not ask.
    binder.nature.volatile |=
        binder.changes.escalates && binder.facts.literal_parameters && is_text && argument.has_parameter();
    // Bounds of INTERVAL that are text and digits of numbers that are not exact do not count.
    let asks = asks
        && match name {
            "interval" => !is_text,
            "round" | "truncate" => kind == TypeClass::Decimal,
            _ => true,
        };
    if !asks {
        return Ok(None);
    }
    let fails = binder.input.runs && binder.changes.escalates;
    let context = &mut *binder.input.context;
    let before = context.diagnostics().reported();
    context.diagnostics().escalate(fails);
    // The digits of ROUND are asked for twice, unless they are text.
    let times = if matches!(name, "round" | "truncate") && !is_text { 2 } else { 1 };
    let mut found = None;
    for _ in 0..times {
        let value = match name {
            "str_to_date" | "interval" => argument.evaluate(RowRef::EMPTY, context),
            _ => argument.constant_integer(context),
        };
        found = match value {
            Err(error) if fails => return Err(error),
            value => value.ok(),
        };
    }
    let raised = context.diagnostics().take_raised();
    context.diagnostics().escalate(false);
    if let Some(error) = raised {
        return Err(error);
    }
    let silent = context.diagnostics().count() == before.count();
    binder.nature.volatile |= !silent;
    // A comparison remembers what it converted; so do LEFT and RIGHT of a number.
    let is_null = found == Some(Value::Null);
    let of_number = !matches!(kind, TypeClass::Text | TypeClass::DateTime | TypeClass::Time);
    let is_side = matches!(name, "left" | "right");
    let is_start = position == 1 && matches!(name, "substring" | "substr" | "mid");
    let remembers = argument.any(&compares)
        || of_number && (is_side || is_start)
        || is_null && (is_side || position == 0);
    if found.is_none() || !binder.input.runs || binder.changes.escalates || remembers {
        binder.input.context.diagnostics().go_back(before);
    }
    if is_null && name == "space" {
        return Ok(Some(Value::Int(0)));
    }
    Ok(if name == "interval" { None } else { found })
}

fn call_with(
    binder: &mut Binder<'_>,
    name: &str,
    first: Expression,
    rest: &[&ast::Expression],
) -> SqlResult<Expression> {
    let mut arguments = vec![first];
    for (position, syntax) in rest.iter().enumerate() {
        arguments.push(binder.argument(name, position + 1, syntax)?);
    }
    call(binder, name, arguments)
}

/// Calls, and nodes that have a syntax of their own but are calls.
pub(super) fn special_call(binder: &mut Binder<'_>, syntax: &ast::Expression) -> SqlResult<Expression> {
    match syntax {
        ast::Expression::Extract { unit, operand } => {
            call_with(binder, "extract", word(unit.name()), &[operand])
        }
        ast::Expression::TimestampDiff { unit, from, to } => {
            call_with(binder, "timestampdiff", word(unit.name()), &[from, to])
        }
        ast::Expression::Trim { side, remove, operand } => {
            let name = match side {
                ast::TrimSide::Unsaid | ast::TrimSide::Both => "trim_both",
                ast::TrimSide::Leading => "trim_leading",
                ast::TrimSide::Trailing => "trim_trailing",
            };
            let operand = binder.argument(name, 0, operand)?;
            match remove {
                Some(remove) => call_with(binder, name, operand, &[remove]),
                None => call(binder, name, vec![operand]),
            }
        }
        ast::Expression::Char { arguments, charset } => {
            let collation = match charset {
                Some(name) => super::literal::character_set(name)?,
                None => charset::CollationId::BINARY,
            };
            let rest: Vec<&ast::Expression> = arguments.iter().collect();
            call_with(binder, "char", Expression::integer(u64::from(collation.0)), &rest)
        }
        ast::Expression::WeightString { operand, shape } => weight_string(binder, operand, shape.as_ref()),
        ast::Expression::WindowFunction(call) => super::window::window_function(binder, call),
        ast::Expression::Match { .. } => Err(sql_error!(ER_NOT_SUPPORTED_YET, "full-text search")),
        ast::Expression::MemberOf { operand, array } => super::json::member_of(binder, operand, array),
        ast::Expression::JsonValue(call) => super::json::json_value(binder, call),
        _ => Err(sql_error!(ER_NOT_SUPPORTED_YET, "this expression")),
    }
}

/// WEIGHT_STRING(text AS CHAR(n)) looks at n characters, AS BINARY(n) at n bytes padded with zeros.
fn weight_string(
    binder: &mut Binder<'_>,
    operand: &ast::Expression,
    shape: Option<&ast::WeightStringShape>,
) -> SqlResult<Expression> {
    let operand = binder.argument("weight_string", 0, operand)?;
    match shape {
        None => call(binder, "weight_string", vec![operand]),
        Some(ast::WeightStringShape::Characters(0) | ast::WeightStringShape::Binary(0)) => {
            Err(sql_error!(ER_PARSE_ERROR, errors::code::ER_SYNTAX_ERROR.format, "0", 1))
        }
        Some(ast::WeightStringShape::Binary(length)) => {
            let length = u32::try_from(*length).unwrap_or(u32::MAX);
            let nullable = operand.result.nullable;
            let bytes = Expression::cast_binary(operand, length, binder.facts)?;
            let bound = call(binder, "weight_string", vec![bytes])?;
            Ok(Expression { result: ResultType { nullable, ..bound.result }, kind: bound.kind })
        }
        Some(ast::WeightStringShape::Characters(length)) => {
            call(binder, "weight_string", vec![operand, Expression::integer(*length)])
        }
        Some(ast::WeightStringShape::Fitted { bytes, characters }) => {
            let numbers = [characters, bytes].map(|number| Expression::integer(*number));
            call(binder, "weight_string", std::iter::once(operand).chain(numbers).collect())
        }
    }
}

/// A call by name. `wanted` is what the operation around it wants.
pub(super) fn function(
    binder: &mut Binder<'_>,
    written: &ast::FunctionCall,
    wanted: Option<Wanted>,
) -> SqlResult<Expression> {
    let routine = match &written.schema {
        Some(schema) => Some(routine(binder.input.virtual_tables, schema, &written.name)?),
        None if written.spaced => Some(routine_here(binder, &written.name)?),
        None => None,
    };
    if let Some(routine) = routine {
        let arguments = binder.arguments(&written.name, &written.arguments, None)?;
        return call_routine(binder, routine, arguments);
    }
    let name = written.name.to_ascii_lowercase();
    if let ("mod", [left, right]) = (name.as_str(), written.arguments.as_slice()) {
        let (left, right) = binder.two_beside(left, right, wanted, |_| Wanted::double())?;
        let modulo = ::expression::operators::ArithmeticOperator::Modulo;
        return Expression::arithmetic(modulo, left, right, binder.facts);
    }
    builtins::check_call(&name, &written.name, written.arguments.len())?;
    let arguments = binder.arguments(&name, &written.arguments, wanted)?;
    call(binder, &name, arguments)
}

/// `VALUES(column)` in ON DUPLICATE KEY UPDATE; NULL elsewhere, as in MySQL.
pub(super) fn inserted_value(
    binder: &mut Binder<'_>,
    reference: &ast::ColumnReference,
) -> SqlResult<Expression> {
    let block = binder.block();
    let slots = block.inserted_slots.clone();
    let found =
        if slots.is_empty() { find_column(block, reference)? } else { find_in_first(block, reference) };
    let Some((table, column)) = found else {
        return Err(sql_error!(ER_BAD_FIELD_ERROR, reference, "field list"));
    };
    let (block, privileges) = binder.block_and_privileges();
    privileges.require_column_read(&block.tables[table], column, &reference.column);
    let Some(slot) = slots.get(column).copied().filter(|_| table == 0) else {
        return Ok(Expression::null());
    };
    let bound = &block.tables[table];
    let result = bound.columns[column].result.clone().nullable();
    let schema = bound.schema.as_ref().map_or(String::new(), |schema| format!("`{schema}`."));
    let name = format!("values({schema}`{}`.`{}`)", bound.alias, bound.columns[column].name);
    Ok(Expression::slot(slot, name.into(), result))
}

/// `DEFAULT(column)`.
pub(super) fn default_of(
    binder: &mut Binder<'_>,
    reference: Option<&ast::ColumnReference>,
) -> SqlResult<Expression> {
    let Some(reference) = reference else {
        return Err(sql_error!(ER_PARSE_ERROR, "You have an error in your SQL syntax", "DEFAULT", 1));
    };
    let block = binder.block();
    let Some((table, column)) = find_column(block, reference)? else {
        let clause = block.clause.name();
        return Err(sql_error!(ER_BAD_FIELD_ERROR, reference, clause));
    };
    let (block, privileges) = binder.block_and_privileges();
    privileges.require_column_read(&block.tables[table], column, &reference.column);
    let bound = &block.tables[table];
    let Some(column) = bound.stored_column(column) else {
        return Err(sql_error!(ER_NO_DEFAULT_FOR_FIELD, reference.column));
    };
    let definition = match &bound.source {
        Source::Base(table) => table.definition().clone(),
        Source::Virtual(definition) => (**definition).clone(),
        _ => return Err(sql_error!(ER_NO_DEFAULT_FOR_FIELD, reference.column)),
    };
    default_value(binder, &definition.columns[column])
}

/// What a column holds when a row gives it no value. Errors: 1364 for a column without default, 3773 where that is computed.
pub(super) fn default_value(
    binder: &mut Binder<'_>,
    column: &dictionary::ColumnDefinition,
) -> SqlResult<Expression> {
    let result = ResultType::column(column.column_type.clone(), column.nullable);
    match &column.default {
        _ if column.generated.is_some() => Err(sql_error!(ER_NO_DEFAULT_FOR_FIELD, column.name)),
        ColumnDefault::Literal(Value::DateTime(utc)) if column.column_type.kind == TypeKind::Timestamp => {
            let local = binder.input.context.facts().time_zone.utc_to_local(*utc);
            Ok(Expression::constant(Value::DateTime(local), result))
        }
        ColumnDefault::Literal(value) => Ok(Expression::constant(value.clone(), result)),
        ColumnDefault::None if column.nullable => Ok(Expression::constant(Value::Null, result)),
        ColumnDefault::None if column.auto_increment => {
            Ok(Expression::constant(implicit_default(&column.column_type), result))
        }
        ColumnDefault::None | ColumnDefault::Dropped => Err(sql_error!(ER_NO_DEFAULT_FOR_FIELD, column.name)),
        ColumnDefault::CurrentTimestamp(digits) => current_timestamp(binder, *digits),
        ColumnDefault::Expression(_) => Err(sql_error!(ER_DEFAULT_AS_VAL_GENERATED)),
    }
}

/// CURRENT_TIMESTAMP with so many fractional digits.
pub(super) fn current_timestamp(binder: &mut Binder<'_>, digits: u8) -> SqlResult<Expression> {
    call(binder, "now", vec![Expression::integer(u64::from(digits))])
}
