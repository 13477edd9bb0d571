//! Where a running statement writes its answer. Main type: [`Channel`].
//! The answer stays in the connection's output until the statement ends, but for big results and files: those
//! are sent and received while the statement runs, on its thread.

use super::Control;
use super::scripted::Watched;
use crate::net::{NetworkError, Transport};
use crate::shared::Shared;
use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use network::{Receive, ReceiveBuffer};
use std::time::Duration;
use stdx::ids::Lsn;
use values::RowRef;
use values::json::{Unwatched, Watch};
use wire::encoder::{COLUMNS_MAX, Encoder};
use wire::frame::{FrameReader, Received};
use wire::output::FRAME_HEADER_BYTES;
use wire::recorded::RecordedRows;
use wire::result::{ClientChannel, EncodedColumns, EncodedRows, ResultColumn, ResultSink, StatementEnd};

/// A result is sent in pieces of this size while its statement runs.
const PIECE_BYTES: usize = 64 << 10;
/// Rows that were kept go out from where they are if they take more.
const COPIED_BYTES_MAX: usize = 16 << 10;

/// The answer to one command.
pub struct Channel<'a> {
    transport: &'a mut Transport,
    encoder: &'a mut Encoder,
    frames: &'a mut FrameReader,
    /// What came behind the command; used only when the client is asked for a file.
    extra: &'a [u8],
    extra_used: bool,
    /// Received while the statement runs.
    side: &'a mut ReceiveBuffer,
    shared: &'a Shared,
    control: &'a Control,
    may_receive: &'a mut bool,
    read_timeout: Duration,
    write_timeout: Duration,
    /// Pieces may leave when the log is durable up to here.
    required: Lsn,
    /// A script looks at the answer.
    watched: Option<&'a mut Watched>,
    /// The client is gone.
    broken: bool,
}

