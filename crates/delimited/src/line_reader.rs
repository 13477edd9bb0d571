//! Fields and lines of a LOAD DATA file. Main type: [`LineReader`]. Fields of a line lie in one buffer that is used
//! again for each line; nothing is allocated per field.

use engine::SpillFile;
use errors::SqlResult;
use parser::ast::FileFormat;
use spill::{Held, SPOOL_PIECE_BYTES, Spool};
use std::sync::Arc;

/// Where the bytes come from.
pub type Pieces<'s> = &'s mut dyn FnMut() -> SqlResult<Option<Vec<u8>>>;

/// A field: a range of the line's buffer or of the input, or NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    start: usize,
    end: usize,
    is_null: bool,
    is_enclosed: bool,
    /// The range is one of the input: nothing had to be taken out of it.
    in_input: bool,
}

/// The bytes that mean something in the most common format: fields end in one byte, lines in another, and one escapes.
#[derive(Clone, Copy, Debug)]
struct PlainFormat {
    field_end: u8,
    line_end: u8,
    escape: u8,
}

/// What a quick look at a line found.
enum Plain {
    /// The whole line; its fields are in the input.
    Line,
    /// Its end is not in the input yet.
    Unfinished,
    /// Something that must be read byte by byte.
    Special,
}

/// Reads lines.
pub struct LineReader<'s> {
    pieces: Pieces<'s>,
    input: Vec<u8>,
    at: usize,
    ended: bool,
    field_end: Vec<u8>,
    line_end: Vec<u8>,
    line_start: Vec<u8>,
    enclosed: Option<u8>,
    escape: Option<u8>,
    plain: Option<PlainFormat>,
    /// Bytes of each field where fields are told apart by their width; empty where they end in something.
    widths: Vec<usize>,
    /// Fields of each line where lines end in the same as fields.
    fields_max: usize,
    /// Whether bytes follow the last field of a line of fixed widths.
    is_cut: bool,
    buffer: Vec<u8>,
    fields: Vec<Field>,
    /// Where long fields go whose target takes them, and which fields these are.
    spools: Option<(Arc<SpillFile>, Vec<bool>)>,
    /// Those of the line, by field.
    long: Vec<(usize, Arc<Spool>)>,
    /// Memory that the statement is charged with for a line.
    held: Option<Held>,
}

/// A line of more bytes is read field by field: it may be too long for memory.
const SHORT_LINE_BYTES_MAX: usize = SPOOL_PIECE_BYTES;

impl<'s> LineReader<'s> {
    /// A reader for that format. `widths` are those of the fields, for a format that has fixed rows.
    pub fn new(format: &FileFormat, widths: Vec<usize>, pieces: Pieces<'s>) -> LineReader<'s> {
        let text =
            |given: &Option<Vec<u8>>, default: &[u8]| given.clone().unwrap_or_else(|| default.to_vec());
        let mut reader = LineReader {
            pieces,
            input: Vec::new(),
            at: 0,
            ended: false,
            field_end: text(&format.fields_terminated, b"\t"),
            line_end: text(&format.lines_terminated, b"\n"),
            line_start: text(&format.lines_starting, b""),
            enclosed: format.fields_enclosed.as_ref().and_then(|text| text.first().copied()),
            escape: text(&format.fields_escaped, b"\\").first().copied(),
            plain: None,
            widths,
            fields_max: usize::MAX,
            is_cut: false,
            buffer: Vec::new(),
            fields: Vec::new(),
            spools: None,
            long: Vec::new(),
            held: None,
        };
        reader.plain = reader.plain_format();
        reader
    }

    /// Tells how many fields the statement reads. They tell lines apart where fields and lines end in the same.
    pub fn of_fields(mut self, count: usize) -> LineReader<'s> {
        if self.field_end == self.line_end && !self.line_end.is_empty() {
            (self.fields_max, self.line_end) = (count.max(1), Vec::new());
        }
        self
    }

