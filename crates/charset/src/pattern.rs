//! LIKE patterns, by a collation's equality of characters. A pattern is tried from left to right; where that takes too
//! long, its pieces between % are searched for one after another (see `search.rs`), so that only a piece with _ in it
//! can take longer than text and pattern together; that asks its caller whether to go on.

use crate::Collation;
use crate::encoding::Encoding;
use crate::search::{KILL_LOOK_STEPS, KeepOn, Progress, Stopped, code_of};

const ANY_CHARACTER: u32 = b'_' as u32;
const ANY_TEXT: u32 = b'%' as u32;
/// Steps after which trying is given up, besides those that reading text and pattern takes.
const STEPS_MIN: usize = 1024;

/// What stands between two %: characters, None for any one.
type Piece = Vec<Option<u32>>;

/// A pattern element and the bytes that it takes.
enum Element {
    Literal(u32),
    AnyCharacter,
    AnyText,
}

impl Collation {
    /// Whether the text matches a LIKE pattern; `escape` is the escape character, if any.
    /// Characters are compared one by one; trailing spaces count, whatever the collation.
    pub fn like(
        &self,
        text: &[u8],
        pattern: &[u8],
        escape: Option<u32>,
        keep_on: KeepOn<'_>,
    ) -> Result<bool, Stopped> {
        let steps_max = STEPS_MIN + 4 * (text.len() + pattern.len());
        match self.like_within(text, pattern, escape, steps_max, &mut *keep_on)? {
            Some(matches) => Ok(matches),
            None => self.like_by_pieces(text, pattern, escape, keep_on),
        }
    }

    /// The same by trying; None if that takes more steps.
    pub(crate) fn like_within(
        &self,
        text: &[u8],
        pattern: &[u8],
        escape: Option<u32>,
        steps_max: usize,
        keep_on: KeepOn<'_>,
    ) -> Result<Option<bool>, Stopped> {
        let mut steps = 0;
        let (mut text_at, mut pattern_at) = (0, 0);
        // Where to resume after the last %: one character further into the text each time.
        let mut resume: Option<(usize, usize)> = None;
        loop {
            if steps % KILL_LOOK_STEPS == KILL_LOOK_STEPS - 1 && !keep_on() {
                return Err(Stopped);
            }
            let element = self.element(&pattern[pattern_at..], escape);
            match element {
                Some((Element::AnyText, length)) => {
                    pattern_at += length;
                    if pattern_at == pattern.len() {
                        return Ok(Some(true));
                    }
                    resume = Some((pattern_at, text_at));
                    continue;
                }
                None if text_at == text.len() => return Ok(Some(true)),
                Some((element, length)) if text_at < text.len() => {
                    let step = self.encoding.decode(&text[text_at..]);
                    let matches = match element {
                        Element::Literal(wanted) => {
                            self.characters_equal(code_of(step, &text[text_at..]), wanted)
                        }
                        _ => true,
                    };
                    if matches {
                        pattern_at += length;
                        text_at += step.length;
                        steps += 1;
                        continue;
                    }
                }
                _ => {}
            }
            let Some((resume_pattern, resume_text)) = resume else { return Ok(Some(false)) };
            if resume_text >= text.len() {
                return Ok(Some(false));
            }
            steps += 1;
            if steps > steps_max {
                return Ok(None);
            }
            text_at = resume_text + self.encoding.decode(&text[resume_text..]).length;
            pattern_at = resume_pattern;
            resume = Some((resume_pattern, text_at));
        }
    }

    /// The pattern's pieces between %.
    fn pieces(&self, pattern: &[u8], escape: Option<u32>) -> Vec<Piece> {
        let mut pieces = vec![Piece::new()];
        let mut at = 0;
        while let Some((element, length)) = self.element(&pattern[at..], escape) {
            at += length;
            let piece = match element {
                Element::Literal(code) => Some(Some(code)),
                Element::AnyCharacter => Some(None),
                Element::AnyText => None,
            };
            match (piece, pieces.last_mut()) {
                (Some(element), Some(last)) => last.push(element),
                _ => pieces.push(Piece::new()),
            }
        }
        pieces
    }

