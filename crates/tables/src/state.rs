//! Whether a table can be used, or why not. Main type: [`TableState`].

/// States of a table.
pub(crate) const USABLE: u8 = 0;
/// Dropped or replaced: further use fails with `TableDefinitionChanged`.
pub(crate) const GONE: u8 = 1;
/// Further use but dropping and replacing it fails with `FileMissing`.
pub(crate) const FILE_MISSING: u8 = 2;
/// The same with `TableDamaged`.
pub(crate) const DAMAGED: u8 = 3;
/// Nobody has looked at the file since the start: whoever uses the table does.
pub(crate) const UNCHECKED: u8 = 4;

/// Whether a table can be used, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableState(pub(crate) u8);

impl TableState {
    pub(crate) const USABLE: TableState = TableState(USABLE);
    /// There is no file that could be used.
    pub const FILE_MISSING: TableState = TableState(FILE_MISSING);
    /// The file lacks changes, or is another table's.
    pub const DAMAGED: TableState = TableState(DAMAGED);
    pub(crate) const UNCHECKED: TableState = TableState(UNCHECKED);

    /// Whether the start found no file for the table: its rows cannot be read, and it can only be dropped or replaced.
    #[inline]
    pub fn is_file_missing(self) -> bool {
        self.0 == FILE_MISSING
    }

    /// Whether nothing is known to be wrong.
    pub(crate) fn may_be_used(self) -> bool {
        [USABLE, UNCHECKED].contains(&self.0)
    }

    /// Whether rows must not be used, because the file is not there or lacks changes.
    #[inline]
    pub fn is_closed(self) -> bool {
        [FILE_MISSING, DAMAGED].contains(&self.0)
    }
}
