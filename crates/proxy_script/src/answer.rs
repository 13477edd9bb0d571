//! Follows a server's answer frame by frame until its end, however the bytes arrive. Main types: [`AnswerReader`], [`Summary`].
//!
//! Nothing is copied but the first bytes of the frame that is being read, so an answer may pass through while it is
//! followed. The forms are those of the protocol's commands; see [`Form`].

use crate::form::Form;
use wire::capabilities::{client, status};
use wire::reader::Reader;

/// Bytes of a frame's payload that are looked at: an OK packet's numbers, the counts of a prepared statement.
const HEAD_BYTES: usize = 32;
const HEADER_BYTES: usize = 4;
/// A frame of this length goes on in the next one.
const FRAME_PAYLOAD_BYTES_MAX: usize = 0xFF_FFFF;

const OK: u8 = 0x00;
const EOF: u8 = 0xFE;
const ERR: u8 = 0xFF;
const LOCAL_INFILE: u8 = 0xFB;
const MORE_DATA: u8 = 0x01;

/// What the frames so far said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The first byte of the last packet that ends a result: OK, ERR; `None` before, and for a file request.
    pub query_status: Option<u8>,
    /// Whether the last packet was an error, whatever scripts are told of it.
    pub is_error: bool,
    /// Whether the first packet began a result set.
    pub has_rows: bool,
    /// Whether the last result that was no error is a result set.
    pub last_has_rows: bool,
    /// Of the last OK packet.
    pub affected_rows: u64,
    /// Of the last OK packet.
    pub insert_id: u64,
    /// Of the last OK or EOF packet.
    pub warning_count: u16,
    /// SERVER_STATUS_* of the last OK or EOF packet.
    pub server_status: u16,
    /// Rows of all result sets.
    pub row_count: u64,
    /// Bytes of all rows with their frame headers.
    pub row_bytes: u64,
}

/// What a frame makes of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More frames follow.
    Open,
    /// The server waits for packets of the client: a file's content until an empty frame, or a step of the login.
    ClientsTurn,
    /// The answer is complete.
    Done,
    /// A frame has not the number that it should have: what comes is no answer.
    Broken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first packet of an answer or of a further result.
    First,
    /// That many definitions follow, then what `after` says.
    Definitions {
        left: u64,
        after: After,
    },
    /// The EOF after definitions.
    DefinitionsEnd {
        after: After,
    },
    Rows,
    /// After the client sent a file: one OK or ERR.
    FileEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Rows,
    /// A prepared statement's columns.
    Columns(u64),
    End,
}

/// Follows one answer.
#[derive(Debug)]
pub struct AnswerReader {
    form: Form,
    /// Definitions are not followed by EOF, and rows end with an OK packet that begins with 0xFE.
    deprecate_eof: bool,
    phase: Phase,
    /// The frame's header and the first bytes of its payload, as far as they arrived.
    head: [u8; HEADER_BYTES + HEAD_BYTES],
    head_bytes: usize,
    /// Bytes of the frame that are not in `head` and have not arrived.
    rest_bytes: usize,
    /// The frame continues the packet before it.
    is_continuation: bool,
    is_first_packet: bool,
    /// The number of the next frame, if it is known.
    sequence: Option<u8>,
    is_numbered: bool,
    /// What was learnt.
    pub summary: Summary,
}

impl AnswerReader {
    /// A reader of the answer to a command; `capabilities` are those that the client and the server agreed on.
    pub fn new(form: Form, capabilities: u32) -> AnswerReader {
        AnswerReader {
            form,
            deprecate_eof: capabilities & client::DEPRECATE_EOF != 0,
            phase: Phase::First,
            head: [0; HEADER_BYTES + HEAD_BYTES],
            head_bytes: 0,
            rest_bytes: 0,
            is_continuation: false,
            is_first_packet: true,
            sequence: None,
            is_numbered: false,
            summary: Summary::default(),
        }
    }

    /// The same, of frames that must be numbered from there on.
    pub fn numbered_from(mut self, sequence: u8) -> AnswerReader {
        self.sequence = Some(sequence);
        self.is_numbered = true;
        self
    }

    /// Whether a command of this form is answered at all.
    pub fn expects_nothing(&self) -> bool {
        self.form == Form::None
    }

    /// Whether bytes of a packet have arrived whose end has not.
    pub fn is_inside_packet(&self) -> bool {
        self.head_bytes > 0 || self.is_continuation
    }

