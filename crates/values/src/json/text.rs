//! JSON text to documents: [`parse`] and [`read`], and what is wrong with a text, [`TextError`]. Messages and positions are
//! those that MySQL's clients know. A NUL byte ends the text. The document is written while the text is read: no tree is made of it.

mod number;
mod string;

pub use string::read_whole as read_whole_string;

use super::writer::Writer;
use crate::json::{Node, Watch};
use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use std::borrow::Cow;

/// A text in utf8mb4, borrowed where it is that already; what is no character becomes `?`.
pub fn in_utf8mb4<'t>(text: &'t [u8], own: CollationId, watch: &dyn Watch) -> SqlResult<Cow<'t, [u8]>> {
    let (source, target) = (own.charset(), CollationId::UTF8MB4_BIN.charset());
    if source.converts_unchanged(text, target) {
        return Ok(Cow::Borrowed(text));
    }
    watch.go_on(text.len())?;
    let mut asked = Ok(());
    let converted = source.convert_while(text, target, &mut || {
        asked = watch.go_on(0);
        asked.is_ok()
    });
    asked.map(|()| converted.map_or(Cow::Borrowed(text), |conversion| Cow::Owned(conversion.text)))
}

/// Why no document is made of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextError {
    /// It breaks the grammar.
    Syntax {
        /// What is wrong, a whole sentence.
        message: &'static str,
        /// Where, in bytes from 0.
        position: usize,
    },
    /// It is too deep or too large, or the watch ended the work.
    Failed(SqlError),
}

impl TextError {
    /// The error of a function whose argument of that number, from 1, is the text.
    pub fn in_argument(self, argument: usize, function: &str) -> SqlError {
        match self {
            TextError::Syntax { message, position } => {
                sql_error!(ER_INVALID_JSON_TEXT_IN_PARAM, argument, function, message, position, "")
            }
            TextError::Failed(error) => error,
        }
    }

    /// The error of a statement that stores the text in a column; its name is `table.column`.
    pub fn in_column(self, column: &str) -> SqlError {
        match self {
            TextError::Syntax { message, position } => {
                sql_error!(ER_INVALID_JSON_TEXT, message, position, column)
            }
            TextError::Failed(error) => error,
        }
    }
}

impl From<SqlError> for TextError {
    fn from(error: SqlError) -> TextError {
        TextError::Failed(error)
    }
}

/// The document of a text in utf8mb4. Errors: ER_INVALID_JSON_TEXT_IN_PARAM with the number of the argument and the name of
/// the function, those of [`crate::json::Built::encode`] and of the watch.
pub fn parse(text: &[u8], argument: usize, function: &str, watch: &dyn Watch) -> SqlResult<Vec<u8>> {
    read(text, watch).map_err(|error| error.in_argument(argument, function))
}

/// The same with errors that do not know where the text stands.
pub fn read(text: &[u8], watch: &dyn Watch) -> Result<Vec<u8>, TextError> {
    // A search for one byte is many times faster than a search for its place.
    let end = match text.contains(&0) {
        true => text.iter().position(|&byte| byte == 0).unwrap_or(text.len()),
        false => text.len(),
    };
    let mut reader = Reader::new(text.get(..end).unwrap_or_default(), watch);
    reader.skip_blanks()?;
    if reader.peek().is_none() {
        return Err(reader.error("The document is empty."));
    }
    reader.value()?;
    reader.skip_blanks()?;
    match reader.peek() {
        None => Ok(reader.writer.finish()?),
        Some(_) => Err(reader.error("The document root must not be followed by other values.")),
    }
}

/// A text, where it is read, and the document that is made of it.
struct Reader<'t, 'w> {
    text: &'t [u8],
    at: usize,
    writer: Writer<'w>,
}

impl<'t, 'w> Reader<'t, 'w> {
    fn new(text: &'t [u8], watch: &'w dyn Watch) -> Reader<'t, 'w> {
        Reader { text, at: 0, writer: Writer::new(u64::MAX, watch) }
    }

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

    #[inline]
    fn skip_blanks(&mut self) -> SqlResult<()> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.writer.step(0)?;
            self.at += 1;
        }
        Ok(())
    }

    fn value(&mut self) -> Result<(), TextError> {
        match self.peek() {
            Some(b'n') => self.literal(b"null", Node::Null),
            Some(b't') => self.literal(b"true", Node::Boolean(true)),
            Some(b'f') => self.literal(b"false", Node::Boolean(false)),
            Some(b'"') => {
                let text = self.string()?;
                Ok(self.writer.value(Node::String(&text))?)
            }
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            _ => self.number(),
        }
    }

    fn literal(&mut self, word: &[u8], value: Node<'_>) -> Result<(), TextError> {
        match word.iter().all(|&byte| self.take(byte)) {
            true => Ok(self.writer.value(value)?),
            false => Err(self.error("Invalid value.")),
        }
    }

    fn array(&mut self) -> Result<(), TextError> {
        self.at += 1;
        self.writer.begin(false)?;
        self.skip_blanks()?;
        if !self.take(b']') {
            loop {
                self.value()?;
                self.skip_blanks()?;
                if self.take(b']') {
                    break;
                }
                if !self.take(b',') {
                    return Err(self.error("Missing a comma or ']' after an array element."));
                }
                self.skip_blanks()?;
            }
        }
        Ok(self.writer.end()?)
    }

    fn object(&mut self) -> Result<(), TextError> {
        self.at += 1;
        self.writer.begin(true)?;
        self.skip_blanks()?;
        if !self.take(b'}') {
            loop {
                self.member()?;
                self.skip_blanks()?;
                if self.take(b'}') {
                    break;
                }
                if !self.take(b',') {
                    return Err(self.error("Missing a comma or '}' after an object member."));
                }
                self.skip_blanks()?;
            }
        }
        Ok(self.writer.end()?)
    }

    fn member(&mut self) -> Result<(), TextError> {
        if self.peek() != Some(b'"') {
            return Err(self.error("Missing a name for object member."));
        }
        let key = self.string()?;
        self.writer.key(&key)?;
        self.skip_blanks()?;
        if !self.take(b':') {
            return Err(self.error("Missing a colon after a name of object member."));
        }
        self.skip_blanks()?;
        self.value()
    }
}
