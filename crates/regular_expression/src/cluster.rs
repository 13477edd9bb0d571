//! Where characters that belong together end: the extended grapheme clusters of Unicode. Main function: [`end`].

use crate::class::table;
use std::sync::OnceLock;

/// How a character joins its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Other,
    CarriageReturn,
    LineFeed,
    Control,
    Extend,
    Joiner,
    RegionalIndicator,
    Prepend,
    SpacingMark,
    LeadingConsonant,
    Vowel,
    TrailingConsonant,
    Syllable,
    ClosedSyllable,
    Pictographic,
}

const KINDS: &[(&str, Kind)] = &[
    ("gcb=CR", Kind::CarriageReturn),
    ("gcb=LF", Kind::LineFeed),
    ("gcb=Control", Kind::Control),
    ("gcb=Extend", Kind::Extend),
    ("gcb=ZWJ", Kind::Joiner),
    ("gcb=Regional_Indicator", Kind::RegionalIndicator),
    ("gcb=Prepend", Kind::Prepend),
    ("gcb=SpacingMark", Kind::SpacingMark),
    ("gcb=L", Kind::LeadingConsonant),
    ("gcb=V", Kind::Vowel),
    ("gcb=T", Kind::TrailingConsonant),
    ("gcb=LV", Kind::Syllable),
    ("gcb=LVT", Kind::ClosedSyllable),
    ("Extended_Pictographic", Kind::Pictographic),
];

/// Consonants of Indic scripts that a linker joins with the next one.
const CONSONANTS: &[(char, char)] = &[
    ('\u{915}', '\u{939}'),
    ('\u{958}', '\u{95f}'),
    ('\u{978}', '\u{97f}'),
    ('\u{995}', '\u{9a8}'),
    ('\u{9aa}', '\u{9b0}'),
    ('\u{9b2}', '\u{9b2}'),
    ('\u{9b6}', '\u{9b9}'),
    ('\u{9dc}', '\u{9dd}'),
    ('\u{9df}', '\u{9df}'),
    ('\u{9f0}', '\u{9f1}'),
    ('\u{a95}', '\u{aa8}'),
    ('\u{aaa}', '\u{ab0}'),
    ('\u{ab2}', '\u{ab3}'),
    ('\u{ab5}', '\u{ab9}'),
    ('\u{af9}', '\u{af9}'),
    ('\u{b15}', '\u{b28}'),
    ('\u{b2a}', '\u{b30}'),
    ('\u{b32}', '\u{b33}'),
    ('\u{b35}', '\u{b39}'),
    ('\u{b5c}', '\u{b5d}'),
    ('\u{b5f}', '\u{b5f}'),
    ('\u{b71}', '\u{b71}'),
    ('\u{c15}', '\u{c28}'),
    ('\u{c2a}', '\u{c39}'),
    ('\u{c58}', '\u{c5a}'),
    ('\u{d15}', '\u{d3a}'),
];

/// The linkers.
const LINKERS: &[char] = &['\u{94d}', '\u{9cd}', '\u{acd}', '\u{b4d}', '\u{c4d}', '\u{d4d}'];

fn kind(character: char) -> Kind {
    static TABLE: OnceLock<Vec<(char, char, Kind)>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut ranges: Vec<(char, char, Kind)> = Vec::new();
        for (name, kind) in KINDS {
            let class = table(name).expect("a property of the Unicode tables");
            ranges.extend(class.iter().map(|range| (range.start(), range.end(), *kind)));
        }
        ranges.sort_unstable_by_key(|range| range.0);
        ranges
    });
    let at = table.partition_point(|range| range.1 < character);
    table.get(at).filter(|range| range.0 <= character).map_or(Kind::Other, |range| range.2)
}

/// What counts of the cluster up to here.
#[derive(Default)]
struct Seen {
    /// Regional indicators at its end.
    indicators: u32,
    /// A pictograph, and nothing but what extends behind it.
    pictograph: bool,
    /// A consonant, and nothing but what extends behind it, with a linker in it or not.
    consonant: Option<bool>,
}

impl Seen {
    fn add(&mut self, character: char, kind: Kind) {
        self.indicators = if kind == Kind::RegionalIndicator { self.indicators + 1 } else { 0 };
        self.pictograph = match kind {
            Kind::Pictographic => true,
            Kind::Extend | Kind::Joiner => self.pictograph,
            _ => false,
        };
        let is_consonant = CONSONANTS.iter().any(|range| (range.0..=range.1).contains(&character));
        self.consonant = match kind {
            _ if is_consonant => Some(false),
            Kind::Extend | Kind::Joiner => {
                self.consonant.map(|linked| linked || LINKERS.contains(&character))
            }
            _ => None,
        };
    }

    /// Whether the next character belongs to the cluster whose last one is of that kind.
    fn joins(&self, last: Kind, character: char, next: Kind) -> bool {
        use Kind::*;
        match (last, next) {
            (CarriageReturn, LineFeed) => true,
            (CarriageReturn | LineFeed | Control, _) | (_, CarriageReturn | LineFeed | Control) => false,
            (LeadingConsonant, LeadingConsonant | Vowel | Syllable | ClosedSyllable) => true,
            (Syllable | Vowel, Vowel | TrailingConsonant) => true,
            (ClosedSyllable | TrailingConsonant, TrailingConsonant) => true,
            (_, Extend | Joiner | SpacingMark) | (Prepend, _) => true,
            (Joiner, Pictographic) if self.pictograph => true,
            (RegionalIndicator, RegionalIndicator) => self.indicators % 2 == 1,
            _ => {
                self.consonant == Some(true)
                    && CONSONANTS.iter().any(|range| (range.0..=range.1).contains(&character))
            }
        }
    }
}

/// The end of the cluster that begins at a byte; None at the end of the text.
pub(crate) fn end(subject: &str, at: usize) -> Option<usize> {
    let mut characters = subject[at..].char_indices();
    let (_, first) = characters.next()?;
    let mut seen = Seen::default();
    let mut last = kind(first);
    seen.add(first, last);
    for (offset, character) in characters {
        let next = kind(character);
        if !seen.joins(last, character, next) {
            return Some(at + offset);
        }
        seen.add(character, next);
        last = next;
    }
    Some(subject.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_end_where_unicode_says() {
        for (text, clusters) in [
            ("abc", 3),
            ("e\u{301}a\u{301}\u{302}", 2),
            ("\r\n\n\r", 3),
            ("\u{1f1ef}\u{1f1f5}\u{1f1ef}\u{1f1f5}\u{1f1ef}", 3),
            ("\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", 1),
            ("a\u{200d}\u{1f469}", 2),
            ("\u{1100}\u{1161}\u{11a8}\u{ac01}\u{11a8}", 2),
            ("\u{915}\u{94d}\u{937}", 1),
            ("\u{915}\u{937}", 2),
            ("\u{600}a", 1),
        ] {
            let (mut at, mut count) = (0, 0);
            while let Some(next) = end(text, at) {
                assert!(next > at);
                (at, count) = (next, count + 1);
            }
            assert_eq!(count, clusters, "{text:?}");
        }
    }
}
