//! BETWEEN and IN with a list; a long list of constants is searched, not walked. Main types: [`Between`], [`InList`].

use super::comparison::{Comparison, ComparisonMode, ComparisonOperator, as_number, compare_values};
use crate::context::{EvaluationContext, waiting_bytes};
use crate::operand::Operand;
use crate::result_type::TypeClass;
use crate::text;
use crate::tree::{Expression, ExpressionKind};
use charset::CollationId;
use errors::SqlResult;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;
use values::{RowRef, Value, ValueRef};

/// `operand BETWEEN low AND high`, with NOT when `negated`.
#[derive(Clone, Debug)]
pub struct Between {
    /// The operand.
    pub operand: Expression,
    /// Lower bound and how it is compared.
    pub low: (ComparisonMode, Expression),
    /// Upper bound and how it is compared.
    pub high: (ComparisonMode, Expression),
    /// NOT BETWEEN.
    pub negated: bool,
}

impl Between {
    /// The truth for one row.
    pub fn truth(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Option<bool>> {
        let mut operand = self.operand.operand(row, context)?;
        if operand.is_null() {
            return Ok(None);
        }
        let column_type = &self.operand.result.column_type;
        if self.low.0 == self.high.0 {
            operand = as_number(self.low.0, operand, column_type, context)?;
        }
        let mut against = |(mode, bound): &(ComparisonMode, Expression)| {
            let value = bound.operand_beside(waiting_bytes(&operand), row, context)?;
            compare_values(
                *mode,
                operand.as_ref(),
                column_type,
                value.as_ref(),
                &bound.result.column_type,
                context,
            )
        };
        let above = against(&self.low)?.map(|order| order != Ordering::Less);
        let below = against(&self.high)?.map(|order| order != Ordering::Greater);
        let inside = match (above, below) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        Ok(inside.map(|inside| inside != self.negated))
    }
}

/// From this many constants on, IN looks the operand up instead of walking the list.
const LOOKUP_LENGTH_MIN: usize = 4;

/// After so many comparisons a walk looks for a kill.
const KILL_LOOK_MEMBERS: usize = 1024;

/// `operand IN (list)`, with NOT when `negated`.
#[derive(Clone, Debug)]
pub struct InList {
    /// The operand.
    pub operand: Expression,
    /// The list with the way each member is compared.
    pub list: Vec<(ComparisonMode, Expression)>,
    /// NOT IN.
    pub negated: bool,
    lookup: Option<Arc<Lookup>>,
    /// Whether integers are compared by their bits: the list holds several kinds of values, or what is no constant.
    by_bits: bool,
    /// Whether members are converted to integers before the operand is looked at.
    converts_first: bool,
}

/// Constants of one kind: integers, or texts in the order of the collation in which all are compared.
#[derive(Debug, Default)]
struct Lookup {
    integers: HashSet<i128>,
    texts: Vec<Vec<u8>>,
    collation: Option<CollationId>,
    has_null: bool,
}

impl InList {
    /// Builds the list of members with the way each is compared.
    pub fn new(operand: Expression, list: Vec<(ComparisonMode, Expression)>, negated: bool) -> InList {
        let lookup = Lookup::build(&operand, &list).map(Arc::new);
        let is_null = |member: &Expression| member.literal() == Some(&Value::Null);
        let mut modes = list.iter().filter(|(_, member)| !is_null(member)).map(|(mode, _)| *mode);
        let first = modes.next();
        let is_mixed =
            modes.any(|mode| Some(mode) != first) || list.iter().any(|(_, member)| !member.is_constant());
        let by_bits = is_mixed && operand.column_slot().is_none();
        let converts_first = list.iter().any(is_converted);
        InList { operand, list, negated, lookup, by_bits, converts_first }
    }

