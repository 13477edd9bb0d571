//! Changes of the dictionary's tree. Main type: [`Change`]. Who makes them is in `write/dictionary.rs`.

/// A change of one dictionary entry: put these bytes, or remove the entry.
pub(crate) enum Change {
    Put(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
}
