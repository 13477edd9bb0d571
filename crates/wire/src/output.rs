//! Packets on their way to the client: one byte buffer with framing. Main type: [`Output`].
//! A packet's header is reserved when it begins and patched when it ends, so a row costs no allocation.

/// Largest payload of one frame; a longer packet continues in further frames.
pub const FRAME_PAYLOAD_BYTES_MAX: usize = 0xFF_FFFF;
/// Length u24 and sequence u8.
pub const FRAME_HEADER_BYTES: usize = 4;

/// Framed packets, ready to be sent (after compression and encryption, if negotiated).
#[derive(Debug, Default)]
pub struct Output {
    buffer: Vec<u8>,
    /// Sequence number of the next frame.
    sequence: u8,
    /// Where the header of the open packet is.
    packet_start: usize,
}

impl Output {
    /// An empty buffer.
    pub fn new() -> Output {
        Output::default()
    }

    /// The next frame's sequence number becomes this.
    #[inline]
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The next frame's sequence number.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Opens a packet; its payload is appended to the returned buffer.
    #[inline]
    pub fn begin_packet(&mut self) -> &mut Vec<u8> {
        self.packet_start = self.buffer.len();
        self.buffer.extend_from_slice(&[0; FRAME_HEADER_BYTES]);
        &mut self.buffer
    }

    /// The buffer, while a packet is open.
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Closes the packet that [`Output::begin_packet`] opened.
    #[inline]
    pub fn end_packet(&mut self) {
        let payload_bytes = self.buffer.len() - self.packet_start - FRAME_HEADER_BYTES;
        if payload_bytes >= FRAME_PAYLOAD_BYTES_MAX {
            return self.split_packet(payload_bytes);
        }
        let header = self.next_header(payload_bytes);
        self.buffer[self.packet_start..self.packet_start + FRAME_HEADER_BYTES].copy_from_slice(&header);
    }

    /// Takes back what was written from that length on; the next frame has that number again.
    pub fn truncate(&mut self, length: usize, sequence: u8) {
        self.buffer.truncate(length);
        self.sequence = sequence;
    }

    /// Drops the open packet.
    pub fn abandon_packet(&mut self) {
        self.buffer.truncate(self.packet_start);
    }

    /// A whole packet at once.
    #[inline]
    pub fn packet(&mut self, payload: &[u8]) {
        self.begin_packet().extend_from_slice(payload);
        self.end_packet();
    }

    /// Packets with their headers, which are numbered as the next ones; `next` is the number of the one that follows them.
    pub fn whole_packets(&mut self, packets: &[u8], next: u8) {
        self.buffer.extend_from_slice(packets);
        self.sequence = next;
    }

    /// A packet of 16 MiB - 1 or more goes out in full frames and a shorter last one, which may be empty.
    fn split_packet(&mut self, payload_bytes: usize) {
        let payload = self.buffer.split_off(self.packet_start + FRAME_HEADER_BYTES);
        self.buffer.truncate(self.packet_start);
        let frames = payload_bytes / FRAME_PAYLOAD_BYTES_MAX + 1;
        self.buffer.reserve(payload_bytes + frames * FRAME_HEADER_BYTES);
        for frame in payload.chunks(FRAME_PAYLOAD_BYTES_MAX) {
            let header = self.next_header(frame.len());
            self.buffer.extend_from_slice(&header);
            self.buffer.extend_from_slice(frame);
        }
        if payload_bytes.is_multiple_of(FRAME_PAYLOAD_BYTES_MAX) {
            let header = self.next_header(0);
            self.buffer.extend_from_slice(&header);
        }
    }

    /// A frame as it was sent elsewhere: a packet, or a part of a long one.
    pub fn frame(&mut self, payload: &[u8]) {
        self.begin_frame(payload.len());
        self.extend_frame(payload);
    }

    /// Begins a frame of so many bytes, which [`Output::extend_frame`] adds: see `long_packet`.
    pub(crate) fn begin_frame(&mut self, payload_bytes: usize) {
        let header = self.next_header(payload_bytes);
        self.buffer.extend_from_slice(&header);
    }

    /// Adds bytes to the frame that was begun.
    pub(crate) fn extend_frame(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    fn next_header(&mut self, payload_bytes: usize) -> [u8; FRAME_HEADER_BYTES] {
        let length = (payload_bytes as u32).to_le_bytes();
        let header = [length[0], length[1], length[2], self.sequence];
        self.sequence = self.sequence.wrapping_add(1);
        header
    }

    /// Bytes not yet taken.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// What is to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// Takes over memory for packets to come, unless it has some.
    pub fn lend(&mut self, memory: Vec<u8>) {
        if self.buffer.capacity() == 0 && memory.is_empty() {
            self.buffer = memory;
        }
    }

    /// Gives the memory away when nothing is to be sent.
    pub fn take_back(&mut self) -> Option<Vec<u8>> {
        (self.buffer.is_empty() && self.buffer.capacity() > 0).then(|| std::mem::take(&mut self.buffer))
    }

    /// Forgets the content (it was sent). A buffer that a big result blew up is given back.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_BYTES_MAX);
    }
}

/// Capacity that a buffer keeps between statements.
const KEPT_BYTES_MAX: usize = 256 << 10;

/// Appends a length-encoded integer.
pub fn push_length_encoded_integer(out: &mut Vec<u8>, number: u64) {
    match number {
        0..=0xFA => out.push(number as u8),
        0xFB..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&(number as u16).to_le_bytes());
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&(number as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Appends a byte string led by its length-encoded length.
pub fn push_length_encoded_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_length_encoded_integer(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Reader;

    #[test]
    fn packets_are_numbered_and_framed() {
        let mut output = Output::new();
        output.set_sequence(1);
        output.packet(b"abc");
        output.begin_packet().push(9);
        output.abandon_packet();
        output.packet(b"");
        assert_eq!(output.bytes(), b"\x03\0\0\x01abc\0\0\0\x02");
        output.clear();
        assert!(output.is_empty());
        assert_eq!(output.sequence(), 3);
    }

    #[test]
    fn long_packets_are_split() {
        for (bytes, expected) in [
            (FRAME_PAYLOAD_BYTES_MAX - 1, vec![FRAME_PAYLOAD_BYTES_MAX - 1]),
            (FRAME_PAYLOAD_BYTES_MAX, vec![FRAME_PAYLOAD_BYTES_MAX, 0]),
            (FRAME_PAYLOAD_BYTES_MAX + 5, vec![FRAME_PAYLOAD_BYTES_MAX, 5]),
        ] {
            let mut output = Output::new();
            output.packet(&vec![7; bytes]);
            let mut reader = Reader::new(output.bytes());
            for (index, frame_bytes) in expected.into_iter().enumerate() {
                assert_eq!(reader.u24(), Ok(frame_bytes as u32));
                assert_eq!(reader.u8(), Ok(index as u8));
                reader.bytes(frame_bytes).unwrap();
            }
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn length_encoding_round_trips() {
        for number in [0, 250, 251, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, u64::MAX] {
            let mut out = Vec::new();
            push_length_encoded_integer(&mut out, number);
            let mut reader = Reader::new(&out);
            assert_eq!(reader.length_encoded_integer(), Ok(number));
            assert!(reader.is_empty());
        }
    }
}
