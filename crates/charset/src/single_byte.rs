//! Character sets of one byte a character, and the orders of their collations, from `data/single_byte_*.bin`.
//! Main types: [`SingleByte`], and plain 256-byte weight tables.

use crate::varint::Reader;
use std::sync::LazyLock;

/// A character set of one byte a character.
#[derive(Debug)]
pub(crate) struct SingleByte {
    name: &'static [u8],
    /// Unicode of each byte; 0 for bytes that are no character (byte 0 is U+0000).
    pub(crate) to_unicode: [u16; 256],
    /// Whether bytes below 0x80 are ASCII (not so in swe7).
    pub(crate) is_ascii_based: bool,
    /// Lower case of each byte.
    pub(crate) lower: [u8; 256],
    /// Upper case of each byte.
    pub(crate) upper: [u8; 256],
    /// Unicode and byte of all characters, ordered by Unicode.
    from_unicode: Vec<(u16, u8)>,
}

static CHARSETS: LazyLock<Vec<SingleByte>> = LazyLock::new(|| {
    let mut from = Reader::new(include_bytes!("../data/single_byte_charsets.bin"));
    let mut charsets = Vec::new();
    while !from.is_empty() {
        charsets.push(SingleByte::read(&mut from));
    }
    charsets
});

/// Name and weights of each collation.
static ORDERS: LazyLock<Vec<(&'static [u8], [u8; 256])>> = LazyLock::new(|| {
    let mut from = Reader::new(include_bytes!("../data/single_byte_orders.bin"));
    let mut orders = Vec::new();
    while !from.is_empty() {
        let length = usize::from(from.byte());
        orders.push((from.bytes(length), table(&mut from)));
    }
    orders
});

fn table(from: &mut Reader<'_>) -> [u8; 256] {
    let mut table = [0; 256];
    table.copy_from_slice(from.bytes(256));
    table
}

/// The character set of that name, if it has one byte a character.
pub(crate) fn charset(name: &str) -> Option<&'static SingleByte> {
    CHARSETS.iter().find(|charset| charset.name == name.as_bytes())
}

/// The weights of the collation of that name, if its character set has one byte a character and its
/// characters one weight each.
pub(crate) fn order(name: &str) -> Option<&'static [u8; 256]> {
    ORDERS.iter().find(|order| order.0 == name.as_bytes()).map(|order| &order.1)
}

impl SingleByte {
    fn read(from: &mut Reader<'static>) -> SingleByte {
        let length = usize::from(from.byte());
        let name = from.bytes(length);
        let mut to_unicode = [0; 256];
        for unicode in &mut to_unicode {
            *unicode = u16::from_le_bytes([from.byte(), from.byte()]);
        }
        let listed = to_unicode.iter().enumerate().filter(|(byte, unicode)| **unicode != 0 || *byte == 0);
        let mut from_unicode: Vec<(u16, u8)> = listed.map(|(byte, unicode)| (*unicode, byte as u8)).collect();
        from_unicode.sort_unstable();
        from_unicode.dedup_by_key(|pair| pair.0);
        let is_ascii_based = (0..128).all(|byte| usize::from(to_unicode[byte]) == byte);
        SingleByte { name, to_unicode, is_ascii_based, lower: table(from), upper: table(from), from_unicode }
    }

    pub(crate) fn byte_of(&self, character: u32) -> Option<u8> {
        let character = u16::try_from(character).ok()?;
        let found = self.from_unicode.binary_search_by_key(&character, |pair| pair.0).ok()?;
        Some(self.from_unicode[found].1)
    }
}
