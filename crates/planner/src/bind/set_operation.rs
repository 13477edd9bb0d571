//! UNION, INTERSECT and EXCEPT: their operands, and the type each column gets of them. A chain of operators of one kind is one
//! operation for MySQL, parentheses or not, so that all its operands settle collation and type together; where the kind
//! changes, what was computed so far is one operand of the next. Main function: [`bind_set_operation`].

use super::Binder;
use super::query::{convert_columns, shift_outer};
use super::select::Surroundings;
use crate::planning::plan_select;
use ::expression::derive::{DerivedCollation, common_collation};
use ::expression::{Coercibility, Expression, ResultType, TypeClass, ValueSource, common_type};
use errors::{SqlResult, sql_error};
use parser::ast;
use plan::check_set_operation_depth;
use plan::physical::{ColumnOrigin, Node, OutputColumn, QueryPlan, SetOperation, SetTerm};
use std::collections::VecDeque;

/// An operator, ALL, and what stands to the right of them.
type Term<'q> = (ast::SetOperator, bool, &'q ast::QueryBody);

/// The operands in one chain, without the parentheses that MySQL takes away.
pub(super) struct Chain<'q> {
    pub(super) first: &'q ast::QueryBody,
    pub(super) rest: Vec<Term<'q>>,
}

impl<'q> Chain<'q> {
    pub(super) fn of(operation: &'q ast::SetOperation) -> Self {
        let operator = operation.rest.first().map(|term| term.operator);
        let inner = in_parentheses(&operation.first).map(Chain::of);
        let same = |chain: &Chain<'_>| chain.rest.last().map(|(operator, ..)| *operator) == operator;
        let mut chain = match inner.filter(same) {
            Some(inner) => inner,
            None => Chain { first: &operation.first, rest: Vec::new() },
        };
        for term in &operation.rest {
            match in_parentheses(&term.body).map(Chain::of).filter(|inner| inner.joins(term)) {
                Some(inner) => {
                    let all = term.all && term.operator == ast::SetOperator::Union;
                    chain.rest.push((term.operator, all, inner.first));
                    chain
                        .rest
                        .extend(inner.rest.into_iter().map(|(operator, _, body)| (operator, all, body)));
                }
                None => chain.rest.push((term.operator, term.all, &term.body)),
            }
        }
        chain
    }

    /// Whether the operands, which stand in parentheses to the right of an operator, may be that operator's own.
    fn joins(&self, term: &ast::SetTerm) -> bool {
        let keeps_all = self.rest.iter().all(|(_, all, _)| *all);
        self.rest.iter().all(|(operator, ..)| *operator == term.operator)
            && match term.operator {
                ast::SetOperator::Union => !term.all || keeps_all,
                ast::SetOperator::Intersect => !(term.all && keeps_all),
                ast::SetOperator::Except => false,
            }
    }
}

/// The set operation that is all there is in parentheses.
pub(super) fn in_parentheses(body: &ast::QueryBody) -> Option<&ast::SetOperation> {
    let ast::QueryBody::Nested(query) = body else { return None };
    let ast::Query { with: None, order_by, limit: None, locking, into: None, body } = &**query else {
        return None;
    };
    if !order_by.is_empty() || !locking.is_empty() {
        return None;
    }
    match body {
        ast::QueryBody::SetOperation(operation) => Some(operation),
        body => in_parentheses(body),
    }
}

/// Binds a set operation and its operands.
pub(super) fn bind_set_operation(
    binder: &mut Binder<'_>,
    operation: &ast::SetOperation,
    select_type: &'static str,
) -> SqlResult<QueryPlan> {
    let chain = Chain::of(operation);
    let first_type = if select_type == "SIMPLE" { "PRIMARY" } else { select_type };
    let first = operand(binder, chain.first, first_type)?;
    let mut rest = Vec::with_capacity(chain.rest.len());
    for (operator, all, body) in chain.rest {
        let plan = operand(binder, body, "UNION")?;
        if plan.columns.len() != first.columns.len() {
            return Err(sql_error!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT));
        }
        rest.push((operator, all, plan));
    }
    let rows = rest.iter().fold(first.rows, |rows, (_, _, plan)| rows + plan.rows);
    let block = first.block;
    let (root, columns, outer) = in_levels(binder, first, levels(rest), select_type == "SIMPLE")?;
    let columns = columns.into_iter().map(OutputColumn::into_temporary).collect();
    Ok(QueryPlan { columns, outer, block, ..QueryPlan::of(root, rows) })
}

