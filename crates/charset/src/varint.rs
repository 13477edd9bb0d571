//! Variable-length integers of the generated tables: seven bits a byte, low bits first. Main type: [`Reader`].
//! The tables are part of the program, so a table that ends early is a build error that tests find.

/// What is left of a table.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().expect("generated tables are whole");
        self.0 = rest;
        *first
    }

    pub(crate) fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(count);
        self.0 = rest;
        bytes
    }

    pub(crate) fn unsigned(&mut self) -> u32 {
        let mut number = 0;
        let mut shift = 0;
        loop {
            let byte = self.byte();
            number |= u32::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }

    /// Even numbers are positive, odd ones negative.
    pub(crate) fn signed(&mut self) -> i32 {
        let number = self.unsigned();
        (number >> 1) as i32 ^ -((number & 1) as i32)
    }
}
