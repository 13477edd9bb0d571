//! Prepared transactions as a start finds them (rule P1 in undo's README). Main type: [`RecoveredTransaction`]. How one is prepared is
//! in `end.rs`.

use super::Transaction;
use crate::inner::EngineInner;
use dictionary::TableName;
use engine_types::TransactionOptions;
use std::sync::Arc;
use txn::ChangedTables;
use undo::Writer;

/// A prepared transaction that a start has found. It has the rows locked that it has written, and nothing else.
#[derive(Debug)]
pub struct RecoveredTransaction {
    /// What it was prepared as.
    pub name: Box<[u8]>,
    /// To be committed or rolled back.
    pub transaction: Transaction,
    /// Tables that it has changed and that there are; None if it may be any.
    pub tables: Option<Vec<TableName>>,
}

impl RecoveredTransaction {
    /// Of a prepared writer that has changed those tables.
    pub(crate) fn new(
        engine: Arc<EngineInner>,
        writer: Arc<Writer>,
        tables: Option<Vec<TableName>>,
    ) -> RecoveredTransaction {
        let name = writer.prepared_name().unwrap_or_default();
        let mut transaction = Transaction::new(engine, TransactionOptions::default());
        transaction.owner = writer.owner.clone().into();
        transaction.writer = writer.into();
        transaction.is_prepared = true;
        transaction.changed = ChangedTables::any();
        RecoveredTransaction { name, transaction, tables }
    }
}
