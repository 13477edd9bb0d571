//! Walking and rewriting expressions: children, what an expression depends on, replacing parts of it.
//! Everything that must treat all node kinds alike goes through [`Expression::for_each_child_mut`].

use crate::tree::{Expression, ExpressionKind};

impl Expression {
    /// Calls `visit` for each direct child.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        match &self.kind {
            ExpressionKind::Literal(_)
            | ExpressionKind::Parameter(_)
            | ExpressionKind::Column(_)
            | ExpressionKind::Outer(_)
            | ExpressionKind::UserVariable(_)
            | ExpressionKind::SystemVariable(..)
            | ExpressionKind::Aggregate(_)
            | ExpressionKind::Window(_) => {}
            ExpressionKind::AssignUserVariable(_, operand)
            | ExpressionKind::Negate(operand)
            | ExpressionKind::Not(operand)
            | ExpressionKind::IsNull(operand)
            | ExpressionKind::IsTruth(operand, _)
            | ExpressionKind::Retyped(operand) => visit(operand),
            ExpressionKind::Arithmetic(operation) => {
                visit(&operation.left);
                visit(&operation.right);
            }
            ExpressionKind::Bit(operation) => {
                visit(&operation.left);
                operation.right.iter().for_each(visit);
            }
            ExpressionKind::Compare(comparison) => {
                visit(&comparison.left);
                visit(&comparison.right);
            }
            ExpressionKind::And(terms) | ExpressionKind::Or(terms) | ExpressionKind::Row(terms) => {
                terms.iter().for_each(visit);
            }
            ExpressionKind::Xor(terms) => terms.iter().for_each(visit),
            ExpressionKind::Between(between) => {
                visit(&between.operand);
                visit(&between.low.1);
                visit(&between.high.1);
            }
            ExpressionKind::In(list) => {
                visit(&list.operand);
                list.list.iter().for_each(|(_, member)| visit(member));
            }
            ExpressionKind::Like(like) => {
                visit(&like.operand);
                visit(&like.pattern);
            }
            ExpressionKind::Regexp(regexp) => {
                visit(&regexp.operand);
                visit(&regexp.pattern);
            }
            ExpressionKind::Case(case) => {
                for (condition, result) in &case.branches {
                    visit(condition);
                    visit(result);
                }
                case.otherwise.iter().for_each(visit);
            }
            ExpressionKind::Cast(cast) => visit(&cast.operand),
            ExpressionKind::DateArithmetic(operation) => {
                visit(&operation.operand);
                visit(&operation.amount);
            }
            ExpressionKind::Function(call) => call.arguments.iter().for_each(visit),
            ExpressionKind::Subquery(call) => {
                call.operands.iter().for_each(&mut *visit);
                call.outer.iter().for_each(visit);
            }
        }
    }

    /// Calls `visit` for each direct child, to change it.
    pub fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        match &mut self.kind {
            ExpressionKind::Literal(_)
            | ExpressionKind::Parameter(_)
            | ExpressionKind::Column(_)
            | ExpressionKind::Outer(_)
            | ExpressionKind::UserVariable(_)
            | ExpressionKind::SystemVariable(..)
            | ExpressionKind::Aggregate(_)
            | ExpressionKind::Window(_) => {}
            ExpressionKind::AssignUserVariable(_, operand)
            | ExpressionKind::Negate(operand)
            | ExpressionKind::Not(operand)
            | ExpressionKind::IsNull(operand)
            | ExpressionKind::IsTruth(operand, _)
            | ExpressionKind::Retyped(operand) => visit(operand),
            ExpressionKind::Arithmetic(operation) => {
                visit(&mut operation.left);
                visit(&mut operation.right);
            }
            ExpressionKind::Bit(operation) => {
                visit(&mut operation.left);
                operation.right.iter_mut().for_each(visit);
            }
            ExpressionKind::Compare(comparison) => {
                visit(&mut comparison.left);
                visit(&mut comparison.right);
            }
            ExpressionKind::And(terms) | ExpressionKind::Or(terms) | ExpressionKind::Row(terms) => {
                terms.iter_mut().for_each(visit);
            }
            ExpressionKind::Xor(terms) => terms.iter_mut().for_each(visit),
            ExpressionKind::Between(between) => {
                visit(&mut between.operand);
                visit(&mut between.low.1);
                visit(&mut between.high.1);
            }
            ExpressionKind::In(list) => {
                visit(&mut list.operand);
                list.list.iter_mut().for_each(|(_, member)| visit(member));
            }
            ExpressionKind::Like(like) => {
                visit(&mut like.operand);
                visit(&mut like.pattern);
            }
            ExpressionKind::Regexp(regexp) => {
                visit(&mut regexp.operand);
                visit(&mut regexp.pattern);
            }
            ExpressionKind::Case(case) => {
                for (condition, result) in &mut case.branches {
                    visit(condition);
                    visit(result);
                }
                case.otherwise.iter_mut().for_each(visit);
            }
            ExpressionKind::Cast(cast) => visit(&mut cast.operand),
            ExpressionKind::DateArithmetic(operation) => {
                visit(&mut operation.operand);
                visit(&mut operation.amount);
            }
            ExpressionKind::Function(call) => call.arguments.iter_mut().for_each(visit),
            ExpressionKind::Subquery(call) => {
                call.operands.iter_mut().for_each(&mut *visit);
                call.outer.iter_mut().for_each(visit);
            }
        }
    }

    /// Whether `test` holds for this expression or any part of it.
    pub fn any(&self, test: &dyn Fn(&Expression) -> bool) -> bool {
        if test(self) {
            return true;
        }
        let mut found = false;
        self.for_each_child(&mut |child| found = found || child.any(test));
        found
    }

    /// Calls `visit` for this expression and all parts of it, outside in.
    pub fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        visit(self);
        self.for_each_child(&mut |child| child.visit(visit));
    }

    /// Replaces parts: where `replace` returns an expression, it takes the place of that part; otherwise its
    /// children are looked at.
    pub fn replace(&mut self, replace: &mut dyn FnMut(&Expression) -> Option<Expression>) {
        if let Some(new) = replace(self) {
            *self = new;
            return;
        }
        self.for_each_child_mut(&mut |child| child.replace(replace));
    }

    /// Whether its value does not depend on the row (it may still depend on parameters, variables or the outer row).
    pub fn is_constant(&self) -> bool {
        !self.any(&|part| match &part.kind {
            ExpressionKind::Column(_)
            | ExpressionKind::Aggregate(_)
            | ExpressionKind::Window(_)
            | ExpressionKind::AssignUserVariable(..)
            | ExpressionKind::UserVariable(_) => true,
            ExpressionKind::Subquery(call) => !call.outer.is_empty(),
            ExpressionKind::Function(call) => !call.definition.pure,
            _ => false,
        })
    }

    /// Whether its value is the same in every execution of the plan.
    pub fn is_foldable(&self) -> bool {
        !self.any(&|part| match &part.kind {
            ExpressionKind::Column(_)
            | ExpressionKind::Parameter(_)
            | ExpressionKind::Outer(_)
            | ExpressionKind::UserVariable(_)
            | ExpressionKind::AssignUserVariable(..)
            | ExpressionKind::SystemVariable(..)
            | ExpressionKind::Aggregate(_)
            | ExpressionKind::Window(_)
            | ExpressionKind::Subquery(_)
            | ExpressionKind::Row(_) => true,
            ExpressionKind::Function(call) => !call.definition.pure,
            _ => false,
        })
    }

    /// The slots that it reads.
    pub fn slots(&self) -> Vec<usize> {
        let mut slots = Vec::new();
        self.visit(&mut |part| {
            if let ExpressionKind::Column(column) = &part.kind
                && !slots.contains(&column.slot)
            {
                slots.push(column.slot);
            }
        });
        slots
    }

    /// Whether two expressions are the same computation (used to match GROUP BY with what is selected).
    pub fn same(&self, other: &Expression) -> bool {
        crate::print::same(self, other)
    }
}
