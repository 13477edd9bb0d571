//! JSON text to documents: [`read`] and [`parse`], and what is wrong with a text, [`TextError`]. Messages and positions are
//! those that MySQL's clients know. A NUL byte ends the text.

mod number;
mod string;

pub use string::read_whole as read_whole_string;

use crate::json::{Built, DEPTH_MAX, Members};
use errors::{SqlError, SqlResult, sql_error};
use std::borrow::Cow;

/// Why a text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextError {
    /// It breaks the grammar.
    Syntax {
        /// What is wrong, a whole sentence.
        message: &'static str,
        /// Where, in bytes from 0.
        position: usize,
    },
    /// Containers are more than [`DEPTH_MAX`] deep in each other.
    TooDeep,
}

impl TextError {
    /// The error of a function whose argument of that number, from 1, is the text.
    pub fn in_argument(self, argument: usize, function: &str) -> SqlError {
        match self {
            TextError::Syntax { message, position } => {
                sql_error!(ER_INVALID_JSON_TEXT_IN_PARAM, argument, function, message, position, "")
            }
            TextError::TooDeep => sql_error!(ER_JSON_DOCUMENT_TOO_DEEP),
        }
    }

    /// The error of a statement that stores the text in a column; its name is `table.column`.
    pub fn in_column(self, column: &str) -> SqlError {
        match self {
            TextError::Syntax { message, position } => {
                sql_error!(ER_INVALID_JSON_TEXT, message, position, column)
            }
            TextError::TooDeep => sql_error!(ER_JSON_DOCUMENT_TOO_DEEP),
        }
    }
}

/// The document of a text in utf8mb4. Errors: ER_INVALID_JSON_TEXT_IN_PARAM with the number of the argument and the name of
/// the function, and those of [`Built::encode`].
pub fn parse(text: &[u8], argument: usize, function: &str) -> SqlResult<Vec<u8>> {
    read(text).map_err(|error| error.in_argument(argument, function))?.encode()
}

/// The value of a text in utf8mb4. Strings without escapes stay in the text.
pub fn read(text: &[u8]) -> Result<Built<'_>, TextError> {
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let mut reader = Reader { text: text.get(..end).unwrap_or_default(), at: 0, depth: 0 };
    reader.skip_blanks();
    if reader.peek().is_none() {
        return Err(reader.error("The document is empty."));
    }
    let value = reader.value()?;
    reader.skip_blanks();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.error("The document root must not be followed by other values.")),
    }
}

/// A text and where it is read.
struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// How many containers are open.
    depth: usize,
}

impl<'t> Reader<'t> {
    fn error(&self, message: &'static str) -> TextError {
        TextError::Syntax { message, position: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Built<'t>, TextError> {
        match self.peek() {
            Some(b'n') => self.literal(b"null", Built::Null),
            Some(b't') => self.literal(b"true", Built::Boolean(true)),
            Some(b'f') => self.literal(b"false", Built::Boolean(false)),
            Some(b'"') => self.string().map(Built::String),
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            _ => self.number(),
        }
    }

    fn literal(&mut self, word: &[u8], value: Built<'t>) -> Result<Built<'t>, TextError> {
        match word.iter().all(|&byte| self.take(byte)) {
            true => Ok(value),
            false => Err(self.error("Invalid value.")),
        }
    }

    fn enter(&mut self) -> Result<(), TextError> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(TextError::TooDeep);
        }
        self.skip_blanks();
        Ok(())
    }

    fn array(&mut self) -> Result<Built<'t>, TextError> {
        self.enter()?;
        let mut elements = Vec::new();
        if !self.take(b']') {
            loop {
                elements.push(self.value()?);
                self.skip_blanks();
                if self.take(b']') {
                    break;
                }
                if !self.take(b',') {
                    return Err(self.error("Missing a comma or ']' after an array element."));
                }
                self.skip_blanks();
            }
        }
        self.depth -= 1;
        Ok(Built::Array(elements))
    }

    fn object(&mut self) -> Result<Built<'t>, TextError> {
        self.enter()?;
        let mut members: Vec<(Cow<'t, [u8]>, Built<'t>)> = Vec::new();
        if !self.take(b'}') {
            loop {
                members.push(self.member()?);
                self.skip_blanks();
                if self.take(b'}') {
                    break;
                }
                if !self.take(b',') {
                    return Err(self.error("Missing a comma or '}' after an object member."));
                }
                self.skip_blanks();
            }
        }
        self.depth -= 1;
        Ok(Built::Object(Members::from_pairs(members)))
    }

    fn member(&mut self) -> Result<(Cow<'t, [u8]>, Built<'t>), TextError> {
        if self.peek() != Some(b'"') {
            return Err(self.error("Missing a name for object member."));
        }
        let key = self.string()?;
        self.skip_blanks();
        if !self.take(b':') {
            return Err(self.error("Missing a colon after a name of object member."));
        }
        self.skip_blanks();
        Ok((key, self.value()?))
    }
}
