//! Which conditions an index can answer. Terms point into the conditions that they were read in; what is asked of an index is
//! copied once it is known that one can answer it. Main types: [`Term`], [`Terms`].

use crate::{Block, Source};
use dictionary::IndexDefinition;
use expression::builtin::{CONTAINS, JSON_ARRAY, MEMBER_OF, ONCE_NAME, OVERLAPS};
use expression::operators::{Comparison, ComparisonMode, ComparisonOperator};
use expression::result_type::{TypeClass, class_of};
use expression::{Expression, ExpressionKind};
use plan::differs_between_rows;
use plan::physical::{KeyCondition, KeyConditions};
use values::{ColumnType, TypeKind, Value};

/// A condition on one column of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term<'e> {
    pub column: usize,
    pub asked: Asked<'e>,
}

/// What a term asks of its column: see [`KeyCondition`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked<'e> {
    /// Equal to a value; with the flag, NULL is equal to NULL.
    Point(&'e Expression, bool),
    /// NULL.
    Null,
    /// Equal to one of these.
    List(&'e [(ComparisonMode, Expression)]),
    Range {
        low: Option<(&'e Expression, bool)>,
        high: Option<(&'e Expression, bool)>,
    },
    Prefix(&'e Expression, Option<char>),
}

impl Asked<'_> {
    /// How many values are asked for, if it is not for ranges.
    pub fn points(&self) -> Option<usize> {
        match self {
            Asked::Point(..) | Asked::Null => Some(1),
            Asked::List(list) => Some(list.len()),
            Asked::Range { .. } | Asked::Prefix(..) => None,
        }
    }

    /// The same with expressions of its own.
    fn to_condition(self) -> KeyCondition {
        let own = |(bound, inclusive): (&Expression, bool)| (bound.clone(), inclusive);
        match self {
            Asked::Point(value, null_matches) => KeyCondition::Points(vec![(value.clone(), null_matches)]),
            Asked::Null => KeyCondition::Points(vec![(Expression::null(), true)]),
            Asked::List(list) => {
                KeyCondition::Points(list.iter().map(|(_, member)| (member.clone(), false)).collect())
            }
            Asked::Range { low, high } => KeyCondition::Range { low: low.map(own), high: high.map(own) },
            Asked::Prefix(pattern, escape) => KeyCondition::Prefix(pattern.clone(), escape),
        }
    }
}

/// What one condition says of a table: a term, or alternatives of terms that all hold.
#[derive(Clone, Debug)]
pub(crate) enum Terms<'e> {
    One(Term<'e>),
    Any(Vec<Vec<Term<'e>>>),
}

/// What conditions that all hold say of a table.
#[derive(Debug)]
pub(crate) struct Said<'e> {
    /// Terms that hold for all rows.
    pub all: Vec<Term<'e>>,
    /// Alternatives of which one holds for each row.
    pub any: Vec<Vec<Vec<Term<'e>>>>,
}

/// The tables whose slots an expression reads, as bits. Subqueries count with their outer references.
pub fn tables_of(block: &Block, expression: &Expression) -> u64 {
    let mut tables = 0;
    expression.for_each_slot(&mut |slot| {
        tables |= block.slots.get(slot).map_or(0, |(table, _)| 1 << table);
    });
    tables
}

/// Whether a comparison in that mode can be answered by the order of a column's index.
fn is_usable(mode: ComparisonMode, column: &ColumnType, equality: bool) -> bool {
    match (class_of(column.kind), column.kind) {
        (_, TypeKind::Set | TypeKind::Float) => false,
        (_, TypeKind::Enum) => equality && mode == ComparisonMode::Text(column.collation),
        (TypeClass::Integer, _) => matches!(
            mode,
            ComparisonMode::Integer
                | ComparisonMode::Exact
                | ComparisonMode::Decimal
                | ComparisonMode::Double
        ),
        (TypeClass::Decimal, _) => matches!(mode, ComparisonMode::Integer | ComparisonMode::Decimal),
        (TypeClass::Double, _) => {
            matches!(mode, ComparisonMode::Integer | ComparisonMode::Decimal | ComparisonMode::Double)
        }
        (TypeClass::Text, _) => mode == ComparisonMode::Text(column.collation),
        (TypeClass::DateTime, TypeKind::Date) => {
            matches!(mode, ComparisonMode::DateTime | ComparisonMode::Date)
        }
        (TypeClass::DateTime, _) => mode == ComparisonMode::DateTime,
        (TypeClass::Time, _) => mode == ComparisonMode::Time,
        (TypeClass::Null | TypeClass::Json, _) => false,
    }
}

/// Whether rows that an equality holds for are in the order of one side if they are in that of the other, and have one value
/// if the other side has. Not where numbers are compared as less exact ones.
pub(super) fn keeps_order_when_equal(condition: &Expression) -> bool {
    let ExpressionKind::Compare(comparison) = &condition.kind else {
        return matches!(condition.kind, ExpressionKind::IsNull(_));
    };
    let is_exact = |side: &Expression| {
        let column = &side.result.column_type;
        let is_double = class_of(column.kind) == TypeClass::Double;
        side.column_slot().is_none()
            || !column.kind.has_members()
                && is_usable(comparison.mode, column, true)
                && (is_double || comparison.mode != ComparisonMode::Double)
    };
    is_exact(&comparison.left) && is_exact(&comparison.right)
}

/// The elements of a constant array over which a multi-valued index is asked.
fn listed(elements: &Expression) -> &[Expression] {
    match &elements.kind {
        ExpressionKind::Function(call) if call.definition.name == JSON_ARRAY => &call.arguments,
        ExpressionKind::Function(call) if call.definition.name == ONCE_NAME => {
            call.arguments.first().map_or(&[], listed)
        }
        _ => &[],
    }
}

fn is_null(value: &Expression) -> bool {
    matches!(value.literal(), Some(Value::Null))
}

/// Looks at conditions from the side of one table; `placed` are the tables whose rows are known before.
pub(crate) struct TermReader<'b> {
    pub block: &'b Block,
    pub table: usize,
    pub placed: u64,
}

impl TermReader<'_> {
    fn column(&self, expression: &Expression) -> Option<usize> {
        let slot = match &expression.kind {
            ExpressionKind::Column(column) => column.slot,
            _ => return None,
        };
        let (table, column) = *self.block.slots.get(slot)?;
        (table == self.table && column != usize::MAX).then_some(column)
    }

    fn column_type(&self, column: usize) -> &ColumnType {
        &self.block.tables[self.table].columns[column].result.column_type
    }

    /// Whether an expression is known before the table is read, and gives the same value each time.
    fn is_known(&self, expression: &Expression) -> bool {
        let is_of_placed = || tables_of(self.block, expression) & !self.placed == 0;
        expression.literal().is_some() || !differs_between_rows(expression, true) && is_of_placed()
    }

    /// What a condition says of the table, if an index can use it.
    pub fn read<'e>(&self, condition: &'e Expression) -> Option<Terms<'e>> {
        if let ExpressionKind::Or(branches) = &condition.kind {
            let mut alternatives = Vec::with_capacity(branches.len());
            for branch in branches {
                let parts = match &branch.kind {
                    ExpressionKind::And(parts) => parts.iter().filter_map(|part| self.single(part)).collect(),
                    _ => vec![self.single(branch)?],
                };
                if parts.is_empty() {
                    return None;
                }
                alternatives.push(parts);
            }
            return Some(Terms::Any(alternatives));
        }
        self.single(condition).map(Terms::One).or_else(|| self.any_element(condition))
    }

    /// What MySQL knows of the keys that a condition leaves, where an index does not help to find them: those around values that
    /// are excluded, and those on one side where the other one depends on the row. All hold, each is a list of alternatives.
    pub fn read_around<'e>(&self, condition: &'e Expression) -> Vec<Vec<Term<'e>>> {
        match &condition.kind {
            ExpressionKind::Compare(comparison) if comparison.operator == ComparisonOperator::NotEqual => {
                self.around(comparison).into_iter().collect()
            }
            ExpressionKind::Not(inner) => match &inner.kind {
                ExpressionKind::Compare(comparison) if comparison.operator == ComparisonOperator::Equal => {
                    self.around(comparison).into_iter().collect()
                }
                _ => Vec::new(),
            },
            ExpressionKind::In(list) if list.negated => {
                let members = list.list.iter().filter(|(_, member)| !is_null(member));
                let around = |(mode, member)| self.around_value(&list.operand, member, mode);
                members.map(|(mode, member)| (*mode, member)).filter_map(around).collect()
            }
            ExpressionKind::Between(between) if !between.negated => {
                let Some(column) = self.column(&between.operand) else { return Vec::new() };
                let known = |(mode, bound): &'e (ComparisonMode, Expression)| {
                    let usable = is_usable(*mode, self.column_type(column), false) && self.is_known(bound);
                    usable.then_some((bound, true))
                };
                let (low, high) = (known(&between.low), known(&between.high));
                // MySQL does not look at it where the other side is a column of another table.
                let is_own = tables_of(self.block, condition) == 1 << self.table;
                let one_side = is_own && low.is_some() != high.is_some();
                let term = Term { column, asked: Asked::Range { low, high } };
                if one_side { vec![vec![term]] } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }

    fn around<'e>(&self, comparison: &'e Comparison) -> Option<Vec<Term<'e>>> {
        let (left, right, mode) = (&comparison.left, &comparison.right, comparison.mode);
        self.around_value(left, right, mode).or_else(|| self.around_value(right, left, mode))
    }

    /// The keys below and above a value.
    fn around_value<'e>(
        &self,
        column: &Expression,
        value: &'e Expression,
        mode: ComparisonMode,
    ) -> Option<Vec<Term<'e>>> {
        let column = self.column(column)?;
        if !is_usable(mode, self.column_type(column), false) || !self.is_known(value) {
            return None;
        }
        let bound = Some((value, false));
        let below = Asked::Range { low: None, high: bound };
        let above = Asked::Range { low: bound, high: None };
        Some([below, above].map(|asked| Term { column, asked }).into())
    }

    fn single<'e>(&self, condition: &'e Expression) -> Option<Term<'e>> {
        match &condition.kind {
            ExpressionKind::Compare(comparison) => self.comparison(comparison),
            ExpressionKind::IsNull(operand) => {
                let column = self.column(operand)?;
                Some(Term { column, asked: Asked::Null })
            }
            ExpressionKind::Not(inner) => match &inner.kind {
                ExpressionKind::IsNull(operand) => {
                    let column = self.column(operand)?;
                    Some(Term { column, asked: Asked::Range { low: None, high: None } })
                }
                _ => None,
            },
            ExpressionKind::In(list) if !list.negated => {
                let column = self.column(&list.operand)?;
                let usable = list.list.iter().all(|(mode, member)| {
                    is_usable(*mode, self.column_type(column), true) && self.is_known(member)
                });
                usable.then_some(Term { column, asked: Asked::List(&list.list) })
            }
            ExpressionKind::Between(between) if !between.negated => {
                let column = self.column(&between.operand)?;
                let usable = [&between.low, &between.high].iter().all(|(mode, bound)| {
                    is_usable(*mode, self.column_type(column), false) && self.is_known(bound)
                });
                let (low, high) = (Some((&between.low.1, true)), Some((&between.high.1, true)));
                usable.then_some(Term { column, asked: Asked::Range { low, high } })
            }
            ExpressionKind::Like(like) if !like.negated => {
                let column = self.column(&like.operand)?;
                let column_type = self.column_type(column);
                let usable = column_type.kind.is_string()
                    && column_type.collation == like.collation
                    && self.is_known(&like.pattern);
                let starts = match like.pattern.literal() {
                    Some(Value::Bytes(bytes)) => {
                        let (prefix, whole) =
                            expression::operators::like_prefix(bytes, like.escape, like.collation);
                        whole || !prefix.is_empty()
                    }
                    _ => true,
                };
                let asked = Asked::Prefix(&like.pattern, like.escape);
                (usable && starts).then_some(Term { column, asked })
            }
            ExpressionKind::Function(call) => {
                let (name, arguments) = (call.definition.name, call.arguments.as_slice());
                let (array, element) = match (name, arguments) {
                    (MEMBER_OF, [element, array]) => (array, element),
                    // Of all of them one finds the rows.
                    (CONTAINS, [array, elements]) => (array, listed(elements).first()?),
                    (OVERLAPS, [array, elements]) => match listed(elements) {
                        [only] => (array, only),
                        _ => return None,
                    },
                    _ => return None,
                };
                self.element(array, element)
            }
            _ => None,
        }
    }

    fn comparison<'e>(&self, comparison: &'e Comparison) -> Option<Term<'e>> {
        let (column, operator, value) = match (self.column(&comparison.left), self.column(&comparison.right))
        {
            (Some(column), _) if self.is_known(&comparison.right) => {
                (column, comparison.operator, &comparison.right)
            }
            (_, Some(column)) if self.is_known(&comparison.left) => {
                (column, comparison.operator.mirrored(), &comparison.left)
            }
            _ => return None,
        };
        let equality = matches!(operator, ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual);
        if !is_usable(comparison.mode, self.column_type(column), equality) {
            return None;
        }
        let bound = |inclusive| Some((value, inclusive));
        let asked = match operator {
            ComparisonOperator::Equal => Asked::Point(value, false),
            ComparisonOperator::NullSafeEqual => Asked::Point(value, true),
            ComparisonOperator::NotEqual => return None,
            ComparisonOperator::Less => Asked::Range { low: None, high: bound(false) },
            ComparisonOperator::LessOrEqual => Asked::Range { low: None, high: bound(true) },
            ComparisonOperator::Greater => Asked::Range { low: bound(false), high: None },
            ComparisonOperator::GreaterOrEqual => Asked::Range { low: bound(true), high: None },
        };
        Some(Term { column, asked })
    }

    /// What is asked of a column of elements that multi-valued indexes have.
    fn element<'e>(&self, array: &Expression, element: &'e Expression) -> Option<Term<'e>> {
        let column = self.column(array)?;
        let is_asked = self.has_elements(column) && self.is_known(element);
        is_asked.then_some(Term { column, asked: Asked::Point(element, false) })
    }

    /// Whether a condition asks a multi-valued index for elements.
    pub fn asks_elements(&self, condition: &Expression) -> bool {
        let is_element = |term: &Term<'_>| self.has_elements(term.column);
        match self.read(condition) {
            Some(Terms::One(term)) => is_element(&term),
            Some(Terms::Any(branches)) => branches.iter().all(|terms| terms.iter().any(is_element)),
            None => false,
        }
    }

    /// JSON_OVERLAPS with several elements: one of them is there.
    fn any_element<'e>(&self, condition: &'e Expression) -> Option<Terms<'e>> {
        let ExpressionKind::Function(call) = &condition.kind else { return None };
        let [array, elements] = call.arguments.as_slice() else { return None };
        let elements = listed(elements);
        if call.definition.name != OVERLAPS || elements.len() < 2 {
            return None;
        }
        let alternatives = elements.iter().map(|element| Some(vec![self.element(array, element)?]));
        alternatives.collect::<Option<_>>().map(Terms::Any)
    }

    /// Whether indexes have the elements of the column's arrays.
    fn has_elements(&self, column: usize) -> bool {
        match &self.block.tables[self.table].source {
            Source::Base(table) => table.definition().columns[column].element_type().is_some(),
            _ => false,
        }
    }

    /// Whether the table is one that has indexes.
    pub fn has_indexes(&self) -> bool {
        matches!(self.block.tables[self.table].source, Source::Base(_))
    }
}