    /// Looks at bytes as they arrived. Returns how many belong to this answer, and what it waits for then;
    /// fewer than all only if it is not [`Progress::Open`].
    pub fn read(&mut self, bytes: &[u8]) -> (usize, Progress) {
        let mut at = 0;
        while at < bytes.len() {
            let wanted = match self.frame_payload_bytes() {
                None => HEADER_BYTES,
                Some(payload) => HEADER_BYTES + payload.min(HEAD_BYTES),
            };
            if self.head_bytes < wanted {
                let count = (wanted - self.head_bytes).min(bytes.len() - at);
                self.head[self.head_bytes..self.head_bytes + count].copy_from_slice(&bytes[at..at + count]);
                self.head_bytes += count;
                at += count;
                if let (HEADER_BYTES, Some(payload)) = (self.head_bytes, self.frame_payload_bytes()) {
                    self.rest_bytes = payload.saturating_sub(HEAD_BYTES);
                    if !self.has_its_number() {
                        return (at, Progress::Broken);
                    }
                }
            } else {
                let count = self.rest_bytes.min(bytes.len() - at);
                self.rest_bytes -= count;
                at += count;
            }
            if self.is_frame_complete() {
                let progress = self.end_frame();
                if progress == Progress::ClientsTurn {
                    // The client's packets are counted too.
                    self.sequence = None;
                }
                if progress != Progress::Open {
                    return (at, progress);
                }
            }
        }
        (at, Progress::Open)
    }

    /// The client has sent its file: the server's verdict is next.
    pub fn file_was_sent(&mut self) {
        self.phase = Phase::FileEnd;
    }

    fn frame_payload_bytes(&self) -> Option<usize> {
        let header = &self.head[..3];
        (self.head_bytes >= HEADER_BYTES)
            .then(|| usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16)
    }

    fn has_its_number(&mut self) -> bool {
        let number = self.head[3];
        let is_right = self.sequence.is_none_or(|expected| expected == number);
        self.sequence = self.is_numbered.then(|| number.wrapping_add(1));
        is_right
    }

    fn is_frame_complete(&self) -> bool {
        let Some(payload) = self.frame_payload_bytes() else { return false };
        self.head_bytes == HEADER_BYTES + payload.min(HEAD_BYTES) && self.rest_bytes == 0
    }

    fn end_frame(&mut self) -> Progress {
        let payload_bytes = self.frame_payload_bytes().unwrap_or(0);
        let head = self.head;
        let head = &head[HEADER_BYTES..self.head_bytes];
        let was_continuation = self.is_continuation;
        self.head_bytes = 0;
        self.is_continuation = payload_bytes == FRAME_PAYLOAD_BYTES_MAX;
        if self.phase == Phase::Rows {
            return self.row_frame(head, payload_bytes, was_continuation);
        }
        if was_continuation {
            return Progress::Open;
        }
        let progress = self.packet(head);
        self.is_first_packet = false;
        progress
    }

    fn row_frame(&mut self, head: &[u8], payload_bytes: usize, was_continuation: bool) -> Progress {
        let first = head.first().copied();
        // A row of a text result may begin with 0xFE: then its first value is longer than 16 MiB.
        let is_end = !was_continuation
            && match first {
                Some(ERR) => true,
                Some(EOF) => payload_bytes < FRAME_PAYLOAD_BYTES_MAX,
                _ => false,
            };
        if !is_end {
            self.summary.row_count += u64::from(!was_continuation);
            self.summary.row_bytes += (HEADER_BYTES + payload_bytes) as u64;
            return Progress::Open;
        }
        if first == Some(ERR) { self.error() } else { self.result_end(head) }
    }

    fn packet(&mut self, head: &[u8]) -> Progress {
        match self.phase {
            Phase::First => self.first_packet(head),
            Phase::Definitions { left: 0 | 1, after } if self.deprecate_eof => self.after_definitions(after),
            Phase::Definitions { left: 0 | 1, after } => {
                self.phase = Phase::DefinitionsEnd { after };
                Progress::Open
            }
            Phase::Definitions { left, after } => {
                self.phase = Phase::Definitions { left: left - 1, after };
                Progress::Open
            }
            Phase::DefinitionsEnd { after } => {
                if head.first() == Some(&ERR) {
                    return self.error();
                }
                self.eof(head);
                let has_cursor = self.summary.server_status & status::CURSOR_EXISTS != 0;
                match after {
                    // The rows of a cursor come with COM_STMT_FETCH.
                    After::Rows if has_cursor => {
                        self.summary.query_status = Some(OK);
                        Progress::Done
                    }
                    after => self.after_definitions(after),
                }
            }
            Phase::Rows | Phase::FileEnd => {
                if head.first() == Some(&ERR) {
                    self.error()
                } else {
                    self.ok(head)
                }
            }
        }
    }