/// An operator, ALL, and the plan of what stands to the right of them.
type PlannedTerm = (ast::SetOperator, bool, QueryPlan);

/// Terms of one operation.
type Level = Vec<PlannedTerm>;

/// The terms of a chain, those together that MySQL computes as one operation: what stands to the left of a level is one operand of it.
fn levels(rest: Vec<PlannedTerm>) -> VecDeque<Level> {
    let mut levels: VecDeque<Level> = VecDeque::new();
    // Whether all operators of the last level keep all rows.
    let mut keeps_all = true;
    for (operator, all, plan) in rest {
        let goes_on = |level: &&mut Level| {
            level[0].0 == operator
                && match operator {
                    // All rows of what is distinct are another operation.
                    ast::SetOperator::Union => keeps_all || !all,
                    // INTERSECT ALL has two operands.
                    ast::SetOperator::Intersect => !(keeps_all && all),
                    ast::SetOperator::Except => true,
                }
        };
        match levels.back_mut().filter(goes_on) {
            Some(level) => {
                level.push((operator, all, plan));
                keeps_all &= all;
            }
            None => {
                levels.push_back(vec![(operator, all, plan)]);
                keeps_all = all;
            }
        }
    }
    levels
}

/// Puts a chain together, with its columns and outer references. A level whose columns have the types of those to its left goes on
/// with their operation, which is as good and has fewer steps. `streams`: rows are sent as they come, so that distinct rows
/// have a temporary table of their own; otherwise one holds the rows of all levels of UNION in their last type. Error 1473.
fn in_levels(
    binder: &Binder<'_>,
    first: QueryPlan,
    mut levels: VecDeque<Level>,
    streams: bool,
) -> SqlResult<(Node, Vec<OutputColumn>, Vec<Expression>)> {
    let QueryPlan { root, mut columns, mut outer, .. } = first;
    let mut whole = SetOperation { first: root, rest: Vec::new(), columns: Vec::new() };
    let mut operands = 0;
    while let Some(mut group) = next_group(&mut levels) {
        let mut types = group_types(binder, &columns, &group)?;
        if !streams || !levels.is_empty() {
            types.drain(..types.len() - 1);
            group = vec![group.into_iter().flatten().collect()];
        }
        for (level, types) in group.into_iter().zip(types) {
            whole = match whole.rest.is_empty() {
                true => SetOperation { first: convert_columns(whole.first, &columns, &types), ..whole },
                false if has_types(&whole, &types) => whole,
                false => {
                    operands += 1;
                    check_set_operation_depth(operands)?;
                    let first = convert_columns(Node::SetOperation(Box::new(whole)), &columns, &types);
                    SetOperation { first, rest: Vec::new(), columns: Vec::new() }
                }
            };
            add_level(&mut whole, &mut columns, &mut outer, level, types);
        }
    }
    Ok((Node::SetOperation(Box::new(whole)), columns, outer))
}

fn has_types(operation: &SetOperation, types: &[ResultType]) -> bool {
    operation.columns.iter().zip(types).all(|(known, result)| known.column_type == result.column_type)
}

/// Adds a level, whose columns have these types, to what stands to its left.
fn add_level(
    whole: &mut SetOperation,
    columns: &mut [OutputColumn],
    outer: &mut Vec<Expression>,
    level: Level,
    types: Vec<ResultType>,
) {
    for (operator, all, plan) in level {
        // Operands of one set operation read one list of outer values.
        let node = shift_outer(plan.root, plan.outer, outer);
        whole.rest.push(SetTerm { operator, all, node: convert_columns(node, &plan.columns, &types) });
    }
    for (column, result) in columns.iter_mut().zip(&types) {
        let name = std::mem::take(&mut column.name);
        let origin = Some(ColumnOrigin::temporary("", &name));
        let (result, source) = (result.clone(), ValueSource::SetOperation);
        *column = OutputColumn { name, result, origin, source, computed: false };
    }
    whole.columns = types;
}

/// The next level, with those of UNION that follow one of UNION.
fn next_group(levels: &mut VecDeque<Level>) -> Option<Vec<Level>> {
    let mut group = vec![levels.pop_front()?];
    let is_union = |level: &Level| level.iter().all(|(operator, ..)| *operator == ast::SetOperator::Union);
    if is_union(&group[0]) {
        while let Some(level) = levels.pop_front_if(|level| is_union(level)) {
            group.push(level);
        }
    }
    Some(group)
}

