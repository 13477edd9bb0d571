//! Case folding: two texts are equal without regard to case where they fold to the same characters. Main functions: [`simple`],
//! [`full`]; main type: [`Folded`].

use crate::class::ranges_of;
use regex_syntax::hir::ClassUnicode;

/// Characters that fold to more than one, by character (Unicode's CaseFolding, status F).
#[rustfmt::skip]
const LONG: &[(char, &str)] = &[
    ('\u{df}', "\u{73}\u{73}"), ('\u{130}', "\u{69}\u{307}"), ('\u{149}', "\u{2bc}\u{6e}"),
    ('\u{1f0}', "\u{6a}\u{30c}"), ('\u{390}', "\u{3b9}\u{308}\u{301}"), ('\u{3b0}', "\u{3c5}\u{308}\u{301}"),
    ('\u{587}', "\u{565}\u{582}"), ('\u{1e96}', "\u{68}\u{331}"), ('\u{1e97}', "\u{74}\u{308}"),
    ('\u{1e98}', "\u{77}\u{30a}"), ('\u{1e99}', "\u{79}\u{30a}"), ('\u{1e9a}', "\u{61}\u{2be}"),
    ('\u{1e9e}', "\u{73}\u{73}"), ('\u{1f50}', "\u{3c5}\u{313}"), ('\u{1f52}', "\u{3c5}\u{313}\u{300}"),
    ('\u{1f54}', "\u{3c5}\u{313}\u{301}"), ('\u{1f56}', "\u{3c5}\u{313}\u{342}"), ('\u{1f80}', "\u{1f00}\u{3b9}"),
    ('\u{1f81}', "\u{1f01}\u{3b9}"), ('\u{1f82}', "\u{1f02}\u{3b9}"), ('\u{1f83}', "\u{1f03}\u{3b9}"),
    ('\u{1f84}', "\u{1f04}\u{3b9}"), ('\u{1f85}', "\u{1f05}\u{3b9}"), ('\u{1f86}', "\u{1f06}\u{3b9}"),
    ('\u{1f87}', "\u{1f07}\u{3b9}"), ('\u{1f88}', "\u{1f00}\u{3b9}"), ('\u{1f89}', "\u{1f01}\u{3b9}"),
    ('\u{1f8a}', "\u{1f02}\u{3b9}"), ('\u{1f8b}', "\u{1f03}\u{3b9}"), ('\u{1f8c}', "\u{1f04}\u{3b9}"),
    ('\u{1f8d}', "\u{1f05}\u{3b9}"), ('\u{1f8e}', "\u{1f06}\u{3b9}"), ('\u{1f8f}', "\u{1f07}\u{3b9}"),
    ('\u{1f90}', "\u{1f20}\u{3b9}"), ('\u{1f91}', "\u{1f21}\u{3b9}"), ('\u{1f92}', "\u{1f22}\u{3b9}"),
    ('\u{1f93}', "\u{1f23}\u{3b9}"), ('\u{1f94}', "\u{1f24}\u{3b9}"), ('\u{1f95}', "\u{1f25}\u{3b9}"),
    ('\u{1f96}', "\u{1f26}\u{3b9}"), ('\u{1f97}', "\u{1f27}\u{3b9}"), ('\u{1f98}', "\u{1f20}\u{3b9}"),
    ('\u{1f99}', "\u{1f21}\u{3b9}"), ('\u{1f9a}', "\u{1f22}\u{3b9}"), ('\u{1f9b}', "\u{1f23}\u{3b9}"),
    ('\u{1f9c}', "\u{1f24}\u{3b9}"), ('\u{1f9d}', "\u{1f25}\u{3b9}"), ('\u{1f9e}', "\u{1f26}\u{3b9}"),
    ('\u{1f9f}', "\u{1f27}\u{3b9}"), ('\u{1fa0}', "\u{1f60}\u{3b9}"), ('\u{1fa1}', "\u{1f61}\u{3b9}"),
    ('\u{1fa2}', "\u{1f62}\u{3b9}"), ('\u{1fa3}', "\u{1f63}\u{3b9}"), ('\u{1fa4}', "\u{1f64}\u{3b9}"),
    ('\u{1fa5}', "\u{1f65}\u{3b9}"), ('\u{1fa6}', "\u{1f66}\u{3b9}"), ('\u{1fa7}', "\u{1f67}\u{3b9}"),
    ('\u{1fa8}', "\u{1f60}\u{3b9}"), ('\u{1fa9}', "\u{1f61}\u{3b9}"), ('\u{1faa}', "\u{1f62}\u{3b9}"),
    ('\u{1fab}', "\u{1f63}\u{3b9}"), ('\u{1fac}', "\u{1f64}\u{3b9}"), ('\u{1fad}', "\u{1f65}\u{3b9}"),
    ('\u{1fae}', "\u{1f66}\u{3b9}"), ('\u{1faf}', "\u{1f67}\u{3b9}"), ('\u{1fb2}', "\u{1f70}\u{3b9}"),
    ('\u{1fb3}', "\u{3b1}\u{3b9}"), ('\u{1fb4}', "\u{3ac}\u{3b9}"), ('\u{1fb6}', "\u{3b1}\u{342}"),
    ('\u{1fb7}', "\u{3b1}\u{342}\u{3b9}"), ('\u{1fbc}', "\u{3b1}\u{3b9}"), ('\u{1fc2}', "\u{1f74}\u{3b9}"),
    ('\u{1fc3}', "\u{3b7}\u{3b9}"), ('\u{1fc4}', "\u{3ae}\u{3b9}"), ('\u{1fc6}', "\u{3b7}\u{342}"),
    ('\u{1fc7}', "\u{3b7}\u{342}\u{3b9}"), ('\u{1fcc}', "\u{3b7}\u{3b9}"), ('\u{1fd2}', "\u{3b9}\u{308}\u{300}"),
    ('\u{1fd3}', "\u{3b9}\u{308}\u{301}"), ('\u{1fd6}', "\u{3b9}\u{342}"), ('\u{1fd7}', "\u{3b9}\u{308}\u{342}"),
    ('\u{1fe2}', "\u{3c5}\u{308}\u{300}"), ('\u{1fe3}', "\u{3c5}\u{308}\u{301}"), ('\u{1fe4}', "\u{3c1}\u{313}"),
    ('\u{1fe6}', "\u{3c5}\u{342}"), ('\u{1fe7}', "\u{3c5}\u{308}\u{342}"), ('\u{1ff2}', "\u{1f7c}\u{3b9}"),
    ('\u{1ff3}', "\u{3c9}\u{3b9}"), ('\u{1ff4}', "\u{3ce}\u{3b9}"), ('\u{1ff6}', "\u{3c9}\u{342}"),
    ('\u{1ff7}', "\u{3c9}\u{342}\u{3b9}"), ('\u{1ffc}', "\u{3c9}\u{3b9}"), ('\u{fb00}', "\u{66}\u{66}"),
    ('\u{fb01}', "\u{66}\u{69}"), ('\u{fb02}', "\u{66}\u{6c}"), ('\u{fb03}', "\u{66}\u{66}\u{69}"),
    ('\u{fb04}', "\u{66}\u{66}\u{6c}"), ('\u{fb05}', "\u{73}\u{74}"), ('\u{fb06}', "\u{73}\u{74}"),
    ('\u{fb13}', "\u{574}\u{576}"), ('\u{fb14}', "\u{574}\u{565}"), ('\u{fb15}', "\u{574}\u{56b}"),
    ('\u{fb16}', "\u{57e}\u{576}"), ('\u{fb17}', "\u{574}\u{56d}"),
];

