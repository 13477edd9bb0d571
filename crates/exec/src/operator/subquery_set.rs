//! The rows of a subquery behind IN, ANY and ALL, in the form in which an operand is looked for among them without
//! reading them again. Main types: [`RowSet`] for IN, [`Extremes`] for the other comparisons. Belong to one execution.

use super::{append_key, open, open_projection};
use crate::batch::RowBatch;
use crate::run::Run;
use crate::spill::{KeySet, RowCursor, RowStore};
use errors::SqlResult;
use expression::operators::{ComparisonOperator, compare_values};
use expression::{EvaluationContext, Expression};
use plan::SubqueryPlan;
use plan::physical::Node;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use values::{ColumnType, RowRef, Value, ValueRef};

/// Which columns of a row are NULL.
type Nulls = Vec<bool>;

/// Rows of an IN subquery.
pub(super) struct RowSet {
    /// Keys of the rows without NULL.
    keys: RefCell<KeySet>,
    /// Which columns are NULL together in some row, rows without NULL included.
    patterns: Vec<Nulls>,
    /// The rows, if an operand may have to be compared with some of their columns only.
    rows: Option<RowStore>,
    /// By the NULLs of rows and of operands: keys of those rows over the columns that neither leaves open. Made when
    /// first asked for.
    partial: RefCell<HashMap<(Nulls, Nulls), KeySet>>,
}

impl RowSet {
    /// The rows that a subquery yields.
    pub fn read(subquery: &SubqueryPlan, id: usize, run: &mut Run<'_, '_>) -> SqlResult<RowSet> {
        let width = subquery.comparisons.len();
        let computed;
        let mut operator = match &subquery.query.root {
            Node::Project { input, expressions } if expressions.iter().any(is_computed_once) => {
                computed = computed_once(expressions, run.constant_sites(id, expressions.len()));
                open_projection(input, &computed, run)
            }
            root => open(root, run),
        };
        let (mut batch, mut key) = (RowBatch::new(), Vec::new());
        let (mut keys, mut patterns) = (run.key_set(), Vec::new());
        let mut rows = (width > 1).then(|| run.row_store());
        while operator.next(run, &mut batch)? {
            run.check_killed()?;
            for row in batch.iter() {
                let row = row.first(width);
                key.clear();
                let nulls = append_columns(subquery, row, Side::Row, None, run, &mut key)?;
                if !nulls.contains(&true) {
                    keys.insert(&key)?;
                }
                if !patterns.contains(&nulls) {
                    patterns.push(nulls);
                }
                if let Some(rows) = &mut rows {
                    rows.push(row)?;
                }
            }
        }
        Ok(RowSet { keys: RefCell::new(keys), patterns, rows, partial: RefCell::default() })
    }

    /// Bytes in memory, and how many of them are not charged by their holders.
    pub fn memory_bytes(&self) -> (u64, u64) {
        let open = self.rows.as_ref().map_or(0, RowStore::open_bytes);
        let rows = self.rows.as_ref().map_or(0, RowStore::held_bytes);
        (open + rows + self.keys.borrow().held_bytes(), open)
    }

