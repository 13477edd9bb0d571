//! [`Spans`]: where two values of the same length differ. An update that changes few bytes is logged as patches of
//! those bytes instead of the whole value.

use std::ops::Range;

/// Most patches of one update; more differences are joined or logged as a whole value.
const SPANS_MAX: usize = 4;
/// Equal bytes between two differences that are cheaper to log than another patch.
const GAP_BYTES: usize = 8;

/// The differing parts of two values.
pub(super) struct Spans {
    spans: [(usize, usize); SPANS_MAX],
    count: usize,
}

impl Spans {
    /// The parts in which `new` differs from `old`. `None` if the lengths differ or if patches would not be
    /// much shorter than the new value.
    pub(super) fn between(old: &[u8], new: &[u8]) -> Option<Self> {
        if old.len() != new.len() {
            return None;
        }
        let mut found = Self { spans: [(0, 0); SPANS_MAX], count: 0 };
        let mut at = 0;
        while let Some(next) = next_difference(old, new, at) {
            let run = old[next..].iter().zip(&new[next..]).take_while(|(old, new)| old != new).count();
            at = next + run;
            if found.count > 0 && next - found.spans[found.count - 1].1 < GAP_BYTES {
                found.spans[found.count - 1].1 = at;
                continue;
            }
            if found.count == SPANS_MAX {
                return None;
            }
            found.spans[found.count] = (next, at);
            found.count += 1;
        }
        let changed: usize = found.iter().map(|span| span.len() + GAP_BYTES).sum();
        (changed * 2 <= new.len()).then_some(found)
    }

    /// The parts, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.spans[..self.count].iter().map(|(start, end)| *start..*end)
    }
}

/// The first place from `at` on where the values differ; equal stretches are passed in words.
fn next_difference(old: &[u8], new: &[u8], mut at: usize) -> Option<usize> {
    const WORD: usize = 32;
    while at + WORD <= old.len() && old[at..at + WORD] == new[at..at + WORD] {
        at += WORD;
    }
    let rest = old.get(at..)?.iter().zip(&new[at..]);
    rest.into_iter().position(|(old, new)| old != new).map(|offset| at + offset)
}

#[cfg(test)]
mod tests {
    use super::Spans;

    fn spans(old: &[u8], new: &[u8]) -> Option<Vec<(usize, usize)>> {
        Spans::between(old, new).map(|spans| spans.iter().map(|span| (span.start, span.end)).collect())
    }

    #[test]
    fn near_differences_are_one_span_and_many_are_none() {
        let old = [0_u8; 200];
        let mut new = old;
        assert_eq!(spans(&old, &new), Some(vec![]));
        (new[0], new[3], new[150], new[199]) = (1, 1, 1, 1);
        assert_eq!(spans(&old, &new), Some(vec![(0, 4), (150, 151), (199, 200)]));
        assert_eq!(spans(&old, &new[..199]), None);
        (new[40], new[80]) = (1, 1);
        assert_eq!(spans(&old, &new), None);
        assert_eq!(spans(&[0; 20], &[1; 20]), None);
    }
}
