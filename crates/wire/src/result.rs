//! What a statement sends back, as calls. Implemented by a connection; called by the session and executor.
//! Main traits: [`ResultSink`], [`ClientChannel`].

use crate::recorded::RecordedRows;
use charset::CollationId;
use errors::{SqlError, SqlResult};
use stdx::ids::Lsn;
use values::json::Watch;
use values::{ColumnType, RowRef};

/// A column of a result set, as the column definition packet describes it.
#[derive(Clone, Debug)]
pub struct ResultColumn {
    /// Schema of the base column, or empty.
    pub schema: String,
    /// Table alias, or empty.
    pub table: String,
    /// Base table name, or empty.
    pub original_table: String,
    /// Name shown.
    pub name: String,
    /// Base column name, or empty.
    pub original_name: String,
    /// Type; decides the type code, length, decimals and how values are written.
    pub column_type: ColumnType,
    /// Whether an expression computes the values; what is no column of a table describes itself differently.
    pub computed: bool,
    /// Flags of the protocol (NOT_NULL_FLAG 1, PRI_KEY_FLAG 2, UNIQUE_KEY_FLAG 4, ...).
    pub flags: u16,
}

impl ResultColumn {
    /// A column of no table.
    pub fn named(name: impl Into<String>, column_type: ColumnType) -> ResultColumn {
        ResultColumn {
            schema: String::new(),
            table: String::new(),
            original_table: String::new(),
            name: name.into(),
            original_name: String::new(),
            column_type,
            computed: false,
            flags: 0,
        }
    }

    /// The same as an expression computes it.
    pub fn computed(name: impl Into<String>, column_type: ColumnType) -> ResultColumn {
        ResultColumn { computed: true, ..ResultColumn::named(name, column_type) }
    }
}

/// The end of a statement that sends no rows, or of a result set.
#[derive(Clone, Debug, Default)]
pub struct StatementEnd {
    /// Rows changed (or found, with CLIENT_FOUND_ROWS).
    pub affected_rows: u64,
    /// The id that the OK packet carries.
    pub last_insert_id: u64,
    /// SERVER_STATUS_* flags, SERVER_MORE_RESULTS_EXISTS included.
    pub server_status: u16,
    /// Number of conditions, capped at 65535.
    pub warnings: u16,
    /// Human readable text, e.g. "Records: 2  Duplicates: 0  Warnings: 0".
    pub info: String,
    /// Session state changes, sent if the client asked for them.
    pub session_changes: Vec<SessionChange>,
}

/// A session state change of the OK packet.
#[derive(Clone, Debug)]
pub enum SessionChange {
    /// A tracked system variable has a new value.
    SystemVariable {
        /// Name.
        name: String,
        /// New value as text.
        value: String,
    },
    /// The default schema changed.
    Schema(String),
    /// Something about the session changed (session_track_state_change).
    State,
    /// Transaction characteristics as text (session_track_transaction_info).
    TransactionCharacteristics(String),
    /// Transaction state as text.
    TransactionState(String),
}

/// Where a statement's answer goes.
pub trait ResultSink {
    /// Starts a result set. `results_collation` is character_set_results (BINARY: no conversion).
    fn columns(&mut self, columns: &[ResultColumn], results_collation: CollationId) -> SqlResult<()>;

    /// Goes on with a result set whose columns an earlier command sent (COM_STMT_FETCH): sends nothing.
    fn resume_rows(&mut self, columns: &[ResultColumn], results_collation: CollationId) -> SqlResult<()>;

