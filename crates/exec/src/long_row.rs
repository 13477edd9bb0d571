//! A result row whose long values go from their table to the client a piece at a time. Main type: [`LongRow`].

use crate::run::{Run, engine_error};
use engine::{LobReference, Table};
use errors::{SqlResult, sql_error};
use std::collections::VecDeque;
use values::encoder::{ColumnEncoder, append_length};
use values::row::REFERENCE_BYTES;
use wire::result::EncodedRows;

/// Bytes of a value that are read at once.
const PIECE_BYTES: u64 = 128 << 10;

/// A row in protocol form, but for its long values.
#[derive(Debug, Default)]
pub(crate) struct LongRow {
    /// What stands beside the values.
    short: Vec<u8>,
    /// Where values belong in it, from the first to the last.
    values: VecDeque<(usize, LobReference)>,
}

impl LongRow {
    /// The payload so far, for what is short.
    pub fn short(&mut self) -> &mut Vec<u8> {
        &mut self.short
    }

    /// Adds a value of a row that the statement reads under a snapshot or a lock. One that must be converted is read whole.
    pub fn push(
        &mut self,
        reference: &[u8; REFERENCE_BYTES],
        encoder: &ColumnEncoder,
        table: &Table,
        run: &mut Run<'_, '_>,
    ) -> SqlResult<()> {
        let reference = LobReference::decode(reference).ok_or_else(|| {
            sql_error!(ER_GET_ERRNO, 126, "a reference to a long value does not make sense")
        })?;
        if encoder.keeps_bytes() {
            append_length(reference.length(), &mut self.short);
            self.values.push_back((self.short.len(), reference));
            return Ok(());
        }
        let mut held = run.hold();
        // The value, and what it is converted to.
        held.grow(reference.length().saturating_mul(2))?;
        let mut value = Vec::new();
        let whole = 0..reference.length();
        let read = run.statement.transaction.read_value(table, &reference, whole, &mut value);
        read.map_err(|error| engine_error(error, table))?;
        encoder.long_text(&value, &mut self.short, &run.document_watch())
    }

    /// Sends the row.
    pub fn send(mut self, rows: &mut dyn EncodedRows, table: &Table, run: &Run<'_, '_>) -> SqlResult<()> {
        let long: u64 = self.values.iter().map(|(_, reference)| reference.length()).sum();
        let (mut sent, mut offset) = (0, 0);
        rows.long_row(self.short.len() as u64 + long, &mut |out| {
            let Some((place, reference)) = self.values.front() else {
                out.extend_from_slice(&self.short[sent..]);
                return Ok(std::mem::replace(&mut sent, self.short.len()) < self.short.len());
            };
            out.extend_from_slice(&self.short[sent..*place]);
            sent = *place;
            let end = reference.length().min(offset + PIECE_BYTES);
            let read = run.statement.transaction.read_value(table, reference, offset..end, out);
            read.map_err(|error| engine_error(error, table))?;
            offset = end;
            if offset == reference.length() {
                self.values.pop_front();
                offset = 0;
            }
            Ok(true)
        })
    }
}
