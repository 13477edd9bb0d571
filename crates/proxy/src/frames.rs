//! Whole packets among received bytes. Main type: [`Incoming`].

use crate::session::Turn;
use crate::side::Side;
use network::Receive;
use rustix::io::Errno;
use wire::output::{FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX};

/// Most bytes of a command: as much as any server takes.
const COMMAND_BYTES_MAX: usize = 1 << 30;
/// Most bytes of a packet of a login, from whoever can connect.
const LOGIN_BYTES_MAX: usize = 256 << 10;
/// Bytes that are received ahead of what was used.
const AHEAD_BYTES_MAX: usize = 1 << 20;

/// Received bytes that were not used yet.
#[derive(Debug)]
pub(crate) struct Incoming {
    bytes: Vec<u8>,
    start: usize,
    packet_bytes_max: usize,
}

/// A packet: where it lies in [`Incoming::bytes`], and its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Bytes of all its frames with their headers.
    pub bytes: usize,
    /// The number of its first frame.
    pub sequence: u8,
    /// How many frames it has.
    pub frames: usize,
}

/// Why bytes are no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Incoming {
    /// Of an end that has not logged in.
    pub fn of_a_login() -> Incoming {
        Incoming { bytes: Vec::new(), start: 0, packet_bytes_max: LOGIN_BYTES_MAX }
    }

    /// The login is over: what comes are commands.
    pub fn after_login(self) -> Incoming {
        Incoming { packet_bytes_max: COMMAND_BYTES_MAX, ..self }
    }

    /// What was received and not used.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    /// Drops bytes from the front.
    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.bytes.len());
        if self.is_empty() {
            self.start = 0;
            self.bytes.clear();
            self.bytes.shrink_to(AHEAD_BYTES_MAX);
        }
    }

    pub fn append(&mut self, bytes: &[u8]) {
        if self.start > 0 && self.start >= self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Receives what is there, up to a packet's end or a bound. False when the sender has ended.
    pub fn fill(&mut self, side: &mut Side, turn: &mut Turn<'_>) -> Result<bool, Errno> {
        while side.is_readable && turn.may_receive() {
            match side.receive(turn.scratch)? {
                Receive::Bytes(count) => self.append(&turn.scratch[..count]),
                Receive::Empty => break,
                Receive::Closed => return Ok(false),
            }
            if self.bytes().len() >= AHEAD_BYTES_MAX && !matches!(self.packet(), Ok(None)) {
                break;
            }
        }
        Ok(true)
    }

    /// The packet at the front, if all of it is there.
    pub fn packet(&self) -> Result<Option<Packet>, TooLong> {
        let bytes = self.bytes();
        let mut packet = Packet { bytes: 0, sequence: 0, frames: 0 };
        loop {
            let Some(header) = bytes.get(packet.bytes..packet.bytes + FRAME_HEADER_BYTES) else {
                return Ok(None);
            };
            let length = frame_length(header);
            if packet.bytes + length > self.packet_bytes_max {
                return Err(TooLong);
            }
            if packet.frames == 0 {
                packet.sequence = header[3];
            }
            packet.frames += 1;
            packet.bytes += FRAME_HEADER_BYTES + length;
            if bytes.len() < packet.bytes {
                return Ok(None);
            }
            if length < FRAME_PAYLOAD_BYTES_MAX {
                return Ok(Some(packet));
            }
        }
    }

    /// The payload of the packet at the front.
    pub fn payload(&self, packet: Packet) -> std::borrow::Cow<'_, [u8]> {
        let bytes = &self.bytes()[..packet.bytes];
        if packet.frames == 1 {
            return std::borrow::Cow::Borrowed(&bytes[FRAME_HEADER_BYTES..]);
        }
        let frame = FRAME_HEADER_BYTES + FRAME_PAYLOAD_BYTES_MAX;
        let joined = bytes.chunks(frame).flat_map(|frame| &frame[FRAME_HEADER_BYTES..]);
        std::borrow::Cow::Owned(joined.copied().collect())
    }
}

/// The length that a frame's header tells.
pub(crate) fn frame_length(header: &[u8]) -> usize {
    usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::output::Output;

    #[test]
    fn a_login_is_short() {
        let mut incoming = Incoming::of_a_login();
        incoming.append(&[0xFF, 0xFF, 0x03, 0]);
        assert_eq!(incoming.packet(), Ok(None));
        let mut incoming = Incoming::of_a_login();
        incoming.append(&[0x01, 0x00, 0x04, 0]);
        assert_eq!(incoming.packet(), Err(TooLong));
        assert_eq!(incoming.after_login().packet(), Ok(None));
    }

    #[test]
    fn packets_are_found_however_they_arrive() {
        let payloads =
            [vec![], vec![7; 3], vec![8; FRAME_PAYLOAD_BYTES_MAX], vec![9; FRAME_PAYLOAD_BYTES_MAX + 5]];
        let mut sent = Output::new();
        for payload in &payloads {
            sent.set_sequence(0);
            sent.packet(payload);
        }
        let mut incoming = Incoming::of_a_login().after_login();
        let mut found = Vec::new();
        for piece in sent.bytes().chunks(1_000_003) {
            incoming.append(piece);
            while let Some(packet) = incoming.packet().unwrap() {
                found.push(incoming.payload(packet).into_owned());
                incoming.consume(packet.bytes);
            }
        }
        assert!(found == payloads);
        assert!(incoming.is_empty());
    }
}
