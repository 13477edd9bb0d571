//! Collations of languages: what each changes of the weights of Unicode. Main functions: [`of_name`], [`Tailoring::read`].
//! `data/tailorings.tsv` has a section for each language: ranges of weights that are moved as a whole, characters with
//! weights of their own, and contractions, sequences of characters that weigh as one.

use crate::encoding::Encoding;
use crate::sort_code::SortCode;
use crate::weights::{CharacterWeights, Entry, WeightTable};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The weight table and the codes of a language, made when they are used first.
pub(crate) type Made = (&'static LazyLock<WeightTable>, &'static LazyLock<SortCode>);

macro_rules! languages {
    ($pad_space:literal, $($name:literal)*) => {
        &[$(($name, {
            static TABLE: LazyLock<WeightTable> = LazyLock::new(|| WeightTable::of_language($name));
            static CODE: LazyLock<SortCode> = LazyLock::new(|| SortCode::new(&TABLE, $pad_space));
            (&TABLE, &CODE)
        })),*]
    };
}

/// Those of UCA 4.0.0, by the middle of their names.
static LANGUAGES_0400: &[(&str, Made)] = languages!(true,
    "icelandic" "latvian" "romanian" "slovenian" "polish" "estonian" "spanish" "swedish" "turkish" "czech" "danish"
    "lithuanian" "slovak" "spanish2" "roman" "persian" "esperanto" "hungarian" "sinhala" "german2" "croatian"
    "vietnamese");

/// Those of UCA 9.0.0.
static LANGUAGES_0900: &[(&str, Made)] = languages!(false,
    "de_pb" "is" "lv" "ro" "sl" "pl" "et" "es" "sv" "tr" "cs" "da" "lt" "sk" "es_trad" "la" "eo" "hu" "hr" "vi" "ru"
    "nb" "nn" "sr_latn" "bs" "bg" "gl" "mn_cyrl");

/// The table and the number of levels of `SET_LANGUAGE_ci`, `SET_LANGUAGE_0900_ai_ci` or `SET_LANGUAGE_0900_as_cs`, from the
/// name without its set.
pub(crate) fn of_name(suffix: &str) -> Option<(Made, u8)> {
    let name = suffix.strip_prefix('_')?;
    let (language, languages, levels) = if let Some(language) = name.strip_suffix("_0900_ai_ci") {
        (language, LANGUAGES_0900, 1)
    } else if let Some(language) = name.strip_suffix("_0900_as_cs") {
        (language, LANGUAGES_0900, 3)
    } else {
        (name.strip_suffix("_ci")?, LANGUAGES_0400, 1)
    };
    let found = languages.iter().find(|(name, _)| *name == language)?;
    Some((found.1, levels))
}

/// Weights of a range that are moved by the same distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    level: u8,
    first: u16,
    last: u16,
    distance: i32,
}

/// The weights that a section gives a character or a sequence, by level.
pub(crate) type Levels = Vec<Vec<u16>>;

/// A section of the file.
#[derive(Debug, Default)]
pub(crate) struct Tailoring {
    /// Whether it changes UCA 9.0.0.
    pub(crate) of_0900: bool,
    pub(crate) moves: Vec<Move>,
    pub(crate) weights: Vec<(Vec<u32>, Levels)>,
}

impl Tailoring {
    /// The section of a language. The file is part of the program, so what is not there or not as it should be is found by tests.
    pub(crate) fn read(language: &str) -> Tailoring {
        let mut lines = include_str!("../data/tailorings.tsv").lines();
        let mut tailoring = Tailoring::default();
        let title = lines.find_map(|line| line.strip_prefix("= ")?.strip_prefix(language)?.strip_prefix(' '));
        tailoring.of_0900 = title.expect("every language has its section") == "0900";
        for line in lines.take_while(|line| !line.starts_with("= ")) {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields[..] {
                [">", level, first, last, distance] => tailoring.moves.push(Move {
                    level: hexadecimal(level) as u8,
                    first: hexadecimal(first) as u16,
                    last: hexadecimal(last) as u16,
                    distance: distance.parse().expect("a distance is a number"),
                }),
                [characters, weights] => {
                    let level = |text: &str| {
                        text.split(' ')
                            .filter(|word| !word.is_empty())
                            .map(|word| hexadecimal(word) as u16)
                            .collect()
                    };
                    let characters = characters.split('+').map(hexadecimal).collect();
                    tailoring.weights.push((characters, weights.split('/').map(level).collect()));
                }
                _ => panic!("a line of tailorings.tsv has other fields: {line}"),
            }
        }
        tailoring
    }
}

fn hexadecimal(text: &str) -> u32 {
    u32::from_str_radix(text, 16).expect("tailorings.tsv has hexadecimal numbers")
}

/// Where a weight of a level is moved to.
pub(crate) fn moved(moves: &[Move], level: u8, weight: u16) -> u16 {
    let found = moves.iter().find(|m| m.level == level && (m.first..=m.last).contains(&weight));
    found.map_or(weight, |m| (i32::from(weight) + m.distance) as u16)
}

/// The contractions of a language.
#[derive(Clone, Debug)]
pub(crate) struct Contractions {
    /// By first character: what follows it and where the weights are, the longest first.
    by_head: HashMap<u32, Vec<(Vec<u32>, Entry)>>,
    /// Weights on level 1 of the first characters.
    heads: Vec<CharacterWeights>,
}

impl Contractions {
    /// None if there are none. `weights_of` gives the weights on level 1 of a character that stands alone.
    pub(crate) fn new(
        listed: Vec<(Vec<u32>, Entry)>,
        weights_of: impl Fn(u32) -> CharacterWeights,
    ) -> Option<Box<Contractions>> {
        let mut by_head: HashMap<u32, Vec<(Vec<u32>, Entry)>> = HashMap::new();
        for (characters, entry) in listed {
            by_head.entry(characters[0]).or_default().push((characters[1..].to_vec(), entry));
        }
        by_head.values_mut().for_each(|list| list.sort_by_key(|(rest, _)| usize::MAX - rest.len()));
        let heads = by_head.keys().map(|&head| weights_of(head)).collect();
        (!by_head.is_empty()).then(|| Box::new(Contractions { by_head, heads }))
    }

    /// Whether a character weighs on level 1 as one that begins a contraction.
    pub(crate) fn begin_with_equal_of(&self, weights: CharacterWeights) -> bool {
        self.heads.iter().any(|head| head.as_slice() == weights.as_slice())
    }

    /// The longest contraction of `head` and the text behind it: where its weights are, and how many bytes of the text belong
    /// to it.
    pub(crate) fn longest(&self, head: u32, encoding: Encoding, text: &[u8]) -> Option<(Entry, usize)> {
        let bytes_of = |characters: &[u32]| {
            characters.iter().try_fold(0, |at, &wanted| {
                let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
                let step = encoding.decode(rest);
                (step.character == Some(wanted)).then_some(at + step.length)
            })
        };
        self.by_head.get(&head)?.iter().find_map(|(rest, entry)| Some((*entry, bytes_of(rest)?)))
    }
}
