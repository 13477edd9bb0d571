//! Functional dependence: which columns of a query block are the same in all rows that agree on others. Follows from
//! unique keys, from equalities of WHERE and of joins, and from what holds within derived tables. Main type: [`Facts`].

use std::collections::HashSet;
use std::sync::Arc;

/// A column of a table of FROM: (table, column).
pub type Place = (usize, usize);

/// Where all of `from` are known, all of `to` are.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What is known.
    pub from: Vec<Place>,
    /// What follows.
    pub to: Vec<Place>,
}

/// What determines what among the columns of a block.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What columns tell of others.
    pub rules: Vec<Rule>,
    /// What derived tables tell of their columns.
    pub derived: Vec<DerivedTable>,
}

/// A derived table of the block.
#[derive(Clone, Debug)]
pub struct DerivedTable {
    /// Its number in the block.
    pub table: usize,
    /// What holds within it.
    pub dependence: Arc<DerivedDependence>,
    /// Its columns that are never NULL in a row of its own.
    pub firm: Vec<usize>,
    /// Behind an outer join: the columns that decide whether rows match.
    pub deciding: Option<Vec<Place>>,
    /// Whether MySQL keeps its rows in a temporary table, instead of reading its tables in its place.
    pub kept: bool,
}

/// What determines what among the columns of a derived table.
#[derive(Clone, Debug)]
pub struct DerivedDependence {
    /// What holds among the columns that it reads.
    pub facts: Facts,
    /// Its columns.
    pub columns: Vec<DerivedColumn>,
    /// The group keys of a derived table that groups: its row is known if they are.
    pub keys: Option<Vec<DerivedColumn>>,
    /// For each group key, the columns that show it.
    pub shown_keys: Vec<Vec<usize>>,
}

/// An expression over the columns within a derived table.
#[derive(Clone, Debug)]
pub struct DerivedColumn {
    /// The columns that it reads.
    pub reads: Vec<Place>,
    /// Whether it is the column, and nothing is computed.
    pub plain: bool,
    /// Whether the columns alone determine it.
    pub certain: bool,
}

impl Facts {
    /// Adds to the known columns all that they determine.
    pub fn close(&self, known: &mut HashSet<Place>) {
        loop {
            let before = known.len();
            for rule in &self.rules {
                if rule.from.iter().all(|place| known.contains(place)) {
                    known.extend(rule.to.iter().copied());
                }
            }
            for derived in &self.derived {
                derived.close(known);
            }
            if known.len() == before {
                return;
            }
        }
    }
}

impl DerivedTable {
    fn close(&self, known: &mut HashSet<Place>) {
        let count = self.dependence.columns.len();
        let own: Vec<usize> = (0..count).filter(|column| known.contains(&(self.table, *column))).collect();
        if own.len() == count {
            return;
        }
        let holds = match &self.deciding {
            None => true,
            Some(deciding) => {
                own.iter().any(|column| self.firm.contains(column))
                    || !self.kept && deciding.iter().all(|place| known.contains(place))
            }
        };
        if holds {
            let more = self.dependence.determined(&own);
            known.extend(more.into_iter().map(|column| (self.table, column)));
        }
    }
}

impl DerivedDependence {
    /// The columns that these determine.
    fn determined(&self, own: &[usize]) -> Vec<usize> {
        let shown = |column: &&usize| self.columns[**column].plain;
        let mut known: HashSet<Place> =
            own.iter().filter(shown).flat_map(|column| self.columns[*column].reads.iter().copied()).collect();
        self.facts.close(&mut known);
        let follows =
            |column: &DerivedColumn| column.certain && column.reads.iter().all(|place| known.contains(place));
        if let Some(keys) = &self.keys {
            let mut keys = keys.iter().zip(&self.shown_keys);
            if keys.all(|(key, shown)| follows(key) || shown.iter().any(|column| own.contains(column))) {
                return (0..self.columns.len()).collect();
            }
        }
        (0..self.columns.len()).filter(|column| follows(&self.columns[*column])).collect()
    }
}
