//! Variable-length integers and byte strings of encoded operations: LEB128, low groups first.

use crate::CorruptPage;

pub(crate) const TRUNCATED: CorruptPage = CorruptPage::new("operation is truncated");

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn put_signed(out: &mut Vec<u8>, value: i32) {
    put_varint(out, u64::from(((value << 1) ^ (value >> 31)) as u32));
}

pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads an encoded operation front to back; every read is checked.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn byte(&mut self) -> Result<u8, CorruptPage> {
        let (first, rest) = self.rest.split_first().ok_or(TRUNCATED)?;
        self.rest = rest;
        Ok(*first)
    }

    pub(crate) fn varint(&mut self) -> Result<u64, CorruptPage> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(CorruptPage::new("integer of an operation is too long"))
    }

    pub(crate) fn varint_u32(&mut self) -> Result<u32, CorruptPage> {
        u32::try_from(self.varint()?).map_err(|_| CorruptPage::new("number of an operation is too large"))
    }

    pub(crate) fn varint_u16(&mut self) -> Result<u16, CorruptPage> {
        u16::try_from(self.varint()?).map_err(|_| CorruptPage::new("number of an operation is too large"))
    }

    pub(crate) fn signed(&mut self) -> Result<i32, CorruptPage> {
        let folded = self.varint_u32()?;
        Ok((folded >> 1) as i32 ^ -((folded & 1) as i32))
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], CorruptPage> {
        let (head, rest) = self.rest.split_at_checked(length).ok_or(TRUNCATED)?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], CorruptPage> {
        let length = usize::try_from(self.varint()?).map_err(|_| TRUNCATED)?;
        self.take(length)
    }
}