    fn first_packet(&mut self, head: &[u8]) -> Progress {
        let first = head.first().copied();
        if first == Some(ERR) {
            return self.error();
        }
        match self.form {
            Form::None => Progress::Done,
            Form::Single => {
                self.summary.query_status = Some(OK);
                Progress::Done
            }
            Form::Login => match first {
                Some(OK) => self.ok(head),
                // Verdict of the fast way: OK follows unasked.
                Some(MORE_DATA) if head.get(1) == Some(&3) => Progress::Open,
                _ => Progress::ClientsTurn,
            },
            Form::UntilEnd => match first {
                Some(EOF) => self.result_end(head),
                _ => Progress::Open,
            },
            Form::Prepared => self.prepared(head),
            Form::Results => match first {
                Some(OK) => self.ok(head),
                Some(LOCAL_INFILE) => Progress::ClientsTurn,
                _ => {
                    self.summary.has_rows |= self.is_first_packet;
                    self.summary.last_has_rows = true;
                    let count = Reader::new(head).length_encoded_integer().unwrap_or(0);
                    self.phase = Phase::Definitions { left: count, after: After::Rows };
                    Progress::Open
                }
            },
        }
    }

    fn prepared(&mut self, head: &[u8]) -> Progress {
        let counts = head.get(5..9).map(|counts| {
            (
                u64::from(u16::from_le_bytes([counts[0], counts[1]])),
                u64::from(u16::from_le_bytes([counts[2], counts[3]])),
            )
        });
        let (columns, parameters) = counts.unwrap_or((0, 0));
        self.summary.query_status = Some(OK);
        match (parameters, columns) {
            (0, 0) => return Progress::Done,
            (0, columns) => self.phase = Phase::Definitions { left: columns, after: After::End },
            (parameters, columns) => {
                self.phase = Phase::Definitions { left: parameters, after: After::Columns(columns) };
            }
        }
        Progress::Open
    }

    fn after_definitions(&mut self, after: After) -> Progress {
        match after {
            After::Rows => self.phase = Phase::Rows,
            After::Columns(0) | After::End => return Progress::Done,
            After::Columns(columns) => self.phase = Phase::Definitions { left: columns, after: After::End },
        }
        Progress::Open
    }

    fn error(&mut self) -> Progress {
        // Commands other than these two report no status to scripts.
        self.summary.query_status = Some(if self.form == Form::Results { ERR } else { OK });
        self.summary.server_status = 0;
        self.summary.is_error = true;
        Progress::Done
    }

    /// The packet after the last row: EOF, or OK in the form that replaces it.
    fn result_end(&mut self, head: &[u8]) -> Progress {
        self.summary.query_status = Some(OK);
        if self.deprecate_eof {
            self.ok_numbers(head);
        } else {
            self.eof(head);
        }
        self.result_or_all()
    }

    fn ok(&mut self, head: &[u8]) -> Progress {
        self.summary.query_status = Some(OK);
        let (affected_rows, insert_id) = self.ok_numbers(head);
        self.summary.last_has_rows = false;
        self.summary.affected_rows = affected_rows;
        self.summary.insert_id = insert_id;
        self.result_or_all()
    }

    fn result_or_all(&mut self) -> Progress {
        if self.summary.server_status & status::MORE_RESULTS_EXISTS != 0 && self.form == Form::Results {
            self.phase = Phase::First;
            return Progress::Open;
        }
        Progress::Done
    }

    fn ok_numbers(&mut self, head: &[u8]) -> (u64, u64) {
        let mut reader = Reader::new(head.get(1..).unwrap_or_default());
        let affected_rows = reader.length_encoded_integer().unwrap_or(0);
        let insert_id = reader.length_encoded_integer().unwrap_or(0);
        self.summary.server_status = reader.u16().unwrap_or(0);
        self.summary.warning_count = reader.u16().unwrap_or(0);
        (affected_rows, insert_id)
    }

    fn eof(&mut self, head: &[u8]) {
        let mut reader = Reader::new(head.get(1..).unwrap_or_default());
        self.summary.warning_count = reader.u16().unwrap_or(0);
        self.summary.server_status = reader.u16().unwrap_or(0);
    }
}

#[cfg(test)]
mod tests;
