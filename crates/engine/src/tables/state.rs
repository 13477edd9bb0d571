//! Whether a table can be used, or why not. Main type: [`TableState`].

/// States of a table.
pub(super) const USABLE: u8 = 0;
/// Dropped or replaced: further use fails with `TableDefinitionChanged`.
pub(super) const GONE: u8 = 1;
/// Further use but dropping and replacing it fails with `FileMissing`.
pub(super) const FILE_MISSING: u8 = 2;
/// The same with `TableDamaged`.
pub(super) const DAMAGED: u8 = 3;
/// Nobody has looked at the file since the start: whoever uses the table does.
pub(super) const UNCHECKED: u8 = 4;

/// Whether a table can be used, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableState(pub(super) u8);

impl TableState {
    pub(crate) const USABLE: TableState = TableState(USABLE);
    pub(crate) const FILE_MISSING: TableState = TableState(FILE_MISSING);
    pub(crate) const DAMAGED: TableState = TableState(DAMAGED);
    pub(crate) const UNCHECKED: TableState = TableState(UNCHECKED);

    /// Whether the start found no file for the table: its rows cannot be read, and it can only be dropped or replaced.
    pub(crate) fn is_file_missing(self) -> bool {
        self.0 == FILE_MISSING
    }

    /// Whether nothing is known to be wrong.
    pub(crate) fn may_be_used(self) -> bool {
        [USABLE, UNCHECKED].contains(&self.0)
    }

    /// Whether rows must not be used, because the file is not there or lacks changes.
    pub(crate) fn is_closed(self) -> bool {
        [FILE_MISSING, DAMAGED].contains(&self.0)
    }
}
