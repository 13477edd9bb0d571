//! A character set: counting, cutting, checking and converting text. Main type: [`Charset`].

use crate::encoding::{Decoded, Encoding};
use crate::search::{KILL_LOOK_STEPS, KeepOn, Stopped};
use crate::{CollationId, registry};
use std::borrow::Cow;

/// A character set.
#[derive(Clone, Debug)]
pub struct Charset {
    /// Name, lower case.
    pub name: &'static str,
    /// As in SHOW CHARACTER SET.
    pub description: &'static str,
    /// Most bytes of a character.
    pub max_bytes: u8,
    /// Collation of columns that name only the character set.
    pub default_collation: CollationId,
    /// The collation that compares by code point; `CollationId(0)` if there is none.
    pub binary_collation: CollationId,
    pub(crate) encoding: Encoding,
}

/// The result of a conversion between character sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversion {
    /// The text in the target character set, with '?' for what it cannot hold.
    pub text: Vec<u8>,
    /// Offset in the source of the first character that could not be converted.
    pub first_error: Option<usize>,
}

impl Charset {
    /// Whether Iruka can read, order and convert text in this character set.
    pub fn is_supported(&self) -> bool {
        !matches!(self.encoding, Encoding::Unsupported)
    }

    /// Least bytes of a character.
    pub fn min_bytes(&self) -> usize {
        self.encoding.min_bytes()
    }

    /// Whether bytes below 0x80 always stand for ASCII characters.
    pub fn is_ascii_based(&self) -> bool {
        match self.encoding {
            Encoding::Utf8mb3 | Encoding::Utf8mb4 | Encoding::Binary | Encoding::MultiByte(_) => true,
            Encoding::SingleByte(charset) => charset.is_ascii_based,
            _ => false,
        }
    }

    /// Whether a byte below 0x80 may be the second one of a character, so that a quote or backslash need not be one.
    pub fn masks_ascii(&self) -> bool {
        matches!(self.encoding, Encoding::MultiByte(charset) if charset.masks_ascii())
    }

    /// Whether this is `binary`.
    pub fn is_binary(&self) -> bool {
        matches!(self.encoding, Encoding::Binary)
    }

