//! Window functions as steps: one for each way to part and order the rows, with a sort before it unless the rows come so already. Main
//! function: [`windowed`].

use errors::{SqlResult, sql_error};
use expression::operators::{ArithmeticOperator, ComparisonMode};
use expression::{BuildFacts, Expression, ExpressionKind};
use optimizer::{Block, BoundFrameBound, BoundWindow, LogicalSelect, are_same};
use plan::lateral::{LateralAccess, LateralSource};
use plan::physical::{Node, SortKey};
use plan::window::{Frame, FrameBound, RangeBound, WindowCall, WindowStep};

/// Steps that may lie in each other, those of queries in FROM included: a thread's stack has room for these, be it to run them or to
/// leave them.
const NESTED_STEPS_MAX: usize = 300;

/// The order of rows that the first step wants.
pub(crate) fn first_order(block: &Block) -> Vec<SortKey> {
    let order = block.windows.in_order();
    let mut keys = order.first().map_or_else(Vec::new, |first| block.windows.windows[*first].sort_keys());
    keys.retain(|key| key.expression.literal().is_none());
    keys
}

/// Puts the window functions of a block behind its rows, and their slots into the select list and the order.
pub(crate) fn windowed(
    block: &Block,
    node: Node,
    select: &mut LogicalSelect,
    comes_ordered: bool,
    facts: BuildFacts,
) -> SqlResult<Node> {
    let windows = &block.windows;
    if windows.calls.is_empty() {
        return Ok(node);
    }
    if nested_steps(&node) + windows.windows.len() > NESTED_STEPS_MAX {
        return Err(sql_error!(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT, NESTED_STEPS_MAX));
    }
    let mut width = match select.groups {
        true => block.group_keys.len() + block.aggregates.len(),
        false => block.slots.len(),
    };
    let mut node = node;
    let mut slots = vec![0; windows.calls.len()];
    let order = windows.in_order();
    // An index may give the first order.
    let mut sorted_by = match order.first() {
        Some(first) if comes_ordered => windows.windows[*first].sort_keys(),
        _ => Vec::new(),
    };
    let of_one_step = |left: &usize, right: &usize| {
        let (left, right) = (&windows.windows[*left], &windows.windows[*right]);
        left.partition.len() == right.partition.len() && are_same(&left.sort_keys(), &right.sort_keys())
    };
    for members in order.chunk_by(of_one_step) {
        let first = &windows.windows[members[0]];
        let keys = first.sort_keys();
        if !keys.is_empty() && !are_same(&keys, &sorted_by) {
            node = Node::Sort { input: Box::new(node), keys: keys.clone(), limit: None };
            sorted_by = keys;
        }
        let mut step = WindowStep {
            input: node,
            width,
            partition: first.partition.clone(),
            order: first.order.clone(),
            frames: Vec::with_capacity(members.len()),
            calls: Vec::new(),
        };
        for member in members {
            step.frames.push(frame_of(&windows.windows[*member], facts)?);
            let calls = windows.calls.iter().enumerate().filter(|(_, call)| call.window == *member);
            for (number, call) in calls {
                slots[number] = width + step.calls.len();
                step.calls.push(WindowCall {
                    function: call.function,
                    arguments: call.arguments.clone(),
                    frame: step.frames.len() - 1,
                    result: call.result.clone(),
                });
            }
        }
        width += step.calls.len();
        node = Node::Window(Box::new(step));
    }
    show_slots(block, select, &slots);
    Ok(node)
}

/// Puts the slots of window functions in their place in the select list and the order.
fn show_slots(block: &Block, select: &mut LogicalSelect, slots: &[usize]) {
    let calls = &block.windows.calls;
    let items = select.items.iter_mut().map(|item| &mut item.expression);
    for expression in items.chain(select.order.iter_mut().map(|key| &mut key.expression)) {
        expression.replace(&mut |part| match part.kind {
            ExpressionKind::Window(number) => {
                let name = calls[number].function.name();
                Some(Expression::slot(slots[number], name.into(), part.result.clone()))
            }
            _ => None,
        });
    }
}

