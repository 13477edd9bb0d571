//! Subqueries in expressions: bound as blocks of their own, run by the executor per set of outer values.

use super::{Binder, SubqueryPlan, expression::comparison};
use crate::physical::Node;
use ::expression::operators::{ComparisonMode, ComparisonOperator};
use ::expression::{Expression, ExpressionKind, ResultType, SubqueryCall, SubqueryUse};
use errors::{SqlResult, sql_error};
use parser::ast;

impl Binder<'_> {
    /// IN, ANY, ALL, EXISTS and scalar subqueries.
    pub fn subquery_expression(&mut self, syntax: &ast::Expression) -> SqlResult<Expression> {
        match syntax {
            ast::Expression::InSubquery { operand, query, negated } => {
                let wanted = if *negated { SubqueryUse::NotIn } else { SubqueryUse::In };
                self.subquery(query, wanted, Some(operand))
            }
            ast::Expression::Quantified { operator, quantifier, operand, query } => {
                let operator = comparison(*operator)
                    .ok_or_else(|| sql_error!(ER_NOT_SUPPORTED_YET, "this quantified comparison"))?;
                let wanted = match (quantifier, operator) {
                    (ast::Quantifier::Any, ComparisonOperator::Equal) => SubqueryUse::In,
                    (ast::Quantifier::All, ComparisonOperator::NotEqual) => SubqueryUse::NotIn,
                    (ast::Quantifier::Any, operator) => SubqueryUse::Any(operator),
                    (ast::Quantifier::All, operator) => SubqueryUse::All(operator),
                };
                self.subquery(query, wanted, Some(operand))
            }
            ast::Expression::Exists(query) => self.subquery(query, SubqueryUse::Exists, None),
            ast::Expression::Subquery(query) => self.subquery(query, SubqueryUse::Scalar, None),
            _ => Err(sql_error!(ER_NOT_SUPPORTED_YET, "this expression")),
        }
    }

    fn subquery(
        &mut self,
        query: &ast::Query,
        wanted: SubqueryUse,
        operand: Option<&ast::Expression>,
    ) -> SqlResult<Expression> {
        let operands = match operand {
            None => Vec::new(),
            Some(syntax) => {
                let bound = self.expression(syntax)?;
                match bound.kind {
                    ExpressionKind::Row(members) => members,
                    kind => vec![Expression { kind, result: bound.result }],
                }
            }
        };
        // The subquery's aggregates are its own, whatever stands around it.
        let plan = self.nested_query(query, "SUBQUERY")?;
        let width = plan.columns.len();
        let expected = operands.len().max(1);
        if wanted != SubqueryUse::Exists && width != expected {
            return Err(sql_error!(ER_OPERAND_COLUMNS, expected));
        }
        let mut comparisons = Vec::with_capacity(operands.len());
        for (operand, column) in operands.iter().zip(&plan.columns) {
            let inner = Expression::slot(0, column.name.as_str().into(), column.result.clone());
            comparisons.push((ComparisonMode::choose(operand, &inner), operand.result.column_type.clone()));
        }
        let result = match wanted {
            SubqueryUse::Scalar | SubqueryUse::Row => {
                // What reads no table has its one row for certain.
                let certain = matches!(&plan.root, Node::Project { input, .. } if matches!(**input, Node::OneRow { .. }));
                let result =
                    plan.columns.first().map_or_else(ResultType::null, |column| column.result.clone());
                result.nullable_if(!certain)
            }
            SubqueryUse::Exists => ResultType::boolean(),
            _ => ResultType::boolean().nullable(),
        };
        let outer = plan.outer.clone();
        let id = self.subqueries.len();
        self.subqueries.push(SubqueryPlan { query: plan, wanted, comparisons });
        let call = SubqueryCall { id, wanted, operands, outer };
        Ok(Expression { kind: ExpressionKind::Subquery(Box::new(call)), result })
    }
}
