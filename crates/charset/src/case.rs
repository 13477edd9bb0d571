//! Upper and lower case of Unicode characters as MySQL's collations map them, one to one.
//! Main type: [`CaseTable`], made at first use from `data/case_*.bin`.

use crate::varint::Reader;
use std::sync::LazyLock;

/// Case mappings that differ from identity, ordered by character.
#[derive(Debug)]
pub(crate) struct CaseTable {
    /// Character, lower case, upper case.
    mappings: Vec<(u32, u32, u32)>,
}

pub(crate) static CASE_GENERAL: LazyLock<CaseTable> =
    LazyLock::new(|| CaseTable::read(include_bytes!("../data/case_general.bin")));
pub(crate) static CASE_0520: LazyLock<CaseTable> =
    LazyLock::new(|| CaseTable::read(include_bytes!("../data/case_0520.bin")));
pub(crate) static CASE_0900: LazyLock<CaseTable> =
    LazyLock::new(|| CaseTable::read(include_bytes!("../data/case_0900.bin")));

impl CaseTable {
    fn read(blob: &[u8]) -> CaseTable {
        let mut from = Reader::new(blob);
        let mut mappings = Vec::new();
        let mut character = 0u32;
        while !from.is_empty() {
            character += from.unsigned();
            let lower = character.wrapping_add_signed(from.signed());
            let upper = character.wrapping_add_signed(from.signed());
            mappings.push((character, lower, upper));
        }
        CaseTable { mappings }
    }

    /// The table that the collation of that name uses.
    pub(crate) fn of_collation(name: &str) -> &'static CaseTable {
        if name.contains("_0900_") {
            &CASE_0900
        } else if name.contains("_520_") {
            &CASE_0520
        } else {
            &CASE_GENERAL
        }
    }

    fn mapping(&self, character: u32) -> Option<&(u32, u32, u32)> {
        self.mappings.binary_search_by_key(&character, |mapping| mapping.0).ok().map(|at| &self.mappings[at])
    }

    pub(crate) fn lower(&self, character: u32) -> u32 {
        match character {
            0..0x80 => u32::from((character as u8).to_ascii_lowercase()),
            _ => self.mapping(character).map_or(character, |mapping| mapping.1),
        }
    }

    pub(crate) fn upper(&self, character: u32) -> u32 {
        match character {
            0..0x80 => u32::from((character as u8).to_ascii_uppercase()),
            _ => self.mapping(character).map_or(character, |mapping| mapping.2),
        }
    }
}
