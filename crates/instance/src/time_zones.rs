//! Named time zones, read from the machine's zone files (TZif). Main function: [`find`].
//! Zones are read once and kept; SYSTEM is UTC, so that stored times do not depend on the machine.

use crate::instance::Instance;
use env::OpenMode;
use expression::{TimeZone, ZoneRules};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

const ZONE_DIRECTORY: &str = "/usr/share/zoneinfo";
const ZONE_FILE_BYTES_MAX: u64 = 1 << 20;
/// America/Argentina/Ushuaia is two directories deep.
const ZONE_DEPTH_MAX: usize = 3;

static ZONES: Mutex<Option<HashMap<String, Arc<Zone>>>> = Mutex::new(None);

/// The name under which time_zone keeps that value; None if there is no such zone.
pub fn canonical(instance: &Instance, name: &str) -> Option<String> {
    find(instance, name)?;
    match name {
        _ if name.eq_ignore_ascii_case("SYSTEM") => Some("SYSTEM".to_owned()),
        _ if name.starts_with(['+', '-']) => {
            let (hours, minutes) = name[1..].split_once(':')?;
            Some(format!("{}{:0>2}:{minutes:0>2}", &name[..1], hours))
        }
        _ => Some(name.to_owned()),
    }
}

/// The zone of that name: SYSTEM, an offset, or a name of the zone database.
pub fn find(instance: &Instance, name: &str) -> Option<TimeZone> {
    if let Some(zone) = values::temporal::TimeZone::parse(name) {
        return Some(TimeZone::Fixed(zone.offset_seconds()));
    }
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+-/".contains(&byte));
    if !plain || name.is_empty() || name.starts_with('/') || name.starts_with(['+', '-']) {
        return None;
    }
    let mut zones = ZONES.lock().unwrap_or_else(PoisonError::into_inner);
    let zones = zones.get_or_insert_with(HashMap::new);
    if let Some(zone) = zones.get(name) {
        return Some(TimeZone::Rules(Arc::clone(zone) as Arc<dyn ZoneRules>));
    }
    let zone = Arc::new(read(instance, name)?);
    zones.insert(name.to_owned(), Arc::clone(&zone));
    Some(TimeZone::Rules(zone))
}

/// The names of all zones of the machine, sorted; none without a zone database.
pub fn names(instance: &Instance) -> Vec<String> {
    let disk = &instance.environment().disk;
    let mut names = Vec::new();
    let mut directories = vec![String::new()];
    while let Some(directory) = directories.pop() {
        let listed = disk.list(&Path::new(ZONE_DIRECTORY).join(&directory)).unwrap_or_default();
        for entry in listed {
            let name = if directory.is_empty() { entry } else { format!("{directory}/{entry}") };
            match name.strip_suffix('/') {
                // Copies of the database, with and without leap seconds, are not zones of it.
                Some("posix" | "right") => {}
                Some(below) if below.matches('/').count() < ZONE_DEPTH_MAX => {
                    directories.push(below.to_owned());
                }
                Some(_) => {}
                None if find(instance, &name).is_some() => names.push(name),
                None => {}
            }
        }
    }
    names.sort_unstable();
    names
}

fn read(instance: &Instance, name: &str) -> Option<Zone> {
    let path = format!("{ZONE_DIRECTORY}/{name}");
    let file = instance.environment().disk.open(Path::new(&path), OpenMode::ReadOnly).ok()?;
    let length = file.len().ok().filter(|length| *length <= ZONE_FILE_BYTES_MAX)?;
    let mut bytes = vec![0; length as usize];
    file.read_at(&mut bytes, 0).ok()?;
    Zone::parse(name, &bytes)
}

/// Transitions of a zone: from each instant on, seconds east of UTC.
#[derive(Debug)]
struct Zone {
    name: String,
    /// Offset before the first transition.
    first: i32,
    transitions: Vec<(i64, i32)>,
}

