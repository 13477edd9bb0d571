//! Looking for a text within a text, by a collation's equality, in time that grows with the sum of their lengths.
//! Main functions: [`Collation::find`], [`Charset::find_bytes`]. Only a collation that compares on several levels, or that has
//! contractions, may look at places more than once. A search that may take long asks its caller whether to go on.

use crate::collation::Order;
use crate::encoding::{Decoded, Encoding};
use crate::weights::{WeightTable, Weights};
use crate::{Charset, Collation};

/// A long search ended because its caller did not want to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Asked during a long search whether to go on.
pub type KeepOn<'k> = &'k mut dyn FnMut() -> bool;

/// After so many characters a search asks.
pub(crate) const KILL_LOOK_STEPS: usize = 1 << 16;

/// A byte that is no character stands for itself, outside the range of characters.
pub(crate) fn code_of(step: Decoded, text: &[u8]) -> u32 {
    step.character.unwrap_or_else(|| 0x8000_0000 | u32::from(text[0]))
}

/// How far a needle was met, element by element, without going back in the text (Knuth, Morris and Pratt).
pub(crate) struct Progress<T> {
    needle: Vec<T>,
    /// For each length of a met part, that of its longest proper end that is a start of the needle.
    borders: Vec<usize>,
    met: usize,
}

impl<T> Progress<T> {
    /// Nothing met yet. The needle has elements; `same` is an equivalence.
    pub fn new(needle: Vec<T>, same: &impl Fn(&T, &T) -> bool) -> Progress<T> {
        let mut borders = vec![0; needle.len() + 1];
        let mut border = 0;
        for length in 1..needle.len() {
            while border > 0 && !same(&needle[length], &needle[border]) {
                border = borders[border];
            }
            border += usize::from(same(&needle[length], &needle[border]));
            borders[length + 1] = border;
        }
        Progress { needle, borders, met: 0 }
    }

    /// Takes the text's next element; true if the needle ends with it.
    pub fn take(&mut self, element: &T, same: &impl Fn(&T, &T) -> bool) -> bool {
        while self.met == self.needle.len() || self.met > 0 && !same(element, &self.needle[self.met]) {
            self.met = self.borders[self.met];
        }
        self.met += usize::from(same(element, &self.needle[self.met]));
        self.met == self.needle.len()
    }

    pub fn length(&self) -> usize {
        self.needle.len()
    }
}

impl Charset {
    /// Byte offset of the first place at or after `from`, itself a character's start, where these bytes stand; the
    /// place starts at a character.
    pub fn find_bytes(&self, text: &[u8], needle: &[u8], from: usize) -> Option<usize> {
        let finder = memchr::memmem::Finder::new(needle);
        let mut aligned = from;
        let mut at = from;
        loop {
            at += finder.find(text.get(at..)?)?;
            let starts = match self.encoding {
                Encoding::Binary | Encoding::SingleByte(_) | Encoding::Unsupported => true,
                // No character swallows a byte that is not a later byte of one.
                Encoding::Utf8mb3 | Encoding::Utf8mb4
                    if text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80) =>
                {
                    true
                }
                _ => {
                    while aligned < at {
                        aligned += self.encoding.decode(&text[aligned..]).length;
                    }
                    aligned == at
                }
            };
            if starts {
                return Some(at);
            }
            at += 1;
        }
    }
}

impl Collation {
    /// Offset and length in bytes of the first place in `text` that equals `needle`, from byte offset `from`.
    /// The place starts at a character; it may have fewer bytes than the needle.
    pub fn find(
        &self,
        text: &[u8],
        needle: &[u8],
        from: usize,
        keep_on: KeepOn<'_>,
    ) -> Result<Option<(usize, usize)>, Stopped> {
        if from > text.len() || needle.is_empty() {
            return Ok((from <= text.len()).then_some((from, 0)));
        }
        match self.order {
            Order::Bytes | Order::Unsupported => {
                Ok(self.charset().find_bytes(text, needle, from).map(|at| (at, needle.len())))
            }
            Order::SingleByte(order) => {
                let weights =
                    |text: &[u8]| -> Vec<u8> { text.iter().map(|byte| order[usize::from(*byte)]).collect() };
                let found = memchr::memmem::find(&weights(&text[from..]), &weights(needle));
                Ok(found.map(|at| (from + at, needle.len())))
            }
            Order::MultiByte(listed) => {
                let weight = |step: Decoded, rest: &[u8]| listed.weight(code_of(step, rest));
                Ok(self.find_characters(text, needle, from, &weight))
            }
            Order::Weights { table, levels, .. } if table.contractions.is_some() => {
                self.find_contracted(table, levels, text, needle, from, keep_on)
            }
            Order::Weights { table, levels, .. } => {
                self.find_weights(table, levels, text, needle, from, keep_on)
            }
        }
    }

