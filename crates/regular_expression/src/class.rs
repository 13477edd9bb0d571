//! Sets of characters, and the named ones. Main type: [`Class`].

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};
use std::sync::{Arc, OnceLock};

/// A set of characters to be asked for one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// The ranges, sorted and apart.
    ranges: Box<[(char, char)]>,
    /// A bit for each character of ASCII.
    ascii: u128,
}

impl Class {
    /// From ranges.
    pub fn new(ranges: &ClassUnicode) -> Class {
        let mut ascii = 0;
        for range in ranges.iter() {
            for code in u32::from(range.start())..=u32::from(range.end()).min(0x7f) {
                ascii |= 1 << code;
            }
        }
        Class { ranges: ranges.iter().map(|range| (range.start(), range.end())).collect(), ascii }
    }

    /// Whether a character is in it.
    #[inline]
    pub fn contains(&self, character: char) -> bool {
        if character.is_ascii() {
            return self.ascii >> u32::from(character) & 1 == 1;
        }
        let at = self.ranges.partition_point(|range| range.1 < character);
        self.ranges.get(at).is_some_and(|range| range.0 <= character)
    }

    /// The ranges.
    pub fn to_ranges(&self) -> ClassUnicode {
        ClassUnicode::new(self.ranges.iter().map(|(start, end)| ClassUnicodeRange::new(*start, *end)))
    }
}

/// The set of these ranges.
pub(crate) fn ranges_of(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|(start, end)| ClassUnicodeRange::new(*start, *end)))
}

/// The characters of a property that the Unicode tables have, by a name that they know.
pub(crate) fn table(name: &str) -> Option<ClassUnicode> {
    let hir = regex_syntax::Parser::new().parse(&format!(r"\p{{{name}}}")).ok()?;
    match hir.into_kind() {
        regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => Some(class),
        regex_syntax::hir::HirKind::Literal(literal) => {
            let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
            let (only, None) = (characters.next()?, characters.next()) else { return None };
            Some(ranges_of(&[(only, only)]))
        }
        // A property that no character has.
        _ => Some(ClassUnicode::empty()),
    }
}

/// The characters that have one of these properties.
pub(crate) fn union_of(names: &[&str]) -> ClassUnicode {
    let mut union = ClassUnicode::empty();
    for name in names {
        union.union(&table(name).expect("a property of the Unicode tables"));
    }
    union
}

/// A class that a letter stands for.
pub(crate) struct Named {
    pub ranges: ClassUnicode,
    pub class: Arc<Class>,
}

/// `\d`, `\h`, `\s`, `\v`, `\w` and their complements in capitals; None for another letter.
pub(crate) fn named(letter: char) -> Option<&'static Named> {
    const LETTERS: &str = "dDhHsSvVwW";
    static CLASSES: [OnceLock<Named>; LETTERS.len()] = [const { OnceLock::new() }; LETTERS.len()];
    let class = &CLASSES[LETTERS.find(letter)?];
    Some(class.get_or_init(|| {
        let mut ranges = match letter.to_ascii_lowercase() {
            'd' => union_of(&["Nd"]),
            'h' => blank(),
            's' => union_of(&["White_Space"]),
            'v' => ranges_of(LINE_ENDS),
            _ => word(),
        };
        if letter.is_ascii_uppercase() {
            ranges.negate();
        }
        Named { class: Arc::new(Class::new(&ranges)), ranges }
    }))
}

/// Horizontal space.
pub(crate) fn blank() -> ClassUnicode {
    let mut class = union_of(&["Zs"]);
    class.union(&ranges_of(&[('\t', '\t')]));
    class
}

/// What words are made of.
pub(crate) fn word() -> ClassUnicode {
    let mut class = union_of(&["Alphabetic", "M", "Nd", "Pc"]);
    class.union(&ranges_of(&[('\u{200c}', '\u{200d}')]));
    class
}

/// What ends a line.
pub(crate) const LINE_ENDS: &[(char, char)] = &[('\n', '\r'), ('\u{85}', '\u{85}'), ('\u{2028}', '\u{2029}')];

/// Whether a character ends a line.
#[inline]
pub(crate) fn is_line_end(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether words are made of a character.
pub(crate) fn is_word(character: char) -> bool {
    named('w').is_some_and(|word| word.class.contains(character))
}

/// Whether a character belongs to the one before it, so that no word begins or ends between them.
pub(crate) fn is_combining(character: char) -> bool {
    static COMBINING: OnceLock<Class> = OnceLock::new();
    !character.is_ascii()
        && COMBINING.get_or_init(|| Class::new(&union_of(&["Grapheme_Extend", "Cf"]))).contains(character)
}
