//! Reads a text as the nodes of a document, as leniently as MySQL does, and says what is wrong as it does. Main function: [`read`].

use super::document::{KILL_LOOK_NODES, Kind, Node};
use crate::pieces::Interrupt;
use errors::SqlError;
use std::ops::Range;

/// Elements and attributes that may be open at once.
const OPEN_MAX: usize = 254;
/// Bytes of a name that messages show.
const SHOWN_BYTES_MAX: usize = 31;

/// Why reading ends early.
pub enum Interruption {
    /// The text is no document: what and where.
    Wrong(String),
    /// The statement was killed.
    Killed(SqlError),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    End,
    Comment,
    CharacterData,
    Name,
    String,
    Sign(u8),
    Unknown,
}

impl Token {
    /// As messages name it.
    fn shown(self) -> String {
        match self {
            Token::End => "END-OF-INPUT".to_owned(),
            Token::Comment => "COMMENT".to_owned(),
            Token::CharacterData => "CDATA".to_owned(),
            Token::Name => "IDENT".to_owned(),
            Token::String => "STRING".to_owned(),
            Token::Sign(sign) => format!("'{}'", char::from(sign)),
            Token::Unknown => "unknown token".to_owned(),
        }
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    nodes: Vec<Node>,
    /// The nodes that are open, the document's first.
    open: Vec<u32>,
}

/// The nodes of a text.
pub fn read(text: &[u8], interrupt: &dyn Interrupt) -> Result<Vec<Node>, Interruption> {
    let document =
        Node { kind: Kind::Element, parent: 0, next: 0, start: 0, end: 0, whole_end: text.len() as u32 };
    let mut reader = Reader { text, at: 0, nodes: vec![document], open: vec![0] };
    let mut seen = 0;
    while reader.at < text.len() {
        if reader.nodes.len() >= seen + KILL_LOOK_NODES {
            seen = reader.nodes.len();
            interrupt.check_killed()?;
        }
        if text[reader.at] == b'<' {
            reader.tag()?;
        } else {
            let length = memchr(b'<', &text[reader.at..]);
            reader.value(reader.at..reader.at + length);
            reader.at += length;
        }
    }
    if reader.open.len() > 1 {
        return Err(reader.wrong("unexpected END-OF-INPUT"));
    }
    let count = reader.nodes.len() as u32;
    reader.nodes[0].next = count;
    Ok(reader.nodes)
}

/// Bytes before the first `byte`; all where there is none.
fn memchr(byte: u8, text: &[u8]) -> usize {
    text.iter().position(|found| *found == byte).unwrap_or(text.len())
}

impl Reader<'_> {
    /// What is wrong, behind the place where the reader is.
    fn wrong(&self, message: &str) -> Interruption {
        let before = &self.text[..self.at];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let column = self.at - line_start + 1;
        Interruption::Wrong(format!("parse error at line {line} pos {column}: {message}"))
    }

    fn unexpected(&self, found: Token, wanted: &str) -> Interruption {
        self.wrong(&format!("{} unexpected ({wanted} wanted)", found.shown()))
    }

