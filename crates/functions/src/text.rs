//! What functions and operators need of character sets, by collation: conversion, characters, comparison.
//! Thin names over `charset`.

use crate::pieces::Interrupt;
use charset::{CollationId, Stopped};
use errors::SqlResult;
use std::cmp::Ordering;

/// Whether two collations are of one character set.
#[inline]
pub fn same_character_set(left: CollationId, right: CollationId) -> bool {
    std::ptr::eq(left.charset(), right.charset())
}

/// Whether the collation orders by code point (`_bin`).
pub fn is_binary_order(collation: CollationId) -> bool {
    let name = collation.get().name;
    name.ends_with("_bin") || name == "binary"
}

/// The collation of the same character set that orders by code point.
pub fn binary_order_of(collation: CollationId) -> CollationId {
    match collation.charset().binary_collation {
        CollationId(0) => collation,
        found => found,
    }
}

/// Whether the character set holds all of Unicode (or of its first plane).
pub fn is_unicode(collation: CollationId) -> bool {
    let name = collation.charset().name;
    name.starts_with("utf") || name.starts_with("ucs2")
}

/// Whether the character set is utf8mb4.
#[inline]
pub fn is_utf8mb4(collation: CollationId) -> bool {
    collation.charset().name == "utf8mb4"
}

/// Whether the character set has no other characters than those of ASCII.
pub fn is_ascii(collation: CollationId) -> bool {
    collation.charset().name == "ascii"
}

/// Whether ASCII text has the same bytes in this character set.
#[inline]
pub fn is_ascii_superset(collation: CollationId) -> bool {
    collation.charset().is_ascii_based()
}

/// Name of a collation.
#[inline]
pub fn collation_name(collation: CollationId) -> &'static str {
    collation.get().name
}

/// Name of a collation's character set.
pub fn character_set_name(collation: CollationId) -> &'static str {
    collation.charset().name
}

/// Whether upper and lower case differ.
pub fn is_case_sensitive(collation: CollationId) -> bool {
    let name = collation.get().name;
    is_binary_order(collation) || name.ends_with("_cs")
}

/// Compares two texts.
#[inline]
pub fn compare(collation: CollationId, left: &[u8], right: &[u8]) -> Ordering {
    if collation == CollationId::BINARY { left.cmp(right) } else { collation.get().compare(left, right) }
}

/// Text in UTF-8; bad bytes are replaced.
#[inline]
pub fn to_utf8(bytes: &[u8], collation: CollationId) -> String {
    collation.charset().to_string_lossy(bytes)
}

/// UTF-8 in the character set of a collation; what it lacks becomes '?'.
pub fn from_utf8(text: &str, collation: CollationId) -> Vec<u8> {
    if collation == CollationId::BINARY || is_utf8mb4(collation) {
        return text.as_bytes().to_vec();
    }
    collation.charset().from_str(text).text
}

/// Text of one collation's character set in another's. From and to `binary` the bytes stay.
pub fn convert(bytes: Vec<u8>, from: CollationId, to: CollationId) -> Vec<u8> {
    let (source, target) = (from.charset(), to.charset());
    if source.converts_unchanged(&bytes, target) {
        return bytes;
    }
    source.convert(&bytes, target).text
}

/// As [`convert`], for texts that may be long.
pub fn convert_long(
    bytes: Vec<u8>,
    from: CollationId,
    to: CollationId,
    interrupt: &dyn Interrupt,
) -> SqlResult<Vec<u8>> {
    let (source, target) = (from.charset(), to.charset());
    if source.converts_unchanged(&bytes, target) {
        return Ok(bytes);
    }
    match source.convert_while(&bytes, target, &mut || interrupt.check_killed().is_ok()) {
        Ok(conversion) => Ok(conversion.text),
        Err(Stopped) => interrupt.check_killed().map(|()| bytes),
    }
}

/// Puts zeros in front of bytes up to whole characters of the set.
pub fn pad_to_characters(bytes: &mut Vec<u8>, collation: CollationId) {
    let missing = bytes.len().next_multiple_of(collation.charset().min_bytes()) - bytes.len();
    bytes.splice(..0, std::iter::repeat_n(0, missing));
}

/// How many characters a text has.
#[inline]
pub fn character_count(bytes: &[u8], collation: CollationId) -> usize {
    collation.charset().character_count(bytes)
}

/// How many bytes the first `characters` characters take (at most all).
#[inline]
pub fn prefix_bytes(bytes: &[u8], characters: usize, collation: CollationId) -> usize {
    collation.charset().prefix(bytes, characters).len()
}
