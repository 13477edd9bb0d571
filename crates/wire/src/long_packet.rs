//! A packet whose payload comes in parts and leaves before it is whole. Main type: [`LongPacket`]. Its length is told first, so
//! that the header of each frame is right when it leaves.

use crate::output::{FRAME_PAYLOAD_BYTES_MAX, Output};

/// A packet that is being written.
#[derive(Debug)]
pub struct LongPacket {
    /// Bytes of the payload that are still to come.
    bytes_left: u64,
    /// Those of the open frame.
    frame_left: usize,
    /// The last frame was a full one: another one must follow.
    is_full: bool,
}

impl LongPacket {
    /// Begins a packet with a payload of so many bytes.
    pub fn begin(payload_bytes: u64) -> LongPacket {
        LongPacket { bytes_left: payload_bytes, frame_left: 0, is_full: true }
    }

    /// Adds a part of the payload.
    ///
    /// # Panics
    /// If the parts together are longer than was told.
    pub fn push(&mut self, mut part: &[u8], output: &mut Output) {
        assert!(part.len() as u64 <= self.bytes_left, "a packet is longer than was told");
        while !part.is_empty() {
            if self.frame_left == 0 {
                self.begin_frame(output);
            }
            let (now, rest) = part.split_at(part.len().min(self.frame_left));
            output.extend_frame(now);
            self.frame_left -= now.len();
            self.bytes_left -= now.len() as u64;
            part = rest;
        }
    }

    fn begin_frame(&mut self, output: &mut Output) {
        self.frame_left = self.bytes_left.min(FRAME_PAYLOAD_BYTES_MAX as u64) as usize;
        self.is_full = self.frame_left == FRAME_PAYLOAD_BYTES_MAX;
        output.begin_frame(self.frame_left);
    }

    /// Ends the packet.
    ///
    /// # Panics
    /// If the parts together are shorter than was told.
    pub fn end(mut self, output: &mut Output) {
        assert_eq!(self.bytes_left, 0, "a packet is shorter than was told");
        if self.is_full {
            self.begin_frame(output);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_those_of_a_packet_that_is_written_at_once() {
        let sizes = [0, 1, 70_000, FRAME_PAYLOAD_BYTES_MAX - 1, FRAME_PAYLOAD_BYTES_MAX];
        for bytes in sizes.into_iter().chain([FRAME_PAYLOAD_BYTES_MAX + 1, 2 * FRAME_PAYLOAD_BYTES_MAX]) {
            let payload: Vec<u8> = (0..bytes).map(|at| at as u8).collect();
            let mut whole = Output::new();
            whole.set_sequence(254);
            whole.packet(&payload);
            let mut parts = Output::new();
            parts.set_sequence(254);
            let mut packet = LongPacket::begin(bytes as u64);
            payload.chunks(65_521).for_each(|part| packet.push(part, &mut parts));
            packet.end(&mut parts);
            assert!(parts.bytes() == whole.bytes(), "{bytes} bytes");
            assert_eq!(parts.sequence(), whole.sequence());
        }
    }

    #[test]
    #[should_panic(expected = "shorter than was told")]
    fn a_packet_that_is_too_short_is_a_bug() {
        LongPacket::begin(1).end(&mut Output::new());
    }
}