impl Zone {
    /// Reads a TZif file of version 2 or later (the 64-bit block). Rules beyond the last transition are not
    /// expanded: current zone files list transitions up to 2037.
    fn parse(name: &str, bytes: &[u8]) -> Option<Zone> {
        let first = Header::parse(bytes)?;
        let second_at = Header::BYTES + first.body_bytes(4);
        let (header, body, width) = match bytes.get(second_at..).and_then(Header::parse) {
            Some(header) => (header, second_at + Header::BYTES, 8),
            None => (first, Header::BYTES, 4),
        };
        let body = bytes.get(body..)?;
        let times = body.get(..header.times * width)?;
        let kinds = body.get(header.times * width..header.times * (width + 1))?;
        let types = body.get(header.times * (width + 1)..)?.get(..header.types * 6)?;
        let offset_of =
            |kind: usize| Some(i32::from_be_bytes(types.get(kind * 6..kind * 6 + 4)?.try_into().ok()?));
        let mut transitions = Vec::with_capacity(header.times);
        for (time, kind) in times.chunks_exact(width).zip(kinds) {
            let instant = match width {
                8 => i64::from_be_bytes(time.try_into().ok()?),
                _ => i64::from(i32::from_be_bytes(time.try_into().ok()?)),
            };
            transitions.push((instant, offset_of(usize::from(*kind))?));
        }
        Some(Zone { name: name.to_owned(), first: offset_of(0)?, transitions })
    }
}

struct Header {
    times: usize,
    types: usize,
    characters: usize,
    leaps: usize,
    standard: usize,
    utc: usize,
}

impl Header {
    const BYTES: usize = 44;

    fn parse(bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.get(..Header::BYTES).filter(|bytes| bytes.starts_with(b"TZif"))?;
        let number = |at: usize| {
            let word = bytes.get(20 + at * 4..24 + at * 4)?.try_into().ok()?;
            usize::try_from(u32::from_be_bytes(word))
                .ok()
                .filter(|count| *count <= ZONE_FILE_BYTES_MAX as usize)
        };
        Some(Header {
            utc: number(0)?,
            standard: number(1)?,
            leaps: number(2)?,
            times: number(3)?,
            types: number(4)?,
            characters: number(5)?,
        })
    }

    fn body_bytes(&self, width: usize) -> usize {
        self.times * (width + 1)
            + self.types * 6
            + self.characters
            + self.leaps * (width + 4)
            + self.standard
            + self.utc
    }
}

impl ZoneRules for Zone {
    fn name(&self) -> &str {
        &self.name
    }

    fn offset_at(&self, utc_seconds: i64) -> i32 {
        let after = self.transitions.partition_point(|(instant, _)| *instant <= utc_seconds);
        after.checked_sub(1).map_or(self.first, |at| self.transitions[at].1)
    }

    fn offset_at_local(&self, local_seconds: i64) -> i32 {
        // The earlier reading is the one whose offset, taken away, leads to an instant with that offset.
        let around = [local_seconds - 86_400, local_seconds + 86_400].map(|instant| self.offset_at(instant));
        let fits = |offset: &&i32| self.offset_at(local_seconds - i64::from(**offset)) == **offset;
        around.iter().find(fits).copied().unwrap_or(around[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitions_are_followed_both_ways() {
        let zone = Zone {
            name: "X".to_owned(),
            first: 3600,
            transitions: vec![(1_000_000, 7200), (2_000_000, 3600)],
        };
        assert_eq!(zone.offset_at(999_999), 3600);
        assert_eq!(zone.offset_at(1_000_000), 7200);
        // The hour that occurs twice takes the first reading, the skipped hour the offset after the gap.
        assert_eq!(zone.offset_at_local(2_000_000 + 3600), 7200);
        assert_eq!(zone.offset_at_local(1_000_000 + 3600 + 60), 7200);
        assert_eq!(zone.offset_at_local(500_000), 3600);
    }

    #[test]
    fn damaged_files_are_refused() {
        assert!(Zone::parse("X", b"TZif").is_none());
        assert!(Zone::parse("X", &[0xff; 200]).is_none());
        let mut header = b"TZif2".to_vec();
        header.resize(44, 0xff);
        assert!(Zone::parse("X", &header).is_none());
    }
}
