//! Packets of an answer that was held: their payloads in order, whatever frames they came in. Main type: [`Packets`].

use std::borrow::Cow;
use wire::reader::{Malformed, Reader};

const HEADER_BYTES: usize = 4;
const FRAME_PAYLOAD_BYTES_MAX: usize = 0xFF_FFFF;

/// Goes through the packets of received bytes.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Packets<'a> {
    /// From that position on, which must be a frame's start.
    pub fn from(bytes: &'a [u8], at: usize) -> Packets<'a> {
        Packets { bytes, at }
    }

    /// Where the next packet starts.
    pub fn position(&self) -> usize {
        self.at
    }

    fn frame(&mut self) -> Option<&'a [u8]> {
        let header = self.bytes.get(self.at..self.at + HEADER_BYTES)?;
        let length = usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
        let start = self.at + HEADER_BYTES;
        let payload = self.bytes.get(start..start + length)?;
        self.at = start + length;
        Some(payload)
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Cow<'a, [u8]>;

    fn next(&mut self) -> Option<Cow<'a, [u8]>> {
        let first = self.frame()?;
        if first.len() < FRAME_PAYLOAD_BYTES_MAX {
            return Some(Cow::Borrowed(first));
        }
        let mut joined = first.to_vec();
        loop {
            let next = self.frame()?;
            joined.extend_from_slice(next);
            if next.len() < FRAME_PAYLOAD_BYTES_MAX {
                return Some(Cow::Owned(joined));
            }
        }
    }
}

/// A column's definition as far as scripts see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The table's alias.
    pub table: Vec<u8>,
    /// The table's name.
    pub original_table: Vec<u8>,
    /// The column's alias.
    pub name: Vec<u8>,
    /// The column's name.
    pub original_name: Vec<u8>,
    /// The number of its type.
    pub type_code: u8,
}

impl Definition {
    /// Reads a definition's payload.
    pub fn parse(payload: &[u8]) -> Result<Definition, Malformed> {
        let mut reader = Reader::new(payload);
        let _catalog = reader.length_encoded_bytes()?;
        let _schema = reader.length_encoded_bytes()?;
        let table = reader.length_encoded_bytes()?.to_vec();
        let original_table = reader.length_encoded_bytes()?.to_vec();
        let name = reader.length_encoded_bytes()?.to_vec();
        let original_name = reader.length_encoded_bytes()?.to_vec();
        // Length of what follows, collation, display width.
        reader.bytes(1 + 2 + 4)?;
        let type_code = reader.u8()?;
        Ok(Definition { table, original_table, name, original_name, type_code })
    }
}
