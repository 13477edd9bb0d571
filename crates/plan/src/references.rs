//! Foreign keys as rows that change meet them: the parents that a row must have, the rows that refer to it. Main types: [`References`],
//! [`ParentKey`], [`ChildKey`].

use crate::change::Target;
use dictionary::{ForeignKeyDefinition, TableDefinition};
use engine::Table;
use std::sync::Arc;
use values::row::ColumnSet;

/// The foreign keys of a target's rows, as far as a statement's changes concern them.
#[derive(Clone, Debug)]
pub struct References {
    /// What they refer to, in the order of the keys' names.
    pub parents: Vec<ParentKey>,
    /// What refers to them, in the order in which the keys were made.
    pub children: Vec<ChildKey>,
    /// The columns of a row that are looked at for both: those that the keys name, and of parents' sake the row's place.
    pub columns: ColumnSet,
}

impl Default for References {
    fn default() -> References {
        References { parents: Vec::new(), children: Vec::new(), columns: ColumnSet::none() }
    }
}

impl References {
    /// Those of rows of that table.
    pub fn new(definition: &TableDefinition, parents: Vec<ParentKey>, children: Vec<ChildKey>) -> References {
        let refer = parents.iter().flat_map(|parent| &definition.foreign_keys[parent.key].columns);
        let referred = children.iter().flat_map(|child| &child.columns);
        let place = definition.primary_key().filter(|_| !parents.is_empty()).into_iter();
        let place = place.flat_map(|index| index.parts.iter().map(|part| part.column));
        let columns = ColumnSet::of(refer.chain(referred).copied().chain(place));
        References { parents, children, columns }
    }

    /// Whether rows of the same table may change with a row.
    pub fn are_referred_to_by_themselves(&self) -> bool {
        self.children.iter().any(|key| key.is_own)
    }

    /// Whether rows refer to rows of their own table: they must not wait for others.
    pub fn refer_to_themselves(&self) -> bool {
        self.parents.iter().any(|key| key.is_own)
    }
}

/// A foreign key of a target.
#[derive(Clone, Debug)]
pub struct ParentKey {
    /// Its number among the foreign keys of the target's definition.
    pub key: usize,
    /// Where its parents are; None where there is no such table, so that no row has a parent.
    pub referred: Option<ReferredIndex>,
    /// It refers to its own table.
    pub is_own: bool,
}

/// The index by which parents are found.
#[derive(Clone, Debug)]
pub struct ReferredIndex {
    /// The table.
    pub table: Arc<Table>,
    /// Number of the index.
    pub index: usize,
    /// The columns, in the order of the key's.
    pub columns: Vec<usize>,
}

/// A foreign key of another table, or of the same, that refers to a target.
#[derive(Clone, Debug)]
pub struct ChildKey {
    /// The table that has it, by its number among the tables that a plan changes by foreign keys.
    pub child: usize,
    /// Its number among the foreign keys of that table's definition.
    pub key: usize,
    /// Number of the child's index that begins with the key's columns.
    pub index: usize,
    /// The target's columns, in the order of the key's.
    pub columns: Vec<usize>,
    /// The table is the target's.
    pub is_own: bool,
}

impl ChildKey {
    /// The table that has it.
    pub fn child<'p>(&self, cascades: &'p [Target]) -> &'p Target {
        &cascades[self.child]
    }

    /// The key.
    pub fn definition<'p>(&self, cascades: &'p [Target]) -> &'p ForeignKeyDefinition {
        &self.child(cascades).table.definition().foreign_keys[self.key]
    }
}