    /// The characters of a text with their lengths in bytes.
    pub fn characters<'a>(&self, text: &'a [u8]) -> Characters<'a> {
        Characters { encoding: self.encoding, rest: text }
    }

    /// Length in characters; a byte that is no character counts as one.
    pub fn character_count(&self, text: &[u8]) -> usize {
        match self.encoding {
            Encoding::Binary | Encoding::SingleByte(_) | Encoding::Unsupported => text.len(),
            Encoding::Utf8mb3 | Encoding::Utf8mb4 if text.is_ascii() => text.len(),
            _ => self.characters(text).count(),
        }
    }

    /// The first `count` characters.
    pub fn prefix<'a>(&self, text: &'a [u8], count: usize) -> &'a [u8] {
        &text[..self.offset(text, count)]
    }

    /// Offset in bytes of the character at that position; the text's length when it is shorter.
    pub fn offset(&self, text: &[u8], position: usize) -> usize {
        match self.encoding {
            Encoding::Binary | Encoding::SingleByte(_) | Encoding::Unsupported => text.len().min(position),
            // Not even one byte a character can be cut away.
            _ if text.len() <= position => text.len(),
            _ => self.characters(text).take(position).map(|step| step.length).sum(),
        }
    }

    /// Length in bytes of the longest start of the text that is well formed.
    pub fn valid_length(&self, text: &[u8]) -> usize {
        match self.encoding {
            Encoding::Binary | Encoding::Unsupported => text.len(),
            Encoding::Utf8mb4 => match std::str::from_utf8(text) {
                Ok(_) => text.len(),
                Err(error) => error.valid_up_to(),
            },
            _ => self
                .characters(text)
                .take_while(|step| step.character.is_some())
                .map(|step| step.length)
                .sum(),
        }
    }

    /// Whether the whole text is well formed.
    pub fn is_valid(&self, text: &[u8]) -> bool {
        self.valid_length(text) == text.len()
    }

    /// Length of the text without trailing spaces.
    pub fn length_without_trailing_spaces(&self, text: &[u8]) -> usize {
        let mut space = Vec::with_capacity(4);
        self.encoding.encode(0x20, &mut space);
        let mut end = text.len();
        while !space.is_empty() && text[..end].ends_with(&space) {
            end -= space.len();
        }
        end
    }

    /// Appends a Unicode character; false when this character set does not have it.
    pub fn push(&self, character: u32, out: &mut Vec<u8>) -> bool {
        self.encoding.encode(character, out)
    }

    /// The text in another character set. From and to `binary` the bytes stay as they are.
    pub fn convert(&self, text: &[u8], target: &Charset) -> Conversion {
        self.convert_while(text, target, &mut || true).unwrap_or_default()
    }

    /// The text in another character set, borrowed where it stays as it is; what that set lacks becomes '?'.
    pub fn converted<'t>(&self, text: &'t [u8], target: &Charset) -> Cow<'t, [u8]> {
        match self.converts_unchanged(text, target) {
            true => Cow::Borrowed(text),
            false => Cow::Owned(self.convert(text, target).text),
        }
    }

    /// As [`Charset::convert`], as long as `keep_on` says so.
    pub fn convert_while(
        &self,
        text: &[u8],
        target: &Charset,
        keep_on: KeepOn<'_>,
    ) -> Result<Conversion, Stopped> {
        if self.converts_unchanged(text, target) {
            return Ok(Conversion { text: text.to_vec(), first_error: None });
        }
        let mut conversion = Conversion { text: Vec::with_capacity(text.len()), first_error: None };
        let mut at = 0;
        for (index, step) in self.characters(text).enumerate() {
            if (index + 1).is_multiple_of(KILL_LOOK_STEPS) && !keep_on() {
                return Err(Stopped);
            }
            let written = step.character.is_some_and(|c| target.encoding.encode(c, &mut conversion.text));
            if !written {
                target.encoding.encode(u32::from(b'?'), &mut conversion.text);
                conversion.first_error.get_or_insert(at);
            }
            at += step.length;
        }
        Ok(conversion)
    }

    /// Whether conversion to the target would return the same bytes; lets callers avoid the copy.
    pub fn converts_unchanged(&self, text: &[u8], target: &Charset) -> bool {
        if self.is_binary() || target.is_binary() {
            return true;
        }
        if self.is_ascii_based() && target.is_ascii_based() && text.is_ascii() {
            return true;
        }
        self.name == target.name && self.is_valid(text)
    }

    /// The text as a Rust string, with U+FFFD for what is no character. `binary` is read as UTF-8.
    pub fn to_string_lossy(&self, text: &[u8]) -> String {
        match self.encoding {
            Encoding::Binary | Encoding::Utf8mb3 | Encoding::Utf8mb4 | Encoding::Unsupported => {
                String::from_utf8_lossy(text).into_owned()
            }
            _ => self
                .characters(text)
                .map(|step| step.character.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect(),
        }
    }

    /// The bytes of a Rust string in this character set, with '?' for what it does not have.
    pub fn from_str(&self, text: &str) -> Conversion {
        match registry::charset_by_name("utf8mb4") {
            Some(utf8) => utf8.convert(text.as_bytes(), self),
            None => Conversion::default(),
        }
    }
}

/// Iterator over the characters of a text.
#[derive(Clone, Debug)]
pub struct Characters<'a> {
    encoding: Encoding,
    rest: &'a [u8],
}

impl Iterator for Characters<'_> {
    type Item = Decoded;

    #[inline]
    fn next(&mut self) -> Option<Decoded> {
        if self.rest.is_empty() {
            return None;
        }
        let step = self.encoding.decode(self.rest);
        self.rest = &self.rest[step.length..];
        Some(step)
    }
}
