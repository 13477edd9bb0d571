//! What lackey tells of two sessions that take turns. Main type: [`Trace`].

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

const LINE_BYTES: u64 = 64;
const SESSIONS: usize = 2;
/// From mark to mark.
const MARK_BYTES: u64 = 8;

/// The writes in the turns of each session.
#[derive(Debug, Default)]
pub struct Trace {
    /// Address of the marks, once the program has said it.
    marks: Option<u64>,
    turn: Option<Turn>,
    /// Of the instruction that accesses memory.
    instruction: u64,
    /// Turns that ended, by session.
    turns: [usize; SESSIONS],
    /// In how many turns a line was written, by session.
    lines: [BTreeMap<u64, usize>; SESSIONS],
    writers: BTreeMap<u64, BTreeSet<u64>>,
}

/// The turn that runs.
#[derive(Debug)]
struct Turn {
    session: usize,
    lines: BTreeSet<u64>,
}

impl Trace {
    /// Reads to the end.
    pub fn read(mut input: impl BufRead) -> Result<Trace, String> {
        let mut trace = Trace::default();
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line).map_err(|error| error.to_string())? > 0 {
            trace.add(&line);
            line.clear();
        }
        match trace.turns {
            [first, second] if first == second && first > 0 => Ok(trace),
            turns => Err(format!("the sessions had {turns:?} turns")),
        }
    }

    /// Where the marks were.
    pub fn marks(&self) -> Result<u64, String> {
        self.marks.ok_or_else(|| "the program did not say where its marks are".to_owned())
    }

    /// The number of lines that a session wrote in more than half of its turns.
    pub fn written(&self) -> usize {
        self.lines[0].keys().filter(|line| self.writes(0, **line)).count()
    }

    /// The lines that each session wrote in more than half of its turns, with the instructions that did: threads in the background
    /// write something now and then.
    pub fn shared(&self) -> BTreeMap<u64, &BTreeSet<u64>> {
        let is_shared = |line: &u64| (0..SESSIONS).all(|session| self.writes(session, *line));
        self.writers
            .iter()
            .filter(|(line, _)| is_shared(line))
            .map(|(line, writers)| (*line, writers))
            .collect()
    }

    fn writes(&self, session: usize, line: u64) -> bool {
        self.lines[session].get(&line).is_some_and(|turns| turns * 2 > self.turns[session])
    }

    /// `I  ADDRESS,BYTES` for an instruction, then ` L`, ` S` or ` M` for what it loads, stores or modifies.
    fn add(&mut self, line: &[u8]) {
        match line {
            [b'I', b' ', b' ', place @ ..] if self.turn.is_some() => {
                self.instruction = access(place).map_or(0, |(address, _)| address);
            }
            [b' ', b'S' | b'M', b' ', place @ ..] if self.marks.is_some() => {
                if let Some((address, bytes)) = access(place) {
                    self.write(address, bytes);
                }
            }
            [b'm', b'a', b'r', b'k', b's', b' ', address @ ..] => {
                self.marks = hexadecimal(address).map(|found| found.0)
            }
            _ => {}
        }
    }

    fn write(&mut self, address: u64, bytes: u64) {
        if let Some(mark) = self.mark(address) {
            if let Some(Turn { session, lines }) = self.turn.take() {
                self.turns[session] += 1;
                lines.into_iter().for_each(|line| *self.lines[session].entry(line).or_default() += 1);
            }
            self.turn = (mark < SESSIONS).then(|| Turn { session: mark, lines: BTreeSet::new() });
            return;
        }
        let Some(turn) = &mut self.turn else { return };
        for line in address / LINE_BYTES..=(address + bytes - 1) / LINE_BYTES {
            turn.lines.insert(line);
            self.writers.entry(line).or_default().insert(self.instruction);
        }
    }

    /// The mark at an address.
    fn mark(&self, address: u64) -> Option<usize> {
        let mark = address.checked_sub(self.marks?)? / MARK_BYTES;
        usize::try_from(mark).ok().filter(|mark| *mark <= SESSIONS)
    }
}

/// `ADDRESS,BYTES`.
fn access(text: &[u8]) -> Option<(u64, u64)> {
    let (address, rest) = hexadecimal(text)?;
    let bytes = rest.strip_prefix(b",")?.trim_ascii_end().iter();
    let bytes = bytes.fold(0, |number, digit| number * 10 + u64::from(digit.wrapping_sub(b'0')));
    (bytes > 0).then_some((address, bytes))
}

/// A number at the start of a text, and what is behind it.
fn hexadecimal(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (number, rest) = text.split_at(digits);
    let digit = |byte: &u8| u64::from(char::from(*byte).to_digit(16).unwrap_or_default());
    (digits > 0).then(|| (number.iter().fold(0, |sum, byte| sum << 4 | digit(byte)), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn of the session that writes these addresses, by an instruction of the same number.
    fn turn(session: u64, addresses: &[u64]) -> String {
        let write = |address: &u64| format!("I  {address:x},3\n L 10,8\n S {address:x},8\n");
        let writes: String = addresses.iter().map(write).collect();
        format!(" S {:x},8\n{writes} S {:x},8\n S 9000,4\n", 0x1000 + session * 8, 0x1010)
    }

    #[test]
    fn what_both_write_in_most_turns_is_shared() {
        // The last word of a line, which goes on in the next, is written as two lines. 0x9000 is between turns.
        let text = [
            "==1== Lackey\n S 7000,8\nmarks 1000\n".to_owned(),
            turn(0, &[0x2000, 0x3000, 0x503c]),
            turn(1, &[0x2038, 0x4000, 0x5040]),
            turn(0, &[0x2008, 0x6000]),
            turn(1, &[0x2000, 0x4000, 0x6000]),
            turn(0, &[0x2008, 0x5040]),
            turn(1, &[0x2000, 0x5048]),
        ];
        let trace = Trace::read(text.concat().as_bytes()).unwrap();
        assert_eq!(trace.marks(), Ok(0x1000));
        let shared = trace.shared();
        assert_eq!(shared.keys().copied().collect::<Vec<_>>(), [0x2000 / 64, 0x5040 / 64]);
        assert_eq!(*shared[&(0x2000 / 64)], BTreeSet::from([0x2000, 0x2008, 0x2038]));
        assert_eq!(trace.written(), 2);
    }

    #[test]
    fn sessions_that_did_not_come_to_their_end_tell_nothing() {
        for text in ["", "marks 1000\n", "marks 1000\n S 1000,8\n S 1010,8\n"] {
            assert!(Trace::read(text.as_bytes()).is_err());
        }
    }
}