/// The character that stands for all of those that differ from it in case only.
pub(crate) fn simple(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    match character {
        // The dotted and the dotless i are letters of their own, but for Turkish.
        '\u{130}' | '\u{131}' => return character,
        // Cherokee folds to its capitals, which were there first.
        '\u{13a0}'..='\u{13f5}' => return character,
        '\u{13f8}'..='\u{13fd}' => return shifted(character, -8),
        '\u{ab70}'..='\u{abbf}' => return shifted(character, 0x13a0 - 0xab70),
        // Capitals of which only the fold to one character is of interest here, and letters that are equal when folded.
        '\u{1e9e}' => return '\u{df}',
        '\u{1fd3}' => return '\u{390}',
        '\u{1fe3}' => return '\u{3b0}',
        '\u{fb05}' => return '\u{fb06}',
        _ => {}
    }
    let upper = only(character.to_uppercase()).unwrap_or(character);
    only(upper.to_lowercase()).unwrap_or(upper)
}

fn shifted(character: char, by: i32) -> char {
    u32::from(character).checked_add_signed(by).and_then(char::from_u32).unwrap_or(character)
}

fn only(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next();
    if characters.next().is_some() { None } else { first }
}

/// What a character folds to: one to three of them.
pub(crate) fn full(character: char) -> impl Iterator<Item = char> {
    let long = match character.is_ascii() {
        true => None,
        false => LONG.binary_search_by_key(&character, |entry| entry.0).ok().map(|at| LONG[at].1),
    };
    let one = long.is_none().then(|| simple(character));
    long.unwrap_or_default().chars().chain(one)
}