    /// Charges lines to the statement: a longer one than it may hold is error 1114.
    pub fn charged_to(self, held: Held) -> LineReader<'s> {
        LineReader { held: Some(held), ..self }
    }

    /// Keeps long fields in a file where the flag of their place is set.
    pub fn spooling_to(self, file: Arc<SpillFile>, fields: Vec<bool>) -> LineReader<'s> {
        LineReader { spools: Some((file, fields)), ..self }
    }

    fn plain_format(&self) -> Option<PlainFormat> {
        let ([field_end], [line_end], Some(escape)) = (&self.field_end[..], &self.line_end[..], self.escape)
        else {
            return None;
        };
        let is_plain = self.enclosed.is_none() && self.line_start.is_empty() && field_end != line_end;
        is_plain.then_some(PlainFormat { field_end: *field_end, line_end: *line_end, escape })
    }

    /// Makes sure that `count` bytes are there from the current place, unless the file ends before.
    fn fill(&mut self, count: usize) -> SqlResult<bool> {
        while self.input.len() - self.at < count && !self.ended {
            if self.at > 0 {
                self.input.drain(..self.at);
                self.at = 0;
            }
            match (self.pieces)()? {
                Some(piece) => self.input.extend_from_slice(&piece),
                None => self.ended = true,
            }
            if let Some(held) = &mut self.held {
                let bytes = (self.input.capacity() + self.buffer.capacity()) as u64;
                held.grow(bytes.saturating_sub(held.bytes()))?;
            }
        }
        Ok(self.input.len() - self.at >= count)
    }

    /// Brings more of a line whose end is not there yet. It will be looked at from its start again: with twice as much each
    /// time that stays linear.
    fn fill_more(&mut self) -> SqlResult<()> {
        self.fill(2 * (self.input.len() - self.at)).map(|_| ())
    }

    fn byte(&mut self) -> SqlResult<Option<u8>> {
        if self.at >= self.input.len() && !self.fill(1)? {
            return Ok(None);
        }
        self.at += 1;
        Ok(Some(self.input[self.at - 1]))
    }

    fn takes(&mut self, text: &[u8]) -> SqlResult<bool> {
        if text.is_empty() || !self.fill(text.len())? {
            return Ok(false);
        }
        let found = self.input[self.at..].starts_with(text);
        if found {
            self.at += text.len();
        }
        Ok(found)
    }

    /// Skips a line (IGNORE n LINES); false at the end of the file.
    pub fn skip_line(&mut self) -> SqlResult<bool> {
        let end = self.line_end.clone();
        let mut any = false;
        loop {
            if self.takes(&end)? {
                return Ok(true);
            }
            match self.byte()? {
                None => return Ok(any),
                Some(_) => any = true,
            }
        }
    }

    /// Reads the next line; false at the end of the file.
    pub fn next_line(&mut self) -> SqlResult<bool> {
        self.buffer.clear();
        self.fields.clear();
        self.long.clear();
        if !self.fill(1)? {
            return Ok(false);
        }
        if !self.widths.is_empty() {
            return self.read_fixed_line();
        }
        while let Some(format) = self.plain {
            match self.read_plain_line(format) {
                Plain::Line => return Ok(true),
                Plain::Special => break,
                Plain::Unfinished if self.ended || self.input.len() - self.at > SHORT_LINE_BYTES_MAX => break,
                Plain::Unfinished => self.fill_more()?,
            }
        }
        self.fields.clear();
        if !self.skip_to_start()? {
            return Ok(false);
        }
        loop {
            if !self.read_field()? || self.fields.len() >= self.fields_max {
                return Ok(true);
            }
        }
    }

    /// Finds the fields of a line in the input. The only escape it knows is a field that is \N.
    fn read_plain_line(&mut self, format: PlainFormat) -> Plain {
        let PlainFormat { field_end, line_end, escape } = format;
        self.fields.clear();
        let input = &self.input[..];
        let (mut start, mut at) = (self.at, self.at);
        let mut is_null = false;
        while let Some(found) = memchr::memchr3(field_end, line_end, escape, &input[at..]) {
            let place = at + found;
            let byte = input[place];
            // An escape byte that is a terminator as well escapes.
            if byte == escape {
                let ends = input.get(place + 2).is_none_or(|next| *next == field_end || *next == line_end);
                if place != start || input.get(place + 1) != Some(&b'N') || !ends {
                    return Plain::Special;
                }
                is_null = true;
                at = place + 2;
                continue;
            }
            let end = if is_null { start } else { place };
            let is_null = std::mem::take(&mut is_null);
            self.fields.push(Field { start, end, is_null, is_enclosed: false, in_input: true });
            start = place + 1;
            at = start;
            if byte == line_end {
                self.at = start;
                return Plain::Line;
            }
        }
        Plain::Unfinished
    }

    /// Reads a line whose fields have fixed widths; what follows them on the line is left out. Nothing in it is NULL.
    fn read_fixed_line(&mut self) -> SqlResult<bool> {
        self.is_cut = false;
        if !self.skip_to_start()? {
            return Ok(false);
        }
        let line_end = self.line_end.clone();
        let bytes_max = self.widths.iter().sum();
        let mut is_whole = false;
        while self.buffer.len() < bytes_max && !is_whole {
            is_whole = self.takes(&line_end)?;
            if is_whole {
                break;
            }
            match self.byte()? {
                None => is_whole = true,
                Some(byte) if Some(byte) == self.escape => {
                    let next = self.byte()?;
                    self.buffer.push(next.map_or(byte, unescaped));
                }
                Some(byte) => self.buffer.push(byte),
            }
        }
        while !is_whole && !line_end.is_empty() && !self.takes(&line_end)? {
            is_whole = self.byte()?.is_none();
            self.is_cut |= !is_whole;
        }
        let mut start = 0;
        for width in &self.widths {
            let end = self.buffer.len().min(start + width);
            if start == end {
                break;
            }
            self.fields.push(Field { start, end, is_null: false, is_enclosed: false, in_input: false });
            start = end;
        }
        Ok(true)
    }

    /// LINES STARTING BY: everything up to the prefix is left out.
    fn skip_to_start(&mut self) -> SqlResult<bool> {
        if self.line_start.is_empty() {
            return Ok(true);
        }
        let prefix = self.line_start.clone();
        loop {
            if self.takes(&prefix)? {
                return Ok(true);
            }
            if self.byte()?.is_none() {
                return Ok(false);
            }
        }
    }

    /// Reads a field; true when another one follows on the line.
    fn read_field(&mut self) -> SqlResult<bool> {
        let start = self.buffer.len();
        let (field_end, line_end) = (std::mem::take(&mut self.field_end), std::mem::take(&mut self.line_end));
        let result = self.read_field_until(&field_end, &line_end);
        self.field_end = field_end;
        self.line_end = line_end;
        let (more, quoted, escaped_null) = result?;
        if self.long.last().is_some_and(|(field, _)| *field == self.fields.len()) {
            self.spool(start)?;
        }
        let bytes = &self.buffer[start..];
        // NULL is \N, or the bare word when fields are enclosed and nothing escapes.
        let word = !quoted && self.enclosed.is_some() && bytes == b"NULL";
        let is_null = escaped_null && bytes.is_empty() || word;
        let end = self.buffer.len();
        self.fields.push(Field { start, end, is_null, is_enclosed: quoted, in_input: false });
        Ok(more)
    }

    /// Moves what the buffer holds of a field to where long ones are kept.
    fn spool(&mut self, start: usize) -> SqlResult<()> {
        let Some((file, _)) = &self.spools else { return Ok(()) };
        let field = self.fields.len();
        if self.long.last().is_none_or(|(last, _)| *last != field) {
            self.long.push((field, Arc::new(Spool::new(file))));
        }
        if let Some((_, spool)) = self.long.last_mut()
            && let Some(spool) = Arc::get_mut(spool)
        {
            spool.append(&self.buffer[start..])?;
        }
        self.buffer.truncate(start);
        Ok(())
    }

    /// Whether the field that is being read is one that may be kept in a file.
    fn may_spool(&self) -> bool {
        let is_taken = |fields: &Vec<bool>| fields.get(self.fields.len()) == Some(&true);
        self.spools.as_ref().is_some_and(|(_, fields)| is_taken(fields))
    }

    /// Takes the bytes up to the next that may mean something. Lets no more gather than a piece.
    fn take_ordinary(&mut self, special: [u8; 3]) {
        let rest = &self.input[self.at..];
        let rest = &rest[..rest.len().min(SPOOL_PIECE_BYTES)];
        let end = memchr::memchr3(special[0], special[1], special[2], rest).unwrap_or(rest.len());
        self.buffer.extend_from_slice(&rest[..end]);
        self.at += end;
    }

    fn read_field_until(&mut self, field_end: &[u8], line_end: &[u8]) -> SqlResult<(bool, bool, bool)> {
        let mut quoted = false;
        let mut null = false;
        if let Some(quote) = self.enclosed
            && self.takes(&[quote])?
        {
            quoted = true;
        }
        let first_field = field_end.first().copied();
        let first_line = line_end.first().copied();
        // What is not there stands for something that is: nothing else is looked for then.
        let given =
            if quoted { [self.escape, self.enclosed, None] } else { [self.escape, first_field, first_line] };
        let any = given.iter().flatten().copied().next();
        let special = any.map(|any| given.map(|byte| byte.unwrap_or(any)));
        let (start, may_spool) = (self.buffer.len(), self.may_spool());
        loop {
            if let Some(special) = special {
                self.take_ordinary(special);
            }
            if may_spool && self.buffer.len() - start >= SPOOL_PIECE_BYTES {
                self.spool(start)?;
            }
            let Some(byte) = self.byte()? else { return Ok((false, quoted, null)) };
            if Some(byte) == self.escape {
                match self.byte()? {
                    None => self.buffer.push(byte),
                    Some(b'N') => null = true,
                    Some(next) => self.buffer.push(unescaped(next)),
                }
                continue;
            }
            if quoted && Some(byte) == self.enclosed {
                if self.takes(&[byte])? {
                    self.buffer.push(byte);
                    continue;
                }
                if self.takes(field_end)? {
                    return Ok((true, true, null));
                }
                if self.takes(line_end)? || !self.fill(1)? {
                    return Ok((false, true, null));
                }
                self.buffer.push(byte);
                continue;
            }
            if !quoted {
                if Some(byte) == first_field && self.takes_rest(field_end)? {
                    return Ok((true, false, null));
                }
                if Some(byte) == first_line && self.takes_rest(line_end)? {
                    return Ok((false, false, null));
                }
            }
            self.buffer.push(byte);
        }
    }

    /// Whether the rest of a terminator follows, whose first byte was read.
    fn takes_rest(&mut self, terminator: &[u8]) -> SqlResult<bool> {
        match &terminator[1..] {
            [] => Ok(true),
            rest => {
                let rest = rest.to_vec();
                self.takes(&rest)
            }
        }
    }

    /// Whether the line holds more than so many fields. A terminator behind the last one ends it and begins no other.
    pub fn exceeds(&self, count: usize) -> bool {
        let ends_there = || {
            let last = &self.fields[count];
            self.fields.len() == count + 1 && last.start == last.end && !last.is_null && !last.is_enclosed
        };
        self.is_cut || (self.fields.len() > count && !ends_there())
    }

    /// How many fields the line has.
    pub fn count(&self) -> usize {
        self.fields.len()
    }

    /// A field of the line that is too long for memory; [`LineReader::field`] has nothing of it.
    pub fn long_field(&self, index: usize) -> Option<&Arc<Spool>> {
        self.long.iter().find(|(field, _)| *field == index).map(|(_, spool)| spool)
    }

    /// A field of the line: None for NULL.
    pub fn field(&self, index: usize) -> Option<&[u8]> {
        let field = self.fields[index];
        let bytes = if field.in_input { &self.input } else { &self.buffer };
        (!field.is_null).then(|| &bytes[field.start..field.end])
    }
}

