//! Which range of an index MySQL reads a table by: rows then come in that order, and not in that of another index whose keys
//! are grouped. Main function: [`chosen_range`].
//!
//! The costs are MySQL's for tables of a page in memory. A scan of the table has a handicap; a range of another index gives way to
//! the scan of one that holds all columns and has the wanted order where it reads much of the table.

use super::access::Candidate;
use crate::{Optimizer, Source};
use dictionary::{IndexDefinition, IndexKind};
use expression::Expression;
use plan::physical::KeyCondition;

const PAGE: f64 = 0.25;
const ROW: f64 = 0.1;
/// What a scan costs beside its rows when it is compared with ranges.
const SCAN_HANDICAP: f64 = 2.35;
/// What a row costs in an index that is read for its order.
const ORDERED_ROW: f64 = 0.3;

/// The range that a table is read by.
#[derive(Clone, Debug)]
pub struct ChosenRange {
    index: String,
    /// Whether all its entries have one key: behind that they are in the order of the primary key.
    is_one_key: bool,
    /// Whether an index that holds all columns is read instead for its order.
    gives_way: bool,
    /// The indexes that hold all columns.
    covering: Vec<String>,
}

impl ChosenRange {
    /// Whether rows are read in the order of an index nevertheless.
    pub fn leaves_order_of(&self, index: &IndexDefinition) -> bool {
        let is_primary = index.kind == IndexKind::Primary;
        self.index == index.name
            || self.is_one_key && is_primary
            || self.gives_way && (is_primary || self.covering.contains(&index.name))
    }
}

/// The range that MySQL reads a table by, if it does.
pub(super) fn chosen_range(
    optimizer: &mut Optimizer<'_>,
    number: usize,
    conditions: &[&Expression],
) -> Option<ChosenRange> {
    let Source::Base(table) = &optimizer.block.tables[number].source else { return None };
    let table = table.clone();
    let rows = optimizer.statistics(&table).rows as f64;
    let candidates = optimizer.candidates(number, conditions, 0);
    let ranges = candidates.into_iter().filter(|found| found.path.ranges.is_some() && !found.dependent);
    let priced = ranges.map(|found| (cost(&found), found));
    let (cost, best) = priced.min_by(|(one, _), (other, _)| one.total_cmp(other))?;
    if cost >= SCAN_HANDICAP + ROW * rows {
        return None;
    }
    let name = |index: usize| Some(table.indexes()[index].definition(&table)?.name.clone());
    let covering = (0..table.indexes().len()).filter(|index| optimizer.is_covered(number, &table, *index));
    Some(ChosenRange {
        index: name(best.path.index)?,
        is_one_key: is_one_key(&best),
        gives_way: best.rows >= rows || cost > ORDERED_ROW * rows,
        covering: covering.filter_map(name).collect(),
    })
}

fn cost(found: &Candidate) -> f64 {
    let ranges = found.path.ranges.iter().flatten().map(|conditions| match conditions.first() {
        Some(KeyCondition::Points(points)) => points.len(),
        _ => 1,
    });
    let pages = match found.path.index == 0 || found.path.covering {
        true => 1.0,
        false => ranges.sum::<usize>() as f64 + found.rows,
    };
    PAGE * pages + 2.0 * ROW * found.rows
}

fn is_one_key(found: &Candidate) -> bool {
    let Some([conditions]) = found.path.ranges.as_deref() else { return false };
    conditions.iter().all(|condition| matches!(condition, KeyCondition::Points(points) if points.len() == 1))
}
