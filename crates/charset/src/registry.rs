//! The character sets and collations that MySQL 9.7 knows, from `data/*.tsv`.
//! Main functions: [`collation`], [`collation_by_name`], [`charset_by_name`].
//! Entries that Iruka cannot order or convert are listed too, with `is_supported() == false`.

use crate::encoding::Encoding;
use crate::{Charset, Collation, CollationId, collation::Order};
use std::collections::HashMap;
use std::sync::LazyLock;

struct Registry {
    charsets: Vec<Charset>,
    collations: Vec<Collation>,
    /// Position in `collations` by id; `u16::MAX` where there is none.
    by_id: Vec<u16>,
    /// Position in `collations` by name in lower case.
    by_name: HashMap<&'static str, u16>,
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(load);

fn load() -> Registry {
    let mut charsets: Vec<Charset> =
        include_str!("../data/charsets.tsv").lines().filter_map(parse_charset).collect();
    let mut collations: Vec<Collation> = Vec::new();
    for line in include_str!("../data/collations.tsv").lines() {
        collations.extend(parse_collation(line, &charsets));
    }
    let mut by_id = vec![u16::MAX; 1024];
    for (position, collation) in collations.iter().enumerate() {
        by_id[usize::from(collation.id.0)] = position as u16;
        if collation.is_default {
            charsets[usize::from(collation.charset)].default_collation = collation.id;
        }
        if collation.name.ends_with("_bin") || collation.name == "binary" {
            let bin = &mut charsets[usize::from(collation.charset)].binary_collation;
            // utf8mb4 has two: utf8mb4_bin is the one that `BINARY` means.
            if *bin == CollationId(0) {
                *bin = collation.id;
            }
        }
    }
    let by_name = collations.iter().enumerate().map(|(position, c)| (c.name, position as u16)).collect();
    Registry { charsets, collations, by_id, by_name }
}

fn parse_charset(line: &'static str) -> Option<Charset> {
    let mut fields = line.split('\t');
    let name = fields.next()?;
    Some(Charset {
        name,
        description: fields.next()?,
        max_bytes: fields.next()?.parse().ok()?,
        default_collation: CollationId(0),
        binary_collation: CollationId(0),
        encoding: Encoding::by_name(name),
    })
}

fn parse_collation(line: &'static str, charsets: &[Charset]) -> Option<Collation> {
    let mut fields = line.split('\t');
    let id = CollationId(fields.next()?.parse().ok()?);
    let name = fields.next()?;
    let charset_name = fields.next()?;
    let charset = charsets.iter().position(|charset| charset.name == charset_name)?;
    Some(Collation {
        id,
        name,
        charset: charset as u16,
        is_default: fields.next()? == "1",
        sort_length: fields.next()?.parse().ok()?,
        pad_space: fields.next()? == "1",
        encoding: charsets[charset].encoding,
        order: Order::by_name(name, &charsets[charset]),
    })
}

/// The collation of that id.
#[inline]
pub fn collation(id: CollationId) -> Option<&'static Collation> {
    let registry = &*REGISTRY;
    registry.collations.get(usize::from(*registry.by_id.get(usize::from(id.0))?))
}

/// The collation of that name, without regard to case. `utf8_*` is an alias of `utf8mb3_*`.
pub fn collation_by_name(name: &str) -> Option<&'static Collation> {
    let registry = &*REGISTRY;
    // Names that the server keeps are in lower case; those of statements may not be.
    if let Some(position) = registry.by_name.get(name) {
        return registry.collations.get(usize::from(*position));
    }
    let find = |name: &str| registry.collations.iter().find(|c| c.name.eq_ignore_ascii_case(name));
    find(name).or_else(|| {
        let alias = name.get(..5).filter(|start| start.eq_ignore_ascii_case("utf8_"))?;
        find(&format!("utf8mb3_{}", &name[alias.len()..]))
    })
}

/// Character sets that MySQL will drop.
const DEPRECATED: [&str; 6] = ["utf8mb3", "ucs2", "macroman", "macce", "dec8", "hp8"];

/// The name of a character set that MySQL will drop, if this is one's.
pub fn deprecated(name: &str) -> Option<&'static str> {
    DEPRECATED.into_iter().find(|old| old.eq_ignore_ascii_case(name))
}

/// The character set of that name, without regard to case. `utf8` is an alias of `utf8mb3`.
pub fn charset_by_name(name: &str) -> Option<&'static Charset> {
    let name = if name.eq_ignore_ascii_case("utf8") { "utf8mb3" } else { name };
    REGISTRY.charsets.iter().find(|charset| charset.name.eq_ignore_ascii_case(name))
}

/// All collations, by id.
pub fn collations() -> &'static [Collation] {
    &REGISTRY.collations
}

/// All character sets, by name.
pub fn charsets() -> &'static [Charset] {
    &REGISTRY.charsets
}

pub(crate) fn charset_at(position: u16) -> &'static Charset {
    &REGISTRY.charsets[usize::from(position)]
}
