//! Window functions and their windows. Main functions: [`window_function`], [`window_aggregate`]; [`enter_windows`] and
//! [`settle_windows`] before and behind the clauses of a SELECT in which these may stand. Steps are made of them in `windows.rs`
//! beside `lower.rs`.
//!
//! A window of the WINDOW clause is bound once the clauses are, as in MySQL; until then it has its number only.

use super::aggregate::{aggregate_type, bind_aggregate_parts, kind_of, member_as_text, with_open};
use super::window_frame::{bind_frame, check_frame, check_offsets};
use super::{Binder, Wanted, function};
use ::expression::{Expression, ExpressionKind};
use errors::{SqlError, SqlResult, sql_error};
use optimizer::{BoundWindow, BoundWindowCall, Clause};
use parser::ast;
use plan::physical::{AggregateKind, SortKey};
use plan::window::{WindowFunction, whole_count};
use std::sync::Arc;

/// What a window without a name is called.
const UNNAMED: &str = "<unnamed window>";

/// Windows of a SELECT, as in MySQL.
const WINDOWS_MAX: usize = 127;

/// Takes in the WINDOW clause of a SELECT. Errors 3591 for a name that is given twice, 3579 to 3583 for windows that cannot be made of
/// each other.
pub(super) fn enter_windows(binder: &mut Binder<'_>, named: &[ast::NamedWindow]) -> SqlResult<()> {
    binder.block().windows.are_allowed = true;
    if named.is_empty() {
        return Ok(());
    }
    check_count(named.len())?;
    for (at, window) in named.iter().enumerate() {
        if named[..at].iter().any(|known| is_called(known, &window.name)) {
            return Err(sql_error!(ER_WINDOW_DUPLICATE_NAME, window.name));
        }
        binder.block().windows.windows.push(BoundWindow {
            name: Some(window.name.as_str().into()),
            partition: Vec::new(),
            order: Vec::new(),
            frame: None,
        });
    }
    let number = binder.block().number;
    binder.window_clauses.insert(number, named.into());
    named
        .iter()
        .try_for_each(|window| resolved(&window.specification, &window.name, named, named.len()).map(|_| ()))
}

/// Binds the windows of the WINDOW clause, and judges all. Errors: see [`check_frame`].
pub(super) fn settle_windows(binder: &mut Binder<'_>) -> SqlResult<()> {
    let named = named_here(binder);
    for (at, window) in named.iter().enumerate() {
        let bound = bind_window(binder, &window.specification, Some(&window.name))?;
        binder.block().windows.windows[at] = bound;
    }
    check_count(binder.block().windows.windows.len())?;
    binder.block().windows.windows.iter().try_for_each(check_frame)?;
    binder.block().windows.forget_unused();
    binder.block().windows.windows.iter().try_for_each(check_offsets)?;
    if binder.input.explains {
        note_idle_frames(binder);
    }
    Ok(())
}

/// EXPLAIN tells of frames that are written for functions that look at the whole partition.
fn note_idle_frames(binder: &mut Binder<'_>) {
    let windows = std::mem::take(&mut binder.block().windows);
    for call in &windows.calls {
        let window = &windows.windows[call.window];
        if window.frame.is_some() && !call.function.uses_frame() {
            let (function, window) = (call.function.name(), window.shown_name());
            let note = sql_error!(ER_WINDOW_FUNCTION_IGNORES_FRAME, function, window);
            binder.input.context.diagnostics().note(note);
        }
    }
    binder.block().windows = windows;
}

/// Error 4086: each window may be a step over the one before, and one may be made of another.
fn check_count(windows: usize) -> SqlResult<()> {
    match windows <= WINDOWS_MAX {
        true => Ok(()),
        false => Err(sql_error!(ER_TOO_MANY_WINDOWS, windows, WINDOWS_MAX)),
    }
}

/// The WINDOW clause of the SELECT that is being bound.
fn named_here(binder: &mut Binder<'_>) -> Arc<[ast::NamedWindow]> {
    let number = binder.block().number;
    binder.window_clauses.get(&number).cloned().unwrap_or_default()
}

