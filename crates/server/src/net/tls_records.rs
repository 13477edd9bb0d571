//! Where in the stream of TLS records the received bytes end. Main type: [`RecordPosition`]. A connection that stops inside
//! a record is not idle: net_read_timeout counts for it, not wait_timeout.

/// Type, version, and length of the content.
const HEADER_BYTES: usize = 5;

/// Counts off records: their headers are never encrypted.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordPosition {
    header: [u8; HEADER_BYTES],
    /// Bytes of the next record's header that were received.
    header_bytes: usize,
    /// Content that the record still lacks.
    missing_bytes: usize,
}

impl RecordPosition {
    /// Bytes were received.
    pub fn advance(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            if self.missing_bytes > 0 {
                let count = self.missing_bytes.min(bytes.len());
                self.missing_bytes -= count;
                bytes = &bytes[count..];
                continue;
            }
            self.header[self.header_bytes] = *first;
            self.header_bytes += 1;
            if self.header_bytes == HEADER_BYTES {
                self.missing_bytes = usize::from(u16::from_be_bytes([self.header[3], self.header[4]]));
                self.header_bytes = 0;
            }
            bytes = rest;
        }
    }

    /// Whether a record was begun and not ended.
    pub fn is_inside(&self) -> bool {
        self.header_bytes > 0 || self.missing_bytes > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_records_count_as_outside() {
        let stream =
            [&[22, 3, 3, 0, 3][..], b"abc", &[23, 3, 3, 1, 0], &[7; 256], &[23, 3, 3, 0, 0]].concat();
        for piece_bytes in 1..stream.len() {
            let (mut position, mut at) = (RecordPosition::default(), 0);
            for piece in stream.chunks(piece_bytes) {
                position.advance(piece);
                at += piece.len();
                assert_eq!(position.is_inside(), ![8, 269, 274].contains(&at), "{at}");
            }
        }
    }
}
