//! Weights of characters: [`WeightTable`], made at first use from the compact tables in `data/`.
//! A table answers for every code point: what is not listed follows a rule ([`Implicit`]).

use crate::case::CASE_GENERAL;
use crate::encoding::Encoding;
use crate::tailoring::{self, Contractions, Levels, Move, Tailoring};
use crate::varint::Reader;
use std::ops::Range;
use std::sync::LazyLock;

/// Most weights that one character has on a level, with room to spare.
const CHARACTER_WEIGHTS_MAX: usize = 16;

/// Weights of the code points that a table does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Implicit {
    /// UCA 9.0.0.
    Uca0900,
    /// UCA 5.2.0.
    Uca0520,
    /// UCA 4.0.0; supplementary characters weigh the same.
    Uca0400,
    /// The code point; supplementary characters weigh the same.
    General,
    /// By code point, for `_bin` of character sets whose bytes order otherwise.
    CodePoint,
}

/// The weights of one character on one level.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CharacterWeights {
    weights: [u16; CHARACTER_WEIGHTS_MAX],
    length: u8,
}

impl CharacterWeights {
    fn push(&mut self, weight: u16) {
        if let Some(place) = self.weights.get_mut(usize::from(self.length)) {
            *place = weight;
            self.length += 1;
        }
    }

    pub(crate) fn as_slice(&self) -> &[u16] {
        &self.weights[..usize::from(self.length)]
    }
}

/// Where a listed character's weights are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    /// 0 for a character that is not listed, else one more than the index of its first weight.
    start: u32,
    level_1: u8,
    level_2: u8,
    level_3: u8,
    /// A contraction may begin with it.
    begins_contraction: bool,
}

impl Entry {
    /// Where the weights of a level are in the table's.
    #[inline]
    fn range(self, level: u8) -> Range<usize> {
        let start = self.start as usize - 1;
        let (level_1, level_2) = (usize::from(self.level_1), usize::from(self.level_2));
        match level {
            1 => start..start + level_1,
            2 => start + level_1..start + level_1 + level_2,
            _ => start + level_1 + level_2..start + level_1 + level_2 + usize::from(self.level_3),
        }
    }
}

/// The weights of all characters of a collation family.
#[derive(Clone, Debug)]
pub(crate) struct WeightTable {
    implicit: Implicit,
    /// 256 entries for each page of code points that lists any.
    pages: Vec<Option<Box<[Entry; 256]>>>,
    /// All listed weights: of each character those of level 1, then 2, then 3.
    weights: Vec<u16>,
    /// Ranges of weights that a language moves; those of listed characters are moved already.
    moves: Vec<Move>,
    /// Sequences of characters that weigh as one.
    pub(crate) contractions: Option<Box<Contractions>>,
    /// Level 1 of ASCII characters with exactly one weight that begin no contraction; 0 for all others.
    pub(crate) ascii: [u16; 128],
    /// Weight of the space on level 1.
    pub(crate) space: u16,
}

pub(crate) static UCA_0900: LazyLock<WeightTable> =
    LazyLock::new(|| WeightTable::read(include_bytes!("../data/uca_0900.bin"), Implicit::Uca0900));
pub(crate) static UCA_0520: LazyLock<WeightTable> =
    LazyLock::new(|| WeightTable::read(include_bytes!("../data/uca_0520.bin"), Implicit::Uca0520));
pub(crate) static UCA_0400: LazyLock<WeightTable> =
    LazyLock::new(|| WeightTable::read(include_bytes!("../data/uca_0400.bin"), Implicit::Uca0400));
pub(crate) static GENERAL: LazyLock<WeightTable> =
    LazyLock::new(|| WeightTable::read(include_bytes!("../data/general.bin"), Implicit::General));
pub(crate) static CODE_POINT: LazyLock<WeightTable> =
    LazyLock::new(|| WeightTable::read(&[], Implicit::CodePoint));

