//! From a pattern to its tree. Main type: [`Parser`].

use crate::brackets;
use crate::class::{Class, named};
use crate::fold;
use crate::parenthesis::Parenthesis;
use crate::property;
use crate::scanner::Scanner;
use crate::tree::{Assertion, Dot, Node};
use errors::{SqlError, SqlResult, sql_error};
use regex_syntax::hir::ClassUnicode;
use std::collections::HashMap;
use std::sync::Arc;

/// What a pattern may have within another: parentheses, brackets. Error 3687 beyond.
const NESTING_MAX: u32 = 99;
/// Parts of a pattern: ICU has room for so many instructions.
const PARTS_MAX: u32 = 0xff_ffff;
/// Parts between two looks whether to go on.
const PARTS_BETWEEN_LOOKS: u32 = 1 << 8;

/// How a pattern is read and matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// i: case does not count.
    pub insensitive: bool,
    /// m: `^` and `$` are at the ends of lines, too.
    pub multiline: bool,
    /// n, in the pattern s: `.` is a line end, too.
    pub dot_all: bool,
    /// u, in the pattern d: nothing but `\n` ends a line.
    pub unix_lines: bool,
    /// In the pattern w: words end where Unicode says.
    pub unicode_words: bool,
}

/// A pattern, read.
pub(crate) struct Parsed {
    pub node: Node,
    pub groups: u32,
    pub names: HashMap<String, u32>,
}

pub(crate) struct Parser<'i> {
    pub scanner: Scanner,
    pub flags: Flags,
    /// The last character that was written in a set: what `-` begins a range with.
    pub set_literal: Option<char>,
    pub groups: u32,
    pub names: HashMap<String, u32>,
    nesting: u32,
    /// The greatest number of a group that is referred to.
    referred: u32,
    /// Asked now and then whether to go on.
    interrupt: &'i dyn Fn() -> SqlResult<()>,
    /// Parts read so far.
    parts: u32,
    /// Sets of characters by their ranges: a pattern may have one very often.
    classes: HashMap<Box<[(char, char)]>, Arc<Class>>,
    /// Sets by what they are called, as they are with the flags.
    properties: HashMap<PropertyName, ClassUnicode>,
}

/// A name, whether it is negated, and whether case does not count.
type PropertyName = (String, bool, bool);

/// The pattern's tree.
pub(crate) fn parse(pattern: &str, flags: Flags, interrupt: &dyn Fn() -> SqlResult<()>) -> SqlResult<Parsed> {
    let mut parser = Parser {
        scanner: Scanner::new(pattern)?,
        flags,
        set_literal: None,
        groups: 0,
        names: HashMap::new(),
        nesting: 0,
        referred: 0,
        interrupt,
        parts: 0,
        classes: HashMap::new(),
        properties: HashMap::new(),
    };
    let node = parser.alternation()?;
    if parser.scanner.current.character.is_some() {
        // A parenthesis that closes nothing.
        return Err(sql_error!(ER_REGEXP_MISMATCHED_PAREN));
    }
    if parser.referred > parser.groups {
        return Err(sql_error!(ER_REGEXP_INVALID_BACK_REF));
    }
    Ok(Parsed { node, groups: parser.groups, names: parser.names })
}

/// A sequence in the making.
#[derive(Default)]
pub(crate) struct Sequence {
    pub nodes: Vec<Node>,
    /// Characters at its end that are not in `nodes` yet.
    literal: Vec<char>,
}

impl Sequence {
    /// Puts the characters in, read with these flags: case folds over all of them.
    pub fn flush(&mut self, flags: Flags) {
        if self.literal.is_empty() {
            return;
        }
        let literal = std::mem::take(&mut self.literal);
        self.nodes.push(literal_node(&literal, flags.insensitive));
    }

    /// Takes out what a quantifier stands behind.
    pub fn last(&mut self, flags: Flags) -> Node {
        if let Some(last) = self.literal.pop() {
            self.flush(flags);
            return literal_node(&[last], flags.insensitive);
        }
        self.nodes.pop().unwrap_or_else(Node::empty)
    }
}

fn literal_node(characters: &[char], insensitive: bool) -> Node {
    let folded: Box<[char]> = match insensitive {
        true => characters.iter().flat_map(|character| fold::full(*character)).collect(),
        false => characters.into(),
    };
    Node::Literal { characters: folded, folded: insensitive }
}