/// A function that exists over windows only.
pub(super) fn window_function(
    binder: &mut Binder<'_>,
    call: &ast::WindowFunctionCall,
) -> SqlResult<Expression> {
    let function = function_of(call.kind);
    check_place(binder, function.name(), &call.over)?;
    if call.from_last {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "FROM LAST"));
    }
    if call.ignore_nulls {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "IGNORE NULLS"));
    }
    let mut arguments = apart(binder, |binder| bind_arguments(binder, call.kind, &call.arguments))?;
    let result = result_of(binder, function, &mut arguments)?;
    check_counts(function, &arguments)?;
    add_call(binder, &call.over, function, arguments, result)
}

/// An aggregate with OVER.
pub(super) fn window_aggregate(
    binder: &mut Binder<'_>,
    call: &ast::AggregateCall,
    over: &ast::Over,
) -> SqlResult<Expression> {
    let kind = kind_of(call)?;
    check_place(binder, kind.name(), over)?;
    if call.distinct {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "<window function>(DISTINCT ..)"));
    }
    if kind.collects() {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, format!("{} as window function", kind.name())));
    }
    let bind = |binder: &mut Binder<'_>| with_open(binder, |binder| bind_aggregate_parts(binder, call));
    let ((mut arguments, _), _) = apart(binder, bind)?;
    if matches!(kind, AggregateKind::Minimum | AggregateKind::Maximum) {
        arguments.iter_mut().for_each(member_as_text);
    }
    let result = aggregate_type(binder.facts, 0, kind, &mut arguments)?;
    add_call(binder, over, WindowFunction::Aggregate(kind), arguments, result)
}

fn function_of(kind: ast::WindowFunctionKind) -> WindowFunction {
    use ast::WindowFunctionKind as Kind;
    match kind {
        Kind::RowNumber => WindowFunction::RowNumber,
        Kind::Rank => WindowFunction::Rank,
        Kind::DenseRank => WindowFunction::DenseRank,
        Kind::PercentRank => WindowFunction::PercentRank,
        Kind::CumeDist => WindowFunction::CumeDist,
        Kind::Ntile => WindowFunction::Ntile,
        Kind::Lead => WindowFunction::Lead,
        Kind::Lag => WindowFunction::Lag,
        Kind::FirstValue => WindowFunction::FirstValue,
        Kind::LastValue => WindowFunction::LastValue,
        Kind::NthValue => WindowFunction::NthValue,
    }
}

/// Errors 3579 for an unknown window, 3595 within the specification of a window, and 3593 in another place where there is no window.
fn check_place(binder: &mut Binder<'_>, name: &str, over: &ast::Over) -> SqlResult<()> {
    if let ast::Over::Name(window) = over {
        number_of(binder, window)?;
    }
    let block = binder.block();
    if let Some(window) = &block.windows.within {
        return Err(sql_error!(ER_WINDOW_NESTED_WINDOW_FUNC_USE_IN_WINDOW_SPEC, window));
    }
    let is_allowed = block.windows.are_allowed
        && !block.in_aggregate
        && matches!(block.clause, Clause::FieldList | Clause::OrderBy);
    if is_allowed { Ok(()) } else { Err(sql_error!(ER_WINDOW_INVALID_WINDOW_FUNC_USE, name)) }
}

/// Binds what may hold aggregates, but no window functions.
fn apart<T>(binder: &mut Binder<'_>, bind: impl FnOnce(&mut Binder<'_>) -> SqlResult<T>) -> SqlResult<T> {
    let allowed = std::mem::replace(&mut binder.block().windows.are_allowed, false);
    let bound = bind(binder);
    binder.block().windows.are_allowed = allowed;
    bound
}

fn bind_arguments(
    binder: &mut Binder<'_>,
    kind: ast::WindowFunctionKind,
    arguments: &[ast::Expression],
) -> SqlResult<Vec<Expression>> {
    use ast::WindowFunctionKind as Kind;
    let mut bound: Vec<Expression> = Vec::with_capacity(arguments.len());
    for (at, argument) in arguments.iter().enumerate() {
        let is_count = match kind {
            Kind::Ntile => true,
            Kind::Lag | Kind::Lead | Kind::NthValue => at == 1,
            _ => false,
        };
        bound.push(match is_count {
            true if matches!(argument, ast::Expression::Column(_)) && kind == Kind::NthValue => {
                return Err(sql_error!(ER_WRONG_ARGUMENTS, "nth_value"));
            }
            true => {
                if let ast::Expression::Column(name) = argument {
                    return Err(sql_error!(ER_SP_UNDECLARED_VAR, name.column));
                }
                binder.scalar_as(argument, Wanted::whole_number())?
            }
            false => {
                let wanted = match bound.first() {
                    Some(value) => Wanted::like(&value.result.column_type),
                    None => binder.wanted_text(),
                };
                binder.scalar_as(argument, wanted)?
            }
        });
    }
    Ok(bound)
}

