//! Answers to commands, written to one buffer. Main type: [`Encoder`]: the bytes side of [`crate::result::ResultSink`].
//! Its owner looks at [`Output::len`] after rows and sends early when it grew large.

use crate::capabilities::{client, status};
use crate::long_packet::LongPacket;
use crate::output::{Output, push_length_encoded_integer};
use crate::recorded::{RecordedRows, Recorder};
use crate::response::{self, push_column, push_eof, push_error, push_error_in, push_ok};
use crate::result::{EncodedColumns, ResultColumn, StatementEnd};
use crate::row::{RowWriter, push_nullable_text};
use charset::CollationId;
use errors::{SqlError, SqlResult};
use values::json::Watch;

/// Columns of a result set, as the protocol can number them.
pub const COLUMNS_MAX: usize = 65_535;

/// Writes answers in the form that a connection negotiated.
#[derive(Debug, Default)]
pub struct Encoder {
    /// Framed packets to send.
    pub output: Output,
    capabilities: u32,
    /// Rows go out in the binary protocol.
    binary: bool,
    rows: RowWriter,
    /// The EOF behind the column definitions is not written yet: a cursor has none.
    owes_metadata_end: bool,
    /// SERVER_STATUS_* flags for packets in the middle of an answer.
    server_status: u16,
    recording: Recording,
}

/// What is kept of the rows of a result set.
#[derive(Debug, Default)]
enum Recording {
    #[default]
    Nothing,
    /// Those of the next result set, up to so many bytes.
    Awaited(usize),
    Running(Recorder),
}

impl Encoder {
    /// An encoder for a connection with those capabilities.
    pub fn new(capabilities: u32) -> Encoder {
        Encoder { capabilities, ..Encoder::default() }
    }

    /// Changes the capabilities: they are known after the handshake.
    pub fn set_capabilities(&mut self, capabilities: u32) {
        self.capabilities = capabilities;
    }

    /// The connection's capabilities.
    pub fn capabilities(&self) -> u32 {
        self.capabilities
    }

    /// Starts the answer to a command. `sequence` is that of the first packet.
    #[inline]
    pub fn begin_answer(&mut self, sequence: u8, binary: bool, server_status: u16) {
        self.output.set_sequence(sequence);
        self.binary = binary;
        self.owes_metadata_end = false;
        self.server_status = server_status;
        self.recording = Recording::Nothing;
    }

    /// Whether rows go out in the binary protocol.
    pub fn is_binary(&self) -> bool {
        self.binary
    }

    fn deprecates_eof(&self) -> bool {
        self.capabilities & client::DEPRECATE_EOF != 0
    }

    /// Starts a result set.
    pub fn columns(&mut self, columns: &[ResultColumn], results: CollationId) {
        let payload = self.output.begin_packet();
        push_length_encoded_integer(payload, columns.len() as u64);
        self.output.end_packet();
        self.column_definitions(columns, results);
        self.resume_rows(columns, results);
        self.owes_metadata_end = !self.deprecates_eof();
        self.begin_recording();
    }

    /// Starts a result set whose rows come encoded.
    pub fn encoded_columns(&mut self, columns: &EncodedColumns) {
        let payloads = columns.payloads();
        let payload = self.output.begin_packet();
        push_length_encoded_integer(payload, payloads.len() as u64);
        self.output.end_packet();
        for payload in payloads {
            self.output.packet(payload);
        }
        self.owes_metadata_end = !self.deprecates_eof();
        self.begin_recording();
    }

    /// Keeps the packets of the next result set's rows.
    pub fn record_rows(&mut self, bytes_max: usize) {
        self.recording = Recording::Awaited(bytes_max);
    }

    fn begin_recording(&mut self) {
        if let Recording::Awaited(bytes_max) = self.recording {
            self.settle_metadata_end();
            self.recording = Recording::Running(Recorder::begin(&self.output, bytes_max));
        }
    }

    /// The packets that were kept.
    pub fn take_recorded(&mut self) -> Option<RecordedRows> {
        match std::mem::take(&mut self.recording) {
            Recording::Running(recorder) => recorder.end(&self.output),
            _ => None,
        }
    }

    /// What the output has was sent.
    pub fn forget_sent(&mut self) {
        if let Recording::Running(recorder) = &mut self.recording {
            recorder.copy(&self.output);
        }
        self.output.clear();
    }

    /// The rows of another result set. False if they are numbered otherwise than those of this one, or so many that they should not be copied
    /// before they are sent: then nothing but what is before them is written.
    pub fn recorded(&mut self, rows: &RecordedRows, copied_bytes_max: usize) -> bool {
        self.settle_metadata_end();
        let Some(packets) =
            rows.numbered_for(&self.output).filter(|packets| packets.len() <= copied_bytes_max)
        else {
            return false;
        };
        self.output.whole_packets(packets, rows.next_sequence(&self.output));
        true
    }