/// The types of the columns of a group's levels. `left`: the columns of what stands to its left. Where there is text, all levels
/// settle its collation together.
fn group_types(
    binder: &Binder<'_>,
    left: &[OutputColumn],
    group: &[Level],
) -> SqlResult<Vec<Vec<ResultType>>> {
    let mut left: Vec<ResultType> = left.iter().map(|column| column.result.clone()).collect();
    // Columns whose type is that of all levels already.
    let mut settled = vec![false; left.len()];
    let mut all = Vec::with_capacity(group.len());
    for (at, level) in group.iter().enumerate() {
        let kind = level.first().map_or(ast::SetOperator::Union, |(operator, ..)| *operator);
        let mut of_column = |(column, known): (usize, &ResultType)| {
            if settled[column] {
                return Ok(known.clone());
            }
            let result = |(_, _, plan): &PlannedTerm| plan.columns[column].result.clone();
            let mut types = vec![known.clone()];
            types.extend(level.iter().map(result));
            settled[column] = types.iter().any(|one| one.class() == TypeClass::Text);
            if settled[column] {
                types.extend(group[at + 1..].iter().flatten().map(result));
            }
            operation_type(binder, &types, kind)
        };
        left = left.iter().enumerate().map(&mut of_column).collect::<SqlResult<_>>()?;
        all.push(left.clone());
    }
    Ok(all)
}

/// The type of what operators of one kind make: INTERSECT and EXCEPT show no NULL that an operand does not have.
fn operation_type(
    binder: &Binder<'_>,
    types: &[ResultType],
    operator: ast::SetOperator,
) -> SqlResult<ResultType> {
    let merged = merged_type(binder, types, operation_name(operator))?;
    let nullable = match operator {
        ast::SetOperator::Union => merged.nullable,
        ast::SetOperator::Intersect => types.iter().all(|one| one.nullable),
        ast::SetOperator::Except => types.first().is_some_and(|one| one.nullable),
    };
    Ok(ResultType { nullable, ..merged })
}

fn operation_name(operator: ast::SetOperator) -> &'static str {
    match operator {
        ast::SetOperator::Union => "UNION",
        ast::SetOperator::Intersect => "INTERSECT",
        ast::SetOperator::Except => "EXCEPT",
    }
}

/// An operand, whose columns have the types of what it computes, whether or not it does so in a temporary table.
fn operand(
    binder: &mut Binder<'_>,
    body: &ast::QueryBody,
    select_type: &'static str,
) -> SqlResult<QueryPlan> {
    let operands = binder.derived.operands.take();
    binder.is_operand = true;
    let plan = match (body, operands) {
        (ast::QueryBody::Select(select), Some(mut operands)) => {
            let around =
                Surroundings { order_by: &[], limit: None, locking: &[], select_type, only_asks: false };
            binder.open_select(select, &around).and_then(|open| {
                operands.push(open.clone());
                let plan = plan_select(binder, open);
                binder.derived.operands = Some(operands);
                plan
            })
        }
        _ => binder.operand(body, select_type),
    };
    binder.is_operand = false;
    plan
}

/// The type that holds the values of all of these, by an operation of that name.
pub(super) fn merged_type(
    binder: &Binder<'_>,
    types: &[ResultType],
    operation: &str,
) -> SqlResult<ResultType> {
    let connection = binder.facts.connection;
    let mut collation =
        DerivedCollation { collation: connection, coercibility: Coercibility::Coercible, ascii_only: true };
    if types.iter().any(|result| result.class() == TypeClass::Text) {
        let mut stand_ins: Vec<Expression> =
            types.iter().map(|result| Expression::slot(0, "column".into(), result.clone())).collect();
        let mut operands: Vec<&mut Expression> = stand_ins.iter_mut().collect();
        collation = common_collation(&mut operands, connection, operation, false)?;
    }
    let types: Vec<&ResultType> = types.iter().collect();
    Ok(common_type(&types, collation))
}

/// Refuses texts whose collation the whole of a query's set operations left open.
pub(super) fn require_settled<'t>(types: impl IntoIterator<Item = &'t ResultType>) -> SqlResult<()> {
    let is_open = |one: &ResultType| one.class() == TypeClass::Text && one.coercibility == Coercibility::None;
    if types.into_iter().any(is_open) {
        return Err(sql_error!(ER_CANT_AGGREGATE_NCOLLATIONS, "UNION"));
    }
    Ok(())
}
