//! Walking and rewriting expressions: children, what an expression depends on, replacing parts of it.
//! Everything that must treat all node kinds alike goes through [`Expression::for_each_child_mut`].

use crate::tree::{Expression, ExpressionKind};

/// The one list of what is in an expression: calls `$visit` for each direct child of `$kind`, by shared or mutable
/// reference.
macro_rules! visit_children {
    ($kind:expr, $visit:ident, $iter:ident $(, $mutable:tt)?) => {
        match $kind {
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
            | ExpressionKind::Retyped(operand) => $visit(operand),
            ExpressionKind::Arithmetic(operation) => {
                $visit(& $($mutable)? operation.left);
                $visit(& $($mutable)? operation.right);
            }
            ExpressionKind::Bit(operation) => {
                $visit(& $($mutable)? operation.left);
                operation.right.$iter().for_each(&mut *$visit);
            }
            ExpressionKind::Compare(comparison) => {
                $visit(& $($mutable)? comparison.left);
                $visit(& $($mutable)? comparison.right);
            }
            ExpressionKind::And(terms) | ExpressionKind::Or(terms) | ExpressionKind::Row(terms) => {
                terms.$iter().for_each(&mut *$visit);
            }
            ExpressionKind::Xor(terms) => terms.$iter().for_each(&mut *$visit),
            ExpressionKind::Between(between) => {
                $visit(& $($mutable)? between.operand);
                $visit(& $($mutable)? between.low.1);
                $visit(& $($mutable)? between.high.1);
            }
            ExpressionKind::In(list) => {
                $visit(& $($mutable)? list.operand);
                list.list.$iter().for_each(|(_, member)| $visit(member));
            }
            ExpressionKind::Like(like) => {
                $visit(& $($mutable)? like.operand);
                $visit(& $($mutable)? like.pattern);
            }
            ExpressionKind::Regexp(regexp) => {
                $visit(& $($mutable)? regexp.operand);
                $visit(& $($mutable)? regexp.pattern);
            }
            ExpressionKind::Case(case) => {
                for (condition, result) in & $($mutable)? case.branches {
                    $visit(condition);
                    $visit(result);
                }
                case.otherwise.$iter().for_each(&mut *$visit);
            }
            ExpressionKind::Cast(cast) => $visit(& $($mutable)? cast.operand),
            ExpressionKind::DateArithmetic(operation) => {
                $visit(& $($mutable)? operation.operand);
                $visit(& $($mutable)? operation.amount);
            }
            ExpressionKind::Function(call) => call.arguments.$iter().for_each(&mut *$visit),
            ExpressionKind::Routine(call) => call.arguments.$iter().for_each(&mut *$visit),
            ExpressionKind::Subquery(call) => {
                call.operands.$iter().for_each(&mut *$visit);
                call.outer.$iter().for_each(&mut *$visit);
            }
        }
    };
}

impl Expression {
    /// Calls `visit` for each direct child.
    pub fn for_each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        visit_children!(&self.kind, visit, iter);
    }

    /// Calls `visit` for each direct child, to change it.
    pub fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        visit_children!(&mut self.kind, visit, iter_mut, mut);
    }

    /// Whether it has no children. Most parts of expressions have none, and planning walks through them again and again.
    #[inline]
    pub(crate) fn is_leaf(&self) -> bool {
        matches!(
            self.kind,
            ExpressionKind::Literal(_)
                | ExpressionKind::Parameter(_)
                | ExpressionKind::Column(_)
                | ExpressionKind::Outer(_)
        )
    }

    /// Whether `test` holds for this expression or any part of it.
    #[inline]
    pub fn any(&self, test: &dyn Fn(&Expression) -> bool) -> bool {
        test(self) || !self.is_leaf() && self.any_child(test)
    }

    fn any_child(&self, test: &dyn Fn(&Expression) -> bool) -> bool {
        let mut found = false;
        self.for_each_child(&mut |child| found = found || child.any(test));
        found
    }

    /// Whether it looks at a column of the row that it is evaluated on.
    pub fn reads_columns(&self) -> bool {
        self.any(&|part| matches!(part.kind, ExpressionKind::Column(_)))
    }

    /// Calls `visit` for this expression and all parts of it, outside in.
    #[inline]
    pub fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        visit(self);
        if !self.is_leaf() {
            self.visit_children(visit);
        }
    }

    fn visit_children<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
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
            | ExpressionKind::UserVariable(_)
            | ExpressionKind::Routine(_) => true,
            ExpressionKind::Subquery(call) => call.repeats || !call.outer.is_empty(),
            ExpressionKind::Function(call) => !call.definition.pure,
            _ => false,
        })
    }

    /// Whether it reads a column of the rows at hand, be they of an enclosing query. What a subquery reads does not count.
    pub fn reads_rows(&self) -> bool {
        match self.kind {
            ExpressionKind::Column(_)
            | ExpressionKind::Outer(_)
            | ExpressionKind::Aggregate(_)
            | ExpressionKind::Window(_) => true,
            ExpressionKind::Subquery(_) => false,
            _ => {
                let mut found = false;
                self.for_each_child(&mut |child| found = found || child.reads_rows());
                found
            }
        }
    }

    /// Whether a parameter is in it.
    pub fn has_parameter(&self) -> bool {
        self.any(&|part| matches!(part.kind, ExpressionKind::Parameter(_)))
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
            | ExpressionKind::Routine(_)
            | ExpressionKind::Row(_) => true,
            ExpressionKind::Function(call) => !call.definition.pure,
            _ => false,
        })
    }

    /// The slots that it reads.
    pub fn slots(&self) -> Vec<usize> {
        let mut slots = Vec::new();
        self.for_each_slot(&mut |slot| {
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        });
        slots
    }

    /// Calls `found` for each slot that it reads, as often as it does.
    pub fn for_each_slot(&self, found: &mut dyn FnMut(usize)) {
        self.visit(&mut |part| {
            if let ExpressionKind::Column(column) = &part.kind {
                found(column.slot);
            }
        });
    }

    /// Whether two expressions are the same computation (used to match GROUP BY with what is selected).
    pub fn same(&self, other: &Expression) -> bool {
        crate::print::same(self, other)
    }
}
