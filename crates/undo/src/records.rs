//! Logical log records of the transaction layer, and what recovery makes of them. Main types: [`LogRecord`], [`Losers`].
//! They ride in the redo groups of the page changes they belong to, so that a change and its undo are durable together.

use super::touched::Touched;
use buffer::{MiniTransaction, RecoveryHandler, StorageError};
use std::collections::HashMap;
use std::sync::Arc;
use stdx::ids::{Lsn, TransactionId};
use txn::undo::{put_varint, take_varint};
use txn::{SpillFile, UndoList, UndoRecord};

/// Record kinds as they stand in the log.
pub(crate) const KIND_UNDO: u8 = 1;
pub(crate) const KIND_POP: u8 = 2;
const KIND_COMMIT: u8 = 3;
const KIND_ROLLED_BACK: u8 = 4;
pub(crate) const KIND_SAVED: u8 = 5;
pub(crate) const KIND_ENDED: u8 = 6;
const KIND_PREPARED: u8 = 7;

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

/// The payload of a record that says: the undo tree may hold undo of that transaction. It holds all before that position; what was
/// logged before `needed` is needed no more (0: that did not change).
pub(crate) fn encode_saved(id: TransactionId, saved: u64, needed: Lsn) -> Vec<u8> {
    let mut out = Vec::with_capacity(16);
    put_varint(&mut out, id.0);
    put_varint(&mut out, saved);
    put_varint(&mut out, needed.0);
    out
}

/// The payload of a record that names a transaction alone: commit, end of a rollback, chunks that are left over.
pub(crate) fn encode_id(id: TransactionId) -> Vec<u8> {
    let mut out = Vec::with_capacity(8);
    put_varint(&mut out, id.0);
    out
}

/// Adds the commit of a transaction to the group.
pub fn log_commit(mini: &mut MiniTransaction<'_>, id: TransactionId) {
    mini.log(KIND_COMMIT, &encode_id(id));
}

/// Adds the end of a rollback to the group.
pub fn log_rolled_back(mini: &mut MiniTransaction<'_>, id: TransactionId) {
    mini.log(KIND_ROLLED_BACK, &encode_id(id));
}

/// Adds to the group that a transaction is prepared under that name, or is prepared no more (no name).
pub(crate) fn log_prepared(mini: &mut MiniTransaction<'_>, id: TransactionId, name: Option<&[u8]>) {
    let mut payload = encode_id(id);
    payload.extend_from_slice(name.unwrap_or_default());
    mini.log(KIND_PREPARED, &payload);
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
            KIND_SAVED => format!(
                "undo of transaction {id} before {} is in the undo tree, log before {} is not needed for it",
                take_varint(&mut rest)?,
                take_varint(&mut rest)?
            ),
            KIND_ENDED => format!("transaction {id} has ended, the undo tree may hold some of its undo"),
            KIND_PREPARED if rest.is_empty() => format!("transaction {id} is prepared no more"),
            KIND_PREPARED => format!("transaction {id} is prepared as '{}'", rest.escape_ascii()),
            _ => return None,
        })
    };
    words(payload).unwrap_or_else(|| format!("logical record {kind} of {} bytes", payload.len()))
}

/// The unfinished transactions that the log shows. Memory is bounded: undo lists spill, and of those that have ended only those
/// are kept whose undo was saved.
#[derive(Debug)]
pub struct Losers {
    pub(crate) by_id: HashMap<TransactionId, Loser>,
    /// Transactions that have ended and of which the undo tree may hold something: what is there is left over. Each with an LSN
    /// that is not behind its end record.
    pub(crate) ended: HashMap<TransactionId, Lsn>,
    /// Greatest id seen.
    pub greatest: TransactionId,
    /// Where long lists go.
    pub spill_file: Arc<SpillFile>,
    /// Memory for all lists, in bytes; the newest block of each is in memory in any case.
    undo_memory_bytes_max: u64,
}

