//! Sort keys: order-preserving codes for weights, one byte for what ASCII text needs. Main type: [`SortCode`].
//!
//! The codes of level 1 are a prefix code: no code begins another one, so byte order is weight order and a key
//! needs no escapes. Where PAD SPACE makes trailing spaces insignificant, the end of the text stands for endless
//! spaces: a space is written as one of two bytes by what follows its run, and the end orders between them.
//! Levels 2 and 3 write runs of their common weight as one byte.

use std::sync::LazyLock;

use crate::weights::{self, WeightTable};

/// Closes a NO PAD key.
const END: u8 = 0;
/// Between the levels of a key.
const LEVEL_END: u8 = 1;
/// First byte that codes of level 1 use.
const CODE_MIN: u16 = 2;
/// Weights that get one byte besides those of printable ASCII: the first halves of the weights of Han
/// characters, so that such a character takes four bytes.
const HAN_WEIGHTS: [u16; 6] = [0xfb40, 0xfb41, 0xfb80, 0xfb84, 0xfb85, 0xfbc0];
/// Gaps of up to this many weights are coded in two bytes throughout.
const SHORT_GAP_MAX: u32 = 1024;

/// Neighbouring weights whose codes have the same form.
#[derive(Clone, Copy, Debug)]
struct Range {
    first_weight: u32,
    /// Lead byte of the first weight. With one trailing byte the lead rises every 256 weights.
    lead: u8,
    trailing: u8,
}

/// The codes of a weight table's collations.
#[derive(Debug)]
pub(crate) struct SortCode {
    /// By first weight.
    ranges: Vec<Range>,
    /// Bytes that follow each lead byte.
    trailing: [u8; 256],
    /// Code of each ASCII character that has exactly one byte and is no space; 0 for all other bytes.
    ascii: [u8; 256],
    pad_space: bool,
    /// Weight of the space.
    space: u16,
    /// Space before a lesser weight; the end and the space before a greater weight follow.
    space_before_lesser: u8,
}

macro_rules! codes {
    ($($name:ident = $table:path, $pad:expr;)*) => {
        $(pub(crate) static $name: LazyLock<SortCode> = LazyLock::new(|| SortCode::new(&$table, $pad));)*
    };
}

codes! {
    UCA_0900 = weights::UCA_0900, false;
    UCA_0520 = weights::UCA_0520, true;
    UCA_0400 = weights::UCA_0400, true;
    GENERAL = weights::GENERAL, true;
    CODE_POINT = weights::CODE_POINT, true;
    LOWER_CASE = weights::LOWER_CASE, true;
}

impl SortCode {
    pub(crate) fn new(table: &WeightTable, pad_space: bool) -> SortCode {
        // Those that begin a contraction too: they stand alone more often.
        let mut singles: Vec<u32> = (0x20..0x7f)
            .filter_map(|character| match table.weights_of(character, 1).as_slice() {
                [weight] if *weight != 0 => Some(u32::from(*weight)),
                _ => None,
            })
            .collect();
        if table.space > 0xff {
            singles.extend(HAN_WEIGHTS.map(u32::from));
        }
        singles.sort_unstable();
        singles.dedup();
        let mut code = SortCode {
            ranges: Vec::new(),
            trailing: [0; 256],
            ascii: [0; 256],
            pad_space,
            space: table.space,
            space_before_lesser: 0,
        };
        code.assign(&singles);
        for character in 0x20..0x7f {
            let weight = table.ascii[character];
            let range = code.range_of(weight);
            if weight != 0 && range.trailing == 0 && !(pad_space && weight == table.space) {
                code.ascii[character] = range.lead;
            }
        }
        code
    }

    /// Gives lead bytes to the weights with one byte and to the gaps between them. What is left over after
    /// the least that every gap needs makes the widest gap's codes shorter.
    fn assign(&mut self, singles: &[u32]) {
        let gaps = gaps_between(singles);
        let leads_of = |size: u32| if size <= SHORT_GAP_MAX { size.div_ceil(256) } else { 1 };
        let pad_leads = if self.pad_space { 2 } else { 0 };
        let needed: u32 =
            gaps.iter().map(|gap| leads_of(gap.1)).sum::<u32>() + singles.len() as u32 + pad_leads;
        let spare = 256u32.saturating_sub(u32::from(CODE_MIN)).saturating_sub(needed);
        let widest = gaps.iter().map(|gap| gap.1).max().unwrap_or(0);
        let mut lead = u32::from(CODE_MIN);
        let mut starts: Vec<(u32, Option<u32>)> = singles.iter().map(|&weight| (weight, None)).collect();
        starts.extend(gaps.iter().map(|&(first, size)| (first, Some(size))));
        starts.sort_unstable();
        for (first, gap) in starts {
            lead += match gap {
                None if self.pad_space && first == u32::from(self.space) => {
                    self.space_before_lesser = lead as u8;
                    self.add(first, lead, 0, 1);
                    3
                }
                None => self.add(first, lead, 0, 1),
                Some(size) if size <= SHORT_GAP_MAX => self.add(first, lead, 1, leads_of(size)),
                Some(size) if size == widest => {
                    let short_leads = spare.min(size / 256);
                    let used = if short_leads > 0 { self.add(first, lead, 1, short_leads) } else { 0 };
                    used + self.add(first + short_leads * 256, lead + used, 2, 1)
                }
                Some(_) => self.add(first, lead, 2, 1),
            };
        }
        assert!(lead <= 256, "codes of level 1 need {lead} lead bytes");
    }

