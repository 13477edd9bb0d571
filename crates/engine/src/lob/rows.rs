//! Rows whose values stand outside: what goes out when a row is written, and what comes back when it is read.

use super::chunks::Gone;
use super::{LobReference, LongValues};
use engine_error::{EngineError, EngineResult};
use entry::{FittingRow, RowForm, StoredRow};
use std::borrow::Cow;
use std::ops::Range;
use tables::Table;
use values::row::{ColumnSet, Piece, REFERENCE_BYTES, RowView};

/// Bytes of a long value that index keys are made of: more than the longest key.
const KEY_SOURCE_BYTES: u64 = page::KEY_BYTES_MAX as u64;

/// Which long values of a row a reader wants, and how much of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) columns: &'a ColumnSet,
    pub(crate) bytes_max: u64,
}

impl<'a> Wanted<'a> {
    /// All of the long values in these columns.
    pub(crate) fn whole(columns: &'a ColumnSet) -> Wanted<'a> {
        Wanted { columns, bytes_max: u64::MAX }
    }

    /// As much of them as index keys are made of.
    pub(crate) fn for_keys(columns: &'a ColumnSet) -> Wanted<'a> {
        Wanted { columns, bytes_max: KEY_SOURCE_BYTES }
    }
}

/// Whether a reader of those columns has to fetch something first; and about how many bytes.
#[inline]
pub(crate) fn bytes_to_fetch(
    row: &StoredRow<'_>,
    table: &Table,
    wanted: &ColumnSet,
) -> EngineResult<Option<u64>> {
    if row.form.is_whole() { Ok(None) } else { bytes_outside(row, table, wanted) }
}

fn bytes_outside(row: &StoredRow<'_>, table: &Table, wanted: &ColumnSet) -> EngineResult<Option<u64>> {
    if row.form.is_row_outside() {
        return Ok(Some(reference_to_row(table, row.bytes)?.length));
    }
    let view = table.view(row.bytes)?;
    let mut bytes = None;
    for column in table.layout.variable_columns().filter(|column| wanted.contains(*column)) {
        if let Piece::Outside(reference) = view.piece(column) {
            bytes = Some(bytes.unwrap_or(0) + decode(table, reference)?.length);
        }
    }
    Ok(bytes)
}

/// The long values that a row refers to, one reference after the other. The row itself must not stand outside.
pub(crate) fn references_of(view: &RowView<'_>, out: &mut Vec<u8>) {
    for piece in view.pieces() {
        if let Piece::Outside(reference) = piece {
            out.extend_from_slice(reference);
        }
    }
}

impl LongValues {
    /// Makes a row fit an entry of at most `bytes_max`: its longest values go out, and if that is not enough, the row itself.
    /// `put` writes a value and tells where.
    pub(crate) fn fit<'r>(
        &self,
        table: &Table,
        row: &'r [u8],
        bytes_max: usize,
        put: &mut dyn FnMut(&[u8]) -> EngineResult<LobReference>,
    ) -> EngineResult<FittingRow<'r>> {
        let view = table.view(row)?;
        if row.len() <= bytes_max {
            let form = if view.has_outside() { RowForm::VALUES_OUTSIDE } else { RowForm::WHOLE };
            return Ok(FittingRow { bytes: Cow::Borrowed(row), form });
        }
        let mut pieces = view.pieces();
        let references = put_longest_out(table, &mut pieces, bytes_max, put)?;
        for (ordinal, reference) in &references {
            pieces[*ordinal] = Piece::Outside(reference);
        }
        let mut shorter = Vec::new();
        table.layout.rewrite(&view, &pieces, &mut shorter).map_err(|error| table.corrupt(error))?;
        if shorter.len() > bytes_max {
            let bytes = Cow::Owned(put(&shorter)?.encode().to_vec());
            return Ok(FittingRow { bytes, form: RowForm::ROW_OUTSIDE });
        }
        Ok(FittingRow { bytes: Cow::Owned(shorter), form: RowForm::VALUES_OUTSIDE })
    }

    /// Appends those bytes of a value, as far as it has them.
    pub(crate) fn read_value(
        &self,
        table: &Table,
        reference: &LobReference,
        range: Range<u64>,
        out: &mut Vec<u8>,
    ) -> EngineResult<Result<(), Gone>> {
        self.read_chunks(table.lob_tree()?, reference, range, out)
    }

    /// Whether a reference leads to that value. Its row is locked.
    pub(crate) fn is_value(
        &self,
        table: &Table,
        reference: &[u8; REFERENCE_BYTES],
        value: &[u8],
    ) -> EngineResult<bool> {
        let reference = decode(table, reference)?;
        if reference.length != value.len() as u64 {
            return Ok(false);
        }
        let mut rest = value;
        let mut compare = |bytes: &[u8]| {
            let is_same = rest.starts_with(bytes);
            rest = rest.get(bytes.len()..).filter(|_| is_same).unwrap_or(rest);
            is_same
        };
        self.visit_chunks(table.lob_tree()?, &reference, 0..reference.length, &mut compare)??;
        Ok(rest.is_empty())
    }