    /// The same piece by piece.
    pub(crate) fn like_by_pieces(
        &self,
        text: &[u8],
        pattern: &[u8],
        escape: Option<u32>,
        keep_on: KeepOn<'_>,
    ) -> Result<bool, Stopped> {
        let pieces = self.pieces(pattern, escape);
        let Some((first, rest)) = pieces.split_first() else { return Ok(text.is_empty()) };
        let Some(mut at) = self.piece_at(text, 0, first) else { return Ok(false) };
        let Some((last, middle)) = rest.split_last() else { return Ok(at == text.len()) };
        for piece in middle {
            match self.find_piece(text, at, piece, keep_on)? {
                Some(end) => at = end,
                None => return Ok(false),
            }
        }
        // The last piece stands at the text's end.
        let mut ahead = at;
        for _ in last {
            if ahead == text.len() {
                return Ok(false);
            }
            ahead += self.encoding.decode(&text[ahead..]).length;
        }
        while ahead < text.len() {
            ahead += self.encoding.decode(&text[ahead..]).length;
            at += self.encoding.decode(&text[at..]).length;
        }
        Ok(self.piece_at(text, at, last).is_some())
    }

    /// Where a piece ends that starts there.
    fn piece_at(&self, text: &[u8], start: usize, piece: &Piece) -> Option<usize> {
        let mut at = start;
        for element in piece {
            let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
            let step = self.encoding.decode(rest);
            if element.is_some_and(|code| !self.characters_equal(code_of(step, rest), code)) {
                return None;
            }
            at += step.length;
        }
        Some(at)
    }

    /// Where the first place of a piece ends.
    fn find_piece(
        &self,
        text: &[u8],
        from: usize,
        piece: &Piece,
        keep_on: KeepOn<'_>,
    ) -> Result<Option<usize>, Stopped> {
        if piece.is_empty() {
            return Ok(Some(from));
        }
        let literal: Option<Vec<u32>> = piece.iter().copied().collect();
        let same = |left: &u32, right: &u32| self.characters_equal(*left, *right);
        let mut progress = literal.map(|codes| Progress::new(codes, &same));
        let (mut at, mut steps) = (from, 0_usize);
        while at < text.len() {
            let step = self.encoding.decode(&text[at..]);
            steps += 1;
            if steps.is_multiple_of(KILL_LOOK_STEPS) && !keep_on() {
                return Err(Stopped);
            }
            match &mut progress {
                Some(progress) => {
                    let met = progress.take(&code_of(step, &text[at..]), &same);
                    if met {
                        return Ok(Some(at + step.length));
                    }
                }
                None => {
                    if let Some(end) = self.piece_at(text, at, piece) {
                        return Ok(Some(end));
                    }
                    if !keep_on() {
                        return Err(Stopped);
                    }
                }
            }
            at += step.length;
        }
        Ok(None)
    }

    fn element(&self, pattern: &[u8], escape: Option<u32>) -> Option<(Element, usize)> {
        if pattern.is_empty() {
            return None;
        }
        let step = self.encoding.decode(pattern);
        let code = code_of(step, pattern);
        if escape == Some(code) && pattern.len() > step.length {
            let rest = &pattern[step.length..];
            let escaped = self.encoding.decode(rest);
            return Some((Element::Literal(code_of(escaped, rest)), step.length + escaped.length));
        }
        let element = match code {
            ANY_CHARACTER => Element::AnyCharacter,
            ANY_TEXT => Element::AnyText,
            _ => Element::Literal(code),
        };
        Some((element, step.length))
    }

    /// The text that every match of a pattern starts with, as far as it is literal; and whether that is the
    /// whole pattern. For index ranges.
    pub fn like_prefix(&self, pattern: &[u8], escape: Option<u32>) -> (Vec<u8>, bool) {
        let mut prefix = Vec::new();
        let mut at = 0;
        while let Some((element, length)) = self.element(&pattern[at..], escape) {
            let Element::Literal(code) = element else { return (prefix, false) };
            if !self.encoding.encode(code, &mut prefix) {
                return (prefix, false);
            }
            at += length;
        }
        (prefix, true)
    }

    /// Whether a byte offset is at a character's start, counted from the text's start.
    pub fn is_character_start(&self, text: &[u8], offset: usize) -> bool {
        match self.encoding {
            Encoding::Utf8mb3 | Encoding::Utf8mb4 => text.get(offset).is_none_or(|byte| byte & 0xc0 != 0x80),
            Encoding::MultiByte(_) => {
                let mut at = 0;
                while at < offset.min(text.len()) {
                    at += self.encoding.decode(&text[at..]).length;
                }
                at == offset
            }
            _ => offset.is_multiple_of(self.encoding.min_bytes()),
        }
    }
}