/// The type of a function's result; what it shows is brought to that.
fn result_of(
    binder: &mut Binder<'_>,
    function: WindowFunction,
    arguments: &mut [Expression],
) -> SqlResult<::expression::ResultType> {
    use ::expression::ResultType;
    Ok(match function {
        WindowFunction::PercentRank | WindowFunction::CumeDist => ResultType::double(),
        WindowFunction::Lag | WindowFunction::Lead if arguments.len() == 3 => {
            let (value, default) = (arguments[0].clone(), arguments[2].clone());
            let nullable = value.result.nullable || default.result.nullable;
            let common = function::call(binder, "coalesce", vec![value, default])?;
            let ExpressionKind::Function(call) = common.kind else {
                return Err(sql_error!(ER_WRONG_ARGUMENTS, function.name()));
            };
            let result = ResultType { nullable, ..common.result };
            let mut brought = call.arguments.into_iter();
            for at in [0, 2] {
                let Some(argument) = brought.next() else { continue };
                arguments[at] = match argument.result.column_type == result.column_type {
                    true => argument,
                    false => {
                        let alone = function::call(binder, "coalesce", vec![argument])?;
                        Expression { result: result.clone().nullable(), ..alone }
                    }
                };
            }
            result
        }
        WindowFunction::Lag
        | WindowFunction::Lead
        | WindowFunction::FirstValue
        | WindowFunction::LastValue
        | WindowFunction::NthValue => {
            member_as_text(&mut arguments[0]);
            arguments[0].result.clone().nullable()
        }
        _ => ResultType::unsigned(21),
    })
}

/// Errors 1210 for numbers of rows and buckets that are none, as far as they are known.
fn check_counts(function: WindowFunction, arguments: &[Expression]) -> SqlResult<()> {
    let number = match function {
        WindowFunction::Ntile => arguments.first(),
        WindowFunction::Lag | WindowFunction::Lead | WindowFunction::NthValue => arguments.get(1),
        _ => None,
    };
    let Some(value) = number.and_then(Expression::literal) else { return Ok(()) };
    let least = i64::from(!matches!(function, WindowFunction::Lag | WindowFunction::Lead));
    let count = whole_count(value).and_then(|count| i64::try_from(count).ok());
    match count.filter(|count| *count >= least) {
        Some(_) => Ok(()),
        None => Err(sql_error!(ER_WRONG_ARGUMENTS, function.name())),
    }
}

fn add_call(
    binder: &mut Binder<'_>,
    over: &ast::Over,
    function: WindowFunction,
    arguments: Vec<Expression>,
    result: ::expression::ResultType,
) -> SqlResult<Expression> {
    let window = match over {
        ast::Over::Name(name) => number_of(binder, name)?,
        ast::Over::Window(specification) => {
            let bound = bind_window(binder, specification, None)?;
            let windows = &mut binder.block().windows.windows;
            windows.push(bound);
            windows.len() - 1
        }
    };
    let calls = &mut binder.block().windows.calls;
    calls.push(BoundWindowCall { function, arguments, window, result: result.clone() });
    Ok(Expression { kind: ExpressionKind::Window(calls.len() - 1), result })
}

/// The number of a window of the WINDOW clause. Error 3579.
fn number_of(binder: &mut Binder<'_>, name: &str) -> SqlResult<usize> {
    let found = named_here(binder).iter().position(|known| is_called(known, name));
    found.ok_or_else(|| sql_error!(ER_WINDOW_NO_SUCH_WINDOW, name))
}

fn is_called(window: &ast::NamedWindow, name: &str) -> bool {
    window.name.eq_ignore_ascii_case(name)
}

