//! Columns that conditions set equal to constants. MySQL puts the constant in the column's place in the other conditions;
//! where one of them cannot hold then, no row is looked for. Main function: [`settle_contradictions`].

use crate::{JoinTree, fails, implied_by_subqueries, is_known};
use expression::operators::{ComparisonMode, ComparisonOperator};
use expression::{BuildFacts, Expression, ExpressionKind, TypeClass};
use plan::{PlanningSurroundings, SubqueryPlan};
use values::temporal::{self, Date};
use values::{ColumnType, Value};

/// Which columns are equal to each other and to constants.
#[derive(Clone, Default)]
struct Equalities<'e> {
    /// Slots of columns, each with its class.
    slots: Vec<(usize, usize)>,
    classes: Vec<Class<'e>>,
}

/// Columns that are equal.
#[derive(Clone, Copy, Default)]
struct Class<'e> {
    constant: Option<&'e Expression>,
    /// Whether only `<=>` says so: then the constant takes the column's place only where it is compared.
    null_safe: bool,
}

/// What a condition says is equal, and as what it is compared.
struct Pair<'e> {
    left: &'e Expression,
    right: &'e Expression,
    mode: ComparisonMode,
    null_safe: bool,
}

/// Two constants that would have to be equal.
type Conflict<'e> = (&'e Expression, &'e Expression);

impl<'e> Equalities<'e> {
    fn known_class(&self, slot: usize) -> Option<usize> {
        self.slots.iter().find(|(known, _)| *known == slot).map(|(_, class)| *class)
    }

    fn class_of(&mut self, slot: usize) -> usize {
        self.known_class(slot).unwrap_or_else(|| {
            self.slots.push((slot, self.classes.len()));
            self.classes.push(Class::default());
            self.classes.len() - 1
        })
    }

    fn constant_of(&self, slot: usize, is_compared: bool) -> Option<&'e Expression> {
        let class = self.classes[self.known_class(slot)?];
        class.constant.filter(|_| is_compared || !class.null_safe)
    }

    /// Adds what a condition says; gives the constants that would have to be equal.
    fn add(&mut self, pair: &Pair<'e>) -> Option<Conflict<'e>> {
        let Pair { left, right, mode, null_safe } = *pair;
        match (left.column_slot(), right.column_slot()) {
            (Some(slot), None) if is_own_constant(left, right, mode) => self.set(slot, right, null_safe),
            (None, Some(slot)) if is_own_constant(right, left, mode) => self.set(slot, left, null_safe),
            (Some(one), Some(other)) if left.result.column_type == right.result.column_type => {
                self.join(one, other)
            }
            _ => None,
        }
    }

    fn set(&mut self, slot: usize, constant: &'e Expression, null_safe: bool) -> Option<Conflict<'e>> {
        let class = self.class_of(slot);
        let class = &mut self.classes[class];
        match class.constant {
            Some(known) => Some((known, constant)),
            None => {
                class.constant = Some(constant);
                class.null_safe = null_safe;
                None
            }
        }
    }

    fn join(&mut self, one: usize, other: usize) -> Option<Conflict<'e>> {
        let (one, other) = (self.class_of(one), self.class_of(other));
        if one == other {
            return None;
        }
        self.slots.iter_mut().filter(|(_, class)| *class == other).for_each(|(_, class)| *class = one);
        let Class { constant, null_safe } = self.classes[other];
        let class = &mut self.classes[one];
        match (class.constant, constant) {
            (Some(known), Some(constant)) => Some((known, constant)),
            (None, constant) => {
                class.constant = constant;
                class.null_safe = null_safe;
                None
            }
            (Some(_), None) => None,
        }
    }

    /// Whether a condition says no more, with constants in the place of columns, than that one number is equal to itself.
    fn is_idle(&self, condition: &Expression) -> bool {
        let Some(Pair { left, right, .. }) = equality(condition, true) else { return false };
        let value = |side: &'_ Expression| {
            let value = side.column_slot().map_or(Some(side), |slot| self.constant_of(slot, true))?;
            let is_number = |class| matches!(class, TypeClass::Integer | TypeClass::Decimal);
            (is_number(side.result.class()) && is_number(value.result.class()))
                .then(|| std::ptr::from_ref(value))
        };
        value(left).is_some_and(|left| value(right) == Some(left))
    }

    /// A condition with constants in the place of columns, if it is known then and says something of them.
    fn substituted(&self, condition: &Expression) -> Option<Expression> {
        let is_open =
            |part: &Expression| part.column_slot().is_some_and(|slot| self.constant_of(slot, true).is_none());
        if self.is_idle(condition) || condition.any(&is_open) {
            return None;
        }
        let mut known = condition.clone();
        let changed = self.substitute(&mut known, None, false);
        let is_parameter = |part: &Expression| matches!(part.kind, ExpressionKind::Parameter(_));
        (changed && is_known(&known) && !known.any(&is_parameter)).then_some(known)
    }

    /// Puts constants in the place of columns: of numbers everywhere, of others where values are compared. `beside`: how the
    /// operation compares its operands; `is_compared`: by `=`, `<` or their like.
    fn substitute(
        &self,
        part: &mut Expression,
        beside: Option<&[ComparisonMode]>,
        is_compared: bool,
    ) -> bool {
        if let Some(slot) = part.column_slot() {
            let constant = self.constant_of(slot, is_compared).filter(|_| may_stand_there(part, beside));
            if let Some(constant) = constant {
                *part = constant.clone();
                return true;
            }
            return false;
        }
        let modes = compared_modes(part);
        let compares = matches!(part.kind, ExpressionKind::Compare(_));
        let mut changed = false;
        part.for_each_child_mut(&mut |child| changed |= self.substitute(child, modes.as_deref(), compares));
        changed
    }
}

