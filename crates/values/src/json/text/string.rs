//! Strings of JSON text. Neighbour: `text.rs`, which has the reader.

use super::{Reader, TextError};
use crate::json::Watch;
use errors::SqlResult;
use std::borrow::Cow;

/// Bytes of a string that are gone over between two looks at the watch.
const PIECE_BYTES: usize = 1 << 16;

/// The content of a text that is one string in quotes and nothing else; None if it is not. Errors: those of the watch.
pub fn read_whole<'t>(text: &'t [u8], watch: &dyn Watch) -> SqlResult<Option<Cow<'t, [u8]>>> {
    let mut reader = Reader::new(text, watch);
    if reader.peek() != Some(b'"') {
        return Ok(None);
    }
    match reader.string() {
        Ok(content) => Ok((reader.at == text.len()).then_some(content)),
        Err(TextError::Failed(error)) => Err(error),
        Err(TextError::Syntax { .. }) => Ok(None),
    }
}

impl<'t> Reader<'t, '_> {
    /// The string whose first quote is the next byte.
    pub(super) fn string(&mut self) -> Result<Cow<'t, [u8]>, TextError> {
        self.at += 1;
        let start = self.at;
        self.skip_plain()?;
        let plain = self.text.get(start..self.at).unwrap_or_default();
        if self.take(b'"') {
            return Ok(Cow::Borrowed(plain));
        }
        self.writer.step(plain.len())?;
        let mut content = plain.to_vec();
        let mut held = content.len();
        loop {
            self.writer.step(content.len() - held)?;
            held = content.len();
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(content));
                }
                Some(b'\\') => self.escape(&mut content)?,
                None => return Err(self.error("Missing a closing quotation mark in string.")),
                Some(byte) if is_control(byte) => return Err(self.error("Invalid encoding in string.")),
                Some(_) => {
                    let start = self.at;
                    self.skip_plain()?;
                    content.extend_from_slice(self.text.get(start..self.at).unwrap_or_default());
                }
            }
        }
    }

    /// Goes on to the next quote, backslash or control character, or to the end.
    fn skip_plain(&mut self) -> Result<(), TextError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_special = |&byte: &u8| byte == b'"' || byte == b'\\' || is_control(byte);
        for piece in rest.chunks(PIECE_BYTES) {
            let plain = piece.iter().position(is_special);
            self.at += plain.unwrap_or(piece.len());
            if plain.is_some() {
                break;
            }
            self.writer.ask()?;
        }
        Ok(())
    }

    /// Reads what begins with a backslash. All its errors stand at the backslash.
    fn escape(&mut self, content: &mut Vec<u8>) -> Result<(), TextError> {
        let start = self.at;
        let fail = |message| TextError::Syntax { message, position: start };
        let byte = self.text.get(start + 1).copied();
        self.at += 2;
        content.push(match byte {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let character = self.unicode_escape().map_err(fail)?;
                content.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(fail("Invalid escape character in string.")),
        });
        Ok(())
    }

    /// The character of four digits, or of two surrogates, behind `\u`.
    fn unicode_escape(&mut self) -> Result<char, &'static str> {
        const SURROGATE: &str = "The surrogate pair in string is invalid.";
        let first = self.hex_digits()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let is_high = first < 0xdc00;
        if !is_high || !self.take(b'\\') || !self.take(b'u') {
            return Err(SURROGATE);
        }
        match self.hex_digits()? {
            second @ 0xdc00..=0xdfff => {
                char::from_u32(0x1_0000 + ((first & 0x3ff) << 10 | (second & 0x3ff))).ok_or(SURROGATE)
            }
            _ => Err(SURROGATE),
        }
    }

    fn hex_digits(&mut self) -> Result<u32, &'static str> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or("Incorrect hex digit after \\u escape in string.")?;
            self.at += 1;
        }
        Ok(code)
    }
}

fn is_control(byte: u8) -> bool {
    byte < 0x20
}
