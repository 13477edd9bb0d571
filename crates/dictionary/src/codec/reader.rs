//! Reading a stored definition: [`Reader`]. Every length is checked against what is left.

use super::{CorruptDefinition, Result};

/// What is left of the bytes.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// What follows the version, and the version: 1 to `newest`. Damage is the pages' checksums' business.
    pub fn new(bytes: &'a [u8], newest: u8) -> Result<(Reader<'a>, u8)> {
        let mut reader = Reader(bytes);
        let version = reader.u8()?;
        if (1..=newest).contains(&version) { Ok((reader, version)) } else { Err(CorruptDefinition) }
    }

    /// Nothing may be left.
    pub fn finish(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(CorruptDefinition) }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk::<N>().ok_or(CorruptDefinition)?;
        self.0 = rest;
        Ok(*array)
    }

    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.u32()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(CorruptDefinition)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub fn string(&mut self) -> Result<String> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| CorruptDefinition)
    }

    pub fn option<T>(&mut self, read: impl Fn(&mut Self) -> Result<T>) -> Result<Option<T>> {
        match self.u8()? {
            0 => Ok(None),
            1 => read(self).map(Some),
            _ => Err(CorruptDefinition),
        }
    }

    pub fn list<T>(&mut self, read: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = self.u32()? as usize;
        // Every item takes a byte at least, so a damaged count cannot ask for much.
        if count > self.0.len() {
            return Err(CorruptDefinition);
        }
        (0..count).map(|_| read(self)).collect()
    }
}
