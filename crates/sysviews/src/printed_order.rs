//! The order in which indexes are printed and kept. Main function: [`printed_order`].

use dictionary::{IndexKind, IndexPart, TableDefinition};

/// Positions of the indexes in the order in which MySQL prints them: primary key, unique ones without NULL, other
/// unique ones, plain. Unique ones of whole columns go before those of prefixes, and then those of values that rows of MySQL hold before
/// those of computed ones.
pub fn printed_order(definition: &TableDefinition) -> Vec<usize> {
    let mut order: Vec<usize> = (0..definition.indexes.len()).collect();
    order.sort_by_key(|at| {
        let index = &definition.indexes[*at];
        let has_prefix = index.parts.iter().any(|part| part.prefix_length.is_some());
        let is_virtual = |part: &IndexPart| definition.columns[part.column].is_virtual();
        let has_virtual = index.parts.iter().any(is_virtual);
        match index.kind {
            IndexKind::Primary => (0, false, false),
            IndexKind::Unique if index.parts.iter().all(|part| !definition.columns[part.column].nullable) => {
                (1, has_prefix, has_virtual)
            }
            IndexKind::Unique => (2, has_prefix, has_virtual),
            IndexKind::Plain => (3, false, has_virtual),
        }
    });
    order
}
