//! Building a stored definition: [`Writer`]. Numbers are little-endian, text and lists lead with a length.

/// Bytes under construction.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub fn new(version: u8) -> Writer {
        Writer(vec![version])
    }

    pub fn u8(&mut self, number: u8) {
        self.0.push(number);
    }

    pub fn u16(&mut self, number: u16) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub fn u32(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.0.extend_from_slice(bytes);
    }

    pub fn string(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn option<T>(&mut self, value: Option<T>, write: impl Fn(&mut Writer, T)) {
        self.u8(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Writer, &T)) {
        self.u32(items.len() as u32);
        for item in items {
            write(self, item);
        }
    }

    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}