/// Whether a constant may take the column's place: equal texts and moments are not the same in all operations.
fn may_stand_there(column: &Expression, beside: Option<&[ComparisonMode]>) -> bool {
    match column.result.class() {
        TypeClass::Integer | TypeClass::Decimal | TypeClass::Double => true,
        TypeClass::Text => {
            let own = ComparisonMode::Text(column.result.collation());
            beside.is_some_and(|modes| !modes.is_empty() && modes.iter().all(|mode| *mode == own))
        }
        TypeClass::DateTime => beside.is_some_and(|modes| !modes.is_empty()),
        TypeClass::Time | TypeClass::Null | TypeClass::Json => false,
    }
}

/// How a comparison compares its operands; None for other operations.
fn compared_modes(part: &Expression) -> Option<Vec<ComparisonMode>> {
    match &part.kind {
        ExpressionKind::Compare(comparison) => Some(vec![comparison.mode]),
        ExpressionKind::Between(between) => Some(vec![between.low.0, between.high.0]),
        ExpressionKind::In(list) => Some(list.list.iter().map(|(mode, _)| *mode).collect()),
        ExpressionKind::IsNull(_) => Some(Vec::new()),
        _ => None,
    }
}

/// Whether a column that is equal to a literal is so as a value of its own type. Times are not looked at, as in MySQL.
fn is_own_constant(column: &Expression, constant: &Expression, mode: ComparisonMode) -> bool {
    use TypeClass::{DateTime, Decimal, Double, Integer, Text, Time};
    if !is_value(constant) {
        return false;
    }
    // That a column of dates is the zero date is what IS NULL asks of it: MySQL finds that out later.
    let zero = match constant.literal() {
        Some(Value::Date(date)) => *date == Date::ZERO,
        Some(Value::DateTime(moment)) => *moment == temporal::DateTime::ZERO,
        _ => false,
    };
    match (column.result.class(), constant.result.class()) {
        _ if zero => false,
        (Integer, Integer) | (Decimal, Decimal) => true,
        // A literal that was turned to a double has no digits of its own.
        (Double, Double) => constant.result.column_type != ColumnType::double(),
        (Text, Text) => mode == ComparisonMode::Text(column.result.collation()),
        (DateTime, DateTime | Time | Text) => !matches!(mode, ComparisonMode::Text(_)),
        _ => false,
    }
}

/// Whether it is a literal, but not NULL.
fn is_value(expression: &Expression) -> bool {
    expression.literal().is_some_and(|value| !matches!(value, Value::Null))
}

/// What a condition says is equal in all rows that pass it.
fn equality(condition: &Expression, null_safe: bool) -> Option<Pair<'_>> {
    match &condition.kind {
        ExpressionKind::Compare(comparison) => {
            let (left, right, mode) = (&comparison.left, &comparison.right, comparison.mode);
            match comparison.operator {
                ComparisonOperator::Equal => Some(Pair { left, right, mode, null_safe: false }),
                ComparisonOperator::NullSafeEqual if null_safe && (is_value(left) || is_value(right)) => {
                    Some(Pair { left, right, mode, null_safe: true })
                }
                _ => None,
            }
        }
        ExpressionKind::Not(inner) => match &inner.kind {
            ExpressionKind::Compare(comparison) if comparison.operator == ComparisonOperator::NotEqual => {
                Some(Pair {
                    left: &comparison.left,
                    right: &comparison.right,
                    mode: comparison.mode,
                    null_safe: false,
                })
            }
            _ => None,
        },
        ExpressionKind::In(list) if !list.negated => match list.list.as_slice() {
            [(mode, only)] => Some(Pair { left: &list.operand, right: only, mode: *mode, null_safe: false }),
            _ => None,
        },
        ExpressionKind::Between(between) if !between.negated => {
            let ((mode, low), (_, high)) = (&between.low, &between.high);
            let is_one = low.literal().is_some() && low.same(high);
            is_one.then_some(Pair { left: &between.operand, right: low, mode: *mode, null_safe: false })
        }
        _ => None,
    }
}