    fn column_definitions(&mut self, columns: &[ResultColumn], results: CollationId) {
        for column in columns {
            push_column(self.output.begin_packet(), column, results);
            self.output.end_packet();
        }
    }

    /// Goes on with a result set whose columns were sent by an earlier command.
    pub fn resume_rows(&mut self, columns: &[ResultColumn], results: CollationId) {
        self.rows = RowWriter::new(columns, results);
        self.owes_metadata_end = false;
    }

    fn settle_metadata_end(&mut self) {
        if std::mem::take(&mut self.owes_metadata_end) {
            push_eof(self.output.begin_packet(), 0, self.server_status);
            self.output.end_packet();
        }
    }

    /// One row. The watch is asked while documents are printed; its error leaves nothing of the row.
    pub fn row(&mut self, row: values::RowRef<'_>, watch: &dyn Watch) -> SqlResult<()> {
        self.settle_metadata_end();
        let payload = self.output.begin_packet();
        let written = match self.binary {
            true => self.rows.push_binary(payload, row, watch),
            false => self.rows.push_text(payload, row, watch),
        };
        match written {
            Ok(()) => self.output.end_packet(),
            Err(_) => self.output.abandon_packet(),
        }
        written
    }

    /// One row whose bytes the caller writes.
    pub fn encoded_row(&mut self, encode: &mut dyn FnMut(&mut Vec<u8>)) {
        self.settle_metadata_end();
        encode(self.output.begin_packet());
        self.output.end_packet();
    }

    /// Begins a row whose payload of so many bytes comes in parts.
    pub fn begin_long_row(&mut self, payload_bytes: u64) -> LongPacket {
        self.settle_metadata_end();
        // It is longer than what is kept may be.
        self.recording = Recording::Nothing;
        LongPacket::begin(payload_bytes)
    }

    /// Ends a result set. When the status says that a cursor was opened, this packet is also the end of the
    /// column definitions.
    pub fn end_rows(&mut self, end: &StatementEnd) {
        if end.server_status & status::CURSOR_EXISTS == 0 {
            self.settle_metadata_end();
        }
        self.owes_metadata_end = false;
        let deprecates_eof = self.deprecates_eof();
        let payload = self.output.begin_packet();
        if deprecates_eof {
            push_ok(payload, response::EOF, end, self.capabilities);
        } else {
            push_eof(payload, end.warnings, end.server_status);
        }
        self.output.end_packet();
    }

    /// Answers a statement without rows.
    pub fn ok(&mut self, end: &StatementEnd) {
        push_ok(self.output.begin_packet(), response::OK, end, self.capabilities);
        self.output.end_packet();
    }

    /// Answers with an error.
    pub fn error(&mut self, error: &SqlError) {
        self.settle_metadata_end();
        push_error(self.output.begin_packet(), error, self.capabilities);
        self.output.end_packet();
    }

    /// As `error`, with the text in the character set of `results`.
    pub fn error_in(&mut self, error: &SqlError, results: CollationId) {
        self.settle_metadata_end();
        push_error_in(self.output.begin_packet(), error, results, self.capabilities);
        self.output.end_packet();
    }

    /// Asks the client for a file.
    pub fn file_request(&mut self, name: &str) {
        let payload = self.output.begin_packet();
        payload.push(response::LOCAL_INFILE);
        payload.extend_from_slice(name.as_bytes());
        self.output.end_packet();
    }

    /// Answers COM_STMT_PREPARE.
    pub fn prepared(
        &mut self,
        statement_id: u32,
        parameters: &[ResultColumn],
        columns: &[ResultColumn],
        warnings: u16,
        results: CollationId,
    ) {
        let payload = self.output.begin_packet();
        payload.push(response::OK);
        payload.extend_from_slice(&statement_id.to_le_bytes());
        payload.extend_from_slice(&(columns.len() as u16).to_le_bytes());
        payload.extend_from_slice(&(parameters.len() as u16).to_le_bytes());
        payload.push(0);
        payload.extend_from_slice(&warnings.to_le_bytes());
        self.output.end_packet();
        for list in [parameters, columns] {
            self.column_definitions(list, results);
            self.owes_metadata_end = !list.is_empty() && !self.deprecates_eof();
            self.settle_metadata_end();
        }
    }

    /// Answers COM_FIELD_LIST.
    pub fn field_list(&mut self, columns: &[(ResultColumn, Option<Vec<u8>>)], results: CollationId) {
        for (column, default) in columns {
            let payload = self.output.begin_packet();
            push_column(payload, column, results);
            push_nullable_text(payload, default.as_deref());
            self.output.end_packet();
        }
        self.end_rows(&StatementEnd { server_status: self.server_status, ..StatementEnd::default() });
    }

    /// A packet with the caller's own payload.
    pub fn raw(&mut self, payload: &[u8]) {
        self.output.packet(payload);
    }
}

#[cfg(test)]
mod tests;
