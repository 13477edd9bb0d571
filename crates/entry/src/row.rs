//! Rows as entries hold them: whole, with references in the place of long values, or themselves outside. Main types: [`StoredRow`],
//! [`RowForm`]. What references lead to is the engine's `lob`.

use super::{ROW_OUTSIDE, VALUES_OUTSIDE};
use std::borrow::Cow;

/// How an entry keeps its row: bits of the entry's flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowForm(u8);

impl RowForm {
    /// The row as it is.
    pub const WHOLE: RowForm = RowForm(0);
    /// Some of the row's values stand outside.
    pub const VALUES_OUTSIDE: RowForm = RowForm(VALUES_OUTSIDE);
    /// A reference to the row, some of whose values may stand outside as well.
    pub const ROW_OUTSIDE: RowForm = RowForm(ROW_OUTSIDE);

    /// The form that the flags of an entry tell.
    #[inline]
    pub const fn of_flags(flags: u8) -> RowForm {
        RowForm(flags & (Self::VALUES_OUTSIDE.0 | Self::ROW_OUTSIDE.0))
    }

    /// The form of a row that itself stands in its entry and refers to these values.
    #[inline]
    pub const fn of_references(references: &[u8]) -> RowForm {
        if references.is_empty() { Self::WHOLE } else { Self::VALUES_OUTSIDE }
    }

    /// Its bits among the flags of an entry.
    #[inline]
    pub const fn flags(self) -> u8 {
        self.0
    }

    /// Whether the row is whole.
    #[inline]
    pub const fn is_whole(self) -> bool {
        self.0 == 0
    }

    /// Whether the row itself stands outside.
    #[inline]
    pub const fn is_row_outside(self) -> bool {
        self.0 & Self::ROW_OUTSIDE.0 != 0
    }
}

/// A row as its entry holds it.
#[derive(Clone, Copy, Debug)]
pub struct StoredRow<'a> {
    /// The row, or a reference to it.
    pub bytes: &'a [u8],
    /// Which of both.
    pub form: RowForm,
}

/// A row copied out of its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedRow {
    /// The row, or a reference to it.
    pub bytes: Vec<u8>,
    /// Which of both.
    pub form: RowForm,
}

/// A row that fits an entry.
#[derive(Debug)]
pub struct FittingRow<'a> {
    /// The row, or a reference to it.
    pub bytes: Cow<'a, [u8]>,
    /// Which of both.
    pub form: RowForm,
}

impl OwnedRow {
    /// The same, borrowed.
    #[inline]
    pub fn as_stored(&self) -> StoredRow<'_> {
        StoredRow { bytes: &self.bytes, form: self.form }
    }
}

impl FittingRow<'_> {
    /// The same, borrowed.
    #[inline]
    pub fn as_stored(&self) -> StoredRow<'_> {
        StoredRow { bytes: &self.bytes, form: self.form }
    }
}

impl<'a> StoredRow<'a> {
    /// A row that holds all of its values.
    #[inline]
    pub fn whole(bytes: &'a [u8]) -> StoredRow<'a> {
        StoredRow { bytes, form: RowForm::WHOLE }
    }

    /// A copy.
    pub fn to_owned(self) -> OwnedRow {
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