    fn add(&mut self, first_weight: u32, lead: u32, trailing: u8, leads: u32) -> u32 {
        self.ranges.push(Range { first_weight, lead: lead as u8, trailing });
        for used in lead..lead + leads {
            self.trailing[(used & 0xff) as usize] = trailing;
        }
        leads
    }

    fn range_of(&self, weight: u16) -> Range {
        let after = self.ranges.partition_point(|range| range.first_weight <= u32::from(weight));
        self.ranges[after.max(1) - 1]
    }

    fn end(&self) -> u8 {
        if self.pad_space { self.space_before_lesser + 1 } else { END }
    }

    fn push_code(&self, weight: u16, out: &mut Vec<u8>) {
        let range = self.range_of(weight);
        let offset = u32::from(weight) - range.first_weight;
        match range.trailing {
            0 => out.push(range.lead),
            1 => out.extend_from_slice(&[range.lead + (offset >> 8) as u8, offset as u8]),
            _ => out.extend_from_slice(&[range.lead, (offset >> 8) as u8, offset as u8]),
        }
    }

    /// Appends the codes of ASCII characters up to the first that is none or needs care; returns how many.
    #[inline]
    pub(crate) fn append_ascii(&self, text: &[u8], out: &mut Vec<u8>) -> usize {
        let start = out.len();
        out.resize(start + text.len(), 0);
        let mut done = 0;
        for (place, &byte) in out[start..].iter_mut().zip(text) {
            let code = self.ascii[usize::from(byte)];
            if code == 0 {
                break;
            }
            *place = code;
            done += 1;
        }
        out.truncate(start + done);
        done
    }

    /// Appends the codes of a level 1. Spaces that end the text are left out when PAD SPACE.
    pub(crate) fn append(&self, weights: impl Iterator<Item = u16>, out: &mut Vec<u8>) {
        let mut spaces = 0;
        for weight in weights {
            if self.pad_space && weight == self.space {
                spaces += 1;
                continue;
            }
            if spaces > 0 {
                let space = self.space_before_lesser + if weight < self.space { 0 } else { 2 };
                out.extend(std::iter::repeat_n(space, spaces));
                spaces = 0;
            }
            self.push_code(weight, out);
        }
    }

    /// Closes a key of one level.
    pub(crate) fn append_end(&self, out: &mut Vec<u8>) {
        out.push(self.end());
    }

    /// Bytes of the key of `levels` levels at the start of `bytes`, each byte taken as `byte ^ flip`.
    pub(crate) fn length(&self, bytes: &[u8], levels: u8, flip: u8) -> Option<usize> {
        let mut at = 0;
        let end = if levels == 1 { self.end() } else { LEVEL_END };
        loop {
            let byte = bytes.get(at)? ^ flip;
            at += 1;
            if byte == end {
                break;
            }
            at += usize::from(self.trailing[usize::from(byte)]);
        }
        for level in 2..=levels {
            let end = if level == levels { END } else { LEVEL_END };
            loop {
                let byte = bytes.get(at)? ^ flip;
                at += 1;
                if byte == end {
                    break;
                }
                at += usize::from(byte >= WIDE_LEAD);
            }
        }
        Some(at)
    }
}

/// The runs of weights between the single ones: first weight and size.
fn gaps_between(singles: &[u32]) -> Vec<(u32, u32)> {
    let mut gaps = Vec::new();
    let mut next = 0;
    for &single in singles.iter().chain(&[0x1_0000]) {
        if single > next {
            gaps.push((next, single - next));
        }
        next = single + 1;
    }
    gaps
}

/// Longest run of common weights that one byte stands for.
const RUN_MAX: usize = 32;
/// A run before the end of the level: this byte for one, rising with the length.
const RUN_BEFORE_END: u8 = 2;
/// A run before a weight: this byte for one, falling with the length.
const RUN_BEFORE_WEIGHT: u8 = RUN_BEFORE_END + 2 * RUN_MAX as u8 - 1;
/// The weight after the common one.
const FIRST_WEIGHT: u8 = RUN_BEFORE_WEIGHT + 1;
/// Lead byte of weights that do not fit one byte.
const WIDE_LEAD: u8 = 0xf2;

/// Appends level 2 or 3, whose least weight is `common`; `is_last` closes the key.
pub(crate) fn append_level(
    weights: impl Iterator<Item = u16>,
    common: u16,
    is_last: bool,
    out: &mut Vec<u8>,
) {
    let mut run = 0;
    for weight in weights {
        if weight <= common {
            run += 1;
            continue;
        }
        append_run(run, |length| RUN_BEFORE_WEIGHT - (length - 1), out);
        run = 0;
        let above = weight - common - 1;
        let narrow_count = u16::from(WIDE_LEAD - FIRST_WEIGHT);
        if above < narrow_count {
            out.push(FIRST_WEIGHT + above as u8);
        } else {
            let wide = above - narrow_count;
            out.extend_from_slice(&[WIDE_LEAD + (wide >> 8).min(13) as u8, wide as u8]);
        }
    }
    append_run(run, |length| RUN_BEFORE_END + (length - 1), out);
    out.push(if is_last { END } else { LEVEL_END });
}

fn append_run(mut run: usize, code: impl Fn(u8) -> u8, out: &mut Vec<u8>) {
    while run > 0 {
        let length = run.min(RUN_MAX);
        out.push(code(length as u8));
        run -= length;
    }
}

/// Closes level 1 of a key of several levels.
pub(crate) fn append_level_end(out: &mut Vec<u8>) {
    out.push(LEVEL_END);
}
