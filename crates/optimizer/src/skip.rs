//! DISTINCT, GROUP BY and COUNT(DISTINCT) over the first parts of an index: from each value of theirs to the next, without the
//! rows between. What stands beside them of MIN and MAX is read from the ends of its own index. Main function:
//! [`skipping_rows`].

use super::access::{Candidate, table_rows};
use super::build::Builder;
use super::equal_columns::subject_of;
use super::extremes::extreme_end;
use super::order::whole_indexes;
use crate::cost::{KEPT_ROW_NS, SKIP_NS};
use crate::{Block, JoinTree, LogicalSelect, Optimizer, Source, needs_row};
use charset::CollationId;
use engine::Table;
use expression::{Expression, ExpressionKind, TypeClass};
use plan::Rule;
use plan::physical::{AggregateCall, AggregateKind, ExplainRow, Node, RowLock};

/// One row for each combination of values that the query reads, if that is all it asks for and there are few. Their line of
/// EXPLAIN, if somebody explains, and their number come with them.
pub fn skipping_rows(
    optimizer: &mut Optimizer<'_>,
    select: &LogicalSelect,
) -> Option<(Node, Option<ExplainRow>, f64)> {
    let Some(JoinTree::Table(0)) = select.tree else { return None };
    let may = optimizer.context.rules().has(Rule::SkipScan);
    // Rows that are skipped would not be locked.
    let locks = optimizer.block.tables[0].lock != RowLock::None;
    if !may || locks || !asks_for_values(optimizer.block, select) || needs_row(optimizer.block, 0) {
        return None;
    }
    let (ends, elsewhere) = ends_beside(optimizer, select);
    let slots = optimizer.block.tables[0].slots.clone();
    for slot in &mut optimizer.block.tables[0].slots {
        slot.take_if(|slot| elsewhere.contains(slot));
    }
    let skipping = skipping_table(optimizer, select);
    optimizer.block.tables[0].slots = slots;
    let (node, row, groups) = skipping?;
    let node = match ends.is_empty() {
        true => node,
        false => Node::Append(ends.into_iter().chain([node]).collect()),
    };
    Some((node, row, groups))
}

/// The rows that have the extremes that are asked for beside other values, and the slots that nothing else reads. An extreme row
/// does no harm to the rest: it is one of the rows.
fn ends_beside(optimizer: &mut Optimizer<'_>, select: &LogicalSelect) -> (Vec<Node>, Vec<usize>) {
    let may = optimizer.context.rules().has(Rule::MinMax);
    if !may || !select.groups || select.has_group_keys {
        return (Vec::new(), Vec::new());
    }
    let (mut ends, mut apart, mut read) = (Vec::new(), Vec::new(), Vec::new());
    for call in optimizer.block.aggregates.clone() {
        let end = extreme_end(optimizer, &call, &select.conditions);
        let slots = call.arguments.iter().flat_map(Expression::slots);
        if end.is_some() {
            apart.extend(slots)
        } else {
            read.extend(slots)
        }
        read.extend(call.order_by.iter().flat_map(|key| key.expression.slots()));
        ends.extend(end);
    }
    read.extend(select.conditions.iter().flat_map(Expression::slots));
    apart.retain(|slot| !read.contains(slot));
    if apart.is_empty() { (Vec::new(), apart) } else { (ends, apart) }
}

fn skipping_table(
    optimizer: &mut Optimizer<'_>,
    select: &LogicalSelect,
) -> Option<(Node, Option<ExplainRow>, f64)> {
    let block = &*optimizer.block;
    let Source::Base(table) = &block.tables[0].source else { return None };
    let table = table.clone();
    let used = block.tables[0].slots.iter().enumerate();
    let used: Vec<usize> = used.filter_map(|(column, slot)| slot.map(|_| column)).collect();
    let statistics = optimizer.statistics(&table);
    let all: Vec<&Expression> = select.conditions.iter().collect();
    let mut candidates = optimizer.candidates(0, &all, 0);
    let whole = |candidate: &Candidate| candidate.cost_ns() + candidate.rows * KEPT_ROW_NS;
    let plain_ns = candidates.iter().map(whole).min_by(f64::total_cmp)?;
    candidates.extend(whole_indexes(optimizer, 0, true));
    let mut best: Option<(f64, usize, Candidate)> = None;
    for candidate in candidates {
        let index = candidate.path.index;
        let Some(parts) = first_parts(&table, index, &used) else { continue };
        let is_read = candidate.path.union.is_empty() && (index == 0 || candidate.path.covering);
        let Some(distinct) = statistics.distinct.get(index).and_then(|counts| counts.get(parts - 1)) else {
            continue;
        };
        let groups = (*distinct as f64 * candidate.rows / table_rows(&statistics)).max(1.0);
        if is_read && best.as_ref().is_none_or(|(known, ..)| groups < *known) {
            best = Some((groups, parts, candidate));
        }
    }
    let (groups, parts, mut candidate) = best.filter(|(groups, ..)| groups * SKIP_NS < plain_ns)?;
    candidate.path.skip_parts = parts;
    candidate.path.ordered = true;
    candidate.rows = groups;
    let explains = optimizer.explains;
    let builder = Builder::of(optimizer);
    let dependent = candidate.dependent;
    let node = builder.table_reader(0, Some(candidate), u64::MAX);
    let row = explains.then(|| {
        let mut extra = vec!["Using index for group-by".to_owned()];
        if !select.conditions.is_empty() {
            extra.insert(0, "Using where".to_owned());
        }
        ExplainRow { access: Some("range"), extra, ..builder.line_of_table(0, &node, dependent) }
    });
    let Node::Table(mut access) = node else { return None };
    access.conditions.clone_from(&select.conditions);
    Some((Node::Table(access), row, groups))
}

