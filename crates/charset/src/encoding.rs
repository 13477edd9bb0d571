//! How characters are written as bytes: [`Encoding`].
//! Decoding never fails: what is not a character is reported as one bad byte.

use crate::multi_byte::{self, MultiByte};
use crate::single_byte::{self, SingleByte};

/// The byte form of a character set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Encoding {
    /// Every byte is a character of its own and no Unicode character.
    Binary,
    /// One byte a character.
    SingleByte(&'static SingleByte),
    /// Listed characters of one byte to four.
    MultiByte(&'static MultiByte),
    /// UTF-8 of up to 3 bytes.
    Utf8mb3,
    /// UTF-8 of up to 4 bytes.
    Utf8mb4,
    /// Two bytes, big-endian, no surrogates.
    Ucs2,
    /// UTF-16 in big-endian (true) or little-endian order.
    Utf16 {
        /// Big-endian.
        big_endian: bool,
    },
    /// Four bytes, big-endian.
    Utf32,
    /// A character set that Iruka does not read.
    Unsupported,
}

/// One step of decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The Unicode character, or a number beyond them for a character that has none (see `multi_byte`); None for a
    /// byte sequence that is no character.
    pub character: Option<u32>,
    /// Bytes read, 1 or more.
    pub length: usize,
}

impl Encoding {
    /// Whether it can write all of Unicode, or all of its first plane.
    pub(crate) fn is_unicode(self) -> bool {
        matches!(
            self,
            Encoding::Utf8mb3 | Encoding::Utf8mb4 | Encoding::Ucs2 | Encoding::Utf16 { .. } | Encoding::Utf32
        )
    }

    pub(crate) fn by_name(name: &str) -> Encoding {
        match name {
            "binary" => Encoding::Binary,
            "utf8mb3" => Encoding::Utf8mb3,
            "utf8mb4" => Encoding::Utf8mb4,
            "ucs2" => Encoding::Ucs2,
            "utf16" => Encoding::Utf16 { big_endian: true },
            "utf16le" => Encoding::Utf16 { big_endian: false },
            "utf32" => Encoding::Utf32,
            _ => match (single_byte::charset(name), multi_byte::charset(name)) {
                (Some(charset), _) => Encoding::SingleByte(charset),
                (None, Some(charset)) => Encoding::MultiByte(charset),
                (None, None) => Encoding::Unsupported,
            },
        }
    }

    /// Smallest number of bytes of a character.
    pub(crate) fn min_bytes(self) -> usize {
        match self {
            Encoding::Ucs2 | Encoding::Utf16 { .. } => 2,
            Encoding::Utf32 => 4,
            _ => 1,
        }
    }

    /// The first character of a text that is not empty.
    #[inline]
    pub(crate) fn decode(self, text: &[u8]) -> Decoded {
        let character = match self {
            Encoding::Utf8mb4 => decode_utf8(text, 4),
            Encoding::Utf8mb3 => decode_utf8(text, 3),
            Encoding::Binary | Encoding::Unsupported => Some((u32::from(text[0]), 1)),
            Encoding::SingleByte(table) => match (text[0], table.to_unicode[usize::from(text[0])]) {
                (byte, 0) if byte != 0 => None,
                (_, unicode) => Some((u32::from(unicode), 1)),
            },
            Encoding::MultiByte(charset) => {
                return match charset.decode(text) {
                    Some((character, length)) => Decoded { character: Some(character), length },
                    None => Decoded { character: None, length: 1 },
                };
            }
            Encoding::Ucs2 => decode_units(text, true).filter(|&(_, length)| length == 2),
            Encoding::Utf16 { big_endian } => decode_units(text, big_endian),
            Encoding::Utf32 => text.first_chunk::<4>().map(|unit| (u32::from_be_bytes(*unit), 4)),
        };
        match character {
            Some((character, length)) if character <= 0x10_ffff => {
                Decoded { character: Some(character), length }
            }
            _ => Decoded { character: None, length: self.min_bytes().min(text.len()) },
        }
    }

    /// Appends a character; false (and nothing written) when the character set does not have it.
    pub(crate) fn encode(self, character: u32, out: &mut Vec<u8>) -> bool {
        match self {
            Encoding::Binary | Encoding::Unsupported => match u8::try_from(character) {
                Ok(byte) => out.push(byte),
                Err(_) => return false,
            },
            Encoding::SingleByte(table) => match table.byte_of(character) {
                Some(byte) => out.push(byte),
                None => return false,
            },
            Encoding::MultiByte(charset) => match charset.code(character) {
                Some(code) => multi_byte::push_code(code, out),
                None => return false,
            },
            Encoding::Utf8mb3 if character > 0xffff => return false,
            Encoding::Utf8mb3 | Encoding::Utf8mb4 => match char::from_u32(character) {
                Some(character) => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                None => return false,
            },
            Encoding::Ucs2 => match u16::try_from(character) {
                Ok(unit) => out.extend_from_slice(&unit.to_be_bytes()),
                Err(_) => return false,
            },
            Encoding::Utf16 { big_endian } => match char::from_u32(character) {
                Some(character) => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        out.extend_from_slice(&if big_endian {
                            unit.to_be_bytes()
                        } else {
                            unit.to_le_bytes()
                        });
                    }
                }
                None => return false,
            },
            Encoding::Utf32 if character >= multi_byte::UNKNOWN => return false,
            Encoding::Utf32 => out.extend_from_slice(&character.to_be_bytes()),
        }
        true
    }
}

#[inline]
fn decode_utf8(text: &[u8], bytes_max: usize) -> Option<(u32, usize)> {
    let continuation =
        |at: usize| text.get(at).filter(|&&byte| byte & 0xc0 == 0x80).map(|&byte| u32::from(byte & 0x3f));
    let first = u32::from(text[0]);
    match first {
        0..0x80 => Some((first, 1)),
        0xc2..0xe0 => Some(((first & 0x1f) << 6 | continuation(1)?, 2)),
        0xe0..0xf0 => {
            let character = (first & 0xf) << 12 | continuation(1)? << 6 | continuation(2)?;
            let valid = character >= 0x800 && !(0xd800..0xe000).contains(&character);
            valid.then_some((character, 3))
        }
        0xf0..0xf5 if bytes_max == 4 => {
            let character =
                (first & 7) << 18 | continuation(1)? << 12 | continuation(2)? << 6 | continuation(3)?;
            (0x1_0000..0x11_0000).contains(&character).then_some((character, 4))
        }
        _ => None,
    }
}

fn decode_units(text: &[u8], big_endian: bool) -> Option<(u32, usize)> {
    let unit = |at: usize| {
        let pair = text.get(at..)?.first_chunk::<2>()?;
        Some(u32::from(if big_endian { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) }))
    };
    let first = unit(0)?;
    match first {
        0xd800..0xdc00 => {
            let second = unit(2).filter(|second| (0xdc00..0xe000).contains(second))?;
            Some((0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00), 4))
        }
        0xdc00..0xe000 => None,
        _ => Some((first, 2)),
    }
}
