//! What fits and what holds at a place of a text.

use crate::class::{is_combining, is_line_end, is_word};
use crate::fold::Folded;
use crate::tree::{Assertion, Dot};

/// The character that begins at a byte.
#[inline]
pub(crate) fn character_at(subject: &str, at: usize) -> Option<char> {
    match subject.as_bytes().get(at) {
        Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
        Some(_) => subject[at..].chars().next(),
        None => None,
    }
}

/// The character that ends at a byte.
#[inline]
pub(crate) fn character_before(subject: &str, at: usize) -> Option<char> {
    subject[..at].chars().next_back()
}

/// The end of a character that fits.
#[inline]
pub(crate) fn one(subject: &str, at: usize, fits: impl FnOnce(char) -> bool) -> Option<usize> {
    let character = character_at(subject, at)?;
    fits(character).then(|| at + character.len_utf8())
}

/// The end of a text that folds to these characters.
pub(crate) fn folded_text(subject: &str, text: &[char], at: usize) -> Option<usize> {
    let mut folded = Folded::new(&subject[at..]);
    text.iter().all(|character| folded.next() == Some(*character)).then_some(())?;
    folded.rest_bytes().map(|rest| subject.len() - rest)
}

/// The end of what `.` is.
#[inline]
pub(crate) fn dot(subject: &str, dot: Dot, at: usize) -> Option<usize> {
    match dot {
        Dot::Lines => one(subject, at, |character| !is_line_end(character)),
        Dot::UnixLines => one(subject, at, |character| character != '\n'),
        Dot::All if subject[at..].starts_with("\r\n") => Some(at + 2),
        Dot::All => one(subject, at, |_| true),
    }
}

/// The end of a line end.
pub(crate) fn line_break(subject: &str, at: usize) -> Option<usize> {
    if subject[at..].starts_with("\r\n") { Some(at + 2) } else { one(subject, at, is_line_end) }
}

/// The end of a text that is that one, or folds to the same.
pub(crate) fn same_text(subject: &str, text: &str, folded: bool, at: usize) -> Option<usize> {
    if !folded {
        return subject[at..].starts_with(text).then(|| at + text.len());
    }
    let mut here = Folded::new(&subject[at..]);
    Folded::new(text).all(|character| here.next() == Some(character)).then_some(())?;
    here.rest_bytes().map(|rest| subject.len() - rest)
}

/// Whether an assertion holds. The last match ended at `last_end`.
pub(crate) fn holds(subject: &str, assertion: Assertion, last_end: usize, at: usize) -> bool {
    let rest = &subject[at..];
    let before = || character_before(subject, at);
    let next = || character_at(subject, at);
    let splits_line_end = || before() == Some('\r') && next() == Some('\n');
    match assertion {
        Assertion::TextStart => at == 0,
        Assertion::LineStart => at == 0 || (!rest.is_empty() && before().is_some_and(is_line_end)),
        Assertion::UnixLineStart => at == 0 || (!rest.is_empty() && before() == Some('\n')),
        Assertion::TextEnd => rest.is_empty(),
        Assertion::LastLineEnd => {
            let is_last = || next().is_some_and(|next| is_line_end(next) && next.len_utf8() == rest.len());
            rest.is_empty() || rest == "\r\n" || (is_last() && !splits_line_end())
        }
        Assertion::UnixLastLineEnd => rest.is_empty() || rest == "\n",
        Assertion::LineEnd => rest.is_empty() || (next().is_some_and(is_line_end) && !splits_line_end()),
        Assertion::UnixLineEnd => rest.is_empty() || next() == Some('\n'),
        Assertion::WordBoundary => is_word_boundary(subject, at),
        Assertion::NoWordBoundary => !is_word_boundary(subject, at),
        Assertion::LastMatchEnd => at == last_end,
    }
}

/// Words end neither before what combines nor within it.
fn is_word_boundary(subject: &str, at: usize) -> bool {
    let next = character_at(subject, at);
    if next.is_some_and(is_combining) {
        return false;
    }
    let before = subject[..at].chars().rev().find(|character| !is_combining(*character));
    next.is_some_and(is_word) != before.is_some_and(is_word)
}