    /// One row of the result set that was started.
    fn row(&mut self, row: RowRef<'_>) -> SqlResult<()>;

    /// The same of a row that may have long documents: sinks that print them ask the watch meanwhile.
    fn long_documents(&mut self, row: RowRef<'_>, _watch: &dyn Watch) -> SqlResult<()> {
        self.row(row)
    }

    /// The way for result sets whose caller writes rows in protocol form itself; None if this sink wants values.
    fn encoded_rows(&mut self) -> Option<&mut dyn EncodedRows> {
        None
    }

    /// Keeps the packets of the rows of the result set that begins next, if they take no more than so many bytes.
    fn record_rows(&mut self, bytes_max: usize) {
        let _ = bytes_max;
    }

    /// What was kept. None if it was too much, and of sinks that have no packets.
    fn take_recorded(&mut self) -> Option<RecordedRows> {
        None
    }

    /// Ends the result set that was started.
    fn end_rows(&mut self, end: &StatementEnd) -> SqlResult<()>;

    /// Answers a statement without rows.
    fn ok(&mut self, end: &StatementEnd) -> SqlResult<()>;

    /// Nothing of this answer may reach the client before the log is durable up to that position. For a packet
    /// whose earlier statement committed: sinks that send big results early wait for it. The position that the
    /// session returns at the end covers everything; sinks that send only then may ignore this.
    fn require_durable(&mut self, lsn: Lsn) {
        let _ = lsn;
    }

    /// Answers with an error (instead of, or in the middle of, a result set).
    fn error(&mut self, error: &SqlError);

    /// As `error`, with the text in the character set of `results` (BINARY: not converted), for sinks that send bytes.
    fn error_in(&mut self, error: &SqlError, results: CollationId) {
        let _ = results;
        self.error(error);
    }
}

/// The column definitions of a result set as packets' payloads: made once, sent many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedColumns {
    payloads: Vec<u8>,
    /// Where each payload ends.
    ends: Vec<u32>,
}

impl EncodedColumns {
    /// The definitions for a client whose results are in that collation's character set.
    pub fn new(columns: &[ResultColumn], results: CollationId) -> EncodedColumns {
        let mut payloads = Vec::new();
        let mut ends = Vec::with_capacity(columns.len());
        for column in columns {
            crate::response::push_column(&mut payloads, column, results);
            ends.push(payloads.len() as u32);
        }
        EncodedColumns { payloads, ends }
    }

    /// Memory that they take, bytes.
    pub fn bytes(&self) -> usize {
        self.payloads.capacity() + self.ends.capacity() * size_of::<u32>()
    }

    /// The payload of each definition.
    pub fn payloads(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.ends.iter().enumerate().map(|(at, end)| {
            let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
            &self.payloads[start..*end as usize]
        })
    }
}

/// A result set whose rows the caller writes in protocol form. [`ResultSink::end_rows`] ends it.
pub trait EncodedRows {
    /// Whether rows go out in the binary protocol (prepared statements).
    fn is_binary(&self) -> bool;

    /// Starts the result set.
    fn begin(&mut self, columns: &EncodedColumns) -> SqlResult<()>;

    /// One row, whose payload `encode` appends.
    fn row(&mut self, encode: &mut dyn FnMut(&mut Vec<u8>)) -> SqlResult<()>;

    /// The rows as another result set had them.
    fn recorded(&mut self, rows: &RecordedRows) -> SqlResult<()> {
        rows.frames().try_for_each(|frame| self.row(&mut |out| out.extend_from_slice(frame)))
    }

    /// One row whose payload of so many bytes is too long for memory: `next_part` appends part after part of it, and says whether
    /// there was one. An error of it breaks the connection, because the client has a part of the row already.
    fn long_row(
        &mut self,
        payload_bytes: u64,
        next_part: &mut dyn FnMut(&mut Vec<u8>) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let mut payload = Vec::new();
        while next_part(&mut payload)? {}
        debug_assert_eq!(payload.len() as u64, payload_bytes);
        self.row(&mut |out| out.extend_from_slice(&payload))
    }
}

/// A sink that can also ask the client for a file (LOAD DATA LOCAL INFILE).
pub trait ClientChannel: ResultSink {
    /// Asks the client to send that file.
    fn request_file(&mut self, name: &str) -> SqlResult<()>;

    /// The next piece of the file; None at its end. Blocks.
    fn read_file_piece(&mut self) -> SqlResult<Option<Vec<u8>>>;
}
