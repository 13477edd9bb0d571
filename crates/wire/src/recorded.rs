//! The packets of a result's rows, kept to be sent again. Main types: [`RecordedRows`], [`Recorder`].

use crate::output::{FRAME_HEADER_BYTES, Output};

/// Rows as they were sent.
#[derive(Debug)]
pub struct RecordedRows {
    packets: Box<[u8]>,
    /// Numbers of the first packet, and of the one that follows the last.
    sequence: (u8, u8),
}

impl RecordedRows {
    /// Memory that they take, bytes.
    pub fn bytes(&self) -> usize {
        self.packets.len()
    }

    /// The packets, if they are numbered as the next ones of that output.
    pub fn numbered_for(&self, output: &Output) -> Option<&[u8]> {
        (self.packets.is_empty() || self.sequence.0 == output.sequence()).then_some(&*self.packets)
    }

    /// The number of the packet that follows them, where they begin with that of the next one of that output.
    pub fn next_sequence(&self, output: &Output) -> u8 {
        output.sequence().wrapping_add(self.sequence.1.wrapping_sub(self.sequence.0))
    }

    /// Their packets one by one, without headers.
    pub fn frames(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &*self.packets;
        std::iter::from_fn(move || {
            let (header, behind) = rest.split_at_checked(FRAME_HEADER_BYTES)?;
            let payload_bytes = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            let (payload, next) = behind.split_at_checked(payload_bytes)?;
            rest = next;
            Some(payload)
        })
    }
}

/// Copies what an output has of rows before it is sent.
#[derive(Debug)]
pub struct Recorder {
    packets: Vec<u8>,
    bytes_max: usize,
    first_sequence: u8,
    /// Where in the output begins what is not copied yet.
    from: usize,
    /// There was more than may be kept, or something that is no packet of a row.
    failed: bool,
}

impl Recorder {
    /// Keeps what comes from here on, if it takes no more than so many bytes.
    pub fn begin(output: &Output, bytes_max: usize) -> Recorder {
        Recorder {
            packets: Vec::new(),
            bytes_max,
            first_sequence: output.sequence(),
            from: output.len(),
            failed: false,
        }
    }

    /// Copies what there is. Called before the output is cleared.
    pub fn copy(&mut self, output: &Output) {
        let new = output.bytes().get(self.from..).unwrap_or_default();
        if self.packets.len() + new.len() > self.bytes_max {
            self.fail();
        }
        if !self.failed {
            self.packets.extend_from_slice(new);
        }
        self.from = 0;
    }

    /// Keeps nothing.
    pub fn fail(&mut self) {
        self.failed = true;
        self.packets = Vec::new();
    }

    /// The rows, of which the last was written.
    pub fn end(mut self, output: &Output) -> Option<RecordedRows> {
        self.copy(output);
        let sequence = (self.first_sequence, output.sequence());
        (!self.failed).then(|| RecordedRows { packets: self.packets.into(), sequence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(sequence: u8, bytes_max: usize) -> Option<RecordedRows> {
        let mut output = Output::new();
        output.set_sequence(sequence);
        output.packet(b"before");
        let mut recorder = Recorder::begin(&output, bytes_max);
        output.packet(b"one");
        recorder.copy(&output);
        output.clear();
        output.packet(b"");
        output.packet(b"three");
        recorder.end(&output)
    }

    #[test]
    fn rows_are_kept_in_pieces() {
        let rows = recorded(6, 20).unwrap();
        assert_eq!(rows.packets.to_vec(), b"\x03\0\0\x07one\0\0\0\x08\x05\0\0\x09three");
        assert_eq!(rows.frames().collect::<Vec<_>>(), [&b"one"[..], b"", b"three"]);
        let mut output = Output::new();
        output.set_sequence(7);
        assert!(rows.numbered_for(&output).is_some());
        assert_eq!(rows.next_sequence(&output), 10);
        output.set_sequence(254);
        assert!(rows.numbered_for(&output).is_none());
        assert_eq!(rows.next_sequence(&output), 1);
    }

    #[test]
    fn more_than_may_be_kept_is_not_kept() {
        assert!(recorded(1, 19).is_none());
        assert!(recorded(1, 6).is_none());
    }
}