/// Characters by their lower case, for `utf8mb3_tolower_ci`.
pub(crate) static LOWER_CASE: LazyLock<WeightTable> = LazyLock::new(WeightTable::of_lower_case);

/// Set in the count of a record whose levels 2 and 3 are written out.
const EXPLICIT_LEVELS: u8 = 0x80;
/// The weights that levels 2 and 3 have unless written out.
const COMMON: [u16; 2] = [0x20, 0x02];

impl WeightTable {
    fn read(blob: &[u8], implicit: Implicit) -> WeightTable {
        let mut table = WeightTable {
            implicit,
            pages: (0..0x1100).map(|_| None).collect(),
            weights: Vec::new(),
            moves: Vec::new(),
            contractions: None,
            ascii: [0; 128],
            space: 0,
        };
        let mut from = Reader::new(blob);
        let (mut character, mut weight) = (0u32, 0i32);
        while !from.is_empty() {
            character += from.unsigned();
            let header = from.byte();
            let mut entry = Entry {
                start: table.weights.len() as u32 + 1,
                level_1: header & !EXPLICIT_LEVELS,
                ..Entry::default()
            };
            for _ in 0..entry.level_1 {
                weight += from.signed();
                table.weights.push(weight as u16);
            }
            table.read_levels(&mut from, header & EXPLICIT_LEVELS != 0, &mut entry);
            table.list(character, entry);
        }
        table.note_ascii();
        table
    }

    fn of_lower_case() -> WeightTable {
        let mut table = WeightTable::read(&[], Implicit::General);
        for character in 0..=0xffff {
            let lower = CASE_GENERAL.lower(character);
            if lower != character {
                let start = table.weights.len() as u32 + 1;
                table.weights.push(lower as u16);
                table.list(character, Entry { start, level_1: 1, ..Entry::default() });
            }
        }
        table.note_ascii();
        table
    }

    /// The weights of a language's collations: those of Unicode, and what its section of the tailorings changes.
    pub(crate) fn of_language(language: &str) -> WeightTable {
        let Tailoring { of_0900, moves, weights } = Tailoring::read(language);
        let mut table = if of_0900 { UCA_0900.clone() } else { UCA_0400.clone() };
        if !moves.is_empty() {
            table.move_listed(&moves);
        }
        table.moves = moves;
        let mut contractions = Vec::new();
        for (characters, levels) in weights {
            let entry = table.add_weights(levels);
            match characters[..] {
                [character] => table.list(character, entry),
                _ => contractions.push((characters, entry)),
            }
        }
        for (characters, _) in &contractions {
            table.entry_mut(characters[0]).begins_contraction = true;
        }
        table.contractions = Contractions::new(contractions, |head| table.weights_of(head, 1));
        table.note_ascii();
        table
    }

    fn move_listed(&mut self, moves: &[Move]) {
        for entry in self.pages.iter().flatten().flat_map(|page| page.iter()).filter(|entry| entry.start != 0)
        {
            for level in 1..=3 {
                for weight in &mut self.weights[entry.range(level)] {
                    *weight = tailoring::moved(moves, level, *weight);
                }
            }
        }
    }

    /// Levels 2 and 3 are the common weights where a section does not name them.
    fn add_weights(&mut self, mut levels: Levels) -> Entry {
        if self.implicit == Implicit::Uca0900 && levels.len() == 1 {
            levels.extend(COMMON.map(|common| vec![common; levels[0].len()]));
        }
        let count = |level: usize| levels.get(level).map_or(0, Vec::len) as u8;
        let start = self.weights.len() as u32 + 1;
        let (level_1, level_2, level_3) = (count(0), count(1), count(2));
        let entry = Entry { start, level_1, level_2, level_3, begins_contraction: false };
        self.weights.extend(levels.into_iter().flatten());
        entry
    }

    fn list(&mut self, character: u32, entry: Entry) {
        *self.entry_mut(character) = entry;
    }

