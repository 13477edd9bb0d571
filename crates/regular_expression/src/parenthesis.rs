//! What a parenthesis opens: groups, looks, comments and modes. Main type: [`Parenthesis`].

use crate::parser::{Flags, Parser, Sequence};
use crate::tree::{Look, Node};
use errors::{SqlResult, sql_error};

/// What a parenthesis was.
pub(crate) enum Parenthesis {
    /// A group that can be repeated.
    Group(Node),
    /// One that cannot.
    Look(Node),
    /// Flags or a comment.
    Nothing,
}

impl Parser<'_> {
    /// A parenthesis, which is the current character; behind what it opened in the end.
    pub fn parenthesis(&mut self, sequence: &mut Sequence) -> SqlResult<Parenthesis> {
        if self.scanner.goes_on_with("?#") {
            self.comment()?;
            return Ok(Parenthesis::Nothing);
        }
        self.scanner.advance()?;
        if !self.scanner.take('?')? {
            sequence.flush(self.flags);
            return self.capture(None).map(Parenthesis::Group);
        }
        let scanned = self.scanner.current;
        match scanned.character.filter(|_| !scanned.quoted) {
            Some('i' | 'd' | 'm' | 's' | 'u' | 'w' | 'x' | '-') => return self.modes(sequence),
            Some('(' | '{') => return Err(sql_error!(ER_REGEXP_UNIMPLEMENTED)),
            Some(':' | '>' | '=' | '!' | '<') => {}
            _ => return Err(self.scanner.syntax_error()),
        }
        sequence.flush(self.flags);
        self.scanner.advance()?;
        match scanned.character {
            Some('=') => self.look(false, false),
            Some('!') => self.look(false, true),
            Some('>') => Ok(Parenthesis::Group(Node::Atomic(Box::new(self.within()?)))),
            Some('<') if self.scanner.take('=')? => self.look(true, false),
            Some('<') if self.scanner.take('!')? => self.look(true, true),
            Some('<') => {
                let first = self.scanner.current;
                if first.quoted || !first.character.is_some_and(|letter| letter.is_ascii_alphabetic()) {
                    return Err(self.scanner.syntax_error());
                }
                let name = self.group_name()?;
                self.scanner.advance()?;
                self.capture(Some(name)).map(Parenthesis::Group)
            }
            _ => self.within().map(Parenthesis::Group),
        }
    }

    fn capture(&mut self, name: Option<String>) -> SqlResult<Node> {
        self.groups += 1;
        let number = self.groups;
        if let Some(name) = name
            && self.names.insert(name, number).is_some()
        {
            return Err(sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME));
        }
        Ok(Node::Group(number, Box::new(self.within()?)))
    }

    fn look(&mut self, is_behind: bool, negative: bool) -> SqlResult<Parenthesis> {
        self.enter()?;
        let (flags, free_spacing) = (self.flags, self.scanner.free_spacing);
        let node = self.alternation()?;
        // How long it can be is looked at before its end is.
        let behind = match is_behind {
            true => {
                let too_long = || sql_error!(ER_REGEXP_LOOK_BEHIND_LIMIT);
                Some((node.least_characters(), node.most_characters().ok_or_else(too_long)?))
            }
            false => None,
        };
        self.close(flags, free_spacing)?;
        Ok(Parenthesis::Look(Node::Look(Box::new(Look { node, behind, negative }))))
    }

    /// What is in a parenthesis, with its closing one. The flags are what they were then.
    fn within(&mut self) -> SqlResult<Node> {
        self.within_flags(self.flags, self.scanner.free_spacing)
    }

    /// The same; behind it these flags hold.
    fn within_flags(&mut self, flags: Flags, free_spacing: bool) -> SqlResult<Node> {
        self.enter()?;
        let node = self.alternation()?;
        self.close(flags, free_spacing)?;
        Ok(node)
    }

    /// Behind the closing parenthesis, with these flags. Error 3691 where it is missing.
    fn close(&mut self, flags: Flags, free_spacing: bool) -> SqlResult<()> {
        if !self.scanner.is(')') {
            return Err(sql_error!(ER_REGEXP_MISMATCHED_PAREN));
        }
        (self.flags, self.scanner.free_spacing) = (flags, free_spacing);
        self.leave();
        self.scanner.advance()
    }

    /// A comment; behind it in the end. White space and other comments are not looked for in it.
    pub fn comment(&mut self) -> SqlResult<()> {
        let free_spacing = std::mem::take(&mut self.scanner.free_spacing);
        while !self.scanner.is(')') {
            if self.scanner.current.character.is_none() {
                return Err(sql_error!(ER_REGEXP_MISMATCHED_PAREN));
            }
            self.scanner.advance()?;
        }
        self.scanner.free_spacing = free_spacing;
        self.scanner.advance()
    }

    /// `(?ix-ms)`, `(?i:..)`: the first letter is the current character. Error 3900 for a letter that is no flag.
    fn modes(&mut self, sequence: &mut Sequence) -> SqlResult<Parenthesis> {
        let (mut flags, mut free_spacing, mut value) = (self.flags, self.scanner.free_spacing, true);
        let scanned = loop {
            let scanned = self.scanner.current;
            match scanned.character.filter(|_| !scanned.quoted) {
                Some('-') => value = false,
                Some('i') => flags.insensitive = value,
                Some('d') => flags.unix_lines = value,
                Some('m') => flags.multiline = value,
                Some('s') => flags.dot_all = value,
                Some('w') => flags.unicode_words = value,
                Some('x') => free_spacing = value,
                Some('u') => {}
                Some(')' | ':') => break scanned,
                _ => return Err(sql_error!(ER_REGEXP_INVALID_FLAG)),
            }
            self.scanner.advance()?;
        };
        sequence.flush(self.flags);
        let (flags_before, spacing_before) = (self.flags, self.scanner.free_spacing);
        (self.flags, self.scanner.free_spacing) = (flags, free_spacing);
        self.scanner.advance()?;
        match scanned.character {
            Some(')') => Ok(Parenthesis::Nothing),
            _ => self.within_flags(flags_before, spacing_before).map(Parenthesis::Group),
        }
    }
}
