//! Values of variable columns that stand outside their row: the row holds a reference in their place, and bit 31 of the column's
//! end offset says so. Main types: [`Piece`], [`ColumnSet`]. What a reference means is the storage engine's business.

use super::{Place, RowError, RowLayout, RowView, WIDE_OFFSETS};
use crate::packed;
use std::sync::Arc;

/// Bytes of a reference to a value that stands outside its row.
pub const REFERENCE_BYTES: usize = 24;
/// Bit of a wide end offset: the column holds a reference.
pub(super) const OUTSIDE: usize = 1 << 31;

/// What a variable column of a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// NULL.
    Null,
    /// The value.
    Here(&'a [u8]),
    /// A reference to the value.
    Outside(&'a [u8; REFERENCE_BYTES]),
}

/// Columns of a table. Most often all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ColumnSet {
    /// Every column.
    #[default]
    All,
    /// Those whose bit is set.
    Some(Arc<[u64]>),
}

impl ColumnSet {
    /// The set of these columns.
    pub fn of(columns: impl IntoIterator<Item = usize>) -> ColumnSet {
        let mut words = Vec::new();
        for column in columns {
            if words.len() <= column / 64 {
                words.resize(column / 64 + 1, 0u64);
            }
            words[column / 64] |= 1 << (column % 64);
        }
        ColumnSet::Some(words.into())
    }

    /// No column.
    pub fn none() -> ColumnSet {
        ColumnSet::Some(Arc::default())
    }

    /// Whether it has no column.
    pub fn is_none(&self) -> bool {
        matches!(self, ColumnSet::Some(words) if words.iter().all(|word| *word == 0))
    }

    /// Whether a column belongs to it.
    pub fn contains(&self, column: usize) -> bool {
        match self {
            ColumnSet::All => true,
            ColumnSet::Some(words) => {
                words.get(column / 64).is_some_and(|word| word & (1 << (column % 64)) != 0)
            }
        }
    }
}

impl<'a> Piece<'a> {
    /// Bytes that it takes in a row.
    pub fn len(&self) -> usize {
        match self {
            Piece::Null => 0,
            Piece::Here(bytes) => bytes.len(),
            Piece::Outside(_) => REFERENCE_BYTES,
        }
    }

    /// Whether it takes none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bytes(&self) -> &'a [u8] {
        match self {
            Piece::Null => &[],
            Piece::Here(bytes) => bytes,
            Piece::Outside(reference) => *reference,
        }
    }
}

impl RowLayout {
    /// The variable columns: a row's [`RowView::pieces`] come in this order.
    pub fn variable_columns(&self) -> impl Iterator<Item = usize> + '_ {
        let is_variable = |(_, column): &(usize, &super::Column)| matches!(column.place, Place::Variable(_));
        self.columns.iter().enumerate().filter(is_variable).map(|(position, _)| position)
    }

    /// Whether rows have variable columns: only those can stand outside.
    pub fn has_variable_columns(&self) -> bool {
        self.variable_count > 0
    }

    /// Bytes of fixed columns and bitmap.
    pub fn fixed_bytes(&self) -> usize {
        self.offsets_at
    }

    /// Bytes of a row with these pieces, some of which are references.
    pub fn bytes_with_references(&self, pieces: &[Piece<'_>]) -> usize {
        self.offsets_at + 4 * self.variable_count + pieces.iter().map(Piece::len).sum::<usize>()
    }

    /// Appends a row with other pieces in its variable columns, all of them in order.
    pub fn rewrite(
        &self,
        row: &RowView<'_>,
        pieces: &[Piece<'_>],
        out: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        if pieces.len() != self.variable_count {
            return Err(RowError::WrongCount);
        }
        let variable_bytes: usize = pieces.iter().map(Piece::len).sum();
        let has_outside = pieces.iter().any(|piece| matches!(piece, Piece::Outside(_)));
        let row_at = out.len();
        let (header_bytes, offset_bytes) = self.begin(variable_bytes, has_outside, out)?;
        out[row_at..row_at + self.bitmap_at].copy_from_slice(&row.as_bytes()[..self.bitmap_at]);
        let flags = out[row_at + self.bitmap_at];
        let bitmap = &row.as_bytes()[self.bitmap_at..self.offsets_at];
        out[row_at + self.bitmap_at..row_at + self.offsets_at].copy_from_slice(bitmap);
        out[row_at + self.bitmap_at] = bitmap[0] & !WIDE_OFFSETS | flags;
        for (ordinal, (position, piece)) in self.variable_columns().zip(pieces).enumerate() {
            if let Some((byte, mask)) = self.null_position(position) {
                match piece {
                    Piece::Null => out[row_at + byte] |= mask,
                    _ => out[row_at + byte] &= !mask,
                }
            } else if matches!(piece, Piece::Null) {
                out.truncate(row_at);
                return Err(RowError::Null(position));
            }
            out.extend_from_slice(piece.bytes());
            let mut end = out.len() - row_at - header_bytes;
            if matches!(piece, Piece::Outside(_)) {
                end |= OUTSIDE;
            }
            let at = row_at + self.offsets_at + offset_bytes * ordinal;
            out[at..at + offset_bytes].copy_from_slice(&(end as u32).to_le_bytes()[..offset_bytes]);
        }
        Ok(())
    }
}

impl<'a> RowView<'a> {
    /// What the variable columns hold, in order.
    pub fn pieces(&self) -> Vec<Piece<'a>> {
        self.layout().variable_columns().map(|column| self.piece(column)).collect()
    }

    /// What a variable column holds; NULL for others.
    pub fn piece(&self, column: usize) -> Piece<'a> {
        match (self.raw(column), self.layout.columns[column].place) {
            (Some(raw), Place::Variable(ordinal)) => match raw.try_into() {
                Ok(reference) if self.is_outside(ordinal as usize) => Piece::Outside(reference),
                _ => Piece::Here(raw),
            },
            _ => Piece::Null,
        }
    }

    /// Whether any of the values stands outside.
    #[inline]
    pub fn has_outside(&self) -> bool {
        self.is_wide() && (0..self.layout.variable_count).any(|ordinal| self.is_outside(ordinal))
    }

    /// Whether a variable column stands outside: [`RowView::raw`] then gives the reference.
    pub(super) fn is_outside(&self, ordinal: usize) -> bool {
        if !self.is_wide() {
            return false;
        }
        let at = self.layout.offsets_at + 4 * ordinal;
        self.bytes.get(at..at + 4).is_some_and(|end| packed::unsigned(end) as usize & OUTSIDE != 0)
    }
}