fn unescaped(byte: u8) -> u8 {
    match byte {
        b'0' => 0,
        b'b' => 8,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 26,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(format: &FileFormat, text: &[u8], piece_bytes: usize) -> Vec<Vec<Option<Vec<u8>>>> {
        let mut pieces = text.chunks(piece_bytes).map(<[u8]>::to_vec).collect::<Vec<_>>().into_iter();
        let mut next = || Ok(pieces.next());
        let mut reader = LineReader::new(format, Vec::new(), &mut next);
        let mut all = Vec::new();
        while reader.next_line().unwrap() {
            all.push((0..reader.count()).map(|index| reader.field(index).map(<[u8]>::to_vec)).collect());
        }
        all
    }

    fn fields(texts: &[Option<&str>]) -> Vec<Option<Vec<u8>>> {
        texts.iter().map(|text| text.map(|text| text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn tabs_escapes_and_nulls_at_any_piece_boundary() {
        let text = b"1\ta\\tb\t\\N\n2\t\tx\\\\y\n3\tlast";
        for piece_bytes in 1..text.len() {
            let found = lines(&FileFormat::default(), text, piece_bytes);
            assert_eq!(found[0], fields(&[Some("1"), Some("a\tb"), None]));
            assert_eq!(found[1], fields(&[Some("2"), Some(""), Some("x\\y")]));
            assert_eq!(found[2], fields(&[Some("3"), Some("last")]));
            assert_eq!(found.len(), 3);
        }
    }

    #[test]
    fn plain_lines_are_read_as_others() {
        let mut random = 7u64;
        for _ in 0..2000 {
            let text: Vec<u8> = (0..40)
                .map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    b"ab\t\n\\Nn0"[(random >> 33) as usize % 8]
                })
                .collect();
            let piece_bytes = 1 + (random >> 40) as usize % 9;
            let mut pieces = text.chunks(piece_bytes).map(<[u8]>::to_vec).collect::<Vec<_>>().into_iter();
            let mut next = || Ok(pieces.next());
            let mut reader = LineReader::new(&FileFormat::default(), Vec::new(), &mut next);
            reader.plain = None;
            let mut slowly: Vec<Vec<Option<Vec<u8>>>> = Vec::new();
            while reader.next_line().unwrap() {
                slowly.push((0..reader.count()).map(|at| reader.field(at).map(<[u8]>::to_vec)).collect());
            }
            assert_eq!(lines(&FileFormat::default(), &text, piece_bytes), slowly, "{text:?}");
        }
    }

    #[test]
    fn a_line_without_end_is_looked_at_in_linear_time() {
        let mut left = 4096;
        let mut looked_at = 0;
        let mut next = || {
            left -= 1;
            Ok((left > 0).then(|| vec![b'x'; 1024]))
        };
        let mut reader = LineReader::new(&FileFormat::default(), Vec::new(), &mut next);
        assert!(reader.fill(1).unwrap());
        while !reader.ended {
            let format = reader.plain.unwrap();
            assert!(matches!(reader.read_plain_line(format), Plain::Unfinished));
            looked_at += reader.input.len();
            reader.fill_more().unwrap();
        }
        assert!(looked_at <= 2 * reader.input.len(), "{looked_at} bytes of {}", reader.input.len());
    }

    #[test]
    fn fields_of_fixed_widths_at_any_piece_boundary() {
        let text = b"ab 1x\ncd 2\nef\\n345xyz\n";
        for piece_bytes in 1..text.len() {
            let mut pieces = text.chunks(piece_bytes).map(<[u8]>::to_vec).collect::<Vec<_>>().into_iter();
            let mut next = || Ok(pieces.next());
            let mut reader = LineReader::new(&FileFormat::default(), vec![3, 1, 2], &mut next);
            let mut seen = Vec::new();
            while reader.next_line().unwrap() {
                let fields: Vec<_> =
                    (0..reader.count()).map(|at| reader.field(at).unwrap().to_vec()).collect();
                seen.push((fields.concat(), fields.len(), reader.exceeds(3)));
            }
            assert_eq!(seen[0], (b"ab 1x".to_vec(), 3, false));
            assert_eq!(seen[1], (b"cd 2".to_vec(), 2, false));
            assert_eq!(seen[2], (b"ef\n345".to_vec(), 3, true));
        }
    }

    #[test]
    fn a_terminator_at_the_end_of_a_line_begins_no_field() {
        for (text, expected) in
            [("1\t2\n", false), ("1\t2\t\n", false), ("1\t2\t\t\n", true), ("1\t2\tx\n", true)]
        {
            let mut pieces = std::iter::once(text.as_bytes().to_vec());
            let mut next = || Ok(pieces.next());
            let mut reader = LineReader::new(&FileFormat::default(), Vec::new(), &mut next);
            assert!(reader.next_line().unwrap());
            assert_eq!(reader.exceeds(2), expected, "{text:?}");
        }
    }

    #[test]
    fn enclosed_fields_hold_terminators_and_doubled_quotes() {
        let format = FileFormat {
            fields_terminated: Some(b",".to_vec()),
            fields_enclosed: Some(b"\"".to_vec()),
            lines_terminated: Some(b"\r\n".to_vec()),
            ..FileFormat::default()
        };
        let text = b"\"a,b\",\"say \"\"hi\"\"\",NULL\r\n\"x\r\ny\",2,\"NULL\"\r\n";
        for piece_bytes in 1..text.len() {
            let found = lines(&format, text, piece_bytes);
            assert_eq!(found[0], fields(&[Some("a,b"), Some("say \"hi\""), None]));
            assert_eq!(found[1], fields(&[Some("x\r\ny"), Some("2"), Some("NULL")]));
        }
    }
}