    /// The next token and where it is. What is no token is not passed.
    fn token(&mut self) -> (Token, Range<usize>) {
        let blanks =
            self.text[self.at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.at += blanks.count();
        let start = self.at;
        let rest = &self.text[start..];
        let (token, length) = match rest {
            [] => (Token::End, 0),
            _ if rest.starts_with(b"<!--") => (Token::Comment, through(rest, b"-->")),
            _ if rest.starts_with(b"<![CDATA[") => (Token::CharacterData, through(rest, b"]]>")),
            [sign @ (b'<' | b'>' | b'/' | b'=' | b'?' | b'!'), ..] => (Token::Sign(*sign), 1),
            [quote @ (b'"' | b'\''), inside @ ..] => {
                let length = memchr(*quote, inside);
                self.at = start + (length + 2).min(rest.len());
                return (Token::String, start + 1..start + 1 + length);
            }
            [first, ..] if is_name_start(*first) => {
                (Token::Name, rest.iter().take_while(|byte| is_name_part(**byte)).count())
            }
            _ => (Token::Unknown, 0),
        };
        self.at += length;
        (token, start..self.at)
    }

    fn push(&mut self, kind: Kind, place: Range<usize>) -> u32 {
        let number = self.nodes.len() as u32;
        let parent = self.open.last().copied().unwrap_or(0);
        let (start, end) = (place.start as u32, place.end as u32);
        self.nodes.push(Node { kind, parent, next: number + 1, start, end, whole_end: end });
        number
    }

    fn value(&mut self, place: Range<usize>) {
        self.push(Kind::Text, place);
    }

    fn enter(&mut self, kind: Kind, name: Range<usize>) -> Result<(), Interruption> {
        if self.open.len() > OPEN_MAX {
            return Err(self.wrong(""));
        }
        let number = self.push(kind, name);
        self.open.push(number);
        Ok(())
    }

    /// Closes the innermost node, whose name is as long as the one that is written, if one is.
    fn leave(&mut self, written: Option<&[u8]>) -> Result<(), Interruption> {
        let [.., _, number] = self.open[..] else {
            let written = shown(written.unwrap_or_default());
            return Err(self.wrong(&format!("'</{written}>' unexpected (END-OF-INPUT wanted)")));
        };
        let count = self.nodes.len() as u32;
        let node = self.nodes[number as usize];
        if let Some(written) = written
            && written.len() != (node.end - node.start) as usize
        {
            // Of an outermost name MySQL shows what is behind its first byte.
            let hidden = usize::from(self.open.len() == 2);
            let name = &self.text[node.start as usize + hidden..node.end as usize];
            let message = format!("'</{}>' unexpected ('</{}>' wanted)", shown(written), shown(name));
            return Err(self.wrong(&message));
        }
        let behind = usize::from(node.kind == Kind::Element);
        self.nodes[number as usize].next = count;
        self.nodes[number as usize].whole_end = (self.at + behind) as u32;
        self.open.pop();
        Ok(())
    }

    /// At `<`: a comment, character data, or a tag.
    fn tag(&mut self) -> Result<(), Interruption> {
        let (first, place) = self.token();
        match first {
            Token::Comment => return Ok(()),
            Token::CharacterData => {
                let inside = place.start + b"<![CDATA[".len()..place.end.saturating_sub(b"]]>".len());
                if !self.text[place].ends_with(b"]]>") || inside.start > inside.end {
                    return Err(self.wrong("unexpected END-OF-INPUT"));
                }
                self.value(inside);
                return Ok(());
            }
            _ => {}
        }
        let (mut token, mut name) = self.token();
        if token == Token::Sign(b'/') {
            (token, name) = self.token();
            if token != Token::Name {
                return Err(self.unexpected(token, "ident"));
            }
            let written = &self.text[name];
            self.leave(Some(written))?;
            token = self.token().0;
            return if token == Token::Sign(b'>') { Ok(()) } else { Err(self.unexpected(token, "'>'")) };
        }
        let declaration = match token {
            Token::Sign(sign @ (b'?' | b'!')) => {
                (token, name) = self.token();
                Some(sign)
            }
            _ => None,
        };
        if token != Token::Name {
            return Err(self.unexpected(token, "ident or '/'"));
        }
        self.enter(Kind::Element, name)?;
        self.attributes_and_end(declaration)
    }

    fn attributes_and_end(&mut self, declaration: Option<u8>) -> Result<(), Interruption> {
        let mut token = self.attributes(declaration)?;
        match declaration {
            Some(b'?') => {
                if token != Token::Sign(b'?') {
                    return Err(self.unexpected(token, "'?'"));
                }
                self.leave(None)?;
                token = self.token().0;
            }
            Some(_) => self.leave(None)?,
            None if token == Token::Sign(b'/') => {
                self.leave(None)?;
                token = self.token().0;
            }
            None => {}
        }
        if token == Token::Sign(b'>') { Ok(()) } else { Err(self.unexpected(token, "'>'")) }
    }

    /// Attributes with values; the token behind them. A name behind a name is passed over with it.
    fn attributes(&mut self, declaration: Option<u8>) -> Result<Token, Interruption> {
        loop {
            let (token, name) = self.token();
            match token {
                Token::Name => {}
                Token::String if declaration == Some(b'!') => {}
                other => return Ok(other),
            }
            match self.token().0 {
                Token::Sign(b'=') => {
                    let (token, value) = self.token();
                    if !matches!(token, Token::Name | Token::String) {
                        return Err(self.unexpected(token, "ident or string"));
                    }
                    self.enter(Kind::Attribute, name)?;
                    self.value(value);
                    self.leave(None)?;
                }
                Token::Name => {
                    self.enter(Kind::Attribute, name)?;
                    self.leave(None)?;
                }
                Token::String if declaration == Some(b'!') => {}
                other => return Ok(other),
            }
        }
    }
}

/// Bytes up to the end of `mark`; all where it is missing.
fn through(text: &[u8], mark: &[u8]) -> usize {
    text.windows(mark.len()).position(|found| found == mark).map_or(text.len(), |at| at + mark.len())
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_name_part(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b':')
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(&name[..name.len().min(SHOWN_BYTES_MAX)]).into_owned()
}

#[cfg(test)]
mod tests {
    use crate::pieces::tests::Never;
    use crate::xml::{Document, Kind};

    fn parse(text: &str) -> Result<Document, String> {
        Document::parse(text.as_bytes(), &Never).unwrap()
    }

    #[test]
    fn nodes_stand_in_the_order_of_the_text() {
        let document = parse("<a x='1'>t<b/>u</a>").unwrap();
        let kinds: Vec<Kind> = (0..document.len()).map(|number| document.node(number).kind).collect();
        use Kind::{Attribute, Element, Text};
        assert_eq!(kinds, [Element, Element, Attribute, Text, Text, Element, Text]);
        assert_eq!(document.children(1).collect::<Vec<u32>>(), [2, 4, 5, 6]);
        assert_eq!(document.joined_text([1].into_iter(), &Never).unwrap(), b"t u");
        assert_eq!(document.replaced(5, b"c"), b"<a x='1'>tcu</a>");
        assert_eq!(document.replaced(2, b"y"), b"<a y>t<b/>u</a>");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let message = |text: &str| parse(text).unwrap_err();
        assert_eq!(message("<a>\n<b"), "parse error at line 2 pos 4: END-OF-INPUT unexpected ('>' wanted)");
        assert_eq!(message("<abc></b>"), "parse error at line 1 pos 9: '</b>' unexpected ('</bc>' wanted)");
        assert_eq!(message(&"<a>".repeat(255)), "parse error at line 1 pos 765: ");
        assert!(parse("<a></b>").is_ok());
    }

    #[test]
    fn no_text_has_more_nodes_than_are_counted_for() {
        for text in
            ["", "a", "<a>b</a>", "<a b=c d='e'f=g/>", "<!a b c d \"e\">x<?y z w?>", "<a><![CDATA[]]>x</a>"]
        {
            let count = parse(text).unwrap().len() as usize;
            assert!(
                count * size_of::<crate::xml::Node>() <= Document::node_bytes_max(text.as_bytes()),
                "{text}"
            );
        }
    }
}