/// What the log shows of an unfinished transaction.
#[derive(Debug)]
pub(crate) struct Loser {
    /// Its newest records; None if the log does not tell how many there are.
    pub(crate) list: Option<UndoList>,
    /// Start of the first group with a record of it.
    pub(crate) first_lsn: Lsn,
    /// The log tells that its undo was saved: the undo tree may hold some of it.
    is_saved: bool,
    /// All records before that position are in the undo tree.
    pub(crate) saved: u64,
    /// The undo tree holds some of it.
    pub(crate) is_in_tree: bool,
    /// What the log shows of its changes; the undo tree tells of others.
    pub(crate) touched: Touched,
    pub(crate) saved_changes: Touched,
    /// The name under which it is prepared, empty if it is no more; None if the log tells nothing of that.
    pub(crate) prepared: Option<Box<[u8]>>,
}

impl RecoveryHandler for Losers {
    fn logical_record(&mut self, kind: u8, payload: &[u8], start: Lsn) -> Result<(), StorageError> {
        let reason = "logical record does not make sense";
        self.read(kind, payload, start)
            .ok_or(StorageError::Log(buffer::RedoError::Corrupt { reason, lsn: start }))
    }
}

impl Losers {
    /// None yet. Their lists may take so much memory together, in bytes; the rest goes to that file.
    pub fn new(spill_file: Arc<SpillFile>, undo_memory_bytes_max: u64) -> Losers {
        Losers {
            by_id: HashMap::new(),
            ended: HashMap::new(),
            greatest: TransactionId::default(),
            spill_file,
            undo_memory_bytes_max,
        }
    }

    fn read(&mut self, kind: u8, payload: &[u8], start: Lsn) -> Option<()> {
        let mut rest = payload;
        let id = TransactionId(take_varint(&mut rest)?);
        self.greatest = self.greatest.max(id);
        if kind == KIND_ENDED {
            self.ended.insert(id, start);
            return Some(());
        }
        if matches!(kind, KIND_COMMIT | KIND_ROLLED_BACK) {
            // Saved undo is told of before the end (`UndoStore::put_state`).
            if let Some(loser) = self.by_id.remove(&id).filter(|loser| loser.is_saved) {
                self.ended.insert(id, loser.first_lsn);
            }
            return Some(());
        }
        let lists = self.by_id.len() as u64 + 1;
        let loser = self.by_id.entry(id).or_insert_with(|| Loser::first_seen_at(start));
        match kind {
            KIND_UNDO => {
                let position = take_varint(&mut rest)?;
                let record = UndoRecord::decode(rest)?;
                loser.touched.add_record(record);
                let list = loser.list.get_or_insert_with(|| UndoList::starting_at(position));
                if list.len() != position || !list.push_encoded(rest) {
                    return None;
                }
                list.bound(self.undo_memory_bytes_max / lists, &self.spill_file);
            }
            KIND_POP => {
                let length = take_varint(&mut rest)?;
                let list = loser.list.get_or_insert_with(|| UndoList::starting_at(length));
                if length > list.len() {
                    return None;
                }
                list.truncate(length).ok()?;
                loser.saved = loser.saved.min(length);
            }
            KIND_SAVED => {
                loser.is_saved = true;
                loser.saved = take_varint(&mut rest)?;
                loser.first_lsn = loser.first_lsn.max(Lsn(take_varint(&mut rest)?));
                if let Some(list) = &mut loser.list {
                    list.forget_before(loser.saved);
                }
            }
            KIND_PREPARED => loser.prepared = Some(rest.into()),
            _ => return None,
        }
        Some(())
    }
}

impl Loser {
    pub(crate) fn first_seen_at(first_lsn: Lsn) -> Loser {
        Loser {
            list: None,
            first_lsn,
            is_saved: false,
            saved: 0,
            is_in_tree: false,
            touched: Touched::default(),
            saved_changes: Touched::default(),
            prepared: None,
        }
    }
}