    fn entry_mut(&mut self, character: u32) -> &mut Entry {
        let page =
            self.pages[(character >> 8) as usize].get_or_insert_with(|| Box::new([Entry::default(); 256]));
        &mut page[(character & 0xff) as usize]
    }

    fn note_ascii(&mut self) {
        for character in 0..128u32 {
            let weights = self.weights_of(character, 1);
            let begins = self.begins_contraction(character);
            self.ascii[character as usize] = match weights.as_slice() {
                [weight] if !begins => *weight,
                _ => 0,
            };
        }
        self.space = self.ascii[0x20];
    }

    fn read_levels(&mut self, from: &mut Reader<'_>, explicit: bool, entry: &mut Entry) {
        if explicit {
            entry.level_2 = from.unsigned() as u8;
            entry.level_3 = entry.level_2;
            let pairs: Vec<(u16, u16)> =
                (0..entry.level_2).map(|_| (from.unsigned() as u16, u16::from(from.byte()))).collect();
            self.weights.extend(pairs.iter().map(|pair| pair.0));
            self.weights.extend(pairs.iter().map(|pair| pair.1));
        } else if self.implicit == Implicit::Uca0900 {
            (entry.level_2, entry.level_3) = (entry.level_1, entry.level_1);
            for common in COMMON {
                self.weights.extend(std::iter::repeat_n(common, usize::from(entry.level_2)));
            }
        }
    }

    /// The one weight of an ASCII character on level 1.
    #[inline]
    pub(crate) fn ascii_weight(&self, character: u32) -> Option<u16> {
        self.ascii.get(character as usize).copied().filter(|weight| *weight != 0)
    }

    /// The weights of a code point on level 1, 2 or 3.
    #[inline]
    pub(crate) fn weights_of(&self, character: u32, level: u8) -> CharacterWeights {
        let page = self.pages.get((character >> 8) as usize).and_then(Option::as_ref);
        match page.map(|page| page[(character & 0xff) as usize]) {
            Some(entry) if entry.start != 0 => self.listed(entry, level),
            _ => self.unlisted(character, level),
        }
    }

    /// Whether a contraction may begin with a code point.
    #[inline]
    pub(crate) fn begins_contraction(&self, character: u32) -> bool {
        let page = self.pages.get((character >> 8) as usize).and_then(Option::as_ref);
        page.is_some_and(|page| page[(character & 0xff) as usize].begins_contraction)
    }

    fn listed(&self, entry: Entry, level: u8) -> CharacterWeights {
        let mut found = CharacterWeights::default();
        self.weights[entry.range(level)].iter().for_each(|&weight| found.push(weight));
        found
    }

    #[cold]
    fn unlisted(&self, character: u32, level: u8) -> CharacterWeights {
        let mut found = CharacterWeights::default();
        match self.implicit {
            Implicit::General => found.push(if character > 0xffff { 0xfffd } else { character as u16 }),
            Implicit::Uca0400 if character > 0xffff => found.push(0xfffd),
            Implicit::CodePoint => {
                if character >= 0xffff {
                    found.push(0xffff);
                    found.push((character >> 16) as u16);
                }
                if character != 0xffff {
                    found.push(character as u16);
                }
            }
            Implicit::Uca0900 if (0xac00..=0xd7a3).contains(&character) => {
                for jamo in jamo_of(character).into_iter().filter(|&jamo| jamo != 0) {
                    self.weights_of(jamo, level).as_slice().iter().for_each(|&weight| found.push(weight));
                }
            }
            _ if level > 1 => {
                let common = COMMON[usize::from(level - 2).min(1)];
                found.push(tailoring::moved(&self.moves, level, common));
            }
            implicit => {
                let (first, second) = implicit_weights(implicit, character);
                found.push(tailoring::moved(&self.moves, level, first));
                found.push(tailoring::moved(&self.moves, level, second));
            }
        }
        found
    }
}