impl<'a> Channel<'a> {
    /// A channel over a connection's parts.
    pub fn new(
        transport: &'a mut Transport,
        encoder: &'a mut Encoder,
        frames: &'a mut FrameReader,
        extra: &'a [u8],
        side: &'a mut ReceiveBuffer,
        shared: &'a Shared,
        control: &'a Control,
        may_receive: &'a mut bool,
    ) -> Channel<'a> {
        Channel {
            transport,
            encoder,
            frames,
            extra,
            extra_used: false,
            side,
            shared,
            control,
            may_receive,
            read_timeout: Duration::ZERO,
            write_timeout: Duration::ZERO,
            required: Lsn(0),
            watched: None,
            broken: false,
        }
    }

    /// Sets net_read_timeout and net_write_timeout.
    pub fn set_timeouts(&mut self, (read, write): (Duration, Duration)) {
        (self.read_timeout, self.write_timeout) = (read, write);
    }

    /// A script looks at the answer, and may hold it.
    pub(super) fn set_watched(&mut self, watched: Option<&'a mut Watched>) {
        self.watched = watched;
    }

    /// The encoder, for answers that no session makes.
    pub fn encoder(&mut self) -> &mut Encoder {
        self.encoder
    }

    /// Whether the client is gone.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Whether what came behind the command was taken.
    pub fn extra_used(&self) -> bool {
        self.extra_used
    }

    fn lost(&mut self, error: NetworkError) -> SqlError {
        self.broken = true;
        match error {
            NetworkError::Closed => sql_error!(ER_NET_ERROR_ON_WRITE),
            NetworkError::TimedOut => sql_error!(ER_NET_WRITE_INTERRUPTED),
            NetworkError::Protocol => sql_error!(ER_MALFORMED_PACKET),
        }
    }

    /// Sends what is there when it is enough for a piece.
    fn send_piece(&mut self) -> SqlResult<()> {
        if self.encoder.output.len() < PIECE_BYTES || self.is_held()? {
            return Ok(());
        }
        self.send_now()
    }

    /// Whether the answer stays here until it is complete.
    #[cold]
    fn is_held(&self) -> SqlResult<bool> {
        let Some(watched) = &self.watched else { return Ok(false) };
        if watched.is_too_long(self.encoder.output.bytes()) {
            return Err(sql_error!(ER_NET_PACKET_TOO_LARGE));
        }
        Ok(watched.holds)
    }

    #[cold]
    fn send_now(&mut self) -> SqlResult<()> {
        if self.broken {
            return Err(sql_error!(ER_NET_ERROR_ON_WRITE));
        }
        if self.required > Lsn(0) {
            self.shared.flush_log(self.required);
        }
        if let Some(watched) = &mut self.watched {
            watched.look(self.encoder.output.bytes());
        }
        let (control, timeout) = (self.control, self.write_timeout);
        let sent = send(self.transport, self.encoder.output.bytes(), control, timeout);
        self.encoder.forget_sent();
        sent.map_err(|error| self.lost(error))
    }

    /// Sends packets that are kept elsewhere; the output is empty.
    fn send_bytes(&mut self, packets: &[u8]) -> SqlResult<()> {
        let sent = send(self.transport, packets, self.control, self.write_timeout);
        sent.map_err(|error| self.lost(error))
    }

    /// Receives more of a file, waiting for it.
    fn receive_more(&mut self, missing_bytes: usize) -> SqlResult<()> {
        loop {
            // A client that goes on sending is never waited for.
            if self.control.is_closing() {
                return Err(self.lost(NetworkError::Closed));
            }
            match self.transport.receive(self.side, missing_bytes) {
                Ok(Receive::Bytes(_)) => return Ok(()),
                Ok(Receive::Closed) => {
                    self.broken = true;
                    return Err(sql_error!(ER_NET_READ_ERROR));
                }
                Ok(Receive::Empty) => {
                    let timeout = self.read_timeout;
                    match self.control.wait(|socket| Ok(socket.wait_readable(timeout)?)) {
                        Ok(true) => {}
                        Ok(false) => {
                            self.broken = true;
                            return Err(sql_error!(ER_NET_READ_INTERRUPTED));
                        }
                        Err(error) => return Err(self.lost(error)),
                    }
                }
                Err(error) => return Err(self.lost(error)),
            }
        }
    }

    /// The payload of the client's next packet.
    fn receive_packet(&mut self) -> SqlResult<Vec<u8>> {
        loop {
            let received = self.frames.look(self.side.bytes()).map_err(|error| {
                self.broken = true;
                SqlError::from(error)
            })?;
            match received {
                Received::Packet { consumed } => {
                    let payload = self.side.bytes()[FRAME_HEADER_BYTES..consumed].to_vec();
                    self.side.consume(consumed);
                    return Ok(payload);
                }
                Received::JoinedPacket { consumed } => {
                    self.side.consume(consumed);
                    return Ok(self.frames.take_joined());
                }
                Received::Continued { consumed } => self.side.consume(consumed),
                Received::Incomplete { missing_bytes } => {
                    let moved = self.transport.take_compressed(self.side).map_err(|error| {
                        self.broken = true;
                        SqlError::from(error)
                    })?;
                    if !moved {
                        self.receive_more(missing_bytes)?;
                    }
                }
            }
        }
    }
}

/// Sends all of it, waiting for the client as long as it may take.
fn send(
    transport: &mut Transport,
    bytes: &[u8],
    control: &Control,
    timeout: Duration,
) -> Result<(), NetworkError> {
    transport.send_all(bytes, |_| control.wait(|socket| Ok(socket.wait_writable(timeout)?)))
}

