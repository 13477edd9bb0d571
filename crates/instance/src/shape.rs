//! What two texts must have in common to be run by one plan. Main types: [`ShapeKey`] of a text at hand,
//! [`ShapeIdentity`] of a shape that is remembered. The number of a shape finds it; only its identity says that it is
//! the one that was meant. Thread rules: plain values.

use parser::digest::{Digest, DigestLiteral};
use parser::token::TokenKind;

/// The shape of a text that is to be run.
pub struct ShapeKey<'t> {
    number: u64,
    fingerprint: u64,
    /// From the first token to the last: comments around them (names of pages, trace ids) are no part of the shape.
    text: &'t [u8],
    /// Where `text` starts in the source.
    offset: usize,
    literals: &'t [DigestLiteral],
}

/// What a shape is, to be kept.
#[derive(Debug)]
pub struct ShapeIdentity {
    number: u64,
    fingerprint: u64,
    /// The text without its literals. Its spaces count, because they are in the names of result columns.
    text: Box<[u8]>,
    literals: Box<[KnownLiteral]>,
}

/// A literal of a shape.
#[derive(Debug)]
struct KnownLiteral {
    /// How many bytes of the shape's text stand between the literal before it and this one.
    bytes_before: usize,
    kind: TokenKind,
    class: u32,
}

impl<'t> ShapeKey<'t> {
    /// The shape of a text with that digest; `fingerprint` stands for what planning reads of the session.
    #[inline]
    pub fn new(
        text: &'t [u8],
        digest: &Digest,
        fingerprint: u64,
        literals: &'t [DigestLiteral],
    ) -> ShapeKey<'t> {
        let (first, last) = (digest.first, digest.last);
        ShapeKey { number: digest.hash, fingerprint, text: &text[first..last], offset: first, literals }
    }

    /// A number by which it is looked up. Others may have it, too.
    #[inline]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its literals.
    #[inline]
    pub fn literals(&self) -> &'t [DigestLiteral] {
        self.literals
    }

    /// What must be equal.
    pub fn identity(&self) -> ShapeIdentity {
        let mut text = Vec::with_capacity(self.text.len());
        let mut literals = Vec::with_capacity(self.literals.len());
        let mut from = 0;
        for literal in self.literals {
            let before = &self.text[from..literal.start as usize - self.offset];
            text.extend_from_slice(before);
            let (kind, class) = (literal.kind, literal.class);
            literals.push(KnownLiteral { bytes_before: before.len(), kind, class });
            from = literal.end as usize - self.offset;
        }
        text.extend_from_slice(&self.text[from..]);
        let (number, fingerprint) = (self.number, self.fingerprint);
        ShapeIdentity { number, fingerprint, text: text.into(), literals: literals.into() }
    }

    /// Whether it is that shape.
    #[inline]
    pub fn is(&self, known: &ShapeIdentity) -> bool {
        if self.number != known.number
            || self.fingerprint != known.fingerprint
            || self.literals.len() != known.literals.len()
        {
            return false;
        }
        let mut rest = &*known.text;
        let mut from = 0;
        for (literal, known) in self.literals.iter().zip(&known.literals) {
            let Some((before, behind)) = rest.split_at_checked(known.bytes_before) else { return false };
            if literal.kind != known.kind
                || literal.class != known.class
                || self.text[from..literal.start as usize - self.offset] != *before
            {
                return false;
            }
            rest = behind;
            from = literal.end as usize - self.offset;
        }
        self.text[from..] == *rest
    }
}

impl ShapeIdentity {
    /// The number by which it is looked up.
    pub fn number(&self) -> u64 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parser::ParseOptions;
    use parser::digest::digest;

    fn check(left: &str, right: &str, same: bool) {
        let (mut left_literals, mut right_literals) = (Vec::new(), Vec::new());
        let options = ParseOptions::default();
        let left_digest = digest(left.as_bytes(), 0, options, 7, &mut left_literals);
        let right_digest = digest(right.as_bytes(), 0, options, 7, &mut right_literals);
        let left_key = ShapeKey::new(left.as_bytes(), &left_digest, 1, &left_literals);
        let right_key = ShapeKey::new(right.as_bytes(), &right_digest, 1, &right_literals);
        assert_eq!(right_key.is(&left_key.identity()), same, "{left} | {right}");
        assert_eq!(left_key.is(&right_key.identity()), same, "{right} | {left}");
    }

    #[test]
    fn a_shape_is_its_text_without_the_literals() {
        check("select a from t where b = 1 and c = 'x'", "select a from t where b = 22 and c = 'yy'", true);
        check("/* page 1 */ select a from t where b = 1", "select a from t where b = 2 -- trace", true);
        check("select a from t where b = 1", "select a from t where b = '1'", false);
        check("select a from t where b = 1", "select a from t where c = 1", false);
        check("select a from t where b = 'e'", "select a from t where b = 'é'", false);
        check("select a from t where b = 1.5", "select a from t where b = 1.25", false);
        // The result column is called as it is written.
        check("select a+a from t where b = 1", "select a + a from t where b = 1", false);
    }

    #[test]
    fn classes_of_many_literals_do_not_cancel_out() {
        let list = |literal: &str| format!("select a from t where b in ({})", vec![literal; 64].join(","));
        let (mut ascii, mut other) = (Vec::new(), Vec::new());
        let (plain, accents) = (list("'e'"), list("'é'"));
        let options = ParseOptions::default();
        let plain_digest = digest(plain.as_bytes(), 0, options, 7, &mut ascii);
        let other_digest = digest(accents.as_bytes(), 0, options, 7, &mut other);
        let plain_key = ShapeKey::new(plain.as_bytes(), &plain_digest, 1, &ascii);
        let other_key = ShapeKey::new(accents.as_bytes(), &other_digest, 1, &other);
        assert_ne!(plain_key.number(), other_key.number());
        check(&plain, &accents, false);
    }
}