/// The two or three letters that a Hangul syllable is made of; 0 for none.
fn jamo_of(syllable: u32) -> [u32; 3] {
    let index = syllable - 0xac00;
    let tail = index % 28;
    [0x1100 + index / 588, 0x1161 + index % 588 / 28, if tail == 0 { 0 } else { 0x11a7 + tail }]
}

fn implicit_weights(implicit: Implicit, character: u32) -> (u16, u16) {
    if implicit == Implicit::Uca0900 && (0x17000..=0x18aff).contains(&character) {
        return (0xfb00, (character - 0x17000) as u16 | 0x8000);
    }
    let base = match (implicit, character) {
        (Implicit::Uca0900, 0x4e00..=0x9fd5 | 0xfa0e..=0xfa29) | (_, 0x4e00..=0x9fa5) => 0xfb40,
        (_, 0x3400..=0x4db5) => 0xfb80,
        (
            Implicit::Uca0900,
            0x2_0000..=0x2_a6d6 | 0x2_a700..=0x2_b734 | 0x2_b740..=0x2_b81d | 0x2_b820..=0x2_cea1,
        ) => 0xfb80,
        _ => 0xfbc0,
    };
    ((base + (character >> 15)) as u16, (character & 0x7fff) as u16 | 0x8000)
}

/// The weights of a text on one level, in order.
pub(crate) struct Weights<'a> {
    table: &'a WeightTable,
    encoding: Encoding,
    rest: &'a [u8],
    level: u8,
    current: CharacterWeights,
    at: u8,
    /// A byte that is no character ends the text.
    ends_ill_formed: bool,
}

/// Weight of a byte that is no character, where it does not end the text: after everything else.
const ILL_FORMED: u16 = 0xffff;

impl<'a> Weights<'a> {
    pub(crate) fn new(table: &'a WeightTable, encoding: Encoding, text: &'a [u8], level: u8) -> Weights<'a> {
        let current = CharacterWeights::default();
        Weights { table, encoding, rest: text, level, current, at: 0, ends_ill_formed: false }
    }

    /// Weights of a text as a whole: for the collations of UCA 9.0.0 it ends before a byte that is no character.
    pub(crate) fn of_text(
        table: &'a WeightTable,
        encoding: Encoding,
        text: &'a [u8],
        level: u8,
    ) -> Weights<'a> {
        let ends_ill_formed = table.implicit == Implicit::Uca0900;
        Weights { ends_ill_formed, ..Weights::new(table, encoding, text, level) }
    }

    /// The weights of a character that was just read, together with those behind it that it is contracted with.
    #[inline(never)]
    fn contracted(&mut self, character: u32) -> CharacterWeights {
        let listed = self.table.contractions.as_ref();
        match listed.and_then(|listed| listed.longest(character, self.encoding, self.rest)) {
            Some((entry, length)) => {
                self.rest = &self.rest[length..];
                self.table.listed(entry, self.level)
            }
            None => self.table.weights_of(character, self.level),
        }
    }

    /// Bytes of the text that have not been read.
    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }
}

impl Iterator for Weights<'_> {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        while self.at == self.current.length {
            if self.rest.is_empty() {
                return None;
            }
            let step = self.encoding.decode(self.rest);
            self.rest = &self.rest[step.length..];
            self.at = 0;
            self.current = match step.character {
                Some(character)
                    if self.table.contractions.is_some() && self.table.begins_contraction(character) =>
                {
                    self.contracted(character)
                }
                Some(character) => self.table.weights_of(character, self.level),
                None if self.ends_ill_formed => {
                    self.rest = &[];
                    CharacterWeights::default()
                }
                None => {
                    let mut ill_formed = CharacterWeights::default();
                    ill_formed.push(ILL_FORMED);
                    ill_formed
                }
            };
        }
        self.at += 1;
        Some(self.current.weights[usize::from(self.at) - 1])
    }
}