/// The terms that all must hold.
fn terms_of(condition: &Expression) -> &[Expression] {
    match &condition.kind {
        ExpressionKind::And(terms) => terms,
        _ => std::slice::from_ref(condition),
    }
}

/// The conditions of inner joins that hold for all rows of a tree.
fn inner_conditions<'e>(tree: &'e JoinTree, found: &mut Vec<&'e Expression>) {
    let JoinTree::Join { left, right, outer, conditions, .. } = tree else { return };
    inner_conditions(left, found);
    if !*outer {
        found.extend(conditions);
        inner_conditions(right, found);
    }
}

/// Whether the conditions of WHERE and of the inner joins contradict each other. Those of an outer join become FALSE if a
/// column would have to equal two constants.
pub fn settle_contradictions(
    tree: &mut JoinTree,
    conditions: &[Expression],
    subqueries: &[SubqueryPlan],
    facts: BuildFacts,
    context: &mut dyn PlanningSurroundings,
) -> bool {
    let implied = implied_by_subqueries(subqueries, facts, conditions);
    let mut all: Vec<&Expression> = conditions.iter().chain(&implied).collect();
    inner_conditions(tree, &mut all);
    let is_join = matches!(tree, JoinTree::Join { .. });
    if all.len() < 2 && !is_join {
        return false;
    }
    let mut constants = Constants { facts, context };
    if constants.contradicts(&mut Equalities::default(), &all) {
        return true;
    }
    if tree.optional_tables() != 0 {
        let all: Vec<Expression> = all.into_iter().cloned().collect();
        let mut equalities = Equalities::default();
        if !constants.conflicts(&mut equalities, &all.iter().collect::<Vec<_>>(), false) {
            constants.settle_outer_conflicts(tree, &equalities);
        }
    }
    false
}

/// Compares constants.
struct Constants<'a> {
    facts: BuildFacts,
    context: &'a mut dyn PlanningSurroundings,
}

impl Constants<'_> {
    fn settle_outer_conflicts(&mut self, tree: &mut JoinTree, inherited: &Equalities<'_>) {
        let JoinTree::Join { left, right, outer, conditions, .. } = tree else { return };
        self.settle_outer_conflicts(left, inherited);
        if !*outer {
            return self.settle_outer_conflicts(right, inherited);
        }
        let mut all: Vec<&Expression> = conditions.iter().collect();
        inner_conditions(right, &mut all);
        let all: Vec<Expression> = all.into_iter().cloned().collect();
        let all: Vec<&Expression> = all.iter().collect();
        let mut equalities = inherited.clone();
        // MySQL looks at a condition that stands alone, but not at those that are joined by AND.
        let alone = match conditions.as_slice() {
            [only] => inherited.substituted(only),
            _ => None,
        };
        let fails = alone.is_some_and(|known| fails(&known, self.context));
        if fails || self.conflicts(&mut equalities, &all, false) {
            *conditions = vec![Expression::boolean(false)];
        } else {
            self.settle_outer_conflicts(right, &equalities);
        }
    }

    /// Adds what the conditions say to the equalities; says whether a column would have to equal two constants. `null_safe`: the
    /// operator `<=>` counts as well.
    fn conflicts<'e>(
        &mut self,
        equalities: &mut Equalities<'e>,
        conditions: &[&'e Expression],
        null_safe: bool,
    ) -> bool {
        for pair in conditions.iter().filter_map(|condition| equality(condition, null_safe)) {
            if let Some((known, constant)) = equalities.add(&pair)
                && self.differ(known, constant, pair.mode)
            {
                return true;
            }
        }
        false
    }

    /// Whether two constants that a column is compared with in that mode are not equal.
    fn differ(&mut self, one: &Expression, other: &Expression, mode: ComparisonMode) -> bool {
        let equal = Expression::compare(ComparisonOperator::Equal, one.clone(), other.clone(), self.facts);
        equal.is_ok_and(|mut equal| {
            // Texts by the column's collation, whatever the literals' is.
            if let (ExpressionKind::Compare(comparison), ComparisonMode::Text(_)) = (&mut equal.kind, mode) {
                comparison.mode = mode;
            }
            fails(&equal, self.context)
        })
    }

    /// Adds what the conditions say to the equalities; says whether not all of them can hold.
    fn contradicts<'e>(&mut self, equalities: &mut Equalities<'e>, conditions: &[&'e Expression]) -> bool {
        self.conflicts(equalities, conditions, true)
            || conditions.iter().any(|condition| match &condition.kind {
                ExpressionKind::Or(terms) => terms.iter().all(|term| {
                    let terms: Vec<&Expression> = terms_of(term).iter().collect();
                    self.contradicts(&mut equalities.clone(), &terms)
                }),
                _ => equalities.substituted(condition).is_some_and(|known| fails(&known, self.context)),
            })
    }
}