    /// One weight a character.
    fn find_characters(
        &self,
        text: &[u8],
        needle: &[u8],
        from: usize,
        weight: &impl Fn(Decoded, &[u8]) -> u32,
    ) -> Option<(usize, usize)> {
        let mut wanted = Vec::new();
        let mut at = 0;
        while at < needle.len() {
            let step = self.encoding.decode(&needle[at..]);
            wanted.push(weight(step, &needle[at..]));
            at += step.length;
        }
        let mut progress = Progress::new(wanted, &u32::eq);
        // Where the last characters start, as many as the needle has.
        let mut starts = vec![from; progress.length()];
        let (mut at, mut number) = (from, 0);
        while at < text.len() {
            let step = self.encoding.decode(&text[at..]);
            let slot = number % starts.len();
            starts[slot] = at;
            number += 1;
            let met = progress.take(&weight(step, &text[at..]), &u32::eq);
            at += step.length;
            if met {
                let start = starts[number % starts.len()];
                return Some((start, at - start));
            }
        }
        None
    }

    /// Where characters weigh together: a place may begin within what would be one weight of a longer text, so each
    /// place is looked at for itself.
    fn find_contracted(
        &self,
        table: &WeightTable,
        levels: u8,
        text: &[u8],
        needle: &[u8],
        from: usize,
        keep_on: KeepOn<'_>,
    ) -> Result<Option<(usize, usize)>, Stopped> {
        let wanted: Vec<u16> = Weights::new(table, self.encoding, needle, 1).collect();
        let level = |place, level| Weights::new(table, self.encoding, place, level);
        if wanted.is_empty() {
            return Ok((2..=levels).all(|n| level(needle, n).next().is_none()).then_some((from, 0)));
        }
        let (mut at, mut steps) = (from, 0_usize);
        while at < text.len() {
            let mut found = level(&text[at..], 1);
            let met = wanted.iter().take_while(|&&weight| found.next() == Some(weight)).count();
            let place = &text[at..text.len() - found.remaining()];
            if met == wanted.len() && (2..=levels).all(|n| level(place, n).eq(level(needle, n))) {
                return Ok(Some((at, place.len())));
            }
            // A run of characters without weights is passed each time.
            steps += 1 + text.len() - at - found.remaining();
            if steps >= KILL_LOOK_STEPS {
                steps = 0;
                if !keep_on() {
                    return Err(Stopped);
                }
            }
            at += self.encoding.decode(&text[at..]).length;
        }
        Ok(None)
    }

    /// Several weights a character, or none.
    fn find_weights(
        &self,
        table: &WeightTable,
        levels: u8,
        text: &[u8],
        needle: &[u8],
        from: usize,
        keep_on: KeepOn<'_>,
    ) -> Result<Option<(usize, usize)>, Stopped> {
        let wanted: Vec<u16> = Weights::new(table, self.encoding, needle, 1).collect();
        let matches = |place: &[u8]| {
            (2..=levels).all(|level| {
                let left = Weights::new(table, self.encoding, place, level);
                left.eq(Weights::new(table, self.encoding, needle, level))
            })
        };
        if wanted.is_empty() {
            // What weighs nothing is everywhere.
            return Ok(matches(&[]).then_some((from, 0)));
        }
        let mut progress = Progress::new(wanted, &u16::eq);
        // For the last weights, as many as the needle has: the characters at which a place may start, which are that
        // of the weight and those without weight before it. A later weight of a character starts no place.
        let mut starts = vec![from..from; progress.length()];
        let (mut at, mut number, mut weightless, mut steps) = (from, 0, from, 0_usize);
        while at < text.len() {
            steps += 1;
            if steps.is_multiple_of(KILL_LOOK_STEPS) && !keep_on() {
                return Err(Stopped);
            }
            let step = self.encoding.decode(&text[at..]);
            let weights = Weights::new(table, self.encoding, &text[at..at + step.length], 1);
            let end = at + step.length;
            let mut first = true;
            for weight in weights {
                let slot = number % starts.len();
                starts[slot] = if std::mem::take(&mut first) { weightless..end } else { end..end };
                number += 1;
                if !progress.take(&weight, &u16::eq) {
                    continue;
                }
                let mut places = starts[number % starts.len()].clone();
                while !places.is_empty() {
                    if levels == 1 || matches(&text[places.start..end]) {
                        return Ok(Some((places.start, end - places.start)));
                    }
                    if !keep_on() {
                        return Err(Stopped);
                    }
                    places.start += self.encoding.decode(&text[places.start..]).length;
                }
            }
            if !first {
                weightless = end;
            }
            at = end;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