/// What a list of terms demands of the first parts of an index; None when the first part is free.
pub(crate) fn index_conditions<'t, 'e: 't>(
    index: &IndexDefinition,
    terms: impl Iterator<Item = &'t Term<'e>> + Clone,
) -> Option<KeyConditions> {
    let first = index.parts.first()?;
    if terms.clone().all(|term| term.column != first.column) {
        return None;
    }
    let mut conditions = Vec::with_capacity(index.parts.len());
    for part in &index.parts {
        let of_part = || terms.clone().filter(|term| term.column == part.column).map(|term| term.asked);
        let points = of_part().filter(|asked| asked.points().is_some()).min_by_key(Asked::points);
        if let Some(points) = points {
            conditions.push(points.to_condition());
            if part.prefix_length.is_some() {
                break;
            }
            continue;
        }
        conditions.extend(combined_range(of_part()).map(Asked::to_condition));
        break;
    }
    (!conditions.is_empty()).then_some(conditions)
}

/// One range from all the ranges on a part; the first bound of each side is taken, the rest is checked per row.
fn combined_range<'e>(asked: impl Iterator<Item = Asked<'e>>) -> Option<Asked<'e>> {
    asked.reduce(|combined, other| match (combined, other) {
        (Asked::Range { low, high }, Asked::Range { low: more_low, high: more_high }) => {
            Asked::Range { low: low.or(more_low), high: high.or(more_high) }
        }
        _ => combined,
    })
}