/// The characters that fold to a text that begins with a folded one.
pub(crate) fn beginning_with(folded: char) -> ClassUnicode {
    let mut class = ranges_of(&[(folded, folded)]);
    class.case_fold_simple();
    for (character, _) in LONG.iter().filter(|entry| entry.1.starts_with(folded)) {
        class.union(&ranges_of(&[(*character, *character)]));
    }
    class
}

/// The folded characters of a text, one after the other.
pub(crate) struct Folded<'t> {
    rest: &'t str,
    /// What is left of the character before `rest`.
    expansion: &'static str,
}

impl<'t> Folded<'t> {
    /// Of this text.
    pub fn new(text: &'t str) -> Folded<'t> {
        Folded { rest: text, expansion: "" }
    }

    /// Bytes that were not yet looked at; None within a character that folds to several.
    pub fn rest_bytes(&self) -> Option<usize> {
        self.expansion.is_empty().then_some(self.rest.len())
    }
}

impl Iterator for Folded<'_> {
    type Item = char;

    #[inline]
    fn next(&mut self) -> Option<char> {
        let mut expansion = self.expansion.chars();
        if let Some(next) = expansion.next() {
            self.expansion = expansion.as_str();
            return Some(next);
        }
        let mut rest = self.rest.chars();
        let character = rest.next()?;
        self.rest = rest.as_str();
        if character.is_ascii() {
            return Some(character.to_ascii_lowercase());
        }
        match LONG.binary_search_by_key(&character, |entry| entry.0) {
            Ok(at) => {
                let mut expansion = LONG[at].1.chars();
                let first = expansion.next();
                self.expansion = expansion.as_str();
                first
            }
            Err(_) => Some(simple(character)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::{Class, table};
    use regex_syntax::hir::ClassUnicodeRange;
    use std::collections::BTreeMap;

    #[test]
    fn characters_fold_as_the_tables_of_unicode_say() {
        // The letters that std knows of a younger Unicode.
        let unknown = Class::new(&table("Cn").unwrap());
        let mut orbits: BTreeMap<char, Vec<char>> = BTreeMap::new();
        for character in '\0'..=char::MAX {
            orbits.entry(simple(character)).or_default().push(character);
        }
        for character in '\0'..=char::MAX {
            let mut class = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
            class.case_fold_simple();
            let expected: Vec<char> = class.iter().flat_map(|range| range.start()..=range.end()).collect();
            if orbits[&simple(character)].iter().any(|equal| unknown.contains(*equal)) {
                continue;
            }
            assert_eq!(orbits[&simple(character)], expected, "{character:?}");
        }
    }

    #[test]
    fn some_characters_fold_to_several() {
        assert_eq!(full('ß').collect::<String>(), "ss");
        assert_eq!(Folded::new("Maß\u{fb01}").collect::<String>(), "massfi");
        assert!(LONG.is_sorted_by_key(|entry| entry.0));
        // What is long was folded to the end.
        for (character, long) in LONG {
            assert!(long.chars().all(|part| simple(part) == part), "{character:?}");
        }
        let mut folded = Folded::new("ßx");
        assert_eq!(folded.next(), Some('s'));
        assert_eq!(folded.rest_bytes(), None);
        folded.next();
        assert_eq!(folded.rest_bytes(), Some(1));
    }
}