impl Parser<'_> {
    /// Error 3687 where too much is within another.
    pub fn enter(&mut self) -> SqlResult<()> {
        self.nesting += 1;
        if self.nesting > NESTING_MAX { Err(sql_error!(ER_REGEXP_INTERNAL_ERROR)) } else { Ok(()) }
    }

    pub fn leave(&mut self) {
        self.nesting -= 1;
    }

    /// Counts a part of the pattern. Errors: 3700 for more of them than ICU has room for, and what the interrupt says.
    fn count_part(&mut self) -> SqlResult<()> {
        self.parts += 1;
        if self.parts > PARTS_MAX {
            return Err(sql_error!(ER_REGEXP_PATTERN_TOO_BIG));
        }
        if self.parts.is_multiple_of(PARTS_BETWEEN_LOOKS) { (self.interrupt)() } else { Ok(()) }
    }

    /// Up to the parenthesis that closes, or the end.
    pub fn alternation(&mut self) -> SqlResult<Node> {
        let mut branches = vec![self.sequence()?];
        while self.scanner.take('|')? {
            branches.push(self.sequence()?);
        }
        match branches.len() {
            1 => Ok(branches.remove(0)),
            _ => Ok(Node::Alternation(branches)),
        }
    }

    fn sequence(&mut self) -> SqlResult<Node> {
        let mut sequence = Sequence::default();
        loop {
            self.count_part()?;
            let scanned = self.scanner.current;
            let Some(character) = scanned.character else { break };
            let takes_quantifier = match character {
                _ if scanned.quoted => self.character(&mut sequence, character)?,
                '|' | ')' => break,
                '*' | '+' | '?' | '{' | '}' => return Err(self.scanner.syntax_error()),
                '[' => {
                    let class = brackets::parse(self)?;
                    self.class(&mut sequence, class)
                }
                '(' => match self.parenthesis(&mut sequence)? {
                    Parenthesis::Group(node) => {
                        sequence.nodes.push(node);
                        true
                    }
                    Parenthesis::Look(node) => {
                        sequence.nodes.push(node);
                        false
                    }
                    Parenthesis::Nothing => false,
                },
                '\\' => self.escape(&mut sequence)?,
                '.' | '^' | '$' => {
                    let node = self.sign(character);
                    self.node(&mut sequence, node)?
                }
                _ => self.character(&mut sequence, character)?,
            };
            if takes_quantifier {
                self.quantifier(&mut sequence)?;
            }
        }
        sequence.flush(self.flags);
        match sequence.nodes.len() {
            1 => Ok(sequence.nodes.remove(0)),
            _ => Ok(Node::Concatenation(sequence.nodes)),
        }
    }

    fn character(&mut self, sequence: &mut Sequence, character: char) -> SqlResult<bool> {
        sequence.literal.push(character);
        self.scanner.advance()?;
        Ok(true)
    }

    /// Puts a node in that the current character ends.
    fn node(&mut self, sequence: &mut Sequence, node: Node) -> SqlResult<bool> {
        sequence.flush(self.flags);
        sequence.nodes.push(node);
        self.scanner.advance()?;
        Ok(true)
    }

    /// A set of one character is that character, to the last consequence: it folds to several.
    fn class(&mut self, sequence: &mut Sequence, class: ClassUnicode) -> bool {
        match class.ranges() {
            [only] if only.start() == only.end() => sequence.literal.push(only.start()),
            _ => {
                sequence.flush(self.flags);
                let class = self.shared_class(&class);
                sequence.nodes.push(Node::Class { class, named: false });
            }
        }
        true
    }

    fn shared_class(&mut self, class: &ClassUnicode) -> Arc<Class> {
        let ranges = class.iter().map(|range| (range.start(), range.end())).collect();
        self.classes.entry(ranges).or_insert_with(|| Arc::new(Class::new(class))).clone()
    }

    fn sign(&self, sign: char) -> Node {
        let Flags { multiline, dot_all, unix_lines, .. } = self.flags;
        match sign {
            '.' if dot_all => Node::Dot(Dot::All),
            '.' if unix_lines => Node::Dot(Dot::UnixLines),
            '.' => Node::Dot(Dot::Lines),
            '^' => Node::Assertion(match (multiline, unix_lines) {
                (false, _) => Assertion::TextStart,
                (true, false) => Assertion::LineStart,
                (true, true) => Assertion::UnixLineStart,
            }),
            _ => Node::Assertion(match (multiline, unix_lines) {
                (false, false) => Assertion::LastLineEnd,
                (false, true) => Assertion::UnixLastLineEnd,
                (true, false) => Assertion::LineEnd,
                (true, true) => Assertion::UnixLineEnd,
            }),
        }
    }

    /// Behind a backslash.
    fn escape(&mut self, sequence: &mut Sequence) -> SqlResult<bool> {
        self.scanner.advance()?;
        let Some(character) = self.scanner.current.character else {
            return Err(crate::scanner::bad_escape());
        };
        let assertion = match character {
            'A' => Assertion::TextStart,
            'Z' => Assertion::LastLineEnd,
            'z' => Assertion::TextEnd,
            'G' => Assertion::LastMatchEnd,
            'b' | 'B' if self.flags.unicode_words => {
                return Err(sql_error!(ER_NOT_SUPPORTED_YET, "flag w of regular expressions"));
            }
            'b' => Assertion::WordBoundary,
            'B' => Assertion::NoWordBoundary,
            'R' => return self.node(sequence, Node::LineBreak),
            'X' => return self.node(sequence, Node::Cluster),
            'N' => return Err(self.character_name()),
            'p' | 'P' => {
                let class = self.property()?;
                return Ok(self.class(sequence, class));
            }
            'k' => return self.named_reference(sequence),
            '1'..='9' => return self.reference(sequence),
            _ => {
                let Some(class) = named(character) else { return self.character(sequence, character) };
                let node = Node::Class { class: class.class.clone(), named: true };
                return self.node(sequence, node);
            }
        };
        self.node(sequence, Node::Assertion(assertion))?;
        Ok(false)
    }

    /// The number of a group, which has as many digits as there are such groups up to here.
    fn reference(&mut self, sequence: &mut Sequence) -> SqlResult<bool> {
        let mut group = 0;
        while let Some(digit) = self.scanner.current.character.and_then(|digit| digit.to_digit(10)) {
            group = group * 10 + digit;
            let goes_on = group < self.groups
                && ('0'..='9').any(|next| self.scanner.goes_on_with(next.encode_utf8(&mut [0; 4])));
            if !goes_on {
                break;
            }
            self.scanner.advance()?;
        }
        self.referred = self.referred.max(group);
        self.node(sequence, Node::BackReference { group, folded: self.flags.insensitive })
    }

    /// `\k<name>`. Error 3887 for what is no name of a group that has begun before.
    fn named_reference(&mut self, sequence: &mut Sequence) -> SqlResult<bool> {
        self.scanner.advance()?;
        let bad_name = || sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME);
        if !self.scanner.is('<') {
            return Err(bad_name());
        }
        self.scanner.advance()?;
        let name = self.group_name()?;
        let group = *self.names.get(&name).ok_or_else(bad_name)?;
        self.node(sequence, Node::BackReference { group, folded: self.flags.insensitive })
    }

    /// The name up to `>`, which is the current character then. Error 3887 for what is none.
    pub fn group_name(&mut self) -> SqlResult<String> {
        let mut name = String::new();
        loop {
            let scanned = self.scanner.current;
            match scanned.character.filter(|_| !scanned.quoted) {
                Some('>') if !name.is_empty() => return Ok(name),
                Some(letter)
                    if letter.is_ascii_alphabetic() || (letter.is_ascii_digit() && !name.is_empty()) =>
                {
                    name.push(letter);
                }
                _ => return Err(sql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME)),
            }
            self.scanner.advance()?;
        }
    }

    /// The class of `p{..}` or `P{..}`; behind it in the end. Errors as of [`property::find`].
    pub fn property(&mut self) -> SqlResult<ClassUnicode> {
        let negated = self.scanner.current.character == Some('P');
        let name = self.braced()?;
        self.named_class(name, negated)
    }

    /// The set of that name. Errors as of [`property::find`].
    fn named_class(&mut self, name: String, negated: bool) -> SqlResult<ClassUnicode> {
        self.count_part()?;
        let key = (name, negated, self.flags.insensitive);
        if let Some(class) = self.properties.get(&key) {
            return Ok(class.clone());
        }
        let mut class = property::find(&key.0)?;
        if self.flags.insensitive {
            class.case_fold_simple();
        }
        if negated {
            class.negate();
        }
        self.properties.insert(key, class.clone());
        Ok(class)
    }

    /// What `N{..}` fails with: names of characters are not kept here.
    pub fn character_name(&mut self) -> SqlError {
        match self.braced() {
            Ok(_) => sql_error!(ER_NOT_SUPPORTED_YET, "names of characters in regular expressions"),
            Err(error) => error,
        }
    }

    /// What is in braces behind the current character; behind them in the end. Error 3685 where there are none.
    fn braced(&mut self) -> SqlResult<String> {
        let illegal = || sql_error!(ER_REGEXP_ILLEGAL_ARGUMENT);
        self.scanner.advance()?;
        if !self.scanner.is('{') {
            return Err(illegal());
        }
        let mut text = String::new();
        loop {
            self.scanner.advance()?;
            match self.scanner.current.character {
                None => return Err(illegal()),
                Some('}') => break,
                Some(character) => text.push(character),
            }
        }
        self.scanner.advance()?;
        Ok(text)
    }

    /// The class of `:name:]`, of which the colon is the current character; behind it in the end. None where it is not one. Error 3685
    /// for a name that is none.
    pub fn posix(&mut self) -> SqlResult<Option<ClassUnicode>> {
        let before = self.scanner.clone();
        self.scanner.advance()?;
        let negated = self.scanner.take('^')?;
        let mut name = String::new();
        while let Some(character) = self.scanner.current.character {
            if self.scanner.is(':') {
                self.scanner.advance()?;
                if !self.scanner.is(']') {
                    break;
                }
                self.scanner.advance()?;
                return self.named_class(name, negated).map(Some);
            }
            name.push(character);
            self.scanner.advance()?;
        }
        self.scanner = before;
        Ok(None)
    }
}