    /// `operands IN (rows)`; None for unknown.
    pub fn holds(
        &self,
        subquery: &SubqueryPlan,
        operands: &[Value],
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<bool>> {
        if self.patterns.is_empty() {
            return Ok(Some(false));
        }
        let mut key = Vec::new();
        let nulls = append_columns(subquery, RowRef::Values(operands), Side::Operand, None, run, &mut key)?;
        let is_whole = !nulls.contains(&true);
        if is_whole && self.keys.borrow_mut().contains(&key)? {
            return Ok(Some(true));
        }
        // A NULL on either side makes the answer unknown, unless another column differs in every row.
        for pattern in &self.patterns {
            if is_whole && !pattern.contains(&true) {
                continue;
            }
            if self.may_equal(subquery, operands, &nulls, pattern, run)? {
                return Ok(None);
            }
        }
        Ok(Some(false))
    }

    /// Whether a row with these NULLs equals the operands in all columns that are NULL on neither side.
    fn may_equal(
        &self,
        subquery: &SubqueryPlan,
        operands: &[Value],
        nulls: &Nulls,
        pattern: &Nulls,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<bool> {
        let open: Nulls = nulls.iter().zip(pattern).map(|(left, right)| *left || *right).collect();
        let Some(rows) = self.rows.as_ref().filter(|_| open.contains(&false)) else { return Ok(true) };
        let mut key = Vec::new();
        append_columns(subquery, RowRef::Values(operands), Side::Operand, Some(&open), run, &mut key)?;
        let mut partial = self.partial.borrow_mut();
        let which = (pattern.clone(), nulls.clone());
        if let Some(keys) = partial.get_mut(&which) {
            return keys.contains(&key);
        }
        let mut keys = run.key_set();
        let (mut cursor, mut batch) = (RowCursor::new(), RowBatch::new());
        let (mut row_key, mut whole_key) = (Vec::new(), Vec::new());
        while cursor.next(rows, rows.len(), &mut batch)? {
            run.check_killed()?;
            for row in batch.iter() {
                whole_key.clear();
                if append_columns(subquery, row, Side::Row, None, run, &mut whole_key)? == *pattern {
                    row_key.clear();
                    append_columns(subquery, row, Side::Row, Some(&open), run, &mut row_key)?;
                    keys.insert(&row_key)?;
                }
            }
        }
        let found = keys.contains(&key);
        partial.insert(which, keys);
        found
    }
}

/// Whether an item reads nothing at all: MySQL computes it for the first row and keeps it.
fn is_computed_once(item: &Expression) -> bool {
    item.computes() && item.is_foldable()
}

/// Items of which those are computed once an execution. Their values are kept under the numbers from `site` on.
fn computed_once(items: &[Expression], site: usize) -> Vec<Expression> {
    let item = |(at, item): (usize, &Expression)| match is_computed_once(item) {
        true => item.clone().once(site + at),
        false => item.clone(),
    };
    items.iter().enumerate().map(item).collect()
}

/// Whose values they are: their types differ.
#[derive(Clone, Copy)]
enum Side {
    Operand,
    Row,
}

/// Appends the keys of the columns that are not left out; says which of these are NULL.
fn append_columns(
    subquery: &SubqueryPlan,
    values: RowRef<'_>,
    side: Side,
    left_out: Option<&Nulls>,
    run: &mut Run<'_, '_>,
    key: &mut Vec<u8>,
) -> SqlResult<Nulls> {
    let mut nulls = vec![false; values.len()];
    for (index, value) in values.iter().enumerate() {
        if left_out.is_some_and(|left_out| left_out[index]) {
            continue;
        }
        let (mode, operand_type) = &subquery.comparisons[index];
        let column_type = match side {
            Side::Operand => operand_type,
            Side::Row => &subquery.query.columns[index].result.column_type,
        };
        nulls[index] = !append_key(*mode, value, column_type, run, key)?;
    }
    Ok(nulls)
}

/// What ANY and ALL need to know of the values of a subquery: whether a comparison holds for all of them, or for one, is
/// decided by the least and the greatest.
pub(super) struct Extremes {
    /// Least and greatest; None where no value can be compared.
    range: Option<(Value, Value)>,
    /// Some value is NULL or cannot be compared.
    unknown: bool,
}

impl Extremes {
    /// The values that a subquery yields.
    pub fn read(subquery: &SubqueryPlan, run: &mut Run<'_, '_>) -> SqlResult<Extremes> {
        let mut operator = open(&subquery.query.root, run);
        let mut batch = RowBatch::new();
        let mut extremes = Extremes { range: None, unknown: false };
        let column_type = &subquery.query.columns[0].result.column_type;
        while operator.next(run, &mut batch)? {
            run.check_killed()?;
            for row in batch.iter() {
                extremes.add(subquery, row.get(0), column_type, run)?;
            }
        }
        Ok(extremes)
    }

    fn add(
        &mut self,
        subquery: &SubqueryPlan,
        value: ValueRef<'_>,
        column_type: &ColumnType,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let mode = subquery.comparisons[0].0;
        let mut order =
            |other: &Value| compare_values(mode, value, column_type, other.as_ref(), column_type, run);
        let Some((low, high)) = &mut self.range else {
            let first = value.to_value();
            match order(&first)? {
                Some(_) => self.range = Some((first.clone(), first)),
                None => self.unknown = true,
            }
            return Ok(());
        };
        match order(low)? {
            None => self.unknown = true,
            Some(Ordering::Less) => value.copy_into(low),
            Some(Ordering::Equal) => {}
            Some(Ordering::Greater) => {
                if order(high)? == Some(Ordering::Greater) {
                    value.copy_into(high);
                }
            }
        }
        Ok(())
    }

    /// The values that are kept.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.range.iter().flat_map(|(low, high)| [low, high])
    }

    /// `operand op ANY (values)`, and ALL when not `any`; None for unknown.
    pub fn quantified(
        &self,
        subquery: &SubqueryPlan,
        operands: &[Value],
        operator: ComparisonOperator,
        any: bool,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<Option<bool>> {
        let (mode, operand_type) = &subquery.comparisons[0];
        let column_type = &subquery.query.columns[0].result.column_type;
        let mut unknown = self.unknown;
        for value in self.values() {
            match compare_values(*mode, operands[0].as_ref(), operand_type, value.as_ref(), column_type, run)?
            {
                Some(order) if operator.holds(order) == any => return Ok(Some(any)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { None } else { Some(!any) })
    }
}
