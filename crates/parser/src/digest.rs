//! The digest of a statement: one lexer pass gives a hash of its shape and its literals in order, so that a
//! plan can be found without parsing. Main types: [`Digest`], [`DigestLiteral`].
//! What decides names, types or the plan stays in the hash: literals of the select list, of ORDER BY, GROUP BY
//! and LIMIT, of function arguments and types, behind introducers, DATE, ESCAPE and `->`.
//! Everything else of the kinds integer, decimal, float and string is a literal to be bound.

use crate::keyword::Keyword;
use crate::lexer::Lexer;
use crate::options::ParseOptions;
use crate::token::{Token, TokenKind};
use Keyword as K;
use TokenKind as T;

/// The shape of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Hash of the shape, keyed by the caller's seed: nobody outside the process can make two shapes collide.
    pub hash: u64,
    /// False where the literals do not map one to one to the tree's: then the statement must be parsed.
    pub cacheable: bool,
    /// The offset of its first token.
    pub first: usize,
    /// The offset behind its last token.
    pub last: usize,
    /// The offset behind the statement and its semicolon.
    pub next: usize,
}

/// A literal that is not part of the shape: its class is, its text is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestLiteral {
    /// Integer, Decimal, Float or String.
    pub kind: TokenKind,
    /// First byte in the source, quotes included.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
    /// What of its text decides types: the digits of a decimal, whether text is ASCII. It is in the hash.
    pub class: u32,
}

impl DigestLiteral {
    fn new(token: Token, text: &[u8]) -> DigestLiteral {
        let class = class(token.kind, slice(text, token));
        DigestLiteral { kind: token.kind, start: token.start, end: token.end, class }
    }

    /// The bytes that a literal of kind String stands for.
    pub fn string(&self, text: &[u8], options: ParseOptions) -> Vec<u8> {
        options.to_connection(crate::literal::string_value(self.text(text), options))
    }

    /// Its text in the source.
    pub fn text<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start as usize..self.end as usize]
    }
}

/// Levels of parentheses that are followed; deeper statements are not cacheable.
const LEVELS_MAX: u32 = 63;

/// Digests the statement that starts at byte `start`. `literals` is cleared and filled; keep it between calls.
pub fn digest(
    text: &[u8],
    start: usize,
    options: ParseOptions,
    seed: u64,
    literals: &mut Vec<DigestLiteral>,
) -> Digest {
    literals.clear();
    let mut lexer = Lexer::new(text, start, options);
    let mut hash = seed ^ 0x9E37_79B9_7F4A_7C15;
    let mut clauses = Clauses::default();
    let mut previous = T::End;
    let (mut first, mut last) = (0, 0);
    loop {
        let token = lexer.next_token();
        let kind = token.kind;
        match kind {
            T::End | T::Semicolon => {
                return Digest {
                    hash: mix(hash, u64::from(clauses.level)),
                    cacheable: clauses.cacheable,
                    first,
                    last,
                    next: token.end as usize,
                };
            }
            T::Word(word) => {
                hash = mix(hash, word as u64 + 256);
                clauses.cacheable &= !clauses.first || may_start_data_statement(word);
                clauses.word(word, previous);
            }
            T::Integer | T::Decimal | T::Float | T::String => {
                clauses.cacheable &= !(kind == T::String && previous == T::String);
                if clauses.keeps(previous) {
                    hash = mix_bytes(mix(hash, code(kind)), slice(text, token));
                } else {
                    let literal = DigestLiteral::new(token, text);
                    hash = mix(hash, code(kind) | u64::from(literal.class) << 32);
                    literals.push(literal);
                }
            }
            T::OpenParenthesis => {
                hash = mix(hash, code(kind));
                clauses.open(previous);
            }
            T::CloseParenthesis => {
                hash = mix(hash, code(kind));
                clauses.close();
            }
            T::Name | T::QuotedName | T::Hex | T::Bits | T::NationalString | T::UserVariable | T::Hint => {
                clauses.introducer = kind == T::Name && text[token.start as usize] == b'_';
                hash = mix_bytes(mix(hash, code(kind)), slice(text, token));
            }
            // A parameter that the client wrote would be taken for a lifted literal.
            T::Invalid | T::Parameter => clauses.cacheable = false,
            _ => hash = mix(hash, code(kind)),
        }
        if previous == T::End {
            first = token.start as usize;
        }
        previous = kind;
        last = token.end as usize;
    }
}

