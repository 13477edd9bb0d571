//! Columns that conditions make equal, and what follows: that others are equal too, and that what is said of one holds for all.
//! Joins may then begin with any of them, and each table is found by its own index. Main type: [`EqualColumns`].
//!
//! Columns are in one class only if they compare with each other as with themselves: numbers are integers, texts have one
//! collation, dates are of one kind. What is said of a column must be silent, so that nobody can tell how often it was asked.

use crate::{Block, tables_of};
use expression::operators::{ComparisonMode, ComparisonOperator};
use expression::silent::is_silent;
use expression::{Expression, ExpressionKind, TypeClass};
use plan::{Rule, Rules};
use values::TypeKind;

/// Most columns of a class for which all pairs are looked at.
const CLASS_COLUMNS_MAX: usize = 8;

/// A condition of a group of inner joins.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub expression: Expression,
    /// The tables that it reads, as bits.
    pub tables: u64,
    /// The class of columns that it makes equal.
    pub class: Option<usize>,
    /// Whether it follows from others.
    pub is_implied: bool,
    /// Whether it makes columns equal that are all equal to one constant.
    pub is_fixed: bool,
}

/// Classes of columns that conditions make equal.
#[derive(Default)]
pub struct EqualColumns {
    classes: Vec<Vec<Expression>>,
}

impl EqualColumns {
    /// The classes that equalities among these conditions make, which all hold.
    pub fn of<'e>(rules: Rules, conditions: impl Iterator<Item = &'e Expression>) -> EqualColumns {
        let mut found = EqualColumns::default();
        if !rules.has(Rule::EqualColumns) {
            return found;
        }
        for (left, right) in conditions.filter_map(equal_columns) {
            let (at_left, at_right) = (found.class_of(left), found.class_of(right));
            match (at_left, at_right) {
                (None, None) => found.classes.push(vec![left.clone(), right.clone()]),
                (Some(class), None) => found.classes[class].push(right.clone()),
                (None, Some(class)) => found.classes[class].push(left.clone()),
                (Some(kept), Some(taken)) if kept != taken => {
                    let columns = std::mem::take(&mut found.classes[taken]);
                    found.classes[kept].extend(columns);
                }
                _ => {}
            }
        }
        found
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    fn class_of(&self, column: &Expression) -> Option<usize> {
        self.classes.iter().position(|class| class.iter().any(|known| known.same(column)))
    }

    /// The class whose columns a condition makes equal to a constant.
    fn fixed_by(&self, condition: &Expression) -> Option<usize> {
        let is_equality = matches!(&condition.kind, ExpressionKind::Compare(comparison)
            if comparison.operator == ComparisonOperator::Equal);
        self.class_of(subject_of(condition).filter(|_| is_equality)?)
    }

    /// What conditions say of single columns, said of the columns that are equal to these, where it is new.
    pub fn said_of_others(&self, conditions: &[&Expression]) -> Vec<Expression> {
        let mut found: Vec<Expression> = Vec::new();
        for condition in conditions {
            let Some(column) = subject_of(condition) else { continue };
            let Some(class) = self.class_of(column) else { continue };
            for other in self.classes[class].iter().filter(|other| !other.same(column)) {
                let mut said = (*condition).clone();
                said.replace(&mut |part| part.same(column).then(|| other.clone()));
                let is_known = |known: &Expression| known.same(&said);
                if !conditions.iter().any(|known| is_known(known)) && !found.iter().any(is_known) {
                    found.push(said);
                }
            }
        }
        found
    }

    /// The equalities of columns of different tables that follow from others.
    fn further_equalities(&self, block: &Block, conditions: &[Condition]) -> Vec<Condition> {
        let mut found = Vec::new();
        for (class, columns) in self.classes.iter().enumerate() {
            if !(3..=CLASS_COLUMNS_MAX).contains(&columns.len()) {
                continue;
            }
            for (at, left) in columns.iter().enumerate() {
                for right in &columns[at + 1..] {
                    let tables = tables_of(block, left) | tables_of(block, right);
                    let is_said = |condition: &Condition| {
                        equal_columns(&condition.expression).is_some_and(|(one, other)| {
                            one.same(left) && other.same(right) || one.same(right) && other.same(left)
                        })
                    };
                    if tables.count_ones() < 2 || conditions.iter().any(is_said) {
                        continue;
                    }
                    let template = conditions.iter().find(|condition| condition.class == Some(class));
                    let Some(expression) = template.and_then(|one| with_sides(&one.expression, left, right))
                    else {
                        continue;
                    };
                    found.push(Condition {
                        expression,
                        tables,
                        class: Some(class),
                        is_implied: true,
                        is_fixed: false,
                    });
                }
            }
        }
        found
    }
}

