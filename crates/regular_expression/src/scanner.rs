//! The characters of a pattern, one after the other: `\Q..\E`, escapes that stand for a character, white space and comments of the
//! mode `x`. Main type: [`Scanner`].

use errors::{SqlError, SqlResult, sql_error};

/// A character as the grammar sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// None behind the end.
    pub character: Option<char>,
    /// A character of that value and nothing else: it was quoted, or written as its code.
    pub quoted: bool,
}

/// Where in a pattern we are.
#[derive(Clone)]
pub(crate) struct Scanner {
    characters: std::sync::Arc<[char]>,
    next: usize,
    /// The character that the grammar looks at.
    pub current: Scanned,
    /// Mode `x`: white space and `#` up to the end of the line are skipped.
    pub free_spacing: bool,
    is_quoting: bool,
    /// The last character was a backslash: what follows is no further escape.
    is_escaped: bool,
    line: u32,
    column: u32,
    last: Option<char>,
}

impl Scanner {
    /// At the first character.
    pub fn new(pattern: &str) -> SqlResult<Scanner> {
        let mut scanner = Scanner {
            characters: pattern.chars().collect(),
            next: 0,
            current: Scanned { character: None, quoted: false },
            free_spacing: false,
            is_quoting: false,
            is_escaped: false,
            line: 1,
            column: 0,
            last: None,
        };
        scanner.advance()?;
        Ok(scanner)
    }

    /// Error 3688 at the current character.
    pub fn syntax_error(&self) -> SqlError {
        // ICU has looked at the character behind a backslash, and counted it.
        let peeked = u32::from(self.is('\\'));
        sql_error!(ER_REGEXP_RULE_SYNTAX, self.line, self.column + peeked)
    }

    /// Whether the current character is that one and has its meaning in the grammar.
    pub fn is(&self, character: char) -> bool {
        self.current == Scanned { character: Some(character), quoted: false }
    }

    /// Whether the pattern goes on with these characters behind the current one.
    pub fn goes_on_with(&self, text: &str) -> bool {
        let rest = self.characters.get(self.next..).unwrap_or_default();
        text.chars().enumerate().all(|(index, character)| rest.get(index) == Some(&character))
    }

    /// Behind the current character, which must be that one.
    pub fn take(&mut self, character: char) -> SqlResult<bool> {
        let found = self.is(character);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Goes to the next character. Error 3689 for an escape that is none.
    pub fn advance(&mut self) -> SqlResult<()> {
        let mut character = self.raw();
        if self.is_quoting {
            let ends = character == Some('\\') && self.peek() == Some('E');
            if ends {
                self.raw();
            }
            if ends || character.is_none() {
                self.is_quoting = false;
                return self.advance();
            }
            self.current = Scanned { character, quoted: true };
            return Ok(());
        }
        self.current = Scanned { character, quoted: false };
        if std::mem::take(&mut self.is_escaped) {
            return Ok(());
        }
        if self.free_spacing {
            character = self.skip_spacing(character);
            self.current.character = character;
        }
        if character == Some('\\') {
            return self.escape();
        }
        Ok(())
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.next).copied()
    }

    /// The next character of the text itself; counts lines and columns.
    fn raw(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.next += 1;
        let begins_line = matches!(character, '\r' | '\u{85}' | '\u{2028}')
            || (character == '\n' && self.last != Some('\r'));
        if begins_line {
            self.line += 1;
            self.column = 0;
        } else if character != '\n' {
            self.column += 1;
        }
        self.last = Some(character);
        Some(character)
    }

    fn skip_spacing(&mut self, mut character: Option<char>) -> Option<char> {
        loop {
            if character == Some('#') {
                while !matches!(character, None | Some('\r' | '\n' | '\u{85}' | '\u{2028}')) {
                    character = self.raw();
                }
            }
            let is_space = |at| {
                matches!(at, '\t'..='\r' | ' ' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
            };
            if !character.is_some_and(is_space) {
                return character;
            }
            character = self.raw();
        }
    }

    /// Behind a backslash: a code becomes its character, `\Q` begins a quotation; the grammar knows the others.
    fn escape(&mut self) -> SqlResult<()> {
        match self.peek() {
            Some('Q') => {
                self.raw();
                self.is_quoting = true;
                return self.advance();
            }
            Some(letter @ ('a' | 'c' | 'e' | 'f' | 'n' | 'r' | 't' | 'u' | 'U' | 'x')) => {
                self.raw();
                self.current = Scanned { character: Some(self.coded(letter)?), quoted: true };
                // ICU counts one more for each of them.
                self.column += 1;
            }
            Some('0') => {
                self.raw();
                self.current = Scanned { character: Some(self.octal()?), quoted: true };
            }
            _ => self.is_escaped = true,
        }
        Ok(())
    }

    fn coded(&mut self, letter: char) -> SqlResult<char> {
        Ok(match letter {
            'a' => '\u{7}',
            'e' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            // At the end of the pattern it is the letter.
            'c' => self.raw().map_or('c', |control| char::from(control as u8 & 0x1f)),
            'u' => self.hexadecimal(4, 4)?,
            'U' => self.hexadecimal(8, 8)?,
            _ if self.peek() == Some('{') => {
                self.raw();
                let character = self.hexadecimal(1, 8)?;
                match self.raw() {
                    Some('}') => character,
                    _ => return Err(bad_escape()),
                }
            }
            _ => self.hexadecimal(1, 2)?,
        })
    }

    /// The character of so many digits. Error 3689 for fewer, and for a code that is no character.
    fn hexadecimal(&mut self, least: usize, most: usize) -> SqlResult<char> {
        let mut code = 0u32;
        let mut digits = 0;
        while digits < most {
            let Some(digit) = self.peek().and_then(|next| next.to_digit(16)) else { break };
            self.raw();
            code = code << 4 | digit;
            digits += 1;
        }
        if digits < least {
            return Err(bad_escape());
        }
        if (0xd800..0xdc00).contains(&code) {
            return self.low_surrogate(code);
        }
        char::from_u32(code).ok_or_else(bad_escape)
    }

    /// A character written as two codes of UTF-16.
    fn low_surrogate(&mut self, high: u32) -> SqlResult<char> {
        let text: String = self.characters.iter().skip(self.next).take(6).collect();
        let low = text.strip_prefix("\\u").and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(low) = low.filter(|low| (0xdc00..0xe000).contains(low)) else { return Err(bad_escape()) };
        (0..6).for_each(|_| _ = self.raw());
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).ok_or_else(bad_escape)
    }

    /// One to three octal digits, up to 255.
    fn octal(&mut self) -> SqlResult<char> {
        let mut code = None;
        for _ in 0..3 {
            let Some(digit) = self.peek().and_then(|next| next.to_digit(8)) else { break };
            let longer = code.unwrap_or(0) * 8 + digit;
            if longer > 255 {
                break;
            }
            self.raw();
            code = Some(longer);
        }
        code.and_then(char::from_u32).ok_or_else(bad_escape)
    }
}

/// Error 3689.
pub(crate) fn bad_escape() -> SqlError {
    sql_error!(ER_REGEXP_BAD_ESCAPE_SEQUENCE)
}
