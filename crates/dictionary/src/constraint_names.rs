//! What a server keeps in memory of the constraints of every table, open or not: names must be free in a schema, and whoever changes
//! a table must find those that refer to it. Main types: [`ConstraintNames`], [`ReferringKeys`].

use crate::table::{CheckDefinition, TableDefinition, TableName};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The constraints of a table, as far as other tables have to do with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConstraintNames {
    /// What tells the names of its CHECK constraints from others.
    pub checks: Box<[String]>,
    /// Its foreign keys.
    pub references: Box<[Reference]>,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// What tells its name from others.
    pub folded_name: String,
    /// The table that it refers to.
    pub parent: TableName,
    /// Its place among all that were ever made.
    pub ordinal: u64,
}

impl ConstraintNames {
    /// Those of a definition.
    pub fn of(definition: &TableDefinition) -> ConstraintNames {
        let references = definition.foreign_keys.iter().map(|key| Reference {
            folded_name: key.folded_name(),
            parent: key.parent.clone(),
            ordinal: key.ordinal,
        });
        ConstraintNames {
            checks: definition.checks.iter().map(CheckDefinition::folded_name).collect(),
            references: references.collect(),
        }
    }
}

/// Foreign keys by the tables that they refer to, which need not exist.
#[derive(Debug, Default)]
pub struct ReferringKeys(HashMap<TableName, BTreeMap<u64, TableName>>);

impl ReferringKeys {
    /// Adds those of a table.
    pub fn add(&mut self, table: &TableName, constraints: &ConstraintNames) {
        for key in &constraints.references {
            self.0.entry(key.parent.clone()).or_default().insert(key.ordinal, table.clone());
        }
    }

    /// Takes those of a table out.
    pub fn remove(&mut self, constraints: &ConstraintNames) {
        for key in &constraints.references {
            if let Some(keys) = self.0.get_mut(&key.parent) {
                keys.remove(&key.ordinal);
                if keys.is_empty() {
                    self.0.remove(&key.parent);
                }
            }
        }
    }

    /// Those that refer to a table, in the order in which they were made: the table that has one, and its ordinal.
    pub fn referring(&self, parent: &TableName) -> Vec<(TableName, u64)> {
        let keys = self.0.get(parent).into_iter().flatten();
        keys.map(|(ordinal, child)| (child.clone(), *ordinal)).collect()
    }
}

/// A name that a constraint cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakenName {
    /// That of a CHECK constraint.
    Check(String),
    /// That of a foreign key.
    ForeignKey(String),
}

/// The first constraint of definitions whose name another one of its schema has: one of them, or of the schema's other tables, which
/// `others` knows.
pub fn first_taken_name(
    definitions: &[&TableDefinition],
    others: impl Fn(&str) -> Vec<ConstraintNames>,
) -> Option<TakenName> {
    let has_some = |table: &&&TableDefinition| !table.checks.is_empty() || !table.foreign_keys.is_empty();
    let mut taken: HashMap<&str, (HashSet<String>, HashSet<String>)> = HashMap::new();
    for definition in definitions.iter().filter(has_some) {
        let schema = definition.name.schema.as_str();
        let (checks, keys) = taken.entry(schema).or_insert_with(|| {
            let others = others(schema);
            let keys = others.iter().flat_map(|names| &names.references);
            let keys = keys.map(|key| key.folded_name.clone()).collect();
            (others.iter().flat_map(|names| &names.checks).cloned().collect(), keys)
        });
        if let Some(check) = definition.checks.iter().find(|check| !checks.insert(check.folded_name())) {
            return Some(TakenName::Check(check.name.clone()));
        }
        if let Some(key) = definition.foreign_keys.iter().find(|key| !keys.insert(key.folded_name())) {
            return Some(TakenName::ForeignKey(key.name.clone()));
        }
    }
    None
}