/// Conditions that all hold, with what follows from them.
pub(crate) fn with_implied(block: &Block, rules: Rules, conditions: Vec<Expression>) -> Vec<Condition> {
    let equal = EqualColumns::of(rules, conditions.iter());
    let said: Vec<&Expression> = if equal.is_empty() { Vec::new() } else { conditions.iter().collect() };
    let further = equal.said_of_others(&said);
    let fixed: Vec<usize> = said.iter().filter_map(|condition| equal.fixed_by(condition)).collect();
    let class_of =
        |expression: &Expression| equal_columns(expression).and_then(|(left, _)| equal.class_of(left));
    let made = |expression: Expression, is_implied: bool| {
        let (tables, class) = (tables_of(block, &expression), class_of(&expression));
        let is_fixed = class.is_some_and(|class| fixed.contains(&class));
        Condition { expression, tables, class, is_implied, is_fixed }
    };
    let own = conditions.into_iter().map(|condition| made(condition, false));
    let mut all: Vec<Condition> =
        own.chain(further.into_iter().map(|condition| made(condition, true))).collect();
    let mut equalities = equal.further_equalities(block, &all);
    equalities
        .iter_mut()
        .for_each(|one| one.is_fixed = one.class.is_some_and(|class| fixed.contains(&class)));
    all.extend(equalities);
    all
}

/// The columns that a condition makes equal, if they may be in one class.
fn equal_columns(condition: &Expression) -> Option<(&Expression, &Expression)> {
    let ExpressionKind::Compare(comparison) = &condition.kind else { return None };
    let (left, right) = (&comparison.left, &comparison.right);
    let are_columns = left.column_slot().is_some() && right.column_slot().is_some() && !left.same(right);
    let is_equal = comparison.operator == ComparisonOperator::Equal;
    (is_equal && are_columns && compare_alike(left, right, comparison.mode)).then_some((left, right))
}

/// Whether values of both compare with each other as with values of their own column.
fn compare_alike(left: &Expression, right: &Expression, mode: ComparisonMode) -> bool {
    let (first, second) = (&left.result, &right.result);
    match first.class() {
        TypeClass::Integer => first.kind().is_integer() && second.kind().is_integer(),
        TypeClass::Text => {
            let collation = first.column_type.collation;
            second.class() == TypeClass::Text
                && !first.kind().has_members()
                && !second.kind().has_members()
                && second.column_type.collation == collation
                && mode == ComparisonMode::Text(collation)
        }
        TypeClass::DateTime => {
            matches!(first.kind(), TypeKind::Date | TypeKind::DateTime) && first.kind() == second.kind()
        }
        _ => false,
    }
}

/// The only column that a silent comparison with constants is about, in which it compares as with itself.
pub fn subject_of(condition: &Expression) -> Option<&Expression> {
    let is_constant = |side: &Expression| {
        matches!(
            side.kind,
            ExpressionKind::Literal(_) | ExpressionKind::Parameter(_) | ExpressionKind::Outer(_)
        )
    };
    let is_own = |column: &Expression, mode: ComparisonMode| match column.result.class() {
        TypeClass::Text => mode == ComparisonMode::Text(column.result.column_type.collation),
        _ => true,
    };
    let column = match &condition.kind {
        ExpressionKind::Compare(comparison) => {
            let (left, right) = (&comparison.left, &comparison.right);
            let column = match (is_constant(left), is_constant(right)) {
                (false, true) => left,
                (true, false) => right,
                _ => return None,
            };
            let is_plain = comparison.operator != ComparisonOperator::NullSafeEqual;
            (is_plain && is_own(column, comparison.mode)).then_some(column)
        }
        ExpressionKind::Between(between) => {
            let bounds = [&between.low, &between.high];
            let column = &between.operand;
            let fits =
                |bound: &&(ComparisonMode, Expression)| is_own(column, bound.0) && is_constant(&bound.1);
            bounds.iter().all(fits).then_some(column)
        }
        ExpressionKind::In(list) => {
            let column = &list.operand;
            let fits =
                |member: &(ComparisonMode, Expression)| is_own(column, member.0) && is_constant(&member.1);
            list.list.iter().all(fits).then_some(column)
        }
        _ => None,
    };
    column.filter(|column| column.column_slot().is_some() && is_silent(condition))
}

/// The same equality between other columns of its class.
fn with_sides(equality: &Expression, left: &Expression, right: &Expression) -> Option<Expression> {
    let mut made = equality.clone();
    let ExpressionKind::Compare(comparison) = &mut made.kind else { return None };
    comparison.left = left.clone();
    comparison.right = right.clone();
    Some(made)
}