impl ResultSink for Channel<'_> {
    fn columns(&mut self, columns: &[ResultColumn], results_collation: CollationId) -> SqlResult<()> {
        if columns.len() > COLUMNS_MAX {
            return Err(sql_error!(ER_TOO_MANY_FIELDS));
        }
        self.encoder.columns(columns, results_collation);
        Ok(())
    }

    fn resume_rows(&mut self, columns: &[ResultColumn], results_collation: CollationId) -> SqlResult<()> {
        self.encoder.resume_rows(columns, results_collation);
        Ok(())
    }

    fn row(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        self.long_documents(row, &Unwatched)
    }

    fn long_documents(&mut self, row: RowRef<'_>, watch: &dyn Watch) -> SqlResult<()> {
        self.encoder.row(row, watch)?;
        self.send_piece()
    }

    fn encoded_rows(&mut self) -> Option<&mut dyn EncodedRows> {
        Some(self)
    }

    fn record_rows(&mut self, bytes_max: usize) {
        self.encoder.record_rows(bytes_max);
    }

    fn take_recorded(&mut self) -> Option<RecordedRows> {
        self.encoder.take_recorded()
    }

    fn end_rows(&mut self, end: &StatementEnd) -> SqlResult<()> {
        self.encoder.end_rows(end);
        Ok(())
    }

    fn ok(&mut self, end: &StatementEnd) -> SqlResult<()> {
        self.encoder.ok(end);
        Ok(())
    }

    fn require_durable(&mut self, lsn: Lsn) {
        self.required = self.required.max(lsn);
    }

    fn error(&mut self, error: &SqlError) {
        self.encoder.error(error);
    }

    fn error_in(&mut self, error: &SqlError, results: CollationId) {
        self.encoder.error_in(error, results);
    }
}

impl EncodedRows for Channel<'_> {
    fn is_binary(&self) -> bool {
        self.encoder.is_binary()
    }

    fn begin(&mut self, columns: &EncodedColumns) -> SqlResult<()> {
        if columns.payloads().len() > COLUMNS_MAX {
            return Err(sql_error!(ER_TOO_MANY_FIELDS));
        }
        self.encoder.encoded_columns(columns);
        Ok(())
    }

    fn row(&mut self, encode: &mut dyn FnMut(&mut Vec<u8>)) -> SqlResult<()> {
        self.encoder.encoded_row(encode);
        self.send_piece()
    }

    fn recorded(&mut self, rows: &RecordedRows) -> SqlResult<()> {
        if self.encoder.recorded(rows, COPIED_BYTES_MAX) {
            return self.send_piece();
        }
        let Some(packets) = rows.numbered_for(&self.encoder.output) else {
            return rows.frames().try_for_each(|frame| {
                self.encoder.output.frame(frame);
                self.send_piece()
            });
        };
        if self.is_held()? {
            self.encoder.output.whole_packets(packets, rows.next_sequence(&self.encoder.output));
            return Ok(());
        }
        let next = rows.next_sequence(&self.encoder.output);
        self.send_now()?;
        if let Some(watched) = &mut self.watched {
            watched.read(packets);
        }
        self.send_bytes(packets)?;
        self.encoder.output.set_sequence(next);
        Ok(())
    }

    fn long_row(
        &mut self,
        payload_bytes: u64,
        next_part: &mut dyn FnMut(&mut Vec<u8>) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let mut packet = self.encoder.begin_long_row(payload_bytes);
        let mut part = Vec::new();
        while next_part(&mut part).inspect_err(|_| self.broken = true)? {
            packet.push(&part, &mut self.encoder.output);
            part.clear();
            self.send_piece()?;
        }
        packet.end(&mut self.encoder.output);
        self.send_piece()
    }
}

impl ClientChannel for Channel<'_> {
    fn request_file(&mut self, name: &str) -> SqlResult<()> {
        self.encoder.file_request(name);
        if let Some(watched) = &mut self.watched {
            // The client must see the request before it can answer.
            watched.holds = false;
        }
        self.send_now()?;
        self.frames.set_expected_sequence(self.encoder.output.sequence());
        self.transport.expect_reply();
        self.side.append(self.extra);
        self.extra_used = true;
        *self.may_receive = true;
        Ok(())
    }

    fn read_file_piece(&mut self) -> SqlResult<Option<Vec<u8>>> {
        let piece = self.receive_packet()?;
        // The answer goes on after the client's last packet.
        let sequence = self.transport.begin_answer(self.frames.expected_sequence());
        self.encoder.output.set_sequence(sequence);
        Ok(if piece.is_empty() { None } else { Some(piece) })
    }
}
