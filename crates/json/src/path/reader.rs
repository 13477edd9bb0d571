//! Reads the text of paths. An error is the byte at which MySQL says it stands: behind a byte that should be another one, at
//! the start of a number that is missing or too big, behind a key that may not be one.

use super::identifier::is_identifier;
use super::{Cell, Leg};
use values::json::{Unwatched, read_whole_string};

/// A byte of the text, from 0.
type ErrorPosition = usize;

/// The steps of a path.
pub(super) fn read(text: &[u8]) -> Result<Vec<Leg>, ErrorPosition> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_blanks();
    reader.expect(b'$')?;
    let mut legs = Vec::new();
    loop {
        reader.skip_blanks();
        match reader.peek() {
            None => break,
            Some(_) => legs.push(reader.leg()?),
        }
    }
    match legs.last() {
        Some(Leg::Descendants) => Err(reader.at),
        _ => Ok(legs),
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Goes over the next byte, which must be this one.
    fn expect(&mut self, byte: u8) -> Result<(), ErrorPosition> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        if next == Some(byte) { Ok(()) } else { Err(self.at) }
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    fn leg(&mut self) -> Result<Leg, ErrorPosition> {
        match self.peek() {
            Some(b'.') => self.member(),
            Some(b'[') => self.cells(),
            Some(b'*') => {
                self.at += 1;
                self.expect(b'*')?;
                // Three in a row are hard to read, and forbidden.
                if self.peek() == Some(b'*') { Err(self.at) } else { Ok(Leg::Descendants) }
            }
            _ => Err(self.at),
        }
    }

    fn member(&mut self) -> Result<Leg, ErrorPosition> {
        self.at += 1;
        self.skip_blanks();
        match self.peek() {
            Some(b'*') => {
                self.at += 1;
                Ok(Leg::AnyMember)
            }
            Some(b'"') => self.quoted_key(),
            _ => self.plain_key(),
        }
    }

    fn quoted_key(&mut self) -> Result<Leg, ErrorPosition> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(self.text.len()),
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        string_in(quoted).map(Leg::Member).ok_or(self.at)
    }

    /// A key up to the next blank, dot, bracket or star. It may have the escapes of strings.
    fn plain_key(&mut self) -> Result<Leg, ErrorPosition> {
        let start = self.at;
        while self.peek().is_some_and(|byte| !is_blank(byte) && !matches!(byte, b'.' | b'[' | b'*')) {
            self.at += 1;
        }
        let mut quoted = vec![b'"'];
        quoted.extend_from_slice(self.text.get(start..self.at).unwrap_or_default());
        quoted.push(b'"');
        match string_in(&quoted) {
            Some(key) if is_identifier(&key) => Ok(Leg::Member(key)),
            _ => Err(self.at),
        }
    }

    fn cells(&mut self) -> Result<Leg, ErrorPosition> {
        self.at += 1;
        self.skip_blanks();
        let leg = match self.peek() {
            Some(b'*') => {
                self.at += 1;
                Leg::AnyCell
            }
            _ => self.cell_or_range()?,
        };
        self.skip_blanks();
        self.expect(b']')?;
        Ok(leg)
    }

    fn cell_or_range(&mut self) -> Result<Leg, ErrorPosition> {
        let from = self.cell()?;
        let number_end = self.at;
        self.skip_blanks();
        let is_range = self.at > number_end
            && matches!(self.text.get(self.at..), Some([b't', b'o', blank, _, ..]) if is_blank(*blank));
        if !is_range {
            return Ok(Leg::Cell(from));
        }
        self.at += 2;
        self.skip_blanks();
        let to = self.cell()?;
        // Cells that count from different ends may be in any order: it depends on the array.
        let is_backwards = match (from.is_from_end, to.is_from_end) {
            (false, false) => from.distance > to.distance,
            (true, true) => from.distance < to.distance,
            _ => false,
        };
        if is_backwards { Err(self.at) } else { Ok(Leg::Range(from, to)) }
    }

    fn cell(&mut self) -> Result<Cell, ErrorPosition> {
        if !self.text.get(self.at..).is_some_and(|rest| rest.starts_with(b"last")) {
            return Ok(Cell { distance: self.number()?, is_from_end: false });
        }
        self.at += 4;
        let last_end = self.at;
        self.skip_blanks();
        if self.peek() != Some(b'-') {
            // A blank before `to` has to be seen by the caller.
            self.at = last_end;
            return Ok(Cell { distance: 0, is_from_end: true });
        }
        self.at += 1;
        self.skip_blanks();
        Ok(Cell { distance: self.number()?, is_from_end: true })
    }

    fn number(&mut self) -> Result<u32, ErrorPosition> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let digits = self.text.get(start..self.at).unwrap_or_default();
        std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or(start)
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The content of a key in quotes; None if it is no string. Paths are short.
fn string_in(quoted: &[u8]) -> Option<Vec<u8>> {
    let content = read_whole_string(quoted, &Unwatched).ok().flatten()?;
    Some(content.into_owned())
}
