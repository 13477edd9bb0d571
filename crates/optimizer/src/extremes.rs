//! MIN and MAX from the ends of index ranges: one row is read for each. Main function: [`extreme_rows`].
//!
//! The rows go on to the aggregation as they are: each meets the conditions, so that those that are not the extreme of another
//! aggregate do no harm to it.

use super::access::Candidate;
use super::equal_columns::with_implied;
use super::index_order::order_of_path;
use super::order::whole_indexes;
use super::terms::{TermReader, Terms};
use crate::{Block, JoinTree, LogicalSelect, Optimizer, Source, whole_table};
use expression::Expression;
use expression::result_type::{TypeClass, class_of};
use plan::Rule;
use plan::physical::{AggregateCall, AggregateKind, KeyCondition, Node, RowLimit, SortKey, TableAccess};
use values::ColumnType;

/// The rows that have the extremes, if an index knows them all.
pub fn extreme_rows(optimizer: &mut Optimizer<'_>, select: &LogicalSelect) -> Option<Node> {
    let Some(JoinTree::Table(0)) = select.tree else { return None };
    let block = &*optimizer.block;
    let calls = block.aggregates.clone();
    let is_plain = select.groups && select.semijoins.is_empty() && block.group_keys.is_empty();
    let may = optimizer.context.rules().has(Rule::MinMax);
    if !may || !is_plain || calls.is_empty() {
        return None;
    }
    let mut rows = Vec::with_capacity(calls.len());
    for call in &calls {
        rows.push(extreme_end(optimizer, call, &select.conditions)?);
    }
    if rows.len() == 1 { rows.pop() } else { Some(Node::Append(rows)) }
}

/// The row that has what MIN or MAX asks for, if an index knows it.
pub(super) fn extreme_end(
    optimizer: &mut Optimizer<'_>,
    call: &AggregateCall,
    conditions: &[Expression],
) -> Option<Node> {
    let descending = match call.kind {
        AggregateKind::Minimum => false,
        AggregateKind::Maximum => true,
        _ => return None,
    };
    let key = SortKey { expression: call.arguments.first()?.clone(), descending };
    let access = extreme_access(optimizer, key, conditions)?;
    let one = RowLimit { count: Some(Expression::integer(1)), offset: None };
    Some(Node::Limit { input: Box::new(Node::Table(Box::new(access))), limit: one, count_all: false })
}

/// How the first row in that order is read whose key is not NULL, if it is the first one of a range.
fn extreme_access(
    optimizer: &mut Optimizer<'_>,
    key: SortKey,
    conditions: &[Expression],
) -> Option<TableAccess> {
    let block = &*optimizer.block;
    let (_, column) = *block.slots.get(key.expression.column_slot()?)?;
    let Source::Base(table) = &block.tables[0].source else { return None };
    // ENUM and SET are compared as text.
    if table.definition().columns.get(column)?.column_type.kind.has_members() {
        return None;
    }
    let all: Vec<&Expression> = conditions.iter().collect();
    let candidates = match conditions.is_empty() {
        true => whole_indexes(optimizer, 0, false),
        false => optimizer.candidates(0, &all, 0),
    };
    if candidates.iter().any(|candidate| candidate.path.single_row) {
        return None;
    }
    let (order, said) =
        ([key], with_implied(optimizer.block, optimizer.context.rules(), conditions.to_vec()));
    let mut best: Option<Candidate> = None;
    for mut candidate in candidates {
        if answers_all(optimizer.block, &candidate, conditions)
            && let Some(backward) = order_of_path(optimizer.block, 0, &candidate.path, &order, &said, 0)
            && best.as_ref().is_none_or(|known| candidate.cost_ns() < known.cost_ns())
        {
            candidate.path.backward = backward;
            candidate.path.ordered = true;
            best = Some(candidate);
        }
    }
    let mut path = best?.path;
    let mut access = whole_table(optimizer.block, 0);
    let parts = &access.table.indexes()[path.index].definition(&access.table)?.parts;
    let ranges = path.ranges.take().unwrap_or_else(|| vec![Vec::new()]);
    let [mut own] = <[_; 1]>::try_from(ranges).ok()?;
    if parts.get(own.len()).is_some_and(|part| part.column == column) {
        own.push(KeyCondition::Range { low: None, high: None });
    }
    path.ranges = (!own.is_empty()).then(|| vec![own]);
    access.path = path;
    access.conditions = conditions.to_vec();
    Some(access)
}

/// Whether a path has one range for all of its key parts, and every condition is on one of these.
fn answers_all(block: &Block, candidate: &Candidate, conditions: &[Expression]) -> bool {
    let path = &candidate.path;
    let used = match path.ranges.as_deref() {
        None => 0,
        Some([own]) => own.len(),
        Some(_) => return false,
    };
    let Source::Base(table) = &block.tables[0].source else { return false };
    let Some(definition) = table.indexes()[path.index].definition(table) else { return false };
    // Each row that is looked for computes the bounds anew: they must have nothing to say.
    let columns = &table.definition().columns;
    let own = path.ranges.iter().flatten().flatten().zip(&definition.parts);
    if !own.into_iter().all(|(condition, part)| is_alike(condition, &columns[part.column].column_type)) {
        return false;
    }
    let reader = TermReader { block, table: 0, placed: 0 };
    let is_used = |column: usize| definition.parts[..used].iter().any(|part| part.column == column);
    conditions.iter().all(|condition| match reader.read(condition) {
        Some(Terms::One(term)) => is_used(term.column),
        _ => false,
    })
}

/// Whether no value of a condition has to be converted to be compared with a column.
fn is_alike(condition: &KeyCondition, column: &ColumnType) -> bool {
    let is_number = |class| matches!(class, TypeClass::Integer | TypeClass::Decimal | TypeClass::Double);
    let of_column = class_of(column.kind);
    let fits = |value: &Expression| {
        let class = value.result.class();
        class == of_column || class == TypeClass::Null || is_number(class) && is_number(of_column)
    };
    match condition {
        KeyCondition::Points(points) => points.iter().all(|(point, _)| fits(point)),
        KeyCondition::Range { low, high } => low.iter().chain(high).all(|(bound, _)| fits(bound)),
        KeyCondition::Prefix(pattern, _) => fits(pattern),
    }
}
