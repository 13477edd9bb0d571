//! Which instructions of a program are locked. Main type: [`Programs`]. Executed addresses are known, so it is enough to
//! look at the first bytes of an instruction: nothing is disassembled.

use super::profile::Counts;
use crate::files;
use std::collections::BTreeMap;

/// Longest instruction of the architecture.
const INSTRUCTION_BYTES_MAX: usize = 15;
const LOCK: u8 = 0xF0;
/// Operand and address size, LOCK, repetition, segments.
const PREFIXES: [u8; 11] = [0x66, 0x67, LOCK, 0xF2, 0xF3, 0x2E, 0x36, 0x3E, 0x26, 0x64, 0x65];

/// Programs and libraries that were read.
#[derive(Default)]
pub struct Programs {
    by_path: BTreeMap<String, Program>,
}

/// An ELF file of 64 bits.
struct Program {
    bytes: Vec<u8>,
    /// Of what is loaded: address, place in the file, bytes.
    segments: Vec<(u64, u64, u64)>,
}

impl Programs {
    /// The locked ones of these instructions.
    pub fn locked(&mut self, path: &str, counts: &Counts) -> Result<Counts, String> {
        if !self.by_path.contains_key(path) {
            let bytes = files::read_bytes(path)?;
            let segments = segments(&bytes).ok_or_else(|| format!("{path} is no ELF file of 64 bits"))?;
            self.by_path.insert(path.to_owned(), Program { bytes, segments });
        }
        let program = &self.by_path[path];
        let mut locked = Counts::new();
        for (address, count) in counts {
            let code = program.code(*address).ok_or_else(|| format!("{path} has no code at {address:#x}"))?;
            if is_locked(code) {
                locked.insert(*address, *count);
            }
        }
        Ok(locked)
    }
}

impl Program {
    fn code(&self, address: u64) -> Option<&[u8]> {
        let (start, place, _) =
            self.segments.iter().find(|(start, _, bytes)| (*start..*start + *bytes).contains(&address))?;
        let rest = self.bytes.get(usize::try_from(place + (address - start)).ok()?..)?;
        Some(&rest[..rest.len().min(INSTRUCTION_BYTES_MAX)])
    }
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// The segments of type LOAD.
fn segments(bytes: &[u8]) -> Option<Vec<(u64, u64, u64)>> {
    const LOAD: u64 = 1;
    const HEADER_BYTES: usize = 56;
    if !bytes.starts_with(b"\x7FELF\x02") {
        return None;
    }
    let (headers, count) = (number(bytes, 32, 8)?, number(bytes, 56, 2)?);
    let mut segments = Vec::new();
    for index in 0..usize::try_from(count).ok()? {
        let at = usize::try_from(headers).ok()? + index * HEADER_BYTES;
        if number(bytes, at, 4)? == LOAD {
            segments.push((
                number(bytes, at + 16, 8)?,
                number(bytes, at + 8, 8)?,
                number(bytes, at + 32, 8)?,
            ));
        }
    }
    Some(segments)
}

/// A LOCK prefix, or XCHG with memory, which locks without one.
fn is_locked(code: &[u8]) -> bool {
    let prefixes = code.iter().take_while(|byte| PREFIXES.contains(byte)).count();
    let (prefixes, rest) = code.split_at(prefixes);
    if prefixes.contains(&LOCK) {
        return true;
    }
    let rest = match rest {
        [0x40..=0x4F, rest @ ..] => rest,
        rest => rest,
    };
    matches!(rest, [0x86 | 0x87, operands, ..] if operands >> 6 != 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_instructions_are_known() {
        for (code, expected) in [
            (&[0xF0, 0x48, 0xFF, 0x08][..], true),       // lock dec qword [rax]
            (&[0x64, 0xF0, 0x0F, 0xB1, 0x0A][..], true), // lock cmpxchg fs:[rdx], ecx
            (&[0x48, 0x87, 0x07][..], true),             // xchg [rdi], rax
            (&[0x86, 0x01][..], true),                   // xchg [rcx], al
            (&[0x48, 0x87, 0xC8][..], false),            // xchg rax, rcx
            (&[0x48, 0xFF, 0x08][..], false),            // dec qword [rax]
            (&[0xF3, 0x48, 0xAB][..], false),            // rep stosq
            (&[0x90][..], false),
        ] {
            assert_eq!(is_locked(code), expected, "{code:02x?}");
        }
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(segments(b"#!/bin/sh").is_none());
        assert!(segments(b"\x7FELF\x02").is_none(), "a header that is cut off");
    }
}