/// Where in the statement the pass is, one bit a level of parentheses.
struct Clauses {
    level: u32,
    /// Whether literals of the level belong to the shape.
    keep: u64,
    /// Whether a SELECT or DELETE was read at the level, so that FROM starts a clause there.
    query: u64,
    cacheable: bool,
    /// The last name begins with `_`: it may introduce the next string.
    introducer: bool,
    first: bool,
}

impl Default for Clauses {
    fn default() -> Clauses {
        Clauses { level: 0, keep: 1, query: 0, cacheable: true, introducer: false, first: true }
    }
}

impl Clauses {
    fn set_keep(&mut self, keep: bool) {
        let bit = 1 << self.level;
        self.keep = if keep { self.keep | bit } else { self.keep & !bit };
    }

    #[inline]
    fn word(&mut self, word: Keyword, previous: TokenKind) {
        let bit = 1u64 << self.level;
        match word {
            K::Select => {
                self.query |= bit;
                self.set_keep(true);
            }
            K::Delete | K::Update if self.first => {
                self.query |= bit;
                self.set_keep(false);
            }
            K::Insert | K::Replace if self.first => self.set_keep(false),
            K::From if self.query & bit != 0 => self.set_keep(false),
            K::Where | K::On | K::Having if self.query & bit != 0 => self.set_keep(false),
            K::Order
            | K::Group
            | K::Limit
            | K::Window
            | K::Partition
            | K::Union
            | K::Except
            | K::Intersect => self.set_keep(true),
            _ => {}
        }
        self.introducer = false;
        self.first &= previous == T::OpenParenthesis;
    }

    /// Whether a literal behind a token of that kind belongs to the shape.
    #[inline]
    fn keeps(&mut self, previous: TokenKind) -> bool {
        let introduced = std::mem::take(&mut self.introducer) && previous == T::Name;
        let bound_to_word = matches!(
            previous,
            T::Word(K::Date | K::Time | K::Timestamp | K::Escape) | T::Arrow | T::LongArrow
        );
        introduced || bound_to_word || self.keep & (1 << self.level) != 0
    }

    #[inline]
    fn open(&mut self, previous: TokenKind) {
        let is_call = match previous {
            T::Name | T::QuotedName => true,
            T::Word(word) => !may_precede_group(word),
            _ => false,
        };
        let keep = is_call || self.keep & (1 << self.level) != 0;
        if self.level == LEVELS_MAX {
            self.cacheable = false;
            return;
        }
        self.level += 1;
        self.query &= !(1 << self.level);
        self.set_keep(keep);
    }

    #[inline]
    fn close(&mut self) {
        self.cacheable &= self.level > 0;
        self.level = self.level.saturating_sub(1);
    }
}

/// Words that a query or a change of rows may start with: nothing else has a plan.
fn may_start_data_statement(word: Keyword) -> bool {
    matches!(
        word,
        K::Select | K::Insert | K::Update | K::Delete | K::Replace | K::With | K::Values | K::Table
    )
}

