//! Prepared transactions: what they have written outlives a crash, and stays undecided until somebody commits them or rolls them back
//! (XA PREPARE; rule P1 in README.md).

use super::UndoLog;
use super::records::log_prepared;
use super::store::corrupt;
use super::writer::Writer;
use crate::error::UndoResult;
use stdx::ids::Lsn;
use txn::UndoList;

impl UndoLog {
    /// Prepares a transaction under a name, which is not empty: once the log up to the returned LSN is durable, a start leaves it as it is.
    pub fn prepare(&self, writer: &Writer, name: &[u8]) -> Lsn {
        assert!(!name.is_empty(), "a prepared transaction has a name");
        self.note_prepared(writer, Some(name))
    }

    /// It was decided to roll a prepared transaction back. Before its first record is undone: a start goes on with that.
    pub fn withdraw(&self, writer: &Writer) {
        self.note_prepared(writer, None);
    }

    /// In one step for whoever saves the writer's undo: either the state that goes to the undo tree tells it, or the log is kept that does.
    fn note_prepared(&self, writer: &Writer, name: Option<&[u8]>) -> Lsn {
        let mut mini = self.pool.mini_transaction();
        let mut undo = writer.undo();
        undo.prepared = name.map(Box::from);
        log_prepared(&mut mini, writer.id, name);
        mini.commit()
    }

    /// Brings all records of a writer that a start has found into its list, so that it can commit: snapshots may need any of them.
    pub fn load_whole(&self, writer: &Writer) -> UndoResult<()> {
        let first = writer.undo().list.first();
        let mut older = UndoList::default();
        while older.len() < first {
            let chunk = self.store.chunk_at(&self.pool, writer.id, older.len())?.ok_or_else(corrupt)?;
            let before = older.len();
            let skipped = (before - chunk.first.min(before)) as usize;
            for record in chunk.records().skip(skipped).take((first - before) as usize) {
                if !older.push_encoded(record) {
                    return Err(corrupt());
                }
            }
            if chunk.first > before || older.len() == before {
                return Err(corrupt());
            }
            older.bound(self.limits.memory_bytes_max, &self.spill_file);
        }
        if writer.undo().list.complete(older) { Ok(()) } else { Err(corrupt()) }
    }
}
