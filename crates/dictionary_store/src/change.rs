//! Changes of the dictionary's tree. Main type: [`Change`]. Who makes them is in `write/dictionary.rs`.

/// A change of one dictionary entry: put these bytes, or remove the entry.
pub enum Change {
    /// Puts a value under a key.
    Put(Vec<u8>, Vec<u8>),
    /// Takes a key out.
    Remove(Vec<u8>),
}