/// Words before a parenthesis that is no call and no type.
fn may_precede_group(word: Keyword) -> bool {
    matches!(
        word,
        K::In
            | K::Values
            | K::Value
            | K::And
            | K::Or
            | K::Xor
            | K::Not
            | K::Where
            | K::On
            | K::Having
            | K::Between
            | K::Like
            | K::Exists
            | K::Any
            | K::All
            | K::Some
            | K::Row
            | K::Join
            | K::From
            | K::Set
            | K::When
            | K::Then
            | K::Else
            | K::Case
            | K::As
            | K::Union
            | K::Except
            | K::Intersect
            | K::Div
            | K::Mod
            | K::Rlike
            | K::Regexp
    )
}

fn slice(text: &[u8], token: Token) -> &[u8] {
    &text[token.start as usize..token.end as usize]
}

/// What of a literal's text decides types.
fn class(kind: TokenKind, text: &[u8]) -> u32 {
    match kind {
        T::Decimal => {
            let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
            let digits = |number: usize| number.min(usize::from(u16::MAX)) as u32;
            digits(point) << 16 | digits(text.len() - point)
        }
        T::String => u32::from(text.is_ascii()),
        _ => 0,
    }
}

/// A number for every kind that is no word.
#[inline]
fn code(kind: TokenKind) -> u64 {
    match kind {
        T::Name => 1,
        T::QuotedName => 2,
        T::String => 3,
        T::NationalString => 4,
        T::Integer => 5,
        T::Decimal => 6,
        T::Float => 7,
        T::Hex => 8,
        T::Bits => 9,
        T::UserVariable => 10,
        T::DoubleAt => 11,
        T::Hint => 12,
        T::Parameter => 13,
        T::OpenParenthesis => 14,
        T::CloseParenthesis => 15,
        T::OpenBrace => 16,
        T::CloseBrace => 17,
        T::Comma => 18,
        T::Point => 19,
        T::Semicolon => 20,
        T::Colon => 21,
        T::Plus => 22,
        T::Minus => 23,
        T::Star => 24,
        T::Slash => 25,
        T::Percent => 26,
        T::Tilde => 27,
        T::Exclamation => 28,
        T::Caret => 29,
        T::Ampersand => 30,
        T::Bar => 31,
        T::DoubleAmpersand => 32,
        T::DoubleBar => 33,
        T::ShiftLeft => 34,
        T::ShiftRight => 35,
        T::Equal => 36,
        T::NullSafeEqual => 37,
        T::NotEqual => 38,
        T::Less => 39,
        T::LessOrEqual => 40,
        T::Greater => 41,
        T::GreaterOrEqual => 42,
        T::Assign => 43,
        T::Arrow => 44,
        T::LongArrow => 45,
        T::Invalid => 46,
        T::End => 47,
        T::Word(_) => 48,
    }
}

#[inline]
fn mix(hash: u64, value: u64) -> u64 {
    let product = u128::from(hash ^ value) * u128::from(0x9FB2_1C65_1E98_DF25u64);
    (product as u64) ^ ((product >> 64) as u64) ^ hash.rotate_left(23)
}