/// Whether rows that agree in all columns that are read count as one, and nobody sees how many were read.
fn asks_for_values(block: &Block, select: &LogicalSelect) -> bool {
    let counts_once = |call: &AggregateCall| {
        call.distinct
            || matches!(
                call.kind,
                AggregateKind::Minimum
                    | AggregateKind::Maximum
                    | AggregateKind::BitAnd
                    | AggregateKind::BitOr
                    | AggregateKind::First
            )
    };
    let is_asked = match select.groups {
        true => block.aggregates.iter().all(counts_once),
        false => select.distinct,
    };
    let arguments = || block.aggregates.iter().flat_map(|call| &call.arguments);
    let ordering = block.aggregates.iter().flat_map(|call| &call.order_by).chain(&select.order);
    let shown = || select.items.iter().map(|item| &item.expression);
    let mut all = arguments()
        .chain(ordering.map(|key| &key.expression))
        .chain(shown())
        .chain(&select.conditions)
        .chain(&select.having)
        .chain(&block.group_keys);
    let is_plain = select.semijoins.is_empty() && !select.rollup && block.tables.len() == 1;
    // What is shown of a group is shown of any of its rows.
    let mut told = arguments().chain(shown().filter(|_| !select.groups)).chain(&block.group_keys);
    let is_blind =
        |expression: &Expression| expression.column_slot().is_some() || is_equal_for_equals(expression);
    is_asked
        && is_plain
        && all.all(is_steady)
        && told.all(is_blind)
        && select.conditions.iter().all(is_equal_for_equals)
}

/// Whether an expression has one value for all values of columns that an index takes for equal: texts that differ in case, 0 and -0.
fn is_equal_for_equals(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::IsNull(of) if of.column_slot().is_some() => true,
        ExpressionKind::And(operands) | ExpressionKind::Or(operands) => {
            operands.iter().all(is_equal_for_equals)
        }
        ExpressionKind::Not(operand) => is_equal_for_equals(operand),
        _ => {
            subject_of(expression).is_some()
                || !expression.any(&|part| part.column_slot().is_some() && has_equals(part))
        }
    }
}

/// Whether a column may have values that are equal and not the same.
fn has_equals(column: &Expression) -> bool {
    let column_type = &column.result.column_type;
    match column.result.class() {
        TypeClass::Double => true,
        TypeClass::Text => !column_type.kind.has_members() && column_type.collation != CollationId::BINARY,
        _ => false,
    }
}

/// Whether an expression gives one value for one row, however often it is computed.
fn is_steady(expression: &Expression) -> bool {
    !expression.any(&|part| match &part.kind {
        ExpressionKind::UserVariable(_)
        | ExpressionKind::AssignUserVariable(..)
        | ExpressionKind::Routine(_)
        | ExpressionKind::Subquery(_) => true,
        ExpressionKind::Function(call) => call.definition.differs_between_rows(),
        _ => false,
    })
}

/// How many first parts of an index hold those columns; None if they do not, or if its order is not theirs.
fn first_parts(table: &Table, index: usize, columns: &[usize]) -> Option<usize> {
    let index = &table.indexes()[index];
    let definition = index.definition(table).filter(|_| index.orders_rows())?;
    let mut count = 0;
    for column in columns {
        let at = definition.parts.iter().position(|part| part.column == *column)?;
        count = count.max(at + 1);
    }
    let is_whole = definition.parts[..count].iter().all(|part| part.prefix_length.is_none());
    (count > 0 && is_whole).then_some(count)
}