/// How many steps of window functions lie in each other in a tree.
fn nested_steps(node: &Node) -> usize {
    match node {
        Node::Window(step) => 1 + nested_steps(&step.input),
        Node::Derived(access) => nested_steps(&access.query.root),
        Node::Aggregate(step) => nested_steps(&step.input),
        Node::Filter { input, .. }
        | Node::Project { input, .. }
        | Node::Distinct { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. } => nested_steps(input),
        Node::NestedLoop(join) => nested_steps(&join.outer),
        Node::VirtualLoop(join) => nested_steps(&join.outer),
        Node::Lateral(access) => nested_in_source(access),
        Node::LateralLoop(join) => nested_steps(&join.outer).max(nested_in_source(&join.inner)),
        Node::TreeLoop(join) => nested_steps(&join.outer).max(nested_steps(&join.inner.node)),
        Node::HashJoin(join) => nested_steps(&join.probe).max(nested_steps(&join.build)),
        Node::SetOperation(operation) => {
            let operands = operation.rest.iter().map(|term| &term.node).chain([&operation.first]);
            operands.map(nested_steps).max().unwrap_or(0)
        }
        Node::Append(inputs) => inputs.iter().map(nested_steps).max().unwrap_or(0),
        Node::Recursive(recursive) => {
            let steps = recursive.steps.iter().map(|step| &step.node).chain([&recursive.seed]);
            steps.map(nested_steps).max().unwrap_or(0)
        }
        Node::Nothing
        | Node::OneRow { .. }
        | Node::OuterRow { .. }
        | Node::Values { .. }
        | Node::Table(_)
        | Node::Virtual(_)
        | Node::Count(_)
        | Node::RecursiveInput { .. } => 0,
    }
}

fn nested_in_source(access: &LateralAccess) -> usize {
    match &access.source {
        LateralSource::Query { query, .. } => nested_steps(&query.root),
        LateralSource::Json(_) => 0,
    }
}

fn frame_of(window: &BoundWindow, facts: BuildFacts) -> SqlResult<Frame> {
    let name = window.shown_name().into();
    let written = window.frame.as_ref().map(|frame| {
        let unit = if frame.is_rows { "ROWS" } else { "RANGE" };
        format!("{unit} BETWEEN {} AND {}", shown(&frame.start, "PRECEDING"), shown(&frame.end, "FOLLOWING"))
    });
    let (start, end) = match &window.frame {
        None => (FrameBound::Unbounded, peers_of(window)),
        Some(frame) => (
            bound_of(window, frame.is_rows, &frame.start, facts)?,
            bound_of(window, frame.is_rows, &frame.end, facts)?,
        ),
    };
    let (is_named, written) = (window.name.is_some(), written.map(Into::into));
    Ok(Frame { window: name, is_named, written, start, end })
}

/// A bound in MySQL's words; without a distance it is the end of the partition in that direction.
fn shown(bound: &BoundFrameBound, direction: &str) -> String {
    match bound {
        BoundFrameBound::Unbounded => format!("UNBOUNDED {direction}"),
        BoundFrameBound::Current => "CURRENT ROW".to_owned(),
        BoundFrameBound::Offset { offset, unit, following } => {
            let direction = if *following { "FOLLOWING" } else { "PRECEDING" };
            match unit {
                Some(unit) => format!("INTERVAL {offset} {}  {direction}", unit.name().to_ascii_lowercase()),
                None => format!("{offset} {direction}"),
            }
        }
    }
}

/// CURRENT ROW of RANGE: without an order all rows are peers.
fn peers_of(window: &BoundWindow) -> FrameBound {
    if window.order.is_empty() { FrameBound::Unbounded } else { FrameBound::Peers }
}

fn bound_of(
    window: &BoundWindow,
    is_rows: bool,
    bound: &BoundFrameBound,
    facts: BuildFacts,
) -> SqlResult<FrameBound> {
    let (offset, unit, following) = match bound {
        BoundFrameBound::Unbounded => return Ok(FrameBound::Unbounded),
        BoundFrameBound::Current if is_rows => return Ok(FrameBound::CurrentRow),
        BoundFrameBound::Current => return Ok(peers_of(window)),
        BoundFrameBound::Offset { offset, unit, following } => (offset.clone(), *unit, *following),
    };
    if is_rows {
        return Ok(FrameBound::Rows { offset, following });
    }
    // The binder has seen that there is one key.
    let key = window.order.first();
    let key = key.ok_or_else(|| sql_error!(ER_WINDOW_RANGE_FRAME_ORDER_TYPE, window.shown_name()))?;
    let (order, subtract) = (key.expression.clone(), following == key.descending);
    let limit = match unit {
        Some(unit) => Expression::date_arithmetic(order, offset.clone(), unit, subtract, facts)?,
        None => {
            let operator = if subtract { ArithmeticOperator::Subtract } else { ArithmeticOperator::Add };
            Expression::arithmetic(operator, order, offset.clone(), facts)?
        }
    };
    let mode = ComparisonMode::choose(&key.expression, &limit);
    Ok(FrameBound::Range(Box::new(RangeBound { offset, limit, mode })))
}