    /// The row itself, with references in the place of long values.
    pub(crate) fn row_with_references<'r>(
        &self,
        table: &Table,
        row: StoredRow<'r>,
    ) -> EngineResult<Result<Cow<'r, [u8]>, Gone>> {
        if !row.form.is_row_outside() {
            return Ok(Ok(Cow::Borrowed(row.bytes)));
        }
        let reference = reference_to_row(table, row.bytes)?;
        let mut bytes = Vec::new();
        let read = self.read_chunks(table.lob_tree()?, &reference, 0..reference.length, &mut bytes)?;
        Ok(read.map(|()| Cow::Owned(bytes)))
    }

    /// The row with as much of the long values in these columns as index keys are made of.
    pub(crate) fn key_source<'r>(
        &self,
        table: &Table,
        row: StoredRow<'r>,
        columns: &ColumnSet,
    ) -> EngineResult<Cow<'r, [u8]>> {
        if bytes_to_fetch(&row, table, columns)?.is_none() {
            return Ok(Cow::Borrowed(row.bytes));
        }
        let mut source = Vec::new();
        self.fetch(table, row, Wanted::for_keys(columns), &mut source)??;
        Ok(Cow::Owned(source))
    }

    /// Appends a row with what is wanted of its long values.
    pub(crate) fn fetch(
        &self,
        table: &Table,
        row: StoredRow<'_>,
        wanted: Wanted<'_>,
        out: &mut Vec<u8>,
    ) -> EngineResult<Result<(), Gone>> {
        let row = match self.row_with_references(table, row)? {
            Ok(row) => row,
            Err(gone) => return Ok(Err(gone)),
        };
        let view = table.view(&row)?;
        let mut values = Vec::new();
        for column in table.layout.variable_columns() {
            let mut value = None;
            if let Piece::Outside(reference) = view.piece(column)
                && wanted.columns.contains(column)
            {
                let bytes = value.insert(Vec::new());
                let reference = decode(table, reference)?;
                // Keys are made of all elements of an array.
                let bytes_max = if table.arrays.contains(column) { u64::MAX } else { wanted.bytes_max };
                if let Err(gone) = self.read_chunks(table.lob_tree()?, &reference, 0..bytes_max, bytes)? {
                    return Ok(Err(gone));
                }
            }
            values.push(value);
        }
        let mut pieces = view.pieces();
        for (piece, value) in pieces.iter_mut().zip(&values) {
            if let Some(value) = value {
                *piece = Piece::Here(value);
            }
        }
        table.layout.rewrite(&view, &pieces, out).map_err(|error| table.corrupt(error))?;
        Ok(Ok(()))
    }
}

/// Writes the longest values until the row fits, or nothing is left that would become shorter. Returns the places of those that
/// went out, and their references.
fn put_longest_out(
    table: &Table,
    pieces: &mut [Piece<'_>],
    bytes_max: usize,
    put: &mut dyn FnMut(&[u8]) -> EngineResult<LobReference>,
) -> EngineResult<Vec<(usize, [u8; REFERENCE_BYTES])>> {
    let mut by_length: Vec<usize> = (0..pieces.len()).collect();
    by_length.sort_by_key(|ordinal| std::cmp::Reverse(pieces[*ordinal].len()));
    let mut bytes = table.layout.bytes_with_references(pieces);
    let mut references = Vec::new();
    for ordinal in by_length {
        match pieces[ordinal] {
            _ if bytes <= bytes_max => break,
            Piece::Here(value) if value.len() > REFERENCE_BYTES => {
                references.push((ordinal, put(value)?.encode()));
                bytes -= value.len() - REFERENCE_BYTES;
            }
            _ => {}
        }
    }
    Ok(references)
}

fn reference_to_row(table: &Table, bytes: &[u8]) -> EngineResult<LobReference> {
    let reference = bytes.try_into().map_err(|_| table.corrupt("reference to a row is cut off"))?;
    decode(table, reference)
}

fn decode(table: &Table, reference: &[u8; REFERENCE_BYTES]) -> EngineResult<LobReference> {
    LobReference::decode(reference)
        .ok_or_else(|| table.corrupt("reference to a long value does not make sense"))
}

impl From<Gone> for EngineError {
    /// For reads whose snapshot or lock keeps the value where it is.
    fn from(_: Gone) -> EngineError {
        EngineError::Corrupt("a long value that a row refers to is missing".to_owned())
    }
}
