//! Logical log records of the transaction layer, and what recovery makes of them. Main types: [`LogRecord`], [`Losers`].
//! They ride in the redo groups of the page changes they belong to, so that a change and its undo are durable together.

use buffer::{RecoveryHandler, StorageError};
use std::collections::{BTreeMap, HashMap};
use stdx::ids::{Lsn, TransactionId};
use txn::undo::{put_varint, take_varint};

/// Record kinds as they stand in the log.
pub(crate) const KIND_UNDO: u8 = 1;
pub(crate) const KIND_POP: u8 = 2;
pub(crate) const KIND_COMMIT: u8 = 3;
pub(crate) const KIND_ROLLED_BACK: u8 = 4;

/// Appends the payload of an undo record: transaction, position in its undo list, record.
pub(crate) fn encode_undo(out: &mut Vec<u8>, id: TransactionId, position: u64, record: txn::UndoRecord<'_>) {
    put_varint(out, id.0);
    put_varint(out, position);
    record.encode(out);
}

/// The payload of a record that says: the undo list of that transaction is now that long.
pub(crate) fn encode_pop(id: TransactionId, length: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(12);
    put_varint(&mut out, id.0);
    put_varint(&mut out, length);
    out
}

/// The payload of a commit or end-of-rollback record.
pub(crate) fn encode_end(id: TransactionId) -> Vec<u8> {
    let mut out = Vec::with_capacity(8);
    put_varint(&mut out, id.0);
    out
}

/// A logical record in words, for whoever looks at a log.
pub fn logical_record_text(kind: u8, payload: &[u8]) -> String {
    let words = |mut rest: &[u8]| {
        let id = take_varint(&mut rest)?;
        Some(match kind {
            KIND_UNDO => {
                let position = take_varint(&mut rest)?;
                let record = txn::UndoRecord::decode(rest)?;
                format!("undo {position} of transaction {id}: {record:?}")
            }
            KIND_POP => format!("transaction {id} has undone all from {} on", take_varint(&mut rest)?),
            KIND_COMMIT => format!("transaction {id} commits"),
            KIND_ROLLED_BACK => format!("transaction {id} is rolled back"),
            _ => return None,
        })
    };
    words(payload).unwrap_or_else(|| format!("logical record {kind} of {} bytes", payload.len()))
}

/// The unfinished transactions that the log shows, each with its undo records by position.
#[derive(Debug, Default)]
pub(crate) struct Losers {
    pub(crate) by_id: HashMap<TransactionId, BTreeMap<u64, Vec<u8>>>,
    /// Transactions whose end the log shows: what the undo tree still holds of them is left over.
    pub(crate) ended: std::collections::HashSet<TransactionId>,
    /// Positions from which on each transaction's records in the undo tree are out of date.
    pub(crate) popped: HashMap<TransactionId, u64>,
    /// Start of the first group with an undo record of each transaction.
    pub(crate) first_lsn: HashMap<TransactionId, Lsn>,
    /// Greatest id seen.
    pub(crate) greatest: TransactionId,
}

impl RecoveryHandler for Losers {
    fn logical_record(&mut self, kind: u8, payload: &[u8], start: Lsn) -> Result<(), StorageError> {
        let reason = "logical record does not make sense";
        self.read(kind, payload, start)
            .ok_or(StorageError::Log(buffer::RedoError::Corrupt { reason, lsn: start }))
    }
}

impl Losers {
    fn read(&mut self, kind: u8, payload: &[u8], start: Lsn) -> Option<()> {
        let mut rest = payload;
        let id = TransactionId(take_varint(&mut rest)?);
        self.greatest = self.greatest.max(id);
        match kind {
            KIND_UNDO => {
                let position = take_varint(&mut rest)?;
                txn::UndoRecord::decode(rest)?;
                self.first_lsn.entry(id).or_insert(start);
                self.by_id.entry(id).or_default().insert(position, rest.to_vec());
            }
            KIND_POP => {
                let length = take_varint(&mut rest)?;
                self.by_id.entry(id).or_default().split_off(&length);
                let popped = self.popped.entry(id).or_insert(length);
                *popped = length.min(*popped);
            }
            KIND_COMMIT | KIND_ROLLED_BACK => {
                self.by_id.remove(&id);
                self.popped.remove(&id);
                self.ended.insert(id);
            }
            _ => return None,
        }
        Some(())
    }
}