/// What a window takes from the windows that it is made of: PARTITION BY, and ORDER BY.
type Inherited<'s> = (&'s [ast::Expression], &'s [ast::OrderItem]);

/// PARTITION BY and ORDER BY of a window, its own and inherited ones. `depth`: of windows that it may be made of.
fn resolved<'s>(
    specification: &'s ast::WindowSpecification,
    name: &str,
    named: &'s [ast::NamedWindow],
    depth: usize,
) -> SqlResult<Inherited<'s>> {
    let ast::WindowSpecification { base, partition_by, order_by, .. } = specification;
    let Some(base) = base else { return Ok((partition_by, order_by)) };
    let Some(found) = named.iter().find(|known| is_called(known, base)) else {
        return Err(sql_error!(ER_WINDOW_NO_SUCH_WINDOW, base));
    };
    if depth == 0 {
        return Err(sql_error!(ER_WINDOW_CIRCULARITY_IN_WINDOW_GRAPH));
    }
    let (partition, order) = resolved(&found.specification, &found.name, named, depth - 1)?;
    if !partition_by.is_empty() {
        return Err(sql_error!(ER_WINDOW_NO_CHILD_PARTITIONING));
    }
    if !order.is_empty() && !order_by.is_empty() {
        return Err(sql_error!(ER_WINDOW_NO_REDEFINE_ORDER_BY, name, found.name));
    }
    if found.specification.frame.is_some() {
        return Err(sql_error!(ER_WINDOW_NO_INHERIT_FRAME, found.name));
    }
    Ok((partition, if order.is_empty() { order_by } else { order }))
}

/// Binds PARTITION BY, ORDER BY and the frame of a window.
fn bind_window(
    binder: &mut Binder<'_>,
    specification: &ast::WindowSpecification,
    name: Option<&str>,
) -> SqlResult<BoundWindow> {
    let shown = name.unwrap_or(UNNAMED);
    let named = named_here(binder);
    let (partition_by, order_by) = resolved(specification, shown, &named, named.len())?;
    let clause = binder.block().clause;
    let within = binder.block().windows.within.replace(shown.into());
    let mut bind = || {
        binder.block().clause = Clause::WindowPartition;
        let mut partition = Vec::with_capacity(partition_by.len());
        for part in partition_by {
            partition.push(bind_part(binder, part, shown)?);
        }
        binder.block().clause = Clause::WindowOrder;
        let mut order = Vec::with_capacity(order_by.len());
        for item in order_by {
            let expression = bind_part(binder, &item.expression, shown)?;
            order.push(SortKey { expression, descending: item.descending });
        }
        let frame = specification.frame.as_ref().map(|frame| bind_frame(binder, frame, &order));
        Ok((partition, order, frame.transpose()?))
    };
    let bound = bind();
    binder.block().clause = clause;
    binder.block().windows.within = within;
    let (partition, order, frame) = bound?;
    Ok(BoundWindow { name: name.map(Arc::from), partition, order, frame })
}

/// A part of PARTITION BY or ORDER BY. Errors 3592 for a position, 6432 for a column of an enclosing query.
fn bind_part(binder: &mut Binder<'_>, part: &ast::Expression, window: &str) -> SqlResult<Expression> {
    if let ast::Expression::Literal(ast::Literal::Integer(_)) = part {
        return Err(sql_error!(ER_WINDOW_ILLEGAL_ORDER_BY, window));
    }
    let bound = binder.scalar(part)?;
    let mut refused = None;
    bound.visit(&mut |part| {
        if let ExpressionKind::Outer(number) = part.kind {
            refused = refused.or(Some(number));
        }
    });
    match refused {
        Some(number) => Err(outer_reference(binder, number)),
        None => Ok(bound),
    }
}

/// Error 6432 names the column as the block in which it is calls it.
fn outer_reference(binder: &mut Binder<'_>, number: usize) -> SqlError {
    let mut number = number;
    let mut shown = String::new();
    for block in binder.blocks.iter().rev() {
        let Some(outer) = block.outer.get(number) else { break };
        shown = outer.to_string().replace('`', "");
        match outer.kind {
            ExpressionKind::Outer(further) => number = further,
            _ => break,
        }
    }
    sql_error!(ER_INVALID_OUTER_REFERENCE, shown)
}
