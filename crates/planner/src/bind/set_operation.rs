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
use plan::physical::{ColumnOrigin, Node, OutputColumn, QueryPlan, SetOperation, SetTerm};

/// An operator, ALL, and what stands to the right of them.
type Term<'q> = (ast::SetOperator, bool, &'q ast::QueryBody);

/// The operands in one chain, without the parentheses that MySQL takes away.
struct Chain<'q> {
    first: &'q ast::QueryBody,
    rest: Vec<Term<'q>>,
}

impl<'q> Chain<'q> {
    fn of(operation: &'q ast::SetOperation) -> Self {
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
fn in_parentheses(body: &ast::QueryBody) -> Option<&ast::SetOperation> {
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
    let mut first = operand(binder, chain.first, first_type)?;
    let mut rest = Vec::with_capacity(chain.rest.len());
    for (operator, all, body) in chain.rest {
        let plan = operand(binder, body, "UNION")?;
        if plan.columns.len() != first.columns.len() {
            return Err(sql_error!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT));
        }
        rest.push((operator, all, plan));
    }
    let first_columns = first.columns.clone();
    for column in 0..first.columns.len() {
        let result = chain_type(binder, &first.columns[column].result, &rest, column)?;
        let merged = &mut first.columns[column];
        let origin = Some(ColumnOrigin::temporary("", &merged.name));
        let name = std::mem::take(&mut merged.name);
        *merged = OutputColumn { name, result, origin, source: ValueSource::SetOperation, computed: false };
    }
    let columns = first.columns.clone();
    let types: Vec<ResultType> = columns.iter().map(|column| column.result.clone()).collect();
    let mut outer = first.outer.clone();
    let first_node = convert_columns(first.root, &first_columns, &types);
    let rows = rest.iter().fold(first.rows, |rows, (_, _, plan)| rows + plan.rows);
    let mut terms = Vec::with_capacity(rest.len());
    for (operator, all, plan) in rest {
        // Operands of one set operation read one list of outer values.
        let node = shift_outer(plan.root, plan.outer, &mut outer);
        terms.push(SetTerm { operator, all, node: convert_columns(node, &plan.columns, &types) });
    }
    let root = Node::SetOperation(Box::new(SetOperation { first: first_node, rest: terms, columns: types }));
    let columns = columns.into_iter().map(OutputColumn::into_temporary).collect();
    Ok(QueryPlan { columns, outer, block: first.block, ..QueryPlan::of(root, rows) })
}

/// The type of one column of a chain: operators of one kind at once.
fn chain_type(
    binder: &Binder<'_>,
    first: &ResultType,
    rest: &[(ast::SetOperator, bool, QueryPlan)],
    column: usize,
) -> SqlResult<ResultType> {
    let mut types = vec![first.clone()];
    let mut kind = ast::SetOperator::Union;
    let mut keeps_all = true;
    for (operator, all, plan) in rest {
        // INTERSECT ALL has two operands.
        let is_full = kind == ast::SetOperator::Intersect && keeps_all && *all;
        if types.len() > 1 && (kind != *operator || is_full) {
            types = vec![operation_type(binder, &types, kind)?];
            keeps_all = true;
        }
        kind = *operator;
        keeps_all &= *all;
        types.push(plan.columns[column].result.clone());
    }
    operation_type(binder, &types, kind)
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
