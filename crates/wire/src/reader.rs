//! The one checked reader of everything a client sends. Main type: [`Reader`].
//! Every method checks lengths against what is left; nothing here panics or reads past the end.

use errors::{SqlError, sql_error};

/// What arrived does not have the form that the protocol asks for. Shown to clients as error 1835.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl From<Malformed> for SqlError {
    fn from(_: Malformed) -> SqlError {
        sql_error!(ER_MALFORMED_PACKET)
    }
}

/// Takes values off the front of a packet's payload.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads from the start of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// Bytes left.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Everything that is left.
    #[inline]
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|bytes| bytes[0])
    }

    /// Two bytes, little-endian as all integers of the protocol.
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    /// Three bytes.
    pub fn u24(&mut self) -> Result<u32, Malformed> {
        self.array::<3>().map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    /// A length-encoded integer. The NULL mark (0xFB) and 0xFF are not integers.
    pub fn length_encoded_integer(&mut self) -> Result<u64, Malformed> {
        match self.u8()? {
            byte @ 0..=0xFA => Ok(u64::from(byte)),
            0xFC => self.u16().map(u64::from),
            0xFD => self.u24().map(u64::from),
            0xFE => self.u64(),
            0xFB | 0xFF => Err(Malformed),
        }
    }

    /// A byte string led by its length-encoded length.
    pub fn length_encoded_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.length_encoded_integer()?;
        self.bytes(usize::try_from(length).map_err(|_| Malformed)?)
    }

    /// A cell of a row of the text protocol; None for NULL.
    pub fn text_cell(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        if self.rest.first() == Some(&0xFB) {
            self.u8()?;
            return Ok(None);
        }
        self.length_encoded_bytes().map(Some)
    }

    /// A byte string up to a zero byte, which is consumed but not returned.
    pub fn null_terminated(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.rest.iter().position(|byte| *byte == 0).ok_or(Malformed)?;
        let text = self.bytes(length)?;
        self.u8()?;
        Ok(text)
    }

    /// As [`Reader::null_terminated`], but the end of the packet also ends the string: several clients leave out
    /// the last zero byte.
    pub fn null_terminated_or_rest(&mut self) -> &'a [u8] {
        match self.null_terminated() {
            Ok(text) => text,
            Err(Malformed) => self.take_rest(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_encoded_integers() {
        let check =
            |bytes: &[u8], expected| assert_eq!(Reader::new(bytes).length_encoded_integer(), expected);
        check(&[250], Ok(250));
        check(&[0xFB], Err(Malformed));
        check(&[0xFC, 1, 2], Ok(0x201));
        check(&[0xFD, 1, 2, 3], Ok(0x30201));
        check(&[0xFE, 1, 0, 0, 0, 0, 0, 0, 1], Ok(0x0100_0000_0000_0001));
        check(&[0xFE, 1], Err(Malformed));
        check(&[0xFF], Err(Malformed));
        check(&[], Err(Malformed));
    }

    #[test]
    fn a_length_beyond_the_packet_is_malformed() {
        // The shape of CVE-2017-3599: a huge length-encoded length before few bytes.
        let bytes = [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, b'x'];
        assert_eq!(Reader::new(&bytes).length_encoded_bytes(), Err(Malformed));
    }

    #[test]
    fn strings() {
        let mut reader = Reader::new(b"ab\0cd");
        assert_eq!(reader.null_terminated(), Ok(&b"ab"[..]));
        assert_eq!(reader.null_terminated(), Err(Malformed));
        assert_eq!(reader.null_terminated_or_rest(), b"cd");
        assert!(reader.is_empty());
    }
}
