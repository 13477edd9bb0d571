//! Long work over bytes, a piece at a time, so that KILL and max_execution_time are heard within it. Main functions:
//! [`for_each`], [`repeat`]. Main trait: [`Interrupt`].

use errors::SqlResult;
use std::borrow::Cow;
use std::io::Read;

/// Who waits for long work: asked now and then whether to go on.
pub trait Interrupt {
    /// Error 1317 or 3024 once the statement was killed or ran out of time.
    fn check_killed(&self) -> SqlResult<()>;
}

/// Nobody ends what takes this.
pub struct Uninterrupted;

impl Interrupt for Uninterrupted {
    fn check_killed(&self) -> SqlResult<()> {
        Ok(())
    }
}

/// What replaces or counts places in a text looks for a kill after so many of them.
pub const KILL_LOOK_PLACES: u64 = 4096;
/// What goes through a text by characters does so after so many of them.
pub const KILL_LOOK_CHARACTERS: u64 = 1 << 19;

/// Bytes of a piece: some milliseconds of the slowest work. A multiple of 3 and of 4, and of what a line of base64 takes.
pub const PIECE_BYTES: usize = 57 << 14;

/// Calls `work` with the bytes, piece by piece.
pub fn for_each(bytes: &[u8], interrupt: &dyn Interrupt, mut work: impl FnMut(&[u8])) -> SqlResult<()> {
    for (index, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
        // Short values have one piece.
        if index > 0 {
            interrupt.check_killed()?;
        }
        work(piece);
    }
    Ok(())
}

/// One byte for each byte.
pub fn map(bytes: &[u8], interrupt: &dyn Interrupt, mut make: impl FnMut(u8) -> u8) -> SqlResult<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    for_each(bytes, interrupt, |piece| out.extend(piece.iter().map(|byte| make(*byte))))?;
    Ok(out)
}

/// The bytes so many times, one after the other.
pub fn repeat(bytes: &[u8], count: usize, interrupt: &dyn Interrupt) -> SqlResult<Vec<u8>> {
    if bytes.is_empty() || count == 0 {
        return Ok(Vec::new());
    }
    let length = bytes.len() * count;
    if length <= PIECE_BYTES {
        return Ok(bytes.repeat(count));
    }
    let mut out = Vec::with_capacity(length);
    let piece = match PIECE_BYTES / bytes.len() {
        0 | 1 => Cow::Borrowed(bytes),
        times => Cow::Owned(bytes.repeat(times)),
    };
    while out.len() < length {
        interrupt.check_killed()?;
        let rest = length - out.len();
        out.extend_from_slice(&piece[..piece.len().min(rest)]);
    }
    Ok(out)
}

/// All that a reader gives, behind what `out` has. The inner result is the reader's.
pub fn read_all(
    reader: &mut impl Read,
    out: &mut Vec<u8>,
    interrupt: &dyn Interrupt,
) -> SqlResult<std::io::Result<()>> {
    loop {
        match reader.by_ref().take(PIECE_BYTES as u64).read_to_end(out) {
            Ok(0) => return Ok(Ok(())),
            Ok(read) if read < PIECE_BYTES => return Ok(Ok(())),
            Ok(_) => interrupt.check_killed()?,
            Err(error) => return Ok(Err(error)),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) use super::Uninterrupted as Never;

    #[test]
    fn long_and_short_repetitions() {
        assert_eq!(repeat(b"ab", 3, &Never).unwrap(), b"ababab");
        assert_eq!(repeat(b"", 3, &Never).unwrap(), b"");
        let long = repeat(b"abc", PIECE_BYTES, &Never).unwrap();
        assert_eq!((long.len(), &long[..4]), (PIECE_BYTES * 3, &b"abca"[..]));
    }
}