    /// The truth for one row.
    pub fn truth(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Option<bool>> {
        if self.converts_first {
            // Its warnings come when they are compared.
            let before = context.diagnostics().reported();
            for (_, member) in self.list.iter().filter(|member| is_converted(member)) {
                member.operand(row, context)?;
            }
            context.diagnostics().go_back(before);
        }
        let operand = self.operand.operand(row, context)?;
        if operand.is_null() {
            return Ok(None);
        }
        let known = self.lookup.as_ref().and_then(|lookup| lookup.find(operand.as_ref()));
        let waiting = waiting_bytes(&operand);
        let found = known.map_or_else(|| self.walk(operand.as_ref(), waiting, row, context), Ok)?;
        Ok(found.map(|found| found != self.negated))
    }

    fn walk(
        &self,
        operand: ValueRef<'_>,
        waiting: usize,
        row: RowRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Option<bool>> {
        let column_type = &self.operand.result.column_type;
        let mut unknown = false;
        let mut number: Option<Operand<'_>> = None;
        for (at, (mode, member)) in self.list.iter().enumerate() {
            if at % KILL_LOOK_MEMBERS == KILL_LOOK_MEMBERS - 1 {
                context.check_killed()?;
            }
            let value = member.operand_beside(waiting, row, context)?;
            if self.by_bits
                && *mode == ComparisonMode::Integer
                && let (Some(left), Some(right)) = (bits(operand), bits(value.as_ref()))
            {
                if left == right {
                    return Ok(Some(true));
                }
                continue;
            }
            let operand = match (mode, operand) {
                (ComparisonMode::Double, ValueRef::Bytes(_)) => match &mut number {
                    Some(number) => number.as_ref(),
                    none => none
                        .insert(as_number(*mode, Operand::Borrowed(operand), column_type, context)?)
                        .as_ref(),
                },
                _ => operand,
            };
            match compare_values(
                *mode,
                operand,
                column_type,
                value.as_ref(),
                &member.result.column_type,
                context,
            )? {
                Some(Ordering::Equal) => return Ok(Some(true)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { None } else { Some(false) })
    }

    /// The members as comparisons with the operand, for range analysis.
    pub fn comparisons(&self) -> impl Iterator<Item = Comparison> + '_ {
        self.list.iter().map(|(mode, member)| Comparison {
            operator: ComparisonOperator::Equal,
            mode: *mode,
            left: self.operand.clone(),
            right: member.clone(),
            once: None,
        })
    }
}

/// Whether a member is a floating point number that the list holds as an integer.
fn is_converted((mode, member): &(ComparisonMode, Expression)) -> bool {
    match &member.kind {
        ExpressionKind::Cast(cast) => {
            *mode == ComparisonMode::Integer && cast.operand.result.class() == TypeClass::Double
        }
        _ => false,
    }
}

/// The bits of an integer.
fn bits(value: ValueRef<'_>) -> Option<u64> {
    match value {
        ValueRef::Int(number) => Some(number as u64),
        ValueRef::UInt(number) => Some(number),
        _ => None,
    }
}

impl Lookup {
    fn build(operand: &Expression, list: &[(ComparisonMode, Expression)]) -> Option<Lookup> {
        if list.len() < LOOKUP_LENGTH_MIN {
            return None;
        }
        let class = operand.result.class();
        let mut lookup = Lookup::default();
        for (mode, member) in list {
            match (class, mode, member.literal()?) {
                (_, _, Value::Null) => lookup.has_null = true,
                (TypeClass::Integer, _, value) => drop(lookup.integers.insert(value.as_ref().integer()?)),
                (TypeClass::Text, ComparisonMode::Text(collation), Value::Bytes(text))
                    if lookup.collation.get_or_insert(*collation) == collation =>
                {
                    lookup.texts.push(text.clone());
                }
                _ => return None,
            }
        }
        if let Some(collation) = lookup.collation {
            lookup.texts.sort_by(|left, right| text::compare(collation, left, right));
        }
        Some(lookup)
    }

    /// Whether a value is in the list, unknown as the inner None; None if it is of another kind than the members.
    fn find(&self, value: ValueRef<'_>) -> Option<Option<bool>> {
        let is_there = match (value, self.collation) {
            (value, None) => self.integers.contains(&value.integer()?),
            (ValueRef::Bytes(value), Some(collation)) => {
                self.texts.binary_search_by(|text| text::compare(collation, text, value)).is_ok()
            }
            _ => return None,
        };
        Some(if is_there || !self.has_null { Some(is_there) } else { None })
    }
}
