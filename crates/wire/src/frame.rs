//! Packets from the client: frames joined, order and size checked. Main type: [`FrameReader`].
//! It looks at the receive buffer and says what is in it; the caller owns the buffer.

use crate::output::{FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX};
use errors::{SqlError, sql_error};

/// What a look at the receive buffer found.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// A packet is not complete; at least this many bytes more are needed.
    Incomplete {
        /// Bytes missing from the current frame.
        missing_bytes: usize,
    },
    /// The first `consumed` bytes of the buffer are done with; they were part of a packet that goes on.
    Continued {
        /// Bytes to drop from the front of the buffer.
        consumed: usize,
    },
    /// A packet whose payload is `buffer[FRAME_HEADER_BYTES..consumed]`.
    Packet {
        /// Bytes to drop from the front of the buffer after the payload was used.
        consumed: usize,
    },
    /// The last frame of a packet of several frames; [`FrameReader::take_joined`] has the payload.
    JoinedPacket {
        /// Bytes to drop from the front of the buffer.
        consumed: usize,
    },
}

/// Why a client's bytes are not a packet. The connection is closed after the error was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// The sequence number is not the next one.
    OutOfOrder,
    /// As long as max_allowed_packet, or longer.
    TooLarge,
}

impl From<FrameError> for SqlError {
    fn from(error: FrameError) -> SqlError {
        match error {
            FrameError::OutOfOrder => sql_error!(ER_NET_PACKETS_OUT_OF_ORDER),
            FrameError::TooLarge => sql_error!(ER_NET_PACKET_TOO_LARGE),
        }
    }
}

/// Finds packets in what was received.
#[derive(Debug)]
pub struct FrameReader {
    /// Sequence number that the next frame must have.
    expected_sequence: u8,
    /// Whether sequence numbers are checked; inside compressed packets they are not, as in MySQL.
    check_sequence: bool,
    /// max_allowed_packet: a payload has fewer bytes.
    payload_bytes_max: usize,
    /// Frames of a packet that goes on.
    joined: Vec<u8>,
    /// Whether `joined` holds the beginning of a packet.
    joining: bool,
}

impl FrameReader {
    /// A reader that refuses packets as long as that, and longer ones.
    pub fn new(payload_bytes_max: usize) -> FrameReader {
        FrameReader {
            expected_sequence: 0,
            check_sequence: true,
            payload_bytes_max,
            joined: Vec::new(),
            joining: false,
        }
    }

    /// Changes the limit (max_allowed_packet of the session).
    pub fn set_payload_bytes_max(&mut self, payload_bytes_max: usize) {
        self.payload_bytes_max = payload_bytes_max;
    }

    /// The sequence number that the next frame must have: 0 at each command.
    pub fn set_expected_sequence(&mut self, sequence: u8) {
        self.expected_sequence = sequence;
    }

    /// The sequence number that the next frame must have; also the one that the answer starts with.
    pub fn expected_sequence(&self) -> u8 {
        self.expected_sequence
    }

    /// Whether frames of a packet that goes on were taken.
    pub fn is_joining(&self) -> bool {
        self.joining
    }

    /// Stops checking sequence numbers: from now on frames arrive inside numbered compressed packets.
    pub fn trust_sequence(&mut self) {
        self.check_sequence = false;
    }

    /// What the buffer starts with. Size and order are checked as soon as the header is there, so that a packet
    /// that is too long is never buffered.
    pub fn look(&mut self, buffer: &[u8]) -> Result<Received, FrameError> {
        let Some((header, rest)) = buffer.split_first_chunk::<FRAME_HEADER_BYTES>() else {
            return Ok(Received::Incomplete { missing_bytes: FRAME_HEADER_BYTES - buffer.len() });
        };
        let frame_bytes = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        if self.check_sequence && header[3] != self.expected_sequence {
            return Err(FrameError::OutOfOrder);
        }
        if self.joined.len() + frame_bytes >= self.payload_bytes_max {
            // Clients take the error for its answer by its number.
            self.expected_sequence = header[3].wrapping_add(1);
            return Err(FrameError::TooLarge);
        }
        let Some(payload) = rest.get(..frame_bytes) else {
            return Ok(Received::Incomplete { missing_bytes: frame_bytes - rest.len() });
        };
        self.expected_sequence = header[3].wrapping_add(1);
        let consumed = FRAME_HEADER_BYTES + frame_bytes;
        let goes_on = frame_bytes == FRAME_PAYLOAD_BYTES_MAX;
        if !goes_on && !self.joining {
            return Ok(Received::Packet { consumed });
        }
        self.joined.extend_from_slice(payload);
        self.joining = goes_on;
        Ok(if goes_on { Received::Continued { consumed } } else { Received::JoinedPacket { consumed } })
    }

    /// The payload after [`Received::JoinedPacket`].
    pub fn take_joined(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Output;

    #[test]
    fn whole_and_partial_packets() {
        let mut reader = FrameReader::new(1 << 20);
        assert_eq!(reader.look(b"\x03\0"), Ok(Received::Incomplete { missing_bytes: 2 }));
        assert_eq!(reader.look(b"\x03\0\0\0a"), Ok(Received::Incomplete { missing_bytes: 2 }));
        assert_eq!(reader.look(b"\x03\0\0\0abcX"), Ok(Received::Packet { consumed: 7 }));
        assert_eq!(reader.expected_sequence(), 1);
        assert_eq!(reader.look(b"\x03\0\0\0abc"), Err(FrameError::OutOfOrder));
        assert_eq!(reader.look(b"\0\0\0\x01"), Ok(Received::Packet { consumed: 4 }));
    }

    #[test]
    fn a_packet_too_large_is_refused_by_its_header() {
        let mut reader = FrameReader::new(100);
        assert_eq!(reader.look(b"\x63\0\0\0"), Ok(Received::Incomplete { missing_bytes: 99 }));
        assert_eq!(reader.look(b"\x64\0\0\0"), Err(FrameError::TooLarge));
        assert_eq!(reader.expected_sequence(), 1);
    }

    #[test]
    fn long_packets_are_joined() {
        for payload_bytes in [FRAME_PAYLOAD_BYTES_MAX, FRAME_PAYLOAD_BYTES_MAX + 10] {
            let payload: Vec<u8> = (0..payload_bytes).map(|at| at as u8).collect();
            let mut output = Output::new();
            output.packet(&payload);
            let mut reader = FrameReader::new(64 << 20);
            let consumed = match reader.look(output.bytes()) {
                Ok(Received::Continued { consumed }) => consumed,
                other => panic!("{other:?}"),
            };
            let rest = &output.bytes()[consumed..];
            assert_eq!(reader.look(rest), Ok(Received::JoinedPacket { consumed: rest.len() }));
            assert!(reader.take_joined() == payload);
        }
    }

    #[test]
    fn the_limit_holds_over_all_frames_of_a_packet() {
        let mut output = Output::new();
        output.packet(&vec![0; FRAME_PAYLOAD_BYTES_MAX + 10]);
        let mut reader = FrameReader::new(FRAME_PAYLOAD_BYTES_MAX + 5);
        let consumed = match reader.look(output.bytes()) {
            Ok(Received::Continued { consumed }) => consumed,
            other => panic!("{other:?}"),
        };
        assert_eq!(reader.look(&output.bytes()[consumed..consumed + 4]), Err(FrameError::TooLarge));
        assert_eq!(reader.expected_sequence(), 2);
    }
}
