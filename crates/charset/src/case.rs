//! Upper and lower case of Unicode characters as MySQL's collations map them, one to one.
//! Main type: [`CaseTable`], made at first use from `data/case_*.bin`.

use crate::varint::Reader;
use std::sync::LazyLock;

/// Case mappings that differ from identity, ordered by character.
#[derive(Debug)]
pub(crate) struct CaseTable {
    /// Character, lower case, upper case.
    mappings: Vec<(u32, u32, u32)>,
    /// Turkish: the lower case of I has no dot, the upper case of i has one.
    is_dotless: bool,
}

pub(crate) static CASE_GENERAL: LazyLock<CaseTable> =
    LazyLock::new(|| CaseTable::read(include_bytes!("../data/case_general.bin")));
pub(crate) static CASE_0520: LazyLock<CaseTable> =
    LazyLock::new(|| CaseTable::read(include_bytes!("../data/case_0520.bin")));
pub(crate) static CASE_0900: LazyLock<CaseTable> =
    LazyLock::new(|| CaseTable::read(include_bytes!("../data/case_0900.bin")));

static CASE_TURKISH: LazyLock<CaseTable> = LazyLock::new(|| {
    let general = CaseTable::read(include_bytes!("../data/case_general.bin"));
    CaseTable { is_dotless: true, ..general }
});

/// Whether a collation of that name maps I and i to letters that are not ASCII. The one of UCA 9.0.0 does not.
pub(crate) fn is_dotless(name: &str) -> bool {
    name.ends_with("_turkish_ci")
}

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
        CaseTable { mappings, is_dotless: false }
    }

    /// The table that the collation of that name uses.
    pub(crate) fn of_collation(name: &str) -> &'static CaseTable {
        if name.contains("_0900_") {
            &CASE_0900
        } else if name.contains("_520_") {
            &CASE_0520
        } else if is_dotless(name) {
            &CASE_TURKISH
        } else {
            &CASE_GENERAL
        }
    }

    fn mapping(&self, character: u32) -> Option<&(u32, u32, u32)> {
        self.mappings.binary_search_by_key(&character, |mapping| mapping.0).ok().map(|at| &self.mappings[at])
    }

    pub(crate) fn lower(&self, character: u32) -> u32 {
        match character {
            0x49 if self.is_dotless => 0x131,
            0..0x80 => u32::from((character as u8).to_ascii_lowercase()),
            _ => self.mapping(character).map_or(character, |mapping| mapping.1),
        }
    }

    pub(crate) fn upper(&self, character: u32) -> u32 {
        match character {
            0x69 if self.is_dotless => 0x130,
            0..0x80 => u32::from((character as u8).to_ascii_uppercase()),
            _ => self.mapping(character).map_or(character, |mapping| mapping.2),
        }
    }
}
