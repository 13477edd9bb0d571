//! The words of the grammar and their look-up. Main type: [`Keyword`].
//! The words come from `data/keywords.tsv`; the hash table over them is built at compile time.

#[rustfmt::skip]
#[path = "generated/keyword.rs"]
mod generated;

pub use generated::{KEYWORDS, Keyword};

/// Slots of the look-up table: a power of two, five times the words, so that most probes hit at once.
const SLOTS: usize = 4096;
const EMPTY: u16 = u16::MAX;
/// Longer words are names; the longest keyword is checked against this at compile time.
const WORD_BYTES_MAX: usize = 48;

/// Open addressing with linear probing; a slot holds a position in KEYWORDS.
static TABLE: [u16; SLOTS] = build_table();

impl Keyword {
    /// The keyword spelled by `word`, in any case.
    #[inline]
    pub fn find(word: &[u8]) -> Option<Keyword> {
        if word.len() > WORD_BYTES_MAX || word.len() < 2 {
            return None;
        }
        let mut slot = hash(word);
        loop {
            let at = TABLE[slot];
            if at == EMPTY {
                return None;
            }
            let (text, keyword) = KEYWORDS[at as usize];
            if is_spelled(text.as_bytes(), word) {
                return Some(keyword);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// Upper-case spelling.
    pub fn text(self) -> &'static str {
        KEYWORDS[self as usize].0
    }

    /// Whether an unquoted name may not be this word.
    pub fn is_reserved(self) -> bool {
        generated::RESERVED[self as usize]
    }
}

/// Whether a word is that keyword, whose letters are capitals. Four letters are looked at together. Among the bytes that words have
/// (letters, digits, `_`, `$`, those beyond ASCII) only letters are another one of them with the bit of their case turned.
#[inline]
fn is_spelled(keyword: &[u8], word: &[u8]) -> bool {
    const CASE: u8 = b'a' ^ b'A';
    let is_same = |(a, b): (&[u8; 4], &[u8; 4])| {
        (u32::from_ne_bytes(*a) ^ u32::from_ne_bytes(*b)) & !u32::from_ne_bytes([CASE; 4]) == 0
    };
    let ends = keyword.last_chunk().zip(word.last_chunk());
    keyword.len() == word.len()
        && match ends {
            Some(ends) => is_same(ends) && keyword.as_chunks().0.iter().zip(word.as_chunks().0).all(is_same),
            None => keyword.iter().zip(word).all(|(a, b)| (a ^ b) & !CASE == 0),
        }
}

/// Depends on the letters without their case bit; `_` and digits keep enough of theirs.
const fn hash(word: &[u8]) -> usize {
    let last = word.len() - 1;
    let middle = word.len() / 2;
    let letters = (word[0] & 31) as u32
        | ((word[1] & 31) as u32) << 5
        | ((word[middle] & 31) as u32) << 10
        | ((word[last] & 31) as u32) << 15
        | ((word[last - 1] & 31) as u32) << 20
        | (word.len() as u32) << 25;
    (letters.wrapping_mul(0x9E37_79B1) >> 20) as usize % SLOTS
}

const fn build_table() -> [u16; SLOTS] {
    let mut table = [EMPTY; SLOTS];
    let mut at = 0;
    while at < KEYWORDS.len() {
        let word = KEYWORDS[at].0.as_bytes();
        assert!(word.len() <= WORD_BYTES_MAX && word.len() >= 2);
        let mut slot = hash(word);
        while table[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = at as u16;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_in_any_case() {
        for (word, keyword) in KEYWORDS {
            assert_eq!(Keyword::find(word.as_bytes()), Some(*keyword));
            assert_eq!(Keyword::find(word.to_lowercase().as_bytes()), Some(*keyword));
            assert_eq!(keyword.text(), *word);
        }
        assert_eq!(Keyword::find(b"selec"), None);
        assert_eq!(Keyword::find(b"sclect"), None);
        assert_eq!(Keyword::find(b"selecs"), None);
        assert_eq!(Keyword::find(b""), None);
    }

    #[test]
    fn reserved_words_are_known() {
        assert!(Keyword::Select.is_reserved());
        assert!(!Keyword::Begin.is_reserved());
    }
}