#[inline]
fn mix_bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        hash = mix(hash, u64::from_le_bytes(word));
    }
    let mut last = [0; 8];
    let rest = chunks.remainder();
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(hash, u64::from_le_bytes(last)), bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> (u64, Vec<String>, bool) {
        let mut literals = Vec::new();
        let digest = digest(text.as_bytes(), 0, ParseOptions::default(), 7, &mut literals);
        let texts =
            literals.iter().map(|literal| text[literal.start as usize..literal.end as usize].to_owned());
        (digest.hash, texts.collect(), digest.cacheable)
    }

    fn check_same(left: &str, right: &str) {
        assert_eq!(run(left).0, run(right).0, "{left} | {right}");
    }

    fn check_differ(left: &str, right: &str) {
        assert_ne!(run(left).0, run(right).0, "{left} | {right}");
    }

    #[test]
    fn literals_of_filters_and_rows_are_collected() {
        assert_eq!(run("SELECT c FROM t WHERE id=7 AND b IN ('x', 2.5)").1, ["7", "'x'", "2.5"]);
        assert_eq!(run("INSERT INTO t (a, b) VALUES (1, 'a'), (2, NOW(3))").1, ["1", "'a'", "2"]);
        assert_eq!(run("UPDATE t SET a = a + 1 WHERE id = 5").1, ["1", "5"]);
        assert_eq!(run("DELETE FROM t WHERE id = 5 LIMIT 1").1, ["5"]);
    }

    #[test]
    fn blanks_comments_and_keyword_case_do_not_matter() {
        check_same("select c from t where id = 7", "SELECT  c /* x */ FROM t WHERE id=81");
        check_differ("select c from t where id = 7", "select C from t where id = 7");
    }

    #[test]
    fn what_decides_names_and_types_stays_in_the_hash() {
        check_differ("SELECT 1 FROM t", "SELECT 2 FROM t");
        check_differ("SELECT a FROM t LIMIT 1", "SELECT a FROM t LIMIT 2");
        check_differ("SELECT a FROM t ORDER BY 1", "SELECT a FROM t ORDER BY 2");
        check_differ("SELECT SUBSTRING(a FROM 1) FROM t", "SELECT SUBSTRING(a FROM 2) FROM t");
        check_differ("SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = '1'");
        check_differ("SELECT a FROM t WHERE b = ROUND(c, 1)", "SELECT a FROM t WHERE b = ROUND(c, 2)");
        check_differ("SELECT a FROM t WHERE b = _latin1'x'", "SELECT a FROM t WHERE b = _latin1'y'");
        check_differ("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b IN (1, 2)");
        check_differ(
            "SELECT (SELECT a FROM t WHERE b = 1), 5 FROM t",
            "SELECT (SELECT a FROM t WHERE b = 1), 6 FROM t",
        );
        check_differ(
            "SELECT a FROM t WHERE b = DATE'2020-01-01'",
            "SELECT a FROM t WHERE b = DATE'2020-01-02'",
        );
    }

    #[test]
    fn what_does_not_map_to_the_tree_is_not_cacheable() {
        assert!(run("SELECT a FROM t WHERE b = 'x'").2);
        assert!(!run("SELECT a FROM t WHERE b = 'x' 'y'").2);
        assert!(!run("SELECT a FROM t WHERE b = 'x").2);
        assert!(!run(&"(".repeat(100)).2);
        assert!(!run("SELECT a FROM t WHERE b = ?").2);
    }

    fn shape(text: &str) -> Option<crate::ast::Statement> {
        let mut literals = Vec::new();
        let options = ParseOptions::default();
        digest(text.as_bytes(), 0, options, 7, &mut literals);
        crate::parse_shape(text.as_bytes(), options, &literals)
    }

    #[test]
    fn texts_of_one_shape_have_one_tree() {
        for (left, right) in [
            ("SELECT c FROM t WHERE id=7", "SELECT c FROM t WHERE id=81"),
            (
                "INSERT INTO t (a, b) VALUES (1, 'a'), (2, 'b')",
                "INSERT INTO t (a, b) VALUES (3, ''), (4, 'x')",
            ),
            ("UPDATE t SET a = a - 1 WHERE id IN (5, 6)", "UPDATE t SET a = a - 3 WHERE id IN (7, 8)"),
            ("DELETE FROM t WHERE a BETWEEN 1 AND -2", "DELETE FROM t WHERE a BETWEEN 3 AND -4"),
        ] {
            let tree = shape(left);
            assert!(tree.is_some(), "{left}");
            assert_eq!(tree, shape(right));
        }
    }

    #[test]
    fn literals_that_are_no_operands_have_no_shape() {
        assert!(
            shape("ALTER TABLE t AUTO_INCREMENT = 5")
                .is_none_or(|_| { run("ALTER TABLE t AUTO_INCREMENT = 5").1.is_empty() })
        );
        assert!(shape("INSERT INTO t VALUES (1").is_none());
    }
}
