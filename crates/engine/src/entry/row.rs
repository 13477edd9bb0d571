//! Rows as entries hold them: whole, with references in the place of long values, or themselves outside. Main types: [`StoredRow`],
//! [`RowForm`]. What references lead to is in `lob`.

use super::{ROW_OUTSIDE, VALUES_OUTSIDE};
use std::borrow::Cow;

/// How an entry keeps its row: bits of the entry's flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowForm(u8);

impl RowForm {
    /// The row as it is.
    pub(crate) const WHOLE: RowForm = RowForm(0);
    /// Some of the row's values stand outside.
    pub(crate) const VALUES_OUTSIDE: RowForm = RowForm(VALUES_OUTSIDE);
    /// A reference to the row, some of whose values may stand outside as well.
    pub(crate) const ROW_OUTSIDE: RowForm = RowForm(ROW_OUTSIDE);

    /// The form that the flags of an entry tell.
    pub(crate) const fn of_flags(flags: u8) -> RowForm {
        RowForm(flags & (Self::VALUES_OUTSIDE.0 | Self::ROW_OUTSIDE.0))
    }

    /// The form of a row that itself stands in its entry and refers to these values.
    pub(crate) const fn of_references(references: &[u8]) -> RowForm {
        if references.is_empty() { Self::WHOLE } else { Self::VALUES_OUTSIDE }
    }

    /// The form that the start of an entry tells.
    pub(crate) fn of_head(head: &[u8; txn::HEAD_BYTES]) -> RowForm {
        RowForm::of_flags(head[txn::HEAD_BYTES - 1])
    }

    /// Its bits among the flags of an entry.
    pub(crate) const fn flags(self) -> u8 {
        self.0
    }

    /// Whether the row is whole.
    pub(crate) const fn is_whole(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn is_row_outside(self) -> bool {
        self.0 & Self::ROW_OUTSIDE.0 != 0
    }
}

/// A row as its entry holds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredRow<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) form: RowForm,
}

/// A row copied out of its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedRow {
    pub(crate) bytes: Vec<u8>,
    pub(crate) form: RowForm,
}

/// A row that fits an entry.
#[derive(Debug)]
pub(crate) struct FittingRow<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) form: RowForm,
}

impl OwnedRow {
    pub(crate) fn as_stored(&self) -> StoredRow<'_> {
        StoredRow { bytes: &self.bytes, form: self.form }
    }
}

impl FittingRow<'_> {
    pub(crate) fn as_stored(&self) -> StoredRow<'_> {
        StoredRow { bytes: &self.bytes, form: self.form }
    }
}

impl<'a> StoredRow<'a> {
    /// A row that holds all of its values.
    pub(crate) fn whole(bytes: &'a [u8]) -> StoredRow<'a> {
        StoredRow { bytes, form: RowForm::WHOLE }
    }

    pub(crate) fn to_owned(self) -> OwnedRow {
        OwnedRow { bytes: self.bytes.to_vec(), form: self.form }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_bits_of_the_flags() {
        assert!(RowForm::of_flags(1 | 4 | 8).is_whole());
        assert_eq!(RowForm::of_flags(!ROW_OUTSIDE), RowForm::VALUES_OUTSIDE);
        assert!(RowForm::of_flags(ROW_OUTSIDE).is_row_outside());
    }
}
